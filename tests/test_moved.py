"""Old module paths fail with a line that names the new one, and that one is there."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from cohmm._moved import _NEW


@pytest.mark.parametrize("old", sorted(_NEW))
def test_an_old_path_names_the_new_one(old: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{re.escape(old)} has moved: ") as caught:
        import_module(old)
    new = str(caught.value).partition(" has moved: ")[2]
    imported = re.match(r"from ([\w.]+) import (\w+)$", new)
    if imported:
        assert hasattr(import_module(imported[1]), imported[2])
    else:
        modules = re.findall(r"cohmm[\w.]+", new)
        assert modules
        for module in modules:
            import_module(module)


def test_other_names_are_unknown_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'cohmm\.nothing'"):
        import_module("cohmm.nothing")
