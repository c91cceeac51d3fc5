"""AnomalyDetector: scikit-learn's outlier interface over an HMM of normal sequences."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from cohmm import storage
from cohmm._validation import check_whole, silenced
from cohmm.data.sequences import Sequences
from cohmm.diagnose.anomalies import By, Interval, check_by, combined, measures, threshold
from cohmm.estimators.pairwise_hmm import PairwiseHMM
from cohmm.kernels.types import Floats, Ints
from cohmm.model.answers import load_fitted, save_fitted


class OddEvent(NamedTuple):
    """An event of a sequence, and what was expected in its place."""

    position: int
    """From 0; that of an end is the length of the sequence."""
    symbol: Any
    surprise: float
    """-log P(event | events before it), in nats."""
    expected: tuple[tuple[Any, float], ...]
    """The most probable symbols, with their probabilities."""


class AnomalyDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Sequences that a model of normal ones does not expect.

    The threshold is set by normal sequences that are scored by models which have not seen them.

    Parameters
    ----------
    model : PairwiseHMM, optional
        What is fitted to normal sequences; default: ``PairwiseHMM("auto", end=True)``.
    by : "auto", "max", "mean", "window" or "total"
        What is made of the surprise of a sequence's events: the greatest, the mean, the greatest
        sum of ``window`` events in a row, the sum; or the rarest of seven measures among normal
        sequences: the shares of events above .5, 1, 2 and 4 nats, the mean of the calmest 50
        events, and the greatest and the total if these are far out.
    false_alarms : float
        The share of normal sequences that are taken for anomalies.
    window : int
        Events, where ``by="window"``.
    cv : int
        Parts of the normal data, each of which is scored by a model of the others.
    random_state : int, optional
        Seed of the parts.

    Attributes
    ----------
    model_ : PairwiseHMM
        Fitted to all normal sequences.
    offset_ : float
        The least score of a normal sequence: `score_samples` below it is an anomaly.
    false_alarm_interval_ : (low, high)
        Where the share of false alarms is, with 90 % confidence.
    normal_ : array, (S, M)
        What was measured of every normal sequence.

    >>> rng = np.random.default_rng(0)
    >>> normal = [["open"] + ["read"] * rng.integers(1, 5) + ["close"] for _ in range(300)]
    >>> model = PairwiseHMM(3, end=True, random_state=0)
    >>> detector = AnomalyDetector(model, by="max", false_alarms=0.01).fit(normal)
    >>> cut, whole = ["open", "read", "read"], ["open", "read", "read", "close"]
    >>> detector.predict([whole, cut]).tolist()
    [1, -1]
    >>> odd = detector.explain(cut)[0]
    >>> odd.position, odd.symbol, odd.expected[0][0]
    (3, '<end>', 'read')
    """

    model_: PairwiseHMM
    offset_: float
    false_alarm_interval_: Interval
    normal_: Floats

    def __init__(
        self,
        model: PairwiseHMM | None = None,
        by: By = "auto",
        false_alarms: float = 0.005,
        *,
        window: int = 10,
        cv: int = 5,
        random_state: Any = 0,
    ):
        self.model = model
        self.by = by
        self.false_alarms = false_alarms
        self.window = window
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, lengths: Iterable[int] | None = None) -> Self:
        """Learn from normal sequences, as `PairwiseHMM.fit` takes them; they must be in memory."""
        check_by(self.by)
        check_whole(window=self.window)
        check_whole(2, cv=self.cv)
        model = PairwiseHMM("auto", end=True, random_state=0) if self.model is None else self.model
        data = model._sequences(X, lengths if y is None else y, end=False)
        if not isinstance(data, Sequences):
            raise ValueError("normal sequences are cut into parts: give them in memory, or a path")
        threshold(np.zeros(len(data)), self.false_alarms)  # refuses what they cannot tell
        fitted = clone(model).fit(data)
        if model.n_components == "auto":
            model = clone(model).set_params(n_components=fitted.model_.n_components)
        part = np.random.default_rng(self.random_state).permutation(len(data)) % self.cv
        normal: list[Floats] = []
        places: list[Ints] = []
        for number in range(min(self.cv, len(data))):
            held = np.flatnonzero(part == number)
            with silenced():  # what there is to say was said of all of the data
                others = clone(model).fit(data.select(np.flatnonzero(part != number)))
            normal.append(self._measures(others, data.select(held)))
            places.append(held)
        self.normal_ = np.concatenate(normal)[np.argsort(np.concatenate(places))]
        self.model_ = fitted
        return self._with_threshold()

    def _with_threshold(self) -> Self:
        scores = combined(self.normal_, self.normal_, own=True)
        value, self.false_alarm_interval_ = threshold(scores, self.false_alarms)
        self.offset_ = -value
        return self

    def score_samples(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """How normal each sequence is, (S,): minus what is measured of its surprise."""
        check_is_fitted(self, "offset_")
        return -combined(self._measures(self.model_, X, lengths), self.normal_)

    def decision_function(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """`score_samples` less the threshold, (S,): below 0 for anomalies."""
        return self.score_samples(X, lengths) - self.offset_

    def predict(self, X: Any, lengths: Iterable[int] | None = None) -> Ints:
        """-1 for each sequence that is an anomaly, else 1, (S,)."""
        return np.where(self.decision_function(X, lengths) < 0, -1, 1)

    def explain(self, sequence: Any, n: int = 5) -> tuple[OddEvent, ...]:
        """The ``n`` most surprising events of one sequence, and what was expected instead."""
        check_is_fitted(self, "offset_")
        check_whole(n=n)
        return odd_events(self.model_, sequence, n)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the detector to a file, whose model `PairwiseHMM.load` and `HMM.load` read."""
        check_is_fitted(self, "offset_")
        own = {name: storage.plain(name, getattr(self, name)) for name in OPTIONS}
        model = self.model_
        more = {"detector": own}
        save_fitted(
            path, model._answers(), model.get_params(), None, more, {"normal": self.normal_}
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a detector that `save` wrote."""
        header, arrays = storage.load(path, "HMM")
        if "detector" not in header or "normal" not in arrays:
            raise storage.StorageError(
                f"{path} has a model, and no detector: fit one, AnomalyDetector(model).fit(normal)"
            )
        load_fitted(path)  # says what is wrong, if anything is
        model = PairwiseHMM.load(path)
        detector: Self = storage.reading(path, lambda: cls(clone(model), **header["detector"]))
        detector.model_, detector.normal_ = model, arrays["normal"]
        return detector._with_threshold()

    def _measures(self, model: PairwiseHMM, X: Any, lengths: Any = None) -> Floats:
        answers = model._answers()
        encoded = answers.encode(X, lengths)
        nats = answers.event_surprise(encoded)
        return measures(self.by, nats, encoded.data.offsets, self.window)


OPTIONS = ("by", "false_alarms", "window", "cv", "random_state")


def odd_events(model: PairwiseHMM, sequence: Any, n: int, most: int = 3) -> tuple[OddEvent, ...]:
    """The most surprising events of one sequence, each with the ``most`` probable symbols."""
    answers, hmm = model._answers(), model.model_
    encoded = answers.encode([sequence] if _is_one(sequence) else sequence)
    if len(encoded.data) != 1:
        raise ValueError(f"one sequence is explained at a time, not {len(encoded.data)}")
    nats = answers.event_surprise(encoded)
    filtered = hmm.filter(encoded.data)
    labels: Any = range(hmm.n_symbols) if hmm.vocabulary is None else hmm.vocabulary
    own = Sequences.of([sequence] if _is_one(sequence) else sequence)[0]
    events = []
    for place in np.argsort(-nats, kind="stable")[:n].tolist():
        states = hmm.startprob if place == 0 else filtered[place - 1] @ hmm.transmat
        likely = states @ hmm.emissionprob
        top = np.argsort(-likely, kind="stable")[:most]
        symbol = own[place] if place < len(own) else labels[answers.end_code]
        expected = tuple((labels[code], float(likely[code])) for code in top.tolist())
        events.append(OddEvent(place, symbol, float(nats[place]), expected))
    return tuple(events)


def _is_one(sequence: Any) -> bool:
    """Whether it is a sequence of symbols, and not several, or of ours."""
    return not isinstance(sequence, (Sequences, str)) and np.ndim(sequence[0]) == 0
