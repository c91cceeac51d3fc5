"""Colours of topics that most eyes tell apart, on white and on black.

A topic has four colours: a background for words and a strong one for bars, for light and for dark
pages.  Each is the farthest from those before it, to the worst of four eyes; how they are chosen is
in ``tests/report/eyes.py``, and a test chooses them again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.types import Floats

PAGE = {"light": "#ffffff", "dark": "#15181d"}
INK = {"light": "#1b1f24", "dark": "#e8eaed"}


class Colour(NamedTuple):
    """The four colours of a topic, as #rrggbb."""

    light_soft: str
    light_strong: str
    dark_soft: str
    dark_strong: str


# Topic k has number k modulo their number.
PALETTE = (
    Colour("#badbfe", "#0b6ebc", "#12426d", "#5dadfc"),
    Colour("#ffe1d1", "#d8670f", "#763f1d", "#ffc2a0"),
    Colour("#ecb5ce", "#8a085a", "#501937", "#bc598c"),
    Colour("#baf8e1", "#09a480", "#015e49", "#5ceec3"),
    Colour("#e0c394", "#664700", "#412c00", "#a67601"),
    Colour("#c6c0f2", "#5031a1", "#31265a", "#806fcd"),
    Colour("#e7e4ff", "#8d75eb", "#50467d", "#d0c9ff"),
    Colour("#fec7ce", "#b83255", "#662835", "#f18093"),
    Colour("#f3c7ee", "#9f3e99", "#592c56", "#d886d1"),
    Colour("#e9d6a3", "#846802", "#4f3d01", "#caa324"),
    Colour("#9ecef1", "#02537b", "#013450", "#0789c8"),
    Colour("#ffdcf2", "#cd5cac", "#703a5f", "#feb7e6"),
)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG, from 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    a, b = sorted(float(linear_rgb(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (b + 0.05) / (a + 0.05)


def text_on(colour: str) -> str:
    """Black or white, whichever is easier to read on a colour."""
    return max("#000000", "#ffffff", key=lambda text: contrast(text, colour))


def linear_rgb(colour: str) -> Floats:
    """A colour, #rrggbb, in linear sRGB, (3,)."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
