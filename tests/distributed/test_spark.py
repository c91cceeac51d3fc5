"""Partitions of Spark's DataFrames, in a real session: what they give is what the data gives."""

from __future__ import annotations

import gc
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cohmm
from cohmm import HTMM, Cooccurrence, PairwiseHMM, count_pairs, count_triples
from cohmm.data.partitioned import as_data
from cohmm.datasets.synthetic import random_hmm
from cohmm.distributed import Partitions
from cohmm.distributed import spark as spark_backend
from cohmm.kernels.threads import n_threads
from tests.distributed.data_at_hand import (
    K,
    assert_same_topics,
    local_topics,
    rows_of_symbols,
    texts,
)
from tests.distributed.data_at_hand import sequences as labels

pyspark = pytest.importorskip("pyspark", reason="the extra spark is missing")

NO_JAVA = "there is no Java, which Spark needs (Debian: apt-get install openjdk-17-jre-headless)"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java that starts fast and does little
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.default.parallelism": 2,
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.adaptive.coalescePartitions.enabled": False,
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Two executor threads; frames of Arrow tables have two partitions."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip(NO_JAVA)
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2]")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def sequences() -> list[list[int]]:
    hmm = random_hmm(6, 2, stay=0.9, random_state=2)
    lengths = np.random.default_rng(0).integers(1, 60, 100)
    return [hmm.sample(n, random_state=i)[0].tolist() for i, n in enumerate(lengths)]


def frame(spark: Any, **columns: Any) -> Any:
    return spark.createDataFrame(pa.table(columns))


def many(one: Any) -> Any:
    """Eleven partitions of one column, three of which are empty."""
    nothing = one.sparkSession.range(3, numPartitions=3).where("id > 9")
    kind = one.dtypes[0][1]
    return one.union(one).union(nothing.selectExpr(f"CAST(NULL AS {kind})")).union(one).union(one)


def kept_by_spark(spark: Any) -> int:
    gc.collect()
    return int(spark.sparkContext._jsc.getPersistentRDDs().size())


def test_counts_of_numbers_are_the_local_ones(spark: Any, sequences: list[list[int]]) -> None:
    data = Partitions.of(many(frame(spark, pages=sequences)))
    assert count_pairs(data, lags=(1, 3)) == count_pairs(sequences * 4, lags=(1, 3))
    assert count_triples(data) == count_triples(sequences * 4)


def test_counts_of_words_are_the_local_ones(spark: Any, sequences: list[list[int]]) -> None:
    words = [[f"w{symbol}" for symbol in sequence] for sequence in sequences]
    texts = [" ".join(row) for row in words]
    data = Partitions.of(frame(spark, id=range(len(texts)), text=texts), "text")
    assert count_pairs(data) == count_pairs(words)


def rows_of(sequences: list[list[int]]) -> pa.Table:
    return pa.table(
        {
            "a user": [f"u{i}" for i, row in enumerate(sequences) for _ in row],
            "at.time": [t for row in sequences for t in range(len(row))],
            "page": [f"w{symbol}" for row in sequences for symbol in row],
        }
    )


def test_rows_of_a_group_come_together_in_their_order(
    spark: Any, sequences: list[list[int]]
) -> None:
    table = rows_of(sequences)
    shuffled = table.take(np.random.default_rng(1).permutation(len(table)))
    local = count_pairs([[f"w{symbol}" for symbol in row] for row in sequences])
    data = Partitions.of(spark.createDataFrame(shuffled), "page", "a user", "at.time")
    assert count_pairs(data) == local
    stands = Partitions.of(spark.createDataFrame(table), "page", "a user")
    assert count_pairs(stands) == local


def test_rows_of_the_same_time_stay_as_they_stand(spark: Any) -> None:
    data = Partitions.of(
        frame(spark, who=[1] * 6, at=[2, 2, 2, 1, 1, 1], x=list("zayzay")), "x", "who", "at"
    )
    assert data.map_sum(lambda rows: "".join(rows.flatten().to_pylist())) == "zayzay"


