"""A topic model as a value; chains of documents: against all paths enumerated, and one another."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, threads
from cohmm.data.documents import Documents
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.topic_model import Segmented
from tests.laws import close, rows_are_distributions
from tests.topics.samples import documents_of

K, V = 3, 5
CHAINS = ["full", "sticky", "independent"]


def a_fit(seed: int = 0, k: int = K, v: int = V, switch: float = 0.3) -> TopicFit:
    rng = np.random.default_rng(seed)
    prevalence = np.sort(rng.dirichlet(np.ones(k)))[::-1]
    return TopicFit(
        rng.dirichlet(np.full(v, 0.5), size=k),
        prevalence,
        2 * prevalence,
        tuple(f"w{i}" for i in range(v)),
        name="random",
        transitions=rng.dirichlet(np.ones(k), size=k),
        switch=switch,
    )


def transitions(fit: TopicFit, chain: str, p: np.ndarray) -> np.ndarray:
    """The transition matrix of a document with proportions p."""
    switch = fit.switch if chain == "sticky" else 1.0
    return (1 - switch) * np.eye(len(p)) + switch * p


def all_paths(words: list[int], start: np.ndarray, a: np.ndarray, m: np.ndarray):
    """Every path and its joint probability with the words."""
    for path in product(range(len(start)), repeat=len(words)):
        probability = start[path[0]] * m[path[0], words[0]]
        for before, now, word in zip(path[:-1], path[1:], words[1:], strict=True):
            probability *= a[before, now] * m[now, word]
        yield path, probability


def read_slowly(fit: TopicFit, chain: str, words: list[int], strength: float, steps: int):
    """EM over all paths: shares, log-likelihood, best path, posteriors."""
    m, k = fit.components, fit.n_components
    p = start = fit.prior / fit.prior.sum()
    a = fit.transitions
    for step in range(steps + 1):
        law = a if chain == "full" else transitions(fit, chain, p)
        first = start if chain == "full" else p
        paths = list(all_paths(words, first, law, m))
        total = sum(probability for _, probability in paths)
        posteriors, moves, drawn = np.zeros((len(words), k)), np.zeros((k, k)), np.zeros(k)
        for path, probability in paths:
            share = probability / total
            drawn[path[0]] += share
            for t, topic in enumerate(path):
                posteriors[t, topic] += share
                if t > 0:
                    moves[path[t - 1], topic] += share
                    # Of a step into this topic, the part that was drawn and not kept.
                    switch = fit.switch if chain == "sticky" else 1.0
                    drawn[topic] += share * switch * p[topic] / law[path[t - 1], topic]
        if step == steps:
            best = max(paths, key=lambda item: item[1])
            return posteriors.mean(axis=0), np.log(total), best, posteriors
        if chain == "full":
            start = fit.prior + posteriors[0]
            start = start / start.sum()
            a = strength * fit.transitions + moves
            a = a / a.sum(axis=1, keepdims=True)
        else:
            p = (fit.prior + drawn) / (fit.prior + drawn).sum()
    raise AssertionError


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("words", [[0], [1, 1], [0, 1, 2, 3, 4], [2, 2, 0, 4, 4, 4]])
def test_readings_are_those_of_all_paths(chain: str, words: list[int]) -> None:
    fit = a_fit()
    chains = fit.as_chain(chain, strength=1.5)  # type: ignore[arg-type]
    documents = documents_of([[3, 0], words, []], V)
    found = chains.infer(documents, decode=True, posteriors=True, sweeps=4, tol=0.0)
    shares, log_likelihood, (path, joint), posteriors = read_slowly(fit, chain, words, 1.5, 4)
    its = slice(2, 2 + len(words))
    close(found.shares[1], shares)
    close(found.log_likelihoods[1], log_likelihood)
    close(found.posteriors[its], posteriors)
    close(found.probabilities[its], posteriors[np.arange(len(words)), found.topics[its]])
    assert tuple(found.topics[its]) == path, joint


@pytest.mark.parametrize("chain", CHAINS)
def test_a_document_without_words_has_the_prior(chain: str) -> None:
    fit = a_fit()
    documents = documents_of([[], [1, 2], []], V)
    found = fit.as_chain(chain).infer(documents, decode=True)  # type: ignore[arg-type]
    close(found.shares[0], fit.prior / fit.prior.sum())
    close(found.shares[2], fit.prior / fit.prior.sum())
    assert found.log_likelihoods[0] == 0
    assert found.topics.shape == (2,)
    rows_are_distributions(found.shares)


texts = st.lists(st.lists(st.integers(0, V - 1), max_size=12), min_size=1, max_size=5)


@given(texts, st.integers(0, 5), st.floats(0.01, 1.0))
def test_a_full_chain_of_the_sticky_form_is_sticky(
    words: list[list[int]], seed: int, switch: float
) -> None:
    """With a prior so strong that nothing adapts, so that transitions are what they are given."""
    fit = a_fit(seed)
    p = fit.prior / fit.prior.sum()
    a = (1 - switch) * np.eye(K) + switch * p
    documents = documents_of(words, V)
    firm = TopicFit(fit.components, fit.prevalence, 1e12 * p, fit.vocabulary, name="firm")
    full = firm.as_chain("full", transitions=a, strength=1e12)
    sticky = firm.as_chain("sticky", switch=switch)
    one, other = (c.infer(documents, decode=True, posteriors=True) for c in (full, sticky))
    for found, wanted in zip(one, other, strict=True):
        if found.dtype.kind == "f":
            close(found, wanted, 1e-7)
    close(full.predict(documents), sticky.predict(documents), 1e-7)
    model = HMM(p, a, fit.components)
    filled = [text for text in words if text]
    if filled:
        flat, lengths = [word for text in filled for word in text], list(map(len, filled))
        close(one.log_likelihoods.sum(), model.log_likelihood(flat, lengths), 1e-7)


@given(texts, st.integers(0, 5))
def test_a_sticky_chain_that_always_switches_is_a_bag_of_words(
    words: list[list[int]], seed: int
) -> None:
    fit = a_fit(seed)
    documents = documents_of(words, V)
    sticky = fit.as_chain("sticky", switch=1.0).infer(documents)
    found = fit.as_chain("independent").infer(documents, sweeps=200, tol=0.0)
    # The order of words does not matter, and p is a fixed point of the bag's own EM.
    turned = documents_of([text[::-1] for text in words], V)
    close(fit.as_chain("independent").infer(turned).shares, sticky.shares, 1e-7)
    for d, text in enumerate(words):
        counts = np.bincount(text, minlength=V)
        p = fit.prior / fit.prior.sum()
        for _ in range(200):
            drawn = p * (fit.components @ (counts / (p @ fit.components)))
            p = (fit.prior + drawn) / (fit.prior + drawn).sum()
        close(found.log_likelihoods[d], counts @ np.log(p @ fit.components), 1e-8)
        if text:
            close(
                found.shares[d],
                (p * (fit.components @ (counts / (p @ fit.components)))) / len(text),
                1e-8,
            )


@pytest.mark.parametrize("chain", CHAINS)
def test_more_sweeps_never_lower_the_posterior_density(chain: str) -> None:
    """EM's law, with a prior of next to nothing: the likelihood never falls."""
    fit = a_fit(3, k=4, v=6)
    weak = TopicFit(
        fit.components,
        fit.prevalence,
        1e-9 * fit.prior,
        fit.vocabulary,
        "weak",
        transitions=fit.transitions,
        switch=fit.switch,
    )
    documents = documents_of(np.random.default_rng(0).integers(0, 6, size=(5, 30)).tolist(), 6)
    chains = weak.as_chain(chain, **({"strength": 1e-9} if chain == "full" else {}))  # type: ignore[arg-type]
    logs = [chains.infer(documents, sweeps=n, tol=0.0).log_likelihoods for n in range(12)]
    assert (np.diff(logs, axis=0) >= -1e-9).all()
    assert (logs[-1] > logs[0] + 0.1).any()


