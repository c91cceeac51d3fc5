"""Where data files are: in the folder that COHMM_DATA names, in the cache, or on the network.

Nothing is fetched unless it was asked for.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "COHMM_DATA"


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


def members(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The files in a tar archive whose names are ``wanted``, in the order of their names."""
    contents = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and wanted(member.name):
                    file = archive.extractfile(member)
                    assert file is not None
                    contents[member.name] = file.read()
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is no tar archive, or is damaged ({error})") from None
    return dict(sorted(contents.items()))
