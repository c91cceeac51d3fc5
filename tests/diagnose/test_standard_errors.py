"""Standard errors: known cases, what must hold for all models, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs, threads
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.diagnose.fit_summary import BLOCK, NOTHING, Blocks, FitSummary, PairTerms
from cohmm.diagnose.intervals import constrained_covariance
from cohmm.diagnose.standard_errors import (
    StandardErrors,
    pair_errors,
    sequence_errors,
    standard_errors,
    triple_errors,
)
from cohmm.learn import min_volume, refine
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.pairs.volume import LogDet, NoVolume
from cohmm.learn.refinement import refine_triples

TRUTH = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4, 0.0], [0.0, 0.3, 0.7]])


@pytest.fixture(scope="module")
def long() -> np.ndarray:
    return TRUTH.sample(20_000, random_state=0)[0]


def fitted(X: Any, *args: Any, **options: Any) -> PairwiseHMM:
    return PairwiseHMM(2, random_state=0, n_features=3, **options).fit(X, *args)


@pytest.fixture(scope="module")
def model(long: np.ndarray) -> PairwiseHMM:
    return fitted(long)


# -- known cases -----------------------------------------------------------------------------


def test_one_state_has_the_errors_of_proportions() -> None:
    p = np.array([0.5, 0.3, 0.2])
    X = np.random.default_rng(0).choice(3, 4000, p=p)
    for options in ({}, {"refine": False}):
        model = PairwiseHMM(1, **options).fit(X)
        errors = model.standard_errors()
        expected = np.sqrt(model.emissionprob_ * (1 - model.emissionprob_) / 4000)
        np.testing.assert_allclose(errors.emissionprob, expected, rtol=0.1)
        assert errors.transmat.tolist() == [[0.0]]


def test_known_states_have_the_errors_of_counts() -> None:
    X, states = TRUTH.sample(5000, random_state=1)
    model = PairwiseHMM(2, random_state=0).fit(X, states=states)
    errors = model.standard_errors()
    visits = np.bincount(states)[:, None]
    expected = np.sqrt(model.transmat_ * (1 - model.transmat_) / visits)
    np.testing.assert_allclose(errors.transmat, expected, rtol=0.15)


def test_errors_shrink_with_the_root_of_the_data(long: np.ndarray) -> None:
    part, whole = (
        sequence_errors(TRUTH, Blocks.of(Sequences.of(X), 4000)) for X in (long[:5000], long)
    )
    assert np.median(part.transmat / whole.transmat) == pytest.approx(2, rel=0.25)


def learned(way: str, data: Sequences) -> StandardErrors:
    """Errors of the model that is learned from the truth on."""
    if way == "sequences":
        model = refine(TRUTH, data, as_given=True, smoothing=0.0, sparsity=0.0).model
        return sequence_errors(model, Blocks.of(data, 1000))
    if way == "triples":
        triples = refine_triples(TRUTH, data, sparsity=0.0)
        return triple_errors(triples.model, Blocks.of(data, 1000), triples.length)
    counts = count_pairs(data, lags=(1, 2) if way == "lags" else (1,))
    fit = min_volume(counts, 2, start=TRUTH)
    return pair_errors(fit.model, counts, PairTerms(fit.lag_weights, fit.penalty, LogDet()))


@pytest.mark.parametrize("way", ["sequences", "triples", "pairs", "lags"])
def test_intervals_hold_the_truth_as_often_as_they_say(way: str) -> None:
    """Over 20 data sets of 8 numbers, of which 5 are free: .8 has a standard error of .04."""
    inside = []
    for seed in range(20):
        data = Sequences.of(TRUTH.sample(4000, random_state=seed)[0])
        errors = learned(way, data)
        truth = TRUTH if errors.model.emissionprob[0, 0] > 0.3 else TRUTH.with_states([1, 0])
        low, high = errors.interval(0.8)
        for table in ("transmat", "emissionprob"):
            true = getattr(truth, table)
            held = (getattr(low, table) <= true) & (true <= getattr(high, table))
            inside.append(held[true > 0])
    assert 0.68 < np.mean(np.concatenate(inside)) < 0.92


def test_triples_know_less_than_sequences_and_pairs_less_than_triples() -> None:
    sticky = random_hmm(6, 2, 0.0, stay=0.8, random_state=0)
    data = Sequences.of(sticky.sample(40_000, random_state=0)[0])
    blocks = Blocks.of(data, 4000)
    by_sequences = sequence_errors(sticky, blocks)
    by_triples = triple_errors(sticky, blocks, 40_000)
    by_pairs = pair_errors(sticky, count_pairs(data), PairTerms({1: 1.0}, 0.0, NoVolume()))
    assert np.median(by_triples.transmat / by_sequences.transmat) > 1.1
    known = ~np.isnan(by_pairs.transmat)
    assert not known.any() or (by_pairs.transmat > by_triples.transmat)[known].mean() > 0.5


def test_of_sessions_of_mixed_kinds_the_sandwich_holds_what_refits_of_fresh_data_give() -> None:
    """No chain of two states is right: its information says too little of how estimates vary."""
    other = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])

    def fresh(seed: int, n: int) -> Sequences:
        rng = np.random.default_rng(seed)
        kinds = (TRUTH, other)
        return Sequences.of([kinds[rng.integers(2)].sample(20, rng)[0] for _ in range(n)])

    def learn(data: Sequences, start: HMM) -> HMM:
        return refine(start, data, as_given=True, smoothing=0.0, sparsity=0.0).model

    limit = learn(fresh(0, 8000), TRUTH)
    inside: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for seed in range(1, 26):
        data = fresh(seed, 150)
        summary = FitSummary.of(data, learn(data, limit), None)
        for robust, held in inside.items():
            low, high = standard_errors(summary, None, robust=robust).interval(0.9)
            for table in ("startprob", "transmat", "emissionprob"):
                p = getattr(limit, table)
                within = (getattr(low, table) <= p) & (p <= getattr(high, table))
                held.append(within[(p > 0.01) & (p < 0.99)])
    robust, by_model = (np.mean(np.concatenate(inside[kind])) for kind in (True, False))
    assert 0.84 < robust < 0.97
    assert by_model < robust


def test_few_sequences_and_known_states_go_by_the_model(long: np.ndarray) -> None:
    few, many = (fitted(long[:2000], [2000 // n] * n) for n in (20, 100))
    assert many.standard_errors().evidence == "the sandwich over 100 sequences"
    assert few.standard_errors().evidence.endswith("blocks of the sequences")
    assert "blocks" in many.standard_errors(robust=False).evidence
    with pytest.raises(ValueError, match="robust must be one of"):
        few.standard_errors(robust="yes")  # type: ignore[arg-type]


# -- laws ------------------------------------------------------------------------------------


def every_kind(X: np.ndarray) -> list[StandardErrors]:
    data = Sequences.of(X, [len(X) // 20] * 20, n_symbols=3)
    blocks, starts = Blocks.of(data, 2000), Blocks.starts(data)
    counts = count_pairs(data)
    return [
        sequence_errors(TRUTH, blocks, starts),
        triple_errors(TRUTH, blocks, 20_000.0, starts),
        pair_errors(TRUTH, counts, PairTerms({1: 1.0}, 1e-4, LogDet())),
        pair_errors(TRUTH, counts, PairTerms({1: 1.0}, 0.0, NoVolume())),
        pair_errors(TRUTH, counts, PairTerms({1: 1.0}, 0.0, NoVolume(), summed=True)),
    ]


def test_intervals_hold_the_estimate_and_grow_with_the_level(long: np.ndarray) -> None:
    for errors in every_kind(long):
        narrow, wide = errors.interval(0.5), errors.interval(0.99)
        for i, table in enumerate((TRUTH.startprob, TRUTH.transmat, TRUTH.emissionprob)):
            assert (narrow.low[i] <= table + 1e-12).all()
            assert (table - 1e-12 <= narrow.high[i]).all()
            assert (wide.low[i] <= narrow.low[i] + 1e-12).all()
            assert (narrow.high[i] <= wide.high[i] + 1e-12).all()
            assert (wide.low[i] >= 0).all()
            assert (wide.high[i] <= 1).all()


def test_states_below_the_noise_are_said() -> None:
    """Where pairs do not show all states, intervals are not to be relied on."""
    truth = random_hmm(30, 8, random_state=0)
    X = truth.sample(5_000, random_state=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PairwiseHMM(8, n_features=30, refine=False, random_state=0).fit(X)
    shown = model.pair_fit_.spectrum.n_detectable
    assert shown < 8
    note = f"the pairs show {shown} of 8 states"
    assert model.standard_errors().notes[-1].startswith(note)
    assert model.standard_errors(X).notes[-1].startswith(note)
    model.transmat_ = model.transmat_.copy()  # set by hand: nothing was found in these pairs
    assert not any(text.startswith("the pairs") for text in model.standard_errors(X).notes)


def test_zeros_have_intervals_on_one_side(long: np.ndarray) -> None:
    for errors in every_kind(long)[:3]:
        low, high = errors.interval()
        zero = TRUTH.emissionprob == 0
        assert (low.emissionprob[zero] == 0).all()
        assert ((high.emissionprob[zero] > 0) & (high.emissionprob[zero] < 0.1)).all()


def test_states_and_symbols_may_be_relabelled(long: np.ndarray) -> None:
    swapped = TRUTH.with_states([1, 0])
    turned = HMM(swapped.startprob, swapped.transmat, swapped.emissionprob[:, ::-1])
    data, other = Sequences.of(long), Sequences.of(2 - long)
    for one, two in (
        (
            sequence_errors(TRUTH, Blocks.of(data, 2000)),
            sequence_errors(turned, Blocks.of(other, 2000)),
        ),
        (
            pair_errors(TRUTH, count_pairs(data), PairTerms({1: 1.0}, 1e-3, LogDet())),
            pair_errors(turned, count_pairs(other), PairTerms({1: 1.0}, 1e-3, LogDet())),
        ),
    ):
        for a, b in zip(one.interval(0.9), two.interval(0.9), strict=True):
            np.testing.assert_allclose(a.transmat, b.transmat[::-1, ::-1], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(
                a.emissionprob, b.emissionprob[::-1, ::-1], rtol=1e-6, atol=1e-9
            )


def test_symbols_that_never_occur(long: np.ndarray) -> None:
    for options in ({}, {"refine": False}):
        with pytest.warns(UserWarning, match="never occur"):
            model = PairwiseHMM(2, random_state=0, n_features=5, **options).fit(long)
        low, high = model.standard_errors().interval()
        assert (low.emissionprob[:, 3:] == 0).all()
        assert ((high.emissionprob[:, 3:] > 0) & (high.emissionprob[:, 3:] < 1e-2)).all()


def test_what_was_held_or_known_to_be_zero_is_certain(long: np.ndarray) -> None:
    model = PairwiseHMM(2, random_state=0, params="st", n_features=3)
    model.emissionprob_ = TRUTH.emissionprob
    errors = model.fit(long).standard_errors()
    assert (errors.emissionprob == 0).all()
    assert (errors.transmat > 0).all()
    low, high = errors.interval()
    np.testing.assert_array_equal(low.emissionprob, model.emissionprob_)
    np.testing.assert_array_equal(high.emissionprob, model.emissionprob_)
    free = PairwiseHMM(2, random_state=0, n_features=3)
    free.emissionprob_ = TRUTH.emissionprob
    errors = free.fit(long).standard_errors()
    assert ((errors.emissionprob == 0) == (TRUTH.emissionprob == 0)).all()
    alone = PairwiseHMM(2, random_state=0, params="st", n_features=3, refine=False)
    alone.emissionprob_ = TRUTH.emissionprob
    errors = alone.fit_counts(count_pairs(long)).standard_errors()
    assert (errors.emissionprob == 0).all()
    assert (errors.transmat > 0).all()


def test_starts_need_sequences(long: np.ndarray) -> None:
    for options in ({}, {"refine": False}, {"refine": "triples"}):
        one = fitted(long, **options).standard_errors()
        assert np.isnan(one.startprob).all()
        assert any("one sequence" in note for note in one.notes)
        low, high = one.interval()
        assert (low.startprob.tolist(), high.startprob.tolist()) == ([0, 0], [1, 1])
        many = fitted(long, [10] * 2000, **options).standard_errors()
        assert (many.startprob > 0.005).all()
        assert (many.startprob < 0.05).all()


def test_weights_count_as_copies(long: np.ndarray) -> None:
    lengths = [100] * 200
    weights = np.repeat([3.0, 0.0], 100)
    weighted = PairwiseHMM(2, random_state=0, smoothing=0.0).fit(
        long, lengths=lengths, sample_weight=weights
    )
    copies = PairwiseHMM(2, random_state=0, smoothing=0.0).fit(
        np.tile(long[:10_000], 3), [100] * 300
    )
    np.testing.assert_allclose(
        weighted.standard_errors().transmat, copies.standard_errors().transmat, rtol=0.1
    )


def test_missing_symbols_say_nothing(long: np.ndarray) -> None:
    gaps = long.astype(float)
    gaps[np.random.default_rng(0).random(len(gaps)) < 0.5] = np.nan
    whole, part = (
        sequence_errors(TRUTH, Blocks.of(Sequences.of(X, n_symbols=3), 2000)) for X in (long, gaps)
    )
    assert np.median(part.emissionprob / whole.emissionprob) > 1.2


def test_data_may_be_given_later(model: PairwiseHMM, long: np.ndarray, tmp_path: Any) -> None:
    model.model_.save(tmp_path / "model")
    loaded = HMM.load(tmp_path / "model")
    other = PairwiseHMM(2)
    other.startprob_, other.transmat_, other.emissionprob_ = (
        loaded.startprob,
        loaded.transmat,
        loaded.emissionprob,
    )
    np.testing.assert_array_equal(
        other.standard_errors(long).transmat, model.standard_errors().transmat
    )


def test_a_pickled_estimator_is_as_sure(model: PairwiseHMM) -> None:
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.standard_errors().transmat, model.standard_errors().transmat)


def test_frames(model: PairwiseHMM) -> None:
    pytest.importorskip("pandas")
    errors = model.standard_errors()
    high = errors.interval(0.5).high
    frame = errors.to_frame("transitions", level=0.5)
    assert frame.columns.tolist()[-3:] == ["standard_error", "low", "high"]
    assert frame["high"].tolist() == high.transmat.ravel().tolist()
    assert len(errors.to_frame("start")) == 2
    assert errors.to_frame("emissions")["standard_error"].shape == (6,)
    with pytest.raises(ValueError, match="what must be one of"):
        errors.to_frame("nothing")  # type: ignore[arg-type]


# -- what is not determined ------------------------------------------------------------------


def test_states_that_are_the_same_are_named() -> None:
    twins = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.7, 0.3], [0.7, 0.3]], ("a", "b"))
    data = Sequences.of(twins.sample(5000, random_state=0)[0], vocabulary=("a", "b"))
    errors = sequence_errors(twins, Blocks.of(data, 2000))
    assert np.isnan(errors.emissionprob).all()
    assert any("emissions of state 0: 'a', 'b'" in text for text in errors.undetermined)
    low, high = errors.interval()
    assert (low.emissionprob == 0).all()
    assert (high.emissionprob == 1).all()


def test_pairs_do_not_determine_dense_emissions() -> None:
    dense = random_hmm(5, 2, 0.0, stay=0.6, random_state=0)
    counts = count_pairs(dense.sample(20_000, random_state=0)[0])
    errors = pair_errors(dense, counts, PairTerms({1: 1.0}, 0.0, NoVolume()))
    assert np.isnan(errors.emissionprob).any()
    assert errors.undetermined


def test_little_data_is_judged_by_the_model() -> None:
    X = separable_hmm(16, 3, stay=0.8, random_state=0).sample(300, random_state=1)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        errors = PairwiseHMM(3, random_state=0).fit(X).standard_errors()
    assert any("too few to judge by" in note for note in errors.notes)
    low, high = errors.interval()
    assert (low.emissionprob <= high.emissionprob).all()


def test_tangent_without_entries() -> None:
    assert constrained_covariance(np.zeros((0, 0)), np.zeros(0), np.zeros(0, int)).matrix.size == 0


# -- blocks ----------------------------------------------------------------------------------


def test_blocks_are_cut_from_each_sequence() -> None:
    data = Sequences.of([list(range(20)), [3, 4]], n_symbols=20)
    blocks = Blocks.of(data, 100, before=8)
    assert len(blocks) == 4
    assert blocks.begins.tolist() == [True, True, False, True]
    assert blocks.symbols[1].tolist() == list(range(16))
    assert blocks.symbols[2].tolist() == [*range(8, 20), *[NOTHING] * 4]
    assert blocks.symbols[3].tolist() == [*[NOTHING] * 8, 3, 4, *[NOTHING] * 6]
    assert Blocks.starts(data).symbols[:, 0].tolist() == [0, 3]


def test_some_blocks_stand_for_all() -> None:
    data = Sequences.of(np.zeros(8000, int), [80] * 100)
    blocks = Blocks.of(data, 100)
    assert not blocks.complete
    assert blocks.weights.sum() == pytest.approx(8000 / BLOCK)
    weights = np.repeat([0.0, 2.0], 50)
    weighted = Blocks.of(data, 100, weights=weights)
    assert weighted.weights.sum() == pytest.approx(8000 / BLOCK)
    again = Blocks.of(data, 100)
    assert np.array_equal(again.symbols, blocks.symbols)


# -- what is refused -------------------------------------------------------------------------


def test_by_hand_there_is_nothing_to_go_by(long: np.ndarray) -> None:
    model = PairwiseHMM(2)
    model.startprob_, model.transmat_, model.emissionprob_ = (
        TRUTH.startprob,
        TRUTH.transmat,
        TRUTH.emissionprob,
    )
    with pytest.raises(ValueError, match="set by hand: there is nothing to estimate errors from"):
        model.standard_errors()
    changed = fitted(long, refine=False)
    changed.transmat_ = TRUTH.transmat
    with pytest.raises(ValueError, match="set by hand"):
        changed.standard_errors()
    with pytest.raises(ValueError, match="lengths are of X"):
        changed.standard_errors(lengths=[3])


@pytest.mark.parametrize("level", [0, 1, 90, -0.5, "90 %", np.nan])
def test_levels(level: Any, long: np.ndarray) -> None:
    errors = sequence_errors(TRUTH, Blocks.of(Sequences.of(long[:500]), 100))
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        errors.interval(level)


def test_too_large_a_model_is_sent_elsewhere() -> None:
    large = HMM([1.0], [[1.0]], np.full((1, 7000), 1 / 7000))
    data = Sequences.of(np.zeros(100, int), n_symbols=7000)
    with pytest.raises(ValueError, match=r"7,001 transitions and emissions.*bootstrap"):
        sequence_errors(large, Blocks.of(data, 10))
    counts = count_pairs(np.zeros(100, int), n_symbols=7000)
    with pytest.raises(ValueError, match=r"7,001 transitions and emissions.*bootstrap"):
        pair_errors(large, counts, PairTerms({1: 1.0}, 0.0, NoVolume()))


def test_it_says_whose_blocks_they_are():
    errors = PairwiseHMM(1).fit([0, 1, 1, 0]).standard_errors()
    assert errors.evidence == "4,000 blocks that the model drew"


@pytest.mark.filterwarnings("ignore::cohmm.learn.learner.EvidenceWarning")
@pytest.mark.parametrize("refined", [True, False])
def test_the_number_of_threads_changes_nothing(refined: bool) -> None:
    truth = random_hmm(40, 3, stay=0.5, random_state=0)
    X = [truth.sample(200, random_state=seed)[0] for seed in range(30)]
    model = PairwiseHMM(3, refine=refined, random_state=0).fit(X)
    errors = []
    with threadpool_limits(4, "blas"):
        for n in (1, 2, 4):
            with threads(n):
                errors.append(model.standard_errors(X))
    for other in errors[1:]:
        for what in ("startprob", "transmat", "emissionprob"):
            np.testing.assert_array_equal(getattr(errors[0], what), getattr(other, what))
