"""Coherence: whether the top words of a topic go together in documents.

For the top words v_1 .. v_n of a topic, with freq(v) the number of documents that have v, and
freq(v, w) of those that have both:

    "paper"   sum over all (v, w)     log((freq(v, w) + eps) / freq(v))            n = 20, eps = .01
    "umass"   sum over i > j          log((freq(v_i, v_j) + eps) / freq(v_j))      n = 20, eps = 1
    "npmi"    mean over i != j        NPMI(v_i, v_j)                               n = 10
    "c_v"     mean over i             cosine of NPMI(v_i, .) and sum_j NPMI(v_j, .)  n = 10

    NPMI(v, w) = log((P(v, w) + eps) / (P(v) P(w))) / -log(P(v, w) + eps)          eps = 1e-12

"paper" is the definition in the paper's "Additional HTMM Evaluations", after Arora et al.
(2013); its sum has the terms v = w too, which are log(1 + eps / freq(v)), next to nothing.
"umass" is that of Mimno et al. (2011).  "npmi" and "c_v" are those of Roeder, Both and
Hinneburg (2015); C_V counts in sliding windows of 110 words instead of documents, and NPMI does
where ``window`` is given.  Values are comparable only under the same definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse

from cohmm._validation import check_whole, is_whole
from cohmm.data.documents import Documents
from cohmm.data.vocabulary import codes_in
from cohmm.kernels import native
from cohmm.kernels.documents import TopWords
from cohmm.kernels.threads import run, split
from cohmm.kernels.types import Floats, Ints
from cohmm.model.topic_model import TopicModel
from cohmm.topics.top_words import top_codes, top_words

Measure = Literal["paper", "umass", "npmi", "c_v"]
PARTS = 16


class Occurrences(NamedTuple):
    """How often the top words of every topic occur together."""

    total: int
    """Documents, or windows."""
    joint: Floats
    """``joint[k, i, j]``: how many have the words i and j of topic k; (K, n, n)."""

    @property
    def single(self) -> Floats:
        """How many have word i of topic k, (K, n)."""
        return np.diagonal(self.joint, axis1=1, axis2=2)


def coherence(
    topics: Any,
    documents: Documents | Any,
    measure: Measure = "paper",
    *,
    top: int | None = None,
    eps: float | None = None,
    window: int | None = None,
) -> Floats:
    """The coherence of every topic, (K,); their mean is that of the model.

    Parameters
    ----------
    topics : array (K, V), TopicModel, or list of lists of words
        P(word | topic), of which the most probable words are taken, or these words themselves,
        the most probable first.
    documents : Documents or Partitioned, or sparse matrix (D, V)
        The reference corpus; of a document-term matrix only what is not zero counts.
    measure : "paper", "umass", "npmi" or "c_v"
        Which definition: see the module.
    top : int, optional
        How many words of a topic; default: as in the table, or all words of the given lists.
    eps : float, optional
        What keeps a pair that never occurs together from minus infinity; default: as in the
        table.  NPMI with ``eps=0`` takes the limit, which is -1.
    window : int, optional
        Count in windows of so many words instead of documents, for NPMI and C_V; needs
        `Documents`, which have an order.

    >>> counts = sparse.csr_array([[1, 2, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 3]])
    >>> components = [[.5, .5, 0, 0], [0, 0, .4, .6]]
    >>> coherence(components, counts, "npmi", top=2).round(3)
    array([1. , 0.5])
    >>> coherence(components, counts, "paper", top=2, eps=.01).round(3)
    array([ 0.02 , -0.658])
    """
    if measure not in get_args(Measure):
        raise ValueError(f"measure must be one of {', '.join(_MEASURES)}, not {measure!r}")
    score, default_top, default_eps, default_window = _MEASURES[measure]
    eps = default_eps if eps is None else eps
    least = "at least" if measure in ("npmi", "c_v") else "above"
    if not 0 <= eps < np.inf or (eps == 0 and least == "above"):
        raise ValueError(f"eps must be finite and {least} 0 for {measure!r}, not {eps}")
    if window is None:
        window = default_window
    elif measure not in ("npmi", "c_v"):
        raise ValueError(f"{measure!r} is defined by documents: leave out window={window}")
    words = _words(topics, documents, default_top, top)
    if sparse.issparse(documents):
        counted = occurrences(documents, words, window)
    else:
        counted = documents.map_sum(occurrences, words, window)
    if not counted.single.all():
        topic, place = np.argwhere(counted.single == 0)[0]
        word = _name(documents, int(words[topic, place]))
        raise ValueError(
            f"no document has the word {word!r}, number {place + 1} of topic {topic}: the "
            "reference corpus must have all top words"
        )
    return score(counted, eps)


def occurrences(documents: Documents | Any, words: Ints, window: int | None = None) -> Occurrences:
    """Count documents, or windows, with one and with two of the ``words``, codes (K, n)."""
    n_words, symbols, offsets = _symbols(documents, window)
    top_words = TopWords.of(words, n_words)
    if window is None:
        window = len(symbols) + 1  # so that every document is one

    def count(begin: int, end: int) -> tuple[int, Ints]:
        joint = np.zeros((*words.shape, words.shape[1]), np.int64)
        total = native.window_cooccurrence(symbols, offsets, (begin, end), window, top_words, joint)
        return total, joint

    parts = run(count, split(len(offsets) - 1, PARTS))
    joint = np.sum([joint for _, joint in parts], axis=0)
    return Occurrences(sum(total for total, _ in parts), joint.astype(np.float64))


def _symbols(documents: Documents | Any, window: int | None) -> tuple[int, Ints, Ints]:
    """The size of the vocabulary; the words of all documents; where each document begins."""
    if window is not None and (not is_whole(window) or window < 1):
        raise ValueError(f"window must be a whole number of words from 1, not {window!r}")
    if not sparse.issparse(documents):
        return len(documents.vocabulary), documents.symbols, documents.offsets
    if window is not None:
        raise ValueError(
            "a document-term matrix has no order of words to slide a window over: give Documents"
        )
    counts = sparse.csr_array(documents, copy=True)
    counts.eliminate_zeros()
    return counts.shape[1], counts.indices.astype(np.int32), counts.indptr.astype(np.int64)


def _paper(counted: Occurrences, eps: float) -> Floats:
    return np.asarray(np.log((counted.joint + eps) / counted.single[:, :, None]).sum(axis=(1, 2)))


def _umass(counted: Occurrences, eps: float) -> Floats:
    terms = np.log((counted.joint + eps) / counted.single[:, None, :])
    return np.asarray(np.tril(terms, -1).sum(axis=(1, 2)))


def _npmi(counted: Occurrences, eps: float) -> Floats:
    terms = _npmi_pairs(counted, eps)
    n = terms.shape[1]
    return np.asarray(terms[:, ~np.eye(n, dtype=bool)].mean(axis=1))


def _npmi_pairs(counted: Occurrences, eps: float) -> Floats:
    """NPMI of every two words of a topic, (K, n, n)."""
    single = counted.single / counted.total
    joint = counted.joint / counted.total + eps
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.log(joint / (single[:, :, None] * single[:, None, :])) / -np.log(joint)
    # The limits of words that are never together, and of words that are together everywhere.
    return np.where(joint <= 0, -1.0, np.where(joint >= 1, 1.0, terms))


def _c_v(counted: Occurrences, eps: float) -> Floats:
    vectors = _npmi_pairs(counted, eps)
    whole = vectors.sum(axis=1, keepdims=True)
    lengths = np.linalg.norm(vectors, axis=2) * np.linalg.norm(whole, axis=2)
    products = (vectors * whole).sum(axis=2)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return np.asarray(cosines.mean(axis=1))


_MEASURES: dict[str, tuple[Callable[[Occurrences, float], Floats], int, float, int | None]] = {
    "paper": (_paper, 20, 0.01, None),  # top words, eps, window
    "umass": (_umass, 20, 1.0, None),
    "npmi": (_npmi, 10, 1e-12, None),
    "c_v": (_c_v, 10, 1e-12, 110),
}


def _words(topics: Any, documents: Any, default: int, top: int | None) -> Ints:
    """The codes of the top words, (K, n), in the vocabulary of the documents."""
    vocabulary = getattr(documents, "vocabulary", None)
    n_words = documents.shape[1] if vocabulary is None else len(vocabulary)
    n = default if top is None else top
    check_whole(2, top=n)
    if isinstance(topics, TopicModel):
        same = vocabulary is None or vocabulary == topics.vocabulary
        topics = topics.components if same else top_words(topics.components, topics.vocabulary, n)
    if _are_words(topics):
        if vocabulary is None:
            raise ValueError(
                "a document-term matrix has no vocabulary to look words up in: give Documents"
            )
        return _codes_of([list(row) for row in topics], vocabulary, top)
    components = np.asarray(topics)
    if components.ndim != 2 or components.dtype.kind != "f":
        raise ValueError(
            "topics must be P(word | topic), a row of numbers a topic, or lists of words, not "
            f"an array of {components.dtype} of the shape {components.shape}"
        )
    if components.shape[1] != n_words:
        raise ValueError(
            f"the components have {components.shape[1]} words, the vocabulary of the documents "
            f"has {n_words}"
        )
    return top_codes(components, n)


def _are_words(topics: Any) -> bool:
    return len(topics) > 0 and len(topics[0]) > 0 and isinstance(topics[0][0], str)


def _codes_of(topics: list[list[Any]], vocabulary: Sequence[Any], top: int | None) -> Ints:
    n = min(map(len, topics)) if top is None else top
    codes = np.empty((len(topics), n), np.int64)
    for k, row in enumerate(topics):
        if len(row) < n or (top is None and len(row) != n):
            wanted = "as many as the others" if top is None else f"top={top}"
            raise ValueError(f"topic {k} has {len(row)} words, not {wanted}")
        if len(set(row[:n])) < n:
            twice = next(word for place, word in enumerate(row[:n]) if word in row[:place])
            raise ValueError(f"topic {k} has the word {twice!r} twice")
        codes[k] = codes_in(tuple(row[:n]), tuple(vocabulary))
        if codes[k].min() < 0:
            word = row[int(np.argmin(codes[k]))]
            raise ValueError(
                f"the word {word!r} of topic {k} is not in the vocabulary of the documents"
            )
    if n < 2:
        raise ValueError("a topic needs at least 2 words: one alone is coherent with nothing")
    return codes


def _name(documents: Any, code: int) -> Any:
    vocabulary = getattr(documents, "vocabulary", None)
    return code if vocabulary is None else vocabulary[code]
