"""Topics of a gigabyte of raw text, in bounded memory and on workers: seconds and peak memory.

    python benchmarks/big_text.py            # the table of docs/scale.md: 1 GB, half an hour
    python benchmarks/big_text.py --quick    # half a MB of synthetic text, to see that it runs

The articles of Wikipedia's sample (COHMM_DATA), one per line, are repeated in random orders.
`cohmm topics` runs from that text to topics, and to the shares of every document.  Memory is the
highest sum over all processes, sampled: resident pages (of a page that processes share each has its
part), and those of them that are no mapped file, which the system can take back at any time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow.parquet as pq

from cohmm.datasets.synthetic_topics import sample_htmm

DOCUMENT = re.compile(r"<doc [^>]*>\n(.*?)</doc>", re.DOTALL)


def articles(quick: bool) -> list[str]:
    if quick:
        sample = sample_htmm(300, n_components=3, n_words=300, random_state=0)
        return [" ".join(words) for words in sample.documents]
    found = []
    folder = os.environ.get("COHMM_DATA")
    if not folder:
        raise SystemExit("COHMM_DATA does not name a folder with wikipedia-sample.tar.xz")
    with tarfile.open(Path(folder, "wikipedia-sample.tar.xz")) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                text = file.read().decode()
                found += [" ".join(article.split()) for article in DOCUMENT.findall(text)]
    return found


def write(path: Path, size: int, quick: bool) -> tuple[int, int]:
    """Documents and bytes."""
    texts, rng, n, written = articles(quick), np.random.default_rng(0), 0, 0
    with path.open("w") as file:
        while written < size:
            for d in rng.permutation(len(texts)):
                written += file.write(texts[d] + "\n")
                n += 1
                if written >= size:
                    break
    return n, path.stat().st_size


def run(command: list[str]) -> tuple[float, float, float, float]:
    """Seconds, CPU seconds of all processes, and peaks in bytes: all, and without files."""
    began = time.perf_counter()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    peak, private, cpu = 0.0, 0.0, {}
    while process.poll() is None:
        total, own = 0.0, 0.0
        try:
            for one in [process, *process.children(recursive=True)]:
                memory, times = one.memory_full_info(), one.cpu_times()
                total += memory.pss
                own += memory.rss - memory.shared
                cpu[one.pid] = times.user + times.system
        except psutil.Error:  # it has ended meanwhile
            continue
        peak, private = max(peak, total), max(private, own)
        time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - began, sum(cpu.values()), peak, private


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="half a MB of synthetic text")
    parser.add_argument("--size", type=float, default=1e9, help="bytes of text")
    parser.add_argument("--topics", default="20")
    parser.add_argument("--ways", default="--memory 4GB,--workers 2", help="of running it")
    options = parser.parse_args()
    size = 500_000 if options.quick else int(options.size)
    topics = "3" if options.quick else options.topics
    words = [] if options.quick else ["--stop-words", "english", "--min-df", "20"]
    with tempfile.TemporaryDirectory(prefix="cohmm-text-") as name:
        text, shares = Path(name, "text.txt"), Path(name, "shares.parquet")
        n, n_bytes = write(text, size, options.quick)
        print(f"{n:,} documents, {n_bytes / 1e6:,.0f} MB")
        print("| way | seconds | CPU s | MB/s | peak MB | without files, MB | shares |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for way in options.ways.split(","):
            command = [sys.executable, "-m", "cohmm", "topics", str(text), "-k", topics, *words,
                       "-o", str(Path(name, "model.cohmm")), "--shares", str(shares),
                       *way.split()]  # fmt: skip
            seconds, cpu, peak, own = run(command)
            rows = pq.read_metadata(shares).num_rows
            print(
                f"| {way} | {seconds:.0f} | {cpu:.0f} | {n_bytes / seconds / 1e6:.1f} | "
                f"{peak / 1e6:,.0f} | {own / 1e6:,.0f} | {rows:,} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
