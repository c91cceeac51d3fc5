"""The hidden topic Markov model: topics from pairs of words, then a pass over the documents.

    1. count which word follows which, at several lags, and sum them, far ones as far as they still
       show topics (`cohmm.learn.topics.topic_lags`);
    2. start from clusters of words (`cohmm.learn.topics.clusters`);
    3. Omega ~ M Theta M' by Algorithm 1 of the paper (both in `cohmm.learn.topics.pair_topics`);
    4. the chain of a document: how often a topic is drawn anew, and how many draws the prior of
       its topics is worth, with M as it is (`cohmm.learn.topics.chain_choice`);
    5. ``refine`` passes of EM over the documents, in which each is a sticky chain with topic
       proportions of its own (`cohmm.kernels.documents`); they update M.  Topics are drawn
       anew more often than they will be, at a power of that rate: a word's own say, which its
       neighbours would drown, gives topics that differ more;
    6. the chain again, and the corpus' transitions, as these chains expect them
       (`count_moves` of the same).

The passes stay within the paper's model: sticky chains have Theta_lag = s diag(pi) +
(1 - s) E[p p'], s = (1 - switch)^lag, and so Omega_lag = M Theta_lag M'.
"""

from __future__ import annotations

from typing import Any

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_documents
from cohmm.learn.learner import Callback, Record, learner
from cohmm.learn.options import check_states, check_whole
from cohmm.learn.pairs.pair_evidence import States
from cohmm.learn.topics.chain_choice import unread_by, with_chain_of, with_chain_that_suits
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.pair_topics import topics_of_pairs
from cohmm.learn.topics.seed_words import SeedWords, checked_seeds
from cohmm.learn.topics.sticky_em import (
    SMOOTHING,
    SWITCH,
    Topics,
    checked_weights,
    corpus_transitions,
    expected_counts,
    settled_switch,
    sticky_transitions,
)
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.learn.topics.topic_lags import TopicLags, lag_shares
from cohmm.model.hmm import HMM


@learner
def htmm(
    documents: Documents | Partitioned,
    n_components: States,
    *,
    lags: TopicLags = "auto",
    refine: int = 1,
    max_iter: int = 40,
    tol: float = 1e-3,
    n_init: int = 1,
    weights: Any = None,
    smoothing: float = SMOOTHING,
    random_state: int | None = None,
    seed_words: SeedWords | None = None,
    start: HMM | None = None,
    counts: Cooccurrence | None = None,
    callback: Callback | None = None,
) -> HTMMFit:
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
    refine : int
        Passes over the documents after the pairs; 0: none.
    max_iter : int
        Passes over the pairs, at most.  Of a large vocabulary all but the last sixth are over the
        pairs of its frequent words (`cohmm.learn.topics.pair_topics`).
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all pairs.
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
        What some of the topics start from, and are called: see `cohmm.learn.topics.seed_words`.
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
    check_whole(0, refine=refine)
    record = Record(callback)
    if n_components != "auto":
        check_states(n_components, documents.n_symbols, "topics", "words")
    # 1
    shares = lag_shares(lags, documents)
    if counts is None:
        counts = count_documents(documents, shares, weights)
    elif not isinstance(counts, Cooccurrence) or counts.vocabulary != documents.vocabulary:
        raise ValueError(
            f"counts must be of the {documents.n_symbols} words of these documents, in their "
            f"order, not {counts!r}"
        )
    else:
        shares = {lag: shares.get(lag, 0.0) for lag in counts.lags}
    most = documents.n_symbols if n_components == "auto" else n_components
    seeds = checked_seeds(seed_words, documents.vocabulary, most)
    # 2, 3
    pairs = topics_of_pairs(
        counts,
        n_components,
        max_iter=max_iter,
        tol=tol,
        n_init=n_init,
        random_state=random_state,
        shares=shares,
        seeds=seeds,
        start=start,
        callback=callback,
    )
    labels = seeds.all_labels(len(pairs.numbers))
    prevalence, transitions = pairs.model.stationary(), pairs.model.transmat
    expected = pairs.model.emissionprob.T * (counts.symbol_counts.sum() * prevalence)
    topics = Topics.of(expected + smoothing, prevalence, SWITCH)
    weighing = checked_weights(documents, weights)
    # 4
    topics = with_chain_that_suits(topics, documents, weighing)
    # 5
    for n_pass in range(refine):
        before = topics.restless()
        counted = expected_counts(documents, before, weighing)
        topics = counted.topics(smoothing, before.prior.sum())._replace(switch=topics.switch)
        record(n_pass + 1, counted.objective)
    # 6
    if refine:
        topics = with_chain_of(topics, unread_by(documents, weighing, before, counted, smoothing))
        transitions = corpus_transitions(documents, topics, weighing)
    return HTMMFit.of(
        topics,
        transitions,
        documents.vocabulary,
        name="HTMM",
        converged=pairs.converged,
        history=pairs.history,
        seconds=record.seconds,
        passes=tuple(record.history),
        starts=pairs.starts,
        labels=tuple(labels[n] for n in pairs.numbers) if labels else (),
    )


@learner
def with_chain(fit: TopicFit, documents: Documents, transitions: Any = None) -> HTMMFit:
    """Topics that were learned as bags of words, with the chain that suits them.

    The rate of switching is learned from ``documents``, the topics staying as they are.  The
    corpus' transitions, where not given, are `sticky_transitions`.
    """
    topics = Topics.of(fit.components.T, fit.prevalence, SWITCH, fit.prior)
    switch = settled_switch(documents, topics, None)
    if transitions is None:
        transitions = sticky_transitions(fit.prevalence, switch)
    return HTMMFit(
        fit.components,
        fit.prevalence,
        fit.prior,
        fit.vocabulary,
        fit.name,
        fit.converged,
        fit.history,
        fit.seconds,
        transitions=transitions,
        switch=switch,
    )
