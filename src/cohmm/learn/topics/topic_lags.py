"""At which distances words are paired, and how much each distance counts.

Words near one another mostly share their topic.  Far ones do so where documents stay with theirs,
as forum posts do; in a speech that moves on they share little.  The corpus says which it is.  With
U the main directions of the near pairs in one half of the documents, whitened as in
`cohmm.learn.topics.topic_start`, and Omega the pair law of the other half,

    signal(lag) = mean of diag(U' D^-1/2 Omega_lag D^-1/2 U), without the trivial direction

is how much of their topics words at this distance still have in common, between 0 and 1.  Halves,
since a long document has pairs of its own that say nothing of others.  A far lag counts by the
fourth power of its signal beside that of near ones, and by its number of pairs: with lower powers
far lags harmed the topics of long articles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import as_lags, count_documents
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats
from cohmm.learn.topics.topic_start import both_ways, frequent_words, main_directions, whitened
from cohmm.model.sampling import generator

TopicLags = Literal["auto"] | int | Iterable[int] | Mapping[int, float]

NEAR = (1, 2, 3, 4, 5)
FAR = (8, 16, 32, 64)
MIN_PAIRS = 0.1  # of a far lag, beside the shortest: it is for the documents, not for a few
SAMPLE = 100_000  # words that signals are measured on
N_DIRECTIONS = 10
SIGNAL_POWER = 4
NOISE_LEVEL = 3.0  # standard deviations
MIN_SHARE = 0.1  # of a near lag's weight: below it, a far lag is left out


def auto_lags(documents: Documents | Partitioned) -> dict[int, float]:
    """The lags at which to count, and how much the pair law of each counts, a near one's 1.

    >>> from cohmm.datasets.demo_topics import demo_model
    >>> from cohmm.datasets.synthetic_topics import sample_documents, sample_htmm
    >>> moves_on, _ = sample_documents(demo_model(), 400, length=60, random_state=0)
    >>> stays = sample_htmm(400, n_components=4, n_words=100, random_state=0).documents
    >>> max(auto_lags(moves_on)), max(auto_lags(stays))
    (8, 64)
    """
    weights = dict.fromkeys(NEAR, 1.0)
    lengths = np.asarray(documents.lengths)
    n_pairs = {lag: int(np.maximum(lengths - lag, 0).sum()) for lag in (*NEAR, *FAR)}
    far = [lag for lag in FAR if n_pairs[lag] >= MIN_PAIRS * n_pairs[1] > 0]
    signals = _signals(documents, far) if far else {}
    beside = float(np.mean([signals.get(lag, 0.0) for lag in NEAR[1:]]))
    for lag in far:
        share = min(1.0, signals[lag] / beside) ** SIGNAL_POWER if beside > 0 else 0.0
        if share >= MIN_SHARE:
            weights[lag] = share * n_pairs[lag] / n_pairs[1]
    return weights


def lag_shares(lags: TopicLags, documents: Documents | Partitioned) -> dict[int, float]:
    """How much the pair law of every lag counts: given, or alike, or as the documents show.

    >>> lag_shares((1, 3), Documents([0, 1], [0, 2], ("rain", "sun")))
    {1: 1.0, 3: 1.0}
    """
    if isinstance(lags, str):
        if lags != "auto":
            raise ValueError(f'lags must be "auto", or whole numbers from 1, not {lags!r}')
        return auto_lags(documents)
    if not isinstance(lags, Mapping):
        return dict.fromkeys(as_lags(lags), 1.0)
    shares = {lag: lags[lag] for lag in as_lags(lags)}
    for lag, share in shares.items():
        if not isinstance(share, (int, float, np.number)) or not 0 < share < np.inf:
            raise ValueError(f"lag {lag} has the share {share!r}: it must be a number above 0")
    return shares


def _signals(documents: Documents | Partitioned, far: list[int]) -> dict[int, float]:
    """The signal of every lag; none where there are too few documents, or words, to tell."""
    chosen = documents.some(SAMPLE)
    order = generator(0).permutation(chosen)
    halves = [documents.select(np.sort(half)) for half in np.array_split(order, 2)]
    if not all((half.lengths > max(far)).any() for half in halves):
        return dict.fromkeys((*NEAR, *far), 0.0)
    counts = [count_documents(half, (*NEAR, *far)) for half in halves]
    with blas_threads(1):  # a report asks for lags outside of a learner
        first, second = (_shown(one, by) for one, by in (counts, counts[::-1]))
    return {lag: (first[lag] + second[lag]) / 2 for lag in first}


def _shown(counts: Cooccurrence, by: Cooccurrence) -> dict[int, float]:
    """What pairs show of the directions of other pairs."""
    omega: Any = sum(by.probability(lag) for lag in NEAR)
    words, _ = frequent_words(omega)
    occurs = np.ones(len(words), bool)
    for lag in counts.lags:
        occurs &= np.asarray(counts[lag].sum(axis=0) + counts[lag].sum(axis=1)).ravel()[words] > 0
    words = words[occurs]
    if len(words) <= N_DIRECTIONS:
        return dict.fromkeys(counts.lags, 0.0)
    _, directions = main_directions(both_ways(omega, words), N_DIRECTIONS)
    return {lag: _signal(both_ways(counts[lag], words), directions) for lag in counts.lags}


def _signal(both: Any, directions: Floats) -> float:
    """0 where it does not stand out from noise, or no two of these words are so far apart."""
    n_pairs = both.sum() / 2
    if n_pairs == 0:
        return 0.0
    values = np.einsum("ij,ij->j", directions, whitened(both) @ directions)
    n = directions.shape[1] - 1
    signal = float((values.sum() - 1) / n)
    return signal if signal > NOISE_LEVEL / np.sqrt(n * n_pairs) else 0.0
