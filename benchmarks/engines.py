"""One machine, Dask and Spark side by side: seconds, bytes that travel, overhead of a pass.

    python benchmarks/engines.py             # the table of docs/scale.md: some minutes
    python benchmarks/engines.py --quick     # small data, to see that it runs
    python benchmarks/engines.py --engines local,dask

The same files for all: sequences of 1,000 symbols (N=100, K=20) and Reuters' articles (COHMM_DATA),
in Parquet.  Dask has two worker processes of one thread, Spark two threads, the local engine two
threads.  Seconds are those of the second of two runs; bytes are what a pass sends to all parts and
what these give back, pickled; overhead is the time of a pass over the same parts that does nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cohmm import count_pairs
from cohmm.data.partitioned import as_data
from cohmm.data.read_documents import read_documents
from cohmm.datasets.corpora import reuters_documents
from cohmm.datasets.synthetic import random_hmm
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.distributed import Partitions
from cohmm.kernels.threads import threads
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.learn.topics.sticky_em import expected_counts, sticky_chain

ROW = 1000
PARTS = 8


def write_sequences(folder: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    for part in range(PARTS):
        rows = max(n // ROW // PARTS, 1)
        symbols = rng.integers(0, 100, rows * ROW).astype(np.int32)
        ends = np.arange(0, len(symbols) + 1, ROW, dtype=np.int32)
        column = pa.ListArray.from_arrays(pa.array(ends), pa.array(symbols))
        pq.write_table(pa.table({"y": column}), folder / f"{part}.parquet")


def write_texts(folder: Path, quick: bool) -> None:
    if quick:
        documents: Any = sample_htmm(200, n_components=3, n_words=60, random_state=0).documents
    else:
        documents = reuters_documents()
    texts = [" ".join(words) for words in documents]
    for part in range(PARTS):
        pq.write_table(pa.table({"text": texts[part::PARTS]}), folder / f"{part}.parquet")


@contextmanager
def local() -> Iterator[Callable[[Path], Partitions]]:
    with threads(2):
        yield lambda folder: Partitions.of(str(folder / "*.parquet"), block=1)


@contextmanager
def dask() -> Iterator[Callable[[Path], Partitions]]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield lambda folder: Partitions.of(str(folder / "*.parquet"), client=client, block=1)


@contextmanager
def spark() -> Iterator[Callable[[Path], Partitions]]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.files.openCostInBytes", str(2**30))  # a file is a partition
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield lambda folder: Partitions.of(session.read.parquet(str(folder)))
    finally:
        session.stop()


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    call()
    began = time.perf_counter()
    value = call()
    return time.perf_counter() - began, value


def nothing(part: Any) -> int:
    return 0


def size(*values: Any) -> int:
    return len(cloudpickle.dumps(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data")
    parser.add_argument("--engines", help="default: local,dask,spark; quick: local,dask")
    options = parser.parse_args()
    engines = options.engines or ("local,dask" if options.quick else "local,dask,spark")
    n_counted, n_passed = (40_000, 16_000) if options.quick else (10**8, 10**7)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="cohmm-engines-") as name:
        folders = [Path(name, part) for part in ("many", "some", "texts")]
        for folder in folders:
            folder.mkdir()
        write_sequences(folders[0], n_counted)
        write_sequences(folders[1], n_passed)
        write_texts(folders[2], options.quick)
        print("| engine | work | parts | seconds | MB moved | overhead of a pass, s |")
        print("|---|---|---:|---:|---:|---:|")
        for engine in engines.split(","):
            with {"local": local, "dask": dask, "spark": spark}[engine]() as of:
                for work, parts, seconds, moved, overhead in measured(of, folders, n_counted):
                    print(
                        f"| {engine} | {work} | {parts} | {seconds:.2f} | {moved / 1e6:.2f} | "
                        f"{overhead:.3f} |",
                        flush=True,
                    )


def measured(
    of: Callable[[Path], Partitions], folders: list[Path], n_counted: int
) -> Iterator[tuple[str, int, float, float, float]]:
    """Work, parts, seconds, bytes moved and the overhead of a pass."""
    many, some, texts = map(of, folders)
    seconds, counts = timed(lambda: count_pairs(many))
    n = many.n_partitions
    empty, _ = timed(lambda: many.map_sum(nothing))
    yield f"pairs of {n_counted:.0e} symbols", n, seconds, n * size(counts), empty
    data = as_data(some)
    model = random_hmm(100, 20, random_state=0)
    likelihood = SequenceLikelihood(data)
    seconds, expected = timed(lambda: likelihood.expected(model))
    empty, _ = timed(lambda: data.map_sum(nothing))
    moved = n * (size(model) + size(expected))
    yield f"E-step on {data.n_observations:.0e}", n, seconds, moved, empty
    documents = read_documents(texts, min_df=3)
    k = 50
    emission = np.random.default_rng(0).exponential(size=(documents.n_symbols, k))
    topics = sticky_chain(emission, np.full(k, 1 / k), 0.5)
    seconds, counted = timed(lambda: expected_counts(documents, topics, None))
    empty, _ = timed(lambda: documents.map_sum(nothing))
    yield (
        f"pass over {len(documents):,} articles, K={k}",
        n,
        seconds,
        n * (size(topics) + size(counted)),
        empty,
    )


if __name__ == "__main__":
    main()
