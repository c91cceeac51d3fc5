"""What the world picks up: metadata, builds, citation, settings of services, table of folders."""

from __future__ import annotations

import email
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from contextlib import chdir
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from scikit_build_core import build as backend

import cohmm

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "cohmm"
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"


def versions_in_classifiers() -> list[str]:
    found = (re.fullmatch(r".* :: (3\.\d+)", line) for line in PROJECT["classifiers"])
    return [match[1] for match in found if match]


def read_yaml(path: Path) -> dict[Any, Any]:
    value = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


# -- services -----------------------------------------------------------------------------------


def test_the_workflow_runs_the_two_commands_of_the_readme() -> None:
    job = read_yaml(WORKFLOW)["jobs"]["test"]
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^(make \w+)", readme, re.MULTILINE)
    assert commands == ["make demo", "make test"]
    assert [step["run"] for step in job["steps"] if "run" in step] == commands


def test_the_workflow_has_the_versions_of_the_classifiers() -> None:
    job = read_yaml(WORKFLOW)["jobs"]["test"]
    versions = job["strategy"]["matrix"]["python"]
    assert versions == versions_in_classifiers() == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == f">={versions[0]}"
    (python,) = (step["with"] for step in job["steps"] if "setup-python" in step.get("uses", ""))
    assert python["python-version"] == "${{ matrix.python }}"


def test_wheels_are_built_for_every_version_that_is_promised() -> None:
    """One wheel for the first version, and one for all from the second on, by the stable ABI."""
    workflow = read_yaml(WORKFLOW.with_name("wheels.yml"))
    tags = [f"cp{version.replace('.', '')}" for version in versions_in_classifiers()[:2]]
    assert workflow["jobs"]["wheels"]["env"]["CIBW_BUILD"].split() == [f"{tag}-*" for tag in tags]
    assert SETTINGS["tool"]["scikit-build"]["wheel"]["py-api"] == tags[1]
    machines = " ".join(
        row["name"] for row in workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    )
    assert all(name in machines for name in ("x86-64", "AArch64", "macOS", "Windows"))


def test_read_the_docs_builds_the_guide() -> None:
    settings = read_yaml(ROOT / ".readthedocs.yaml")
    assert settings["version"] == 2
    assert (ROOT / settings["sphinx"]["configuration"]).is_file()
    assert settings["build"]["tools"]["python"] in versions_in_classifiers()
    (install,) = settings["python"]["install"]
    assert set(install["extra_requirements"]) <= set(PROJECT["optional-dependencies"])


# -- citation -----------------------------------------------------------------------------------


