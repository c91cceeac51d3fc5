"""``make fuzz MINUTES=30``: every target for its share of the time, two at once.

atheris, where it is installed, looks for inputs that reach new lines, and keeps them in
build/fuzz; without it, inputs are random bytes, and those kept before with bytes changed.
A finding ends its target, and its input is kept in build/fuzz/findings.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HOME = Path("build/fuzz")
FINDINGS = HOME / "findings"
AT_ONCE = 2
LONGEST = 400  # bytes of an input


class Outcome(NamedTuple):
    """What became of a target."""

    name: str
    calls: int
    findings: int
    edges: int | None
    kept: int


def fuzz(name: str, seconds: int) -> Outcome:
    """One target, in a process of its own: what it prints at its end says how it went."""
    command = [sys.executable, "-m", "tests.fuzz.run", "--target", name, "--seconds", str(seconds)]
    environment = os.environ | {"COHMM_THREADS": "1", "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    printed = done.stdout + done.stderr
    kept = len(list((HOME / name).glob("*")))
    calls = re.findall(r"number_of_executed_units: (\d+)|^calls: (\d+)", printed, re.MULTILINE)
    edges = re.findall(r"cov: (\d+)", printed)
    if done.returncode:
        FINDINGS.mkdir(parents=True, exist_ok=True)
        (FINDINGS / f"{name}.txt").write_text(printed[-20_000:])
    n_calls = int(next(filter(None, calls[-1]))) if calls else 0
    return Outcome(
        name, n_calls, int(done.returncode != 0), int(edges[-1]) if edges else None, kept
    )


def plain_imports() -> None:
    """Import from src as from any folder: atheris cannot see through an editable installation."""
    from importlib.util import find_spec, module_from_spec

    native = find_spec("cohmm._native")
    assert native is not None
    assert native.loader is not None
    for name in [name for name in sys.modules if name.partition(".")[0] == "cohmm"]:
        del sys.modules[name]
    module = sys.modules["cohmm._native"] = module_from_spec(native)
    native.loader.exec_module(module)
    sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable")]
    sys.path.insert(0, str(Path("src").resolve()))


def by_atheris(name: str, seconds: int) -> None:
    """Coverage-guided, as far as the code is Python."""
    import atheris

    plain_imports()
    with atheris.instrument_imports(include=["cohmm"]):
        from tests.fuzz.draws import Draws
        from tests.fuzz.targets import TARGETS

    corpus = HOME / name
    corpus.mkdir(parents=True, exist_ok=True)
    FINDINGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:

        def one(data: bytes) -> None:
            TARGETS[name](Draws(data), Path(folder))

        options = [
            f"-max_total_time={seconds}",
            f"-max_len={LONGEST}",
            "-print_final_stats=1",
            "-rss_limit_mb=4096",
            "-timeout=60",
            f"-artifact_prefix={FINDINGS}/{name}-",
        ]
        atheris.Setup([sys.argv[0], str(corpus), *options], one)
        atheris.Fuzz()


def at_random(name: str, seconds: int) -> None:
    """Random bytes, and those kept before, changed; a call that takes a new path is not known."""
    from tests.fuzz.draws import Draws
    from tests.fuzz.targets import TARGETS

    rng, calls, began = random.Random(), 0, time.monotonic()
    kept = [path.read_bytes() for path in (HOME / name).glob("*")]
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() - began < seconds:
            data = bytearray(rng.randbytes(rng.randrange(1, LONGEST)))
            if kept and rng.random() < 0.5:
                data = bytearray(rng.choice(kept)) or data
                data[rng.randrange(len(data))] = rng.randrange(256)
            calls += 1
            try:
                TARGETS[name](Draws(bytes(data)), Path(folder))
            except Exception:
                FINDINGS.mkdir(parents=True, exist_ok=True)
                digest = hashlib.sha1(data).hexdigest()  # a name, no secret
                (FINDINGS / f"{name}-crash-{digest}").write_bytes(data)
                traceback.print_exc()
                print(f"calls: {calls}")
                sys.exit(1)
    print(f"calls: {calls}")


def main() -> None:
    """Fuzz all targets, or one, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--target")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    if options.target is not None:
        guided = importlib.util.find_spec("atheris") is not None
        (by_atheris if guided else at_random)(options.target, options.seconds)
        return
    from tests.fuzz.targets import TARGETS

    seconds = max(1, round(options.minutes * 60 * AT_ONCE / len(TARGETS)))
    print(f"{len(TARGETS)} targets, {seconds} s each, {AT_ONCE} at once", flush=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(lambda name: fuzz(name, seconds), sorted(TARGETS)))
    print(
        "\n| target | calls | findings | edges covered | inputs kept |\n|---|---:|---:|---:|---:|"
    )
    for one in outcomes:
        edges = "-" if one.edges is None else f"{one.edges:,}"
        print(f"| {one.name} | {one.calls:,} | {one.findings} | {edges} | {one.kept:,} |")
    calls, findings = sum(one.calls for one in outcomes), sum(one.findings for one in outcomes)
    print(f"| all | {calls:,} | {findings} | | {sum(one.kept for one in outcomes):,} |")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
