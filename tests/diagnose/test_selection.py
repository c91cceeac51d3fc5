"""The number of states by held-out data."""

import numpy as np
import pytest

from cohmm import count_pairs, select
from cohmm.datasets.synthetic import separable_hmm
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.diagnose.selection import count_parameters, select_topics


@pytest.fixture(scope="module")
def truth():
    return separable_hmm(8, 3, stay=0.5, random_state=0)


@pytest.fixture(scope="module")
def found(truth):
    data = truth.sample(6_000, random_state=0)[0]
    return select(data, n_components=[1, 3], n_symbols=8, random_state=0)


def test_it_finds_the_states(found):
    assert found.recommended == found.best == 3
    assert [one.n_components for one in found.candidates] == [1, 3]
    assert found.candidates[1].behind == 0 < found.candidates[0].behind
    assert found.candidates[0].bic > found.candidates[1].bic
    assert found.candidates[1].stability < 0.2
    assert found.blocks
    assert found.reason.startswith("the best of 1 to 3 on held-out data (-1.")
    assert "the pairs show 3; still rising at the largest tried, 3; BIC takes 3" in found.reason
    assert found.rising


def test_the_table(found):
    lines = str(found).splitlines()
    assert lines[0].split()[:3] == ["states", "held", "out"]
    assert lines[2].endswith("<")
    assert lines[3].startswith("recommended: 3, the best of 1 to 3 on held-out data")
    frame = found.to_frame()
    assert frame["n_components"].tolist() == [1, 3]
    assert "npmi" not in frame
    assert found.to_dict()["candidates"][0]["npmi"] is None


def test_upward_from_what_the_pairs_show(truth):
    heard = []
    data = truth.sample(6_000, random_state=1)[0]
    options = {"stability": False, "folds": 1, "n_symbols": 8, "random_state": 0}
    found = select(data, callback=heard.append, **options)
    assert heard[0] == found.detectable
    assert sorted(heard) == [one.n_components for one in found.candidates]
    assert {found.best - 1, found.best + 1} <= set(heard)  # none in between was passed over
    assert found.recommended == 3
    assert not found.rising
    assert np.isnan(found.candidates[0].stability)


def test_zeros_are_no_parameters(truth):
    dense = (truth.emissionprob * 100 >= 1).sum() - 3
    assert count_parameters(truth, 10**9) == 6 + (truth.emissionprob > 0).sum() - 3
    assert count_parameters(truth, 100) < 6 + dense + 3


def test_a_symbol_that_occurs_once_does_not_blind_it(truth):
    symbols = truth.sample(2_000, random_state=0)[0].copy()
    symbols[10] = 8
    found = select(symbols, n_components=[1, 3], folds=1, stability=False, random_state=0)
    assert np.isfinite([one.held_out for one in found.candidates]).all()
    assert found.recommended == 3


def test_topics():
    sample = sample_htmm(120, n_components=2, n_words=60, random_state=0)
    found = select_topics(sample.documents, [1, 2], random_state=0)
    assert found.kind == "topic"
    assert found.recommended == 2
    assert found.candidates[1].npmi > found.candidates[0].npmi
    assert found.candidates[1].stability < 0.5
    assert "perplexity" in str(found)
    assert "npmi" in found.to_frame()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_components": []}, "n_components is empty"),
        ({"n_components": [2, 0]}, "whole numbers from 1, not 0"),
        ({"folds": 0}, "folds must be a whole number from 1"),
        ({"folds": 1000}, "folds must be .* at most, not 1000"),
        ({"lags": ()}, "lags is empty"),
    ],
)
def test_bad_options_are_named(options, said):
    with pytest.raises(ValueError, match=said):
        select(np.arange(1_000) % 5, **options)


def test_counts_cannot_be_held_out():
    with pytest.raises(ValueError, match="give the data itself, not counts"):
        select(count_pairs([0, 1, 1, 0]))


def test_too_little_data_is_said():
    with pytest.raises(ValueError, match="20 symbols are too few to hold some out"):
        select([0, 1] * 10)
    with pytest.raises(ValueError, match="held_out must be a share"):
        select_topics(["corn wheat"], [1], held_out=2)


def test_topics_of_a_seed_that_is_drawn():
    documents = sample_htmm(40, n_components=2, n_words=20, random_state=0).documents
    assert select_topics(documents, [1], random_state=None).recommended == 1
    with pytest.raises(ValueError, match="held_out must be a share"):
        select_topics(documents, [1], held_out="half")
