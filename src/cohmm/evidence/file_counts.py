"""Pairs and triples in files, counted in one pass as they stream by."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cohmm.data.files import BATCH, checked_batch, coder_of
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.pieces import in_batches
from cohmm.data.readers.reading import Notice, read_pieces
from cohmm.data.readers.source import Paths, Progress, find_sources
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import Vocabulary, in_order
from cohmm.evidence.counting import pair_counts
from cohmm.evidence.totals import Counted, count_pieces, pairs_in, triples_in

NO_PAIR = Sequences(np.zeros(1, np.int32), np.array([0, 1]), 1)


def count_files(
    paths: Paths,
    layout: Layout | None = None,
    *,
    lags: Iterable[int] | int = (1,),
    triples: bool = False,
    integers: bool = False,
    batch_size: int = BATCH,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Counted:
    """Count pairs, and triples if asked for, in one pass over files.

    Parameters are those of `read_files`, and ``lags`` as for `count_pairs`.  Memory does not
    grow with the length of the data, nor of a sequence; only grouped rows are held in memory.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.txt")
    >>> _ = path.write_text("sun rain\\nrain rain sun\\n")
    >>> counts = count_files(path).pairs
    >>> counts.vocabulary, counts[1].tolist()
    (('rain', 'sun'), [[1, 1], [1, 0]])
    """
    layout = layout or Layout()
    wanted = pair_counts(NO_PAIR, lags).lags  # what is wrong with them is told before reading
    sources = find_sources(paths, layout.format)
    coder = coder_of(None, None, integers, "error")
    pieces = read_pieces(sources, layout, coder, checked_batch(batch_size), progress, notice)
    counted = count_pieces(in_batches(pieces, batch_size), coder, wanted, triples)
    for lag in wanted:
        if counted.pairs.n_pairs(lag) == 0:
            raise ValueError(
                f"there is no pair at lag {lag}: none of the {counted.n_sequences:,} sequences "
                f"has two observations {lag} apart{_hint(counted, coder.vocabulary)}"
            )
    if counted.triples is not None and counted.triples.n_triples == 0:
        raise ValueError(
            f"there is no triple: none of the {counted.n_sequences:,} sequences has three "
            "observations in a row"
        )
    found = coder.vocabulary
    if found is None:
        return counted
    order = in_order(found)
    return Counted(
        pairs_in(counted.pairs, found, order),
        None if counted.triples is None else triples_in(counted.triples, found, order),
        counted.n_sequences,
    )


def _hint(counted: Counted, vocabulary: Vocabulary | None) -> str:
    """What to say further where every sequence is one long symbol."""
    alone = counted.pairs.symbol_counts.sum() == counted.n_sequences
    if alone and vocabulary and min(map(len, map(str, vocabulary))) > 1:
        return "; characters=True (--characters) reads text symbol by symbol"
    return ""
