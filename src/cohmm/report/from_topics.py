"""What a report about a topic model is made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.text import TextWarning
from cohmm.data.user_warnings import silenced
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_documents
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.fitted import FittedTopics, as_fitted_topics
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.topic_lags import lag_shares
from cohmm.report.draw import Draw
from cohmm.report.labels import Labels, checked_labels
from cohmm.report.prepare import N_TEXTS, Material, Reading, cap_sentence, model_key
from cohmm.report.summary import command_items, detectable, number, trace
from cohmm.report.texts import Aligner, texts_of
from cohmm.report.trust import trust_topics
from cohmm.report.values import Item
from cohmm.topics.document_chains import Chains
from cohmm.topics.over import TopicsOver
from cohmm.topics.overview import EPS, Overview
from cohmm.topics.perplexity import likelihood

MOST_READ = 20_000  # words of a document: the topics of its first words need no more


def topic_material(
    model: FittedTopics,
    documents: Any,
    *,
    title: str | None = None,
    n_texts: int = N_TEXTS,
    texts: Iterable[str] | None = None,
    command: str | None = None,
    labels: Labels | None = None,
    overview: Overview | None = None,
    over: TopicsOver | None = None,
) -> Material:
    """Read documents by a fitted `HTMM`; see `cohmm.report.report_topics`."""
    if as_fitted_topics(model) is None:
        raise ValueError(f"a report on topics is about an HTMM, not a {type(model).__name__}")
    fit = model.fit_
    if over is not None and over.n_components != fit.n_components:
        raise ValueError(
            f"over is about {over.n_components} topics, and the model has {fit.n_components}"
        )
    own = {k: label for k, label in enumerate(fit.labels) if label is not None}
    named = own | checked_labels(labels, fit.n_components, model_key(fit.components))
    if isinstance(documents, Iterator):
        documents = list(documents)  # it is read twice: for its words, and for its texts
    given = _no_documents(fit) if documents is None else documents
    with silenced(TextWarning):  # the summary counts empty documents
        data = model.encode(given)
    wanted = Draw(n_texts).offer(data.lengths)
    if overview is None:
        overview = Overview.of(fit, model.chain, data)
    transitions, flow = _transitions(fit, overview, len(data))
    counts = _counts(model, data)
    return Material(
        kind="topics",
        title=title or "Topics",
        components=fit.components,
        prevalence=fit.prevalence,
        transitions=transitions,
        vocabulary=fit.vocabulary,
        summary=(
            *([] if documents is None else _corpus(data)),
            *_topics(model, fit, data),
            *([] if documents is None else _coherence_items(overview)),
            *_perplexity(model, data),
            *detectable(counts, fit.n_components, "topics", "summed"),
            *_learning(model, fit),
            *command_items(command),
        ),
        traces=tuple(
            trace(name, steps)
            for name, steps in (
                ("Objective, passes over the pairs", fit.history),
                ("Minus log-likelihood of a word, passes over the documents", fit.passes),
            )
            if len(steps) > 1
        ),
        coherence=overview.coherence,
        n_texts=len(data),
        cap=cap_sentence(len(data), len(wanted), "documents", "words"),
        readings=_readings(
            model, data, wanted, texts_of(given if texts is None else texts, wanted)
        ),
        labels=named,
        flow=flow,
        contrast=overview.contrast,
        over=over,
        trust=trust_topics(model, data, counts),
    )


def _no_documents(fit: HTMMFit) -> Documents:
    return Documents(np.empty(0, np.int32), np.zeros(1, np.int64), fit.vocabulary)


def _readings(
    model: FittedTopics, data: Documents, wanted: Ints, texts: list[str | None]
) -> tuple[Reading, ...]:
    """The documents, one at a time: posteriors of all of them would be many."""
    chains, bags = Chains.of(model.fit_, model.chain), Chains.of(model.fit_, "independent")
    align = Aligner(model, data.vocabulary)
    readings = []
    for d, written in zip(wanted.tolist(), texts, strict=True):
        begin, end = data.offsets[d : d + 2].tolist()
        symbols = data.symbols[begin : min(end, begin + MOST_READ)]
        one = Documents(symbols, np.array([0, len(symbols)]), data.vocabulary)
        inferred = chains.infer(one, decode=True, posteriors=True)
        text, spans = align.find(written, data.words(d))
        readings.append(
            Reading(
                number=d,
                name=f"Document {d}" if data.names is None else data.names[d],
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


def _transitions(fit: HTMMFit, overview: Overview, n_documents: int) -> tuple[Floats, str]:
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


def _corpus(data: Documents) -> list[Item]:
    empty = int((data.lengths == 0).sum())
    notes = [f"{empty:,} of them without a known word"] if empty else []
    return [
        Item("Documents", f"{len(data):,}", "; ".join(notes)),
        Item(
            "Words",
            f"{data.n_words:,}",
            f"{data.n_symbols:,} distinct"
            + (f"; {data.n_unknown:,} more that the model does not know" if data.n_unknown else ""),
        ),
    ]


def _topics(model: FittedTopics, fit: HTMMFit, data: Documents) -> list[Item]:
    chain = {
        "sticky": f"a word keeps the topic before it with probability {1 - fit.switch:.3g}",
        "full": "every document has transitions of its own",
        "independent": "the order of words does not count",
    }[model.chain]
    lags = ", ".join(map(str, _lags(model, data)))
    return [
        Item("Topics", f"{fit.n_components:,}"),
        Item("Chain", model.chain, chain),
        Item("Lags", lags, "distances at which pairs of words were counted"),
    ]


def _coherence_items(overview: Overview) -> list[Item]:
    if overview.coherence is None:
        return [Item("Coherence", "none", overview.why)]
    return [
        Item(
            "Coherence",
            number(float(overview.coherence.mean())),
            f"mean over topics of the sum over their {overview.top} top words v, w of "
            f"log((freq(v, w) + eps) / freq(v)); freq counts documents, eps = {EPS}",
        )
    ]


def _perplexity(model: FittedTopics, data: Documents) -> list[Item]:
    if not data.n_words:
        return []
    measured = likelihood(Chains.of(model.fit_, model.chain), data)
    note = "exp(- log-likelihood of a word) on these documents, each word given those before it"
    return [Item("Perplexity", number(measured.perplexity), note)]


def _counts(model: FittedTopics, data: Documents) -> Cooccurrence | None:
    counted: Cooccurrence | None = getattr(model, "counts_", None)
    if counted is not None:
        return counted
    lags = _lags(model, data)
    return count_documents(data, lags) if (data.lengths > min(lags)).any() else None


def _lags(model: FittedTopics, data: Documents) -> list[int]:
    """Those of the counts, or where there are none, those that these documents would have."""
    counted: Cooccurrence | None = getattr(model, "counts_", None)
    return sorted(lag_shares(model.lags, data) if counted is None else counted.lags)


def _learning(model: FittedTopics, fit: HTMMFit) -> list[Item]:
    stopped = {True: "the stop rule was met", False: "all passes were used", None: ""}
    passes = f"{fit.n_iter:,} over pairs, {len(fit.passes):,} over documents"
    return [
        Item("Passes", passes, stopped[fit.converged]),
        Item("Learning time", f"{fit.seconds:.1f} s"),
        Item("Seed", "none" if model.random_state is None else str(model.random_state)),
    ]
