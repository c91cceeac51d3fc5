"""Topics, and what they say of documents, as tables: for pandas, other programs, and partitions.

Nothing of pyLDAvis, gensim and OCTIS is imported: what they take is plain values.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from cohmm._validation import silenced
from cohmm.data.documents import Documents
from cohmm.data.partitioned import texts_of
from cohmm.data.read_documents import TextWarning, read_documents
from cohmm.distributed.backend import Partitions
from cohmm.kernels.types import Floats
from cohmm.model.answers import list_array
from cohmm.model.convert import frame, square
from cohmm.model.topic_model import TopicModel
from cohmm.topics.overview import Overview
from cohmm.topics.top_words import Order, at_most, top_codes, top_words, words_of

TopicTable = Literal["topics", "words", "transitions", "documents", "tokens", "segments"]
SHARES = pa.schema([("shares", pa.list_(pa.float64()))])
SEGMENTS = pa.schema(
    [
        ("words", pa.list_(pa.string())),
        ("topics", pa.list_(pa.int32())),
        ("probabilities", pa.list_(pa.float64())),
    ]
)


# -- pandas ----------------------------------------------------------------------------------


def topic_frame(
    what: TopicTable,
    model: TopicModel,
    documents: Documents | None,
    *,
    n_words: int = 10,
    order: Order = "relevance",
) -> Any:
    """One of the tables of a topic model: see `HTMM.to_frame`."""
    if what == "topics":
        columns = _topics(model, documents, n_words, order)
    elif what == "words":
        columns = _words(model, n_words, order)
    elif what == "transitions":
        columns = square(model.transitions, "topic")
    elif what not in _OF_DOCUMENTS:
        raise ValueError(f"what must be one of {', '.join(get_args(TopicTable))}, not {what!r}")
    elif documents is None:
        raise ValueError(
            f"the table {what!r} is about documents, and a model loaded from a file has none: "
            "give documents"
        )
    else:
        columns = _OF_DOCUMENTS[what](model, documents)
    if not model.labels:
        return frame(columns)
    labelled: dict[str, Any] = {}
    for name, values in columns.items():
        labelled[name] = values
        if name.endswith("topic"):
            labelled[name.removesuffix("topic") + "label"] = [model.labels[k] for k in values]
    return frame(labelled)


def _topics(
    model: TopicModel, documents: Documents | None, n_words: int, order: Order
) -> dict[str, Any]:
    """One row per topic: its share and top words, and of documents the figures of `Overview`."""
    columns: dict[str, Any] = {
        "topic": np.arange(model.n_components),
        "prevalence": model.prevalence,
    }
    if documents is not None:
        overview = Overview.of(model, documents)
        columns["mean_run"] = overview.runs.means
        columns["coherence"] = overview.coherence
        columns["contrast"] = overview.contrast
        columns |= overview.junk.columns()
    columns["words"] = [" ".join(map(str, words)) for words in words_of(model, n_words, order)]
    return columns


def _words(model: TopicModel, n_words: int, order: Order) -> dict[str, Any]:
    """One row per topic and one of its ``n_words`` top words, the first in the order first."""
    n_words = at_most(n_words, model.components)
    codes = top_codes(model.components, n_words, order, model.prevalence)
    k, n = codes.shape
    return {
        "topic": np.repeat(np.arange(k), n),
        "rank": np.tile(np.arange(1, n + 1), k),
        "word": [model.vocabulary[code] for code in codes.ravel()],
        "probability": np.take_along_axis(model.components, codes, axis=1).ravel(),
    }


def _documents(model: TopicModel, documents: Documents) -> dict[str, Any]:
    """One row per document and topic: the expected share of its words."""
    shares = model.infer(documents).shares
    d, k = shares.shape
    columns: dict[str, Any] = {"document": np.repeat(np.arange(d), k)}
    if documents.names is not None:
        columns["name"] = [name for name in documents.names for _ in range(k)]
    return columns | {
        "n_words": np.repeat(documents.lengths, k),
        "topic": np.tile(np.arange(k), d),
        "share": shares.ravel(),
    }


def _tokens(model: TopicModel, documents: Documents) -> dict[str, Any]:
    """One row per word of a document: its topic, and how probable that is."""
    inferred = model.infer(documents, decode=True)
    lengths = documents.lengths
    return {
        "document": np.repeat(np.arange(len(documents)), lengths),
        "place": np.arange(documents.n_words) - np.repeat(documents.offsets[:-1], lengths),
        "word": [documents.vocabulary[code] for code in documents.symbols.tolist()],
        "topic": inferred.topics,
        "probability": inferred.probabilities,
    }


def _segments(model: TopicModel, documents: Documents) -> dict[str, Any]:
    """One row per run of words of one topic: where it is, its mean probability, its text."""
    names = ("document", "segment", "first", "last", "n_words", "topic", "probability", "text")
    rows = []
    for d, read in enumerate(model.segment(documents)):
        for number, (first, last, topic) in enumerate(read.runs):
            words = slice(first, last + 1)
            probability = float(read.probabilities[words].mean())
            text = " ".join(read.words[words])
            rows.append((d, number, first, last, last + 1 - first, topic, probability, text))
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


_OF_DOCUMENTS = {"documents": _documents, "tokens": _tokens, "segments": _segments}


# -- other programs --------------------------------------------------------------------------


def pyldavis_arrays(model: TopicModel, documents: Documents, shares: Floats) -> dict[str, Any]:
    """The arguments of ``pyLDAvis.prepare``: five arrays, by name.

    Parameters
    ----------
    model : TopicModel
        The topics.
    documents : Documents
        What is shown.  Words that they do not have are left out, and the topics scaled to sum to
        one without them, since pyLDAvis divides by how often a word occurs.
    shares : array, (D, K)
        The topics' shares of the documents.

    >>> model = TopicModel([[.5, .25, .25]], [1.], [1.], ("oil", "gas", "gold"))
    >>> documents = Documents([0, 1, 0], [0, 3, 3], model.vocabulary)
    >>> arrays = pyldavis_arrays(model, documents, np.ones((2, 1)))
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
    components = model.components[:, there]
    sums = components.sum(axis=1, keepdims=True)
    if not sums.all():
        topic = int(np.argmin(sums))
        raise ValueError(f"no document has a word of topic {topic}: give more documents")
    return {
        "topic_term_dists": components / sums,
        "doc_topic_dists": shares / shares.sum(axis=1, keepdims=True),
        "doc_lengths": documents.lengths.copy(),
        "vocab": [model.vocabulary[code] for code in there],
        "term_frequency": frequency[there],
    }


