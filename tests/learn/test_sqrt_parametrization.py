"""Square-root coordinates: round trips, gradients by finite differences, dense inverses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, Sequences, count_triples
from cohmm.evidence.windows import count_windows
from cohmm.kernels.types import Floats
from cohmm.learn import sqrt_parametrization
from cohmm.learn.maximize import Likelihood, StationaryLikelihood, visits
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.learn.sqrt_parametrization import (
    SqrtParametrization,
    WindowScores,
    n_windows,
    sample_windows,
)
from cohmm.learn.windows.window_law import TripleLaw, WindowLaw, WindowLikelihood
from tests import laws, oracles
from tests.strategies import models, random_model

STEP = 1e-5


def charted(
    k: int = 3, n: int = 5, length: int = 60, seed: int = 0
) -> tuple[SqrtParametrization, HMM, Sequences]:
    model = random_model(k, n, seed=seed)
    y, _ = random_model(k, n, seed=seed + 100).sample(length, random_state=seed)
    data = Sequences.of([y[: length // 3].tolist(), y[length // 3 :].tolist()], n_symbols=n)
    counts = SequenceLikelihood(data).expected(model).counts
    return SqrtParametrization.around(model, visits(counts), 2 / length), model, data


def differences(value: object, point: Floats) -> Floats:
    """The central ones of a function, an entry at a time."""
    moves = STEP * np.eye(len(point))
    return np.array([(value(point + m) - value(point - m)) / (2 * STEP) for m in moves])


@given(models())
def test_there_and_back(model: HMM) -> None:
    # Any weights will do, and the signs of coordinates do not matter.
    k = model.n_components
    chart = SqrtParametrization.around(model, np.arange(k) / max(1, k * (k - 1) / 2), 0.1)
    point = chart.of(model)
    for signs in (1.0, -1.0, np.random.default_rng(0).choice([-1.0, 1.0], len(point))):
        back = chart.model(signs * point)
        laws.close(back.startprob, model.startprob)
        laws.close(back.transmat, model.transmat)
        laws.close(back.emissionprob, model.emissionprob)
    assert (back.emissionprob == 0).tolist() == (model.emissionprob == 0).tolist()


def test_any_vector_is_a_model() -> None:
    chart, model, _ = charted()
    point = np.random.default_rng(1).normal(size=len(chart.of(model)))
    other = chart.model(point)
    for table in (other.startprob, other.transmat, other.emissionprob):
        laws.rows_are_distributions(table)
    labelled = HMM(model.startprob, model.transmat, model.emissionprob, tuple("abcde"))
    chart = SqrtParametrization.around(labelled, np.full(3, 1 / 3), 1.0)
    assert chart.model(point).vocabulary == tuple("abcde")


def likelihoods() -> list[Likelihood]:
    _, _, data = charted(length=200)
    triples = WindowLikelihood(TripleLaw.of(count_triples(data)))
    longer = WindowLikelihood(WindowLaw.of(count_windows(data, tau=2)))
    return [SequenceLikelihood(data), triples, longer, StationaryLikelihood(longer)]


@pytest.mark.parametrize(
    "likelihood", likelihoods(), ids=["sequences", "triples", "windows", "stationary"]
)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_gradient(likelihood: Likelihood, scale: float) -> None:
    # Also away from the sphere that `of` maps to, and with signs.
    chart, model, _ = charted()
    rng = np.random.default_rng(0)
    point = chart.of(model) * scale * rng.choice([-1.0, 1.0], 3 * (1 + 3 + 5))
    at = chart.model(point)
    found = chart.gradient(point, at, likelihood.expected(at).counts)
    true = differences(lambda x: likelihood.expected(chart.model(x)).log_likelihood, point)
    np.testing.assert_allclose(found, true, atol=1e-7)
    assert np.abs(found).max() > 0.01


def test_zeros_have_no_slope() -> None:
    model = HMM([0, 1], [[1, 0], [0.5, 0.5]], [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    data = Sequences.of([[1, 2, 1, 0, 0, 1]], n_symbols=3)
    expected = SequenceLikelihood(data).expected(model)
    chart = SqrtParametrization.around(model, visits(expected.counts), 0.1)
    point = chart.of(model)
    gradient = chart.gradient(point, model, expected.counts)
    assert np.isfinite(gradient).all()
    assert not gradient[point == 0].any()
    windows = np.array([[1, 2, 1], [1, 0, 0]])
    scores = chart.scores(point, model, windows).dense()
    assert np.isfinite(scores).all()
    assert not scores[:, point[2:] == 0].any()
    solve = chart.preconditioner(point, model, expected.counts, windows, 1.0)
    assert not solve(gradient)[point == 0].any()


@pytest.mark.parametrize("length", [1, 3, 5])
def test_scores_are_gradients_of_windows_by_themselves(length: int) -> None:
    chart, model, _ = charted()
    point = chart.of(model) * np.random.default_rng(0).choice([-1.0, 1.0], 27)
    windows = np.random.default_rng(1).integers(0, 5, (6, length))
    scores = chart.scores(point, model, windows).dense()
    assert scores.shape == (6, 24)
    for row, window in zip(scores, windows.tolist(), strict=True):

        def log_likelihood(x: Floats, y: list[int] = window) -> float:
            # The first state is as frequent as it is visited, whatever the point is.
            at = chart.model(x)
            at = HMM(chart.prevalence / chart.prevalence.sum(), at.transmat, at.emissionprob)
            return float(np.log(oracles.likelihood(at, y)))

        slopes = differences(log_likelihood, point)
        np.testing.assert_allclose(row, slopes[3:], atol=2e-6)
        np.testing.assert_allclose(slopes[:3], 0, atol=1e-10)


@pytest.mark.parametrize("n", [0, 1, 10, 23, 24, 300])
def test_the_preconditioner_is_the_dense_inverse(n: int) -> None:
    chart, model, data = charted()
    counts = SequenceLikelihood(data).expected(model).counts
    point = chart.of(model)
    windows = np.random.default_rng(0).integers(0, 5, (n, 3))
    solve = chart.preconditioner(point, model, counts, windows, 2.0)
    # By the definition: the mean of s s' a symbol, times the symbols; the bend; the ridge.
    scores = chart.scores(point, model, windows).dense().astype(float)
    gauss = np.zeros((27, 27))
    gauss[3:, 3:] = 2.0 * scores.T @ scores / (3 * max(n, 1))
    bend = chart.bend(point, model, counts)
    ridge = sqrt_parametrization.RIDGE * (np.trace(gauss) + bend.sum()) / len(point)
    diagonal = bend + ridge + sqrt_parametrization.COORDINATE_FLOOR
    diagonal[:3] = 4.0
    dense = np.linalg.inv(gauss + np.diag(diagonal))
    found = np.array([solve(row) for row in np.eye(len(point))])
    # Scores are float32: ten windows leave directions in which only the ridge holds.
    np.testing.assert_allclose(found, dense, atol=1e-4 * np.abs(dense).max())
    np.testing.assert_allclose(found, found.T, atol=1e-5 * np.abs(dense).max())
    assert np.linalg.eigvalsh((found + found.T) / 2).min() > 0


def test_the_bend_is_the_curvature_of_an_entry_at_zero() -> None:
    # d2 log P / da2 at a = 0, where the gradient is 2 / a (E - M sum E), is twice its factor.
    chart, model, data = charted(length=300)
    emission = model.emissionprob.copy()
    emission[0, 0] = 1e-12
    model = HMM(model.startprob, model.transmat, emission / emission.sum(axis=1, keepdims=True))
    likelihood, point = SequenceLikelihood(data), chart.of(model)
    place = 3 + 9
    step = np.zeros(len(point))
    step[place] = 1e-4

    def slope(x: Floats) -> float:
        at = chart.model(x)
        return float(chart.gradient(x, at, likelihood.expected(at).counts)[place])

    point[place] = 0
    curvature = (slope(point + step) - slope(point - step)) / 2e-4
    point[place] = 1e-6
    at = chart.model(point)
    bend = chart.bend(point, at, likelihood.expected(at).counts)[place]
    assert bend == pytest.approx(max(-curvature, 0), rel=1e-3)


def test_symbols_that_no_state_emits_have_no_coordinates() -> None:
    chart, model, data = charted()
    emission = np.insert(model.emissionprob, [0, 2, 5], 0.0, axis=1)
    wide = HMM(model.startprob, model.transmat, emission)
    code = np.array([1, 2, 4, 5, 6])
    counts = SequenceLikelihood(data).expected(model).counts
    widened = SequenceLikelihood(Sequences.of(code[data.symbols], data.lengths, n_symbols=8))
    same = SqrtParametrization.around(wide, chart.prevalence, chart.start_weight)
    point, windows = chart.of(model), np.random.default_rng(0).integers(0, 5, (40, 3))
    np.testing.assert_array_equal(same.of(wide), point)
    moved = point + 0.01
    np.testing.assert_array_equal(
        same.model(moved).emissionprob[:, code], chart.model(moved).emissionprob
    )
    wide_counts = widened.expected(wide).counts
    laws.close(same.gradient(point, wide, wide_counts), chart.gradient(point, model, counts))
    solve = chart.preconditioner(point, model, counts, windows, 1.0)
    impossible = np.vstack([code[windows], [[1, 0, 1]]])[:40]
    wide_solve = same.preconditioner(point, wide, wide_counts, impossible, 1.0)
    np.testing.assert_allclose(wide_solve(moved), solve(moved), rtol=1e-5)
    assert same.scores(point, wide, np.array([[1, 0, 1], [1, 2, 1]])).shape == (1, 24)


def test_sampled_windows_lie_within_sequences() -> None:
    # Symbols say where they are: sequence s has 10 s, 10 s + 1, ...; one is missing.
    sequences = [[10 * s + t for t in range(length)] for s, length in enumerate((5, 1, 2, 9, 3))]
    sequences[3][4] = None
    data = Sequences.of(sequences)
    windows = sample_windows(data, 100, np.random.default_rng(0))
    assert windows.shape[1] == 3
    assert (np.diff(windows, axis=1) == 1).all()
    assert set(windows[:, 0]) == {0, 1, 2, 30, 31, 35, 36, 40}
    assert len(windows) == n_windows(100)


@pytest.mark.parametrize("width", [1, 2])
def test_windows_are_shorter_where_no_sequence_is_longer(width: int) -> None:
    symbols = [10 * s + t for s in range(9) for t in range(width)] + [90]
    data = Sequences.of(symbols, [width] * 9 + [1])
    windows = sample_windows(data, 10, np.random.default_rng(0))
    assert windows.shape[1] == width
    assert (np.diff(windows, axis=1) == 1).all()
    assert set(windows[:, 0]) == set(range(0, 90, 10)) | ({90} if width == 1 else set())


def test_no_windows() -> None:
    data = Sequences.of([[0, 1, None, 1, 0]])
    assert sample_windows(data, 10, np.random.default_rng(0)).shape == (0, 3)


def test_how_many_windows() -> None:
    assert n_windows(10) == n_windows(4000) == 4000
    assert n_windows(4001) == 2000
    assert n_windows(10**6) * 10**6 <= sqrt_parametrization.MAX_SCORES


def random_scores(n: int, k: int, n_symbols: int, width: int, seed: int) -> WindowScores:
    rng = np.random.default_rng(seed)
    return WindowScores(
        *(rng.normal(size=shape).astype(np.float32) for shape in ((n, k * k), (n, width, k))),
        rng.integers(0, n_symbols, (n, width)),
        *(rng.normal(size=(n_symbols, k)).astype(np.float32) for _ in range(2)),
    )


SIZES = st.tuples(
    st.integers(0, 12), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(0, 99)
)


def by_definition(scores: WindowScores) -> np.ndarray:
    """A window, a place, a symbol and a state at a time."""
    n, width, _ = scores.posterior.shape
    emissions = np.zeros((n, *scores.slope.shape))
    for i in range(n):
        for t in range(width):
            emissions[i, scores.symbols[i, t]] += (
                scores.posterior[i, t] * scores.slope[scores.symbols[i, t]]
            )
            for symbol in range(len(scores.slope)):
                emissions[i, symbol] -= scores.posterior[i, t] * scores.centre[symbol]
    return np.hstack([scores.transitions, emissions.reshape(n, scores.slope.size)])


@given(SIZES)
def test_products_and_sums(sizes: tuple[int, int, int, int, int]) -> None:
    scores = random_scores(*sizes)
    n, size = scores.shape
    rng = np.random.default_rng(0)
    factor, x, weights = (rng.normal(size=m).astype(np.float32) for m in (size, size, n))
    for values, dense in (
        (scores, by_definition(scores)),
        (scores.scaled(factor), by_definition(scores) * factor),
    ):
        bound = {"rtol": 1e-4, "atol": 1e-4 * (1 + np.abs(dense).max(initial=0)) ** 2}
        assert dense.shape == values.shape
        np.testing.assert_allclose(values.dense(), dense, **bound)
        np.testing.assert_allclose(values.times(x), dense @ x, **bound)
        np.testing.assert_allclose(values.summed(weights), weights @ dense, **bound)
        np.testing.assert_allclose(values.trace(), (dense**2).sum(), **bound)
        np.testing.assert_allclose(values.products_of_windows(), dense @ dense.T, **bound)
        np.testing.assert_allclose(
            np.tril(values.products_of_coordinates()), np.tril(dense.T @ dense), **bound
        )
