"""The chain of every document, with the topics fixed: what it is about, and which word is what.

    chain           a document's own              transitions
    "full"          start and A, (K, K)           A                                 the paper's
    "sticky"        p, (K,)                       (1 - switch) I + switch 1 p'      Gruber's
    "independent"   p, (K,)                       1 p'                              bag of words

A later one is a special case of an earlier.  What is a document's own is found by EM under a
Dirichlet prior that is centred on the corpus: on the prevalence of the topics, and, for the rows
of A, on the corpus' transitions.  A document without words has the prior's mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.documents import Reading as Reading
from cohmm.kernels.documents import infer_documents, predict_words
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.sticky_em import checked_switch, floored, parts_of
from cohmm.learn.topics.topic_fit import TopicFit

Chain = Literal["full", "sticky", "independent"]

SWEEPS = 30
TOL = 1e-3
STRENGTH_BY_TOPIC = 0.1
MOST_DECODED = 200_000  # words, about, where some documents stand for all
LEAST = 1e-12  # a pseudo-count: so that nothing is impossible, and nothing underflows


@dataclass(frozen=True, eq=False)
class Chains:
    """Topics, and the kind of chain that documents are read by.

    Parameters
    ----------
    emission : array, (V, K)
        P(word | topic), above zero.
    prior : array, (K,)
        Pseudo-counts of a document's topics.
    switch : float
        The probability that a topic is drawn anew; 1: words are independent.
    rows : array (K, K) or None
        Pseudo-counts of a document's transitions; None: the chain is sticky.
    """

    emission: Floats = field(repr=False)
    prior: Floats = field(repr=False)
    switch: float = 1.0
    rows: Floats | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        fit: TopicFit,
        chain: Chain = "sticky",
        *,
        switch: float | None = None,
        transitions: Any = None,
        strength: float | None = None,
    ) -> Chains:
        """Read documents by the topics of ``fit``.

        Parameters
        ----------
        fit : TopicFit
            The topics, and the prior of a document's.
        chain : "full", "sticky" or "independent"
            See the module.
        switch : float, optional
            Of the sticky chain; default: what ``fit`` has learned.
        transitions : array (K, K), optional
            What the full chain's prior is centred on; default: what ``fit`` has learned.
        strength : float, optional
            How many transitions from every topic the full chain's prior is worth; default:
            K / 10, and at least 1.

        >>> fit = TopicFit([[.5, .5], [0, 1]], [.5, .5], [1., 1.], ("oil", "gold"), name="mine")
        >>> Chains.of(fit, "sticky", switch=.2)
        Chains(switch=0.2)
        """
        if chain not in get_args(Chain):
            raise ValueError(f"chain must be one of {', '.join(get_args(Chain))}, not {chain!r}")
        emission = floored(fit.components.T)
        prior = np.maximum(fit.prior, LEAST)
        if chain == "independent":
            return cls(emission, prior)
        if chain == "sticky":
            if switch is None:
                if not isinstance(fit, HTMMFit):
                    raise ValueError(
                        f"{fit!r} has no rate of switching: give switch, or learn it with "
                        "with_chain(fit, documents)"
                    )
                switch = fit.switch
            return cls(emission, prior, checked_switch(switch))
        if transitions is None:
            if not isinstance(fit, HTMMFit):
                raise ValueError(
                    f"{fit!r} has no transitions: give them, or learn them with "
                    "with_chain(fit, documents)"
                )
            transitions = fit.transitions
        if strength is None:
            strength = max(1.0, STRENGTH_BY_TOPIC * fit.n_components)
        return cls(emission, prior, rows=_rows(transitions, strength, fit.n_components))

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.prior)

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
        """Fit the chain of every document, and read the document by it.

        With ``halves`` the chain is fitted to the first half of a document's words (the shorter
        one), and its log-likelihood is that of the second, given the first.  EM makes at most
        ``sweeps`` steps, and stops when no probability changes by ``tol``.
        """
        self._check(documents)
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
            part = (first, last)
            infer_documents(
                documents.symbols, documents.offsets, part, self, halves, sweeps, tol, out
            )

        run(task, parts_of(documents))
        return out

    def predict(self, documents: Documents) -> Floats:
        """log P(word | the words before it in its document), (T,): exact, and word by word.

        The chain is that of the corpus at a document's first word, and then adapts: to the
        prior are added the draws of topics (or the transitions) that the words read so far are
        expected to have made, by the filter.  Nothing behind a word has a say in its probability,
        so that the probabilities of all words of the vocabulary sum to one at every place.
        """
        self._check(documents)
        logs = np.empty(documents.n_words)

        def task(first: int, last: int) -> None:
            predict_words(documents.symbols, documents.offsets, (first, last), self, logs)

        run(task, parts_of(documents))
        return logs

    def _check(self, documents: Documents) -> None:
        if documents.n_symbols != len(self.emission):
            raise ValueError(
                f"the documents have a vocabulary of {documents.n_symbols} words, the topics "
                f"one of {len(self.emission)}"
            )


def _rows(transitions: Any, strength: float, k: int) -> Floats:
    a = np.asarray(transitions, np.float64)
    if a.shape != (k, k):
        raise ValueError(f"transitions have the shape {a.shape}, not {(k, k)}")
    if not np.isfinite(a).all() or (a < 0).any() or np.abs(a.sum(axis=1) - 1).max() > 1e-8:
        raise ValueError("transitions must be at least 0, and every row must sum to one")
    if not 0 < strength < np.inf:
        raise ValueError(f"strength must be finite and above 0, not {strength}")
    return np.ascontiguousarray(np.maximum(strength * a, LEAST))


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
        cuts = np.flatnonzero(np.diff(self.topics)) + 1
        firsts = [0, *cuts.tolist()]
        lasts = [*(cuts - 1).tolist(), len(self.topics) - 1]
        return [(a, b, int(self.topics[a])) for a, b in zip(firsts, lasts, strict=True)]


def segment(chains: Chains, documents: Documents, *, posteriors: bool = False) -> list[Segmented]:
    """A topic for every word of every document."""
    found = chains.infer(documents, decode=True, posteriors=posteriors)
    return [
        Segmented(
            documents.words(d),
            found.topics[a:b],
            found.probabilities[a:b],
            found.posteriors[a:b] if posteriors else None,
        )
        for d, (a, b) in enumerate(
            zip(documents.offsets[:-1].tolist(), documents.offsets[1:].tolist(), strict=True)
        )
    ]
