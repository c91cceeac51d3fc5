"""Small tables for notebooks: what a value's ``_repr_html_`` returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], note: str = ""
) -> str:
    """A table with a title, and a note below it; whatever they hold is text, never markup.

    The last column is of words, and the others are of numbers.

    >>> "<caption>A &amp; B</caption>" in html_table("A & B", ["state"], [["<0>"]])
    True
    """

    def row(cells: Sequence[Any], tag: str) -> str:
        sides = [*["right"] * (len(cells) - 1), "left"]
        return "".join(
            f'<{tag} style="text-align: {side}">{escape(str(cell))}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    head = f"<caption>{escape(title)}</caption><thead><tr>{row(columns, 'th')}</tr></thead>"
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table>{head}<tbody>{body}</tbody></table>{below}"


def more_than(shown: int, n: int, what: str) -> str:
    """How many are not shown.

    >>> more_than(20, 23, "states"), more_than(3, 3, "states")
    ('... and 3 more states', '')
    """
    return f"... and {n - shown:,} more {what}" if n > shown else ""
