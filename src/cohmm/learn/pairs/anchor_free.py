"""AnchorFree: the start, and for an exact pair law the answer.

Huang, Fu and Sidiropoulos (2016), as the paper uses it.  M = B Q for a basis B of its range.
Among all Q with M >= 0 and columns that sum to one, the one of largest determinant gives the
Theta of least volume; with M sufficiently scattered it is the true one.  The determinant is
linear in a column of Q, so each column in turn is the better of two linear programs:

    maximise  +- a' q   subject to   B q >= 0,  (1'B) q = 1,      a the cofactors of the column.
"""

from __future__ import annotations

import highspy
import numpy as np

from cohmm.kernels.compiled import Floats

FIRST_ROWS = 5  # times K rows are in the program at first
MORE_ROWS = 50  # at most so many violated rows are added at a time
VIOLATION = 1e-9
BOUND = 1e4  # |q| is at most 1 / sqrt(smallest prevalence): a state in 1e8
PASSES = 300  # over K, at most: a pass costs about K^4


class AnchorFreeError(ValueError):
    """The linear programs have no solution."""


def anchor_free(basis: Floats, frequency: Floats, tol: float = 1e-4) -> Floats:
    """M, (N, K), from a ``basis`` (N, K) of its range and the frequencies (N,) of the symbols.

    It starts from K symbols that look most like anchors, each of a state of its own; on noisy
    laws the volume has many local maxima, and this start ends in better ones than chance.
    """
    k = basis.shape[1]
    q = np.linalg.inv(basis[_extreme_rows(basis / np.sqrt(frequency)[:, None])])
    q /= basis.sum(axis=0) @ q
    program = Program(basis)
    volume = -np.inf
    for _ in range(max(3, PASSES // k)):
        for column in range(k):
            cofactors = np.linalg.inv(q)[column]  # up to the determinant, a factor
            q[:, column] = program.farthest(cofactors / np.abs(cofactors).max())
        before, volume = volume, np.linalg.slogdet(q)[1]
        if volume - before <= tol:
            break
    m = np.maximum(basis @ q, 0.0)
    return np.asarray(m / m.sum(axis=0))


def _extreme_rows(rows: Floats) -> list[int]:
    """K rows far from the span of those before them: successive projection."""
    rest = rows.copy()
    chosen = []
    for _ in range(rows.shape[1]):
        chosen.append(int(np.argmax(np.einsum("ij,ij->i", rest, rest))))
        direction = rest[chosen[-1]] / np.linalg.norm(rest[chosen[-1]])
        rest -= np.outer(rest @ direction, direction)
    return chosen


class Program:
    """{q : B q >= 0, (1'B) q = 1}, with the rows that matter: a cutting-plane method.

    Most rows of B q >= 0 are never tight.  The program starts with a few, and rows that a
    solution violates are added; the working set is kept, since the next column's solution
    is tight in many of the same rows.  Each solve starts from the basis of the one before.
    """

    def __init__(self, basis: Floats):
        size = np.abs(basis).max(axis=1, keepdims=True)
        self.rows = basis / np.where(size > 0, size, 1.0)
        k = basis.shape[1]
        self.columns = np.arange(k, dtype=np.int32)
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        for _ in range(k):
            self.solver.addVar(-BOUND, BOUND)
        self.solver.addRow(1.0, 1.0, k, self.columns, basis.sum(axis=0))
        # A row is in for good: HiGHS is feasible only to 1e-7, so that one might come again.
        self.inside = np.zeros(len(basis), bool)
        # The rows farthest from their mean direction are likeliest to be tight.
        mean = self.rows.mean(axis=0)
        self._add(np.argsort(self.rows @ mean, kind="stable")[: FIRST_ROWS * k])

    def _add(self, rows: np.ndarray) -> None:
        for row in rows:
            self.solver.addRow(
                0.0, highspy.kHighsInf, len(self.columns), self.columns, self.rows[row]
            )
        self.inside[rows] = True

    def farthest(self, direction: Floats) -> Floats:
        """The q with the largest |direction' q|."""
        ends = [self.maximise(direction), self.maximise(-direction)]
        return max(ends, key=lambda q: abs(float(direction @ q)))

    def maximise(self, direction: Floats) -> Floats:
        """The q with the largest direction' q; HiGHS holds the constraints to about 1e-7."""
        self.solver.changeColsCost(len(self.columns), self.columns, -direction)
        while True:
            self.solver.run()
            if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                raise AnchorFreeError(
                    "the pair law admits no emission probabilities of this many states: "
                    f"{self.solver.modelStatusToString(self.solver.getModelStatus())}"
                )
            q = np.array(self.solver.getSolution().col_value)
            slack = self.rows @ q
            slack[self.inside] = 0.0
            worst = np.argsort(slack, kind="stable")[:MORE_ROWS]
            worst = worst[slack[worst] < -VIOLATION]
            if not len(worst):
                return q
            self._add(worst)
