"""Expected counts of sequences and of windows, against every path by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cohmm import HMM, Sequences, Triples, count_triples, threads
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.maximize import Expected, StationaryLikelihood, visits
from cohmm.learn.sequences.likelihood import Labels, SequenceLikelihood
from cohmm.learn.windows import window_law as triple_law
from cohmm.learn.windows.window_law import (
    TripleLaw,
    WindowLaw,
    WindowLikelihood,
    window_probability,
)
from cohmm.model.hmm import ImpossibleObservation
from cohmm.model.inference import Counts
from tests import laws, oracles
from tests.strategies import models_and_data, random_model, with_gaps


def by_paths(model: HMM, weighed: list[tuple[list[int], float]]) -> Expected:
    """Sequences, each with a weight, one path after the other."""
    found = [oracles.expected_counts(model, y) for y, _ in weighed]
    parts = zip(*found, strict=True)
    sums = [
        sum(weight * part for part, (_, weight) in zip(counts, weighed, strict=True))
        for counts in parts
    ]
    total = math.fsum(weight * math.log(oracles.likelihood(model, y)) for y, weight in weighed)
    return Expected(total, Counts(*sums))


def agree(found: Expected, true: Expected, tolerance: float) -> None:
    assert found.log_likelihood == pytest.approx(true.log_likelihood, abs=tolerance)
    for name in Counts._fields:
        laws.close(getattr(found.counts, name), getattr(true.counts, name), tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_windows_are_chains_of_three(seed: int) -> None:
    # Another model than the one that the triples are from, with starts of its own.
    y, _ = random_model(3, 4, seed=10 + seed).sample(400, random_state=seed)
    triples = count_triples(y, n_symbols=4)
    model = random_model(3, 4, seed=seed)
    share = triples.counts / triples.n_triples
    weighed = list(zip(triples.triples.tolist(), share.tolist(), strict=True))
    for law in (TripleLaw.of(triples), WindowLaw.of(triples)):
        agree(WindowLikelihood(law).expected(model), by_paths(model, weighed), 1e-12)


@pytest.mark.parametrize("tau", [2, 3])
def test_longer_windows_are_chains_of_their_own(tau: int) -> None:
    windows = count_windows(random_model(2, 3, seed=1).sample(60, random_state=0)[0], tau=tau)
    model = random_model(3, 3, seed=0)
    share = windows.counts / windows.n_windows
    weighed = list(zip(windows.windows.tolist(), share.tolist(), strict=True))
    found = WindowLikelihood(WindowLaw.of(windows)).expected(model)
    agree(found, by_paths(model, weighed), 1e-12)


def test_stationary_starts_are_transitions_that_led_there() -> None:
    truth = random_model(3, 4, seed=4)
    law = WindowLaw.of(Windows.from_probability(window_probability(truth, 2)))
    counts = StationaryLikelihood(WindowLikelihood(law)).expected(truth).counts
    pi = truth.stationary()
    assert not counts.starts.any()
    laws.close(counts.transitions, 5 * pi[:, None] * truth.transmat, 1e-9)
    laws.close(counts.emissions, 5 * pi[:, None] * truth.emissionprob, 1e-9)
    # Whatever ``startprob`` is; and a chain that falls into parts is no error.
    y = count_windows(truth.sample(100, random_state=0)[0])
    likelihood = StationaryLikelihood(WindowLikelihood(WindowLaw.of(y)))
    moved = HMM([1, 0, 0], truth.transmat, truth.emissionprob)
    agree(likelihood.expected(moved), likelihood.expected(truth), 1e-12)
    apart = likelihood.expected(HMM([1, 0, 0], np.eye(3), truth.emissionprob))
    assert math.isfinite(apart.log_likelihood)
    assert (apart.counts.transitions >= 0).all()


def test_windows_of_an_exact_law_expect_what_the_chain_does() -> None:
    truth = random_model(3, 6, seed=4)
    truth = HMM(truth.stationary(), truth.transmat, truth.emissionprob)
    law = TripleLaw.of(Triples.from_probability(truth.triple_probability()))
    found = WindowLikelihood(law).expected(truth)
    laws.close(found.log_likelihood, law.negative_entropy, 1e-12)
    pi = truth.stationary()
    laws.close(found.counts.starts, pi, 1e-12)
    laws.close(found.counts.transitions, 2 * pi[:, None] * truth.transmat, 1e-12)
    laws.close(found.counts.emissions, 3 * pi[:, None] * truth.emissionprob, 1e-12)


def test_symbols_that_no_window_has_expect_nothing() -> None:
    y, _ = random_model(2, 3, seed=0).sample(300, random_state=0)
    law = TripleLaw.of(count_triples(y + 1, n_symbols=5))
    counts = WindowLikelihood(law).expected(random_model(2, 5, seed=1)).counts
    assert not counts.emissions[:, [0, 4]].any()
    laws.close(counts.emissions.sum(), 3.0, 1e-12)


def test_windows_in_parts_and_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    y, _ = random_model(3, 12, seed=0).sample(5000, random_state=0)
    triples, model = count_triples(y, n_symbols=12), random_model(3, 12, seed=1)
    whole = WindowLikelihood(TripleLaw.of(triples)).expected(model)
    monkeypatch.setattr(triple_law, "PART", 100)
    law = TripleLaw.of(triples)
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(WindowLikelihood(law).expected(model))
    agree(found[0], whole, 1e-12)
    assert found[0].log_likelihood == found[1].log_likelihood
    for one, two in zip(found[0].counts, found[1].counts, strict=True):
        np.testing.assert_array_equal(one, two)


@given(models_and_data())
def test_sequences_by_every_path(case: tuple[HMM, list[list[int]]]) -> None:
    model, data = case
    assume(all(oracles.likelihood(model, y) > 0 for y in data))
    n = sum(map(len, data))
    read = Sequences.of(with_gaps(data), n_symbols=model.n_symbols)
    found = SequenceLikelihood(read).expected(model)
    agree(found, by_paths(model, [(y, 1 / n) for y in data]), 1e-11)


@given(models_and_data())
def test_visits_are_the_mean_posterior(case: tuple[HMM, list[list[int]]]) -> None:
    model, data = case
    assume(all(oracles.likelihood(model, y) > 0 for y in data))
    read = Sequences.of(with_gaps(data), n_symbols=model.n_symbols)
    found = visits(SequenceLikelihood(read).expected(model).counts)
    laws.close(found, np.concatenate([oracles.posterior(model, y) for y in data]).mean(axis=0))


def agreeing(model: HMM, y: list[int], known: list[int]) -> tuple[float, list[np.ndarray]]:
    """P(y, known states), and the expected counts given both: every path by itself."""
    k, n = model.emissionprob.shape
    total = 0.0
    counts = [np.zeros(k), np.zeros((k, k)), np.zeros((k, n))]
    for path, probability in oracles.all_paths(model, y):
        if any(state not in (-1, path[t]) for t, state in enumerate(known)):
            continue
        total += probability
        counts[0][path[0]] += probability
        for t, state in enumerate(path):
            if t:
                counts[1][path[t - 1], state] += probability
            if y[t] >= 0:
                counts[2][state, y[t]] += probability
    return total, counts


@given(models_and_data(), st.data())
def test_every_path_that_agrees(case: tuple[HMM, list[list[int]]], data: st.DataObject) -> None:
    model, sequences = case
    k = model.n_components
    known = [data.draw(st.lists(st.integers(-1, k - 1), min_size=len(y), max_size=len(y)))
             for y in sequences]  # fmt: skip
    weights = np.array(data.draw(st.lists(
        st.sampled_from([0.5, 1.0, 3.0]), min_size=len(sequences), max_size=len(sequences)
    )))  # fmt: skip
    true = [agreeing(model, y, states) for y, states in zip(sequences, known, strict=True)]
    assume(all(total > 1e-12 for total, _ in true))
    read = model.encode(with_gaps(sequences))
    labels = Labels.of(read, [np.array(states) for states in known], k)
    likelihood = SequenceLikelihood(read, weights, labels)
    log_likelihood, counts = likelihood.expected(model)
    n = likelihood.units
    assert n == sum(w * len(y) for w, y in zip(weights, sequences, strict=True))
    expected = sum(w * np.log(total) for w, (total, _) in zip(weights, true, strict=True))
    assert n * log_likelihood == pytest.approx(expected, abs=1e-9)
    for i, count in enumerate(counts):
        wanted = sum(w * each[i] / total for w, (total, each) in zip(weights, true, strict=True))
        laws.close(n * count, wanted, 1e-9)


def test_what_is_known_is_counted() -> None:
    data = Sequences.of([[0, 1, None], [2, 0]])
    known = [0, 1, 1, 1, -1]
    labels = Labels.of(data, known, 2)
    counts = labels.counts(data, np.array([1.0, 10.0]), 2)
    assert counts.starts.tolist() == [1, 10]
    assert counts.transitions.tolist() == [[0, 1], [0, 1]]
    assert counts.emissions.tolist() == [[1, 0, 0], [0, 1, 10]]
    assert not labels.complete
    assert Labels.of(data, [0, 1, 1, 1, 0], 2).complete


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([0, 1], "one entry per observation, 4, not 2"),
        ([0, 1, 2, 0], "state 2 at sequence 1, position 0: states are from 0 to 1"),
        ([0, 1e300, 0, 0], r"state 1e\+300 at sequence 0, position 1: states are from 0 to 1"),
        ([0, -2, 0, 0], "state -2 at sequence 0, position 1"),
        ([0, 0.5, 0, 0], "whole numbers"),
        (["a", "b", "a", "a"], "whole numbers"),
    ],
)
def test_labels_that_cannot_be(states: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Labels.of(Sequences.of([[0, 1], [1, 0]]), states, 2)


def test_labels_that_contradict_the_model_are_named() -> None:
    left_right = HMM([1, 0], [[0.5, 0.5], [0, 1]], [[0.5, 0.5], [0.5, 0.5]])
    data = Sequences.of([0, 1, 1])
    labels = Labels.of(data, [-1, 1, 0], 2)
    with pytest.raises(ImpossibleObservation, match="position 2 in the state given"):
        SequenceLikelihood(data, None, labels).expected(left_right)
