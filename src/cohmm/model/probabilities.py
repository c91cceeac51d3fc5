"""Arrays whose rows are distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm._validation import as_floats
from cohmm.kernels.types import Floats

SUM_TOLERANCE = 1e-6  # of a row given by a user; what is kept sums to one to rounding


def probabilities(name: str, values: Any, ndim: int) -> Floats:
    """A read-only copy whose rows are distributions."""
    array = as_floats(name, values)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must have {ndim} dimension(s), not the shape {array.shape}")
    wrong = ~(array >= 0) | ~np.isfinite(array)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{list(place)} is {array[place]}: not a probability")
    sums = array.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1).ravel()
    if off.max() > SUM_TOLERANCE:
        row = int(off.argmax())
        which = name if ndim == 1 else f"row {row} of {name}"
        raise ValueError(f"{which} sums to {sums.ravel()[row]:.8g}, not to 1")
    if off.max() > 1e-12:
        array /= sums
    array.setflags(write=False)
    return array
