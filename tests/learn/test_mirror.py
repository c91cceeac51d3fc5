"""Every module of `cohmm.learn` has a test file of its name, or a reason why not."""

from __future__ import annotations

from pathlib import Path

import cohmm.learn

HERE = Path(__file__).parent
MODULES = Path(cohmm.learn.__file__).parent

ELSEWHERE = {  # a module: where its tests are, and why
    "pairwise.py": ("learn/test_contract.py", "a learner like any other"),
}


def files(folder: Path, prefix: str = "") -> set[str]:
    """Names as from the folder, less a prefix of the last part."""
    return {
        path.with_name(path.name.removeprefix(prefix)).relative_to(folder).as_posix()
        for path in folder.rglob(f"{prefix}*.py")
        if path.name != "__init__.py"
    }


def test_every_module_has_its_tests() -> None:
    assert files(MODULES) - files(HERE, "test_") == set(ELSEWHERE)
    for place, _ in ELSEWHERE.values():
        assert (HERE.parent / place).is_file()


def test_every_file_of_tests_has_its_module() -> None:
    assert files(HERE, "test_") - files(MODULES) == {"contract.py", "mirror.py", "processes.py"}
