"""The learner of topics: against slow EM, on corpora whose topics are known, on bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from cohmm.data.documents import Documents
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import (
    TopicSample,
    random_topics,
    sample_documents,
    sample_htmm,
)
from cohmm.evidence.counting import count_documents
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.topics import topic_start
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.pair_topics import topics_of_pairs
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import match_rows, total_variation
from tests.laws import close, rows_are_distributions
from tests.topics.samples import documents_of, error


@pytest.fixture(scope="module")
def small() -> TopicSample:
    return sample_htmm(600, n_components=4, n_words=120, length=50, random_state=0)


def quietly(*args, **kwargs) -> TopicFit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return htmm(*args, **kwargs)


def test_the_corpus_of_the_issue_is_recovered() -> None:
    """K=10, V=2,000, 5,000 documents: topics, and which word is of which."""
    sample = sample_htmm(5000, random_state=0)
    fit = quietly(sample.documents, 10, random_state=0)
    assert error(fit.components, sample.components) < 0.10
    truth = TopicFit(
        sample.components,
        np.full(10, 0.1),
        np.full(10, 0.3),
        sample.documents.vocabulary,
        "truth",
        transitions=np.eye(10),
        switch=sample.switch,
    )
    best = truth.infer(sample.documents, decode=True).topics
    found = fit.infer(sample.documents, decode=True).topics
    cost = cdist(sample.components, fit.components, "cityblock")
    name = np.empty(10, int)
    rows, columns = linear_sum_assignment(cost)
    name[columns] = rows
    accuracy = np.mean(name[found] == sample.topics)
    assert accuracy > np.mean(best == sample.topics) - 0.02
    assert abs(fit.switch - sample.switch) < 0.05
    close(fit.prior / fit.prior.sum(), fit.prevalence)


def test_the_fit_is_in_order(small: TopicSample) -> None:
    fit = quietly(small.documents, 4, random_state=0)
    rows_are_distributions(fit.components)
    rows_are_distributions(fit.transitions)
    rows_are_distributions(fit.prevalence)
    assert (np.diff(fit.prevalence) <= 0).all()
    assert (fit.components > 0).all()
    assert fit.vocabulary == small.documents.vocabulary
    assert len(fit.passes) >= fit.n_document_passes >= 1
    assert fit.converged
    assert 1 < fit.n_iter <= 103
    objectives = [step.objective for step in fit.history]
    assert objectives == sorted(objectives, reverse=True)
    assert fit.name == "HTMM"
    # Chains stay: so do the corpus' transitions.
    assert (fit.transitions.diagonal() > fit.prevalence).all()


def test_passes_over_the_documents_improve_the_topics(small: TopicSample) -> None:
    errors = [
        error(quietly(small.documents, 4, refine=n, random_state=0).components, small.components)
        for n in (0, 1, 2)
    ]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.usefixtures("one_clustering")
def test_the_seed_decides_where_it_starts(subjects: Documents) -> None:
    one, same, other = (
        quietly(subjects, 12, random_state=seed, max_iter=5).components for seed in (0, 0, 5)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


def test_weights_are_repetitions(small: TopicSample) -> None:
    """A document of weight two is two documents; one of weight nothing is none."""
    weights = np.tile([2.0, 0.0, 1.0], 200)
    repeated = small.documents.select(np.repeat(np.arange(600), weights.astype(int)))
    one = quietly(small.documents, 4, weights=weights, random_state=0, max_iter=10, refine=1)
    two = quietly(repeated, 4, random_state=0, max_iter=10, refine=1)
    close(one.components, two.components, 1e-3)
    assert (
        np.abs(
            one.components
            - quietly(small.documents, 4, random_state=0, max_iter=10, refine=1).components
        ).max()
        > 1e-3
    )


# -- several starts ----------------------------------------------------------------------------


@pytest.fixture
def one_clustering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts that differ: where clusters are moved, they are nearly always the same."""
    monkeypatch.setattr(topic_start, "CLUSTERINGS", 1)
    monkeypatch.setattr(topic_start, "MOVED_SHARE", 0)


