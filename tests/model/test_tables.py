import numpy as np
import pytest

from cohmm.kernels.recursions import padded
from tests.strategies import random_model


@pytest.mark.parametrize("k", [1, 3, 8, 9, 70])
def test_tables_are_padded_with_impossible_states(k):
    model = random_model(k, 4)
    tables, logs = model._tables, model._logs
    assert tables.n_states == logs.n_states == k
    assert tables.width == padded(k)
    np.testing.assert_array_equal(tables.start[:k], model.startprob)
    np.testing.assert_array_equal(tables.trans[:, :k], model.transmat)
    np.testing.assert_array_equal(tables.back[:, :k], model.transmat.T)
    np.testing.assert_array_equal(tables.emit[:-1, :k], model.emissionprob.T)
    assert (tables.emit[-1, :k] == 1).all()  # the missing observation
    for table, log_table in zip(tables[1:5], logs[1:5], strict=True):
        assert (table[..., k:] == 0).all()
        assert (log_table[..., k:] == -np.inf).all()
        np.testing.assert_allclose(np.exp(log_table), table, rtol=1e-14)


def test_tables_are_made_once():
    model = random_model(2, 2)
    assert model._tables is model._tables
    assert model._logs is model._logs
