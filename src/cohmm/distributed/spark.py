"""Partitions of a Spark DataFrame, worked on by Spark.

Only DataFrames and ``mapInArrow`` are used, which Spark Connect has as well.  A task makes one part
of its partition, and gives back rows of a number and of pickled bytes: Spark carries them between
processes, and nobody else reads them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from itertools import groupby
from math import isqrt
from typing import Any
from uuid import uuid4
from warnings import catch_warnings, filterwarnings
from weakref import finalize

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructField, StructType

from cohmm._validation import shown
from cohmm.data.arrow import chosen_column, list_column
from cohmm.data.parts import Failed, Parts, add_all, on_part
from cohmm.distributed.backend import Backend, Partitions, Rows, on_rows

SYMBOL, KEY, ORDER, BEGINS = "symbol", "key", "order", "begins"  # columns of rows
NUMBER, PIECE, BYTES = "number", "piece", "bytes"  # columns of values on their way
ROW_BYTES = 2**26  # of a value in one row: neither Spark nor Arrow can hold 2**31
SENT = f"{NUMBER} int, {PIECE} int, {BYTES} binary"  # what tasks give
FEW = 8  # parts whose values this process adds up by itself
FIRST_ROWS = 20  # from which the schema of answers is learnt, where it is not given
PLACE = "place"
ABSENT = (
    "Spark's workers cannot import this cohmm: install it for the Python that they run, which the "
    "environment variable PYSPARK_PYTHON names"
)


Batches = Iterable[pa.RecordBatch]


class SparkParts(Parts):
    """Parts that Spark's tasks work on.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame or None
        Rows from which the parts are made; None in another process than that of the session.
    parts : callable
        The numbers and parts that a task makes of the rows of its partition.
    n_partitions : int, optional
        How many there are, where that is known.
    """

    def __init__(
        self,
        frame: Any,
        parts: Callable[[Batches], Iterator[tuple[int, Any]]],
        n_partitions: int | None = None,
    ) -> None:
        self._frame = frame
        self._parts = parts
        self._known = n_partitions

    def _mapped(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> DataFrame:
        if self._frame is None:
            raise ValueError(
                "the parts of this data were left with their Spark session: read it again"
            )
        # The name makes every frame another one to Spark, which keeps equal ones once, and
        # would drop all of them with the first.
        work = partial(_work, uuid4().hex, self._parts, function, broadcast)
        return _map_in_arrow(self._frame, work, SENT)

    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        values = self._mapped(function, broadcast)
        if self._known is None or self._known > FEW:
            together = values.repartition(sql.floor(sql.sqrt(NUMBER)))
            values = _map_in_arrow(together.sortWithinPartitions(NUMBER, PIECE), _added, SENT)
        found = _fetched(values).sort_by([(NUMBER, "ascending"), (PIECE, "ascending")])
        return add_all(value for _, value in _unpacked(found.to_batches()))

    def keep(self, function: Callable[..., Any], *broadcast: Any) -> SparkParts:
        """What executors keep, in memory or on disk, until nobody here has it any more."""
        frame = self._mapped(function, broadcast)
        frame.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            numbers = _fetched(frame.select(NUMBER))[NUMBER]
        except BaseException:
            _release(frame)
            raise
        kept = SparkParts(frame, _unpacked, len(numbers.unique()))
        finalize(kept, _release, frame).atexit = False
        return kept

    def __reduce__(self) -> tuple[Any, ...]:
        return SparkParts, (None, _unpacked)  # so that a fitted model can be pickled


class SparkBackend(SparkParts, Backend):
    """The partitions of a DataFrame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        What `_group_rows` gives, where there is a group, else one column.
    rows : callable
        The `Rows` that batches of it are.
    group : str or None
        What the keys are called in answers.
    """

    def __init__(
        self, frame: DataFrame, rows: Callable[[Batches], Rows], group: str | None
    ) -> None:
        super().__init__(frame, partial(_one_part, rows))
        self._rows = rows
        self._group = group

    @cached_property
    def n_partitions(self) -> int:  # type: ignore[override]
        """How many there are: Spark knows after a pass, where it chooses the number itself."""
        return int(self.map_sum(_one))

    def answers(self, function: Callable[[Rows], pa.Table], schema: pa.Schema | None) -> DataFrame:
        """A DataFrame; without a schema the function is tried on the first rows, here."""
        if schema is None:
            known = from_arrow_schema(self._schema_of_first(function))
        else:
            known = from_arrow_schema(schema)
            if self._group is not None:
                key = StructField(self._group, self._frame.schema[KEY].dataType)
                known = StructType([key, *known.fields])
        answer = partial(_answer, self._parts, function, to_arrow_schema(known))
        return _map_in_arrow(self._frame, answer, known)

    def _schema_of_first(self, function: Callable[[Rows], pa.Table]) -> pa.Schema:
        first = _fetched(self._frame.limit(FIRST_ROWS))
        if not len(first):
            raise ValueError("there are no rows, so the type of answers is unknown: give a schema")
        schema = on_rows(function, self._rows(first.to_batches())).schema
        for field in schema:
            if "null" in str(field.type):
                raise ValueError(
                    f"the first rows do not tell the type of {shown(field.name)}, which is "
                    f"{field.type} in their answers: give a schema"
                )
        return schema


def from_frame(frame: Any, column: str | None, group: str | None, order: str | None) -> Partitions:
    """Partitions of a Spark DataFrame."""
    if not isinstance(frame, DataFrame):
        raise ValueError(
            f"a Spark {type(frame).__name__} is no DataFrame of pyspark.sql: give one "
            "(toDF() of an RDD, to_spark() of a frame of pyspark.pandas)"
        )
    if frame.isStreaming:
        raise ValueError("this DataFrame is a stream, which has no end: give its rows of some time")
    column = chosen_column(frame.columns, column, group, order)
    try:
        if group is None:
            frame = frame.select(_column(column).alias(SYMBOL))
        else:
            frame = _group_rows(frame, column, group, order)
        schema = to_arrow_schema(frame.schema)
    except PySparkException as error:
        names = ", ".join(shown(name) for name in (column, group, order) if name is not None)
        why = str(error).split("\n", 1)[0]
        raise ValueError(f"Spark cannot give the rows of {names}: {why}") from None
    rows = partial(_grouped_rows, schema, group, order) if group else partial(_plain_rows, schema)
    return Partitions(SparkBackend(frame, rows, group), group)


def _column(name: str) -> Any:
    return sql.col("`" + name.replace("`", "``") + "`")


def _group_rows(frame: DataFrame, column: str, group: str, order: str | None) -> DataFrame:
    """Rows of a group one after the other, in their order, each with whether it is the first.

    A window wants the rows of a group in one partition, sorted: Spark moves them there only where
    they are not.  Rows of the same order stay as they stand.
    """
    named = [_column(column).alias(SYMBOL), _column(group).alias(KEY)]
    if order is not None:
        named.append(_column(order).alias(ORDER))
    frame = frame.select(*named, sql.monotonically_increasing_id().alias(PLACE))
    sorting = [PLACE] if order is None else [ORDER, PLACE]
    window = Window.partitionBy(KEY).orderBy(*sorting)
    return frame.withColumn(BEGINS, sql.row_number().over(window) == 1).drop(PLACE)


def _map_in_arrow(frame: DataFrame, function: Callable[..., Any], schema: Any) -> DataFrame:
    with catch_warnings():  # pyspark warns of pandas 3, which takes no part in this
        filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, schema)


def _fetched(frame: DataFrame) -> pa.Table:
    try:
        return frame.toArrow()
    except PySparkException as error:
        if "No module named 'cohmm" in str(error):
            raise ValueError(ABSENT) from None
        raise


def _release(frame: DataFrame) -> None:
    with suppress(Exception):  # the session may have ended, which releases all
        frame.unpersist()


# What tasks do, in the processes of the executors.


def _plain_rows(schema: pa.Schema, batches: Batches) -> Rows:
    """One column, as it is."""
    return Rows(_table(schema, batches)[SYMBOL].combine_chunks())


def _grouped_rows(schema: pa.Schema, group: str, order: str | None, batches: Batches) -> Rows:
    """A list per group, from rows of which the first of each is marked."""
    table = _table(schema, batches)
    for place, name in ((KEY, group), (ORDER, order)):
        if name is not None and table[place].null_count:
            raise ValueError(f"the column {shown(name)} is empty in some row")
    starts = np.flatnonzero(table[BEGINS].to_numpy())
    lengths = np.diff(starts, append=len(table))
    values = list_column(table[SYMBOL].combine_chunks(), lengths)
    return Rows(values, table[KEY].take(pa.array(starts)).combine_chunks())


def _table(schema: pa.Schema, batches: Batches) -> pa.Table:
    own = list(batches)
    return pa.Table.from_batches(own) if own else schema.empty_table()


def _packed(number: int, value: Any) -> Iterator[pa.RecordBatch]:
    """Rows with a value, cut where it is long."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    for piece, first in enumerate(range(0, len(data), ROW_BYTES)):
        yield pa.record_batch(
            [
                pa.array([number], pa.int32()),
                pa.array([piece], pa.int32()),
                pa.array([data[first : first + ROW_BYTES]], pa.binary()),
            ],
            [NUMBER, PIECE, BYTES],
        )


