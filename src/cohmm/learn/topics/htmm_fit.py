"""Topics with their chain: what a learner of hidden topic Markov models returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.learner import Progress
from cohmm.learn.topics.sticky_em import Topics, checked_switch
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.learn.topics.topic_labels import TopicLabels, checked_topic_labels
from cohmm.model.hmm import HMM


@dataclass(frozen=True, eq=False, repr=False)
class HTMMFit(TopicFit):
    """Topics with their chain.

    Parameters
    ----------
    transitions : array, (K, K)
        The corpus' transitions, from row to column: as the chains of the documents expect them,
        or, where no pass was made over these, those of the pairs.
    switch : float
        The probability that a word's topic is drawn anew: that of the sticky chain.
    passes : tuple of Progress
        The passes over the documents; the objective is minus the log-likelihood of a word.
    starts : tuple of float
        The objective of each start after a few passes over the pairs, the best of which was
        learned from; the last objective where there was one start.
    labels : tuple of str or None
        What every topic is called, no two alike; (): none has a label.

    ``history`` has the passes over the pairs.
    """

    transitions: Floats = field(kw_only=True)
    switch: float = field(kw_only=True)
    passes: tuple[Progress, ...] = field(default=(), kw_only=True)
    starts: tuple[float, ...] = field(default=(), kw_only=True)
    labels: TopicLabels = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        transitions = np.ascontiguousarray(self.transitions, np.float64)
        k = self.n_components
        if transitions.shape != (k, k):
            raise ValueError(f"transitions have the shape {transitions.shape}, not {(k, k)}")
        if not (transitions >= 0).all() or np.abs(transitions.sum(axis=1) - 1).max() > 1e-8:
            raise ValueError("transitions must be at least 0, and every row must sum to one")
        checked_switch(self.switch)
        transitions.setflags(write=False)
        object.__setattr__(self, "transitions", transitions)
        object.__setattr__(self, "labels", checked_topic_labels(self.labels, k))

    @classmethod
    def of(
        cls,
        topics: Topics,
        transitions: Floats,
        vocabulary: tuple[Any, ...],
        labels: TopicLabels = (),
        **how: Any,
    ) -> HTMMFit:
        """What passes over documents have made of topics, the most frequent first.

        ``labels`` are those of ``topics``, in their order, and go where these go.
        """
        order = np.argsort(-topics.prevalence, kind="stable")
        prevalence = topics.prevalence[order] / topics.prevalence.sum()
        components = topics.emission.T[order]
        return cls(
            components / components.sum(axis=1, keepdims=True),
            prevalence,
            topics.prior[order],
            vocabulary,
            transitions=transitions[order][:, order],
            switch=topics.switch,
            labels=tuple(labels[k] for k in order) if labels else (),
            **how,
        )

    @property
    def all_labels(self) -> TopicLabels:
        """One per topic, None where it has no label."""
        return self.labels or (None,) * self.n_components

    @property
    def n_iter(self) -> int:
        """Passes over the pairs."""
        return self.history[-1].n_iter if self.history else 0

    def as_hmm(self) -> HMM:
        """The corpus as one chain, whose states are the topics."""
        return HMM(self.prevalence, self.transitions, self.components, self.vocabulary)
