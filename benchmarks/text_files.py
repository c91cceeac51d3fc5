"""How fast a text file is counted, beside programs that only read it.

    python benchmarks/text_files.py            # the table of docs/results.md
    python benchmarks/text_files.py --quick    # a small file

A file of 100,000 lines of 100 words each, drawn by Zipf's law from a vocabulary, or evenly.  CPU
seconds of one thread, the start of the process included and left out (that of a file of one line).
``wc -w`` counts words; pyarrow's reader of CSV, with a blank as delimiter, makes columns of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORDS = 100  # per line
VOCABULARIES = (("50,000 by Zipf's law", 50_000, 1.0), ("100, all as frequent", 100, 0.0))
COUNT = [sys.executable, "-m", "cohmm", "count"]
READ = """
import sys
from pyarrow import csv, set_cpu_count, string
set_cpu_count(1)
names = [str(i) for i in range(int(sys.argv[2]))]
csv.read_csv(
    sys.argv[1],
    csv.ReadOptions(column_names=names, use_threads=False),
    csv.ParseOptions(delimiter=" "),
    csv.ConvertOptions(column_types=dict.fromkeys(names, string())),
)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small file, to see that it runs")
    parser.add_argument("--lines", type=int, default=100_000)
    arguments = parser.parse_args()
    lines, repeats = (500, 1) if arguments.quick else (arguments.lines, 3)
    print("| words | MB | program | CPU s | MB/s | start | MB/s without |")
    print("|---|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, n, exponent in VOCABULARIES[1:] if arguments.quick else VOCABULARIES:
            file = written(folder / "words.txt", n, exponent, lines)
            line = written(folder / "line.txt", n, exponent, 1)
            size = file.stat().st_size / 1e6
            for program, command in programs(folder).items():
                start, seconds = (seconds_of(command, path, repeats) for path in (line, file))
                alone = max(seconds - start, 1e-3)
                print(
                    f"| {title} | {size:.0f} | {program} | {seconds:.2f} | {size / seconds:.0f} "
                    f"| {start:.2f} | {size / alone:.0f} |",
                    flush=True,
                )


def programs(folder: Path) -> dict[str, list[str]]:
    """Commands, in which FILE stands for the file."""
    found = {"cohmm count": [*COUNT, "FILE", "-o", str(folder / "counts.cohmm")]}
    if wc := shutil.which("wc"):
        found["wc -w"] = [wc, "-w", "FILE"]
    return {**found, "pyarrow's CSV reader": [sys.executable, "-c", READ, "FILE", str(WORDS)]}


def written(path: Path, n: int, exponent: float, lines: int) -> Path:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(n)], object)
    reached = np.cumsum(np.arange(1, n + 1) ** -exponent)
    with path.open("w") as file:
        for _ in range(lines):
            drawn = words[np.searchsorted(reached, reached[-1] * rng.random(WORDS))]
            file.write(" ".join(drawn) + "\n")
    return path


def seconds_of(command: list[str], path: Path, repeats: int) -> float:
    """The least CPU time of some runs, the user's and the system's."""
    found = []
    environment = {**os.environ, "COHMM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its bytecode
    for _ in range(repeats):
        began = os.times()
        subprocess.run(
            [str(path) if word == "FILE" else word for word in command],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        ended = os.times()
        found.append(
            ended.children_user
            - began.children_user
            + ended.children_system
            - began.children_system
        )
    return max(min(found), 0.01)  # as far as the clock of processes goes


if __name__ == "__main__":
    main()
