"""Exact inference over many sequences, threaded inside long ones.

A long sequence is cut into blocks, whose joints are checked: see `cohmm.kernels.blocks`.

The scaled recursion drops what underflows, so its likelihood is a lower bound.  Where a possible
state has become so faint that it may have lost digits, a second pass that raises every possible
state to a floor gives an upper bound (`cohmm.kernels.recursions.upper_bound`).  If the two are
equal, nothing that matters was dropped, neither for the likelihood nor for any posterior; if not,
the sequence is repeated in logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from cohmm.kernels import blocks, native, recursions
from cohmm.kernels.blocks import FADED, Cut
from cohmm.kernels.recursions import (
    Blocks,
    Borders,
    Filtered,
    Smoothed,
    Tables,
    aligned_zeros,
    log_tables,
)
from cohmm.kernels.types import Floats, Ints, Part

GROUPS = 8  # independent sets of expected counts
GROUP_BYTES = 2**28
NOTHING_DROPPED = 1e-10  # nats by which the bounds of a likelihood may differ ...
ROUNDING = 5e-14  # ... or this part of the log-likelihood, as sums of logarithms are rounded


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


class Posterior(NamedTuple):
    """What a forward-backward pass gives; ``lost`` as in `Forward`."""

    log_prob: Floats
    lost: Ints
    posterior: Floats | None
    counts: Counts | None
    best: Ints | None


_in_logarithms: ContextVar[bool] = ContextVar("in_logarithms", default=False)


@contextmanager
def in_logarithms(wanted: bool = True) -> Iterator[None]:
    """Repeat every sequence in logarithms, as if scaling had lost it: slow, to compare with."""
    before = _in_logarithms.set(wanted)
    try:
        yield
    finally:
        _in_logarithms.reset(before)


def forward(tables: Tables, symbols: Ints, offsets: Ints, *, keep: bool = False) -> Forward:
    """Filter all sequences; memory does not grow with their length unless ``keep``."""
    result = _forward_scaled(tables, symbols, offsets, keep)
    # Kept, what is negligible in the end may matter on the way.
    hard = _to_repeat(tables, symbols, offsets, result.log_prob, result.lost, faded_is_hard=keep)
    if not len(hard):
        return result
    logs = log_tables(tables)
    for s in hard:
        piece = symbols[offsets[s] : offsets[s + 1]]
        alpha, nats, place = _log_filter(logs, piece, keep)
        result.log_prob[s] = -nats.sum()
        result.lost[s] = place if place < 0 else place + offsets[s]
        if place >= 0:
            continue
        rows = _normalised(alpha)
        result.last[s] = rows[-1]
        if result.filtered is not None:
            result.filtered[offsets[s] : offsets[s + 1]] = rows
    return result


def surprise(tables: Tables, symbols: Ints, offsets: Ints) -> Floats:
    """-log P(symbol at t | symbols before it), (T,): 0 where missing, infinite where impossible.

    An impossible symbol is passed over, as if it were missing, so that one does not hide the next.
    """
    nats = np.empty(len(symbols))
    result = _forward_scaled(tables, symbols, offsets, nats=nats)
    hard = _to_repeat(tables, symbols, offsets, result.log_prob, result.lost, faded_is_hard=True)
    logs = log_tables(tables) if len(hard) else tables
    for s in hard:
        whole = slice(offsets[s], offsets[s + 1])
        nats[whole] = np.maximum(_log_filter(logs, symbols[whole], False)[1], 0.0)
    return nats


def _to_repeat(
    tables: Tables,
    symbols: Ints,
    offsets: Ints,
    log_prob: Floats,
    lost: Ints,
    faded_is_hard: bool = False,
) -> Ints:
    """The sequences that have to be repeated in logarithms; ``lost`` is -1 in all others."""
    if _in_logarithms.get():
        return np.arange(len(lost))
    if (lost == -1).all():
        return np.empty(0, np.int64)
    hard = lost >= 0
    faded = np.flatnonzero((lost == FADED) & ~hard)
    if len(faded):
        hard[faded] = (
            True if faded_is_hard else ~_is_exact(tables, symbols, offsets, faded, log_prob)
        )
    lost[~hard] = -1
    return np.flatnonzero(hard)


def _is_exact(
    tables: Tables, symbols: Ints, offsets: Ints, which: Ints, log_prob: Floats
) -> np.ndarray:
    """Whether the likelihoods of some sequences, lower bounds, are equal to upper ones."""
    upper, log_divisor = recursions.upper_bound(tables)
    picked, cuts = _pick(symbols, offsets, which)
    result = _forward_scaled(upper, picked, cuts)
    divided = np.add.reduceat(log_divisor[picked], cuts[:-1])
    difference = result.log_prob + divided - log_prob[which]
    exact = difference <= NOTHING_DROPPED + ROUNDING * np.abs(log_prob[which])
    return np.asarray(exact & (result.lost < 0))


def _pick(symbols: Ints, offsets: Ints, which: Ints) -> tuple[Ints, Ints]:
    """The symbols and offsets of some of the sequences."""
    picked = np.concatenate([symbols[offsets[s] : offsets[s + 1]] for s in which])
    return picked, np.concatenate([[0], np.cumsum(np.diff(offsets)[which])])


def _forward_scaled(
    tables: Tables, symbols: Ints, offsets: Ints, keep: bool = False, nats: Floats | None = None
) -> Forward:
    """The scaled recursion; ``lost`` where a sequence has to be repeated, or may have to."""
    n = len(offsets) - 1
    cut = Cut.of(symbols, offsets, blocks.LONG_BLOCK)
    borders = _warm_forward(tables, cut)
    filtered = np.empty((len(symbols), tables.n_states)) if keep else None
    log_prob, lost = np.empty(len(cut.blocks)), np.empty(len(cut.blocks), np.int64)
    last = np.empty((n, tables.n_states))
    out = Filtered(log_prob, lost, filtered, last, nats)

    def through(work: Blocks, part: Part) -> None:
        native.forward(work, part, tables, tables.scaling, borders, out)

    cut.run(lambda _, *part: through(cut.work, part), tables.width)
    _settle_forward(cut, borders, lambda work: through(work, (0, 1)))
    return Forward(*cut.by_sequence(log_prob, lost, n), filtered, last)


def _joint_vectors(tables: Tables, cut: Cut) -> tuple[Floats, Floats]:
    shape = len(cut.joints), tables.width
    return np.zeros(shape), np.zeros(shape)


def _warm_forward(tables: Tables, cut: Cut) -> Borders:
    before, after = _joint_vectors(tables, cut)
    warm = Borders(before, before, cut.joints)
    blocks.warm_up(
        cut,
        lambda work, part: native.forward(work, part, tables, tables.scaling, warm, Filtered()),
    )
    return Borders(before, after)


def _warm_backward(tables: Tables, cut: Cut) -> Borders:
    before, _ = _joint_vectors(tables, cut)
    warm = Borders(before, before, cut.joints)
    blocks.warm_up(
        cut,
        lambda work, part: native.backward(work, part, tables, tables.scaling, warm),
        backward=True,
    )
    return Borders(before, before.copy())  # blocks that do not count leave nothing


def _settle_forward(cut: Cut, borders: Borders, again: Callable[[Blocks], None]) -> None:
    right_of = cut.right_of
    blocks.settle(
        range(len(right_of)),
        borders.before,
        borders.after,
        lambda joint: again(cut.alone(right_of[joint])),
    )


def _settle_backward(cut: Cut, borders: Borders, again: Callable[[Blocks], None]) -> None:
    right_of = cut.right_of
    blocks.settle(
        range(len(right_of) - 1, -1, -1),
        borders.before,
        borders.after,
        lambda joint: again(cut.alone(right_of[joint] - 1)),
    )


def smooth(
    tables: Tables,
    symbols: Ints,
    offsets: Ints,
    *,
    keep: bool = False,
    count: bool = False,
    best: bool = False,
    weights: Floats | None = None,
) -> Posterior:
    """Forward-backward over all sequences: posteriors (``keep``), expected counts (``count``).

    With ``best`` the most probable state of every symbol, which needs no posteriors in memory.
    ``count`` comes alone.  A sequence is counted as often as ``weights``, (S,), says.
    """
    if count and (keep or best):
        raise ValueError("expected counts and posteriors are two passes")
    weights = np.ones(len(offsets) - 1) if weights is None else weights
    result = _smooth_scaled(tables, symbols, offsets, weights, keep, count, best)
    hard = _to_repeat(tables, symbols, offsets, result.log_prob, result.lost)
    if not len(hard):
        return result
    if count:
        hard, counts = _count_without(tables, symbols, offsets, weights, hard)
        result = result._replace(counts=counts)
    logs = log_tables(tables)
    for s in hard:
        _smooth_in_logarithms(logs, symbols, offsets, weights, result, s)
    return result


def _count_without(
    tables: Tables, symbols: Ints, offsets: Ints, weights: Floats, hard: Ints
) -> tuple[Ints, Counts]:
    """Expected counts of all sequences but hard ones.

    Beside other neighbours, others may turn out to be hard: returns all of them.
    """
    while len(hard) < len(weights):
        rest = np.setdiff1d(np.arange(len(weights)), hard)
        picked, cuts = _pick(symbols, offsets, rest)
        result = _smooth_scaled(tables, picked, cuts, weights[rest], count=True)
        more = _to_repeat(tables, picked, cuts, result.log_prob, result.lost)
        if not len(more):
            assert result.counts is not None
            return hard, result.counts
        hard = np.union1d(hard, rest[more])
    return hard, _sum_counts(tables, [_empty_counts(tables)])


def _smooth_scaled(
    tables: Tables,
    symbols: Ints,
    offsets: Ints,
    weights: Floats,
    keep: bool = False,
    count: bool = False,
    best: bool = False,
) -> Posterior:
    """The scaled recursions; ``lost`` where a sequence has to be repeated, or may have to."""
    n = len(offsets) - 1
    cut = Cut.of(symbols, offsets, blocks.short_block(tables.width))
    ahead, behind = _warm_forward(tables, cut), _warm_backward(tables, cut)
    log_prob, lost = np.empty(len(cut.blocks)), np.empty(len(cut.blocks), np.int64)
    filtered = Filtered(log_prob, lost)
    posterior = np.empty((len(symbols), tables.n_states)) if keep else None
    states = np.zeros(len(symbols), np.int32) if best else None

    n_sums = min(_n_groups(tables), len(cut.groups)) if count else 0

    def through(group: int, first: int, stop: int) -> None:
        out = Smoothed(*sums[group]) if count else Smoothed(posterior=posterior, best=states)
        work, part = cut.work, (first, stop)
        native.forward_backward(
            work, part, tables, tables.scaling, ahead, behind, weights, filtered, out
        )

    def forward_again(work: Blocks, part: Part) -> None:
        native.forward(work, part, tables, tables.scaling, ahead, filtered)

    def backward_again(work: Blocks, part: Part) -> None:
        native.backward(work, part, tables, tables.scaling, behind)

    for final in (False, True):
        sums = [_empty_counts(tables) for _ in range(n_sums)]
        cut.run(through, tables.width, n_sums if count else blocks.PARTS)
        settled = not (blocks.differ(*ahead[:2]) or blocks.differ(*behind[:2]))
        if final or settled:
            break
        cut.run(lambda _, *part: forward_again(cut.work, part), tables.width)
        _settle_forward(cut, ahead, lambda work: forward_again(work, (0, 1)))
        cut.run(lambda _, *part: backward_again(cut.work, part), tables.width)
        _settle_backward(cut, behind, lambda work: backward_again(work, (0, 1)))
    counts = _sum_counts(tables, sums) if count else None
    return Posterior(*cut.by_sequence(log_prob, lost, n), posterior, counts, states)


Sums = tuple[Floats, Floats, Floats]
"""Starts (W,), transitions (W, W) and emissions (N + 1, W), as kernels add them up."""


def _n_groups(tables: Tables) -> int:
    return max(1, min(GROUPS, GROUP_BYTES // tables.emit.nbytes))


def _empty_counts(tables: Tables) -> Sums:
    width = tables.width
    return np.zeros(width), aligned_zeros((width, width)), aligned_zeros(tables.emit.shape)


def _sum_counts(tables: Tables, groups: list[Sums]) -> Counts:
    """What kernels have added up, without padding and with the transition probabilities."""
    starts, transitions, emissions = groups[0]
    for group in groups[1:]:
        starts += group[0]
        transitions += group[1]
        emissions += group[2]
    k = tables.n_states
    return Counts(
        starts[:k].copy(),
        transitions[:k, :k] * tables.trans[:, :k],
        np.ascontiguousarray(emissions[:-1, :k].T),
    )


def _smooth_in_logarithms(
    logs: Tables, symbols: Ints, offsets: Ints, weights: Floats, result: Posterior, s: int
) -> None:
    """Write what is asked of sequence s into ``result``, or add it."""
    whole = slice(offsets[s], offsets[s + 1])
    piece = symbols[whole]
    alpha, nats, place = _log_filter(logs, piece, True)
    result.log_prob[s] = -nats.sum()
    result.lost[s] = place if place < 0 else place + offsets[s]
    if place >= 0:
        return
    beta = np.empty_like(alpha)
    native.log_backward(piece, logs, beta)
    if result.posterior is not None or result.best is not None:
        gamma = _normalised(alpha + beta)
        if result.posterior is not None:
            result.posterior[whole] = gamma
        if result.best is not None:
            result.best[whole] = gamma.argmax(axis=1)
    if result.counts is not None:
        k = logs.n_states
        starts, transitions = np.zeros(k), np.zeros((k, k))
        emissions = np.zeros((len(logs.emit), k))
        native.log_expected_counts(piece, logs, alpha, nats, beta, starts, transitions, emissions)
        for total, one in zip(result.counts, (starts, transitions, emissions[:-1].T), strict=True):
            total += weights[s] * one


def _log_filter(logs: Tables, symbols: Ints, keep: bool) -> tuple[Floats, Floats, int]:
    """log P(state at t | symbols up to t) of all t, or the last, (1, K); surprise; lost place."""
    alpha = np.empty((len(symbols) if keep else 1, logs.n_states))
    nats = np.empty(len(symbols))
    place = native.log_filter(symbols, logs, alpha, nats)
    return alpha, nats, place


def _normalised(log_rows: Floats) -> Floats:
    rows: Floats = np.exp(log_rows - log_rows.max(axis=1, keepdims=True))
    rows /= rows.sum(axis=1, keepdims=True)
    return rows
