"""PairwiseHMM: hmmlearn's interface, scikit-learn's rules, and what it adds."""

from __future__ import annotations

import logging
import pickle
import re
import warnings
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.diagnose.fit_summary import as_fitted_hmm, as_fitted_topics
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.sequences.refine import RefinedFit

TRUTH = separable_hmm(12, 3, stay=0.6, random_state=0)


@pytest.fixture(scope="module")
def column() -> np.ndarray:
    """A sequence of 30,000 symbols, as hmmlearn takes it."""
    y, _ = TRUTH.sample(30_000, random_state=1)
    return y[:, None].astype(np.int64)


LENGTHS = [10_000, 15_000, 5_000]


@pytest.mark.parametrize("estimator", [CategoricalHMM, PairwiseHMM])
def test_code_written_for_hmmlearn_runs_with_only_the_class_name_changed(
    estimator: type, column: np.ndarray
) -> None:
    model = estimator(n_components=3, n_iter=200, tol=1e-2, random_state=0)
    model.fit(column, LENGTHS)
    assert model.startprob_.shape == (3,)
    assert model.transmat_.shape == (3, 3)
    assert model.emissionprob_.shape == (3, 12)
    np.testing.assert_allclose(model.transmat_.sum(axis=1), 1)
    log_prob, states = model.decode(column, LENGTHS)
    assert states.shape == (30_000,)
    np.testing.assert_array_equal(model.predict(column, LENGTHS), states)
    total, posteriors = model.score_samples(column, LENGTHS)
    assert total == pytest.approx(model.score(column, LENGTHS))
    assert log_prob < total
    np.testing.assert_allclose(posteriors, model.predict_proba(column, LENGTHS))
    assert posteriors.shape == (30_000, 3)
    symbols, drawn = model.sample(50, random_state=0)
    assert symbols.shape == (50, 1)
    assert drawn.shape == (50,)
    assert model.monitor_.converged in (True, False)
    history = list(model.monitor_.history)
    assert len(history) >= 2
    assert history == sorted(history)
    assert model.get_stationary_distribution().sum() == pytest.approx(1)
    assert model.aic(column, LENGTHS) < model.bic(column, LENGTHS)


def test_it_finds_what_hmmlearn_finds(column: np.ndarray) -> None:
    ours = PairwiseHMM(3, random_state=0).fit(column, LENGTHS)
    assert max(ours.model_.distance(TRUTH)) < 0.05
    best = ours.score(column, LENGTHS)
    assert best > TRUTH.log_likelihood(column, LENGTHS) - 100
    # The criteria are hmmlearn's.
    theirs = ours.model_.to_hmmlearn()
    assert ours.bic(column, LENGTHS) == pytest.approx(theirs.bic(column, LENGTHS))
    assert ours.aic(column, LENGTHS) == pytest.approx(theirs.aic(column, LENGTHS))


def test_states_come_by_prevalence(column: np.ndarray) -> None:
    model = PairwiseHMM(3, random_state=0).fit(column)
    assert (np.diff(model.get_stationary_distribution()) < 1e-6).all()


def test_lengths_by_position_and_by_name(column: np.ndarray) -> None:
    one = PairwiseHMM(3, random_state=0).fit(column, LENGTHS)
    two = PairwiseHMM(3, random_state=0).fit(column, lengths=LENGTHS)
    assert one.model_ == two.model_
    assert one.counts_.n_pairs() == 30_000 - 3
    with pytest.raises(ValueError, match="given twice"):
        one.fit(column, LENGTHS, lengths=LENGTHS)


def test_labels_missing_and_unseen() -> None:
    words = np.array(["a", "b", "c", "d"])
    y, _ = random_hmm(4, 2, zeros=0.2, stay=0.7, random_state=3).sample(20_000, random_state=0)
    sequence: list[str | None] = words[y].tolist()
    sequence[5] = None
    model = PairwiseHMM(2, unseen="error", random_state=0).fit(sequence)
    assert model.vocabulary_ == ("a", "b", "c", "d")
    assert model.predict(["a", None, "d"]).shape == (3,)
    with pytest.raises(ValueError, match=r"unseen symbol 'z' \(sequence 0, position 1\)"):
        model.predict(["a", "z"])
    lenient = clone(model).set_params(unseen="missing").fit(sequence)
    np.testing.assert_allclose(
        lenient.predict_proba(["a", "z"]), lenient.predict_proba(["a", None])
    )
    symbols, _ = model.sample(5, random_state=0)
    assert set(symbols[:, 0]) <= set(words)