def test_rows_that_are_together_are_not_moved(spark: Any) -> None:
    one = frame(spark, user=[1, 2, 1], page=[0, 1, 0])

    def exchanges(given: Any) -> int:
        plan = Partitions.of(given, "page", "user")._backend._frame._jdf.queryExecution()
        return str(plan.executedPlan().toString()).count("Exchange ")

    assert exchanges(one) == 1
    assert exchanges(one.repartition("user")) == 1


def test_a_sum_is_in_the_order_of_parts(spark: Any) -> None:
    data = Partitions.of(many(frame(spark, x=list("abcdefg"))))
    assert data.n_partitions == 11
    assert data.map_sum(lambda rows: "".join(rows.to_pylist())) == "abcdefg" * 4
    kept = data.keep(lambda number, rows: {number: "".join(rows.to_pylist())})
    letters = ["abc", "defg"]
    expected = dict(enumerate([*letters * 2, "", "", "", *letters * 2]))
    assert list(kept.map_sum(lambda part: part).items()) == list(expected.items())


def test_a_task_uses_the_threads_that_spark_gives_it(spark: Any) -> None:
    assert Partitions.of(frame(spark, x=[1, 2, 3])).map_sum(lambda _: {n_threads(): 1}) == {1: 2}


def test_an_hmm_is_the_local_one_with_refinement(spark: Any, sequences: list[list[int]]) -> None:
    before = kept_by_spark(spark)
    data = Partitions.of(frame(spark, pages=sequences))
    found = PairwiseHMM(2, random_state=0).fit(data).model_
    model = PairwiseHMM(2, random_state=0).fit(sequences)
    assert model.fit_.evidence == "sequences"
    for name in ("startprob", "transmat", "emissionprob"):
        there, here = getattr(found, name), getattr(model.model_, name)
        np.testing.assert_allclose(there, here, rtol=0, atol=1e-9)
    scores = [row.log_prob for row in model.score_sequences(data).collect()]
    np.testing.assert_allclose(scores, model.score_sequences(sequences), atol=1e-9)
    assert kept_by_spark(spark) == before


def test_topics_are_the_local_ones_with_their_pass_over_documents(spark: Any) -> None:
    data = Partitions.of(frame(spark, text=texts()[:-1]))
    found = HTMM(K, random_state=0).fit(data)
    assert_same_topics(found, local_topics())
    again = pickle.loads(pickle.dumps(found))
    assert_same_topics(again, found)
    with pytest.raises(ValueError, match="left with their Spark session"):
        again.documents_.map_sum(len)
    shares = [row.shares for row in again.transform(data).collect()]
    np.testing.assert_allclose(shares, local_topics().transform(texts()[:-1]), atol=1e-9)


def test_what_is_kept_is_made_once(spark: Any, tmp_path: Path) -> None:
    made = tmp_path / "made"

    def make(number: int, rows: Any) -> int:
        with made.open("a") as file:
            file.write("x")
        return len(rows)

    before = kept_by_spark(spark)
    data = Partitions.of(frame(spark, user=range(7), x=range(7)), "x", "user")
    first, second = data.keep(make), data.keep(make)
    again = first.keep(lambda number, part: part + 1)
    del first
    assert kept_by_spark(spark) == before + 2
    assert [one.map_sum(lambda part: part) for one in (second, second, again)] == [7, 7, 9]
    assert made.read_text() == "x" * 4


def test_a_part_that_is_wrong_is_named(spark: Any) -> None:
    data = Partitions.of(frame(spark, x=[[0, 1], [0, 1], [2, -3], [0, -1]]))
    with pytest.raises(ValueError, match=r"^partition 1: .*-3"):
        count_pairs(data)
    with pytest.raises(ValueError, match=r"^partition 1: .*-3"):
        as_data(data)
    missing = frame(spark, user=[1, 1, None], time=[1, None, 1], page=[0, 1, 0])
    with pytest.raises(ValueError, match=r"^partition \d: the column 'user' is empty in some row$"):
        count_pairs(Partitions.of(missing, "page", "user", "time"))
    with pytest.raises(ValueError, match=r"^partition \d: the column 'time' is empty in some row$"):
        count_pairs(Partitions.of(missing.where("user = 1"), "page", "user", "time"))
    with pytest.raises(ValueError, match=r"^partition 0: row 0 is 0: .* \(group=\)"):
        count_pairs(Partitions.of(missing, "page"), vocabulary=["a"])
    with pytest.raises(ValueError, match="there is no data: no part has a symbol"):
        count_pairs(Partitions.of(missing.where("false"), "page", "user"))


