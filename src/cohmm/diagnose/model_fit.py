"""Does a first-order chain of K states explain the data?  A test of level 5 %, and where it fails.

The model is tested on what its parameters cannot bend, to first order, so that it does not matter
that they were learned from the same data:

1. *states*: the law of pairs at a lag is M Theta M'.  Outside of the span of M, on both sides,
   there must be noise alone (`_outside`); if there is more, so there are more states;
2. *order*: seen from within that span, triples are a cube of side K that starts, A and M within
   the span explain.  What no change of these explains (`_across`) must be noise as well.

The data is cut into groups of neighbouring places.  Under the model residuals of groups are noise
of either sign: flipping signs at random gives all statistics a law of their own, dependence
of overlapping triples, many short sequences and rare symbols included.  The smallest of the
p-values of the statistics is compared with the smallest of each flip (Westfall and Young).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cohmm._validation import check_whole
from cohmm.data.sequences import Sequences
from cohmm.diagnose.separation import Whitened, lump
from cohmm.evidence.windows import MOST_SYMBOLS as MOST_TRIPLE_SYMBOLS
from cohmm.evidence.windows import triple_counts
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import symbol_shares
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

LEVEL = 0.05
FLIPS = 399
GROUPS, MIN_GROUPS = 100, 20
MIN_GROUP = 50  # places: a group must be long beside what the chain remembers
MAX_PLACES = 2_000_000  # of longer data so many are looked at, here and there
MAX_SYMBOLS = 100  # rarer ones are taken together, which leaves a hidden Markov model one
MAX_STATES = 24  # whose triples are tested: their cube has K^3 cells
LAGS = (1, 2)
BATCH = 2**17  # places
STEPS, WORTH = 30, 1e-3  # to the nearest chain, and the share of the distance that a step gains
MAX_DAMPING = 1e6
MAX_BENT = 12  # functions: the tangent of more is large, and their chains are well determined
DETERMINED = 1e-10  # of the largest eigenvalue: below, parameters do not move the law
MIN_EXPECTED = 5.0  # of a triple that is named
MAX_CELLS = 2_000_000  # triples that are looked at
MIN_DEVIATIONS = 3.0  # of a triple that is named


class Cell(NamedTuple):
    """Symbols in a row, and how often they were counted and expected."""

    symbols: tuple[Any, ...]
    counted: float
    expected: float

    @property
    def deviations(self) -> float:
        """How far apart the two are, in roots of what was expected."""
        return float((self.counted - self.expected) / self.expected**0.5)

    def __str__(self) -> str:
        row = " ".join(map(str, self.symbols))
        return f"{row!r} {self.counted:,.0f} times, not {self.expected:,.0f}"


@dataclass(frozen=True, eq=False)
class ModelFit:
    """Whether a model fits.

    Parameters
    ----------
    p_value : float
        How often data of the model itself would show as much; below .05 the model does not fit.
    p_values : dict
        Of every statistic by itself: "pairs at lag 1", "pairs at lag 2", "triples".
    n_groups, n_places : int
        Groups whose signs were flipped, and the symbols in them.
    cells : tuple of Cell
        Pairs and triples of symbols that differ most from what the model expects.
    one_sequence : bool
        Whether groups are blocks of a single sequence.
    untested : str
        What was not tested, and why; "" where all was.
    """

    p_value: float
    p_values: dict[str, float]
    n_groups: int
    n_places: int
    cells: tuple[Cell, ...]
    one_sequence: bool = False
    untested: str = ""

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against the model, at a level of 5 %."""
        return self.p_value >= LEVEL

    @property
    def blames(self) -> str:
        """What explains a bad fit best: "states", "order", or "" where the model fits."""
        if self.fits:
            return ""
        worst = min(self.p_values, key=lambda name: (self.p_values[name], name == "triples"))
        return "order" if worst == "triples" else "states"

    def __str__(self) -> str:
        how = f"p = {self.p_value:.2g}, {self.n_groups} groups of the data"
        if self.fits:
            return f"nothing speaks against the model ({how})"
        where = "; ".join(map(str, self.cells[:3]))
        order = self.blames == "order"
        what = "triples are not those of a first-order chain" if order else "pairs need more states"
        return f"the model does not fit ({how}): {what}" + (f"; {where}" if where else "")


