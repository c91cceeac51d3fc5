"""The experiments of the paper: what is kept, what is computed, what is drawn."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cohmm import read_documents
from cohmm.cli.reproduce import experiments
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.topics.topic_fit import TopicFit

package = experiments()
from cohmm._experiments import (  # noqa: E402
    into_docs,
    pairs_vs_triples,
    recovery,
    reuters,
    steps,
    volume_ratio,
)
from cohmm._experiments.experiment import (  # noqa: E402
    Experiment,
    Step,
    Table,
    grid,
    means,
    power,
    share,
    short_time,
)

ROOT = Path(__file__).parent.parent
PNG = b"\x89PNG\r\n\x1a\n"


# -- steps that are kept ----------------------------------------------------------------------


class Counter:
    """Steps that count how often they are done; one of them may fail."""

    def __init__(self, n: int = 4) -> None:
        self.n = n
        self.done: list[int] = []
        self.fails_at: int | None = None

    def work(self, number: int) -> list[dict[str, float]]:
        if number == self.fails_at:
            raise KeyboardInterrupt
        self.done.append(number)
        return [{"number": number, "square": number**2}]

    def steps(self, plan: object) -> list[Step]:
        return [
            Step("counter", {"number": i}, lambda i=i: self.work(i), str(i)) for i in range(self.n)
        ]

    def experiment(self) -> Experiment:
        return Experiment(
            name="counter",
            title="squares",
            steps=self.steps,
            summary=lambda rows: means(rows, ["number"], ["square"]),
            tables=lambda found: [grid("squares", found, "number", "number", str)],
            draw=lambda rows, file: file.write(PNG + str(len(rows)).encode()),
        )


def go(counter: Counter, folder: Path, fresh: bool = False) -> steps.Outcome:
    kept = steps.Kept(folder, fresh)
    return steps.run(counter.experiment(), package.Plan(), folder, kept=kept)


def test_a_second_run_does_no_step(tmp_path: Path) -> None:
    counter = Counter()
    first = go(counter, tmp_path)
    second = go(counter, tmp_path)
    assert counter.done == [0, 1, 2, 3]
    assert (first.reused, second.reused) == (0, 4)
    assert first.rows == second.rows == [{"number": i, "square": i * i} for i in range(4)]
    assert (tmp_path / "counter.csv").read_text() == "number,square\n0,0\n1,1\n2,4\n3,9\n"
    assert (tmp_path / "counter.png").read_bytes() == PNG + b"4"
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"counter.{kind}" for kind in ("csv", "md", "png")),
        ".steps",
    }


def test_fresh_does_every_step_once_more(tmp_path: Path) -> None:
    counter = Counter(2)
    go(counter, tmp_path)
    kept = steps.Kept(tmp_path, fresh=True)
    for _ in range(2):  # as two experiments of one run that share their steps
        steps.run(counter.experiment(), package.Plan(), tmp_path, kept=kept)
    assert counter.done == [0, 1, 0, 1]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    counter = Counter()
    counter.fails_at = 2
    with pytest.raises(KeyboardInterrupt):
        go(counter, tmp_path)
    assert not (tmp_path / "counter.csv").exists()
    counter.fails_at = None
    assert go(counter, tmp_path).reused == 2
    assert counter.done == [0, 1, 2, 3]


def test_steps_of_another_version_or_damaged_are_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter(2)
    go(counter, tmp_path)
    monkeypatch.setattr(steps, "__version__", "0.0.0")
    assert go(counter, tmp_path).reused == 0
    monkeypatch.undo()
    files = sorted((tmp_path / ".steps").iterdir())
    assert len(files) == 4
    for file, text in zip(files, ("", "[1]", "{", '{"step": {}}'), strict=True):
        file.write_text(text)
    assert go(counter, tmp_path).reused == 0
    assert counter.done == [0, 1] * 3


def test_steps_that_other_code_has_done_are_taken_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter(2)
    monkeypatch.setattr(steps, "code", lambda: "before")
    go(counter, tmp_path)
    monkeypatch.undo()
    kept = steps.Kept(tmp_path)
    outcome = steps.run(counter.experiment(), package.Plan(), tmp_path, kept=kept)
    assert (outcome.reused, kept.stale) == (2, 2)


def test_other_parameters_are_another_step(tmp_path: Path) -> None:
    kept = steps.Kept(tmp_path)
    one, other = (Step("a", {"T": t}, list, "") for t in (1, 2))
    assert kept.put(one, [{"x": 0.1}]) == [{"x": 0.1}] == kept.get(one)
    assert kept.get(other) is None
    assert kept.get(Step("b", {"T": 1}, list, "")) is None


def test_no_infinite_value_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        steps.Kept(tmp_path).put(Step("a", {}, list, ""), [{"x": math.nan}])


def test_every_plan_has_distinct_steps_and_time_adds_none() -> None:
    for quick in (True, False):
        plan = package.Plan(quick=quick, seed=3)
        names = {
            name: [json.dumps([s.family, s.parameters]) for s in experiment.steps(plan)]
            for name, experiment in package.EXPERIMENTS.items()
        }
        assert all(len(set(keys)) == len(keys) for keys in names.values())
        assert set(names["time"]) == {*names["error-large"], *names["error-small"]}
    # The seed of an instance, and their number, are the user's.
    few = package.EXPERIMENTS["error-small"].steps(package.Plan(instances=2, seed=3))
    assert {step.parameters["seed"] for step in few} == {3, 4}


# -- tables -----------------------------------------------------------------------------------


def test_means_and_grid() -> None:
    rows = [
        {"method": m, "T": t, "error": e}
        for m, t, e in (("b", 10, 0.1), ("b", 1, 0.5), ("a", 10, 0.3), ("b", 10, 0.3))
    ]
    found = means(rows, ("method", "T"), ("error",))
    assert found[0] == {"method": "b", "T": 10, "error": 0.2, "instances": 2}
    table = grid("title", found, "method", "T", lambda row: share(row["error"]))
    assert table == Table(
        "title", ["method / T", "1", "10"], [["b", ".500", ".200"], ["a", "", ".300"]]
    )
    assert table.markdown().splitlines()[2:] == [
        "| method / T | 1 | 10 |",
        "|---|---:|---:|",
        "| b | .500 | .200 |",
        "| a |  | .300 |",
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(20, "20"), (1000, "1e3"), (3_162_278, "3.2e6"), (10**8, "1e8")]
)
def test_power(value: int, text: str) -> None:
    assert power(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0099, "<.01"), (0.2341, ".23"), (0.996, "1.0"), (9.94, "9.9"), (9.96, "10"), (234, "234")],
)
def test_short_time(value: float, text: str) -> None:
    assert short_time(value) == text


# -- propositions -----------------------------------------------------------------------------


def test_volume_ratio_is_ball_over_simplex() -> None:
    for k in (2, 3, 5, 20, 60):
        n, radius = k - 1, 1 / math.sqrt(k * (k - 1))
        ball = n / 2 * math.log(math.pi) - math.lgamma(n / 2 + 1) + n * math.log(radius)
        simplex = 0.5 * math.log(k) - math.lgamma(k)
        assert volume_ratio.log10_ratio(k) == pytest.approx((ball - simplex) / math.log(10))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_points_in_the_ball(k: int) -> None:
    (row,) = volume_ratio.monte_carlo(k, 20_000, seed=k)
    found = volume_ratio.sampled(row)
    off = abs(found["monte_carlo"] - 10 ** row["log10_ratio"])
    assert off <= 4 * found["standard_error"] + 1e-9


def test_expected_distances_are_those_of_independent_draws() -> None:
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.full(300, 0.3))
    law[:20] = 0
    law /= law.sum()
    n = 800  # many cells are seen never or once
    draws = rng.multinomial(n, law, size=400)
    for found, expected in (
        (pairs_vs_triples.total_variation, pairs_vs_triples.expected_total_variation),
        (pairs_vs_triples.divergence, pairs_vs_triples.expected_divergence),
    ):
        values = [found(counts, law) for counts in draws]
        assert np.mean(values) == pytest.approx(expected(law, n), rel=0.01)


def test_pairs_are_closer_to_their_law_than_triples() -> None:
    size = pairs_vs_triples.QUICK_SMALL
    for length in size.lengths:
        (row,) = pairs_vs_triples.compare(size, 0, length)
        for measure in pairs_vs_triples.MEASURES:
            assert 0 < row[f"pair_{measure}"] < row[f"triple_{measure}"]


def test_lengths_are_beginnings_of_one_sample() -> None:
    size = pairs_vs_triples.QUICK_SMALL
    short, long = (recovery.beginning(size, 1, length) for length in size.lengths[:2])
    assert len(short.data.symbols) == 1000
    assert np.array_equal(short.data.symbols, long.data.symbols[:1000])
    assert short.pairs.n_pairs() == 999
    assert short.triples.n_triples == 998


# -- Reuters ----------------------------------------------------------------------------------


@pytest.fixture
def small_reuters(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Documents with four known topics in place of R8, and one of them in place of the article."""
    sample = sample_htmm(80, n_components=4, n_words=120, length=40, random_state=0).documents
    texts = [" ".join(sample.words(d)) for d in range(len(sample))]
    monkeypatch.setattr(reuters, "paper_article", lambda: texts[7])
    size = reuters.Size(
        "a sample", lambda: read_documents(texts, analyzer=str.split), (4, 5), lambda: texts, 4
    )
    monkeypatch.setattr(reuters, "QUICK", size)
    return texts


