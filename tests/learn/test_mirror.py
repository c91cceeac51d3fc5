"""Every module of `cohmm.learn` has a test file of its name."""

from __future__ import annotations

from pathlib import Path

import cohmm.learn

HERE = Path(__file__).parent
MODULES = Path(cohmm.learn.__file__).parent


def files(folder: Path, prefix: str = "") -> set[str]:
    """Names as from the folder, less a prefix of the last part."""
    return {
        path.with_name(path.name.removeprefix(prefix)).relative_to(folder).as_posix()
        for path in folder.rglob(f"{prefix}*.py")
        if path.name != "__init__.py"
    }


def test_every_module_has_its_tests() -> None:
    assert files(MODULES) - files(HERE, "test_") == set()


def test_every_file_of_tests_has_its_module() -> None:
    assert files(HERE, "test_") - files(MODULES) == {"contract.py", "mirror.py", "processes.py"}
