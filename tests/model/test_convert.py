"""Models as data frames."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from cohmm import HMM, PairwiseHMM
from tests.strategies import random_model


def test_tables_hold_the_probabilities() -> None:
    model = random_model(3, 5, seed=0)
    start = model.to_frame("start")
    assert start["state"].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(start["probability"], model.startprob)
    table = model.to_frame("transitions")
    square = table.pivot(index="from_state", columns="to_state", values="probability")
    np.testing.assert_array_equal(square, model.transmat)
    table = model.to_frame("emissions")
    square = table.pivot(index="state", columns="symbol", values="probability")
    np.testing.assert_array_equal(square, model.emissionprob)


def test_symbols_are_called_by_their_labels() -> None:
    model = HMM([1.0], [[1.0]], [[0.25, 0.75]], ["sun", "rain"])
    table = model.to_frame("emissions")
    assert dict(zip(table["symbol"], table["probability"], strict=True)) == {
        "sun": 0.25,
        "rain": 0.75,
    }


def test_an_estimator_has_the_tables_of_its_model() -> None:
    model = PairwiseHMM(1).fit(["a", "b", "a", "a", "b"])
    for what in ("start", "transitions", "emissions"):
        assert model.to_frame(what).equals(model.model_.to_frame(what))
    with pytest.raises(ValueError, match="not fitted"):
        PairwiseHMM(1).to_frame("start")


def test_tables_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(2, 3, seed=0)
    with pytest.raises(ValueError, match="one of start, transitions, emissions, not 'prior'"):
        model.to_frame("prior")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"need pandas: pip install 'cohmm\[frames\]'"):
        model.to_frame("start")
