"""``cohmm count --resume``, killed with SIGKILL at random moments and run again until it ends.

python -m tests.soak.resume            # ten kills; `make soak` does it as well
python -m tests.soak.resume --kills 50
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

PROGRAM = [sys.executable, "-m", "cohmm", "count"]
TIMEOUT = 300  # seconds


class Row(NamedTuple):
    """What was done to a run, and what became of it."""

    options: str
    n_files: int
    kills: int
    finished: int
    """How many files runs finished before they were killed."""
    remembered: int
    """How many of them the last run did not read again."""
    same: bool
    """Whether the result is that of a run in peace, byte for byte."""
    leftovers: list[str]

    def cells(self) -> tuple[object, ...]:
        """For the table."""
        return (
            self.options, self.n_files, self.kills, self.finished, self.remembered,
            "yes" if self.same else "NO", len(self.leftovers),
        )  # fmt: skip


HEAD = (
    "options", "files", "kills", "files finished by killed runs", "not read again at the end",
    "identical", "leftovers",
)  # fmt: skip


def soak(
    home: Path, kills: int, n_files: int, n_symbols: int, seed: int, options: tuple[str, ...] = ()
) -> Row:
    """Kill a run so many times; every file has ``n_symbols`` words."""
    rng = np.random.default_rng(seed)
    data = home / "data"
    data.mkdir()
    for number in range(n_files):
        words = rng.zipf(1.2, n_symbols) % 5000
        lines = [" ".join(f"w{word}" for word in line) for line in np.array_split(words, 50)]
        (data / f"{number:02}.txt").write_text("\n".join(lines) + "\n")
    command = [*PROGRAM, str(data), "--lags", "1,2", *options]
    began = time.monotonic()
    subprocess.run([*command, "-o", home / "peace.cohmm"], check=True, capture_output=True)
    seconds = time.monotonic() - began
    output = home / "out" / "counts.cohmm"
    output.parent.mkdir()
    remembered = output.with_name("counts.cohmm.partial")
    command += ["-o", str(output), "--resume"]
    draw = random.Random(seed)
    killed = finished = 0
    for _ in range(20 * kills):
        if killed == kills:
            break
        before = n_notes(remembered)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if draw.random() < 0.3:
            time.sleep(draw.uniform(0, seconds))
        else:  # when a file is finished, or soon after
            while process.poll() is None and n_notes(remembered) == before:
                time.sleep(0.001)
            time.sleep(draw.choice((0, 0.01, 0.1, 0.5)))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait(TIMEOUT)
        finished += max(n_notes(remembered) - before, 0)
        if output.exists():  # it came to its end: begin again
            output.unlink()
    left = n_notes(remembered)
    subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT)
    same = output.read_bytes() == (home / "peace.cohmm").read_bytes()
    leftovers = [path.name for path in output.parent.iterdir() if path != output]
    return Row(" ".join(options) or "none", n_files, killed, finished, left, same, leftovers)


def n_notes(remembered: Path) -> int:
    """How many files are finished."""
    return len(list(remembered.glob("[0-9]*.json")))


def table(rows: list[Row]) -> str:
    """As a table of Markdown."""
    cells = [HEAD, ("---",) + ("---:",) * (len(HEAD) - 1), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in cells)


def main() -> None:
    """Print the table; the exit code is 1 where counts differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = []
    for options in ((), ("--memory", "500MB")):
        with tempfile.TemporaryDirectory(prefix="cohmm-resume-") as folder:
            rows.append(soak(Path(folder), given.kills, 30, 200_000, given.seed, options))
    print(table(rows))
    sys.exit(not all(row.same and not row.leftovers for row in rows))


if __name__ == "__main__":
    main()
