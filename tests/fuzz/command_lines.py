"""Command lines by a grammar: every option with values that fit it, and with odd ones.

Paths may be empty, equal, devices, folders, links to themselves and slow pipes; columns are of
every type that Arrow has.  Whatever is asked, a command ends with an answer or with one line about
what went wrong, leaves its inputs as they were, and takes little memory and time.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from typer.testing import CliRunner

from cohmm import HMM, count_pairs
from cohmm.cli import app
from tests.arrow_types import COLUMNS
from tests.fuzz.draws import Draws
from tests.fuzz.targets import target

SECONDS = 60
MOST = 2**20  # kB by which a command may raise the memory of this process
COMPILING = "cohmm: compiling kernels for this machine (once) ..."

MARK = "\ufeff"
TEXT = "sun rain sun\n\nrain rain sun rain\n" * 3
TEXTS = {
    "x.txt": TEXT,
    "mark.txt": MARK + TEXT,
    "empty.txt": "",
    "x.csv": "page,user,\nhome,1,3\nnews,1,2\n,2,1\n" * 4,
    "x.jsonl": "".join(
        json.dumps({"page": page, "order": order}) + "\n"
        for page, order in (("a b", 1), ("b", [1]), (["a"], {"b": 2}), ("a", 2**70), (None, "x"))
    ),
    "folder/x.txt": TEXT,
}
LINKS = {"loop": "loop", "link": "x.txt", "dangling": "new", "device": os.devnull}
INPUTS = (
    *("x.txt", "x.csv", "types.parquet", "x.jsonl", "mark.txt", "empty.txt", "folder", "pipe", "-"),
    *("m.cohmm", "c.cohmm", "link", "loop", "none.txt", "", os.devnull, "device", "out"),
)
OUTPUTS = (
    *("out", "other", "x.txt", "m.cohmm", "link", "loop", "dangling", "folder", "nowhere/out", ""),
    *(os.devnull, "device", "/dev/full", "folder/x.txt", "folder/out", "pipe", "out.parquet"),
)
NAMES = ("page", "user", "order", "s", "", "none", "c", *COLUMNS)
NUMBERS = ("1", "2", "0", "-1", "", "auto", "1.5", "nan", "1e400", "9" * 23, "²")

LAYOUT = {
    "--format": ("text", "csv", "tsv", "jsonl", "parquet", ""),
    "--column": NAMES,
    "--group": NAMES,
    "--order": NAMES,
    "--each-row": ("symbol", "sequence", ""),
    "--characters": None,
    "--threads": ("1", "2", "128", "0", ""),
}
WORDS = {
    "--stop-words": ("none", "english", "x.txt", "", "folder", "loop"),
    "--min-df": NUMBERS,
    "--max-df": NUMBERS,
    "--column": NAMES,
    "--encoding": ("utf-8", "utf-16", "latin-1", ""),
    "--token-pattern": (r"\S+", "", "(", r"\w"),
}
FITTING = {"--lags": ("1", "1,2", "", ",", "0", "9" * 9), "--seed": NUMBERS, "--json": None}
COMMANDS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "count": LAYOUT
    | {"--lags": ("1", "1,2", "", "7"), "--triples": OUTPUTS, "--integers": None, "--merge": None}
    | {"--memory": ("1GB", "1", "", "0", "-1MB", "1e400GB"), "--min-count": NUMBERS}
    | {"--resume": None, "--skip-bad": None, "--json": None},
    "fit": LAYOUT | FITTING | {"-k": NUMBERS, "--refine": None, "--max-iter": ("2", "0", "")},
    "score": LAYOUT | {"--unseen": ("missing", "error", ""), "--each": None, "--json": None},
    "decode": LAYOUT | {"--unseen": ("missing", ""), "--algorithm": ("map", "")},
    "sample": {"-n": NUMBERS[:9], "--sequences": NUMBERS[:9], "--states": None, "--json": None},
    "topics": WORDS
    | FITTING
    | {"-k": ("1", "2", "0", ""), "--report": OUTPUTS, "--shares": OUTPUTS}
    | {"--by": NAMES, "--period": ("day", "class", ""), "--seed-words": ("x.txt", "", "loop")},
    "report": LAYOUT | {"--title": ("", "a"), "--labels": ("x.txt", "", "loop"), "--by": NAMES},
    "diagnose": LAYOUT | {"-k": NUMBERS, "--unseen": ("missing", ""), "--json": None},
}
SOURCES = (
    ["x.txt"],
    ["mark.txt", "folder"],
    ["pipe"],
    ["x.csv", "--column", "page", "--group", "user"],
    ["x.csv", "--column", "page", "--order", ""],
    ["types.parquet", "--column", "page"],
    ["types.parquet", "--column", "TYPE"],
    ["types.parquet", "--column", "s", "--group", "TYPE"],
    ["types.parquet", "--column", "s", "--order", "TYPE"],
    ["types.parquet", "--column", "TYPE", "--each-row", "symbol"],
    ["x.jsonl", "--column", "page", "--order", "order"],
)
DOCUMENTS = (
    ["x.txt"],
    ["folder"],
    ["pipe"],
    ["types.parquet", "--column", "page", "--token-pattern", r"\S+"],
    ["x.csv", "--column", "page"],
)
USUAL = {
    "fit": ["-k", "1", "--max-iter", "2"],
    "topics": ["-k", "1"],
    "score": ["--unseen", "missing"],
    "decode": ["--unseen", "missing"],
    "report": ["--unseen", "missing"],
    "diagnose": ["-k", "1", "--unseen", "missing"],
    "sample": ["-n", "9"],
}
MODELS = ("m.cohmm", "c.cohmm", "x.txt", "", "pipe", "loop", os.devnull)
TAKE_A_MODEL = ("score", "decode", "sample", "report", "diagnose")


def prepare(folder: Path) -> None:
    """The files, as they are before every command."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    (folder / "folder").mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, goal in LINKS.items():
        (folder / name).symlink_to(goal)
    table = {"s": ["a", "b", "a", "c"], "page": ["a b", "b", "", None], **COLUMNS}
    parquet.write_table(pa.table(table), folder / "types.parquet")
    HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], ["rain", "sun"]).save(
        folder / "m.cohmm"
    )
    count_pairs([["rain", "sun", "rain"]]).save(folder / "c.cohmm")
    os.mkfifo(folder / "pipe")


