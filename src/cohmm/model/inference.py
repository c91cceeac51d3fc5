"""Exact inference over many sequences, threaded inside long ones.

A long sequence is cut into blocks, whose joints are checked: see `cohmm.model.joints`.  Blocks
and groups depend on the data alone, never on the number of threads.

The scaled recursion can lose a state by underflow.  Forward-backward notices: what is
left of the likelihood is then nearly zero at some symbol.  A forward pass alone notices
only that a state has become faint, and asks forward-backward whether that mattered.  A
sequence in which it did is repeated in logarithms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from cohmm.kernels import chain, chain_steps, log_chain, warm_up
from cohmm.kernels.compiled import Floats, Ints
from cohmm.kernels.threads import run, split
from cohmm.model import joints
from cohmm.model.joints import Cut
from cohmm.model.tables import Tables, log_tables

GROUPS = 8  # independent sets of expected counts
GROUP_BYTES = 2**28
FAINT = 1e-200


_in_logarithms: ContextVar[bool] = ContextVar("in_logarithms", default=False)


@contextmanager
def in_logarithms(wanted: bool = True) -> Iterator[None]:
    """Repeat every sequence in logarithms, as if scaling had lost it: slow, to compare with."""
    before = _in_logarithms.set(wanted)
    try:
        yield
    finally:
        _in_logarithms.reset(before)


class Counts(NamedTuple):
    """Expected counts: starts (K,), transitions (K, K), emissions (K, N) without the missing."""

    starts: Floats
    transitions: Floats
    emissions: Floats


class Forward(NamedTuple):
    """What a forward pass gives; ``lost`` is the first impossible place of a sequence or -1."""

    log_prob: Floats
    lost: Ints
    filtered: Floats | None
    last: Floats


class Smoothed(NamedTuple):
    """What a forward-backward pass gives."""

    log_prob: Floats
    lost: Ints
    posterior: Floats | None
    counts: Counts | None
    best: Ints | None


def _pick(symbols: Ints, offsets: Ints, which: Ints) -> tuple[Ints, Ints]:
    """The symbols and offsets of some of the sequences."""
    picked = np.concatenate([symbols[offsets[s] : offsets[s + 1]] for s in which])
    cuts = np.concatenate([[0], np.cumsum(np.diff(offsets)[which])])
    for array in (picked, cuts):
        array.setflags(write=False)  # as Sequences have them: kernels are compiled by type
    return picked, cuts


def forward(
    tables: Tables, symbols: Ints, offsets: Ints, *, keep: bool = False, logs: Tables | None = None
) -> Forward:
    """Filter all sequences; memory does not grow with their length unless ``keep``."""
    n = len(offsets) - 1
    cut = Cut.of(offsets, joints.LONG_BLOCK)
    given, found = _warm_forward(tables, symbols, cut)
    log_prob = np.empty(len(cut.blocks))
    lost = np.empty(len(cut.blocks), np.int64)
    filtered = np.empty((len(symbols), tables.n_states)) if keep else None
    last = np.empty((n, tables.n_states))
    faint = _faint(tables)

    def blocks(first: int, stop: int) -> None:
        chain.forward_blocks(
            tables.lanes, symbols, cut.blocks, (first, stop), tables.start, tables.trans,
            tables.emit, given, found, log_prob, lost, filtered, last, faint,
        )  # fmt: skip

    run(blocks, cut.parts)
    right_of = cut.right_of
    joints.settle(range(len(given)), given, found, lambda j: blocks(right_of[j], right_of[j] + 1))

    totals, places = cut.by_sequence(log_prob, lost, n)
    hard = places >= (-1 if _in_logarithms.get() else 0)
    faded = np.unique(cut.blocks[lost == chain.FADED, 4])
    faded = faded[~hard[faded]]
    if keep:  # what is negligible in the end may have mattered on the way
        hard[faded] = True
    elif len(faded):
        picked = _pick(symbols, offsets, faded)
        hard[faded] = _smooth_scaled(tables, *picked, np.ones(len(faded))).lost >= 0
    for s in np.flatnonzero(hard):
        logs = logs or log_tables(tables)
        piece = symbols[offsets[s] : offsets[s + 1]]
        ahead, totals[s], place = _log_forward(logs, piece, keep)
        places[s] = place if place < 0 else place + offsets[s]
        if place >= 0:
            continue
        rows = _normalised(ahead)
        last[s] = rows[-1]
        if filtered is not None:
            filtered[offsets[s] : offsets[s + 1]] = rows
    return Forward(totals, places, filtered, last)


def _faint(tables: Tables) -> float:
    """Below which probability a state has to be watched; 0 where none can fade away.

    Where every state can be reached from every other, what underflows is made up for by
    the next symbol.
    """
    trans = tables.trans[:, : tables.n_states]
    if trans.min() > 1e-100:
        return 0.0
    # A transition so rare could take a state from above FAINT to zero unseen.
    return np.inf if ((trans > 0) & (trans <= 1e-100)).any() else FAINT


def _warm_forward(tables: Tables, symbols: Ints, cut: Cut) -> tuple[Floats, Floats]:
    given = np.zeros((len(cut.joints), tables.width))

    def warm(first: int, stop: int) -> None:
        warm_up.warm_forward(
            tables.lanes, symbols, cut.joints, (first, stop), tables.start, tables.trans,
            tables.emit, joints.WARM_UP, joints.TOLERANCE, given,
        )  # fmt: skip

    run(warm, cut.joint_parts)
    return given, np.zeros_like(given)


def smooth(
    tables: Tables,
    symbols: Ints,
    offsets: Ints,
    *,
    keep: bool = False,
    count: bool = False,
    best: bool = False,
    weights: Floats | None = None,
    logs: Tables | None = None,
) -> Smoothed:
    """Forward-backward over all sequences: posteriors (``keep``), expected counts (``count``).

    With ``best`` the most probable state of every symbol, which needs no posteriors in memory.
    A sequence is counted as often as ``weights``, (S,), says.
    """
    weights = np.ones(len(offsets) - 1) if weights is None else weights
    result = _smooth_scaled(tables, symbols, offsets, weights, keep, count, best)
    if _in_logarithms.get():
        result = result._replace(lost=np.maximum(result.lost, 0))
    if not (result.lost >= 0).any():
        return result
    logs = logs or log_tables(tables)
    return _smooth_with_logs(tables, logs, symbols, offsets, weights, result, count)


def _smooth_scaled(
    tables: Tables,
    symbols: Ints,
    offsets: Ints,
    weights: Floats,
    keep: bool = False,
    count: bool = False,
    best: bool = False,
) -> Smoothed:
    n = len(offsets) - 1
    cut = Cut.of(offsets, joints.SHORT_BLOCK)
    ahead, ahead_found = _warm_forward(tables, symbols, cut)
    behind = np.zeros_like(ahead)
    behind_found = np.zeros_like(ahead)
    log_prob = np.empty(len(cut.blocks))
    lost = np.empty(len(cut.blocks), np.int64)
    posterior = np.empty((len(symbols), tables.n_states)) if keep else None
    states = np.zeros(len(symbols), np.int32) if best else None
    last = np.empty((n, tables.n_states))

    def warm(first: int, stop: int) -> None:
        warm_up.warm_backward(
            tables.lanes, symbols, cut.joints, (first, stop), tables.back, tables.emit,
            joints.WARM_UP, joints.TOLERANCE, behind,
        )  # fmt: skip

    def blocks(group: int, first: int, stop: int) -> None:
        chain.smooth_blocks(
            tables.lanes, symbols, cut.blocks, (first, stop), tables.start, tables.trans,
            tables.back, tables.emit, ahead, behind, ahead_found, behind_found, log_prob, lost,
            weights, groups[group] if count else None, posterior, states,
        )  # fmt: skip

    def forward_block(first: int, stop: int) -> None:
        chain.forward_blocks(
            tables.lanes, symbols, cut.blocks, (first, stop), tables.start, tables.trans,
            tables.emit, ahead, ahead_found, log_prob, lost, None, last, 0.0,
        )  # fmt: skip

    def backward_block(first: int, stop: int) -> None:
        chain.backward_blocks(
            tables.lanes, symbols, cut.blocks, (first, stop), tables.back, tables.emit,
            behind, behind_found,
        )  # fmt: skip

    right_of = cut.right_of
    run(warm, cut.joint_parts)
    parts = split(len(cut.blocks), _n_groups(tables) if count else joints.PARTS)
    for final in (False, True):
        groups = [_empty_counts(tables) for _ in parts] if count else []
        run(blocks, [(group, *part) for group, part in enumerate(parts)])
        if final or not (_any_differ(ahead, ahead_found) or _any_differ(behind, behind_found)):
            break
        run(forward_block, cut.parts)
        joints.settle(
            range(len(ahead)),
            ahead,
            ahead_found,
            lambda j: forward_block(right_of[j], right_of[j] + 1),
        )
        run(backward_block, cut.parts)
        joints.settle(
            range(len(behind) - 1, -1, -1), behind, behind_found,
            lambda j: backward_block(right_of[j] - 1, right_of[j]),
        )  # fmt: skip
    totals, places = cut.by_sequence(log_prob, lost, n)
    counts = _sum_counts(tables, groups) if count else None
    return Smoothed(totals, places, posterior, counts, states)


def _any_differ(given: Floats, found: Floats) -> bool:
    return chain_steps.differ(given.ravel(), found.ravel(), joints.TOLERANCE)


def _n_groups(tables: Tables) -> int:
    return max(1, min(GROUPS, GROUP_BYTES // tables.emit.nbytes))


def _empty_counts(tables: Tables) -> tuple[Floats, Floats, Floats]:
    return np.zeros(tables.width), np.zeros_like(tables.trans), np.zeros_like(tables.emit)


def _sum_counts(tables: Tables, groups: list[tuple[Floats, Floats, Floats]]) -> Counts:
    starts, transitions, emissions = groups[0]
    for group in groups[1:]:
        starts += group[0]
        transitions += group[1]
        emissions += group[2]
    k = tables.n_states
    return Counts(
        starts[:k].copy(),
        (transitions * tables.trans)[:, :k],
        np.ascontiguousarray(emissions[:-1, :k].T),
    )


def _smooth_with_logs(
    tables: Tables,
    logs: Tables,
    symbols: Ints,
    offsets: Ints,
    weights: Floats,
    result: Smoothed,
    count: bool,
) -> Smoothed:
    """Repeat in logarithms what the scaled recursion lost, and count the rest by themselves."""
    log_prob, places, posterior, counts, states = result
    hard = places >= 0
    if count:
        if hard.all():
            counts = _sum_counts(tables, [_empty_counts(tables)])
        else:
            rest = _pick(symbols, offsets, np.flatnonzero(~hard))
            counts = _smooth_scaled(tables, *rest, weights[~hard], count=True).counts
    for s in np.flatnonzero(hard):
        piece = symbols[offsets[s] : offsets[s + 1]]
        ahead, log_prob[s], place = _log_forward(logs, piece, True)
        places[s] = place if place < 0 else place + offsets[s]
        if place >= 0:
            continue
        behind = np.empty_like(ahead)
        log_chain.log_backward(piece, logs.trans, logs.emit, behind)
        if posterior is not None:
            posterior[offsets[s] : offsets[s + 1]] = _normalised(ahead + behind)
        if states is not None:
            states[offsets[s] : offsets[s + 1]] = _normalised(ahead + behind).argmax(axis=1)
        if counts is not None:
            k = tables.n_states
            starts, transitions = np.zeros(k), np.zeros((k, k))
            emissions = np.zeros((len(tables.emit), k))
            log_chain.add_log_counts(
                piece, logs.trans, logs.emit, ahead, behind, starts, transitions, emissions
            )
            for total, one in zip(counts, (starts, transitions, emissions[:-1].T), strict=True):
                total += weights[s] * one
    return Smoothed(log_prob, places, posterior, counts, states)


def _log_forward(logs: Tables, symbols: Ints, keep: bool) -> tuple[Floats, float, int]:
    """log P(symbols up to t, state at t) of all t, or of the last, (1, K); log P; lost place."""
    ahead = np.empty((len(symbols) if keep else 1, logs.n_states))
    place = log_chain.first_impossible(symbols, logs.start, logs.trans, logs.emit)
    if place >= 0:
        return ahead, -np.inf, place
    return ahead, log_chain.log_forward(symbols, logs.start, logs.trans, logs.emit, ahead), -1


def _normalised(log_rows: Floats) -> Floats:
    rows: Floats = np.exp(log_rows - log_rows.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    return rows
