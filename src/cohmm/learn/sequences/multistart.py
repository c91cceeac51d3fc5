"""Where to start from, out of many models: a race of EM steps on small parts of the data.

The pair estimate is a good start where states mix.  Where sessions are short, end for good and
keep a strict order, a random start may lead further, and states that are moved from one part of the
chain to another further still (`benchmarks/sessions.py`).

1. Two disjoint subsets a and b of the data, of some thousand symbols.
2. A model that was given, and that EM steps on a do not raise on b, knows more than a can tell: it
   is kept, as it came.  So it is with the pair estimate on long data of a chain that mixes.  Of
   shorter data, of which b is half, that says nothing: the pair estimate has seen b.
3. Else random models are taken a few EM steps further on a smaller a, and scored on a smaller b, as
   long as that rises; after a while the better half goes on each time, until one is left.
4. If that is ahead of what was given, it is improved by moving states (`split_states`), again with
   EM on a and a score on b.  Many moves on little data lead further than few moves on more.
5. What a and b say need not hold: there are two such races, and EM over all of the data, or much
   of it, decides between their winners and what was given.

Of little data no part is held out: a few random starts race, by its own likelihood.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.partitioned import Data
from cohmm.data.sequences import Sequences
from cohmm.evidence.windows import triple_counts, window_counts
from cohmm.kernels.types import Floats
from cohmm.learn.constraints import PseudoCounts, tables
from cohmm.learn.learner import Fit
from cohmm.learn.maximize import added, m_step, visits
from cohmm.learn.windows.overcomplete import grouped, overcomplete
from cohmm.model.hmm import HMM, ImpossibleObservation
from cohmm.model.sampling import generator

SUBSET = 12_000  # symbols of a, and of b, on which what was given is tried
RACE, RACES = 4000, 2  # symbols of each in a race, and for moves; races, each on parts of its own
LONGEST_PIECE, PIECES = 1000, 20  # longer sequences are cut: symbols, and pieces at least
MIN_SYMBOLS = 2000  # symbols: parts of fewer tell nothing
PASSES, ROUNDS = 10, 2  # of EM, before any is dropped
FEW = 5  # random starts, on so little data
MUCH, MUCH_PASSES = 200_000, 20  # symbols, and EM passes over them, that decide in the end
MOVES, MAX_MOVES = 15, 150  # moves on trial: for each state, and in all
# EM passes of a trial, and the nats per symbol behind which it is given up.  Of 270 moves on six
# sets of sessions, 30 % were tried to the end, with all but 1 % of what the moves gained.
TRIAL = ((4, 0.05), (2, 0.03), (14, 0.0))
WORTH = 1e-3  # nats per symbol that a model must be behind, if it is not to be kept
PRIOR = PseudoCounts(start=0.01, transition=1e-4, emission=1e-4)  # zeros are hard to leave
RARE = 0.02  # share of all places: rarer states are given up about equally often
ROOM = 2**16  # cells of a law of windows: decompositions of so many take seconds
OPENING = 1e-3  # share of a uniform row: EM leaves a zero slowly


def random_start(data: Data, n_components: int, rng: np.random.Generator) -> HMM:
    """Random transitions, and emissions that are the symbols' frequencies, each times a draw."""
    emission = rng.exponential(size=(n_components, data.n_symbols)) * data.symbol_counts
    transmat = rng.exponential(size=(n_components, n_components))
    return HMM(
        np.full(n_components, 1 / n_components),
        transmat / transmat.sum(axis=1, keepdims=True),
        emission / emission.sum(axis=1, keepdims=True),
        data.vocabulary,
    )


class Runner(NamedTuple):
    """A model in the race."""

    model: HMM
    score: float
    """Log-likelihood of what it is scored on, nats per symbol."""
    rising: bool = True


