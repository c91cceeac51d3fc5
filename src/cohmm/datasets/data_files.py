"""Data files, and what loaders make of them.

Files are in the folder that COHMM_DATA names, in the cache, or on the network; nothing is fetched
unless ``download=True`` says so.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

VARIABLE = "COHMM_DATA"
Subset = Literal["all", "train", "test"]


class MissingData(ValueError):
    """A data file that is in none of the places where it is looked for."""


@dataclass(frozen=True)
class DataFile:
    """A file of a corpus.

    Parameters
    ----------
    packed : str
        The name of the archive that holds it in a folder of data.
    name : str
        Its own name, which it has in the cache after a download.
    address : str
        Where the public has it.
    sha256 : str, optional
        Of the public file.  None where the file that we know is packed in another way: then
        only its format is checked, by reading it.
    """

    packed: str
    name: str
    address: str
    sha256: str | None = None

    def find(self, *, download: bool = False) -> Path:
        """Where the file is; fetched if need be, and if ``download`` says so."""
        for folder in _folders():
            for name in dict.fromkeys((self.packed, self.name)):
                if (folder / name).is_file():
                    return folder / name
        if download:
            return self._fetched()
        names = " or ".join(dict.fromkeys((self.packed, self.name)))
        where = os.environ.get(VARIABLE)
        looked = f" (now {where})" if where else ""
        raise MissingData(
            f"{names} was not found. Three ways to get it: set the environment variable "
            f"{VARIABLE}{looked} to a folder that has it; put it into {cache_folder()}; or give "
            f"download=True to fetch {self.address}"
        )

    def content(self, path: Path) -> bytes:
        """What is in the file, which may be in an archive at ``path``, or compressed."""
        name = self.name.removesuffix(".gz")
        if path.name == self.packed:
            matching = members(path, lambda member: Path(member).name.removesuffix(".gz") == name)
            if not matching:
                raise ValueError(f"{path}: there is no {name} in it")
            ((inside, data),) = matching.items()
        else:
            inside, data = path.name, path.read_bytes()
        if not inside.endswith(".gz"):
            return data
        try:
            return gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is no gzip file, or is damaged ({error})") from None

    def _fetched(self) -> Path:
        try:
            import pooch
        except ImportError:
            raise ImportError(
                f"fetching {self.address} needs pooch: pip install 'cohmm[datasets]'"
            ) from None
        known = None if self.sha256 is None else f"sha256:{self.sha256}"
        try:
            fetched = pooch.retrieve(self.address, known, fname=self.name, path=cache_folder())
        except (OSError, ValueError) as error:  # no network, no such page, another content
            raise MissingData(f"{self.address} could not be fetched: {error}") from None
        return Path(fetched)


def cache_folder() -> Path:
    """Where downloads are kept."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "cohmm"


def _folders() -> Iterator[Path]:
    named = os.environ.get(VARIABLE)
    if named:
        yield Path(named)
    yield cache_folder()


def members(path: Path, matches: Callable[[str], bool]) -> dict[str, bytes]:
    """The files in a tar archive whose names match, in the order of their names."""
    contents = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and matches(member.name):
                    file = archive.extractfile(member)
                    assert file is not None
                    contents[member.name] = file.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is no tar archive, or is damaged ({error})") from None
    return dict(sorted(contents.items()))


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
