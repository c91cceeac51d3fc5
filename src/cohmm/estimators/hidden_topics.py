"""HTMM: topics in which word order counts, with scikit-learn's interface."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cohmm.data.document_parts import DocumentParts
from cohmm.data.documents import Documents
from cohmm.data.text import TextWarning, read_documents
from cohmm.data.tokens import TOKEN_PATTERN, Analyzer
from cohmm.data.user_warnings import warn
from cohmm.distributed.partitions import Partitions
from cohmm.estimators.diagnosing import DiagnosingTopics
from cohmm.estimators.over_partitions import segments, shares
from cohmm.estimators.topic_certainty import TopicCertainty
from cohmm.estimators.topic_exports import TopicExports
from cohmm.estimators.topic_growth import TopicGrowth
from cohmm.estimators.topic_steering import TopicSteering
from cohmm.evidence.document_pairs import count_documents
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats
from cohmm.learn.fit import Callback, Progress
from cohmm.learn.options import check_choice
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.seed_words import SeedWords
from cohmm.learn.topics.topic_lags import TopicLags, lag_shares
from cohmm.model.hmm import HMM
from cohmm.topics.coherence import Measure, coherence
from cohmm.topics.describe import top_words
from cohmm.topics.document_chains import Chain, Chains, segment
from cohmm.topics.htmm_file import load_fit, save_fit
from cohmm.topics.perplexity import Method, likelihood
from cohmm.topics.word_order import Order

READING = (
    "analyzer",
    "vocabulary",
    "lowercase",
    "stop_words",
    "min_df",
    "max_df",
    "max_features",
    "token_pattern",
)


class HTMM(
    TopicSteering,
    TopicGrowth,
    TopicExports,
    TopicCertainty,
    DiagnosingTopics,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """The hidden topic Markov model: the topics of a document's words are a Markov chain.

    Topics are learned from how often words follow one another, at several distances, and then
    improved by passes over the documents; see `cohmm.learn.htmm`.

    Parameters
    ----------
    n_components : int or "auto"
        Number of topics; "auto": as many as stand out from the noise.
    lags : "auto", int, several, or a mapping
        Distances at which pairs of words are counted.  "auto": 1 to 5, and far ones as far as
        they still show topics, which depends on the corpus; those given count alike, or as the
        mapping from lags to shares says.
    chain : "sticky", "full" or "independent"
        How documents are read; see `cohmm.topics.document_chains`.
    refine : int
        Passes over the documents after the pairs.
    max_iter : int
        Passes over the pairs, at most; of a large vocabulary all but the last sixth are over its
        frequent words.  With more, frequent words come to lead more topics.
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all pairs.
    n_init : int
        Starts, compared by their first passes over the pairs; the best is learned from.
    seed_words : mapping from labels to lists of words, or list of lists, optional
        What some of the topics start from: ``{"grain": ["wheat", "maize"]}``.  They keep their
        labels, and the other topics are free.
    analyzer, vocabulary, lowercase, stop_words, min_df, max_df, max_features, token_pattern
        How text becomes words: see `cohmm.read_documents`.
    random_state : int, optional
        Seed: the same gives the same topics, for any number of threads.
    verbose : bool
        Print every pass to standard error.

    Attributes
    ----------
    components_ : array, (K, V)
        P(word | topic); `fit` orders topics by prevalence, `merge` and `drop` keep their order.
    topic_prevalence_, topic_transitions_
        The share of every topic in the corpus, (K,), and from which topic to which the words
        go, (K, K), as the documents' sticky chains expect it (with ``refine=0``, as the pairs
        at all lags together do).
    switch_ : float
        The probability that a word's topic is drawn anew, of the sticky chain.
    vocabulary_ : tuple
        The words.
    labels_ : tuple
        What the topics are called, or None each: see `rename`.
    fit_, documents_, counts_
        The `HTMMFit`, the training documents and their pairs.
    converged_, n_iter_
        Whether the stop rule was met, and the passes over the pairs.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(300, n_components=3, n_words=90, random_state=0)
    >>> topics = HTMM(n_components=3, random_state=0).fit(sample.documents)
    >>> topics.transform(sample.documents).shape
    (300, 3)
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        lags: TopicLags = "auto",
        *,
        chain: Chain = "sticky",
        refine: int = 1,
        max_iter: int = 40,
        tol: float = 1e-3,
        n_init: int = 1,
        seed_words: SeedWords | None = None,
        analyzer: Analyzer | None = None,
        vocabulary: Iterable[str] | None = None,
        lowercase: bool = True,
        stop_words: Any = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        token_pattern: str = TOKEN_PATTERN,
        random_state: int | None = None,
        verbose: bool = False,
    ):
        self.n_components = n_components
        self.lags = lags
        self.chain = chain
        self.refine = refine
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.seed_words = seed_words
        self.analyzer = analyzer
        self.vocabulary = vocabulary
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.token_pattern = token_pattern
        self.random_state = random_state
        self.verbose = verbose

    # -- learning ----------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        callback: Callback | None = None,
    ) -> HTMM:
        """Learn topics from ``X``: strings, lists of words, an iterator, a path, `Documents`.

        Or from `Partitions`, a document per row, which stay where they are.

        ``sample_weight`` has one weight per document, (D,); ``callback`` is called with
        a `Progress` for every pass, first over the pairs, then over the documents.
        """
        documents = self._learn_words(X)
        if len(documents) == 1:
            warn(
                "there is one document: topics are what tells its passages apart; if there are "
                "several, give them as a list, or as lines of a text file",
                TextWarning,
            )
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        shares = lag_shares(self.lags, documents)
        counts = count_documents(documents, shares, weights)
        return self._learn(documents, counts, weights, shares, callback=callback)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from ``X``, and return the topics' shares of its documents, (D, K)."""
        self.fit(X, sample_weight=sample_weight)
        return self.transform(X if isinstance(X, Partitions) else self.documents_)

    def _learn(
        self,
        documents: Documents | DocumentParts,
        counts: Cooccurrence,
        weights: Any,
        lags: TopicLags,
        start: HMM | None = None,
        callback: Callback | None = None,
    ) -> HTMM:
        check_choice(get_args(Chain), chain=self.chain)
        self.fit_ = htmm(
            documents,
            self.n_components if start is None else start.n_components,
            lags=lags,
            refine=self.refine,
            max_iter=self.max_iter,
            tol=self.tol,
            n_init=self.n_init if start is None else 1,
            weights=weights,
            random_state=self.random_state,
            seed_words=self.seed_words if start is None else None,
            start=start,
            counts=counts,
            callback=callback or self._progress(),
        )
        self.documents_, self.counts_, self._weights = documents, counts, weights
        return self

    @property
    def components_(self) -> Floats:
        """P(word | topic), (K, V)."""
        return self._fitted().components

    @property
    def topic_prevalence_(self) -> Floats:
        """The share of every topic in the corpus, (K,)."""
        return self._fitted().prevalence

    @property
    def topic_transitions_(self) -> Floats:
        """From which topic to which the words of the corpus go, (K, K)."""
        return self._fitted().transitions

    @property
    def switch_(self) -> float:
        """The probability that a word's topic is drawn anew."""
        return self._fitted().switch

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The words of the columns of ``components_``."""
        return self._fitted().vocabulary

    @property
    def converged_(self) -> bool:
        """Whether the stop rule was met, not merely the passes used up."""
        return bool(self._fitted().converged)

    @property
    def n_iter_(self) -> int:
        """Passes over the pairs."""
        return self._fitted().n_iter

    # -- answers -----------------------------------------------------------------------------

    def encode(self, X: Any) -> Documents:
        """Documents in the words of the model; those that it does not know are left out."""
        return read_documents(X, **self._reading())

    def transform(self, X: Any) -> Any:
        """The expected share of every document's words that are of each topic, (D, K).

        Unknown words are left out; a document that has no other has the corpus' shares.  Of
        `Partitions`, a collection of their engine, with the shares of every row.
        """
        if isinstance(X, Partitions):
            return shares(self._chains(), self._reading(), X)
        return self._chains().infer(self.encode(X)).shares

    def segment(self, X: Any, *, posteriors: bool = False) -> Any:
        """A topic for every word of every document; `Segmented.runs` are its segments.

        With ``posteriors``, also the probabilities of all topics at every word.  Of `Partitions`,
        a collection of their engine, with words, topics and probabilities of every row.
        """
        if isinstance(X, Partitions):
            if posteriors:
                raise ValueError("posteriors of all topics are for documents in memory")
            return segments(self._chains(), self._reading(), X)
        return segment(self._chains(), self.encode(X), posteriors=posteriors)

    def score(self, X: Any, y: Any = None) -> float:
        """log P(X), every word given those before it in its document."""
        return likelihood(self._chains(), self.encode(X)).log_likelihood

    def perplexity(self, X: Any, method: Method = "words") -> float:
        """The perplexity of documents: see `cohmm.topics.perplexity`."""
        return likelihood(self._chains(), self.encode(X), method).perplexity

    def coherence(
        self,
        measure: Measure = "paper",
        documents: Any = None,
        *,
        by_topic: bool = False,
        **options: Any,
    ) -> Any:
        """The mean coherence of the topics, or that of every one, (K,).

        Documents are those of training where none are given; ``options`` are those of
        `cohmm.topics.coherence`.
        """
        fit = self._fitted()
        reference = self._training("coherence") if documents is None else self.encode(documents)
        each = coherence(fit.components, reference, measure, **options)
        return each if by_topic else float(each.mean())

    def top_words(self, n: int = 10, by: Order = "probability") -> list[list[str]]:
        """The ``n`` top words of every topic, the first first.

        ``by`` "probability", or what tells the topic from others: "relevance", which the command
        line, plots and the report show, or "frex"; see `cohmm.topics.word_order`.
        """
        fit = self._fitted()
        return top_words(fit.components, fit.vocabulary, n, by, fit.prevalence)

    # -- files -------------------------------------------------------------------------------

    def report(self, path: str | os.PathLike[str], documents: Any = None, **options: Any) -> None:
        """Write a page that shows the topics, and ``documents`` word by word; no network needed.

        Options are those of `cohmm.report.report_topics`.
        """
        from cohmm.report import report_topics

        self._fitted()
        report_topics(self, documents, path, **options)

    def save(self, path: str | os.PathLike[str], *, counts: bool = False) -> None:
        """Write the model to a file, without the training documents.

        With ``counts``, their pair counts as well, so that what is loaded can `partial_fit`.
        """
        fit = self._fitted()
        if counts and not hasattr(self, "counts_"):
            raise ValueError(
                "there are no counts to save: the model was loaded from a file without any"
            )
        save_fit(path, fit, self.get_params(), self.counts_ if counts else None)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HTMM:
        """Read a model that `save` wrote."""
        fit, parameters, counts = load_fit(path, cls._get_param_names())
        model = cls(**parameters)
        model.fit_ = fit
        if counts is not None:
            model.counts_ = counts
        return model

    # -- inside ------------------------------------------------------------------------------

    def _reading(self) -> dict[str, Any]:
        """How texts become words of the model."""
        options = {name: getattr(self, name) for name in READING}
        return options | {"vocabulary": self._fitted().vocabulary}

    def _learn_words(self, X: Any) -> Documents:
        return read_documents(X, **{name: getattr(self, name) for name in READING})

    def _training(self, what: str) -> Any:
        self._fitted()
        if not hasattr(self, "documents_"):
            raise ValueError(
                f"{what} needs the training documents, which a model loaded from a file does not "
                "have: give documents"
            )
        return self.documents_

    def _progress(self) -> Callback | None:
        return _print_progress if self.verbose else None

    def _chains(self) -> Chains:
        return Chains.of(self._fitted(), self.chain)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def _fitted(self) -> HTMMFit:
        check_is_fitted(self)
        return self.fit_

    @property
    def _n_features_out(self) -> int:
        return self._fitted().n_components

    def __sklearn_tags__(self) -> Any:
        """Documents are text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _print_progress(step: Progress) -> None:
    print(
        f"pass {step.n_iter:5d}  objective {step.objective:.9f}  {step.seconds:.1f} s",
        file=sys.stderr,
    )