def test_answers_are_a_frame_that_is_computed_later(spark: Any) -> None:
    data = Partitions.of(many(frame(spark, x=["sun", "rain", "snow", "fog"])))

    def lengths(rows: Any) -> list[int]:
        return [len(row) for row in rows.to_pylist()]

    found = data.map_rows(lengths)
    assert found.dtypes == [("value", "bigint")]
    assert [row.value for row in found.collect()] == [3, 4, 4, 3] * 4
    schema = pa.schema({"n": pa.int32(), "each": pa.list_(pa.float32())})
    typed = data.map_rows(
        lambda rows: pa.table({"n": lengths(rows), "each": [[0.5]] * len(rows)}), schema
    )
    assert typed.dtypes == [("n", "int"), ("each", "array<float>")]
    assert typed.first().asDict() == {"n": 3, "each": [0.5]}

    later = data.map_rows(lambda rows: [1], pa.schema({"value": pa.int64()}))
    with pytest.raises(
        pyspark.errors.PySparkException, match=r"partition \d: the function gives 1"
    ):
        later.count()


def test_answers_of_groups_begin_with_their_keys(spark: Any) -> None:
    one = frame(spark, user=["b", "a", "b", "c"], page=[1, 2, 3, 4])
    data = Partitions.of(one, "page", "user")
    expected = [("a", [2]), ("b", [1, 3]), ("c", [4])]
    for schema in (None, pa.schema({"value": pa.list_(pa.int64())})):
        found = data.map_rows(lambda rows: rows.to_pylist(), schema)
        assert found.columns == ["user", "value"]
        assert sorted(map(tuple, found.collect())) == expected


def test_answers_whose_type_is_unknown(spark: Any) -> None:
    data = frame(spark, x=["a", "b"])
    with pytest.raises(
        ValueError, match=r"do not tell the type of 'value', .*list<.*null>.*schema"
    ):
        Partitions.of(data).map_rows(lambda rows: [[]] * len(rows))
    with pytest.raises(ValueError, match=r"there are no rows, .* give a schema"):
        Partitions.of(data.where("false")).map_rows(lambda rows: rows.to_pylist())


def test_frames_that_cannot_be_read(spark: Any) -> None:
    one = frame(spark, user=[1, 2], page=["a", "b"])
    with pytest.raises(ValueError, match="there is no column 'pages'; there are 'user', 'page'"):
        Partitions.of(one, "pages")
    with pytest.raises(ValueError, match="no column 'who'; there are 'user', 'page'"):
        Partitions.of(one, "page", "who")
    with pytest.raises(ValueError, match=r"say which column to read \(column\)"):
        Partitions.of(one)
    with pytest.raises(ValueError, match="client is one of Dask"):
        Partitions.of(one, "page", client=object())
    with pytest.raises(ValueError, match=r"'page': .*AMBIGUOUS"):
        Partitions.of(one.crossJoin(one.select("page")), "page")
    times = one.selectExpr("make_interval(1, user) AS span", "map(user, page) AS pages", "page")
    with pytest.raises(ValueError, match=r"Spark cannot give the rows of 'span': .*Interval"):
        Partitions.of(times, "span")
    with pytest.raises(ValueError, match=r"Spark cannot give the rows of 'page', 'pages': .*MAP"):
        Partitions.of(times, "page", "pages")
    with pytest.raises(ValueError, match=r"a Spark RDD is no DataFrame .*toDF\(\)"):
        Partitions.of(one.rdd)
    with pytest.raises(ValueError, match="is a stream, which has no end"):
        Partitions.of(spark.readStream.format("rate").load(), "value")


