"""The passes over non-zeros, against dense ones: all widths of tables, rows short and long."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm.kernels import native
from cohmm.kernels.sparse_pass import table, table_width

WIDTHS = [*range(16, 145, 16), 208, 304]


def some_rows(rng: np.random.Generator, m: int) -> sparse.csr_array:
    """Rows of 0 to 300 non-zeros, more than are summed in float32."""
    dense = np.zeros((9, m))
    for row, n in zip(dense, [0, 1, 2, 3, 5, 127, 128, 129, 300], strict=True):
        row[rng.choice(m, n, replace=False)] = rng.random(n) + 0.1
    return sparse.csr_array(dense)


@pytest.mark.parametrize("k", [width - less for width in WIDTHS for less in (0, 15)])
def test_passes_are_the_dense_ones(k: int) -> None:
    rng, m = np.random.default_rng(k), 320
    rows = some_rows(rng, m)
    left, right = (table(rng.random((n, k)) + 0.1) for n in (rows.shape[0], m))
    assert right.shape[1] == table_width(k)
    given = (rows.indptr.astype(np.int64), rows.indices.astype(np.int32))
    values = rows.data.astype(np.float32)
    out, fit = np.full((9, k), np.nan), np.full(9, np.nan)
    native.sparse_pass(*given, values, (1, 9), left, right, out, fit)
    dense, law = rows.toarray(), left.astype(float) @ right.T.astype(float)
    assert np.isnan(out[0]).all()
    assert np.isnan(fit[0])
    np.testing.assert_allclose(out[1:], ((dense / law) @ right[:, :k])[1:], rtol=3e-6)
    np.testing.assert_allclose(fit[1:], (dense * np.log(law)).sum(axis=1)[1:], rtol=3e-6, atol=3e-6)
    native.sparse_times(*given, values, (0, 9), right, out)
    np.testing.assert_allclose(out, dense @ right[:, :k], rtol=3e-6)
