"""Answers that go to a Parquet file, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cohmm.atomic_write import replacing


def is_parquet(path: Path | None) -> bool:
    """Whether a file is to be Parquet, by its name."""
    return path is not None and path.suffix.lower() in (".parquet", ".pq")


def write_tables(tables: Iterable[Any], schema: Any, path: Path) -> int:
    """Write tables to a file that appears at the end; the number of rows."""
    from pyarrow.parquet import ParquetWriter

    n = 0
    with replacing(path) as file, ParquetWriter(file, schema) as writer:
        for table in tables:
            writer.write_table(table)
            n += len(table)
    return n
