"""Doctests of decorated functions are found as well, which the standard finder passes over."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _unwrapped_from_module(self: doctest.DocTestFinder, module: Any, function: Any) -> bool:
    return bool(_from_module(self, module, inspect.unwrap(function)))


doctest.DocTestFinder._from_module = _unwrapped_from_module  # type: ignore[attr-defined]
