"""Cutting text into words."""

from __future__ import annotations

from cohmm.kernels.compiled import Ints, kernel


@kernel
def split_words(data: Ints, borders: Ints, packed: Ints, offsets: Ints, rows: Ints) -> int:
    """Find the words of every row of UTF-8 bytes; the number of them.

    Row r is ``data[borders[r]:borders[r + 1]]``; blanks are the ASCII ones.  Python:
    ``[(r, word) for r, row in enumerate(rows) for word in row.split()]`` with bytes as rows.
    The words go to ``packed`` without the blanks, word w ends at ``offsets[w + 1]`` there and
    stands in ``rows[w]``.
    """
    words, size = 0, 0
    offsets[0] = 0
    for r in range(len(borders) - 1):
        inside = False
        for i in range(borders[r], borders[r + 1]):
            byte = data[i]
            if byte == 32 or 9 <= byte <= 13:
                if inside:
                    rows[words] = r
                    words += 1
                    offsets[words] = size
                inside = False
            else:
                packed[size] = byte
                size += 1
                inside = True
        if inside:
            rows[words] = r
            words += 1
            offsets[words] = size
    return words