@blas_threads(1)
def model_fit(
    model: HMM, data: Any, *, flips: int = FLIPS, random_state: Any = 0, n_cells: int = 5
) -> ModelFit:
    """Test whether ``model``, learned from ``data`` or not, explains it.

    Parameters
    ----------
    model : HMM
        With any number of states.
    data : Sequences, or what `Sequences.of` reads
        At least some thousand symbols.
    flips : int
        Of signs, at random: the smallest p-value is one of so many and one.
    random_state : int, optional
        Seed of the flips.
    n_cells : int
        How many pairs and triples of symbols to name.

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth = random_hmm(8, 3, stay=.5, random_state=0)
    >>> data = truth.sample(20_000, random_state=1)[0]
    >>> model_fit(truth, data).fits
    True
    >>> one = HMM([1.], [[1.]], np.bincount(data, minlength=8)[None] / len(data))
    >>> model_fit(one, data).blames
    'states'
    """
    check_whole(flips=flips, n_cells=n_cells)
    whole = model.encode(data)
    sequences = _some(whole)
    groups = _groups(sequences)
    n_groups = int(groups.max()) + 1
    place, lumped = lump(model, sequences.symbol_counts, MAX_SYMBOLS)
    codes = np.append(place, -1)[sequences.symbols]
    first = codes[_starts(codes, sequences.offsets, 2)]
    occupied = symbol_shares(lumped, np.bincount(first, minlength=lumped.n_symbols))
    chain = Whitened.of(lumped, occupied)
    seen = chain, codes, sequences.offsets, groups
    residuals = {f"pairs at lag {lag}": _outside(*seen, lag) for lag in LAGS}
    untested = f"triples of more than {MAX_STATES} states are not tested"
    if len(chain.inside) <= MAX_STATES:
        residuals["triples"], untested = _across(*seen), ""
    residuals = {name: values for name, values in residuals.items() if values.shape[1]}
    if not residuals:
        raise ValueError(
            f"{model.n_components} states can explain all pairs and triples of {model.n_symbols} "
            "symbols: there is nothing left to test; ask for fewer states"
        )
    rng = generator(random_state)
    signs = np.vstack([np.ones(n_groups), rng.choice([-1.0, 1.0], size=(flips, n_groups))])
    p_value, p_values = _p_values(residuals, signs)
    return ModelFit(
        p_value,
        p_values,
        n_groups,
        int((sequences.symbols >= 0).sum()),
        surprising_cells(model, sequences, chain.occupied, n_cells),
        one_sequence=len(whole) == 1,
        untested=untested,
    )


def _some(data: Sequences) -> Sequences:
    """Of long data, pieces of equal length here and there."""
    total = len(data.symbols)
    if total <= MAX_PLACES:
        return data
    first = np.linspace(0, total, GROUPS, endpoint=False).astype(np.int64)
    step = MAX_PLACES // GROUPS
    pieces = []
    for begin in first.tolist():
        inner = data.offsets[(data.offsets > begin) & (data.offsets < begin + step)]
        ends = np.append(inner, min(begin + step, total))
        pieces.append(data.spans(np.append(begin, inner), ends))
    return Sequences.joined(pieces)


