"""The pass over distinct triples: the cost of learning from them.

For a triple (a, b, c) of probability v, and tables ``left``, ``centre`` and ``right`` of one
row per symbol, (N, K):

    p = sum(left[a] * centre[b] * right[c])       what the model expects
    w = v / p, or v where nothing is divided
    out.before[a] += w * centre[b] * right[c]     and so for the two other symbols
    log_fit += v * log p                          which is returned

Triples are in order, and run r of them, from ``borders[r]``, begins with ``before[r], middle[r]``;
a part is a range of runs.  NumPy, for a dense law T::

    W = T / einsum("ak,bk,ck", left, centre, right) if divided else T
    before = einsum("abc,bk,ck->ak", W, centre, right), and so on
"""

from __future__ import annotations

from cohmm._native import triple_pass as triple_pass