def test_filter_and_forecast(column: np.ndarray) -> None:
    model = PairwiseHMM(3, random_state=0).fit(column)
    some = column[:100]
    np.testing.assert_array_equal(model.filter(some)[:50], model.filter(some[:50]))
    ahead = model.forecast(some, steps=4)
    assert ahead.shape == (4, 12)
    np.testing.assert_allclose(ahead.sum(axis=1), 1)
    assert model.forecast(some, [60, 40], steps=2).shape == (2, 2, 12)


def test_decoding_algorithms(column: np.ndarray) -> None:
    model = PairwiseHMM(3, random_state=0).fit(column)
    best, _ = model.decode(column)
    other, states = model.decode(column, algorithm="map")
    assert other <= best
    np.testing.assert_array_equal(states, model.predict_proba(column).argmax(axis=1))
    by_default = clone(model).set_params(algorithm="map").fit(column)
    np.testing.assert_array_equal(by_default.predict(column), states)


@pytest.mark.parametrize("refine", [False, True])
def test_partial_fit_adds_counts_and_goes_on(column: np.ndarray, refine: bool) -> None:
    whole = PairwiseHMM(3, refine=refine, random_state=0).fit(column, [15_000, 15_000])
    parts = PairwiseHMM(3, refine=refine, random_state=0).partial_fit(column[:15_000])
    first = parts.model_
    assert first == PairwiseHMM(3, refine=refine, random_state=0).fit(column[:15_000]).model_
    parts.partial_fit(column[15_000:])
    assert parts.counts_ == whole.counts_
    assert parts.model_ != first
    assert isinstance(parts.fit_, RefinedFit) == refine
    assert max(parts.model_.align_to(whole.model_).distance(whole.model_)) < 0.02
    assert parts.standard_errors().transmat.shape == (3, 3)


STAGES = HMM(
    [0.5, 0, 0, 0.5, 0, 0],
    np.kron(np.eye(2), [[0.6, 0.4, 0], [0, 0.6, 0.4], [0, 0, 1.0]]),
    np.random.default_rng(1).dirichlet(np.full(10, 0.3), 6),
)


def sessions(n: int, seed: int) -> Sequences:
    """Two kinds of sessions, of three stages each: of their order pairs say too little."""
    rng = np.random.default_rng(seed)
    sequences = [STAGES.sample(int(m), random_state=rng)[0] for m in rng.integers(4, 16, n)]
    return Sequences.of(sequences, n_symbols=10)


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_partial_fit_of_a_refined_model_keeps_its_quality() -> None:
    train, test = sessions(2000, 2), sessions(800, 3)
    options: dict[str, Any] = {"n_features": 10, "max_iter": 40, "random_state": 0}
    whole = PairwiseHMM(6, **options).fit(train)
    pairs = PairwiseHMM(6, refine=False, **options).fit(train)
    parts = PairwiseHMM(6, **options)
    for first in range(0, 2000, 200):
        parts.partial_fit([train[i] for i in range(first, first + 200)])
    full, grown, poor = (m.score(test) / test.n_observations for m in (whole, parts, pairs))
    assert full - poor > 0.03  # what pairs alone would cost
    assert abs(full - grown) < 0.02
    kept = parts.fit_.statistics  # of all ten, not of the last alone
    assert kept.emissions.sum() == pytest.approx(train.n_observations, rel=1e-6)
    assert kept.starts.sum() == pytest.approx(2000, rel=1e-6)


