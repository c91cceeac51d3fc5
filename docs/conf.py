"""How the guide is built: ``make docs``."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from docutils.nodes import Element, SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import cohmm

project = "cohmm"
author = "the cohmm developers"
version = release = cohmm.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["figures"]
show_warning_types = True

myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what things are, with their shapes
default_role = "py:obj"
maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_param = False  # its fields would link every word of a type that is a name as well
napoleon_custom_sections = [("Attributes", "params_style")]

html_theme = "furo"
html_title = "cohmm"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_copy_source = False
html_show_copyright = False
html_math_renderer = "mathml"
copybutton_exclude = ".linenos, .gp, .go"

SECTIONS = ("Parameters", "Attributes")
UNDERLINE = re.compile("-{3,}")


def setup(app: Sphinx) -> None:
    """What Sphinx is taught beyond its own."""
    app.connect("builder-inited", write_report)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)  # before napoleon


def write_report(app: Sphinx) -> None:
    """The report of a demo, which the first page shows."""
    command = [sys.executable, "-c", "from cohmm.cli import main; main()", "demo", "-n", "1000"]
    report = Path(app.outdir, "demo", "report.html")
    report.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        report.write_bytes(Path(folder, "cohmm-demo", "report.html").read_bytes())


def visit_inline(translator: Any, node: Element) -> None:
    """A formula in a line: MathML, which browsers draw with no script and no network."""
    translator.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def visit_block(translator: Any, node: Element) -> None:
    """A formula in a paragraph of its own."""
    translator.body.append(tex2mathml(node.astext(), as_block=True))
    raise SkipNode


def prepare_docstring(
    app: Sphinx, what: str, name: str, it: object, options: Any, lines: list[str]
) -> None:
    """Say in reStructuredText what our docstrings leave to the reader's eye."""
    lines[:] = with_literal_blocks(with_ended_sections(lines))


def with_ended_sections(lines: list[str]) -> list[str]:
    """A list of parameters ends at the next paragraph; for napoleon it would never end.

    An entry is a line at the margin with an indented one below.  What follows the last is given
    a heading of its own.
    """
    inside = False
    for place, (line, below) in enumerate(pairwise([*lines, "", ""])):
        if UNDERLINE.fullmatch(below):
            inside = line in SECTIONS
        elif inside and line[:1].strip(" -") and not below.startswith(" "):
            heading = "Examples" if any(">>>" in rest for rest in lines[place:]) else "Notes"
            return [*lines[:place], heading, "-" * len(heading), "", *lines[place:]]
    return lines


def with_literal_blocks(lines: list[str]) -> list[str]:
    """Formulas and tables that stand indented between paragraphs are kept as they are."""
    out: list[str] = []
    inside = literal = False
    for line, below in pairwise([*lines, ""]):
        if UNDERLINE.fullmatch(below):
            inside = line in SECTIONS
        if not inside and not literal and line.startswith("    ") and out and not out[-1]:
            out += ["::", ""]
            literal = True
        elif line and not line.startswith(" "):
            literal = False
        out.append(line)
    return out