def test_any_number_of_threads_gives_the_same() -> None:
    fit = a_fit(1, k=6, v=50)
    rng = np.random.default_rng(0)
    documents = Documents(
        rng.integers(0, 50, 60_000), np.arange(0, 60_001, 60), tuple(f"w{i}" for i in range(50))
    )
    for chain in CHAINS:
        chains = fit.as_chain(chain)  # type: ignore[arg-type]
        found = []
        for n in (1, 2):
            with threads(n):
                found.append([*chains.infer(documents, decode=True), chains.predict(documents)])
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("chain", CHAINS)
def test_relabelled_topics_read_the_same(chain: str) -> None:
    fit = a_fit(2)
    order = np.array([2, 0, 1])
    other = TopicFit(
        fit.components[order],
        fit.prevalence[order],
        fit.prior[order],
        fit.vocabulary,
        "other",
        transitions=fit.transitions[order][:, order],
        switch=fit.switch,
    )
    documents = documents_of([[0, 1, 2, 2, 4], [3, 3, 1]], V)
    one, two = (f.as_chain(chain).infer(documents) for f in (fit, other))  # type: ignore[arg-type]
    close(one.shares[:, order], two.shares)
    close(one.log_likelihoods, two.log_likelihoods)


def test_long_documents_and_impossible_words_do_not_underflow() -> None:
    fit = TopicFit([[1, 0, 0], [0, 1, 0]], [0.5, 0.5], [1.0, 0.0], ("a", "b", "never"), name="x")
    words = [0] * 3000 + [1] * 3000 + [2, 0]
    documents = documents_of([words], 3)
    for chain, how in (
        ("sticky", {"switch": 1e-6}),
        ("full", {"transitions": np.eye(2)}),
        ("independent", {}),
    ):
        chains = fit.as_chain(chain, **how)  # type: ignore[arg-type]
        found = chains.infer(documents, decode=True)
        rows_are_distributions(found.shares)
        assert np.isfinite(found.log_likelihoods).all()
        assert np.isfinite(chains.predict(documents)).all()
        assert (found.topics[:3000] == 0).all()
        assert (found.topics[3000:6000] == 1).all()
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()