def test_partial_fit_of_a_refined_model_forgets_and_learns_new_symbols() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["a", "b", "c", "d"])
    first = [words[:2][rng.integers(0, 2, 40)].tolist() for _ in range(20)]
    second = [words[1:][rng.integers(0, 3, 40)].tolist() for _ in range(20)]
    model, forgetful = (PairwiseHMM(1, refine=True).partial_fit(first) for _ in range(2))
    model.partial_fit(second)
    forgetful.partial_fit(second, decay=0.01)
    assert isinstance(model.fit_, RefinedFit)
    assert model.vocabulary_ == forgetful.vocabulary_ == ("a", "b", "c", "d")
    share = np.array([sum(s.count(w) for s in first + second) for w in words]) / 1600
    np.testing.assert_allclose(model.emissionprob_[0], share, atol=0.005)
    np.testing.assert_allclose(forgetful.emissionprob_[0], [0, 1 / 3, 1 / 3, 1 / 3], atol=0.06)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_partial_fit_keeps_zeros_that_were_set() -> None:
    model = PairwiseHMM(3, max_iter=10, random_state=0)
    model.startprob_, model.transmat_ = STAGES.startprob[:3] * 2, STAGES.transmat[:3, :3]
    data = sessions(60, 4)
    zeros = STAGES.transmat[:3, :3] == 0
    for _ in range(2):  # a warning, of arithmetic too, would be an error
        model.partial_fit(data)
        assert isinstance(model.fit_, RefinedFit)
        assert (model.transmat_[zeros] == 0).all()


def test_what_the_readme_asks_of_a_fit_is_in_its_type() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    asked = set(re.findall(r"\.fit_\.(\w+)", text))
    fit = get_type_hints(PairwiseHMM)["fit_"]
    assert asked
    assert asked <= {field.name for field in fields(fit)} | set(dir(fit))


def test_partial_fit_makes_room_for_new_symbols() -> None:
    rng = np.random.default_rng(0)
    model = PairwiseHMM(1, random_state=0)
    model.partial_fit([["a", "b"][i] for i in rng.integers(0, 2, 500)])
    model.partial_fit([["a", "c"][i] for i in rng.integers(0, 2, 500)])
    assert model.vocabulary_ == ("a", "b", "c")
    assert model.emissionprob_[0, 2] > 0.1


def test_partial_fit_forgets_the_past(column: np.ndarray) -> None:
    first, second = column[:15_000], column[15_000:]
    model = PairwiseHMM(3, random_state=0).partial_fit(first).partial_fit(second, decay=0.25)
    expected = 0.25 * count_pairs(first)[1] + count_pairs(second)[1]
    np.testing.assert_allclose(model.counts_[1], expected, rtol=1e-15)
    assert model.counts_.n_pairs() == pytest.approx(0.25 * 14_999 + 14_999)
    old = PairwiseHMM(3, random_state=0).fit_counts(count_pairs(first))
    for wrong in (0, 2, float("nan"), None):
        with pytest.raises(ValueError, match="decay must be a number above 0 and up to 1"):
            old.partial_fit(second, decay=wrong)  # type: ignore[arg-type]


def test_fit_counts_needs_no_sequence(column: np.ndarray) -> None:
    direct = PairwiseHMM(3, lags=(1, 2), refine=False, random_state=0).fit(column)
    from_counts = PairwiseHMM(3, random_state=0).fit_counts(count_pairs(column, lags=(1, 2)))
    assert direct.model_ == from_counts.model_
    assert direct.pair_fit_.lag_weights.keys() == {1, 2}


def test_auto_number_of_states(column: np.ndarray) -> None:
    model = PairwiseHMM("auto", random_state=0).fit(column)
    assert model.model_.n_components == 3
    assert model.pair_fit_.spectrum.n_detectable == 3


def test_converged_means_converged(column: np.ndarray) -> None:
    assert PairwiseHMM(3, random_state=0).fit(column).converged_
    short = PairwiseHMM(3, n_iter=2, refine=False, random_state=0)
    with pytest.warns(ConvergenceWarning, match="over the pairs: raise max_iter") as caught:
        short.fit(column)
    assert caught[0].filename == __file__  # it points at the user's line
    assert not short.converged_
    assert not short.monitor_.converged
    assert short.n_iter_ <= 3


