"""Perplexity, exact: how many equally likely words there might as well be at every place.

    exp(- sum_d log P(words of d) / number of words)

P is computed by the forward algorithm, with the chain of the document.  Three ways to have one:

    "words"        each word given those before it in its document, whose chain has adapted to
                   these alone (`TopicModel.predict`): for documents that were held out.
    "completion"   the second half of every document, given the first, to which its chain was
                   fitted: for documents that were held out.
    "training"     all words, by the chain that was fitted to them: the paper's.  It falls with
                   every parameter that a chain has: compare it only between chains of one kind.

Orders of words count: no multinomial coefficient is added for bags of words.  The same code
scores every `TopicModel`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cohmm.data.documents import Documents
from cohmm.model.topic_model import Chain, TopicModel

Method = Literal["words", "completion", "training"]


class Likelihood(NamedTuple):
    """The log-likelihood of some words."""

    log_likelihood: float
    n_words: int

    @property
    def perplexity(self) -> float:
        """exp(- log-likelihood / number of words)."""
        return float(np.exp(-self.log_likelihood / self.n_words))


def perplexity(
    topics: TopicModel,
    documents: Documents,
    *,
    chain: Chain = "sticky",
    method: Method = "words",
    **how: Any,
) -> float:
    """The perplexity of documents: see the module.

    Parameters
    ----------
    topics : TopicModel, such as a TopicFit
        What is scored.
    documents : Documents
        The words, in the vocabulary of the topics.
    chain : "full", "sticky" or "independent"
        The kind of chain; ``how`` has further options of `TopicModel.as_chain`.
    method : "words", "completion" or "training"
        See the module.

    A topic that gives the same probability to four words:

    >>> model = TopicModel([[.25] * 4], [1.], [1.], tuple("abcd"))
    >>> documents = Documents([0, 1, 3], [0, 1, 3], tuple("abcd"))
    >>> round(perplexity(model, documents, chain="independent"), 9)
    4.0
    """
    return likelihood(topics.as_chain(chain, **how), documents, method).perplexity


def likelihood(model: TopicModel, documents: Documents, method: Method = "words") -> Likelihood:
    """The log-likelihood that `perplexity` is made of, by the model's own chain."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    if not documents.n_words:
        raise ValueError(f"there is no known word in {len(documents)} documents")
    if method == "words":
        return Likelihood(float(model.predict(documents).sum()), documents.n_words)
    inferred = model.infer(documents, halves=method == "completion")
    lengths = documents.lengths
    scored = lengths - lengths // 2 if method == "completion" else lengths
    return Likelihood(float(inferred.log_likelihoods.sum()), int(scored.sum()))
