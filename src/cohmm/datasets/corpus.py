"""What the loaders of text return, and what they share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

Subset = Literal["all", "train", "test"]


@dataclass(frozen=True)
class Corpus:
    """Texts, and what is known of each.

    Parameters
    ----------
    name : str
        What it is called.
    texts : tuple of str
        The documents.
    labels : tuple of tuples of str
        What each is about, or whose it is; there may be none, or several.
    ids : tuple of str
        What to call each.
    dates : tuple of str
        When each was written, as ISO 8601 has it, a year at least; empty where nobody knows.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    ids: tuple[str, ...]
    dates: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not len(self.texts) == len(self.labels) == len(self.ids):
            raise ValueError(
                f"{self.name}: {len(self.texts)} texts, {len(self.labels)} labels and "
                f"{len(self.ids)} ids"
            )
        if self.dates and len(self.dates) != len(self.texts):
            raise ValueError(f"{self.name}: {len(self.texts)} texts and {len(self.dates)} dates")

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {len(self):,} documents)"


def parts_of(subset: Subset) -> Iterable[Literal["train", "test"]]:
    """Train, test, or both."""
    if subset not in get_args(Subset):
        raise ValueError(f"subset must be one of {', '.join(get_args(Subset))}, not {subset!r}")
    return ("train", "test") if subset == "all" else (subset,)


def decode(data: bytes, encoding: str, place: str) -> str:
    """Text, or an error that names the place."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: not {encoding} text ({error})") from None
