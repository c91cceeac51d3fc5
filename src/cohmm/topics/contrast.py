"""Subjects and sections: how much the share of a topic varies between documents.

A subject is what some documents are about, and others are not; a section (an introduction, a list
of thanks) is in every document for a while.  The contrast of a topic is the variance of its share
between documents, as a share of what it would be if every document were all or nothing:

    contrast = Var(share) / (p (1 - p)),        0: all documents alike, 1: all or nothing

with the topic's share p in the corpus.  A document of few words shows its share with noise, which
would look like contrast: if each of its n words had the topic by chance, the variance would be
p (1 - p) / n.  With that taken off, contrast is the correlation between two words of the same
document, does each have the topic or not: how much one word of a document tells about another.
(Of genes in populations it is Wright's F_ST.)  Documents count by their words: with w_d the share
of all words that document d has,

    A = sum_d w_d (share_d - p)^2 / sum_d w_d (1 - w_d),      C = the mean of 1 / n_d, so weighted,
    contrast = (A / T - C) / (1 - C),                         T = p (1 - p) + A sum_d w_d^2,

no less than 0 and no more than 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.kernels.types import Floats

LEAST = 0.01  # of 1 - C: of documents of one word nothing can be known


def contrast(shares: Any, lengths: Any) -> Floats:
    """The contrast of every topic, (K,); NaN where nothing can be said.

    Parameters
    ----------
    shares : array, (D, K)
        The share of every topic in every document.
    lengths : array, (D,)
        The words of every document.

    >>> contrast([[1, 0], [0, 1], [1, 0], [0, 1]], [900] * 4)
    array([1., 1.])
    >>> contrast([[.5, .5], [.5, .5]], [900, 900])
    array([0., 0.])
    """
    shares, lengths = np.asarray(shares, np.float64), np.asarray(lengths, np.float64)
    if shares.ndim != 2 or lengths.shape != shares.shape[:1]:
        raise ValueError(f"shares {shares.shape} and lengths {lengths.shape} do not fit together")
    nothing = np.full(shares.shape[1], np.nan)
    there = lengths > 0
    shares, lengths = shares[there], lengths[there]
    if len(lengths) < 2:
        return nothing
    weights = lengths / lengths.sum()
    within = weights * (1 - weights)
    noise = float(within @ (1 / lengths) / within.sum())
    if 1 - noise < LEAST:
        return nothing
    p = weights @ shares
    between = weights @ (shares - p) ** 2 / within.sum()
    total = p * (1 - p) + between * float(weights @ weights)
    relative = np.divide(between, total, out=nothing, where=total > 1e-12)
    return np.asarray(np.clip((relative - noise) / (1 - noise), 0.0, 1.0))
