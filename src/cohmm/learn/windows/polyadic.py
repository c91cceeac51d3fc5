"""Canonical polyadic decomposition with more terms than any side of the tensor.

    minimise    1/2 |cube - sum_k u_k x v_k x w_k|^2

Simultaneous diagonalisation needs two factors of full column rank, which they cannot have
here.  Gauss-Newton finds the terms all the same, from random starts: first with factors that
are squares, hence non-negative, then without, where the objective is a square near its
minimum and goes to rounding.  What it misses is a rare term or two, for which others stand
twice: those are drawn again, the rest being kept, until nothing is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.linalg import khatri_rao

from cohmm.kernels.types import Floats, Ints

OTHERS = ((1, 2), (0, 2), (0, 1))
EXACT = 1e-24  # half the squared misfit of a cube of norm one, at rounding
SQUARES = 100  # steps with squares, at most
FREE = 200  # steps without, at most
SLOW_SQUARES = 1e-3  # a step that lowers the misfit by a smaller share is slow
SLOW_FREE = 1e-2
PATIENCE = 20  # slow steps in a row: the misfit may stay for long where it is, then fall
DRAWN_AGAIN = 3  # terms, at most, in a restart
SMALL = 0.3  # of a fresh term's factors, so as not to disturb the others
SQUARE_FLOOR = 1e-4  # of the mean: a square that is zero would stay so
NORM_FLOOR = 1e-300
NO_GAIN = 1e-12  # of the largest gradient at zero: an entry that promises less stays zero
TILT = 1e-9  # of the same
ROUNDING = 1e-14
AT_ONCE = 0.1
FIRST_DAMPING = 1e-2  # these three in units of `Local.scale`
MIN_DAMPING = 1e-15
MAX_DAMPING = 1e8
ACCURACY = 1e-2  # of a step, relative, in the norm of the preconditioner
INNER = 60  # conjugate gradients for a step, at most
P = TypeVar("P")


Factors = tuple[Floats, Floats, Floats]


class Polyadic(NamedTuple):
    """Terms of a decomposition."""

    factors: Factors
    """(I, K), (J, K) and (L, K)."""
    misfit: float
    """Half the squared distance to the cube, relative to its squared norm."""
    starts: tuple[float, ...]
    """The misfit of every start, the best of which was kept."""


@dataclass(frozen=True, eq=False)
class Misfit:
    """Half the squared distance of a cube to the terms, as a `Problem`.

    With ``squares``, a step is one of the square roots of the factors.
    """

    cube: Floats
    squares: bool

    @cached_property
    def _unfolded(self) -> Factors:
        a, b, c = (np.moveaxis(self.cube, axis, 0).reshape(n, -1) for axis, n in self._axes)
        return a, b, c

    @property
    def _axes(self) -> list[tuple[int, int]]:
        return list(enumerate(self.cube.shape))

    def objective(self, point: Factors) -> float:
        """1/2 |cube - terms|^2."""
        rest = self._unfolded[0] - point[0] @ khatri_rao(point[1], point[2]).T
        return 0.5 * float(np.vdot(rest, rest))

    def local(self, point: Factors) -> Local:
        """Gradient and J'J; both need Gram matrices alone."""
        grams = [u.T @ u for u in point]
        weights = [grams[i] * grams[j] for i, j in OTHERS]
        chain = [2 * np.sqrt(u) if self.squares else np.ones_like(u) for u in point]
        gradient = [
            s * (u @ w - cube @ khatri_rao(point[i], point[j]))
            for u, w, s, cube, (i, j) in zip(
                point, weights, chain, self._unfolded, OTHERS, strict=True
            )
        ]

        def curvature(x: Floats) -> Floats:
            moves = [s * part for s, part in zip(chain, self._parts(x, point), strict=True)]
            inner = [u.T @ move for u, move in zip(point, moves, strict=True)]
            out = [
                chain[axis]
                * (
                    moves[axis] @ weights[axis]
                    + point[axis] @ (inner[i] * grams[j] + inner[j] * grams[i]).T
                )
                for axis, (i, j) in enumerate(OTHERS)
            ]
            return _flat(out)

        def preconditioner(damping: float) -> Callable[[Floats], Floats]:
            ridge = damping * np.eye(len(grams[0]))
            if self.squares:  # one block per row of a factor
                blocks = [
                    np.linalg.inv(s[:, :, None] * w * s[:, None, :] + ridge)
                    for s, w in zip(chain, weights, strict=True)
                ]
            else:
                blocks = [np.linalg.inv(w + ridge) for w in weights]

            def precondition(r: Floats) -> Floats:
                parts = zip(blocks, self._parts(r, point), strict=True)
                if self.squares:
                    return _flat([(block @ part[:, :, None])[:, :, 0] for block, part in parts])
                return _flat([part @ block for block, part in parts])

            return precondition

        scale = float(np.mean([w.trace() / len(w) for w in weights]))
        return Local(_flat(gradient), curvature, preconditioner, scale)

    def moved(self, point: Factors, step: Floats) -> Factors:
        """The point after a step, each term's scale shared by its three factors."""
        parts = zip(point, self._parts(step, point), strict=True)
        if self.squares:
            return balanced([(np.sqrt(u) + part) ** 2 for u, part in parts])
        return balanced([u + part for u, part in parts])

    def _parts(self, x: Floats, point: Factors) -> list[Floats]:
        cuts = np.cumsum([u.size for u in point])[:-1]
        return [part.reshape(u.shape) for part, u in zip(np.split(x, cuts), point, strict=True)]


