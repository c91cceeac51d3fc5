"""Figures of topics: over time or by class, and how much they are the same in every run."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

from sklearn.base import clone

from cohmm.data.documents import Documents
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.topics.document_chains import Chains
from cohmm.topics.over import LEVEL, TopicsOver, groups_of, names_of, topics_over
from cohmm.topics.periods import Period
from cohmm.topics.stability import TOP, Stability, stability


class TopicFigures:
    """What an `HTMM` says of its topics on documents."""

    random_state: Any

    def encode(self, X: Any) -> Documents:
        """Documents in the words of the model."""
        raise NotImplementedError

    def _fitted(self) -> HTMMFit:
        raise NotImplementedError

    def _chains(self) -> Chains:
        raise NotImplementedError

    def _training(self, what: str) -> Any:
        raise NotImplementedError

    def over(
        self,
        documents: Any = None,
        by: Any = None,
        period: Period | Literal["class"] | None = None,
        *,
        level: float = LEVEL,
    ) -> TopicsOver:
        """The share and the mean run of every topic in every period, or class, with intervals.

        Parameters
        ----------
        documents : as for ``fit``, or None
            None: those of training.
        by : dates or classes, one per document
            Dates are `datetime`, `date`, `numpy.datetime64`, those of pandas, years, or text
            such as "1987-02-26", "1987-02" or "26-FEB-1987 15:01:01".
        period : "hour", "day", "week", "month", "quarter", "year", "decade", "century" or "class"
            How long periods are.  Default: the shortest that makes at most 40, where ``by`` are
            dates; "class": every value is a class of its own.
        level : float
            How often an interval should hold the truth.  It takes the documents of a group for
            a sample, and the topics as given; a group of one document has none.

        >>> from cohmm import HTMM
        >>> texts = ["oil gas oil", "wheat corn wheat", "oil gas", "corn wheat corn"] * 9
        >>> topics = HTMM(2, random_state=0).fit(texts)
        >>> over = topics.over(texts, by=[1987, 1987, 1988, 1988] * 9)
        >>> over
        TopicsOver(2 periods (year), 1987 to 1988; 2 topics, 36 documents)
        >>> over.share.round(2)
        array([[0.5, 0.5],
               [0.6, 0.4]])
        """
        fit = self._fitted()
        if by is None:
            raise ValueError("by has one date or class per document, and is missing")
        data = self._in_memory("over", documents)
        groups = groups_of(by, data, period)
        return topics_over(self._chains(), data, groups, level=level, names=names_of(fit))

    def stability(self, documents: Any = None, n: int = 5, *, top: int = TOP) -> Stability:
        """Learn again from ``n`` other seeds, and say which topics come back.

        Parameters
        ----------
        documents : as for ``fit``, or None
            None: those of training.  Words are those of this model.
        n : int
            How many seeds: those after ``random_state``, or from 0 where it is None.  Every
            other parameter is that of this model.
        top : int
            How many top words to compare.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.stability(n=3, top=2)
        Stability(3 seeds: total variation 0.000, 100% of top words shared, 0 of 2 topics lost)
        """
        fit = self._fitted()
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 2:
            raise ValueError(f"n must be a whole number from 2, not {n!r}")
        data = self._training("stability") if documents is None else self.encode(documents)
        seed: int | None = self.random_state
        first = 0 if seed is None else seed + 1
        fits = []
        for other in range(first, first + int(n)):
            again = clone(self).set_params(n_components=fit.n_components, random_state=other)
            fits.append(again.fit(data).components_)
        return stability(fit.components, fits, fit.vocabulary, top=top)

    def _in_memory(self, what: str, documents: Any) -> Documents:
        data = self._training(what) if documents is None else self.encode(documents)
        if not isinstance(data, Documents):
            raise ValueError(f"{what} is for documents in memory, not for Partitions")
        return data
