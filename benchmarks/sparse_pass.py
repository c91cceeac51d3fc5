"""The pass over the non-zeros beside a hand-written AVX-512 loop, and a large fit.

    python benchmarks/sparse_pass.py           # GFlop/s for K = 20, 50, 100; N = 200,000 fit
    python benchmarks/sparse_pass.py --passes  # without the fit
    python benchmarks/sparse_pass.py --quick

One matrix has Zipf-like rows and columns, the other is that of the word pairs of Reuters as HTMM
learns from them: near lags and far ones in one.

The C loop (sparse_pass.c) is compiled here with gcc, where there is one and the processor has
AVX-512.  It does the products alone; cohmm's pass also sums the log-likelihood, and sums in
float64.  A flop is counted for every multiplication and addition of the K states, not of the
padding: 4 K a non-zero.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cohmm import Cooccurrence, PairwiseHMM
from cohmm.datasets.corpora import reuters_documents
from cohmm.datasets.data_files import MissingData
from cohmm.evidence.counting import count_documents
from cohmm.kernels import native, sparse_pass
from cohmm.kernels.threads import run, threads
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import SparseRows
from cohmm.learn.topics.topic_lags import lag_shares
from measure import peak_memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--passes", action="store_true", help="single passes alone, no fit")
    arguments = parser.parse_args()
    quick = arguments.quick
    with threads(1):
        n, nnz = (2_000, 100_000) if quick else (20_000, 4_200_000)
        pass_table("Zipf", *random_rows(n, nnz))
        if not quick:
            try:
                pass_table("Reuters", *reuters_rows())
            except MissingData as error:
                print(f"Reuters is left out: {error}\n")
    if quick:
        fit_table(3_000, 100_000, 5)
    elif not arguments.passes:
        fit_table(200_000, 50_000_000, 50)


def random_rows(n: int, nnz: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sparse matrix with Zipf-like rows and columns, about ``nnz`` non-zeros."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, n + 1) ** 0.7
    weights /= weights.sum()
    draws = [rng.choice(n, nnz, p=weights).astype(np.int64) for _ in range(2)]
    keys = np.unique(draws[0] * n + draws[1])
    indptr = np.searchsorted(keys // n, np.arange(n + 1)).astype(np.int64)
    return indptr, (keys % n).astype(np.int32), rng.random(len(keys)).astype(np.float32)


def reuters_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pair law of all words of Reuters, rows divided by frequencies as in a fit."""
    documents = reuters_documents()
    shares = lag_shares("auto", documents)
    law = PairEvidence.of(count_documents(documents, shares), shares, "summed", shares).laws[1]
    rows = SparseRows.of(law.omega, 1 / law.frequency)
    return rows.indptr, rows.columns, rows.values


def pass_table(name: str, indptr: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
    by_hand = hand_written()
    n = len(indptr) - 1
    print(f"One pass, {name}, N={n:,}, {len(columns):,} non-zeros, one thread, CPU time\n")
    print("| K | by hand, GFlop/s | cohmm, GFlop/s | cohmm / by hand |")
    print("|---:|---:|---:|---:|")
    rng = np.random.default_rng(1)
    for k in (20, 50, 100):
        left, right = (sparse_pass.table(rng.random((n, k))) for _ in range(2))
        out, fit = np.empty((n, k)), np.empty(n)
        cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], 65).astype(np.int64))
        parts = [(int(a), int(b)) for a, b in pairwise(cuts) if b > a]

        def ours(
            left: Any = left, right: Any = right, out: Any = out, parts: Any = parts, fit: Any = fit
        ) -> None:  # fmt: skip
            run(
                lambda *part: native.sparse_pass(
                    indptr, columns, values, part, left, right, out, fit
                ),
                parts,
            )

        flops = 4.0 * k * len(columns)
        mine = flops / best(ours) / 1e9
        if by_hand is None:
            print(f"| {k} | not available | {mine:.1f} | |")
            continue
        result = np.empty_like(left)

        def theirs(left: Any = left, right: Any = right, result: Any = result) -> None:
            by_hand(indptr, columns, values, left, right, result)

        hand = flops / best(theirs) / 1e9
        assert np.allclose(result[:, :k], out, rtol=1e-3)
        print(f"| {k} | {hand:.1f} | {mine:.1f} | {mine / hand:.2f} |", flush=True)
    print()


def best(call: Callable[[], None], repeats: int = 15) -> float:
    call()
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        seconds.append(time.process_time() - began)
    return min(seconds)


def hand_written() -> Callable[..., None] | None:
    """The C loop, or None where it cannot be built or run."""
    if shutil.which("gcc") is None or "avx512f" not in Path("/proc/cpuinfo").read_text():
        return None
    folder = tempfile.mkdtemp()
    library = Path(folder) / "sparse_pass.so"
    source = Path(__file__).with_suffix(".c")
    flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.omp_set_num_threads(1)
    function = loaded.sparse_pass

    def call(*arrays: np.ndarray) -> None:
        indptr, columns, values, left, right, out = arrays
        width = ctypes.c_int(left.shape[1])
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
        assert function(ctypes.c_int64(len(indptr) - 1), width, *pointers) == 0
        del columns, values, right, out

    return call


def fit_table(n: int, nnz: int, k: int) -> None:
    """Time and memory of a fit to a law of many non-zeros."""
    indptr, columns, values = random_rows(n, nnz, seed=2)
    counts = np.ceil(values * 5).astype(np.int64)
    del values
    matrix = sparse.csr_array((counts, columns, indptr), shape=(n, n))
    evidence = Cooccurrence({1: matrix}, np.asarray(matrix.sum(axis=1)), np.zeros(n, np.int64))
    passes = 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        extra, model = peak_memory(
            lambda: PairwiseHMM(k, max_iter=passes, random_state=0).fit_counts(evidence)
        )
    seconds = time.perf_counter() - began
    held = (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 1e9
    print(f"A fit, N={n:,}, {matrix.nnz:,} non-zeros, K={k}, {model.n_iter_} passes\n")
    print("| the counts, GB | peak above them, GB | together, GB | seconds, start and passes |")
    print("|---:|---:|---:|---:|")
    print(f"| {held:.2f} | {extra / 1e9:.2f} | {held + extra / 1e9:.2f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
