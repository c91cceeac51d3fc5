"""How often the number of states is found: by "auto", and by `select`.

    python benchmarks/states.py                      # "auto": minutes
    python benchmarks/states.py --select             # and `select` on the 54 chains: ten minutes
    python benchmarks/states.py --select --symbols 50
    python benchmarks/states.py --first-seed 100     # other chains
    python benchmarks/states.py --table auto         # "auto" beside `select`, on sessions
    python benchmarks/states.py --quick

The 54 chains: N = 16 and K = 4 or N = 50 and K = 8; separable, half zeros or dense; none, half or
four fifths of the transitions stay; and three lengths.  Then the paper's chain of N = 100, K = 20
that mixes fast, and symbols that are independent, of which one state is all there is to find.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from typing import NamedTuple

import numpy as np

from cohmm import HMM, Sequences, count_pairs, select, threads
from cohmm.datasets import public_sequences
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.sequences.held_out import choose_states

SIZES = ((16, 4), (50, 8))
LENGTHS = (10**4, 10**5, 10**6)
KINDS = ("separable", "half zeros", "dense")
STAYS = (0.0, 0.5, 0.8)
PIECE = 10**7


class Chain(NamedTuple):
    n_symbols: int
    k: int
    kind: str
    stay: float
    length: int
    seed: int

    def model(self) -> HMM:
        if self.kind == "separable":
            return separable_hmm(self.n_symbols, self.k, self.stay, random_state=self.seed)
        zeros = 0.5 if self.kind == "half zeros" else 0.0
        return random_hmm(self.n_symbols, self.k, zeros, self.stay, random_state=self.seed)

    def data(self) -> Sequences:
        model, parts = self.model(), []
        for i, first in enumerate(range(0, self.length, PIECE)):
            size = min(PIECE, self.length - first)
            parts.append(model.sample(size, random_state=[1000 + self.seed, i])[0].astype(np.int32))
        return Sequences.of(
            np.concatenate(parts), [len(part) for part in parts], n_symbols=self.n_symbols
        )


def detectable(data: Sequences) -> int:
    """What n_components="auto" takes."""
    return PairEvidence.of(count_pairs(data)).spectrum().n_detectable


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=4, help="fast-mixing chains of each length")
    parser.add_argument("--independent", type=int, default=200, help="sets of independent symbols")
    parser.add_argument("--longest", type=float, default=1e7, help="leave out longer chains")
    parser.add_argument("--symbols", type=int, help="only chains of so many symbols, 16 or 50")
    parser.add_argument("--select", action="store_true", help="on the 54 chains")
    parser.add_argument("--table", choices=("auto",), help="this table alone")
    parser.add_argument("--symbols-of-each", type=int, default=30_000, help="of a set of sessions")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.table == "auto":
        with threads(1):
            sessions(2_000 if arguments.quick else arguments.symbols_of_each)
        return
    first = arguments.first_seed
    kinds = (SIZES, LENGTHS, KINDS, STAYS)
    if arguments.quick:
        kinds = (SIZES[:1], (3000,), KINDS[:1], STAYS[2:])
    chains = [
        Chain(*size, kind, stay, length, first + number)
        for number, (size, length, kind, stay) in enumerate(product(*kinds))
        if length <= arguments.longest and arguments.symbols in (None, size[0])
    ]
    with threads(1):
        many_chains(chains, arguments.select or arguments.quick)
        sizes_mixing = [(30, 5, 10**4)] if arguments.quick else [(100, 20, 10**6), (100, 20, 10**7)]
        fast_mixing(
            [size for size in sizes_mixing if size[2] <= arguments.longest],
            range(first, first + (1 if arguments.quick else arguments.seeds)),
        )
        if arguments.independent:
            independent(first, 4 if arguments.quick else arguments.independent)


def made_sessions(seed: int, n_symbols: int, k: int, total: int) -> Sequences:
    """Sessions of 40 events in nearly strict order, whose kinds are mostly rare."""
    rng = np.random.default_rng(seed)
    transmat = 0.85 * np.roll(np.eye(k), 1, axis=1) + 0.15 * rng.dirichlet(np.full(k, 0.3), k)
    rare = 1 / np.arange(1, n_symbols + 1) ** 1.5
    emission = 0.97 * np.array([rng.dirichlet(rng.permutation(rare)) for _ in range(k)])
    truth = HMM(np.full(k, 1 / k), transmat, emission + 0.03 / n_symbols)
    drawn = [truth.sample(40, rng)[0] for _ in range(total // 40)]
    return Sequences.of([list(map(str, session)) for session in drawn])


def first_of(data: Sequences, total: int) -> Sequences:
    """The first sequences, of about so many symbols."""
    n = max(int(np.searchsorted(np.cumsum(data.lengths), total)), 2)
    return data.spans(data.offsets[:-1][:n], data.offsets[1:][:n])


def sessions(total: int) -> None:
    """Made sessions with rare symbols, and public ones, where `COHMM_DATA` has them."""
    sets = {
        f"made, {n} kinds": made_sessions(seed, n, k, min(total, 4_000))
        for seed, (n, k) in enumerate([(14, 6), (40, 8), (120, 10), (300, 12)])
    }
    try:
        sets["msnbc"] = first_of(public_sequences.msnbc(), total)
        sets["Brown, tags"] = first_of(Sequences.of(public_sequences.brown().tags), total)
    except (FileNotFoundError, ValueError) as error:
        print(f"without public data: {error}")
    print("| sessions | N | T | auto | behind | best of select | CPU s, auto | CPU s, select |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, data in sets.items():
        shown = PairEvidence.of(count_pairs(data)).spectrum().n_detectable
        began = time.process_time()
        taken = choose_states(data, shown).n_components
        chosen = time.process_time()
        found = select(data, stability=False, random_state=0)
        done = time.process_time()
        scores = {one.n_components: one.held_out for one in found.candidates}
        if taken not in scores:
            alone = select(data, n_components=[taken], stability=False, random_state=0)
            scores[taken] = alone.candidates[0].held_out
        behind = max(scores.values()) - scores[taken]
        print(
            f"| {name} | {data.n_symbols} | {data.n_observations} | {taken} | {behind:.3f} "
            f"| {found.best} | {chosen - began:.1f} | {done - chosen:.1f} |",
            flush=True,
        )


def many_chains(chains: list[Chain], with_select: bool) -> None:
    print("| N | K | emissions | stay | T | auto | select |\n|---:|---:|---|---:|---:|---:|---:|")
    found: dict[str, list[int]] = {"auto": [], "select": []}
    began = time.process_time()
    for chain in chains:
        data = chain.data()
        found["auto"].append(detectable(data) - chain.k)
        shown = ""
        if with_select:
            recommended = select(data, stability=False, random_state=0).recommended
            found["select"].append(recommended - chain.k)
            shown = str(recommended)
        print(
            f"| {chain.n_symbols} | {chain.k} | {chain.kind} | {chain.stay:g} | {chain.length:.0e} "
            f"| {found['auto'][-1] + chain.k} | {shown} |",
            flush=True,
        )
    print("\n| rule | chains | exact | too few | too many | most too many |")
    print("|---|---:|---:|---:|---:|---:|")
    for rule, differences in found.items():
        if differences:
            off = np.array(differences)
            print(
                f"| {rule} | {len(off)} | {(off == 0).sum()} | {(off < 0).sum()} "
                f"| {(off > 0).sum()} | {max(off.max(), 0)} |"
            )
    print(f"\n{time.process_time() - began:.0f} CPU s\n", flush=True)


def fast_mixing(sizes: list[tuple[int, int, int]], seeds: range) -> None:
    print('| N | K | T | "auto", the mean | each |\n|---:|---:|---:|---:|---|')
    for n, k, length in sizes:
        counts = [detectable(Chain(n, k, "half zeros", 0.0, length, seed).data()) for seed in seeds]
        print(
            f"| {n} | {k} | {length:.0e} | {np.mean(counts):.2f} | {' '.join(map(str, counts))} |",
            flush=True,
        )
    print()


def independent(first: int, runs: int) -> None:
    """Symbols of random frequencies, none of which says anything of the next."""
    print("| N | T | sets | more than one state |\n|---:|---:|---:|---:|")
    for n, length in ((16, 10**4), (50, 10**5)):
        over = 0
        for seed in range(first, first + runs):
            rng = np.random.default_rng([seed, n])
            frequency = rng.exponential(size=n)
            symbols = rng.choice(n, size=length, p=frequency / frequency.sum())
            over += detectable(Sequences.of(symbols, n_symbols=n)) > 1
        print(f"| {n} | {length:.0e} | {runs} | {over} ({over / runs:.1%}) |", flush=True)


if __name__ == "__main__":
    main()
