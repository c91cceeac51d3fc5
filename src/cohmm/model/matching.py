"""Which state of one model is which of another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.types import Floats, Ints


class Distance(NamedTuple):
    """Mean total variation of emissions and of transitions, the states matched."""

    emission: float
    transition: float


def match_rows(left: Floats, right: Floats) -> Ints:
    """The row of ``left`` that stands for each row of ``right``, by least total variation."""
    from scipy.optimize import linear_sum_assignment  # each takes its time to import
    from scipy.spatial.distance import cdist

    rows, columns = linear_sum_assignment(cdist(right, left, "cityblock"))
    return np.asarray(columns[np.argsort(rows)])


def total_variation(left: Floats, right: Floats) -> float:
    """The paper's measure: half the sum of absolute differences, averaged over the rows."""
    return float(np.abs(left - right).sum() / (2 * len(left)))
