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

from cohmm.data.sequences import Sequences
from cohmm.diagnose.residual_cells import Cell, surprising_cells
from cohmm.diagnose.triple_tangent import orthonormal_tangent, triple_cube
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.options import check_whole
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

LEVEL = 0.05
FLIPS = 399
GROUPS, FEWEST_GROUPS = 100, 20
SMALLEST_GROUP = 50  # places: a group must be long beside what the chain remembers
MOST_PLACES = 2_000_000  # of longer data so many are looked at, here and there
MOST_SYMBOLS = 100  # rarer ones are taken together, which leaves a hidden Markov model one
LEAST_COUNT = 20  # of a symbol, else it is taken together with others
MOST_STATES = 24  # whose triples are tested: their cube has K^3 cells
LAGS = (1, 2)
IN_SPAN = 1e-7
EM_STEPS = 200
AT_A_TIME = 2**17


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
        what = (
            "triples are not those of a first-order chain"
            if self.blames == "order"
            else "pairs need more states"
        )
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
    codes, lumped = _lumped(model, sequences)
    chain = _Chain.of(lumped, _occupied(lumped, codes, sequences.offsets))
    residuals: dict[str, Floats] = {}
    untested = ""
    for lag in LAGS:
        outside = _outside(chain, codes, sequences.offsets, groups, lag)
        if outside.shape[1]:
            residuals[f"pairs at lag {lag}"] = outside
    if chain.dimensions > MOST_STATES:
        untested = f"triples of more than {MOST_STATES} states are not tested"
    else:
        across = _across(chain, codes, sequences.offsets, groups)
        if across.shape[1]:
            residuals["triples"] = across
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


class _Chain(NamedTuple):
    """The model as the test sees it: its symbols whitened, the span of its emissions."""

    inside: Floats
    """Functions of symbols (d, N), of variance 1 under the model, that span the emissions."""
    outside: Floats
    """And (N - d, N) those of mean zero in every state."""
    seen: Floats
    """L = inside M, (d, K): their means in the states."""
    transmat: Floats
    occupied: Floats
    """P(state) where triples begin, (K,)."""

    @property
    def dimensions(self) -> int:
        return len(self.inside)

    @classmethod
    def of(cls, model: HMM, occupied: Floats) -> _Chain:
        m = model.emissionprob.T
        scale = np.sqrt(m @ occupied)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        known = scale / np.linalg.norm(scale)
        rest = inverse[:, None] * m
        rest = rest - np.outer(known, known @ rest)
        left, values, _ = np.linalg.svd(rest, full_matrices=True)
        d = int((values > IN_SPAN).sum())
        left[:, :d] -= np.outer(known, known @ left[:, :d])
        basis = np.column_stack([known, left[:, :d]])
        others = np.linalg.qr(np.column_stack([basis, left]))[0][:, d + 1 :]
        inside = basis.T * inverse
        return cls(inside, others.T * inverse, inside @ m, model.transmat, occupied)


def _some(data: Sequences) -> Sequences:
    """Of long data, pieces of equal length here and there."""
    total = len(data.symbols)
    if total <= MOST_PLACES:
        return data
    first = np.linspace(0, total, GROUPS, endpoint=False).astype(np.int64)
    step = MOST_PLACES // GROUPS
    pieces = []
    for begin in first.tolist():
        stop = begin + step
        inner = data.offsets[(data.offsets > begin) & (data.offsets < stop)]
        starts = np.concatenate([[begin], inner])
        pieces.append(data.spans(starts, np.concatenate([inner, [min(stop, total)]])))
    return Sequences.joined(pieces)


