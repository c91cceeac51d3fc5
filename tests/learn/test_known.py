"""What is known of a model, and what is learned of the rest: against EM by enumeration."""

from __future__ import annotations

from itertools import pairwise as pairs_of
from typing import Any

import numpy as np
import pytest

from cohmm import HMM, Sequences, count_pairs
from cohmm.learn import pairwise
from cohmm.learn.known import Known
from cohmm.learn.sequences.em_step import PseudoCounts
from cohmm.model.hmm import ImpossibleObservation
from tests import laws
from tests.learn.sequences.test_labels import agreeing

LEFT_RIGHT = HMM(
    [1, 0, 0],
    [[0.8, 0.2, 0], [0, 0.7, 0.3], [0, 0, 1]],
    [[0.6, 0.3, 0.05, 0.05], [0.1, 0.1, 0.6, 0.2], [0.05, 0.05, 0.1, 0.8]],
)
SETTINGS: dict[str, Any] = {"smoothing": 0.0, "tol": 1e-7, "max_iter": 400, "random_state": 0}


def drawn(model: HMM, n: int, length: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    draws = [model.sample(length, random_state=seed) for seed in range(n)]
    return [symbols for symbols, _ in draws], [states for _, states in draws]


def em_step(
    model: HMM,
    sequences: list[Any],
    *,
    weights: Any = None,
    known: Any = None,
    learned: str = "ste",
    pseudo: PseudoCounts = PseudoCounts(),  # noqa: B008
) -> tuple[float, HMM]:
    """The objective, and one EM step, by enumeration of all paths."""
    weights = np.ones(len(sequences)) if weights is None else weights
    known = [[-1] * len(y) for y in sequences] if known is None else known
    tables = [model.startprob, model.transmat, model.emissionprob]
    totals = [np.zeros_like(table) for table in tables]
    objective = pseudo.log_density(model)
    for w, y, states in zip(weights, sequences, known, strict=True):
        probability, counts = agreeing(model, list(y), list(states))
        objective += w * np.log(probability)
        for total, count in zip(totals, counts, strict=True):
            total += w * count / probability
    new = []
    for letter, table, total, extra in zip("ste", tables, totals, pseudo, strict=True):
        count = total + extra * (table > 0)
        rows = count.sum(axis=-1, keepdims=True)
        moved = np.where(rows > 0, count / np.where(rows > 0, rows, 1), table)
        new.append(moved if letter in learned else table)
    return objective, HMM(*new)


def is_where_em_ends(fit: HMM, start: HMM, sequences: list[Any], **options: Any) -> None:
    """EM gains from the start on, and nothing from the fit on; what is held, or zero, stayed."""
    before, _ = em_step(start, sequences, **options)
    reached, after = em_step(fit, sequences, **options)
    gained, _ = em_step(after, sequences, **options)
    learned = options.get("learned", "ste")
    assert reached > before + 0.1 if learned else reached == before
    assert -1e-9 < gained - reached < 1e-3
    for letter, name in zip("ste", ("startprob", "transmat", "emissionprob"), strict=True):
        table, old = getattr(fit, name), getattr(start, name)
        laws.rows_are_distributions(table)
        assert (table[old == 0] == 0).all()
        assert letter in learned or table.tolist() == old.tolist()


SEQUENCES, STATES = drawn(LEFT_RIGHT, 8, 6)
SMALL = Sequences.of(SEQUENCES, n_symbols=4)


def learn(known: Known, data: Any = SMALL, **options: Any) -> Any:
    return pairwise(data, 3, known=known, **{**SETTINGS, **options})


def of(model: HMM, **more: Any) -> Known:
    return Known(model.startprob, model.transmat, model.emissionprob, **more)


START = HMM(
    [0.6, 0.3, 0.1], [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], LEFT_RIGHT.emissionprob
)


def test_left_right_ends_where_em_does() -> None:
    start = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]], LEFT_RIGHT.emissionprob)
    is_where_em_ends(learn(of(start)).model, start, SEQUENCES)


def test_a_topology_is_enough_to_start_from() -> None:
    sequences, _ = drawn(LEFT_RIGHT, 400, 12)
    data = Sequences.of(sequences)
    known = Known([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])  # type: ignore[arg-type]
    for smoothing in (0.0, 0.1):  # what is smoothed keeps its zeros
        model = learn(known, data, smoothing=smoothing, tol=1e-3).model
        assert (model.transmat[LEFT_RIGHT.transmat == 0] == 0).all()
        assert (model.startprob == [1, 0, 0]).all()
        assert model.log_likelihood(data) > LEFT_RIGHT.log_likelihood(data)
        assert np.abs(model.emissionprob - LEFT_RIGHT.emissionprob).max() < 0.08  # in order


@pytest.mark.parametrize("learned", ["t", "st", "se", "te", "e", ""])
def test_what_is_held_stays_and_the_rest_ends_where_em_does(learned: str) -> None:
    is_where_em_ends(learn(of(START, learned=learned)).model, START, SEQUENCES, learned=learned)


def test_labels_for_some_and_weights_end_where_em_does() -> None:
    known = [np.where(np.arange(6) == s % 6, states, -1) for s, states in enumerate(STATES)]
    weights = np.array([1, 2, 0.5, 1, 3, 1, 0.25, 1])
    fit = learn(of(START, states=known), weights=weights)
    is_where_em_ends(fit.model, START, SEQUENCES, weights=weights, known=known)
    reached, _ = em_step(fit.model, SEQUENCES, weights=weights, known=known)
    assert -fit.refined.length * fit.refined.divergence == pytest.approx(reached, abs=1e-3)


