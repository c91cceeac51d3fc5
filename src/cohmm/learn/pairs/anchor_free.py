"""AnchorFree: the start, and for an exact pair law the answer.

Huang, Fu and Sidiropoulos (2016), as the paper uses it.  M = B Q for a basis B of its range.
Among all Q with M >= 0 and columns that sum to one, the one of largest determinant gives the
Theta of least volume; with M sufficiently scattered it is the true one.  The determinant is
linear in a column of Q, so each column in turn is the better of two linear programs:

    maximise  +- a' q   subject to   B q >= 0,  (1'B) q = 1,      a the cofactors of the column.

Their duals are solved, which have K rows, and in which only the right side changes:

    minimise  z   subject to   (1'B)' z - B' y = +- a,  y >= 0,       q the prices of the rows.
"""

from __future__ import annotations

import highspy
import numpy as np

from cohmm.kernels.types import Floats, Ints
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import PairLaw, Point
from cohmm.learn.pairs.spectrum import whitened_basis
from cohmm.learn.pairs.volume import onto_constraints
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

FIRST_ROWS = 20  # times K rows of B are in the program at first
MORE_ROWS = 50  # at most so many violated rows are added at a time
VIOLATION = 1e-9
BOUND = 1e4  # |q| is at most 1 / sqrt(smallest prevalence): a state in 1e8
PASSES = 300  # over K, at most
SHORT_OF = 1e-6  # by more than this share: the other end of the program is tried too
NO_VOLUME = "the pair law has fewer dimensions than there are states"
NO_ENTRIES = np.zeros(0, np.int32)
MIXED_IN = 1e-3
PERTURBED_BY = 0.5  # standard deviation of the logarithm, for restarts
PROBABILITY_FLOOR = 1e-15
NEARLY_ZERO = 1e-9


class AnchorFreeError(ValueError):
    """The linear programs have no solution, or one of no volume."""


