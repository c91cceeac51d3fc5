"""Commands that leave this process: a Dask cluster for one command, or one that is running."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cohmm.cli.session import parts_bar

if TYPE_CHECKING:
    from cohmm.data.read_sequences import Layout
    from cohmm.distributed import Partitions

PATIENCE = "10s"  # for a scheduler to answer
NEEDED = "needs Dask: pip install 'cohmm[dask]'"


@contextmanager
def cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A client of Dask, if one was asked for; a bar shows the partitions that are done."""
    if workers is None and scheduler is None:
        yield None
        return
    if workers is not None and scheduler is not None:
        raise ValueError("--workers starts a cluster, --scheduler names one: give one of the two")
    option = "--workers" if scheduler is None else "--scheduler"
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(f"{option} {NEEDED}") from None
    from cohmm.data.parts import report_progress

    with parts_bar() as watcher, report_progress(watcher):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=PATIENCE)
            except (OSError, ValueError, ImportError) as error:
                raise ValueError(
                    f"--scheduler {scheduler}: no scheduler answers there "
                    f"({' '.join(str(error).split())[:120]})"
                ) from None
            with client:
                yield client
            return
        threads = max(1, (os.cpu_count() or 1) // (workers or 1))
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=threads,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as local,
            Client(local) as client,
        ):
            yield client


def partitions(inputs: list[str], layout: Layout, client: Any) -> Partitions:
    """The inputs as partitions, for a client or for this process."""
    from cohmm.distributed import Partitions

    if "-" in inputs:
        raise ValueError("standard input is in this process alone: give files")
    if layout.format is not None or layout.each_row is not None:
        raise ValueError(
            "--workers and --scheduler read files by their names, and rows as sequences: leave out "
            "--format and --each-row"
        )
    return Partitions.of(
        inputs, column=layout.column, group=layout.group, order=layout.order, client=client
    )


def symbols_of(data: Partitions, integers: bool) -> Partitions:
    """The same rows, whose symbols are whole numbers if these are asked for, else labels.

    So it is where one process reads: whatever a file holds, "7" and 7 are the same label.
    """
    return data.with_rows(_integers if integers else _labels)


def _labels(rows: Any) -> Any:
    import pyarrow as pa

    if not isinstance(rows, (pa.ListArray, pa.LargeListArray)):
        return rows
    kind = rows.type.value_type
    if pa.types.is_floating(kind):
        try:
            rows = rows.cast(pa.large_list(pa.int64()))
        except pa.ArrowInvalid as error:
            raise ValueError(f"a symbol is not whole: {error}") from None
    if pa.types.is_integer(rows.type.value_type):
        rows = rows.cast(pa.large_list(pa.large_string()))
    return rows


def _integers(rows: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    if isinstance(rows, (pa.ListArray, pa.LargeListArray)) and pa.types.is_integer(
        rows.type.value_type
    ):
        return rows
    items = rows.to_pylist() if hasattr(rows, "to_pylist") else rows
    found = []
    for number, row in enumerate(items):
        words = row.split() if isinstance(row, str) else list(row or ())
        try:
            found.append(np.array(words, np.int64) if words else np.empty(0, np.int64))
        except (ValueError, TypeError, OverflowError):
            raise ValueError(f"row {number} has a symbol that is no whole number") from None
    return found