def test_same_seed_same_model(column: np.ndarray) -> None:
    options: dict[str, Any] = {"n_init": 2, "random_state": 5}
    assert (
        PairwiseHMM(3, **options).fit(column).model_ == PairwiseHMM(3, **options).fit(column).model_
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_verbose_says_how_the_objective_falls(
    column: np.ndarray, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("cohmm")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's own
    monkeypatch.setattr(logger, "handlers", [])
    level = logger.level
    PairwiseHMM(2, refine=False, random_state=0).fit(column)
    assert capsys.readouterr().err == ""
    for _ in range(2):  # one handler, however often
        PairwiseHMM(2, refine=False, verbose=True, random_state=0, max_iter=9).fit(column)
        lines = capsys.readouterr().err.splitlines()
        assert 0 < len(lines) <= 10
        assert all(line.startswith("pairs: pass") and "objective" in line for line in lines)
    logger.setLevel(level)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_logging_that_was_configured_is_left_as_it_is(
    column: np.ndarray, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    model = PairwiseHMM(2, refine=False, verbose=True, random_state=0, max_iter=9)
    with caplog.at_level("INFO", "cohmm"):
        model.fit(column)
    assert caplog.records[-1].name == "cohmm"
    assert f"objective {model.fit_.objective:.9f}" in caplog.text
    assert capsys.readouterr().err == ""
    caplog.clear()
    with caplog.at_level("WARNING", "cohmm"):
        model.fit(column)
    assert not caplog.records


def test_every_option_reaches_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def spy(counts: Any, n_components: Any, **options: Any) -> Any:
        seen.update(options, n_components=n_components)
        raise InterruptedError

    recipe = import_module("cohmm.learn.pairwise")  # by its name in cohmm.learn, the function
    monkeypatch.setattr(recipe, "min_volume", spy)
    chosen = {
        "n_components": 2,
        "combine": "summed",
        "volume": "det",
        "penalty": 0.5,
        "max_iter": 7,
        "tol": 0.25,
        "n_init": 4,
        "smoothing": 0.3,
        "random_state": 9,
    }
    with pytest.raises(InterruptedError):
        PairwiseHMM(**chosen, refine=False).fit([0, 1, 0, 1, 1])
    for name, value in chosen.items():
        assert seen[name] == value


# -- refinement -----------------------------------------------------------------------------


def test_unrefined_is_what_the_counts_give(column: np.ndarray) -> None:
    plain = PairwiseHMM(3, refine=False, random_state=0).fit(column, LENGTHS)
    counted = PairwiseHMM(3, refine=True, random_state=0)
    counted.fit_counts(count_pairs(column, LENGTHS))
    assert plain.model_ == counted.model_
    for model in (plain, counted):
        assert model.fit_ is model.pair_fit_
        assert model.n_iter_ == model.pair_fit_.n_iter
    counted.partial_fit(column)  # nothing is kept of sequences to go on from
    assert counted.fit_ is counted.pair_fit_


def test_refined_is_closer(column: np.ndarray) -> None:
    plain = PairwiseHMM(3, refine=False, random_state=0).fit(column, LENGTHS)
    fine = PairwiseHMM(3, refine=True, random_state=0).fit(column, LENGTHS)
    assert fine.pair_fit_.model == plain.model_
    assert fine.model_ == fine.fit_.model != plain.model_
    assert isinstance(fine.fit_, RefinedFit)
    assert fine.fit_.before == plain.model_
    gained = fine.score(column, LENGTHS) - plain.score(column, LENGTHS)
    assert gained > 1
    assert fine.fit_.gained == pytest.approx(gained / 30_000)
    assert fine.converged_
    assert fine.n_iter_ == fine.fit_.n_iter < 60
    distances = zip(fine.model_.distance(TRUTH), plain.model_.distance(TRUTH), strict=True)
    assert all(refined < rough for refined, rough in distances)


def test_auto_refines_what_is_small(column: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PairwiseHMM().refine == "auto"
    for limit, refined in ((30_000 * 9, True), (30_000 * 9 - 1, False)):
        monkeypatch.setattr("cohmm.learn.sequences.refine.WORTHWHILE", limit)
        model = PairwiseHMM(3, random_state=0).fit(column)
        assert isinstance(model.fit_, RefinedFit) is refined
        # Told to, or not to, it does not ask for the size.
        told = PairwiseHMM(3, refine=not refined, random_state=0).fit(column)
        assert isinstance(told.fit_, RefinedFit) is not refined


def test_refined_after_unrefined_and_back(column: np.ndarray) -> None:
    model = PairwiseHMM(3, random_state=0).fit(column)
    assert isinstance(model.fit_, RefinedFit)
    model.set_params(refine=False).fit(column)
    assert model.fit_ is model.pair_fit_
    assert model.model_ == model.pair_fit_.model


def test_the_monitor_of_a_refined_model() -> None:
    # With gaps: the history is of all the data, whatever is missing of it.
    y, _ = TRUTH.sample(9000, random_state=1)
    sequences = [[None if t % 5 == 0 else s for t, s in enumerate(part)] for part in np.split(y, 3)]
    model = PairwiseHMM(3, smoothing=0.0, refine=True, random_state=0).fit(sequences)
    history = list(model.monitor_.history)
    assert history == sorted(history)
    assert len(history) >= 2
    assert model.monitor_.iter == model.n_iter_
    assert model.monitor_.converged == model.converged_
    # The prior of the starts is worth ten sequences, of three states.
    prior = model.score(sequences) - history[-1]
    assert 10 * np.log(2) < prior < 10 * np.log(10)
    plain = PairwiseHMM(3, smoothing=0.0, refine=False, random_state=0).fit(sequences)
    assert plain.monitor_.history[-1] != history[-1]
    assert list(plain.monitor_.history) == sorted(plain.monitor_.history)


def test_sparsity_reaches_the_refinement() -> None:
    truth = random_hmm(60, 4, zeros=0.7, stay=0.2, random_state=0)
    y, _ = truth.sample(10_000, random_state=1)
    plain, sparsely = (PairwiseHMM(4, sparsity=s, random_state=0).fit(y) for s in (0.0, 1.0))
    assert plain.pair_fit_.model == sparsely.pair_fit_.model
    assert sparsely.model_.distance(truth).emission < plain.model_.distance(truth).emission


def test_every_option_reaches_the_refinement(
    column: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}

    def spy(model: HMM, data: Sequences, **options: Any) -> Any:
        seen.update(options, model=model, length=len(data.symbols))
        raise InterruptedError

    monkeypatch.setattr("cohmm.learn.refinement.refine", spy)
    chosen = {"sparsity": 0.7, "smoothing": 0.3, "random_state": 9}
    model = PairwiseHMM(3, verbose=True, **chosen)
    with pytest.raises(InterruptedError):
        model.fit(column)
    assert not hasattr(model, "model_")  # a fit that fails leaves nothing behind
    pairs_alone = PairwiseHMM(3, smoothing=0.3, random_state=9, refine=False).fit(column)
    for name, value in chosen.items():
        assert seen[name] == value
    assert seen["model"] == pairs_alone.model_
    assert seen["length"] == 30_000
    assert seen["callback"] is not None


@pytest.mark.parametrize("wrong", ["yes", 2, None, "Auto"])
def test_refine_is_yes_no_or_auto(wrong: Any) -> None:
    with pytest.raises(ValueError, match=f"one of True, False, 'auto', .*, not {wrong!r}"):
        PairwiseHMM(1, refine=wrong).fit([0, 1, 0])


def test_bad_sparsity() -> None:
    with pytest.raises(ValueError, match="sparsity must be finite and at least 0, not -1"):
        PairwiseHMM(1, sparsity=-1).fit([0, 1, 0])
    with pytest.raises(ValueError, match="sparsity=2 is for refinement: set refine=True too"):
        PairwiseHMM(1, sparsity=2, refine=False).fit([0, 1, 0])


def test_sparsity_asks_for_refinement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohmm.learn.refinement.worthwhile", lambda n_symbols, n_components: False)
    y, _ = random_hmm(10, 2, random_state=0).sample(2000, random_state=0)
    assert not isinstance(PairwiseHMM(2, random_state=0).fit(y).fit_, RefinedFit)
    assert isinstance(PairwiseHMM(2, sparsity=1, random_state=0).fit(y).fit_, RefinedFit)


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
@pytest.mark.parametrize(
    "data", [[[0, 1, 0, 1, 1, 0], [2]], [[0, 1, 0, 1, 1, 0, None, 2, None, 0, 1]]]
)
def test_a_symbol_that_is_in_no_pair(data: Any) -> None:
    # Pairs cannot know it: it has its frequency in every state.
    rough = PairwiseHMM(1, refine=False, random_state=0).fit(data)
    counts = rough.counts_.symbol_counts
    assert counts[2] == 1
    assert rough.emissionprob_[0, 2] == pytest.approx(1 / counts.sum())
    fine = PairwiseHMM(1, smoothing=0.0, random_state=0).fit(data)
    symbols = [s for sequence in data for s in sequence if s is not None]
    np.testing.assert_allclose(
        fine.emissionprob_[0], np.bincount(symbols) / len(symbols), atol=0.01
    )


def test_sequences_that_leave_states_for_good() -> None:
    # Smoothing must know states by how often they were seen, not by the long run.
    truth = HMM([1, 0], [[0.9, 0.1], [0, 1]], [[0.6, 0.3, 0.1], [0, 0.2, 0.8]])
    sequences = [truth.sample(30, random_state=seed)[0] for seed in range(200)]
    rough = PairwiseHMM(2, refine=False, random_state=0).fit(sequences)
    fine = PairwiseHMM(2, random_state=0).fit(sequences)
    assert fine.score(sequences) > rough.score(sequences) + 50
    assert fine.score(sequences) > truth.log_likelihood(sequences) - 30
    assert max(fine.model_.distance(truth)) < 0.05


def test_clone_and_parameters() -> None:
    model = PairwiseHMM(4, lags=(1, 2), penalty=0.1, refine=False, sparsity=0.5, random_state=3)
    copy = clone(model)
    assert copy.refine is False
    assert copy.sparsity == 0.5
    assert copy.get_params() == model.get_params()
    assert copy.set_params(n_components=2).n_components == 2
    with pytest.raises(Exception, match="not fitted"):
        model.predict([0, 1])


def test_pipeline_with_lengths(column: np.ndarray) -> None:
    pipeline = Pipeline(
        [("fold", FunctionTransformer(lambda x: x // 2)), ("hmm", PairwiseHMM(2, random_state=0))]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        pipeline.fit(column, hmm__lengths=LENGTHS)
    assert pipeline.named_steps["hmm"].emissionprob_.shape == (2, 6)
    assert pipeline.predict(column).shape == (30_000,)


# scikit-learn's checks make their own data.  What cannot apply, and why:
REAL = "fits on real numbers in several columns; symbols are whole numbers or strings, in one"
SECOND = "passes class labels as the second argument, where hmmlearn's interface has lengths"
ORDER = "shuffles rows, but the order of the symbols is what the model is about"
WEIGHTS = "has a weight for every row of several columns; a weight is a sequence's"
EXPECTED_FAILURES = {
    "check_dict_unchanged": REAL,
    "check_dont_overwrite_parameters": REAL,
    "check_dtype_object": SECOND,
    "check_estimators_dtypes": SECOND,
    "check_estimators_empty_data_messages": REAL,
    "check_estimators_fit_returns_self": SECOND,
    "check_estimators_overwrite_params": SECOND,
    "check_estimators_pickle": SECOND,
    "check_f_contiguous_array_estimator": REAL,
    "check_fit2d_1feature": REAL,
    "check_fit2d_1sample": REAL,
    "check_fit2d_predict1d": REAL,
    "check_fit_check_is_fitted": SECOND,
    "check_fit_idempotent": SECOND,
    "check_fit_score_takes_y": SECOND,
    "check_methods_sample_order_invariance": ORDER,
    "check_methods_subset_invariance": ORDER,
    "check_n_features_in": SECOND,
    "check_n_features_in_after_fitting": SECOND,
    "check_pipeline_consistency": SECOND,
    "check_positive_only_tag_during_fit": REAL,
    "check_readonly_memmap_input": SECOND,
    "check_all_zero_sample_weights_error": WEIGHTS,
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weights_list": WEIGHTS,
    "check_sample_weights_not_an_array": WEIGHTS,
    "check_sample_weights_not_overwritten": WEIGHTS,
    "check_sample_weights_pandas_series": WEIGHTS,
    "check_sample_weights_shape": WEIGHTS,
}


def test_scikit_learns_checks() -> None:
    results = check_estimator(
        PairwiseHMM(random_state=0), expected_failed_checks=EXPECTED_FAILURES, on_skip=None
    )
    by_status: dict[str, set[str]] = {}
    for result in results:
        by_status.setdefault(result["status"], set()).add(result["check_name"])
    # The list is no longer than it must be, and the rest is a good deal.
    assert by_status["xfail"] == set(EXPECTED_FAILURES)
    assert len(by_status["passed"]) >= 12


def test_a_fitted_model_is_shown_as_fitted_with_its_parameters_as_given() -> None:
    model = PairwiseHMM(1)
    assert isinstance(model, BaseEstimator)
    assert "<span>Not fitted</span>" in model._repr_html_()
    model.fit([0, 1, 1, 0, 2])
    assert "<span>Fitted</span>" in model._repr_html_()
    assert model.n_features == 3
    assert repr(model) == "PairwiseHMM()"
    assert repr(PairwiseHMM(2, n_features=9)) == "PairwiseHMM(n_components=2, n_features=9)"


def test_tags() -> None:
    tags = get_tags(PairwiseHMM())
    assert tags.estimator_type == "density_estimator"
    assert tags.input_tags.categorical
    assert tags.input_tags.allow_nan
    assert not tags.target_tags.required


def test_whether_it_is_fitted() -> None:
    model = PairwiseHMM(1)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        as_fitted_hmm(model)
    model.startprob_, model.transmat_, model.emissionprob_ = [1], [[1]], [[0.5, 0.5]]
    check_is_fitted(model)
    assert as_fitted_hmm(model) is model
    assert as_fitted_topics(model) is None
    for other in (3, PairwiseHMM, LogisticRegression()):
        assert as_fitted_hmm(other) is as_fitted_topics(other) is None


class Coloured(PairwiseHMM):
    """A class of the user's, which takes other things."""

    def __init__(self, colour: str = "red", n_features: int | None = None, **options: Any):
        super().__init__(n_features=n_features, **options)
        self.colour = colour

    def fit(self, X: Any, y: Any = None, *, shade: Any = None) -> Coloured:  # type: ignore[override]
        """Learn."""
        super().fit(X)
        return self


def test_a_class_that_derives_from_it() -> None:
    model = clone(Coloured("blue"))
    assert model.get_params() == {"colour": "blue", "n_features": None}
    assert repr(model) == "Coloured(colour='blue')"
    assert model.get_metadata_routing().fit.requests == {"shade": None}
    assert get_tags(model) == get_tags(PairwiseHMM())
    assert pickle.loads(pickle.dumps(model.fit([0, 1, 1, 0]))).model_ == model.model_


def test_the_rules_behind_those_checks_hold_for_symbols(column: np.ndarray) -> None:
    model = PairwiseHMM(3, random_state=0)
    before = model.get_params()
    column.setflags(write=False)
    assert model.fit(column) is model
    assert model.get_params() == before
    state = dict(vars(model))
    model.predict(column)
    model.score(column)
    assert {name: id(value) for name, value in vars(model).items()} == {
        name: id(value) for name, value in state.items()
    }
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(column), model.predict_proba(column))
    assert model.n_features_in_ == 1
    again = model.model_
    assert model.fit(column).model_ == again


def test_sparse_and_complex_data_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="sparse"):
        PairwiseHMM(1).fit(sparse.csr_array([[0], [1]]))
    with pytest.raises(ValueError, match="Complex data not supported"):
        PairwiseHMM(1).fit(np.array([0, 1j]))


def test_bad_data_is_named() -> None:
    with pytest.raises(ValueError, match="symbol -1 at position 2 is negative"):
        PairwiseHMM(2).fit([0, 1, -1])
    with pytest.raises(ValueError, match="lengths sum to 5, but X has 4 symbols"):
        PairwiseHMM(2).fit([0, 1, 0, 1], [2, 3])
    with pytest.raises(ValueError, match="no pair at lag 1"):
        PairwiseHMM(1).fit([0, 1], [1, 1])


def test_hmm_value_is_the_answer(column: np.ndarray) -> None:
    model = PairwiseHMM(3, random_state=0).fit(column)
    assert isinstance(model.model_, HMM)
    assert model.score(column) == model.model_.log_likelihood(column)


# -- what goes wrong leaves what was there ------------------------------------------------------

SHORT = [[0, 1, 2, 1, 0], [3, 4, 2]] * 200


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_several_lags_of_short_sequences() -> None:
    """Symbol 3 has pairs at lag 1, and at lag 2 none in which it is second."""
    model = PairwiseHMM(2, lags=(1, 2), random_state=0).fit(SHORT).model_
    assert np.isfinite(model.emissionprob).all()
    alone = PairwiseHMM(2, lags=(1, 2), random_state=0).fit([[0, 1], [1, 0, 2, 0, 1]] * 50)
    assert np.isfinite(alone.score([[0, 1, 2]]))


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(
    "step", ["learn.refinement.refine", "estimators.pairwise_hmm.FitSummary.of"]
)
def test_a_fit_that_fails_leaves_the_model_that_was_there(
    step: str, interrupt: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = PairwiseHMM(2, random_state=0).fit(SHORT)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"sparsity must be at most 1e\+09, not 1e\+300"):
        model.set_params(sparsity=1e300).fit(SHORT)
    model.set_params(sparsity="auto")
    assert dict(vars(model)) == before

    def stopped(*args: Any, **options: Any) -> Any:
        raise interrupt

    monkeypatch.setattr(f"cohmm.{step}", stopped)
    with pytest.raises(interrupt):
        model.fit([[1, 1, 0, 1]] * 9)
    assert dict(vars(model)) == before
    fresh = PairwiseHMM(2, random_state=0)
    with pytest.raises(interrupt):
        fresh.fit(SHORT)
    with pytest.raises(NotFittedError):
        fresh.predict([0, 1])


@pytest.mark.parametrize("wrong", [None, 3, "pairs", np.eye(2)])
def test_counts_that_are_none(wrong: Any) -> None:
    with pytest.raises(ValueError, match=f"not a {type(wrong).__name__}"):
        PairwiseHMM(2).fit_counts(wrong)


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_a_penalty_beyond_measure_is_quiet() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = PairwiseHMM(2, penalty=1e300, random_state=0).fit(SHORT).model_
    assert np.isfinite(model.transmat).all()


def test_states_that_refinement_sees_are_not_called_noise() -> None:
    truth = random_hmm(30, 6, stay=0.3, random_state=0)
    X = truth.sample(10_000, random_state=0)[0]
    model = PairwiseHMM(6, random_state=0).fit(X)  # a warning would be an error
    assert model.pair_fit_.spectrum.n_detectable in (4, 5)
    assert model.model_.distance(truth).emission < 0.2
    with pytest.warns(UserWarning, match="mostly noise"):
        PairwiseHMM(6, refine=False, random_state=0).fit(X)


@pytest.mark.filterwarnings("default::cohmm.EvidenceWarning")
def test_a_warning_points_at_the_line_of_the_user() -> None:
    with pytest.warns(UserWarning, match="these pairs can show 1 state") as heard:
        PairwiseHMM(4, random_state=0).fit(np.random.default_rng(0).integers(0, 5, 300))
    assert {Path(warning.filename).name for warning in heard} == {Path(__file__).name}


@pytest.mark.parametrize("n_components", [3, 8])
def test_one_symbol_is_all_there_is(n_components: int) -> None:
    """Nothing is left to be determined but rounding, of which no square root is taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        model = PairwiseHMM(n_components, random_state=0).fit(np.zeros(1_000, int))
    np.testing.assert_allclose(model.emissionprob_, 1)
    np.testing.assert_allclose(model.transmat_.sum(axis=1), 1)
    assert model.score(np.zeros(10, int)) == pytest.approx(0)
