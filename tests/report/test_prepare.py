"""The values of a report: orders, sums, caps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.model.markov_chain import first_threshold, next_state, seriated
from cohmm.report.prepare import (
    MAX_BYTES,
    MAX_WORD_LENGTH,
    MAX_WORDS,
    N_TOP_WORDS,
    RELEVANCE_STEPS,
    prepare_report,
    relevant_words,
)
from tests.report.samples import TRICKY, WORDS, material


def test_topics_have_their_own_numbers():
    given = material()
    for k, topic in enumerate(prepare_report(given)["topics"]):
        assert topic["prevalence"] == pytest.approx(given.prevalence[k], rel=1e-3)
        assert topic["run"] == pytest.approx(1 / (1 - given.transitions[k, k]), rel=1e-3)
        assert topic["coherence"] == pytest.approx(given.coherence[k], rel=1e-3)


def test_a_topic_that_never_ends_has_no_run_length():
    given = replace(material(k=1), transitions=np.ones((1, 1)))
    (topic,) = prepare_report(given)["topics"]
    assert topic["run"] is None
    assert prepare_report(given)["order"] == [0]


def test_words_are_places_in_the_vocabulary_of_the_page():
    given = material(vocabulary=(*WORDS, "never", "used"))
    report = prepare_report(given)
    overall = given.prevalence @ given.components
    assert len(set(report["vocabulary"])) == len(report["vocabulary"])
    for word, p in zip(report["vocabulary"], report["overall"], strict=True):
        assert p == pytest.approx(overall[given.vocabulary.index(word)], rel=1e-3)
    for k, topic in enumerate(report["topics"]):
        for word, p in zip(topic["words"], topic["probabilities"], strict=True):
            code = given.vocabulary.index(report["vocabulary"][word])
            assert p == pytest.approx(given.components[k, code], rel=1e-3)
    for text, reading in zip(report["texts"], given.readings, strict=True):
        assert [report["vocabulary"][w] for w in text["words"]] == [
            given.vocabulary[code] for code in reading.symbols
        ]


def test_a_missing_observation_is_no_word():
    given = material(text=False, n_texts=1)
    symbols = given.readings[0].symbols.copy()
    symbols[3] = -1
    given = replace(given, readings=(replace(given.readings[0], symbols=symbols),))
    assert prepare_report(given)["texts"][0]["words"][3] == -1


def test_texts_are_cut_into_words_by_utf_16_lengths():
    given = material(vocabulary=TRICKY, n_texts=3)
    report = prepare_report(given)
    for text, reading in zip(report["texts"], given.readings, strict=True):
        units, at, words = text["text"].encode("utf-16-le"), 0, []
        for gap, length in zip(text["spans"][::2], text["spans"][1::2], strict=True):
            begin = at + gap
            at = begin + length
            words.append(units[2 * begin : 2 * at].decode("utf-16-le"))
        assert words == [TRICKY[code].replace("\ud800", "\ufffd") for code in reading.symbols]


def test_a_long_text_is_cut_behind_its_last_word():
    given = material(n_texts=1, length=MAX_WORDS + 50, vocabulary=tuple("abcd"))
    (text,) = prepare_report(given)["texts"]
    assert text["length"] == MAX_WORDS + 50
    for part in (
        text["words"],
        text["path"],
        text["path_p"],
        text["best"],
        text["best_p"],
        text["bag"],
    ):
        assert len(part) == MAX_WORDS
    assert sum(text["spans"]) == len(text["text"])


def test_a_text_of_many_bytes_is_cut_between_words():
    given = material(n_texts=1, length=60, vocabulary=("é" * 150, "b"), k=2)
    (text,) = prepare_report(given)["texts"]
    assert 0 < len(text["words"]) == len(text["path"]) == len(text["spans"]) // 2 < 60
    assert len(text["text"].encode()) <= MAX_BYTES < len(given.readings[0].text.encode())
    assert text["text"].endswith(("é", "b"))
    tail = replace(given.readings[0], text="b" + "x" * MAX_BYTES, spans=((0, 1),), length=1)
    tail = replace(tail, symbols=np.array([1]), path=tail.path[:1], bag=tail.bag[:1])
    assert prepare_report(replace(given, readings=(tail,)))["texts"][0]["text"] == "b"


def test_very_long_words_are_cut_and_the_file_stays_small():
    words = ("x" * 10**6, "y" * 10**6)
    report = prepare_report(material(vocabulary=words, k=2, n_texts=400, length=1))
    assert sorted(len(word) for word in report["vocabulary"]) == [MAX_WORD_LENGTH + 1] * 2
    assert sum(len(text["text"]) for text in report["texts"]) < 10_000


def test_shares_come_in_order_and_small_ones_are_left_out():
    given = material(n_texts=1)
    shares = np.array([0.1, 0.6, 0.001, 0.299])
    given = replace(given, readings=(replace(given.readings[0], shares=shares),))
    assert prepare_report(given)["texts"][0]["shares"] == [[1, 0.6], [3, 0.299], [0, 0.1]]


def test_posteriors_are_whole_percents():
    text = prepare_report(material(n_texts=1))["texts"][0]
    assert all(0 <= p <= 100 and isinstance(p, int) for p in text["path_p"] + text["best_p"])


def test_models_have_keys_of_their_own():
    assert prepare_report(material())["key"] == prepare_report(material(n_texts=2))["key"]
    assert prepare_report(material())["key"] != prepare_report(material(seed=1))["key"]


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 60))
def test_candidates_have_the_top_words_of_every_step(seed, k, v):
    rng = np.random.default_rng(seed)
    components = rng.dirichlet(np.full(v, 0.2), size=k)
    overall = components.mean(axis=0)
    for row, chosen in zip(components, relevant_words(components, overall), strict=True):
        assert (np.diff(row[chosen]) <= 0).all()
        possible = np.flatnonzero(row > 0)
        for step in range(RELEVANCE_STEPS + 1):
            share = step / RELEVANCE_STEPS
            values = np.log(row[possible]) - (1 - share) * np.log(overall[possible])
            wanted = np.sort(values)[::-1][:N_TOP_WORDS]
            mine = np.log(row[chosen]) - (1 - share) * np.log(overall[chosen])
            np.testing.assert_allclose(np.sort(mine)[::-1][: len(wanted)], wanted, atol=1e-8)


@given(st.integers(0, 2**31), st.integers(1, 12))
def test_an_order_has_every_topic_once_and_thresholds_are_probabilities(seed, k):
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.full(k, 0.3), size=k)
    assert sorted(seriated(transitions, rng.dirichlet(np.ones(k)))) == list(range(k))
    follows = next_state(transitions)
    sums = follows.sum(axis=1)
    leaves = transitions.sum(axis=1) - np.diag(transitions) > 0
    np.testing.assert_allclose(sums[leaves], 1)
    assert (sums[~leaves] == 0).all()
    assert 0 <= first_threshold(transitions) <= 1


def test_neighbours_in_the_order_follow_one_another():
    """A ring of topics, shuffled, is put in the order of the ring."""
    k = 9
    ring = 0.7 * np.eye(k) + 0.3 * np.roll(np.eye(k), 1, axis=1)
    shuffle = np.random.default_rng(0).permutation(k)
    order = seriated(ring[np.ix_(shuffle, shuffle)], np.full(k, 1 / k))
    places = shuffle[order]
    steps = np.abs(np.diff(places))
    assert (np.minimum(steps, k - steps) == 1).sum() >= k - 3
