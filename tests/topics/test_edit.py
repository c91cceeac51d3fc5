"""Topics renamed, merged and dropped: the algebra by hand, and what it leaves as it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.learn.topics.sticky_em import sticky_transitions
from cohmm.learn.topics.topic_fit import TopicFit, topic_fit
from cohmm.model.topic_model import MAX_LABEL
from cohmm.topics.edit import drop_topics, merge_topics, rename_topics, with_labels_of
from cohmm.topics.perplexity import likelihood
from tests.laws import close
from tests.model.test_topic_model import CHAINS, V, a_fit, read_slowly
from tests.topics.samples import documents_of

WORDS = [0, 3, 3, 1, 4]


def split(fit: TopicFit, topic: int, weights: np.ndarray) -> TopicFit:
    """A topic as several that emit alike, at the end; the chain goes to them by their weights."""
    k, n = fit.n_components, len(weights)
    parts = [*np.delete(np.arange(k), topic), *[topic] * n]
    share = np.concatenate([np.ones(k - 1), weights])
    return TopicFit(
        fit.components[parts],
        fit.prevalence[parts] * share,
        fit.prior[parts] * share,
        fit.vocabulary,
        "split",
        transitions=fit.transitions[np.ix_(parts, parts)] * share,
        switch=fit.switch,
    )


@given(
    st.lists(st.lists(st.integers(0, V - 1), max_size=8), min_size=1, max_size=3),
    st.integers(0, 9),
    st.floats(0.01, 0.99),
)
def test_parts_that_emit_alike_are_one_topic(
    words: list[list[int]], seed: int, weight: float
) -> None:
    whole, documents = a_fit(seed), documents_of(words, V)
    parts = split(whole, 1, np.array([weight, 1 - weight]))  # what were 0, 2, 1 and 1
    merged = merge_topics(parts, [[2, 3]])
    order = [0, 2, 1]
    close(merged.components, whole.components[order])
    close(merged.prevalence, whole.prevalence[order])
    close(merged.prior, whole.prior[order])
    close(merged.transitions, whole.transitions[np.ix_(order, order)])
    for chain in ("sticky", "independent"):
        before, after = (fit.as_chain(chain) for fit in (parts, merged))  # type: ignore[arg-type]
        close(after.predict(documents), before.predict(documents))
        read, reread = (
            chains.infer(documents, posteriors=True, sweeps=5, tol=0.0)
            for chains in (before, after)
        )
        close(reread.log_likelihoods, read.log_likelihoods)
        close(reread.shares[:, 2], read.shares[:, 2:].sum(axis=1))
        close(reread.posteriors[:, 2], read.posteriors[:, 2:].sum(axis=1))
    for text in filter(None, words):  # the corpus' own chain, which may be any
        close(
            *(
                replace(fit, vocabulary=tuple(range(V))).as_hmm().log_likelihood(text)
                for fit in (merged, parts)
            )
        )


def merged_by_hand(fit: TopicFit, groups: list[list[int]]) -> TopicFit:
    pi, flow = fit.prevalence, fit.prevalence[:, None] * fit.transitions
    shares = [sum(pi[i] for i in group) for group in groups]
    rows = [
        [
            sum(flow[i, j] for i in group for j in other) / share
            for other in groups
        ]
        for group, share in zip(groups, shares, strict=True)
    ]  # fmt: skip
    topics = [
        sum(pi[i] * fit.components[i] for i in group) / share
        for group, share in zip(groups, shares, strict=True)
    ]
    return replace(
        fit,
        components=np.array(topics),
        prevalence=np.array(shares),
        prior=np.array([sum(fit.prior[i] for i in group) for group in groups]),
        transitions=np.array(rows),
    )


def dropped_by_hand(fit: TopicFit, topic: int) -> TopicFit:
    """Every way through the dropped topic, by its length."""
    kept = [k for k in range(fit.n_components) if k != topic]
    a, total = fit.transitions, fit.transitions[np.ix_(kept, kept)].copy()
    for n in range(2000):
        total += a[kept, topic, None] * a[topic, topic] ** n * a[topic, kept]
    return replace(
        fit,
        components=fit.components[kept],
        prevalence=fit.prevalence[kept] / fit.prevalence[kept].sum(),
        prior=fit.prior[kept] / fit.prior[kept].sum() * fit.prior.sum(),
        transitions=total / total.sum(axis=1, keepdims=True),
    )


@pytest.mark.parametrize("chain", CHAINS)
def test_perplexities_are_those_of_all_paths(chain: str) -> None:
    fit = a_fit(3, k=4)
    for found, wanted in (
        (merge_topics(fit, [[3, 1]]), merged_by_hand(fit, [[0], [1, 3], [2]])),
        (merge_topics(fit, [[2, 3], [0, 1]]), merged_by_hand(fit, [[0, 1], [2, 3]])),
        (drop_topics(fit, [2]), dropped_by_hand(fit, 2)),
    ):
        for name in ("components", "prevalence", "prior", "transitions"):
            close(getattr(found, name), getattr(wanted, name))
        chains = found.as_chain(chain, strength=1.5)  # type: ignore[arg-type]
        log = read_slowly(wanted, chain, WORDS, 1.5, 60)[1]
        measured = likelihood(chains, documents_of([WORDS], V), "training")
        close(measured.log_likelihood, log, 1e-3)  # the stop rule's
        every = documents_of([list(text) for text in product(range(V), repeat=3)], V)
        close(np.exp(chains.predict(every).reshape(-1, 3).sum(axis=1)).sum(), 1.0)


@given(st.integers(0, 99), st.integers(2, 6), st.data())
def test_what_stays_as_it_was(seed: int, k: int, data: st.DataObject) -> None:
    """The words of the corpus when topics are merged; the sticky form and pi A = pi always."""
    fit = a_fit(seed, k=k)
    chosen = data.draw(st.sets(st.integers(0, k - 1), min_size=2))
    merged = merge_topics(fit, [sorted(chosen)])
    close(merged.prevalence @ merged.components, fit.prevalence @ fit.components)
    assert (merged.switch, merged.prior.sum()) == (fit.switch, pytest.approx(fit.prior.sum()))
    stationary = replace(fit, prevalence=fit.as_hmm().stationary())
    sticky = replace(fit, transitions=sticky_transitions(fit.prevalence, fit.switch))
    gone = sorted(chosen)[: k - 1]
    for steer in (
        lambda f: merge_topics(f, [sorted(chosen)]),
        lambda f: drop_topics(f, gone),
    ):
        found = steer(stationary)
        close(found.prevalence @ found.transitions, found.prevalence, 1e-8)
        found = steer(sticky)
        close(found.transitions, sticky_transitions(found.prevalence, fit.switch), 1e-9)


def test_topics_that_no_word_has_and_that_never_end() -> None:
    fit = a_fit(0, k=4)
    shares = np.array([1.0, 0.0, 0.0, 0.0])
    empty = replace(fit, prevalence=shares, prior=shares, transitions=np.eye(4))
    merged = merge_topics(empty, [[1, 3]])
    close(merged.components[1], (fit.components[1] + fit.components[3]) / 2)
    close(merged.transitions, np.eye(3))
    left = drop_topics(empty, [0])
    close(left.prevalence, np.full(3, 1 / 3))
    going = replace(empty, transitions=np.array([[0.0, 1, 0, 0], *np.eye(4)[1:]]))
    close(drop_topics(going, 1).transitions, np.eye(3), 1e-3)  # 0 came back by what is left


def test_labels_go_with_their_topics() -> None:
    fit = a_fit(0, k=5)
    assert (fit.labels, fit.all_labels) == ((), (None,) * 5)
    named = rename_topics(fit, {0: " the  sea", np.int64(3): "grain", 4: "rain"})
    assert named.labels == ("the sea", None, None, "grain", "rain")
    assert fit.labels == ()
    assert rename_topics(named, {"grain": "rain", 4: "grain"}).labels[3:] == ("rain", "grain")
    assert rename_topics(named, {0: None, 3: None, "rain": None}).labels == ()
    assert merge_topics(named, ["grain", 1]).labels == ("the sea", "grain", None, "rain")
    merged = merge_topics(named, [[4, "the sea"], [1, 2]])
    assert merged.labels == ("the sea / rain", None, "grain")
    assert drop_topics(named, ["grain", 1]).labels == ("the sea", None, "rain")
    assert drop_topics(named, "grain").labels == ("the sea", None, None, "rain")
    long = rename_topics(named, {0: "s" * MAX_LABEL})
    assert merge_topics(long, [[0, 4]]).labels[0] == "s" * MAX_LABEL


def test_labels_are_ordered_with_the_topics() -> None:
    found = topic_fit(
        np.eye(3) + 0.1,
        np.array([0.2, 0.5, 0.3]),
        ("a", "b", "c"),
        transitions=np.eye(3),
        labels=("A", None, "C"),
        name="x",
    )
    assert found.labels == (None, "C", "A")
    assert [found.vocabulary[row.argmax()] for row in found.components] == ["b", "c", "a"]
    more = replace(a_fit(0, k=3, v=4), components=np.eye(3, 4)[[1, 0, 2]] * 0.9 + 0.025)
    more = replace(more, vocabulary=("a", "b", "c", "d"))
    assert with_labels_of(found, more).labels == (None, "A", "C")
    assert with_labels_of(more, more).labels == ()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[2, 2]], "topic 2 cannot be merged with itself"),
        ([["grain", 1]], "topic 1 cannot be merged with itself"),
        ([[0, 1], [1, 2]], r"topic 1 is in two groups, \[0, 1\] and \[1, 2\]"),
        ([[0, 3]], "there is no topic 3: they are 0 to 2"),
        ([[0, -1]], "there is no topic -1"),
        ([["rain", 1]], "no topic with the label 'rain': there are 'grain'"),
        ([[0, 1.5]], r"by its number or its label, not by 1\.5"),
        ([[0, True]], "not by True"),
        ([[1]], r"two topics at least, not 1: \[1\]"),
        ([[]], "two topics at least, not 0"),
        ([[0, 1], 2], "2 is no list"),
        ([], "nothing to merge"),
        (3, "groups must be lists of topics"),
        ("grain", "groups must be lists of topics"),
    ],
)
def test_groups_that_cannot_be(groups: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        merge_topics(rename_topics(a_fit(), {1: "grain"}), groups)  # type: ignore[arg-type]


def test_of_no_topics_all_stay() -> None:
    fit = a_fit()
    assert drop_topics(fit, []) is fit
    assert drop_topics(fit, {}) is fit


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ([0, 1, 2], "all 3 topics would be dropped"),
        ([1, 1], "topic 1 is dropped twice"),
        ([7], "there is no topic 7"),
        ("rain", "no topic with the label 'rain': none has a label"),
        (1.5, "numbers or labels"),
    ],
)
def test_topics_that_cannot_be_dropped(topics: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drop_topics(a_fit(), topics)
    with pytest.raises(ValueError, match="there is topic 0 alone"):
        drop_topics(drop_topics(a_fit(), [0, 1]), 1)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({0: 7}, "label of topic 0 must be a string, not 7"),
        ({0: " "}, "label of topic 0 is blank"),
        ({0: "x" * 81}, "81 characters; there is room for 80"),
        ({2: "grain"}, "topics 1 and 2 have the same label, 'grain'"),
        ({1: "a", "grain": "b"}, "topic 1 is renamed twice"),
        ({9: "a"}, "there is no topic 9"),
        (["a", "b"], "given by topic"),
    ],
)
def test_labels_that_cannot_be(labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rename_topics(rename_topics(a_fit(), {1: "grain"}), labels)  # type: ignore[arg-type]
    for wrong, why in (("abc", "a list of strings"), (("a",), "1 labels for 3 topics")):
        with pytest.raises(ValueError, match=why):
            replace(a_fit(), labels=wrong)  # type: ignore[arg-type]