def command(draws: Draws) -> list[str]:
    """The words of a command line; paths are names.

    Half of them would run as they are, but for the options that are added: the last one counts.
    """
    name = draws.choice(list(COMMANDS))
    words = [name]
    if name in TAKE_A_MODEL:
        words.append(draws.choice(MODELS) if draws.rarely() else "m.cohmm")
    if name == "topics":
        words += draws.choice(DOCUMENTS) if draws.flag() else [draws.choice(INPUTS)]
    elif name != "sample":
        columns = draws.choice(list(COLUMNS))
        read = draws.choice(SOURCES)
        typed = [columns if word == "TYPE" else word for word in read]
        words += typed if draws.flag() else draws.many(lambda: draws.choice(INPUTS), 2, 1)
    words += USUAL.get(name, [])
    if name not in ("score", "diagnose"):
        words += ["-o", draws.choice(OUTPUTS) if draws.flag() else "out"]
    for _ in range(draws.whole(0, 2)):
        option = draws.choice(list(COMMANDS[name]))
        values = COMMANDS[name][option]
        words += [option] if values is None else [option, draws.choice(values)]
    return words


@contextmanager
def slow_pipe(path: Path, data: bytes, cuts: list[int]) -> Iterator[None]:
    """Somebody who writes to a pipe bit by bit; or reads, if a command writes to it."""

    def write() -> None:
        ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
        with suppress(OSError), open(path, "wb", buffering=0) as file:
            for first, last in zip([0, *ends], ends, strict=False):
                file.write(data[first:last])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        while writer.is_alive():  # the command may never have opened it
            with suppress(OSError):
                reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                writer.join(0.01)
                os.close(reader)


def contents(folder: Path) -> dict[str, bytes]:
    names = [*TEXTS, "types.parquet", "m.cohmm", "c.cohmm"]
    return {name: (folder / name).read_bytes() for name in names}


@target
def command_grammar(draws: Draws, folder: Path) -> None:
    prepare(folder)
    words = command(draws)
    if "pipe" in words and words[words.index("pipe") - 1] in ("-o", "--triples", "--report"):
        return  # nobody reads from it: the command would wait, as it should
    known = {*TEXTS, *LINKS, *INPUTS, *OUTPUTS, "types.parquet"} - {"", "-"}
    here = [str(folder / w) if w in known and not w.startswith("/") else w for w in words]
    before, memory = contents(folder), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = before[draws.choice(list(before))]
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    with slow_pipe(folder / "pipe", data, draws.many(lambda: draws.whole(0, 60), 4)):
        result = CliRunner().invoke(app, here, input=TEXT, prog_name="cohmm")
    faulthandler.cancel_dump_traceback_later()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - memory < MOST, (words, after - memory)
    assert result.exit_code in (0, 2), (words, result.exit_code, result.exception)
    if result.exit_code == 2:
        lines = [line for line in result.stderr.splitlines() if line != COMPILING]
        assert len(lines) == 1, (words, lines)
        assert lines[0].startswith("cohmm: "), (words, lines)
        assert len(lines[0]) <= 300, (words, lines)
        assert "not enough memory" not in lines[0], (words, lines)
    written = {words[i + 1] for i, word in enumerate(words[:-1]) if word in WRITES}
    kept = {name for name in before if name not in written and not read_through(written, name)}
    now = contents(folder)
    assert {name: now[name] for name in kept} == {name: before[name] for name in kept}, words
    assert not list(folder.rglob(".cohmm-*")), words
    if result.exit_code == 2:
        assert now == before, words


WRITES = ("-o", "--triples", "--report", "--shares")


def read_through(written: set[str], name: str) -> bool:
    """Whether one of the outputs is a link to this file."""
    return any(LINKS.get(output) == name for output in written)
