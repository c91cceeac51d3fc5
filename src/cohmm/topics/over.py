"""Topics over time, or by class: the share of every topic in every group of documents.

The share of a topic in a group is the expected number of its words over that of all words; its
mean run is that of the documents as they are decoded.  Intervals take the documents of a group
for a sample of those that could have been written there and then, and the topics as given: see
`cohmm.topics.ratio_intervals`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.text import TextWarning
from cohmm.data.user_warnings import warn
from cohmm.data.values import shown
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.hmm_frames import frame
from cohmm.topics.describe import at_most, top_words
from cohmm.topics.document_chains import Chains
from cohmm.topics.periods import Period, are_dates, check_period, is_missing, periods_of
from cohmm.topics.ratio_intervals import ratio_intervals
from cohmm.topics.runs import count_runs

LEVEL = 0.9
NAMED = 3  # groups, in a warning
WORDS = 3  # of a topic's name


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


class Groups(NamedTuple):
    """The group of every document."""

    which: Ints
    """Its number, (D,)."""
    names: tuple[str, ...]
    starts: Any
    period: Period | None


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
        found = periods_of(values, period, documents.name_of)
        return Groups(found.which, found.labels, found.starts, found.period)
    for d, value in enumerate(values):
        if is_missing(value):
            raise ValueError(
                f"{documents.name_of(d)} has no class: give one for every document, or leave it out"
            )
    distinct = _sorted(values)
    place = {value: number for number, value in enumerate(distinct)}
    which = np.array([place[value] for value in values])
    return Groups(which, tuple(str(value) for value in distinct), None, None)


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


def names_of(fit: TopicFit) -> tuple[str, ...]:
    """What to call topics: their labels, or the three words that are most their own.

    >>> fit = TopicFit([[.7, .3], [0, 1]], [.5, .5], [1., 1.], ("oil", "gas"), name="by hand")
    >>> names_of(fit)
    ('oil gas', 'gas oil')
    """
    n = at_most(WORDS, fit.components)
    words = top_words(fit.components, fit.vocabulary, n, "relevance", fit.prevalence)
    labels: Sequence[str | None] = getattr(fit, "labels", ()) or [None] * len(words)
    return tuple(label or " ".join(map(str, own)) for label, own in zip(labels, words, strict=True))


def topics_over(
    chains: Chains,
    documents: Documents,
    groups: Groups,
    *,
    level: float = LEVEL,
    names: Sequence[str] | None = None,
) -> TopicsOver:
    """The share and the mean run of every topic in every group, with intervals."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    inferred = chains.infer(documents, decode=True)
    k, g = chains.n_components, len(groups.names)
    lengths = documents.lengths
    share = ratio_intervals(
        inferred.shares * lengths[:, None], lengths, groups.which, g, level=level
    )
    # A run of topic j in document d is one of "topic" d K + j.
    rows = np.repeat(np.arange(len(documents)), lengths)
    runs = count_runs(rows * k + inferred.topics, documents.offsets, len(documents) * k)
    run = ratio_intervals(
        runs.words.reshape(-1, k),
        runs.number.reshape(-1, k),
        groups.which,
        g,
        level=level,
        kind="length",
    )
    over = TopicsOver(
        groups.names,
        groups.starts,
        groups.period,
        level,
        np.bincount(groups.which, minlength=g),
        np.bincount(groups.which, lengths, minlength=g).astype(np.int64),
        *share,
        *run,
        tuple(map(str, range(k)) if names is None else names),
    )
    if over.single:
        some = ", ".join(over.single[:NAMED]) + (", ..." if len(over.single) > NAMED else "")
        which = "classes" if over.period is None else "periods"
        warn(
            f"{len(over.single):,} of {g:,} {which} have one document, and so no interval: {some}",
            TextWarning,
        )
    return over
