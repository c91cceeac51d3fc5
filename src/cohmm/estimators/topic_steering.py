"""Topics by hand: names for them, several as one, and without some."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, Self

from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.topic_labels import TopicLabels
from cohmm.topics.steering import drop_topics, merge_topics, rename_topics


class TopicSteering:
    """What an `HTMM` offers to those who know better; the algebra is in `cohmm.topics.steering`.

    Every method returns a new model, with the same training documents and counts; the old one
    stays as it is.  Topics are chosen by number or by label.
    """

    fit_: HTMMFit
    n_components: Any

    def _fitted(self) -> HTMMFit:
        raise NotImplementedError

    @property
    def labels_(self) -> TopicLabels:
        """What the topics are called, K strings, or None where a topic has no label."""
        return self._fitted().all_labels

    def rename(self, labels: Mapping[Any, str | None] | str | os.PathLike[str]) -> Self:
        """A model with other labels, ``{0: "grain", "metal": "gold"}``; None takes one away.

        Labels are shown in tables, plots and reports, and kept in files.  A path is that of labels
        which a reader wrote into a report, and saved there.  No number changes.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.rename({0: "grain"}).labels_
        ('grain', None)
        """
        fit = self._fitted()
        if isinstance(labels, (str, os.PathLike)):
            from cohmm.report.labels import checked_labels
            from cohmm.report.prepare import model_key

            labels = checked_labels(labels, fit.n_components, model_key(fit.components))
        return self._steered(rename_topics(fit, labels))

    def merge(self, groups: Iterable[Any]) -> Self:
        """A model in which each group of topics is one: ``[[0, 5], ["grain", 7]]``.

        A merged topic is the mixture of its parts, by how frequent they are, and the chain goes
        to it as often as it went to them.  It has the number of the first of its parts; the others
        keep their order, and close up: of 0 to 5, ``merge([[1, 4]])`` makes 0, 1 + 4, 2, 3, 5.
        Its label is that of the part that has one, or of several all, with " / " between.

        >>> from cohmm import HTMM
        >>> texts = ["oil gas oil"] * 12 + ["wheat corn wheat"] * 9 + ["gold ore gold"] * 6
        >>> topics = HTMM(3, random_state=0).fit(texts)
        >>> topics.merge([[0, 2]]).transform(["oil gold", "wheat corn"]).round(2)
        array([[1., 0.],
               [0., 1.]])
        """
        return self._steered(merge_topics(self._fitted(), groups))

    def drop(self, topics: Any) -> Self:
        """A model without some topics, ``[4]`` or ``["legal boilerplate"]``.

        The others keep their words, and explain what the dropped ones did as well as they can.
        They keep their order, and their numbers close up: of 0 to 5, ``drop([1, 4])`` leaves
        what were 0, 2, 3, 5.

        >>> from cohmm import HTMM
        >>> texts = ["oil gas oil"] * 12 + ["wheat corn wheat"] * 9 + ["gold ore gold"] * 6
        >>> HTMM(3, random_state=0).fit(texts).drop([0, 2]).transform(["oil gold"])
        array([[1.]])
        """
        return self._steered(drop_topics(self._fitted(), topics))

    def _steered(self, fit: HTMMFit) -> Self:
        model = copy(self)
        for name, value in vars(self).items():
            if isinstance(
                value, dict
            ):  # what scikit-learn keeps of settings, each model for itself
                setattr(model, name, dict(value))
        model.fit_, model.n_components = fit, fit.n_components
        return model
