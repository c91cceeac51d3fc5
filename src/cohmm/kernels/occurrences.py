"""In how many sliding windows the top words of a topic stand, alone and two by two."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Ints, Part, kernel


@kernel
def _overlap(a: int, b: int, first: Ints, last: Ints, after: Ints) -> int:
    """The size of the intersection of two sets of windows, lists of ascending intervals."""
    total = 0
    while a >= 0 and b >= 0:
        both = min(last[a], last[b]) - max(first[a], first[b]) + 1
        if both > 0:
            total += both
        if last[a] < last[b]:
            a = after[a]
        else:
            b = after[b]
    return total


@kernel
def window_counts(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    window: int,
    number: Ints,
    borders: Ints,
    topics: Ints,
    places: Ints,
    joint: Ints,
) -> int:
    """Add the windows of the documents in ``part`` to ``joint``; returns how many there are.

    A window is ``window`` words in a row; a document of fewer words is one window.
    ``joint[k, i, j]`` counts the windows that have both the words i and j of topic k, in any
    number.  Word w is relevant number r = ``number[w]``, or none if that is negative; it is
    word ``places[s]`` of topic ``topics[s]`` for every s in ``borders[r]:borders[r + 1]``.
    Python, for topic k with the words v::

        for each window: there = np.isin(v, window); joint[k] += np.outer(there, there)

    The windows that have a word are few intervals of window numbers, so that a document costs
    in proportion to its words and to the pairs of them, not to its windows.
    """
    n_relevant = len(borders) - 1
    longest = 0
    for d in range(part[0], part[1]):
        longest = max(longest, offsets[d + 1] - offsets[d])
    first = np.empty(longest, np.int64)  # an interval of windows, and the next of its word
    last = np.empty(longest, np.int64)
    after = np.empty(longest, np.int64)
    head = np.full(n_relevant, -1, np.int64)
    tail = np.full(n_relevant, -1, np.int64)
    found = np.empty(min(longest, n_relevant), np.int64)
    n_topics, n_top = joint.shape[0], joint.shape[1]
    present = np.empty((n_topics, n_top), np.int64)  # places of the topic's words in the document
    whose = np.empty((n_topics, n_top), np.int64)
    n_present = np.zeros(n_topics, np.int64)
    touched = np.empty(n_topics, np.int64)
    total = 0
    for d in range(part[0], part[1]):
        length = offsets[d + 1] - offsets[d]
        n_windows = max(1, length - window + 1)
        total += n_windows
        n_found, n_intervals = 0, 0
        for t in range(length):
            word = symbols[offsets[d] + t]
            r = number[word] if word >= 0 else -1
            if r < 0:
                continue
            begin, end = max(0, t - window + 1), min(t, n_windows - 1)
            if head[r] >= 0 and begin <= last[tail[r]] + 1:
                last[tail[r]] = end
                continue
            first[n_intervals], last[n_intervals], after[n_intervals] = begin, end, -1
            if head[r] < 0:
                head[r] = n_intervals
                found[n_found] = r
                n_found += 1
            else:
                after[tail[r]] = n_intervals
            tail[r] = n_intervals
            n_intervals += 1
        n_touched = 0
        for f in range(n_found):
            r = found[f]
            for s in range(borders[r], borders[r + 1]):
                k = topics[s]
                if n_present[k] == 0:
                    touched[n_touched] = k
                    n_touched += 1
                present[k, n_present[k]] = places[s]
                whose[k, n_present[k]] = r
                n_present[k] += 1
        for f in range(n_touched):
            k = touched[f]
            for a in range(n_present[k]):
                for b in range(a + 1):
                    both = _overlap(head[whose[k, a]], head[whose[k, b]], first, last, after)
                    joint[k, present[k, a], present[k, b]] += both
                    if a != b:
                        joint[k, present[k, b], present[k, a]] += both
            n_present[k] = 0
        for f in range(n_found):
            head[found[f]] = -1
    return total