def decompose(
    cube: Floats, n_terms: int, rng: np.random.Generator, n_init: int, enough: float = EXACT
) -> Polyadic:
    """Terms with non-negative factors, from ``n_init`` starts at most.

    A start with a misfit below ``enough`` is the last.  The first is random; the others keep
    most terms of the best so far (a rare term that it missed was found at the first or second
    restart that way, and at the eighth to never from a start that is all random).
    """
    norm = float(np.linalg.norm(cube))
    cube = cube / norm
    factors, least = _solved(cube, _random(cube, n_terms, rng), enough)
    misfits = [least]
    while least > enough and len(misfits) < n_init:
        other, misfit = _solved(cube, _some_again(cube, factors, rng), enough)
        misfits.append(misfit)
        if misfit < least:
            factors, least = other, misfit
    u, v, w = factors
    return Polyadic((u * norm, v, w), least, tuple(misfits))


def refined(cube: Floats, factors: Factors) -> Factors:
    """Given terms, improved without constraints."""
    norm = float(np.linalg.norm(cube))
    u, v, w = factors
    (u, v, w), _ = _free(cube / norm, balanced((u / norm, v, w)))
    return u * norm, v, w


def _solved(cube: Floats, begin: Factors, enough: float) -> tuple[Factors, float]:
    squares = Misfit(cube, squares=True)
    factors, misfit = descend(
        squares, begin, max_iter=SQUARES, tol=SLOW_SQUARES, patience=PATIENCE, enough=EXACT
    )
    if enough > EXACT:  # with noise, what the constraint costs is what it is for
        return factors, misfit
    return _free(cube, factors)


def _free(cube: Floats, begin: Factors) -> tuple[Factors, float]:
    free = Misfit(cube, squares=False)
    return descend(free, begin, max_iter=FREE, tol=SLOW_FREE, patience=PATIENCE, enough=EXACT)


def _random(cube: Floats, n_terms: int, rng: np.random.Generator) -> Factors:
    u, v, w = (rng.exponential(size=(n, n_terms)) for n in cube.shape)
    model = (khatri_rao(u, v) @ w.T).reshape(cube.shape)
    return balanced((u * (np.vdot(cube, model) / np.vdot(model, model)), v, w))


def _some_again(cube: Floats, factors: Factors, rng: np.random.Generator) -> Factors:
    """The same terms but for a few: at random, half the time the smallest among them."""
    k = factors[0].shape[1]
    chosen = rng.choice(k, rng.integers(1, min(DRAWN_AGAIN, k) + 1), replace=False)
    if rng.random() < 0.5:
        sizes = np.prod([np.linalg.norm(u, axis=0) for u in factors], axis=0)
        chosen[0] = int(sizes.argmin())
    again = []
    for u, fresh in zip(factors, _random(cube, k, rng), strict=True):
        kept = np.maximum(u, 0) + SQUARE_FLOOR * np.abs(u).mean()
        kept[:, chosen] = SMALL * fresh[:, chosen]
        again.append(kept)
    return again[0], again[1], again[2]


def balanced(factors: Sequence[Floats]) -> Factors:
    """The same terms, the columns of a term scaled to one length."""
    lengths = [np.maximum(np.linalg.norm(u, axis=0), NORM_FLOOR) for u in factors]
    mean = (lengths[0] * lengths[1] * lengths[2]) ** (1 / 3)
    u, v, w = (u * (mean / length) for u, length in zip(factors, lengths, strict=True))
    return u, v, w


def _flat(parts: Sequence[Floats]) -> Floats:
    return np.concatenate([part.ravel() for part in parts])


class Local(NamedTuple):
    """The objective near a point, as a quadratic function of the step."""

    gradient: Floats
    """g, (n,)."""
    curvature: Callable[[Floats], Floats]
    """x to H x."""
    preconditioner: Callable[[float], Callable[[Floats], Floats]]
    """d to an approximation of r to (H + d I)^-1 r."""
    scale: float
    """The size of H, such as the mean of its diagonal."""


class Problem(Protocol[P]):
    """What is minimised over points, of whatever type."""

    def objective(self, point: P) -> float:
        """The value at a point."""

    def local(self, point: P) -> Local:
        """The value near a point."""

    def moved(self, point: P, step: Floats) -> P:
        """The point after a step."""


