"""Lags by their signal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm.data.documents import Documents
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import sample_documents, sample_htmm
from cohmm.evidence.counting import count_documents
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.topic_lags import FAR, NEAR, _signal, auto_lags, lag_shares

WORDS = tuple(f"w{n}" for n in range(40))


@pytest.fixture(scope="module")
def one_subject() -> Documents:
    """Documents that stay with their topic from the first word to the last."""
    return sample_htmm(
        300, n_components=4, n_words=100, length=100, switch=0.05, alpha=0.01, random_state=0
    ).documents


def test_far_lags_count_where_documents_stay_with_their_topic(one_subject: Documents) -> None:
    moves_on = sample_documents(demo_model(), 300, length=100, random_state=0)[0]
    stays, moves = auto_lags(one_subject), auto_lags(moves_on)
    assert tuple(stays) == (*NEAR, *FAR)
    assert max(moves) <= 8
    assert all(stays[lag] == moves[lag] == 1 for lag in NEAR)
    assert all(0.1 * 0.1 < stays[lag] < 1 for lag in FAR)
    weights = [stays[lag] for lag in FAR]
    assert weights == sorted(weights, reverse=True)


def test_words_without_an_order_have_no_far_lags() -> None:
    """Of independent words no lag shows anything, and near ones are all there is."""
    symbols = np.random.default_rng(0).integers(40, size=20_000)
    assert tuple(auto_lags(Documents(symbols, np.arange(0, 20_001, 100), WORDS))) == NEAR


@pytest.mark.parametrize("lengths", [[3, 2], [1], [70], [0, 70], [9] * 20])
def test_few_and_short_documents(lengths: list[int]) -> None:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    symbols = np.random.default_rng(0).integers(40, size=offsets[-1])
    weights = auto_lags(Documents(symbols, offsets, WORDS))
    assert set(NEAR) <= set(weights)
    assert all(0 < weight <= 1 for weight in weights.values())


def test_words_that_are_never_so_far_apart_show_nothing() -> None:
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 4)))[0]
    assert _signal(sparse.csr_array((12, 12)), directions) == 0


def test_the_order_of_documents_does_not_matter_much(one_subject: Documents) -> None:
    order = np.random.default_rng(0).permutation(len(one_subject))
    one, other = auto_lags(one_subject), auto_lags(one_subject.select(order))
    assert one.keys() == other.keys()
    for lag in one:
        assert other[lag] == pytest.approx(one[lag], abs=0.2)


def test_shares_are_those_of_laws_in_the_sum(one_subject: Documents) -> None:
    shares = {1: 1.0, 8: 0.25}
    counts = count_documents(one_subject, shares)
    summed = PairEvidence.of(counts, shares, "summed", shares)
    expected = counts[1] / counts[1].sum() + 0.25 * counts[8] / counts[8].sum()
    seen = summed.seen
    np.testing.assert_allclose(summed.laws[1].omega, expected[seen][:, seen] / 1.25, atol=1e-12)


def test_given_shares_and_lags(one_subject: Documents) -> None:
    options = {"random_state": 0, "max_iter": 5, "refine": 0}
    alike = htmm(one_subject, 4, lags=(1, 8), **options)
    shared = htmm(one_subject, 4, lags={1: 0.5, 8: 0.5}, **options)
    np.testing.assert_allclose(alike.components, shared.components, rtol=1e-6)
    unlike = htmm(one_subject, 4, lags={1: 1.0, 8: 0.1}, **options)
    assert np.abs(unlike.components - alike.components).max() > 1e-4
    usual = auto_lags(one_subject)
    np.testing.assert_array_equal(
        htmm(one_subject, 4, **options).components,
        htmm(one_subject, 4, lags=usual, **options).components,
    )


def test_what_is_wrong_is_named(one_subject: Documents) -> None:
    for lags, message in [
        ("all", "lags must be \"auto\", or whole numbers from 1, not 'all'"),
        ({1: 0.0}, "lag 1 has the share 0.0: it must be a number above 0"),
        ({1: 1.0, 3: "much"}, "lag 3 has the share 'much'"),
        ({1: float("nan")}, "lag 1 has the share nan"),
    ]:
        with pytest.raises(ValueError, match=message):
            lag_shares(lags, one_subject)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0"):
        lag_shares({0: 1.0}, one_subject)
