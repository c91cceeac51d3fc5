"""The bootstrap agrees with standard errors, keeps to its seed, and says what it drew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cohmm import HMM, PairwiseHMM, Sequences, threads
from cohmm.diagnose import Bootstrap
from cohmm.diagnose.bootstrap import bootstrap, cut, nearness, repeated
from cohmm.kernels.types import Floats

TRUTH = HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4, 0.0], [0.0, 0.3, 0.7]])


@pytest.fixture(scope="module")
def long() -> np.ndarray:
    return TRUTH.sample(5000, random_state=0)[0]


def fitted(X: np.ndarray, *args: Any, **options: Any) -> PairwiseHMM:
    return PairwiseHMM(2, random_state=0, **options).fit(X, *args)


@pytest.fixture(scope="module")
def refined(long: np.ndarray) -> PairwiseHMM:
    return fitted(long, [50] * 100)


def proportions(data: Sequences, weights: Floats | None, seed: int) -> HMM:
    """A fit of one state, by counting."""
    weight = np.ones(len(data)) if weights is None else weights
    counts = np.bincount(data.symbols, np.repeat(weight, data.lengths), data.n_symbols)
    return HMM([1.0], [[1.0]], [counts / counts.sum()])


def test_of_proportions_it_is_what_the_binomial_says() -> None:
    p = np.array([0.5, 0.3, 0.2])
    X = np.random.default_rng(0).choice(3, 2000, p=p)
    data = Sequences.of(X, [10] * 200)
    model = proportions(data, None, 0)
    expected = np.sqrt(model.emissionprob * (1 - model.emissionprob) / 2000)
    drawn = bootstrap(model, proportions, 200, data, random_state=0)
    np.testing.assert_allclose(drawn.emissionprob, expected, rtol=0.2)
    own = bootstrap(model, proportions, 200, lengths=np.array([10]), total=2000, random_state=0)
    np.testing.assert_allclose(own.emissionprob, expected, rtol=0.2)
    low, high = drawn.interval(0.9)
    np.testing.assert_allclose(high.emissionprob - low.emissionprob, 3.29 * expected, rtol=0.25)


@pytest.mark.parametrize("options", [{}, {"refine": False}, {"refine": "triples"}], ids=str)
def test_it_agrees_with_standard_errors(
    options: dict[str, Any], long: np.ndarray, refined: PairwiseHMM
) -> None:
    model = fitted(long, [50] * 100, **options) if options else refined
    errors = model.standard_errors()
    for again in (
        model.bootstrap(16, long, [50] * 100),
        model.bootstrap(16),
    ):
        assert again.stability.tolist() == [1, 1]
        ratio = np.median(again.transmat / errors.transmat)
        assert 0.6 < ratio < 1.6


def test_what_was_drawn_is_said(long: np.ndarray, refined: PairwiseHMM) -> None:
    assert refined.bootstrap(2).resampled == "the model's own draws"
    assert refined.bootstrap(2, long, [50] * 100).resampled == "sequences"
    blocks = refined.bootstrap(2, long)
    assert blocks.resampled == "blocks"
    assert "71 blocks" in blocks.notes[0]
    assert np.isnan(blocks.startprob).all()
    low, high = blocks.interval()
    assert (low.startprob.tolist(), high.startprob.tolist()) == ([0, 0], [1, 1])
    assert repr(blocks) == "Bootstrap(2 fits of blocks, HMM(2 states, 3 symbols))"


def test_threads_change_nothing(long: np.ndarray, refined: PairwiseHMM) -> None:
    results = []
    for n in (1, 3):
        with threads(n):
            results.append(refined.bootstrap(4, long, [50] * 100, random_state=5))
    assert all(a == b for a, b in zip(results[0].models, results[1].models, strict=True))
    other = refined.bootstrap(4, long, [50] * 100, random_state=6)
    assert other.models[0] != results[0].models[0]


def test_from_scratch_other_answers_show() -> None:
    """Two twins of a state: near fits keep them apart, and a warning says so; fits anew do not."""
    twins = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    X = [twins.sample(20, random_state=seed)[0] for seed in range(60)]
    model = PairwiseHMM(2, n_features=3, random_state=0)
    model.startprob_, model.transmat_ = twins.startprob, twins.transmat
    model.emissionprob_ = twins.emissionprob
    with pytest.warns(UserWarning, match="the data does not determine .*stay near it"):
        near = model.bootstrap(3, X)
    anew = model.bootstrap(3, X, refit="scratch")
    assert anew.emissionprob.max() > 2 * near.emissionprob.max()
    with pytest.raises(ValueError, match="refit must be one of 'warm', 'scratch'"):
        model.bootstrap(3, X, refit="cold")  # type: ignore[arg-type]


def test_what_is_held_stays_from_scratch_too(long: np.ndarray) -> None:
    model = PairwiseHMM(2, random_state=0, params="st")
    model.emissionprob_ = TRUTH.emissionprob
    again = model.fit(long[:1000], [50] * 20).bootstrap(2, long[:1000], [50] * 20, refit="scratch")
    assert (again.emissionprob < 1e-12).all()
    assert (again.transmat > 0).all()


def test_progress_is_told(refined: PairwiseHMM) -> None:
    told: list[tuple[int, int]] = []
    refined.bootstrap(3, callback=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_state_that_does_not_come_back_is_seen() -> None:
    model = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.9, 0.1, 0.0], [0.0, 0.2, 0.8]])
    moved = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    again = Bootstrap.of(model, [model, moved, model.with_states([1, 0])], "sequences", ())
    np.testing.assert_allclose(again.stability, [2 / 3, 1])
    assert again.models[2] == model
    strict = Bootstrap.of(model, [model, moved], "sequences", (), threshold=0.05)
    np.testing.assert_allclose(strict.stability, [0.5, 0.5])
    np.testing.assert_allclose(nearness(model), [0.2, 0.2])
    assert nearness(HMM([1.0], [[1.0]], [[1.0]])).tolist() == [0.2]


def test_what_is_held_stays(long: np.ndarray) -> None:
    for refine in ("sequences", False):
        model = PairwiseHMM(2, random_state=0, params="st", refine=refine)
        model.emissionprob_ = TRUTH.emissionprob
        again = model.fit(long, [50] * 100).bootstrap(3, long, [50] * 100)
        assert (again.emissionprob < 1e-12).all()
        assert (again.transmat > 0).all()


def test_frames(refined: PairwiseHMM) -> None:
    pytest.importorskip("pandas")
    frame = refined.bootstrap(3).to_frame("transitions")
    assert frame.columns.tolist()[-3:] == ["standard_error", "low", "high"]


def test_blocks_have_all_symbols() -> None:
    data = Sequences.of([list(range(120)), [5, 6]], n_symbols=120)
    blocks = cut(data)
    assert blocks.lengths.tolist() == [60, 60, 2]
    assert blocks.symbols.tolist() == data.symbols.tolist()
    twice = repeated(data, np.array([0.0, 2.0]))
    assert twice.labels() == [[5, 6], [5, 6]]


@pytest.mark.parametrize("n", [0, 1, 2.5, True, "many"])
def test_too_few_fits(n: Any, refined: PairwiseHMM) -> None:
    with pytest.raises(ValueError, match="the number of fits must be a whole number from 2"):
        refined.bootstrap(n)


def test_bad_input(refined: PairwiseHMM) -> None:
    with pytest.raises(ValueError, match="threshold is a total variation"):
        refined.bootstrap(2, threshold=0)
    with pytest.raises(ValueError, match="level must be"):
        refined.bootstrap(2).interval(95)
    with pytest.raises(ValueError, match=r"200,000,000 symbols.*give data to draw from"):
        bootstrap(TRUTH, proportions, 2, lengths=np.array([10]), total=2e8)
    with pytest.raises(ValueError, match="neither data nor its lengths"):
        bootstrap(TRUTH, proportions, 2)
    by_hand = PairwiseHMM(2)
    by_hand.startprob_, by_hand.transmat_, by_hand.emissionprob_ = (
        TRUTH.startprob,
        TRUTH.transmat,
        TRUTH.emissionprob,
    )
    with pytest.raises(ValueError, match=r"set by hand.*bootstrap\(100, X, lengths\)"):
        by_hand.bootstrap(2)


def test_a_threshold_that_is_no_number():
    model = PairwiseHMM(1).fit([0, 1, 1, 0])
    with pytest.raises(ValueError, match="threshold is a total variation"):
        model.bootstrap(2, threshold="near")
