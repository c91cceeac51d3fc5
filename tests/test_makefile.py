"""What ``make`` installs, prints and keeps, with a Python that only pretends to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"

# Stands for the Python of the machine, which makes .venv, and for the one in .venv, which has pip.
PYTHON = """#!/bin/sh
echo "$@" >>"$HOME/calls"
case "$*" in
    *version_info*) exit $OLD ;;
    *ensurepip*) exit $WITHOUT_VENV ;;
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python
        echo 'echo the demo ran' >.venv/bin/cohmm && chmod +x .venv/bin/cohmm ;;
    *install*) echo "WARNING: a line of noise"; echo "ERROR: no such wheel" >&2; exit $PIP_FAILS ;;
esac
"""


class Clone:
    """A folder with our Makefile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(MAKEFILE, folder)
        (folder / "pyproject.toml").touch()
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
                **dict.fromkeys(("OLD", "WITHOUT_VENV", "PIP_FAILS"), "0"),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode != 0) is fails, done.stdout
        return done.stdout

    def installed(self) -> list[str]:
        """What pip was asked for, since the last time that this was called."""
        calls = self.python.parent / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return [line.split()[-1] for line in lines if " install " in line]

    def stamps(self) -> set[str]:
        return {path.name for path in (self.folder / ".venv").glob(".*")}


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


DEMO = "setting up cohmm in .venv (about a minute, once)\nthe demo ran\n"


def test_the_demo_installs_the_core_once_and_says_so_in_a_line(clone: Clone) -> None:
    assert clone.make("demo") == DEMO
    assert clone.installed() == ["."]
    assert clone.make("demo") == "the demo ran\n"
    assert clone.installed() == []


def test_tests_install_the_rest_and_the_demo_nothing_after_them(clone: Clone) -> None:
    clone.make("demo")
    assert clone.stamps() == {".core"}
    told = clone.make(".venv/.all")
    assert (
        told == "setting up cohmm and all that its tests need in .venv (about two minutes, once)\n"
    )
    assert clone.installed() == [".", ".[all]"]
    assert clone.stamps() == {".core", ".all"}
    assert clone.make("demo") == "the demo ran\n"
    clone.make(".venv/.all")
    assert clone.installed() == []


def test_tests_need_no_demo_before_them(clone: Clone) -> None:
    clone.make(".venv/.all")
    clone.make("demo")
    assert clone.installed() == [".[all]"]


def test_other_settings_are_installed_again(clone: Clone) -> None:
    clone.make("demo")
    clone.make(".venv/.all")
    clone.installed()
    for name in clone.stamps():
        os.utime(clone.folder / ".venv" / name, (0, 0))  # long before the settings
    assert clone.make("demo") == DEMO
    clone.make(".venv/.all")
    assert clone.installed() == [".", ".[all]"]


@pytest.mark.parametrize("target", [".venv/.core", ".venv/.all"])
def test_a_failure_of_pip_is_shown_whole_and_tried_again(clone: Clone, target: str) -> None:
    told = clone.make(target, fails=True, PIP_FAILS="1")
    assert "WARNING: a line of noise\nERROR: no such wheel\n" in told
    assert clone.stamps() == set()
    assert "noise" not in clone.make(target)
    assert Path(target).name in clone.stamps()
    assert len(clone.installed()) == 2


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
    tools = clone.folder / "tools"
    tools.mkdir()
    for name in ("make", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    calls = clone.folder / "calls"
    calls.touch()
    known = f"*jdk-{has or 'none'}-*|update*"
    scripts = {
        "id": f"echo {user}",
        "apt-get": f'echo "$@" >>{calls}; case "$*" in {known}) ;; *) exit 1; esac',
    }
    for name, script in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    assert clone.make("java", PATH=str(tools)).strip() == told
    words = [re.search(r"update|(?<=jdk-)\d+", line) for line in calls.read_text().splitlines()]
    assert [word and word[0] for word in words] == asked
    (tools / "java").symlink_to(tools / "id")
    assert clone.make("java", PATH=str(tools)) == ""
