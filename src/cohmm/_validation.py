"""Checks of options and arrays, values that check themselves, and warnings.

A `ValueError` names the option, its value, and what would be right; a warning points at the line of
the user.
"""

from __future__ import annotations

import re
import reprlib
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from scipy import sparse

from cohmm.kernels.types import Floats, Ints

LARGEST_CODE = 2**31 - 2
MAX_PRIOR_WEIGHT = 1e9  # observations
SHOWN_LENGTH = 80  # characters of a user's value in a message
SKIPPED_PACKAGES = ("cohmm", "contextlib", "sklearn")  # on the way to the user's line

_silenced: ContextVar[tuple[tuple[type[Warning], str], ...]] = ContextVar("silenced", default=())


@dataclass(frozen=True, eq=False)
class Value:
    """A frozen dataclass that checks its fields, and copies arrays that others can write to."""

    @classmethod
    def _trusted(cls, *contents: Any) -> Self:
        """The value of fields that are right, and whose arrays are ours: no check, no copy."""
        value = object.__new__(cls)
        defaults = (field.default for field in fields(cls)[len(contents) :])
        value._set(*map(frozen, contents), *defaults)
        return value

    def _set(self, *contents: Any) -> None:
        for field, content in zip(fields(self), contents, strict=False):
            object.__setattr__(self, field.name, content)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are frozen as well."""
        contents = tuple(getattr(self, field.name) for field in fields(self))
        return type(self)._trusted, contents


def frozen(content: Any) -> Any:
    """``content``, in which arrays can no longer be written to; they must be ours."""
    if isinstance(content, np.ndarray):
        array: Any = content
        while isinstance(array, np.ndarray):  # what it is a view of is ours, too
            array.setflags(write=False)
            array = array.base
    elif sparse.issparse(content):
        for part in (content.data, content.indices, content.indptr):
            frozen(part)
    elif isinstance(content, dict):
        for item in content.values():
            frozen(item)
    return content


def own(array: np.ndarray, dtype: Any) -> np.ndarray:
    """``array`` as a contiguous array that nobody can write to: the same one, or a copy."""
    if array.dtype == dtype and array.flags.c_contiguous and not _is_writable(array):
        return array
    copy = np.array(array, dtype, order="C")
    copy.setflags(write=False)
    return copy


def _is_writable(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def as_numbers(name: str, values: Any, kinds: str = "iu", ndim: int = 1) -> np.ndarray:
    """``values`` as an array of whole numbers, or of the ``kinds`` given."""
    array = _array(values)
    if array.ndim != ndim or (array.size and array.dtype.kind not in kinds):
        what = "whole numbers" if kinds == "iu" else "numbers"
        shape = f"an array of {what} with {ndim} dimensions" if ndim > 1 else f"a list of {what}"
        raise ValueError(f"{name} must be {shape}, not {shown(values)}")
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} must not be masked: a missing observation is -1")
    return array if array.dtype.kind in kinds else np.zeros(array.shape, np.int64)


def as_floats(name: str, values: Any) -> Floats:
    """A copy of ``values``, real numbers in any shape, as doubles."""
    array = _array(values)
    if array.dtype.kind not in "iufbO" or isinstance(values, np.ma.MaskedArray):
        array = np.array("")
    try:
        return _doubles(array)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers, not {shown(values)}") from None


def _doubles(values: Any) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind == "c" or (array.dtype == object and not all(map(_is_real, array.flat))):
        raise TypeError("not a real number")
    with np.errstate(over="ignore"):  # of what is longer than a double
        return np.array(array, np.float64, order="C")


def _is_real(item: Any) -> bool:
    """Not masked, and neither complex nor an array, of which NumPy would take a part."""
    return not (isinstance(item, (complex, np.complexfloating, np.ndarray)))


def _array(values: Any) -> np.ndarray:
    try:
        return np.asarray(_unmasked(values))
    except ValueError:  # lists of different lengths
        return np.array("")


def _unmasked(values: Any) -> Any:
    """Lists in which what is masked is NaN: NumPy would make it so, too, but with a warning."""
    if values is np.ma.masked:
        return np.nan
    if isinstance(values, (list, tuple)) and any(map(_may_be_masked, values)):
        return [_unmasked(item) for item in values]
    return values


def _may_be_masked(item: Any) -> bool:
    return item is np.ma.masked or isinstance(item, (list, tuple))


def as_amount(name: str, value: Any) -> float:
    """A number of things that is finite and above 0."""
    try:
        amount = float(_doubles(value)) if np.isscalar(value) else np.nan
    except (TypeError, ValueError, OverflowError):
        amount = np.nan
    if isinstance(value, (str, bytes)) or not 0 < amount < np.inf:
        raise ValueError(f"{name} must be finite and above 0, not {shown(value)}")
    return amount


def as_tuple(name: str, values: Any) -> tuple[Any, ...]:
    """``values`` as a tuple, if they are a list of something."""
    try:
        return tuple(values)
    except TypeError:
        raise ValueError(f"{name} must be a list, not {shown(values)}") from None


def as_offsets(offsets: Any, n: int, what: str, empty: bool = False) -> Ints:
    """Offsets that rise from 0 to ``n``: no ``what`` is of negative length, or ``empty``."""
    ends = as_numbers("offsets", offsets)
    if not len(ends) or ends[0] != 0 or ends[-1] != n:
        shape = f"from {ends[0]} to {ends[-1]}" if len(ends) else "empty"
        raise ValueError(
            f"offsets must rise from 0 to {n}, the number of symbols: they are {shape}"
        )
    wrong = ends[1:] < ends[:-1] if empty else ends[1:] <= ends[:-1]  # no difference: no overflow
    if wrong.any():
        s = int(np.argmax(wrong))
        raise ValueError(
            f"offsets must rise: {what} {s} goes from {ends[s]} to {ends[s + 1]}"
            + ("" if empty else f", and every {what} needs a symbol")
        )
    return own(ends, np.int64)


def as_n_symbols(n_symbols: Any) -> int:
    """A number of symbols, if it is one."""
    check_whole(n_symbols=n_symbols)
    if n_symbols > LARGEST_CODE + 1:
        raise ValueError(f"there are at most {LARGEST_CODE + 1:,} symbols, not {shown(n_symbols)}")
    return int(n_symbols)


# -- options ----------------------------------------------------------------------------------


def is_whole(value: object) -> bool:
    """Whether a value is a whole number: True is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a value is a number, and no array: True is none."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def check_whole(least: int = 1, **options: Any) -> None:
    """Whole numbers from ``least``."""
    for name, value in options.items():
        if not is_whole(value) or value < least:
            raise ValueError(f"{name} must be a whole number from {least}, not {shown(value)}")


