"""Topics that are nearly the same, and what their places are better used for.

Passes may lead two topics to the same words, and seldom part them again; meanwhile two subjects
share a topic elsewhere.  As k-means does with an empty cluster, the twins become one, and the place
that is free goes to what is explained worst.  Candidates are clusters of words, as topics begin
from them.  With P the pair law that the topics expect, and m a cluster,

    score = m' (Omega / P) m

is how much more often its words are paired than they are expected to be: near 1 where a topic has
them.  The place goes to the cluster with the largest score, its logarithm times how frequent the
cluster's words are.  Where no score is above 1, the corpus has no more topics to give.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from cohmm.kernels.types import Floats
from cohmm.learn.pairs.pair_law import PairLaw, Point

TWINS = 0.3  # total variation: closer topics read as one
MIN_SCORE = 1.05
FLOOR = 1e-6  # of the pairs, between a new topic and the others


def twins(components: Floats, *, spared: int = 0) -> list[tuple[int, int]]:
    """Pairs of rows (K, V) closer than `TWINS`, the closest first; no row is in two pairs.

    Of two among the first ``spared`` neither is a twin.

    >>> twins(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.4, 0.6]]))
    [(1, 2)]
    """
    apart = squareform(pdist(components, "cityblock")) / 2
    k = len(components)
    near = [(apart[a, b], a, b) for a in range(k) for b in range(max(a + 1, spared), k)]
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for distance, a, b in sorted(near):
        if distance < TWINS and not taken & {a, b}:
            pairs.append((a, b))
            taken |= {a, b}
    return pairs


def without_twins(
    point: Point, law: PairLaw, clusters: Floats, pairs: list[tuple[int, int]]
) -> Point | None:
    """The second of each pair joins the first, and starts anew from a cluster, (V, n).

    None where no cluster is explained worse than it should be.
    """
    scores = _scores(point, law, clusters)
    frequent = law.frequency @ (clusters > law.frequency[:, None])
    order = np.argsort(-frequent * np.log(np.maximum(scores, 1e-9)), kind="stable")
    worst = [n for n in order.tolist() if scores[n] > MIN_SCORE][: len(pairs)]
    if not worst:
        return None
    m, theta = point.m.copy(), point.theta.copy()
    share = 1 / len(theta)
    for (stays, goes), cluster in zip(pairs, worst, strict=False):
        weights = theta[[stays, goes]].sum(axis=1)
        m[:, stays] = m[:, [stays, goes]] @ (weights / weights.sum())
        m[:, goes] = clusters[:, cluster]
        theta[stays] += theta[goes]
        theta[:, stays] += theta[:, goes]
        theta[goes] = theta[:, goes] = 0.0
        theta *= 1 - share
        theta[goes, goes] = share
    prevalence = theta.sum(axis=1)
    return Point(m, (1 - FLOOR) * theta + FLOOR * np.outer(prevalence, prevalence))


def _scores(point: Point, law: PairLaw, clusters: Floats) -> Floats:
    """How much more often than expected words of each cluster are paired, by one pass.

    The clusters are topics that nothing is drawn from: they change nothing that is expected.
    """
    k, n = len(point.theta), clusters.shape[1]
    theta = np.zeros((k + n, k + n))
    theta[:k, :k] = point.theta
    rows = law.statistics(np.hstack([point.m, clusters]), theta).rows[:, k:]
    return np.asarray((clusters * rows).sum(axis=0))
