"""Values from bytes: a fuzzer, hypothesis and random numbers drive the same targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

ODD_NUMBERS = (0, -1, 1, 2, 2**31 - 1, 2**31, 2**62, 2**63, 2**64, -(2**63), 10**30)
ODD_FLOATS = (0.0, -0.0, 1.0, 0.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"))
LETTERS = "ab c\t\n\"',;:{}[]0123456789.-\\\0\ufeff\u00e9\u4e2d\ud800"


class Draws:
    """Reads values off bytes; when they are used up, every draw is the first choice."""

    def __init__(self, data: bytes):
        self._data = data
        self._place = 0

    def byte(self) -> int:
        if self._place >= len(self._data):
            return 0
        self._place += 1
        return self._data[self._place - 1]

    def whole(self, least: int, most: int) -> int:
        """A number from ``least`` to ``most``."""
        size = most - least + 1
        value = self.byte() if size <= 256 else int.from_bytes(bytes(self.byte() for _ in range(4)))
        return least + value % size

    def flag(self) -> bool:
        return self.byte() % 2 == 1

    def rarely(self) -> bool:
        return self.byte() > 230

    def choice(self, values: Sequence[T]) -> T:
        return values[self.whole(0, len(values) - 1)]

    def many(self, draw: Callable[[], T], most: int, least: int = 0) -> list[T]:
        return [draw() for _ in range(self.whole(least, most))]

    def rest(self) -> bytes:
        """What was not read, and then nothing is left."""
        rest, self._place = self._data[self._place :], len(self._data)
        return rest

    def text(self, most: int = 8) -> str:
        return "".join(self.many(lambda: self.choice(LETTERS), most))

    def codes(self, n: int, most: int = 8, missing: bool = True, least: int = 1) -> list[int]:
        return self.many(lambda: self.whole(-1 if missing else 0, n - 1), most, least)

    def sequences(self, n: int, most: int = 4, missing: bool = True) -> list[list[int]]:
        """Sequences of codes, which no reader takes for a column."""
        found = self.many(lambda: self.codes(n, missing=missing), most, 1)
        if len(found) > 1 and all(len(sequence) == 1 for sequence in found):
            found[0] = [found[0][0], found[0][0]]
        return found

    def distribution(self, n: int) -> list[float]:
        weights = [self.whole(0, 4) for _ in range(n)]
        weights[self.whole(0, n - 1)] += 1
        return [weight / sum(weights) for weight in weights]

    def scalar(self) -> Any:
        """Anything that a careless caller may put where a number or a label belongs."""
        return self.choice(
            [
                lambda: self.whole(0, 5),
                lambda: self.choice(ODD_NUMBERS),
                lambda: self.choice(ODD_FLOATS),
                lambda: self.text(3),
                lambda: None,
                lambda: self.flag(),
                lambda: b"ab",
                list,
                lambda: np.float32(self.whole(0, 9)),
                lambda: np.int8(self.whole(0, 9)),
            ]
        )()

    def number(self) -> float:
        """What an array of numbers may hold."""
        return self.choice(
            [
                lambda: self.whole(0, 5),
                lambda: self.choice(ODD_NUMBERS),
                lambda: self.choice(ODD_FLOATS),
            ]
        )()

    def array(self) -> Any:
        """An array of some shape and kind."""
        shape = tuple(self.many(lambda: self.whole(0, 4), 3))
        kind = self.choice(
            ["int32", "int64", "uint64", "float64", "float32", "float16", "bool", "U2", "O"]
        )
        draw = self.choice([self.scalar, self.number])
        values = [draw() for _ in range(int(np.prod(shape)))]
        try:
            return np.array(values, dtype=kind).reshape(shape)
        except (ValueError, TypeError, OverflowError):
            return np.zeros(shape, "int64")

    def container(self, depth: int = 2) -> Any:
        """Data as a caller may give it."""
        if depth == 0 or self.rarely():
            return self.scalar()
        kind = self.whole(0, 5)
        if kind == 0:
            return self.array()
        if kind == 1:
            return self.text(12)
        items = self.many(lambda: self.container(depth - 1), 5)
        return tuple(items) if kind == 2 else items
