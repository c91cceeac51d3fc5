"""Topics in the forms that other programs take: pyLDAvis, gensim, OCTIS.

Nothing of theirs is imported: the results are plain values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics.describe import at_most, top_codes, top_words


def pyldavis_arrays(fit: TopicFit, documents: Documents, shares: Floats) -> dict[str, Any]:
    """The arguments of ``pyLDAvis.prepare``: five arrays, by name.

    Parameters
    ----------
    fit : TopicFit
        The topics.
    documents : Documents
        What is shown.  Words that they have not are left out, and the topics scaled to sum to
        one without them, since pyLDAvis divides by how often a word occurs.
    shares : array, (D, K)
        The topics' shares of the documents.

    >>> fit = TopicFit([[.5, .25, .25]], [1.], [1.], ("oil", "gas", "gold"), name="by hand")
    >>> documents = Documents([0, 1, 0], [0, 3, 3], fit.vocabulary)
    >>> arrays = pyldavis_arrays(fit, documents, np.ones((2, 1)))
    >>> arrays["vocab"], arrays["term_frequency"].tolist(), arrays["doc_lengths"].tolist()
    (['oil', 'gas'], [2, 1], [3, 0])
    """
    frequency = np.bincount(documents.symbols, minlength=documents.n_symbols)
    there = np.flatnonzero(frequency)
    if not len(there):
        raise ValueError(
            f"there is no word that the topics know in the {len(documents)} documents: there is "
            "nothing to show"
        )
    components = fit.components[:, there]
    sums = components.sum(axis=1, keepdims=True)
    if not sums.all():
        topic = int(np.argmin(sums))
        raise ValueError(f"no document has a word of topic {topic}: give more documents")
    return {
        "topic_term_dists": components / sums,
        "doc_topic_dists": shares / shares.sum(axis=1, keepdims=True),
        "doc_lengths": documents.lengths.copy(),
        "vocab": [fit.vocabulary[code] for code in there],
        "term_frequency": frequency[there],
    }


def gensim_lists(
    fit: TopicFit, shares: Floats | None, n_words: int = 10, minimum_probability: float = 0.01
) -> dict[str, Any]:
    """What gensim's ``LdaModel`` would answer: a dict of plain lists.

    Parameters
    ----------
    fit : TopicFit
        The topics.
    shares : array (D, K) or None
        The topics' shares of documents.
    n_words : int
        Words of a topic.
    minimum_probability : float
        Topics of a document with a smaller share are left out, as gensim does.

    >>> fit = TopicFit([[.75, .25], [0, 1]], [.5, .5], [1., 1.], ("oil", "gold"), name="mine")
    >>> lists = gensim_lists(fit, np.array([[.999, .001]]), n_words=1)
    >>> lists["topics"]
    [(0, [('oil', 0.75)]), (1, [('gold', 1.0)])]
    >>> lists["document_topics"]
    [[(0, 0.999)]]
    """
    if not 0 <= minimum_probability <= 1:
        raise ValueError(f"minimum_probability must be from 0 to 1, not {minimum_probability!r}")
    codes = top_codes(fit.components, at_most(n_words, fit.components)).tolist()
    lists: dict[str, Any] = {
        "topics": [
            (k, [(fit.vocabulary[code], float(fit.components[k, code])) for code in row])
            for k, row in enumerate(codes)
        ],
        "id2word": dict(enumerate(fit.vocabulary)),
    }
    if shares is not None:
        lists["document_topics"] = [
            [(k, share) for k, share in enumerate(row) if share >= minimum_probability]
            for row in shares.tolist()
        ]
    return lists


def octis_output(fit: TopicFit, shares: Floats | None, n_words: int = 10) -> dict[str, Any]:
    """What a model of OCTIS returns, for its measures.

    Parameters
    ----------
    fit : TopicFit
        The topics.
    shares : array (D, K) or None
        The topics' shares of documents; OCTIS has one column per document.
    n_words : int
        Words of a topic.

    >>> fit = TopicFit([[.75, .25], [0, 1]], [.5, .5], [1., 1.], ("oil", "gold"), name="mine")
    >>> output = octis_output(fit, np.array([[.9, .1]]), n_words=1)
    >>> output["topics"], output["topic-document-matrix"].shape
    ([['oil'], ['gold']], (2, 1))
    """
    output: dict[str, Any] = {
        "topics": top_words(fit.components, fit.vocabulary, at_most(n_words, fit.components)),
        "topic-word-matrix": fit.components.copy(),
    }
    if shares is not None:
        output["topic-document-matrix"] = shares.T.copy()
    return output
