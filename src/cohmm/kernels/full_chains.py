"""Chains over the words of documents, each document with a transition matrix of its own.

The paper's hidden topic Markov model.  The rows of a document's A, and the distribution of its
first topic, have Dirichlet priors: ``rows`` and ``starts`` are pseudo-counts, above zero.  A
step costs O(K^2).  Conventions as in `cohmm.kernels.sticky_chains`.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Part, kernel
from cohmm.kernels.document_steps import (
    dot,
    keep_chosen,
    keep_posteriors,
    longest,
    moved,
    normalise,
    step_back,
    total,
)


@kernel
def forward(
    words: Ints, emission: Floats, start: Floats, a: Floats, alpha: Floats, scales: Floats
) -> None:
    """``alpha[t]`` becomes P(topic | words up to t), ``scales[t]`` P(word t | those before)."""
    n = len(start)
    for t in range(len(words)):
        row, now = emission[words[t]], alpha[t]
        if t == 0:
            for k in range(n):
                now[k] = start[k]
        else:
            before = alpha[t - 1]
            for k in range(n):
                now[k] = 0.0
            for i in range(n):
                share = before[i]
                from_i = a[i]
                for k in range(n):
                    now[k] += share * from_i[k]
        for k in range(n):
            now[k] *= row[k]
        scales[t] = normalise(now)


@kernel
def backward(
    words: Ints,
    emission: Floats,
    a: Floats,
    alpha: Floats,
    scales: Floats,
    room: Floats,
    moves: Floats,
) -> None:
    """``alpha`` becomes gamma, ``moves`` the sum of xi: expected transitions, (K, K)."""
    n = len(a)
    beta, u = room[0], room[1]
    for i in range(n):
        beta[i] = 1.0
        for k in range(n):
            moves[i, k] = 0.0
    for t in range(len(words) - 1, -1, -1):
        step_back(emission[words[t]], scales[t], beta, alpha[t], u)
        if t == 0:
            break
        before = alpha[t - 1]
        for i in range(n):
            share, move = before[i], moves[i]
            for k in range(n):
                move[k] += share * u[k]
            beta[i] = dot(a[i], u)
    for i in range(n):
        for k in range(n):
            moves[i, k] *= a[i, k]


@kernel
def _update(
    start: Floats, a: Floats, starts: Floats, rows: Floats, first: Floats, moves: Floats
) -> float:
    """start ~ starts + first, every row of A ~ rows + moves; the largest change, by use."""
    n = len(start)
    largest = moved(start, starts, first)
    used = 0.0
    for i in range(n):
        used += total(moves[i])
    for i in range(n):
        out = total(moves[i])
        mass = total(rows[i]) + out
        share = out / used if used > 0.0 else 0.0
        for k in range(n):
            value = (rows[i, k] + moves[i, k]) / mass
            largest = max(largest, share * abs(value - a[i, k]))
            a[i, k] = value
    return largest


@kernel
def infer_documents(
    symbols: Ints,
    begins: Ints,
    middles: Ints,
    ends: Ints,
    part: Part,
    known: bool,
    emission: Floats,
    starts: Floats,
    rows: Floats,
    sweeps: int,
    tol: float,
    shares: Floats,
    logs: Floats,
    paths: Ints,
    chosen: Floats,
    posteriors: Floats,
) -> None:
    """As `cohmm.kernels.sticky_chains.infer_documents`, for these chains."""
    n = emission.shape[1]
    length = longest(begins, ends, part)
    alpha, scales = np.empty((length, n)), np.empty(length)
    room, moves = np.empty((2, n)), np.empty((n, n))
    start, a = np.empty(n), np.empty((n, n))
    source = np.empty((length, n), np.int64)
    for d in range(part[0], part[1]):
        words = symbols[begins[d] : ends[d]]
        seen = symbols[begins[d] : middles[d]] if known else words
        mass = total(starts)
        for i in range(n):  # an entry at a time: see `sticky_chains.predict_words`
            start[i] = starts[i] / mass
            share = 1.0 / total(rows[i])
            for k in range(n):
                a[i, k] = share * rows[i, k]
        for _ in range(sweeps if len(seen) else 0):
            forward(seen, emission, start, a, alpha, scales)
            backward(seen, emission, a, alpha, scales, room, moves)
            if _update(start, a, starts, rows, alpha[0], moves) < tol:
                break
        logs[d] = 0.0
        if len(words) == 0:
            shares[d] = start
            continue
        forward(words, emission, start, a, alpha, scales)
        for t in range(middles[d] - begins[d], len(words)):
            logs[d] += np.log(scales[t])
        backward(words, emission, a, alpha, scales, room, moves)
        keep_posteriors(alpha[: len(words)], begins[d], shares[d], posteriors)
        if len(paths):
            path = paths[begins[d] : ends[d]]
            _viterbi(words, emission, start, a, room, source, path)
            keep_chosen(alpha, path, chosen[begins[d] : ends[d]])


@kernel
def _viterbi(
    words: Ints,
    emission: Floats,
    start: Floats,
    a: Floats,
    room: Floats,
    source: Ints,
    path: Ints,
) -> None:
    """The most probable topics of all words together."""
    n = len(start)
    score, after = room[0], room[1]
    for t in range(len(words)):
        row = emission[words[t]]
        if t == 0:
            for k in range(n):
                after[k] = start[k]
        else:
            came = source[t]
            for k in range(n):
                after[k] = 0.0
                came[k] = 0
            for i in range(n):
                for k in range(n):
                    value = score[i] * a[i, k]
                    if value > after[k]:
                        after[k] = value
                        came[k] = i
        largest = 0.0
        for k in range(n):
            after[k] *= row[k]
            largest = max(largest, after[k])
        for k in range(n):
            score[k] = after[k] / largest
    now = 0
    for k in range(n):
        if score[k] > score[now]:
            now = k
    for t in range(len(words) - 1, -1, -1):
        path[t] = now
        if t > 0:
            now = source[t, now]


@kernel
def predict_words(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    emission: Floats,
    starts: Floats,
    rows: Floats,
    logs: Floats,
) -> None:
    """As `cohmm.kernels.sticky_chains.predict_words`; here transitions are counted."""
    n = len(starts)
    counts, totals = np.empty((n, n)), np.empty(n)
    before, now = np.empty(n), np.empty(n)
    first = starts / total(starts)
    for d in range(part[0], part[1]):
        begin = offsets[d]
        for i in range(n):
            totals[i] = total(rows[i])
            for k in range(n):
                counts[i, k] = rows[i, k]
        for t in range(begin, offsets[d + 1]):
            row = emission[symbols[t]]
            for k in range(n):
                now[k] = first[k] if t == begin else 0.0
            for i in range(n if t > begin else 0):
                share, count = before[i] / totals[i], counts[i]
                for k in range(n):
                    now[k] += share * count[k]
            for k in range(n):
                now[k] *= row[k]
            scale = total(now)
            inverse = 1.0 / scale
            for i in range(n if t > begin else 0):
                share, count = before[i] / totals[i] * inverse, counts[i]
                for k in range(n):
                    count[k] += share * count[k] * row[k]
                totals[i] = total(count)
            for k in range(n):
                before[k] = now[k] * inverse
            logs[t] = np.log(scale)
