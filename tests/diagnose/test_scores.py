"""Scores and information of blocks, against differences and enumeration."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from cohmm import HMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.diagnose.fit_summary import BLOCK, NOTHING, Blocks
from cohmm.diagnose.scores import (
    block_information,
    entries,
    gradients,
    observed_information,
    sequence_scores,
    start_information,
)

STEP = 1e-6


def chain(first: np.ndarray, tables: tuple[np.ndarray, ...], symbols: list[int]) -> float:
    """log P(symbols), over all paths, of tables that need not sum to one; -1 is missing."""
    _, transmat, emissionprob = tables
    total = 0.0
    for path in product(range(len(first)), repeat=len(symbols)):
        p = first[path[0]]
        for i, j in pairwise(path):
            p *= transmat[i, j]
        for state, symbol in zip(path, symbols, strict=True):
            p *= emissionprob[state, symbol] if symbol >= 0 else 1.0
        total += p
    return float(np.log(total))


def conditional(
    tables: tuple[np.ndarray, ...], symbols: list[int], before: int, begins: bool, pi: np.ndarray
) -> float:
    first = tables[0] if begins else pi
    total = chain(first, tables, symbols)
    return total - (chain(first, tables, symbols[:before]) if before else 0.0)


@pytest.mark.parametrize(("before", "begins"), [(0, True), (3, True), (3, False)])
def test_gradients_are_those_of_the_likelihood_given_what_came_before(
    before: int, begins: bool
) -> None:
    model = random_hmm(3, 2, 0.0, random_state=before)
    pi = model.stationary()
    tables = tuple(t.copy() for t in (model.startprob, model.transmat, model.emissionprob))
    symbols = [0, 2, 1, -1, 0, 0][: before + 3]
    found = gradients(model, np.array([symbols]), None, np.array([begins]), before)[0]
    expected = []
    for table in tables:
        for place in np.ndindex(table.shape):
            value = table[place]
            ends = []
            for step in (STEP, -STEP):
                table[place] = value + step
                ends.append(conditional(tables, symbols, before, begins, pi))
            table[place] = value
            expected.append((ends[0] - ends[1]) / (2 * STEP))
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_zeros_have_a_gradient() -> None:
    model = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]])
    found = gradients(model, np.array([[1]]), None, np.array([True]), 0)[0, -4:].reshape(2, 2)
    np.testing.assert_allclose(found, [[0, 2], [0, 2]])  # P(1) = .5 M_01 + .5 M_11 = 1/4


def test_known_states_say_which_row_a_symbol_is_of() -> None:
    model = random_hmm(3, 2, 0.0, random_state=0)
    states = np.array([[1, 0, 0]])
    found = gradients(model, np.array([[2, 0, 1]]), states, np.array([True]), 0)[0]
    counts = np.zeros(2 + 4 + 6)
    counts[1] += 1  # starts in state 1
    counts[2 + 2] += 1  # 1 -> 0
    counts[2 + 0] += 1  # 0 -> 0
    counts[6 + 3 + 2] += 1  # state 1 emits 2
    counts[6 + 0] += 1
    counts[6 + 1] += 1
    p = np.concatenate([model.startprob, entries(model)])
    np.testing.assert_allclose(found, counts / p)


def test_information_is_the_expected_curvature_by_enumeration() -> None:
    """E s s' = - E d2 log P, over all windows, along changes that keep the sums."""
    model = random_hmm(2, 2, 0.0, random_state=3)
    windows = np.array(list(product(range(2), repeat=5)))
    law = np.exp(model.log_likelihoods(list(windows)))
    padded = np.full((len(windows), BLOCK), NOTHING)
    padded[:, :5] = windows
    blocks = Blocks(padded, np.ones(len(windows), bool), law)
    found = block_information(model, blocks)
    rng = np.random.default_rng(0)
    for _ in range(3):
        change = rng.normal(size=(4, 2))
        change -= change.mean(axis=1, keepdims=True)

        def mean_log(step: float, change: np.ndarray = change) -> float:
            moved = HMM(
                model.startprob,
                model.transmat + step * change[:2],
                model.emissionprob + step * change[2:],
            )
            return float(law @ moved.log_likelihoods(list(windows)))

        step = 1e-3
        bend = (mean_log(step) - 2 * mean_log(0) + mean_log(-step)) / step**2
        u = change.ravel() / found.scale
        assert u @ found.matrix @ u == pytest.approx(-bend, rel=1e-4)
    np.testing.assert_allclose(found.slope, 0, atol=1e-10)
    visits = law @ np.array([model.posterior(window).sum(axis=0) for window in windows])
    np.testing.assert_allclose(found.expected[4:6].sum(), visits[0])