def check_amounts(**options: Any) -> None:
    """Finite numbers from 0."""
    for name, value in options.items():
        if isinstance(value, (str, bool)) or not isinstance(value, (int, float, np.number)):
            raise ValueError(f"{name} must be a number, not {shown(value)}")
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and at least 0, not {shown(value)}")


def check_weights_of_priors(**options: Any) -> None:
    """Numbers from 0 that no data has to give way to entirely."""
    check_amounts(**options)
    for name, value in options.items():
        if value > MAX_PRIOR_WEIGHT:
            raise ValueError(f"{name} must be at most {MAX_PRIOR_WEIGHT:g}, not {shown(value)}")


def check_choice(allowed: tuple[Any, ...], **options: Any) -> None:
    """One of a few values."""
    for name, value in options.items():
        if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
            text = ", ".join(map(repr, allowed))
            raise ValueError(f"{name} must be one of {text}, not {shown(value)}")


def check_learned(learned: Any, name: str = "learned") -> None:
    """Some of the letters s, t and e."""
    if not isinstance(learned, str) or set(learned) - set("ste"):
        raise ValueError(
            f"{name} must be made of the letters 's' (start), 't' (transitions) and "
            f"'e' (emissions), such as 'ste', not {shown(learned)}"
        )


def check_seed(**options: Any) -> None:
    """Whole numbers, from which the same random numbers follow, or NumPy's own generators."""
    for name, value in options.items():
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            continue
        if not is_whole(value) or value < 0:
            raise ValueError(f"{name} must be a whole number from 0, or None, not {shown(value)}")


def check_states(wanted: Any, n_symbols: int, what: str = "states", of: str = "symbols") -> int:
    """A number of states, of which pairs of so many symbols can tell no more."""
    if not is_whole(wanted) or wanted < 1:
        raise ValueError(
            f"n_components must be a whole number from 1, or 'auto', not {shown(wanted)}"
        )
    if wanted > n_symbols:
        raise ValueError(
            f"n_components={wanted} {what} cannot be learned from pairs of {n_symbols} {of}: "
            f"there must be at least as many {of} as {what}"
        )
    return int(wanted)


def check_functions(**options: Any) -> None:
    """Something to be called."""
    for name, value in options.items():
        if not callable(value):
            raise ValueError(f"{name} must be a function, not {shown(value)}")


def check_decay(decay: object) -> None:
    """Refuse a weight of the past that is none."""
    if not is_number(decay) or not 0 < decay <= 1:  # type: ignore[operator]
        raise ValueError(f"decay must be a number above 0 and up to 1, not {shown(decay)}")


# -- messages and warnings --------------------------------------------------------------------


def shown(value: Any) -> str:
    """``repr(value)`` on one line, cut to what a message has room for.

    >>> shown("ab" * 1000)
    "'ababababababababababababababababababa...ababababababababababababababababababab'"
    """
    if isinstance(value, int) and value.bit_length() > 4 * SHOWN_LENGTH:  # Python may refuse to
        return f"a number of {round(value.bit_length() * 0.30103):,} digits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = SHOWN_LENGTH
    text = re.sub(r"\s*\n\s*", " ", short.repr(value))
    if len(text) > SHOWN_LENGTH:
        text = f"{text[: SHOWN_LENGTH // 2 - 3]}...{text[-SHOWN_LENGTH // 2 :]}"
    return text


def listed(names: Any, most: int = 8) -> str:
    """Names in a message: all of them, or the first and how many more there are.

    >>> listed(["page", "user"])
    "'page', 'user'"
    """
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + more if names else "none"


@contextmanager
def silenced(category: type[Warning] = Warning, beginning: str = "") -> Iterator[None]:
    """In this thread, and in what it starts, `warn` says nothing of this kind.

    `warnings.catch_warnings` changes the filters of the whole process: where blocks of two threads
    overlap, the last to leave restores what the other had set.  So it is not used in the library.

    >>> with silenced(UserWarning):
    ...     warn("nobody needs to know", UserWarning)
    """
    token = _silenced.set((*_silenced.get(), (category, beginning)))
    try:
        yield
    finally:
        _silenced.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """A warning that points at the user's line, however deep in the package it arises."""
    for kind, beginning in _silenced.get():
        if issubclass(category, kind) and message.startswith(beginning):
            return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in SKIPPED_PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
