"""The steps of a gang against NumPy, for every way in which columns fall into tiles."""

import numpy as np
import pytest

from cohmm.kernels import gang, way_back
from cohmm.kernels.compiled import kernel
from cohmm.kernels.simd import LANE, aligned_zeros, pad_columns, padded
from cohmm.kernels.tiles import GANG

# Every remainder of 24, with 28 as its own case, and more than one whole tile before it.
SIZES = [*range(1, 34), 44, 52, 56, 76, 100, 140]


@kernel
def filter_all(matrix, rows, place, table, index, first, t, scales, factors, totals, product):
    return gang.filter_steps(
        matrix,
        rows,
        place,
        table,
        index,
        first,
        index.shape[1],
        t,
        scales,
        factors,
        totals,
        product,
    )


@kernel
def smooth_all(matrix, rows, table, index, first, last, t, factors, filtered, sums, into):
    return gang.smooth_steps(
        matrix, rows, table, index, first, last, t, factors, filtered, sums, into
    )


@kernel
def score_all(matrix, rows, place, table, index, first, tops, one):
    return gang.score_steps(matrix, rows, place, table, index, first, index.shape[1], tops, one)


@kernel
def add_products(left, first, right, n, n_states, total):
    gang.add_outer_products(left, first, right, n, n_states, total)


@kernel
def trace_all(rows, back, emit, index, states, path):
    return way_back.trace_steps(rows, back, emit, index, 0, len(path), states, path)


@kernel
def sources(rows, table, out):
    for b in range(GANG):
        for k in range(len(table)):
            out[b, k] = way_back.best_source(rows, 0, b, table, k)


def gang_rows(rng, k: int, fill: float = 0.0) -> np.ndarray:
    """Two places, the first of them filled."""
    rows = pad_columns(np.full((2, GANG, k), fill), fill)
    rows[0, :, :k] = rng.random((GANG, k)) + 0.5
    return rows


@pytest.mark.parametrize("k", [1, 7, 8, 9, 63, 64, 65, 500])
def test_padding_is_whole_vectors_and_no_more(k):
    assert k <= padded(k) < k + LANE
    assert padded(k) % LANE == 0


def test_pad_columns_keeps_the_values_and_fills_the_rest():
    array = np.arange(6.0).reshape(2, 3)
    out = pad_columns(array, fill=-1.0)
    assert out.shape == (2, padded(3))
    np.testing.assert_array_equal(out[:, :3], array)
    assert (out[:, 3:] == -1).all()
    np.testing.assert_array_equal(pad_columns(array[0]), [0, 1, 2, 0, 0, 0, 0, 0])


def test_zeros_begin_at_a_cache_line():
    for shape in ((3,), (2, 5), (4, GANG, 24)):
        zeros = aligned_zeros(shape)
        assert zeros.shape == shape
        assert zeros.ctypes.data % 64 == 0
        assert not zeros.any()