def test_segments() -> None:
    fit = TopicFit(
        [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], [0.5, 0.5], [1, 1], tuple("abcd"), name="x"
    )
    documents = Documents([0, 1, 0, 2, 3, 3], [0, 0, 6], tuple("abcd"))
    empty, found = fit.as_chain("sticky", switch=0.2).segment(documents, posteriors=True)
    assert (len(empty), empty.runs, empty.words) == (0, [], [])
    assert found.words == list("abacdd")
    assert found.runs == [(0, 2, 0), (3, 5, 1)]
    assert (found.probabilities > 0.99).all()
    assert found.posteriors is not None
    rows_are_distributions(found.posteriors)
    assert fit.as_chain("sticky", switch=0.2).segment(documents)[1].posteriors is None


def test_runs_cover_the_document() -> None:
    topics = np.array([2, 2, 0, 1, 1, 1, 2])
    runs = Segmented(list("abcdefg"), topics, np.ones(7)).runs
    assert [t for a, b, t in runs for _ in range(a, b + 1)] == topics.tolist()
    assert len(runs) == 4


def test_what_cannot_be() -> None:
    fit = a_fit()
    plain = TopicFit(fit.components, fit.prevalence, fit.prior, fit.vocabulary, name="LDA")
    with pytest.raises(ValueError, match="no rate of switching: give switch"):
        plain.as_chain("sticky")
    with pytest.raises(ValueError, match="no transitions: give them"):
        plain.as_chain("full")
    with pytest.raises(ValueError, match="chain must be one of full, sticky, independent"):
        fit.as_chain("loose")  # type: ignore[arg-type]
    for switch in (0, -0.5, 1.5, float("nan")):
        with pytest.raises(ValueError, match="switch must be a probability above 0"):
            fit.as_chain("sticky", switch=switch)
    with pytest.raises(ValueError, match="strength must be finite and above 0, not -1"):
        fit.as_chain("full", strength=-1)
    with pytest.raises(ValueError, match=r"shape \(2, 2\), not \(3, 3\)"):
        fit.as_chain("full", transitions=np.eye(2))
    with pytest.raises(ValueError, match="every row must sum to one"):
        fit.as_chain("full", transitions=np.ones((3, 3)))
    with pytest.raises(ValueError, match="vocabulary of 7 words, the topics one of 5"):
        fit.infer(documents_of([[0]], 7))


def fit(transitions: Any, switch: float = 0.5) -> TopicFit:
    return TopicFit([[1.0, 0.0], [0.5, 0.5]], [0.6, 0.4], [1, 1], ("a", "b"), "x",
                   transitions=transitions, switch=switch)  # fmt: skip


def test_it_is_a_chain_of_topics() -> None:
    found = fit([[0.9, 0.1], [0.2, 0.8]])
    model = found.as_hmm()
    np.testing.assert_array_equal(model.transmat, found.transitions)
    np.testing.assert_array_equal(model.emissionprob, found.components)
    np.testing.assert_array_equal(model.startprob, found.prevalence)
    assert model.vocabulary == ("a", "b")
    assert found.n_iter == 0
    with pytest.raises(ValueError, match="read-only"):
        found.transitions[0, 0] = 1


@pytest.mark.parametrize(
    ("transitions", "switch", "message"),
    [
        ([[1.0]], 0.5, r"shape \(1, 1\), not \(2, 2\)"),
        ([[0.5, 0.4], [0, 1]], 0.5, "every row must sum to one"),
        ([[1.5, -0.5], [0, 1]], 0.5, "at least 0"),
        (np.eye(2), -1, "above 0 and up to 1, not -1"),
        (np.eye(2), 0.0, "above 0 and up to 1, not 0"),
        (np.eye(2), "often", "not 'often'"),
    ],
)
def test_what_is_no_chain_is_refused(transitions: Any, switch: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(transitions, switch)
