"""Passes over the words of documents: ``symbols[offsets[d]:offsets[d + 1]]`` are document d's."""

from __future__ import annotations

from cohmm.kernels.compiled import Ints, kernel


@kernel
def count_documents(symbols: Ints, offsets: Ints, frequencies: Ints, latest: Ints) -> None:
    """``frequencies[w]`` becomes the number of documents that have word w.

    NumPy: ``sum(np.bincount(np.unique(d), minlength=V) for d in documents)``.  Codes below 0
    are no words.  ``latest`` is room for one number per word, -1 to begin with.
    """
    for d in range(len(offsets) - 1):
        for t in range(offsets[d], offsets[d + 1]):
            w = symbols[t]
            if w >= 0 and latest[w] != d:
                latest[w] = d
                frequencies[w] += 1


@kernel
def recode(symbols: Ints, offsets: Ints, places: Ints) -> int:
    """Give word w the code ``places[w]``, in place; those of a code below 0 are taken out.

    NumPy: ``d[d >= 0]`` and then ``places[d]``, of which again those from 0, for each document
    d.  Neighbours close ranks, and ``offsets`` move along.  The number of words that are left.
    """
    left, t = 0, 0
    for d in range(len(offsets) - 1):
        end = offsets[d + 1]
        while t < end:
            code = symbols[t]
            if code >= 0:
                code = places[code]
                if code >= 0:
                    symbols[left] = code
                    left += 1
            t += 1
        offsets[d + 1] = left
    return left
