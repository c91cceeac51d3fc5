"""Corpora whose topics are known, to see what a learner gives back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats, Ints
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator


class TopicSample(NamedTuple):
    """Documents, and where they come from."""

    documents: Documents
    components: Floats
    """P(word | topic), (K, V)."""
    topics: Ints
    """The topic of every word, (T,)."""
    proportions: Floats
    """What every document's topics are drawn from, (D, K)."""
    switch: float


def random_topics(
    n_components: int = 10,
    n_words: int = 2000,
    concentration: float = 0.05,
    random_state: Any = None,
) -> Floats:
    """Topics (K, V) over words whose frequencies fall off as 1 / (rank + 10).

    A topic multiplies the frequency of every word by a gamma number of this shape: the smaller
    it is, the fewer words a topic has.

    >>> random_topics(2, 3, random_state=0).sum(axis=1)
    array([1., 1.])
    """
    if n_components < 1 or n_words < 1 or not concentration > 0:
        raise ValueError(
            "n_components and n_words must be from 1 and concentration above 0, not "
            f"{n_components}, {n_words} and {concentration}"
        )
    rng = generator(random_state)
    weights = rng.gamma(concentration, size=(n_components, n_words)) + 1e-9
    weights /= np.arange(n_words) + 10
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def sample_htmm(
    n_documents: int = 1000,
    *,
    n_components: int = 10,
    n_words: int = 2000,
    length: int = 80,
    switch: float = 0.2,
    alpha: float = 0.3,
    components: Any = None,
    random_state: Any = None,
) -> TopicSample:
    """Documents of the hidden topic Markov model, as sticky chains.

    Parameters
    ----------
    n_documents : int
        How many.
    n_components, n_words : int
        K and V of `random_topics`, where no ``components`` (K, V) are given.
    length : int
        Mean number of words of a document (Poisson's law; at least one).
    switch : float
        The probability that the topic of a word is drawn anew.
    alpha : float
        A document's proportions are Dirichlet with this parameter for every topic.
    random_state : None, int, Generator
        Where the randomness comes from.

    >>> sample = sample_htmm(3, n_components=2, n_words=20, length=9, random_state=0)
    >>> len(sample.documents), sample.topics.shape == sample.documents.symbols.shape
    (3, True)
    """
    if n_documents < 1 or length < 1 or not 0 <= switch <= 1 or not alpha > 0:
        raise ValueError(
            "n_documents and length must be from 1, switch from 0 to 1 and alpha above 0, not "
            f"{n_documents}, {length}, {switch} and {alpha}"
        )
    rng = generator(random_state)
    if components is None:
        components = random_topics(n_components, n_words, random_state=rng)
    components = np.asarray(components, np.float64)
    k, v = components.shape
    lengths = np.maximum(rng.poisson(length, size=n_documents), 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    proportions = rng.dirichlet(np.full(k, alpha), size=n_documents)
    # A topic for every word; those that keep the topic before them then take it over.
    places = np.arange(offsets[-1])
    document = np.repeat(np.arange(n_documents), lengths)
    drawn = _draw(np.cumsum(proportions, axis=1), document, rng)
    anew = rng.random(len(places)) < switch
    anew[offsets[:-1]] = True
    topics = drawn[np.maximum.accumulate(np.where(anew, places, 0))]
    symbols = np.empty(len(places), np.int32)
    cumulative = np.cumsum(components, axis=1)
    for topic in range(k):
        places_of_topic = np.flatnonzero(topics == topic)
        uniform = rng.random(len(places_of_topic)) * cumulative[topic, -1]
        symbols[places_of_topic] = np.minimum(
            np.searchsorted(cumulative[topic], uniform, side="right"), v - 1
        )
    vocabulary = tuple(f"w{word}" for word in range(v))
    documents = Documents(symbols, offsets, vocabulary)
    return TopicSample(documents, components, topics, proportions, switch)


def sample_documents(
    hmm: HMM, n_documents: int = 1000, *, length: int = 80, random_state: Any = None
) -> tuple[Documents, Ints]:
    """Documents that are stretches of one chain, and the state of every word, (T,).

    Their numbers of words are as those of `sample_htmm`; the chain begins as ``hmm`` does.

    >>> weather = HMM([1, 0], [[.9, .1], [.1, .9]], [[.5, .5, 0], [0, .5, .5]], tuple("abc"))
    >>> documents, states = sample_documents(weather, 4, length=9, random_state=0)
    >>> len(documents), states.shape == documents.symbols.shape
    (4, True)
    """
    if n_documents < 1 or length < 1:
        raise ValueError(f"n_documents and length must be from 1, not {n_documents} and {length}")
    rng = generator(random_state)
    lengths = np.maximum(rng.poisson(length, size=n_documents), 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    symbols, states = replace(hmm, vocabulary=None).sample(int(offsets[-1]), rng)
    words = range(hmm.n_symbols) if hmm.vocabulary is None else hmm.vocabulary
    return Documents(symbols, offsets, tuple(map(str, words))), states


def _draw(cumulative: Floats, rows: Ints, rng: np.random.Generator) -> Ints:
    """A column for each of ``rows`` of cumulated distributions."""
    uniform = rng.random(len(rows)) * cumulative[rows, -1]
    return np.asarray(
        (cumulative[rows] <= uniform[:, None]).sum(axis=1).clip(max=cumulative.shape[1] - 1)
    )
