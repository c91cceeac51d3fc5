"""Topic models side by side: the same documents, the same split, scored by the same code.

    coherence    the paper's, top 20 words, eps .01, in the documents learned from
    npmi         top 10 words, in the documents learned from; mean over topics
    npmi-median  the same, median over topics: a few topics of junk cannot raise it
    npmi-window  as npmi, in windows of 10 words that slide over these documents
    diversity    the share of distinct words among the top 25
    coverage     the share of the words of these documents that topics have which are not junk
                 (`cohmm.topics.junk`)
    twins        pairs of topics that are nearly the same: total variation below 0.3
    perplexity   of held-out documents, every word given those before it
    completion   perplexity of the second halves of held-out documents, given the first
    training     perplexity of the documents learned from, by chains fitted to them: the paper's
    chained      as perplexity, but with the topics inside the sticky chain, whose rate of switching
                 is learned for them

A bag of words is scored as one, but for the last.  Top words are the most probable ones, by
p(word | topic).  The first five are also there as coherence-relevance, and so on, of the words
that are distinctive: by relevance, l = 1/2 (`cohmm.topics.top_words`), and for BERTopic by
c-TF-IDF, as it shows words itself.  Compare models under one order: distinctive words are rarer,
which changes all five.  A measure that does not apply to a model, as perplexity to BERTopic, is
left out.  docs/measures.md says how each can mislead.

Where there are several seeds, means have one figure more:

    stability    the mean matched total variation of the topics of every two seeds
                 (`cohmm.topics.stability`): 0 says that they are the same.  As each seed draws
                 a split, it has the change of a tenth of the documents in it, for all models alike
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.anchor_words import anchor_words
from cohmm.learn.topics.bertopic import BERTopicFit, bertopic
from cohmm.learn.topics.htmm import htmm, with_chain
from cohmm.learn.topics.lda import lda
from cohmm.learn.topics.plsa import plsa
from cohmm.learn.topics.sticky_em import gruber
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.topic_model import Chain
from cohmm.topics.coherence import Measure, coherence
from cohmm.topics.junk import Junk, twins
from cohmm.topics.perplexity import Method, perplexity
from cohmm.topics.stability import variation_between
from cohmm.topics.top_words import Order, top_codes

HELD_OUT = 0.1
WINDOW = 10  # words, as those who defined NPMI of topics have it (Roeder et al., 2015)
BY_WORDS = ("coherence", "npmi", "npmi-median", "npmi-window", "diversity")
BY_RELEVANCE = tuple(f"{name}-relevance" for name in BY_WORDS)
OF_TOPICS = ("coverage", "twins")
OF_A_LAW = ("perplexity", "completion", "training", "chained")
DEFAULT_MEASURES = (*BY_WORDS, *OF_TOPICS, "perplexity", *BY_RELEVANCE)


class Rival(NamedTuple):
    """A way to learn topics."""

    label: str
    learn: Callable[..., TopicFit]  # documents, K, random_state=; embedding= where it embeds
    chain: Chain = "independent"  # by which documents are inferred
    package: str | None = None  # that must be installed
    usual: bool = True  # whether it is compared where none are named
    extra: str = "compare"  # of ours, which installs the package
    embeds: bool = False  # whether a language model reads the documents

    @property
    def is_installed(self) -> bool:
        """Whether it can be run here."""
        return self.package is None or find_spec(self.package) is not None


RIVALS: dict[str, Rival] = {
    "htmm": Rival("HTMM", htmm, "sticky"),
    "htmm-three-passes": Rival(
        "HTMM, three passes", partial(htmm, refine=3), "sticky", usual=False
    ),
    "htmm-pairs": Rival("HTMM, pairs only", partial(htmm, refine=0), "sticky", usual=False),
    "htmm-paper": Rival("HTMM, the paper's", partial(htmm, lags=1, refine=0), "full", usual=False),
    "gruber": Rival("HTMM, Gruber's", gruber, "sticky"),
    "lda-tomotopy": Rival("LDA tomotopy", partial(lda, engine="tomotopy"), package="tomotopy"),
    "lda-gensim": Rival("LDA gensim", partial(lda, engine="gensim"), package="gensim"),
    "lda-sklearn": Rival("LDA sklearn", partial(lda, engine="sklearn")),
    "plsa": Rival("pLSA", plsa),
    "anchor-words": Rival("anchor words KL", partial(anchor_words, recover="kl")),
    "bertopic": Rival(
        "BERTopic", bertopic, package="bertopic", usual=False, extra="bertopic", embeds=True
    ),
}


class Judged(NamedTuple):
    """Topics, and the documents by which they are judged."""

    fit: TopicFit
    train: Documents
    held_out: Documents
    chain: Chain

    def has(self, measure: str) -> bool:
        """Whether a measure applies: clusters of documents are no law of their words."""
        return measure not in OF_A_LAW or not isinstance(self.fit, BERTopicFit)

    def top(self, n: int, by: Order) -> Ints:
        """The codes of so many top words of every topic, (K, n), or of all that there are."""
        n = min(n, len(self.fit.vocabulary))
        if by != "probability" and isinstance(self.fit, BERTopicFit):
            return top_codes(self.fit.distinctive, n)
        return top_codes(self.fit.components, n, by, self.fit.prevalence)

    def coherence(
        self, measure: Measure, n: int, by: Order = "probability", window: int | None = None
    ) -> Floats:
        """Of every topic, (K,)."""
        words = [[self.fit.vocabulary[code] for code in row] for row in self.top(n, by).tolist()]
        return coherence(words, self.train, measure, window=window)

    def diversity(self, by: Order = "probability") -> float:
        """The share of distinct words among the top 25."""
        codes = self.top(25, by)
        return len(np.unique(codes)) / codes.size

    def coverage(self) -> float:
        """The share of the words learned from that are of a topic which is not junk."""
        shares = self.shares()
        junk = Junk.of(self.fit, self.train, shares).topics
        kept = [k for k in range(self.fit.n_components) if k not in junk]
        lengths = self.train.lengths
        return float(lengths @ shares[:, kept].sum(axis=1) / lengths.sum())

    def shares(self) -> Floats:
        """Of every topic in the documents learned from, (D, K); 0 in those that have none."""
        if not isinstance(self.fit, BERTopicFit):
            return self.fit.as_chain(self.chain).infer(self.train).shares
        own = self.fit.document_topics[:, None] == np.arange(self.fit.n_components)
        return np.asarray(own, np.float64)

    def perplexity(self, method: Method = "words") -> float:
        """Of held-out documents, or of those learned from."""
        documents = self.train if method == "training" else self.held_out
        return perplexity(self.fit, documents, chain=self.chain, method=method)

    def chained(self) -> float:
        """The perplexity of a bag of words with the sticky chain that suits it."""
        bag = self.fit.chain == "independent"
        return perplexity(with_chain(self.fit, self.train) if bag else self.fit, self.held_out)


def _by_words(by: Order) -> dict[str, Callable[[Judged], float]]:
    """`BY_WORDS` under an order of words."""
    return {
        "coherence": lambda j: float(j.coherence("paper", 20, by).mean()),
        "npmi": lambda j: float(j.coherence("npmi", 10, by).mean()),
        "npmi-median": lambda j: float(np.median(j.coherence("npmi", 10, by))),
        "npmi-window": lambda j: float(j.coherence("npmi", 10, by, WINDOW).mean()),
        "diversity": lambda j: j.diversity(by),
    }


MEASURES: dict[str, Callable[[Judged], float]] = {
    **_by_words("probability"),
    **{f"{name}-relevance": score for name, score in _by_words("relevance").items()},
    "coverage": Judged.coverage,
    "twins": lambda j: float(len(twins(j.fit.components))),
    "perplexity": Judged.perplexity,
    "completion": lambda j: j.perplexity("completion"),
    "training": lambda j: j.perplexity("training"),
    "chained": Judged.chained,
}


@dataclass(frozen=True)
class Compared:
    """One model, learned once, and its scores: the names are those of `MEASURES`.

    A measure that does not apply to the model has no score.  ``failed`` says why there are none at
    all: a learner that some documents do not suit.  ``topics`` are those that were learned.
    """

    model: str
    n_components: int
    seed: int
    seconds: float
    scores: dict[str, float]
    failed: str | None = None
    topics: TopicFit | None = field(default=None, repr=False, compare=False)

    def as_row(self) -> dict[str, Any]:
        """For a table: ``model``, ``K``, ``seed``, the scores, ``seconds``."""
        begin = {"model": self.model, "K": self.n_components, "seed": self.seed}
        return begin | self.scores | {"seconds": self.seconds}


def mean_rows(compared: Iterable[Compared]) -> list[dict[str, Any]]:
    """Means over the seeds: ``model``, ``K``, ``seeds``, the scores, ``seconds``.

    What failed is left out.  Several seeds have ``stability``: see the module.

    >>> runs = [Compared("plsa", 5, s, 1.0 + s, {"npmi": .1 + .2 * s}) for s in (0, 1)]
    >>> mean_rows(runs)
    [{'model': 'plsa', 'K': 5, 'seeds': 2, 'npmi': 0.2, 'seconds': 1.5}]
    """
    groups: dict[tuple[str, int], list[Compared]] = {}
    for one in compared:
        if one.failed is None:
            groups.setdefault((one.model, one.n_components), []).append(one)
    return [
        {"model": model, "K": k, "seeds": len(runs)}
        | {name: sum(one.scores[name] for one in runs) / len(runs) for name in runs[0].scores}
        | _stability(runs)
        | {"seconds": sum(one.seconds for one in runs) / len(runs)}
        for (model, k), runs in groups.items()
    ]


def _stability(runs: list[Compared]) -> dict[str, float]:
    fits = [one.topics for one in runs if one.topics is not None]
    return {"stability": variation_between(fits)} if len(fits) > 1 else {}


def compare(
    documents: Documents,
    models: Iterable[str],
    sizes: Iterable[int],
    seeds: Iterable[int] = (0,),
    *,
    held_out: float = HELD_OUT,
    measures: Sequence[str] = DEFAULT_MEASURES,
    embedding: Any = None,
) -> Iterator[Compared]:
    """Learn topics by every model, and score them, one after the other.

    Parameters
    ----------
    documents : Documents
        The corpus.
    models : names in `RIVALS`
        What to compare.
    sizes : whole numbers
        Numbers of topics.
    seeds : whole numbers
        Each draws a split, the same for all models, and is the seed of the learners.
    held_out : float
        The share of the documents that is not learned from.
    measures : names in `MEASURES`
        What to score: see the module.
    embedding : folder or model, optional
        The language model of BERTopic: see `cohmm.learn.topics.bertopic.bertopic`.  It reads the
        words that all models learn from.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(100, n_components=2, n_words=200, random_state=0)
    >>> for compared in compare(sample.documents, ["htmm", "plsa"], [2]):
    ...     print(compared.model, *list(compared.scores)[:5])
    htmm coherence npmi npmi-median npmi-window diversity
    plsa coherence npmi npmi-median npmi-window diversity
    """
    models, sizes, seeds = list(models), list(sizes), list(seeds)
    _check("model", models, list(RIVALS))
    _check("measure", measures, list(MEASURES))
    for k in sizes:
        if not 1 <= k <= documents.n_symbols:
            raise ValueError(
                f"{k} topics cannot be learned from a vocabulary of {documents.n_symbols:,} words"
            )
    parts = {seed: part(documents, held_out, seed) for seed in seeds}
    return (
        compare_one(*parts[seed], model, k, seed, measures, embedding)
        for k in sizes
        for model in models
        for seed in seeds
    )


def _check(what: str, names: Iterable[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {what} {name!r}: choose from {', '.join(known)}")


def part(documents: Documents, held_out: float, seed: int) -> tuple[Documents, Documents]:
    """What to learn from, and what is held out, in the words of what is learned from.

    A word that nothing was learned about would be judged by nothing but how models smooth.
    """
    train, other = documents.split(1 - held_out, random_state=seed)
    train, other = in_words_of(train, train), in_words_of(other, train)
    for what, some in (("learn from", train), ("hold out", other)):
        if not some.n_words:
            raise ValueError(f"there is no known word in the {len(some)} documents to {what}")
    return train, other


def in_words_of(documents: Documents, train: Documents) -> Documents:
    """Documents with the words alone that ``train`` has."""
    seen = np.unique(train.symbols).tolist()
    return documents.in_words(tuple(documents.vocabulary[code] for code in seen), n_unknown=0)


def compare_one(
    train: Documents,
    held_out: Documents,
    model: str,
    n_components: int,
    seed: int,
    measures: Sequence[str] = DEFAULT_MEASURES,
    embedding: Any = None,
) -> Compared:
    """One model on one split."""
    rival = RIVALS[model]
    options = {"embedding": embedding} if rival.embeds else {}
    began = time.perf_counter()
    try:
        fit = rival.learn(train, n_components, random_state=seed, **options)
        seconds = time.perf_counter() - began
        judged = Judged(fit, train, held_out, rival.chain)
        scores = {name: MEASURES[name](judged) for name in measures if judged.has(name)}
    except ValueError as error:
        seconds = time.perf_counter() - began
        return Compared(model, n_components, seed, seconds, {}, str(error))
    return Compared(model, n_components, seed, seconds, scores, topics=replace(fit, counts=None))
