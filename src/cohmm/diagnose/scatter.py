"""Sufficient scatter: whether pairs determine the emissions M, (N, K).

Definition 1 of the paper, on the dual side: among all x with M x >= 0 and 1'x = 1 none is longer
than 1, and none but the unit vectors is as long.  Then no other model of the same volume explains
the pairs.  To certify this is NP-hard; to refute it takes one x.  So

1. unless there are few symbols, linear programs look for one: from x the next is the point of
   {M x >= 0, 1'x = 1} farthest along x, which is longer, until it stays;
2. with few symbols and states all corners of that polytope are enumerated, which decides:
   its longest points are corners;
3. symbols of a single state (anchors), if every state has one, are a proof as well.

What must hold in any case is counted: K - 1 zeros in each column, in rows of rank K - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, lgamma, log, pi
from typing import Any, Literal

import numpy as np

from cohmm._validation import check_whole
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.pairs.anchor_free import AnchorFreeError, Program
from cohmm.model.sampling import generator

Verdict = Literal["separable", "scattered", "not refuted", "refuted"]

TRIES = 60
MAX_STEPS = 50  # linear programs from one start, at most
MAX_CORNERS = 60_000  # sets of K - 1 rows that are looked at, to decide
BATCH = 5_000
LONGER = 1e-6  # by so much |x|^2 must exceed 1, to be told from rounding
FEASIBLE = 1e-7  # to which HiGHS holds constraints
EXACT = 1e-9
NUDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Scatter:
    """What is known of the scatter of emissions.

    Parameters
    ----------
    verdict : "separable", "scattered", "not refuted" or "refuted"
        The first two are proofs (anchors of every state; all corners were looked at).
    direction : array, (K,), or None
        The x that refutes: M x >= 0, 1'x = 1, and its length is above 1.
    length : float
        The largest squared length of an x that was found; 1 is that of the unit vectors.
    tries : int
        Starts of linear programs; 0 where corners were enumerated, or anchors were enough.
    zeros : array, (K,)
        Symbols that each state never emits; K - 1 are needed.
    ranks : array, (K,)
        The rank of the rows of M in which that state is zero; it must be K - 1.
    anchors : tuple of arrays
        Of each state, the symbols that it alone emits.
    thresholds : array, (K, N), or None
        Below which an emission counted as zero; None: zero alone did.
    """

    verdict: Verdict
    direction: Floats | None
    length: float
    tries: int
    zeros: Ints
    ranks: Ints
    anchors: tuple[Ints, ...]
    thresholds: Floats | None = None

    @property
    def n_components(self) -> int:
        """K, the number of states."""
        return len(self.zeros)

    @property
    def refuted(self) -> bool:
        """Whether the emissions are not sufficiently scattered for certain."""
        return self.verdict == "refuted"

    @property
    def states(self) -> list[int]:
        """The states that the direction mixes most, the two largest of its entries."""
        if self.direction is None:
            return []
        return [int(k) for k in np.argsort(-np.abs(self.direction), kind="stable")[:2]]

    @property
    def log10_volume_ratio(self) -> float:
        """Proposition 2: of the simplex, what the rows of M must hold, in powers of ten."""
        return log10_volume_ratio(self.n_components)

    def __str__(self) -> str:
        k = self.n_components
        few = np.flatnonzero(self.ranks < k - 1)
        if self.verdict in ("separable", "scattered"):
            why = "sufficiently scattered, by all corners of the dual cone"
            if self.verdict == "separable":
                why = "separable, every state has a symbol of its own"
            return why if self.thresholds is None else f"not refuted: with zeros as found, {why}"
        if self.verdict == "not refuted":
            return f"not refuted in {self.tries} tries of linear programs"
        x = " ".join(f"{value:.3g}" for value in self.direction) if k <= 6 else ""  # type: ignore[union-attr]
        text = f"refuted, by the direction ({x})" if x else "refuted, by a direction"
        text += f" of squared length {self.length:.4g}, above 1"
        text += f", that mixes states {' and '.join(map(str, self.states))}"
        if len(few):
            shown = ", ".join(map(str, few[:5])) + (" ..." if len(few) > 5 else "")
            text += f"; too few zeros in state{'' if len(few) == 1 else 's'} {shown}"
        return text


def log10_volume_ratio(k: int) -> float:
    """Of the simplex of K corners, the share of the ball that the rows of M must hold: log10.

    >>> round(10 ** log10_volume_ratio(3), 4)  # a circle in its triangle
    0.6046
    """
    if k < 2:
        return 0.0
    ratio = -0.5 * log(pi * k) + (k - 1) / 2 * log(4 * pi / (k * (k - 1))) + lgamma(k / 2)
    return ratio / log(10)


@blas_threads(1)
def scatter(
    emissionprob: Any,
    *,
    thresholds: Any = None,
    tries: int = TRIES,
    random_state: Any = 0,
) -> Scatter:
    """Whether emissions (K, N) are sufficiently scattered, as far as that can be told.

    Parameters
    ----------
    emissionprob : array, (K, N)
        P(symbol | state), one row per state.
    thresholds : array, (K, N), optional
        Below which an emission counts as zero: an estimate has no zeros of its own (see
        `cohmm.diagnose.separation.zero_thresholds`); default: zero alone.
    tries : int
        Starts of linear programs, where corners are too many to be enumerated.
    random_state : int, optional
        Seed of the starts.

    >>> scatter([[.5, .5, 0, 0], [0, 0, .5, .5]]).verdict
    'separable'
    >>> print(scatter([[.5, .5, 0, 0], [0, .5, .5, 0], [.25, .25, .25, .25]]))
    refuted, by the direction (-1 0 2) of squared length 5, above 1, that mixes states 2 and 0; \
