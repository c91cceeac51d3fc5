"""How large a report is, and how soon it opens in Chromium.

    python benchmarks/report.py            # Reuters-21578, from the folder that COHMM_DATA names
    python benchmarks/report.py --quick    # a few hundred documents drawn from a model

Opened means that every section is drawn and can be used: the page itself says when.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from cohmm import HTMM, Documents
from cohmm.datasets.corpora import reuters_documents
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import sample_documents

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    quick = parser.parse_args().quick
    if quick:
        documents, _ = sample_documents(demo_model(), 300, length=40, random_state=0)
    else:
        documents = reuters_documents()
    print("| documents | topics | written in, s | MB | opens in, s (least, median, most) |")
    print("|---:|---:|---:|---:|---|")
    for k in (12,) if quick else (20, 100):
        row(documents, k)


def row(documents: Documents, k: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        topics = HTMM(k, random_state=0).fit(documents)
        began = time.perf_counter()
        topics.report(path, documents)
        written = time.perf_counter() - began
        seconds = sorted(opened(path))
        size = path.stat().st_size / 1e6
    times = f"{seconds[0]:.2f}, {statistics.median(seconds):.2f}, {seconds[-1]:.2f}"
    print(f"| {len(documents):,} | {k} | {written:.1f} | {size:.2f} | {times} |", flush=True)


def opened(path: Path) -> list[float]:
    """Seconds until the page says that it is ready, each time in a new page."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise SystemExit("there is no Chromium (Debian: apt-get install chromium)")
    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(REPEATS):
            page = browser.new_page()
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_function("'ready' in document.documentElement.dataset")
            seconds.append(time.perf_counter() - began)
            page.close()
        browser.close()
    return seconds


if __name__ == "__main__":
    main()
