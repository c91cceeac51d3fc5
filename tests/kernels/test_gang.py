"""The steps of a gang against NumPy, for every way in which columns fall into tiles."""

import numpy as np
import pytest

from cohmm.kernels import gang
from cohmm.kernels.compiled import kernel
from cohmm.kernels.simd import LANE, aligned_zeros, pad_columns, padded
from cohmm.kernels.tiles import GANG

# Every remainder of 24, with 28 as its own case, and more than one whole tile before it.
SIZES = [*range(1, 34), 44, 52, 56, 76, 100, 140]


@kernel
def filter_once(matrix, rows, table, index, scales, totals, product):
    return gang.filter_step(matrix, rows, 0, table, index, scales, rows, 1, totals, product)


@kernel
def smooth_once(matrix, rows, table, index, scales, filtered, sums, into, weights):
    return gang.smooth_step(
        matrix, rows, 0, table, index, scales, rows, 1, filtered, 1, sums, into, weights
    )


@kernel
def score_once(matrix, rows, table, index, tops, one):
    return gang.score_step(matrix, rows, 0, table, index, rows, 1, tops, one)


@kernel
def add_products(left, first, right, n, weights, n_states, total):
    gang.add_outer_products(left, first, right, n, weights, n_states, total)


@kernel
def sources(rows, table, out):
    for b in range(GANG):
        for k in range(len(table)):
            out[b, k] = gang.best_source(rows, 0, b, table, k)


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
def test_filter_step(k):
    rng = np.random.default_rng(k)
    matrix, table = pad_columns(rng.random((k, k))), pad_columns(rng.random((5, k)))
    rows, index = gang_rows(rng, k), rng.integers(0, 5, GANG)
    scales, product, totals = rng.random(GANG) + 0.5, rng.random(GANG), np.zeros(GANG)
    expected = (rows[0, :, :k] @ matrix) * table[index] * scales[:, None]
    before = product.copy()
    assert not filter_once(matrix, rows, table, index, scales, totals, product)
    np.testing.assert_allclose(rows[1], expected, rtol=1e-13)
    np.testing.assert_allclose(totals, expected.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(scales, 1 / totals, rtol=1e-15)
    np.testing.assert_allclose(product, before * totals, rtol=1e-15)


@pytest.mark.parametrize("what", ["total", "product", "nan"])
def test_filter_step_says_what_is_low_and_leaves_the_scales(what):
    k = 5
    matrix, table = pad_columns(np.eye(k)), pad_columns(np.ones((2, k)))
    rows, index = gang_rows(np.random.default_rng(0), k), np.zeros(GANG, np.int64)
    scales, product, totals = np.ones(GANG), np.ones(GANG), np.zeros(GANG)
    if what == "product":
        product[3] = gang.LOWEST_PRODUCT / 100
    else:
        rows[0, 3] *= np.nan if what == "nan" else gang.LOWEST_TOTAL / 100
    before = product.copy()
    assert filter_once(matrix, rows, table, index, scales, totals, product)
    assert (scales == 1).all()
    np.testing.assert_array_equal(product, before)
    np.testing.assert_allclose(totals, rows[0].sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("k", SIZES)
def test_smooth_step(k):
    rng = np.random.default_rng(k)
    matrix, table = pad_columns(rng.random((k, k))), pad_columns(rng.random((5, k)))
    rows, index = gang_rows(rng, k), rng.integers(0, 5, GANG)
    scales, weights = rng.random((3, GANG)), rng.random(GANG)
    filtered = pad_columns(rng.random((3, GANG, k)))
    into, sums = rng.integers(0, 4, GANG), pad_columns(rng.random((4, k)))
    product = rows[0, :, :k] @ matrix
    expected = sums.copy()
    np.add.at(expected, into, weights[:, None] * product * filtered[2])
    assert not smooth_once(matrix, rows, table, index, scales, filtered, sums, into, weights)
    np.testing.assert_allclose(rows[1], product * table[index] * scales[1][:, None], rtol=1e-13)
    np.testing.assert_allclose(sums, expected, rtol=1e-13)


@pytest.mark.parametrize("value", [10 * gang.HIGHEST, np.inf])
def test_smooth_step_says_what_is_too_large(value):
    k = 9
    ones = np.ones(GANG)
    rows = gang_rows(np.random.default_rng(0), k)
    rows[0, 5, 8] = value
    assert smooth_once(
        pad_columns(np.eye(k)), rows, pad_columns(np.zeros((1, k))), np.zeros(GANG, np.int64),
        np.ones((2, GANG)), aligned_zeros((3, GANG, padded(k))), pad_columns(np.zeros((1, k))),
        np.zeros(GANG, np.int64), ones,
    )  # fmt: skip


@pytest.mark.parametrize("k", SIZES)
def test_score_step_and_the_way_back(k):
    rng = np.random.default_rng(k)
    with np.errstate(divide="ignore"):
        matrix = np.log(pad_columns(rng.integers(0, 3, (k, k)) / 2.0))
        table = np.log(pad_columns(rng.integers(1, 3, (5, k)) / 2.0))
    rows, index, tops = gang_rows(rng, k, -np.inf), rng.integers(0, 5, GANG), np.zeros(GANG)
    rows[0, :, :k] = rng.integers(0, 3, (GANG, k))  # ties, too
    candidates = rows[0, :, :k, None] + matrix
    assert score_once(matrix, rows, table, index, tops, 1.0) == (tops < gang.LOWEST_SCORE).any()
    np.testing.assert_array_equal(rows[1], candidates.max(axis=1) + table[index])
    np.testing.assert_array_equal(tops, rows[1].max(axis=1))
    back = pad_columns(np.ascontiguousarray(matrix[:, :k].T), -np.inf)
    found = np.zeros((GANG, k), np.int64)
    sources(rows, back, found)
    possible = np.isfinite(candidates.max(axis=1))[:, :k]
    np.testing.assert_array_equal(found[possible], candidates.argmax(axis=1)[:, :k][possible])


def test_ties_go_to_the_first_state():
    k = 21
    found = np.full((GANG, k), -1, np.int64)
    sources(pad_columns(np.zeros((2, GANG, k)), -np.inf), pad_columns(np.zeros((k, k))), found)
    assert (found == 0).all()


@pytest.mark.parametrize("k", SIZES)
def test_outer_products(k):
    rng = np.random.default_rng(k)
    left, right = (pad_columns(rng.random((n, GANG, k))) for n in (6, 4))
    weights, total = rng.random(GANG), pad_columns(rng.random((padded(k), k)))
    expected = total.copy()
    expected += np.einsum("b,tbi,tbj->ij", weights, left[2:5], right[:3])
    add_products(left, 2, right, 3, weights, k, total)
    np.testing.assert_allclose(total[:k, :k], expected[:k, :k], rtol=1e-13)
