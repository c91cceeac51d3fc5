"""Drawing from a model: one sequence, or whole ones that end by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cohmm._validation import check_whole, shown
from cohmm.kernels import native
from cohmm.kernels.types import Floats, Ints

if TYPE_CHECKING:
    from cohmm.model.hmm import HMM

CHUNK = 2**20
MOST_SYMBOLS = 10**7  # expected, of a sequence that is drawn to its end
MOST_EMPTY = 0.999  # sequences without a symbol, which are drawn again


def generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a Generator or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


class AliasTables(NamedTuple):
    """Walker's alias tables of the rows of an HMM: one uniform number per draw."""

    trans_cut: Floats
    trans_alias: Ints
    emit_cut: Floats
    emit_alias: Ints


def alias_tables(probabilities: Floats) -> tuple[Floats, Ints]:
    """Walker's alias tables of every row: (cut, alias), both of the shape of ``probabilities``."""
    shape = probabilities.shape
    cut, alias = np.empty(shape), np.empty(shape, np.int32)
    native.alias_tables(np.ascontiguousarray(probabilities), cut, alias)
    return cut, alias


def sample(
    startprob: Floats, transmat: Floats, emissionprob: Floats, n: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """``n`` symbols of one sequence, and their states."""
    symbols = np.empty(n, np.int32)
    states = np.empty(n, np.int32)
    tables = AliasTables(*alias_tables(transmat), *alias_tables(emissionprob))
    state = int(rng.choice(len(startprob), p=startprob / startprob.sum()))
    for first in range(0, n, CHUNK):
        piece = slice(first, first + CHUNK)
        uniforms = rng.random((len(symbols[piece]), 2))
        state = native.sample_path(state, uniforms, tables, symbols[piece], states[piece])
    return symbols, states


def sample_to_end(
    model: HMM, end: int, n: int, rng: np.random.Generator, currstate: int | None = None
) -> tuple[Ints, Ints, Ints]:
    """``n`` sequences up to the symbol ``end``, without it: symbols, states and lengths.

    Each has a symbol at least: what ends at once is drawn again.  All take their steps together.
    """
    check_whole(n_sequences=n)
    first = start_at(model, currstate)
    _check_ends(first, model.transmat, model.emissionprob[:, end])
    starts, transitions, emissions = map(
        alias_tables, (first[None], model.transmat, model.emissionprob)
    )
    states, symbols = np.empty(n, np.int32), np.empty(n, np.int32)
    again = np.arange(n)
    while len(again):
        states[again] = _draw(starts, np.zeros(len(again), np.int32), rng)
        symbols[again] = _draw(emissions, states[again], rng)
        again = again[symbols[again] == end]
    sequence = np.arange(n)
    steps = []
    while len(sequence):
        steps.append((sequence, symbols, states))
        states = _draw(transitions, states, rng)
        symbols = _draw(emissions, states, rng)
        goes_on = symbols != end
        sequence, symbols, states = sequence[goes_on], symbols[goes_on], states[goes_on]
    number, all_symbols, all_states = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    order = np.argsort(number, kind="stable")
    return all_symbols[order], all_states[order], np.bincount(number, minlength=n)


def _draw(tables: tuple[Floats, Ints], rows: Ints, rng: np.random.Generator) -> Ints:
    """One column of every row that is named, by its alias table."""
    cut, alias = tables
    scaled = rng.random(len(rows)) * cut.shape[1]
    columns = scaled.astype(np.int32)
    chosen = np.where(scaled - columns < cut[rows, columns], columns, alias[rows, columns])
    return np.asarray(chosen, np.int32)


def start_at(model: HMM, currstate: int | None) -> Floats:
    """The distribution of the first state, which may be known."""
    if currstate is None:
        return model.startprob
    if currstate not in range(model.n_components):
        raise ValueError(
            f"currstate must be a state, from 0 to {model.n_components - 1}, not {shown(currstate)}"
        )
    return np.asarray(np.eye(model.n_components)[currstate])


def _check_ends(first: Floats, transmat: Floats, ends: Floats) -> None:
    """Refuse a chain whose sequences end before their first symbol, or are as good as endless."""
    at_once = float(first @ ends)
    if at_once > MOST_EMPTY:
        raise ValueError(f"sequences of this model end at once, with probability {at_once:.9f}")
    going = transmat * (1 - ends)[:, None]
    reached, before = first > 0, -1
    while before < reached.sum():
        before = reached.sum()
        reached |= reached @ going > 0
    inside = np.flatnonzero(reached)
    try:
        step = np.eye(len(inside)) - going[np.ix_(inside, inside)]
        length = np.linalg.solve(step, (1 - ends)[inside])
    except np.linalg.LinAlgError:
        length = np.full(len(inside), np.inf)
    wrong = ~((length >= 0) & (length < MOST_SYMBOLS))
    if wrong.any():
        raise ValueError(
            f"sequences of this model hardly ever end: from state {inside[np.argmax(wrong)]} they "
            f"have more than {MOST_SYMBOLS:,} symbols to go"
        )
