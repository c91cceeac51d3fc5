"""Anchor words (Arora et al., 2013): topics from how often words share a document.

An anchor is a word that only one topic has.  With Q the probability that two words of a document,
drawn without putting back, are v and w, and its rows scaled to one,

    P(w | v) = sum_k P(topic k | v) P(w | anchor of k)

so that every row is a mixture of the anchors' rows, which are the corners of their hull:

    1. find K rows whose hull has the others in it, or nearly (FastAnchorWords);
    2. express every row as a mixture of these (RecoverL2, RecoverKL): C_vk = P(topic k | v);
    3. turn it round by Bayes' rule: P(v | topic k) ~ C_vk P(v).

Every document has the same weight.  With H the document-term counts and n a document's length,
~H is H over sqrt(n (n - 1)), and Q = ~H'~H - diag(s) is unbiased: s takes out every word's pair
with itself.  Q has V^2 entries and is never formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from cohmm._validation import check_choice, check_whole
from cohmm.data.documents import Documents
from cohmm.kernels import native
from cohmm.kernels.threads import run, split
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import Callback, Record, learner
from cohmm.learn.topics.topic_fit import TopicFit, smoothed, term_counts, topic_fit
from cohmm.model.sampling import generator

Recover = Literal["l2", "kl"]

ROW_BLOCK = 1024  # rows of Q that are formed at a time
DOCUMENT_BLOCK = 512
PARTS = 16
MIN_DOCUMENTS = 5  # that a candidate is in
MIN_DOCUMENT_SHARE = 0.02
MIN_CANDIDATES = 5  # per topic
ZERO_LENGTH = 1e-12  # beside the longest row


@learner
def anchor_words(
    documents: Documents,
    n_components: int,
    *,
    recover: Recover = "l2",
    min_documents: int | None = None,
    n_dimensions: int = 1000,
    max_iter: int = 5000,
    tol: float = 1e-6,
    smoothing: float = 0.01,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> TopicFit:
    """Learn topics from anchor words; all documents have the same weight.

    Parameters
    ----------
    documents : Documents
        The corpus; the order of words does not matter, and documents of one word say nothing.
    n_components : int
        Number of topics.
    recover : "l2" or "kl"
        How near a mixture is to a row: by squares, or by divergence.  The latter is some twenty
        times slower, and on news gave topics that are more coherent.
    min_documents : int, optional
        Only words in so many documents can be anchors: the rows of rare ones are mostly noise.
        Default: one document in 50 and at least 5, or less where that leaves few words.
    n_dimensions : int
        Rows are projected to so many random dimensions before anchors are sought.
    max_iter : int
        Steps towards the mixture of a word, at most.
    tol : float
        How far above its least value a mixture's distance may be, as a share of the anchors' own
        mean square (by squares) or in nats (by divergence).
    smoothing : float
        Pseudo-observations of every word that each topic is given at the end.
    random_state : int, optional
        Seed of the random dimensions.
    callback : function of a `Progress`, optional
        Called after every block of words, their number as that of the iteration; the objective is
        the share of them whose mixture did not converge.

    >>> words = ("corn", "gold", "ore", "wheat")
    >>> documents = Documents([1, 2] * 200 + [0, 3, 0] * 200, [0, 400, 700, 1000], words)
    >>> anchor_words(documents, 2).components.round(2)
    array([[0.67, 0.  , 0.  , 0.33],
           [0.  , 0.5 , 0.5 , 0.  ]])
    """
    check_choice(get_args(Recover), recover=recover)
    record = Record(callback)
    counts = term_counts(documents, n_components)
    check_whole(n_components, n_dimensions=n_dimensions)
    pairs = DocumentPairs.of(counts)
    candidates = _candidates(pairs, n_components, min_documents)
    rows = projected_rows(pairs, candidates, n_dimensions, random_state)
    anchors = candidates[find_anchors(rows, n_components)]
    mixtures = recover_mixtures(pairs, anchors, recover, tol, max_iter, record)
    words = counts.sum(axis=0)
    components, prevalence = by_bayes(mixtures, pairs.frequency, words / words.sum())
    return topic_fit(
        smoothed(components, prevalence * words.sum(), smoothing),
        prevalence,
        documents.vocabulary,
        name=f"anchor words ({recover.upper()})",
        converged=record.history[-1].objective == 0,
        history=tuple(record.history),
        seconds=record.seconds,
    )


def _candidates(pairs: DocumentPairs, k: int, least: int | None) -> Ints:
    """The words that may be anchors."""
    frequency = pairs.document_frequency
    if least is None:
        enough = np.sort(frequency)[::-1][: MIN_CANDIDATES * k][-1]
        frequent = max(MIN_DOCUMENTS, round(MIN_DOCUMENT_SHARE * pairs.scaled.shape[0]))
        least = max(1, min(frequent, int(enough)))
    candidates = np.flatnonzero(frequency >= least)
    if len(candidates) < k:
        raise ValueError(
            f"{len(candidates)} words are in {least} documents or more, and {k} topics need as "
            "many anchors: lower min_documents, or n_components"
        )
    return candidates


def projected_rows(pairs: DocumentPairs, words: Ints, n: int, random_state: int | None) -> Floats:
    """Rows of Q, scaled to one, in ``n`` random dimensions, or in all where there are fewer."""
    frequency = pairs.frequency
    if n < len(frequency):
        rng = generator(random_state)
        rows = pairs.times(rng.normal(scale=n**-0.5, size=(len(frequency), n)), words)
    else:
        rows = pairs.rows(words).toarray()
    return np.asarray(rows / frequency[words, None])


def find_anchors(rows: Floats, k: int) -> Ints:
    """FastAnchorWords: ``k`` rows whose affine hull leaves the others near, as their places.

    The row farthest from the origin, then each time the one farthest from the affine hull of
    those before; at the end each is replaced by the row farthest from the hull of the others.
    """
    first = int(np.argmax(np.einsum("ij,ij->i", rows, rows)))
    chosen = [first]
    rest = rows - rows[first]
    for _ in range(k - 1):
        lengths = np.einsum("ij,ij->i", rest, rest)
        lengths[chosen] = -1.0
        chosen.append(int(np.argmax(lengths)))
        length = np.linalg.norm(rest[chosen[-1]])
        if length <= ZERO_LENGTH * np.linalg.norm(rows[first]):
            raise ValueError(
                f"the words differ in {len(chosen) - 2} ways only: {k} topics cannot be told apart"
            )
        direction = rest[chosen[-1]] / length
        rest -= np.outer(rest @ direction, direction)
    anchors = np.array(chosen)
    for place in range(k if k > 1 else 0):
        distance = _distance_without(rows, anchors, place)
        distance[np.delete(anchors, place)] = -1.0
        best = int(np.argmax(distance))
        if distance[best] > distance[anchors[place]] * (1 + 1e-9):
            anchors[place] = best
    return anchors


def _distance_without(rows: Floats, anchors: Ints, place: int) -> Floats:
    """Squared distance of every row to the affine hull of all anchors but one."""
    others = np.delete(anchors, place)
    rest = rows - rows[others[0]]
    basis, _ = np.linalg.qr((rows[others[1:]] - rows[others[0]]).T)
    rest -= (rest @ basis) @ basis.T
    return np.asarray(np.einsum("ij,ij->i", rest, rest))


def recover_mixtures(
    pairs: DocumentPairs,
    anchors: Ints,
    recover: Recover,
    tol: float,
    max_iter: int,
    record: Callable[[int, float], None] = lambda words, share: None,
) -> Floats:
    """C, (V, K): every row of Q as a mixture of the anchors'; 0 for words without a pair."""
    frequency = pairs.frequency
    corners = pairs.rows(anchors).toarray() / frequency[anchors, None]
    out = np.zeros((len(frequency), len(anchors)))
    seen = np.flatnonzero(frequency > 0)
    nearest, block = (_by_squares, len(seen)) if recover == "l2" else (_by_divergence, ROW_BLOCK)
    n_failed = 0
    for first in range(0, len(seen), block):
        words = seen[first : first + block]
        mixtures = np.empty((len(words), len(anchors)))
        task = nearest(pairs, corners, words, tol, max_iter, mixtures)
        n_failed += sum(run(task, split(len(words), PARTS)))
        out[words] = mixtures
        done = first + len(words)
        record(done, n_failed / done)
    return out


