"""From the values of a report to one file: no script, style, font or picture from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cohmm.atomic_write import check_path as check_path
from cohmm.atomic_write import replacing
from cohmm.report.colours import INK, PAGE, PALETTE, text_on

SCRIPTS = ["core", "tables", "trust", "summary", "topics", "graph"]
SCRIPTS += ["over", "matrix", "words", "documents", "order", "start"]


def _names(one: str, text: str, word: str) -> dict[str, str]:
    plurals = {"many": f"{one}s", "texts": f"{text}s", "words": f"{word}s"}
    return {"one": one, "text": text, "word": word, **plurals}


NAMES = {
    "topics": _names("topic", "document", "word"),
    "states": _names("state", "sequence", "symbol"),
}


def write(report: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page, whole or not at all."""
    page = render_page(report)
    with replacing(path) as file:
        file.write(page.encode())


def render_page(report: dict[str, Any]) -> str:
    """The page, as a string."""
    script, names = _script(), NAMES[report["kind"]]
    style = _template("style.css").render(
        colours=list(enumerate(PALETTE)), page=PAGE, ink=INK, text_on=text_on
    )
    page: str = _template("page.html").render(
        report=report,
        names=names,
        style=Markup(style),
        style_hash=_hash(style),
        script=Markup(script),
        script_hash=_hash(script),
        data=Markup(as_script_data(report | {"names": names})),
    )
    return page


def as_script_data(value: Any) -> str:
    r"""JSON that nothing in a script element can be mistaken for markup in.

    >>> print(as_script_data("</script><!-- & \u2028"))
    "\u003c/script\u003e\u003c!-- \u0026 \u2028"
    """
    options: Any = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    text = json.dumps(value, default=vars, **options)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _script() -> str:
    folder = files("cohmm.report") / "page"
    parts = [(folder / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    return "\n" + "\n".join(parts)


def _hash(text: str) -> str:
    """What the page's own policy lets run: this text, and nothing that gets in by other ways."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _template(name: str) -> Any:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("cohmm.report", "page"),
        autoescape=lambda name: bool(name and name.endswith(".html")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
