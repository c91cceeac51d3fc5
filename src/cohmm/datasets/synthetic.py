"""Random models, as the paper draws them, and random sessions: data with known answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Floats, Ints
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import stationary_distribution
from cohmm.model.sampling import generator

# Sizes of random sessions: from, and below.
KINDS = 3
STAGES = (3, 6)
EVENTS = (1, 4)  # of a stage, before they are repeated
REPEATS = (1, 4)
SHORTEST, LONGEST = 3, 30

Stage = tuple[Ints, float]
"""Its events, and the probability that it happens."""


def random_hmm(
    n_symbols: int = 100,
    n_components: int = 20,
    zeros: float = 0.5,
    stay: float = 0.0,
    random_state: Any = None,
) -> HMM:
    """A model with exponential parameters, in which many emissions are zero.

    The generator of the paper's "Validation on Synthetic Data", with its sizes as default:
    half of the emissions being zero makes them sufficiently scattered, most of the time.

    Parameters
    ----------
    n_symbols, n_components : int
        N and K.
    zeros : float
        About this share of the emission probabilities is zero; every state keeps a symbol,
        and every symbol a state.
    stay : float
        Added probability of staying in a state: A becomes ``stay * I + (1 - stay) * A``.
    random_state : None, int, Generator
        Where the randomness comes from.

    >>> hmm = random_hmm(n_symbols=30, n_components=3, stay=0.9, random_state=0)
    >>> hmm
    HMM(3 states, 30 symbols)
    >>> bool((hmm.transmat.diagonal() > 0.9).all())
    True
    """
    _check_sizes(n_symbols, n_components)
    if not 0 <= zeros < 1:
        raise ValueError(f"zeros must be a share from 0 to below 1, not {zeros}")
    rng = generator(random_state)
    transmat = _random_transmat(n_components, stay, rng)
    emission = rng.exponential(size=(n_components, n_symbols))
    emission[~_some_of_each(n_components, n_symbols, 1 - zeros, rng)] = 0
    return _model(transmat, emission)


def separable_hmm(
    n_symbols: int = 16, n_components: int = 4, stay: float = 0.0, random_state: Any = None
) -> HMM:
    """A model in which every state has a symbol that no other state emits.

    The generator of the paper's "Additional Synthetic Experiments": the first K symbols are
    such, so emissions are certain to be sufficiently scattered.  Parameters as `random_hmm`.

    >>> separable_hmm(n_symbols=5, n_components=2, random_state=0).emissionprob[:, :2] > 0
    array([[ True, False],
           [False,  True]])
    """
    _check_sizes(n_symbols, n_components)
    if n_symbols < n_components:
        raise ValueError(
            f"{n_components} states need as many symbols of their own, and there are {n_symbols}"
        )
    rng = generator(random_state)
    transmat = _random_transmat(n_components, stay, rng)
    shared = rng.exponential(size=(n_components, n_symbols - n_components))
    return _model(transmat, np.hstack([np.eye(n_components), shared]))


def _check_sizes(n_symbols: int, n_components: int) -> None:
    for name, value in (("n_symbols", n_symbols), ("n_components", n_components)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")


def _random_transmat(n: int, stay: float, rng: np.random.Generator) -> Floats:
    if not 0 <= stay < 1:
        raise ValueError(f"stay must be a probability below 1, not {stay}")
    transmat = _by_rows(rng.exponential(size=(n, n)))
    return stay * np.eye(n) + (1 - stay) * transmat


def _some_of_each(rows: int, columns: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """About ``share`` of the cells of a table, one at least in each row and column."""
    chosen = rng.random((rows, columns)) < share
    empty = np.flatnonzero(~chosen.any(axis=0))
    chosen[rng.integers(rows, size=len(empty)), empty] = True
    empty = np.flatnonzero(~chosen.any(axis=1))
    chosen[empty, rng.integers(columns, size=len(empty))] = True
    return chosen


def _by_rows(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _model(transmat: Floats, emission: Floats) -> HMM:
    return HMM(stationary_distribution(transmat), transmat, _by_rows(emission))


def random_sessions(
    n_sessions: int = 2000, n_symbols: int = 14, random_state: Any = None
) -> Sequences:
    """Sessions of 3 to 30 events; the last symbols are the ends, one for each kind of session.

    Sessions as services log them: strictly ordered, with an event at which they end.  A session is
    of one of a few kinds.  A kind is a list of stages, always in the same order, some of which may
    be left out; a stage is a few events, each a fixed number of times, in any order (three copies
    are being written, three are confirmed).  So there are about as many states as symbols, nothing
    returns to where it was, and symbols say little without what came before.

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