def descend(
    problem: Problem[P], point: P, *, max_iter: int, tol: float, patience: int, enough: float
) -> tuple[P, float]:
    """Steps until ``patience`` of them in a row lower the objective by a share below ``tol``.

    Parameters
    ----------
    problem, point
        What is minimised, at least zero everywhere, and where to start.
    max_iter : int
        Steps, at most.
    enough : float
        An objective below this is as good as zero.

    Returns
    -------
    tuple
        Point and objective, which never rises.
    """
    objective = problem.objective(point)
    damping, growth, slow = FIRST_DAMPING, 2.0, 0
    for _ in range(max_iter):
        if objective <= enough or slow >= patience:
            break
        local = problem.local(point)
        while True:
            step, predicted = _step(local, damping * local.scale)
            trial = problem.moved(point, step)
            after = problem.objective(trial)
            if after < objective:
                break
            damping *= growth
            growth *= 2
            if damping > MAX_DAMPING:  # what is left to gain is below rounding
                return point, objective
        gain = objective - after
        share = min(gain / predicted, 2.0) if predicted > 0 else 0.0
        damping = max(damping * max(0.2, 1 - (2 * share - 1) ** 3), MIN_DAMPING)
        growth = 2.0
        slow = slow + 1 if gain < tol * objective else 0
        point, objective = trial, after
    return point, objective


def _step(local: Local, damping: float) -> tuple[Floats, float]:
    """x with (H + d I) x = -g, and how much the quadratic function falls by it."""
    precondition = local.preconditioner(damping)
    x = np.zeros_like(local.gradient)
    residual = -local.gradient
    direction = preconditioned = precondition(residual)
    size = first = float(residual @ preconditioned)
    for _ in range(INNER):
        if size <= ACCURACY**2 * first:
            break
        image = local.curvature(direction) + damping * direction
        length = size / float(direction @ image)
        x += length * direction
        residual = residual - length * image
        preconditioned = precondition(residual)
        size, before = float(residual @ preconditioned), size
        direction = preconditioned + (size / before) * direction
    # x and the residual are orthogonal, so x'Hx needs no product with H.
    return x, 0.5 * (damping * float(x @ x) - float(local.gradient @ x))


def joint_transitions(m: Floats, before: Floats, after: Floats) -> Floats:
    """Theta >= 0 with least |M Theta - before|^2 + |M Theta' - after|^2, (K, K).

    Lawson and Hanson's active sets.  The Gram matrix of the K^2 unknowns is never formed: an
    entry of it is one of M'M, or zero.

    Parameters
    ----------
    m, before, after : array, (N, K)
        M, L diag(pi) and R diag(pi).
    """
    gram = m.T @ m
    target = m.T @ before + (m.T @ after).T
    return _solve(gram, target, NO_GAIN)


def undetermined(m: Floats, before: Floats, after: Floats, rng: np.random.Generator) -> float:
    """How far the answer is from being the only one: 0 if it is, else up to 1.

    Slight costs of the transitions, drawn at random, move an answer that is the only one by a
    trifle, and any other to some end of the possible ones.  What is returned is the total
    variation between the answers for two draws.
    """
    gram = m.T @ m
    target = m.T @ before + (m.T @ after).T
    costs = TILT * target.max() * rng.exponential(size=(2, *target.shape))
    one, other = (_solve(gram, target - cost, ROUNDING) for cost in costs)
    return 0.5 * float(np.abs(one - other).sum())


def _solve(gram: Floats, target: Floats, no_gain: float) -> Floats:
    k = len(gram)
    theta = np.zeros((k, k))
    free = np.zeros((k, k), bool)
    least = no_gain * target.max()
    for _ in range(3 * k * k):
        gradient = np.where(free, -np.inf, target - gram @ theta - theta @ gram).ravel()
        # A tenth more entries at a time; one of them stays at least, so the sum falls.
        best = np.argsort(-gradient, kind="stable")[: max(1, int(AT_ONCE * free.sum()))]
        best = best[gradient[best] > max(least, 0.5 * gradient[best[0]])]
        if not len(best):
            break
        free.flat[best] = True
        theta = _on(free, theta, gram, target)
        if not free.flat[best].any():  # rounding: the gradient promised what is not there
            break
    return theta


def _on(free: Ints, theta: Floats, gram: Floats, target: Floats) -> Floats:
    """Least squares in the ``free`` entries; those that would be negative are free no more."""
    while True:
        i, j = np.nonzero(free)
        hessian = gram[np.ix_(i, i)] * (j[:, None] == j) + gram[np.ix_(j, j)] * (i[:, None] == i)
        hessian[np.diag_indices(len(i))] += ROUNDING * gram.max()
        solution = np.linalg.solve(hessian, target[i, j])
        if (solution > 0).all():
            out = np.zeros_like(theta)
            out[i, j] = solution
            return out
        here = theta[i, j]
        falling = solution <= 0
        room, way = here[falling], here[falling] - solution[falling]
        share = np.divide(room, way, out=np.zeros_like(way), where=way > 0)
        here = here + share.min() * (solution - here)
        stop = falling & (here <= ROUNDING * here.max(initial=0.0))
        stop[np.flatnonzero(falling)[share.argmin()]] = True
        here[stop] = 0.0
        theta = np.zeros_like(theta)
        theta[i, j] = here
        free[i[stop], j[stop]] = False
