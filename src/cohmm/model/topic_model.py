"""A topic model: the words of every topic, and the chain of topics in every document.

    chain           a document's own              transitions
    "full"          start and A, (K, K)           A                                 the paper's
    "sticky"        p, (K,)                       (1 - switch) I + switch 1 p'      Gruber's
    "independent"   p, (K,)                       1 p'                              bag of words

A later one is a special case of an earlier.  A document's own parameters are inferred by EM under a
Dirichlet prior that is centred on the corpus: on the prevalence of the topics, and, for the rows
of A, on the corpus' transitions.  A document without words has the prior's mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self, get_args

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels import native
from cohmm.kernels.documents import DocumentChain, Reading
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints, Part
from cohmm.model.hmm import HMM
from cohmm.model.state_table import topics_as_html

Chain = Literal["full", "sticky", "independent"]
TopicLabels = tuple[str | None, ...]

SWEEPS = 30  # of EM over a document, at most
TOL = 1e-3  # change of a probability at which EM stops
STRENGTH_PER_TOPIC = 0.1  # transitions that the prior of a full chain's rows is worth, over K
EMISSION_FLOOR = 1e-30  # so that no word is impossible, and nothing underflows
PSEUDO_COUNT_FLOOR = 1e-12
SUM_TOLERANCE = 1e-8
MAX_LABEL = 80  # characters: what the page of a report has room for
PART = 20_000  # words
MAX_PARTS = 64


@dataclass(frozen=True, eq=False)
class TopicModel:
    """Topics, and the chain by which documents are inferred.

    Parameters
    ----------
    components : array, (K, V)
        P(word | topic); learners order topics by prevalence, the most frequent first.
    prevalence : array, (K,)
        The share of the corpus that is of each topic.
    prior : array, (K,)
        Dirichlet pseudo-counts of a document's topics.
    vocabulary : tuple
        The word of every column.
    switch : float
        The probability that a word's topic is drawn anew, of the sticky chain; 1: a bag of words.
    transitions : array (K, K), optional
        The corpus' transitions, from row to column; default: those of a bag of words.
    labels : tuple of str or None
        The label of every topic, no two alike; (): none has one.
    chain : "full", "sticky" or "independent"
        By which chain documents are inferred: see the module.  Default: sticky where there are
        transitions, and otherwise independent.
    strength : float, optional
        How many transitions from every topic the prior of a full chain is worth; default:
        K / 10, and at least 1.

    >>> TopicModel([[.5, .5], [0, 1]], [.6, .4], [1., 1.], ("oil", "gold"))
    TopicModel(2 topics, 2 words)
    """

    components: Floats
    prevalence: Floats
    prior: Floats
    vocabulary: tuple[Any, ...]
    switch: float = field(default=1.0, kw_only=True)
    transitions: Floats = field(default=None, kw_only=True)  # type: ignore[arg-type]
    labels: TopicLabels = field(default=(), kw_only=True)
    chain: Chain = field(default=None, kw_only=True)  # type: ignore[arg-type]
    strength: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("components", "prevalence", "prior"):
            array = _frozen(self, name)
            if not np.isfinite(array).all() or (array < 0).any():
                raise ValueError(f"{name} must be finite and at least 0")
        if self.components.ndim != 2:
            raise ValueError(
                f"components must be an array (K, V), not of shape {self.components.shape}"
            )
        k, v = self.components.shape
        for name in ("prevalence", "prior"):
            shape = getattr(self, name).shape
            if shape != (k,):
                raise ValueError(f"{name} has the shape {shape}, but there are {k} topics")
        if len(self.vocabulary) != v:
            raise ValueError(f"there are {len(self.vocabulary)} words for {v} columns")
        for what, sums in (
            ("every row of components", self.components.sum(axis=1)),
            ("prevalence", self.prevalence.sum()),
        ):
            if np.abs(sums - 1).max() > SUM_TOLERANCE:
                raise ValueError(f"{what} must sum to one")
        self._check_chain()
        object.__setattr__(self, "labels", checked_topic_labels(self.labels, k))

    def _check_chain(self) -> None:
        k = len(self.components)
        if self.chain is None:
            chain = "independent" if self.transitions is None else "sticky"
            object.__setattr__(self, "chain", chain)
        check_chain(self.chain)
        if self.transitions is None:
            object.__setattr__(self, "transitions", np.tile(self.prevalence, (k, 1)))
        a = _frozen(self, "transitions")
        if a.shape != (k, k):
            raise ValueError(f"transitions have the shape {a.shape}, not {(k, k)}")
        if not (a >= 0).all() or np.abs(a.sum(axis=1) - 1).max() > SUM_TOLERANCE:
            raise ValueError("transitions must be at least 0, and every row must sum to one")
        if isinstance(self.switch, bool) or not isinstance(self.switch, (int, float, np.number)):
            raise ValueError(f"switch must be a probability above 0, not {self.switch!r}")
        if not 0 < self.switch <= 1:
            raise ValueError(f"switch must be a probability above 0 and up to 1, not {self.switch}")
        if self.strength is not None and not 0 < self.strength < np.inf:
            raise ValueError(f"strength must be finite and above 0, not {self.strength}")

    @property
    def n_components(self) -> int:
        """K, the number of topics."""
        return len(self.components)

    @property
    def all_labels(self) -> TopicLabels:
        """One per topic, None where it has no label."""
        return self.labels or (None,) * self.n_components

    def _repr_html_(self) -> str:
        return topics_as_html(self, repr(self))

    def __repr__(self) -> str:
        k, v = self.components.shape
        return f"TopicModel({k:,} topics, {v:,} words)"

    def as_hmm(self) -> HMM:
        """The corpus as one chain, whose states are the topics."""
        return HMM(self.prevalence, self.transitions, self.components, self.vocabulary)

    def as_chain(
        self,
        chain: Chain,
        *,
        switch: float | None = None,
        transitions: Any = None,
        strength: float | None = None,
    ) -> Self:
        """The same topics, with documents inferred by another chain, or by other parameters of it.

        >>> bag = TopicModel([[.5, .5], [0, 1]], [.5, .5], [1., 1.], ("oil", "gold"))
        >>> bag.as_chain("sticky", switch=.2).switch
        0.2
        """
        check_chain(chain)
        if self.chain == "independent" and self.switch == 1:  # a bag of words
            learn = "learn {} with with_chain(fit, documents)".format
            if chain == "sticky" and switch is None:
                raise ValueError(
                    f"{self!r} has no rate of switching: give switch, or {learn('it')}"
                )
            if chain == "full" and transitions is None:
                raise ValueError(f"{self!r} has no transitions: give them, or {learn('them')}")
        return replace(
            self,
            chain=chain,
            switch=self.switch if switch is None else switch,
            transitions=self.transitions if transitions is None else transitions,
            strength=self.strength if strength is None else strength,
        )

    # -- documents ---------------------------------------------------------------------------

    @cached_property
    def document_chain(self) -> DocumentChain:
        """What the chains of all documents share, as kernels take it."""
        rows = None
        if self.chain == "full":
            strength = self.strength or max(1.0, STRENGTH_PER_TOPIC * self.n_components)
            rows = np.maximum(strength * self.transitions, PSEUDO_COUNT_FLOOR)
        return DocumentChain(
            floored(self.components.T),
            np.maximum(self.prior, PSEUDO_COUNT_FLOOR),
            float(self.switch) if self.chain == "sticky" else 1.0,
            rows,
        )

    def infer(
        self,
        documents: Documents,
        *,
        decode: bool = False,
        posteriors: bool = False,
        halves: bool = False,
        sweeps: int = SWEEPS,
        tol: float = TOL,
    ) -> Reading:
        """Fit the chain of every document, and say which words are of which topic.

        With ``halves`` the chain is fitted to the first half of a document's words (the shorter
        one), and its log-likelihood is that of the second, given the first.  EM makes at most
        ``sweeps`` steps, and stops when no probability changes by ``tol``.
        """
        self._check_words(documents)
        k = self.n_components
        n_decoded = documents.n_words if decode else 0
        out = Reading(
            np.empty((len(documents), k)),
            np.empty(len(documents)),
            np.empty(n_decoded, np.int32),
            np.empty(n_decoded),
            np.empty((documents.n_words if posteriors else 0, k)),
        )

        def task(first: int, last: int) -> None:
            place = (documents.symbols, documents.offsets, (first, last))
            native.infer_documents(*place, self.document_chain, halves, sweeps, tol, out)

        run(task, parts_of(documents))
        return out

    def predict(self, documents: Documents) -> Floats:
        """log P(word | the words before it in its document), (T,): exact, and word by word.

        The chain is that of the corpus at a document's first word, and then adapts: to the
        prior are added the draws of topics (or the transitions) that the words so far are
        expected to have made, by the filter.  Nothing after a word has a say in its probability,
        so that the probabilities of all words of the vocabulary sum to one at every place.
        """
        self._check_words(documents)
        return predicted(documents, self.document_chain)

    def segment(self, documents: Documents, *, posteriors: bool = False) -> list[Segmented]:
        """A topic for every word of every document."""
        inferred = self.infer(documents, decode=True, posteriors=posteriors)
        return [
            Segmented(
                documents.words(d),
                inferred.topics[a:b],
                inferred.probabilities[a:b],
                inferred.posteriors[a:b] if posteriors else None,
            )
            for d, (a, b) in enumerate(pairwise(documents.offsets.tolist()))
        ]

    def _check_words(self, documents: Documents) -> None:
        if documents.n_symbols != len(self.vocabulary):
            raise ValueError(
                f"the documents have a vocabulary of {documents.n_symbols} words, the topics "
                f"one of {len(self.vocabulary)}"
            )


@dataclass(frozen=True, eq=False)
class Segmented:
    """One document, with a topic for every word.

    Parameters
    ----------
    words : list of str
        Its L words, in order.
    topics : array, (L,)
        Their topics, the most probable of all words together.
    probabilities : array, (L,)
        P(that topic | all words).
    posteriors : array (L, K) or None
        P(topic | all words), where asked for.

    >>> Segmented(["oil", "gas", "gold"], np.array([1, 1, 0]), np.array([.9, .9, .6])).runs
    [(0, 1, 1), (2, 2, 0)]
    """

    words: list[str]
    topics: Ints
    probabilities: Floats
    posteriors: Floats | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def runs(self) -> list[tuple[int, int, int]]:
        """Stretches of one topic: (first word, last word, topic)."""
        if not len(self.topics):
            return []
        cuts = [0, *(np.flatnonzero(np.diff(self.topics)) + 1).tolist(), len(self.topics)]
        return [(a, b - 1, int(self.topics[a])) for a, b in pairwise(cuts)]


def check_chain(chain: Any) -> None:
    """A `ValueError` where there is no such chain."""
    if chain not in get_args(Chain):
        raise ValueError(f"chain must be one of {', '.join(get_args(Chain))}, not {chain!r}")


def floored(emission: Floats) -> Floats:
    """Emissions, (V, K), with columns that sum to one and no zero."""
    emission = np.maximum(emission / emission.sum(axis=0), EMISSION_FLOOR)
    return np.ascontiguousarray(emission / emission.sum(axis=0))


def parts_of(documents: Documents, most: int = MAX_PARTS) -> list[Part]:
    """Ranges of documents with about equally many words; they depend on the documents alone."""
    n = max(1, min(most, documents.n_words // PART))
    aims = documents.n_words * np.arange(1, n) // n
    cuts = [0, *np.searchsorted(documents.offsets, aims).tolist(), len(documents)]
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def predicted(documents: Documents, chain: DocumentChain) -> Floats:
    """log P(word | the words before it), (T,): see `TopicModel.predict`."""
    logs = np.empty(documents.n_words)

    def task(first: int, last: int) -> None:
        native.predict_words(documents.symbols, documents.offsets, (first, last), chain, logs)

    run(task, parts_of(documents))
    return logs


def checked_label(topic: int, label: Any) -> str | None:
    """A label without blanks at its ends, or None.

    >>> checked_label(0, " the  sea ")
    'the sea'
    """
    if label is None:
        return None
    if not isinstance(label, str):
        raise ValueError(f"the label of topic {topic} must be a string, not {label!r}")
    text = " ".join(label.split())
    if not text:
        raise ValueError(f"the label of topic {topic} is blank: give None for no label")
    if len(text) > MAX_LABEL:
        raise ValueError(
            f"the label of topic {topic} has {len(text)} characters; there is room for {MAX_LABEL}"
        )
    return text


def checked_topic_labels(labels: Any, k: int) -> TopicLabels:
    """Labels of ``k`` topics, or (): none has any.

    >>> checked_topic_labels([None, "grain"], 2), checked_topic_labels([None, None], 2)
    ((None, 'grain'), ())
    """
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ValueError(f"labels must be a list of strings, one per topic, not {labels!r}")
    labels = tuple(labels)
    if labels and len(labels) != k:
        raise ValueError(f"there are {len(labels)} labels for {k} topics; give None for no label")
    checked = tuple(checked_label(topic, label) for topic, label in enumerate(labels))
    first: dict[str, int] = {}
    for topic, label in enumerate(checked):
        if label is not None and first.setdefault(label, topic) != topic:
            raise ValueError(
                f"topics {first[label]} and {topic} have the same label, {label!r}: a label "
                "tells topics apart"
            )
    return checked if first else ()


def _frozen(model: TopicModel, name: str) -> Floats:
    """A field as an array that cannot be written into."""
    array = np.ascontiguousarray(getattr(model, name), np.float64)
    array.setflags(write=False)
    object.__setattr__(model, name, array)
    return array
