"""What ``make`` installs, prints and keeps, with a Python that only pretends to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Stands for the Python of the machine, which makes .venv, and for the one in .venv, which has pip.
PYTHON = """#!/bin/sh
echo "CXX=$CXX $@" >>"$HOME/calls"
case "$*" in
    *version_info*) exit $OLD ;;
    *ensurepip*) exit $WITHOUT_VENV ;;
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python
        echo 'echo the demo ran' >.venv/bin/cohmm && chmod +x .venv/bin/cohmm ;;
    *install*ziglang) exit $ZIG_FAILS ;;
    *ziglang.__file__*) echo "$HOME" ;;
    *install*) echo "WARNING: a line of noise"; echo "ERROR: no such wheel" >&2; exit $PIP_FAILS ;;
esac
"""


class Clone:
    """A folder with our Makefile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(ROOT / "Makefile", folder)
        shutil.copytree(ROOT / "tools", folder / "tools")
        for name in ("pyproject.toml", "CMakeLists.txt"):
            (folder / name).touch()
        (folder / "home").mkdir()
        self.python = folder / "home" / "python"
        self.python.write_text(PYTHON)
        self.python.chmod(0o755)

    def make(self, *arguments: str, fails: bool = False, **environment: str) -> str:
        """All that is printed."""
        done = subprocess.run(
            ["make", "--no-print-directory", f"PYTHON={self.python}", *arguments],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.python.parent),
                **dict.fromkeys(("OLD", "WITHOUT_VENV", "PIP_FAILS", "ZIG_FAILS"), "0"),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode != 0) is fails, done.stdout
        return done.stdout

    def installs(self) -> list[str]:
        """How pip was called, since the last time that this was."""
        calls = self.python.parent / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return [line for line in lines if " install " in line]

    def installed(self) -> list[str]:
        """What pip was asked for, the last of it, since the last time that this was called."""
        return [line.split()[-1] for line in self.installs()]

    def tools(self, *names: str, **scripts: str) -> Path:
        """A folder of these programs of the machine, and of scripts."""
        folder = self.folder / "programs"
        folder.mkdir()
        for name in ("make", "sh", *names):
            (folder / name).symlink_to(str(shutil.which(name)))
        for name, script in scripts.items():
            program = folder / name.replace("_", "-")
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        return folder

    def stamps(self) -> set[str]:
        return {path.name for path in (self.folder / ".venv").glob(".*")}


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


WITH_TOOLS = ["wheel", ".[all]"]
DEMO = "setting up cohmm in .venv (about a minute, once)\nthe demo ran\n"


def test_the_demo_installs_the_core_once_and_says_so_in_a_line(clone: Clone) -> None:
    assert clone.make("demo") == DEMO
    assert clone.installed() == ["."]
    assert clone.make("demo") == "the demo ran\n"
    assert clone.installed() == []


def test_tests_install_the_rest_and_the_demo_nothing_after_them(clone: Clone) -> None:
    clone.make("demo")
    assert clone.stamps() == {".core", ".native"}
    told = clone.make(".venv/.all")
    assert told == (
        "setting up cohmm and all that its tests need in .venv (about three minutes, once)\n"
    )
    assert clone.installed() == [".", *WITH_TOOLS]
    assert clone.stamps() == {".core", ".native", ".all"}
    assert clone.make("demo") == "the demo ran\n"
    clone.make(".venv/.all")
    assert clone.installed() == []


def test_tests_need_no_demo_before_them(clone: Clone) -> None:
    clone.make(".venv/.all")
    clone.make("demo")
    assert clone.installed() == WITH_TOOLS


def test_other_settings_are_installed_again(clone: Clone) -> None:
    clone.make("demo")
    clone.make(".venv/.all")
    clone.installed()
    for name in clone.stamps():
        os.utime(clone.folder / ".venv" / name, (0, 0))  # long before the settings
    assert clone.make("demo") == DEMO
    clone.make(".venv/.all")
    assert clone.installed() == [".", *WITH_TOOLS]


def test_what_has_changed_in_cpp_is_compiled_again(clone: Clone) -> None:
    for target, builds in (("demo", []), (".venv/.all", ["--no-build-isolation"])):
        clone.make(target)
        clone.installs()
        os.utime(clone.folder / ".venv" / ".native", (0, 0))  # long before CMakeLists.txt
        assert clone.make("demo") == "compiling what has changed in C++\nthe demo ran\n"
        (call,) = clone.installs()
        assert call.endswith("--editable .")
        assert "--no-deps" in call
        assert [word for word in call.split() if word == "--no-build-isolation"] == builds
        assert clone.make("demo") == "the demo ran\n"


@pytest.mark.parametrize(
    ("target", "tried"),
    [(".venv/.core", [".", "."]), (".venv/.all", [WITH_TOOLS[0], *WITH_TOOLS])],
)
def test_a_failure_of_pip_is_shown_whole_and_tried_again(
    clone: Clone, target: str, tried: list[str]
) -> None:
    told = clone.make(target, fails=True, PIP_FAILS="1")
    assert "WARNING: a line of noise\nERROR: no such wheel\n" in told
    assert clone.stamps() == set()
    assert "noise" not in clone.make(target)
    assert Path(target).name in clone.stamps()
    assert clone.installed() == tried


