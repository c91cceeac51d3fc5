"""pLSA: against plain EM, monotone, and on topics that are known."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.topics import plsa as module
from cohmm.learn.topics.plsa import plsa
from cohmm.learn.topics.topic_fit import default_prior
from tests.laws import close, rows_are_distributions
from tests.topics.samples import documents_of, error, sampled, separable_topics


def em(counts: np.ndarray, phi: np.ndarray, n_iter: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Theta, Phi (K, V) and the log-likelihood of a word after ``n_iter`` steps, dense."""
    theta = np.full((len(counts), len(phi)), 1 / len(phi))
    for _ in range(n_iter):
        ratio = counts / np.maximum(theta @ phi, 1e-300)
        theta, phi = theta * (ratio @ phi.T), phi * (theta.T @ ratio)
        theta /= np.maximum(theta.sum(axis=1, keepdims=True), 1e-300)
        phi /= phi.sum(axis=1, keepdims=True)
    law = theta @ phi
    return theta, phi, float((counts * np.log(np.maximum(law, 1e-300))).sum() / counts.sum())


@pytest.mark.parametrize("k", [1, 3, 20])
def test_iterations_are_those_of_plain_em(k: int) -> None:
    documents = sampled(separable_topics(4, 50), 40, 30)
    counts = documents.term_counts().toarray().astype(float)
    start = np.random.default_rng(1).dirichlet(np.ones(50), size=k)
    frequency = counts.sum(axis=0) / counts.sum()
    seen = frequency > 0
    begin = start * seen / (start * seen).sum(axis=1, keepdims=True)
    begin = (1 - module.MIXED_IN) * begin + module.MIXED_IN * frequency
    theta, phi, log_fit = em(counts, begin, 7)
    fit = plsa(documents, k, start=start, max_iter=8, tol=0, smoothing=0)
    n_words = counts.sum(axis=1) @ theta
    order = np.argsort(-n_words, kind="stable")
    close(-fit.history[-1].objective, log_fit, 1e-6)
    close(fit.components, phi[order], 1e-5)
    close(fit.prevalence, n_words[order] / n_words.sum(), 1e-5)
    assert fit.history[-1].n_iter == (2 if k == 1 else 8)


@given(st.lists(st.lists(st.integers(0, 7), max_size=9), min_size=1, max_size=6).filter(any))
def test_the_likelihood_never_falls(texts: list[list[int]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        fit = plsa(documents_of(texts, 8), 3, tol=0, max_iter=60, random_state=0)
    objectives = [step.objective for step in fit.history]
    assert all(after <= before for before, after in pairwise(objectives))
    rows_are_distributions(fit.components)
    rows_are_distributions(fit.prevalence)
    assert (fit.components > 0).all()


def test_known_topics_are_found() -> None:
    topics = separable_topics(5, 150, own=0.1)
    documents = sampled(topics, 2000, 80)
    fit = plsa(documents, 5, random_state=0)
    assert error(fit.components, topics) < 0.06
    assert fit.converged
    assert fit.history[-1].n_iter < 200
    assert fit.name == "pLSA"
    np.testing.assert_allclose(fit.prevalence, 0.2, atol=0.03)
    assert (np.diff(fit.prevalence) <= 0).all()
    close(fit.prior, default_prior(fit.prevalence))


def test_topics_that_share_no_word_are_told_apart_exactly() -> None:
    documents = documents_of([[0, 1, 1], [1, 0, 1]] * 3 + [[2, 3], [3, 2, 2, 3]])
    fit = plsa(documents, 2, smoothing=0, tol=1e-9, random_state=1)
    close(fit.components, [[1 / 3, 2 / 3, 0, 0], [0, 0, 0.5, 0.5]], 1e-5)
    close(fit.prevalence, [18 / 24, 6 / 24], 1e-5)


def test_documents_may_be_reordered() -> None:
    documents = sampled(separable_topics(3, 60), 100, 40)
    rng = np.random.default_rng(0)
    start = rng.dirichlet(np.ones(60), size=3)
    fit = plsa(documents, 3, start=start, max_iter=20)
    shuffled = documents.select(rng.permutation(len(documents)))
    close(plsa(shuffled, 3, start=start, max_iter=20).components, fit.components, 1e-5)


def test_the_order_of_words_and_empty_documents_do_not_matter() -> None:
    one = plsa(documents_of([[0, 1, 2], [2, 3]]), 2, random_state=0)
    two = plsa(documents_of([[], [2, 1, 0], [], [3, 2], []]), 2, random_state=0)
    np.testing.assert_array_equal(one.components, two.components)


def test_further_starts_never_harm() -> None:
    documents = sampled(separable_topics(8, 100), 200, 30)
    fits = [plsa(documents, 8, n_init=n, random_state=0, max_iter=50) for n in (1, 4)]
    assert fits[1].history[-1].objective < fits[0].history[-1].objective


def test_smoothing_is_pseudo_observations() -> None:
    documents = documents_of([[0, 0, 1], [0, 1, 0]], n_words=3)
    fit = plsa(documents, 1, smoothing=0.5, random_state=0)
    close(fit.components, [[4.5 / 7.5, 2.5 / 7.5, 0.5 / 7.5]], 1e-6)


@pytest.mark.parametrize(
    ("message", "k", "options"),
    [
        ("n_components must be a whole number from 1 to 4.* not 5", 5, {}),
        (r"start must be an array of 2 topics .* \(3, 4\)", 2, {"start": np.ones((3, 4))}),
        ("start must hold probabilities", 2, {"start": -np.ones((2, 4))}),
    ],
)
def test_bad_input_is_named(message: str, k: int, options: dict) -> None:
    with pytest.raises(ValueError, match=message):
        plsa(documents_of([[0, 1], [2, 3]]), k, **options)


def test_documents_without_a_word() -> None:
    with pytest.raises(ValueError, match="no word in the 2 documents"):
        plsa(documents_of([[], []], n_words=3), 1)
