"""Benchmarks run at their quick size; what they time is not tested here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts import run_script

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


# They measure processes of their own: their memory, their start, what becomes of their threads.
PROCESSES = {"big_text.py", "engines.py", "first_call.py", "long_line.py", "report.py", "scale.py"}
# They load C that was compiled with -ffast-math, which sets subnormal numbers to zero for good.
FAST_MATH = {"inference.py", "sparse_pass.py"}


def quick(name: str) -> str:
    if name not in PROCESSES | FAST_MATH:
        return run_script(BENCHMARKS / name, "--quick")
    command = [sys.executable, str(BENCHMARKS / name), "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("beside_bertopic.py", ["| quick | 3 | HTMM | 3 |"]),
        ("big_text.py", ["| --memory 4GB |", "| --workers 2 |"]),
        ("engines.py", ["| local | E-step on 2e+04 | 8 |", "| dask | pass over 200 articles"]),
        ("long_line.py", ["| decode --algorithm map | 2 |"]),
        ("coverage.py", ["| 2 | refined |", "| 2 | pairs, lags 1 to 3 |"]),
        ("climbs.py", ["| 5 | 3 | 2 | 1e+04 | 0 |", "| 8 | 3 | 1 | 1e+04 | 0 |"]),
        ("first_call.py", ["| `import cohmm` |", "| PairwiseHMM(4).fit, 2,000 symbols |"]),
        ("growing.py", ["| quick | 179 | 4 batches, from files | 41 |"]),
        ("identifiability.py", ["| 3 | 15 | separable | 2 | 2 | 2 of 2 (100%) |"]),
        ("model_fit.py", ["| second order | 4 | 4 | 2e+03 |", "right models refused:"]),
        ("states.py", ["| auto | 1 |", "| select | 1 |", "| 16 | 1e+04 | 4 |"]),
        ("inference.py", ["| Viterbi | deeptime |", "| forward (log-likelihood) | hmmlearn |"]),
        ("labels.py", ["| quick | 3 | HTMM |", "| quick | 3 | LDA tomotopy |"]),
        ("learning.py", ["| four fifths stay |", "| hmmlearn: one E-step", "| 40 | 5 | exact |"]),
        ("over.py", ["| documents | share, topics known |", "| 10 |"]),
        ("passages.py", ["| quick | passages |", "| quick | block distance |"]),
        ("refinement.py", ["Refinement (sticky)", "| refined, sparsity=1 |", "| baum_welch |"]),
        ("scale.py", ["| 2e+05 | 4GB |", "| M pairs/s |"]),
        ("sessions.py", ["| sessions 0 |", "at or above the best of five on"]),
        ("small_data.py", ["| 200 | 2 | 4 | sticky |", "at or above hmmlearn in"]),
        ("sparse_pass.py", ["| 100 |", "A fit, N="]),
        ("zeros.py", ["| 16 | 4 | 0.5 | 2e+04 | default |", "dense: means of 1 instances"]),
        ("text_files.py", ["| 100, all as frequent | 0 | pyarrow's CSV reader |"]),
        ("topic_seeds.py", ["| topic 0 | rain cloud snow | 2 of 2 |"]),
        ("topics.py", ["| HTMM |", "| HTMM, the paper's |", "| LDA tomotopy |"]),
    ],
)
def test_quick_runs_print_their_tables(name: str, rows: list[str]) -> None:
    printed = quick(name)
    for row in rows:
        assert row in printed


def test_real_data() -> None:
    folder = Path(os.environ.get("COHMM_DATA", ""))
    if not (folder / "msnbc.tar.gz").is_file():
        pytest.skip("COHMM_DATA names no folder with msnbc.tar.gz and brown.zip")
    assert "topics, " in quick("diagnosis.py")
    printed = quick("real_data.py")
    assert "| msnbc | cohmm fit --refine, lags 1,2,3 |" in printed
    assert "| Brown | hmmlearn" in printed


def test_the_report_opens() -> None:
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))):
        pytest.skip("there is no Chromium (Debian: apt-get install chromium)")
    assert "| 300 | 12 |" in quick("report.py")
