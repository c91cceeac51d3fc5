"""Baum-Welch algorithm, against hmmlearn's and against every path by itself."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM
from hypothesis import assume, given
from hypothesis import strategies as st

from cohmm import HMM, ImpossibleObservation, Sequences
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.learner import Progress
from cohmm.learn.sequences.baum_welch import PseudoCounts, baum_welch, random_start
from tests import laws, oracles
from tests.strategies import models_and_data, random_model, with_gaps

ITERATIONS = 15


def theirs(start: HMM, y: np.ndarray, lengths: Any, pseudo: PseudoCounts) -> CategoricalHMM:
    model = CategoricalHMM(
        start.n_components,
        n_iter=ITERATIONS,
        tol=-np.inf,
        init_params="",
        implementation="scaling",
        startprob_prior=1 + pseudo.start,
        transmat_prior=1 + pseudo.transition,
        emissionprob_prior=1 + pseudo.emission,
        n_features=start.n_symbols,
    )
    model.startprob_, model.transmat_ = start.startprob.copy(), start.transmat.copy()
    model.emissionprob_ = start.emissionprob.copy()
    return model.fit(y[:, None].astype(np.int64), lengths)


@pytest.mark.parametrize("lengths", [[4000], [1, 1500, 2, 497, 2000]])
@pytest.mark.parametrize("pseudo", [PseudoCounts(), PseudoCounts(0.5, 2.0, 0.1)])
def test_hmmlearn_iteration_by_iteration(lengths: list[int], pseudo: PseudoCounts) -> None:
    y, _ = random_hmm(20, 4, stay=0.3, random_state=0).sample(4000, random_state=1)
    start = random_model(4, 20, seed=5)
    peer = theirs(start, y, lengths, pseudo)
    fit = baum_welch(
        y, lengths=lengths, start=start, prior=pseudo, max_iter=ITERATIONS + 1, tol=0.0
    )
    ours = [-4000 * step.divergence for step in fit.history]
    assert len(ours) == ITERATIONS + 1
    np.testing.assert_allclose(ours[:-1], list(peer.monitor_.history), rtol=0, atol=1e-8)
    assert not fit.converged
    # Their model is the one after the last step; ours is the last that was evaluated, the same.
    found = fit.model.align_to(HMM.from_hmmlearn(peer))
    laws.close(found.startprob, peer.startprob_, 1e-9)
    laws.close(found.transmat, peer.transmat_, 1e-9)
    laws.close(found.emissionprob, peer.emissionprob_, 1e-9)


@given(models_and_data(), st.sampled_from([PseudoCounts(), PseudoCounts(1.0, 0.5, 0.25)]))
def test_every_path_by_itself(case: tuple[HMM, list[list[int]]], pseudo: PseudoCounts) -> None:
    model, data = case
    assume(all(oracles.likelihood(model, y) > 0 for y in data))
    n = sum(map(len, data))
    fit = baum_welch(with_gaps(data), start=model, prior=pseudo, max_iter=4, tol=0.0)
    at = model
    for step in fit.history:
        log_prob, after = oracles.em_step(at, data, pseudo)
        assert -n * step.divergence == pytest.approx(log_prob, abs=1e-9)
        density = sum(
            p * np.log(table[table > 0]).sum()
            for p, table in zip(pseudo, (at.startprob, at.transmat, at.emissionprob), strict=True)
        )
        assert -n * step.objective == pytest.approx(log_prob + density, abs=1e-9)
        at, last = after, at
    for name in ("startprob", "transmat", "emissionprob"):
        laws.rows_are_distributions(getattr(fit.model, name))
    assert sorted(fit.model.startprob) == pytest.approx(sorted(last.startprob), abs=1e-9)


@pytest.mark.parametrize("pseudo", [PseudoCounts(), PseudoCounts(1.0, 3.0, 0.5)])
def test_the_objective_never_rises(pseudo: PseudoCounts) -> None:
    y, _ = separable_hmm(12, 3, stay=0.4, random_state=0).sample(3000, random_state=0)
    seen: list[Progress] = []
    fit = baum_welch(
        y, 3, prior=pseudo, max_iter=2000, tol=1e-3, random_state=0, callback=seen.append
    )
    assert fit.converged
    assert all(after.objective <= before.objective for before, after in pairwise(fit.history))
    assert tuple(seen) == fit.history
    last = fit.history[-1].objective
    assert (fit.history[-2].objective - last) * 3000 < 1e-3
    assert -fit.divergence * 3000 == pytest.approx(fit.model.log_likelihood(y))
    if any(pseudo):
        assert fit.objective > fit.divergence
        assert min(fit.model.emissionprob.min(), fit.model.transmat.min()) > 0
    else:
        assert fit.objective == fit.divergence


def test_a_prior_is_felt() -> None:
    y = [0, 1] * 20
    start = HMM([0.5, 0.5], [[0.3, 0.7], [0.7, 0.3]], [[0.8, 0.2], [0.2, 0.8]])
    hard = baum_welch(y, start=start, tol=1e-6).model
    for name in PseudoCounts._fields:
        soft = baum_welch(y, start=start, prior=PseudoCounts(**{name: 5.0}), tol=1e-6).model
        least = {
            "start": (soft.startprob, hard.startprob),
            "transition": (soft.transmat, hard.transmat),
            "emission": (soft.emissionprob, hard.emissionprob),
        }[name]
        assert least[0].min() > 0.05 > 1e-6 > least[1].min()


def test_the_best_of_several_starts_is_kept() -> None:
    y, _ = random_hmm(15, 4, stay=0.5, random_state=1).sample(1500, random_state=0)
    one = baum_welch(y, 4, max_iter=30, random_state=3)
    several = baum_welch(y, 4, max_iter=30, n_init=4, random_state=3)
    assert len(several.starts) == 4
    assert len(set(several.starts)) == 4
    assert several.objective == min(several.starts)
    assert several.starts[0] == one.objective
    assert several.objective < one.objective
    again = baum_welch(y, 4, max_iter=30, n_init=4, random_state=3)
    assert again.model == several.model
    other = baum_welch(y, 4, max_iter=30, random_state=4)
    assert other.model != one.model


def test_states_come_by_prevalence_and_labels_stay() -> None:
    y, _ = random_hmm(6, 3, stay=0.6, random_state=1).sample(2000, random_state=0)
    words = np.array(list("abcdef"))[y].tolist()
    fit = baum_welch(words, 3, max_iter=20, random_state=0)
    assert fit.model.vocabulary == tuple("abcdef")
    assert (np.diff(fit.model.stationary()) <= 1e-12).all()
    with pytest.raises(ValueError, match="unseen symbol 'z'"):
        baum_welch([*words, "z"], start=fit.model)


def test_dead_states_keep_their_rows() -> None:
    # The second state emits what never comes; the third cannot be reached.
    start = HMM(
        [0.5, 0.5, 0],
        [[0.5, 0.5, 0], [0.25, 0.75, 0], [0.2, 0.3, 0.5]],
        [[0.5, 0.5, 0], [0, 0, 1], [0.3, 0.3, 0.4]],
    )
    fit = baum_welch([0, 1, 1, 0, 1] * 20, start=start, tol=0.0, max_iter=30)
    found = fit.model.align_to(start)
    np.testing.assert_array_equal(found.transmat[1:], start.transmat[1:])
    np.testing.assert_array_equal(found.emissionprob[1:], start.emissionprob[1:])
    np.testing.assert_allclose(found.emissionprob[0], [0.4, 0.6, 0], atol=1e-12)
    np.testing.assert_allclose(found.startprob, [1, 0, 0])


@pytest.mark.parametrize("data", [[[0]], [[0], [1]], [[0, 1]], [[None, 0], [1, None]], [[None, 0]]])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_hardly_any_data(data: Any, k: int) -> None:
    fit = baum_welch(data, k, random_state=0, max_iter=50)
    for table in (fit.model.startprob, fit.model.transmat, fit.model.emissionprob):
        laws.rows_are_distributions(table)
    assert np.isfinite(fit.objective)


def test_random_starts_know_the_frequencies() -> None:
    data = Sequences.of([0, 0, 0, 1, None, 3], n_symbols=5)
    starts = [random_start(data, 2, np.random.default_rng(seed)) for seed in range(300)]
    assert all(not start.emissionprob[:, [2, 4]].any() for start in starts)
    mean = np.mean([start.emissionprob for start in starts], axis=(0, 1))
    assert mean[0] > 0.5 > 0.15 < mean[1]


def test_converged_only_when_it_did() -> None:
    y, _ = random_hmm(15, 3, random_state=1).sample(2000, random_state=0)
    short = baum_welch(y, 3, max_iter=3, random_state=0)
    assert not short.converged
    assert short.n_iter == 3
    assert baum_welch(y, 3, tol=1e9, random_state=0).n_iter == 2
    single = baum_welch(y, 3, max_iter=1, random_state=0)
    assert not single.converged
    assert len(single.history) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n_components is missing"),
        ({"n_components": "auto"}, "n_components must be a whole number from 1, not 'auto'"),
        ({"n_components": 3, "start": random_model(2, 2)}, "start has 2 states, n_components=3"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        baum_welch([0, 1, 0, 0, 1], **options)


def test_impossible_data_is_named() -> None:
    start = HMM([1, 0], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5, 0], [0.5, 0.5, 0]])
    with pytest.raises(ImpossibleObservation, match="symbol 2 at sequence 1, position 1"):
        baum_welch([[0, 1], [0, 2, 1]], start=start)


def test_more_states_than_symbols() -> None:
    y, _ = random_hmm(3, 2, zeros=0.0, stay=0.7, random_state=0).sample(500, random_state=0)
    fit = baum_welch(y, 5, max_iter=50, random_state=0)
    assert fit.model.emissionprob.shape == (5, 3)
    assert fit.history[-1].objective < fit.history[0].objective
