"""Small models and data, with many zeros and ties, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from cohmm import HMM


@st.composite
def distributions(draw, n: int) -> list[float]:
    """A row of n probabilities; small whole weights, so zeros and ties are frequent."""
    weights = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    return [weight / sum(weights) for weight in weights]


@st.composite
def models(draw, most_states: int = 3, most_symbols: int = 3) -> HMM:
    k = draw(st.integers(1, most_states))
    n = draw(st.integers(1, most_symbols))
    return HMM(
        draw(distributions(k)),
        [draw(distributions(k)) for _ in range(k)],
        [draw(distributions(n)) for _ in range(k)],
    )


def sequences_of(
    n_symbols: int, most: int = 3, longest: int = 5, missing: bool = True
) -> st.SearchStrategy[list[list[int]]]:
    """One or more sequences of codes below ``n_symbols``, with -1 for a missing observation."""
    symbols = st.integers(-1 if missing else 0, n_symbols - 1)
    one = st.lists(symbols, min_size=1, max_size=longest)
    return st.lists(one, min_size=1, max_size=most)


@st.composite
def models_and_data(draw, **limits: int) -> tuple[HMM, list[list[int]]]:
    model = draw(models())
    return model, draw(sequences_of(model.n_symbols, **limits))


def with_gaps(sequences: list[list[int]]) -> list[list[int | None]]:
    """Codes as a user writes them: None where an observation is missing."""
    return [[None if code < 0 else code for code in sequence] for sequence in sequences]


def random_model(
    k: int, n: int, seed: int = 0, concentration: float = 1.0, startprob: object = None
) -> HMM:
    rng = np.random.default_rng(seed)
    return HMM(
        rng.dirichlet(np.ones(k)) if startprob is None else startprob,
        rng.dirichlet(np.full(k, concentration), k),
        rng.dirichlet(np.full(n, concentration), k),
    )
