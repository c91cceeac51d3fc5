"""How many topics: by held-out perplexity, NPMI and stability, in the form of `select`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.text import read_documents
from cohmm.data.user_warnings import silenced
from cohmm.diagnose.selection import Candidate, Selection, candidates_of, recommend
from cohmm.kernels.types import Floats
from cohmm.learn.options import check_whole
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics.compare import Judged, part
from cohmm.topics.stability import variation_between

HELD_OUT = 0.2
AROUND = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the number that the pairs show: default candidates
SEEDS = 2
TOP = 10


def select_topics(
    documents: Any,
    n_components: Iterable[int] | None = None,
    *,
    held_out: float = HELD_OUT,
    seeds: int = SEEDS,
    random_state: int | None = 0,
    callback: Callable[[int], None] | None = None,
    **options: Any,
) -> Selection:
    """Choose the number of topics on documents that are held out.

    Parameters
    ----------
    documents : Documents, or what `read_documents` reads
        The corpus.
    n_components : several whole numbers, optional
        Candidates; default: half as many as the pairs show, to twice as many.
    held_out : float
        The share of documents that is not learned from.
    seeds : int
        Fits of every candidate; the total variation between them is its stability.  1: none.
    random_state : int
        Seed of the split, and of the first fit.
    callback : function of a number of topics, optional
        Called before each candidate is learned.
    **options
        Others of `cohmm.learn.htmm`.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(150, n_components=3, n_words=60, random_state=0)
    >>> select_topics(sample.documents, [1, 3], seeds=1).recommended
    3
    """
    corpus = documents if isinstance(documents, Documents) else read_documents(documents)
    check_whole(seeds=seeds)
    if not (isinstance(held_out, (int, float, np.number)) and 0 < held_out < 1):
        raise ValueError(f"held_out must be a share above 0 and below 1, not {held_out!r}")
    if random_state is None:  # one that is drawn
        random_state = int(np.random.default_rng().integers(2**31))
    train, test = part(corpus, held_out, random_state)
    with silenced():
        shown = htmm(train, "auto", refine=0, max_iter=1, random_state=random_state, **options)
        detectable = shown.n_components
        wanted = (
            sorted({max(1, round(share * detectable)) for share in AROUND})
            if n_components is None
            else candidates_of(n_components)
        )
        fits: dict[int, list[TopicFit]] = {}
        scores: dict[int, Floats] = {}
        for k in wanted:
            if callback is not None:
                callback(k)
            fits[k] = [
                replace(htmm(train, k, random_state=random_state + seed, **options), counts=None)
                for seed in range(seeds)
            ]
            words = fits[k][0].predict(test)
            before = np.concatenate([[0.0], np.cumsum(words)])
            scores[k] = np.diff(before[test.offsets])
    return _selection(fits, scores, train, test, detectable)


def _selection(
    fits: dict[int, list[TopicFit]],
    scores: dict[int, Floats],
    train: Documents,
    test: Documents,
    detectable: int,
) -> Selection:
    best = max(scores, key=lambda k: (scores[k].sum(), -k))
    lengths, n = test.lengths, len(test)
    candidates = []
    for k in sorted(fits):
        gains = scores[best] - scores[k]
        mean = gains.sum() / lengths.sum()
        spread = gains - mean * lengths
        candidates.append(
            Candidate(
                k,
                float(scores[k].sum() / lengths.sum()),
                float(mean),
                float(np.sqrt((spread**2).sum() * n / max(n - 1, 1)) / lengths.sum()),
                float("nan"),
                0,
                variation_between(fits[k]),
                Judged(fits[k][0], train, test, "sticky").coherence("npmi", TOP),
            )
        )
    recommended, reason = recommend(candidates, "topic", detectable)
    return Selection(tuple(candidates), recommended, reason, detectable, "topic", n)
