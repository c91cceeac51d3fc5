"""Refinement: to the maximum from wherever it starts, on any kind of data, and its complaints."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cohmm import (
    HMM,
    ImpossibleObservation,
    Sequences,
    Triples,
    count_pairs,
    count_triples,
)
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.learner import Progress
from cohmm.learn.maximize import REVIVED, Prior, Target, ascend, revived
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.sequences import refine as module
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.learn.sequences.refine import RefinedFit, refine
from cohmm.learn.sparsity import zeros_preferred
from cohmm.learn.sqrt_parametrization import sample_windows
from cohmm.model.inference import Counts
from tests import laws
from tests.strategies import random_model

pytestmark = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")


def sampled(truth: HMM, length: int, seed: int = 1) -> Sequences:
    return Sequences.of(truth.sample(length, random_state=seed)[0], n_symbols=truth.n_symbols)


def pair_estimate(data: Sequences, k: int) -> HMM:
    return min_volume(count_pairs(data), k, random_state=0).model


def sound(fit: RefinedFit, data: Sequences, start: HMM) -> None:
    """What holds for every refinement."""
    n = len(data.symbols)
    for table in (fit.model.startprob, fit.model.transmat, fit.model.emissionprob):
        laws.rows_are_distributions(table)
    assert all(after.objective < before.objective for before, after in pairwise(fit.history))
    assert all(after.n_iter > before.n_iter for before, after in pairwise(fit.history))
    assert fit.before == start
    assert fit.length == n
    gained = (fit.model.log_likelihood(data) - start.log_likelihood(data)) / n
    assert fit.gained == pytest.approx(gained, abs=1e-12)


def at_the_top(fit: RefinedFit, data: Sequences, slack: float = 0.05) -> None:
    """Baum-Welch steps from there gain next to nothing, nats in all.

    The starts, which have a prior, are left alone.
    """
    model = fit.model
    before = model.log_likelihood(data)
    for _ in range(100):
        _, counts = model.expected_counts(data)
        transmat, emission = (
            np.where(count.sum(axis=1, keepdims=True) > 0, count, table)
            for count, table in (
                (counts.transitions, model.transmat),
                (counts.emissions, model.emissionprob),
            )
        )
        model = HMM(
            model.startprob,
            transmat / transmat.sum(axis=1, keepdims=True),
            emission / emission.sum(axis=1, keepdims=True),
        )
    assert model.log_likelihood(data) - before < slack


@pytest.fixture(scope="module")
def easy() -> tuple[HMM, Sequences, HMM]:
    truth = random_hmm(16, 4, stay=0.3, random_state=0)
    data = sampled(truth, 20_000)
    return truth, data, pair_estimate(data, 4)


def without_starts(model: HMM, data: Sequences) -> float:
    """Minus the log-likelihood of a symbol, begun anywhere in the chain.

    The prior of the starts is about the model that is refined, so that starts differ.
    """
    stationary = HMM(model.stationary(), model.transmat, model.emissionprob)
    return -stationary.log_likelihood(data) / len(data.symbols)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_maximum_from_the_pairs_and_from_the_truth(seed: int) -> None:
    truth = random_hmm(16, 4, stay=0.2 * seed, random_state=seed)
    data = sampled(truth, 20_000)
    rough = pair_estimate(data, 4)
    start = HMM(truth.stationary(), truth.transmat, 0.999 * truth.emissionprob + 0.001 / 16)
    options = {"smoothing": 0.0, "max_iter": 400, "tol": 1e-5, "random_state": 0}
    one, two = (refine(model, data, **options) for model in (rough, start))
    for fit, begin in ((one, rough), (two, start)):
        sound(fit, data, begin)
        assert fit.converged
        assert fit.gained > 0
    assert abs(without_starts(one.model, data) - without_starts(two.model, data)) < 1e-6
    at_the_top(one, data)
    at_the_top(two, data)
    assert one.model.distance(two.model).emission < 0.02
    assert one.divergence < -truth.log_likelihood(data) / 20_000
    # The defaults come about as close as they say: 1e-3 of a nat for each of 84 parameters.
    quick = refine(rough, data, smoothing=0.0, random_state=0)
    assert quick.converged
    left = without_starts(quick.model, data) - without_starts(one.model, data)
    assert left < 1.5 * 1e-3 * 84 / 20_000
    assert quick.n_iter <= 60


def test_it_is_closer_to_the_truth(easy: tuple[HMM, Sequences, HMM]) -> None:
    truth, data, rough = easy
    fit = refine(rough, data, random_state=0)
    sound(fit, data, rough)
    assert fit.window_passes > 0
    assert fit.model.distance(truth).emission < 0.9 * rough.distance(truth).emission
    assert fit.model.distance(truth).transition < 0.9 * rough.distance(truth).transition
    assert (np.diff(fit.model.stationary()) <= 1e-12).all()


def test_a_bad_start_is_no_worse_after(easy: tuple[HMM, Sequences, HMM]) -> None:
    _, data, _ = easy
    for seed in range(3):
        start = random_model(4, 16, seed=seed)
        fit = refine(start, data, smoothing=0.0, random_state=0)
        sound(fit, data, start)
        assert fit.gained > 0


def test_the_callback_sees_every_step(easy: tuple[HMM, Sequences, HMM]) -> None:
    _, data, rough = easy
    seen: list[Progress] = []
    fit = refine(rough, data, random_state=0, callback=seen.append)
    assert tuple(seen) == fit.history
    # Minus the log-likelihood, and with the prior of the starts the objective.
    plain = refine(rough, data, smoothing=0.0, random_state=0)
    assert plain.divergence == pytest.approx(-plain.model.log_likelihood(data) / 20_000, abs=1e-12)
    assert 0 < plain.objective - plain.divergence < 10 * np.log(1e4) / 20_000


def test_triples_that_have_been_counted(easy: tuple[HMM, Sequences, HMM]) -> None:
    _, data, rough = easy
    plain = refine(rough, data, max_iter=20, random_state=0)
    given = refine(rough, data, triples=count_triples(data), max_iter=20, random_state=0)
    assert plain.model == given.model
    assert given.window_passes == plain.window_passes > 0
    with pytest.raises(ValueError, match=r"Triples\(2 symbols, .* are not of the symbols of HMM"):
        refine(rough, data, triples=count_triples([0, 1, 0, 1]))
    labels = Triples(np.zeros((1, 3), np.int32), np.ones(1), 16, tuple("abcdefghijklmnop"))
    with pytest.raises(ValueError, match="are not of the symbols"):
        refine(rough, data, triples=labels)


def test_windows_are_left_out_where_they_save_nothing(
    easy: tuple[HMM, Sequences, HMM], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, data, rough = easy
    monkeypatch.setattr(module, "MAX_DISTINCT", 0.0)
    fit = refine(rough, data, smoothing=0.0, random_state=0)
    assert fit.window_passes == 0
    sound(fit, data, rough)
    at_the_top(fit, data)


# -- kinds of data --------------------------------------------------------------------------


def test_sequences_of_many_lengths_with_gaps() -> None:
    truth = random_hmm(12, 3, stay=0.5, random_state=1)
    rng = np.random.default_rng(0)
    sequences = [
        [None if rng.random() < 0.2 else s for s in truth.sample(length, random_state=i)[0]]
        for i, length in enumerate([1, 1, 2, 3, 5, 1000, 40, 3000, 1, 2000])
    ]
    data = Sequences.of([*sequences, [None], [None, None]], n_symbols=12)
    start = pair_estimate(data, 3)
    fit = refine(start, data, smoothing=0.0, random_state=0)
    sound(fit, data, start)
    assert fit.converged
    assert fit.model.distance(truth).emission < 0.1
    at_the_top(fit, data)
    assert refine(start, data, random_state=0).model == refine(start, data, random_state=0).model


@pytest.mark.parametrize("length", [1, 2])
def test_no_triple_at_all(length: int) -> None:
    truth = separable_hmm(6, 2, random_state=0)
    y = np.concatenate([truth.sample(length, random_state=seed)[0] for seed in range(400)])
    data = Sequences.of(y, [length] * 400, n_symbols=6)
    start = HMM([0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]], 0.7 * truth.emissionprob + 0.05)
    fit = refine(start, data, smoothing=0.0, random_state=0)
    sound(fit, data, start)
    assert fit.window_passes == 0
    assert fit.gained > 0
    # Without windows there is no curvature to go by: slow, and judged to be done too soon.
    at_the_top(fit, data, 0.3)


def left_to_right() -> tuple[HMM, HMM, Sequences]:
    """A chain that leaves states for good, and a rough start with its zeros."""
    truth = HMM(
        [1, 0, 0],
        [[0.8, 0.2, 0], [0, 0.8, 0.2], [0, 0, 1]],
        [[0.6, 0.3, 0.1, 0, 0], [0, 0.3, 0.4, 0.3, 0], [0, 0, 0.1, 0.3, 0.6]],
    )
    start = HMM(
        [1, 0, 0],
        [[0.6, 0.4, 0], [0, 0.6, 0.4], [0, 0, 1]],
        [[0.4, 0.4, 0.2, 0, 0], [0, 0.4, 0.3, 0.3, 0], [0, 0, 0.3, 0.3, 0.4]],
    )
    sequences = [truth.sample(30, random_state=seed)[0] for seed in range(200)]
    return truth, start, Sequences.of(sequences, n_symbols=5)


def test_a_chain_that_leaves_states_for_good() -> None:
    # Its stationary distribution knows the last state alone; the data knows all three.
    truth, start, data = left_to_right()
    fit = refine(start, data, smoothing=0.0, random_state=0)
    sound(fit, data, start)
    assert fit.converged
    found = fit.model.align_to(start)
    for name in ("startprob", "transmat", "emissionprob"):
        assert ((getattr(found, name) == 0) == (getattr(start, name) == 0)).all()
    assert max(fit.model.distance(truth)) < 0.03
    at_the_top(fit, data)
    # Smoothing takes nothing away from states that were seen often, if never at the end.
    soft = refine(start, data, random_state=0)
    assert soft.gained == pytest.approx(fit.gained, abs=1e-3)
    assert max(soft.model.distance(fit.model)) < 0.01
    assert soft.model.transmat.min() > 0


def test_starts_that_are_impossible_stay_so() -> None:
    _, start, data = left_to_right()
    fit = refine(start, data, random_state=0)
    assert sorted(fit.model.startprob) == [0, 0, 1]
    anywhere = HMM([0.4, 0.3, 0.3], start.transmat, start.emissionprob)
    fit = refine(anywhere, data, smoothing=0.0, random_state=0)
    sound(fit, data, anywhere)
    # Ten sequences that begin anywhere, beside two hundred that begin in the first.
    assert 0.9 < fit.model.startprob.max() < 0.99


def test_a_chain_in_parts() -> None:
    transmat = [[0.7, 0.3, 0, 0], [0.2, 0.8, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.9, 0.1]]
    emission = [
        [0.5, 0.5, 0, 0, 0],
        [0.1, 0.2, 0.7, 0, 0],
        [0, 0, 0.2, 0.5, 0.3],
        [0, 0, 0.1, 0.1, 0.8],
    ]
    starts = ([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5])
    truth = [HMM(first, transmat, emission) for first in starts]
    data = Sequences.of(
        [truth[seed % 2].sample(500, random_state=seed)[0] for seed in range(20)], n_symbols=5
    )
    possible = truth[0].emissionprob > 0
    flat = possible / possible.sum(axis=1, keepdims=True)
    start = HMM(
        np.full(4, 0.25), 0.5 * (truth[0].transmat + np.kron(np.eye(2), np.full((2, 2), 0.5))), flat
    )
    fit = refine(start, data, smoothing=0.0, random_state=0)
    sound(fit, data, start)
    found = fit.model.align_to(truth[0])
    assert ((found.transmat == 0) == (truth[0].transmat == 0)).all()
    assert ((found.emissionprob == 0) >= (truth[0].emissionprob == 0)).all()
    assert fit.model.distance(truth[0]).transition < 0.05
    sound(refine(start, data, random_state=0), data, start)


def test_a_state_that_dies() -> None:
    # It emits what is never seen, and is never entered.
    start = HMM(
        [0.5, 0.4, 0.1],
        [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.4, 0.4, 0.2]],
        [[0.6, 0.3, 0.1, 0], [0.1, 0.3, 0.6, 0], [0, 0, 0, 1]],
    )
    data = sampled(random_hmm(3, 2, zeros=0.0, stay=0.6, random_state=0), 3000)
    for sparsity in (0.0, 1.0):
        for smoothing in (0.0, 0.1):
            fit = refine(start, data, sparsity=sparsity, smoothing=smoothing, random_state=0)
            sound(fit, data, start)
            assert fit.gained > 0
            if not smoothing:
                assert fit.model.stationary().min() < 1e-4
                assert np.count_nonzero(fit.model.emissionprob[:, 3]) == 1
                assert np.count_nonzero(fit.model.emissionprob == 0) >= 5


def test_a_state_too_many() -> None:
    data = sampled(separable_hmm(8, 2, stay=0.5, random_state=0), 5000)
    start = random_model(4, 8, seed=0)
    fit = refine(start, data, random_state=0)
    sound(fit, data, start)
    assert fit.gained > 0


def test_one_state_is_the_frequencies() -> None:
    y = np.random.default_rng(0).integers(0, 4, 500)
    start = HMM([1], [[1]], [[0.4, 0.3, 0.2, 0.1]])
    fit = refine(start, y, smoothing=0.0, tol=1e-6, random_state=0)
    assert fit.converged
    np.testing.assert_allclose(fit.model.emissionprob[0], np.bincount(y) / 500, atol=1e-4)


def test_more_states_than_symbols() -> None:
    data = sampled(random_hmm(3, 2, zeros=0.2, stay=0.7, random_state=0), 3000)
    start = random_model(5, 3, seed=0)
    fit = refine(start, data, random_state=0)
    sound(fit, data, start)
    assert fit.window_passes > 0
    assert fit.gained > 0


def test_symbols_never_seen() -> None:
    data = Sequences.of(sampled(separable_hmm(6, 2, random_state=0), 3000), n_symbols=9)
    start = random_model(2, 9, seed=0)
    for smoothing in (0.0, 0.1):
        fit = refine(start, data, smoothing=smoothing, random_state=0)
        sound(fit, data, start)
        assert not fit.model.emissionprob[:, 6:].any()
        if smoothing:
            assert fit.model.emissionprob[:, :6].min() > 0


def test_symbols_never_seen_change_nothing(easy: tuple[HMM, Sequences, HMM]) -> None:
    # Nor do they cost: as many passes, and the same numbers but for the order of sums.
    _, data, rough = easy
    wide = Sequences.of(2 * data.symbols, n_symbols=40)
    emission = np.zeros((4, 40))
    emission[:, 0:32:2] = rough.emissionprob
    for sparsity in (0.0, 1.0):
        options = {"sparsity": sparsity, "random_state": 2}
        narrow = refine(rough, data, **options)
        fit = refine(HMM(rough.startprob, rough.transmat, emission), wide, **options)
        assert (fit.n_iter, fit.window_passes) == (narrow.n_iter, narrow.window_passes)
        np.testing.assert_allclose(
            fit.model.emissionprob[:, 0:32:2], narrow.model.emissionprob, atol=1e-6
        )
        np.testing.assert_allclose(fit.model.transmat, narrow.model.transmat, atol=1e-6)


def test_labels_stay() -> None:
    truth = separable_hmm(4, 2, stay=0.5, random_state=0)
    y, _ = replace(truth, vocabulary=("a", "b", "c", "d")).sample(2000, random_state=0)
    rough = min_volume(count_pairs(y), 2, random_state=0).model
    fit = refine(rough, y.tolist(), random_state=0)
    assert fit.model.vocabulary == ("a", "b", "c", "d")
    assert refine(rough, Sequences.of(y), random_state=0).model == fit.model


# -- options --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_sparsity_helps_where_emissions_have_zeros(seed: int) -> None:
    truth = random_hmm(60, 4, zeros=0.7, stay=0.2, random_state=seed)
    data = sampled(truth, 10_000)
    rough = pair_estimate(data, 4)
    plain, sparse = (refine(rough, data, sparsity=s, random_state=0) for s in (0.0, 1.0))
    assert sparse.model.distance(truth).emission < 0.95 * plain.model.distance(truth).emission
    sound(sparse, data, rough)
    # What is climbed is the log-likelihood less the penalty.
    hard = refine(rough, data, sparsity=1.0, smoothing=0.0, random_state=0)
    floor = zeros_preferred(1.0, truth, 10_000).floor
    prior = np.log1p(hard.model.emissionprob / floor).sum() / 10_000
    without = refine(rough, data, sparsity=0.0, smoothing=0.0, random_state=0)
    starts = without.objective - without.divergence
    assert hard.objective - hard.divergence == pytest.approx(prior + starts, abs=2e-3)


def test_smoothing_leaves_nothing_impossible(easy: tuple[HMM, Sequences, HMM]) -> None:
    _, data, rough = easy
    hard, soft, softer = (
        refine(rough, data, smoothing=s, random_state=0).model for s in (0.0, 0.1, 1.0)
    )
    assert soft.emissionprob.min() > 1e-7
    assert soft.transmat.min() > 1e-6
    assert max(soft.distance(hard)) < 1e-2
    assert hard.log_likelihood(data) > soft.log_likelihood(data) > softer.log_likelihood(data)


def test_converged_only_when_it_did(easy: tuple[HMM, Sequences, HMM]) -> None:
    _, data, _ = easy
    start = random_model(4, 16, seed=0)
    for most in (1, 2, 11, 13):
        short = refine(start, data, max_iter=most, random_state=0)
        assert not short.converged
        assert short.n_iter <= most
        sound(short, data, start)


def test_the_evidence_is_read_so_often_and_no_more() -> None:
    class Counted:
        """A likelihood that counts how often it is asked."""

        def __init__(self, data: Sequences):
            self.inner, self.asked = SequenceLikelihood(data), 0

        def expected(self, model: HMM) -> Any:
            self.asked += 1
            return self.inner.expected(model)

    data = sampled(random_hmm(16, 4, random_state=0), 2000)
    start, rng = random_model(4, 16, seed=0), np.random.default_rng(0)
    for most in (1, 2, 7, 20):
        likelihood, reports = Counted(data), []
        target = Target(
            likelihood, 2000, 1.0, 1 / 2000, Prior(), lambda: sample_windows(data, 84, rng)
        )
        found = ascend(
            target,
            start,
            passes=6,
            max_iter=most,
            tol=0.0,
            report=lambda *seen, to=reports: to.append(seen),
        )
        assert likelihood.asked == found.n_iter == most
        assert not found.converged
        best = min(reports, key=lambda seen: seen[1])
        assert best == reports[-1]
        # An EM step comes after the last pass: it needs none of its own.
        assert -found.model.log_likelihood(data) / 2000 < best[1] - 1e-9
    found = ascend(target, start, passes=6, max_iter=300, tol=1e-3)
    assert found.converged
    laws.close(found.visited, found.model.posterior(data).mean(axis=0), 1e-9)


def test_small_entries_that_would_gain_are_revived() -> None:
    # What should be .02 has come down to 1e-9; what is zero stays so.
    truth = HMM(
        [0.5, 0.5],
        [[0.7, 0.3], [0.3, 0.7]],
        [[0.6, 0.38, 0.02, 0, 0], [0.0, 0.3, 0.3, 0.2, 0.2]],
    )
    data = sampled(truth, 20_000)
    emission = truth.emissionprob.copy()
    emission[0] = [0.62, 0.38 - 2e-9, 1e-9, 1e-9, 0]
    model = HMM(truth.startprob, truth.transmat, emission)
    likelihood = SequenceLikelihood(data)
    before = likelihood.expected(model)
    after = revived(model, before.counts)
    assert after.emissionprob[0, 2] == pytest.approx(REVIVED, rel=1e-3)
    falling = before.counts.emissions < model.emissionprob * before.counts.emissions.sum(
        axis=1, keepdims=True
    )
    assert falling.any()
    assert (after.emissionprob[falling] <= model.emissionprob[falling]).all()
    assert after.emissionprob[0, 4] == after.emissionprob[1, 0] == 0
    assert likelihood.expected(after).log_likelihood > before.log_likelihood
    # A prior can make the counts of a state that is hardly seen negative.
    starts, transitions, emissions = before.counts
    less = revived(model, Counts(starts, transitions, emissions - 1.0 * (model.emissionprob > 0)))
    assert less.emissionprob[0, 4] == less.emissionprob[1, 0] == 0
    laws.rows_are_distributions(less.emissionprob)


def test_what_is_revived_does_not_cost_what_is_gained() -> None:
    # At the maximum, where some entries are a little too small, next to nothing is lost.
    truth = random_hmm(20, 4, random_state=1)
    data = sampled(truth, 20_000)
    fit = refine(truth, data, smoothing=0.0, tol=1e-5, max_iter=200, random_state=0)
    likelihood = SequenceLikelihood(data)
    best = likelihood.expected(fit.model)
    again = likelihood.expected(revived(fit.model, best.counts))
    assert best.log_likelihood - again.log_likelihood < 1e-7


# -- complaints -----------------------------------------------------------------------------


def test_impossible_data_is_named() -> None:
    model = HMM([1, 0], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5, 0], [0.5, 0.5, 0]])
    with pytest.raises(ImpossibleObservation, match="symbol 2 at sequence 1, position 1"):
        refine(model, [[0, 1, 1, 0], [0, 2, 1, 1]])
    with pytest.raises(ValueError, match=r"unseen symbol 3 \(sequence 0, position 1\)"):
        refine(model, [0, 3])


def test_a_round_spoilt_by_revival_is_not_the_end(
    easy: tuple[HMM, Sequences, HMM], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where all states are alike no step leads on, whatever the likelihood still offers."""
    _, data, rough = easy
    k, n = rough.emissionprob.shape
    full = refine(rough, data, smoothing=0.0, random_state=0)
    alike = HMM(np.full(k, 1 / k), np.full((k, k), 1 / k), np.full((k, n), 1 / n))
    monkeypatch.setattr("cohmm.learn.maximize.revived", lambda model, counts, learned: alike)
    rng = np.random.default_rng(0)
    target = Target(
        SequenceLikelihood(data), 20_000, 1.0, 1 / 20_000, Prior(),
        lambda: sample_windows(data, 84, rng),
    )  # fmt: skip
    found = ascend(target, rough, passes=10, max_iter=100, tol=1e-3)
    assert found.model.log_likelihood(data) > full.model.log_likelihood(data) - 1.0
