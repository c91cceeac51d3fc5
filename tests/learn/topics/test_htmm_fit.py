"""Topics with their chain, as a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cohmm.learn.topics.htmm_fit import HTMMFit


def fit(transitions: Any, switch: float = 0.5) -> HTMMFit:
    return HTMMFit([[1.0, 0.0], [0.5, 0.5]], [0.6, 0.4], [1, 1], ("a", "b"), "x",
                   transitions=transitions, switch=switch)  # fmt: skip


def test_it_is_a_chain_of_topics() -> None:
    found = fit([[0.9, 0.1], [0.2, 0.8]])
    model = found.as_hmm()
    np.testing.assert_array_equal(model.transmat, found.transitions)
    np.testing.assert_array_equal(model.emissionprob, found.components)
    np.testing.assert_array_equal(model.startprob, found.prevalence)
    assert model.vocabulary == ("a", "b")
    assert found.n_iter == 0
    with pytest.raises(ValueError, match="read-only"):
        found.transitions[0, 0] = 1


@pytest.mark.parametrize(
    ("transitions", "switch", "message"),
    [
        ([[1.0]], 0.5, r"shape \(1, 1\), not \(2, 2\)"),
        ([[0.5, 0.4], [0, 1]], 0.5, "every row must sum to one"),
        ([[1.5, -0.5], [0, 1]], 0.5, "at least 0"),
        (np.eye(2), -1, "above 0 and up to 1, not -1"),
        (np.eye(2), 0.0, "above 0 and up to 1, not 0"),
        (np.eye(2), "often", "not 'often'"),
    ],
)
def test_what_is_no_chain_is_refused(transitions: Any, switch: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(transitions, switch)
