"""The hidden topic Markov model: topics from pairs of words, then a pass over the documents.

    1. at which distances to pair words, as far as they still show topics
       (`cohmm.learn.topics.topic_lags`);
    2. count which word follows which, at these lags, and sum them; where the number of passes over
       documents is to be chosen, all but some documents that are held back;
    3. start from clusters of words (`cohmm.learn.topics.topic_start`);
    4. Omega ~ M Theta M' by Algorithm 1 of the paper, until topics have settled, and none is a copy
       of another (both in `cohmm.learn.topics.pair_topics`);
    5. the chain of a document: how often a topic is drawn anew, and how many draws the prior of
       its topics is worth, with M as it is (`cohmm.learn.topics.switch_rate`);
    6. passes of EM over the documents, in which each is a sticky chain with topic proportions of
       its own (`cohmm.learn.topics.sticky_em`); they update M.  Topics are drawn anew more often
       than they will be, at a power of that rate: a word's own say, which its neighbours would
       drown, gives topics that differ more.  There are as many passes as ``refine`` says, or as
       documents held back do not mind (`cohmm.learn.topics.document_passes`);
    7. the chain again, and the corpus' transitions, as these chains expect them.

The passes stay within the paper's model: sticky chains have Theta_lag = s diag(pi) +
(1 - s) E[p p'], s = (1 - switch)^lag, and so Omega_lag = M Theta_lag M'.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from cohmm._validation import check_states, check_whole
from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_documents
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, Record, learner, warn
from cohmm.learn.pairs.pair_evidence import States
from cohmm.learn.topics.document_passes import HeldBack, passes_by_held_back
from cohmm.learn.topics.pair_topics import SeedWords, checked_seeds, topics_of_pairs
from cohmm.learn.topics.sticky_em import (
    SMOOTHING,
    START_SWITCH,
    corpus_transitions,
    expected_counts,
    sticky_chain,
    sticky_transitions,
    tempered_switch,
)
from cohmm.learn.topics.switch_rate import (
    best_chain,
    fit_switch_rate,
    leave_out_topics,
    settled_switch,
)
from cohmm.learn.topics.topic_fit import TopicFit, topic_fit
from cohmm.learn.topics.topic_lags import TopicLags, lag_shares
from cohmm.learn.topics.twins import twins
from cohmm.model.hmm import HMM

Passes = int | Literal["auto"]


@learner
def htmm(
    documents: Documents | Partitioned,
    n_components: States,
    *,
    lags: TopicLags = "auto",
    refine: Passes = "auto",
    max_iter: int = 1000,
    tol: float = 5e-3,
    n_init: int = 1,
    weights: Any = None,
    smoothing: float = SMOOTHING,
    random_state: int | None = None,
    seed_words: SeedWords | None = None,
    start: HMM | None = None,
    counts: Cooccurrence | None = None,
    callback: Callback | None = None,
) -> TopicFit:
    """Learn topics from documents whose words have an order.

    Parameters
    ----------
    documents : Documents or Partitioned
        The corpus.
    n_components : int or "auto"
        Number of topics; "auto": as many as stand out from the noise.
    lags : "auto", int, several, or a mapping
        Distances at which pairs are counted.  "auto": 1 to 5, and far ones, each as much as its
        pairs still show of the topics.  Those given count alike, or as the mapping says, such as
        ``{1: 1.0, 8: 0.5}``.  One alone finds phrases.
    refine : int or "auto"
        Passes over the documents after the pairs; 0: none.  "auto": as many as suit the corpus,
        chosen by some documents that are held back; one where there are few, or a start is given.
    max_iter : int
        Passes over the pairs, at most.  Of a large vocabulary most are over the pairs of its
        frequent words (`cohmm.learn.topics.pair_topics`).
    tol : float
        Topics have settled, and passes over the pairs stop, when a pass changes none of them by
        more than this share of its words: total variation, seen over ten passes.
    n_init : int
        Starts.  Of several, each is followed for 20 passes over the pairs, and the one with the
        lowest objective is learned from.
    weights : array, (D,), optional
        One weight per document.
    smoothing : float
        Pseudo-observations of every word that each topic is given.
    random_state : int, optional
        Seed of the clusters.
    seed_words : mapping from labels to lists of words, or list of lists, optional
        What some of the topics start from, and are called: see `cohmm.learn.topics.pair_topics`.
    start : HMM, optional
        Where to start, instead of clusters; of several starts, the first.
    counts : Cooccurrence, optional
        The pairs of these documents, where they are counted already.
    callback : function of a `Progress`, optional
        Called with every pass that was kept, first over the pairs (of several starts, those by
        which they are compared come before), then over the documents.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(200, n_components=3, n_words=60, random_state=0)
    >>> fit = htmm(sample.documents, 3, random_state=0)
    >>> fit.transitions.shape, 0 < fit.switch < 1
    ((3, 3), True)
    """
    record = Record(callback)
    vocabulary, n_words = documents.vocabulary, documents.n_symbols
    if refine != "auto":
        check_whole(0, refine=refine)
    if n_components != "auto":
        check_states(n_components, n_words, "topics", "words")
    seeds = checked_seeds(
        seed_words, vocabulary, n_words if n_components == "auto" else n_components
    )
    if start is not None and start.vocabulary not in (None, vocabulary):
        raise ValueError("start has other words than the documents, or in another order")
    if counts is not None and not (
        isinstance(counts, Cooccurrence) and counts.vocabulary == vocabulary
    ):
        raise ValueError(
            f"counts must be of the {n_words} words of these documents, in their order, "
            f"not {counts!r}"
        )
    # 1. lags
    shares = lag_shares(lags, documents)
    # 2. counts of pairs
    if counts is None:
        counts = count_documents(documents, shares, weights)
    weights = documents.checked_weights(weights)
    held_back = None
    if refine == "auto" and start is None:  # where it comes from is not known
        held_back = HeldBack.of(documents, weights)
    # 3, 4. start, and learn from pairs
    pairs = topics_of_pairs(
        counts,
        n_components,
        max_iter=max_iter,
        tol=tol,
        n_init=n_init,
        random_state=random_state,
        shares={lag: shares.get(lag, 0.0) for lag in counts.lags},
        seeds=seeds,
        start=start,
        held_back=None if held_back is None else held_back.counts(counts),
        callback=callback,
    )
    prevalence, transitions = pairs.model.stationary(), pairs.model.transmat
    expected = pairs.model.emissionprob.T * (counts.symbol_counts.sum() * prevalence)
    chain = sticky_chain(expected + smoothing, prevalence, START_SWITCH)
    choices = None
    if held_back is not None:
        # 5. the chain of a document
        chain = held_back.trials(chain).best
        # 6. passes over the documents
        chain, choices = passes_by_held_back(
            documents, weights, chain, held_back, smoothing, record, shares
        )
    else:
        # 5. the chain of a document
        chain = fit_switch_rate(chain, documents, weights)
        # 6. passes over the documents
        for n_pass in range(1 if refine == "auto" else refine):
            tempered = tempered_switch(chain)
            counted = expected_counts(documents, tempered, weights)
            chain = counted.maximized(smoothing, chain.prior.sum())._replace(switch=chain.switch)
            record(n_pass + 1, counted.objective)
        # 7. the chain again
        if refine:
            unread = leave_out_topics(documents, weights, tempered, counted, smoothing)
            chain = best_chain(chain, unread)
    # 7. the corpus' transitions
    if refine:
        transitions = corpus_transitions(documents, chain, weights)
    _warn_of_twins(chain.emission.T, len(seeds.words))
    return topic_fit(
        chain.emission.T,
        chain.prior,
        vocabulary,
        prior=chain.prior,
        transitions=transitions,
        switch=chain.switch,
        labels=pairs.labels,
        name="HTMM",
        converged=pairs.converged,
        history=pairs.history,
        seconds=record.seconds,
        passes=tuple(record.history),
        starts=pairs.starts,
        counts=counts,
        choices=choices,
    )


def _warn_of_twins(components: Floats, n_seeds: int) -> None:
    n, k = len(twins(components, spared=n_seeds)), len(components)
    if n:
        warn(
            f"{n} of {k} topics {'is' if n == 1 else 'are'} nearly a copy of another: "
            "there are no more topics to tell apart in these documents, so ask for fewer"
        )


@learner
def with_chain(fit: TopicFit, documents: Documents, transitions: Any = None) -> TopicFit:
    """Topics that were learned as bags of words, with the chain that suits them.

    The rate of switching is learned from ``documents``, the topics staying as they are.  The
    corpus' transitions, where not given, are `sticky_transitions`.
    """
    switch = settled_switch(documents, sticky_chain(fit.components.T, fit.prior, START_SWITCH))
    if transitions is None:
        transitions = sticky_transitions(fit.prevalence, switch)
    return replace(fit, switch=switch, transitions=transitions, chain="sticky")
