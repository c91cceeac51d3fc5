"""How odd sequences are: what is made of the surprise of their events, and how rare that is.

A sequence of events has a surprise for each, -log P(event | events before it); what counts depends
on the anomaly.  One event that cannot be shows in the greatest surprise, a sequence that is cut in
that of its end.  A program that does everyday things in an unusual mix shows in none of these, but
in how many events are a little surprising, and in its calmest stretch, where the loops of normal
sequences are much calmer.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cohmm.kernels.types import Floats, Ints

By = Literal["auto", "max", "mean", "window", "total"]
LEVELS = (0.5, 1.0, 2.0, 4.0)  # nats
CALM = 50  # events; of 20, 50 and 100 the best on half of ADFA-LD's kinds of attack
EXTREME = 20.0  # so many times as rare must a greatest or total surprise be as other measures
TAIL = 0.05  # of normal sequences: beyond the greatest of them, an exponential goes on
MIN_TAIL = 5
BETWEEN_TIES = 1e-3  # p-values are ranks: of sequences that are equally rare, the others decide
MIN_EXCESS = 0.25  # nats: sequences that are all alike say nothing of what is beyond them


class Interval(NamedTuple):
    """Bounds of a share."""

    low: float
    high: float


def measures(by: By, nats: Floats, offsets: Ints, window: int) -> Floats:
    """What is made of the surprise of all events, (S, M): the greater, the odder.

    >>> nats, offsets = np.array([1.0, 3, 0, 2, 2]), np.array([0, 3, 5])
    >>> [measures(by, nats, offsets, 2).ravel().tolist() for by in ("max", "total", "window")]
    [[3.0, 2.0], [4.0, 4.0], [4.0, 4.0]]
    """
    first, lengths = offsets[:-1], np.diff(offsets)
    if by == "max":
        columns = [np.maximum.reduceat(nats, first)]
    elif by == "total":
        columns = [np.add.reduceat(nats, first)]
    elif by == "mean":
        columns = [np.add.reduceat(nats, first) / lengths]
    elif by == "window":
        columns = [np.maximum.reduceat(_windows(nats, offsets, window, -np.inf), first)]
    else:
        columns = [np.add.reduceat((nats > level) * 1.0, first) / lengths for level in LEVELS]
        calm = np.minimum.reduceat(_windows(nats, offsets, CALM, np.inf), first)
        columns.append(calm / np.minimum(lengths, CALM))
        columns += [np.maximum.reduceat(nats, first), np.add.reduceat(nats, first)]
    return np.column_stack(columns)


def _windows(nats: Floats, offsets: Ints, size: int, outside: float) -> Floats:
    """The sum of ``size`` events from each on, (T,), and ``outside`` where there are not so many.

    Of a shorter sequence the sum of all stands at its first event.
    """
    total = np.concatenate([[0.0], np.cumsum(nats)])
    first, lengths = np.arange(len(nats)), np.diff(offsets)
    ends = np.repeat(offsets[1:], lengths)
    short = np.repeat(lengths < size, lengths)
    begins = np.zeros(len(nats), bool)
    begins[offsets[:-1]] = True
    stop = np.minimum(first + size, ends)
    whole = (first + size <= ends) | (short & begins)
    return np.where(whole, total[stop] - total[first], outside)


def combined(values: Floats, normal: Floats, *, own: bool = False) -> Floats:
    """One number of several measures, (S,): minus the logarithm of the least p-value.

    A p-value is the share of the ``normal`` values, (n, M), that are as great.  The last two
    measures are noise unless they are extreme: they count when they are `EXTREME` times rarer, and
    an exponential goes on beyond the greatest.  ``own``: the values are the normal ones themselves.
    """
    if values.shape[1] == 1:
        return np.asarray(values[:, 0])
    columns = []
    for m in range(values.shape[1]):
        ordered = np.sort(normal[:, m])
        rareness = _rareness(values[:, m], ordered, own)
        if m >= values.shape[1] - 2:
            beyond = rareness if own else _beyond(values[:, m], ordered, rareness)
            rareness = beyond - math.log(EXTREME)
        columns.append(rareness)
    return np.asarray(np.max(columns, axis=0) + BETWEEN_TIES * np.mean(columns, axis=0))


def _rareness(values: Floats, normal: Floats, own: bool) -> Floats:
    """-log p of each value among sorted normal ones."""
    as_great = len(normal) - np.searchsorted(normal, values, side="left")
    return np.asarray(-np.log((as_great + (not own)) / (len(normal) + 1)))


def _beyond(values: Floats, normal: Floats, rareness: Floats) -> Floats:
    """-log p, of values beyond the greatest normal one by an exponential law of the excess."""
    n = len(normal)
    border = normal[-min(max(int(TAIL * n), MIN_TAIL), n)]
    excess = normal[normal > border] - border
    finite = excess[np.isfinite(excess)]
    if not len(finite):
        return rareness
    beyond = np.maximum(values - border, 0.0) / max(finite.mean(), MIN_EXCESS) - np.log(
        len(excess) / (n + 1)
    )
    return np.asarray(np.where(values > normal[-1], np.maximum(rareness, beyond), rareness))


class Threshold(NamedTuple):
    """A score above which a sequence is an anomaly, and how often normal ones have more."""

    value: float
    false_alarms: Interval
    """Where the share of false alarms is, with 90 % confidence, as so many sequences can tell."""


def threshold(scores: Floats, false_alarms: float) -> Threshold:
    """Of the scores of n normal sequences, by models that have not seen them.

    The k-th greatest, k = (n + 1) ``false_alarms`` rounded down: the share of normal sequences
    beyond it has the law Beta(k, n + 1 - k), whatever that of the scores.

    >>> value, (low, high) = threshold(np.arange(999.0), 0.01)
    >>> value, round(low, 4), round(high, 4)
    (989.0, 0.0054, 0.0157)
    """
    from scipy.stats import beta  # takes its time to import

    n = len(scores)
    if not isinstance(false_alarms, (int, float)) or not 0 < false_alarms < 1:
        raise ValueError(f"false_alarms is a share, above 0 and below 1, not {false_alarms!r}")
    k = math.floor((n + 1) * false_alarms + 1e-9)
    if k < 1:
        needed = math.ceil(1 / false_alarms - 1e-9) - 1
        raise ValueError(
            f"false_alarms={false_alarms:g} takes {needed:,} normal sequences at least to see, and "
            f"there {'is 1' if n == 1 else f'are {n:,}'}: give more, or ask for "
            f"{1 / (n + 1):.2g} or more"
        )
    low, high = beta.ppf([0.05, 0.95], k, n + 1 - k).tolist()
    return Threshold(float(np.sort(scores)[n - k]), Interval(low, high))


def check_by(by: Any) -> None:
    """One of the ways to judge a sequence."""
    if by not in get_args(By):
        raise ValueError(f"by must be one of {', '.join(map(repr, get_args(By)))}, not {by!r}")
