"""Topics, and documents read by them, as pandas data frames in long form."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Literal, get_args

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.model.hmm_frames import frame, square
from cohmm.topics.coherence import coherence
from cohmm.topics.contrast import contrast
from cohmm.topics.describe import at_most, top_codes, words_of
from cohmm.topics.document_chains import MOST_DECODED, Chains, segment
from cohmm.topics.word_order import Order

TopicTable = Literal["topics", "words", "transitions", "documents", "tokens", "segments"]
TOP = 20


def topic_frame(
    what: TopicTable,
    fit: HTMMFit,
    chains: Chains,
    documents: Documents | None,
    *,
    n_words: int = 10,
    order: Order = "relevance",
) -> Any:
    """One of the tables of a topic model: see `HTMM.to_frame`."""
    if what == "topics":
        return topics_frame(fit, chains, documents, n_words, order)
    if what == "words":
        return words_frame(fit, n_words, order)
    if what == "transitions":
        return transitions_frame(fit)
    tables = {"documents": documents_frame, "tokens": tokens_frame, "segments": segments_frame}
    if what not in tables:
        raise ValueError(f"what must be one of {', '.join(get_args(TopicTable))}, not {what!r}")
    if documents is None:
        raise ValueError(
            f"the table {what!r} is about documents, and a model read from a file has none: "
            "give documents"
        )
    return tables[what](fit, chains, documents)


def labelled(fit: HTMMFit, columns: dict[str, Any]) -> Any:
    """A frame with the label of every topic beside its number, where topics have labels."""
    if not fit.labels:
        return frame(columns)
    out: dict[str, Any] = {}
    for name, values in columns.items():
        out[name] = values
        if name.endswith("topic"):
            out[name.removesuffix("topic") + "label"] = [fit.labels[k] for k in values]
    return frame(out)


def topics_frame(
    fit: HTMMFit,
    chains: Chains,
    documents: Documents | None,
    n_words: int,
    order: Order = "relevance",
) -> Any:
    """One row per topic: its share, expected run, coherence, contrast, top words.

    The run is how many words a visit to the topic takes by the corpus' transitions; coherence
    and contrast are there where documents are, the latter of some documents of a large corpus.
    """
    columns: dict[str, Any] = {
        "topic": np.arange(fit.n_components),
        "prevalence": fit.prevalence,
    }
    leave = 1 - np.diagonal(fit.transitions)
    runs = np.full(fit.n_components, np.inf)
    columns["run_length"] = np.divide(1, leave, out=runs, where=leave > 0)
    if documents is not None and len(fit.vocabulary) > 1:
        top = min(TOP, len(fit.vocabulary))
        columns["coherence"] = _coherence(fit, documents, top)
    if documents is not None:
        some = documents.select(documents.some(MOST_DECODED))
        columns["contrast"] = contrast(chains.infer(some).shares, some.lengths)
    columns["words"] = [" ".join(map(str, words)) for words in words_of(fit, n_words, order)]
    return labelled(fit, columns)


def _coherence(fit: HTMMFit, documents: Documents, top: int) -> Floats:
    """Of every topic; NaN where no document has one of its top words."""

    def of(components: Floats) -> Floats:
        return np.asarray(coherence(components, documents, "paper", top=top))

    try:
        return of(fit.components)
    except ValueError:
        each = np.full(fit.n_components, np.nan)
        for k in range(fit.n_components):
            with suppress(ValueError):
                each[k] = of(fit.components[[k]])[0]
        return each


def words_frame(fit: HTMMFit, n_words: int, order: Order = "relevance") -> Any:
    """One row per topic and one of its ``n_words`` top words, the first in the order first."""
    codes = top_codes(fit.components, at_most(n_words, fit.components), order, fit.prevalence)
    k, n = codes.shape
    return labelled(
        fit,
        {
            "topic": np.repeat(np.arange(k), n),
            "rank": np.tile(np.arange(1, n + 1), k),
            "word": [fit.vocabulary[code] for code in codes.ravel()],
            "probability": np.take_along_axis(fit.components, codes, axis=1).ravel(),
        },
    )


def transitions_frame(fit: HTMMFit) -> Any:
    """One row per pair of topics."""
    return labelled(fit, square(fit.transitions, "topic"))


def documents_frame(fit: HTMMFit, chains: Chains, documents: Documents) -> Any:
    """One row per document and topic: the expected share of its words."""
    shares = chains.infer(documents).shares
    d, k = shares.shape
    columns: dict[str, Any] = {"document": np.repeat(np.arange(d), k)}
    if documents.names is not None:
        columns["name"] = [name for name in documents.names for _ in range(k)]
    columns["n_words"] = np.repeat(documents.lengths, k)
    columns["topic"] = np.tile(np.arange(k), d)
    columns["share"] = shares.ravel()
    return labelled(fit, columns)


def tokens_frame(fit: HTMMFit, chains: Chains, documents: Documents) -> Any:
    """One row per word of a document: its topic, and how probable that is."""
    found = chains.infer(documents, decode=True)
    lengths = documents.lengths
    return labelled(
        fit,
        {
            "document": np.repeat(np.arange(len(documents)), lengths),
            "place": np.arange(documents.n_words) - np.repeat(documents.offsets[:-1], lengths),
            "word": [documents.vocabulary[code] for code in documents.symbols.tolist()],
            "topic": found.topics,
            "probability": found.probabilities,
        },
    )


def segments_frame(fit: HTMMFit, chains: Chains, documents: Documents) -> Any:
    """One row per run of words of one topic: where it is, its mean probability, its text."""
    names = ("document", "segment", "first", "last", "n_words", "topic", "probability", "text")
    rows = [
        (
            d,
            number,
            first,
            last,
            last + 1 - first,
            topic,
            float(read.probabilities[first : last + 1].mean()),
            " ".join(read.words[first : last + 1]),
        )
        for d, read in enumerate(segment(chains, documents))
        for number, (first, last, topic) in enumerate(read.runs)
    ]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return labelled(fit, columns)
