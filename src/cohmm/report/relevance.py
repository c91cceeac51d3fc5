"""Top words by relevance: what is probable in a topic, or what is its own, or between.

relevance(w, k) = l log p(w | k) + (1 - l) log(p(w | k) / p(w))      (Sievert, Shirley 2014)
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats, Ints

STEPS = 10  # of the slider from 0 to 1
SHOWN = 15


def candidates(components: Floats, overall: Floats) -> list[Ints]:
    """Of every topic the words that are among its top ones at a step of the slider.

    The most probable come first; a word that the topic never has is none of its own.

    >>> components = np.array([[.6, .4, 0], [.5, 0, .5]])
    >>> [codes.tolist() for codes in candidates(components, np.array([.55, .2, .25]))]
    [[0, 1], [0, 2]]
    """
    n = min(SHOWN, components.shape[1])
    found = []
    for row in components:
        possible = np.flatnonzero(row > 0)
        log_p = np.log(row[possible])
        lift = log_p - np.log(overall[possible])
        taken = set()
        for step in range(STEPS + 1):
            # Rounded, since words in the same number have relevances that differ by rounding.
            values = np.round(step / STEPS * log_p + (1 - step / STEPS) * lift, 9)
            taken.update(_largest(values, n))
        chosen = possible[sorted(taken)]
        found.append(chosen[np.argsort(-row[chosen], kind="stable")])
    return found


def _largest(values: Floats, n: int) -> list[int]:
    """Places of the n largest; of equal ones the first."""
    if n >= len(values):
        return list(range(len(values)))
    least = np.partition(values, len(values) - n)[len(values) - n]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)[: n - len(above)]
    return [*above.tolist(), *equal.tolist()]
