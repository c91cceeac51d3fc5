"""Partitions of Dask's collections, or of files, worked on by Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import dask
import numpy as np
import pyarrow as pa
from dask.delayed import Delayed, delayed

from cohmm._validation import shown
from cohmm.data.arrow import chosen_column
from cohmm.data.parts import EngineError, Failed, Parts, add_all, on_part, progress_callback
from cohmm.distributed.backend import (
    Backend,
    Partitions,
    Rows,
    as_elements,
    grouped,
    on_rows,
)
from cohmm.distributed.files import Columns, FilePart, rows_of

FAN_IN = 8  # values that one task adds up
AT_A_TIME = 16  # tables that are computed before they are given
PLACE = "cohmm: place"  # where a row stands, while rows are brought together
GONE = (
    "the Dask cluster could not finish: its scheduler is gone, or workers died or ran out of memory"
)
LOST = (
    "KilledWorker",
    "CommClosedError",
    "CancelledError",
    "FutureCancelledError",
    "FuturesCancelledError",
    "NoWorkerError",
    "ClosedClientError",
)
LARGE = "distributed.admin.large-graph-warning-threshold"


class DaskBackend(Backend):
    """Parts that Dask computes.

    Parameters
    ----------
    parts : list of Delayed
        What each part is.
    client : dask.distributed.Client or None
        Who computes; None: the current one, or this process.
    meta : DataFrame or None
        The keys of the answers, without rows, where these are a DataFrame and not a Bag.
    places : list of str or None
        What each part is called in messages.
    """

    def __init__(
        self,
        parts: list[Delayed],
        client: Any = None,
        meta: Any = None,
        places: list[str] | None = None,
    ) -> None:
        self.parts = parts
        self.client = client
        self.meta = meta
        self.places = places
        self.n_partitions = len(parts)

    def place(self, number: int) -> str:
        """Which part this is, in words for an error message."""
        return super().place(number) if self.places is None else self.places[number]

    def _tasks(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> list[Delayed]:
        # What is sent to all is a task as well, so that no worker has the only copy.
        shared = delayed(_itself)(delayed(broadcast, traverse=False, pure=False))
        return [
            delayed(on_part)(function, number, part, shared)
            for number, part in enumerate(self.parts)
        ]

    def keep(self, function: Callable[..., Any], *broadcast: Any) -> Parts:
        """What workers keep: if one dies, its parts are made again from the collection."""
        with self._computing():
            kept = _with_progress(list(dask.persist(*self._tasks(function, broadcast))))
        return DaskBackend(kept, self.client, None, self.places)

    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        with self._computing():
            # Held until all is added up: workers forget what nobody refers to any more.
            values = held = _with_progress(self._tasks(function, broadcast))
            while len(values) > 1:
                blocks = range(0, len(values), FAN_IN)
                values = [delayed(add_all)(values[i : i + FAN_IN]) for i in blocks]
            total = dask.compute(values[0])[0]
            del held
            return total

    def answers(self, function: Callable[[Rows], pa.Table], schema: pa.Schema | None) -> Any:
        """A DataFrame for a DataFrame, where the schema is known; else a Bag."""
        if self.meta is None or schema is None:
            from dask.bag import from_delayed

            return from_delayed([delayed(_elements)(function, part) for part in self.parts])
        from dask.dataframe import from_delayed as frame_from_delayed

        meta = self.meta.join(schema.empty_table().to_pandas())
        frames = [delayed(_frame)(function, part) for part in self.parts]
        return frame_from_delayed(frames, meta=meta, verify_meta=False)

    def tables(self, function: Callable[[Rows], pa.Table]) -> Iterator[pa.Table]:
        """One per part, in order: some are computed at a time."""
        tasks = [delayed(on_rows)(function, part) for part in self.parts]
        for first in range(0, len(tasks), AT_A_TIME):
            with self._computing():
                tables = dask.compute(*tasks[first : first + AT_A_TIME])
            yield from tables

    @contextmanager
    def _computing(self) -> Iterator[None]:
        with (
            dask.config.set({LARGE: "1 TB"}),  # models travel with their tasks, by intention
            nullcontext() if self.client is None else self.client.as_current(),
        ):
            try:
                yield
            except Exception as error:
                if _is_of_cluster(error):
                    raise EngineError(f"{GONE} ({_in_short(error)})") from error
                raise


def from_collection(
    collection: Any, column: str | None, group: str | None, order: str | None, client: Any
) -> Partitions:
    """Partitions of a Bag, an Array or a DataFrame."""
    kind = type(collection).__name__
    if kind == "DataFrame":
        return from_dataframe(collection, column, group, order, client)
    given = [name for name in (column, group, order) if name is not None]
    if given:
        raise ValueError(f"{shown(given[0])} is the column of a frame: a Dask {kind} has none")
    if kind == "Bag":
        parts = collection.to_delayed()
    elif kind == "Array":
        parts = _blocks(collection)
    else:
        raise ValueError(f"a Dask {kind} is no Bag, DataFrame or Array: give one of these")
    return Partitions(DaskBackend([delayed(_as_rows)(part) for part in parts], client))


def from_dataframe(
    frame: Any, column: str | None, group: str | None, order: str | None, client: Any
) -> Partitions:
    """Partitions of a DataFrame; rows of a group are brought together where they may not be."""
    if group is not None and frame.index.name == group and frame.known_divisions:
        frame, together = frame.reset_index(), True
    else:
        # Of rows that were shuffled by a second column as well, a group is in many partitions.
        together = (group,) in frame.unique_partition_mapping_columns_from_shuffle
    column = chosen_column(frame.columns, column, group, order)
    frame = frame[[name for name in (column, group, order) if name is not None]]
    if group is not None and not together:
        # A shuffle brings rows in any order: that in which they stood decides between equal ones.
        frame = frame.map_partitions(_with_places, meta=_with_places(frame._meta))
        frame = frame.shuffle(on=group)
    parts = [delayed(_grouped)(part, column, group, order) for part in frame.to_delayed()]
    meta = frame._meta[[group] if group else []].reset_index(drop=True)
    return Partitions(DaskBackend(parts, client, meta), group)


def from_file_parts(
    parts: list[FilePart], column: str | None, group: str | None, order: str | None, client: Any
) -> Partitions:
    """Partitions of files that workers read: they must see them under the same paths."""
    if group is None:
        rows = [delayed(_rows_of_file)(part, column) for part in parts]
        return Partitions(DaskBackend(rows, client, None, [part.place for part in parts]))
    from dask.dataframe import from_map

    frame = from_map(_frame_of_file, parts, names=(column, group, order))  # not columns: Dask's own
    return from_dataframe(frame, column, group, order, client)


def _rows_of_file(part: FilePart, column: str | None) -> Rows | Failed:
    return rows_of([part], (column, None, None))


def _frame_of_file(part: FilePart, names: Columns) -> Any:
    return part.table(names).to_pandas()


def _blocks(array: Any) -> list[Delayed]:
    """The rows of an array, in blocks of whole rows."""
    if array.ndim == 2 and array.shape[1] != 1:
        if array.numblocks[1] > 1:
            array = array.rechunk({1: -1})
        return list(array.to_delayed().ravel())
    if array.ndim > 2:
        raise ValueError(f"an array has a row per sequence, not the shape {array.shape}")
    if array.numblocks[0] > 1:
        raise ValueError(
            f"this array is one sequence in {array.numblocks[0]} blocks, which would be cut at "
            "their ends: give one sequence per row, or a DataFrame with group=, or rechunk it to "
            "one block"
        )
    return [delayed(_one_row)(block) for block in array.to_delayed().ravel()]


def _with_progress(tasks: list[Delayed]) -> list[Delayed]:
    """The same tasks; the progress callback, if any, hears of each that is done."""
    callback = progress_callback()
    if callback is None:
        return tasks
    tasks = list(dask.persist(*tasks))
    try:
        from distributed import as_completed, futures_of
    except ImportError:  # this process has computed all of them
        return tasks
    futures = futures_of(tasks)  # none where there is no cluster
    for done, _ in enumerate(as_completed(futures) if futures else [], 1):
        callback(done, len(tasks))
    return tasks


def _is_of_cluster(error: Exception) -> bool:
    """Whether it is the cluster that failed, not what was asked of it: a file may be missing."""
    return type(error).__name__ in LOST or isinstance(error, (ConnectionError, TimeoutError))


def _in_short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"


def _itself(value: Any) -> Any:
    return value


def _as_rows(values: Any) -> Rows:
    return Rows(values if isinstance(values, np.ndarray) else list(values))


def _one_row(block: np.ndarray) -> np.ndarray:
    return np.asarray(block).reshape(1, -1)


def _with_places(frame: Any, partition_info: Any = None) -> Any:
    number = 0 if partition_info is None else partition_info["number"]
    return frame.assign(**{PLACE: (np.int64(number) << 40) + np.arange(len(frame))})


def _grouped(frame: Any, column: str, group: str | None, order: str | None) -> Rows | Failed:
    if PLACE in frame.columns:
        frame = frame.sort_values(PLACE)
    try:
        return grouped(pa.Table.from_pandas(frame, preserve_index=False), column, group, order)
    except (ValueError, pa.ArrowException) as error:
        return Failed(-1, ValueError(str(error)))


def _elements(function: Callable[[Rows], pa.Table], rows: Rows) -> list[Any]:
    return as_elements(on_rows(function, rows))


def _frame(function: Callable[[Rows], pa.Table], rows: Rows) -> Any:
    return on_rows(function, rows).to_pandas()
