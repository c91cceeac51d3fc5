"""Long sequences are cut into blocks: tiny blocks must answer as one block does.

`Route` sees whether blocks were repeated in order, which chains that never forget need, and
chains that forget do not.
"""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM
from cohmm.kernels import blocks
from cohmm.kernels.recursions import probability_tables
from cohmm.model import decoding, inference
from tests import laws, oracles
from tests.laws import close
from tests.strategies import (
    distributions,
    models,
    random_model,
    sequences_of,
    with_gaps,
)

WHOLE = 10**9


class Route:
    """Counts the joints at which a block had to be repeated."""

    def __init__(self) -> None:
        self.repeated = 0
        self.settle = blocks.settle

    def __call__(self, joints, given_, found, again, *how) -> None:
        def counted(joint: int) -> None:
            self.repeated += 1
            again(joint)

        self.settle(joints, given_, found, counted, *how)


@contextmanager
def blocks_of(size: int, warm_up: int = 1) -> Iterator[Route]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LONG_BLOCK", size)
        patch.setattr(blocks, "SHORT_BLOCK", size)
        patch.setattr(blocks, "WARM_UP", warm_up)
        route = Route()
        patch.setattr(blocks, "settle", route)
        yield route


def answers(model: HMM, data) -> dict[str, np.ndarray]:
    total, counts = model.expected_counts(data)
    return {
        "log_likelihoods": model.log_likelihoods(data),
        "filter": model.filter(data),
        "posterior": model.posterior(data),
        "forecast": model.forecast(data, steps=2),
        "total": np.array(total),
        **counts._asdict(),
        "best": model.decode_each(data)[0],
    }


def assert_blocks_do_not_matter(model: HMM, data, size: int, warm_up: int = 1) -> None:
    with blocks_of(WHOLE):
        whole = answers(model, data)
    with blocks_of(size, warm_up):
        cut = answers(model, data)
        states = model.decode(data)[1]
    for name, expected in whole.items():
        close(cut[name], expected)
    flat = [symbol for sequence in data for symbol in sequence]
    codes = [-1 if symbol is None else int(symbol) for symbol in flat]
    pieces = np.split(np.arange(len(codes)), np.cumsum([len(sequence) for sequence in data])[:-1])
    for found, piece in zip(cut["best"], pieces, strict=True):
        path = states[piece]
        close(found, oracles.path_log_probability(model, [codes[t] for t in piece], path))


# -- small and many -------------------------------------------------------------------------


@st.composite
def possible_data(draw):
    model = draw(models())
    sequences = draw(sequences_of(model.n_symbols, longest=14))
    possible = [y for y in sequences if oracles.log_likelihood(model, y) > -np.inf]
    return model, with_gaps(possible or [[-1] * 9])


@given(possible_data(), st.integers(1, 5), st.integers(1, 3))
def test_blocks_do_not_matter(drawn, size, warm_up):
    model, data = drawn
    assert_blocks_do_not_matter(model, data, size, warm_up)
    with blocks_of(size, warm_up):
        laws.forward_is_forward_backward(model, data)
        laws.last_posterior_is_filter(model, data)
        laws.expected_counts_add_up(model, data)


@given(models(), st.data())
def test_impossible_places_are_found_in_blocks(model, data):
    sequences = data.draw(sequences_of(model.n_symbols, longest=14))
    with blocks_of(3):
        found = model.log_likelihoods(with_gaps(sequences))
    for log_prob, y in zip(found, sequences, strict=True):
        true = oracles.log_likelihood(model, y)
        if true == -np.inf:
            assert log_prob == -np.inf
            first = [oracles.log_likelihood(model, y[: t + 1]) for t in range(len(y))].index(true)
            for ask in (model.filter, model.posterior, model.decode, model.forecast):
                with blocks_of(3), pytest.raises(ValueError, match=f"position {first} has prob"):
                    ask(with_gaps([y]))
        else:
            close(log_prob, true)


# -- scores in little memory -----------------------------------------------------------------


def decode_in_stretches(model: HMM, y, n_bytes: int) -> tuple[float, np.ndarray]:
    with pytest.MonkeyPatch.context() as patch, blocks_of(3):
        patch.setattr(decoding, "SCORES", n_bytes)
        return model.decode(y)