def test_blocks_tell_together_what_the_sequence_tells() -> None:
    """Scores of all blocks, each given all before it, add up to the score of the sequence."""
    model = random_hmm(4, 3, 0.0, stay=0.5, random_state=1)
    data = Sequences.of(model.sample(30, random_state=0)[0])
    found = block_information(model, Blocks.of(data, 100))
    _, counts = model.expected_counts(data)
    table = counts.emissions / model.emissionprob - counts.emissions.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.slope[9:], table.ravel(), atol=1e-8)
    np.testing.assert_allclose(found.expected[9:].sum(), 30)


def test_starts_by_enumeration() -> None:
    model = random_hmm(2, 2, 0.0, random_state=5)
    firsts = np.array(list(product(range(2), repeat=3)))
    law = np.exp([model.log_likelihood(window) for window in firsts])
    padded = np.full((len(firsts), BLOCK), NOTHING)
    padded[:, :3] = firsts
    found = start_information(model, Blocks(padded, np.ones(8, bool), law))
    change = np.array([1.0, -1.0])
    step = 1e-3

    def mean_log(by: float) -> float:
        moved = HMM(model.startprob + by * change, model.transmat, model.emissionprob)
        return float(law @ moved.log_likelihoods(list(firsts)))

    bend = (mean_log(step) - 2 * mean_log(0) + mean_log(-step)) / step**2
    assert change @ found @ change == pytest.approx(-bend, rel=1e-4)


def test_the_curvature_is_that_of_the_likelihood_whatever_made_the_data() -> None:
    """Along changes that keep the sums; scores of sequences add up to the slope."""
    model = random_hmm(3, 2, 0.0, random_state=7)
    other = random_hmm(3, 2, 0.0, random_state=8)
    data = Sequences.of([other.sample(length, random_state=length)[0] for length in range(3, 12)])
    weights = np.arange(1.0, len(data) + 1)
    free = np.ones(4 + 6 + 2, bool)
    found = observed_information(model, data, weights, free)
    variance, slope = sequence_scores(model, data, weights)
    scale = np.sqrt(np.append(entries(model), model.startprob))
    rng = np.random.default_rng(0)
    for _ in range(3):
        rows = [rng.normal(size=shape) for shape in ((2, 2), (2, 3), (1, 2))]
        rows = [row - row.mean(axis=1, keepdims=True) for row in rows]
        change = np.concatenate([row.ravel() for row in rows])

        def log_likelihoods(step: float, rows: list[np.ndarray] = rows) -> np.ndarray:
            return HMM(
                model.startprob + step * rows[2][0],
                model.transmat + step * rows[0],
                model.emissionprob + step * rows[1],
            ).log_likelihoods(data)

        step = 1e-4
        ahead, at, behind = (log_likelihoods(by) for by in (step, 0.0, -step))
        bend = -float(weights @ (ahead - 2 * at + behind)) / step**2
        u = change / scale
        assert u @ found @ u == pytest.approx(bend, rel=2e-3)
        each = (ahead - behind) / (2 * step)
        assert slope @ change == pytest.approx(float(weights @ each), rel=1e-4)
        mean = float(weights @ each) / weights.sum()
        assert u @ variance @ u == pytest.approx(float(weights @ (each - mean) ** 2), rel=1e-3)
