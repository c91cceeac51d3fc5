"""Chains that no hidden Markov model of few states has made."""

import numpy as np


def second_order(n: int, length: int, random_state: int) -> np.ndarray:
    """Symbols each of which depends on the two before it."""
    rng = np.random.default_rng(random_state)
    steps = rng.dirichlet(np.ones(n), size=(n, n)).cumsum(axis=-1)
    uniforms = rng.random(length)
    symbols = np.zeros(length, np.int32)
    for t in range(2, length):
        symbols[t] = (steps[symbols[t - 2], symbols[t - 1]] < uniforms[t]).sum()
    return np.minimum(symbols, n - 1)
