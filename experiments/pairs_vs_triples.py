"""Proposition 1: counted pairs are closer to their law than counted triples to theirs.

The paper proves the order, and gives no numbers.  What is drawn beside the samples is what is
expected where pairs, or triples, are drawn independently; a chain that mixes comes close.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import poisson

from cohmm.datasets.synthetic import random_hmm, separable_hmm

from .experiment import Experiment, Plan, Row, Step, Table, grid, means, power
from .figures import GREY, Line, curve, decimals, figure, legend_below, lengths_axis, save
from .recovery import Size, beginning

LARGE = Size(random_hmm, 100, 20, tuple(10**e for e in range(4, 9)), instances=3)
SMALL = Size(separable_hmm, 16, 4, tuple(10**e for e in range(3, 8)), instances=10)
QUICK_LARGE = Size(random_hmm, 24, 5, (10**4, 10**5, 10**6), instances=2)
QUICK_SMALL = Size(separable_hmm, 16, 4, (10**3, 10**4, 10**5), instances=2)

MEASURES = {"tv": "total variation", "kl": "Kullback-Leibler divergence, nats"}
LINES = {
    "pair": Line("pairs", "#0072B2", "o"),
    "triple": Line("triples", "#D55E00", "s"),
}
COLUMNS = [
    f"{law}_{measure}{kind}" for law in LINES for measure in MEASURES for kind in ("", "_expected")
]


def steps(plan: Plan) -> list[Step]:
    return [
        Step(
            "pairs-vs-triples",
            {
                "generator": size.generator.__name__,
                "N": size.n_symbols,
                "K": size.n_components,
                "longest": max(size.lengths),
                "seed": seed,
                "T": length,
            },
            partial(compare, size, seed, length),
            f"{size}, instance {seed}, T={power(length)}",
            0.1 + 1e-7 * length,
        )
        for size in ((QUICK_SMALL, QUICK_LARGE) if plan.quick else (SMALL, LARGE))
        for seed in range(plan.seed, plan.seed + (plan.instances or size.instances))
        for length in size.lengths
    ]


def compare(size: Size, seed: int, length: int) -> list[Row]:
    """How far the counts of the first symbols are from the laws."""
    truth = size.truth(seed)
    observed = beginning(size, seed, length)
    a, b, c = observed.triples.triples.T
    triples = np.zeros((size.n_symbols,) * 3)
    triples[a, b, c] = observed.triples.counts
    row = {"N": size.n_symbols, "K": size.n_components, "instance": seed, "T": length}
    for name, law, counts in (
        ("pair", truth.pair_probability(), observed.pairs[1]),
        ("triple", truth.triple_probability(), triples),
    ):
        row[f"{name}_tv"] = total_variation(counts, law)
        row[f"{name}_kl"] = divergence(counts, law)
        row[f"{name}_tv_expected"] = expected_total_variation(law, counts.sum())
        row[f"{name}_kl_expected"] = expected_divergence(law, counts.sum())
    return [row]


def total_variation(counts: np.ndarray, law: np.ndarray) -> float:
    return float(np.abs(counts / counts.sum() - law).sum() / 2)


def divergence(counts: np.ndarray, law: np.ndarray) -> float:
    """D(counted || law), in nats."""
    seen = counts > 0
    share = counts[seen] / counts.sum()
    return float((share * np.log(share / law[seen])).sum())


def expected_total_variation(law: np.ndarray, n: float) -> float:
    """Of n independent draws, whose counts are nearly Poisson: E|X - m| = 2 m^(c+1) e^-m / c!."""
    mean = n * law[law > 0]
    floor = np.floor(mean)
    deviation = 2 * np.exp((floor + 1) * np.log(mean) - mean - gammaln(floor + 1))
    return float(deviation.sum() / (2 * n))


def expected_divergence(law: np.ndarray, n: float) -> float:
    """Of n independent draws: E[X log(X / m)] summed over the cells, less what the total takes."""
    mean = n * law[law > 0]
    at = np.geomspace(max(mean.min(), 1e-12), 1e4, 500)
    values = [_mean_of_x_log_x(m) for m in at]
    cells = np.interp(np.log(np.minimum(mean, at[-1])), np.log(at), values)
    return float((cells.sum() - 0.5) / n)


def _mean_of_x_log_x(mean: float) -> float:
    x = np.arange(1, int(mean + 12 * np.sqrt(mean) + 30))
    return float((poisson.pmf(x, mean) * x * np.log(x / mean)).sum())


def summary(rows: list[Row]) -> list[Row]:
    return means(rows, ("N", "K", "T"), COLUMNS)


def tables(found: list[Row]) -> list[Table]:
    return [
        grid(
            f"Counted against true laws, N={n}, K={k}",
            [
                {
                    "distance": f"{line.label}, {measure.upper()}{kind}",
                    "T": row["T"],
                    "value": row[f"{law}_{measure}{'_expected' if kind else ''}"],
                }
                for measure in MEASURES
                for law, line in LINES.items()
                for kind in ("", ", expected")
                for row in found
                if (row["N"], row["K"]) == (n, k)
            ],
            "distance",
            "T",
            lambda row: f"{row['value']:.2g}",
        )
        for n, k in dict.fromkeys((row["N"], row["K"]) for row in found)
    ]


def draw(rows: list[Row], file: Any) -> None:
    sizes = list(dict.fromkeys((row["N"], row["K"]) for row in rows))
    picture, axes = figure(2, len(sizes))
    for across, (n, k) in zip(axes, sizes, strict=True):
        here = [row for row in rows if (row["N"], row["K"]) == (n, k)]
        for ax, (measure, title) in zip(across, MEASURES.items(), strict=True):
            for law, line in LINES.items():
                curve(ax, line, here, f"{law}_{measure}")
                expected = Line(
                    f"{line.label}, expected of independent draws", GREY, "", line_style(law)
                )
                curve(ax, expected, here, f"{law}_{measure}_expected")
            lengths_axis(ax, here, f"N={n}, K={k}")
            if measure == "tv":
                decimals(ax)
            ax.set_ylabel(title)
    picture.suptitle("Counted against true laws; mean, and from least to most")
    legend_below(picture, axes[0][0], columns=4)
    save(picture, file)


def line_style(law: str) -> str:
    return ":" if law == "pair" else "--"


EXPERIMENT = Experiment(
    name="pairs-vs-triples",
    title="Proposition 1: pairs come closer to their law than triples",
    steps=steps,
    summary=summary,
    tables=tables,
    draw=draw,
)