def anchor_free(basis: Floats, frequency: Floats, tol: float = 1e-4) -> Floats:
    """M, (N, K), from a ``basis`` (N, K) of its range and the frequencies (N,) of the symbols.

    It starts from K symbols that look most like anchors, each of a state of its own; on noisy
    laws the volume has many local maxima, and this start ends in better ones than chance.
    """
    k = basis.shape[1]
    q = _inverse(basis[_extreme_rows(basis / np.sqrt(frequency)[:, None])])
    sums = basis.sum(axis=0) @ q
    q /= np.where(sums == 0, 1.0, sums)
    program = Program(basis)
    volume, both = -np.inf, False
    for _ in range(max(3, PASSES // k)):
        for column in range(k):
            cofactors = _inverse(q)[column]  # up to the determinant, a factor
            q[:, column] = program.farthest(column, cofactors, both)
        before, volume = volume, np.linalg.slogdet(q)[1]
        if both and volume - before <= tol:
            break
        both = volume - before <= tol  # the last pass looks both ways
    m = np.maximum(basis @ q, 0.0)
    return np.asarray(m / m.sum(axis=0))


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        raise AnchorFreeError(NO_VOLUME) from None


def _extreme_rows(rows: Floats) -> list[int]:
    """K rows far from the span of those before them: successive projection."""
    rest = rows.copy()
    chosen = []
    for _ in range(rows.shape[1]):
        chosen.append(int(np.argmax(np.einsum("ij,ij->i", rest, rest))))
        size = np.linalg.norm(rest[chosen[-1]])
        if not size:
            raise AnchorFreeError(NO_VOLUME)
        direction = rest[chosen[-1]] / size
        rest -= np.outer(rest @ direction, direction)
    return chosen


class Program:
    """{q : B q >= 0, (1'B) q = 1}, with the rows that matter: a cutting-plane method.

    Most of many rows of B q >= 0 are never tight.  The program starts with some, and rows that a
    solution violates are added (as columns of the dual); the working set is kept.  Each solve
    starts from the vertex where the same column was in the pass before.
    """

    def __init__(self, basis: Floats):
        size = np.abs(basis).max(axis=1, keepdims=True)
        self.rows = basis / np.where(size > 0, size, 1.0)
        k = basis.shape[1]
        self.solver = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("simplex_strategy", 1),  # dual: what was optimal stays feasible for it
        ):
            self.solver.setOptionValue(option, value)
        for _ in range(k):
            self.solver.addRow(0.0, 0.0, 0, NO_ENTRIES, np.zeros(0))
        self._add_columns(basis.sum(axis=0)[None], cost=1.0, least=-highspy.kHighsInf)
        self._add_columns(np.vstack([np.eye(k), -np.eye(k)]), cost=BOUND)
        # A row is in for good: HiGHS is feasible only to 1e-7, so that one might come again.
        self.inside = np.zeros(len(basis), bool)
        # The rows farthest from their mean direction are likeliest to be tight.
        mean = self.rows.mean(axis=0)
        self._add(np.argsort(self.rows @ mean, kind="stable")[: FIRST_ROWS * k])
        self.bases: dict[tuple[int, int], highspy.HighsBasis] = {}

    def _add(self, rows: Ints) -> None:
        """Let these rows of B q be no less than zero."""
        self._add_columns(-self.rows[rows])
        self.inside[rows] = True

    def _add_columns(self, columns: Floats, cost: float = 0.0, least: float = 0.0) -> None:
        """Columns of the dual, one per row of ``columns``."""
        n, k = columns.shape
        self.solver.addCols(
            n,
            np.full(n, cost),
            np.full(n, least),
            np.full(n, highspy.kHighsInf),
            n * k,
            k * np.arange(n, dtype=np.int32),
            np.tile(np.arange(k, dtype=np.int32), n),
            columns.ravel(),
        )

    def farthest(self, column: int, cofactors: Floats, both: bool) -> Floats:
        """The q with the largest a' q; the largest | a' q | where ``both`` ends are wanted.

        The column that is there has a' q = 1.  It may not be possible, and then the one end may be
        less than that: so the other is tried too.
        """
        largest = np.abs(cofactors).max()
        direction = cofactors / largest
        q = self.maximise(direction, (column, 1))
        if not both and largest * (direction @ q) >= 1 - SHORT_OF:
            return q
        other = self.maximise(-direction, (column, -1))
        return max(q, other, key=lambda end: abs(float(direction @ end)))

    def maximise(self, direction: Floats, key: tuple[int, int] = (0, 1)) -> Floats:
        """The q with the largest direction' q, from where it was for the same ``key`` before.

        HiGHS holds the constraints to about 1e-7.
        """
        solver = self.solver
        if key in self.bases:
            basis = self.bases[key]
            new = solver.getNumCol() - len(basis.col_status)
            if new:
                basis.col_status = [*basis.col_status, *[highspy.HighsBasisStatus.kLower] * new]
            solver.setBasis(basis)
        for row, value in enumerate(direction.tolist()):
            solver.changeRowBounds(row, value, value)
        while True:
            self._solve()
            q = np.array(solver.getSolution().row_dual)
            slack = self.rows @ q
            slack[self.inside] = 0.0
            worst = np.argsort(slack, kind="stable")[:MORE_ROWS]
            worst = worst[slack[worst] < -VIOLATION]
            if not len(worst):
                self.bases[key] = solver.getBasis()
                return q
            self._add(worst)

    def _solve(self) -> None:
        """From the vertex at hand; where HiGHS goes astray on its way, from none."""
        for _ in range(2):
            self.solver.run()
            if self.solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                return
            status = self.solver.modelStatusToString(self.solver.getModelStatus())
            self.solver.clearSolver()
        raise AnchorFreeError(
            f"the pair law admits no emission probabilities of this many states: {status}"
        )


def starting_points(
    evidence: PairEvidence, k: int, n_init: int, random_state: int | None, given: HMM | None
) -> list[Point]:
    """``n_init`` points to start from; the first is AnchorFree's own, or the given model.

    Where AnchorFree has no answer, the first is as random as the others.
    """
    *streams, last = generator(random_state).spawn(n_init)
    if given is not None:
        first = _of_model(evidence, k, given)
    else:
        try:
            first = _anchor_free_point(evidence, k)
        except AnchorFreeError:
            m = np.repeat(evidence.frequency[:, None], k, axis=1)
            first = _perturbed(m, evidence.frequency, last)
    return [first, *(_perturbed(first.m, evidence.frequency, rng) for rng in streams)]


def _perturbed(m: Floats, frequency: Floats, rng: np.random.Generator) -> Point:
    m = mixed(m, frequency) * np.exp(PERTURBED_BY * rng.normal(size=m.shape))
    return Point(m / m.sum(axis=0), plain_theta(m.shape[1]))


def mixed(m: Floats, frequency: Floats) -> Floats:
    """A little of the symbols' frequencies in every state: a zero would stay one for ever."""
    m = (1 - MIXED_IN) * m + MIXED_IN * frequency[:, None]
    return np.asarray(m / m.sum(axis=0))


def plain_theta(k: int) -> Floats:
    """The paper's start, (I + 11') scaled to sum to one."""
    return (np.eye(k) + 1) / (k * (k + 1))


def _anchor_free_point(evidence: PairEvidence, k: int) -> Point:
    lags = sorted(evidence.laws)
    laws, weights = [evidence.laws[lag] for lag in lags], [evidence.weights[lag] for lag in lags]
    basis, symbols = whitened_basis(laws, weights, evidence.n_pairs, k)
    # Symbols too rare for the basis start by their frequency; the updates place them.
    m = np.repeat(evidence.frequency[:, None], k, axis=1)
    emissions = anchor_free(basis, evidence.frequency[symbols])
    m[symbols] = np.maximum(emissions, PROBABILITY_FLOOR) * evidence.frequency[symbols].sum()
    m /= m.sum(axis=0)
    theta = _exact_theta(laws[0], m) if len(symbols) == len(m) else None
    if theta is not None:
        return Point(m, theta)
    return Point(mixed(m, evidence.frequency), plain_theta(k))


def _exact_theta(law: PairLaw, m: Floats) -> Floats | None:
    """Theta with Omega = M Theta M', if there is one; least squares, so only if it is exact."""
    left = np.linalg.pinv(m)
    theta = left @ (law.omega @ left.T)
    if theta.min() < -NEARLY_ZERO:
        return None
    theta = np.maximum(theta, PROBABILITY_FLOOR)
    theta /= theta.sum()
    if law.negative_entropy - law.statistics(m, theta).log_fit > NEARLY_ZERO:
        return None
    theta = onto_constraints(theta)
    # Of a chain that does not come back, such as one sequence, no theta has equal marginals.
    return theta if abs(theta.sum() - 1) < NEARLY_ZERO else None


def _of_model(evidence: PairEvidence, k: int, model: HMM) -> Point:
    if (model.n_components, model.n_symbols) != (k, evidence.counts.n_symbols):
        raise ValueError(
            f"cannot start from {model}: there are {k} states and "
            f"{evidence.counts.n_symbols} symbols to learn"
        )
    m = mixed(model.emissionprob.T[evidence.seen], evidence.frequency)
    theta = np.maximum(model.stationary()[:, None] * model.transmat, PROBABILITY_FLOOR)
    return Point(m, onto_constraints(theta / theta.sum()))
