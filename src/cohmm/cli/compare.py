"""``cohmm compare``: topic models side by side, on the user's own documents."""

from __future__ import annotations

import csv as csv_
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohmm.cli import options
from cohmm.cli.app import print_result, say, table_of
from cohmm.cli.files import check_output, documents_of, files_of
from cohmm.cli.output import writing
from cohmm.cli.progress import progress_bar, working

if TYPE_CHECKING:
    from rich.table import Table

    from cohmm.topics.compare import Compared

Written = dict[str, tuple[str, str, bool | None]]  # heading, form, and whether more is better
OF_WORDS: Written = {
    "coherence": ("coherence", "{:.1f}", True),
    "npmi": ("NPMI", "{:.3f}", True),
    "npmi-median": ("median", "{:.3f}", True),
    "npmi-window": ("window", "{:.3f}", True),
    "diversity": ("diversity", "{:.3f}", True),
}
OF_MODELS: Written = {
    "perplexity": ("perplexity", "{:.1f}", False),
    "coverage": ("coverage", "{:.1%}", True),
    "twins": ("twins", "{:.3g}", False),
    "stability": ("stability", "{:.3f}", False),  # of several seeds
    "seconds": ("seconds", "{:.1f}", None),
}
TABLES: dict[str, Written] = {  # the title of each, after the number of topics
    "": OF_MODELS,
    ", probable": OF_WORDS,
    ", distinctive": {f"{name}-relevance": written for name, written in OF_WORDS.items()},
}
LEGEND = """\
perplexity: of held-out documents, word by word; seconds: by the clock, where
LDA has one thread; coverage: the share of words in topics that are not junk
(encoded, numbers, of one document, of function words); twins: pairs of topics
that are nearly the same, total variation below 0.3; * the best of its column
coherence: the paper's, top 20 words, eps 0.01; NPMI: of 10 words, in documents;
median: over topics, the others are means; window: NPMI in 10 words in a row;
diversity: distinct words among the top 25
NPMI of two words: log(p(v, w) / p(v) p(w)) / -log p(v, w), from -1 to 1
probable: words by p(w|k); distinctive: by relevance, log p(w|k) - log p(w) / 2;
BERTopic's by its own c-TF-IDF"""
STABILITY = """\
stability: mean total variation of matched topics over all pairs of seeds, each on
its own split; 0 says that topics are the same"""


