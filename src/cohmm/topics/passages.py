"""Passages: where the subject of a document changes, coarser than from word to word.

A document is a row of blocks, its sentences.  Passages are drawn one after the other: after every
block a new one begins with probability c.  A passage has a law of its own words and one of its own
topics, each with a Dirichlet prior, both integrated out: blocks i to j - 1 have the score

    S(i, j) = lD(n_ij; 1) + TEMPER lD(m_ij; PRIOR_DRAWS pi),
    lD(n; a) = log G(sum a) - log G(sum a + sum n) + sum (log G(a + n) - log G(a)),   G: gamma

with n_ij how often they have every word of the document (names, numbers and words that the topics
do not know among them), and m_ij how many of their words are expected to be of every topic, by the
chain of the whole document.  Words that come back keep blocks together (Utiyama and Isahara, 2001);
topics do so where other words say the same.  The words of a topic come in bursts and do not speak
for themselves one by one: TEMPER is below 1.

The best passages are found by dynamic programming, the probability of a border by summing over all
of them, and c by EM over all documents, or from the length that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from cohmm._validation import shown
from cohmm.data.documents import Documents
from cohmm.data.tokens import WordCodes
from cohmm.kernels.types import Floats, Ints
from cohmm.model.topic_model import TopicModel

TEMPER = 0.25  # chosen on glued articles of Wikipedia; benchmarks/passages.py
PRIOR_DRAWS = 10.0  # of a passage's topics, likewise
WORD_PRIOR = 1.0  # pseudo-counts of every word of the document
COMMON, MIN_COMMON = (
    0.2,
    3,
)  # words in more of the blocks than that, by share and number, say nothing
LONGEST = 200  # blocks of a passage
BLOCK = 20  # words, where there are no sentences
START_RATE = 0.1  # of a new passage after a block
PRIOR_BORDERS = 5  # that the prior of the rate is worth
MIN_RATE, MAX_RATE = 1e-4, 0.9
PASSES, SETTLED = 30, 1e-4  # of EM for the rate, and its change at which that stops

# A small letter goes on with the sentence, as after "Inc. said".  Chinese, Japanese and Hindi end
# sentences by marks of their own, without a blank.
SENTENCE_END = re.compile(
    r"(?:(?<=[.!?\u2026])|(?<=[.!?\u2026][\"'\u201d\u2019)\]]))\s+(?=[^\sa-z])"
    r"|(?<=[\u3002\uff01\uff1f\u0964])\s*"
    r"|\n\s*\n\s*|\n\s*(?=[^\sa-z])"
)
WORD = re.compile(r"\S+")


class Passage(NamedTuple):
    """Some sentences of a document that are about the same."""

    start: int
    end: int
    """The characters ``text[start:end]``; of a list of words, ``words[start:end]``."""
    shares: Floats
    """The expected share of its words that are of each topic, (K,); those of the corpus where it
    has no word that the topics know."""
    border: float
    """The probability that the subject changes where it begins; 1 at the start of a document."""


def passages(
    model: TopicModel,
    documents: Iterable[str | list[str]],
    codes: Callable[[], WordCodes],
    ignored: frozenset[str] = frozenset(),
    *,
    length: float | None = None,
) -> list[list[Passage]]:
    """The passages of every document, in order.

    Parameters
    ----------
    model : TopicModel
        The topics.
    documents : list of str, or of lists of words
        The documents, raw: sentences end with their punctuation.
    codes : function
        Makes what cuts a text into words.
    ignored : set of str
        Stop words, which say nothing of the subject.
    length : float, optional
        How many words a passage should have, on average: words as they stand in the text.
        Default: learned from the documents.
    """
    if length is not None and not (isinstance(length, (int, float)) and length >= 1):
        raise ValueError(f"length must be a number of words from 1, not {shown(length)}")
    split = [_Blocks.of(document, d) for d, document in enumerate(documents)]
    if not split:
        raise ValueError("there is no document: documents is empty")
    scored = [_scores(model, blocks, codes(), ignored) for blocks in split]
    tables = [scores for scores, _ in scored]
    if length is None:
        rate = _learned_rate(tables)
    else:
        per_block = sum(b.n_words for b in split) / max(1, sum(len(b.texts) for b in split))
        rate = float(np.clip(per_block / length, MIN_RATE, MAX_RATE))
    return [
        _cut(model, blocks, table, topics, rate)
        for blocks, (table, topics) in zip(split, scored, strict=True)
    ]


class _Blocks(NamedTuple):
    """The blocks of a document, and where they stand."""

    texts: list[Any]
    places: list[tuple[int, int]]
    n_words: int

    @classmethod
    def of(cls, document: Any, d: int) -> _Blocks:
        if isinstance(document, str):
            places = sentences(document)
            texts: list[Any] = [document[a:b] for a, b in places]
            return cls(texts, places, sum(len(WORD.findall(text)) for text in texts))
        if not isinstance(document, (list, tuple)):
            raise ValueError(
                f"document {d} is {document!r:.60}: passages are of raw texts, or of lists of words"
            )
        words = list(document)
        places = [(a, min(a + BLOCK, len(words))) for a in range(0, len(words), BLOCK)]
        return cls([words[a:b] for a, b in places], places, len(words))


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; lines end them, and so do `BLOCK` words
    of a text without any punctuation.

    >>> text = 'It rained. "Did it?" Yes.'
    >>> [text[a:b] for a, b in sentences(text)]
    ['It rained.', '"Did it?"', 'Yes.']
    """
    places, first = [], 0
    for end in (*(match.span() for match in SENTENCE_END.finditer(text)), (len(text), len(text))):
        places += _short(text, first, end[0])
        first = end[1]
    return places


