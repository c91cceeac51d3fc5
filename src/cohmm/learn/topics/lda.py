"""Latent Dirichlet allocation (Blei, Ng and Jordan, 2003), as others have written it.

All with the defaults of their packages, but for the number of iterations: Gibbs sampling by
tomotopy, which also fits the prior; variational Bayes by gensim (online) and scikit-learn (batch).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cohmm._validation import check_choice, is_whole
from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, Record, learner
from cohmm.learn.topics.topic_fit import TopicFit, optional_package, term_counts, topic_fit

Engine = Literal["tomotopy", "gensim", "sklearn"]

STEP = 10  # iterations of the sampler between two reports
MAX_SEED = 2**32


@learner
def lda(
    documents: Documents,
    n_components: int,
    *,
    engine: Engine = "tomotopy",
    max_iter: int | None = None,
    workers: int = 1,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> TopicFit:
    """Learn topics by latent Dirichlet allocation.

    Parameters
    ----------
    documents : Documents
        The corpus; the order of words does not matter.
    n_components : int
        Number of topics.
    engine : "tomotopy", "gensim" or "sklearn"
        Whose implementation; ``pip install 'cohmm[compare]'`` installs them.
    max_iter : int, optional
        Sweeps of the sampler, or passes over the corpus, all of which are made (scikit-learn
        included); default: see `MAX_ITER`.
    workers : int
        Threads of tomotopy.  With more than one its result depends on chance, whatever the
        seed, and it warns of that.  The others use one.
    random_state : int, optional
        Seed.
    callback : function of a `Progress`, optional
        Called every few sweeps by tomotopy, at the end by scikit-learn, never by gensim; the
        objective is minus the package's own log-likelihood, or bound on it, of a word.

    >>> words = ("corn", "gold", "ore", "wheat")
    >>> documents = Documents([1, 2, 1, 2, 0, 3, 3, 0, 0], [0, 2, 4, 6, 9], words)
    >>> lda(documents, 2, engine="sklearn", random_state=0)
    TopicFit(LDA (sklearn): 2 topics, 4 words)
    """
    check_choice(get_args(Engine), engine=engine)
    if max_iter is None:
        max_iter = MAX_ITER[engine]
    if random_state is not None and not (is_whole(random_state) and random_state < MAX_SEED):
        raise ValueError(f"random_state must be from 0 to {MAX_SEED - 1}, not {random_state!r}")
    counts = term_counts(documents, n_components)
    record = Record(callback)
    run = _Run(int(n_components), int(max_iter), workers, random_state, record)
    components, prevalence, prior = _ENGINES[engine](documents, counts, run)
    return topic_fit(
        components,
        prevalence,
        documents.vocabulary,
        prior=prior,
        name=f"LDA ({engine})",
        converged=None,
        history=tuple(record.history),
        seconds=record.seconds,
    )


class _Run(NamedTuple):
    k: int
    max_iter: int
    workers: int
    seed: int | None
    record: Record


_Topics = tuple[Floats, Floats, Floats]  # P(word | topic), words of each topic, the prior


def _tomotopy(documents: Documents, counts: Any, run: _Run) -> _Topics:
    tomotopy = optional_package("LDA by tomotopy", "tomotopy", "compare")
    model = tomotopy.LDAModel(k=run.k, **({} if run.seed is None else {"seed": int(run.seed)}))
    # Words by their codes: a word that has a blank in it, or is empty, stays what it is.
    names = [str(code) for code in range(len(documents.vocabulary))]
    symbols, offsets = documents.symbols.tolist(), documents.offsets.tolist()
    for d in np.flatnonzero(documents.lengths).tolist():
        model.add_doc([names[code] for code in symbols[offsets[d] : offsets[d + 1]]])
    for done in range(0, run.max_iter, STEP):
        now = min(STEP, run.max_iter - done)
        model.train(now, workers=run.workers)
        run.record(done + now, -float(model.ll_per_word))
    components = np.zeros((run.k, len(names)))
    used = np.array([int(name) for name in model.used_vocabs])
    for topic in range(run.k):
        components[topic, used] = model.get_topic_word_dist(topic)
    prior = np.broadcast_to(np.asarray(model.alpha, np.float64), (run.k,))
    return components, np.array(model.get_count_by_topics(), np.float64), prior


def _gensim(documents: Documents, counts: Any, run: _Run) -> _Topics:
    models = optional_package("LDA by gensim", "gensim.models", "compare")
    corpus = [
        list(zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True))
        for a, b in pairwise(counts.indptr)
        if b > a
    ]
    words = dict(enumerate(documents.vocabulary))
    model = models.LdaModel(
        corpus, num_topics=run.k, id2word=words, passes=run.max_iter, random_state=run.seed
    )
    n_words = np.asarray(model.state.sstats, np.float64).sum(axis=1)
    return np.asarray(model.get_topics(), np.float64), n_words, np.asarray(model.alpha, np.float64)


def _sklearn(documents: Documents, counts: Any, run: _Run) -> _Topics:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(run.k, max_iter=run.max_iter, random_state=run.seed)
    model.fit(counts[np.flatnonzero(documents.lengths)])
    run.record(model.n_iter_, float(np.log(model.bound_)))
    n_words = (model.components_ - model.topic_word_prior_).sum(axis=1)
    return model.components_, n_words, np.full(run.k, model.doc_topic_prior_)


_ENGINES = {"tomotopy": _tomotopy, "gensim": _gensim, "sklearn": _sklearn}

MAX_ITER = {"tomotopy": 300, "gensim": 10, "sklearn": 10}
"""Sweeps or passes where ``max_iter`` is not given.

scikit-learn's is its own default.  tomotopy's own, 10, is only a step of a longer run, and
gensim's, 1, leaves topics that a few passes more improve: they would be no fair rivals.
"""
