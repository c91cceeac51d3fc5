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

import numpy as np

from cohmm.kernels import chain, chain_steps, log_chain, smoothing
from cohmm.kernels.compiled import Floats, Ints, Part
from cohmm.kernels.simd import aligned_zeros
from cohmm.kernels.threads import run, split
from cohmm.kernels.tiles import GANG
from cohmm.model import joints, short_data
from cohmm.model.joints import Cut
from cohmm.model.passes import Counts as Counts
from cohmm.model.passes import Forward, Smoothed, empty_counts, sum_counts
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
    if short_data.is_short(tables, symbols) and not keep:
        totals, places, filtered, last = short_data.forward(tables, symbols, offsets)
    else:
        totals, places, filtered, last = _forward_scaled(tables, symbols, offsets, keep)
    for s in np.flatnonzero(places >= (-1 if _in_logarithms.get() else 0)):
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


def _forward_scaled(tables: Tables, symbols: Ints, offsets: Ints, keep: bool) -> Forward:
    """The scaled recursion, ``lost`` where a sequence has to be repeated in logarithms."""
    n = len(offsets) - 1
    cut = Cut.of(offsets, joints.LONG_BLOCK)
    given = _warm_forward(tables, symbols, cut)
    found = np.zeros_like(given)
    log_prob = np.empty(len(cut.blocks))
    lost = np.empty(len(cut.blocks), np.int64)
    filtered = np.empty((len(symbols), tables.n_states)) if keep else None
    last = np.empty((n, tables.n_states))
    faint = _faint(tables)

    def blocks(gangs: Ints, first: int, stop: int) -> None:
        _filter(
            tables, symbols, cut.blocks, gangs, (first, stop), given, found, log_prob, lost,
            filtered, last, faint,
        )  # fmt: skip

    run(blocks, [(cut.gangs, *part) for part in cut.parts])
    right_of = cut.right_of
    joints.settle(
        range(len(given)), given, found, lambda j: blocks(joints.alone(right_of[j]), 0, 1)
    )

    totals, places = cut.by_sequence(log_prob, lost, n)
    faded = np.unique(cut.blocks[lost == chain.FADED, 4])
    faded = faded[places[faded] < 0]
    if not keep and len(faded):  # kept, what is negligible in the end may matter on the way
        picked = _pick(symbols, offsets, faded)
        faded = faded[_smooth_scaled(tables, *picked, np.ones(len(faded))).lost >= 0]
    places[faded] = offsets[faded]
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


def _filter(
    tables: Tables,
    symbols: Ints,
    blocks: Ints,
    gangs: Ints,
    part: Part,
    given: Floats,
    found: Floats,
    log_prob: Floats,
    lost: Ints,
    filtered: Floats | None = None,
    last: Floats | None = None,
    faint: float = 0.0,
    warm: Ints = joints.NONE,
) -> None:
    nothing = np.empty((0, tables.n_states))
    chain.filter_gangs(
        symbols, blocks, gangs, part, 0, tables.start, tables.trans, tables.emit, given, found,
        log_prob, lost, nothing if filtered is None else filtered,
        nothing if last is None else last, faint, warm, joints.TOLERANCE,
        aligned_zeros((2, GANG, tables.width)),
    )  # fmt: skip


def _warm_forward(tables: Tables, symbols: Ints, cut: Cut) -> Floats:
    given = np.zeros((len(cut.joints), tables.width))

    def through(blocks: Ints, gangs: Ints, part: Part) -> None:
        ignored, places = np.empty(len(blocks)), np.empty(len(blocks), np.int64)
        _filter(
            tables, symbols, blocks, gangs, part, given, given, ignored, places, warm=cut.joints
        )

    joints.warm_up(cut, through)
    return given


def _follow(
    tables: Tables,
    symbols: Ints,
    blocks: Ints,
    gangs: Ints,
    part: Part,
    given: Floats,
    found: Floats,
    warm: Ints = joints.NONE,
) -> None:
    nothing, unused = np.empty((0, tables.n_states)), np.empty(0)
    chain.filter_gangs(
        symbols, blocks, gangs, part, 1, tables.start, tables.back, tables.emit, given, found,
        unused, np.empty(0, np.int64), nothing, nothing, 0.0, warm, joints.TOLERANCE,
        aligned_zeros((2, GANG, tables.width)),
    )  # fmt: skip


