"""LDA by three packages, with one result."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from cohmm.learn.topics.lda import lda
from tests.laws import rows_are_distributions
from tests.topics.samples import documents_of, error, sampled, separable_topics

ITERATIONS = {"tomotopy": 150, "gensim": 8, "sklearn": 10}

each_engine = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            name, marks=pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is missing")
        )
        for name in ITERATIONS
    ],
)


@each_engine
def test_known_topics_are_found(engine: str) -> None:
    topics = separable_topics(4, 100, own=0.1)
    documents = sampled(topics, 300, 60)
    fit = lda(documents, 4, engine=engine, max_iter=ITERATIONS[engine], random_state=0)
    assert error(fit.components, topics) < 0.12
    rows_are_distributions(fit.components)
    rows_are_distributions(fit.prevalence)
    assert (np.diff(fit.prevalence) <= 0).all()
    np.testing.assert_allclose(fit.prevalence, 0.25, atol=0.06)
    assert (fit.prior > 0).all()
    assert fit.name == f"LDA ({engine})"
    assert fit.converged is None
    assert fit.seconds > 0


@each_engine
def test_the_seed_decides(engine: str) -> None:
    documents = sampled(separable_topics(4, 80), 100, 30)
    one, same, other = (
        lda(documents, 4, engine=engine, max_iter=5, random_state=seed) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one.components, same.components)
    np.testing.assert_array_equal(one.prior, same.prior)
    assert np.abs(one.components - other.components).max() > 1e-3


@each_engine
def test_columns_are_the_words_of_the_vocabulary(engine: str) -> None:
    # Frequencies fall with the code in no order that a package would use for its own ids.
    texts = [[3, 3, 3, 0], [], [3, 0, 5, 5], [5, 3]] * 5
    documents = documents_of(texts, n_words=7)
    fit = lda(documents, 1, engine=engine, random_state=0)
    words = np.argsort(-fit.components[0], kind="stable")
    assert words[:3].tolist() == [3, 5, 0]
    assert fit.components[0, 3] == pytest.approx(0.5, abs=0.05)
    assert fit.components.shape == (1, 7)
    assert fit.vocabulary == documents.vocabulary


@each_engine
def test_more_iterations_make_another_result(engine: str) -> None:
    documents = sampled(separable_topics(4, 80), 100, 30)
    fits = [lda(documents, 4, engine=engine, max_iter=n, random_state=0) for n in (1, 8)]
    assert np.abs(fits[0].components - fits[1].components).max() > 1e-2


@pytest.mark.skipif(find_spec("tomotopy") is None, reason="tomotopy is missing")
def test_the_sampler_fits_its_prior_and_reports() -> None:
    documents = sampled(separable_topics(4, 80), 300, 40, alpha=1.0)
    seen = []
    fit = lda(documents, 4, max_iter=25, random_state=0, callback=seen.append)
    assert tuple(seen) == fit.history
    assert [step.n_iter for step in seen] == [10, 20, 25]
    assert seen[-1].objective < seen[0].objective
    assert np.ptp(fit.prior) > 0  # 0.1 for all at the beginning


@pytest.mark.skipif(find_spec("tomotopy") is None, reason="tomotopy is missing")
def test_workers_are_used_and_warned_of() -> None:
    documents = sampled(separable_topics(4, 80), 100, 30)
    with pytest.warns(RuntimeWarning, match="workers"):
        lda(documents, 4, max_iter=5, workers=2, random_state=0)


def test_variational_bayes_has_its_own_prior_and_reports_at_the_end() -> None:
    documents = sampled(separable_topics(4, 80), 100, 30)
    seen = []
    fit = lda(documents, 4, engine="sklearn", max_iter=3, random_state=0, callback=seen.append)
    assert tuple(seen) == fit.history
    assert [step.n_iter for step in seen] == [3]
    np.testing.assert_allclose(fit.prior, 0.25)


@pytest.mark.parametrize("name", ["tomotopy", "gensim"])
def test_a_package_that_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name, f"{name}.models"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs the package {name}: pip install 'cohmm\[comp"):
        lda(documents_of([[0, 1], [1, 0]]), 1, engine=name)


@pytest.mark.parametrize(
    ("message", "k", "options"),
    [
        (
            "engine must be one of 'tomotopy', .* not 'mallet'",
            1,
            {"engine": "mallet"},
        ),
        ("n_components must be a whole number from 1 to 2.* not 3", 3, {}),
        ("random_state must be a whole number from 0, or None, not -1", 1, {"random_state": -1}),
    ],
)
def test_bad_input_is_named(message: str, k: int, options: dict) -> None:
    with pytest.raises(ValueError, match=message):
        lda(documents_of([[0, 1], [1, 0]]), k, **options)
