"""``cohmm diagnose``."""

import json

import pytest

from cohmm import HMM
from cohmm.datasets.synthetic import separable_hmm


@pytest.fixture
def words(folder):
    """Sequences of three states, a model of them, and their counts."""
    truth = separable_hmm(8, 3, stay=0.6, random_state=1)
    labels = [f"s{n}" for n in range(8)]
    model = HMM(truth.startprob, truth.transmat, truth.emissionprob, labels)
    model.save("truth.cohmm")
    lines = [" ".join(model.sample(50, random_state=seed)[0]) for seed in range(60)]
    (folder / "words.txt").write_text("\n".join(lines) + "\n")
    return folder


def test_a_model_with_its_data(run, words):
    printed = run("diagnose", "truth.cohmm", "words.txt").stdout
    assert "3 states, 8 symbols, 2,940 pairs of 60 sequences" in printed
    assert "nothing speaks against the model" in printed
    found = json.loads(run("diagnose", "truth.cohmm", "words.txt", "--json").stdout)
    assert found["fit"]["p_value"] > 0.05
    assert found["sequences"] == 60


def test_data_alone_is_fitted_first(run, words):
    found = json.loads(run("diagnose", "words.txt", "-k", "2", "--json").stdout)
    assert found["components"] == 2
    assert found["refined"] is True
    assert found["sequences"] == 60
    assert found["fit"] is not None


def test_counts_and_a_model_with_counts(run, words):
    run("count", "words.txt", "-o", "counts.cohmm")
    alone = run("diagnose", "counts.cohmm").stdout
    assert alone.startswith("fit of          counts alone, 8 symbols, 2,940 pairs\n")
    found = json.loads(run("diagnose", "truth.cohmm", "counts.cohmm", "--json").stdout)
    assert found["fit"] is None
    assert list(found["pairs_outside"]) == ["1"]


def test_a_model_alone(run, words):
    printed = run("diagnose", "truth.cohmm").stdout
    assert "separable" in printed
    assert "not answered" in printed


def test_topics_have_no_data_beside_them(run, words):
    (words / "texts.txt").write_text("corn wheat corn maize\nbank yen bank rate\n" * 20)
    run("topics", "texts.txt", "-k", "2", "-o", "topics.cohmm", "--min-df", "1")
    assert "2 topics" in run("diagnose", "topics.cohmm").stdout
    run(
        "diagnose",
        "topics.cohmm",
        "texts.txt",
        fails="topics are diagnosed from the counts in their file: give no data",
    )


def test_what_does_not_go_together(run, words):
    run("count", "words.txt", "-o", "counts.cohmm")
    run(
        "diagnose",
        "counts.cohmm",
        "words.txt",
        fails="counts.cohmm has counts: data goes with a model, not with them",
    )
    run(
        "diagnose",
        "truth.cohmm",
        "-k",
        "3",
        fails="--n-components is of a model that is fitted to data: give data, not counts",
    )
