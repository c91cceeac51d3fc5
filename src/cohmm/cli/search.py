"""``cohmm search``: the documents that answer a query, by its words and by their topics."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from cohmm.cli import files, options
from cohmm.cli.app import print_result
from cohmm.cli.progress import reading, working

if TYPE_CHECKING:
    from cohmm.estimators.htmm import HTMM

MAX_SENTENCE = 300  # characters


@options.with_options
def search(
    model: Path,
    inputs: list[str],
    query: str,
    results: int = 10,
    column: str | None = None,
    encoding: str = "utf-8",
    json: bool = False,
    threads: int | None = None,
) -> None:
    """Find the documents that answer a query, and the sentence of each that answers best.

    A document answers by its own words, and by those of its topics: one about grain answers
    "wheat exports" where it says "maize shipments" too.

    **Examples**

        cohmm search news.cohmm news.txt "wheat exports"

        cohmm search posts.cohmm posts.csv "hard disk" --column body --results 3 --json
    """
    with working(threads):
        from cohmm.data.read_documents import TextWarning, Trace
        from cohmm.estimators.htmm import HTMM

        topics = HTMM.load(model)
        with reading(inputs, "reading"), warnings.catch_warnings():
            warnings.simplefilter("ignore", TextWarning)  # sentences without a known word
            trace = Trace()
            raw = list(files.texts_of(inputs, column, encoding, trace))
            index = topics.index(files.named(topics.encode(raw), trace))
            hits = topics.search(query, index, results)
            rows = [
                {
                    "document": trace.names()[hit.document],
                    "score": hit.score,
                    "sentence": _best_sentence(topics, raw[hit.document], query),
                }
                for hit in hits
            ]
    lines = (f"{row['score']:6.2f}  {row['document']}: {row['sentence']}" for row in rows)
    print_result(json, {"query": query, "results": rows}, lines)


def _best_sentence(topics: HTMM, text: str, query: str) -> str:
    """The sentence of a document that answers best, on one line."""
    from cohmm.topics.passages import sentences

    parts = [text[first:last] for first, last in sentences(text)]
    best = parts[topics.search(query, topics.index(parts), 1)[0].document]
    line = " ".join(best.split())
    return line if len(line) <= MAX_SENTENCE else f"{line[: MAX_SENTENCE - 1]}\u2026"
