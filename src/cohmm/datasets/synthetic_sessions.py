"""Random sessions, as services log them: short, strictly ordered, with an event at which they end.

A session is of one of a few kinds.  A kind is a list of stages, always in the same order, some of
which may be left out; a stage is a few events, each a fixed number of times, in any order (three
copies are being written, three are confirmed).  So there are about as many states as symbols,
nothing returns to where it was, and symbols say little without what came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Ints
from cohmm.model.sampling import generator

KINDS = 3
STAGES = (3, 6)
EVENTS = (1, 4)  # of a stage, before they are repeated
REPEATS = (1, 4)
SHORTEST, LONGEST = 3, 30

Stage = tuple[Ints, float]
"""Its events, and the probability that it happens."""


def random_sessions(
    n_sessions: int = 2000, n_symbols: int = 14, random_state: Any = None
) -> Sequences:
    """Sessions of 3 to 30 events; the last symbols are the ends, one for each kind of session.

    Parameters
    ----------
    n_sessions : int
        How many; the first of them are the same if more are drawn.
    n_symbols : int
        N, from 6.
    random_state : None, int, Generator
        Where the randomness comes from, the kinds of sessions included.

    >>> random_sessions(3, random_state=0)
    Sequences(3 sequences, 31 observations, 14 symbols)
    """
    for name, value, least in (("n_sessions", n_sessions, 1), ("n_symbols", n_symbols, KINDS + 3)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
    rng = generator(random_state)
    events = _events(n_symbols - KINDS, rng)
    kinds = [_kind(events, end, rng) for end in range(n_symbols - KINDS, n_symbols)]
    shares = rng.dirichlet(np.full(KINDS, 3.0))
    drawn = [_session(kinds[rng.choice(KINDS, p=shares)], rng) for _ in range(n_sessions)]
    lengths = [len(session) for session in drawn]
    return Sequences.of(np.concatenate(drawn), lengths, n_symbols=n_symbols)


def _events(n: int, rng: np.random.Generator) -> Iterator[int]:
    """All of n events before any comes again, in a random order each time."""
    while True:
        yield from rng.permutation(n).tolist()


def _kind(events: Iterator[int], end: int, rng: np.random.Generator) -> list[Stage]:
    """Stages, and the end."""
    stages = []
    for number in range(rng.integers(*STAGES)):
        some = list(islice(events, int(rng.integers(*EVENTS))))
        happens = 1.0 if number == 0 else rng.choice([1.0, rng.uniform(0.3, 1.0)])
        stages.append((np.repeat(some, rng.integers(*REPEATS, size=len(some))), happens))
    return [*stages, (np.array([end]), 1.0)]


def _session(stages: list[Stage], rng: np.random.Generator) -> Ints:
    happened = [rng.permutation(events) for events, happens in stages if rng.random() < happens]
    session = np.concatenate(happened)
    if len(session) > LONGEST:
        session = np.append(session[: LONGEST - 1], session[-1])
    if len(session) < SHORTEST:
        session = np.append(np.repeat(session[:1], SHORTEST - len(session)), session)
    return session
