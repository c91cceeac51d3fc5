"""Expected counts of sequences and of windows, against every path by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given

from cohmm import HMM, Sequences, Triples, count_triples, threads
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.many_states.window_law import WindowLaw, window_probability
from cohmm.learn.sequences.likelihood import (
    Expected,
    SequenceLikelihood,
    StationaryLikelihood,
    WindowLikelihood,
    visits,
)
from cohmm.learn.triples import triple_law
from cohmm.learn.triples.triple_law import TripleLaw
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