@pytest.fixture(scope="module")
def subjects() -> Documents:
    """Twelve topics, two of which a start often has in one cluster."""
    return sample_documents(demo_model(), 1000, length=60, random_state=0)[0]


@pytest.fixture(scope="module")
def best(subjects: Documents) -> TopicFit:
    return quietly(subjects, 12, random_state=0, max_iter=40)


@pytest.mark.usefixtures("one_clustering")
def test_of_several_starts_the_best_is_learned_from(subjects: Documents) -> None:
    """Of four, some of which have two topics in one."""
    one = quietly(subjects, 12, random_state=0, max_iter=25, refine=0)
    four = quietly(subjects, 12, n_init=4, random_state=0, max_iter=25, refine=0)
    assert one.starts == (one.history[-1].objective,)
    assert len(four.starts) == 4
    # The first is what one start alone would have been, as it stood after twenty passes.
    for fit, after in ((one, four.starts[0]), (four, min(four.starts))):
        assert after == next(step.objective for step in fit.history if step.n_iter >= 20)
    assert min(four.starts) < max(four.starts) - 0.001


@pytest.mark.parametrize("seed", range(3))
def test_any_seed_finds_all_topics(subjects: Documents, best: TopicFit, seed: int) -> None:
    """Lloyd's steps alone have two topics in one for most seeds; moved clusters do not."""
    fit = quietly(subjects, 12, random_state=seed, max_iter=40)
    truth = demo_model().emissionprob
    assert error(fit.components, truth) < 0.08
    close(fit.components, best.components, 1e-6)


@pytest.mark.usefixtures("one_clustering")
def test_where_the_first_start_is_the_best_others_change_nothing(subjects: Documents) -> None:
    one, several = (
        quietly(subjects, 12, n_init=n, random_state=12, max_iter=22, refine=0) for n in (1, 4)
    )
    assert several.starts[2] > several.starts[0] == min(several.starts)
    np.testing.assert_array_equal(one.components, several.components)
    assert [step[:5] for step in one.history] == [step[:5] for step in several.history]


@pytest.mark.usefixtures("one_clustering")
def test_more_starts_keep_the_first(subjects: Documents) -> None:
    few, more = (
        quietly(subjects, 12, n_init=n, random_state=0, max_iter=3, refine=0).starts for n in (2, 4)
    )
    assert more[:2] == few
    assert len(set(more)) > 1


@pytest.mark.usefixtures("one_clustering")
def test_a_given_start_is_the_first_of_several(subjects: Documents, best: TopicFit) -> None:
    given = {"n_init": 3, "random_state": 3, "max_iter": 3, "refine": 0}
    found = quietly(subjects, 12, start=best.as_hmm(), **given)
    clusters = quietly(subjects, 12, **given)
    assert found.starts[1:] == clusters.starts[1:]
    assert found.starts[0] < min(clusters.starts)
    alone = quietly(subjects, 12, start=best.as_hmm(), **given | {"n_init": 1})
    np.testing.assert_array_equal(found.components, alone.components)


def test_passes_of_all_starts_are_heard_of(small: TopicSample) -> None:
    heard: list[int] = []
    fit = quietly(
        small.documents,
        4,
        n_init=3,
        random_state=0,
        max_iter=30,
        callback=lambda step: heard.append(step.n_iter),
    )
    assert heard.count(1) == 3 + 1 + 1  # the trials, the pairs, the documents
    before = len(heard) - len(fit.passes)
    assert heard[before - len(fit.history) : before] == [step.n_iter for step in fit.history]


# -- transitions -------------------------------------------------------------------------------


def test_transitions_are_those_of_the_documents(subjects: Documents, best: TopicFit) -> None:
    """How long topics last, and what follows: much closer than the pairs have it."""
    truth = demo_model()
    pairs = quietly(subjects, 12, n_init=4, random_state=0, max_iter=40, refine=0)
    off, lasts = {}, {}
    for name, fit in (("documents", best), ("pairs", pairs)):
        which = match_rows(truth.emissionprob, fit.components)
        true = truth.transmat[np.ix_(which, which)]
        off[name] = total_variation(fit.transitions, true)
        lasts[name] = (1 - np.diagonal(true)) / (1 - np.diagonal(fit.transitions))
    assert off["documents"] < 0.015 < 0.025 < off["pairs"]
    assert np.abs(lasts["documents"] - 1).max() < 0.25 < np.abs(lasts["pairs"] - 1).max()


