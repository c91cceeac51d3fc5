"""`cohmm fit` on real sequences beside hmmlearn from random starts, by held-out likelihood.

    python benchmarks/real_data.py            # minutes, nearly all of them hmmlearn's
    python benchmarks/real_data.py --quick

The data is looked for in the folder that COHMM_DATA names: msnbc.tar.gz (page visits) and
brown.zip (sentences).  Every fifth sequence is held out.  cohmm learns from all others;
hmmlearn, whose time grows with them, from as many as the table says.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
from hmmlearn.hmm import CategoricalHMM

from cohmm import HMM, Sequences

CLI = [sys.executable, "-c", "from cohmm.cli import main; main()"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sequences, to see that it runs")
    parser.add_argument("--starts", type=int, default=5, help="of hmmlearn; 0 leaves it out")
    arguments = parser.parse_args()
    quick = arguments.quick
    starts = min(arguments.starts, 1) if quick else arguments.starts
    folder = Path(os.environ.get("COHMM_DATA", ""))
    if not (folder / "msnbc.tar.gz").is_file():
        sys.exit("set COHMM_DATA to the folder that holds msnbc.tar.gz and brown.zip")
    print("| data | learner | learned from | K | held-out nats per symbol | CPU s |")
    print("|---|---|---:|---:|---:|---:|")
    some, visits, pages, words = (200, 200, 2, 2) if quick else (None, 50_000, 8, 17)
    compare("msnbc", msnbc(folder, some), pages, "1,2,3", visits, starts, quick)
    compare("Brown", brown(folder, some), words, "1", 1_000_000, starts, quick)


def msnbc(folder: Path, some: int | None) -> list[list[str]]:
    """Visits: the categories of pages seen, out of 17."""
    with tarfile.open(folder / "msnbc.tar.gz") as archive:
        name = next(name for name in archive.getnames() if name.endswith(".seq"))
        member = archive.extractfile(name)
        assert member is not None
        lines = member.read().decode().splitlines()[7:]
    return [line.split() for line in lines[:some] if line.strip()]


def brown(folder: Path, some: int | None) -> list[list[str]]:
    """Sentences of lower-case words, the 4,999 most frequent and one label for all others."""
    sentences = []
    with zipfile.ZipFile(folder / "brown.zip") as archive:
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"brown/c[a-r]\d\d", name):
                for line in archive.read(name).decode().splitlines():
                    words = [token.rsplit("/", 1)[0].lower() for token in line.split()]
                    if words:
                        sentences.append(words)
    counts = Counter(word for sentence in sentences for word in sentence)
    kept = {word for word, _ in counts.most_common(4999)}
    return [[word if word in kept else "<other>" for word in s] for s in sentences[:some]]


def compare(
    name: str, sequences: list[list[str]], k: int, lags: str, theirs: int, starts: int, quick: bool
) -> None:
    test = Sequences.of(sequences[::5])
    training = [sequence for s, sequence in enumerate(sequences) if s % 5]
    n = sum(map(len, training))
    frequencies = by_frequency(training).log_likelihood(test, unseen="missing") / len(test.symbols)
    print(f"| {name} | frequencies of symbols | {n:,} | 1 | {frequencies:.4f} | |", flush=True)
    for choice in ("--no-refine", "--refine"):
        model, seconds = by_command(training, k, ["--lags", lags, choice])
        held_out = model.log_likelihood(test, unseen="missing") / len(test.symbols)
        label = f"cohmm fit {choice}, lags {lags}"
        print(f"| {name} | {label} | {n:,} | {k} | {held_out:.4f} | {seconds:.1f} |", flush=True)
    some = Sequences.of(training[:theirs], vocabulary=model.vocabulary)
    column = some.symbols[:, None].astype(np.int64)
    iterations = 2 if quick else 50
    for start in range(starts):
        began = time.process_time()
        fitted = CategoricalHMM(
            k, n_iter=iterations, random_state=start, implementation="scaling",
            n_features=model.n_symbols,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted.fit(column, some.lengths)
        seconds = time.process_time() - began
        found = HMM.from_hmmlearn(fitted, vocabulary=model.vocabulary)
        held_out = found.log_likelihood(test, unseen="missing") / len(test.symbols)
        print(
            f"| {name} | hmmlearn, {iterations} iterations, start {start} | {len(column):,} | {k} "
            f"| {held_out:.4f} | {seconds:.1f} |",
            flush=True,
        )


def by_frequency(training: list[list[str]]) -> HMM:
    """A model of one state."""
    data = Sequences.of(training)
    counts = np.bincount(data.symbols, minlength=data.n_symbols)
    return HMM([1.0], [[1.0]], [counts / counts.sum()], data.vocabulary)


def by_command(training: list[list[str]], k: int, options: list[str]) -> tuple[HMM, float]:
    """What `cohmm fit` makes of a text file, and the CPU seconds it took, reading included."""
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder, "training.txt"), Path(folder, "model.cohmm")
        text.write_text("".join(" ".join(sequence) + "\n" for sequence in training))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [*CLI, "fit", str(text), "-k", str(k), "-o", str(model), *options, "--json"]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return HMM.load(model), spent


if __name__ == "__main__":
    main()
