"""Where the factorisation starts."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM, Cooccurrence
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.start import mixed, plain_theta, starts
from tests.learn.pairs.test_min_volume import counts_of, quiet
from tests.learn.pairs.test_theta_update import feasible


def test_starts_from_a_model() -> None:
    truth = random_hmm(60, 6, stay=0.5, random_state=0)
    counts = counts_of(truth, 10**5)
    fit = quiet(counts, 6, random_state=0)
    again = quiet(counts, 6, start=fit.model, random_state=0)
    assert again.n_iter < fit.n_iter
    assert again.objective <= fit.objective + 1e-5
    with pytest.raises(ValueError, match="cannot start from"):
        quiet(counts, 5, start=fit.model)


def test_every_start_is_feasible_and_has_no_zero() -> None:
    evidence = PairEvidence.of(counts_of(random_hmm(30, 4, stay=0.5, random_state=0), 10**4))
    found = starts(evidence, 4, 3, 0, None)
    assert len(found) == 3
    for m, theta in found:
        feasible(theta)
        assert (m > 0).all()
        np.testing.assert_allclose(m.sum(axis=0), 1)
    assert np.abs(found[1].m - found[2].m).max() > 1e-3
    again = starts(evidence, 4, 2, 0, None)
    np.testing.assert_array_equal(again[1].m, found[1].m)  # further ones change none before


def test_of_an_exact_law_the_start_is_the_answer() -> None:
    truth = random_hmm(30, 3, random_state=0)
    evidence = PairEvidence.of(Cooccurrence.from_probability(truth.pair_probability()))
    [(m, theta)] = starts(evidence, 3, 1, None, None)
    feasible(theta)
    np.testing.assert_allclose(m @ theta @ m.T, truth.pair_probability(), atol=1e-10)


def test_a_given_model_is_where_it_starts() -> None:
    truth = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    evidence = PairEvidence.of(counts_of(truth, 10**4))
    [(m, theta)] = starts(evidence, 2, 1, None, truth)
    np.testing.assert_allclose(theta, [[0.45, 0.05], [0.05, 0.45]], atol=1e-9)
    np.testing.assert_allclose(m, mixed(truth.emissionprob.T, evidence.frequency))
    assert (m > 0).all()


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_papers_start(k: int) -> None:
    theta = plain_theta(k)
    feasible(theta)
    assert np.diag(theta) == pytest.approx(2 * theta[0, -1] if k > 1 else 1.0)