def _unpacked(batches: Batches) -> Iterator[tuple[int, Any]]:
    """The numbers and values of rows that are in order."""
    rows = (
        (number.as_py(), data)
        for batch in batches
        for number, data in zip(batch[NUMBER], batch[BYTES], strict=True)
    )
    for number, pieces in groupby(rows, key=lambda row: row[0]):
        yield number, pickle.loads(b"".join(data.as_buffer() for _, data in pieces))


def _added(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The sums of parts 0, 1 to 3, 4 to 8 ...: the root of their number, however many there are."""
    for block, values in groupby(_unpacked(batches), key=lambda pair: isqrt(pair[0])):
        yield from _packed(block, add_all(value for _, value in values))


def _work(
    _: str,
    parts: Callable[[Batches], Iterator[tuple[int, Any]]],
    function: Callable[..., Any],
    broadcast: tuple[Any, ...],
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    n_threads = TaskContext.get().cpus()
    for number, part in parts(batches):
        yield from _packed(number, on_part(function, number, part, broadcast, n_threads))


def _answer(
    parts: Callable[[Batches], Iterator[tuple[int, Any]]],
    function: Callable[[Rows], pa.Table],
    schema: pa.Schema,
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    for number, rows in parts(batches):
        try:
            if isinstance(rows, Failed) or len(rows.values):
                table = on_rows(function, rows, TaskContext.get().cpus())
                yield from table.cast(schema).to_batches()
        except ValueError as error:
            raise ValueError(f"partition {number}: {error}") from error


def _one(_: Rows) -> int:
    return 1


def _one_part(
    rows: Callable[[Batches], Rows], batches: Batches
) -> Iterator[tuple[int, Rows | Failed]]:
    try:
        part: Rows | Failed = rows(batches)
    except (ValueError, pa.ArrowException) as error:
        part = Failed(-1, ValueError(str(error)))
    yield TaskContext.get().partitionId(), part