def test_the_citation_is_of_this_version_and_of_the_paper() -> None:
    citation = read_yaml(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(
        citation
    )  # what the format asks for
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == cohmm.__version__
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    names = [author["family-names"] for author in paper["authors"]]
    assert (names, paper["year"]) == (["Huang", "Fu", "Sidiropoulos"], 2018)
    assert paper["title"] in " ".join((ROOT / "README.md").read_text("utf-8").split())


# -- the build ----------------------------------------------------------------------------------


def build(kind: str, source: Path, folder: Path, **settings: str) -> Path:
    """A wheel or an sdist, by the backend that pip calls, which looks at where it is."""
    pytest.importorskip("nanobind", reason="nanobind, which make installs, is missing")
    compiler = ROOT / ".venv" / "compiler"  # of make
    with chdir(source), pytest.MonkeyPatch.context() as patch:
        if compiler.exists() and "CXX" not in os.environ:
            patch.setenv("CXX", compiler.read_text().strip())
        return folder / str(getattr(backend, f"build_{kind}")(str(folder), dict(settings)))


def files_below(folder: Path, inside: str) -> set[str]:
    return {
        f"{inside}/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made where make builds, which leaves nothing to compile; by one process at a time."""
    objects = ROOT / "build"
    objects.mkdir(exist_ok=True)
    with (objects / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def test_a_wheel_has_the_package_and_no_more(wheel: Path) -> None:
    names = names_in(wheel)
    files = {name for name in names if ".dist-info/" not in name}
    (core,) = (name for name in files if name.endswith((".so", ".pyd")))
    package = files_below(SOURCE, "cohmm") - files_below(SOURCE / "_native", "cohmm/_native")
    assert files - {core} == package | files_below(ROOT / "experiments", "cohmm/_experiments")
    assert "cohmm/py.typed" in files
    assert {"cohmm/report/page/page.html", "cohmm/report/page/style.css"} <= files
    assert not [name for name in names if "tests" in name.split("/")]
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_a_wheel_says_what_it_is(wheel: Path) -> None:
    (name,) = (name for name in names_in(wheel) if name.endswith(".dist-info/METADATA"))
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Version"] == cohmm.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Author"] == "the cohmm developers"
    labels = [line.partition(", ")[0] for line in metadata.get_all("Project-URL", [])]
    assert labels == ["Homepage", "Documentation", "Source", "Issues", "Changelog"]
    core = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert len(core) == len(PROJECT["dependencies"])


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel, and the packages that are here."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "others.pth").write_text("\n".join(others))  # of which no .pth is read
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return folder / "bin" / "python"


def run(python: Path, folder: Path, *arguments: str) -> str:
    """What a program prints that finds no other one, and no compiler."""
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env={"PATH": str(folder), "HOME": str(folder), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_works_without_the_repository(installed: Path, tmp_path: Path) -> None:
    code = (
        "import cohmm, cohmm._native, cohmm.report.render\n"
        "print(cohmm.__file__, cohmm._native.__file__, cohmm.report.render.__file__)"
    )
    places = run(installed, tmp_path, "-c", code)
    assert all(place.startswith(str(installed.parent.parent)) for place in places.split())
    assert len(run(installed, tmp_path, "-m", "cohmm", "reproduce").splitlines()) >= 6


def test_the_demo_runs_from_a_wheel_where_there_is_no_compiler(
    installed: Path, tmp_path: Path
) -> None:
    run(installed, tmp_path, "-m", "cohmm", "demo", "-n", "60", "--json")
    assert (tmp_path / "cohmm-demo" / "report.html").stat().st_size > 10_000


def test_an_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(build("sdist", ROOT, tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (source / "tests" / "oracles.py").is_file()
    assert (source / "src" / "cohmm" / "_native" / "module.cpp").is_file()
    assert not [name for name in (".venv", "build") if (source / name).exists()]
    assert not [path for path in source.rglob("*") if path.suffix in (".so", ".o", ".pyd")]
    # A type that CMake does not know: nothing is optimised, which would take most of the time.
    again = build("wheel", source, tmp_path, **{"cmake.build-type": "Unoptimised"})
    assert again.name == wheel.name
    assert names_in(again) == names_in(wheel)


# -- the levels of the processor ----------------------------------------------------------------


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm, of the binutils, is missing")
def test_no_function_of_one_level_can_be_taken_for_that_of_another(wheel: Path) -> None:
    """The linker keeps one of several weak symbols, which might have been compiled for AVX-512."""
    built = ROOT / "build" / "-".join(wheel.stem.split("-")[-3:]) / "CMakeFiles"
    levels = list(built.glob("level_*.dir"))
    objects = list(built.glob("level_*.dir/**/*.o"))
    assert len(objects) >= len(levels) >= 1
    for path in objects:
        listed = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        symbols = [line.split()[-2:] for line in listed.splitlines()]
        weak = [name for kind, name in symbols if kind in "WwVvu"]
        # Where C++ looks up how to unwind: data, and the same for all.
        assert [name for name in weak if not name.startswith("DW.ref.")] == [], path


# -- the table of folders -----------------------------------------------------------------------


def table() -> dict[str, str]:
    """Folders in CONTRIBUTING, from the top down, and what they may import."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w/.]+)` \| .+ \| (.+) \|$", text, re.MULTILINE)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def test_the_table_has_the_folders_that_there_are() -> None:
    folders = {
        f"{path.relative_to(SOURCE).as_posix()}/"
        for path in SOURCE.rglob("*")
        if path.is_dir() and any(file.is_file() for file in path.iterdir())
        if path.name != "__pycache__"
    }
    assert set(table()) == folders | {"storage.py", "atomic_write.py", "_validation.py", "_html.py"}


def test_the_table_has_the_layers_that_are_checked() -> None:
    contract, _ = SETTINGS["tool"]["importlinter"]["contracts"]  # the second is within learn
    layers = [
        [in_table(module.strip()) for module in layer.split("|")] for layer in contract["layers"]
    ]
    outer = {name: imports for name, imports in table().items() if name.count("/") <= 1}
    assert list(outer) == list(chain(*layers))
    for upper, lower in pairwise(layers):
        for name in upper:
            assert re.findall(r"`(.+?)`", outer[name]) == lower
    assert outer[layers[-1][0]] == "nothing of ours"


def in_table(module: str) -> str:
    name = module.strip("()").removeprefix("cohmm.")
    return f"{name}.py" if (SOURCE / f"{name}.py").is_file() else f"{name}/"


def test_the_walks_of_contributing_name_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    walks = text.partition("## Three walks")[2].partition("\n## ")[0]
    rows = [row.split("|")[2:4] for row in walks.splitlines() if row.startswith("|")]
    steps = [[re.findall(r"`([^`]+)`", cell) for cell in row] for row in rows]
    steps = [step for step in steps if step[0]]
    assert len(steps) > 20
    for files, functions in steps:
        code = "".join((ROOT / "src/cohmm" / file).read_text("utf-8") for file in files)
        missing = [name for name in functions if f"def {name}(" not in code]
        assert not missing, f"{missing} in {files}"
