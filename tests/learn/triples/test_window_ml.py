"""Windows of three, tied to one chain: exact laws, noisy ones, and its complaints."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cohmm import HMM, ImpossibleObservation, Triples, count_triples
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.fit import Progress
from cohmm.learn.run import EvidenceWarning
from cohmm.learn.sequences.likelihood import WindowLikelihood
from cohmm.learn.triples.tensor import tensor
from cohmm.learn.triples.triple_law import TripleLaw
from cohmm.learn.triples.window_ml import window_ml
from tests import laws
from tests.strategies import random_model

quiet = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")


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