def gensim_lists(
    model: TopicModel, shares: Floats | None, n_words: int = 10, minimum_probability: float = 0.01
) -> dict[str, Any]:
    """What gensim's ``LdaModel`` would answer: a dict of plain lists.

    Parameters
    ----------
    model : TopicModel
        The topics.
    shares : array (D, K) or None
        The topics' shares of documents.
    n_words : int
        Words of a topic.
    minimum_probability : float
        Topics of a document with a smaller share are left out, as gensim does.

    >>> model = TopicModel([[.75, .25], [0, 1]], [.5, .5], [1., 1.], ("oil", "gold"))
    >>> lists = gensim_lists(model, np.array([[.999, .001]]), n_words=1)
    >>> lists["topics"]
    [(0, [('oil', 0.75)]), (1, [('gold', 1.0)])]
    >>> lists["document_topics"]
    [[(0, 0.999)]]
    """
    if not 0 <= minimum_probability <= 1:
        raise ValueError(f"minimum_probability must be from 0 to 1, not {minimum_probability!r}")
    codes = top_codes(model.components, at_most(n_words, model.components)).tolist()
    lists: dict[str, Any] = {
        "topics": [
            (k, [(model.vocabulary[code], float(model.components[k, code])) for code in row])
            for k, row in enumerate(codes)
        ],
        "id2word": dict(enumerate(model.vocabulary)),
    }
    if shares is not None:
        lists["document_topics"] = [
            [(k, share) for k, share in enumerate(row) if share >= minimum_probability]
            for row in shares.tolist()
        ]
    return lists


def octis_output(model: TopicModel, shares: Floats | None, n_words: int = 10) -> dict[str, Any]:
    """What a model of OCTIS returns, for its measures; options are those of `gensim_lists`.

    >>> model = TopicModel([[.75, .25], [0, 1]], [.5, .5], [1., 1.], ("oil", "gold"))
    >>> output = octis_output(model, np.array([[.9, .1]]), n_words=1)
    >>> output["topics"], output["topic-document-matrix"].shape
    ([['oil'], ['gold']], (2, 1))
    """
    n_words = at_most(n_words, model.components)
    output: dict[str, Any] = {
        "topics": top_words(model.components, model.vocabulary, n_words),
        "topic-word-matrix": model.components.copy(),
    }
    if shares is not None:
        output["topic-document-matrix"] = shares.T.copy()
    return output


# -- partitions ------------------------------------------------------------------------------
# One document per row; ``options`` are those of `read_documents`.  The results are collections of
# the partitions' engine.


def partitioned_shares(model: TopicModel, options: dict[str, Any], data: Partitions) -> Any:
    """The share of every topic in every row."""
    return data.map_rows(partial(row_shares, model, options), SHARES)


def partitioned_segments(model: TopicModel, options: dict[str, Any], data: Partitions) -> Any:
    """The words of every row, their topics, and how probable these are."""
    return data.map_rows(partial(_row_segments, model, options), SEGMENTS)


def row_shares(model: TopicModel, options: dict[str, Any], rows: Any) -> pa.Table:
    """The share of every topic in every row."""
    if not len(rows):
        return SHARES.empty_table()
    return shares_table(model.infer(_row_documents(rows, options)).shares)


def shares_table(shares: Floats) -> pa.Table:
    """Shares, (D, K), as a table with one list per document."""
    lengths = np.full(len(shares), shares.shape[1])
    return pa.table([list_array(shares.ravel(), lengths)], schema=SHARES)


def _row_segments(model: TopicModel, options: dict[str, Any], rows: Any) -> pa.Table:
    if not len(rows):
        return SEGMENTS.empty_table()
    segmented = model.segment(_row_documents(rows, options))
    columns = {name: [getattr(one, name) for one in segmented] for name in SEGMENTS.names}
    return pa.table(columns, schema=SEGMENTS)


def _row_documents(rows: Any, options: dict[str, Any]) -> Any:
    with silenced(TextWarning):  # nobody is there to read it
        return read_documents(texts_of(rows), **options)
