"""A tree of topics: which of them merge, from K to one, each time the two that cost least.

To merge topics i and j makes the words of the corpus that are theirs less probable, by

    cost(i, j) = pi_i KL(M_i || M) + pi_j KL(M_j || M),    M = (pi_i M_i + pi_j M_j) / (pi_i + pi_j)

nats per word of the corpus, with pi the prevalence: nothing where they have the same words, and
little where one of them is rare.  With H the entropy it is (pi_i + pi_j) H(M) - pi_i H(M_i) -
pi_j H(M_j), so that a merge needs one new entropy for every topic that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from scipy.special import xlogy

from cohmm._validation import check_whole
from cohmm.kernels.types import Floats, Ints
from cohmm.model.topic_model import TopicModel
from cohmm.topics.top_words import at_most, word_values

Model = TypeVar("Model")


@dataclass(frozen=True, eq=False)
class TopicTree(Generic[Model]):
    """K topics as leaves, numbered 0 to K - 1; the merge of step s makes the node K + s.

    Parameters
    ----------
    merges : array, (K - 1, 2)
        The two nodes that each step merges.
    costs : array, (K - 1,)
        What each costs, in nats per word of the corpus.
    prevalence : array, (2 K - 1,)
        The share of the corpus that is of each node.
    words : tuple of tuple of str
        The most distinctive words of every node.
    labels : tuple of str or None
        What the leaves are called.

    >>> from cohmm import HTMM
    >>> texts = ["oil gas oil", "gas oil gas", "gold ore gold"] * 9
    >>> tree = HTMM(3, random_state=0).fit(texts).tree()
    >>> tree.cut(2).n_components, len(tree.groups(1))
    (2, 1)
    """

    merges: Ints
    costs: Floats
    prevalence: Floats
    words: tuple[tuple[str, ...], ...]
    labels: tuple[str | None, ...]
    _merged: Callable[[list[list[int]]], Model] = field(repr=False)

    @property
    def n_components(self) -> int:
        """K, the number of leaves."""
        return len(self.merges) + 1

    def __repr__(self) -> str:
        return f"TopicTree({self.n_components:,} topics)"

    def leaves(self, node: int) -> list[int]:
        """The topics below a node, in the order in which a drawing has them."""
        if node < self.n_components:
            return [node]
        left, right = self.merges[node - self.n_components].tolist()
        return self.leaves(left) + self.leaves(right)

    def groups(self, k: int) -> list[list[int]]:
        """The topics that are one where ``k`` are left, by the number of the first of each group.

        The numbers of a merged model are the places in this list.
        """
        check_whole(1, k=k)
        if k > self.n_components:
            raise ValueError(
                f"k={k}: the tree has {self.n_components} topics, and cannot split them"
            )
        nodes = set(range(self.n_components))
        for step in range(self.n_components - k):
            nodes -= set(self.merges[step].tolist())
            nodes.add(self.n_components + step)
        return sorted(sorted(self.leaves(node)) for node in nodes)

    def cut(self, k: int) -> Model:
        """The model with ``k`` topics, whose answers are as exact as those of any other."""
        return self._merged([group for group in self.groups(k) if len(group) > 1])

    @property
    def linkage(self) -> Floats:
        """The tree as `scipy.cluster.hierarchy` has it: two nodes, a height, the leaves below.

        Heights are the costs; where a merge costs less than one below it, it is drawn as high.
        """
        k = self.n_components
        sizes = [len(self.leaves(k + step)) for step in range(k - 1)]
        heights = np.maximum.accumulate(self.costs) if k > 1 else self.costs
        return np.column_stack([self.merges.astype(np.float64), heights, sizes])


def topic_tree(
    model: TopicModel, merged: Callable[[list[list[int]]], Any], *, n_words: int = 3
) -> TopicTree[Any]:
    """Merge the two topics that cost least, until one is left: see the module.

    ``merged`` makes the model in which some groups of topics are one.

    >>> model = TopicModel([[.5, .5, 0], [.4, .6, 0], [0, 0, 1]], [.4, .3, .3], [1., 1., 1.],
    ...                    ("oil", "gas", "gold"))
    >>> topic_tree(model, lambda groups: groups, n_words=1).merges.tolist()
    [[0, 1], [2, 3]]
    """
    check_whole(1, n_words=n_words)
    k = model.n_components
    laws = np.zeros((2 * k - 1, len(model.vocabulary)))
    laws[:k] = model.components
    prevalence = np.zeros(2 * k - 1)
    prevalence[:k] = model.prevalence
    entropy = np.zeros(2 * k - 1)
    entropy[:k] = _entropies(laws[:k])
    costs = np.full((2 * k - 1, 2 * k - 1), np.inf)
    alive: list[int] = []
    for node in range(k):
        _add_costs(costs, node, alive, laws, prevalence, entropy)
        alive.append(node)
    merges, paid = np.zeros((k - 1, 2), np.int64), np.zeros(k - 1)
    for step, node in enumerate(range(k, 2 * k - 1)):
        i, j = divmod(int(np.argmin(costs)), len(costs))
        i, j = min(i, j), max(i, j)
        merges[step], paid[step] = (i, j), max(costs[i, j], 0.0)
        prevalence[node] = prevalence[i] + prevalence[j]
        laws[node] = _mixture(laws[[i, j]], prevalence[[i, j]])
        entropy[node] = _entropies(laws[[node]])[0]
        for gone in (i, j):
            costs[gone], costs[:, gone] = np.inf, np.inf
            alive.remove(gone)
        _add_costs(costs, node, alive, laws, prevalence, entropy)
        alive.append(node)
    return TopicTree(
        merges,
        paid,
        prevalence,
        _distinctive(laws, model, n_words),
        model.all_labels,
        merged,
    )


def _entropies(laws: Floats) -> Floats:
    return np.asarray(-xlogy(laws, laws).sum(axis=1))


def _mixture(laws: Floats, weights: Floats) -> Floats:
    """Topics without any word count alike."""
    weights = weights if weights.sum() > 0 else np.ones(len(weights))
    return np.asarray(weights @ laws / weights.sum())


def _add_costs(
    costs: Floats,
    node: int,
    others: list[int],
    laws: Floats,
    prevalence: Floats,
    entropy: Floats,
) -> None:
    """What it costs to merge ``node`` with every other one."""
    if not others:
        return
    own, their = prevalence[node], prevalence[others]
    both = np.maximum(own + their, np.finfo(float).tiny)
    mixed = (own * laws[node] + their[:, None] * laws[others]) / both[:, None]
    cost = both * _entropies(mixed) - own * entropy[node] - their * entropy[others]
    costs[others, node] = costs[node, others] = cost


def _distinctive(laws: Floats, model: TopicModel, n_words: int) -> tuple[tuple[str, ...], ...]:
    """The most relevant words of every node, beside those of the corpus."""
    n = at_most(n_words, model.components)
    overall = model.prevalence @ model.components
    pairs = (np.stack([law, overall]) for law in laws)
    order = (
        np.argsort(-word_values(pair, "relevance", np.array([0.0, 1.0]))[0], kind="stable")[:n]
        for pair in pairs
    )
    return tuple(tuple(str(model.vocabulary[code]) for code in codes) for codes in order)
