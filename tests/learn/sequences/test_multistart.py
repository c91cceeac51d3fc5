"""Which model is the best start: a race on parts of the data."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from cohmm import HMM, Sequences, count_pairs
from cohmm.datasets.synthetic import random_hmm, random_sessions
from cohmm.learn import min_volume, pairwise, refine
from cohmm.learn.sequences import multistart as starts
from cohmm.learn.sequences.multistart import (
    MIN_SYMBOLS,
    best_start,
    can_split,
    em,
    random_start,
    subsets,
    with_split_state,
)
from tests.laws import rows_are_distributions

MODEL = random_hmm(6, 4, zeros=0.0, random_state=0)


def drawn(data: Sequences, k: int) -> partial[HMM]:
    return partial(random_start, data, k)


def test_a_model_that_is_ahead_is_kept_as_it_came() -> None:
    truth = random_hmm(12, 3, stay=0.5, random_state=0)
    data = Sequences.of(truth.sample(8000, random_state=0)[0], n_symbols=12)
    worse = random_start(data, 3, np.random.default_rng(0))
    assert best_start(data, [worse, truth], drawn(data, 3), random_state=0) is truth


def test_what_a_part_of_the_data_cannot_improve_is_not_doubted() -> None:
    truth = random_hmm(50, 5, random_state=0)
    data = Sequences.of(truth.sample(30_000, random_state=0)[0], n_symbols=50)
    assert best_start(data, [truth], lambda rng: pytest.fail("drawn"), random_state=0) is truth


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_on_sessions_a_random_start_leads_further() -> None:
    data, test = random_sessions(400, random_state=1), random_sessions(1200, random_state=1)
    rough = min_volume(count_pairs(data), 12, random_state=0).model
    start = best_start(data, [rough], drawn(data, 12), n_random=6, random_state=0)
    refined = [refine(model, data, random_state=0).model for model in (rough, start)]
    before, after = (model.log_likelihood(test) / len(test.symbols) for model in refined)
    assert after > before + 0.02


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_as_many_states_as_pairs_show_predict_no_worse_than_fewer() -> None:
    """Also where there is one for nearly every symbol, from which EM alone would not get away."""
    data, test = random_sessions(300, random_state=3), random_sessions(1200, random_state=3)
    fewer, auto = (pairwise(data, k, random_state=0).model for k in (10, "auto"))
    assert auto.n_components > 12
    assert auto.log_likelihood(test) > fewer.log_likelihood(test)


def test_what_nothing_beats_comes_back_as_it_came() -> None:
    """It gains from EM on a part of the data, and no random start or move leads further."""
    data = random_sessions(400, random_state=0)
    start = best_start(data, [], drawn(data, 8), n_random=4, random_state=0)
    blunt = HMM(start.startprob, start.transmat, 0.8 * start.emissionprob + 0.2 / 14)
    uniform = HMM([0.5, 0.5], np.full((2, 2), 0.5), np.full((2, 14), 1 / 14))
    kept = best_start(data, [uniform, blunt], lambda rng: uniform, n_random=1, random_state=0)
    assert kept is blunt or kept.log_likelihood(data) > blunt.log_likelihood(data)


def test_the_recipe_starts_there() -> None:
    data = random_sessions(300, random_state=1)
    fit = pairwise(data, 8, random_state=0, max_iter=50)
    assert fit.refined is not None
    assert fit.refined.before != fit.pairs.model


def test_without_candidates_random_ones_race() -> None:
    truth = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2, 0], [0, 0.2, 0.8]])
    for length in (400, 5000):
        data = Sequences.of(truth.sample(length, random_state=0)[0])
        start = best_start(data, [], drawn(data, 2), n_random=5, random_state=0)
        assert start.distance(truth).emission < 0.1


def test_the_seed_decides() -> None:
    data = random_sessions(300, random_state=3)
    one, same, other = (
        best_start(data, [], drawn(data, 5), n_random=6, random_state=seed) for seed in (0, 0, 1)
    )
    assert one == same != other


def test_on_little_data_a_few_race() -> None:
    truth = HMM([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], [[0.9, 0.1], [0.1, 0.9]])
    data = Sequences.of(truth.sample(MIN_SYMBOLS - 1, random_state=0)[0])
    poor = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.5, 0.5], [0.5, 0.5]])
    draws = []

    def draw(rng: np.random.Generator) -> HMM:
        draws.append(random_start(data, 2, rng))
        return draws[-1]

    assert best_start(data, [poor], draw, random_state=0).distance(truth).emission < 0.1
    assert len(draws) == starts.FEW


def test_much_data_decides_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What won on small parts is not taken where more of the data says otherwise."""
    truth = HMM([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], [[0.9, 0.1], [0.1, 0.9]])
    alike = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.5, 0.5], [0.5, 0.5]])  # EM leaves it so
    data = Sequences.of(truth.sample(30_000, random_state=0)[0])
    winner = starts.Runner(alike, np.inf)
    monkeypatch.setattr(starts, "with_states_moved", lambda *_: winner)
    monkeypatch.setattr(
        starts,
        "run",
        lambda runner, *_: runner._replace(score=-0.01 if runner.model is truth else 0.0),
    )
    for subset in (starts.SUBSET, 30_000):  # more data than the parts had, and no more
        monkeypatch.setattr(starts, "SUBSET", subset)
        kept = best_start(data, [truth], drawn(data, 2), n_random=2, random_state=0)
        assert kept is truth


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_a_score_on_data_that_a_model_has_seen_does_not_keep_it() -> None:
    """Of so few sessions the pair estimate has seen those that it would be scored on."""
    data, test = random_sessions(250, random_state=1), random_sessions(1200, random_state=1)
    rough = min_volume(count_pairs(data), 14, random_state=0).model
    start = best_start(data, [rough], drawn(data, 14), random_state=0)
    refined = [refine(model, data, random_state=0).model for model in (rough, start)]
    before, after = (model.log_likelihood(test) / len(test.symbols) for model in refined)
    assert after > before + 0.05


