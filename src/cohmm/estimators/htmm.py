"""HTMM: topics in which word order counts, with scikit-learn's interface."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cohmm._validation import check_decay, check_whole, silenced, warn
from cohmm.data.documents import Documents, in_common_words, joined
from cohmm.data.partitioned import Partitioned
from cohmm.data.read_documents import pruned, raw_documents, read_documents
from cohmm.data.tokens import Analyzer, WordCodes, as_analyzer, check_trusted, cut_words
from cohmm.data.vocabulary import EmptyDocumentsWarning, Pruning, TextWarning, as_stop_words
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.topic_errors import GROUPS, TopicErrors, topic_errors
from cohmm.distributed.backend import Partitions
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, progress_log
from cohmm.learn.topics.htmm import Passes, htmm
from cohmm.learn.topics.online import WordsSeen, grown_htmm, joined_weights, with_new_documents
from cohmm.learn.topics.pair_topics import SeedWords
from cohmm.learn.topics.topic_fit import TopicFit, load_fit, save_fit
from cohmm.learn.topics.topic_lags import TopicLags
from cohmm.model.topic_model import Chain, TopicLabels, check_chain
from cohmm.topics.coherence import Measure, coherence
from cohmm.topics.edit import drop_topics, merge_topics, rename_topics, with_labels_of
from cohmm.topics.export import (
    TopicTable,
    gensim_lists,
    octis_output,
    partitioned_segments,
    partitioned_shares,
    pyldavis_arrays,
    topic_frame,
)
from cohmm.topics.junk import Junk
from cohmm.topics.over_time import LEVEL, TopicsOver, groups_of, topics_over
from cohmm.topics.overview import MAX_DECODED
from cohmm.topics.passages import Passage, passages
from cohmm.topics.periods import Period
from cohmm.topics.perplexity import Method, likelihood
from cohmm.topics.search import Hit, TopicIndex
from cohmm.topics.stability import TOP, Stability, stability
from cohmm.topics.top_words import Order, top_words
from cohmm.topics.tree import TopicTree, topic_tree

TEXT_OPTIONS = (
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
        How documents are inferred; see `cohmm.model.topic_model`.
    refine : int or "auto"
        Passes over the documents after the pairs; "auto": as many as some documents that are held
        back choose, see ``fit_.choices``.
    max_iter : int
        Passes over the pairs, at most; where they run out, a `ConvergenceWarning` says so.
    tol : float
        Passes over the pairs stop when none changes a topic by more than this share of its words.
    n_init : int
        Starts, compared by their first passes over the pairs; the best is learned from.
    seed_words : mapping from labels to lists of words, or list of lists, optional
        What some of the topics start from: ``{"grain": ["wheat", "maize"]}``.  They keep their
        labels, and the other topics are free.  What is no word of the documents is cut into words
        as text is.
    analyzer, vocabulary, lowercase, stop_words, min_df, max_df, max_features, token_pattern
        How text becomes words: see `cohmm.read_documents`.
    random_state : int, optional
        Seed: the same gives the same topics, for any number of threads.
    verbose : bool
        Log every pass to the logger "cohmm"; standard error shows it, unless logging is set up.

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
        The `TopicFit`, the training documents and their pairs.
    converged_, n_iter_
        Whether the stop rule was met, and the passes over the pairs.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(300, n_components=3, n_words=90, random_state=0)
    >>> topics = HTMM(n_components=3, random_state=0).fit(sample.documents)
    >>> topics.transform(sample.documents).shape
    (300, 3)
    """

    fit_: TopicFit
    documents_: Documents | Partitioned
    _everything: Any  # the same in all words, those that are not kept as well
    _weights: Any
    _waiting: tuple[Documents, Any, tuple[str, ...]] | None  # documents, weights, words to keep
    _words_seen: WordsSeen  # of a model loaded from a file

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        lags: TopicLags = "auto",
        *,
        chain: Chain = "sticky",
        refine: Passes = "auto",
        max_iter: int = 1000,
        tol: float = 5e-3,
        n_init: int = 1,
        seed_words: SeedWords | None = None,
        analyzer: Analyzer | str | None = None,
        vocabulary: Iterable[str] | None = None,
        lowercase: bool = True,
        stop_words: Any = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        token_pattern: str | None = None,
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
    ) -> Self:
        """Learn topics from ``X``: strings, lists of words, an iterator, a path, `Documents`.

        Or from `Partitions`, a document per row, which stay where they are.

        ``sample_weight`` has one weight per document, (D,); ``callback`` is called with
        a `Progress` for every pass, first over the pairs, then over the documents.
        """
        check_chain(self.chain)
        everything = self._all_words(X)
        documents = everything if isinstance(X, Documents) else self._pruned(everything)
        return self._learn(everything, documents, sample_weight, callback)

    def _learn(
        self,
        everything: Any,
        documents: Any,
        sample_weight: Any,
        callback: Callback | None = None,
    ) -> Self:
        """Learn from documents; ``everything`` are they in all of their words."""
        if len(documents) == 1:
            warn(
                "there is one document: topics are what tells its passages apart; if there are "
                "several, give them as a list, or as lines of a text file",
                TextWarning,
            )
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.fit_ = htmm(
            documents,
            self.n_components,
            lags=self.lags,
            n_init=self.n_init,
            weights=weights,
            seed_words=self._cut_seeds(documents.vocabulary),
            **self._learning(callback),
        )
        self.documents_, self._weights = documents, weights
        self._everything, self._waiting = everything, None
        self._warn_if_cut_short()
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from ``X``, and return the topics' shares of its documents, (D, K)."""
        self.fit(X, sample_weight=sample_weight)
        return self.transform(X if isinstance(X, Partitions) else self.documents_)

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, decay: float = 1.0
    ) -> Self:
        """Add documents to those learned from before, and learn on: this model changes.

        Words that the model knows stay; others join as soon as ``min_df`` and the like keep them
        among all documents so far, unless ``vocabulary`` was given.  What came before weighs
        ``decay`` times as much as it did: below 1, the past is forgotten.  ``n_init`` is for the
        first call, which is `fit`: a later one has one start, what was learned before.  Labels stay
        with their topics.  First batches that are too small to learn from are kept for the next
        call, with a warning.

        A model loaded from a file goes on if ``save(path, counts=True)`` wrote its counts: pairs of
        all documents are summed, and the passes over documents, which see the new ones alone,
        count the old ones as they were counted then; see `cohmm.learn.topics.online`.

        Returns
        -------
        This model.
        """
        check_decay(decay)
        check_chain(self.chain)
        documents = getattr(self, "documents_", None)
        if isinstance(X, Partitions) or isinstance(documents, Partitioned):
            if not hasattr(self, "fit_"):
                return self.fit(X, sample_weight=sample_weight)
            raise ValueError("partial_fit is for documents in memory: fit all Partitions together")
        if not hasattr(self, "fit_"):
            return self._begin(X, sample_weight, decay)
        fit = self.fit_
        if fit.counts is None:
            raise ValueError(
                "partial_fit needs the training documents or their pair counts, which a model "
                "loaded from a file has only if save(path, counts=True) wrote it"
            )
        new, known = self._all_words(X), (*fit.vocabulary, *_own_words(X))
        options = {"decay": decay, **self._learning()}
        if documents is None:
            seen = self._words_seen.plus(new, known)
            words = seen.vocabulary(known, self._pruning())
            learned = grown_htmm(new.in_words(words), fit, weights=sample_weight, **options)
            self._words_seen = seen
        else:
            everything = joined(*in_common_words(self._everything, new))
            both, n = self._pruned(everything, known), np.arange(len(everything))
            old, new = (both.select(n[n < len(documents)]), both.select(n[n >= len(documents)]))
            weights = (self._weights, sample_weight)
            learned, self.documents_, self._weights = with_new_documents(
                fit, old, new, weights=weights, lags=self.lags, **options
            )
            self._everything = everything
        self.fit_ = with_labels_of(fit, learned)
        self._warn_if_cut_short()
        return self

    def _begin(self, X: Any, sample_weight: Any, decay: float) -> Self:
        """Learn from the first documents, or keep them where they are too few."""
        new, known = self._all_words(X), _own_words(X)
        weights = new.checked_weights(sample_weight)
        if (waiting := getattr(self, "_waiting", None)) is not None:
            first, before, words = waiting
            weights = joined_weights(first, before, new, weights, decay)
            new, known = joined(*in_common_words(first, new)), (*known, *words)
        try:
            documents, why = self._pruned(new, known), ""
        except ValueError as error:
            documents, why = new, str(error)
        why = why or self._too_few(documents)
        if why:
            warn(
                f"too few documents so far to learn from, {len(new)} ({why}): they are kept for "
                "the next call of partial_fit",
                TextWarning,
            )
            self._waiting = new, weights, known
            return self
        return self._learn(new, documents, weights)

    def _too_few(self, documents: Documents) -> str:
        """Why topics cannot be learned from these documents; "" where they can."""
        if not (documents.lengths > 1).any():
            return "none has two words"
        k = 1 if self.n_components == "auto" else self.n_components
        n = len(np.unique(documents.symbols))
        return f"{n} words for {k} topics" if n < k else ""

    # -- the topics --------------------------------------------------------------------------

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

    @property
    def counts_(self) -> Cooccurrence:
        """The pairs of the training documents; a model that has none does not have this."""
        counts = self._fitted().counts
        if counts is None:
            raise AttributeError("this model was loaded from a file that has no counts of pairs")
        return counts

    @property
    def labels_(self) -> TopicLabels:
        """What the topics are called, K strings, or None where a topic has no label."""
        return self._fitted().all_labels

    def top_words(self, n: int = 10, by: Order = "probability") -> list[list[str]]:
        """The ``n`` top words of every topic, the first first.

        ``by`` "probability", or what tells the topic from others: "relevance", which the command
        line, plots and the report show, or "frex"; see `cohmm.topics.top_words`.
        """
        fit = self._fitted()
        return top_words(fit.components, fit.vocabulary, n, by, fit.prevalence)

    # -- edited topics -----------------------------------------------------------------------
    # Every method returns a new model, with the same training documents and counts; topics are
    # chosen by number or by label.

    def rename(self, labels: Mapping[Any, str | None] | str | os.PathLike[str]) -> Self:
        """A model with other labels, ``{0: "grain", "metal": "gold"}``; None takes one away.

        Labels are shown in tables, plots and reports, and kept in files.  A path is that of labels
        which a reader wrote into a report, and saved there.  No number changes.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.rename({0: "grain"}).labels_
        ('grain', None)
        """
        fit = self._fitted()
        if isinstance(labels, (str, os.PathLike)):
            from cohmm.report.labels import checked_labels
            from cohmm.report.prepare import model_key

            labels = checked_labels(labels, fit.n_components, model_key(fit.components))
        return self._with_fit(rename_topics(fit, labels))

    def merge(self, groups: Iterable[Any]) -> Self:
        """A model in which each group of topics is one: ``[[0, 5], ["grain", 7]]``.

        A merged topic is the mixture of its parts, by how frequent they are, and the chain goes
        to it as often as it went to them.  It has the number of the first of its parts; the others
        keep their order, and close up: of 0 to 5, ``merge([[1, 4]])`` makes 0, 1 + 4, 2, 3, 5.
        Its label is that of the part that has one, or of several all, with " / " between.

        >>> texts = ["oil gas oil"] * 12 + ["wheat corn wheat"] * 9 + ["gold ore gold"] * 6
        >>> topics = HTMM(3, random_state=0).fit(texts)
        >>> topics.merge([[0, 2]]).transform(["oil gold", "wheat corn"]).round(2)
        array([[1., 0.],
               [0., 1.]])
        """
        return self._with_fit(merge_topics(self._fitted(), groups))

    def drop(self, topics: Any) -> Self:
        """A model without some topics, ``[4]`` or ``["legal boilerplate"]``.

        The others keep their words, and explain what the dropped ones did as well as they can.
        They keep their order, and their numbers close up: of 0 to 5, ``drop([1, 4])`` leaves
        what were 0, 2, 3, 5.  ``drop(topics.junk())`` leaves out what says little.

        >>> texts = ["oil gas oil"] * 12 + ["wheat corn wheat"] * 9 + ["gold ore gold"] * 6
        >>> HTMM(3, random_state=0).fit(texts).drop([0, 2]).transform(["oil gold"])
        array([[1.]])
        """
        return self._with_fit(drop_topics(self._fitted(), topics))

    # -- documents ---------------------------------------------------------------------------

    def encode(self, X: Any) -> Documents:
        """Documents in the words of the model; those that it does not know are left out."""
        return read_documents(X, **self._reading())

    def transform(self, X: Any) -> Any:
        """The expected share of every document's words that are of each topic, (D, K).

        Unknown words are left out; a document that has no other has the corpus' shares.  Of
        `Partitions`, a collection of their engine, with the shares of every row.
        """
        if isinstance(X, Partitions):
            return partitioned_shares(self._model(), self._reading(), X)
        return self._model().infer(self.encode(X)).shares

    def segment(self, X: Any, *, posteriors: bool = False) -> Any:
        """A topic for every word of every document; `Segmented.runs` are its segments.

        With ``posteriors``, also the probabilities of all topics at every word.  Of `Partitions`,
        a collection of their engine, with words, topics and probabilities of every row.
        """
        if isinstance(X, Partitions):
            if posteriors:
                raise ValueError("posteriors of all topics are for documents in memory")
            return partitioned_segments(self._model(), self._reading(), X)
        return self._model().segment(self.encode(X), posteriors=posteriors)

    def score(self, X: Any, y: Any = None) -> float:
        """log P(X), every word given those before it in its document."""
        return likelihood(self._model(), self.encode(X)).log_likelihood

    def perplexity(self, X: Any, method: Method = "words") -> float:
        """The perplexity of documents: see `cohmm.topics.perplexity`."""
        return likelihood(self._model(), self.encode(X), method).perplexity

    def over(
        self,
        documents: Any = None,
        by: Any = None,
        period: Period | Literal["class"] | None = None,
        *,
        level: float = LEVEL,
    ) -> TopicsOver:
        """The share and the mean run of every topic in every period, or class, with intervals.

        Parameters
        ----------
        documents : as for ``fit``, or None
            None: those of training.
        by : dates or classes, one per document
            Dates are `datetime`, `date`, `numpy.datetime64`, those of pandas, years, or text
            such as "1987-02-26", "1987-02" or "26-FEB-1987 15:01:01".
        period : "hour", "day", "week", "month", "quarter", "year", "decade", "century" or "class"
            How long periods are.  Default: the shortest that makes at most 40, where ``by`` are
            dates; "class": every value is a class of its own.
        level : float
            How often an interval should hold the truth.  It takes the documents of a group for
            a sample, and the topics as given; a group of one document has none.

        >>> texts = ["oil gas oil", "wheat corn wheat", "oil gas", "corn wheat corn"] * 9
        >>> topics = HTMM(2, random_state=0).fit(texts)
        >>> over = topics.over(texts, by=[1987, 1987, 1988, 1988] * 9)
        >>> over
        TopicsOver(2 periods (year), 1987 to 1988; 2 topics, 36 documents)
        >>> over.share.round(2)
        array([[0.5, 0.5],
               [0.6, 0.4]])
        """
        self._fitted()
        if by is None:
            raise ValueError("by has one date or class per document, and is missing")
        data = self._in_memory("over", documents)
        return topics_over(self._model(), data, groups_of(by, data, period), level=level)

    # -- finding documents, and passages -----------------------------------------------------

    def index(self, documents: Any = None) -> TopicIndex:
        """Documents with their shares of topics, so that many searches cost little.

        ``documents`` are as for ``fit``; default: those of training.

        >>> texts = ["oil gas oil", "wheat corn wheat", "gold ore gold"] * 9
        >>> HTMM(3, random_state=0).fit(texts).index()
        TopicIndex(27 documents, 3 topics)
        """
        if isinstance(documents, TopicIndex):
            return documents
        data, model = self._in_memory("search", documents), self._model()
        kept: tuple[TopicFit, str, TopicIndex] | None = getattr(self, "_index", None)
        if kept is not None and kept[:2] == (self.fit_, self.chain) and kept[2].documents is data:
            return kept[2]
        index = TopicIndex.of(model, data)
        self._index = (self.fit_, self.chain, index)
        return index

    def search(self, query: str | Iterable[str], documents: Any = None, n: int = 10) -> list[Hit]:
        """The ``n`` documents that answer a query, by its words and by their topics.

        Parameters
        ----------
        query : str, or list of words
            What is looked for; a string becomes words as documents do.
        documents : as for ``fit``, or a `TopicIndex`, or None
            Where; an index, which `index` makes, is searched at once.  None: those of training.
        n : int
            How many, at most.

        >>> texts = ["oil gas oil", "wheat corn wheat", "gold ore gold"] * 9
        >>> [hit.document for hit in HTMM(3, random_state=0).fit(texts).search("corn", n=2)]
        [1, 4]
        """
        return self.index(documents).search(self._query(query), n)

    def similar(self, documents: Any, n: int = 5, *, among: Any = None) -> list[list[Hit]]:
        """For each of ``documents``, the ``n`` that are most alike by their topics.

        ``among``, as for ``fit`` or a `TopicIndex`, is where to look; default: those of training.

        >>> texts = ["oil gas oil", "wheat corn wheat", "gold ore gold"] * 9
        >>> HTMM(3, random_state=0).fit(texts).similar(["corn"], 1)[0][0].document
        1
        """
        index = self.index(among)
        return index.similar(self._model().infer(self.encode(documents)).shares, n)

    def representative(self, n: int = 5, documents: Any = None) -> list[list[Hit]]:
        """For every topic, the ``n`` documents that are most about it; see `TopicIndex`.

        >>> texts = ["oil gas oil", "wheat corn wheat", "gold ore gold"] * 9
        >>> len(HTMM(3, random_state=0).fit(texts).representative(2))
        3
        """
        return self.index(documents).representative(n)

    def passages(self, documents: Any, *, length: float | None = None) -> list[list[Passage]]:
        """Where each document changes subject, coarser than words; see `cohmm.topics.passages`.

        Parameters
        ----------
        documents : list of str, or of lists of words, or a path
            Raw texts, whose sentences end with their punctuation: passages are whole sentences,
            and say which characters of the text they are.
        length : float, optional
            Words that a passage should have, on average; default: learned from the documents.

        >>> oil, grain = "Oil and gas rose. Gas fell. ", "Wheat and corn fell. Corn rose. "
        >>> topics = HTMM(2, random_state=0).fit([oil * 9, grain * 9] * 5)
        >>> [len(cut) for cut in topics.passages([oil * 4 + grain * 4])]
        [2]
        """
        self._fitted()
        cut = as_analyzer(self.analyzer, self.token_pattern, self.lowercase)
        ignored = as_stop_words(self.stop_words)
        raw = raw_documents(documents)
        return passages(
            self._model(), raw, lambda: WordCodes(cut, self.lowercase), ignored, length=length
        )

    # -- how topics belong together ----------------------------------------------------------

    def tree(self, *, n_words: int = 3) -> TopicTree[Self]:
        """Which topics merge, from all of them to one: see `cohmm.topics.tree`.

        ``tree.cut(8)`` is the model with eight topics, ``n_words`` are those of every node.

        >>> texts = ["oil gas oil", "gas oil gas", "gold ore gold"] * 9
        >>> HTMM(3, random_state=0).fit(texts).tree().cut(1).transform(["oil"])
        array([[1.]])
        """
        return topic_tree(self._fitted(), self._merged, n_words=n_words)

    # -- how good they are, and how sure -----------------------------------------------------

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
        reference = self._documents("coherence", documents)
        each = coherence(fit.components, reference, measure, **options)
        return each if by_topic else float(each.mean())

    def junk(self, documents: Any = None) -> dict[int, str]:
        """The topics that say little, each with the reason: `drop` takes the result.

        "encoded", "numbers", "one document" or "function words": `cohmm.topics.junk` says by which
        figures, which ``to_frame("topics")`` has.  Of the training documents by default.

        >>> texts = ["oil gas oil", "wheat corn wheat"] * 30 + ["m9v8 x0q 7zz " * 40]
        >>> topics = HTMM(3, random_state=0).fit(texts)
        >>> topics.junk(), topics.drop(topics.junk())
        ({0: 'encoded'}, HTMM(n_components=2, random_state=0))
        """
        data = self._documents("junk", documents)
        return Junk.of(self._model(), data.select(data.some(MAX_DECODED))).topics

    def stability(self, documents: Any = None, n: int = 5, *, top: int = TOP) -> Stability:
        """Learn again from ``n`` other seeds, and say which topics come back.

        Parameters
        ----------
        documents : as for ``fit``, or None
            None: those of training.  Words are those of this model.
        n : int
            How many seeds: those after ``random_state``, or from 0 where it is None.  Every
            other parameter is that of this model.
        top : int
            How many top words to compare.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.stability(n=3, top=2)
        Stability(3 seeds: total variation 0.000, 100% of top words shared, 0 of 2 topics lost)
        """
        fit = self._fitted()
        check_whole(2, n=n)
        data = self._documents("stability", documents)
        model = clone(self).set_params(n_components=fit.n_components)
        first = 0 if self.random_state is None else self.random_state + 1
        seeds = range(first, first + int(n))
        fits = [model.set_params(random_state=seed).fit(data).components_ for seed in seeds]
        return stability(fit.components, fits, fit.vocabulary, top=top)

    def standard_errors(self, documents: Any = None, *, n_groups: int = GROUPS) -> TopicErrors:
        """How sure words, transitions and prevalence are: see `cohmm.diagnose.TopicErrors`.

        By leaving out one group of documents after the other, in one pass over them.

        Parameters
        ----------
        documents
            What the topics are from; default: the training documents.
        n_groups : int
            Groups of documents.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil pipe", "wheat corn wheat"] * 9)
        >>> topics.standard_errors().top_words(1)[0][0].word in ("oil", "wheat")
        True
        """
        fit = self._fitted()
        data = self._in_memory("standard_errors", documents)
        weights = getattr(self, "_weights", None) if documents is None else None
        return topic_errors(fit, data, weights, n_groups=n_groups)

    def diagnose(self, *, random_state: Any = 0) -> Diagnosis:
        """How many topics the pairs can show, which are well determined: ``print`` it.

        From the counts of pairs that the model was learned from; one loaded from a file without
        them answers about its topics alone.
        """
        return diagnose(self, random_state=random_state)

    # -- tables and files --------------------------------------------------------------------

    def to_frame(
        self,
        what: TopicTable,
        documents: Any = None,
        *,
        n_words: int = 10,
        order: Order = "relevance",
    ) -> Any:
        """A pandas data frame, in long form; needs pandas.

        ``what``: "topics" (share, mean run, coherence, contrast, figures and verdict of
        `cohmm.topics.junk`, top words), "words" (the ``n_words`` top words of every topic),
        "transitions"; of documents, those of training where none are given: "documents" (the
        share of every topic), "tokens" (a topic for every word), "segments" (runs of one topic).
        Of a model loaded from a file and no documents, "topics" has share and words alone.
        Contrast tells subjects, near 1, from sections, near 0: see `cohmm.topics.overview`.
        ``order`` is that of top words: "relevance", "probability" or "frex" (see `top_words`).
        Where topics have labels, these stand beside the numbers.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.to_frame("tokens", ["oil corn"]).columns.tolist()
        ['document', 'place', 'word', 'topic', 'probability']
        """
        known = self._known(documents)
        return topic_frame(what, self._model(), known, n_words=n_words, order=order)

    def to_pyldavis(self, documents: Any = None) -> dict[str, Any]:
        """The five arrays of ``pyLDAvis.prepare``, by name; documents of training by default.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.to_pyldavis()["term_frequency"].tolist()  # of corn, gas, oil, wheat
        [9, 9, 18, 18]
        """
        data = self._documents("to_pyldavis", documents)
        return pyldavis_arrays(self._fitted(), data, self._model().infer(data).shares)

    def to_gensim(
        self, documents: Any = None, *, n_words: int = 10, minimum_probability: float = 0.01
    ) -> dict[str, Any]:
        """What gensim's `LdaModel` would answer, as plain lists.

        "topics" as ``show_topics(formatted=False)`` has them, (topic, [(word, probability)]);
        "id2word"; and "document_topics" as ``get_document_topics``, of training by default:
        a model loaded from a file has none.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> [words[0][0] for _, words in topics.to_gensim(n_words=2)["topics"]]
        ['wheat', 'oil']
        """
        shares = self._known_shares(documents)
        return gensim_lists(self._fitted(), shares, n_words, minimum_probability)

    def to_octis(self, documents: Any = None, *, n_words: int = 10) -> dict[str, Any]:
        """What a model of OCTIS returns, for its measures.

        "topics", lists of top words; "topic-word-matrix", (K, V); "topic-document-matrix",
        (K, D), of training by default: a model loaded from a file has none.

        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.to_octis(n_words=2)["topic-document-matrix"].shape
        (2, 18)
        """
        return octis_output(self._fitted(), self._known_shares(documents), n_words)

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
        if counts and fit.counts is None:
            raise ValueError(
                "there are no counts to save: the model was loaded from a file without any"
            )
        if not counts:
            save_fit(path, replace(fit, counts=None), self.get_params())
            return
        seen = getattr(self, "_words_seen", None)
        if seen is None and isinstance(getattr(self, "_everything", None), Documents):
            seen = WordsSeen.of(self._everything, fit.vocabulary)
        save_fit(path, fit, self.get_params(), seen)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, analyzer: Analyzer | str | None = None) -> Self:
        """Read a model that `save` wrote.

        A model may name its ``analyzer``.  A file does not choose what is imported: import the
        module first, or give the analyzer.
        """
        fit, parameters, seen = load_fit(path, cls._get_param_names())
        if analyzer is not None:
            parameters["analyzer"] = analyzer
        elif parameters.get("analyzer") not in (None, "word"):
            try:
                check_trusted(str(parameters["analyzer"]))
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
        model = cls(**parameters)
        model.fit_, model._words_seen = fit, WordsSeen(*seen) if seen else WordsSeen(0, {})
        return model

    # -- scikit-learn ------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def __sklearn_tags__(self) -> Any:
        """Documents are text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    @property
    def _n_features_out(self) -> int:
        return self._fitted().n_components

    # -- inside ------------------------------------------------------------------------------

    def _learning(self, callback: Callback | None = None) -> dict[str, Any]:
        """Options of all learners."""
        return {
            "refine": self.refine,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "random_state": self.random_state,
            "callback": callback or progress_log(self.verbose),
        }

    def _warn_if_cut_short(self) -> None:
        if not self.converged_:
            warn(
                f"topics were still changing after {self.n_iter_} passes over the pairs: raise "
                "max_iter (or tol, if they need not be so settled); these are the best so far",
                ConvergenceWarning,
            )

    def _all_words(self, X: Any) -> Any:
        """Documents in all words that are no stop words; Partitions in those that are learned."""
        options = {name: getattr(self, name) for name in TEXT_OPTIONS}
        if self.vocabulary is not None or isinstance(X, (Partitions, Partitioned)):
            return read_documents(X, **options)
        self._pruning()  # is checked before anything is read
        with silenced(
            EmptyDocumentsWarning
        ):  # of empty documents, which there are more of afterwards
            return read_documents(X, **options | {"min_df": 1, "max_df": 1.0, "max_features": None})

    def _pruned(self, everything: Any, known: tuple[str, ...] = ()) -> Any:
        """Documents in the words that ``min_df`` and the like keep, and in those that are known."""
        if self.vocabulary is not None or isinstance(everything, Partitioned):
            return everything
        return pruned(everything, self._pruning(), known)

    def _pruning(self) -> Pruning:
        stop_words = as_stop_words(self.stop_words)
        return Pruning(stop_words, self.min_df, self.max_df, self.max_features)

    def _cut_seeds(self, vocabulary: tuple[str, ...]) -> Any:
        """Seed words, of which those that no document has are cut into words as text is."""
        seeds = self.seed_words
        if isinstance(seeds, str) or not isinstance(seeds, Iterable):
            return seeds
        cut = as_analyzer(self.analyzer, self.token_pattern, self.lowercase)
        known = set(vocabulary)

        def words(of_topic: Any) -> Any:
            if isinstance(of_topic, str) or not isinstance(of_topic, Iterable):
                return of_topic
            return [
                word
                for seed in of_topic
                for word in (
                    [seed]
                    if seed in known or not isinstance(seed, str)
                    else cut_words([seed], cut, self.lowercase) or [seed]
                )
            ]

        if isinstance(seeds, Mapping):
            return {label: words(of_topic) for label, of_topic in seeds.items()}
        return [words(of_topic) for of_topic in seeds]

    def _reading(self) -> dict[str, Any]:
        """How texts become words of the model."""
        options = {name: getattr(self, name) for name in TEXT_OPTIONS}
        return options | {"vocabulary": self._fitted().vocabulary}

    def _fitted(self) -> TopicFit:
        check_is_fitted(self)
        return self.fit_

    def _model(self) -> TopicFit:
        """The topics, with documents inferred by the chain of this estimator."""
        return self._fitted().as_chain(self.chain)

    def _documents(self, what: str, documents: Any) -> Any:
        """The documents in the words of the model, or those of training where none are given."""
        known = self._known(documents)
        if known is None:
            raise ValueError(
                f"{what} needs the training documents, which a model loaded from a file does not "
                "have: give documents"
            )
        return known

    def _in_memory(self, what: str, documents: Any) -> Documents:
        data = self._documents(what, documents)
        if not isinstance(data, Documents):
            raise ValueError(f"{what} is for documents in memory, not for Partitions: give some")
        return data

    def _known(self, documents: Any) -> Any:
        """The documents, those of training where none are given, or None where there are none."""
        self._fitted()
        return getattr(self, "documents_", None) if documents is None else self.encode(documents)

    def _known_shares(self, documents: Any) -> Floats | None:
        known = self._known(documents)
        return None if known is None else self._model().infer(known).shares

    def _merged(self, groups: list[list[int]]) -> Self:
        return self.merge(groups) if groups else self

    def _query(self, query: str | Iterable[str]) -> list[str]:
        """The words of a query, those that the topics do not know among them."""
        if not isinstance(query, str):
            return list(query)
        cut = as_analyzer(self.analyzer, self.token_pattern, self.lowercase)
        return cut_words([query], cut, self.lowercase)

    def _with_fit(self, fit: TopicFit) -> Self:
        model = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):  # settings that scikit-learn keeps: not shared
                setattr(model, name, dict(value))
        model.fit_, model.n_components = fit, fit.n_components
        return model


def _own_words(X: Any) -> tuple[str, ...]:
    """The words of `Documents`, which are taken as they are."""
    return X.vocabulary if isinstance(X, Documents) else ()
