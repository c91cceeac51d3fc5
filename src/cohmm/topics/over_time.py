"""Topics over time, or by class: the share of every topic in every group of documents.

The share of a topic in a group is the expected number of its words over that of all words; its
mean run is that of the documents as they are decoded.  Intervals take the documents of a group
for a sample of those that could have been written there and then, and the topics as given.

A share is R = sum_d x_d / sum_d n_d: the words of a topic over all words of a group's documents.
Words of one document are not independent of one another, so documents are the units.  With
w_d = n_d / sum n, the variance of R, unbiased where documents are alike, is

    v = sum_d (x_d / n_d - R)^2 w_d^2 / (1 - w_d),

and 1 / sum w_d^2 - 1 are its degrees of freedom: one less than the documents, where these are of
equal length.  A group of few documents knows little of its own variance, and one in which a topic
never occurs knows nothing.  So it is measured against what it would be if every document were all
or nothing,

    rho = v / (R (1 - R) sum_d w_d^2),

and averaged with the rho of the other groups, which counts for 8 degrees of freedom.  The
interval is then Wilson's, all p with

    |R - p| <= t sqrt(rho p (1 - p) sum_d w_d^2)

for the quantile t of Student's law: within 0 and 1, and with a length where R is 0.

A mean length, words over runs, is at least 1 and has no upper bound: its variance is measured
against R^2, where other groups count for 3 degrees, and its interval is symmetric in log R.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from scipy.special import stdtrit

from cohmm._validation import shown, warn
from cohmm.data.documents import Documents
from cohmm.data.read_documents import TextWarning
from cohmm.kernels.types import Floats, Ints
from cohmm.model.convert import frame
from cohmm.model.topic_model import TopicModel
from cohmm.topics.overview import count_runs
from cohmm.topics.periods import Groups, Period, are_dates, check_period, is_missing, periods_of
from cohmm.topics.top_words import names_of

LEVEL = 0.9
MAX_NAMED = 3  # groups, in a warning
# Degrees of freedom that the other groups count for, as few as cover in benchmarks/over.py: the
# variance of lengths is less alike in different groups.
BORROWED_FREEDOM = {"share": 8.0, "length": 3.0}


@dataclass(frozen=True, eq=False)
class TopicsOver:
    """The share and the mean run of K topics in G groups of documents.

    Parameters
    ----------
    groups : tuple of str
        What the groups are called: periods in the order of time, or classes in theirs.
    starts : array (G,) or None
        When periods begin, as `numpy.datetime64`; None: groups are classes.
    period : str or None
        How long periods are, such as "decade"; None: groups are classes.
    level : float
        How often an interval should hold the truth.
    documents, words : array, (G,)
        How many there are of each.
    share, share_low, share_high : array, (G, K)
        The share of every topic, and its interval.  NaN: a group without words has no share, and
        one of a single document no interval.
    run, run_low, run_high : array, (G, K)
        Words in a run of every topic, on average, and its interval; NaN where there is none.
    names : tuple of str
        What the topics are called: their labels, or the words that are most their own.
    """

    groups: tuple[str, ...]
    starts: Any = field(repr=False)
    period: Period | None
    level: float
    documents: Ints = field(repr=False)
    words: Ints = field(repr=False)
    share: Floats = field(repr=False)
    share_low: Floats = field(repr=False)
    share_high: Floats = field(repr=False)
    run: Floats = field(repr=False)
    run_low: Floats = field(repr=False)
    run_high: Floats = field(repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.share.shape[1])

    @property
    def single(self) -> tuple[str, ...]:
        """Groups with one document that has a word: they have no intervals."""
        alone = (self.words > 0) & np.isnan(self.share_low[:, 0])
        return tuple(self.groups[g] for g in np.flatnonzero(alone))

    def __repr__(self) -> str:
        what = "classes" if self.period is None else f"periods ({self.period})"
        return (
            f"TopicsOver({len(self.groups):,} {what}, {self.groups[0]} to {self.groups[-1]}; "
            f"{self.n_components} topics, {self.documents.sum():,} documents)"
        )

    def to_frame(self) -> Any:
        """A pandas data frame, one row per group and topic; needs pandas.

        Its columns: group, start (of periods), documents, words, topic, name, share, share_low,
        share_high, run, run_low, run_high.
        """
        g, k = self.share.shape
        columns: dict[str, Any] = {"group": np.repeat(np.array(self.groups, object), k)}
        if self.starts is not None:
            columns["start"] = np.repeat(self.starts, k)
        columns["documents"] = np.repeat(self.documents, k)
        columns["words"] = np.repeat(self.words, k)
        columns["topic"] = np.tile(np.arange(k), g)
        columns["name"] = list(self.names) * g
        for name in ("share", "share_low", "share_high", "run", "run_low", "run_high"):
            columns[name] = getattr(self, name).ravel()
        return frame(columns)


def groups_of(
    by: Any, documents: Documents, period: Period | Literal["class"] | None = None
) -> Groups:
    """Documents by period where ``by`` holds dates, and by class where it does not.

    >>> documents = Documents([0, 0, 0], [0, 1, 2, 3], ("oil",))
    >>> groups_of(["b", "a", "b"], documents).names
    ('a', 'b')
    >>> groups_of(["1987-02-26", "1987-03-02", "1987-03-03"], documents, "week").names
    ('1987-02-23', '1987-03-02')
    """
    if period != "class":
        check_period(period)
    values = _listed(by)
    if len(values) != len(documents):
        raise ValueError(f"by has {len(values):,} values for {len(documents):,} documents")
    if not values:
        raise ValueError("there are no documents to group")
    if period != "class" and (period is not None or are_dates(values)):
        return periods_of(values, period, documents.name_of)
    for d, value in enumerate(values):
        if is_missing(value):
            raise ValueError(
                f"{documents.name_of(d)} has no class: give one for every document, or leave it out"
            )
    distinct = _sorted(values)
    place = {value: number for number, value in enumerate(distinct)}
    which = np.array([place[value] for value in values])
    return Groups(which, tuple(str(value) for value in distinct))


def _listed(by: Any) -> Sequence[Any]:
    if isinstance(by, (str, bytes, Mapping)) or not hasattr(by, "__iter__"):
        raise ValueError(f"by has one date or class per document, not {shown(by)}")
    if hasattr(by, "to_pylist"):  # of pyarrow, whose items are not plain values
        return cast("Sequence[Any]", by.to_pylist())
    if isinstance(by, np.ndarray):
        if by.ndim != 1:
            raise ValueError(f"by has one date or class per document, not the shape {by.shape}")
        return list(by) if by.dtype.kind == "M" else cast("Sequence[Any]", by.tolist())
    return list(by)


def _sorted(values: Sequence[Any]) -> list[Any]:
    try:
        distinct = set(values)
    except TypeError:
        bad = next(d for d, value in enumerate(values) if not isinstance(value, Hashable))
        raise ValueError(
            f"document {bad} has the class {shown(values[bad])}: give text or a number"
        ) from None
    if all(isinstance(value, str) and value.isdecimal() for value in distinct):
        return sorted(distinct, key=lambda value: (int(value), value))
    try:
        return sorted(distinct)
    except TypeError:  # of several kinds
        return sorted(distinct, key=str)


def topics_over(
    model: TopicModel, documents: Documents, groups: Groups, *, level: float = LEVEL
) -> TopicsOver:
    """The share and the mean run of every topic in every group, with intervals."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    inferred = model.infer(documents, decode=True)
    k, g = model.n_components, len(groups.names)
    lengths = documents.lengths
    share = ratio_intervals(
        inferred.shares * lengths[:, None], lengths, groups.which, g, level=level
    )
    # A run of topic j in document d is one of "topic" d K + j.
    rows = np.repeat(np.arange(len(documents)), lengths)
    runs = count_runs(rows * k + inferred.topics, documents.offsets, len(documents) * k)
    number, words = (counted.reshape(-1, k) for counted in runs)
    run = ratio_intervals(words, number, groups.which, g, level=level, kind="length")
    over = TopicsOver(
        groups.names,
        groups.starts,
        groups.period,
        level,
        np.bincount(groups.which, minlength=g),
        np.bincount(groups.which, lengths, minlength=g).astype(np.int64),
        *share,
        *run,
        tuple(" ".join(map(str, name)) for name in names_of(model)),
    )
    if over.single:
        some = ", ".join(over.single[:MAX_NAMED]) + ", ..." * (len(over.single) > MAX_NAMED)
        which = "classes" if over.period is None else "periods"
        warn(
            f"{len(over.single):,} of {g:,} {which} have one document, and so no interval: {some}",
            TextWarning,
        )
    return over


