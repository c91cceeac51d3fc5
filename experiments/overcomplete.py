"""More states than symbols: the paper's last theorem, and the grouped windows of its section 1.

From the exact law, every random model is learned up to the route's bound, N^2 / 16 states from
triples and N^tau from windows; from a chain of T symbols, the error falls with T.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cohmm import HMM, EvidenceWarning, Triples, count_triples
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.windows.overcomplete import grouped, overcomplete
from cohmm.learn.windows.window_law import window_probability

from .experiment import Experiment, Plan, Row, Step, Table, power, short_time
from .figures import GREY, figure, plain_axis, save

RIGHT = 0.05  # both errors below: recovered
TAU = 2
LOOKS = {"triples": ("#0072B2", "o"), "windows": ("#D55E00", "s")}
ERRORS = ("emission", "transition")


class Case(NamedTuple):
    """Models of one kind, learned by one route from the law (T = 0) or from T symbols."""

    route: str
    n: int
    k: int
    nonzeros: int
    length: int
    instances: int
    sparsity: float = 0.0

    def __str__(self) -> str:
        return f"{self.route} N={self.n} K={self.k} s={self.nonzeros}"

    @property
    def evidence(self) -> str:
        weight = f", w={self.sparsity:g}" if self.sparsity else ""
        return f"T={power(self.length)}{weight}" if self.length else "exact"


QUICK = (
    Case("triples", 20, 25, 4, 0, 2),
    *(Case("windows", 6, k, 3, 0, 3) for k in (8, 10, 20)),
    Case("windows", 3, 4, 2, 10**6, 1, 3.0),
)
FULL = (
    *(Case("triples", 20, 21, s, 0, 5) for s in (3, 5, 10)),
    *(Case("triples", 20, 25, s, 0, 10) for s in (3, 5, 10)),
    Case("triples", 32, 64, 4, 0, 3),
    *(Case("windows", 6, k, s, 0, 10) for s in (3, 6) for k in (8, 10, 15, 20, 25, 30, 36)),
    *(Case("triples", 20, 25, 4, length, 3, 3.0) for length in (10**6, 10**7)),
    *(Case("windows", 6, 10, 3, length, 3, w) for w in (0.0, 3.0) for length in (10**6, 10**7)),
    Case("windows", 6, 10, 10, 10**7, 2),
)


def sparse_hmm(n_symbols: int, n_components: int, nonzeros: int, seed: int) -> HMM:
    """Uniform random emissions; from each state to ``nonzeros`` random ones.

    Drawn again until all states are reached and the transitions are linearly independent, as
    the theorem asks.
    """
    rng = np.random.default_rng([n_symbols, n_components, nonzeros, seed])
    while True:
        a = np.zeros((n_components, n_components))
        for row in a:
            chosen = rng.choice(n_components, nonzeros, replace=False)
            row[chosen] = rng.dirichlet(np.ones(nonzeros))
        emission = rng.dirichlet(np.ones(n_symbols), n_components)
        model = HMM(np.full(n_components, 1 / n_components), a, emission)
        try:
            pi = model.stationary()
        except ValueError:
            continue
        if pi.min() > 0 and np.linalg.matrix_rank(a) == n_components:
            return HMM(pi, a, emission)


def learned(case: Case, truth: HMM, seed: int) -> tuple[HMM, float]:
    """What the route makes of a model's evidence, and its CPU seconds."""
    evidence: Any
    if case.length:
        symbols, _ = truth.sample(case.length, random_state=seed)
        count = count_triples if case.route == "triples" else count_windows
        evidence = count(symbols, n_symbols=case.n)
    elif case.route == "triples":
        evidence = Triples.from_probability(truth.triple_probability())
    else:
        evidence = Windows.from_probability(window_probability(truth, TAU))
    learn = overcomplete if case.route == "triples" else grouped
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)  # the errors say it
        model = learn(evidence, case.k, sparsity=case.sparsity, random_state=seed).model
    return model, time.process_time() - began


