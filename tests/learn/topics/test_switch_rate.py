"""The rate of switching, and the prior, that predict documents best."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.datasets.synthetic_topics import TopicSample, sample_htmm
from cohmm.kernels.documents import DocumentChain
from cohmm.learn.topics import switch_rate
from cohmm.learn.topics.sticky_em import SMOOTHING, expected_counts, prevalence_of, sticky_chain
from cohmm.learn.topics.switch_rate import PRIOR_DRAWS, HeldOut, best_chain, leave_out_topics
from cohmm.model.topic_model import floored, predicted


def sampled(n: int = 300, **options: float) -> TopicSample:
    return sample_htmm(n, n_components=5, n_words=80, random_state=1, **options)  # type: ignore[arg-type]


def truth(sample: TopicSample) -> DocumentChain:
    return sticky_chain(sample.components.T, np.full(5, 0.2), 0.5)


def log_likelihood(sample: TopicSample, topics: DocumentChain) -> float:
    return float(predicted(sample.documents, topics).sum())


def test_no_other_chain_predicts_better() -> None:
    sample = sampled(length=40)
    topics = truth(sample)
    found = best_chain(topics, [HeldOut(sample.documents, None, topics.emission)])
    best = log_likelihood(sample, found)
    for switch in (0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
        for draws in PRIOR_DRAWS:
            other = topics._replace(switch=switch, prior=draws * prevalence_of(topics))
            assert log_likelihood(sample, other) < best + 1e-4 * abs(best)


@pytest.mark.parametrize("switch", [0.1, 0.3, 0.7])
def test_the_rate_of_switching_is_found(switch: float) -> None:
    sample = sampled(600, length=60, switch=switch)
    topics = truth(sample)
    found = best_chain(topics, [HeldOut(sample.documents, None, topics.emission)])
    assert found.switch == pytest.approx(switch, abs=0.08)
    np.testing.assert_array_equal(found.emission, topics.emission)


def test_documents_that_differ_little_lean_on_the_prior() -> None:
    draws = [
        best_chain(truth(s), [HeldOut(s.documents, None, truth(s).emission)]).prior.sum()
        for s in (sampled(length=60, alpha=0.02), sampled(length=60, alpha=20.0))
    ]
    assert draws[0] <= 1 < 8 <= draws[1]


def test_topics_do_not_know_what_they_predict() -> None:
    sample = sampled(60, length=30)
    before = truth(sample)
    counted = expected_counts(sample.documents, before, None)
    folds = leave_out_topics(sample.documents, None, before, counted, SMOOTHING)
    assert sum(len(fold.documents) for fold in folds) == 60
    assert len(folds) == 5
    own = expected_counts(folds[0].documents, before, None)
    np.testing.assert_allclose(
        folds[0].emission, floored(counted.words - own.words + SMOOTHING), rtol=1e-9
    )
    rest = sum(expected_counts(fold.documents, before, None).words for fold in folds[1:])
    np.testing.assert_allclose(folds[0].emission, floored(rest + SMOOTHING), rtol=1e-6, atol=1e-12)


def test_of_many_documents_some_are_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switch_rate, "SMALL_CORPUS", 100)
    sample = sampled(200, length=30)
    before = truth(sample)
    counted = expected_counts(sample.documents, before, None)
    weights = np.tile([1.0, 0.0], 100)
    (some,) = leave_out_topics(sample.documents, None, before, counted, SMOOTHING)
    assert 0 < some.documents.n_words <= sample.documents.n_words / 5
    (some,) = leave_out_topics(sample.documents, weights, before, counted, SMOOTHING)
    assert (some.weights == 1).all()


def test_weights_are_repetitions() -> None:
    sample = sampled(100, length=30)
    topics = truth(sample)
    weights = np.tile([2.0, 1.0], 50)
    repeated = sample.documents.select(np.repeat(np.arange(100), weights.astype(int)))
    one = best_chain(topics, [HeldOut(sample.documents, weights, topics.emission)])
    two = best_chain(topics, [HeldOut(repeated, None, topics.emission)])
    assert one.switch == pytest.approx(two.switch, abs=1e-6)
    np.testing.assert_array_equal(one.prior, two.prior)
