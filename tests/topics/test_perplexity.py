"""Perplexity: by hand, by enumeration, and proper at every word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.data.documents import Documents
from cohmm.learn.topics.htmm import with_chain
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics.perplexity import likelihood, perplexity
from tests.laws import close
from tests.model.test_topic_model import CHAINS, V, a_fit, all_paths, read_slowly, transitions
from tests.topics.samples import documents_of, sampled, separable_topics

METHODS = ["words", "completion", "training"]


@pytest.mark.parametrize("chain", CHAINS)
@given(st.lists(st.integers(0, V - 1), max_size=8), st.integers(0, 5))
def test_predictions_sum_to_one_over_the_vocabulary(
    chain: str, words: list[int], seed: int
) -> None:
    chains = a_fit(seed).as_chain(chain)  # type: ignore[arg-type]
    each = [chains.predict(documents_of([[*words, word]], V)) for word in range(V)]
    close(sum(np.exp(logs[-1]) for logs in each), 1.0)
    for logs in each[1:]:  # what comes later changes nothing
        np.testing.assert_array_equal(logs[:-1], each[0][:-1])


@pytest.mark.parametrize("chain", CHAINS)
def test_word_by_word_against_the_plain_recursion(chain: str) -> None:
    fit = a_fit(4)
    words, m, strength = [0, 3, 3, 1, 4, 4, 2], fit.components, 2.5
    drawn, counts = fit.prior.copy(), strength * fit.transitions
    before, logs = np.zeros(3), []
    for t, word in enumerate(words):
        p = drawn / drawn.sum()
        switch = {"sticky": fit.switch, "independent": 1.0, "full": np.nan}[chain]
        if chain == "full":
            a = counts / counts.sum(axis=1, keepdims=True)
            moves = before[:, None] * a * m[:, word]
            now = p * m[:, word] if t == 0 else moves.sum(axis=0)
            counts = counts + (0 if t == 0 else moves / now.sum())
        else:
            chance = 1.0 if t == 0 else switch
            fresh = chance * p * m[:, word]
            now = (1 - chance) * before * m[:, word] + fresh
            drawn = drawn + fresh / now.sum()
        logs.append(np.log(now.sum()))
        before = now / now.sum()
    chains = fit.as_chain(chain, strength=strength)  # type: ignore[arg-type]
    documents = documents_of([[1], words, []], V)
    close(chains.predict(documents)[1:], logs)
    wanted = np.exp(-(np.sum(logs) + chains.predict(documents)[0]) / 8)
    close(perplexity(fit, documents, chain=chain, strength=strength), wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize("chain", CHAINS)
def test_training_is_the_likelihood_of_the_fitted_chain(chain: str) -> None:
    fit = a_fit(1)
    chains = fit.as_chain(chain, strength=2.0)  # type: ignore[arg-type]
    words = [0, 0, 3, 1]
    log = read_slowly(fit, chain, words, 2.0, 60)[1]
    found = likelihood(chains, documents_of([words], V), "training")
    close(found.log_likelihood, log, 1e-3)  # the stop rule's
    assert found.n_words == 4


@pytest.mark.parametrize("chain", ["sticky", "independent"])
def test_completion_goes_on_where_the_first_half_ended(chain: str) -> None:
    """log P(second | first) = log P(both) - log P(first), by the chain of the first half."""
    fit = a_fit(2)
    words = [4, 0, 1, 1, 3]
    p = fit.prior / fit.prior.sum()
    for _ in range(60):
        a = transitions(fit, chain, p)
        total, drawn = 0.0, np.zeros(3)
        for (x, y), joint in all_paths(words[:2], p, a, fit.components):
            switch = fit.switch if chain == "sticky" else 1.0
            total += joint
            drawn[x] += joint
            drawn[y] += joint * switch * p[y] / a[x, y]
        p = fit.prior + drawn / total
        p /= p.sum()
    a = transitions(fit, chain, p)
    both, first = (
        sum(joint for _, joint in all_paths(part, p, a, fit.components))
        for part in (words, words[:2])
    )
    found = likelihood(fit.as_chain(chain), documents_of([words, []], V), "completion")  # type: ignore[arg-type]
    assert found.n_words == 3
    close(found.log_likelihood, np.log(both / first), 2e-3)


def test_by_hand() -> None:
    """Two topics that share no word: the first word says which, and the chain stays there."""
    fit = TopicFit([[0.5, 0.5, 0], [0, 0, 1]], [0.5, 0.5], [1, 1], ("a", "b", "c"), name="x")
    documents = Documents([0, 1, 2], [0, 3], ("a", "b", "c"))
    # 1/2 1/2; topic 0 has 2 of 3 counts: (3/4 + 1/4 2/3) 1/2; then a switch to topic 1.
    second = (0.75 + 0.25 * 2 / 3) / 2
    counts = 2 + 0.25 * (2 / 3) * 0.5 / second
    third = 0.25 * 1 / (1 + counts)
    wanted = (0.25 * second * third) ** (-1 / 3)
    close(perplexity(fit, documents, switch=0.25), wanted)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_topic_is_its_frequencies(method: str) -> None:
    fit = TopicFit([[0.7, 0.3]], [1.0], [1.0], ("a", "b"), name="one")
    documents = documents_of([[0], [0, 1], [1, 1, 0]], 2)
    scored = [0, 1, 1, 0] if method == "completion" else documents.symbols
    wanted = np.exp(-np.log(fit.components[0, scored]).mean())
    for chain, how in (
        ("independent", {}),
        ("sticky", {"switch": 0.3}),
        ("full", {"transitions": [[1.0]]}),
    ):
        close(perplexity(fit, documents, chain=chain, method=method, **how), wanted)  # type: ignore[arg-type]


def test_rivals_are_scored_with_and_without_a_chain() -> None:
    """Bags of words have no chain to find: it is not worth more than its absence."""
    topics = separable_topics(4, 60)
    documents = sampled(topics, 300, 40)
    fit = TopicFit(topics, np.full(4, 0.25), np.full(4, 0.1), documents.vocabulary, name="truth")
    chained = with_chain(fit, documents)
    assert chained.name == "truth"
    assert chained.switch > 0.9
    close(chained.transitions, 0.25 * chained.switch + (1 - chained.switch) * np.eye(4))
    bag = perplexity(fit, documents, chain="independent")
    assert abs(perplexity(chained, documents) / bag - 1) < 0.01
    assert perplexity(fit, documents, switch=0.1) > 1.1 * bag
    assert perplexity(fit, documents, chain="independent", method="training") < bag


def test_what_cannot_be() -> None:
    fit = a_fit()
    with pytest.raises(ValueError, match="method must be one of words, completion, training"):
        perplexity(fit, documents_of([[0]], V), method="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no known word in 2 documents"):
        perplexity(fit, documents_of([[], []], V))
