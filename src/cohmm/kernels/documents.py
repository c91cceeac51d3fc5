"""The words of documents: their chains of topics, their codes, and the windows they share.

Every document has a chain with parameters of its own.  A sticky one has topic proportions p: its
first word's topic is drawn from p; each further word keeps the topic of the word before it with
probability 1 - switch, or else has one drawn from p:

    A = (1 - switch) I + switch 1 p'

so that a step costs O(K).  ``switch = 1`` is a bag of words.  The paper's documents have a
distribution of the first topic and an A of their own; a step costs O(K^2).

A *part* is a range of documents, ``symbols[offsets[d]:offsets[d + 1]]``, without missing words.

`infer_documents` fits the chain of every document by at most ``sweeps`` steps of EM, until no
probability changes by ``tol``, and writes what it says to ``out``.  With ``halves`` it is fitted
to the first half of the words (the shorter one), and the log-likelihood is that of the
second, given the first.  Where there is room (a length that is not 0), ``out.topics`` takes the
most probable topics of all words together (Viterbi), ``out.probabilities`` their posteriors, and
``out.posteriors`` those of all topics.

`predict_words` writes log P(word t | the words before it in its document) to ``logs[t]``.  The
parameters are, at every word, the prior and the topics expected drawn (or the transitions) so far
by the filter, scaled to one: nothing after the word has a say.

`count_words` is the E-step of sticky chains.  ``proportions[d - part[0]]`` is p of document d,
which takes ``sweeps`` steps of EM; ``counts[w_t] += weights[d] * gamma_t`` with the posteriors of
the last.  ``totals`` gains the weighted number of switches, of transitions, the log-likelihood and
the number of words.

`count_moves` adds the expected transitions of sticky chains to ``moves``, (K, K), from row to
column; p of a document begins at the prior's mean and takes ``sweeps`` steps of EM.

`count_documents` counts the documents that contain each word.

`window_cooccurrence` adds the windows of the documents in ``part`` to ``joint``, (K, n, n), and
returns how many there are.  A window is ``window`` words in a row; a document of fewer words is
one window.  ``joint[k, i, j]`` counts the windows that have both the words i and j of topic k, in
any number.  Python, for topic k with the words v::

    for each window: there = np.isin(v, window); joint[k] += np.outer(there, there)

A document costs in proportion to its words and to the pairs of them, not to its windows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.types import Floats, Ints


class DocumentChain(NamedTuple):
    """What all documents share; kernels take any object with these attributes."""

    emission: Floats
    """P(word | topic), (V, K), above zero."""
    prior: Floats
    """Pseudo-counts of a document's topics, (K,), above zero."""
    switch: float = 1.0
    """The probability that a topic is drawn anew."""
    rows: Floats | None = None
    """Pseudo-counts of a document's transitions, (K, K), above zero; None: the chain is sticky."""


class Reading(NamedTuple):
    """What the chains of documents say."""

    shares: Floats
    """The expected share of every document's words that are of each topic, (D, K)."""
    log_likelihoods: Floats
    """log P(words) of every document, (D,), by the chain that was fitted to it."""
    topics: Ints
    """The topic of every word, (T,), or none: the most probable of all words together."""
    probabilities: Floats
    """P(that topic | all words of the document), (T,), or none."""
    posteriors: Floats
    """P(topic | all words of the document), (T, K), or none."""


class TopWords(NamedTuple):
    """Where the words of a vocabulary stand among the top words of topics."""

    number: Ints
    """Of every word of the vocabulary: its place among the relevant ones, or -1."""
    borders: Ints
    """The entries of relevant word r are ``borders[r]:borders[r + 1]`` of those below."""
    topics: Ints
    places: Ints

    @classmethod
    def of(cls, words: Ints, n_words: int) -> TopWords:
        """``words`` are codes, (K, n), from a vocabulary of ``n_words``.

        >>> TopWords.of(np.array([[3, 1], [1, 0]]), 4).topics
        array([1, 0, 1, 0])
        """
        relevant = np.unique(words)
        number = np.full(n_words, -1, np.int64)
        number[relevant] = np.arange(len(relevant))
        numbers = number[words].ravel()
        entries = np.argsort(numbers, kind="stable")
        borders = np.searchsorted(numbers[entries], np.arange(len(relevant) + 1))
        return cls(number, borders, *np.divmod(entries, words.shape[1]))
