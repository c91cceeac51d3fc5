"""``cohmm fit``."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cohmm import HMM, Cooccurrence, PairwiseHMM, count_pairs, read_sequences
from cohmm.cli.fit import line_of
from cohmm.datasets.synthetic import separable_hmm
from cohmm.model.state_table import state_rows

TRUTH = separable_hmm(9, 3, stay=0.6, random_state=0)


@pytest.fixture
def sequences(folder):
    """Visits to nine pages, in a text file."""
    pages = np.array([f"page{n}" for n in range(9)])
    found = [pages[TRUTH.sample(400, random_state=s)[0]].tolist() for s in range(50)]
    text = "".join(" ".join(sequence) + "\n" for sequence in found)
    (folder / "visits.txt").write_text(text)
    return found


def test_the_model_is_that_of_the_library_and_the_other_commands_use_it(run, sequences):
    result = run("fit", "visits.txt", "-k", "3", "-o", "model.cohmm")
    model = HMM.load("model.cohmm")
    assert model == PairwiseHMM(3, random_state=0).fit(sequences).model_
    assert model.vocabulary == tuple(f"page{n}" for n in range(9))
    assert max(HMM(model.startprob, model.transmat, model.emissionprob).distance(TRUTH)) < 0.1
    first, second, third, *_ = result.stdout.splitlines()
    assert first.startswith("model.cohmm: 3 states, 9 symbols, 19,950 pairs")
    assert "converged" in second
    assert third.startswith("these pairs can show 3 states: so many singular values exceed 0.0")
    assert "mean run" in result.stdout
    assert "page" in result.stdout
    assert json.loads(run("score", "model.cohmm", "visits.txt", "--json").stdout)["sequences"] == 50
    states = run("decode", "model.cohmm", "visits.txt").stdout.splitlines()
    assert [len(line.split()) for line in states] == [400] * 50
    assert len(run("sample", "model.cohmm", "-n", "5", "--seed", "0").stdout.split()) == 5


def in_all_formats(folder, sequences):
    """The same sequences in every format, with the options that each needs."""
    texts = [" ".join(sequence) for sequence in sequences]
    (folder / "lonely.txt").write_text("".join(f"{text}\n" for text in texts))
    with gzip.open(folder / "lonely.txt.gz", "wt") as file:
        file.write("".join(f"{text}\n" for text in texts))
    rows = [(s, t, page) for s, pages in enumerate(sequences) for t, page in enumerate(pages)]
    (folder / "lonely.csv").write_text(
        "visit,time,page\n" + "".join(f"v{s:03d},{t},{page}\n" for s, t, page in rows)
    )
    (folder / "lonely.jsonl").write_text(
        "".join(json.dumps({"pages": pages}) + "\n" for pages in sequences)
    )
    visits, times, pages = zip(*[(f"v{s:03d}", t, page) for s, t, page in rows], strict=True)
    table = pa.table({"visit": visits, "time": times, "page": pages})
    parquet.write_table(table, folder / "lonely.parquet")
    grouped = ("--column", "page", "--group", "visit", "--order", "time")
    return {
        "lonely.txt": (),
        "lonely.txt.gz": (),
        "lonely.csv": grouped,
        "lonely.jsonl": ("--column", "pages"),
        "lonely.parquet": grouped,
    }


@pytest.mark.parametrize("refine", [True, False])
def test_files_of_all_formats_give_the_model_of_the_data_in_memory(run, folder, sequences, refine):
    """Bit for bit, on the command line and in Python, read by `read_sequences` or as a path.

    ``about`` occurs in a sequence of length one alone, and so in no pair.
    """
    data = [*sequences[:8], ["about"], ["page3"]]
    learner = PairwiseHMM(3, refine=refine, random_state=0)
    model = learner.fit(data).model_
    assert model.emissionprob[:, model.vocabulary.index("about")].min() > 0
    choice = "--refine" if refine else "--no-refine"
    for name, options in in_all_formats(folder, data).items():
        run("fit", name, "-k", "3", choice, "-o", "model.cohmm", *options)
        assert HMM.load("model.cohmm") == model, name
        layout = {
            key.removeprefix("--"): options[i + 1] for i, key in enumerate(options) if i % 2 == 0
        }
        assert learner.fit(read_sequences(name, **layout)).model_ == model, name
        if not layout:
            assert learner.fit(name).model_ == learner.fit(Path(name)).model_ == model, name


def test_counts_that_were_saved_are_added(run, sequences):
    count_pairs(sequences[:20]).save("monday.cohmm")
    count_pairs(sequences[20:]).save("tuesday.cohmm")
    run("fit", "monday.cohmm", "tuesday.cohmm", "-k", "3", "-o", "week.cohmm")
    run("fit", "visits.txt", "-k", "3", "--no-refine", "-o", "model.cohmm")
    assert HMM.load("week.cohmm") == HMM.load("model.cohmm")


def test_refining_raises_the_likelihood_and_says_by_how_much(run, sequences):
    run("fit", "visits.txt", "-k", "3", "--no-refine", "-o", "pairs.cohmm")
    result = run("fit", "visits.txt", "-k", "3", "--refine", "-o", "refined.cohmm")
    line = next(line for line in result.stdout.splitlines() if line.startswith("refined in "))
    assert "converged; log-likelihood -" in line
    found = json.loads(run("fit", "visits.txt", "-k", "3", "-o", "default.cohmm", "--json").stdout)[
        "refined"
    ]
    assert found["converged"] is True
    assert HMM.load("refined.cohmm") == HMM.load("default.cohmm")
    before, after = (HMM.load(name) for name in ("pairs.cohmm", "refined.cohmm"))
    gained = after.log_likelihood(sequences) - before.log_likelihood(sequences)
    assert gained / 20_000 == pytest.approx(found["gained"])
    assert gained > 0
    run(
        "fit", "visits.txt", "-k", "3", "--refine", "--sparsity", "2", "-o", "sparse.cohmm"
    )  # fmt: skip
    assert HMM.load("sparse.cohmm") != after
    assert found["evidence"] == "sequences"


def test_sparsity_is_a_number_or_auto(run, sequences):
    told = "--sparsity must be a number or auto, not 'much'"
    run("fit", "visits.txt", "-k", "3", "--sparsity", "much", "-o", "m.cohmm", fails=told)
    told = "sparsity must be finite and at least 0, not -1.0"
    run("fit", "visits.txt", "-k", "3", "--sparsity", "-1", "-o", "m.cohmm", fails=told)
    for name, value in (("default", ()), ("auto", ("--sparsity", "auto"))):
        run("fit", "visits.txt", "-k", "3", *value, "-o", f"{name}.cohmm")
    assert HMM.load("default.cohmm") == HMM.load("auto.cohmm")


def test_long_data_is_refined_by_triples(run, sequences, monkeypatch):
    monkeypatch.setattr("cohmm.learn.refinement.LONG", 1000)
    shown = run("fit", "visits.txt", "-k", "3", "-o", "m.cohmm").stdout
    assert " over the triples, " in shown
    assert " nats per triple, " in shown
    found = json.loads(run("fit", "visits.txt", "-k", "3", "-o", "m.cohmm", "--json").stdout)
    assert found["refined"]["evidence"] == "triples"
    assert found["refined"]["log_likelihood"] is None


def test_what_to_refine_by_can_be_chosen(run, sequences):
    for by in ("sequences", "triples"):
        run("fit", "visits.txt", "-k", "3", "--refine-by", by, "-o", "m.cohmm")
        model = PairwiseHMM(3, refine=by, random_state=0).fit(sequences).model_
        assert HMM.load("m.cohmm") == model
    told = "--refine-by triples and --no-refine: give one of the two"
    both = ("--refine-by", "triples", "--no-refine", "-o", "m.cohmm")
    run("fit", "visits.txt", "-k", "3", *both, fails=told)


def test_only_data_can_be_refined(run, sequences):
    count_pairs(sequences).save("counts.cohmm")
    for option in (["--refine"], ["--refine-by", "triples"]):
        told = f"{option[0]} reads the data itself: give files of it, not counts"
        run("fit", "counts.cohmm", "-k", "3", *option, "-o", "m.cohmm", fails=told)
    sparse = ("--sparsity", "1", "-k", "3", "-o", "m.cohmm")
    told = "--sparsity is for refining: give files of data, without --no-refine"
    run("fit", "counts.cohmm", *sparse, fails=told)
    run("fit", "visits.txt", "--no-refine", *sparse, fails=told)


def test_standard_input_is_refined_as_a_file_is(run, sequences, folder):
    run("fit", "visits.txt", "-k", "3", "-o", "file.cohmm")
    text = (folder / "visits.txt").read_text()
    run("fit", "-", "-k", "3", "--refine", "-o", "stdin.cohmm", input=text)
    assert HMM.load("stdin.cohmm") == HMM.load("file.cohmm")


def test_lags_of_data_and_of_counts(run, sequences):
    count_pairs(sequences, lags=(1, 2, 3)).save("counts.cohmm")
    run("fit", "counts.cohmm", "-k", "3", "--lags", "1,2", "-o", "a.cohmm")
    run("fit", "visits.txt", "-k", "3", "--lags", "1,2", "--no-refine", "-o", "b.cohmm")
    assert HMM.load("a.cohmm") == HMM.load("b.cohmm")
    run("fit", "visits.txt", "-k", "3", "-o", "c.cohmm")
    assert HMM.load("a.cohmm") != HMM.load("c.cohmm")
    run(
        "fit", "counts.cohmm", "-k", "3", "--lags", "7", "-o", "d.cohmm",
        fails="lag 7 was not counted; there are 1, 2, 3",
    )  # fmt: skip


def test_json_is_one_object(run, sequences):
    result = run("fit", "visits.txt", "-o", "model.cohmm", "--starts", "2", "--json")
    found = json.loads(result.stdout)
    assert found["states"] == found["detectable"] == 3  # auto
    assert found["symbols"] == 9
    assert found["converged"] is True
    assert len(found["starts"]) == 2
    assert sum(found["prevalence"]) == pytest.approx(1)
    assert found["lag_weights"] == {"1": 1.0}


def test_options_reach_the_learner(run, sequences):
    short = json.loads(
        run("fit", "visits.txt", "-k", "3", "--max-iter", "4", "-o", "m.cohmm", "--json").stdout
    )
    assert not short["converged"]
    assert short["passes"] <= 6
    text = run("fit", "visits.txt", "-k", "3", "--max-iter", "4", "-o", "m.cohmm").stdout
    assert "not converged" in text
    heavy = run("fit", "visits.txt", "-k", "3", "--penalty", "0.5", "-o", "m.cohmm", "--json")
    assert json.loads(heavy.stdout)["penalty"] == 0.5
    run("fit", "visits.txt", "-k", "3", "--smoothing", "0", "-o", "hard.cohmm")
    run("fit", "visits.txt", "-k", "3", "-o", "soft.cohmm")
    assert HMM.load("hard.cohmm").emissionprob.min() < HMM.load("soft.cohmm").emissionprob.min()
    chosen = run("fit", "visits.txt", "-k", "3", "--penalty", "auto", "-o", "m.cohmm", "--json")
    assert json.loads(chosen.stdout)["penalty"] != short["penalty"]


def test_warnings_are_notices(run, sequences):
    result = run("fit", "visits.txt", "-k", "6", "--max-iter", "20", "-o", "m.cohmm")
    assert result.stderr.startswith("cohmm: these pairs can show 3 states; n_components=6 asks")
    assert result.stderr.count("\n") == 1


def test_many_states_fit_one_screen(run, folder):
    rng = np.random.default_rng(0)
    (folder / "n.txt").write_text(" ".join(map(str, rng.integers(0, 40, 5000))))
    result = run("fit", "n.txt", "--integers", "-k", "25", "--max-iter", "3", "-o", "m.cohmm")
    assert "... and 5 more states" in result.stdout
    assert len(result.stdout.splitlines()) < 30
    assert HMM.load("m.cohmm").vocabulary is None


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-k", "none"), "--n-components must be a whole number from 1, or auto, not 'none'"),
        (("-k", "0"), "--n-components must be a whole number from 1, or auto, not '0'"),
        (("-k", "2", "--penalty", "much"), "--penalty must be a number or auto, not 'much'"),
        (("-k", "2", "--penalty", "-1"), "penalty must be finite and at least 0, not -1.0"),
        (
            ("-k", "2", "--lags", "x"),
            "--lags must be whole numbers from 1, such as 1,2,3, not 'x'",
        ),
        (
            ("-k", "12", "--no-refine"),
            "n_components=12 states cannot be learned from pairs of 9 symbols: give the "
            "sequences, and leave out refine=False, or ask for fewer states",
        ),
    ],
)
def test_bad_options(run, folder, sequences, arguments, line):
    before = {path.name for path in folder.iterdir()}
    run("fit", "visits.txt", "-o", "model.cohmm", *arguments, fails=line)
    assert {path.name for path in folder.iterdir()} == before


def test_a_model_is_not_counts(run):
    run("fit", "m.cohmm", "-o", "x.cohmm", fails="m.cohmm holds a HMM, not a cooccurrence")


def test_no_pairs_in_saved_counts(run):
    nothing = np.zeros((2, 2), int)
    Cooccurrence({1: nothing}, nothing[0], nothing[0]).save("c.cohmm")
    run(
        "fit", "c.cohmm", "-k", "1", "-o", "x.cohmm",
        fails="no pair was counted at lag 1: there is nothing to learn from",
    )  # fmt: skip


def test_one_state_lasts_for_good(run, sequences):
    result = run("fit", "visits.txt", "-k", "1", "-o", "one.cohmm")
    assert result.stdout.startswith("one.cohmm: 1 state, 9 symbols, ")
    assert "100.0%   for good   " in result.stdout


def test_symbols_without_a_name_that_shows():
    model = HMM([1.0], [[1.0]], [[0.5, 0.3, 0.2]], vocabulary=(" ", "e", "a\nb"))
    assert line_of(state_rows(model)[0].symbols, 40) == "' ' 0.50  e 0.30  a b 0.20"
