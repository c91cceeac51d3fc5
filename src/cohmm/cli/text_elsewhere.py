"""Documents that do not come into memory: on disk, or on the workers of a cluster."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohmm.cli.parquet_output import is_parquet, write_tables
from cohmm.cli.program import say, say_later
from cohmm.cli.text_input import Words, as_options

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.data.partitioned import Partitioned
    from cohmm.distributed import Partitions
    from cohmm.estimators.htmm import HTMM

LEAST_BLOCK = 2**20
BLOCK_OF_A_WORKER = 2**24  # bytes of text: every worker has one in memory, with its words
SHARE = 64  # a block of text is this share of the cap: its words take some times its size
DOCUMENTS = 2**14  # whose shares are computed at a time


def texts_elsewhere(
    inputs: list[str], column: str | None, encoding: str, client: Any, memory: str | None
) -> Partitions:
    """Files with a document per line or row, in blocks that a cap on memory has room for."""
    from cohmm.data.memory import as_bytes
    from cohmm.distributed import Partitions, files

    option = "--memory" if client is None else "--workers and --scheduler"
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise ValueError(f"{option} reads UTF-8, not --encoding {encoding}")
    for path in inputs:
        if path == "-" or Path(path).is_dir():
            what = "standard input" if path == "-" else f"{path}, a folder"
            raise ValueError(f"{option} reads files with a document per line or row, not {what}")
    cap = as_bytes(memory)
    usual = files.BLOCK if client is None else BLOCK_OF_A_WORKER
    block = usual if cap is None else min(usual, max(LEAST_BLOCK, cap // SHARE))
    return Partitions.of(inputs, column=column, client=client, block=block)


def far(data: Partitions, words: Words) -> Partitioned:
    """The documents, cut into words where they are."""
    from cohmm.data.text import TextWarning, read_documents

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", TextWarning)
        try:
            documents: Any = read_documents(data, **words._asdict())
        except ValueError as error:
            raise ValueError(as_options(str(error))) from None
    for warning in heard:
        say_later(str(warning.message).split(":")[0])
    return documents  # type: ignore[no-any-return]


def check_shares(path: Path | None) -> None:
    """Whether shares can be written to such a file."""
    if path is not None and not is_parquet(path):
        raise ValueError(f"--shares {path}: it is Parquet, so let its name end in .parquet")


def write_shares(model: HTMM, data: Partitions | Documents, path: Path) -> None:
    """The number of every document, and its shares of the topics."""
    import pyarrow as pa

    from cohmm.distributed import Partitions
    from cohmm.topics.export import SHARES, row_shares

    if isinstance(data, Partitions):
        tables = data.tables(partial(row_shares, model._model(), model._reading()), SHARES)
    else:
        tables = _in_memory(model, data)
    schema = SHARES.insert(0, pa.field("document", pa.int64()))
    n = write_tables(_numbered(tables), schema, path)
    say(f"{path}: shares of {n:,} documents")


def _in_memory(model: HTMM, documents: Documents) -> Iterator[Any]:
    import numpy as np

    from cohmm.topics.export import shares_table

    for first in range(0, len(documents), DOCUMENTS):
        some = documents.select(np.arange(first, min(first + DOCUMENTS, len(documents))))
        yield shares_table(model.transform(some))


def _numbered(tables: Iterator[Any]) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    n = 0
    for table in tables:
        numbers = pa.array(np.arange(n, n + len(table), dtype=np.int64))
        yield table.add_column(0, "document", numbers)
        n += len(table)
