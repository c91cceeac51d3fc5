"""Triples seen through functions of symbols: their law, and how parameters can bend it.

With L (d, K) the means of d functions in the K states, w the distribution of states and A the
transitions,

    T_ijk = sum_xyz L_ix L_jy L_kz  w_x A_xy A_yz.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats

DETERMINED = 1e-10  # of the largest eigenvalue: below, parameters do not move the law


def triple_cube(seen: Floats, transmat: Floats, occupied: Floats) -> Floats:
    """T, flat, (d^3,)."""
    after = transmat @ seen.T  # (K, d): from the second state to the third's function
    before = (seen * occupied) @ transmat  # (d, K): from the first's function to the second state
    return np.asarray(np.einsum("iy,jy,yk->ijk", before, seen, after).ravel())


def orthonormal_tangent(seen: Floats, transmat: Floats, occupied: Floats) -> Floats:
    """An orthonormal basis (d^3, r) of all changes of T that L, A and w can make, to first order.

    >>> seen, transmat = np.eye(2), np.array([[.8, .2], [.3, .7]])
    >>> orthonormal_tangent(seen, transmat, np.array([.6, .4])).shape
    (8, 7)
    """
    d, k = seen.shape
    after = transmat @ seen.T
    before = (seen * occupied) @ transmat
    paths = transmat[:, :, None] * transmat[None]  # (x, y, z), without w
    paths = occupied[:, None, None] * paths
    one = np.eye(d)
    by_first = np.einsum("ia,jy,kz,byz->ijkab", one, seen, seen, paths, optimize=True)
    by_second = np.einsum("ja,ib,bk->ijkab", one, before, after, optimize=True)
    by_third = np.einsum("ka,ix,jy,xyb->ijkab", one, seen, seen, paths, optimize=True)
    by_step = np.einsum("ix,x,jy,yk->ijkxy", seen, occupied, seen, after, optimize=True)
    by_next = np.einsum("ix,jx,ky->ijkxy", before, seen, seen, optimize=True)
    by_start = np.einsum("ix,xy,jy,yk->ijkx", seen, transmat, seen, after, optimize=True)
    columns = np.hstack(
        [
            (by_first + by_second + by_third).reshape(d**3, d * k),
            (by_step + by_next).reshape(d**3, k * k),
            by_start.reshape(d**3, k),
        ]
    )
    size = np.linalg.norm(columns, axis=0)
    columns = columns[:, size > 0] / size[size > 0]
    if columns.shape[1] > d**3:
        values, vectors = np.linalg.eigh(columns @ columns.T)
        return np.asarray(vectors[:, values > DETERMINED * values[-1]])
    values, vectors = np.linalg.eigh(columns.T @ columns)
    kept = values > DETERMINED * values[-1]
    return np.asarray(columns @ (vectors[:, kept] / np.sqrt(values[kept])))
