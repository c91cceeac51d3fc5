"""What is called with drawn input, and what must hold whatever that is.

A target may raise a `ValueError` (that is an answer) and nothing else; where the input is well
formed, the result is what a slow and obvious computation gives.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import warnings
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from typer.testing import CliRunner

import cohmm
from cohmm import (
    HMM,
    HTMM,
    Cooccurrence,
    Documents,
    PairwiseHMM,
    Sequences,
    StorageError,
    Triples,
    Windows,
    count_pairs,
    count_triples,
    read_documents,
)
from cohmm.cli import app
from cohmm.data.read_sequences import Layout, read_files
from cohmm.evidence.count_files import count_files
from cohmm.model.inference import in_logarithms
from tests import oracles
from tests.fuzz.draws import Draws
from tests.fuzz.left_behind import at_once
from tests.strategies import with_gaps

Target = Callable[[Draws, Path], None]
TARGETS: dict[str, Target] = {}
LONGEST_MESSAGE = 2000


def target(function: Target) -> Target:
    """Registers a target, under which a `ValueError` is an answer, if it is a short one."""

    def run(draws: Draws, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function(draws, folder)
            except ValueError as error:
                message = str(error)
            else:
                message = ""
        assert len(message) <= LONGEST_MESSAGE, message[:200]

    TARGETS[function.__name__] = run
    return run


def valid(model: HMM) -> None:
    """Probabilities, and nothing else."""
    for table in (model.startprob, model.transmat, model.emissionprob):
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-9)


# -- values -------------------------------------------------------------------------------------


@target
def sequences_from_containers(draws: Draws, folder: Path) -> None:
    data = Sequences.of(draws.container(), draws.container(1) if draws.rarely() else None)
    assert data.offsets[0] == 0
    assert data.offsets[-1] == len(data.symbols)
    assert (np.diff(data.offsets) > 0).all()
    assert len(data.symbols) == 0 or -1 <= data.symbols.min() <= data.symbols.max() < data.n_symbols


@target
def sequences_by_hand(draws: Draws, folder: Path) -> None:
    data = Sequences(draws.array(), draws.array(), draws.scalar(), None)
    listed = [data.symbols[a:b].tolist() for a, b in zip(data.offsets, data.offsets[1:])]  # noqa: B905
    expected = oracles.pair_matrix(listed, data.n_symbols, 1)
    np.testing.assert_array_equal(count_pairs(data)[1], expected)


@target
def cooccurrence_by_hand(draws: Draws, folder: Path) -> None:
    counts = Cooccurrence(
        {draws.choice([1, 2, 0, -1, 1.5, None, "1"]): draws.array()}, draws.array(), draws.array()
    )
    for lag in counts.lags:
        assert np.isfinite(counts.n_pairs(lag))
    again = counts + counts
    assert all(again.n_pairs(lag) == 2 * counts.n_pairs(lag) for lag in counts.lags)


@target
def laws_by_hand(draws: Draws, folder: Path) -> None:
    Cooccurrence.from_probability(draws.array(), draws.scalar())


@target
def grams_by_hand(draws: Draws, folder: Path) -> None:
    kind = draws.choice([Triples, Windows])
    value = kind(draws.array(), draws.array(), draws.scalar())
    assert (value.counts >= 0).all()


@target
def documents_by_hand(draws: Draws, folder: Path) -> None:
    words = tuple(draws.scalar() for _ in range(draws.whole(0, 4)))
    documents = Documents(draws.array(), draws.array(), words)
    assert documents.term_counts().sum() == documents.n_words


@target
def models_by_hand(draws: Draws, folder: Path) -> None:
    model = HMM(draws.array(), draws.array(), draws.array(), draws.choice([None, ["a", "b"]]))
    valid(model)


# -- counts and answers, against brute force ----------------------------------------------------


@target
def counting(draws: Draws, folder: Path) -> None:
    n, lag = draws.whole(1, 4), draws.whole(1, 3)
    sequences = draws.sequences(n)
    expected = oracles.pair_matrix(sequences, n, lag)
    try:
        counts = count_pairs(with_gaps(sequences), lags=lag, n_symbols=n)
    except ValueError:
        assert expected.sum() == 0
        return
    np.testing.assert_array_equal(counts[lag], expected)
    triples = oracles.triple_counts(sequences)
    if triples:
        found = count_triples(with_gaps(sequences), n_symbols=n)
        assert dict(
            zip(map(tuple, found.triples.tolist()), found.counts.tolist(), strict=True)
        ) == (dict(triples))


def small_model(draws: Draws) -> HMM:
    k, n = draws.whole(1, 3), draws.whole(1, 3)
    return HMM(
        draws.distribution(k),
        [draws.distribution(k) for _ in range(k)],
        [draws.distribution(n) for _ in range(k)],
    )


@target
def inference(draws: Draws, folder: Path) -> None:
    model = small_model(draws)
    y = draws.codes(model.n_symbols, most=5)
    given = [None if code < 0 else code for code in y]
    exact = oracles.likelihood(model, y)
    log_likelihood = model.log_likelihood(given)
    if exact == 0:
        assert log_likelihood == -math.inf
        return
    assert math.isclose(log_likelihood, math.log(exact), rel_tol=1e-10, abs_tol=1e-10)
    np.testing.assert_allclose(model.posterior(given), oracles.posterior(model, y), atol=1e-10)
    np.testing.assert_allclose(model.filter(given), oracles.filtered(model, y), atol=1e-10)
    log_prob, path = model.decode(given)
    best = oracles.best_probability(model, y)
    assert math.isclose(log_prob, math.log(best), rel_tol=1e-10, abs_tol=1e-10)
    assert math.isclose(oracles.path_probability(model, y, path.tolist()), best, rel_tol=1e-9)
    np.testing.assert_allclose(
        model.forecast(given, steps=2), oracles.forecast(model, y, 2), atol=1e-10
    )


def enduring_chain(draws: Draws) -> HMM:
    """A chain whose states do not mix, or hardly do, with probabilities of any size."""
    k, n = draws.whole(1, 4), draws.whole(1, 3)
    trans = draws.choice(
        [
            np.eye(k),
            np.roll(np.eye(k), 1, axis=1),
            np.kron(np.eye(k), [[0.5, 0.5], [1.0, 0.0]])[:k, :k],
            np.triu(np.ones((k, k))),
            np.ones((k, k)),
        ]
    )
    exponents: list[int | None] = [0, 0, 1, 1, 2, None]
    if draws.flag():
        exponents += [20, 76, 112, 170, 299, 322]
    patterns = (np.ones(k), trans, np.ones((k, n)))
    return HMM(*(_of_any_size(draws, pattern, exponents) for pattern in patterns))


def _of_any_size(draws: Draws, pattern: Any, exponents: list[int | None]) -> Any:
    """Distributions over the places of a pattern: numbers of ten to the minus these, or zeros."""
    table = np.zeros(pattern.shape)
    for place in np.argwhere(pattern > 0):
        exponent = draws.choice(exponents)
        if exponent is not None:
            table[tuple(place)] = draws.whole(1, 9) * 10.0**-exponent
    rows = table if table.ndim > 1 else table[None]
    rows[rows.sum(axis=1) == 0, -1] = 1.0
    largest = rows.argmax(axis=1)
    rows /= rows.max(axis=1, keepdims=True)
    rows[np.arange(len(rows)), largest] = 1.0
    return (rows / rows.sum(axis=1, keepdims=True)).reshape(table.shape)


@target
def evidence_that_swings(draws: Draws, folder: Path) -> None:
    """Long runs of one symbol, then of another: states fade, and come back."""
    model = enduring_chain(draws)
    lengths = [1, 2, 3, 4, 8, 12, 390, 400, 410, 790, 800, 810]

    def run() -> list[int]:
        return [draws.whole(-1, model.n_symbols - 1)] * draws.choice(lengths)

    def there_and_back() -> list[int]:
        a, b, size = *(draws.whole(0, model.n_symbols - 1) for _ in range(2)), draws.whole(1, 450)
        return [a] * size + [b] * (2 * size + draws.whole(-9, 9)) + [a] * size

    data = [
        there_and_back() if draws.flag() else list(chain.from_iterable(draws.many(run, 4, 1)))
        for _ in range(draws.whole(1, 3))
    ]
    data = with_gaps(data * draws.choice([1, 1, 9]))
    agrees_with_logarithms(model, [[*y, None] if len(y) == 1 else y for y in data])


def agrees_with_logarithms(model: HMM, data: list[list[Any]]) -> None:
    """Scaled answers are those of logarithms, and obey the laws."""
    likelihoods, nats = model.log_likelihoods(data), model.surprise(data)
    with in_logarithms():
        close_logs(likelihoods, model.log_likelihoods(data))
        close_logs(nats, model.surprise(data))
    possible = [y for y, value in zip(data, likelihoods, strict=True) if value > -np.inf]
    if not possible:
        return
    answers = model.filter(possible), model.posterior(possible)
    total, counts = model.expected_counts(possible)
    with in_logarithms():
        for rows, expected in zip(
            answers, (model.filter(possible), model.posterior(possible)), strict=True
        ):
            np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-9)
        expected_total, expected_counts = model.expected_counts(possible)
    close_logs(total, expected_total)
    for table, expected in zip(counts, expected_counts, strict=True):
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)
    n_symbols = sum(symbol is not None for y in possible for symbol in y)
    np.testing.assert_allclose(counts.emissions.sum(), n_symbols, rtol=1e-9)
    np.testing.assert_allclose(counts.starts.sum(), len(possible), rtol=1e-9)
    scores, _ = model.decode_each(possible)
    finite = likelihoods[likelihoods > -np.inf]
    assert (finite >= scores - 1e-9 * (1 + np.abs(scores))).all()  # no path is above all together
    best = model.decode(possible, algorithm="map")[1]
    assert (answers[1][np.arange(len(best)), best] >= answers[1].max(axis=1) - 1e-9).all()


def close_logs(values: Any, expected: Any) -> None:
    """Equal to 1e-9, or to the rounding of a sum of so many logarithms."""
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-9)


@target
def answers_to_anything(draws: Draws, folder: Path) -> None:
    model, data = small_model(draws), draws.container()
    ask = draws.choice([model.log_likelihood, model.posterior, model.decode, model.filter])
    ask(data, unseen=draws.choice(["error", "missing", "nonsense"]))


@target
def learning(draws: Draws, folder: Path) -> None:
    data = with_gaps(draws.sequences(draws.whole(1, 4)))
    options: dict[str, Any] = {
        "lags": draws.choice([(1,), (1, 2), 1, (), (0,), draws.scalar()]),
        "penalty": draws.choice([None, 0.0, 1e300, "auto", draws.scalar()]),
        "refine": draws.choice(["auto", True, False, "triples", draws.scalar()]),
        "sparsity": draws.choice(["auto", 0.0, 1.0, 1e300, draws.scalar()]),
        "smoothing": draws.choice([0.1, 0.0, 1e300, draws.scalar()]),
        "max_iter": draws.choice([5, 1, 0, draws.scalar()]),
    }
    name = draws.choice(list(options))  # one odd option at a time says more than all at once
    chosen = {name: options[name]} | ({} if name == "max_iter" else {"max_iter": 20})
    states = draws.choice([1, 2, 3, "auto", draws.scalar()])
    estimator = PairwiseHMM(states, random_state=0, **chosen).fit(data)
    valid(estimator.model_)
    assert not math.isnan(estimator.score(data))


@target
def what_is_known(draws: Draws, folder: Path) -> None:
    n, k = draws.whole(1, 4), draws.whole(1, 3)
    data = draws.sequences(n)
    length = sum(map(len, data))

    def rows(*shape: int) -> Any:
        """Probabilities with zeros, or anything."""
        if draws.rarely():
            return draws.scalar()
        table = np.array([draws.whole(0, 3) for _ in range(int(np.prod(shape)))], float)
        table = table.reshape(shape)
        with np.errstate(invalid="ignore"):
            return table / table.sum(axis=-1, keepdims=True)

    options = {
        "params": draws.choice(["ste", "st", "e", "t", "", draws.scalar()]),
        "init_params": draws.choice([None, "", "ste", "s", draws.scalar()]),
        "startprob_prior": draws.choice([None, 1.0, 0.0, 1e300, draws.scalar()]),
        "transmat_prior": draws.choice([None, 2.0, 0.5, np.ones((k, k)), draws.scalar()]),
        "emissionprob_prior": draws.choice([None, 1.5, 0.1, np.ones((2, 2)), draws.scalar()]),
        "unseen": draws.choice(["error", "missing", "rare", draws.scalar()]),
        "refine": draws.choice(["auto", True, False]),
    }
    name = draws.choice(list(options))
    model = PairwiseHMM(k, random_state=0, max_iter=5, n_features=n, **{name: options[name]})
    if draws.flag():
        model.transmat_ = rows(k, k)
    if draws.flag():
        model.emissionprob_ = rows(k, n)
    if draws.flag():
        model.startprob_ = rows(k)
    known = {
        "states": [draws.whole(-1, k - 1) for _ in range(length)],
        "sample_weight": [draws.choice([1.0, 0.0, 2.5, 1e300, -1.0]) for _ in data],
    }
    chosen = {name: value for name, value in known.items() if draws.flag()}
    zeros = np.asarray(model.transmat_) == 0 if "transmat" in model._tables.unchecked else None
    model.fit(with_gaps(data), **chosen)
    valid(model.model_)
    if zeros is not None and model.init_params != "ste":
        assert (model.transmat_[zeros] == 0).all()
    assert not np.isnan(model.score_sequences(with_gaps(data))).any()
    assert not np.isnan(model.surprise(with_gaps(data))).any()


@target
def topics(draws: Draws, folder: Path) -> None:
    words = ("oil", "gas", "corn", "wheat", "of")
    texts = draws.many(lambda: " ".join(draws.many(lambda: draws.choice(words), 6)), 5, 1)
    texts = [draws.scalar() if draws.rarely() else text for text in texts]
    states = draws.choice([1, 2, "auto", draws.scalar()])
    model = HTMM(states, max_iter=3, lags=draws.choice([1, (1, 2), draws.scalar()]))
    model.set_params(random_state=0).fit(texts)
    shares = model.transform(texts)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)


# -- readers ------------------------------------------------------------------------------------


def job(draws: Draws) -> Callable[[], Any]:
    """A call of an estimator, as a user of several threads makes it; its answer as plain values."""
    k, seed = draws.whole(1, 3), draws.whole(0, 3)
    n_threads = draws.whole(1, 3)
    truth = HMM([0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    X = [truth.sample(draws.whole(2, 60), random_state=s)[0] for s in range(draws.whole(1, 6))]
    texts = [" ".join(f"w{symbol}" for symbol in sequence) for sequence in X]

    def hmm(**options: Any) -> PairwiseHMM:
        return PairwiseHMM(k, max_iter=20, random_state=seed, **options).fit(X)

    calls: list[Callable[[], Any]] = [
        lambda: hmm().transmat_.tolist(),
        lambda: hmm(refine=False).emissionprob_.tolist(),
        lambda: str(hmm().standard_errors().transmat),
        lambda: hmm().bootstrap(2, X, random_state=0).stability.tolist(),
        lambda: hmm(lags=(1, 2)).diagnose(X).suggested_states,
        lambda: HTMM(k, max_iter=20, random_state=seed).fit(texts).components_.tolist(),
        lambda: HMM([0.5, 0.5], [[1, 0], [0, 1]], [[1, 0], [0, np.ma.masked]]),
        lambda: truth.decode(X)[1].tolist(),
    ]
    call = draws.choice(calls)

    def run() -> Any:
        with cohmm.threads(n_threads):
            return call()

    return run


@target
def several_threads(draws: Draws, folder: Path) -> None:
    jobs = draws.many(lambda: job(draws), 4, 2)
    alone = [at_once([one], folder)[0] for one in jobs]
    assert at_once(jobs, folder) == alone
    assert at_once(jobs[::-1], folder) == alone[::-1]


def labels_in(path: Path, layout: Layout | None = None) -> list[list[Any]]:
    return [labels for batch in read_files(path, layout) for labels in batch.labels()]


@target
def text_files(draws: Draws, folder: Path) -> None:
    lines = draws.many(lambda: draws.many(lambda: draws.choice(["a", "b", "sun", "é"]), 5), 5, 1)
    path = folder / draws.choice(["x.txt", "x.txt.gz"])
    text = draws.choice(["\n", "\r\n"]).join(draws.choice([" ", "\t", "  "]).join(w) for w in lines)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    expected = [words for words in lines if words]
    if not expected:
        return
    assert labels_in(path) == expected
    counted = count_files(path).pairs
    order = {label: code for code, label in enumerate(counted.vocabulary or ())}
    codes = [[order[word] for word in words] for words in expected]
    np.testing.assert_array_equal(counted[1], oracles.pair_matrix(codes, len(order), 1))


@target
def delimited_files(draws: Draws, folder: Path) -> None:
    cells = draws.many(lambda: draws.choice(["home", "a b", 'say "x"', "b,c", ""]), 6, 1)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=draws.choice(["\n", "\r\n"]))
    writer.writerow(["page"])
    writer.writerows([cell] for cell in cells)
    path = folder / "x.csv"
    path.write_bytes(file.getvalue().encode())
    found = labels_in(path, Layout(column="page", each_row="symbol"))
    assert [label for labels in found for label in labels if label is not None] == [
        cell for cell in cells if cell
    ]


@target
def json_files(draws: Draws, folder: Path) -> None:
    rows = draws.many(lambda: draws.many(lambda: draws.choice(["a", "b", "ü"]), 4, 1), 4, 1)
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps({"s": row}) + "\n" for row in rows), "utf-8")
    assert labels_in(path, Layout(column="s")) == rows


@target
def parquet_files(draws: Draws, folder: Path) -> None:
    rows = draws.many(lambda: draws.many(lambda: draws.choice(["a", "b", "ü"]), 4, 1), 4, 1)
    path = folder / "x.parquet"
    parquet.write_table(pa.table({"s": rows}), path)
    assert labels_in(path, Layout(column="s")) == rows


@target
def files_of_any_bytes(draws: Draws, folder: Path) -> None:
    endings = [".txt", ".csv", ".tsv", ".jsonl", ".parquet", ".txt.gz", ".csv.zst"]
    path = folder / f"x{draws.choice(endings)}"
    layout = Layout(characters=draws.rarely(), column=draws.choice([None, "a", "page"]))
    path.write_bytes(draws.rest())
    for batch in read_files(path, layout):
        assert -1 <= batch.symbols.min() <= batch.symbols.max() < batch.n_symbols


@target
def documents_of_any_text(draws: Draws, folder: Path) -> None:
    texts = draws.many(lambda: draws.text(20), 4)
    documents = read_documents(texts, min_df=draws.choice([1, 2, 0.5, draws.scalar()]))
    assert len(documents) == len(texts)


@target
def damaged_models(draws: Draws, folder: Path) -> None:
    path = folder / "m.cohmm"
    model = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], ["a", "b"])
    model.save(path)
    data = bytearray(path.read_bytes())
    for _ in range(draws.whole(1, 4)):
        place = draws.whole(0, len(data) - 1)
        if draws.rarely():
            del data[place:]
            break
        data[place] = draws.byte()
    path.write_bytes(bytes(data))
    try:
        loaded = HMM.load(path)
    except StorageError as error:
        message = str(error)
    else:
        valid(loaded)
        return
    assert str(path) in message


# -- the command line ---------------------------------------------------------------------------

COMMANDS = ("count", "fit", "score", "decode", "sample", "topics", "report", "compare")
WORDS = (
    *("--column", "--group", "--order", "--each-row", "symbol", "--format", "csv", "--characters"),
    *("-k", "2", "0", "auto", "--lags", "1,2", "9" * 23, "-o", "out.cohmm", "out.html", "--json"),
    *("x.txt", "x.csv", "m.cohmm", "none.txt", "", "-", "--seed", "--unseen", "missing", "-n", "3"),
    *("--encoding", "rot13", "latin-1", "--title", "--refine", "--no-refine", "--integers", "page"),
)


@target
def command_line(draws: Draws, folder: Path) -> None:
    (folder / "x.txt").write_text("sun rain sun\nrain rain sun rain\n" * 3)
    (folder / "x.csv").write_text("page,user\nhome,1\nnews,1\nhome,2\n" * 4)
    HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], ["rain", "sun"]).save(
        folder / "m.cohmm"
    )
    words = [draws.choice(COMMANDS), *draws.many(lambda: draws.choice(WORDS), 7)]
    here = [str(folder / word) if "." in word else word for word in words]
    result = CliRunner().invoke(app, here, input="sun rain\n", prog_name="cohmm")
    assert result.exit_code in (0, 2), (words, result.exit_code, result.exception)
    if result.exit_code == 2:
        lines = [line for line in result.stderr.splitlines() if line.startswith("cohmm: ")]
        assert lines, (words, result.stderr)
        assert all(len(line) <= 300 for line in lines), (words, lines)
        assert "Traceback" not in result.stderr


from tests.fuzz import command_lines as command_lines  # noqa: E402 - it registers a target of its own
