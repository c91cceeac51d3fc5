"""Numbers of states on held-out data: what is dealt out, which are tried, which is taken."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cohmm import HMM, PairwiseHMM, Sequences
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn import pairwise
from cohmm.learn.sequences.held_out import (
    CrossValidation,
    choose_states,
    chosen,
    grouped,
    most_states,
    quick_fit,
    search,
)
from cohmm.learn.state_choice import StateChoice


@pytest.mark.parametrize("folds", [2, 5])
def test_every_symbol_is_held_out_once(folds: int) -> None:
    for data in (
        Sequences.of(np.arange(2_000) % 7),
        Sequences.of([np.arange(length) % 5 for length in range(1, 80)]),
    ):
        parts = grouped(data)
        assert parts.n >= 10
        total = 0
        for fold in range(folds):
            train, test, group = parts.split(fold, folds)
            assert len(train.symbols) + len(test.symbols) == len(data.symbols)
            assert len(group) == len(test)
            total += len(test.symbols)
        assert total == len(data.symbols)


def test_blocks_are_joined_and_sequences_are_not_cut() -> None:
    symbols = np.arange(2_000)
    train, test, _ = grouped(Sequences.of(symbols)).split(0, 5)
    assert len(train) == 8  # between the blocks that are held out
    for part in (train, test):
        for sequence in part:
            assert np.diff(sequence).tolist() == [1] * (len(sequence) - 1)
    many = Sequences.of([np.arange(30) + 30 * s for s in range(60)])
    parts = grouped(many)
    assert not parts.blocks
    assert {len(sequence) for sequence in parts.split(0, 5)[0]} == {30}


def test_a_symbol_that_is_held_out_alone_is_missing() -> None:
    data = Sequences.of([5, *np.arange(1_999) % 5])
    parts = grouped(data)
    for fold in range(5):
        _, plain, same = parts.split(fold, 5)
        _, test, group = parts.fair_split(fold, 5)
        np.testing.assert_array_equal(test.symbols, np.where(plain.symbols == 5, -1, plain.symbols))
        np.testing.assert_array_equal(group, same)
    assert (parts.fair_split(0, 5)[1].symbols == -1).sum() == 1


def strict_sessions(seed: int, n: int, length: int = 40, n_symbols: int = 120) -> list[np.ndarray]:
    """Ten states in nearly strict order, each with some symbols of its own among many rare ones."""
    rng = np.random.default_rng(seed)
    k = 10
    transmat = 0.85 * np.roll(np.eye(k), 1, axis=1) + 0.15 / k
    rare = 1 / np.arange(1, n_symbols + 1) ** 1.5
    emission = np.array([rng.dirichlet(rng.permutation(rare)) for _ in range(k)])
    emission = 0.97 * emission + 0.03 / n_symbols
    truth = HMM(np.full(k, 1 / k), transmat, emission)
    return [truth.sample(length, rng)[0] for _ in range(n)]


def test_rare_symbols_do_not_leave_one_state() -> None:
    data = Sequences.of([list(map(str, session)) for session in strict_sessions(0, 40)])
    assert (data.symbol_counts == 1).sum() >= 5
    with pytest.warns(ConvergenceWarning):
        model = PairwiseHMM("auto", max_iter=5, random_state=0).fit(data)
    choice = model.fit_.choice
    assert choice is not None
    assert 6 <= model.model_.n_components == choice.n_components <= 14
    assert choice.reason.startswith(f"{choice.n_components} states: ")
    scores = {one.n_components: one.held_out for one in choice.tried}
    assert scores[choice.best] - scores[choice.n_components] <= 0.02
    assert scores[choice.best] > scores[min(scores)] + 0.3


def test_counts_and_pairs_alone_go_by_the_spectrum() -> None:
    truth = separable_hmm(10, 3, stay=0.5, random_state=0)
    data = Sequences.of(truth.sample(5_000, random_state=0)[0])
    fit = pairwise(data, "auto", refine=False, random_state=0)
    assert fit.choice == StateChoice(3, 3)
    assert fit.pairs is not None
    assert fit.pairs.choice is fit.choice
    assert pairwise(data, 3, refine=False, random_state=0).choice is None


def test_independent_symbols_have_one_state() -> None:
    data = Sequences.of(np.random.default_rng(0).choice(12, 3_000))
    assert choose_states(data, 1).n_components == 1


def test_of_long_data_no_fewer_than_the_pairs_show(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = random_hmm(20, 4, stay=0.6, random_state=0)
    data = Sequences.of(truth.sample(6_000, random_state=0)[0])
    monkeypatch.setattr("cohmm.learn.sequences.held_out.SAMPLE", 1_000)
    choice = choose_states(data, 4)
    assert choice.n_components >= 4
    assert {one.n_components for one in choice.tried} >= {4}


def test_very_little_data_goes_by_the_pairs() -> None:
    assert choose_states(Sequences.of([0, 1] * 20), 2) == StateChoice(2, 2)


def test_the_smallest_within_a_standard_error_and_a_fiftieth_of_a_nat() -> None:
    sizes = np.full(50, 100.0)
    noise = np.random.default_rng(0).normal(scale=20, size=50)
    base = np.full(50, -200.0)
    worse = {2: base - 100, 3: base - 1.0 + noise - noise.mean(), 4: base, 5: base - 0.5}
    choice = chosen(worse, sizes, 2)
    assert (choice.n_components, choice.best) == (3, 4)
    loud = {2: base - 10 + 40 * (noise - noise.mean()), 4: base}
    assert chosen(loud, sizes, 2).n_components == 4  # a standard error above .02 excuses nothing
    assert not choice.rising


@pytest.mark.parametrize(("best", "first"), [(1, 1), (3, 1), (17, 4), (40, 14), (2, 30), (97, 3)])
def test_the_best_number_is_met_wherever_the_search_begins(best: int, first: int) -> None:
    tried = search(lambda k: -abs(np.log(k / best)), first, 128, fineness=8)
    assert len(tried) == len(set(tried))
    assert min(abs(k - best) for k in tried) <= max(1, best // 8)
    assert len(tried) < 20


def test_the_search_keeps_to_its_bound() -> None:
    assert max(search(float, 3, 10, fineness=8)) <= 10
    assert most_states(200) == 20


def test_cross_validation_learns_with_what_it_is_given() -> None:
    data = Sequences.of(np.arange(1_000) % 3)
    heard = []

    def learn(train: Sequences, k: int, seed: int) -> HMM:
        heard.append((len(train.symbols), k, seed))
        return quick_fit(train, k, random_state=seed)

    judge = CrossValidation(grouped(data), 5, 2, 7, learn)
    learned = judge(3)
    assert heard == [(800, 3, 7), (800, 3, 7)]
    assert learned.scores.sum() / judge.sizes.sum() > -0.2
    assert len(learned.models) == 2