too few zeros in state 2
    """
    check_whole(tries=tries)
    m = _emissions(emissionprob).T
    if thresholds is not None:
        largest = m.argmax(axis=0)
        m = np.where(m < np.asarray(thresholds).T, 0.0, m)
        lost = np.flatnonzero(~m.any(axis=0))
        m[largest[lost], lost] = 1.0  # a state all of which is noise keeps its largest
        m = m / m.sum(axis=0)
    symbols = np.flatnonzero(m.any(axis=1))
    m = m[symbols]
    k = m.shape[1]
    zeros = (m == 0).sum(axis=0)
    ranks = np.array([_rank(m[m[:, j] == 0], k) for j in range(k)])
    alone = (m > 0).sum(axis=1) == 1
    anchors = tuple(symbols[alone & (m[:, j] > 0)] for j in range(k))
    facts = (zeros, ranks, anchors, None if thresholds is None else np.asarray(thresholds))
    if all(len(own) for own in anchors):
        return Scatter("separable", None, 1.0, 0, *facts)
    verdict: Verdict = "not refuted"
    if comb(len(m), k - 1) <= MAX_CORNERS and _rank(m, k) == k:
        verdict, used = "scattered", 0
        direction, length = _longest_corner(m)
    else:
        direction, length, used = _search(m, tries, generator(random_state))
    return Scatter(verdict if direction is None else "refuted", direction, length, used, *facts)


def _emissions(emissionprob: Any) -> Floats:
    values = np.asarray(emissionprob, np.float64)
    if values.ndim != 2 or not values.size or not (values >= 0).all():
        raise ValueError(
            f"emissions are an array (K, N) of probabilities, not one of shape {values.shape}"
        )
    sums = values.sum(axis=1)
    if not np.allclose(sums, 1, atol=1e-6):
        row = int(np.abs(sums - 1).argmax())
        raise ValueError(f"the emissions of state {row} sum to {sums[row]:g}, not to one")
    return values


def _rank(rows: Floats, k: int) -> int:
    """The rank of rows, each scaled, as they matter by their directions alone."""
    if not len(rows):
        return 0
    scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return int(np.linalg.matrix_rank(scaled.T @ scaled if len(rows) > 4 * k else scaled, tol=EXACT))


def _longest_corner(m: Floats) -> tuple[Floats | None, float]:
    """The corner of {M x >= 0, 1'x = 1} that refutes, if one does, and the largest |x|^2.

    A corner is where K - 1 independent rows are zero.
    """
    n, k = m.shape
    rows = m / m.max(axis=1, keepdims=True)
    right = np.zeros(k)
    right[-1] = 1.0
    longest, length = None, 1.0
    subsets = combinations(range(n), k - 1)
    while chosen := list(islice(subsets, BATCH)):
        systems = np.ones((len(chosen), k, k))
        systems[:, :-1] = rows[np.array(chosen, int).reshape(len(chosen), k - 1)]
        systems = systems[np.abs(np.linalg.det(systems)) > EXACT**1.5]
        corners = np.linalg.solve(systems, np.broadcast_to(right[:, None], (len(systems), k, 1)))
        corners = corners[..., 0]
        corners = corners[(corners @ rows.T >= -EXACT * np.abs(corners).max(1)[:, None]).all(1)]
        if not len(corners):
            continue
        squares = (corners**2).sum(axis=1)
        # One that is as long as the unit vectors without being one refutes as well.
        other = np.abs(corners).max(axis=1) < 1 - LONGER
        squares = np.where(other & (squares > 1 - LONGER), np.maximum(squares, 1 + LONGER), squares)
        best = int(squares.argmax())
        if squares[best] >= 1 + LONGER and squares[best] > length:
            longest, length = corners[best], float(squares[best])
    return longest, length


def _search(m: Floats, tries: int, rng: np.random.Generator) -> tuple[Floats | None, float, int]:
    """Linear programs from several starts: what refutes, the largest |x|^2, and the starts used.

    First from every unit vector, which is left at once where zeros are too few or lie badly; then
    from near them; then from anywhere.
    """
    k = m.shape[1]
    units = np.eye(k)
    near = units + NUDGE * rng.normal(size=(k, k))
    anywhere = rng.normal(size=(tries, k))
    corners = anywhere - anywhere.max(axis=1, keepdims=True)  # away from a face
    starts = np.concatenate([units, near, anywhere[::2], corners[1::2]])
    try:
        program = Program(m)
        for number, start in enumerate(starts, 1):
            x = _climbed(program, start)
            point = _inside(x)
            length = float(point @ point)
            if length > 1 + LONGER and (m @ point >= 0).all():
                return point, length, number
    except AnchorFreeError:  # the program has no end: some direction is not seen by M at all
        pass
    if _rank(m, k) < k:
        blind = np.linalg.svd(m)[2][-1]
        blind = blind - blind.sum() / k if abs(blind.sum()) < EXACT else blind
        point = np.full(k, 1 / k) + 10 * blind
        point /= point.sum()
        return point, float(point @ point), len(starts)
    return None, 1.0, len(starts)


def _climbed(program: Program, direction: Floats) -> Floats:
    x = program.maximise(direction / np.abs(direction).max())
    for _ in range(MAX_STEPS):
        farther = program.maximise(x / np.abs(x).max())
        if farther @ farther <= x @ x + EXACT:
            break
        x = farther
    return x


def _inside(x: Floats) -> Floats:
    """``x`` moved a little to the middle: HiGHS may leave it just outside."""
    k = len(x)
    x = x / x.sum()
    share = 2 * k * FEASIBLE * max(1.0, float(np.abs(x).max()))
    return np.asarray((1 - share) * x + share / k)