def measure(case: Case, seed: int) -> list[Row]:
    """One instance; an error of 1 where the route refuses."""
    truth = sparse_hmm(case.n, case.k, case.nonzeros, seed)
    try:
        model, seconds = learned(case, truth, seed)
        emission, transition = model.distance(truth)
    except ValueError:  # nearly dependent transitions: the law has a smaller rank, to rounding
        emission, transition, seconds = 1.0, 1.0, 0.0
    return [
        {
            "route": case.route,
            "N": case.n,
            "K": case.k,
            "nonzeros": case.nonzeros,
            "T": case.length,
            "sparsity": case.sparsity,
            "instance": seed,
            "emission": emission,
            "transition": transition,
            "seconds": seconds,
        }
    ]


def steps(plan: Plan) -> list[Step]:
    return [
        Step(
            "overcomplete",
            case._replace(instances=1)._asdict() | {"seed": seed},
            partial(measure, case, seed),
            f"{case}, {case.evidence}, instance {seed}",
            20.0 if case.length else 0.1 if case.route == "windows" else case.k**2 / 500,
        )
        for case in (QUICK if plan.quick else FULL)
        for seed in range(plan.seed, plan.seed + (plan.instances or case.instances))
    ]


def summary(rows: list[Row]) -> list[Row]:
    """Medians and largest errors of the instances of every case."""
    names = ("route", "N", "K", "nonzeros", "T", "sparsity")
    found = []
    for key in dict.fromkeys(tuple(row[name] for name in names) for row in rows):
        group = [row for row in rows if tuple(row[name] for name in names) == key]
        found.append(
            dict(zip(names, key, strict=True))
            | {
                "instances": len(group),
                "recovered": sum(larger_error(row) < RIGHT for row in group),
                "seconds": float(np.mean([row["seconds"] for row in group])),
            }
            | {what: float(np.median([row[what] for row in group])) for what in ERRORS}
            | {f"largest_{what}": max(row[what] for row in group) for what in ERRORS}
        )
    return found


def larger_error(row: Row) -> float:
    return max(row[what] for what in ERRORS)


def tables(found: list[Row]) -> list[Table]:
    rows = []
    for row in found:
        case = Case(row["route"], row["N"], row["K"], row["nonzeros"], row["T"], 1, row["sparsity"])
        errors = [f"{row[what]:.2g}" for what in ERRORS]
        right = f"{row['recovered']}/{row['instances']}"
        rows.append([str(case), case.evidence, right, *errors, short_time(row["seconds"])])
    return [
        Table(
            f"More states than symbols, s successors per state; right: below {RIGHT}; medians",
            ["from", "evidence", "right", "emission", "transition", "CPU s"],
            rows,
        )
    ]


def draw(rows: list[Row], file: Any) -> None:
    """The larger of both errors of every instance: of the law against K, of chains against T."""
    picture, (exact, sampled) = figure(2)
    for route, (colour, marker) in LOOKS.items():
        here = [row for row in rows if row["route"] == route]
        for ax, x, chosen in (
            (exact, "K", [row for row in here if not row["T"]]),
            (sampled, "T", [row for row in here if row["T"]]),
        ):
            if chosen:
                worse = [max(larger_error(row), 1e-16) for row in chosen]
                label = f"{route}, N={', '.join(map(str, sorted({row['N'] for row in chosen})))}"
                at = [row[x] for row in chosen]
                ax.scatter(at, worse, color=colour, marker=marker, alpha=0.6, label=label)
    plain_axis(exact, "from the exact law")
    plain_axis(sampled, "from one chain")
    exact.set_xlabel("states, K")
    sampled.set_xlabel("symbols observed, T")
    sampled.set_xscale("log")
    for ax in (exact, sampled):
        ax.axhline(RIGHT, color=GREY, linestyle="--", linewidth=1)
        ax.set(yscale="log", ylabel="the larger error, total variation")
        ax.legend(frameon=False)
    picture.suptitle(f"More states than symbols, every instance; the line: {RIGHT}")
    save(picture, file)


EXPERIMENT = Experiment(
    name="overcomplete",
    title="more states than symbols, from triples and from windows",
    steps=steps,
    summary=summary,
    tables=tables,
    draw=draw,
)