def _groups(data: Sequences) -> Ints:
    """The group of every place, (T,)."""
    total = len(data.symbols)
    n = min(GROUPS, total // SMALLEST_GROUP)
    if n < FEWEST_GROUPS:
        raise ValueError(
            f"{total:,} symbols are too few to test a model: at least "
            f"{FEWEST_GROUPS * SMALLEST_GROUP:,} are needed"
        )
    return np.arange(total) * n // total


def _lumped(model: HMM, data: Sequences) -> tuple[Ints, HMM]:
    """The symbols (T,), rare ones as one, and the model of these."""
    counts = data.symbol_counts
    order = np.argsort(-counts, kind="stable")
    kept = order[: MOST_SYMBOLS - 1]
    kept = np.sort(kept[counts[kept] >= LEAST_COUNT])
    rest = np.setdiff1d(np.arange(model.n_symbols), kept)
    if counts[rest].sum() < LEAST_COUNT and len(kept):  # too few to stand for themselves
        place, size = np.full(model.n_symbols, int(counts[kept].argmin())), len(kept)
    else:
        place, size = np.full(model.n_symbols, len(kept)), len(kept) + 1
    place[kept] = np.arange(len(kept))
    emission = np.zeros((model.n_components, size))
    np.add.at(emission.T, place, model.emissionprob.T)
    codes = np.append(place, -1)[data.symbols]
    return codes, HMM(model.startprob, model.transmat, emission)


def _occupied(model: HMM, codes: Ints, offsets: Ints) -> Floats:
    """The distribution of states where triples begin, by maximum likelihood of their symbols.

    Not that of the chain: where sequences end may depend on the state, as sentences end with a
    full stop.
    """
    counts = np.bincount(codes[_starts(codes, offsets, 2)], minlength=model.n_symbols)
    share, m = prevalence_of(model), model.emissionprob
    share = np.maximum(share, 1e-9)
    total = max(int(counts.sum()), 1)
    for _ in range(EM_STEPS):
        expected = share @ m
        ratio = np.divide(counts, expected, out=np.zeros(len(counts)), where=expected > 0)
        share = share * (m @ ratio) / total
        share = share / share.sum()
    return np.asarray(share)


def _starts(codes: Ints, offsets: Ints, span: int) -> Ints:
    """Places from which so many steps stay in the sequence, and meet nothing missing."""
    left = np.repeat(offsets[1:], np.diff(offsets)) - np.arange(len(codes))
    good = left > span
    for step in range(span + 1):
        good[: len(codes) - step] &= codes[step:] >= 0
    return np.flatnonzero(good)


def _outside(chain: _Chain, codes: Ints, offsets: Ints, groups: Ints, lag: int) -> Floats:
    """Pairs at a lag, outside of the span of M on both sides: (groups, (N - d)^2)."""
    n, n_groups = chain.inside.shape[1], int(groups.max()) + 1
    size = len(chain.outside)
    if not size:
        return np.empty((n_groups, 0))
    places = _starts(codes, offsets, lag)
    table = np.zeros(n_groups * n * n)
    for first in range(0, len(places), AT_A_TIME):
        part = places[first : first + AT_A_TIME]
        keys = (groups[part] * n + codes[part]) * n + codes[part + lag]
        table += np.bincount(keys, minlength=len(table))
    counts = table.reshape(n_groups, n, n)
    residual = chain.outside @ counts @ chain.outside.T
    return np.asarray(residual.reshape(n_groups, size * size))


def _across(chain: _Chain, codes: Ints, offsets: Ints, groups: Ints) -> Floats:
    """Triples within the span of M, less what parameters can explain: (groups, cells)."""
    n_groups, d = int(groups.max()) + 1, chain.dimensions
    places = _starts(codes, offsets, 2)
    tangent = orthonormal_tangent(chain.seen, chain.transmat, chain.occupied)
    if tangent.shape[1] >= d**3:
        return np.empty((n_groups, 0))
    functions = np.ascontiguousarray(chain.inside.T)
    cubes, sizes = np.zeros((n_groups, d**3)), np.zeros(n_groups)
    for group in range(n_groups):
        mine = places[np.searchsorted(groups[places], group) :]
        mine = mine[: np.searchsorted(groups[mine], group, side="right")]
        sizes[group] = len(mine)
        for first in range(0, len(mine), AT_A_TIME // d + 1):
            part = mine[first : first + AT_A_TIME // d + 1]
            a, b, c = (functions[codes[part + step]] for step in range(3))
            pairs = (a[:, :, None] * b[:, None, :]).reshape(len(part), d * d)
            cubes[group] += (pairs.T @ c).ravel()
    cubes -= np.outer(sizes, triple_cube(chain.seen, chain.transmat, chain.occupied))
    return np.asarray(cubes - (cubes @ tangent) @ tangent.T)


def _p_values(residuals: dict[str, Floats], signs: Floats) -> tuple[float, dict[str, float]]:
    """The p-value of all statistics together, and of each kind; row 0 of ``signs`` is the data."""
    ranks = {
        name: _ranks(values, signs, square="pairs" in name) for name, values in residuals.items()
    }
    by_kind = {name: values.min(axis=0) for name, values in ranks.items()}
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
    statistics = np.vstack([(total**2).sum(axis=1), largest])
    return np.array(
        [
            1 - np.searchsorted(np.sort(row), row * (1 - 1e-12), side="left") / len(row)
            for row in statistics
        ]
    )