def _warm_backward(tables: Tables, symbols: Ints, cut: Cut) -> Floats:
    given = np.zeros((len(cut.joints), tables.width))

    def through(blocks: Ints, gangs: Ints, part: Part) -> None:
        _follow(tables, symbols, blocks, gangs, part, given, given, cut.joints)

    joints.warm_up(cut, through, backward=True)
    return given


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
    ``count`` comes alone.  A sequence is counted as often as ``weights``, (S,), says.
    """
    if count and (keep or best):
        raise ValueError("expected counts and posteriors are two passes")
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
    if short_data.is_short(tables, symbols):
        return short_data.smooth(tables, symbols, offsets, weights, keep, count, best)
    n = len(offsets) - 1
    cut = Cut.of(offsets, joints.short_block(tables.width))
    ahead = _warm_forward(tables, symbols, cut)
    behind = _warm_backward(tables, symbols, cut)
    ahead_found, behind_found = np.zeros_like(ahead), np.zeros_like(behind)
    log_prob = np.empty(len(cut.blocks))
    lost = np.empty(len(cut.blocks), np.int64)
    posterior = np.empty((len(symbols) if keep else 0, tables.n_states))
    states = np.zeros(len(symbols) if best else 0, np.int32)
    space = joints.Space(
        (cut.longest + 2, GANG, tables.width),
        (smoothing.STRETCH + 1, GANG, tables.width),
        (GANG, tables.width),
    )

    def blocks(group: int, first: int, stop: int) -> None:
        filtered, rows, gamma = arrays = space.take()
        starts, transitions, emissions = groups[group]
        smoothing.smooth_gangs(
            symbols, cut.blocks, cut.gangs, (first, stop), tables.start, tables.trans,
            tables.back, tables.emit, ahead, behind, ahead_found, behind_found, log_prob, lost,
            weights, starts, transitions, emissions, posterior, states, filtered, rows, gamma,
        )  # fmt: skip
        space.give(arrays)

    def forward_block(gangs: Ints, first: int, stop: int) -> None:
        _filter(
            tables, symbols, cut.blocks, gangs, (first, stop), ahead, ahead_found, log_prob, lost
        )

    def backward_block(gangs: Ints, first: int, stop: int) -> None:
        _follow(tables, symbols, cut.blocks, gangs, (first, stop), behind, behind_found)

    right_of = cut.right_of
    parts = split(len(cut.gangs), _n_groups(tables) if count else joints.PARTS)
    for final in (False, True):
        groups = [empty_counts(tables, count) for _ in parts]
        run(blocks, [(group, *part) for group, part in enumerate(parts)])
        if final or not (_any_differ(ahead, ahead_found) or _any_differ(behind, behind_found)):
            break
        run(forward_block, [(cut.gangs, *part) for part in cut.parts])
        joints.settle(
            range(len(ahead)),
            ahead,
            ahead_found,
            lambda j: forward_block(joints.alone(right_of[j]), 0, 1),
        )
        run(backward_block, [(cut.gangs, *part) for part in cut.parts])
        joints.settle(
            range(len(behind) - 1, -1, -1),
            behind,
            behind_found,
            lambda j: backward_block(joints.alone(right_of[j] - 1), 0, 1),
        )
    totals, places = cut.by_sequence(log_prob, lost, n)
    counts = sum_counts(tables, groups) if count else None
    return Smoothed(totals, places, posterior if keep else None, counts, states if best else None)


def _any_differ(given: Floats, found: Floats) -> bool:
    return chain_steps.differ(given.ravel(), found.ravel(), joints.TOLERANCE)


def _n_groups(tables: Tables) -> int:
    return max(1, min(GROUPS, GROUP_BYTES // tables.emit.nbytes))


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
            counts = sum_counts(tables, [empty_counts(tables)])
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