def test_reuters(small_reuters: list[str], tmp_path: Path) -> None:
    """One run for all that is to be seen in it."""
    plan = package.Plan(quick=True)
    outcome = steps.run(reuters.EXPERIMENT, plan, tmp_path, kept=steps.Kept(tmp_path))
    again = steps.run(reuters.EXPERIMENT, plan, tmp_path, kept=steps.Kept(tmp_path))
    assert again.reused == again.steps == outcome.steps
    assert again.rows == outcome.rows
    installed = [line.label for name, line in reuters.LINES.items() if name != "lda-tomotopy"]
    scored = [row for row in outcome.rows if "article" not in row]
    for k in (4, 5):
        here = {row["method"]: row for row in scored if row["K"] == k}
        assert set(installed) <= set(here)
        # Words were drawn from chains in which topics last.
        assert here["HTMM"]["perplexity"] < here["pLSA"]["perplexity"]
    assert (tmp_path / "reuters.png").read_bytes().startswith(PNG)
    assert "| HTMM, the paper's |" in (tmp_path / "reuters.md").read_text()


def test_the_article_has_a_topic_for_every_word(small_reuters: list[str], tmp_path: Path) -> None:
    rows = reuters.read_article(reuters.QUICK, 4, 0)
    assert [row["method"] for row in rows] == ["pLSA", "HTMM", "HTMM, the paper's"]
    for row in rows:
        topics = row["topics"].split()
        assert row["article"] == small_reuters[7]
        assert len(topics) == len(small_reuters[7].split())
        changes = sum(a != b for a, b in pairwise(topics))
        assert row["mean_run"] == len(topics) / (changes + 1)
    runs = {row["method"]: row["mean_run"] for row in rows}
    assert runs["HTMM"] > runs["pLSA"]
    names = reuters.extras(rows, tmp_path)
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    text = (tmp_path / "reuters-article.txt").read_text()
    for row in rows:
        assert " ".join(map(str, reuters.runs_in(row))) in text
        assert f"a topic lasts {row['mean_run']:.2f} words" in text
    assert (tmp_path / "reuters-article.png").read_bytes().startswith(PNG)


