"""What is said of a number of states."""

from __future__ import annotations

from cohmm.learn.state_choice import StateChoice, Tried, advice_on_states


def test_the_largest_that_was_tried_may_not_be_the_end() -> None:
    rows = (Tried(1, -2.0, 0.5, 0.1), Tried(8, -1.5, 0.0, 0.0))
    assert "still rising at the largest tried, 8" in StateChoice(8, 2, rows).reason


def test_one_advice() -> None:
    shown = StateChoice(3, 3)
    assert advice_on_states(3, shown) == ""
    assert advice_on_states(5, shown, refined=True) == ""
    assert "one more needs 9 pairs" in advice_on_states(5, shown, more_pairs="9")
    assert advice_on_states(2, shown).startswith("try 3 states: so many stand out")
    assert advice_on_states(3, shown, refused=True).startswith("try more states than 3")
    rows = (Tried(3, -1.6, 0.1, 0.01), Tried(9, -1.5, 0.0, 0.0), Tried(12, -1.7, 0.2, 0.01))
    held = StateChoice(9, 3, rows)
    assert advice_on_states(9, held, refused=True) == ""  # held-out data decides
    assert advice_on_states(3, held).startswith("try more states than 3: 9 states: the best of 3")
    assert advice_on_states(12, held).startswith("try fewer states than 12: 9 states")
