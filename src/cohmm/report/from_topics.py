"""What a report about a topic model is made from: topics, documents, and their texts as written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from cohmm._validation import silenced
from cohmm.data.documents import Documents
from cohmm.data.read_documents import TextWarning, Trace, documents_at
from cohmm.data.readers.source import STANDARD_INPUT
from cohmm.data.tokens import word_finder
from cohmm.data.vocabulary import as_stop_words
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.fit_summary import as_fitted_topics
from cohmm.diagnose.topic_errors import topic_errors
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_documents
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.learn.topics.topic_lags import lag_shares
from cohmm.report import prepare
from cohmm.report.labels import Labels, checked_labels
from cohmm.report.render import check_path
from cohmm.report.schema import Item, Material, Reading, Trust
from cohmm.topics.over_time import TopicsOver
from cohmm.topics.overview import EPS, Overview
from cohmm.topics.perplexity import likelihood

MAX_READ = 20_000  # words of a document: the topics of its first words need no more
MAX_CHARACTERS = 200_000  # of a text; a document beyond is shown by its words alone

Spans = tuple[tuple[int, int], ...]


def report_topics(
    model: Any,
    documents: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    n_documents: int = prepare.N_TEXTS,
    texts: Iterable[str] | None = None,
    command: str | None = None,
    labels: Labels | None = None,
    overview: Overview | None = None,
    over: TopicsOver | None = None,
) -> None:
    """Write a report about a fitted `HTMM` to ``path``, whole or not at all.

    Parameters
    ----------
    model : HTMM
        Fitted, or loaded.
    documents : strings, lists of words, a path, Documents, or None
        What it is shown on, as for ``fit``; None: the report is about the model alone.
        Strings and files are shown as they were written, other documents by their words.
    path : path
        The file, which usually ends in ``.html``.
    title : str, optional
        The heading of the page.
    n_documents : int
        How many documents the page has, drawn at random; all are counted in its summary.
    texts : strings, optional
        What `Documents` were cut from, one per document, to show it as it was written.
    command : str, optional
        What was typed, to be shown in the summary.
    labels : path or mapping, optional
        Labels by number, {3: "the sea"}, or a file of them, as a page saves it; they replace those
        of the model.
    overview : Overview, optional
        What was measured on these documents, where that has been done already.
    over : TopicsOver, optional
        Topics over time, or by class, as ``model.over`` has them: a section of the page.
    """
    check_path(path)
    material = topic_material(model, documents, n_documents, texts, labels, overview, over)
    prepare.write_report(material, path, title, command)


def topic_material(
    model: Any,
    documents: Any,
    n_texts: int = prepare.N_TEXTS,
    texts: Iterable[str] | None = None,
    labels: Labels | None = None,
    overview: Overview | None = None,
    over: TopicsOver | None = None,
) -> Material:
    """Read documents by a fitted `HTMM`; see `report_topics`."""
    if as_fitted_topics(model) is None:
        raise ValueError(f"a report on topics is about an HTMM, not a {type(model).__name__}")
    fit = model.fit_.as_chain(model.chain)
    if over is not None and over.n_components != fit.n_components:
        raise ValueError(
            f"over is about {over.n_components} topics, and the model has {fit.n_components}"
        )
    own = {k: label for k, label in enumerate(fit.labels) if label is not None}
    named = own | checked_labels(labels, fit.n_components, prepare.model_key(fit.components))
    if isinstance(documents, Iterator):
        documents = list(documents)  # it is read twice: for its words, and for its texts
    none = Documents(np.empty(0, np.int32), np.zeros(1, np.int64), fit.vocabulary)
    source = none if documents is None else documents
    with silenced(TextWarning):  # the summary counts empty documents
        data = model.encode(source)
    chosen = prepare.sample_texts(data.lengths, n_texts)
    if overview is None:
        overview = Overview.of(fit, data)
    transitions, flow = _transitions(fit, overview, len(data))
    written = texts_of(source if texts is None else texts, chosen)
    lags, counts = _lags_and_counts(model, data)
    # Of a loaded model, lags count as these documents show it.
    shares = None if hasattr(model, "documents_") else lag_shares(model.lags, data)
    diagnosis = diagnose(model, counts=counts, shares=shares)
    return Material(
        kind="topics",
        title="Topics",
        components=fit.components,
        prevalence=fit.prevalence,
        transitions=transitions,
        vocabulary=fit.vocabulary,
        summary=(
            *([] if documents is None else _corpus(data)),
            *_topics(model, fit, lags),
            *([] if documents is None else [_coherence(overview), *_junk(overview)]),
            *_perplexity(fit, data),
            *prepare.detectable(diagnosis, lags, fit.n_components, "topics"),
            *_learning(model, fit),
        ),
        traces=prepare.traces(
            {
                "Objective, passes over the pairs": fit.history,
                "Minus log-likelihood of a word, passes over the documents": fit.passes,
            }
        ),
        coherence=None if overview.why else overview.coherence,
        runs=overview.runs.means if overview.n_decoded else None,
        n_texts=len(data),
        cap=prepare.cap_sentence(len(data), len(chosen), "documents", "words"),
        readings=_readings(model, fit, data, chosen, written),
        labels=named,
        flow=flow,
        contrast=overview.contrast,
        over=over,
        trust=_trust(model, data, diagnosis),
        about=_about(fit, None if documents is None else data, overview),
    )


def _readings(
    model: Any, fit: TopicFit, data: Documents, chosen: Ints, texts: list[str | None]
) -> tuple[Reading, ...]:
    """The documents, one at a time: posteriors of all of them would be many."""
    bags = fit.as_chain("independent")
    align = Aligner(model, data.vocabulary)
    readings = []
    for d, written in zip(chosen.tolist(), texts, strict=True):
        begin, end = data.offsets[d : d + 2].tolist()
        symbols = data.symbols[begin : min(end, begin + MAX_READ)]
        one = Documents(symbols, np.array([0, len(symbols)]), data.vocabulary)
        inferred = fit.infer(one, decode=True, posteriors=True)
        text, spans = align.find(written, data.words(d))
        readings.append(
            Reading(
                number=d,
                name=f"Document {d}" if data.names is None else without_folder(data.names[d]),
                length=end - begin,
                symbols=symbols,
                path=inferred.topics,
                path_p=inferred.probabilities,
                best=inferred.posteriors.argmax(axis=1),
                best_p=inferred.posteriors.max(axis=1, initial=0.0),
                bag=bags.infer(one, decode=True).topics,
                shares=inferred.shares[0],
                text=text,
                spans=spans,
            )
        )
    return tuple(readings)


def _transitions(fit: TopicFit, overview: Overview, n_documents: int) -> tuple[Floats, str]:
    """From which topic to which the words of the documents go, (K, K), and what that is.

    Counted as the model decodes them, so that they are those of the texts on the page; those
    that the model keeps are expected ones, of all documents.
    """
    if not overview.moves.any():
        return fit.transitions, "They are those of the corpus that the topics were learned from."
    # As much as one word per topic: a topic that no word has needs a row.
    counts = overview.moves + fit.transitions
    some = f"{overview.n_decoded:,} of the {n_documents:,}"
    which = "the" if overview.n_decoded == n_documents else some
    flow = f"Both are counted in {which} documents, as the model reads them (Viterbi)."
    return np.asarray(counts / counts.sum(axis=1, keepdims=True)), flow


def _about(fit: TopicFit, data: Documents | None, overview: Overview) -> str:
    if data is None:
        return f"{fit.n_components:,} topics, as a model has learned them."
    return (
        f"{len(data):,} documents with {data.n_words:,} words, sorted into {fit.n_components:,} "
        f"topics, word by word. A topic goes on for {overview.runs.mean:.1f} words on average "
        "before another one begins."
    )


def _corpus(data: Documents) -> list[Item]:
    empty, distinct = int((data.lengths == 0).sum()), f"{data.n_symbols:,} distinct"
    unknown = f"; {data.n_unknown:,} more that the model does not know" if data.n_unknown else ""
    note = f"{empty:,} of them without a known word" if empty else ""
    return [
        Item("Documents", f"{len(data):,}", note),
        Item("Words", f"{data.n_words:,}", f"{distinct}{unknown}"),
    ]


def _topics(model: Any, fit: TopicFit, lags: list[int]) -> list[Item]:
    chain = {
        "sticky": f"a word keeps the topic before it with probability {1 - fit.switch:.3g}",
        "full": "every document has transitions of its own",
        "independent": "the order of words does not count",
    }[model.chain]
    return [
        Item("Topics", f"{fit.n_components:,}"),
        Item("Chain", model.chain, chain),
        Item("Lags", ", ".join(map(str, lags)), "distances at which pairs of words were counted"),
    ]


def _coherence(overview: Overview) -> Item:
    if overview.why:
        return Item("Coherence", "none", overview.why)
    note = (
        f"mean over topics of the sum over their {overview.top} top words v, w of "
        f"log((freq(v, w) + eps) / freq(v)); freq counts documents, eps = {EPS}"
    )
    return Item("Coherence", prepare.number(float(overview.coherence.mean())), note)


def _junk(overview: Overview) -> list[Item]:
    topics = overview.junk.topics
    listed = ", ".join(f"{k} ({verdict})" for k, verdict in topics.items())
    note = f"{listed}; drop leaves them out" if topics else ""
    return [Item("Topics that say little", str(len(topics) or "none"), note)]


def _perplexity(fit: TopicFit, data: Documents) -> list[Item]:
    if not data.n_words:
        return []
    measured = likelihood(fit, data)
    note = "exp(- log-likelihood of a word) on these documents, each word given those before it"
    return [Item("Perplexity", prepare.number(measured.perplexity), note)]


def _lags_and_counts(model: Any, data: Documents) -> tuple[list[int], Cooccurrence | None]:
    """The counts of the model, or those of the documents, where they have any."""
    counts: Cooccurrence | None = getattr(model, "counts_", None)
    if counts is not None:
        return sorted(counts.lags), counts
    lags = sorted(lag_shares(model.lags, data))
    return lags, count_documents(data, lags) if (data.lengths > min(lags)).any() else None


def _learning(model: Any, fit: TopicFit) -> list[Item]:
    stopped = {True: "the stop rule was met", False: "all passes were used", None: ""}
    passes = f"{fit.n_iter:,} over pairs, {fit.n_document_passes:,} over documents"
    return [
        Item("Passes", passes, stopped[fit.converged]),
        *_choices(fit),
        Item("Learning time", f"{fit.seconds:.1f} s"),
        Item("Seed", "none" if model.random_state is None else str(model.random_state)),
    ]


def _choices(fit: TopicFit) -> list[Item]:
    """What documents that were held back have chosen, and by what."""
    choices = fit.choices
    if choices is None:
        return []

    def shown(perplexities: Iterable[tuple[float, float]]) -> str:
        return ", ".join(f"{name:g}: {perplexity:.1f}" for name, perplexity in perplexities)

    held = f"{choices.n_documents:,} documents held back, {choices.n_words:,} words"
    lags = ", ".join(f"{lag}: {share:.2f}" for lag, share in sorted(choices.lags.items()))
    return [
        Item("Chosen by", held),
        Item(
            "Perplexity by passes",
            shown((n, one) for n, one in enumerate(choices.perplexities, 1)),
            "the last one that is no worse than the best, by a standard error, is taken",
        ),
        Item("Perplexity by prior", shown(choices.by_prior.items()), "draws of a topic"),
        Item("Weights of lags", lags),
    ]


def _trust(model: Any, data: Documents, diagnosis: Diagnosis) -> Trust:
    """The diagnosis, and intervals of words.

    The transitions of a report are counted in the documents that it shows, and have none.
    ``data`` are the documents shown, which a loaded model is compared with.
    """
    condition: tuple[str, ...] = ()
    try:
        errors = model.standard_errors()
    except ValueError as error:
        some = np.flatnonzero(data.lengths)
        if len(some) < 2:
            return Trust.of(diagnosis, f"not known: {error}")
        errors = topic_errors(model.fit_, data.select(some))
        condition = ("true if the topics were learned from these documents",)
    low, high = errors.interval(prepare.LEVEL)
    groups = f"by leaving out each of {errors.n_groups} groups of documents"
    text = "; ".join((f"of words, {100 * prepare.LEVEL:g} %, {groups}", *errors.notes, *condition))
    return Trust.of(diagnosis, text, components=(low.components, high.components))


def without_folder(name: str) -> str:
    """The name of a document without the folder of its file, which is of this machine alone.

    >>> without_folder("/home/ann/news.txt, line 3"), without_folder("oil and/or gas")
    ('news.txt, line 3', 'oil and/or gas')
    """
    path, comma, row = name.rpartition(", ")
    file, rest = (path, comma + row) if comma else (name, "")
    return os.path.basename(file) + rest if os.path.isabs(file) or os.path.exists(file) else name


def texts_of(X: Any, chosen: Ints) -> list[str | None]:
    """The texts of the documents ``chosen``, in ascending order; None where there are none.

    Lists of strings have them, and files, which are read once more.
    """
    source: Iterable[Any] = X
    if isinstance(X, Documents) or (isinstance(X, str) and X == STANDARD_INPUT):
        source = ()
    elif isinstance(X, (str, os.PathLike)):
        source = documents_at(os.fspath(X), "utf-8", None, Trace())
    numbers = set(chosen.tolist())
    last = int(chosen.max(initial=-1)) + 1
    written = {d: text for d, text in enumerate(islice(source, last)) if d in numbers}
    texts = (written.get(d) for d in chosen.tolist())
    return [text if isinstance(text, str) else None for text in texts]


class Aligner:
    """Finds the words of documents in their texts.

    >>> from cohmm import HTMM
    >>> model = HTMM(vocabulary=["sun", "rain"])
    >>> Aligner(model, ("sun", "rain")).find("The Sun, then rain.", ["sun", "rain"])
    ('The Sun, then rain.', ((4, 7), (14, 18)))
    """

    def __init__(self, model: Any, vocabulary: tuple[str, ...]):
        self._words_in = word_finder(model.analyzer, model.token_pattern)
        self._lowercase = model.lowercase
        self._known = frozenset(vocabulary) - as_stop_words(model.stop_words)

    def find(self, text: str | None, words: list[str]) -> tuple[str | None, Spans]:
        """The text, and where its words are; None where they are not found, all in order."""
        if text is None or self._words_in is None or len(text) > MAX_CHARACTERS:
            return None, ()
        read = text.lower() if self._lowercase else text
        known = [(word, span) for word, span in self._words_in(read) if word in self._known]
        if [word for word, _ in known] != words:
            return None, ()
        spans = tuple(span for _, span in known)
        # A few letters change their length in lower case: then the text is shown as it was read.
        return (text if len(text) == len(read) else read), spans