def test_without_a_pass_over_the_documents_transitions_are_those_of_the_pairs(
    small: TopicSample,
) -> None:
    counts = count_documents(small.documents, range(1, 6))
    options = {"max_iter": 20, "tol": 1e-3, "random_state": 0, "n_init": 1}
    model = topics_of_pairs(counts, 4, **options).model
    order = np.argsort(-model.stationary())
    fit = quietly(small.documents, 4, refine=0, counts=counts, **options)
    np.testing.assert_array_equal(fit.transitions, model.transmat[order][:, order])
    refined = quietly(small.documents, 4, refine=1, counts=counts, **options)
    assert np.abs(refined.transitions - fit.transitions).max() > 0.01


def test_as_many_topics_as_stand_out() -> None:
    sample = sample_htmm(3000, n_components=5, n_words=150, length=60, random_state=0)
    assert htmm(sample.documents, "auto", random_state=0, max_iter=5).n_components == 5


def test_lags_without_pairs_and_words_without_pairs_are_no_trouble() -> None:
    documents = documents_of([[0, 1], [1, 0], [0, 0], [1, 1], [2, 3], [3, 2], [3, 3], [4]] * 10, 6)
    fit = quietly(documents, 2, random_state=0)
    rows_are_distributions(fit.components)
    assert (fit.components[:, 4:] > 0).all()
    assert fit.components[0, :2].sum() > 0.9


def test_bad_input(small: TopicSample) -> None:
    documents = small.documents
    with pytest.raises(ValueError, match=r"n_components=121 topics .* from pairs of 120 words"):
        htmm(documents, 121)
    with pytest.raises(ValueError, match="n_components must be a whole number from 1"):
        htmm(documents, 0)
    with pytest.raises(ValueError, match="no pair of words at lag 1, 2, 3, 4, 5"):
        htmm(documents_of([[0], [1], []]), 2)
    with pytest.raises(ValueError, match="refine must be a whole number from 0, not -1"):
        htmm(documents, 2, refine=-1)
    with pytest.raises(ValueError, match="one number per document"):
        htmm(documents, 2, weights=[1.0])


# -- samples --------------------------------------------------------------------------------


def test_samples_are_what_they_say() -> None:
    sample = sample_htmm(4000, n_components=3, n_words=20, length=40, switch=0.3, random_state=0)
    inside = np.ones(sample.documents.n_words, bool)
    inside[sample.documents.offsets[:-1]] = False
    document = np.repeat(np.arange(4000), sample.documents.lengths)
    kept = np.mean((sample.topics[1:] == sample.topics[:-1])[inside[1:]])
    expected = 0.7 + 0.3 * (sample.proportions**2).sum(axis=1)[document][inside].mean()
    assert abs(kept - expected) < 0.01
    for topic in range(3):
        words = np.bincount(sample.documents.symbols[sample.topics == topic], minlength=20)
        assert np.abs(words / words.sum() - sample.components[topic]).sum() < 0.05
    again = sample_htmm(4000, n_components=3, n_words=20, length=40, switch=0.3, random_state=0)
    assert again.documents == sample.documents
    given = sample_htmm(10, components=[[0, 1.0], [0, 1.0]], random_state=0)
    assert (given.documents.symbols == 1).all()
    with pytest.raises(ValueError, match="switch from 0 to 1"):
        sample_htmm(5, switch=2.0)
    with pytest.raises(ValueError, match="concentration above 0"):
        random_topics(2, 3, concentration=0)
    assert isinstance(sample.documents, Documents)


def test_a_start_in_other_words_is_refused(subjects: Documents, best: TopicFit) -> None:
    start = best.as_hmm()
    turned = HMM(
        start.startprob, start.transmat, start.emissionprob[:, ::-1], start.vocabulary[::-1]
    )
    with pytest.raises(ValueError, match="start has other words than the documents, or in another"):
        htmm(subjects, 12, start=turned)
