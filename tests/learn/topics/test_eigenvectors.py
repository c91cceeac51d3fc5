"""Eigenvectors of sparse matrices, against LAPACK's of dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm.kernels.threads import threads
from cohmm.kernels.types import Floats
from cohmm.learn.topics.eigenvectors import largest_eigenvectors


def with_spectrum(values: Floats, seed: int = 0) -> Floats:
    """A symmetric matrix with these eigenvalues, and any eigenvectors."""
    n = len(values)
    vectors, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
    return (vectors * values) @ vectors.T


@pytest.mark.parametrize("k", [1, 10, 30])
def test_values_and_vectors_are_those_of_the_dense_matrix(k: int) -> None:
    """Of both signs; those that are not wanted are close behind."""
    signs = np.where(np.arange(300) % 3 == 1, -1, 1)
    matrix = with_spectrum(signs * 0.97 ** np.arange(300))
    values, vectors = largest_eigenvectors(sparse.csr_array(matrix), k, tol=1e-5)
    np.testing.assert_allclose(values, (signs * 0.97 ** np.arange(300))[:k], atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=2e-5)


def test_tol_is_how_far_from_eigenvectors_they_may_be() -> None:
    matrix = with_spectrum(1 / np.arange(1, 301))
    rest = []
    for tol in (1e-1, 1e-5):
        values, vectors = largest_eigenvectors(sparse.csr_array(matrix), 20, tol)
        apart = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
        assert (apart <= tol * np.abs(values) + 1e-6).all()
        rest.append(apart.max())
    assert rest[1] < 0.01 * rest[0]


def test_more_are_wanted_than_the_matrix_has() -> None:
    """Four blocks of ones have four eigenvalues; all further ones are 0."""
    blocks = sparse.csr_array(np.kron(np.eye(4), np.ones((30, 30)) / 30))
    values, vectors = largest_eigenvectors(blocks, 6)
    np.testing.assert_allclose(values, [1, 1, 1, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-9)


def test_any_number_of_threads_gives_the_same() -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.random_array((700, 700), density=0.3, rng=rng)
    matrix = (matrix + matrix.T).tocsr()
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(largest_eigenvectors(matrix, 12))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
