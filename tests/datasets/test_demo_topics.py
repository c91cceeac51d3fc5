"""The words and the chain of the demo, and documents drawn from a chain."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.data.read_documents import read_documents
from cohmm.datasets.demo_topics import (
    COMMON,
    COMMON_SHARE,
    LEADS,
    SUBJECTS,
    demo_model,
    sentences,
)
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.model.hmm import HMM
from tests.laws import rows_are_distributions

WORDS = {name: text.split() for name, text in SUBJECTS.items()}


def test_a_dozen_subjects_whose_words_are_words():
    assert len(SUBJECTS) == 12
    for words in (*WORDS.values(), COMMON.split()):
        assert len(set(words)) == len(words)
        assert all(re.fullmatch(r"[a-z]{2,}", word) for word in words)
    assert all(60 <= len(words) <= 100 for words in WORDS.values())
    assert not set(COMMON.split()) & {word for words in WORDS.values() for word in words}


def test_some_words_belong_to_several_subjects_and_most_to_one():
    counts = Counter(word for words in WORDS.values() for word in words)
    shared = [word for word, n in counts.items() if n > 1]
    assert 50 < len(shared) < len(counts) / 5
    assert {"bank", "cell", "conductor"} <= set(shared)


def test_the_model_is_what_the_lists_say():
    model = demo_model()
    names = list(SUBJECTS)
    rows_are_distributions(model.emissionprob)
    rows_are_distributions(model.transmat)
    np.testing.assert_allclose(model.startprob @ model.transmat, model.startprob)
    place = {word: code for code, word in enumerate(model.vocabulary)}
    for k, name in enumerate(names):
        row = model.emissionprob[k]
        own = row[[place[word] for word in WORDS[name]]]
        assert (np.diff(own) < 0).all()
        assert own.sum() == pytest.approx(1 - COMMON_SHARE)
        leads, lasts = LEADS[name]
        assert 1 / (1 - model.transmat[k, k]) == pytest.approx(lasts)
        steps = np.where(np.arange(12) == k, 0, model.transmat[k])
        assert [names[j] for j in np.argsort(-steps)[:3]] == list(leads)


@given(st.lists(st.sampled_from(["rain", "wind"]), min_size=1, max_size=60), st.integers(0, 9))
def test_sentences_have_the_words_in_their_order(words, seed):
    text = sentences(words, np.random.default_rng(seed))
    assert read_documents([text]).words(0) == words
    parts = [part.split() for part in text.split(".")[:-1]]
    assert all(part[0][0].isupper() for part in parts)
    assert len(words) < 10 or all(5 <= len(part) < 16 for part in parts)


def test_documents_are_stretches_of_the_chain():
    hmm = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], np.eye(2), vocabulary=("a", "b"))
    documents, states = sample_documents(hmm, 2000, length=20, random_state=0)
    assert len(documents) == 2000
    assert documents.vocabulary == ("a", "b")
    assert documents.symbols.tolist() == states.tolist()
    assert documents.lengths.mean() == pytest.approx(20, rel=0.02)
    before, after = states[:-1], states[1:]
    assert np.mean(after[before == 0]) == pytest.approx(0.1, abs=0.01)
    assert np.mean(after[before == 1]) == pytest.approx(0.8, abs=0.01)
    again, _ = sample_documents(hmm, 2000, length=20, random_state=0)
    assert again == documents
    plain, _ = sample_documents(HMM([1.0], [[1.0]], [[0.5, 0.5]]), 3, random_state=0)
    assert plain.vocabulary == ("0", "1")


@pytest.mark.parametrize("wrong", [{"n_documents": 0}, {"length": 0}])
def test_sizes_that_are_none(wrong):
    with pytest.raises(ValueError, match="must be from 1"):
        sample_documents(demo_model(), **wrong)