@pytest.mark.parametrize(
    ("lacking", "line"),
    [
        ({"OLD": "1"}, "cohmm needs Python 3.11 or newer; {python} is older"),
        ({"WITHOUT_VENV": "1"}, "{python} has no venv module: install it"),
    ],
)
def test_what_is_missing_is_said_in_a_line(
    clone: Clone, lacking: dict[str, str], line: str
) -> None:
    told = clone.make("demo", fails=True, **lacking).splitlines()
    assert told[0].startswith(line.format(python=clone.python))
    assert "Error 1" in told[1]  # make's own line
    assert len(told) == 2
    assert clone.installed() == []


def test_a_python_that_is_not_there(clone: Clone) -> None:
    clone.python.unlink()
    told = clone.make("demo", fails=True).splitlines()
    assert told[0] == f"cohmm needs Python 3.11 or newer; {clone.python} was not found"


JAVA = (
    "there is no Java, so tests of Spark are skipped "
    "(Debian: apt-get install openjdk-17-jre-headless)"
)


@pytest.mark.parametrize(
    ("user", "has", "told", "asked"),
    [
        ("0", "", JAVA, ["17", "update", "17", "21"]),
        ("0", "17", "", ["17"]),
        ("0", "21", "", ["17", "update", "17", "21"]),
        ("1000", "17", JAVA, []),
    ],
)
def test_java_is_installed_where_that_may_be(
    clone: Clone, user: str, has: str, told: str, asked: list[str]
) -> None:
    calls = clone.folder / "calls"
    calls.touch()
    known = f"*jdk-{has or 'none'}-*|update*"
    tools = clone.tools(
        id=f"echo {user}",
        apt_get=f'echo "$@" >>{calls}; case "$*" in {known}) ;; *) exit 1; esac',
    )
    assert clone.make("java", PATH=str(tools)).strip() == told
    words = [re.search(r"update|(?<=jdk-)\d+", line) for line in calls.read_text().splitlines()]
    assert [word and word[0] for word in words] == asked
    (tools / "java").symlink_to(tools / "id")
    assert clone.make("java", PATH=str(tools)) == ""


DEBIAN = "there is no C++ compiler: installing Debian's g++"
ZIG = "there is no C++ compiler: installing zig's, which takes some minutes"
NEITHER = "cohmm needs a C++ compiler: install one (Debian: apt-get install g++)"
NEEDED = ("cat", "chmod", "cp", "mkdir", "rm", "touch")


@pytest.mark.parametrize(
    ("user", "apt_works", "zig_fails", "told", "compiler"),
    [
        ("0", True, "0", [DEBIAN], "programs/g++"),
        ("0", False, "0", [DEBIAN, ZIG], ".venv/zig/c++"),
        ("1000", True, "0", [ZIG], ".venv/zig/c++"),
        ("1000", True, "1", [ZIG, NEITHER], None),
    ],
)
def test_a_compiler_is_installed_where_there_is_none(
    clone: Clone, user: str, apt_works: bool, zig_fails: str, told: list[str], compiler: str | None
) -> None:
    gxx = clone.folder / "programs" / "g++"
    install = f"ln -s {shutil.which('true')} {gxx}" if apt_works else "exit 1"
    tools = clone.tools(
        *NEEDED, "ln", id=f"echo {user}", apt_get=f'case "$*" in *update*) ;; *) {install}; esac'
    )
    zig = clone.python.parent / "zig"
    zig.write_text('#!/bin/sh\necho "$@" >>"$HOME/zig-calls"\n')
    zig.chmod(0o755)
    lines = clone.make("demo", fails=compiler is None, PATH=str(tools), ZIG_FAILS=zig_fails)
    assert lines.splitlines()[1 : 1 + len(told)] == told
    *_, call = clone.installs()
    if compiler is None:
        assert call.endswith(" ziglang")
        assert clone.stamps() == set()
        assert "Error 1" in lines.splitlines()[-1]  # make's own line
        assert len(lines.splitlines()) == 2 + len(told)
        return
    assert lines.splitlines()[1 + len(told) :] == ["the demo ran"]
    assert call.startswith(f"CXX={clone.folder / compiler} ")
    assert call.endswith(" --editable .")
    if compiler.startswith(".venv"):  # CMake calls it so, and zig writes processors in another way
        command = [clone.folder / compiler, "-march=x86-64-v3", "-DNAME=a b", "-c"]
        subprocess.run(command, env={"HOME": str(zig.parent), "PATH": str(tools)}, check=True)
        calls = (zig.parent / "zig-calls").read_text().splitlines()
        assert calls[-1] == "c++ -O2 -march=x86_64_v3 -DNAME=a b -c"


def test_a_compiler_that_was_chosen_is_taken(clone: Clone) -> None:
    clone.make("demo", CXX="clang++-18")
    (call,) = clone.installs()
    assert call.startswith("CXX=clang++-18 ")
