"""Parts kept in files that are mapped into memory: data larger than it, on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from cohmm.data.elsewhere import Elsewhere, add_all, in_turn
from cohmm.data.mapped_arrays import ArrayFile, Slot, array_at, array_file
from cohmm.data.values import Value

SMALL = 2**20  # bytes: what is smaller stays in memory


class Mapped(Elsewhere):
    """Parts whose large arrays are in files; see `cohmm.data.mapped_arrays`."""

    def __init__(self, parts: list[Any], where: Callable[[int], str]) -> None:
        self._parts = parts
        self._where = where

    @classmethod
    def of(cls, parts: Iterable[Any], place: Callable[[int], str]) -> Mapped:
        """Parts as they are made, one after the other."""
        with array_file() as file:
            kept = [stored(part, file) for part in parts]
            data = file.mapped()
        return cls([opened(part, data) for part in kept], place)

    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        return add_all(in_turn(function, self._parts, len(self._parts), broadcast))

    def keep(self, function: Callable[..., Any], *broadcast: Any) -> Mapped:
        """``function(number, part, *broadcast)`` of every part, in files as well."""
        made = in_turn(function, self._parts, len(self._parts), broadcast, numbered=True)
        return Mapped.of(made, self._where)

    def place(self, number: int) -> str:
        """Where the part came from."""
        return self._where(number)


def stored(value: Any, file: ArrayFile) -> Any:
    """``value`` with its large arrays in a file, and slots in their places."""
    if isinstance(value, np.ndarray) and value.nbytes > SMALL and value.ndim == 1:
        return file.add([value], value.dtype)
    return _rebuilt(value, lambda part: stored(part, file))


def opened(value: Any, data: Any) -> Any:
    """What `stored` gave, with arrays in the slots."""
    if isinstance(value, Slot):
        return array_at(value, data)
    return _rebuilt(value, lambda part: opened(part, data))


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """A named tuple, or one of our values, with every field changed."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(change, value))
    if isinstance(value, Value) and is_dataclass(value):
        return type(value)._trusted(*(change(getattr(value, f.name)) for f in fields(value)))
    return value
