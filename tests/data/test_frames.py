"""Frames of rows: their keys, and answers that go back to the rows that they are about."""

import copy
import datetime
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import PairwiseHMM, Sequences
from cohmm.data.frames import OrderWarning

ROWS = {
    "session": ["b", "a", "b", "c", "a", "b"],
    "time": [3, 1, 1, 1, 2, 2],
    "event": ["pay", "in", "in", "in", "out", "find"],
}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "arrow": pa.table}
each_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def casino() -> PairwiseHMM:
    """A model that was set by hand."""
    model = PairwiseHMM(2)
    model.startprob_ = [0.5, 0.5]
    model.transmat_ = [[0.9, 0.1], [0.2, 0.8]]
    model.emissionprob_ = [[0.4, 0.3, 0.3], [0.1, 0.1, 0.8]]
    return model


def as_dict(frame: Any) -> dict[str, list[Any]]:
    """The columns of a frame as lists."""
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("list")
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


@each_maker
def test_keys_and_answers_go_back_to_their_rows(make: Any) -> None:
    data = Sequences.from_frame(make(ROWS), column="event", group="session", order="time")
    assert data.keys.tolist() == ["b", "a", "c"]
    assert data.labels() == [["in", "find", "pay"], ["in", "out"], ["in"]]
    shouted = [label.upper() for sequence in data.labels() for label in sequence]
    place = np.concatenate([np.arange(n) for n in data.lengths])
    again = data.to_frame(shouted=shouted, place=place)
    assert as_dict(again) == ROWS | {
        "shouted": [event.upper() for event in ROWS["event"]],
        "place": [time - 1 for time in ROWS["time"]],
    }
    expected = {"lazy": pl.DataFrame}.get(make.__name__.lower().removesuffix("frame"))
    assert isinstance(again, expected or type(make(ROWS))) or make is pl.LazyFrame
    assert as_dict(data.to_frame()) == ROWS


@each_maker
def test_without_group_a_frame_is_one_sequence_without_keys(make: Any) -> None:
    data = Sequences.from_frame(
        make({"event": ["a", "c", "b"]}), vocabulary=["a", "b"], unseen="missing"
    )
    assert data.keys is None
    assert data.labels() == [["a", None, "b"]]
    assert as_dict(data.to_frame(n=[1, 2, 3])) == {"event": ["a", "c", "b"], "n": [1, 2, 3]}


@each_maker
def test_cells_that_are_lists_have_keys_and_answers_of_their_own(make: Any) -> None:
    rows = {"session": ["u", "v"], "events": [["a", "b", "a"], ["b"]]}
    data = Sequences.from_frame(make(rows), "events", group="session")
    assert data.keys.tolist() == ["u", "v"]
    assert data.labels() == rows["events"]
    answer = as_dict(data.to_frame(n=[0, 1, 2, 3]))
    assert {name: list(map(list, answer[name])) for name in ("events", "n")} == {
        "events": rows["events"],
        "n": [[0, 1, 2], [3]],
    }
    with pytest.raises(ValueError, match="order='session' is that of the rows of a group"):
        Sequences.from_frame(make(rows), "events", order="session")
    rows["session"] = ["u", "u"]
    with pytest.raises(ValueError, match=r"the key 'u' is in rows 0 and 1 of 'session'.*differ"):
        Sequences.from_frame(make(rows), "events", group="session")


def test_rows_keep_their_index_and_types_in_pandas() -> None:
    frame = pd.DataFrame(ROWS, index=[9, 8, 7, 6, 5, 4]).astype({"session": "category"})
    data = Sequences.from_frame(frame, "event", group="session", order="time")
    again = data.to_frame(state=np.arange(6, dtype=np.int8))
    pd.testing.assert_frame_equal(again.drop(columns="state"), frame)
    assert again["state"].dtype == np.int8
    assert again["state"].tolist() == [2, 3, 0, 5, 4, 1]


