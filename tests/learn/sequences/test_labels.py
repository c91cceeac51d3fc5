"""Known states, against the enumeration of all paths that agree with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cohmm import HMM, Sequences
from cohmm.learn.sequences.labels import Labels
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.model.hmm import ImpossibleObservation
from tests import laws, oracles
from tests.strategies import models_and_data, with_gaps


def agreeing(model: HMM, y: list[int], known: list[int]) -> tuple[float, list[np.ndarray]]:
    """P(y, known states), and the expected counts given both: every path by itself."""
    k, n = model.emissionprob.shape
    total = 0.0
    counts = [np.zeros(k), np.zeros((k, k)), np.zeros((k, n))]
    for path, probability in oracles.all_paths(model, y):
        if any(state not in (-1, path[t]) for t, state in enumerate(known)):
            continue
        total += probability
        counts[0][path[0]] += probability
        for t, state in enumerate(path):
            if t:
                counts[1][path[t - 1], state] += probability
            if y[t] >= 0:
                counts[2][state, y[t]] += probability
    return total, counts


@given(models_and_data(), st.data())
def test_every_path_that_agrees(case: tuple[HMM, list[list[int]]], data: st.DataObject) -> None:
    model, sequences = case
    k = model.n_components
    known = [data.draw(st.lists(st.integers(-1, k - 1), min_size=len(y), max_size=len(y)))
             for y in sequences]  # fmt: skip
    weights = np.array(data.draw(st.lists(
        st.sampled_from([0.5, 1.0, 3.0]), min_size=len(sequences), max_size=len(sequences)
    )))  # fmt: skip
    true = [agreeing(model, y, states) for y, states in zip(sequences, known, strict=True)]
    assume(all(total > 1e-12 for total, _ in true))
    read = model.encode(with_gaps(sequences))
    labels = Labels.of(read, [np.array(states) for states in known], k)
    likelihood = SequenceLikelihood(read, weights, labels)
    log_likelihood, counts = likelihood.expected(model)
    n = likelihood.units
    assert n == sum(w * len(y) for w, y in zip(weights, sequences, strict=True))
    expected = sum(w * np.log(total) for w, (total, _) in zip(weights, true, strict=True))
    assert n * log_likelihood == pytest.approx(expected, abs=1e-9)
    for i, count in enumerate(counts):
        wanted = sum(w * each[i] / total for w, (total, each) in zip(weights, true, strict=True))
        laws.close(n * count, wanted, 1e-9)


def test_what_is_known_is_counted() -> None:
    data = Sequences.of([[0, 1, None], [2, 0]])
    known = [0, 1, 1, 1, -1]
    labels = Labels.of(data, known, 2)
    counts = labels.counts(data, np.array([1.0, 10.0]), 2)
    assert counts.starts.tolist() == [1, 10]
    assert counts.transitions.tolist() == [[0, 1], [0, 1]]
    assert counts.emissions.tolist() == [[1, 0, 0], [0, 1, 10]]
    assert not labels.complete
    assert Labels.of(data, [0, 1, 1, 1, 0], 2).complete


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([0, 1], "one entry per observation, 4, not 2"),
        ([0, 1, 2, 0], "state 2 at sequence 1, position 0: states are from 0 to 1"),
        ([0, 1e300, 0, 0], r"state 1e\+300 at sequence 0, position 1: states are from 0 to 1"),
        ([0, -2, 0, 0], "state -2 at sequence 0, position 1"),
        ([0, 0.5, 0, 0], "whole numbers"),
        (["a", "b", "a", "a"], "whole numbers"),
    ],
)
def test_labels_that_cannot_be(states: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Labels.of(Sequences.of([[0, 1], [1, 0]]), states, 2)


def test_labels_that_contradict_the_model_are_named() -> None:
    left_right = HMM([1, 0], [[0.5, 0.5], [0, 1]], [[0.5, 0.5], [0.5, 0.5]])
    data = Sequences.of([0, 1, 1])
    labels = Labels.of(data, [-1, 1, 0], 2)
    with pytest.raises(ImpossibleObservation, match="position 2 in the state given"):
        SequenceLikelihood(data, None, labels).expected(left_right)
