"""Probabilistic latent semantic analysis (Hofmann, 1999): topics from bags of words, by EM.

    maximise  sum_dw n_dw log p_dw,   p_dw = sum_k theta_dk phi_kw

with n the document-term counts, theta_d a document's topic proportions and phi_k a topic.
An iteration of EM is, with ~N = N / (Theta Phi), element by element,

    Theta <- Theta * (~N Phi'),   Phi <- Phi * (Theta' ~N),   rows scaled to one,

and costs two passes over the non-zeros of N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels import sparse_pass
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import Callback, Progress, Record, learner
from cohmm.learn.pairs.pair_law import SparseRows
from cohmm.learn.topics.topic_fit import TopicFit, smoothed, term_counts, topic_fit
from cohmm.model.sampling import generator

MIXED_IN = 1e-3
PROBABILITY_FLOOR = 1e-60


@learner
def plsa(
    documents: Documents,
    n_components: int,
    *,
    max_iter: int = 200,
    tol: float = 1e-4,
    n_init: int = 1,
    smoothing: float = 0.01,
    random_state: int | None = None,
    start: Any = None,
    callback: Callback | None = None,
) -> TopicFit:
    """Learn topics from document-term counts by EM.

    Parameters
    ----------
    documents : Documents
        The corpus; the order of words does not matter.
    n_components : int
        Number of topics.
    max_iter : int
        Passes over the counts, at most, from each start.
    tol : float
        Stop when an iteration gains less log-likelihood than this a word, in nats.
    n_init : int
        Starts; the best likelihood is kept.
    smoothing : float
        Pseudo-observations of every word that each topic is given at the end.
    random_state : int, optional
        Seed.
    start : array (K, V), optional
        Topics to start from, instead of random ones; further starts are random.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept; the objective is minus the log-likelihood
        of a word.

    >>> words = ("corn", "gold", "ore", "wheat")
    >>> documents = Documents([1, 2, 1, 2, 0, 3, 3, 0, 0], [0, 2, 4, 6, 9], words)
    >>> plsa(documents, 2, smoothing=0, random_state=0).components.round(2)
    array([[0.6, 0. , 0. , 0.4],
           [0. , 0.5, 0.5, 0. ]])
    """
    record = Record(None)
    counts = term_counts(documents, n_components)
    law = _Law.of(counts)
    runs = [
        _run(law, phi, tol, max_iter, callback)
        for phi in _starts(law, n_components, n_init, random_state, start)
    ]
    point, converged, history = min(runs, key=lambda run: run[2][-1].objective)
    n_words = law.lengths @ point.theta
    components = np.zeros((n_components, counts.shape[1]))
    components[:, law.seen] = point.phi.T
    return topic_fit(
        smoothed(components, n_words, smoothing),
        n_words,
        tuple(documents.vocabulary),
        name="pLSA",
        converged=converged,
        history=tuple(history),
        seconds=record.seconds,
    )


class _Point(NamedTuple):
    theta: Floats
    """Topic proportions of every document that is not empty, (D, K)."""
    phi: Floats
    """Topics, (V, K), of the words that occur."""


@dataclass(frozen=True, eq=False)
class _Law:
    """The counts, of words that occur and documents that are not empty.

    Topics are divided by the frequency of the words, so that all numbers are near one and
    float32 serves for the long pass: see `cohmm.kernels.sparse_pass`.
    """

    by_document: SparseRows
    by_word: SparseRows
    lengths: Floats
    frequency: Floats
    seen: Ints

    @classmethod
    def of(cls, counts: Any) -> _Law:
        seen = np.flatnonzero(counts.sum(axis=0))
        counts = counts[np.flatnonzero(counts.sum(axis=1))][:, seen]
        total = np.asarray(counts.sum(axis=0))
        return cls(
            SparseRows.of(counts),
            SparseRows.of(counts.T.tocsr()),
            np.asarray(counts.sum(axis=1)),
            total / total.sum(),
            seen,
        )

    def step(self, point: _Point) -> tuple[float, _Point]:
        """Minus the log-likelihood of a word, and the point that EM goes to."""
        k = point.phi.shape[1]
        theta = sparse_pass.table(point.theta)
        lifted = point.phi / self.frequency[:, None]
        lift = sparse_pass.table(lifted)
        fit, to_theta = self.by_document.divided(theta, lift, k)
        _, to_phi = self.by_word.divided(lift, theta, k)
        n_words = self.lengths.sum()
        by_chance = n_words * (self.frequency @ np.log(self.frequency))
        objective = -float((fit.sum() + by_chance) / n_words)
        return objective, _Point(_scaled(point.theta * to_theta, 1), _scaled(lifted * to_phi, 0))


def _scaled(values: Floats, axis: int) -> Floats:
    values[values < PROBABILITY_FLOOR] = 0.0  # a subnormal would slow all down
    total = values.sum(axis=axis, keepdims=True)
    return np.asarray(values / np.where(total > 0, total, 1.0))


def _starts(law: _Law, k: int, n_init: int, random_state: int | None, start: Any) -> list[Floats]:
    """Topics to start from, (V, K): every word's frequency times an exponential number."""
    shape = (len(law.seen), k)
    streams = generator(random_state).spawn(n_init)
    points = [_scaled(law.frequency[:, None] * rng.exponential(size=shape), 0) for rng in streams]
    return points if start is None else [_checked_start(law, k, start), *points[1:]]


def _checked_start(law: _Law, k: int, start: Any) -> Floats:
    try:
        start = np.asarray(start, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"start must be an array of topics, not {start!r}") from None
    if start.ndim != 2 or start.shape[0] != k or start.shape[1] <= law.seen[-1]:
        raise ValueError(
            f"start must be an array of {k} topics and one column per word, not {start.shape}"
        )
    if not np.isfinite(start).all() or (start < 0).any():
        raise ValueError("start must hold probabilities: finite, and at least 0")
    phi = _scaled(start.T[law.seen], 0)
    # A zero would stay one for ever.
    return (1 - MIXED_IN) * phi + MIXED_IN * law.frequency[:, None]


def _run(
    law: _Law, phi: Floats, tol: float, max_iter: int, callback: Callback | None
) -> tuple[_Point, bool, list[Progress]]:
    """EM from one start; the objective never rises."""
    record = Record(callback)
    k = phi.shape[1]
    point = following = _Point(np.full((len(law.lengths), k), 1 / k), phi)
    for n_iter in range(1, max_iter + 1):
        objective, target = law.step(following)
        gain = record.gain(objective)
        if gain < 0:  # what is left to gain is below rounding
            return point, True, record.history
        point, following = following, target
        record(n_iter, objective)
        if gain < tol:
            return point, True, record.history
    return point, False, record.history
