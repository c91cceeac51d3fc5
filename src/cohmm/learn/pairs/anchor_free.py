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

FIRST_ROWS = 20  # times K rows of B are in the program at first
MORE_ROWS = 50  # at most so many violated rows are added at a time
VIOLATION = 1e-9
BOUND = 1e4  # |q| is at most 1 / sqrt(smallest prevalence): a state in 1e8
PASSES = 300  # over K, at most
SHORT_OF = 1e-6  # by more than this share: the other end of the program is tried too

NO_VOLUME = "the pair law has fewer dimensions than there are states"
NO_ENTRIES = np.zeros(0, np.int32)


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
