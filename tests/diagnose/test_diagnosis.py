"""`diagnose`: what it says of models, counts and data, and what it says is missing."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cohmm import HMM, HTMM, Cooccurrence, PairwiseHMM, Sequences, count_pairs
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.datasets.synthetic_topics import sample_documents, sample_htmm
from cohmm.diagnose import diagnose
from cohmm.diagnose.selection import select_topics
from cohmm.diagnose.separation import (
    close_states,
    conditioning,
    pair_residual_test,
    undetected_states,
    zero_thresholds,
)
from cohmm.learn import pairwise

pytestmark = pytest.mark.filterwarnings("ignore:these pairs can show")


@pytest.fixture(scope="module")
def truth():
    return separable_hmm(12, 3, stay=0.6, random_state=1)


@pytest.fixture(scope="module")
def X(truth):
    return truth.sample(10_000, random_state=1)[0]


@pytest.fixture(scope="module")
def model(X):
    return PairwiseHMM(3, random_state=0).fit(X)


def test_a_good_fit(model, X):
    found = model.diagnose(X)
    assert found.suggested_states == 3
    assert 1 in found.suggested_lags
    assert found.refined
    assert not found.scatter.refuted
    assert found.close == found.undetected == found.missing == ()
    assert found.fit.fits
    assert found.fit.one_sequence
    assert found.advice == ("nothing: as far as this data tells, the fit can be trusted",)
    assert found.n_pairs == 9_999
    assert found.n_sequences == 1
    text = str(found)
    assert "3 states, 12 symbols, 9,999 pairs of 1 sequence, refined on the data" in text
    assert "groups are blocks of one sequence" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.splitlines()) <= 24


def test_the_value_is_plain(model, X):
    found = json.loads(json.dumps(model.diagnose(X).to_dict(), allow_nan=False))
    assert found["detectable"]["1"] == found["suggested_states"] == 3
    assert found["scatter"]["verdict"] != "refuted"
    assert found["fit"]["p_value"] > 0.05


def test_without_data_the_pairs_that_it_was_learned_from_serve(model):
    found = model.diagnose()
    assert found.fit is None
    assert list(found.outside) == [1]
    assert found.missing == (
        "whether triples are explained: it needs the data, diagnose(model, X)",
    )
    assert "the pairs do not ask for more states" in str(found)


def test_counts_alone(X):
    found = diagnose(count_pairs(X, lags=(1, 2)))
    assert found.n_components is None
    assert list(found.detectable) == [1, 2]
    assert found.missing[0].startswith("which states are well determined: it needs a model")
    assert found.advice[0].startswith("learn a model: PairwiseHMM(3, lags=(1")
    assert "counts alone" in str(found)


def test_a_model_set_by_hand(truth):
    found = diagnose(truth)
    assert found.scatter.verdict == "separable"
    assert found.suggested_states is found.pairs_for_one_more is None
    assert len(found.missing) == 2
    assert found.advice == ("compare the model with its data: diagnose(model, X)",)
    estimator = PairwiseHMM(3)
    estimator.startprob_, estimator.transmat_ = truth.startprob, truth.transmat
    estimator.emissionprob_ = truth.emissionprob
    assert str(estimator.diagnose()) == str(found)


def test_a_model_changed_by_hand_is_no_longer_that_of_its_counts(X, truth):
    model = PairwiseHMM(3, refine=False, random_state=0).fit(X)
    model.emissionprob_ = truth.emissionprob
    assert diagnose(model).scatter.thresholds is None


def test_a_fit_is_diagnosed_as_its_estimator_is(model, X):
    fit = pairwise(Sequences.of(X), 3, random_state=0)
    assert str(diagnose(fit, X)) == str(diagnose(model, X))
    assert diagnose(fit.pairs).refined is False


def test_too_few_states(X):
    found = PairwiseHMM(2, refine=False, random_state=0).fit(X).diagnose(X)
    assert found.fit.blames == "states"
    assert found.advice[0].startswith("try more states than 2")
    alone = PairwiseHMM(2, refine=False, random_state=0).fit(X).diagnose()
    assert alone.outside[1] < 0.05
    assert alone.advice[0].startswith("try more states than 2")


def test_too_many_states(X):
    found = PairwiseHMM(9, refine=False, random_state=0).fit(X).diagnose()
    assert found.advice[0].startswith("ask for fewer states: the pairs show 3 of 9, or find more")
    assert found.undetected
    assert "mostly below what these pairs can show" in str(found)


def test_independent_symbols_show_no_state():
    X = np.random.default_rng(0).integers(0, 6, 3_000)
    found = PairwiseHMM(2, random_state=0).fit(X).diagnose(X)
    assert found.suggested_states == 1
    assert found.advice[0].startswith("find more data, or other symbols")


def test_one_state():
    X = np.random.default_rng(0).integers(0, 6, 3_000)
    found = PairwiseHMM(1).fit(X).diagnose(X)
    assert "one: nothing is hidden" in str(found)
    assert found.fit.fits


def test_little_data_is_said(truth):
    X = truth.sample(60, random_state=0)[0] % 3
    found = PairwiseHMM(2, random_state=0).fit(X).diagnose(X)
    assert found.fit is None
    assert "whether the model fits: 60 symbols are too few" in " ".join(found.missing)


def test_topics():
    documents, _ = sample_documents(demo_model(), 200, length=40, random_state=0)
    topics = HTMM(6, random_state=0).fit(documents)
    found = topics.diagnose()
    assert found.kind == "topic"
    assert found.suggested_states > 6
    assert "topics" in str(found)
    with pytest.raises(ValueError, match="topics are diagnosed from their counts"):
        diagnose(topics, documents)


@pytest.mark.parametrize("lags", [2, (3, 5)])
def test_topics_learned_without_lag_1(lags, tmp_path):
    documents, _ = sample_documents(demo_model(), 200, length=40, random_state=0)
    topics = HTMM(6, lags=lags, random_state=0).fit(documents)
    diagnosis = topics.diagnose()
    first = min(np.atleast_1d(lags))
    assert list(diagnosis.spectra) == [first]
    assert diagnosis.n_pairs == topics.counts_.n_pairs(first) > 0
    topics.report(tmp_path / "report.html", documents)
    assert (tmp_path / "report.html").stat().st_size > 0


def test_what_is_no_model_is_named():
    with pytest.raises(ValueError, match=r"diagnose takes a fitted PairwiseHMM .* not a list"):
        diagnose([0, 1])


def test_more_data_shows_more_states(truth):
    law = truth.pair_probability()
    needed = [
        diagnose(Cooccurrence.from_probability(law, n_pairs=n)).pairs_for_one_more
        for n in (300, 600)
    ]
    # An exact law has the same singular values at any size, so that both say the same.
    assert needed[0] == pytest.approx(needed[1], rel=0.5)
    assert diagnose(Cooccurrence.from_probability(law, 2 * needed[0])).suggested_states > (
        diagnose(Cooccurrence.from_probability(law, 300)).suggested_states
    )


# -- parts ---------------------------------------------------------------------------------------


def test_twins_are_close_whatever_the_order(truth):
    emission = np.vstack([truth.emissionprob, 0.95 * truth.emissionprob[0] + 0.05 / 12])
    twins = HMM(np.full(4, 0.25), np.full((4, 4), 0.25), emission)
    [close] = close_states(twins)
    assert (close.first, close.second) == (0, 3)
    [other] = close_states(twins.with_states([3, 2, 1, 0]))
    assert other.distance == close.distance
    assert close_states(HMM([1], [[1]], [[1.0]])) == ()


def test_states_are_closer_where_data_is_little(truth):
    assert close_states(truth, 10**6) == ()
    assert close_states(truth, 60)


def test_conditioning_of_known_matrices():
    found = conditioning(HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.6, 0.8 - 0.4], [0, 1]]))
    assert found.joint == 0
    assert 0 < found.emissions < 1


def test_a_strong_model_has_no_undetected_state(truth, X):
    shown = diagnose(count_pairs(X)).spectra[1]
    assert undetected_states(truth, shown) == ()
    mixing = HMM(truth.startprob, np.full((3, 3), 1 / 3), truth.emissionprob)
    assert undetected_states(mixing, shown) == (0, 1, 2)


def test_thresholds_fall_with_the_root_of_the_data(truth):
    assert zero_thresholds(truth, 400) == pytest.approx(2 * zero_thresholds(truth, 1600))
    with pytest.raises(ValueError, match="n_pairs must be above 0, not 0"):
        zero_thresholds(truth, 0)


def test_information_is_that_of_a_pair(truth):
    """By differences of the law of pairs."""
    mixed = random_hmm(5, 2, 0.0, random_state=0)
    theta, m = mixed.stationary()[:, None] * mixed.transmat, mixed.emissionprob
    law = m.T @ theta @ m
    moved = m.copy()
    moved[1, 3] += 1e-6
    slope = (moved.T @ theta @ moved - law) / 1e-6
    total = (slope**2 / law).sum()
    both = 2 * (theta @ m)[1, 3] * (theta.T @ m)[1, 3] / law[3, 3]  # a pair of the symbol itself
    found = (4 / zero_thresholds(mixed, 1)[1, 3]) ** 2
    assert found == pytest.approx(total - both, rel=1e-4)


def test_pairs_outside_are_noise_under_the_model():
    small = 0
    for seed in range(20):
        truth = random_hmm(10, 2, stay=0.5, random_state=seed)
        counts = count_pairs(truth.sample(3_000, random_state=seed)[0], n_symbols=10, lags=(1, 3))
        found = pair_residual_test(truth, counts)
        assert list(found) == [1, 3]
        small += found[1] < 0.05
    assert small <= 4


def test_as_many_states_as_symbols_leave_nothing_outside():
    coin = random_hmm(2, 2, 0.0, random_state=0)
    assert pair_residual_test(coin, count_pairs(coin.sample(500, random_state=0)[0])) == {}


def test_numbers_and_names_of_things():
    two = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5, 0], [0, 0.2, 0.8]])
    assert "; 1 zero per state;" in " ".join(str(diagnose(two)).split())
    assert " 1 pair," in str(PairwiseHMM(1).fit([0, 1]).diagnose())
    assert conditioning(HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[1.0], [1.0]])).emissions == 0


def test_one_answer_about_the_number_of_topics():
    """What "auto" takes, a diagnosis suggests, and a selection says beside held-out likelihood."""
    for length in (20, 90):  # with near lags, and with far ones
        sample = sample_htmm(300, n_components=5, n_words=150, length=length, random_state=0)
        documents = sample.documents
        auto = HTMM("auto", random_state=0).fit(documents)
        k = auto.components_.shape[0]
        assert k > 1
        assert auto.diagnose().suggested_states == k
        assert HTMM(3, random_state=0).fit(documents).diagnose().suggested_states == k
        selection = select_topics(documents, [k, 2 * k], seeds=1)
        assert selection.detectable == k
        assert f'{k} stand out from the noise, which "auto" takes' in selection.reason
        assert selection.recommended == k or f"from {k} to {2 * k}, choose" in selection.reason


def test_topics_without_counts_are_not_asked_for_data(tmp_path):
    texts = ["oil gas oil pipe", "wheat corn wheat", "oil pipe wheat"] * 6
    HTMM(2, random_state=0).fit(texts).save(tmp_path / "topics")
    found = HTMM.load(tmp_path / "topics").diagnose()
    assert not found.spectra
    assert "state" not in str(found)
    assert found.advice[0].startswith("diagnose the topics where they are learned")


def test_states_that_pairs_hardly_show_are_advised_on(model, X):
    found = replace(model.diagnose(X), undetected=(0, 2))
    assert found.advice == (
        "look at the standard errors of states 0, 2, which these pairs hardly show",
    )


def test_unseen_symbols_are_missing_where_the_estimator_says_so():
    strings = [list("abcabacb")] * 30
    model = PairwiseHMM(2, unseen="missing", random_state=0).fit(strings)
    assert model.diagnose([*strings, ["a", "z", "a"]]).n_sequences == 31
    with pytest.raises(ValueError, match="unseen symbol 'z'"):
        model.set_params(unseen="error").diagnose([*strings, ["a", "z", "a"]])


def test_what_does_not_belong_together_is_refused(model):
    with pytest.raises(ValueError, match="counts are of 3 symbols, and the model has 12"):
        diagnose(model, counts=count_pairs([0, 1, 2]))
    with pytest.raises(ValueError, match="lengths are of X: give both"):
        model.diagnose(lengths=[3])
    with pytest.raises(ValueError, match="lengths are of the data"):
        diagnose(model, lengths=[3])


def test_held_out_data_decides_where_the_pairs_show_fewer_states():
    """Sessions in a strict order, of which more states than symbols predict best: no advice to ask
    for fewer, nor, of the number that "auto" took, for any other."""
    rng = np.random.default_rng(0)
    order = [0, 1, 0, 2, 1, 1, 2, 2]
    sessions = [
        [s if rng.random() < 0.9 else int(rng.integers(3)) for s in order * 2] for _ in range(80)
    ]
    model = PairwiseHMM("auto", random_state=0, max_iter=20)
    with pytest.warns(ConvergenceWarning):
        model.fit(sessions)
    choice = model.fit_.choice
    assert choice.n_components > 3 >= choice.detectable
    diagnosis = model.diagnose(sessions)
    assert diagnosis.choice is choice
    assert not any(
        "states than" in advice or "fewer states" in advice for advice in diagnosis.advice
    )
    assert choice.reason.split(" on held-out")[0] in " ".join(str(diagnosis).split())
    few = PairwiseHMM(2, random_state=0).fit(sessions).diagnose(sessions)
    assert few.choice.n_components > 2
    assert few.advice[0].startswith("try more states than 2: ")
