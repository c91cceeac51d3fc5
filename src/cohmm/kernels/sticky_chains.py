"""Sticky chains over the words of documents: a document's topics from its own distribution.

Document d has topic proportions p.  Its first word's topic is drawn from p; each further word
keeps the topic of the word before it with probability 1 - switch, or else has one drawn from p:

    A = (1 - switch) I + switch 1 p'

so that a step costs O(K).  ``switch = 1`` is a bag of words.  Forward and backward, scaled:

    alpha_t(k) ~ M[w_t, k] ((1 - switch) alpha_{t-1}(k) + switch p_k),       z_t its sum
    beta_{t-1}(k) = (1 - switch) u_k + switch sum_j p_j u_j,     u = M[w_t] beta_t / z_t

The posterior of word t is gamma_t = alpha_t beta_t; p_k u_k is that its topic was drawn (first
word), and switch p_k u_k that it was drawn again (further words), as topic k.

Tables of emissions have one row per word and one column per topic, all above zero; so are p and
switch, and nothing underflows.  A *part* is a range of documents, ``symbols[begins[d]:ends[d]]``.
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
    words: Ints, emission: Floats, p: Floats, switch: float, alpha: Floats, scales: Floats
) -> None:
    """``alpha[t]`` becomes P(topic | words up to t), ``scales[t]`` P(word t | those before)."""
    n = len(p)
    stay = 1.0 - switch
    for t in range(len(words)):
        row, now = emission[words[t]], alpha[t]
        if t == 0:
            for k in range(n):
                now[k] = row[k] * p[k]
        else:
            before = alpha[t - 1]
            for k in range(n):
                now[k] = row[k] * (stay * before[k] + switch * p[k])
        scales[t] = normalise(now)


@kernel
def backward(
    words: Ints,
    emission: Floats,
    p: Floats,
    switch: float,
    alpha: Floats,
    scales: Floats,
    room: Floats,
    drawn: Floats,
) -> None:
    """``alpha`` becomes gamma, the posteriors, ``drawn[k]`` how often topic k is expected drawn."""
    n = len(p)
    stay = 1.0 - switch
    beta, u = room[0], room[1]
    for k in range(n):
        beta[k] = 1.0
        drawn[k] = 0.0
    for t in range(len(words) - 1, -1, -1):
        step_back(emission[words[t]], scales[t], beta, alpha[t], u)
        again = switch * dot(p, u)
        share = switch if t > 0 else 1.0
        for k in range(n):
            drawn[k] += share * u[k]
            beta[k] = stay * u[k] + again
    for k in range(n):
        drawn[k] *= p[k]


@kernel
def expected_draws(
    words: Ints,
    emission: Floats,
    p: Floats,
    switch: float,
    scales: Floats,
    room: Floats,
    drawn: Floats,
) -> None:
    """``drawn`` as of `backward`, without the posteriors."""
    n = len(p)
    stay = 1.0 - switch
    beta, u = room[0], room[1]
    for k in range(n):
        beta[k] = 1.0
        drawn[k] = 0.0
    for t in range(len(words) - 1, -1, -1):
        row, inverse = emission[words[t]], 1.0 / scales[t]
        for k in range(n):
            u[k] = row[k] * beta[k] * inverse
        again = switch * dot(p, u)
        share = switch if t > 0 else 1.0
        for k in range(n):
            drawn[k] += share * u[k]
            beta[k] = stay * u[k] + again
    for k in range(n):
        drawn[k] *= p[k]


@kernel
def count_words(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    weights: Floats,
    emission: Floats,
    prior: Floats,
    switch: float,
    sweeps: int,
    proportions: Floats,
    counts: Floats,
    totals: Floats,
) -> None:
    """The E-step: how often each topic is expected to have emitted each word, with weights.

    ``proportions[d - part[0]]`` is p of document d, which takes ``sweeps`` steps of EM; the
    posteriors of the last are added to ``counts``, (V, K).  ``totals`` gains the weighted number
    of switches, of transitions, the log-likelihood and the number of words.
    """
    first, last = part
    n = emission.shape[1]
    length = longest(offsets[:-1], offsets[1:], part)
    alpha, scales = np.empty((length, n)), np.empty(length)
    room, drawn = np.empty((2, n)), np.empty(n)
    for d in range(first, last):
        words = symbols[offsets[d] : offsets[d + 1]]
        if len(words) == 0 or weights[d] == 0.0:
            continue
        p = proportions[d - first]
        for sweep in range(sweeps):
            forward(words, emission, p, switch, alpha, scales)
            if sweep < sweeps - 1:
                expected_draws(words, emission, p, switch, scales, room, drawn)
            else:
                backward(words, emission, p, switch, alpha, scales, room, drawn)
            moved(p, prior, drawn)
        weight = weights[d]
        for t in range(len(words)):
            row, now = counts[words[t]], alpha[t]
            for k in range(n):
                row[k] += weight * now[k]
            totals[2] += weight * np.log(scales[t])
        totals[0] += weight * (drawn.sum() - 1.0)
        totals[1] += weight * (len(words) - 1)
        totals[3] += weight * len(words)


@kernel
def infer_documents(
    symbols: Ints,
    begins: Ints,
    middles: Ints,
    ends: Ints,
    part: Part,
    known: bool,
    emission: Floats,
    prior: Floats,
    switch: float,
    sweeps: int,
    tol: float,
    shares: Floats,
    logs: Floats,
    paths: Ints,
    chosen: Floats,
    posteriors: Floats,
) -> None:
    """Fit the chain of every document, and infer the document's topics by it.

    p is fitted to the words before ``middles[d]`` where only the first part is ``known``, else
    to all.  ``shares[d]`` becomes the mean posterior of all words, ``logs[d]`` the log-likelihood
    of the words from the middle on, given those before it.  Where there is room (a length
    that is not 0), ``paths`` takes the most probable topics of all words together (Viterbi),
    ``chosen`` their posteriors, and ``posteriors`` those of all topics.
    """
    n = emission.shape[1]
    length = longest(begins, ends, part)
    alpha, scales = np.empty((length, n)), np.empty(length)
    room, drawn, p = np.empty((2, n)), np.empty(n), np.empty(n)
    jumped, source = np.empty((length, n), np.bool_), np.empty(length, np.int64)
    for d in range(part[0], part[1]):
        words = symbols[begins[d] : ends[d]]
        seen = symbols[begins[d] : middles[d]] if known else words
        mass = total(prior)
        for k in range(n):
            p[k] = prior[k] / mass
        for _ in range(sweeps if len(seen) else 0):
            forward(seen, emission, p, switch, alpha, scales)
            expected_draws(seen, emission, p, switch, scales, room, drawn)
            if moved(p, prior, drawn) < tol:
                break
        logs[d] = 0.0
        if len(words) == 0:
            for k in range(n):
                shares[d, k] = p[k]
            continue
        forward(words, emission, p, switch, alpha, scales)
        for t in range(middles[d] - begins[d], len(words)):
            logs[d] += np.log(scales[t])
        backward(words, emission, p, switch, alpha, scales, room, drawn)
        keep_posteriors(alpha[: len(words)], begins[d], shares[d], posteriors)
        if len(paths):
            path = paths[begins[d] : ends[d]]
            _viterbi(words, emission, p, switch, room, jumped, source, path)
            keep_chosen(alpha, path, chosen[begins[d] : ends[d]])


@kernel
def _viterbi(
    words: Ints,
    emission: Floats,
    p: Floats,
    switch: float,
    room: Floats,
    jumped: Ints,
    source: Ints,
    path: Ints,
) -> None:
    """The most probable topics.  The best way to topic k stays, or comes from the best of all."""
    n = len(p)
    score = room[0]
    for t in range(len(words)):
        row = emission[words[t]]
        best = 0
        for k in range(n):
            if t == 0:
                score[k] = row[k] * p[k]
            else:
                kept = (1.0 - switch + switch * p[k]) * score[k]
                jumped[t, k] = kept < switch * p[k]
                score[k] = row[k] * max(kept, switch * p[k])
            if score[k] > score[best]:
                best = k
        source[t] = best
        largest = score[best]
        for k in range(n):
            score[k] /= largest  # so that the best of all has 1
    now = source[len(words) - 1]
    for t in range(len(words) - 1, -1, -1):
        path[t] = now
        if t > 0 and jumped[t, now]:
            now = source[t - 1]


@kernel
def predict_words(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    emission: Floats,
    prior: Floats,
    switch: float,
    logs: Floats,
) -> None:
    """``logs[t]`` becomes log P(word t | the words before it in its document).

    p is, at every word, the prior and the topics expected drawn so far (by the filter), scaled
    to one: nothing after the word has a say.
    """
    n = len(prior)
    drawn, now = np.empty(n), np.empty(n)
    for d in range(part[0], part[1]):
        for k in range(n):  # of arrays as a whole, numba compiles errors about their shapes too
            drawn[k] = prior[k]
            now[k] = 0.0
        for t in range(offsets[d], offsets[d + 1]):
            row = emission[symbols[t]]
            draws = switch if t > offsets[d] else 1.0
            stays, share = 1.0 - draws, draws / total(drawn)
            for k in range(n):
                now[k] = row[k] * (stays * now[k] + share * drawn[k])
            scale = total(now)
            inverse = 1.0 / scale
            for k in range(n):
                now[k] *= inverse
                drawn[k] += share * drawn[k] * row[k] * inverse
            logs[t] = np.log(scale)
