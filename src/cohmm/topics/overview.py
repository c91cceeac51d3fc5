"""What there is to say about topics on a corpus, computed once for the screen and the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.kernels.types import Floats
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.topics.coherence import coherence
from cohmm.topics.contrast import contrast
from cohmm.topics.document_chains import MOST_DECODED as MOST_DECODED
from cohmm.topics.document_chains import Chain, Chains
from cohmm.topics.runs import Runs, count_runs

TOP, EPS = 20, 0.01  # of coherence as the paper has it


@dataclass(frozen=True, eq=False)
class Overview:
    """Coherence of every topic, and how topics follow one another in documents.

    Parameters
    ----------
    coherence : array, (K,), or None
        The paper's, of `top` words, on all documents; None where it cannot be.
    why : str
        Why it cannot.
    top : int
        Words of a topic that coherence looks at.
    runs : Runs
        How long topics last, as documents are decoded.
    moves : array, (K, K)
        How often a word of one topic is followed by a word of another, likewise.
    n_decoded : int
        Documents that were decoded: all, or a sample of many words.
    contrast : array, (K,)
        Of every topic, in these documents: see `cohmm.topics.contrast`.
    """

    coherence: Floats | None
    why: str
    top: int
    runs: Runs
    moves: Floats
    n_decoded: int
    contrast: Floats

    @classmethod
    def of(cls, fit: HTMMFit, chain: Chain, documents: Documents | Partitioned) -> Overview:
        """Measure what was learned.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> Overview.of(topics.fit_, "sticky", topics.documents_).runs.mean
        3.0
        """
        k, top = fit.n_components, min(TOP, documents.n_symbols)
        by_topic, why = None, ""
        try:
            by_topic = coherence(fit.components, documents, "paper", top=top, eps=EPS)
        except ValueError as error:  # one word alone, or other documents than it came from
            why = str(error)
        some = documents.select(documents.some(MOST_DECODED))
        inferred = Chains.of(fit, chain).infer(some, decode=True)
        topics = inferred.topics
        inside = np.ones(len(topics), bool)
        inside[some.offsets[:-1][some.lengths > 0]] = False
        here = np.flatnonzero(inside)
        moves = np.zeros((k, k))
        np.add.at(moves, (topics[here - 1], topics[here]), 1.0)
        runs = count_runs(topics, some.offsets, k)
        between = contrast(inferred.shares, some.lengths)
        return cls(by_topic, why, top, runs, moves, len(some), between)
