"""From which topic to which the words of documents go, by their sticky chains.

With alpha, u, p and switch as in `cohmm.kernels.sticky_chains`, word t - 1 has topic i and word t
topic j with the probability

    xi_t(i, j) = alpha_{t-1}(i) ((1 - switch) [i = j] + switch p_j) u_t(j)

of which the first part is a diagonal and the second an outer product.  Products of four words are
added together: the table is then read and written a quarter as often, and its sums still have one
order, whatever the number of threads.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Part, kernel
from cohmm.kernels.document_steps import dot, longest, moved, total
from cohmm.kernels.sticky_chains import expected_draws, forward

TOGETHER = 4  # words; `_add_products` has them in writing


@kernel
def count_moves(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    weights: Floats,
    emission: Floats,
    prior: Floats,
    switch: float,
    sweeps: int,
    moves: Floats,
) -> None:
    """Add the expected transitions of documents to ``moves``, (K, K), from row to column.

    p of a document begins at the prior's mean and takes ``sweeps`` steps of EM.
    """
    first, last = part
    n = emission.shape[1]
    length = longest(offsets[:-1], offsets[1:], part)
    alpha, scales = np.empty((length, n)), np.empty(length)
    room, drawn, p = np.empty((2, n)), np.empty(n), np.empty(n)
    into, place = np.zeros((TOGETHER, n)), np.zeros(TOGETHER, np.int64)
    mass = total(prior)
    for d in range(first, last):
        words = symbols[offsets[d] : offsets[d + 1]]
        if len(words) < 2 or weights[d] == 0.0:
            continue
        for k in range(n):
            p[k] = prior[k] / mass
        for _ in range(sweeps):
            forward(words, emission, p, switch, alpha, scales)
            expected_draws(words, emission, p, switch, scales, room, drawn)
            moved(p, prior, drawn)
        forward(words, emission, p, switch, alpha, scales)
        _add_moves(words, emission, p, switch, weights[d], alpha, scales, room, into, place, moves)


@kernel
def _add_moves(
    words: Ints,
    emission: Floats,
    p: Floats,
    switch: float,
    weight: float,
    alpha: Floats,
    scales: Floats,
    room: Floats,
    into: Floats,
    place: Ints,
    moves: Floats,
) -> None:
    """The way back through one document, whose ``alpha`` are those of `forward`."""
    n = len(p)
    beta, u = room[0], room[1]
    for k in range(n):
        beta[k] = 1.0
    stay, waiting = 1.0 - switch, 0
    for t in range(len(words) - 1, 0, -1):
        row, before, to = emission[words[t]], alpha[t - 1], into[waiting]
        inverse = 1.0 / scales[t]
        for k in range(n):
            u[k] = row[k] * beta[k] * inverse
        again = switch * dot(p, u)
        for k in range(n):
            beta[k] = stay * u[k] + again
            to[k] = weight * switch * p[k] * u[k]
            moves[k, k] += weight * stay * before[k] * u[k]
        place[waiting] = t - 1
        waiting += 1
        if waiting == TOGETHER or t == 1:
            for rest in range(waiting, TOGETHER):
                into[rest] = 0.0
                place[rest] = 0
            _add_products(alpha, place, into, moves)
            waiting = 0


@kernel
def _add_products(alpha: Floats, place: Ints, into: Floats, moves: Floats) -> None:
    """``moves += alpha[place].T @ into``."""
    n = len(moves)
    f, g, h, i = alpha[place[0]], alpha[place[1]], alpha[place[2]], alpha[place[3]]
    v, w, x, y = into[0], into[1], into[2], into[3]
    for j in range(n):
        a, b, c, d = f[j], g[j], h[j], i[j]
        move = moves[j]
        for k in range(n):
            move[k] += (a * v[k] + b * w[k]) + (c * x[k] + d * y[k])
