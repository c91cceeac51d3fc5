"""The vector code against NumPy, for every width that it is compiled for."""

import numpy as np
import pytest

from cohmm.kernels.compiled import kernel
from cohmm.kernels.simd import (
    LANE,
    MOST_VECTORS,
    best_row_plus_matrix,
    lanes_for,
    pad_columns,
    padded,
    row_times_matrix,
    scale,
    weigh,
)

WIDTHS = range(1, MOST_VECTORS + 1)


def sizes_of(vectors: int) -> list[int]:
    """All K up to 140 whose panel has so many vectors."""
    return [k for k in range(1, 141) if len(lanes_for(k)) == vectors]


@kernel
def all_products(lanes, row, trans, logs, table, index, product, best, who, weighted):
    row_times_matrix(lanes, row, trans, product)
    best_row_plus_matrix(lanes, row, logs, best, who)
    total = weigh(lanes, row, table, index, weighted)
    scale(lanes, row, 0.25)
    return total


@kernel
def best_only(lanes, row, matrix, out, who):
    best_row_plus_matrix(lanes, row, matrix, out, who)


def test_every_width_is_met():
    assert sum(len(sizes_of(vectors)) for vectors in WIDTHS) == 140
    assert all(sizes_of(vectors) for vectors in WIDTHS)


@pytest.mark.parametrize("k", [1, 7, 8, 9, 63, 64, 65, 128, 129, 140, 500])
def test_padding_is_whole_panels_and_not_much(k):
    panel = LANE * len(lanes_for(k))
    assert k <= padded(k)
    assert padded(k) % panel == 0
    assert padded(k) - k < LANE * -(-k // (LANE * MOST_VECTORS))
    assert 1 <= len(lanes_for(k)) <= MOST_VECTORS


def test_pad_columns_keeps_the_values_and_fills_the_rest():
    array = np.arange(6.0).reshape(2, 3)
    out = pad_columns(array, fill=-1.0)
    assert out.shape == (2, padded(3))
    np.testing.assert_array_equal(out[:, :3], array)
    assert (out[:, 3:] == -1).all()
    np.testing.assert_array_equal(pad_columns(array[0]), [0, 1, 2, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("vectors", WIDTHS)
def test_products_are_numpys(vectors):
    for k in sizes_of(vectors):
        rng = np.random.default_rng(k)
        width = padded(k)
        row = pad_columns(rng.random(k) + 0.5)
        before = row.copy()
        trans = pad_columns(rng.random((k, k)))
        with np.errstate(divide="ignore"):
            logs = np.log(pad_columns(rng.integers(0, 3, (k, k)) / 2.0))
        table = pad_columns(rng.random((4, k)))
        for index in (0, 3, -1):
            product, best, weighted = (np.full(width, np.nan) for _ in range(3))
            who = np.full(width, 255, np.uint8)
            row[:] = before
            total = all_products(
                lanes_for(k), row, trans, logs, table, np.int32(index), product, best, who, weighted
            )
            np.testing.assert_allclose(product, before[:k] @ trans, rtol=1e-13)
            scores = before[:k, None] + logs
            np.testing.assert_array_equal(best, scores.max(axis=0))
            np.testing.assert_array_equal(who, scores.argmax(axis=0))
            np.testing.assert_array_equal(weighted, before * table[index])
            np.testing.assert_allclose(total, (before * table[index]).sum(), rtol=1e-13)
            np.testing.assert_array_equal(row, before * 0.25)


@pytest.mark.parametrize(
    ("k", "kind"), [(5, np.int64), (5, np.uint32), (300, np.uint16), (256, np.uint8)]
)
def test_back_pointers_of_every_size(k, kind):
    rng = np.random.default_rng(0)
    row = pad_columns(rng.integers(-9, 0, k).astype(float))
    matrix = pad_columns(rng.integers(-9, 0, (k, k)).astype(float), fill=-np.inf)
    matrix[k - 1, 0] = 10.0  # the largest state is the best predecessor of the first
    out, who = np.empty(padded(k)), np.full(padded(k), 77, kind)
    best_only(lanes_for(k), row, matrix, out, who)
    scores = row[:k, None] + matrix
    np.testing.assert_array_equal(out, scores.max(axis=0))
    np.testing.assert_array_equal(who, scores.argmax(axis=0))
    assert who[0] == k - 1


def test_ties_go_to_the_first_state():
    k = 11
    out, who = np.empty(padded(k)), np.empty(padded(k), np.uint8)
    best_only(lanes_for(k), np.zeros(padded(k)), np.zeros((k, padded(k))), out, who)
    assert (who == 0).all()
    assert (out == 0).all()