def test_zeros_stay_zero_and_what_cannot_be_is_out() -> None:
    data = random_sessions(400, random_state=0)

    def left_right(rng: np.random.Generator) -> HMM:
        free = random_start(data, 6, rng)
        transmat = np.triu(free.transmat)
        first = np.eye(6)[0]
        return HMM(first, transmat / transmat.sum(axis=1, keepdims=True), free.emissionprob)

    impossible = HMM([1.0, 0], np.eye(2), np.eye(14)[:2])
    start = best_start(data, [impossible], left_right, n_random=6, random_state=0)
    assert start.n_components == 6
    assert (np.tril(start.transmat, -1) == 0).all()
    assert start.startprob.tolist() == [1, 0, 0, 0, 0, 0]
    assert em(impossible, data, 3) is impossible


@pytest.mark.parametrize("lengths", [[7000], [10] * 300, [1, 2500, 3, 40]])
def test_subsets_are_disjoint_parts_of_sequences(lengths: list[int]) -> None:
    n = sum(lengths)
    data = Sequences(np.arange(n), np.concatenate([[0], np.cumsum(lengths)]), n)
    size = n // 2
    parts = subsets(data, (size, size), np.random.default_rng(0))
    symbols = np.concatenate([part.symbols for part in parts])
    assert len(np.unique(symbols)) == len(symbols) <= n
    longest = max(part.lengths.max() for part in parts)
    assert longest <= max(n // starts.PIECES, 1)
    for part in parts:
        assert abs(len(part.symbols) - size) <= longest
        for piece in np.split(part.symbols, part.offsets[1:-1]):
            assert (np.diff(piece) == 1).all()  # in order, of one sequence
            assert np.searchsorted(data.offsets, piece[0], "right") == np.searchsorted(
                data.offsets, piece[-1], "right"
            )


@pytest.mark.parametrize("seed", range(5))
def test_the_rarest_takes_over_part_of_the_most_frequent(seed: int) -> None:
    visited = np.array([1 - 2e-9, 1e-9, 1e-9, 0.0])
    moved = with_split_state(MODEL, visited, np.random.default_rng(seed))
    for table in (moved.transmat, moved.emissionprob, moved.startprob[None]):
        rows_are_distributions(table)
    changed = [k for k in range(4) if not np.allclose(moved.emissionprob[k], MODEL.emissionprob[k])]
    assert len(changed) == 2
    assert 0 in changed  # what is frequent is split
    gone = changed[1]
    kept = [k for k in range(4) if k not in changed]
    # What led to the one leads to the two, and what led to the other is gone.
    before = MODEL.transmat[kept] / (1 - MODEL.transmat[kept, gone])[:, None]
    after = moved.transmat[kept]
    np.testing.assert_allclose(after[:, 0] + after[:, gone], before[:, 0], atol=2e-3)
    assert (after > 0).all()


def test_zeros_are_not_lost() -> None:
    assert can_split(MODEL)
    never = np.append(MODEL.emissionprob, np.zeros((4, 1)), axis=1)
    assert can_split(HMM(MODEL.startprob, MODEL.transmat, never))
    left_right = HMM([0.5, 0.5], [[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [0.2, 0.8]])
    assert not can_split(left_right)
    assert not can_split(random_hmm(20, 4, zeros=0.5, random_state=0))
    assert not can_split(HMM([1.0], [[1.0]], [[0.5, 0.5]]))