def _short(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """A sentence, or, where it has no end, pieces of it."""
    words = [match.span() for match in WORD.finditer(text, first, last)]
    if len(words) <= 4 * BLOCK:
        return [(words[0][0], words[-1][1])] if words else []
    return [
        (words[a][0], words[min(a + BLOCK, len(words)) - 1][1]) for a in range(0, len(words), BLOCK)
    ]


def _scores(
    model: TopicModel, blocks: _Blocks, codes: WordCodes, ignored: frozenset[str]
) -> tuple[Floats, Floats]:
    """S(i, i + l) in row i and column l - 1, (n, L), and the topics of every block, (n, K)."""
    if all(isinstance(text, str) for text in blocks.texts):
        codes.add_texts(blocks.texts)
    else:
        for words in blocks.texts:
            codes.add_tokens(words)
    own = Documents(codes.symbols.copy(), codes.offsets.copy(), codes.checked())
    telling = _telling(own, ignored)
    return (
        _word_scores(telling.symbols, telling.lengths, telling.n_symbols)
        + TEMPER * _topic_scores(topics := _topics(model, own), PRIOR_DRAWS * model.prevalence),
        topics,
    )


def _telling(blocks: Documents, ignored: frozenset[str]) -> Documents:
    """Without stop words, and without those that are all over the document as if they were."""
    n_blocks = np.asarray((blocks.term_counts() > 0).sum(axis=0)).ravel()
    kept = np.flatnonzero(n_blocks <= max(MIN_COMMON, COMMON * len(blocks)))
    words = (blocks.vocabulary[code] for code in kept)
    return blocks.in_words(tuple(word for word in words if word not in ignored))


def _topics(model: TopicModel, blocks: Documents) -> Floats:
    """How many words of every block are expected to be of each topic, (n, K)."""
    known = blocks.in_words(tuple(map(str, model.vocabulary)))
    whole = Documents(known.symbols, [0, known.n_words], known.vocabulary)
    posteriors = model.infer(whole, posteriors=True).posteriors
    sums = np.vstack([np.zeros(model.n_components), np.cumsum(posteriors, axis=0)])
    return np.asarray(np.diff(sums[known.offsets], axis=0))


def _topic_scores(topics: Floats, prior: Floats) -> Floats:
    n = len(topics)
    prior = np.maximum(prior, 1e-12)
    sums = np.vstack([np.zeros(len(prior)), np.cumsum(topics, axis=0)])
    scores = np.full((n, min(n, LONGEST)), -np.inf)
    base, total = gammaln(prior).sum(), prior.sum()
    for size in range(1, scores.shape[1] + 1):
        counts = sums[size:] - sums[:-size]
        own = gammaln(prior + np.maximum(counts, 0.0)).sum(axis=1) - base
        scores[: n - size + 1, size - 1] = (
            own + gammaln(total) - gammaln(total + counts.sum(axis=1))
        )
    return scores


def _word_scores(symbols: Ints, lengths: Ints, n_words: int) -> Floats:
    """Blocks one longer at a time: only the words of the block that joins change their part."""
    n, prior = len(lengths), WORD_PRIOR
    block = np.repeat(np.arange(n), lengths)
    keys, counts = np.unique(block * max(n_words, 1) + symbols, return_counts=True)
    where, word = np.divmod(keys, max(n_words, 1))
    before = np.zeros(len(keys))  # how often its word is in the blocks i to j - 1 of an entry of j
    scores = np.full((n, min(n, LONGEST)), -np.inf)
    gained = np.zeros(n)  # of the passages that end with block j, by where they begin
    sizes = np.concatenate([[0], np.cumsum(lengths)])
    total = prior * max(n_words, 1)
    for size in range(1, scores.shape[1] + 1):
        first = where - size + 1
        if size > 1:
            wanted = first * max(n_words, 1) + word
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            there = (first >= 0) & (keys[place] == wanted) if len(keys) else first >= 0
            before[there] += counts[place[there]]
        step = gammaln(prior + before + counts) - gammaln(prior + before)
        joined = np.bincount(where[first >= 0], step[first >= 0], minlength=n)
        # From i to i + size - 1: what the shorter passage from i had, and the block that joins.
        gained = gained[: n - size + 1] + joined[size - 1 :]
        n_here = sizes[size:] - sizes[:-size]
        scores[: n - size + 1, size - 1] = gained + gammaln(total) - gammaln(total + n_here)
    return scores


def _learned_rate(tables: list[Floats]) -> float:
    """The rate of new passages under which all documents together are most probable."""
    borders = sum(max(len(table) - 1, 0) for table in tables)
    rate = START_RATE
    for _ in range(PASSES):
        expected = sum(float(_border_probabilities(table, rate)[1:].sum()) for table in tables)
        # As if a few borders more had been looked at, so that two sentences are not two passages.
        update = (expected + START_RATE * PRIOR_BORDERS) / (borders + PRIOR_BORDERS)
        update = float(np.clip(update, MIN_RATE, MAX_RATE))
        if abs(update - rate) < SETTLED:
            return update
        rate = update
    return rate


def _border_probabilities(scores: Floats, rate: float) -> Floats:
    """P(a passage begins at block i), (n,): sums over all ways to cut, forward and backward."""
    n, longest = scores.shape
    if not n:
        return np.zeros(0)
    weighted = scores + np.log1p(-rate) * np.arange(longest)
    enter = np.log(rate)
    forward, backward = np.zeros(n + 1), np.zeros(n + 1)
    for j in range(1, n + 1):
        begins = np.arange(max(0, j - longest), j)
        steps = weighted[begins, j - begins - 1] + enter * (begins > 0)
        forward[j] = _log_sum(forward[begins] + steps)
    for i in range(n - 1, -1, -1):
        ends = np.arange(i + 1, min(n, i + longest) + 1)
        backward[i] = _log_sum(backward[ends] + weighted[i, ends - i - 1] + enter * (i > 0))
    return np.asarray(np.minimum(np.exp(forward[:n] + backward[:n] - forward[n]), 1.0))


def _log_sum(logs: Floats) -> float:
    highest = float(logs.max())
    return highest + float(np.log(np.exp(logs - highest).sum()))


def _best_cuts(scores: Floats, rate: float) -> list[int]:
    """Where the passages of the best way to cut begin, and the end."""
    n, longest = scores.shape
    weighted = scores + np.log1p(-rate) * np.arange(longest)
    best, came_from = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    for j in range(1, n + 1):
        begins = np.arange(max(0, j - longest), j)
        steps = weighted[begins, j - begins - 1] + np.log(rate) * (begins > 0)
        values = best[begins] + steps
        came_from[j] = begins[int(np.argmax(values))]
        best[j] = values.max()
    cuts = [n]
    while cuts[-1] > 0:
        cuts.append(int(came_from[cuts[-1]]))
    return cuts[::-1]


def _cut(
    model: TopicModel, blocks: _Blocks, scores: Floats, topics: Floats, rate: float
) -> list[Passage]:
    if not blocks.texts:
        return []
    borders = _border_probabilities(scores, rate)
    cut = []
    for first, last in pairwise(_best_cuts(scores, rate)):
        counts = topics[first:last].sum(axis=0)
        total = counts.sum()
        shares = counts / total if total > 0 else model.prevalence.copy()
        place = blocks.places[first][0], blocks.places[last - 1][1]
        cut.append(Passage(*place, shares, float(borders[first])))
    return cut
