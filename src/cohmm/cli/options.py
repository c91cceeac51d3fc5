"""Options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer


class FileFormat(StrEnum):
    """Formats of input files."""

    text = "text"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


class EachRow(StrEnum):
    """What a row of a table is."""

    symbol = "symbol"
    sequence = "sequence"


class Unseen(StrEnum):
    """What to do about symbols that the model does not know."""

    error = "error"
    missing = "missing"


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Files, folders, or - for standard input. Text has one sequence per line; CSV, JSON "
        "Lines and Parquet are known by their names, each also as .gz or .zst.",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model, as HMM.save writes it.", show_default=False),
]
FormatOption = Annotated[
    FileFormat | None,
    typer.Option("--format", help="The format, where the name does not tell.", show_default=False),
]
ColumnOption = Annotated[
    str | None,
    typer.Option(
        "--column", help="The column of symbols. Default: the only one.", show_default=False
    ),
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group",
        help="Each row is a symbol; rows that agree in this column are a sequence.",
        show_default=False,
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option("--order", help="Put rows in the order of this column.", show_default=False),
]
EachRowOption = Annotated[
    EachRow | None,
    typer.Option(
        "--each-row",
        help="What a cell is. Default: a sequence; a symbol where the column is numeric.",
        show_default=False,
    ),
]
CharactersOption = Annotated[
    bool,
    typer.Option("--characters", help="Every character of a line, or of a cell, is a symbol."),
]
UnseenOption = Annotated[
    Unseen, typer.Option("--unseen", help="What a symbol is that the model does not know.")
]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Default: all cores.", show_default=False),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Work in so many processes, on a Dask cluster of this machine for this command.",
        show_default=False,
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on a running Dask cluster, such as tcp://10.0.0.1:8786; it sees the same files.",
        show_default=False,
    ),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="The most memory to take, such as 2GB; what has no room waits on disk.",
        show_default=False,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write to this file instead of the screen.", show_default=False
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="Labels of topics or states, as the page of a report saves them.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="The same seed gives the same draw.", show_default=False),
]

TextInputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="Files, folders, or - for standard input. A text file has one document per line, "
        "a folder one per .txt file; CSV, JSON Lines and Parquet have one per row, and are known "
        "by their names; each also as .gz or .zst.",
        show_default=False,
    ),
]
TextColumnOption = Annotated[
    str | None,
    typer.Option(
        "--column", help="The column of documents. Default: the only one.", show_default=False
    ),
]


def known_encoding(name: str) -> str:
    """An encoding of text that there is."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise ValueError(f"there is no encoding {name!r}; try 'utf-8' or 'latin-1'") from None
    return name


EncodingOption = Annotated[str, typer.Option(help="Of text files.", callback=known_encoding)]
StopWordsOption = Annotated[
    str,
    typer.Option(
        "--stop-words",
        metavar="english|FILE|none",
        help="Words to leave out: scikit-learn's English ones, or those of a file.",
    ),
]
MinDfOption = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="Leave out words in fewer documents: a number of them (5), or a share (0.001).",
    ),
]
MaxDfOption = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="Leave out words in more documents: a number of them (5000), or a share (0.5).",
    ),
]
MaxFeaturesOption = Annotated[
    int | None,
    typer.Option(min=1, help="Keep so many words, the most frequent.", show_default=False),
]
TokenPatternOption = Annotated[
    str,
    typer.Option(help="A regular expression that matches words.", metavar="REGEX"),
]


class WordOrder(StrEnum):
    """In which order the words of a topic are shown."""

    relevance = "relevance"
    probability = "probability"
    frex = "frex"

    @property
    def heading(self) -> str:
        """What such words are called."""
        return "most probable words" if self is WordOrder.probability else "most distinctive words"


WordsByOption = Annotated[
    WordOrder,
    typer.Option(
        "--words-by",
        help="Which words of a topic come first: those that tell it from others, by their "
        "relevance or FREX, or the most probable.",
    ),
]
TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # cohmm.data.tokens has it too, and takes long to import


WHOLE = re.compile("0*[1-9][0-9]{0,8}")  # a number from 1, at most a billion


def whole_numbers(option: str, text: str, example: str) -> tuple[int, ...]:
    """Numbers from 1, as they are written on the command line, between commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(map(WHOLE.fullmatch, parts)):
        raise ValueError(f"{option} must be whole numbers from 1, such as {example}, not {text!r}")
    return tuple(map(int, parts))


LAYOUT: dict[str, tuple[Any, Any]] = {
    "format": (FormatOption, None),
    "column": (ColumnOption, None),
    "group": (GroupOption, None),
    "order": (OrderOption, None),
    "each_row": (EachRowOption, None),
    "characters": (CharactersOption, False),
}


def with_layout(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose ``layout`` is asked for by the options that say how files are laid out."""
    kinds = get_type_hints(command, localns={"Layout": object}, include_extras=True)
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name == "layout":
            parameters += [
                Parameter(name, parameter.kind, annotation=kind, default=default)
                for name, (kind, default) in LAYOUT.items()
            ]
        else:
            parameters.append(parameter.replace(annotation=kinds[parameter.name]))

    @wraps(command)
    def run(**given: Any) -> None:
        from cohmm.data.read_sequences import Layout

        said = {name: given.pop(name) for name in LAYOUT}
        values = {name: getattr(value, "value", value) for name, value in said.items()}
        command(**given, layout=Layout(**values))

    del run.__wrapped__  # Typer would look at it instead
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
