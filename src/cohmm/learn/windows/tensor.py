"""Tensor decomposition: an HMM from triple counts, by simultaneous diagonalisation.

Given the middle state, the three symbols of a triple are independent:

    P(a, b, c) = sum_k pi_k L[a, k] M[b, k] R[c, k],    R = M A',

with L and R the laws of the symbol before and after state k.  (The paper's appendix calls
M A' the *previous* factor; that one is M B', with B the chain run backwards.)  Such a sum is
unique up to the order of the states if L, M and R have full rank.  All three have the range
of M, so the law is compressed to K x K x K numbers in a whitened basis of it.  There every
slice is L diag(.) M' for the same L and M: eigenvectors of one slice times the inverse of
another diagonalise all of them.  Noise spoils that, the less so the more slices count: least
squares over all of them, from the eigenvectors of several random pencils of slices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm._validation import check_whole
from cohmm.evidence.windows import Triples
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, Fit, Progress, Record, learner
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.pairs.pair_evidence import States, as_hmm
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.spectrum import whitened_basis
from cohmm.learn.windows.window_law import TripleLaw, implied
from cohmm.model.markov_chain import stationary_distribution
from cohmm.model.sampling import generator

NORM_FLOOR = 1e-300
NO_RANK = 1e-11  # of the largest singular value: no more than rounding
RIDGE = 1e-13
FIRST_MOMENTUM, MAX_MOMENTUM, FASTER = 0.5, 0.99, 1.1
MIN_SUM = 0.1  # of the positive part of a column
LEAK = 1e-9
MAX_STEPS = 100


class Compressed(NamedTuple):
    """Factors of the compressed law, each (K, K), one column per state; the last has the scale."""

    before: Floats
    middle: Floats
    after: Floats


@learner
def tensor(
    triples: Triples,
    n_components: States,
    *,
    n_pencils: int = 6,
    max_iter: int = 1000,
    tol: float = 1e-5,
    smoothing: float = 0.1,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM from triple counts.

    What is minimised is half the squared distance of the compressed and whitened laws, which
    is near the divergence, in nats per triple, and stands in for it in the `Fit`.

    Parameters
    ----------
    triples : Triples
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise in the pairs.
    n_pencils : int
        Random pencils to start from; the best objective is kept.
    max_iter : int
        Sweeps of least squares, at most, from each pencil, its own answer being the first.
        One pencil and one sweep are the textbook's method, and the paper's.
    tol : float
        Stop when a sweep gains less than this, summed over all triples.
    smoothing : float
        As in `cohmm.learn.min_volume`; an exact law gets none.
    random_state : int, optional
        Seed.
    callback : function of a `Progress`, optional
        Called with every sweep that was kept.

    >>> from cohmm import HMM
    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .3, .2], [.2, .3, .5]])
    >>> exact = Triples.from_probability(truth.triple_probability())
    >>> fit = tensor(exact, 2, random_state=0)
    >>> all(distance < 1e-9 for distance in fit.model.distance(truth))
    True
    """
    check_whole(n_pencils=n_pencils)
    law = TripleLaw.of(triples)
    k = law.number_of_states(n_components)
    best = decompose(law, k, n_pencils, max_iter, tol, random_state, callback)
    exact = law.divergence(implied(best.point)) < EXACT
    return Fit(
        model=as_hmm(best.point, law.pairs, 0.0 if exact else smoothing),
        converged=best.converged,
        history=tuple(best.history),
        starts=best.starts,
    )


class Decomposition(NamedTuple):
    """A decomposition of the law, read as M and Theta, and how it was found: see `Fit`."""

    point: Point
    converged: bool
    history: list[Progress]
    starts: tuple[float, ...]


