"""Topics against labels that people gave the documents, which no learner has seen.

    accuracy   of a linear classifier that is given the shares of the topics in a document, and
               has learned from the labels of other documents
    purity     (1/D) sum over topics of the most frequent label among its documents, where a
               document is of its largest share: 1 where no topic has two labels; grows with K
    NMI        I(topic; label) / ((H(topic) + H(label)) / 2), by the same clusters: 0 where topics
               say nothing of labels, 1 where they are the same; many small topics cost

The classifier is scikit-learn's logistic regression with its defaults, the same for all models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels.types import Floats, Ints

MAX_STEPS = 2000  # of the classifier, whose default of 100 is not enough for titles


class LabelScores(NamedTuple):
    """How far topics agree with labels: see the module."""

    accuracy: float
    purity: float
    nmi: float


def label_scores(
    train_shares: Any, train_labels: Sequence[Any], shares: Any, labels: Sequence[Any]
) -> LabelScores:
    """The classifier learns from the first two; all scores are of the last two.

    >>> train = np.array([[.9, .1], [.8, .2], [.1, .9], [.3, .7]] * 5)
    >>> test = np.array([[.7, .3], [.2, .8], [.6, .4]])
    >>> labels = ["oil", "oil", "gold", "gold"] * 5
    >>> [f"{score:.2f}" for score in label_scores(train, labels, test, ["oil", "gold", "gold"])]
    ['0.67', '0.67', '0.27']
    """
    return LabelScores(
        linear_accuracy(train_shares, train_labels, shares, labels),
        purity(shares, labels),
        nmi(shares, labels),
    )


def linear_accuracy(
    train_shares: Any, train_labels: Sequence[Any], shares: Any, labels: Sequence[Any]
) -> float:
    """The share of documents whose label a linear classifier guesses from shares of topics."""
    from sklearn.linear_model import LogisticRegression

    learned, asked = _shares(train_shares, train_labels), _shares(shares, labels)
    if learned.shape[1] != asked.shape[1]:
        raise ValueError(
            f"there are {learned.shape[1]} topics to learn from, but {asked.shape[1]} to be judged"
        )
    if len(set(train_labels)) < 2:
        raise ValueError(
            f"all {len(train_labels)} documents to learn from have one label: "
            "there is nothing to tell apart"
        )
    codes = _codes([*train_labels, *labels])  # a label that was never learned is never guessed
    n = len(learned)
    classifier = LogisticRegression(max_iter=MAX_STEPS).fit(learned, codes[:n])
    return float((classifier.predict(asked) == codes[n:]).mean())


def purity(topics: Any, labels: Sequence[Any]) -> float:
    """The share of documents whose label is the most frequent of their topic.

    ``topics`` are shares, (D, K), of which the largest counts, or one topic per document, (D,).

    >>> purity([0, 0, 0, 1], ["oil", "oil", "gold", "gold"])
    0.75
    """
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(_topics(topics, labels), _codes(labels))
    return float(table.max(axis=1).sum() / table.sum())


def nmi(topics: Any, labels: Sequence[Any]) -> float:
    """Normalised mutual information of topics and labels; ``topics`` as in `purity`.

    >>> nmi([1, 1, 0, 0], ["oil", "oil", "gold", "gold"])
    1.0
    >>> nmi([0, 1, 0, 1], ["oil", "oil", "gold", "gold"])
    0.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(_codes(labels), _topics(topics, labels)))


def _topics(topics: Any, labels: Sequence[Any]) -> Ints:
    """The topic of every document, (D,): that of its largest share, or as it was given."""
    values = np.asarray(topics)
    numbers = _shares(values, labels).argmax(axis=1) if values.ndim == 2 else values
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise ValueError(
            "topics must be shares (D, K), or a whole number per document, not of "
            f"{values.dtype} and the shape {values.shape}"
        )
    _check_length(numbers, labels)
    return np.asarray(numbers)


def _codes(labels: Sequence[Any]) -> Ints:
    """A number for every label, (D,): that of its first appearance."""
    known = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    return np.array([known[label] for label in labels])


def _shares(values: Any, labels: Sequence[Any]) -> Floats:
    shares = np.asarray(values, np.float64)
    if shares.ndim != 2:
        raise ValueError(f"shares must be an array (D, K), not of the shape {shares.shape}")
    _check_length(shares, labels)
    if not np.isfinite(shares).all():
        row = int(np.argmin(np.isfinite(shares).all(axis=1)))
        raise ValueError(f"shares must be finite; those of document {row} are not")
    return shares


def _check_length(values: Any, labels: Sequence[Any]) -> None:
    if len(values) != len(labels):
        raise ValueError(f"there are {len(labels)} labels for {len(values)} documents")
    if not len(values):
        raise ValueError("there is no document")