def _groups(data: Sequences) -> Ints:
    """The group of every place, (T,)."""
    total = len(data.symbols)
    n = min(GROUPS, total // MIN_GROUP)
    if n < MIN_GROUPS:
        raise ValueError(
            f"{total:,} symbols are too few to test a model: at least "
            f"{MIN_GROUPS * MIN_GROUP:,} are needed"
        )
    return np.arange(total) * n // total


def _starts(codes: Ints, offsets: Ints, span: int) -> Ints:
    """Places from which so many steps stay in the sequence, and meet nothing missing."""
    left = np.repeat(offsets[1:], np.diff(offsets)) - np.arange(len(codes))
    good = left > span
    for step in range(span + 1):
        good[: len(codes) - step] &= codes[step:] >= 0
    return np.flatnonzero(good)


def _outside(chain: Whitened, codes: Ints, offsets: Ints, groups: Ints, lag: int) -> Floats:
    """Pairs at a lag, outside of the span of M on both sides: (groups, (N - d)^2)."""
    n, n_groups = chain.inside.shape[1], int(groups.max()) + 1
    places = _starts(codes, offsets, lag)
    table = np.zeros(n_groups * n * n)
    for first in range(0, len(places), BATCH):
        part = places[first : first + BATCH]
        keys = (groups[part] * n + codes[part]) * n + codes[part + lag]
        table += np.bincount(keys, minlength=len(table))
    residual = chain.outside @ table.reshape(n_groups, n, n) @ chain.outside.T
    return np.asarray(residual.reshape(n_groups, -1))


def _across(chain: Whitened, codes: Ints, offsets: Ints, groups: Ints) -> Floats:
    """Triples within the span of M, less what parameters can explain: (groups, cells)."""
    n_groups, d = int(groups.max()) + 1, len(chain.inside)
    places = _starts(codes, offsets, 2)
    functions = np.ascontiguousarray(chain.inside.T)
    cubes, sizes = np.zeros((n_groups, d**3)), np.zeros(n_groups)
    for group in range(n_groups):
        mine = places[slice(*np.searchsorted(groups[places], [group, group + 1]))]
        sizes[group] = len(mine)
        for first in range(0, len(mine), BATCH // d + 1):
            part = mine[first : first + BATCH // d + 1]
            a, b, c = (functions[codes[part + step]] for step in range(3))
            pairs = (a[:, :, None] * b[:, None, :]).reshape(len(part), d * d)
            cubes[group] += (pairs.T @ c).ravel()
    best = Chain(chain.seen, chain.transmat, chain.occupied)
    if d <= MAX_BENT:
        best = nearest_chain(best, cubes.sum(axis=0) / max(sizes.sum(), 1.0))
    tangent = orthonormal_tangent(*best)
    if tangent.shape[1] >= d**3:
        return np.empty((n_groups, 0))
    cubes -= np.outer(sizes, best.cube())
    return np.asarray(cubes - (cubes @ tangent) @ tangent.T)


def triple_cube(seen: Floats, transmat: Floats, occupied: Floats) -> Floats:
    """The law of triples seen through d functions of symbols, flat, (d^3,).

    With L (d, K) the means of the functions in the states, w the distribution of states and A the
    transitions, T_ijk = sum_xyz L_ix L_jy L_kz  w_x A_xy A_yz.
    """
    after = transmat @ seen.T  # (K, d): from the second state to the third's function
    before = (seen * occupied) @ transmat  # (d, K): from the first's function to the second state
    return np.asarray(np.einsum("iy,jy,yk->ijk", before, seen, after).ravel())


class Chain(NamedTuple):
    """What a cube of triples depends on."""

    seen: Floats
    """L, (d, K)."""
    transmat: Floats
    occupied: Floats

    def cube(self) -> Floats:
        """T, (d^3,)."""
        return triple_cube(*self)

    def moved(self, step: Floats) -> Chain:
        """Each parameter changed by as much: those of L, of A and of w."""
        bounds = np.cumsum([part.size for part in self])[:-1]
        parts = zip(self, np.split(step, bounds), strict=True)
        return Chain(*(part + change.reshape(part.shape) for part, change in parts))

    def tangent(self) -> Floats:
        """All derivatives of T, (d^3, d K + K K + K)."""
        seen, transmat, occupied = self
        d = len(seen)
        after = transmat @ seen.T
        before = (seen * occupied) @ transmat
        paths = occupied[:, None, None] * transmat[:, :, None] * transmat[None]  # (x, y, z)
        one = np.eye(d)
        by_first = np.einsum("ia,jy,kz,byz->ijkab", one, seen, seen, paths, optimize=True)
        by_second = np.einsum("ja,ib,bk->ijkab", one, before, after, optimize=True)
        by_third = np.einsum("ka,ix,jy,xyb->ijkab", one, seen, seen, paths, optimize=True)
        by_step = np.einsum("ix,x,jy,yk->ijkxy", seen, occupied, seen, after, optimize=True)
        by_next = np.einsum("ix,jx,ky->ijkxy", before, seen, seen, optimize=True)
        by_start = np.einsum("ix,xy,jy,yk->ijkx", seen, transmat, seen, after, optimize=True)
        changes = (by_first + by_second + by_third, by_step + by_next, by_start)
        return np.hstack([change.reshape(d**3, -1) for change in changes])


def nearest_chain(chain: Chain, cube: Floats) -> Chain:
    """The chain nearby whose cube is nearest to ``cube``: Levenberg and Marquardt's steps.

    A learned model is near the best one, in its law.  Where parameters are hardly determined, as
    with as many states as symbols, it may be so far off in these that its law bends, to second
    order by more than the noise: then its tangent alone does not hold what parameters explain.
    """
    residual = cube - chain.cube()
    damping = 1e-3
    for _ in range(STEPS):
        tangent = chain.tangent()
        gram, slope = tangent.T @ tangent, tangent.T @ residual
        scale = np.maximum(gram.diagonal(), DETERMINED * gram.diagonal().max())
        while damping < MAX_DAMPING:
            step = np.linalg.solve(gram + damping * np.diag(scale), slope)
            other = chain.moved(np.asarray(step, np.float64))
            left = cube - other.cube()
            if left @ left < residual @ residual:
                break
            damping *= 10
        else:
            return chain
        gained = 1 - (left @ left) / (residual @ residual)
        chain, residual, damping = other, left, max(damping / 10, 1e-9)
        if gained < WORTH:
            break
    return chain


def orthonormal_tangent(seen: Floats, transmat: Floats, occupied: Floats) -> Floats:
    """An orthonormal basis (d^3, r) of all changes of T that L, A and w can make, to first order.

    >>> seen, transmat = np.eye(2), np.array([[.8, .2], [.3, .7]])
    >>> orthonormal_tangent(seen, transmat, np.array([.6, .4])).shape
    (8, 7)
    """
    columns = Chain(seen, transmat, occupied).tangent()
    size = np.linalg.norm(columns, axis=0)
    columns = columns[:, size > 0] / size[size > 0]
    if columns.shape[1] > len(columns):
        values, vectors = np.linalg.eigh(columns @ columns.T)
        return np.asarray(vectors[:, values > DETERMINED * values[-1]])
    values, vectors = np.linalg.eigh(columns.T @ columns)
    kept = values > DETERMINED * values[-1]
    return np.asarray(columns @ (vectors[:, kept] / np.sqrt(values[kept])))


def _p_values(residuals: dict[str, Floats], signs: Floats) -> tuple[float, dict[str, float]]:
    """The p-value of all statistics together, and of each kind; row 0 of ``signs`` is the data."""
    by_kind = {
        name: _ranks(values, signs, square="pairs" in name).min(axis=0)
        for name, values in residuals.items()
    }
    least = np.min(list(by_kind.values()), axis=0)

    def calibrated(values: Floats) -> float:
        return float((values <= values[0] + 1e-12).mean())

    return calibrated(least), {name: calibrated(values) for name, values in by_kind.items()}


def _ranks(values: Floats, signs: Floats, square: bool) -> Floats:
    """The p-values of two statistics under every flip, (2, 1 + flips).

    The sum of all squares finds what is spread; the largest singular value of pairs, or the largest
    cell of triples, what is not.  Cells of triples are divided by their deviation; pairs were
    whitened, and no direction outside is singled out.
    """
    total = signs @ values
    if square:
        side = int(np.sqrt(values.shape[1]))
        matrices = total.reshape(len(signs), side, side)
        largest = np.linalg.eigvalsh(matrices @ matrices.transpose(0, 2, 1))[:, -1]
    else:
        spread = np.sqrt((values**2).sum(axis=0))
        total = np.divide(total, spread, out=np.zeros_like(total), where=spread > 0)
        largest = np.abs(total).max(axis=1)
    both = ((total**2).sum(axis=1), largest)
    below = [np.searchsorted(np.sort(row), row * (1 - 1e-12), side="left") for row in both]
    return np.asarray(1 - np.array(below) / len(signs))


def surprising_cells(model: HMM, data: Sequences, occupied: Floats, n: int) -> tuple[Cell, ...]:
    """The ``n`` triples that differ most from the model, the most surprising first.

    ``occupied`` (K,) is the distribution of states where triples begin.  Triples that were never
    seen are looked at where there are few symbols.
    """
    if model.n_symbols > MOST_TRIPLE_SYMBOLS:
        return ()
    triples = triple_counts(data)
    total = float(triples.n_triples)
    rows, counts = np.asarray(triples.triples), np.asarray(triples.counts, np.float64)
    if model.n_symbols**3 <= MAX_CELLS:
        table = np.zeros((model.n_symbols,) * 3)
        table[tuple(rows.T)] = counts
        rows, counts = np.argwhere(np.ones(table.shape, bool)), table.ravel()
    elif len(rows) > MAX_CELLS:
        top = np.argpartition(-counts, MAX_CELLS)[:MAX_CELLS]
        rows, counts = rows[top], counts[top]
    m = model.emissionprob
    before, after = (m.T * occupied) @ model.transmat, model.transmat @ m
    expected = np.empty(len(rows))
    for first in range(0, len(rows), BATCH // 2):
        part = slice(first, first + BATCH // 2)
        a, b, c = rows[part].T
        expected[part] = total * (before[a] * m.T[b] * after.T[c]).sum(axis=1)
    kept = np.flatnonzero(expected >= MIN_EXPECTED)
    deviations = (counts[kept] - expected[kept]) / np.sqrt(expected[kept])
    order = kept[np.argsort(-np.abs(deviations), kind="stable")]
    labels = model.vocabulary or range(model.n_symbols)
    cells = (
        Cell(tuple(labels[code] for code in rows[i]), float(counts[i]), float(expected[i]))
        for i in order[:n]
    )
    return tuple(cell for cell in cells if abs(cell.deviations) >= MIN_DEVIATIONS)
