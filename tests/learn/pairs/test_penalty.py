"""The weight of the volume term by pairs that were held out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm import Cooccurrence
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.penalty import GRID, held_out_penalty
from cohmm.learn.pairs.volume import LogDet, Volume
from tests.learn.pairs.test_min_volume import counts_of, quiet


def test_auto_penalty_is_one_of_the_grid_and_deterministic() -> None:
    truth = random_hmm(50, 5, stay=0.3, random_state=0)
    counts = counts_of(truth, 10**5)
    first = quiet(counts, 5, penalty="auto", random_state=0)
    again = quiet(counts, 5, penalty="auto", random_state=0)
    assert first.penalty == again.penalty
    assert first.model == again.model
    steps = np.array(GRID) / np.sqrt(10**5 - 1)
    assert np.isclose(steps, first.penalty).any()
    with pytest.raises(ValueError, match="holds out pairs"):
        quiet(Cooccurrence.from_probability(truth.pair_probability()), 5, penalty="auto")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_largest_that_predicts_as_well_as_the_best(form: type) -> None:
    # Up to a tenth all are the truth, beyond it nonsense: pairs that were held out can tell.
    truth = random_hmm(12, 3, stay=0.5, random_state=0)
    counts = counts_of(truth, 10**4)
    evidence = PairEvidence.of(
        Cooccurrence({1: form(counts[1])}, counts.symbol_counts, counts.start_counts)
    )
    right = Point(truth.emissionprob.T, truth.stationary()[:, None] * truth.transmat)
    wrong = Point(right.m[::-1], right.theta)
    scale = 1 / np.sqrt(evidence.n_pairs)
    seen: list[float] = []

    def fit(training: PairEvidence, volume: Volume, penalty: float, begin: Point) -> Point:
        assert training.n_pairs < 0.85 * evidence.n_pairs
        seen.append(penalty / scale)
        return right if penalty < 0.2 * scale else wrong

    assert held_out_penalty(evidence, 3, LogDet(), 0, fit) == pytest.approx(0.1 * scale)
    assert seen == pytest.approx(GRID)
