"""The recipe's starts: more of them never fit the data less well, and one is the same alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cohmm import HMM, PairwiseHMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.constraints import Constraints
from cohmm.learn.pairwise import pairwise

LEFT_RIGHT = Constraints(
    np.array([1.0, 0, 0, 0]),
    np.array([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]]),
)


def sessions(n: int, seed: int) -> Sequences:
    """Short ones, of stages that share many of their symbols: random starts end apart."""
    emissions = np.random.default_rng(seed).dirichlet(np.full(8, 0.3), 4)
    truth = HMM([1, 0, 0, 0], LEFT_RIGHT.transmat, emissions)
    rng = np.random.default_rng(seed)
    sequences = [truth.sample(int(m), random_state=rng)[0] for m in rng.integers(3, 12, n)]
    return Sequences.of(sequences, n_symbols=8)


FREE = Sequences.of(random_hmm(6, 3, stay=0.5, random_state=2).sample(600, random_state=0)[0])
CASES: dict[str, tuple[Sequences, int, dict[str, Any]]] = {
    "left-right": (sessions(30, 0), 4, {"constraints": LEFT_RIGHT}),
    "free": (FREE, 4, {}),
    "weights": (sessions(60, 1), 3, {"weights": np.arange(1.0, 61)}),
    "triples": (FREE, 3, {"refine": "triples"}),
    "more states than symbols": (Sequences.of(FREE.symbols[:150] % 2), 3, {}),
    "labels": (FREE, 3, {"constraints": Constraints(states=np.where(np.arange(600) < 9, 1, -1))}),
}


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_more_starts_are_never_worse(case: str) -> None:
    data, k, options = CASES[case]
    fits = [pairwise(data, k, n_init=n, max_iter=15, random_state=1, **options) for n in (1, 3)]
    one, three = (fit.refined for fit in fits)
    assert one is not None
    assert three is not None
    assert three.log_likelihood >= one.log_likelihood
    assert len(one.starts) == 1
    assert len(three.starts) == 3
    assert three.starts[0] == one.starts[0]  # the first start is the same however many follow
    assert len(set(three.starts)) > 1
    if one.evidence == "sequences" and "weights" not in options and case != "labels":
        for fit in (one, three):  # what is compared is the likelihood of the model itself
            per_symbol = fit.model.log_likelihood(data) / data.n_observations
            assert fit.log_likelihood == pytest.approx(per_symbol, abs=1e-12)


def test_starts_that_are_the_same_are_refined_once() -> None:
    truth = random_hmm(6, 3, random_state=2)
    whole = Constraints(truth.startprob, truth.transmat, truth.emissionprob)
    fit = pairwise(FREE, 3, constraints=whole, n_init=5, max_iter=5, random_state=0)
    assert fit.refined is not None
    assert len(fit.refined.starts) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_estimator_keeps_the_best_start_of_a_left_right_model() -> None:
    data = sessions(30, 0)

    def fitted(**options: Any) -> PairwiseHMM:
        model = PairwiseHMM(4, max_iter=10, **options)
        model.startprob_, model.transmat_ = LEFT_RIGHT.startprob, LEFT_RIGHT.transmat
        return model.fit(data)

    several = fitted(n_init=2, random_state=0)
    assert several.score(data) >= fitted(random_state=0).score(data)
    assert (several.transmat_[LEFT_RIGHT.transmat == 0] == 0).all()  # type: ignore[index]


def test_of_pairs_alone_the_best_objective_is_kept() -> None:
    one, four = (
        pairwise(FREE, 3, refine=False, sparsity=0.0, n_init=n, random_state=0) for n in (1, 4)
    )
    assert len(four.starts) == 4
    assert four.pairs is not None
    assert one.pairs is not None
    assert four.pairs.objective <= one.pairs.objective