class Ratios(NamedTuple):
    """A ratio and its interval, (G, K) each; NaN where there is none."""

    value: Floats
    low: Floats
    high: Floats


def ratio_intervals(
    part: Any,
    whole: Any,
    which: Any,
    n_groups: int,
    *,
    level: float = 0.9,
    kind: Literal["share", "length"] = "share",
) -> Ratios:
    """The ratio of sums in every group, with intervals.

    Parameters
    ----------
    part : array, (D, K)
        Words of every topic in every document.
    whole : array, (D,) or (D, K)
        All words of the document; or, for lengths, the runs of every topic.
    which : array, (D,)
        The group of every document, from 0 to G - 1.
    n_groups : int
        G.
    level : float
        How often an interval should hold the truth.
    kind : "share" or "length"
        See the module.

    >>> ratios = ratio_intervals([[2], [3], [0], [0]], [10, 10, 10, 10], [0, 0, 1, 1], 2)
    >>> ratios.value.ravel(), ratios.low.ravel().round(3), ratios.high.ravel().round(3)
    (array([0.25, 0.  ]), array([0.067, 0.   ]), array([0.606, 0.102]))
    """
    part = np.asarray(part, np.float64)
    whole = np.broadcast_to(_column(whole), part.shape)
    which = np.asarray(which, np.int64)
    total = _by_group(whole, which, n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = _by_group(part, which, n_groups) / total
        weights = whole / total[which]  # (D, K)
        error = (part - value[which] * whole) / total[which]
        terms = np.where(weights < 1, error**2 / (1 - weights), 0.0)
    there = whole > 0
    variance = _by_group(np.where(there, terms, 0.0), which, n_groups)
    squares = _by_group(np.where(there, weights**2, 0.0), which, n_groups)
    several = _by_group(there.astype(np.float64), which, n_groups) > 1
    freedom = np.where(several, 1 / np.where(several, squares, 1.0) - 1, 0.0)
    scale = np.where(several, value * (1 - value) if kind == "share" else value**2, 0.0)
    rho, freedom = _moderated(variance, squares, freedom, scale, BORROWED_FREEDOM[kind])
    with np.errstate(invalid="ignore"):
        width = stdtrit(np.where(several, freedom, np.nan), (1 + level) / 2)
        q = width**2 * rho * squares
        if kind == "share":
            middle, half = (value + q / 2) / (1 + q), np.sqrt(q * scale + q**2 / 4) / (1 + q)
            low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
        else:
            factor = np.exp(np.sqrt(q))
            low, high = np.maximum(value / factor, np.minimum(value, 1.0)), value * factor
    return Ratios(value, low, high)


def _moderated(
    variance: Floats, squares: Floats, freedom: Floats, scale: Floats, most: float
) -> tuple[Floats, Floats]:
    """rho and its degrees of freedom, (G, K): a group's own, averaged with those of the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        measured = np.where(freedom > 0, freedom * variance / squares, 0.0)
    expected = freedom * scale
    others, below = measured.sum(axis=0) - measured, expected.sum(axis=0) - expected
    borrowed = np.where(below > 0, np.minimum(most, freedom.sum(axis=0) - freedom), 0.0)
    # All or nothing where nobody knows.
    elsewhere = np.where(below > 0, others / np.where(below > 0, below, 1.0), 1.0)
    own = np.where(expected > 0, measured / np.where(expected > 0, expected, 1.0), elsewhere)
    weight = np.maximum(freedom + borrowed, 1e-9)
    return np.asarray((freedom * own + borrowed * elsewhere) / weight), np.asarray(weight)


def _column(values: Any) -> Floats:
    values = np.asarray(values, np.float64)
    return np.asarray(values[:, None] if values.ndim == 1 else values)


def _by_group(values: Floats, which: Ints, n_groups: int) -> Floats:
    sums = np.zeros((n_groups, values.shape[1]))
    np.add.at(sums, which, values)
    return sums
