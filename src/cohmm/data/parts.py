"""Parts of data on a backend: all that is asked of them is a map over all parts, and its sum.

Counts of pairs, expected counts of a forward-backward pass and of a pass over documents are sums
over parts, so whoever computes them calls `map_sum` and does not know where the parts are.
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


class Parts(ABC):
    """Parts of data, each where it is worked on: in this process, or on workers of a cluster."""

    def map_sum(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """The sum of ``function(part, *broadcast)`` over all parts.

        Parts are added in their order, by `add`; the sum is None where there are none.
        ``function`` and ``broadcast`` travel to the parts, and its results back.
        """
        return self.sum_numbered(_without_number, function, *broadcast)

    def sum_numbered(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """As `map_sum`, of ``function(number, part, *broadcast)``."""
        total = self._sum(function, broadcast)
        if isinstance(total, Failed):
            raise placed(total.error, self.place(total.number)) from None
        return total

    @abstractmethod
    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        """As `sum_numbered`, by means of `on_part`; the first part that `Failed`, if one has."""

    @abstractmethod
    def keep(self, function: Callable[..., Any], *broadcast: Any) -> Parts:
        """``function(number, part, *broadcast)`` of every part, kept where it was made."""

    def place(self, number: int) -> str:
        """Which part this is, in words for an error message."""
        return f"partition {number}"


def _without_number(_: int, part: Any, function: Callable[..., Any], *broadcast: Any) -> Any:
    return function(part, *broadcast)


def placed(error: ValueError, place: str) -> ValueError:
    """The same error with its place in front, unless it begins with that."""
    text = str(error)
    if not text.startswith(place):
        text = f"{place}: {text}"
    try:
        return type(error)(text)
    except TypeError:  # one that takes more than a text, such as UnicodeDecodeError
        return ValueError(text)


class EngineError(ValueError):
    """The backend cannot work: its scheduler is gone, or workers die again and again."""


@dataclass(frozen=True)
class Failed:
    """A part that could not be worked on: it takes the place of every sum that it is in."""

    number: int
    error: ValueError


ProgressCallback = Callable[[int, int], None]
_callback: ContextVar[ProgressCallback | None] = ContextVar("callback", default=None)


@contextmanager
def report_progress(callback: ProgressCallback | None) -> Iterator[None]:
    """Have ``callback(done, n)`` called whenever one of ``n`` parts is done."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def progress_callback() -> ProgressCallback | None:
    """The current progress callback, if any."""
    return _callback.get()


def one_by_one(
    function: Callable[..., Any], parts: Iterable[Any], n: int, broadcast: tuple[Any, ...]
) -> Iterator[Any]:
    """``function(number, part, *broadcast)`` of each of ``n`` parts, in this process."""
    for number, part in enumerate(parts):
        yield on_part(function, number, part, broadcast, n_threads())
        callback = progress_callback()
        if callback is not None:
            callback(number + 1, n)


def add(left: Any, right: Any) -> Any:
    """The sum of two values: of tuples place by place, of dictionaries key by key.

    None is nothing.  Of parts that failed the first is kept.

    >>> add((1, {"a": 2}), (10, {"b": 3}))
    (11, {'a': 2, 'b': 3})
    """
    if left is None or right is None:
        return right if left is None else left
    failed = [value for value in (left, right) if isinstance(value, Failed)]
    if failed:
        return min(failed, key=lambda one: one.number)
    if isinstance(left, tuple):
        sums = [add(a, b) for a, b in zip(left, right, strict=True)]
        return type(left)(*sums) if hasattr(left, "_fields") else tuple(sums)
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
    n_threads: int = 1,
) -> Any:
    """``function`` of a part, with the threads that a worker has for it; `Failed` where it fails.

    Errors of the data come back as values: an engine would wrap them, or try again.
    """
    if isinstance(part, Failed):
        return Failed(number, part.error)
    with threads(n_threads):
        try:
            return function(number, part, *broadcast)
        except ValueError as error:
            return Failed(number, error)
