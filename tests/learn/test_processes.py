"""A learner gives the same in a process that was forked or spawned, threads running or not."""

from __future__ import annotations

import hashlib
import multiprocessing
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]


def digests(n_threads: int) -> dict[str, str]:
    """What every learner gives, by its name: all numbers, bit for bit."""
    from cohmm import threads
    from cohmm.learn.sequences import multistart as starts
    from tests.learn.learners import cases, numbers

    starts.RACES = starts.MOVES = 1  # in a process of its own: short, as in the contract
    result = {}
    with threads(n_threads):
        for case in cases():
            fit = case(max_iter=3) if "max_iter" in case.hints else case()
            digest = hashlib.sha256()
            for path, value in sorted(numbers(fit), key=lambda item: item[0]):
                told = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
                digest.update(path.encode() + told)
            result[str(case)] = digest.hexdigest()
    return result


def main() -> None:
    """Print what differs between this process and its children; nothing, if all is well."""
    here = digests(2)
    for method in ("fork", "spawn"):
        for n_threads in (1, 4):
            with multiprocessing.get_context(method).Pool(1) as pool:
                there = pool.apply(digests, (n_threads,))
            assert here.keys() == there.keys()
            for name in here:
                if here[name] != there[name]:
                    print(f"{name} differs where {method} made the process, {n_threads} threads")
    print(f"{len(here)} learners")


def test_a_forked_or_spawned_process_gives_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.learn.test_processes"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.split()
    assert told[1:] == ["learners"], done.stdout
    assert int(told[0]) >= 15


if __name__ == "__main__":
    main()
