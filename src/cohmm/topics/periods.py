"""Dates of documents, and the periods that they fall into.

A period that has no document is kept, so that a picture of time has no hole that cannot be seen.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cohmm._validation import shown
from cohmm.kernels.types import Ints

Period = Literal["hour", "day", "week", "month", "quarter", "year", "decade", "century"]
PERIODS: tuple[Period, ...] = get_args(Period)  # from short to long
DEFAULT_PERIODS = (
    40  # periods at most, where nobody says how long they are: what a picture has room for
)
MAX_PERIODS = 10_000
YEARS = range(1000, 3000)  # whole numbers that are taken for years where nobody says so
LAST_YEAR = 9999  # the last year that Python's dates have
MONDAY = np.datetime64("1970-01-05")
MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = re.compile(r"\d{4}")
MONTH = re.compile(r"(\d{4})-(\d\d)")
# As Reuters has it: "26-FEB-1987 15:01:01.79".
NAMED_MONTH = re.compile(
    r"(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ](\d{4})"
    r"(?:\s+(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d*)?)?)?"
)


class Dated(NamedTuple):
    """A date, and the shortest period that it tells."""

    time: np.datetime64
    tells: Period


class Groups(NamedTuple):
    """The period of every document, or its class."""

    which: Ints
    """Its number, (D,)."""
    names: tuple[str, ...]
    """What each of the G groups is called."""
    starts: Any = None
    """When each period begins, (G,), as `numpy.datetime64` in seconds; None: they are classes."""
    period: Period | None = None
    """How long periods are; None: they are classes."""


def is_missing(value: Any) -> bool:
    """Whether there is no value: None, NaN, NaT, or text that is empty.

    >>> is_missing(np.datetime64("NaT")), is_missing(" "), is_missing(0)
    (True, True, False)
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    # pandas' NaT says that it is a date.
    can_be = isinstance(value, (float, np.floating, np.datetime64, dt.date))
    return can_be and bool(value != value)


def parse_date(value: Any) -> Dated | None:
    """A date, or None where it is none.

    >>> parse_date("26-FEB-1987 15:01:01.79").time, parse_date(1790).tells
    (np.datetime64('1987-02-26T15:01:01'), 'year')
    """
    if isinstance(value, dt.datetime):
        return _dated(value.replace(tzinfo=None), "hour")  # the hour that its author had
    if isinstance(value, dt.date):
        return _dated(value, "day")
    if isinstance(value, np.datetime64):
        unit = np.datetime_data(value.dtype)[0]
        tells: Period = {"Y": "year", "M": "month", "W": "week", "D": "day"}.get(unit, "hour")  # type: ignore[assignment]
        time = value.astype("datetime64[s]")
        return Dated(time, tells) if 1 <= _year(time) <= LAST_YEAR else None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return _dated(dt.date(int(value), 1, 1), "year") if 1 <= int(value) <= LAST_YEAR else None
    return _parse_text(value.strip()) if isinstance(value, str) else None


def _dated(date: dt.date, tells: Period) -> Dated:
    return Dated(np.datetime64(date, "s"), tells)


def _parse_text(text: str) -> Dated | None:
    try:
        if YEAR.fullmatch(text):
            return _dated(dt.date(int(text), 1, 1), "year")
        if match := MONTH.fullmatch(text):
            return _dated(dt.date(int(match[1]), int(match[2]), 1), "month")
        if match := NAMED_MONTH.fullmatch(text):
            day, name, year, *clock = match.groups()
            month = MONTHS.index(name.lower()) + 1
            hour, minute, second = (int(part or 0) for part in clock)
            time = dt.datetime(int(year), month, int(day), hour, minute, second)
            return _dated(time, "day" if clock[0] is None else "hour")
        time = dt.datetime.fromisoformat(text).replace(tzinfo=None)
        return _dated(time, "hour" if len(text) > len("2000-01-01") else "day")
    except ValueError:
        return None


def are_dates(values: Sequence[Any]) -> bool:
    """Whether values are dates rather than classes: most can be read as one.

    Whole numbers are years from 1000 to 2999.

    >>> are_dates(["1987-02-26", "1987-03-01"]), are_dates([0, 1, 2]), are_dates(["sports", "1987"])
    (True, False, False)
    """

    def one(value: Any) -> bool:
        if isinstance(value, Integral) or (isinstance(value, str) and value.strip().isdigit()):
            return str(value).strip().isdecimal() and int(value) in YEARS
        return parse_date(value) is not None

    there = [value for value in values if not is_missing(value)]
    return bool(there) and 2 * sum(map(one, there)) > len(there)


