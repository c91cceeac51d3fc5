"""``cohmm demo``: what it writes and prints, and how close it comes."""

import json
import re
from importlib import import_module

import numpy as np
import pytest

from cohmm import HTMM
from cohmm.cli.app import fitting
from cohmm.cli.demo import compare, passage, write_corpus
from cohmm.data.documents import Documents
from cohmm.datasets.demo_topics import SUBJECTS, demo_model
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.hmm import HMM

DEMO = import_module("cohmm.cli.demo")
FILES = {"corpus.txt", "report.html", "topics.cohmm"}


def test_the_screen_of_the_whole_demo(run, folder):
    before = {path.name for path in folder.iterdir()}
    result = run("demo")
    lines = result.stdout.splitlines()
    assert result.stderr == ""
    assert "\x1b[" not in result.stdout  # colours are for terminals
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert re.match(r"4,000 documents, 3\d\d,\d\d\d words, .* 12 known topics", lines[0])
    for step in ("draw", "read", "learn", "compare", "report"):
        assert re.search(rf"{step} \d", lines[1])
    rows = [re.match(r" +(\d+)  (.+?)  +[\d.]+% +([\d.]+)%", line) for line in lines[4:16]]
    assert [int(row[1]) for row in rows] == list(range(12))
    assert {row[2] for row in rows} == set(SUBJECTS)
    assert max(float(row[3]) for row in rows) < 10
    assert float(re.search(r"topics ([\d.]+)% off the truth", result.stdout)[1]) < 5
    right, best = map(float, re.search(r"([\d.]+)% of words .* ([\d.]+)%", lines[17]).groups())
    assert best - 2 < right <= best
    assert re.search(r"^document \d+: .* \[\d+\]", result.stdout, re.MULTILINE)
    assert {path.name for path in folder.iterdir()} - before == {"cohmm-demo"}
    assert {path.name for path in (folder / "cohmm-demo").iterdir()} == FILES
    # What is said to be next gives the very model that the demo wrote.
    following = lines[-1].removeprefix("next: cohmm ").split()
    run(*following, "-o", "again.cohmm")
    first, again = (HTMM.load(path) for path in ("cohmm-demo/topics.cohmm", "again.cohmm"))
    assert np.array_equal(first.components_, again.components_)
    text = (folder / "cohmm-demo" / "report.html").read_text("utf-8")
    assert json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["n_texts"] == 4000


def test_json_is_one_object_and_the_seed_decides(run, folder):
    args = ("demo", "-n", "300", "--seed", "3", "--json")
    found = json.loads(run(*args, "-o", "a").stdout)
    assert list(found["seconds"]) == ["draw", "read", "learn", "compare", "report"]
    assert all(seconds > 0 for seconds in found["seconds"].values())
    assert (found["documents"], found["topics"]) == (300, 12)
    assert found["words"] == len((folder / "a/corpus.txt").read_text().split())
    assert found["topic_error"] == pytest.approx(np.mean(found["topic_errors"]))
    assert found["files"]["report"] == "a/report.html"
    assert len(found["passage"]["words"]) == len(found["passage"]["topics"])
    again = json.loads(run(*args, "-o", "b", "--threads", "1").stdout)
    for one in (found, again):
        del one["seconds"], one["files"]
    assert found == again
    write_corpus(demo_model(), folder / "a.txt", 300, seed=3)
    write_corpus(demo_model(), folder / "b.txt", 300, seed=4)
    corpora = [(folder / name).read_text() for name in ("a/corpus.txt", "a.txt", "b.txt")]
    assert corpora[0] == corpora[1] != corpora[2]


def test_places_that_cannot_be_written(run, folder, monkeypatch):
    before = {path.name for path in folder.iterdir()}
    monkeypatch.setattr("cohmm.datasets.demo_topics.demo_model", None)  # no work is done
    run("demo", "-o", "d.txt", fails="cannot write to d.txt: it is a file, not a folder")
    run("demo", "-o", "no/where", fails="cannot write to no/where: there is no folder no")
    assert {path.name for path in folder.iterdir()} == before
    (folder / "x" / "report.html").mkdir(parents=True)
    run("demo", "-o", "x", fails="cannot write x/report.html: it is a folder")
    assert [path.name for path in (folder / "x").iterdir()] == ["report.html"]