def _by_squares(
    pairs: DocumentPairs, corners: Floats, words: Ints, tol: float, max_iter: int, out: Floats
) -> Callable[[int, int], int]:
    gram = corners @ corners.T
    scale = np.trace(gram) / len(gram)
    gram /= scale
    targets = pairs.times(corners.T, words) / (scale * pairs.frequency[words, None])
    targets = np.ascontiguousarray(targets)
    return lambda *part: native.nearest_by_squares(gram, targets, part, tol, max_iter, out)


def _by_divergence(
    pairs: DocumentPairs, corners: Floats, words: Ints, tol: float, max_iter: int, out: Floats
) -> Callable[[int, int], int]:
    table = np.ascontiguousarray(corners.T)
    rows = pairs.rows(words)
    rows.data /= np.repeat(pairs.frequency[words], np.diff(rows.indptr))
    # Words that no anchor has met say nothing of the mixture: every one is infinitely far.
    rows.data[table.max(axis=1)[rows.indices] == 0] = 0.0
    rows.eliminate_zeros()
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    return lambda *part: native.nearest_by_divergence(
        table, indptr, indices, rows.data, part, tol, max_iter, out
    )


def by_bayes(mixtures: Floats, frequency: Floats, words: Floats) -> tuple[Floats, Floats]:
    """P(word | topic), (K, V), and P(topic), (K,), from P(topic | word) and P(word).

    Words without a pair are known by how frequent they are, ``words``, alone.
    """
    joint = mixtures.T * frequency
    prevalence = joint.sum(axis=1)
    alone = np.where(frequency > 0, 0.0, words)
    joint += np.outer(prevalence, alone)
    total = joint.sum(axis=1, keepdims=True)
    return joint / np.where(total > 0, total, 1.0), prevalence