@given(models(), st.data(), st.sampled_from([1, 64, 100]))
def test_a_path_in_stretches_is_a_best_path(model, data, n_bytes):
    (y,) = data.draw(sequences_of(model.n_symbols, most=1, longest=7))
    best = oracles.best_probability(model, y)
    if best == 0:
        with pytest.raises(ValueError, match="has probability zero"):
            decode_in_stretches(model, with_gaps([y]), n_bytes)
        return
    log_prob, states = decode_in_stretches(model, with_gaps([y]), n_bytes)
    close(np.exp(log_prob), best)
    close(oracles.path_probability(model, y, states.tolist()), best)


@pytest.mark.parametrize("n_states", [2, 9, 300])
def test_stretches_do_not_matter(n_states):
    model = random_model(n_states, 5, seed=2)
    y, _ = model.sample(1000, random_state=0)
    expected = model.decode(y)[0]
    for n_bytes in (1, 5000, 10**6):
        log_prob, states = decode_in_stretches(model, y, n_bytes)
        close(log_prob, expected)
        close(oracles.path_log_probability(model, y, states), expected)


# -- the most probable state at each place ---------------------------------------------------


@given(models(), st.data())
def test_the_best_states_are_those_of_the_posteriors(model, data):
    sequences = data.draw(sequences_of(model.n_symbols, longest=14))
    y = with_gaps([s for s in sequences if oracles.log_likelihood(model, s) > -np.inf])
    if not y:
        return
    with blocks_of(3):
        np.testing.assert_array_equal(
            model.decode(y, algorithm="map")[1], model.posterior(y).argmax(axis=1)
        )