@pytest.mark.parametrize("k", SIZES)
def test_filter_steps(k):
    """Six steps in a ring of four rows, looked at after step 3 and after the last."""
    rng = np.random.default_rng(k)
    matrix, table = pad_columns(rng.random((k, k))), pad_columns(rng.random((5, k)))
    rows, index = aligned_zeros((4, GANG, padded(k))), rng.integers(0, 5, (GANG, 7))
    rows[3, :, :k] = rng.random((GANG, k)) + 0.5
    scales, product, totals = rng.random(GANG) + 0.5, rng.random(GANG), np.zeros(GANG)
    factors, before, after = np.zeros((20, GANG)), product.copy(), scales.copy()
    now = rows[3, :, :k].copy()
    args = (scales, factors, totals, product)
    assert filter_all(matrix, rows, 3, table, index, 1, 10, *args) == 6
    for step in range(1, 7):
        np.testing.assert_allclose(factors[10 + step], after, rtol=1e-13)
        now = (now @ matrix[:, :k]) * table[index[:, step], :k] * after[:, None]
        after = np.ones(GANG)
        if step in (3, 6):
            after = 1 / now.sum(axis=1)
            before *= now.sum(axis=1)
    np.testing.assert_allclose(rows[1, :, :k], now, rtol=1e-12)
    assert not rows[:, :, k:].any()
    np.testing.assert_allclose(totals, now.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(scales, 1 / totals, rtol=1e-15)
    np.testing.assert_allclose(product, before, rtol=1e-12)
    assert not factors[:11].any()
    assert not factors[17:].any()


@pytest.mark.parametrize("what", ["total", "product", "nan"])
def test_filter_steps_stop_at_what_is_low_and_leave_the_scales(what):
    k = 5
    matrix, table = pad_columns(np.eye(k)), pad_columns(np.ones((2, k)))
    rows, index = gang_rows(np.random.default_rng(0), k), np.zeros((GANG, 9), np.int64)
    scales, product, totals = np.ones(GANG), np.ones(GANG), np.zeros(GANG)
    if what == "product":
        product[3] = gang.LOWEST_PRODUCT / 100
    else:
        rows[0, 3] *= np.nan if what == "nan" else gang.LOWEST_TOTAL / 100
    before, total = product.copy(), rows[0].sum(axis=1)
    args = (scales, np.zeros((1, GANG)), totals, product)
    assert filter_all(matrix, rows, 0, table, index, 0, 0, *args) == -gang.LOOK
    assert (scales == 1).all()
    np.testing.assert_array_equal(product, before)
    np.testing.assert_allclose(totals, total, rtol=1e-14)


@pytest.mark.parametrize("k", SIZES)
def test_smooth_steps(k):
    rng = np.random.default_rng(k)
    matrix, table = pad_columns(rng.random((k, k))), pad_columns(rng.random((5, k)))
    rows, index = pad_columns(rng.random((4, GANG, k))), rng.integers(0, 5, (GANG, 9))
    factors, filtered = rng.random((9, GANG)), pad_columns(rng.random((9, GANG, k)))
    into, sums = rng.integers(0, 4, (GANG, 9)), pad_columns(rng.random((4, k)))
    expected, now = sums.copy(), rows[3, :, :k].copy()
    args = (factors, filtered, sums, into)
    assert smooth_all(matrix, rows, table, index, 1, 3, 5, *args) == 2
    for t in (7, 6):
        product = now @ matrix
        np.add.at(expected, into[:, t], product * filtered[t + 1])
        now = (product * table[index[:, t]] * factors[t][:, None])[:, :k]
        np.testing.assert_allclose(rows[t - 5, :, :k], now, rtol=1e-12)
    np.testing.assert_allclose(sums, expected, rtol=1e-12)


@pytest.mark.parametrize("value", [10 * gang.HIGHEST, np.inf])
def test_smooth_steps_stop_at_what_is_too_large(value):
    k = 9
    rows = pad_columns(np.ones((6, GANG, k)))
    table = pad_columns(np.ones((2, k)))
    table[1, 8] = value
    index = np.zeros((GANG, 5), np.int64)
    index[5, 3] = 1  # what it makes too large is seen in the step after it
    assert (
        smooth_all(
            pad_columns(np.eye(k)), rows, table, index, 0, 5, 0, np.ones((5, GANG)),
            aligned_zeros((6, GANG, padded(k))), pad_columns(np.zeros((1, k))),
            np.zeros((GANG, 5), np.int64),
        ) == -3
    )  # fmt: skip


@pytest.mark.parametrize("k", SIZES)
def test_score_steps_and_the_way_back(k):
    rng = np.random.default_rng(k)
    with np.errstate(divide="ignore"):
        matrix = np.log(pad_columns(rng.integers(0, 3, (k, k)) / 2.0))
        table = np.log(pad_columns(rng.integers(1, 3, (5, k)) / 2.0))
    rows = pad_columns(np.full((4, GANG, k), -np.inf), -np.inf)
    index, tops = rng.integers(0, 5, (GANG, 3)), np.zeros(GANG)
    rows[0, :, :k] = rng.integers(0, 3, (GANG, k))  # ties, too
    done = score_all(matrix, rows, 0, table, index, 0, tops, np.ones(1))
    assert done == (-3 if (tops < gang.LOWEST_SCORE).any() else 3)
    back = pad_columns(np.ascontiguousarray(matrix[:, :k].T), -np.inf)
    np.testing.assert_array_equal(tops, rows[3].max(axis=1))
    for t in range(3):
        candidates = rows[t, :, :k, None] + matrix
        best = candidates.max(axis=1)
        np.testing.assert_array_equal(rows[t + 1], best + table[index[:, t]])
        found = np.zeros((GANG, k), np.int64)
        sources(rows[t:], back, found)
        possible = np.isfinite(best)[:, :k]
        np.testing.assert_array_equal(found[possible], candidates.argmax(axis=1)[:, :k][possible])

    # By equality the same, or one that is as good once the emission has been added.
    states, path = rows[3].argmax(axis=1), np.zeros((2, GANG), np.int32)
    if np.isfinite(tops).all():
        after = states.copy()
        assert trace_all(rows, back, table, index, states, path) == 2
        np.testing.assert_array_equal(states, path[0])
        for t in (2, 1):
            for b in range(GANG):
                score = rows[t, b, :k] + back[after[b], :k] + table[index[b, t], after[b]]
                assert path[t - 1, b] == np.flatnonzero(score == rows[t + 1, b, after[b]])[0]
            after = path[t - 1]


def test_no_state_is_before_a_score_that_has_been_lowered():
    k = 11
    rows = pad_columns(np.zeros((4, GANG, k)), -np.inf)
    rows[2, 3] -= 7.0
    states, table = np.full(GANG, 2), pad_columns(np.zeros((k, k)))
    index, path = np.zeros((GANG, 3), np.int64), np.zeros((2, GANG), np.int32)
    states[3] = 10
    assert trace_all(rows, table, table, index, states, path) == -1
    assert states.tolist() == path[1].tolist() == [0, 0, 0, -1, 0, 0, 0, 0]


def test_ties_go_to_the_first_state():
    k = 21
    found = np.full((GANG, k), -1, np.int64)
    sources(pad_columns(np.zeros((2, GANG, k)), -np.inf), pad_columns(np.zeros((k, k))), found)
    assert (found == 0).all()


@pytest.mark.parametrize("k", SIZES)
def test_outer_products(k):
    rng = np.random.default_rng(k)
    left, right = (pad_columns(rng.random((n, GANG, k))) for n in (6, 4))
    total = pad_columns(rng.random((padded(k), k)))
    expected = total + 0
    expected[:k] += np.einsum("tbi,tbj->ij", left[2:5], right[:3])[:k]
    add_products(left, 2, right, 3, k, total)
    np.testing.assert_allclose(total, expected, rtol=1e-13)
