"""What a learner of topics returns, and what all of them do at their beginning and their end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Progress, warn
from cohmm.learn.options import is_whole

SUMS_TO_ONE = 1e-8
PRIOR_BY_TOPIC = 0.1


@dataclass(frozen=True, eq=False)
class TopicFit:
    """Topics, and how they were learned: the same for every rival.

    Parameters
    ----------
    components : array, (K, V)
        P(word | topic); topics ordered by prevalence, the most frequent first.
    prevalence : array, (K,)
        The share of the corpus that is of each topic.
    prior : array, (K,)
        Dirichlet pseudo-counts of a document's topic proportions: the model's own, or where it
        has none `default_prior`.
    vocabulary : tuple
        The word of every column.
    name : str
        Which learner it was.
    converged : bool or None
        Whether the stop rule was met before the iterations ran out; None: there is no such rule,
        as for a sampler.
    history : tuple of Progress
        Every iteration, as far as the learner says.
    seconds : float
        Wall time.

    >>> TopicFit([[.5, .5], [0, 1]], [.6, .4], [1., 1.], ("oil", "gold"), name="by hand")
    TopicFit(by hand: 2 topics, 2 words)
    """

    components: Floats
    prevalence: Floats
    prior: Floats
    vocabulary: tuple[Any, ...]
    name: str
    converged: bool | None = None
    history: tuple[Progress, ...] = field(default=(), repr=False)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for which in ("components", "prevalence", "prior"):
            array = np.ascontiguousarray(getattr(self, which), np.float64)
            if not np.isfinite(array).all() or (array < 0).any():
                raise ValueError(f"{which} must be finite and at least 0")
            array.setflags(write=False)
            object.__setattr__(self, which, array)
        if self.components.ndim != 2:
            raise ValueError(
                f"components must be an array (K, V), not of shape {self.components.shape}"
            )
        k, v = self.components.shape
        for which, array in (("prevalence", self.prevalence), ("prior", self.prior)):
            if array.shape != (k,):
                raise ValueError(f"{which} has the shape {array.shape}, but there are {k} topics")
        if len(self.vocabulary) != v:
            raise ValueError(f"there are {len(self.vocabulary)} words for {v} columns")
        for which, sums in (
            ("every row of components", self.components.sum(axis=1)),
            ("prevalence", self.prevalence.sum()),
        ):
            if np.abs(sums - 1).max() > SUMS_TO_ONE:
                raise ValueError(f"{which} must sum to one")

    @property
    def n_components(self) -> int:
        """K, the number of topics."""
        return len(self.components)

    def __repr__(self) -> str:
        k, v = self.components.shape
        return f"TopicFit({self.name}: {k:,} topics, {v:,} words)"


def default_prior(prevalence: Floats) -> Floats:
    """max(1, K / 10) pseudo-counts, shared as the corpus shares its topics.

    >>> default_prior(np.array([.75, .25]))
    array([0.75, 0.25])
    """
    return np.asarray(max(1.0, PRIOR_BY_TOPIC * len(prevalence)) * prevalence)


def topic_fit(
    components: Floats,
    prevalence: Floats,
    vocabulary: tuple[Any, ...],
    *,
    prior: Floats | None = None,
    **how: Any,
) -> TopicFit:
    """A `TopicFit` with its topics in order, and sums that are one to rounding."""
    prevalence = prevalence / prevalence.sum()
    components = components / components.sum(axis=1, keepdims=True)
    if prior is None:
        prior = default_prior(prevalence)
    order = np.argsort(-prevalence, kind="stable")
    return TopicFit(components[order], prevalence[order], prior[order], vocabulary, **how)


def smoothed(components: Floats, n_words: Floats, smoothing: float) -> Floats:
    """Topics (K, V) of ``n_words`` words each that have seen ``smoothing`` more of every word.

    What never happened is then improbable, not impossible; a topic that died out, without any
    word, becomes uniform.
    """
    dead = n_words <= 0
    if dead.any():
        warn(f"{dead.sum()} of {len(dead)} topics died out: fewer explain these documents as well")
    counts = components * n_words[:, None] + smoothing
    counts[dead] = 1.0
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def term_counts(documents: Documents, n_components: int) -> Any:
    """The document-term counts, a CSR array (D, V) of float64; a `ValueError` without words."""
    counts = sparse.csr_array(documents.term_counts(), dtype=np.float64)
    if not counts.nnz:
        raise ValueError(f"there is no word in the {counts.shape[0]} documents")
    if not is_whole(n_components) or not 1 <= n_components <= counts.shape[1]:
        raise ValueError(
            f"n_components must be a whole number from 1 to {counts.shape[1]}, the size of the "
            f"vocabulary, not {n_components!r}"
        )
    return counts