def test_best_states_take_no_memory_for_posteriors():
    model = random_model(64, 4, seed=3)
    y, _ = model.sample(200_000, random_state=0)
    tracemalloc.start()
    states = model.decode(y, algorithm="map")[1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(states, model.posterior(y).argmax(axis=1))
    assert peak < 8 * len(y) * 64 / 4  # of the posteriors of all symbols


# -- weights ---------------------------------------------------------------------------------


@pytest.mark.parametrize("in_logs", [False, True])
@given(models(), st.data())
def test_a_sequence_in_many_blocks_has_one_weight(in_logs, model, data):
    sequences = data.draw(sequences_of(model.n_symbols, longest=14))
    possible = [s for s in sequences if oracles.log_likelihood(model, s) > -np.inf]
    if not possible:
        return
    some = st.sampled_from([0.0, 0.5, 1.0, 3.0])
    weights = np.array([data.draw(some) for _ in possible])
    read = model.encode(with_gaps(possible))
    tables = probability_tables(model.startprob, model.transmat, model.emissionprob)
    with blocks_of(3), inference.in_logarithms(in_logs):
        found = inference.smooth(tables, read.symbols, read.offsets, count=True, weights=weights)
    each = [oracles.log_expected_counts(model, s) for s in possible]
    for place, count in enumerate(found.counts):
        close(count, sum(w * one[place] for w, one in zip(weights, each, strict=True)), 1e-9)


# -- the two routes -------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["log_likelihoods", "expected_counts", "decode"])
def test_a_chain_that_forgets_repeats_nothing(asked):
    model = random_model(4, 20, seed=1)
    y, _ = model.sample(20_000, random_state=0)
    with blocks_of(1000, warm_up=64) as route:
        getattr(model, asked)(y)
    assert route.repeated == 0


def test_the_usual_sizes_repeat_nothing_where_the_chain_forgets():
    model = random_model(4, 20, seed=1)
    y, _ = model.sample(100_000, random_state=0)
    with blocks_of(blocks.LONG_BLOCK, blocks.WARM_UP) as route:
        model.log_likelihood(y)
        model.decode(y)
    assert route.repeated == 0


def cycle(k: int) -> np.ndarray:
    return np.roll(np.eye(k), 1, axis=1)


NEVER_FORGET = {
    "identity": np.eye(4),
    "nearly identity": np.eye(4) * (1 - 1e-9) + 1e-9 / 4,
    "cycle": cycle(4),
    "two cycles": np.kron(np.eye(2), cycle(2)),
    "two components": np.kron(np.eye(2), [[0.7, 0.3], [0.4, 0.6]]),
}
ALIKE = [[0.3, 0.3, 0.4], [0.3, 0.31, 0.39], [0.31, 0.3, 0.39], [0.3, 0.3, 0.4]]


@pytest.mark.parametrize("name", NEVER_FORGET)
def test_a_chain_that_never_forgets_takes_the_sequential_route(name):
    model = HMM([0.7, 0.1, 0.15, 0.05], NEVER_FORGET[name], ALIKE)
    rng = np.random.default_rng(0)
    data = [rng.integers(0, 3, 400).tolist(), [0, None, 2] * 50]
    for asked in ("log_likelihoods", "expected_counts", "decode"):
        with blocks_of(20, warm_up=4) as route:
            getattr(model, asked)(data)
        assert route.repeated > 10, asked
    assert_blocks_do_not_matter(model, data, 20, warm_up=4)
    with blocks_of(20, warm_up=4):
        for sequence in data:
            codes = [-1 if symbol is None else symbol for symbol in sequence]
            close(model.log_likelihood(sequence), oracles.log_likelihood(model, codes))
            close(model.posterior(sequence), oracles.log_posterior(model, codes))


def test_a_chain_that_is_left_for_good():
    """States that only the begin knows, and an absorbing one."""
    model = HMM(
        [1, 0, 0],
        [[0.98, 0.02, 0], [0, 0.99, 0.01], [0, 0, 1]],
        [[0.5, 0.4, 0.1], [0.3, 0.4, 0.3], [0.1, 0.5, 0.4]],
    )
    y = np.random.default_rng(0).integers(0, 3, 600).tolist()
    assert_blocks_do_not_matter(model, [y, y[:50]], 7, warm_up=2)


# -- a state that is faint at a joint, and is not later -------------------------------------


def mixture(y: np.ndarray, rows: list[list[float]], start: list[float]) -> float:
    """log P(y) where the state never changes: a sum over the states."""
    each = [np.log(p) + np.log(np.array(row)[y]).sum() for p, row in zip(start, rows, strict=True)]
    return float(np.logaddexp.reduce(each))


@pytest.mark.parametrize(("ahead", "faint"), [(20, 30), (40, 60), (50, 100), (200, 150)])
def test_what_is_faint_at_a_joint_may_matter_later(ahead, faint):
    """At the joint one state has a probability far below 1e-12, but the exact one matters.

    Warm-ups see the ``faint`` symbols before the joint; ``ahead`` symbols at the begin are out
    of their sight.  What follows the joint turns the tables.
    """
    rows, size = [[0.6, 0.4], [0.4, 0.6]], 1024
    model = HMM([0.5, 0.5], np.eye(2), rows)
    middle = np.tile([0, 1], (size - ahead - faint) // 2)
    y = np.concatenate([np.zeros(ahead, int), middle, np.zeros(faint, int), np.ones(600, int)])
    true = mixture(y, rows, [0.5, 0.5])
    with blocks_of(size, warm_up=64) as route:
        close(model.log_likelihood(y), true)
        close(model.expected_counts(y)[0], true)
        close(model.posterior(y), oracles.log_posterior(model, y))
    assert route.repeated > 0


def test_what_is_unlikely_behind_a_joint_may_matter_before_it():
    """The same, for the backward vectors."""
    rows, size = [[0.6, 0.4], [0.4, 0.6]], 1024
    model = HMM([0.5, 0.5], np.eye(2), rows)
    middle = np.tile([0, 1], 400)
    y = np.concatenate([np.ones(size, int), np.zeros(100, int), middle, np.zeros(50, int)])
    with blocks_of(size, warm_up=64):
        close(model.posterior(y), oracles.log_posterior(model, y))
        starts, transitions, emissions = oracles.log_expected_counts(model, y)
        _, counts = model.expected_counts(y)
        close(counts.starts, starts)
        close(counts.transitions, transitions)
        close(counts.emissions, emissions)


@given(
    st.lists(distributions(2).filter(all), min_size=2, max_size=2),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 60)), min_size=2, max_size=6),
)
def test_runs_of_symbols_under_a_mixture(rows, runs):
    y = np.concatenate([np.full(length, symbol) for symbol, length in runs])
    model = HMM([0.5, 0.5], np.eye(2), rows)
    with blocks_of(16, warm_up=4):
        close(model.log_likelihood(y), mixture(y, rows, [0.5, 0.5]))
        close(model.expected_counts(y)[0], mixture(y, rows, [0.5, 0.5]))
        close(model.filter(y), oracles.log_filtered(model, y))
        close(model.posterior(y), oracles.log_posterior(model, y))
