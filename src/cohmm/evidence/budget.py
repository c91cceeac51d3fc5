"""How the memory that counting may take is shared out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cohmm.data.memory import LIBRARIES, MemoryCapError, as_bytes, in_words, resident
from cohmm.evidence.packed import Folder

LEAST = 96 * 2**20  # bytes beyond those of Python and its libraries: less is not worth trying
BATCH_BYTES = 28  # per symbol of a batch: its code and that of the next batch, its sort key, its
# part of sequences and counts
CHUNK_BYTES = 64  # per symbol that is being read and encoded
LABEL_BYTES = 400  # per label: two dictionaries, and what sorts and writes it at the end
SYMBOL_BYTES = 80  # per symbol that is a number: counts, and the widths of rows that are merged
LARGEST_BATCH = 2**26  # symbols; sorting more at a time is no faster


@dataclass(frozen=True)
class Budget:
    """A cap on the memory of this process, and the folder for what has no room below it.

    Of what is left beside Python and its libraries, a third is for a batch of symbols that is
    counted, an eighth for what is read, and the rest for sums of counts; or, when all is read,
    for merging them.
    """

    cap: int | None = None
    room: int | None = None
    folder: Folder = None

    @classmethod
    def of(cls, memory: int | str | None, folder: Folder = None) -> Budget:
        """Share out ``memory``, None for no cap."""
        cap = as_bytes(memory)
        if cap is None:
            return cls(None, None, folder)
        taken = max(resident(), LIBRARIES)
        if cap - taken < LEAST:
            raise MemoryCapError(
                f"a cap of {in_words(cap)} is too small: Python and its libraries alone have "
                f"{in_words(taken)}; give {in_words(taken + LEAST)} at least"
            )
        return cls(cap, cap - taken, folder)

    def batch(self, size: int) -> int:
        """How many symbols are counted at a time: ``size``, where there is no cap."""
        if self.room is None:
            return size
        return min(self.room // 3 // BATCH_BYTES, LARGEST_BATCH)

    def chunk(self, size: int) -> int:
        """How many symbols are read at a time: at most ``size``."""
        return size if self.room is None else min(size, self.room // 8 // CHUNK_BYTES)

    def held(self, n_lags: int) -> int | None:
        """Bytes for the sparse sums of a lag; as many are used while they are added."""
        return None if self.room is None else self.room // 16 // n_lags

    @property
    def merging(self) -> int | None:
        """Bytes to merge in, when all is read."""
        return None if self.room is None else self.room // 3

    def fits(self, size: int) -> bool:
        """Whether a result of so many bytes may stay in memory."""
        return self.room is None or size <= self.room // 3

    def beside(self, n_symbols: int, labelled: bool) -> Budget:
        """What is left beside a vocabulary, which must be held."""
        if self.cap is None or self.room is None:
            return self
        size = n_symbols * (LABEL_BYTES if labelled else SYMBOL_BYTES)
        if self.room - size < LEAST // 3:
            least = self.cap - self.room + size + LEAST // 3
            raise MemoryCapError(
                f"a cap of {in_words(self.cap)} is too small for {n_symbols:,} "
                f"{'labels' if labelled else 'symbols'}, which take about {in_words(size)} beside "
                f"Python and its libraries; give {in_words(1.01 * least)} at least"
            )
        return replace(self, room=self.room - size)

    def check(self, what: str) -> None:
        """Whether the cap still holds; ``what`` has to be held in memory."""
        if self.cap is not None and (taken := resident()) > self.cap:
            raise MemoryCapError(
                f"a cap of {in_words(self.cap)} is too small for {what}: this process has "
                f"{in_words(taken)}; give more"
            )
