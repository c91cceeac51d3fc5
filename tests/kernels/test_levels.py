"""Kernels compiled for a lower instruction set give the same: run in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cohmm.kernels import native
from cohmm.kernels.documents import DocumentChain, Reading
from cohmm.kernels.sparse_pass import table
from cohmm.learn.windows.window_law import Products

K = 21  # whole vectors of any level, and some more
SINGLE = ("sparse_pass", "sparse_times", "log_fit")  # sums are float32


def documents(rng: np.random.Generator) -> dict[str, np.ndarray]:
    emission = np.ascontiguousarray(rng.dirichlet(np.full(50, 0.3), size=K).T) + 1e-9
    prior, rows = 2 * rng.dirichlet(np.ones(K)), 3 * rng.dirichlet(np.ones(K), size=K)
    symbols, offsets = rng.integers(0, 50, 400).astype(np.int32), np.array([0, 1, 1, 150, 400])
    part, weights = (0, 4), np.array([1.0, 2.0, 0.5, 1.0])
    results = {}
    for name, chain in {
        "sticky": DocumentChain(emission, prior, 0.3),
        "full": DocumentChain(emission, prior, rows=rows),
    }.items():
        logs = np.empty(400)
        native.predict_words(symbols, offsets, part, chain, logs)
        reading = Reading(
            np.empty((4, K)), np.empty(4), np.empty(400, np.int32), np.empty(400),
            np.empty((400, K)),
        )  # fmt: skip
        native.infer_documents(symbols, offsets, part, chain, False, 5, 0.0, reading)
        results |= {f"{name} {field}": getattr(reading, field) for field in reading._fields}
        results[f"{name} predicted"] = logs
    sticky = DocumentChain(emission, prior, 0.3)
    own, counts, totals = np.full((4, K), 1 / K), np.zeros((50, K)), np.zeros(4)
    native.count_words(symbols, offsets, part, weights, sticky, 3, own, counts, totals)
    moves = np.zeros((K, K))
    native.count_moves(symbols, offsets, part, weights, sticky, 2, moves)
    return results | {"own": own, "counts": counts, "totals": totals, "moves": moves}


def tables(rng: np.random.Generator) -> dict[str, np.ndarray]:
    indptr, columns = np.array([0, 3, 3, 200]), rng.integers(0, 40, 200).astype(np.int32)
    values = rng.random(200).astype(np.float32)
    left, right = table(rng.random((3, K))), table(rng.random((40, K)))
    out, fit, product = np.empty((3, K)), np.empty(3), np.empty((3, K))
    native.sparse_pass(indptr, columns, values, (0, 3), left, right, out, fit)
    native.sparse_times(indptr, columns, values, (0, 3), right, product)
    return {"sparse_pass": out, "log_fit": fit, "sparse_times": product}


class Runs:
    """Two runs of triples."""

    borders, before, middle = np.array([0, 3, 5]), np.array([0, 2]), np.array([1, 0])
    after, probability = np.array([0, 1, 2, 0, 2]), np.array([0.1, 0.2, 0.3, 0.2, 0.2])


def others(rng: np.random.Generator) -> dict[str, np.ndarray]:
    left, centre, right = rng.random((3, 3, K))
    sums = Products(0.0, *np.zeros((3, 3, K)))
    results = {
        "triples": np.array(native.triple_pass(Runs, (0, 2), True, left, centre, right, sums))
    }
    results |= {f"triples {field}": getattr(sums, field) for field in sums._fields}
    distance, labels, least, second = (
        rng.random((K, 99)), np.empty(99, np.int64), np.empty(99), np.empty(99),
    )  # fmt: skip
    native.two_nearest(distance, labels, least, second)
    centres = np.empty((K, 13))
    changed = np.bincount(labels, minlength=K) > 0
    centres[~changed] = 0.0
    native.move_centres(rng.random((99, 13)), rng.random(99) + 1, labels, changed, centres)
    results |= {"labels": labels, "least": least, "second": second, "centres": centres}
    corners = rng.dirichlet(np.full(60, 0.3), size=K)
    targets = rng.dirichlet(np.full(K, 0.3), size=9) @ corners
    gram = corners @ corners.T
    scale = np.trace(gram) / K
    squares, divergence = np.empty((2, 9, K))
    native.nearest_by_squares(
        gram / scale, targets @ corners.T / scale, (0, 9), 1e-15, 5000, squares
    )
    native.nearest_by_divergence(
        np.ascontiguousarray(corners.T), np.arange(0, 541, 60),
        np.tile(np.arange(60, dtype=np.int32), 9), targets.ravel(), (0, 9), 1e-14, 500, divergence,
    )  # fmt: skip
    mixed = {"squares": squares @ corners, "divergence": divergence @ corners}  # weights are vaguer
    return results | mixed


def results() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return documents(rng) | tables(rng) | others(rng)


@pytest.mark.parametrize("level", range(2, native.level))
def test_a_lower_level_gives_the_same(level: int, tmp_path: Path) -> None:
    path = tmp_path / "results.npz"
    environment = os.environ | {"COHMM_LEVEL": str(level)}
    subprocess.run([sys.executable, "-m", __name__, str(path)], env=environment, check=True)
    lower = np.load(path)
    here = results()
    assert set(lower) == {*here, "level"}
    assert lower["level"] == level
    for name, values in here.items():
        tolerance = 1e-5 if name in SINGLE else 1e-6 if name in ("squares", "divergence") else 1e-10
        np.testing.assert_allclose(
            lower[name], values, rtol=tolerance, atol=1e-3 * tolerance, err_msg=name
        )


if __name__ == "__main__":
    np.savez(sys.argv[1], level=native.level, **results())
