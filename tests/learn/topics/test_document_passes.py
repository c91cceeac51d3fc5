"""Passes over documents, as many as documents that are held back do not mind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cohmm import HTMM
from cohmm.data.documents import Documents
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.evidence.counting import count_documents
from cohmm.learn.learner import Record
from cohmm.learn.topics import document_passes
from cohmm.learn.topics.document_passes import HeldBack, passes_by_held_back
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.sticky_em import expected_counts, sticky_chain, tempered_switch
from cohmm.model.topic_model import predicted
from tests.laws import close


@pytest.fixture(scope="module")
def articles() -> Documents:
    return sample_htmm(400, n_components=4, n_words=120, length=50, random_state=0).documents


@pytest.fixture(scope="module")
def titles() -> Documents:
    sample = sample_htmm(6000, n_components=4, n_words=150, length=5, alpha=0.05, random_state=0)
    return sample.documents


def test_some_documents_are_held_back_and_always_the_same(articles: Documents) -> None:
    held = HeldBack.of(articles, None)
    assert held is not None
    assert held.documents.n_words <= document_passes.HELD_SHARE * articles.n_words
    assert 10 < len(held.documents) < 40
    again = HeldBack.of(articles, None)
    assert again is not None
    assert again.documents == held.documents
    few = articles.select(np.arange(document_passes.MIN_DOCUMENTS - 1))
    assert HeldBack.of(few, None) is None


def test_no_document_without_weight_is_held_back(articles: Documents) -> None:
    weights = np.tile([0.0, 0.0, 0.0, 2.0], 100)
    held = HeldBack.of(articles, weights)
    assert held is not None
    assert held.weights is not None
    assert (held.weights == 2.0).all()
    close(held.sizes, 2.0 * held.documents.lengths)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_left_are_the_counts_of_the_others(articles: Documents, weighted: bool) -> None:
    """Pairs, and what a pass expects: those of all, less those of the documents held back."""
    weights = np.tile([0.5, 1.0, 2.0, 0.0], 100) if weighted else None
    among = True if weights is None else weights > 0
    which = articles.some(1000, among)
    others = np.setdiff1d(np.arange(len(articles)), which)
    own, rest = (None, None) if weights is None else (weights[which], weights[others])
    some = HeldBack(articles.select(which), own)
    counts = count_documents(articles, (1, 2, 8), weights)
    alone = count_documents(articles.select(others), (1, 2, 8), rest)
    left = counts.without(some.counts(counts))
    for lag in counts.lags:
        close(left[lag], alone[lag])
    close(left.symbol_counts, alone.symbol_counts)
    with pytest.raises(ValueError, match="lags and symbols must be the same"):
        counts.without(count_documents(articles, (1, 2)))


def test_topics_without_the_documents_that_they_predict(articles: Documents) -> None:
    """The perplexity after one pass is that of topics that all other documents have made."""
    held = HeldBack.of(articles, None)
    assert held is not None
    rng = np.random.default_rng(0)
    chain = sticky_chain(rng.exponential(size=(120, 4)), np.full(4, 0.25), 0.4)
    record = Record(None)
    _, choices = passes_by_held_back(articles, None, chain, held, 0.01, record, {1: 1.0})
    which = articles.some(held.documents.n_words)
    assert articles.select(which) == held.documents
    others = articles.select(np.setdiff1d(np.arange(len(articles)), which))
    counted = expected_counts(others, tempered_switch(chain), None)
    after = held.trials(counted.maximized(0.01, chain.prior.sum())._replace(switch=0.4)).best
    wanted = np.exp(-predicted(held.documents, after).sum() / held.documents.n_words)
    assert choices.perplexities[0] == pytest.approx(wanted, rel=1e-6)
    assert len(record.history) == len(choices.perplexities)


def test_the_last_that_is_no_worse_is_taken(articles: Documents) -> None:
    fit = htmm(articles, 4, random_state=0)
    choices = fit.choices
    assert choices is not None
    logs = np.log(choices.perplexities)
    worse = logs - logs.min() > np.array(choices.errors) + 1e-12
    assert choices.passes == np.flatnonzero(~worse)[-1] + 1 == fit.n_document_passes
    assert len(fit.passes) == len(logs) <= document_passes.MAX_PASSES
    assert min(choices.by_prior.values()) == choices.by_prior[round(choices.prior, 6)]
    assert fit.prior.sum() == pytest.approx(choices.prior)


def test_titles_bear_fewer_passes_than_articles(articles: Documents, titles: Documents) -> None:
    long, short = (htmm(documents, 4, random_state=0).choices for documents in (articles, titles))
    assert long is not None
    assert short is not None
    assert short.passes == 1 < long.passes
    assert short.perplexities[1] > short.perplexities[0]


def test_passes_that_are_asked_for_are_made(articles: Documents) -> None:
    for n in (0, 1, 3):
        fit = htmm(articles, 4, refine=n, random_state=0)
        assert (fit.choices, len(fit.passes), fit.n_document_passes) == (None, n, n)
    with pytest.raises(ValueError, match="refine must be a whole number from 0"):
        htmm(articles, 4, refine="many")  # type: ignore[arg-type]


def test_choices_are_kept_in_files_and_by_those_that_go_on(
    articles: Documents, tmp_path: Path
) -> None:
    model = HTMM(4, random_state=0).fit(articles)
    model.save(tmp_path / "topics", counts=True)
    loaded = HTMM.load(tmp_path / "topics")
    assert loaded.fit_.choices == model.fit_.choices
    n = model.fit_.n_document_passes
    some = articles.select(np.arange(50))
    assert len(model.partial_fit(some).fit_.passes) == n
    assert len(loaded.partial_fit(some).fit_.passes) == n
