"""Peak memory of commands that read one line of 100 MB: 50 million symbols, one sequence.

    python benchmarks/long_line.py            # the table of docs/reliability.md
    python benchmarks/long_line.py --quick    # a line of 2 MB

The memory is that of the whole process, the interpreter and its libraries included (about 300 MB).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from cohmm import HMM

COMMANDS = {
    "score": ["score"],
    "decode": ["decode", "-o", "states.txt"],
    "decode --algorithm map": ["decode", "--algorithm", "map", "-o", "states.txt"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a line of 2 MB, to see that it runs")
    n = 10**6 if parser.parse_args().quick else 5 * 10**7
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = [str(symbol) for symbol in range(10)]
        emission = rng.dirichlet(np.full(10, 0.5), 4)
        HMM(np.full(4, 0.25), 0.8 * np.eye(4) + 0.05, emission, labels).save(folder / "m.cohmm")
        line = np.full(2 * n, ord(" "), np.uint8)
        line[::2] = ord("0") + rng.integers(0, 10, n)
        line[-1] = ord("\n")
        line.tofile(folder / "x.txt")
        del line
        print("| command | line, MB | peak MB |\n|---|---:|---:|")
        for title, (command, *options) in COMMANDS.items():
            peak = peak_megabytes([command, "m.cohmm", "x.txt", *options], folder)
            print(f"| {title} | {2 * n / 1e6:.0f} | {peak:.0f} |")


def peak_megabytes(arguments: list[str], folder: Path) -> float:
    """The most memory that a command of cohmm had."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cohmm", *arguments], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"cohmm {' '.join(arguments)} ended with {process.returncode}")
    return usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
