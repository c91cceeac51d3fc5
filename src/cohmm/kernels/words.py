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


@kernel
def split_text(
    data: Ints,
    borders: Ints,
    in_words: Ints,
    least: int,
    packed: Ints,
    offsets: Ints,
    lengths: Ints,
) -> int:
    """Find the runs of at least ``least`` word characters in rows of UTF-8; the number of them.

    Row r is ``data[borders[r]:borders[r + 1]]``; ``in_words[c]`` says whether character c is
    one that words are made of.  Python: ``re.findall(r"\\w{least,}", row)`` where that is what
    ``in_words`` says.  The words go to ``packed``, word w ends at ``offsets[w + 1]`` there;
    row r has ``lengths[r]`` of them.
    """
    words, size = 0, 0
    offsets[0] = 0
    for r in range(len(borders) - 1):
        before = words
        length = 0
        i, end = borders[r], borders[r + 1]
        while i < end:
            width, character = _character(data, i)
            if in_words[character]:
                for b in range(width):
                    packed[size + b] = data[i + b]
                size += width
                length += 1
            elif length > 0:
                if length >= least:
                    words += 1
                    offsets[words] = size
                size = offsets[words]  # what was too short is written over
                length = 0
            i += width
        if length >= least:
            words += 1
            offsets[words] = size
        size = offsets[words]
        lengths[r] = words - before
    return words


@kernel
def _character(data: Ints, i: int) -> tuple[int, int]:
    """How many bytes the character at ``i`` takes, and its number; data is valid UTF-8."""
    first = int(data[i])
    if first < 0x80:
        return 1, first
    character = int(data[i + 1]) & 0x3F
    if first < 0xE0:
        return 2, (first & 0x1F) << 6 | character
    character = character << 6 | int(data[i + 2]) & 0x3F
    if first < 0xF0:
        return 3, (first & 0x0F) << 12 | character
    return 4, (first & 0x07) << 18 | character << 6 | int(data[i + 3]) & 0x3F