def test_topics_bear_the_numbers_of_those_they_are_nearest_to() -> None:
    words = ("a", "b", "c")
    one = TopicFit(np.eye(3), np.full(3, 1 / 3), np.ones(3), words, name="one")
    other = TopicFit(np.eye(3)[[2, 0, 1]], np.full(3, 1 / 3), np.ones(3), words, name="other")
    numbers = reuters.nearest(other, one)
    assert numbers.tolist() == [2, 0, 1]
    assert np.array_equal(one.components[numbers], other.components)


def test_data_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COHMM_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for quick in (True, False):
        why = reuters.EXPERIMENT.missing(package.Plan(quick=quick))
        assert "set the environment variable COHMM_DATA" in why


def test_no_word_is_laid_over_another() -> None:
    runs = reuters.runs_of([f"word{n}" for n in range(60)], [n // 3 % 4 for n in range(60)])
    placed, lines = reuters.lay_out(runs)
    assert [text for text, topic, _, _ in placed if topic is not None] == [
        word for run in runs for word in run.words
    ]
    for (text, _, column, line), (_, _, then, below) in pairwise(placed):
        assert (line, column + len(text)) < (below, then)
        assert column + len(text) < reuters.WIDTH
    assert placed[-1][3] == lines - 1


# -- pages ------------------------------------------------------------------------------------


def test_the_page_has_a_place_for_every_experiment(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "experiments.md").read_text()
    for name in package.EXPERIMENTS:
        (tmp_path / f"{name}.md").write_text(f"found by {name}\n")
    filled, found = into_docs.filled(page, tmp_path)
    assert sorted(found) == sorted(package.EXPERIMENTS)
    for name in package.EXPERIMENTS:
        assert f"figures/{name}.png)\n\nfound by {name}\n" in filled
    assert into_docs.filled(filled, tmp_path) == (filled, found)
    assert "Not run yet" not in filled
    assert re.sub(r"<!-- (\S+) -->.*?<!-- /", "", filled, flags=re.DOTALL) == re.sub(
        r"<!-- (\S+) -->.*?<!-- /", "", page, flags=re.DOTALL
    )


def test_experiments_that_were_not_run_stay(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "experiments.md").read_text()
    assert into_docs.filled(page, tmp_path) == (page, [])
