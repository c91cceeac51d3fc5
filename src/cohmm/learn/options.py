"""Checks of the options that learners share."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_whole(**options: Any) -> None:
    """Whole numbers from 1."""
    for name, value in options.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name} must be a whole number from 1, not {value!r}")


def check_amounts(**options: Any) -> None:
    """Finite numbers from 0."""
    for name, value in options.items():
        if isinstance(value, (str, bool)) or not isinstance(value, (int, float, np.number)):
            raise ValueError(f"{name} must be a number, not {value!r}")
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and at least 0, not {value!r}")
