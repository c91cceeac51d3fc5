"""Are topics the same in every run?  Fits from several seeds, matched topic by topic.

Two fits are matched one to one, so that the total variation of their topics is least in all:

    TV(k, k') = 1/2 sum_w |p(w | k) - p(w | k')|

0 says that every topic has its like, 1 that none shares a word with any.  The figure of several
fits is the mean over all pairs of them.  A topic of this model comes back in another fit if its
match there is nearer than 1/2: they share more than half of what they are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from cohmm.kernels.types import Floats, Ints
from cohmm.model.convert import frame
from cohmm.model.markov_chain import match_rows
from cohmm.model.topic_model import TopicModel
from cohmm.topics.top_words import at_most, top_codes, top_words

RETURNS_WITHIN = 0.5  # total variation
TOP = 10
SHOWN_WORDS = 5  # of a topic


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How far topics are the same in fits from other seeds.

    Parameters
    ----------
    total_variation : float
        Mean over all pairs of the n fits, their topics matched.
    topic_variation : array, (K,)
        Of every topic of this model and its matches, the mean over the fits.
    shared_words : array, (K,)
        The share of its top words that its matches have among theirs, likewise.
    returns : array, (K,)
        In how many of the fits it comes back.
    n : int
        Fits, this model apart.
    top : int
        Top words that are looked at.
    words : list of lists of str
        Some top words of every topic.
    """

    total_variation: float
    topic_variation: Floats
    shared_words: Floats
    returns: Ints
    n: int
    top: int
    words: list[list[str]] = field(default_factory=list)

    @property
    def lost(self) -> list[int]:
        """Topics that come back in less than half of the fits."""
        return [int(k) for k in np.flatnonzero(2 * self.returns < self.n)]

    def __repr__(self) -> str:
        return (
            f"Stability({self.n} seeds: total variation {self.total_variation:.3f}, "
            f"{self.shared_words.mean():.0%} of top words shared, "
            f"{len(self.lost)} of {len(self.returns)} topics lost)"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.n} seeds: mean matched total variation {self.total_variation:.3f}; "
            f"{self.shared_words.mean():.0%} of the {self.top} top words are shared",
            "topic  variation  shared  comes back  words",
        ]
        lines += [
            f"{k:5d}  {self.topic_variation[k]:9.3f}  {self.shared_words[k]:6.0%}  "
            f"{self.returns[k]:>5d} of {self.n}  {' '.join(self.words[k])}"
            for k in np.argsort(-self.topic_variation.round(3), kind="stable").tolist()
        ]
        lost = "; ".join(f"{k} ({', '.join(self.words[k][:3])})" for k in self.lost)
        return "\n".join([*lines, f"do not come back: {lost or 'none'}"])

    def to_frame(self) -> Any:
        """A pandas data frame, one row per topic; needs pandas.

        Its columns: topic, total_variation, shared_words, returns, words.
        """
        return frame(
            {
                "topic": np.arange(len(self.returns)),
                "total_variation": self.topic_variation,
                "shared_words": self.shared_words,
                "returns": self.returns,
                "words": [" ".join(words) for words in self.words],
            }
        )


def matched_variation(left: Floats, right: Floats) -> Floats:
    """The total variation of every topic of ``right``, (K,), and its match in ``left``.

    >>> matched_variation(np.array([[0, 1.], [1, 0]]), np.array([[.9, .1], [0, 1]]))
    array([0.1, 0. ])
    """
    match = match_rows(left, right)
    return np.asarray(np.abs(left[match] - right).sum(axis=1) / 2)


def mean_variation(fits: Sequence[Floats]) -> float:
    """The mean matched total variation over all pairs of fits, (K, V) each; NaN of one alone.

    >>> mean_variation([np.eye(2), np.eye(2)[::-1], np.array([[.5, .5], [0, 1]])])
    0.16666666666666666
    """
    pairs = [matched_variation(a, b).mean() for a, b in combinations(fits, 2)]
    return float(np.mean(pairs)) if pairs else float("nan")


def variation_between(fits: Sequence[TopicModel]) -> float:
    """`mean_variation` of fits whose words, or numbers of topics, differ.

    A word that a fit does not know has no probability there; a topic without a match is at 1.

    >>> one = TopicModel([[1., 0], [0, 1]], [.5, .5], [1., 1.], ("oil", "gas"))
    >>> other = TopicModel([[1., 0], [0, 1]], [.5, .5], [1., 1.], ("gas", "corn"))
    >>> variation_between([one, other])
    0.5
    """
    words = sorted({word for fit in fits for word in fit.vocabulary}, key=str)
    place = {word: n for n, word in enumerate(words)}
    most = max((fit.n_components for fit in fits), default=0)
    arrays = []
    for fit in fits:
        # A topic of a word that nobody has is at 1 from all but its like.
        array = np.zeros((most, len(words) + 1))
        array[fit.n_components :, -1] = 1.0
        array[: fit.n_components, [place[word] for word in fit.vocabulary]] = fit.components
        arrays.append(array)
    return mean_variation(arrays)


def stability(
    reference: Any, fits: Sequence[Any], vocabulary: Sequence[Any], *, top: int = TOP
) -> Stability:
    """How far the topics of ``reference`` come back in other fits.

    Parameters
    ----------
    reference : array, (K, V)
        P(word | topic) of this model.
    fits : several arrays, (K, V)
        Those of fits from other seeds.
    vocabulary : V words
        What the columns are called.
    top : int
        How many top words to look at.

    >>> topics = np.array([[.6, .4, 0, 0], [0, 0, .5, .5]])
    >>> stability(topics, [topics[::-1], topics], ["oil", "gas", "wheat", "corn"], top=2)
    Stability(2 seeds: total variation 0.000, 100% of top words shared, 0 of 2 topics lost)
    """
    if len(fits) < 2:
        raise ValueError(f"stability needs two fits or more, not {len(fits)}")
    reference = np.asarray(reference, np.float64)
    arrays = [np.asarray(fit, np.float64) for fit in fits]
    for number, other in enumerate(arrays):
        if other.shape != reference.shape:
            raise ValueError(
                f"fit {number} has topics of the shape {other.shape}, this model {reference.shape}"
            )
    top = at_most(top, reference)
    own = top_codes(reference, top)
    variation, shared = [], []
    for other in arrays:
        match = match_rows(other, reference)
        variation.append(np.abs(other[match] - reference).sum(axis=1) / 2)
        codes = top_codes(other, top)[match]
        shared.append([len(np.intersect1d(a, b)) / top for a, b in zip(own, codes, strict=True)])
    return Stability(
        mean_variation(arrays),
        np.mean(variation, axis=0),
        np.mean(shared, axis=0),
        (np.array(variation) < RETURNS_WITHIN).sum(axis=0),
        len(arrays),
        top,
        [
            list(map(str, words))
            for words in top_words(reference, vocabulary, min(SHOWN_WORDS, top))
        ],
    )
