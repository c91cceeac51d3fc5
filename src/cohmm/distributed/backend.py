"""Partitions: rows of data that a backend holds, whichever it is."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.arrow import group_rows, list_column, take_cells
from cohmm.data.parts import Failed, Parts
from cohmm.kernels.threads import threads

VALUE = "value"  # the column of answers that have no names


class Rows(NamedTuple):
    """A partition, one row per sequence or document; ``keys`` are the groups, where there are."""

    values: Any
    keys: pa.Array | None = None


class Backend(Parts):
    """Parts that are `Rows`, held by something that can work on all of them."""

    n_partitions: int

    @abstractmethod
    def answers(self, function: Callable[[Rows], pa.Table], schema: pa.Schema | None) -> Any:
        """A collection, not computed yet, of the rows of ``function(Rows)``.

        ``schema`` is that of the table without keys, where it is known.
        """

    def tables(self, function: Callable[[Rows], pa.Table]) -> Iterator[pa.Table]:
        """The tables of ``function(Rows)``, in the order of the parts, as they are computed."""
        raise ValueError("this engine gives its own collection: use map_rows, and write that")


class Partitions(Parts):
    """Data in partitions of a Dask or Spark collection, or of files.

    Whatever learns takes it in place of data in memory; whatever answers gives a collection of
    the same engine.  Nothing is read before it is needed.
    """

    def __init__(
        self, backend: Backend, group: str | None = None, change: Callable[[Any], Any] | None = None
    ) -> None:
        self._backend = backend
        self.group = group
        self._change = change

    @staticmethod
    def of(
        collection: Any,
        column: str | None = None,
        group: str | None = None,
        order: str | None = None,
        *,
        client: Any = None,
        block: int | None = None,
    ) -> Partitions:
        """Partitions of ``collection``.

        Parameters
        ----------
        collection : Dask Bag, DataFrame or Array, Spark DataFrame, path or list of paths
            An element of a Bag, a row of a two-dimensional Array, or a row of ``column`` is a
            sequence or a document, as whoever reads it expects.  Paths may have wildcards.
        column : str, optional
            The column of a frame or of files; default: the only one.
        group : str, optional
            Rows are symbols, and those with the same value in this column are a sequence, in
            whichever partitions they are.
        order : str, optional
            The column that puts the rows of a group in order; default: as they stand.
        client : dask.distributed.Client, optional
            Who works on files, or on a Dask collection; default: for files this process, for a
            collection Dask's own choice.
        block : int, optional
            Bytes of text, or of Parquet, in a partition of a file; default: 64 MB.

        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.txt")
        >>> _ = path.write_text("sun rain\\nrain rain sun\\n")
        >>> Partitions.of(path).map_sum(len)
        2
        """
        if order is not None and group is None:
            raise ValueError(
                f"order={shown(order)} is that of the rows of a group: say which (group=)"
            )
        engine = type(collection).__module__.split(".")[0]
        if engine in ("dask", "dask_expr"):
            from cohmm.distributed.dask import from_collection

            return from_collection(collection, column, group, order, client)
        if engine == "pyspark":
            from cohmm.distributed.spark import from_frame

            if client is not None:
                raise ValueError("client is one of Dask: a Spark DataFrame has its own session")
            return from_frame(collection, column, group, order)
        if _are_paths(collection):
            from cohmm.distributed.files import from_files

            return from_files(collection, column, group, order, client, block)
        raise ValueError(
            "partitions are those of a Dask Bag, DataFrame or Array, of a Spark DataFrame or of "
            f"files, not of a {type(collection).__name__}; data in memory needs no partitions"
        )

    @property
    def n_partitions(self) -> int:
        """How many partitions there are."""
        return self._backend.n_partitions

    def with_rows(self, change: Callable[[Any], Any]) -> Partitions:
        """The same partitions, of which a learner sees ``change(rows)``."""
        return Partitions(self._backend, self.group, change)

    def map_rows(self, function: Callable[[Any], Any], schema: pa.Schema | None = None) -> Any:
        """What ``function`` makes of the rows of each partition, as a collection of the engine.

        Nothing is computed yet.  ``function`` gets a column of rows, and gives one answer for each
        of them: a list, or a pyarrow table, whose ``schema`` an engine may want to know before.
        With groups their keys come first.
        """
        return self._backend.answers(partial(answered, function, self.group, schema), schema)

    def tables(self, function: Callable[[Any], Any], schema: pa.Schema) -> Iterator[pa.Table]:
        """As `map_rows`, computed, a table per partition: of files, and of Dask's collections."""
        return self._backend.tables(partial(answered, function, self.group, schema))

    def keep(self, function: Callable[..., Any], *broadcast: Any) -> Parts:
        """``function(number, rows, *broadcast)`` of every partition, kept by the workers."""
        return self._backend.keep(_on_values, self._change, function, *broadcast)

    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        return self._backend._sum(_on_values, (self._change, function, *broadcast))

    def place(self, number: int) -> str:
        """Which partition this is, in words for an error message."""
        return self._backend.place(number)


def _are_paths(collection: Any) -> bool:
    if isinstance(collection, (str, os.PathLike)):
        return True
    return (
        isinstance(collection, (list, tuple))
        and len(collection) > 0
        and all(isinstance(path, (str, os.PathLike)) for path in collection)
    )


def _on_values(
    number: int,
    rows: Rows,
    change: Callable[[Any], Any] | None,
    function: Callable[..., Any],
    *broadcast: Any,
) -> Any:
    return function(number, rows.values if change is None else change(rows.values), *broadcast)


def grouped(table: pa.Table, column: str, group: str | None, order: str | None) -> Rows:
    """Rows of a table as they are, or as one list per group."""
    order_of_rows, keys, lengths = group_rows(table, group, order)
    values = take_cells(table, column, order_of_rows)
    return Rows(values if lengths is None else list_column(values, lengths), keys)


def answered(
    function: Callable[[Any], Any], group: str | None, schema: pa.Schema | None, rows: Rows
) -> pa.Table:
    """What ``function`` gives for the rows of a partition, one row each, with their keys."""
    answers = function(rows.values)
    if not isinstance(answers, pa.Table):
        answers = pa.table({VALUE: pa.array(list(answers))})
    if schema is not None:
        answers = answers.cast(schema)
    if len(answers) != len(rows.values):
        raise ValueError(
            f"the function gives {len(answers)} answers for {len(rows.values)} rows: one each"
        )
    if rows.keys is None or group is None:
        return answers
    return answers.add_column(0, group, rows.keys)


def on_rows(
    function: Callable[[Rows], pa.Table], rows: Rows | Failed, n_threads: int = 1
) -> pa.Table:
    """``function(rows)``, with the threads that a worker has for it."""
    if isinstance(rows, Failed):
        raise rows.error
    with threads(n_threads):
        return function(rows)


def as_elements(table: pa.Table) -> list[Any]:
    """Rows of a table as elements of a Bag: plain values where there is one column."""
    if table.num_columns == 1:
        return list(table.column(0).to_pylist())
    return list(table.to_pylist())