def test_a_prior_ends_where_em_does() -> None:
    pseudo = PseudoCounts(0.5, np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 1]]), 0.3)
    fit = learn(of(START, prior=pseudo)).model
    is_where_em_ends(fit, START, SEQUENCES, pseudo=pseudo)


def test_a_prior_below_one_takes_away() -> None:
    pseudo = PseudoCounts(-0.9, -0.9, -0.5)
    start = HMM([0.4, 0.3, 0.3], np.full((3, 3), 1 / 3), LEFT_RIGHT.emissionprob)
    sparse = learn(Known(start.startprob, start.transmat, start.emissionprob, prior=pseudo)).model
    assert (sparse.transmat == 0).sum() > 0
    laws.rows_are_distributions(sparse.transmat)


def test_all_labels_are_counting() -> None:
    fit = learn(Known(states=STATES))
    counts = np.zeros((3, 3))
    emitted = np.zeros((3, 4))
    for y, states in zip(SEQUENCES, STATES, strict=True):
        for before, after in pairs_of(states):
            counts[before, after] += 1
        for symbol, state in zip(y, states, strict=True):
            emitted[state, symbol] += 1
    laws.close(fit.model.transmat, counts / counts.sum(axis=1, keepdims=True))
    laws.close(fit.model.emissionprob, emitted / emitted.sum(axis=1, keepdims=True))
    assert fit.model.startprob.tolist() == [1, 0, 0]
    assert fit.converged
    assert fit.pairs is fit.refined is None


def test_a_tenth_of_the_labels_names_the_states() -> None:
    sequences, states = drawn(LEFT_RIGHT, 100, 12)
    data, every = Sequences.of(sequences), np.concatenate(states)
    some = np.where(np.random.default_rng(0).random(len(every)) < 0.1, every, -1)
    model = learn(Known(states=some), data, smoothing=None, tol=1e-3).model
    assert np.mean(model.decode(data)[1] == every) > 0.85
    assert np.abs(model.transmat - LEFT_RIGHT.transmat).max() < 0.1


def test_states_without_a_label_are_learned_beside_those_that_have_some() -> None:
    sequences, states = drawn(LEFT_RIGHT, 200, 12)
    data, every = Sequences.of(sequences), np.concatenate(states)
    only_last = np.where(every == 2, every, -1)  # nothing is said of states 0 and 1
    model = learn(Known(states=only_last), data, smoothing=None, tol=1e-3).model
    assert np.abs(model.emissionprob[2] - LEFT_RIGHT.emissionprob[2]).max() < 0.12
    others = {model.emissionprob[k].argmax() for k in (0, 1)}
    assert others == {0, 2}  # what LEFT_RIGHT's first two states emit most


def test_emissions_held_from_pairs_alone() -> None:
    truth = HMM(
        [0.5, 0.3, 0.2],
        [[0.9, 0.1, 0], [0.1, 0.5, 0.4], [0.3, 0.6, 0.1]],
        LEFT_RIGHT.emissionprob,
    )
    counts = count_pairs(truth.sample(200_000, random_state=0)[0])
    known = Known(emissionprob=truth.emissionprob, learned="st")
    fit = learn(known, counts, max_iter=5000, tol=1e-3)
    assert np.abs(fit.model.transmat - truth.transmat).max() < 0.05
    assert fit.model.emissionprob.tolist() == truth.emissionprob.tolist()
    assert fit.history[-1].objective < 1e-3
    held = learn(Known(transmat=truth.transmat, learned="se"), counts, max_iter=5000, tol=1e-3)
    assert held.model.transmat.tolist() == truth.transmat.tolist()
    assert np.abs(held.model.emissionprob - truth.emissionprob).max() < 0.15


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"transmat": np.eye(2)}, r"transmat has the shape \(2, 2\): 3 states"),
        ({"startprob": [0.5, 0.5]}, r"startprob has the shape \(2,\)"),
        ({"emissionprob": np.full((3, 2), 0.5)}, r"emissionprob has the shape \(3, 2\)"),
        ({"transmat": [[0, 0, 0], [0, 1, 0], [0, 0, 1]]}, "row 0 of transmat sums to 0"),
        ({"learned": "x"}, "'x'"),
        (
            {"startprob": [1, 0, 0], "prior": PseudoCounts(np.ones(2))},
            r"prior of startprob .*\(2,\)",
        ),
        ({"prior": PseudoCounts(0.0, np.ones((2, 2)))}, r"prior of transmat .*\(2, 2\)"),
        ({"emissionprob": [[1, 0, 0, 0]] * 3, "learned": "st"}, "symbol 1 occurs"),
    ],
)
def test_what_cannot_be_known(known: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learn(Known(**known))


def test_contradictions_are_named() -> None:
    states = [np.zeros(6, int) for _ in SEQUENCES]
    states[2] = np.array([0, 1, 0, 0, 0, 0])
    table = [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]]
    for label in (states, [np.where(np.arange(6) < 5, s, -1) for s in states]):
        with pytest.raises(
            ImpossibleObservation, match="sequence 2, position 2 in the state given"
        ):
            learn(Known(transmat=table, states=label))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the data, not its counts"):
        learn(Known(states=STATES), count_pairs(SMALL))
    with pytest.raises(ValueError, match="zero"):
        learn(Known(states=STATES[:1] + STATES[1:]), weights=np.zeros(8))
