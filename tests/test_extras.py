"""The core does the main job alone; every extra is used, and is named where it is missing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
APART = {"all", "bertopic"}  # the sum of the others; what is too large to be installed for tests
FOLDERS = ("src", "tests", "docs", "benchmarks", "experiments")

HIDE = """
import sys
from importlib.machinery import PathFinder

class Core(PathFinder):
    @classmethod
    def find_spec(cls, name, *args, **options):
        hidden = name.partition(".")[0] in {modules}
        return None if hidden else super().find_spec(name, *args, **options)

sys.meta_path[:] = [Core if finder is PathFinder else finder for finder in sys.meta_path]
"""

WORK = """
import cohmm
from cohmm.datasets.synthetic import random_hmm

symbols, _ = random_hmm(8, 2, stay=0.8, random_state=0).sample(2000, random_state=0)
model = cohmm.PairwiseHMM(2, random_state=0).fit(symbols)
assert model.predict(symbols).shape == (2000,)
documents = ["wheat maize corn wheat"] * 9 + ["yen dollar bank yen"] * 9
topics = cohmm.HTMM(2, random_state=0).fit(documents)
assert topics.transform(documents).shape == (18, 2)
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""

COMMAND = "from cohmm.cli import main; main()"

NAMES = """
from cohmm import HMM, read_documents
from cohmm.datasets.data_files import DataFile
from cohmm.learn import lda
from cohmm.learn.topics.bertopic import bertopic
"""

MESSAGES = {
    "from cohmm import plots": "pictures need matplotlib: pip install 'cohmm[plots]'",
    "HMM([1.0], [[1.0]], [[1.0]]).to_frame('start')": (
        "data frames need pandas: pip install 'cohmm[frames]'"
    ),
    "HMM([1.0], [[1.0]], [[1.0]]).to_hmmlearn()": (
        "hmmlearn is not installed: pip install 'cohmm[compare]'"
    ),
    "DataFile('no-such-file', 'x', 'https://example.org/x').find(download=True)": (
        "fetching https://example.org/x needs pooch: pip install 'cohmm[datasets]'"
    ),
    "lda(read_documents(['wheat corn'] * 3), 1, engine='tomotopy')": (
        "LDA by tomotopy needs the package tomotopy: pip install 'cohmm[compare]'"
    ),
    "bertopic(read_documents(['wheat corn'] * 30), 1)": (
        "BERTopic needs the package bertopic: pip install 'cohmm[bertopic]'"
    ),
}


def plain(name: str) -> str:
    """The name of a distribution, as PEP 503 compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def owners() -> dict[str, set[str]]:
    """Top-level modules that are installed here, and the distributions that they belong to."""
    return {name: set(map(plain, owned)) for name, owned in packages_distributions().items()}


def modules_of(distributions: set[str]) -> set[str]:
    return {module for module, owned in owners().items() if owned & distributions}


def with_all_they_need(requirements: list[str]) -> set[str]:
    """The distributions, and what these need in turn, on this machine."""
    names: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = plain(requirement.name)
        if name in names or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        try:
            waiting += [Requirement(text) for text in distribution(name).requires or []]
        except PackageNotFoundError:  # a package of another platform or Python
            continue
    return names


@cache
def hidden_modules() -> set[str]:
    """Modules of packages that are installed here and that the core does not need."""
    return set(owners()) - modules_of(with_all_they_need(PROJECT["dependencies"]) | {"cohmm"})


def with_the_core_alone(
    code: str, folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run ``code`` where all packages but the core's are nowhere to be found."""
    script = folder / "script.py"
    script.write_text(HIDE.replace("{modules}", repr(hidden_modules())) + code)
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


# -- the core alone ---------------------------------------------------------------------------


def test_all_but_the_core_is_hidden_by_these_tests() -> None:
    hidden = hidden_modules()
    assert {"matplotlib", "pandas", "pooch", "hmmlearn", "gensim", "polars", "pytest"} <= hidden
    assert not {"cohmm", "numpy", "scipy", "rich", "threadpoolctl"} & hidden


def test_estimators_need_the_core_alone(tmp_path: Path) -> None:
    done = with_the_core_alone(WORK, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    loaded = set(done.stdout.split())
    assert {"cohmm", "numpy", "highspy", "sklearn", "pyarrow"} <= loaded
    assert not loaded & {"matplotlib", "pandas", "pooch", "hmmlearn"}


def test_the_demo_needs_the_core_alone(tmp_path: Path) -> None:
    done = with_the_core_alone(COMMAND, tmp_path, "demo", "-n", "60", "--json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "cohmm-demo" / "report.html").stat().st_size > 10_000


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """In one process, as a start takes a second."""
    tries = [f"try: {code}\nexcept ImportError as error: print(error)\n" for code in MESSAGES]
    done = with_the_core_alone(NAMES + "".join(tries), tmp_path)
    assert done.stdout.splitlines() == list(MESSAGES.values()), done.stderr


def test_a_command_names_what_is_missing(tmp_path: Path) -> None:
    done = with_the_core_alone(COMMAND, tmp_path, "reproduce")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cohmm: pictures need matplotlib: pip install 'cohmm[plots]'\n"


# -- the extras -------------------------------------------------------------------------------


@cache
def named(folder: str) -> set[str]:
    """Modules that are imported, or named in a string as `import_module` and Sphinx take them."""
    names: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value.partition(".")[0])
    return names


def is_tool(name: str) -> bool:
    """Whether the Makefile runs it, or pytest takes it by itself."""
    run = set(re.findall(r"\$\(BIN\)/([\w-]+)", (ROOT / "Makefile").read_text("utf-8")))
    return name in run or any(
        point.group == "pytest11" or (point.group == "console_scripts" and point.name in run)
        for point in distribution(name).entry_points
    )


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - APART))
def test_every_package_of_an_extra_is_used(extra: str) -> None:
    used = set().union(*map(named, FOLDERS))
    names = [plain(Requirement(text).name) for text in EXTRAS[extra]]
    assert [name for name in names if not modules_of({name}) & used and not is_tool(name)] == []


def test_every_package_of_the_core_is_used_by_the_package() -> None:
    names = [plain(Requirement(text).name) for text in PROJECT["dependencies"]]
    assert [name for name in names if not modules_of({name}) & named("src")] == []


def test_the_extra_all_has_all_the_others() -> None:
    (everything,) = map(Requirement, EXTRAS["all"])
    assert everything.name == "cohmm"
    assert everything.extras == set(EXTRAS) - APART


def test_a_package_stands_in_one_list() -> None:
    lists = [PROJECT["dependencies"], *(EXTRAS[name] for name in sorted(set(EXTRAS) - {"all"}))]
    names = [plain(Requirement(text).name) for each in lists for text in each]
    assert len(names) == len(set(names))
