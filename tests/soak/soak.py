"""``make soak``: signals, full and read-only disks and rival writers, against every command.

Whatever happens to a command that writes, its files are as they were before, or whole and what
an undisturbed run gives; and the next run leaves no temporary file behind.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.soak.cases import CASES, Case, make_inputs
from tests.soak.contents import contents

PROGRAM = [sys.executable, "-m", "cohmm"]
OLD, NEW = 0, 1  # seeds
LONGEST = 301  # characters of an error, with the end of its line
TIMEOUT = 300  # seconds
PAGE = 4096  # bytes, of which a small disk has whole numbers


@dataclass
class Row:
    """What was done to a command, and what became of its files."""

    name: str
    signals: int = 0
    while_writing: int = 0
    refusals: int = 0
    checked: int = 0
    whole: int = 0
    leftovers: int = 0
    losses: list[str] = field(default_factory=list)

    def lose(self, what: str) -> None:
        """Note a loss."""
        self.losses.append(f"{self.name}: {what}")

    def __add__(self, other: Row) -> Row:
        return Row(
            "all",
            self.signals + other.signals,
            self.while_writing + other.while_writing,
            self.refusals + other.refusals,
            self.checked + other.checked,
            self.whole + other.whole,
            self.leftovers + other.leftovers,
            self.losses + other.losses,
        )

    def cells(self) -> tuple[object, ...]:
        """For the table."""
        return (
            self.name, self.signals, self.while_writing, self.refusals,
            f"{self.whole:,} of {self.checked:,}", len(self.losses), self.leftovers,
        )  # fmt: skip


HEAD = (
    "command", "signals", "while it wrote", "full or read-only disks", "files whole", "losses",
    "leftover temporaries",
)  # fmt: skip


def run(folder: Path, args: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """An undisturbed run."""
    command = [*PROGRAM, *args]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, **options
    )


def temporaries(folder: Path) -> list[Path]:
    """What is left of files that were never finished."""
    return list(folder.rglob(".cohmm-*.tmp"))


class Bench:
    """A command in a folder of its own, with the files of an undisturbed run to compare with."""

    def __init__(self, case: Case, home: Path) -> None:
        self.case, self.home = case, home
        self.row = Row(case.name)
        self.out = home / f"out-{case.name}"
        self.reference: dict[int, dict[str, Any]] = {}
        for seed in (OLD, NEW):
            folder = home / f"reference-{case.name}-{seed}"
            folder.mkdir()
            began = time.monotonic()
            done = run(home, case.command(folder, seed))
            self.seconds = time.monotonic() - began
            assert done.returncode == 0, done.stderr
            self.reference[seed] = {name: contents(folder / name) for name in case.files}
        self.old = home / f"reference-{case.name}-{OLD}"

    def begin(self) -> None:
        """Files of an earlier run; what killed processes left stays."""
        self.out.mkdir(exist_ok=True)
        shutil.copytree(self.old, self.out, dirs_exist_ok=True)

    def check(self, what: str, allowed: tuple[int, ...]) -> None:
        """Whether all files are whole, and those of one of the ``allowed`` runs."""
        for name in self.case.files:
            self.row.checked += 1
            try:
                found = contents(self.out / name)
            except Exception as error:
                self.row.lose(f"{what}: {name} is not whole: {error!r}")
                continue
            if any(found == self.reference[seed][name] for seed in allowed):
                self.row.whole += 1
            else:
                self.row.lose(f"{what}: {name} is neither the old nor the new result")

    def disturb(self, number: signal.Signals, rng: random.Random) -> None:
        """Send a signal, at a random moment or as soon as a file is being written."""
        self.begin()
        before = set(temporaries(self.out))
        process = subprocess.Popen(
            [*PROGRAM, *self.case.command(self.out, NEW)],
            cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        if rng.random() < 0.5:
            time.sleep(rng.uniform(0, 1.1 * self.seconds))
        else:
            while process.poll() is None and not set(temporaries(self.out)) - before:
                time.sleep(0.0002)
            time.sleep(rng.choice((0, 0.001, 0.01)))
        writing = bool(set(temporaries(self.out)) - before)
        if process.poll() is None:
            process.send_signal(number)
            self.row.signals += 1
            self.row.while_writing += writing
        process.communicate(timeout=TIMEOUT)
        self.check(number.name, (OLD, NEW))
        if number is signal.SIGINT and set(temporaries(self.out)) - before:
            self.row.lose("SIGINT left a temporary file")

    def settle(self) -> None:
        """The next run: the new result, and nothing that others left."""
        done = run(self.home, self.case.command(self.out, NEW))
        if done.returncode:
            self.row.lose(f"the next run failed: {done.stderr}")
        self.check("the next run", (NEW,))
        self.row.leftovers += len(temporaries(self.out))

    def refuse(self, what: str, words: tuple[str, ...], **options: Any) -> None:
        """A run that cannot write: one line that names a file, and all is as before."""
        self.row.refusals += 1
        done = run(self.home, self.case.command(self.out, NEW), **options)
        line = done.stderr.splitlines()[-1:]
        if done.returncode != 2 or not line or len(line[0]) >= LONGEST:
            self.row.lose(f"{what}: exit {done.returncode}: {done.stderr}")
        elif not any(f"cannot write {self.out}" in line[0] and word in line[0] for word in words):
            self.row.lose(f"{what}: the line does not tell: {line[0]}")
        if "Traceback" in done.stderr:
            self.row.lose(f"{what}: {done.stderr}")
        if temporaries(self.out):
            self.row.lose(f"{what}: a temporary file is left")


def soak_signals(bench: Bench, n: int, seed: int) -> None:
    """``n`` signals, half of them SIGKILL; every now and then an undisturbed run."""
    rng = random.Random(f"{bench.case.name} {seed}")
    for attempt in range(4 * n):
        bench.disturb(signal.SIGKILL if attempt % 2 else signal.SIGINT, rng)
        enough = bench.row.signals == n  # some come when all is done, and do not count
        if attempt % 8 == 7 or enough:
            bench.settle()
        if enough:
            break


@contextmanager
def small_disk(folder: Path, wanted: bool) -> Iterator[Callable[[str], bool]]:
    """A disk of its own, where root may mount one, and a function that mounts it anew."""

    def mount(*args: str) -> bool:
        try:
            done = subprocess.run(["mount", *args, str(folder)], capture_output=True)
        except OSError:
            return False
        return done.returncode == 0

    folder.mkdir()
    mounted = wanted and mount("-t", "tmpfs", "-o", "size=16m", "cohmm-soak")
    try:
        yield lambda option: mounted and mount("-o", f"remount,{option}")
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def fill(filler: Path, free: int) -> None:
    """Write until the disk is full, but for some bytes."""
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(PAGE)):
            pass
    os.truncate(filler, max(filler.stat().st_size - free, 0))


def soak_disk(bench: Bench, mounts: bool) -> None:
    """A disk that is full, one that gets full half-way, and a read-only one."""
    with small_disk(bench.home / f"disk-{bench.case.name}", mounts) as remount:
        bench.out = bench.home / f"disk-{bench.case.name}" / "out"
        bench.begin()
        filler = bench.out.parent / "filler"
        largest = max((bench.out / name).stat().st_size for name in bench.case.files)
        for free in {0, largest // 2 // PAGE * PAGE} if mounts else {0}:
            if remount("rw"):
                fill(filler, free)
                bench.refuse("full disk", ("No space left on device",))
                filler.unlink()
            else:  # the next best thing: no file can grow beyond this
                limit = (free, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
                limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, limit)
                bench.refuse("full disk", ("File too large",), preexec_fn=limited)
            bench.check("full disk", (OLD,) if free == 0 else (OLD, NEW))
        bench.begin()
        if remount("ro"):
            bench.refuse("read-only disk", ("on a read-only disk", "Read-only file system"))
            bench.check("read-only disk", (OLD,))
            assert remount("rw")


def soak_writers(home: Path, rounds: int, n_writers: int) -> Row:
    """Several writers of one path, which is whole at all times."""
    row = Row(f"{n_writers} writers")
    out = home / "rivals"
    out.mkdir()
    path = out / "s.txt"
    whole = set()
    for seed in range(n_writers):
        run(home, ["sample", "model.cohmm", "-n", "200000", "--seed", str(seed), "-o", str(path)])
        whole.add(path.read_bytes())
    assert len(whole) == n_writers
    for round in range(rounds):
        args = ["sample", "model.cohmm", "-n", "200000", "-o", str(path), "--seed"]
        writers = [
            subprocess.Popen([*PROGRAM, *args, str(seed)], cwd=home) for seed in range(n_writers)
        ]
        if round % 2:  # one of them does not get to the end
            while not temporaries(out) and writers[0].poll() is None:
                pass
            writers[0].kill()
            row.signals += 1
        while any(writer.poll() is None for writer in writers):
            row.checked += 1
            row.whole += path.read_bytes() in whole
            time.sleep(0.01)
    if row.whole < row.checked:
        row.lose(f"{row.checked - row.whole} times the file was not whole")
    run(home, ["sample", "model.cohmm", "-n", "10", "-o", str(path)])
    row.leftovers = len(temporaries(out))
    return row


def table(rows: list[Row]) -> str:
    """The rows and their sum, as a table of Markdown."""
    lines = [row.cells() for row in [*rows, sum(rows[1:], rows[0])]]
    cells = [HEAD, ("---",) + ("---:",) * (len(HEAD) - 1), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in cells)


class Plan(NamedTuple):
    """How much is done."""

    names: tuple[str, ...] = tuple(case.name for case in CASES)
    signals: int = 26
    mounts: bool = True
    writers: int = 4
    rounds: int = 10
    size: int = 300
    seed: int = 0


QUICK = Plan(("sample",), signals=2, mounts=False, writers=2, rounds=1, size=50)


def soak(home: Path, plan: Plan) -> list[Row]:
    """All of it, two commands at a time."""
    make_inputs(home, plan.size)

    def one(case: Case) -> Row:
        bench = Bench(case, home)
        soak_signals(bench, plan.signals, plan.seed)
        soak_disk(bench, plan.mounts)
        print(f"{case.name}: {bench.row.signals} signals", file=sys.stderr, flush=True)
        return bench.row

    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(one, [case for case in CASES if case.name in plan.names]))
    return [*rows, soak_writers(home, plan.rounds, plan.writers)]


def main() -> None:
    """Print the table; the exit code is 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two signals, for make test")
    parser.add_argument("--signals", type=int, default=Plan().signals, help="to each command")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    plan = QUICK if options.quick else Plan(signals=options.signals)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cohmm-soak-") as folder:
        rows = soak(Path(folder), plan._replace(seed=options.seed))
    print(table(rows))
    losses = [loss for row in rows for loss in row.losses]
    print(*losses, f"{time.monotonic() - began:.0f} s, seed {options.seed}", sep="\n")
    sys.exit(bool(losses or sum(row.leftovers for row in rows)))


if __name__ == "__main__":
    main()
