"""How symbols and sequences are laid out in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cohmm.data.readers.source import Format, Source
from cohmm.data.values import listed, shown

EachRow = Literal["symbol", "sequence"]


@dataclass(frozen=True)
class Layout:
    """What to read from a file, and what a row of it is.

    Parameters
    ----------
    format : "text", "csv", "tsv", "jsonl" or "parquet", optional
        Default: what the file's name ends in says, text otherwise.
    column : str, optional
        The column of symbols; default: the only one.
    group : str, optional
        Each row is a symbol, and rows with the same value in this column are a sequence,
        also across files.
    order : str, optional
        The column by which rows are put in order; default: as they stand in the files.
    each_row : "symbol" or "sequence", optional
        Whether a cell is one symbol, and all rows of a file are one sequence; or a cell is a
        sequence: a list, or words between blanks.  Default: a sequence, unless the column
        holds numbers.
    characters : bool
        Every character of a line, or of a cell, is a symbol; line ends are not.
    """

    format: Format | None = None
    column: str | None = None
    group: str | None = None
    order: str | None = None
    each_row: EachRow | None = None
    characters: bool = False

    def __post_init__(self) -> None:
        if self.each_row not in (None, "symbol", "sequence"):
            raise ValueError(f"each_row must be 'symbol' or 'sequence', not {shown(self.each_row)}")
        if self.is_grouped and self.each_row == "sequence":
            raise ValueError("with group or order each row is a symbol, not a sequence")
        if self.characters and (self.is_grouped or self.each_row == "symbol"):
            raise ValueError("characters are those of a sequence: each row cannot be a symbol")

    @property
    def is_grouped(self) -> bool:
        """Whether rows are brought together by a key, or in an order of their own."""
        return self.group is not None or self.order is not None

    @property
    def symbol_rows(self) -> bool | None:
        """Whether a cell is one symbol; None where that is for the data to say."""
        if self.characters:
            return False
        return None if self.each_row is None else self.each_row == "symbol"

    def check(self, source: Source) -> None:
        """Text has no columns to choose from."""
        names = ("column", "group", "order", "each_row")
        given = [name for name in names if getattr(self, name) is not None]
        if source.format == "text" and given:
            raise source.error(
                f"text has no columns, so {given[0]} has no meaning; if this is CSV, JSON Lines "
                "or Parquet, give the format"
            )

    def columns(self, names: Sequence[str], source: Source) -> tuple[str, str | None, str | None]:
        """The columns to read out of the ``names`` that there are."""
        column = self.column
        if column is None:
            others = [name for name in names if name not in (self.group, self.order)]
            if len(others) != 1:
                raise source.error(f"say which column has the symbols: there are {listed(names)}")
            column = others[0]
        for name in (column, self.group, self.order):
            if name is not None and name not in names:
                raise source.error(f"there is no column {shown(name)}; there are {listed(names)}")
            if name is not None and list(names).count(name) > 1:
                raise source.error(f"there are {list(names).count(name)} columns {shown(name)}")
        return column, self.group, self.order
