"""Pairs and triples in files, counted in one pass as they stream by."""

from __future__ import annotations

from collections.abc import Iterable

from cohmm.data.read_sequences import BATCH
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.reading import Notice
from cohmm.data.readers.source import Paths, Progress, find_sources
from cohmm.evidence.file_pass import count_sources, plan
from cohmm.evidence.totals import Counted
from cohmm.evidence.triple_totals import LargeTriples


def count_files(
    paths: Paths,
    layout: Layout | None = None,
    *,
    lags: Iterable[int] | int = (1,),
    triples: bool = False,
    integers: bool = False,
    min_count: int | None = None,
    max_vocabulary: int | None = None,
    skip_bad: bool = False,
    memory: int | str | None = None,
    batch_size: int = BATCH,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Counted:
    """Count pairs, and triples if asked for, in one pass over files.

    Memory does not grow with the length of the data, nor of a sequence; only grouped rows are
    held in memory.

    Parameters
    ----------
    paths, layout, integers, batch_size, progress, notice
        As for `read_files`.
    lags
        As for `count_pairs`.
    triples : bool
        Count three symbols in a row as well.
    min_count : int, optional
        Keep symbols that occur so often at least.  Others are missing observations: a pair
        with one of them does not count.
    max_vocabulary : int, optional
        Keep so many symbols, the most frequent; of those that are equally frequent, the first
        by the alphabet, or by their code.
    skip_bad : bool
        Leave out files that cannot be read to their end, and say so; nothing of them counts.
    memory : int or str, optional
        A cap on the memory of this process, in bytes or as ``"2GB"``.  Sparse counts that have
        no room wait in temporary files; if the result has none, it is mapped from such a file,
        and its pages come and go.  The counts are the same with any cap.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.txt")
    >>> _ = path.write_text("sun rain\\nrain rain sun\\n")
    >>> counts = count_files(path).pairs
    >>> counts.vocabulary, counts[1].tolist()
    (('rain', 'sun'), [[1, 1], [1, 0]])
    """
    how = plan(
        layout,
        lags,
        triples=triples,
        integers=integers,
        min_count=min_count,
        max_vocabulary=max_vocabulary,
        skip_bad=skip_bad,
        memory=memory,
        batch_size=batch_size,
        progress=progress,
        notice=notice,
    )
    sums = count_sources(find_sources(paths, how.layout.format), how)
    threes = sums.triples
    if isinstance(threes, LargeTriples):
        threes = threes.value()
    return Counted(sums.pairs.counts(), threes, sums.n_sequences)
