"""The types in the signatures of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[Any]
"""Whole numbers of some width, or flags."""
Part = tuple[int, int]
"""The range of blocks, rows or sequences that a call works on."""
