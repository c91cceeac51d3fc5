"""Windows of three, tied to one chain: exact laws, noisy ones, and its complaints."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cohmm import HMM, ImpossibleObservation, Triples, count_triples
from cohmm.datasets.synthetic import random_hmm
from cohmm.evidence.windows import Windows
from cohmm.learn.learner import EvidenceWarning, Progress
from cohmm.learn.maximize import StationaryLikelihood
from cohmm.learn.windows.tensor import tensor
from cohmm.learn.windows.window_law import (
    TripleLaw,
    WindowLaw,
    WindowLikelihood,
    window_probability,
)
from cohmm.learn.windows.window_ml import FLOOR, window_maximum_likelihood, window_ml
from tests import laws
from tests.learn.windows.test_overcomplete import sparse_model
from tests.strategies import random_model

quiet = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
OPTIONS = {"sparsity": 0.0, "max_iter": 300, "tol": 1e-4, "smoothing": 0.1, "callback": None}


def exact(truth: HMM) -> Triples:
    return Triples.from_probability(truth.triple_probability())


def counted(truth: HMM, length: int, seed: int = 1) -> Triples:
    return count_triples(truth.sample(length, random_state=seed)[0], n_symbols=truth.n_symbols)


@quiet
@pytest.mark.parametrize(("n", "k"), [(20, 5), (12, 1), (30, 3)])
def test_exact_triples_give_the_model_back(n: int, k: int) -> None:
    truth = random_hmm(n, k, random_state=0)
    fit = window_ml(exact(truth), k, random_state=0)
    assert fit.converged
    assert max(fit.model.distance(truth)) < 1e-6
    assert abs(fit.divergence) < 1e-12
    laws.close(fit.model.startprob, np.sort(truth.stationary())[::-1], 1e-6)


@quiet
def test_exact_triples_from_a_start_that_is_off() -> None:
    # The tensor is not needed, and all of what is left to gain is gained.
    truth = random_hmm(20, 4, random_state=1)
    blurred = HMM(
        truth.startprob,
        0.7 * truth.transmat + 0.3 / 4,
        0.7 * truth.emissionprob + 0.3 / 20,
    )
    fit = window_ml(exact(truth), 4, start=blurred, tol=1e-6, max_iter=1000, random_state=0)
    assert fit.converged
    assert max(fit.model.distance(truth)) < 1e-3
    assert fit.divergence < 1e-9
    objectives = [step.objective for step in fit.history]
    assert all(after < before for before, after in pairwise(objectives))
    assert objectives[0] > 1e-3


def test_counted_triples() -> None:
    truth = random_hmm(20, 3, stay=0.3, random_state=0)
    triples = counted(truth, 50_000)
    seen: list[Progress] = []
    fit = window_ml(triples, 3, random_state=0, callback=seen.append)
    assert tuple(seen) == fit.history
    assert fit.converged
    assert all(after.objective < before.objective for before, after in pairwise(fit.history))
    for table in (fit.model.startprob, fit.model.transmat, fit.model.emissionprob):
        laws.rows_are_distributions(table)
    rough = tensor(triples, 3, random_state=0).model
    assert fit.model.distance(truth).emission < rough.distance(truth).emission
    assert max(fit.model.distance(truth)) < 0.03
    assert (np.diff(fit.model.stationary()) <= 1e-12).all()


def test_it_is_the_maximum() -> None:
    # EM's own step from there, the M step included, gains next to nothing.
    truth = random_hmm(15, 3, stay=0.3, random_state=2)
    triples = counted(truth, 20_000)
    fit = window_ml(triples, 3, smoothing=0.0, tol=1e-5, random_state=0)
    likelihood = WindowLikelihood(TripleLaw.of(triples))
    model = fit.model
    for _ in range(200):
        counts = likelihood.expected(model).counts
        model = HMM(
            counts.starts / counts.starts.sum(),
            counts.transitions / counts.transitions.sum(axis=1, keepdims=True),
            counts.emissions / counts.emissions.sum(axis=1, keepdims=True),
        )
    best = likelihood.law.negative_entropy - likelihood.expected(model).log_likelihood
    assert fit.divergence - best < 1e-6


def test_a_start_is_where_it_starts() -> None:
    truth = random_hmm(15, 3, stay=0.3, random_state=2)
    triples = counted(truth, 20_000)
    for k in (3, "auto"):
        fit = window_ml(triples, k, start=truth, max_iter=1)
        assert not fit.converged
        assert fit.n_iter == 1
        assert max(fit.model.distance(truth)) < 0.02  # one EM step
    assert window_ml(triples, 3, start=truth, random_state=0).divergence < fit.divergence


def test_sparsity_helps_where_emissions_have_zeros() -> None:
    truth = random_hmm(30, 4, zeros=0.7, random_state=0)
    triples = counted(truth, 100_000)
    plain, sparse = (
        window_ml(triples, 4, sparsity=s, smoothing=0.0, random_state=0) for s in (0.0, 1.0)
    )
    for better, worse in zip(
        sparse.model.distance(truth), plain.model.distance(truth), strict=True
    ):
        assert better < 0.9 * worse
    zeros, plain_zeros, true = (
        np.count_nonzero(model.emissionprob < 1e-5) for model in (sparse.model, plain.model, truth)
    )
    assert plain_zeros + 10 < zeros <= true
    # It begins where the plain climb ends, and goes on; what falls is the penalised objective.
    first = sparse.history[: len(plain.history)]
    assert [step[:3] for step in first] == [step[:3] for step in plain.history]
    assert sparse.divergence > plain.divergence
    assert sparse.objective < plain.objective


def test_starts_are_those_of_a_start_that_is_given() -> None:
    truth = random_hmm(15, 3, stay=0.3, random_state=2)
    first = HMM([0, 1, 0], truth.transmat, truth.emissionprob)
    found = window_ml(counted(truth, 20_000), 3, start=first, random_state=0).model
    assert found.align_to(truth).startprob.tolist() == [0, 1, 0]
    found = window_ml(counted(truth, 20_000), 3, random_state=0).model
    np.testing.assert_allclose(found.startprob, found.stationary())


def test_smoothing_leaves_nothing_impossible() -> None:
    triples = counted(random_hmm(15, 3, stay=0.3, random_state=2), 20_000)
    hard, soft = (window_ml(triples, 3, smoothing=s, random_state=0).model for s in (0.0, 0.1))
    assert hard.emissionprob.min() < 1e-7 < soft.emissionprob.min()
    assert max(soft.distance(hard)) < 0.01


@quiet
def test_a_chain_that_leaves_states_for_good() -> None:
    # All but the last state are rare in the long run, and frequent in the data.
    truth = HMM(
        [1, 0, 0],
        [[0.8, 0.2, 0], [0, 0.8, 0.2], [0, 0, 1]],
        [[0.6, 0.3, 0.1, 0, 0], [0, 0.3, 0.4, 0.3, 0], [0, 0, 0.1, 0.3, 0.6]],
    )
    y = [truth.sample(30, random_state=seed)[0].tolist() for seed in range(200)]
    fit = window_ml(count_triples(y, n_symbols=5), 3, start=truth, random_state=0)
    assert max(fit.model.distance(truth)) < 0.05


@quiet
def test_symbols_never_seen_and_labels() -> None:
    y, _ = random_hmm(6, 2, stay=0.5, random_state=0).sample(5000, random_state=0)
    words = np.array(list("abcdef"))[y].tolist()
    triples = count_triples(words, vocabulary=[*"abcdef", "z"])
    fit = window_ml(triples, 2, random_state=0)
    assert fit.model.vocabulary == (*"abcdef", "z")
    assert fit.model.emissionprob[:, 6].max() == 0


def test_more_than_the_data_can_show() -> None:
    y = np.random.default_rng(0).integers(0, 6, 2000)
    with pytest.warns(EvidenceWarning, match="can show 1 state; n_components=3 asks for more"):
        fit = window_ml(count_triples(y), 3, random_state=0)
    for table in (fit.model.startprob, fit.model.transmat, fit.model.emissionprob):
        laws.rows_are_distributions(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": random_model(3, 2)}, "start has 3 states, n_components=2"),
        ({"start": random_model(2, 4)}, r"HMM\(2 states, 4 symbols\), is not of the symbols of"),
        (
            {"start": HMM([1, 0], np.eye(2), np.eye(2), ("a", "b"))},
            "is not of the symbols of Triples",
        ),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        window_ml(count_triples([0, 1, 0, 0, 1, 1, 0]), 2, **options)


def test_evidence_that_says_nothing() -> None:
    nothing = Triples(np.zeros((0, 3), np.int32), np.zeros(0), 3)
    with pytest.raises(ValueError, match="nothing to learn from"):
        window_ml(nothing, 2)


def test_an_impossible_start_is_refused() -> None:
    start = HMM([0.5, 0.5], np.eye(2), np.eye(2))
    with pytest.raises(ImpossibleObservation, match=r"triple \(0, 0, 1\) has probability zero"):
        window_ml(count_triples([0, 0, 0, 1, 1, 1]), 2, start=start)
    labelled = HMM([0.5, 0.5], np.eye(2), np.eye(2), ("a", "b"))
    with pytest.raises(ImpossibleObservation, match=r"triple \('a', 'a', 'b'\)"):
        window_ml(count_triples(["a", "a", "a", "b", "b", "b"]), 2, start=labelled)


def climbed(law, starts, **options):
    return window_maximum_likelihood(law, starts, np.random.default_rng(0), **OPTIONS | options)


def divergence(law, model):
    likelihood = StationaryLikelihood(WindowLikelihood(law))
    return law.negative_entropy - likelihood.expected(model).log_likelihood


def test_maximum_likelihood_beats_the_truth_and_never_gets_worse():
    truth = random_model(3, 4, seed=2)
    law = WindowLaw.of(count_triples(truth.sample(20_000, random_state=0)[0]))
    seen = []
    starts = [random_model(3, 4, seed) for seed in (5, 6)]
    fit = climbed(law, starts, callback=seen.append, smoothing=0.0)
    assert fit.converged
    assert fit.divergence == fit.objective < divergence(law, truth)
    assert abs(fit.divergence - divergence(law, fit.model)) < 1e-12
    assert fit.objective == min(fit.starts)
    assert len(fit.starts) == 2
    objectives = [step.objective for step in fit.history]
    assert all(after < before for before, after in pairwise(objectives))
    assert set(fit.history) < set(seen)  # of both starts
    pi = fit.model.stationary()
    np.testing.assert_allclose(pi, np.sort(pi)[::-1])
    np.testing.assert_allclose(pi, fit.model.startprob, atol=1e-9)


def test_a_start_that_explains_the_law_is_the_answer():
    truth = sparse_model(3, 5, 2, seed=0)
    law = WindowLaw.of(Windows.from_probability(window_probability(truth, 2)))
    off = random_model(5, 3, seed=1)
    fit = climbed(law, iter([truth, off]), sparsity=3.0)
    assert len(fit.starts) == 1
    assert (fit.n_iter, fit.converged) == (1, True)
    assert max(fit.model.distance(truth)) == 0
    # With a start that is off before it, and no noise, both are climbed from.
    assert len(climbed(law, [off, truth], max_iter=1).starts) == 2


def test_sparsity_makes_zeros():
    truth = HMM(
        [1, 0, 0],
        [[0.4, 0.6, 0], [0, 0.4, 0.6], [0.6, 0, 0.4]],
        [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]],
    )
    law = WindowLaw.of(count_triples(truth.sample(5_000, random_state=1)[0]))
    plain, sparse = (climbed(law, [truth], smoothing=0.0, sparsity=w) for w in (0.0, 3.0))
    zeros = truth.transmat == 0
    largest = [fit.model.align_to(truth).transmat[zeros].max() for fit in (plain, sparse)]
    assert largest[1] < 1e-6 < largest[0]
    assert plain.divergence < sparse.divergence
    penalty = 3 * np.log1p(sparse.model.transmat / (FLOOR / 3)).sum() / law.n_windows
    assert abs(sparse.objective - sparse.divergence - penalty) < 1e-9
    # The preference comes after plain maximum likelihood: its first pass is not the first.
    assert plain.history[0].n_iter == 1 < plain.n_iter <= sparse.history[0].n_iter


def test_smoothing_leaves_nothing_seen_impossible():
    truth = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1, 0, 0], [0, 0.99, 0.01]])
    law = WindowLaw.of(count_triples(truth.sample(2_000, random_state=0)[0]))
    hard, soft = (climbed(law, [truth], smoothing=s).model for s in (0.0, 1.0))
    assert soft.emissionprob.min() > 1e-5 > hard.emissionprob.min()
