"""The logarithmic recursions against all paths."""

import numpy as np
from hypothesis import given

from cohmm import _native
from tests import oracles
from tests.laws import close
from tests.strategies import models_and_data


@given(models_and_data(most=1))
def test_both_passes_and_the_counts(drawn):
    model, [y] = drawn
    logs = model._logs
    k = model.n_components
    symbols = np.array(y, np.int32)
    ahead, behind, last = (np.full((rows, k), np.nan) for rows in (len(y), len(y), 1))
    impossible = [oracles.likelihood(model, y[: t + 1]) == 0 for t in range(len(y))]
    total, place = _native.log_forward(symbols, logs, ahead)
    assert place == (impossible.index(True) if any(impossible) else -1)
    assert _native.log_forward(symbols, logs, last) == (total, place)
    if any(impossible):
        assert total == -np.inf
        return
    close(total, np.log(oracles.likelihood(model, y)))
    np.testing.assert_array_equal(last[0], ahead[-1])
    _native.log_backward(symbols, logs, behind)
    close(np.exp(ahead + behind - total), oracles.posterior(model, y))

    starts, transitions, emissions = oracles.expected_counts(model, y)
    found = np.ones(k), np.ones((k, k)), np.ones((model.n_symbols + 1, k))
    _native.add_log_counts(symbols, logs, ahead, behind, *found)
    close(found[0] - 1, starts)
    close(found[1] - 1, transitions)
    close((found[2] - 1)[:-1].T, emissions)
