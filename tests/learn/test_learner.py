"""What surrounds a learner: checks, one BLAS thread, records, warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from cohmm import HMM, Cooccurrence, Sequences, count_pairs, count_triples
from cohmm.learn import min_volume, pairwise
from cohmm.learn.learner import (
    EvidenceWarning,
    Progress,
    Record,
    by_prevalence,
    keeping,
    learner,
    prevalence_of,
    smoothed,
)
from tests.laws import close, rows_are_distributions
from tests.strategies import random_model


@learner
def example(counts: Cooccurrence, n: int, *, tol: float = 0.1, other: str = "x") -> list[int]:
    """What BLAS may use."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside() -> None:
    pairs = count_pairs([0, 1, 0])
    assert set(example(pairs, 1, other="y")) == {1}
    assert example.__doc__ == "What BLAS may use."


def test_shared_options_and_evidence_are_checked() -> None:
    pairs = count_pairs([0, 1, 0])
    with pytest.raises(ValueError, match=r"tol must be finite and at least 0, not -1\.0"):
        example(pairs, 1, tol=-1.0)
    with pytest.raises(ValueError, match=r"example learns from .* count_pairs\(X\), not a Triples"):
        example(count_triples([0, 1, 0]), 1)
    with pytest.raises(TypeError, match="nonsense"):
        example(pairs, 1, nonsense=1)


def test_a_record_keeps_and_tells() -> None:
    told: list[Progress] = []
    record = Record(told.append)
    assert record.gain(5.0) == float("inf")
    record(1, 3.0)
    record(4, 2.0, 1.5, volume=0.5, step=2.0)
    assert told == record.history
    assert [step[:5] for step in told] == [(1, 3.0, 3.0, 0.0, 1.0), (4, 2.0, 1.5, 0.5, 2.0)]
    assert 0 <= told[0].seconds <= told[1].seconds <= record.seconds
    assert record.gain(1.25) == 0.75
    Record(None)(1, 3.0)  # nobody listens


def test_a_warning_points_at_the_line_that_asked() -> None:
    counts = count_pairs([0, 1, 0, 1, 1, 0] * 20, n_symbols=3)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        min_volume(counts, 1, random_state=0)
    assert [warning.category for warning in heard] == [EvidenceWarning]
    assert Path(heard[0].filename) == Path(__file__)


def test_states_come_by_how_frequent_they_are() -> None:
    model = by_prevalence(random_model(5, 4, seed=0))
    assert (np.diff(model.stationary()) <= 0).all()
    given = by_prevalence(model, np.array([0.1, 0.3, 0.2, 0.3, 0.1]))
    np.testing.assert_array_equal(given.transmat, model.with_states([1, 3, 2, 0, 4]).transmat)


def test_a_chain_in_parts_has_a_prevalence() -> None:
    close(prevalence_of(HMM([1, 0], np.eye(2), np.eye(2))), [0.5, 0.5], 1e-9)
    model = random_model(4, 3, seed=1)
    close(prevalence_of(model), model.stationary(), 1e-9)


@pytest.mark.parametrize("visited", [None, np.array([0.25, 0.75])])
def test_smoothing_is_so_many_observations_more(visited: np.ndarray | None) -> None:
    model = HMM([1, 0], [[0, 1], [1, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]])
    frequency = np.array([5, 3, 2, 0])  # the last symbol never occurs
    soft = smoothed(model, 10.0, frequency, 0.5, visited)
    share = 0.5 * 3 / (0.5 * 3 + 10 * (np.full(2, 0.5) if visited is None else visited))
    expected = (1 - share)[:, None] * model.emissionprob + share[:, None] * frequency / 10
    close(soft.emissionprob, expected)
    rows_are_distributions(soft.transmat)
    assert (soft.transmat > 0).all()
    assert (soft.emissionprob[:, 3] == 0).all()
    close(soft.startprob, soft.stationary())


def test_keeping_a_row_of_which_nothing_is_left() -> None:
    before = HMM([1, 0], [[1, 0], [0.5, 0.5]], [[1, 0], [0, 1]])
    after = HMM([0, 1], [[0, 1], [0.2, 0.8]], [[0.5, 0.5], [1, 0]])
    kept = keeping(before, after)  # a division by zero would be a warning, which is an error
    assert kept.startprob.tolist() == [1, 0]
    assert kept.transmat.tolist() == [[1, 0], [0.2, 0.8]]
    assert kept.emissionprob.tolist() == [[1, 0], [0, 1]]


def test_shares_of_states_are_those_of_the_data() -> None:
    """Sessions that end in a state which the chain never leaves: it is rare in the data all the
    same, and states are ordered and shown by what there is of them."""
    truth = HMM([1, 0, 0], [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0, 0, 1]], np.eye(3))
    rng = np.random.default_rng(0)
    data = Sequences.of([truth.sample(4, rng)[0] for _ in range(400)], n_symbols=3)
    fit = pairwise(data, 3, random_state=0)
    shares = np.sort(data.symbol_counts / data.n_observations)[::-1]
    assert fit.shares is not None
    np.testing.assert_allclose(fit.shares, shares, atol=0.02)
    assert fit.last.shares is fit.shares
    assert fit.model.stationary().max() > fit.shares.max() + 0.3
    assert f"{fit.shares[0]:.1%}" in fit._repr_html_()
    alone = pairwise(data, 3, refine=False, random_state=0)
    assert alone.shares is not None
    np.testing.assert_allclose(np.sort(alone.shares)[::-1], shares, atol=0.05)