@dataclass(frozen=True, eq=False)
class DocumentPairs:
    """Q of documents, which is symmetric and sums to one.

    Parameters
    ----------
    scaled : sparse (D, V)
        ~H, over sqrt(D).
    own : array, (V,)
        s, over D.
    diagonal : array, (V,)
        That of Q, which is exactly 0 for a word that no document has twice.
    frequency : array, (V,)
        Q 1: the share of each word in the mean document.
    """

    scaled: Any
    own: Floats
    diagonal: Floats
    frequency: Floats

    @classmethod
    def of(cls, counts: Any) -> DocumentPairs:
        """From document-term counts (D, V); documents of one word have no pair.

        >>> counts = sparse.csr_array([[1., 1., 0.], [2., 1., 1.], [0., 0., 1.]])
        >>> DocumentPairs.of(counts).rows(np.arange(3)).toarray() * 12
        array([[1. , 4. , 1. ],
               [4. , 0. , 0.5],
               [1. , 0.5, 0. ]])
        """
        length = np.asarray(counts.sum(axis=1))
        counts, length = counts[np.flatnonzero(length > 1)], length[length > 1]
        if not len(length):
            raise ValueError("no document has two words: there are no words that share one")
        weight = 1 / (length * (length - 1) * len(length))
        return cls(
            (sparse.diags_array(np.sqrt(weight)) @ counts).tocsr(),
            counts.T @ weight,
            (counts * (counts - (counts > 0))).T @ weight,
            counts.T @ (1 / (length * len(length))),
        )

    @property
    def document_frequency(self) -> Ints:
        """How many documents have each word, (V,)."""
        return np.bincount(self.scaled.indices, minlength=self.scaled.shape[1])

    def times(self, matrix: Floats, words: Ints) -> Floats:
        """Some rows of Q times a matrix (V, n)."""
        left = self.scaled[:, words].tocsr()
        total = -self.own[words, None] * matrix[words]
        for first in range(0, left.shape[0], DOCUMENT_BLOCK):
            piece = slice(first, first + DOCUMENT_BLOCK)
            total += left[piece].T @ (self.scaled[piece] @ matrix)
        return np.asarray(total)

    def rows(self, words: Ints) -> Any:
        """Some rows of Q, a CSR array."""
        rows = (self.scaled[:, words].T @ self.scaled).tocsr()
        word = np.repeat(words, np.diff(rows.indptr))
        diagonal = rows.indices == word
        rows.data[diagonal] = self.diagonal[word[diagonal]]
        rows.eliminate_zeros()
        return rows
