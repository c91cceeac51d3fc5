"""Scripts, run in this process: what they import has been imported, and kernels are compiled."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import warnings
from pathlib import Path
from unittest import mock


def run_script(script: Path, *arguments: object) -> str:
    """What a script prints, run as ``python script arguments``; a warning is an error."""
    printed = io.StringIO()
    before = set(sys.modules)
    with (
        mock.patch.object(sys, "argv", [str(script), *map(str, arguments)]),
        mock.patch.object(sys, "path", [str(script.parent), *sys.path]),
        mock.patch.dict(os.environ),
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        try:
            runpy.run_path(str(script), run_name="__main__")
        finally:
            for name in set(sys.modules) - before:  # its neighbours, whose names are not unique
                if Path(getattr(sys.modules[name], "__file__", None) or "").parent == script.parent:
                    del sys.modules[name]
    return printed.getvalue()
