"""The logarithmic recursions against all paths."""

import numpy as np
from hypothesis import given

from cohmm.kernels import native
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
    surprise, again = np.full((2, len(y)), np.nan)
    place = native.log_filter(symbols, logs, ahead, surprise)
    assert place == (impossible.index(True) if any(impossible) else -1)
    assert native.log_filter(symbols, logs, last, again) == place
    np.testing.assert_array_equal(again, surprise)
    np.testing.assert_array_equal(last[0], ahead[-1])
    close(np.exp(ahead).sum(axis=1), np.ones(len(y)))
    if any(impossible):
        assert surprise[place] == np.inf
        return
    likelihoods = [1.0, *(oracles.likelihood(model, y[: t + 1]) for t in range(len(y)))]
    close(np.exp(-surprise), np.divide(likelihoods[1:], likelihoods[:-1]))
    native.log_backward(symbols, logs, behind)
    joint = np.exp(ahead + behind)
    close(joint / joint.sum(axis=1, keepdims=True), oracles.posterior(model, y))

    starts, transitions, emissions = oracles.expected_counts(model, y)
    found = np.ones(k), np.ones((k, k)), np.ones((model.n_symbols + 1, k))
    native.log_expected_counts(symbols, logs, ahead, surprise, behind, *found)
    close(found[0] - 1, starts)
    close(found[1] - 1, transitions)
    close((found[2] - 1)[:-1].T, emissions)
