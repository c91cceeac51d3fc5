"""Topics renamed, merged and dropped: new topics, whose answers are as exact as the old ones'.

With pi the prevalence, M the emissions, alpha the prior and A the transitions, a group g of topics
that are merged has

    pi_g = sum_i pi_i,   M_g = sum_i pi_i M_i / pi_g,   alpha_g = sum_i alpha_i,
    A_gh = sum_ij pi_i A_ij / pi_g      (i in g, j in h).

The rate of switching stays as it is: a sticky chain draws a group as often as it draws one of its
parts.  So the words of the corpus stay as probable as they were, and where the parts emit alike, so
does every sentence, by sticky and by independent chains (such chains are lumpable).

Topics that are dropped, d, leave the chain of the others, k, as one sees it where the words of d
are cut out (the stochastic complement of A):

    pi_k / sum pi_k,   alpha_k sum alpha / sum alpha_k,   A_kk + A_kd (I - A_dd)^-1 A_dk.

Of a sticky chain that is the sticky chain of the same rate that draws from what is left of pi.

The prior of a full chain is worth K / 10 moves from every topic, K being the new number of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from cohmm._validation import is_whole
from cohmm.kernels.types import Floats, Ints
from cohmm.model.markov_chain import match_rows
from cohmm.model.topic_model import MAX_LABEL, TopicLabels, TopicModel, checked_label

TIE = " / "  # between the labels of topics that are merged
LEAVING = 1e-12  # the chance that a topic which is dropped, and never left, is left after all

Model = TypeVar("Model", bound=TopicModel)


def rename_topics(fit: Model, labels: Mapping[Any, str | None]) -> Model:
    """Other labels for some topics, which are chosen by number or by the label they had.

    None takes a label away.  No number changes.

    >>> model = TopicModel([[.5, .5], [0, 1]], [.6, .4], [.6, .4], ("oil", "gold"))
    >>> rename_topics(model, {1: "metals"}).labels
    (None, 'metals')
    """
    if not isinstance(labels, Mapping):
        raise ValueError(f'labels are given by topic, such as {{0: "grain"}}, not {labels!r}')
    numbers = _numbers(fit, labels, "is renamed twice")
    names = list(fit.all_labels)
    for topic, label in zip(numbers, labels.values(), strict=True):
        names[topic] = checked_label(topic, label)
    return replace(fit, labels=tuple(names))


def merge_topics(fit: Model, groups: Iterable[Any]) -> Model:
    """Each group of topics as one: see the module.

    ``groups`` has lists of numbers or labels; one such list alone is one group.  The merged topic
    has the number of the first of its parts; the others keep their order, and close up.  Its label
    is that of its part that has one; of several, all of them, with " / " between, or, where that
    is too long, the first.

    >>> model = TopicModel([[.5, .5], [0, 1], [1, 0]], [.6, .3, .1], [.6, .3, .1], ("oil", "gold"))
    >>> merge_topics(model, [[0, 2]]).prevalence
    array([0.7, 0.3])
    """
    place = np.arange(fit.n_components)  # of a topic's group, by the number of its first part
    for group in _groups(fit, groups):
        place[group] = min(group)
    group_of = np.unique(place, return_inverse=True)[1]
    joined = np.zeros((int(group_of.max()) + 1, fit.n_components))
    joined[group_of, np.arange(fit.n_components)] = 1.0
    share = joined * fit.prevalence
    empty = share.sum(axis=1) <= 0
    share[empty] = joined[empty]  # parts without any word count alike
    share /= share.sum(axis=1, keepdims=True)
    return _changed(
        fit,
        share @ fit.components,
        joined @ fit.prevalence,
        joined @ fit.prior,
        share @ fit.transitions @ joined.T,
        tuple(_joint_label(fit, np.flatnonzero(row)) for row in joined),
    )


def drop_topics(fit: Model, topics: Any) -> Model:
    """Without some topics, whose words the others then explain: see the module.

    ``topics`` are numbers or labels; of none, all stay.  The others keep their order, and their
    numbers close up.

    >>> model = TopicModel([[.5, .5], [0, 1], [1, 0]], [.6, .3, .1], [.6, .3, .1], ("oil", "gold"))
    >>> drop_topics(model, [1]).prevalence.round(3)
    array([0.857, 0.143])
    """
    if isinstance(topics, (int, str, np.integer)):
        topics = [topics]
    if not isinstance(topics, Iterable):
        raise ValueError(f"topics to drop are numbers or labels, such as [4], not {topics!r}")
    dropped = np.array(_numbers(fit, topics, "is dropped twice"), np.int64)
    if not len(dropped):
        return fit
    kept = np.setdiff1d(np.arange(fit.n_components), dropped)
    if not len(kept):
        raise ValueError(f"all {fit.n_components} topics would be dropped: keep one at least")
    prevalence = _scaled(fit.prevalence[kept])
    return _changed(
        fit,
        fit.components[kept],
        prevalence,
        fit.prior.sum() * _scaled(fit.prior[kept]),
        _complement(fit.transitions, kept, dropped, prevalence),
        tuple(fit.all_labels[k] for k in kept),
    )


def with_labels_of(before: TopicModel, fit: Model) -> Model:
    """Topics that were learned on, each with the label of what it was: the nearest by its words.

    The vocabulary of ``fit`` has all words of ``before``.
    """
    if not before.labels or before.n_components != fit.n_components:
        return fit
    places = {word: code for code, word in enumerate(fit.vocabulary)}
    components = np.zeros(fit.components.shape)
    components[:, [places[word] for word in before.vocabulary]] = before.components
    which = match_rows(components, fit.components)
    return replace(fit, labels=tuple(before.labels[k] for k in which))


def _changed(
    fit: Model,
    components: Floats,
    prevalence: Floats,
    prior: Floats,
    transitions: Floats,
    labels: TopicLabels,
) -> Model:
    return replace(
        fit,
        components=components / components.sum(axis=1, keepdims=True),
        prevalence=prevalence / prevalence.sum(),
        prior=prior,
        transitions=transitions / transitions.sum(axis=1, keepdims=True),
        labels=labels,
    )


def _scaled(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def _complement(a: Floats, kept: Ints, dropped: Ints, prevalence: Floats) -> Floats:
    """The chain of the kept topics, with those that are dropped cut out."""
    within, back = a[np.ix_(dropped, dropped)], a[np.ix_(dropped, kept)]
    # So that there is a way back from topics that never end.
    back = back + LEAVING * within.sum(axis=1, keepdims=True) * prevalence
    within = (1 - LEAVING) * within
    ways = np.linalg.solve(np.eye(len(dropped)) - within, back)
    return np.asarray(a[np.ix_(kept, kept)] + a[np.ix_(kept, dropped)] @ ways)


def _joint_label(fit: TopicModel, parts: Ints) -> str | None:
    labels = [label for k in parts if (label := fit.all_labels[k]) is not None]
    if not labels:
        return None
    joint = TIE.join(labels)
    return joint if len(joint) <= MAX_LABEL else labels[0]


def _groups(fit: TopicModel, groups: Any) -> list[list[int]]:
    """The topics of every group by their numbers."""
    example = "lists of topics to merge, such as [[0, 5], [3, 7]]"
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise ValueError(f"groups must be {example}, not {groups!r}")
    lists = list(groups)
    if lists and all(isinstance(item, (int, str, np.integer)) for item in lists):
        lists = [lists]
    merged: list[list[int]] = []
    for group in lists:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(f"groups must be {example}; {group!r} is no list")
        numbers = _numbers(fit, group, "cannot be merged with itself")
        if len(numbers) < 2:
            raise ValueError(f"a group has two topics at least, not {len(numbers)}: {numbers}")
        for other in merged:
            if shared := sorted(set(numbers) & set(other)):
                raise ValueError(f"topic {shared[0]} is in two groups, {other} and {numbers}")
        merged.append(numbers)
    if not merged:
        raise ValueError(f"there is nothing to merge: give {example}")
    return merged


def _numbers(fit: TopicModel, topics: Iterable[Any], twice: str) -> list[int]:
    """The numbers of topics, no two alike."""
    numbers: list[int] = []
    for topic in topics:
        number = topic_number(topic, fit.n_components, fit.labels)
        if number in numbers:
            raise ValueError(f"topic {number} {twice}")
        numbers.append(number)
    return numbers


def topic_number(topic: Any, k: int, labels: Sequence[str | None] = ()) -> int:
    """The number of a topic that is chosen by its number, or by its label.

    >>> topic_number("grain", 2, (None, "grain")), topic_number(0, 2)
    (1, 0)
    """
    if isinstance(topic, str):
        text = " ".join(topic.split())
        if text in labels:
            return labels.index(text)
        known = [label for label in labels if label is not None]
        there = f"there are {', '.join(map(repr, known))}" if known else "none has a label"
        raise ValueError(f"there is no topic with the label {topic!r}: {there}")
    if not is_whole(topic):
        raise ValueError(f"a topic is chosen by its number or its label, not by {topic!r}")
    if not 0 <= topic < k:
        which = "there is topic 0 alone" if k == 1 else f"they are 0 to {k - 1}"
        raise ValueError(f"there is no topic {topic}: {which}")
    return int(topic)
