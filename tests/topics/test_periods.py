"""Dates that are read, and the periods that they fall into."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.topics.periods import PERIODS, Period, are_dates, is_missing, parse_date, periods_of

DAY = np.datetime64("1987-02-26", "s")


@pytest.mark.parametrize(
    "value",
    [
        dt.date(1987, 2, 26),
        dt.datetime(1987, 2, 26),
        np.datetime64("1987-02-26"),
        pd.Timestamp("1987-02-26"),
        "1987-02-26",
        " 1987-02-26 ",
        "26-FEB-1987",
        "26 Feb 1987",
        "26 February 1987",
        "1987-02-26T00:00:00",
        "26-FEB-1987 00:00:00.00",
    ],
)
def test_a_day_is_read_in_all_its_forms(value: Any) -> None:
    parsed = parse_date(value)
    assert parsed is not None
    assert parsed.time == DAY


@pytest.mark.parametrize("value", ["sports", "1987-02-30", "31-ABC-1987", 0, 10_000, True, 1.5, ()])
def test_what_is_no_date(value: Any) -> None:
    assert parse_date(value) is None


def test_an_hour_is_that_of_its_author() -> None:
    parsed = parse_date("1987-02-26T23:30:00-05:00")
    assert parsed is not None
    assert parsed.time == np.datetime64("1987-02-26T23:30:00")


@pytest.mark.parametrize("value", [None, float("nan"), np.datetime64("NaT"), pd.NaT, "", "  "])
def test_what_is_missing(value: Any) -> None:
    assert is_missing(value)
    with pytest.raises(ValueError, match="document 1 has no date"):
        periods_of(["1987-02-26", value])


def test_an_error_names_the_document() -> None:
    with pytest.raises(ValueError, match=r"document 2 has the date '30-FEB-1987', which cannot"):
        periods_of([1987, 1988, "30-FEB-1987"])


@pytest.mark.parametrize(
    ("period", "labels"),
    [
        ("hour", ("1999-12-31 23:00", "2000-01-01 00:00", "2000-01-01 01:00")),
        ("day", ("1999-12-31", "2000-01-01")),
        ("week", ("1999-12-27",)),
        ("month", ("1999-12", "2000-01")),
        ("quarter", ("1999-Q4", "2000-Q1")),
        ("year", ("1999", "2000")),
        ("decade", ("1990s", "2000s")),
        ("century", ("1900-1999", "2000-2099")),
    ],
)
def test_every_period(period: Period, labels: tuple[str, ...]) -> None:
    found = periods_of(["1999-12-31T23:59:59", "2000-01-01T01:00:00"], period)
    assert found.names == labels
    assert found.which.tolist() == [0, len(labels) - 1]


@given(
    st.lists(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(2999, 1, 1)), min_size=1, max_size=9)
)
def test_a_date_lies_in_its_period_and_no_period_is_left_out(times: list[dt.datetime]) -> None:
    found = periods_of(times)
    assert len(found.names) == len(set(found.names)) <= max(40, 21)
    numbers = np.array(times, "datetime64[s]")
    starts = found.starts[found.which]
    assert (starts <= numbers).all()
    inner = found.which < len(found.starts) - 1
    assert (numbers[inner] < found.starts[found.which[inner] + 1]).all()
    assert {0, len(found.names) - 1} <= set(found.which.tolist())


def test_the_span_chooses_the_period() -> None:
    assert periods_of(["1987-02-26", "1987-10-20"]).period == "week"
    assert periods_of([1790, 2021]).period == "decade"
    assert periods_of(["1987-02-26", "1987-03-01"]).period == "day"
    assert periods_of([pd.Timestamp("1987-02-26")] * 2).period == "day"
    assert periods_of(["1987-02-26T10:00:00", "1987-02-26T12:00:00"]).period == "hour"
    assert periods_of(["1987", "1988"]).period == "year"
    assert periods_of([5, 9999]).period == "century"


def test_dates_do_not_tell_shorter_periods() -> None:
    with pytest.raises(ValueError, match="no more than the year have no period='week'"):
        periods_of([1987, 1988], "week")
    with pytest.raises(ValueError, match="period='day' makes"):
        periods_of(["1800-01-01", "2000-01-01"], "day")
    with pytest.raises(ValueError, match=r"period must be one of hour, day.* not 'days'"):
        periods_of([1987], "days")  # type: ignore[arg-type]


def test_dates_are_told_from_classes() -> None:
    assert are_dates([1987, 1988])
    assert are_dates(["1987", None, "1990"])
    assert are_dates(np.array(["1987-02-26"], "datetime64[D]"))
    assert not are_dates([0, 1])
    assert not are_dates(["12", "7"])
    assert not are_dates([True, False])
    assert not are_dates([None])
    assert are_dates(["1987-01-01", "1987-01-02", "soon"])  # one that cannot be read is an error
    assert PERIODS[0] == "hour"