@options.with_options
def compare(
    inputs: list[str],
    n_components: str = "10,20,50",
    models: str | None = None,
    held_out: float = 0.1,
    seeds: int = 1,
    random_state: int = 0,
    csv: Path | None = None,
    json: bool = False,
    *,
    words: Any,
    embedding: Path | None = None,
    threads: int | None = None,
) -> None:
    """Compare topic models on your documents: coherence, perplexity and time.

    All learn from the same documents, and the same code scores them.  Perplexity is of the
    documents that were held out, every word given those before it; coverage is the share of words
    in topics that say something, twins are topics that are nearly the same.  Coherence is the
    paper's (top 20 words, eps .01); NPMI is of the top 10 words, diversity of the top 25: of the
    most probable words of a topic, and of the most distinctive.

    **Examples**

        cohmm compare news.txt -k 10,20,50 --stop-words english --min-df 5

        cohmm compare posts.csv --column body -k 20 --models htmm,lda-tomotopy --seeds 3

        cohmm compare articles/ -k 20 --csv rivals.csv

        cohmm compare articles/ -k 20 --models htmm,bertopic --embedding all-MiniLM-L6-v2/
    """
    stop_words = options.words_file(words["stop_words"])
    check_output(csv, inputs=[*files_of(inputs, texts=True), stop_words])
    if embedding is not None and not embedding.is_dir():
        raise ValueError(f"--embedding {embedding}: there is no such folder with a language model")
    read = options.read_options(words)
    sizes = options.whole_numbers("--n-components", n_components, "10,20,50")
    if not 0 < held_out < 1:
        raise ValueError(f"--held-out must be a share between 0 and 1, not {held_out:g}")
    with (
        working(threads),
        warnings.catch_warnings(),
        progress_bar("learning") as update,
    ):
        from cohmm.topics import compare as library

        names, missing = _names(models)
        documents = documents_of(inputs, **read)
        warnings.simplefilter("ignore")  # of rivals' packages, and what is known of small data
        n, runs = len(names) * len(sizes) * seeds, []
        range_of_seeds = range(random_state, random_state + seeds)
        for run in library.compare(
            documents, names, sizes, range_of_seeds, held_out=held_out, embedding=embedding
        ):
            runs.append(run)
            done = f"{run.model}, K={run.n_components}: {run.seconds:.1f} s"
            update(completed=len(runs), total=n, note=done)
    scored = [run for run in runs if run.failed is None]
    failed = [run for run in runs if run.failed is not None]
    reasons = [
        f"{run.model}, K={run.n_components}, seed {run.seed}: {run.failed}" for run in failed
    ]
    if not scored:
        raise ValueError(f"no model could be learned: {reasons[0]}")
    if csv is not None:
        with writing(csv) as write:
            write(_as_csv(scored))
    means = library.mean_rows(scored)
    summary = {
        "documents": len(documents),
        "words": documents.n_words,
        "vocabulary": documents.n_symbols,
        "rows": [run.as_row() for run in scored],
        "stability": [
            {name: row[name] for name in ("model", "K", "seeds", "stability")}
            for row in means
            if "stability" in row
        ],
        "failed": [
            {"model": run.model, "K": run.n_components, "seed": run.seed, "why": run.failed}
            for run in failed
        ],
        "not_installed": missing,
    }
    several = f", means of {seeds} seeds" if seeds > 1 else ""
    head = (
        f"{len(documents):,} documents, {documents.n_words:,} words, "
        f"{documents.n_symbols:,} distinct; {held_out:.0%} of the documents held out{several}"
    )
    tables = [
        _table(f"K = {k}{title}", [row for row in means if row["K"] == k], columns)
        for k in sorted({row["K"] for row in means})
        for title, columns in TABLES.items()
    ]
    print_result(json, summary, [head], *tables, LEGEND, *[STABILITY] * (seeds > 1))
    for text in reasons:
        say(text)
    if missing:
        say(f"not installed, and so left out: {', '.join(missing)} (pip install 'cohmm[compare]')")


def _names(text: str | None) -> tuple[list[str], list[str]]:
    """Models to compare, and those that would be if they were installed."""
    from cohmm.topics.compare import RIVALS

    if text is None:
        usual = [name for name, rival in RIVALS.items() if rival.usual]
        missing = [name for name in usual if not RIVALS[name].is_installed]
        return [name for name in usual if name not in missing], missing
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in RIVALS:
            raise ValueError(f"there is no model {name!r}: choose from {', '.join(RIVALS)}")
        if not RIVALS[name].is_installed:
            rival = RIVALS[name]
            raise ValueError(f"{name} needs {rival.package}: pip install 'cohmm[{rival.extra}]'")
    return names, []


def _as_csv(runs: list[Compared]) -> str:
    """One row per model, size and seed; what does not apply to a model is empty."""
    text, rows = io.StringIO(), [run.as_row() for run in runs]
    names: list[str] = max(map(list, rows), key=len)
    writer = csv_.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _table(title: str, rows: list[dict[str, Any]], columns: Written) -> Table:
    """One row per model; columns that no model has are left out."""
    from cohmm.topics.compare import RIVALS

    columns = {name: written for name, written in columns.items() if any(name in r for r in rows)}
    cells = [
        [
            RIVALS[row["model"]].label,
            *(_cell(row, name, *columns[name][1:], rows) for name in columns),
        ]
        for row in rows
    ]
    headings = [title, *(heading for heading, _, _ in columns.values())]
    return table_of(headings, cells, left=[0], padding=(0, 1, 0, 0))


def _cell(
    row: dict[str, Any], name: str, form: str, more: bool | None, rows: list[dict[str, Any]]
) -> str:
    """A number, with a star where it is the best; nothing where the measure does not apply."""
    if name not in row:
        return ""
    text = form.format(row[name])
    if more is None:
        return text
    best = (max if more else min)(other[name] for other in rows if name in other)
    return f"{text}{'*' if text == form.format(best) else ' '}"
