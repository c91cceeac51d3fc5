"""``cohmm compare``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cohmm import Documents, read_documents
from cohmm.cli import app
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.topics.bertopic import fit_of
from cohmm.learn.topics.plsa import plsa
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics import compare as module
from cohmm.topics.coherence import coherence
from cohmm.topics.compare import (
    MEASURES,
    RIVALS,
    Judged,
    Rival,
    compare,
    in_words_of,
    part,
)
from cohmm.topics.junk import twins
from cohmm.topics.perplexity import perplexity
from cohmm.topics.top_words import diversity, top_words

SAMPLE = sample_htmm(150, n_components=3, n_words=200, length=30, random_state=0).documents
USUAL = ["htmm", "gruber", "lda-tomotopy", "lda-gensim", "lda-sklearn", "plsa", "anchor-words"]


@pytest.fixture
def texts(folder):
    lines = (" ".join(SAMPLE.words(d)) + "\n" for d in range(len(SAMPLE)))
    (folder / "news.txt").write_text("".join(lines))


def test_every_rival_has_a_row(run, texts, folder):
    result = run("compare", "news.txt", "-k", "3", "--csv", "rows.csv")
    assert result.stderr == ""
    for name in USUAL:
        lines = (x for x in result.stdout.splitlines() if x.startswith(f" {RIVALS[name].label} "))
        cells = [line.replace(RIVALS[name].label, "").split() for line in lines]
        # of the model, by probability, by relevance
        assert [len(row) for row in cells] == [4, 5, 5]
    assert "coherence: the paper's, top 20 words, eps 0.01" in result.stdout
    assert "10% of the documents held out" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    with (folder / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == USUAL
    words = ["coherence", "npmi", "npmi-median", "npmi-window", "diversity"]
    distinctive = [f"{name}-relevance" for name in words]
    of_model = ["coverage", "twins", "perplexity"]
    assert list(rows[0]) == ["model", "K", "seed", *words, *of_model, *distinctive, "seconds"]
    perplexities = {row["model"]: float(row["perplexity"]) for row in rows}
    assert perplexities["htmm"] < min(perplexities[name] for name in USUAL[2:])


def test_scores_are_those_of_the_library(run, texts):
    """One row by hand: the split, the learner and every measure."""
    given = ("-k", "4", "--models", "plsa", "--seed", "3", "--held-out", "0.2", "--json")
    (row,) = json.loads(run("compare", "news.txt", *given).stdout)["rows"]
    documents = in_words_of(SAMPLE, SAMPLE)  # in the order of the alphabet, as they are read
    order = np.argsort(documents.vocabulary)
    documents = Documents(
        np.argsort(order)[documents.symbols],
        documents.offsets,
        tuple(documents.vocabulary[i] for i in order),
    )
    train, held_out = part(documents, 0.2, 3)
    fit = plsa(train, 4, random_state=3)
    assert row["coherence"] == pytest.approx(coherence(fit, train, top=20, eps=0.01).mean())
    assert row["npmi"] == pytest.approx(coherence(fit, train, "npmi").mean())
    assert row["npmi-median"] == pytest.approx(np.median(coherence(fit, train, "npmi")))
    assert row["npmi-median"] != row["npmi"]
    assert row["npmi-window"] == pytest.approx(coherence(fit, train, "npmi", window=10).mean())
    assert (row["coverage"], row["twins"]) == (1.0, len(twins(fit.components)))
    assert row["diversity"] == diversity(fit.components)
    shown = {"by": "relevance", "prevalence": fit.prevalence}
    words = [top_words(fit.components, fit.vocabulary, n, **shown) for n in (20, 10)]
    assert row["coherence-relevance"] == pytest.approx(coherence(words[0], train).mean())
    assert row["npmi-relevance"] == pytest.approx(coherence(words[1], train, "npmi").mean())
    assert row["npmi-window-relevance"] == pytest.approx(
        coherence(words[1], train, "npmi", window=10).mean()
    )
    assert row["diversity-relevance"] == diversity(fit.components, **shown)
    assert row["diversity-relevance"] != row["diversity"]
    expected = perplexity(fit, held_out, chain="independent")
    assert row["perplexity"] == pytest.approx(expected)
    assert (row["model"], row["K"], row["seed"]) == ("plsa", 4, 3)


def test_sizes_seeds_and_means(run, texts):
    given = ("compare", "news.txt", "-k", "4,2,4", "--models", "plsa,htmm", "--seeds", "2")
    found = json.loads(run(*given, "--json").stdout)
    rows = found["rows"]
    assert [(row["K"], row["model"], row["seed"]) for row in rows] == [
        (k, model, seed) for k in (2, 4) for model in ("plsa", "htmm") for seed in (0, 1)
    ]
    assert rows[0]["coherence"] != rows[1]["coherence"]
    printed = run(*given).stdout
    assert "means of 2 seeds" in printed
    assert [(row["K"], row["model"], row["seeds"]) for row in found["stability"]] == [
        (k, model, 2) for k in (2, 4) for model in ("plsa", "htmm")
    ]
    assert f"{found['stability'][0]['stability']:.3f}" in printed
    mean = (rows[0]["coherence"] + rows[1]["coherence"]) / 2
    assert f"{mean:.1f}" in printed
    again = json.loads(run(*given, "--threads", "1", "--json").stdout)["rows"]
    for row in (*rows, *again):
        del row["seconds"]
    assert rows == again


def test_the_best_of_a_column_has_a_star(run, texts):
    given = ("compare", "news.txt", "-k", "3", "--models", "htmm,plsa")
    rows = {row["model"]: row for row in json.loads(run(*given, "--json").stdout)["rows"]}
    printed = run(*given).stdout.splitlines()
    lines = {line.split()[0]: line for line in reversed(printed) if line.strip()}
    assert rows["htmm"]["perplexity"] < rows["plsa"]["perplexity"]
    assert f"{rows['htmm']['perplexity']:.1f}*" in lines["HTMM"]
    assert f"{rows['plsa']['perplexity']:.1f} " in lines["pLSA"]


def test_what_is_not_installed_is_named(run, texts, monkeypatch):
    gone = {name: rival._replace(package="no_such_package") for name, rival in RIVALS.items()
            if name.startswith("lda-")}  # fmt: skip
    monkeypatch.setattr(module, "RIVALS", {"plsa": RIVALS["plsa"]} | gone)
    result = run("compare", "news.txt", "-k", "3")
    assert result.stderr == (
        "cohmm: not installed, and so left out: lda-tomotopy, lda-gensim, lda-sklearn "
        "(pip install 'cohmm[compare]')\n"
    )
    assert "pLSA" in result.stdout
    run(
        *("compare", "news.txt", "-k", "3", "--models", "lda-gensim"),
        fails="lda-gensim needs no_such_package: pip install 'cohmm[compare]'",
    )


def test_a_model_that_fails_does_not_end_the_others(run, texts, monkeypatch):
    def fails(documents, k, random_state):
        raise ValueError("not today")

    monkeypatch.setitem(RIVALS, "sick", Rival("sick", fails))
    result = run("compare", "news.txt", "-k", "3", "--models", "sick,plsa", "--json")
    found = json.loads(result.stdout)
    assert [row["model"] for row in found["rows"]] == ["plsa"]
    assert found["failed"] == [{"model": "sick", "K": 3, "seed": 0, "why": "not today"}]
    assert result.stderr == "cohmm: sick, K=3, seed 0: not today\n"
    run(
        *("compare", "news.txt", "-k", "3", "--models", "sick"),
        fails="no model could be learned: sick, K=3, seed 0: not today",
    )


def test_bad_input_is_one_line_and_nothing_is_written(run, texts, folder):
    (folder / "few.txt").write_text("rain sun\nsun rain\n")
    before = {path.name for path in folder.iterdir()}

    def fails(why, *args):
        run("compare", *args, "--csv", "rows.csv", fails=why)
        assert {path.name for path in folder.iterdir()} == before

    names = ", ".join(RIVALS)
    fails(f"there is no model 'lda': choose from {names}", "news.txt", "--models", "htmm,lda")
    for k in ("0", "a", "3,", "1-", "1-2-3"):
        fails(f"--n-components must be whole numbers from 1, such as 10,20,50, not {k!r}",
              "news.txt", "-k", k)  # fmt: skip
    fails("--held-out must be a share between 0 and 1, not 1", "news.txt", "--held-out", "1")
    fails("gone.txt: there is no such file", "gone.txt")
    fails("2 documents cannot be split at 0.9: a part would be empty", "few.txt", "-k", "2")
    fails("9 topics cannot be learned from a vocabulary of 2 words", "few.txt", "-k", "2,9")


def clusters(documents, k, seed, embedding=None):
    """As BERTopic would have it: every third document is in none."""
    labels = np.arange(len(documents)) % 3 - 1
    return fit_of(labels, embedding[:2], documents.term_counts(), documents)


def test_what_does_not_apply_to_a_model_is_blank(run, texts, monkeypatch, folder):
    def without_a_law(documents, k, random_state, embedding=None):
        assert embedding == Path("model")
        return clusters(documents, k, random_state, documents.term_counts().toarray() + 0.0)

    (folder / "model").mkdir()
    rival = RIVALS["bertopic"]._replace(learn=without_a_law, package=None)
    monkeypatch.setitem(RIVALS, "bertopic", rival)
    given = ("compare", "news.txt", "-k", "2", "--models", "bertopic,plsa", "--embedding", "model")
    printed = run(*given, "--csv", "rows.csv").stdout
    lines = [line.split() for line in printed.splitlines() if line.startswith(" BERTopic")]
    assert [len(line) for line in lines] == [4, 6, 6]  # without perplexity
    with (folder / "rows.csv").open() as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    assert rows["bertopic"]["perplexity"] == "" != rows["plsa"]["perplexity"]
    found = {row["model"]: row for row in json.loads(run(*given, "--json").stdout)["rows"]}
    assert "perplexity" not in found["bertopic"]
    run(
        *given[:-1], "gone", fails="--embedding gone: there is no such folder with a language model"
    )


def test_the_distinctive_words_of_bertopic_are_its_own():
    """By c-TF-IDF, not by relevance."""
    train, held_out = part(SAMPLE, 0.1, 0)
    own = np.tile(np.arange(train.n_symbols, dtype=float), (2, 1))
    fit = clusters(train, 2, 0, own)
    judged = Judged(fit, train, held_out, "independent")
    last = list(range(train.n_symbols - 1, train.n_symbols - 21, -1))
    assert judged.top(20, "relevance").tolist() == [last, last]
    words = [[train.vocabulary[code] for code in last]] * 2
    expected = coherence(words, train).mean()
    assert MEASURES["coherence-relevance"](judged) == pytest.approx(expected)
    assert MEASURES["diversity-relevance"](judged) == 0.5
    expected = coherence(fit.components, train).mean()
    assert MEASURES["coherence"](judged) == pytest.approx(expected)


def test_coverage_is_of_words_outside_junk():
    """Attachments are junk, whoever learns them; words that a model puts nowhere do not count."""
    rng = np.random.default_rng(0)
    codes = [f"{a}{b}{c}" for a in "xyz" for b in range(10) for c in "qwk"]
    letters = str.maketrans("0123456789", "aeiouyaeio")  # words that look like words
    texts = [[w.translate(letters) for w in SAMPLE.words(d)] for d in range(len(SAMPLE))]
    texts += [rng.choice(codes, 300).tolist() for _ in range(6)]
    documents = read_documents(texts)
    train, held_out = part(documents, 0.1, 0)
    expected = np.array([word[0] == "w" for word in train.vocabulary])[train.symbols].mean()
    for name in ("htmm", "plsa"):
        (found,) = compare(documents, [name], [4], measures=["coverage", "twins"])
        assert found.scores["coverage"] == pytest.approx(expected, abs=0.02)
    own = np.ones((2, train.n_symbols))
    judged = Judged(clusters(train, 2, 0, own), train, held_out, "independent")
    labels = np.arange(len(train)) % 3 - 1
    in_clusters = train.lengths[labels >= 0].sum() / train.n_words
    assert MEASURES["coverage"](judged) == pytest.approx(in_clusters)


def test_twins_are_counted():
    fit = plsa(SAMPLE, 3, random_state=0)
    doubled = TopicFit(
        fit.components[[0, 0, 1]], fit.prevalence, fit.prior, fit.vocabulary, name="by hand"
    )
    judged = Judged(doubled, SAMPLE, SAMPLE, "independent")
    assert MEASURES["twins"](judged) == 1


def test_a_small_vocabulary_has_all_words_on_top(folder):
    (folder / "small.txt").write_text("rain sun sun\nsun rain rain wind\nwind sun rain sun\n" * 10)
    command = ["compare", "small.txt", "-k", "2", "--models", "htmm,plsa", "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.stderr
    for row in json.loads(result.stdout)["rows"]:
        assert row["diversity"] == 0.5
        assert 1 < row["perplexity"] < 4


def test_held_out_documents_have_the_words_that_were_learned():
    documents = Documents([0, 1, 2, 1, 3, 0], [0, 3, 3, 6], ("a", "b", "c", "d"))
    train = documents.select([0])
    found = in_words_of(documents.select([2, 1]), train)
    assert found.vocabulary == ("a", "b", "c")
    assert [found.words(d) for d in range(2)] == [["b", "a"], []]
    assert in_words_of(train, train).vocabulary == ("a", "b", "c")


def test_all_measures_of_one_row():
    (found,) = compare(SAMPLE, ["plsa"], [3], measures=list(MEASURES))
    assert list(found.scores) == list(MEASURES)
    # In the chain these topics, whose words were drawn from one, are better than as bags.
    assert found.scores["chained"] < found.scores["perplexity"]
    train, _ = part(SAMPLE, 0.1, 0)
    fit = plsa(train, 3, random_state=0)
    assert found.scores["training"] == perplexity(
        fit, train, chain="independent", method="training"
    )
    with pytest.raises(ValueError, match="there is no measure 'umass': choose from coherence"):
        compare(SAMPLE, ["plsa"], [3], measures=["umass"])


def test_no_word_to_judge_by():
    documents = Documents([0, 1, 2], [0, 1, 2, 3], ("a", "b", "c"))
    with pytest.raises(ValueError, match="there is no known word in the 1 documents to hold out"):
        part(documents, 0.34, 0)