def test_some_of_the_sequences_keep_their_keys_and_rows() -> None:
    data = Sequences.from_frame(pd.DataFrame(ROWS), "event", "session", "time")
    for some in (data.select([2, 1]), pickle.loads(pickle.dumps(data.select([2, 1])))):
        assert some.keys.tolist() == ["c", "a"]
        frame = some.to_frame(n=[0, 1, 2])
        assert frame["event"].tolist() == ["in", "in", "out"]
        assert frame["n"].tolist() == [1, 0, 2]
    cells = pl.DataFrame({"events": [["a"], ["b", "a"], ["c"]]})
    some = Sequences.from_frame(cells, "events").select([2, 1])
    assert some.to_frame(n=[5, 6, 7])["n"].to_list() == [[6, 7], [5]]
    assert copy.deepcopy(data).keys.tolist() == data.keys.tolist()


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from("xyz")), min_size=1
    ),
    st.booleans(),
    st.booleans(),
)
def test_every_row_gets_its_own_answer(
    rows: list[tuple[str, int, str]], grouped: bool, ordered: bool
) -> None:
    keys, times, events = map(list, zip(*rows, strict=True))
    table = pa.table({"key": keys, "time": times, "event": events})
    group, order = "key" if grouped else None, "time" if ordered else None
    data = Sequences.from_frame(table, "event", group, order)
    labels = [label for sequence in data.labels() for label in sequence]
    again = data.to_frame(label=labels)
    assert again.drop_columns("label") == table
    assert again["label"].to_pylist() == events
    assert [label for part in data.split(labels) for label in part] == labels
    assert [len(part) for part in data.split(labels)] == data.lengths.tolist()


def test_a_model_answers_row_by_row() -> None:
    rng = np.random.default_rng(0)
    events, _ = casino().sample(3000, random_state=1)
    frame = pl.DataFrame({"session": rng.integers(0, 40, 3000), "event": events.ravel()})
    data = Sequences.from_frame(frame, "event", group="session")
    model = casino()
    table = data.to_frame(state=model.predict(data), surprise=model.surprise(data))
    scores = dict(zip(data.keys.tolist(), model.score_sequences(data), strict=True))
    for key, states in zip(data.keys, data.split(model.predict(data)), strict=True):
        rows = table.filter(pl.col("session") == key)
        assert rows["state"].to_list() == states.tolist()
        assert -rows["surprise"].sum() == pytest.approx(scores[key])


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"state": [0, 1]}, "state must have one value per observation, 6, not 2 values; np.rep"),
        ({"state": np.zeros((6, 2))}, "one value per observation, 6, not array"),
        ({"state": [[0], [1, 2]]}, r"one value per observation, 6, not \[\[0\], \[1, 2\]\]"),
        ({"state": 3}, "one value per observation, 6, not 3"),
        ({"event": [0] * 6}, "the frame has a column 'event': give another name"),
    ],
)
@each_maker
def test_answers_that_do_not_fit(make: Any, answers: dict[str, Any], message: str) -> None:
    data = Sequences.from_frame(make(ROWS), "event", "session")
    with pytest.raises(ValueError, match=message):
        data.to_frame(**answers)


def test_what_is_wrong_with_parts_of_answers() -> None:
    data = Sequences.of([[0, 1], [1]])
    with pytest.raises(ValueError, match="one value per observation, 3, not 2 values"):
        data.split([0, 1])
    with pytest.raises(ValueError, match=r"one value per observation, 3, not 0\.5"):
        data.split(0.5)
    with pytest.raises(ValueError, match=r"not those of a frame: Sequences\.from_frame"):
        data.to_frame(state=[0, 1, 2])
    assert data.keys is None


TIMES = [datetime.datetime(2024, 1, day) for day in (2, 1, 3)]


@pytest.mark.parametrize("times", [TIMES, [time.date() for time in TIMES]])
@each_maker
def test_rows_that_are_not_in_the_order_of_their_times(make: Any, times: list[Any]) -> None:
    if make is pd.DataFrame and not isinstance(times[0], datetime.datetime):
        times = pd.Series(times, dtype="date32[pyarrow]")  # type: ignore[assignment]
    rows = {"key": ["a", "a", "b"], "time": times, "event": ["x", "y", "x"]}
    with pytest.warns(OrderWarning, match="row 1 is earlier in 'time' than the row before it"):
        Sequences.from_frame(make(rows), "event", group="key")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = Sequences.from_frame(make(rows), "event", group="key", order="time")
        assert data.labels() == [["y", "x"], ["x"]]
        rows["key"] = ["a", "b", "b"]  # in order within their sequences
        Sequences.from_frame(make(rows), "event", group="key")
