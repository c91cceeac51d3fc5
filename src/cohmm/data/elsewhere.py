"""Data that is elsewhere, in parts: all that is asked of it is a map over them, and a sum.

Counts of pairs, expected counts of a forward-backward pass and of a pass over documents are sums
over parts.  Whoever computes them calls `Elsewhere.map_sum`, and does not know where the parts are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from typing import Any

from cohmm.kernels.threads import n_threads, threads


class Elsewhere(ABC):
    """Parts of data, each where it is worked on: in this process, or on workers of a cluster."""

    def map_sum(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """The sum of ``function(part, *broadcast)`` over all parts.

        Parts are added in their order, by `add`; None, which stands for nothing, where there are
        none.  ``function`` and ``broadcast`` travel to the parts, and what it gives back.
        """
        total = self._sum(function, broadcast)
        if isinstance(total, Failed):
            raise placed(total.error, self.place(total.number)) from None
        return total

    @abstractmethod
    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        """As `map_sum`, by means of `on_part`; the first part that `Failed` instead, if one has."""

    @abstractmethod
    def keep(self, function: Callable[..., Any], *broadcast: Any) -> Elsewhere:
        """``function(number, part, *broadcast)`` of every part, kept where it was made."""

    def place(self, number: int) -> str:
        """Which part this is, in words for an error message."""
        return f"partition {number}"


def placed(error: ValueError, place: str) -> ValueError:
    """The same error, with the place of what is wrong before it, unless it begins with that."""
    text = str(error)
    if not text.startswith(place):
        text = f"{place}: {text}"
    try:
        return type(error)(text)
    except TypeError:  # one that has more to say than a text
        return ValueError(text)


class EngineError(ValueError):
    """Whoever works on the parts cannot: its scheduler is gone, or workers die again and again."""


@dataclass(frozen=True)
class Failed:
    """A part that could not be worked on: it takes the place of every sum that it is in."""

    number: int
    error: ValueError


Watcher = Callable[[int, int], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher | None) -> Iterator[None]:
    """Have ``watcher(done, n)`` called whenever one of ``n`` parts has been worked on."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


def watched() -> Watcher | None:
    """Who looks on, if anybody does."""
    return _watcher.get()


def in_turn(
    function: Callable[..., Any],
    parts: Iterable[Any],
    n: int,
    broadcast: tuple[Any, ...],
    numbered: bool = False,
) -> Iterator[Any]:
    """``function`` of one part after the other, in this process."""
    for number, part in enumerate(parts):
        yield on_part(function, number, part, broadcast, n_threads(), numbered)
        watcher = watched()
        if watcher is not None:
            watcher(number + 1, n)


def add(left: Any, right: Any) -> Any:
    """The sum of two values: of tuples place by place, of dictionaries key by key.

    None is nothing.  Of parts that failed the first is told of.

    >>> add((1, {"a": 2}), (10, {"b": 3}))
    (11, {'a': 2, 'b': 3})
    """
    if left is None or right is None:
        return right if left is None else left
    failed = [value for value in (left, right) if isinstance(value, Failed)]
    if failed:
        return min(failed, key=lambda one: one.number)
    if isinstance(left, tuple):
        each = [add(a, b) for a, b in zip(left, right, strict=True)]
        return type(left)(*each) if hasattr(left, "_fields") else tuple(each)
    if isinstance(left, dict):
        return {key: add(left.get(key), right.get(key)) for key in [*left, *right]}
    return left + right


def add_all(values: Iterable[Any]) -> Any:
    """The sum of all values, from the first to the last."""
    return reduce(add, values, None)


def on_part(
    function: Callable[..., Any],
    number: int,
    part: Any,
    broadcast: tuple[Any, ...],
    threads_for_it: int = 1,
    numbered: bool = False,
) -> Any:
    """``function`` of a part, with the threads that a worker has for it; `Failed` where it fails.

    Errors of the data come back as values: an engine would wrap them, or try again.
    """
    if isinstance(part, Failed):
        return Failed(number, part.error)
    given = (number, part) if numbered else (part,)
    with threads(threads_for_it):
        try:
            return function(*given, *broadcast)
        except ValueError as error:
            return Failed(number, error)