def test_a_terminal_has_colours(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("demo", "-n", "100").stdout


# -- how close ---------------------------------------------------------------------------------


def told(truth, documents, order):
    """A model that is the truth with its topics in another order."""
    hmm = truth.with_states(order)
    fit = TopicFit(
        hmm.emissionprob,
        hmm.startprob,
        hmm.startprob,
        documents.vocabulary,
        "truth",
        transitions=hmm.transmat,
        switch=0.1,
    )
    model = HTMM(12, chain="full")
    model.fit_ = fit
    return model


def test_the_truth_is_not_off_in_any_order():
    truth = demo_model()
    documents, states = sample_documents(truth, 150, random_state=0)
    order = np.random.default_rng(0).permutation(12)
    found = compare(told(truth, documents, order), documents, truth, states)
    assert found.subjects == [list(SUBJECTS)[k] for k in order]
    assert found.topic_error < 1e-12
    assert found.transition_error < 1e-12
    assert 0.9 < found.right_by_truth - 0.03 < found.right <= 1
    runs = {}
    for d in range(len(documents)):
        part = states[documents.offsets[d] : documents.offsets[d + 1]]
        for run in np.split(part, np.flatnonzero(np.diff(part)) + 1):
            runs.setdefault(int(run[0]), []).append(len(run))
    assert found.true_runs == pytest.approx([np.mean(runs[k]) for k in order])


def test_words_that_were_never_drawn_count_as_wrong():
    truth = demo_model()
    documents, states = sample_documents(truth, 150, random_state=0)
    seen = np.unique(documents.symbols)
    lost = np.delete(np.arange(truth.n_symbols), seen)
    assert len(lost)
    codes = np.searchsorted(seen, documents.symbols)
    fewer = Documents(codes, documents.offsets, tuple(truth.vocabulary[code] for code in seen))
    kept = truth.emissionprob[:, seen]
    part = HMM(truth.startprob, truth.transmat, kept / kept.sum(axis=1, keepdims=True))
    found = compare(told(part, fewer, np.arange(12)), fewer, truth, states)
    missing = truth.emissionprob[:, lost].sum(axis=1)
    np.testing.assert_allclose(found.topic_errors, missing, atol=1e-12)


def test_the_passage_has_a_word_in_two_senses():
    emission = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]])
    documents = Documents([0, 0, 2, 0, 1, 1, 2, 1, 1], [0, 3, 7, 9], ("oak", "bank", "loan", "x"))
    topics = np.array([0, 0, 1, 0, 0, 1, 1, 0, 0])
    assert passage(documents, topics, emission) == (
        1,
        ["oak", "bank", "bank", "loan"],
        [0, 0, 1, 1],
    )


def test_as_many_words_as_fit():
    assert fitting(["rain", "wind", "storm"], 9) == "rain wind"
    assert fitting(["rain", "wind", "storm"], 8) == "rain"
    assert fitting(["rain"], 3) == ""


def test_an_interrupted_demo_is_run_again(run, folder):
    run("demo", "-n", "50", "-o", "first")
    (folder / "first" / "topics.cohmm").unlink()
    run("demo", "-n", "60", "-o", "first")
    assert {path.name for path in (folder / "first").iterdir()} == FILES


@pytest.mark.parametrize("text", ["mine", "", "Rain and \xff"])
def test_a_corpus_that_is_not_the_demos_is_left_alone(run, folder, text):
    (folder / "corpus.txt").write_text(text, "latin-1")
    told = "corpus.txt is not of a demo: choose another folder with --output"
    run("demo", "-o", ".", fails=told)
    assert (folder / "corpus.txt").read_text("latin-1") == text
