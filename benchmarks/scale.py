"""Counting more pairs than fit into memory: seconds, rate and peak memory against length.

    python benchmarks/scale.py                 # the table of docs/scale.md; 15 GB of disk
    python benchmarks/scale.py --quick         # 200,000 symbols, to see that it runs
    python benchmarks/scale.py --sizes 1e8 --memory 1GB

Symbols are drawn from Zipf's law among 200,000, the worst case: half of all pairs are new, so the
result grows with the data.  They are written to Parquet files of 5e7 symbols, one sequence each, in
a temporary folder, and counted by `cohmm count --integers --memory` in a process of its own.
Seconds, CPU seconds and memory are those of the whole process, from the start of the interpreter to
the result on disk; the peak counts all resident pages, those of libraries included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N = 200_000
PART = 5 * 10**7
SCHEMA = pa.schema([pa.field("symbol", pa.int32(), nullable=False)])


def write(folder: Path, n: int, seed: int = 0) -> None:
    """Files of ``n`` symbols together."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, N + 1)
    cumulative = np.cumsum(weights / weights.sum())
    cumulative[-1] = 1.0
    labels = rng.permutation(N).astype(np.int32)  # frequent symbols anywhere
    for part, first in enumerate(range(0, n, PART)):
        uniform = rng.random(min(PART, n - first))
        symbols = labels[np.searchsorted(cumulative, uniform)]
        table = pa.table([pa.array(symbols)], schema=SCHEMA)
        pq.write_table(
            table, folder / f"{part:03}.parquet", compression="NONE", use_dictionary=False
        )


def count(folder: Path, memory: str) -> tuple[float, float, float, float, dict[str, Any]]:
    """Seconds, CPU seconds, peak and result in bytes, and what the command said."""
    output = folder.parent / "counts.cohmm"
    command = [
        sys.executable, "-m", "cohmm", "count", str(folder), "--integers", "--memory", memory,
        "-o", str(output), "--json",
    ]  # fmt: skip
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said)
        peak = 0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak = max(peak, high_water(process.pid))
            time.sleep(0.1)
        seconds = time.perf_counter() - began
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
        said.seek(0)
        summary = json.load(said)
    size = output.stat().st_size
    output.unlink()
    return seconds, usage.ru_utime + usage.ru_stime, peak, size, summary


def high_water(process: int) -> int:
    """The most bytes that a process has had so far (its rusage begins with those of its parent)."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 if "VmHWM:" in status else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="200,000 symbols")
    parser.add_argument("--sizes", default="1e7,1e8,1e9", help="numbers of symbols")
    parser.add_argument("--memory", default="4GB", help="the cap")
    parser.add_argument("--folder", help="where the data goes, for a while")
    options = parser.parse_args()
    sizes = [200_000] if options.quick else [int(float(n)) for n in options.sizes.split(",")]
    print("| symbols | cap | seconds | CPU s | M pairs/s | M pairs/CPU s | peak MB | result MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for n in sizes:
        with tempfile.TemporaryDirectory(prefix="cohmm-scale-", dir=options.folder) as name:
            folder = Path(name) / "data"
            folder.mkdir()
            write(folder, n)
            os.sync()  # what was written before does not slow down what is measured
            seconds, cpu, peak, size, said = count(folder, options.memory)
        pairs = said["pairs"]["1"] / 1e6
        print(
            f"| {n:.0e} | {options.memory} | {seconds:.1f} | {cpu:.1f} | "
            f"{pairs / seconds:.1f} | {pairs / cpu:.1f} | {peak / 1e6:,.0f} | {size / 1e6:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
