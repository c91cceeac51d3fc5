"""What topics are called: a label each, or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

LONGEST = 80  # characters: what the page of a report has room for

TopicLabels = tuple[str | None, ...]


def checked_label(topic: int, label: Any) -> str | None:
    """A label without blanks at its ends, or None.

    >>> checked_label(0, " the  sea ")
    'the sea'
    """
    if label is None:
        return None
    if not isinstance(label, str):
        raise ValueError(f"the label of topic {topic} must be a string, not {label!r}")
    text = " ".join(label.split())
    if not text:
        raise ValueError(f"the label of topic {topic} is blank: give None for no label")
    if len(text) > LONGEST:
        raise ValueError(
            f"the label of topic {topic} has {len(text)} characters; there is room for {LONGEST}"
        )
    return text


def checked_topic_labels(labels: Any, k: int) -> TopicLabels:
    """Labels of ``k`` topics, or (): none has any.

    >>> checked_topic_labels([None, "grain"], 2), checked_topic_labels([None, None], 2)
    ((None, 'grain'), ())
    """
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ValueError(f"labels must be a list of strings, one per topic, not {labels!r}")
    given = tuple(labels)
    if given and len(given) != k:
        raise ValueError(f"there are {len(given)} labels for {k} topics; give None for no label")
    checked = tuple(checked_label(topic, label) for topic, label in enumerate(given))
    first: dict[str, int] = {}
    for topic, label in enumerate(checked):
        if label is not None and first.setdefault(label, topic) != topic:
            raise ValueError(
                f"topics {first[label]} and {topic} have the same label, {label!r}: a label "
                "tells topics apart"
            )
    return checked if first else ()


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
    if isinstance(topic, bool) or not isinstance(topic, (int, np.integer)):
        raise ValueError(f"a topic is chosen by its number or its label, not by {topic!r}")
    if not 0 <= topic < k:
        which = "there is topic 0 alone" if k == 1 else f"they are 0 to {k - 1}"
        raise ValueError(f"there is no topic {topic}: {which}")
    return int(topic)