def best_start(
    data: Data,
    candidates: list[HMM],
    draw: Callable[[np.random.Generator], HMM],
    *,
    n_random: int = 16,
    random_state: Any = None,
) -> HMM:
    """The most promising of some models that are given, and of random ones.

    Parameters
    ----------
    data : Sequences
        What they are to explain.
    candidates : list of HMM
        Models such as the pair estimate; one that is right comes back unchanged.  May be empty.
    draw : function of a random generator
        Gives a random start.  What is zero in it stays zero.
    n_random : int
        How many to draw, if any is needed.
    random_state : None, int, Generator
        Where the randomness comes from.

    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.8, .2, 0], [0, .2, .8]])
    >>> data = Sequences.of(truth.sample(5000, random_state=0)[0])
    >>> start = best_start(data, [truth], lambda rng: random_start(data, 2, rng), random_state=0)
    >>> start is truth
    True
    """
    rng = generator(random_state)
    little = data.n_observations < MIN_SYMBOLS
    size = min(SUBSET, data.n_observations // 2)
    a, b = 2 * [_all_of(data)] if little else subsets(data, (size, size), rng)
    given = [scored(model, b) for model in candidates]
    raised = [run(runner, a, b, ROUNDS + 1) for runner in given]
    # What is given may have been learned from all of the data, b too: where b is half of it, its
    # score flatters, and EM over all of the data decides.
    flattered = data.n_observations <= 2 * SUBSET
    if given and best(raised).score < best(given).score + WORTH and not flattered:
        return best(given).model
    if little:
        winner = best([*raised, race(draw, min(n_random, FEW), a, b, rng)])
        unmoved = [c for c, runner in zip(candidates, raised, strict=True) if runner is winner]
        return unmoved[0] if unmoved else winner.model
    ahead = []
    for _ in range(RACES):
        a, b = subsets(data, 2 * (min(RACE, size),), rng)
        winner = race(draw, n_random, a, b, rng)
        again = [scored(runner.model, b) for runner in raised]
        if flattered or not again or winner.score > best(again).score:
            ahead.append(with_states_moved(winner, a, b, rng).model)
    if not ahead:
        return candidates[int(np.argmax([runner.score for runner in raised]))]
    kept = [best(given).model] if given else []
    [much] = subsets(data, (min(MUCH, data.n_observations),), rng)
    ends = [scored(em(model, much, MUCH_PASSES), much).score for model in (*kept, *ahead)]
    ends[: len(kept)] = [end + WORTH for end in ends[: len(kept)]]
    return [*kept, *ahead][int(np.argmax(ends))]


def race(
    draw: Callable[[np.random.Generator], HMM],
    n_random: int,
    a: Sequences,
    b: Sequences,
    rng: np.random.Generator,
) -> Runner:
    """The winner among random models: EM on a, scored on b, the better half goes on each time."""
    field = [run(scored(draw(rng), b), a, b, ROUNDS) for _ in range(n_random)]
    while len(field) > 1:
        field.sort(key=lambda runner: -runner.score)
        field = [run(runner, a, b) for runner in field[: len(field) // 2]]
    return field[0]


def _all_of(data: Data) -> Sequences:
    ends = np.cumsum(data.lengths)
    return data.spans(ends - data.lengths, ends)


def with_states_moved(
    runner: Runner, a: Sequences, b: Sequences, rng: np.random.Generator
) -> Runner:
    """Moves of states that raise the score, of those tried; a model with zeros stays as it is."""
    if not can_split(runner.model):
        return runner
    visited = visits(runner.model.expected_counts(a)[1])
    for _ in range(min(MOVES * runner.model.n_components, MAX_MOVES)):
        moved = Runner(with_split_state(runner.model, visited, rng), -np.inf)
        for passes, behind in TRIAL:
            moved = scored(em(moved.model, a, passes), b)
            if moved.score < runner.score - behind:
                break
        if moved.score > runner.score:
            runner, visited = moved, visits(moved.model.expected_counts(a)[1])
    return runner


def best(field: list[Runner]) -> Runner:
    """The one with the highest score, the first of several."""
    return max(field, key=lambda runner: runner.score)


def scored(model: HMM, data: Sequences) -> Runner:
    """``model`` with its log-likelihood per symbol."""
    return Runner(model, model.log_likelihood(data) / data.n_observations)


def run(runner: Runner, a: Sequences, b: Sequences, rounds: int = 1) -> Runner:
    """So many rounds of EM on a, as long as the score on b rises; the best model on the way."""
    for _ in range(rounds):
        if runner.rising:
            after = scored(em(runner.model, a, PASSES), b)
            runner = after if after.score > runner.score else runner._replace(rising=False)
    return runner


def em(model: HMM, data: Sequences, passes: int) -> HMM:
    """Some Baum-Welch steps; a model that cannot have produced the data stays as it is."""
    for _ in range(passes):
        try:
            _, counts = model.expected_counts(data)
        except ImpossibleObservation:
            return model
        model = m_step(model, added(counts, PRIOR.possible(model)))
    return model


def subsets(data: Data, sizes: tuple[int, ...], rng: np.random.Generator) -> list[Sequences]:
    """Disjoint parts of about so many symbols, of whole sequences or of pieces of long ones."""
    longest = max(1, min(LONGEST_PIECE, data.n_observations // PIECES))
    n_pieces = -(-data.lengths // longest)
    before = np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
    ends = np.cumsum(data.lengths)
    first = np.repeat(ends - data.lengths, n_pieces)
    first = first + longest * (np.arange(len(before)) - before)
    last = np.minimum(first + longest, np.repeat(ends, n_pieces))
    order = rng.permutation(len(first))
    reached = np.cumsum((last - first)[order])
    cuts = np.searchsorted(reached, np.cumsum(sizes))
    parts = np.split(order, np.minimum(cuts + 1, len(order)))[:-1]
    return [data.spans(first[part], last[part]) for part in parts]


def can_split(model: HMM) -> bool:
    """Whether there are two states, and no zeros but for symbols that never occur."""
    start, transmat, emission = tables(model)
    never = (emission == 0).all(axis=0)
    return (
        model.n_components > 1
        and bool((start > 0).all() and (transmat > 0).all())
        and bool((emission[:, ~never] > 0).all())
    )


def with_split_state(model: HMM, visited: Floats, rng: np.random.Generator) -> HMM:
    """``model`` with a state in another place: see above.

    Parameters
    ----------
    visited : array, (K,)
        The share of all places that each state is expected to be at: the rarer, the sooner a
        state is given up; the more frequent, the sooner it is split.

    >>> model = HMM([.5, .5], [[.9, .1], [.2, .8]], [[.8, .2], [.3, .7]])
    >>> with_split_state(model, np.array([.7, .3]), np.random.default_rng(0))
    HMM(2 states, 2 symbols)
    """
    k = model.n_components
    rare = 1 / (visited + RARE)
    gone = rng.choice(k, p=rare / rare.sum())
    frequent = np.where(np.arange(k) == gone, 0.0, visited + RARE / k)
    split = rng.choice(k, p=frequent / frequent.sum())
    start, transmat, emission = (table.copy() for table in tables(model))
    start[gone], transmat[:, gone] = 0.0, 0.0
    transmat += OPENING / k
    transmat[gone], emission[gone] = transmat[split], emission[split]
    for into in (start, *transmat):  # what led to one now leads to both
        share = rng.uniform(0.2, 0.8)
        into[gone], into[split] = (1 - share) * into[split], share * into[split]
    for state in (gone, split):
        transmat[state] *= rng.exponential(size=k)
        emission[state] *= rng.exponential(size=model.n_symbols)
    return HMM(
        start / start.sum(),
        transmat / transmat.sum(axis=1, keepdims=True),
        emission / emission.sum(axis=1, keepdims=True),
        model.vocabulary,
    )


class Start(NamedTuple):
    """A model to refine."""

    model: HMM
    began: str
    """What it is from: "pairs", "triples", "windows", "random starts" or "constraints"."""
    pairs: Fit | None = None
    """The estimate from pairs, where there is one."""


def overcomplete_start(
    data: Data,
    n_components: int,
    smoothing: float = 0.1,
    random_state: Any = None,
) -> Start:
    """The best start with more states than symbols that the data allows: from windows, or random.

    >>> transmat = [[.8, .2, 0], [0, .8, .2], [.2, 0, .8]]
    >>> truth = HMM([1, 0, 0], transmat, [[.9, .1], [.5, .5], [.1, .9]])
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> overcomplete_start(data, 3, random_state=0).began
    'windows'
    """
    began, fit = _from_windows(data, n_components, smoothing, random_state)
    model = best_start(
        data,
        [] if fit is None else [fit.model],
        partial(random_start, data, n_components),
        random_state=random_state,
    )
    if fit is not None and model is fit.model:
        return Start(model, began)
    return Start(model, "random starts")


def _from_windows(
    data: Data, k: int, smoothing: float, random_state: Any
) -> tuple[str, Fit | None]:
    """What triples or windows say, if the data has enough of them."""
    n = int(np.count_nonzero(data.symbol_counts))
    tau = 1 if k <= n * n // 16 else 2
    while tau > 1 and 1 < n**tau < k:
        tau += 1
    began = "triples" if tau == 1 else "windows"
    if n < 2 or n ** (2 * tau + 1) > min(ROOM, data.n_observations):
        return began, None
    try:
        if tau == 1:
            learn = partial(overcomplete, data.map_sum(triple_counts))
        else:
            learn = partial(grouped, data.map_sum(window_counts, tau))
        return began, learn(k, smoothing=smoothing, random_state=random_state)
    except ValueError:  # sequences are too short, or too much alike, for so many states
        return began, None
