"""Every example of the README and the guide runs, and prints what the page says it prints.

A ``python`` block is run with the names of those before it on its page; a ``text`` block right
below has its output.  In a ``console`` block lines that begin with ``$`` are run, and the others
are what they print.  All of a page run in one folder, in the order in which they stand.  In
expected output ``...`` stands for anything, and numbers may be off by what another machine might
make of them.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from cohmm.cli import app
from cohmm.datasets.synthetic import random_hmm
from cohmm.datasets.synthetic_topics import sample_htmm

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)")


class Block(NamedTuple):
    language: str
    text: str
    output: str | None = None


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    text, end = page.read_text(), 0
    for fence in FENCE.finditer(text):
        language, inside = fence.groups()
        if language == "text" and found and not text[end : fence.start()].strip():
            found[-1] = found[-1]._replace(output=inside)
        else:
            found.append(Block(language, inside))
        end = fence.end()
    return found


def agree(expected: str, got: str) -> bool:
    """Whether output is as expected: the same words, and about the same numbers.

    Counts may be off by a tenth; decimals also by two of the last digit shown.
    """
    place = 0
    got = " ".join(got.split())
    pieces = [" ".join(piece.split()) for piece in f" {expected} ".split("...")]
    for number, piece in enumerate(pieces):
        pattern, values = "", []
        for part in NUMBER.split(piece):
            if NUMBER.fullmatch(part):
                pattern += NUMBER.pattern
                values.append(part)
            else:
                pattern += re.escape(part)
        found = re.compile(pattern).search(got, place)
        if found is None or (number == 0 and found.start()):
            return False
        if not all(map(close, values, found.groups())):
            return False
        place = found.end()
    return place == len(got) or not pieces[-1]


def close(expected: str, got: str) -> bool:
    one, other = (float(value.replace(",", "")) for value in (expected, got))
    mantissa, _, power = expected.partition("e")
    last = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    slack = 2 * last if "." in mantissa or power else 0
    return abs(one - other) <= max(slack, 0.1 * abs(one)) * (1 + 1e-9)


def commands(block: str) -> list[tuple[str, str]]:
    """Commands of a console block, each with what it prints."""
    joined = block.replace("\\\n", "")
    parts = re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def run_command(command: str) -> str:
    """What a command prints, or a pipe of several; ours are run in this process: it is faster."""
    output = ""
    for stage in command.split(" | "):
        words = shlex.split(stage, comments=True)
        if words[0] == "cohmm":
            result = CliRunner().invoke(app, words[1:], input=output, prog_name="cohmm")
            assert result.exit_code == 0, f"{stage}: {result.stderr} {result.exception!r}"
            output = result.stdout
        else:
            done = subprocess.run(stage, shell=True, input=output, capture_output=True, text=True)
            assert done.returncode == 0, f"{stage}: {done.stderr}"
            output = done.stdout
    return output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, str(page), "exec"), names)
            if block.output is not None:
                assert agree(block.output, out.getvalue()), f"{block.text}\n{out.getvalue()}"
        elif block.language == "console":
            for command, output in commands(block.text):
                got = run_command(command)
                assert agree(output or "...", got), f"{command}\n{got}"


def test_commands_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    symbols, _ = random_hmm(12, 3, stay=0.8, random_state=0).sample(4000, random_state=0)
    lines = [" ".join(f"page{s}" for s in row) for row in symbols.reshape(-1, 20)]
    visits = "\n".join(lines) + "\n"
    Path("visits.txt").write_text(visits)
    Path("more-visits.txt.gz").write_bytes(gzip.compress(visits.encode()))
    articles = sample_htmm(60, n_components=4, n_words=200, length=30, random_state=0).documents
    Path("articles.txt").write_text("\n".join(map(" ".join, articles)) + "\n")
    shown = [
        line
        for block in blocks(README)
        if not block.language
        for line in block.text.splitlines()
        if line.startswith("cohmm ") and "demo" not in line  # the tour runs the demo
    ]
    assert len(shown) >= 4
    for command in shown:
        run_command(command)


def test_there_are_examples_to_run() -> None:
    found = {page.name: blocks(page) for page in PAGES}
    assert sum(block.language == "python" for block in found["README.md"]) >= 3
    assert sum(block.output is not None for page in found.values() for block in page) >= 20
    assert sum(block.language == "console" for block in found["commands.md"]) >= 8


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("error 0.016, 19 passes", "error  0.017, 20 passes\n", True),
        ("error 0.016", "error 0.026", False),
        ("(5, 30)", "(5, 31)", True),
        ("5 states", "6 states", False),
        ("5 states", "5 topics", False),
        ("5 states", "5 states and more", False),
        ("a\n...\nz", "a b c z", True),
        ("a\n...\nz", "b c z", False),
        ("read ...", "read in 3.1 s", True),
        ("1.2e-11", "1.4e-11", True),
        ("1.2e-11", "1.4e-9", False),
        ("wheat maize", "maize wheat", False),
    ],
)
def test_outputs_are_compared(expected: str, got: str, same: bool) -> None:
    assert agree(expected, got) is same


@pytest.mark.parametrize("name", ["tour", "hmmlearn", "gensim", "bertopic", "choosing", "method"])
def test_figures_in_the_text_were_printed(name: str) -> None:
    """By a block of the page, or by the command of a table in the results."""
    text = (DOCS / f"{name}.md").read_text()
    shown = "".join((DOCS / f"{page}.md").read_text() for page in ("results", "experiments"))
    shown += "".join(block.text + (block.output or "") for block in blocks(DOCS / f"{name}.md"))
    for figure in re.findall(r"(?<![\w.])\d*(\.\d{2,})", FENCE.sub("", text)):
        assert figure in shown, f"{figure} in {name}.md stands nowhere else: is it out of date?"


def test_pages_link_to_files_that_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
