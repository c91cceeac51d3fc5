"""How close each method comes to a known model, and how long it takes: error-* and time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cohmm import HMM, EvidenceWarning, Sequences, count_pairs, count_triples

from .experiment import Plan, Row, Step, Table, grid, means, power, share
from .figures import curves, decimals, figure, legend_below, lengths_axis, save
from .methods import Method, Observed

MEASURED = ("emission", "transition", "seconds", "pair_seconds", "triple_seconds")


@dataclass(frozen=True)
class Size:
    """A kind of model, the lengths at which it is learned, and by what."""

    generator: Callable[..., HMM]  # of n_symbols, n_components, random_state
    n_symbols: int
    n_components: int
    lengths: tuple[int, ...]
    instances: int
    methods: tuple[Method, ...] = ()

    def truth(self, seed: int) -> HMM:
        return self.generator(self.n_symbols, self.n_components, random_state=seed)

    def __str__(self) -> str:
        return f"N={self.n_symbols}, K={self.n_components}"


def steps(size: Size, plan: Plan) -> list[Step]:
    """A step an instance, length and method."""
    return [
        Step(
            "recovery",
            {
                "generator": size.generator.__name__,
                "N": size.n_symbols,
                "K": size.n_components,
                "longest": max(size.lengths),  # the sample that T is the beginning of
                "seed": seed,
                "T": length,
                "method": method.name,
            },
            partial(recover, size, seed, length, method),
            f"{size}, instance {seed}, T={power(length)}, {method.line.label}",
            method.cost * (size.n_components / 20) ** 2 + 1e-6 * length,
        )
        for seed in range(plan.seed, plan.seed + (plan.instances or size.instances))
        for length in size.lengths
        for method in size.methods
    ]


def recover(size: Size, seed: int, length: int, method: Method) -> list[Row]:
    """Learn one model from the beginning of one sample, and compare it with the truth."""
    observed = beginning(size, seed, length)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)  # weak evidence is what is looked at
        learn = partial(method.learn, observed, size.n_components, seed)
        warm_up(method, size, learn)
        model, seconds = timed(learn)
    distance = model.distance(size.truth(seed))
    return [
        {
            "N": size.n_symbols,
            "K": size.n_components,
            "method": method.line.label,
            "instance": seed,
            "T": length,
            "emission": distance.emission,
            "transition": distance.transition,
            "seconds": seconds,
            "pair_seconds": observed.pair_seconds,
            "triple_seconds": observed.triple_seconds,
        }
    ]


@lru_cache(maxsize=1)  # 1e8 symbols have 400 MB: one sample at a time
def sample(size: Size, seed: int) -> np.ndarray:
    symbols, _ = size.truth(seed).sample(max(size.lengths), random_state=1000 + seed)
    return symbols


@lru_cache(maxsize=1)
def beginning(size: Size, seed: int, length: int) -> Observed:
    """The first symbols of a sample; all methods share one count of them."""
    symbols = sample(size, seed)[:length]

    def count(what: Callable[..., Any]) -> tuple[Any, float]:
        what(symbols[:100], n_symbols=size.n_symbols)  # compiled before it is timed
        return timed(partial(what, symbols, n_symbols=size.n_symbols))

    data = Sequences.of(symbols, n_symbols=size.n_symbols)

    pairs, pair_seconds = count(count_pairs)
    triples, triple_seconds = count(count_triples)
    return Observed(data, pairs, triples, pair_seconds, triple_seconds)


_warm: set[tuple[str, int, int]] = set()


def warm_up(method: Method, size: Size, learn: Callable[[], HMM]) -> None:
    """The first run of a method compiles and loads its kernels, so its time is not taken."""
    key = method.name, size.n_symbols, size.n_components
    if key not in _warm:
        learn()
        _warm.add(key)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and the CPU seconds that it took."""
    began = time.process_time()
    value = work()
    return value, time.process_time() - began


def summary(rows: list[Row]) -> list[Row]:
    return means(rows, ("N", "K", "method", "T"), MEASURED)


def error_tables(found: list[Row]) -> list[Table]:
    first = found[0]
    return [
        grid(
            f"Error of {what}, N={first['N']}, K={first['K']}: total variation, "
            f"mean of instances: {first['instances']}",
            found,
            "method",
            "T",
            lambda row, what=what: share(row[what]),
        )
        for what in ("emission", "transition")
    ]


def draw_errors(methods: tuple[Method, ...], rows: list[Row], file: Any) -> None:
    picture, axes = figure(2)
    for ax, what in zip(axes, ("transition", "emission"), strict=True):
        curves(ax, [method.line for method in methods], rows, what)
        lengths_axis(ax, rows, f"{what} probabilities")
        decimals(ax)
        ax.set_ylabel("total variation error")
    first = rows[0]
    picture.suptitle(
        f"Error against length: N={first['N']}, K={first['K']}; mean, and from least to most; "
        "dashed: as in the paper"
    )
    legend_below(picture, axes[0])
    save(picture, file)
