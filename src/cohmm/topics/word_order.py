"""In which order to show the words of a topic.

    "probability"   p(w | k)
    "relevance"     l log p(w | k) + (1 - l) log(p(w | k) / p(w)), l = 1/2   (Sievert, Shirley 2014)
    "frex"          the harmonic mean of two ranks of w among the words of k: by p(w | k), and by
                    p(k | w) with all topics alike                (Bischof, Airoldi 2012)

with p(w) = sum_k p(k) p(w | k).  Frequent words of the language lead many topics by probability;
the other two orders show what is distinctive.  A word that a topic never has comes last.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from cohmm.kernels.types import Floats

Order = Literal["probability", "relevance", "frex"]
RELEVANCE = 0.5  # l
DIGITS = 9  # relevances of words in the same number differ by rounding


def word_values(components: Any, by: Order = "probability", prevalence: Any = None) -> Floats:
    """How high every word ranks in every topic, (K, V); only their order means something.

    ``prevalence`` is the share of every topic in the corpus, (K,); default: all alike.

    >>> components = np.array([[.4, .35, .25], [.4, .1, .5]])
    >>> word_values(components).argmax(axis=1).tolist()
    [0, 2]
    >>> word_values(components, "relevance").argmax(axis=1).tolist()
    [1, 2]
    """
    components = np.asarray(components, np.float64)
    if by not in get_args(Order):
        raise ValueError(f"by must be one of {', '.join(get_args(Order))}, not {by!r}")
    if by == "probability":
        return np.asarray(components)
    if by == "frex":
        return _frex(components)
    k = len(components)
    share = np.full(k, 1 / k) if prevalence is None else np.asarray(prevalence, np.float64)
    if share.shape != (k,):
        raise ValueError(f"prevalence has the shape {share.shape}, but there are {k} topics")
    overall = share @ components
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(components) - (1 - RELEVANCE) * np.log(overall)
    return np.where(components > 0, np.round(values, DIGITS), -np.inf)


def _frex(components: Floats) -> Floats:
    total = components.sum(axis=0)
    own = components / np.where(total > 0, total, 1.0)
    values = np.empty(components.shape)
    for k in range(len(components)):
        common, exclusive = _rank(components[k]), _rank(own[k])
        values[k] = 2 / (1 / common + 1 / exclusive)
    return np.where(components > 0, values, -np.inf)


def _rank(values: Floats) -> Floats:
    """The share of words whose value is at most a word's own."""
    return np.asarray(np.searchsorted(np.sort(values), values, side="right") / len(values))