def periods_of(
    values: Sequence[Any],
    period: Period | None = None,
    place: Callable[[int], str] = "document {}".format,
) -> Groups:
    """The period of every date, and all periods from the first to the last.

    Without a ``period`` it is the shortest that makes at most 40 of the span, and that all dates
    tell.  ``place`` says which document is meant, in errors.

    >>> groups = periods_of([1790, 1801, 1824])
    >>> groups.period, len(groups.names), groups.which.tolist()
    ('year', 35, [0, 11, 34])
    """
    check_period(period)
    times = np.empty(len(values), "datetime64[s]")
    coarsest: Period = PERIODS[0]
    for d, value in enumerate(values):
        if is_missing(value):
            raise ValueError(
                f"{place(d)} has no date: give one for every document, or leave it out"
            )
        parsed = parse_date(value)
        if parsed is None:
            raise ValueError(
                f"{place(d)} has the date {shown(value)}, which cannot be read: dates are "
                "such as '1987-02-26', '26-FEB-1987 15:01:01' or 1987; where values are classes, "
                "say period='class'"
            )
        times[d] = parsed.time
        coarsest = max(coarsest, parsed.tells, key=PERIODS.index)
    if coarsest == "hour" and (times == times.astype("datetime64[D]")).all():
        coarsest = "day"  # midnight is what a date has that was made a time
    allowed = PERIODS[PERIODS.index(coarsest) :]
    if period is None:
        fitting = (p for p in allowed if np.ptp(_numbers(times, p)) < DEFAULT_PERIODS)
        return _periods(times, next(fitting, PERIODS[-1]))
    if period not in allowed:
        raise ValueError(f"dates that tell no more than the {coarsest} have no period={period!r}")
    return _periods(times, period)


def _periods(times: Any, period: Period) -> Groups:
    numbers = _numbers(times, period)
    first, last = int(numbers.min()), int(numbers.max())
    if last - first >= MAX_PERIODS:
        raise ValueError(
            f"period={period!r} makes {last - first + 1:,} periods from {times.min()} to "
            f"{times.max()}: give a longer one, of {', '.join(PERIODS)}"
        )
    starts = _starts(np.arange(first, last + 1), period)
    return Groups(numbers - first, tuple(_label(s, period) for s in starts), starts, period)


def check_period(period: Any) -> None:
    """An error where there is no such period."""
    if period is not None and period not in PERIODS:
        raise ValueError(f"period must be one of {', '.join(PERIODS)} or class, not {period!r}")


def _numbers(times: Any, period: Period) -> Ints:
    """How many periods have passed since a day that does not matter, (D,)."""
    if period == "hour":
        return np.asarray(times.astype("datetime64[h]").astype(np.int64))
    if period in ("day", "week"):
        days = (times.astype("datetime64[D]") - MONDAY).astype(np.int64)
        return np.asarray(days if period == "day" else days // 7)
    months = times.astype("datetime64[M]").astype(np.int64) + 1970 * 12  # since the year 0
    return np.asarray(months // MONTHS_OF[period])


def _starts(numbers: Ints, period: Period) -> Any:
    """When periods begin: what `_numbers` has counted, back again."""
    if period == "hour":
        starts: Any = numbers.astype("datetime64[h]")
    elif period in ("day", "week"):
        starts = MONDAY + numbers * (1 if period == "day" else 7)
    else:
        starts = (numbers * MONTHS_OF[period] - 1970 * 12).astype("datetime64[M]")
    return starts.astype("datetime64[s]")


def _year(time: np.datetime64) -> int:
    return int(time.astype("datetime64[Y]").astype(np.int64)) + 1970


def _label(start: np.datetime64, period: Period) -> str:
    text, year = str(start), _year(start)
    return {
        "hour": text[:13].replace("T", " ") + ":00",
        "day": text[:10],
        "week": text[:10],
        "month": text[:7],
        "quarter": f"{year:04d}-Q{int(text[5:7]) // 3 + 1}",
        "year": f"{year:04d}",
        "decade": f"{year:04d}s",
        "century": f"{year:04d}-{year + 99:04d}",
    }[period]
