"""What topics look like: their top words, how much they differ, how much words are their own.

The order of the words of a topic:

    "probability"   p(w | k)
    "relevance"     l log p(w | k) + (1 - l) log(p(w | k) / p(w)), l = 1/2   (Sievert, Shirley 2014)
    "frex"          the harmonic mean of two ranks of w among the words of k: by p(w | k), and by
                    p(k | w) with all topics alike                (Bischof, Airoldi 2012)

with p(w) = sum_k p(k) p(w | k).  Frequent words of the language lead many topics by probability;
the other two orders show what is distinctive.  A word that a topic never has comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from cohmm._validation import is_whole
from cohmm.kernels.types import Floats, Ints
from cohmm.model.topic_model import TopicModel

Order = Literal["probability", "relevance", "frex"]
RELEVANCE = 0.5  # l
DIGITS = 9  # relevances of words in the same number differ by rounding


def top_codes(components: Any, n: int, by: Order = "probability", prevalence: Any = None) -> Ints:
    """The ``n`` top words of every topic, (K, n), the first first.

    ``by`` says what makes a word rank high, and ``prevalence`` how frequent every topic is, (K,):
    see the module.  Of equal words the one with the smaller code comes first.

    >>> top_codes([[.2, .5, .2, .1], [0, 0, 0, 1]], 3).tolist()
    [[1, 0, 2], [3, 0, 1]]
    >>> top_codes([[.5, .3, .2], [.5, .2, .3]], 2, "relevance").tolist()
    [[0, 1], [0, 2]]
    """
    components = _checked(components)
    n_words = components.shape[1]
    if not is_whole(n) or not 1 <= n <= n_words:
        raise ValueError(
            f"the number of top words must be from 1 to {n_words}, the size of the vocabulary, "
            f"not {n!r}"
        )
    out = np.empty((len(components), n), np.int64)
    for k, row in enumerate(word_values(components, by, prevalence)):
        # A whole sort of a large vocabulary, for a few words, would take the most time.
        least = np.partition(row, n_words - n)[n_words - n]
        candidates = np.flatnonzero(row >= least)
        out[k] = candidates[np.argsort(-row[candidates], kind="stable")[:n]]
    return out


def at_most(n: int, components: Floats) -> int:
    """``n`` top words, or all where the vocabulary has fewer.

    >>> at_most(10, np.array([[.5, .5]]))
    2
    """
    return min(n, int(components.shape[1])) if isinstance(n, int) else n


def top_words(
    components: Any,
    vocabulary: Sequence[Any],
    n: int = 10,
    by: Order = "probability",
    prevalence: Any = None,
) -> list[list[Any]]:
    """The ``n`` top words of every topic, as lists of words; options are those of `top_codes`.

    >>> top_words([[.2, .5, .3], [.6, .4, 0]], ["oil", "gold", "wheat"], n=2)
    [['gold', 'wheat'], ['oil', 'gold']]
    """
    codes = top_codes(components, n, by, prevalence)
    if len(vocabulary) != np.shape(components)[1]:
        raise ValueError(
            f"there are {len(vocabulary)} words for {np.shape(components)[1]} columns of components"
        )
    return [[vocabulary[code] for code in row] for row in codes.tolist()]


def words_of(model: TopicModel, n: int, by: Order = "relevance") -> list[list[Any]]:
    """The ``n`` top words of every topic, or all where there are fewer, as people see them first.

    >>> model = TopicModel([[.5, .3, .2], [.5, .1, .4]], [.5, .5], [1., 1.],
    ...                    ("said", "oil", "wheat"))
    >>> words_of(model, 1, "probability"), words_of(model, 1)
    ([['said'], ['said']], [['said'], ['wheat']])
    """
    n = at_most(n, model.components)
    return top_words(model.components, model.vocabulary, n, by, model.prevalence)


def names_of(model: TopicModel, n_words: int = 3, by: Order = "relevance") -> list[list[Any]]:
    """What to call every topic: its label, or its top words.

    >>> model = TopicModel([[.7, .3], [.2, .8]], [.6, .4], [.6, .4], ("oil", "gold"),
    ...                    labels=(None, "metals"))
    >>> names_of(model, 1)
    [['oil'], ['metals']]
    """
    words = words_of(model, n_words, by)
    return [[label] if label else top for top, label in zip(words, model.all_labels, strict=True)]


def diversity(
    components: Any, top: int = 25, by: Order = "probability", prevalence: Any = None
) -> float:
    """The share of distinct words among the ``top`` words of all topics (Dieng et al., 2020).

    1: no two topics share a top word; 1/K: all have the same.  A vocabulary of fewer words
    than ``top`` has no such lists: give a smaller ``top``.

    >>> diversity([[.5, .3, .2, 0], [.5, 0, .1, .4]], top=2)
    0.75
    """
    codes = top_codes(components, top, by, prevalence)
    return len(np.unique(codes)) / codes.size


def exclusivity(components: Any, top: int = 10) -> Floats:
    """How much the ``top`` words of a topic are its own, (K,).

    The mean over these words of P(word | topic) / sum_j P(word | topic j): 1 where no other
    topic has them, 1/K where all topics have them alike.

    >>> exclusivity([[.5, .5, 0], [0, .5, .5]], top=2)
    array([0.75, 0.75])
    """
    codes = top_codes(components, top)
    components = np.asarray(components, np.float64)
    total = components.sum(axis=0)
    share = components / np.where(total > 0, total, 1.0)
    return np.asarray(np.take_along_axis(share, codes, axis=1).mean(axis=1))


def _checked(components: Any) -> Floats:
    components = np.asarray(components, dtype=np.float64)
    if components.ndim != 2 or not components.size:
        raise ValueError(
            "components have one row per topic and one column per word, not the shape "
            f"{components.shape}"
        )
    if not np.isfinite(components).all() or (components < 0).any():
        bad = ~(np.isfinite(components) & (components >= 0))
        topic, word = np.argwhere(bad)[0]
        raise ValueError(
            f"components are probabilities; topic {topic}, word {word} has "
            f"{components[topic, word]}"
        )
    return np.asarray(components)


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
