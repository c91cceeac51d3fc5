"""Every example runs, alone and with real data, learns what it says, and stands in the gallery."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.image
import matplotlib.pyplot as plt
import pytest

from cohmm.datasets.demo_topics import SUBJECTS
from tests.scripts import run_script

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
KEPT = DOCS / "figures" / "gallery"
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
NAMES = [path.stem for path in SCRIPTS]
PUBLIC = re.compile(r"cohmm(\.plots|\.learn|\.datasets\.\w+)?")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Runs an example quickly and looks at its picture; no data is found but in COHMM_DATA."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def call(name: str) -> str:
        picture = tmp_path / "picture.png"
        output = run_script(ROOT / "examples" / f"{name}.py", "--quick", "--output", picture)
        pixels = matplotlib.image.imread(picture)
        assert pixels.shape[1] > 1000
        assert 0.01 < (pixels[..., :3].min(axis=2) < 0.95).mean() < 0.9  # neither blank nor black
        return output

    yield call
    plt.close("all")


def numbers(pattern: str, output: str) -> list[float]:
    """What a pattern's group catches, as numbers; at least one."""
    found = [float(number) for number in re.findall(pattern, output, re.MULTILINE)]
    assert found, f"{pattern} is nowhere in\n{output}"
    return found


def of_one_subject(words: list[str]) -> bool:
    return any(set(words) <= set(text.split()) for text in SUBJECTS.values())


def check_clicks(output: str, real: bool) -> None:
    interests, chain = numbers(r"([\d.]+) nats per page", output)
    assert interests < (2.1 if real else chain)  # drawn from interests, it needs no more
    assert min(numbers(r"lasts +(\d+) pages", output)) >= 2


def check_log_anomalies(output: str, real: bool) -> None:
    hidden, chain, mean = numbers(r": (\d+) of the 20 most surprising", output)
    assert hidden >= 19
    assert hidden > chain
    assert hidden > mean


def check_part_of_speech(output: str, real: bool) -> None:
    [right] = numbers(r"([\d.]+)% of the words are in their state's", output)
    [alone] = numbers(r"([\d.]+)% would be", output)
    assert right > (1.5 * alone if real else 95)


def check_dna(output: str, real: bool) -> None:
    [right] = numbers(r"([\d.]+)% of those are in a state of their strand", output)
    assert right > (45 if real else 95)


def check_news_topics(output: str, real: bool) -> None:
    [counts] = numbers(r"held-out articles: (\d+)", output)
    [ignored] = numbers(r"word order ignored: (\d+)", output)
    assert counts < (0.99 if real else 0.6) * ignored
    assert min(numbers(r"articles, (\d+)% in the topic", output)) > 25
    if not real:
        for label, words in re.findall(r"^(.*?) +\d+ articles.* topic (.*)$", output, re.MULTILINE):
            assert set(words.split()) <= set(SUBJECTS[label].split())


def check_long_documents(output: str, real: bool) -> None:
    [switch] = numbers(r"anew at (\d+)%", output)
    passages = re.findall(r"^ +(\d+) words on ([^:]*): ", output, re.MULTILINE)
    assert 1 <= switch < (15 if real else 4)
    assert len(passages) >= 3
    assert real or all(of_one_subject(words.split()) for _, words in passages)


def test_all_six_are_there() -> None:
    assert set(NAMES) == {name.removeprefix("check_") for name in globals() if "check_" in name}
    assert len(NAMES) == 6


@pytest.mark.parametrize("name", NAMES)
def test_without_data_it_makes_some_up(
    name: str, run: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COHMM_DATA", raising=False)
    output = run(name)
    assert output.startswith("data: made up")
    globals()[f"check_{name}"](output, False)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "log_anomalies"])
def test_with_data(name: str, run: Callable[[str], str]) -> None:
    output = run(name)
    if "was not found" in output:
        pytest.skip(output.splitlines()[0])
    globals()[f"check_{name}"](output, True)


@pytest.mark.parametrize("path", SCRIPTS, ids=NAMES)
def test_it_is_short_and_uses_what_is_public(path: Path) -> None:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    assert (ast.get_docstring(tree) or "").startswith("# ")
    code = [line for line in text.splitlines()[tree.body[0].end_lineno :] if line.strip()]
    assert 40 <= len(code) <= 80
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and "cohmm" in node.module:
            assert PUBLIC.fullmatch(node.module), node.module
            assert not any(alias.name.startswith("_") for alias in node.names)


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_in_the_gallery(name: str) -> None:
    page = (DOCS / "gallery" / f"{name}.md").read_text("utf-8")
    assert page.count(f"../../examples/{name}.py") == 2  # its text, and its code
    assert f"(../figures/gallery/{name}.png)" in page
    assert f"../figures/gallery/{name}.txt" in page
    assert f"({name}.md)" in (DOCS / "gallery" / "index.md").read_text("utf-8")
    assert 10_000 < (KEPT / f"{name}.png").stat().st_size < 120_000
    kept = (KEPT / f"{name}.txt").read_text("utf-8")
    assert kept.startswith("data: ")
    assert "was not found" not in kept  # it is of real data, where there is some


def test_nothing_is_kept_of_what_is_gone() -> None:
    assert {path.stem for path in KEPT.iterdir()} == set(NAMES)
    assert {path.stem for path in (DOCS / "gallery").iterdir()} == {*NAMES, "index"}
