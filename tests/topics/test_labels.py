"""Topics against labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from cohmm.topics.labels import label_scores, linear_accuracy, nmi, purity

clusterings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)


@given(clusterings)
def test_against_the_definitions(pairs):
    topics, labels = map(list, zip(*pairs, strict=True))
    of_topic = [[b for a, b in pairs if a == topic] for topic in set(topics)]
    expected = sum(max(map(found.count, found)) for found in of_topic) / len(pairs)
    assert purity(topics, labels) == pytest.approx(expected)
    expected = normalized_mutual_info_score(labels, topics)
    assert nmi(topics, labels) == pytest.approx(expected, abs=1e-9)


@given(clusterings)
def test_names_do_not_count(pairs):
    topics, labels = map(list, zip(*pairs, strict=True))
    renamed = [7 - topic for topic in topics]
    words = ["abcd"[label] for label in labels]
    assert purity(renamed, words) == purity(topics, labels)
    assert nmi(renamed, words) == pytest.approx(nmi(topics, labels), abs=1e-12)
    assert nmi(labels, topics) == pytest.approx(nmi(topics, labels), abs=1e-12)  # symmetric
    # Topics cut into pieces are no less pure; labels by themselves are perfect.
    finer = [2 * topic + number % 2 for number, topic in enumerate(topics)]
    assert purity(finer, labels) >= purity(topics, labels)
    assert (purity(labels, words), nmi(labels, words)) == (1, pytest.approx(1))


def test_the_largest_share_is_the_topic():
    shares = np.array([[0.6, 0.4, 0.0], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
    assert purity(shares, ["a", "b", "b"]) == purity([0, 2, 0], ["a", "b", "b"]) == 2 / 3


def test_a_linear_classifier_tells_labels_by_shares():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    shares = rng.dirichlet(np.ones(4), 300) * 0.5
    shares[np.arange(300), truth] += 0.5
    labels = [f"label {code}" for code in truth]
    scores = label_scores(shares[:200], labels[:200], shares[200:], labels[200:])
    assert scores.accuracy > 0.95
    assert scores.purity > 0.9
    assert 0.5 < scores.nmi <= 1
    shuffled = rng.permutation(labels[:200]).tolist()
    assert linear_accuracy(shares[:200], shuffled, shares[200:], labels[200:]) < 0.6
    # A label that was never learned is never guessed.
    assert linear_accuracy(shares[:200], labels[:200], shares[200:], ["new"] * 100) == 0


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("there are 2 labels for 3 documents", lambda: purity([0, 1, 1], "ab")),
        ("there is no document", lambda: nmi([], [])),
        ("not of float64 and the shape", lambda: purity([0.5, 1.0], "ab")),
        (r"the shape \(2,\)", lambda: linear_accuracy([0.1, 0.2], "ab", [[1]], "a")),
        ("those of document 1 are not", lambda: purity([[0.5, 0.5], [np.nan, 1]], "ab")),
        ("2 topics to .*, but 1 to", lambda: linear_accuracy([[1, 0]] * 2, "ab", [[1]], "a")),
        ("all 2 documents .* one label", lambda: linear_accuracy([[1]] * 2, "aa", [[1]], "a")),
    ],
)
def test_bad_input_is_named(message, call):
    with pytest.raises(ValueError, match=message):
        call()