def test_long_values_travel_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_backend, "ROW_BYTES", 10)
    values = [(3, list(range(50))), (7, None), (8, "y" * 30)]
    sent = [row for number, value in values for row in spark_backend._packed(number, value)]
    assert len(sent) > 8
    assert list(spark_backend._unpacked(sent)) == values


def test_workers_without_cohmm() -> None:
    from pyspark.errors import PythonException

    from cohmm.distributed.spark import _fetched

    class Frame:
        def toArrow(self) -> None:
            raise PythonException("ModuleNotFoundError: No module named 'cohmm'")

    with pytest.raises(ValueError, match=r"install it for the Python .* PYSPARK_PYTHON names$"):
        _fetched(Frame())


def test_the_lines_of_the_guide(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # Java does not see that, so Spark gets whole paths
    guide = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    spark.createDataFrame(pa.table(rows_of_symbols())).write.parquet(f"{tmp_path}/clicks")
    frame(spark, text=texts()[:-1]).write.parquet(f"{tmp_path}/articles")
    [lines] = re.findall(r"```py\n(from pyspark.*?)```", guide, re.DOTALL)
    exec(lines.replace('parquet("', f'parquet("{tmp_path}/'), {})
    assert Cooccurrence.load("clicks.cohmm") == count_pairs(labels(), lags=(1, 2))
    shares = [row.shares for row in spark.read.parquet(f"{tmp_path}/shares").collect()]
    assert np.shape(shares) == (len(texts()) - 1, K)
    np.testing.assert_allclose(np.sum(shares, axis=1), 1)


# Executors of their own start in about ten seconds, in a folder of SPARK_HOME.
CLUSTER = """
import os, signal, sys
from pyspark.sql import SparkSession
from cohmm import count_pairs
from cohmm.distributed import Partitions

def executor(number, rows):
    fields = open(f"/proc/{os.getppid()}/stat").read().rsplit(")", 1)[1].split()
    return number, int(fields[1]), len(rows)  # the parent of the daemon that forks this process

builder = SparkSession.builder.master("local-cluster[2,1,1024]")
for setting in sys.argv[1:]:
    builder = builder.config(*setting.split("=", 1))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
assert spark.range(1).count() == 1
print("started", flush=True)
sequences = [[0, 1, 2, i % 3] for i in range(40)]
frame = spark.createDataFrame([(row,) for row in sequences], "pages array<int>")
data = Partitions.of(frame)
assert count_pairs(data) == count_pairs(sequences)
kept = data.keep(executor)
pids = kept.map_sum(lambda part: {part[1]: 1})
os.kill(min(pids), signal.SIGKILL)
assert kept.map_sum(lambda part: part[2]) == 40
assert count_pairs(data) == count_pairs(sequences)
print("executors:", len(pids))
"""


def test_executors_of_their_own_one_of_which_dies(spark: Any, tmp_path: Path) -> None:
    """Apart from this session: there is one per process.  Nothing is kept in the user's folder."""
    home, user = tmp_path / "spark", tmp_path / "user"
    home.mkdir()
    user.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    paths = os.pathsep.join(
        [str(Path(cohmm.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    settings = [f"{name}={value}" for name, value in SETTINGS.items()]
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CLUSTER, *settings],
            env={
                **os.environ,
                "SPARK_HOME": str(home),
                "PYTHONPATH": paths,
                "HOME": str(user),
                "XDG_CACHE_HOME": str(user / "cache"),
            },
            capture_output=True,
            text=True,
            timeout=300,
        )
    except subprocess.TimeoutExpired as error:
        if not error.stdout:
            pytest.skip("Spark cannot start executors of their own here")
        raise
    assert (done.returncode, done.stdout) == (0, "started\nexecutors: 2\n"), done.stderr
    assert not [path for path in user.rglob("*") if path.is_file()]