def decompose(
    law: TripleLaw,
    k: int,
    n_pencils: int = 6,
    max_iter: int = 1000,
    tol: float = 1e-5,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Decomposition:
    """`tensor`, of a law that is prepared."""
    pairs = law.pairs
    basis, symbols = whitened_basis([pairs.laws[1]], [1.0], pairs.n_pairs, k)
    table = np.zeros((len(pairs.seen), k))
    table[symbols] = basis / pairs.frequency[symbols, None]
    cube = law.compressed(table)
    whole = basis.sum(axis=0)  # the coordinates of a symbol that might be any
    _check_rank(cube @ whole)
    _check_rank(np.tensordot(whole, cube, 1))
    runs = []
    for number, rng in enumerate(generator(random_state).spawn(n_pencils)):
        begin = _pencil(cube, whole, 0 if number % 2 else 2, rng)
        runs.append(_least_squares(cube, begin, tol / pairs.n_pairs, max_iter, callback))
    factors, converged, history = min(runs, key=lambda run: run[2][-1].objective)
    objectives = tuple(run[2][-1].objective for run in runs)
    point = _emissions_and_transitions(law, table, factors)
    return Decomposition(point, converged, history, objectives)


def _check_rank(pairs: Floats) -> None:
    """The states are told apart only if the pair law, M Theta M', has the rank K."""
    values = np.linalg.svd(pairs, compute_uv=False)
    rank = int((values > NO_RANK * values[0]).sum())
    if rank < len(pairs):
        raise ValueError(
            f"n_components={len(pairs)} states cannot be told apart: the law of these triples has "
            f"the rank {rank}, as if two states emitted, or were followed by, the same; ask for "
            f"{rank} states, or use a learner that needs no rank, such as cpd_em with a start"
        )


def _pencil(cube: Floats, whole: Floats, axis: int, rng: np.random.Generator) -> Compressed:
    """Factors from two slices along an ``axis``: a random mixture, and the sum over all symbols.

    X Y^-1 = F diag(.) F^-1, for the slices X = F diag(x) G' and Y = F diag(y) G'.  The sum is
    the pair law of lag 1 along both outer axes; along the middle it would be that of lag 2,
    which is worse conditioned.
    """
    k = len(cube)
    slices = np.moveaxis(cube, axis, 2)
    ratio = np.linalg.solve((slices @ whole).T, (slices @ rng.normal(size=k)).T).T
    values, vectors = np.linalg.eig(ratio)
    # Noise makes pairs of conjugate vectors; their real and imaginary part span the same plane.
    first = np.ascontiguousarray(np.where(values.imag < 0, vectors.imag, vectors.real))
    # F^-1 X = diag(x) G' for all slices X at once: row k of all is of rank one.
    rest = np.linalg.lstsq(first, slices.reshape(k, -1), rcond=None)[0].reshape(k, k, k)
    u, s, v = np.linalg.svd(rest)
    second, along = (u[:, :, 0] * s[:, :1]).T, v[:, 0].T
    return Compressed(along, first, second) if axis == 0 else Compressed(first, second, along)


def _least_squares(
    cube: Floats,
    begin: Compressed,
    tol: float,
    max_iter: int,
    callback: Callback | None,
) -> tuple[Compressed, bool, list[Progress]]:
    """min 1/2 |cube - sum_k before_k x middle_k x after_k|^2, by alternating least squares.

    Each sweep starts where momentum has taken the one before, which saves three in four of
    them; where that does not lower the objective, a sweep without follows.
    """
    record = Record(callback)
    n_iter, momentum = 1, FIRST_MOMENTUM
    factors = before = begin

    record(n_iter, _distance(cube, factors))
    while n_iter < max_iter:
        plain = before is factors
        ahead = Compressed(
            *(now + momentum * (now - then) for now, then in zip(factors, before, strict=True))
        )
        after = _sweep(cube, ahead)
        objective = _distance(cube, after)
        n_iter += 1
        gain = record.gain(objective)
        if gain >= 0:
            before, factors = factors, after
            record(n_iter, objective, step=1.0 if plain else 1 + momentum)
            momentum = min(FASTER * momentum, MAX_MOMENTUM)
            if gain < tol:
                return factors, True, record.history
        elif plain:  # what is left to gain is below rounding
            return factors, True, record.history
        else:
            before, momentum = factors, momentum / 2
    return factors, False, record.history


def _sweep(cube: Floats, factors: Compressed) -> Compressed:
    """Each factor in turn by least squares, given the others."""
    swept = list(factors)
    for axis in range(3):
        a, b = (swept[other] for other in range(3) if other != axis)
        sums = np.moveaxis(cube, axis, 0).reshape(len(cube), -1) @ _rows(a, b)
        swept[axis] = sums @ _inverse(a, b)
        if axis < 2:
            swept[axis] /= np.maximum(np.linalg.norm(swept[axis], axis=0), NORM_FLOOR)
    return Compressed(*swept)


def _rows(a: Floats, b: Floats) -> Floats:
    """a_k x b_k as columns, (K^2, K)."""
    return np.asarray((a[:, None, :] * b).reshape(-1, a.shape[1]))


def _inverse(a: Floats, b: Floats) -> Floats:
    """Of the Gram matrix of `_rows`; states that are alike make it nearly singular."""
    gram = (a.T @ a) * (b.T @ b)
    np.fill_diagonal(gram, np.maximum(gram.diagonal() * (1 + RIDGE), NORM_FLOOR))
    return np.asarray(np.linalg.inv(gram))


def _distance(cube: Floats, factors: Compressed) -> float:
    rest = cube.reshape(-1, len(cube)) - _rows(*factors[:2]) @ factors.after.T
    return 0.5 * float(np.vdot(rest, rest))


def _emissions_and_transitions(law: TripleLaw, table: Floats, factors: Compressed) -> Point:
    """M and Theta: M and R by least squares for all symbols, the others being compressed."""
    spread = [table @ factor for factor in factors]
    products = law.products(*spread)
    m = products.middle @ _inverse(factors.before, factors.after)
    r = products.after @ _inverse(factors.before, factors.middle)
    frequency = law.pairs.frequency
    return point_of(onto_simplex(m, frequency), onto_simplex(r, frequency), frequency)


def onto_simplex(columns: Floats, frequency: Floats) -> Floats:
    """For each column, scaled to sum to one, the nearest distribution.

    Noise leaves a column with a sum near zero; it is scaled by its positive part instead.  One
    without any becomes the frequencies.
    """
    columns = columns * np.where(columns.sum(axis=0) < 0, -1.0, 1.0)
    positive = np.maximum(columns, 0.0).sum(axis=0)
    columns = np.where(positive > 0, columns, frequency[:, None])
    positive = np.where(positive > 0, positive, 1.0)
    columns = columns / np.maximum(columns.sum(axis=0), MIN_SUM * positive)
    falling = -np.sort(-columns, axis=0)
    level = (np.cumsum(falling, axis=0) - 1) / np.arange(1, len(columns) + 1)[:, None]
    last = (falling > level).sum(axis=0) - 1
    out = np.maximum(columns - level[last, np.arange(columns.shape[1])], 0.0)
    return np.asarray(out / out.sum(axis=0))


def point_of(m: Floats, r: Floats, frequency: Floats) -> Point:
    """M and Theta from M and R = M A', by least squares with probabilities, whitened.

    A leak, to the mixture of states that makes up the frequencies, keeps A from falling into
    parts, of which there would be no single stationary distribution.
    """
    scale = np.sqrt(frequency)[:, None]
    q, parts = np.linalg.qr(m / scale)  # what is outside of the range of M has no part in x
    a = np.array([_mixture(parts, whole) for whole in (r / scale).T @ q])
    shares = np.maximum(_mixture(parts, scale[:, 0] @ q), LEAK)
    a = (1 - LEAK) * a + LEAK * shares / shares.sum()
    return Point(m, stationary_distribution(a)[:, None] * a)


def _mixture(parts: Floats, whole: Floats) -> Floats:
    """x >= 0 with sum x = 1 and least |parts x - whole|.

    That is the shortest vector among the mixtures of the columns of ``parts - whole``, which
    non-negative least squares finds: y with (parts - whole) y = 0 and size * sum y = size,
    least squares, is x but for its scale, whatever the size.
    """
    from scipy.optimize import nnls  # takes its time to import

    apart = parts - whole[:, None]
    size = float(np.linalg.norm(apart, axis=0).max()) or 1.0
    target = np.zeros(len(parts) + 1)
    target[-1] = size
    rows = np.vstack([apart, np.full(parts.shape[1], size)])
    y = nnls(rows, target, maxiter=MAX_STEPS * len(rows))[0]
    return np.asarray(y / y.sum())
