"""How the colours of `cohmm.report.colours` are chosen, and how four kinds of eyes see them.

A topic has a hue and a tone.  From these come its colours (OKLCH, Ottosson 2020).  Lightness is in
bands that keep enough contrast with the text on them and the page around them; tones use these
bands, since eyes that confuse hues see lightness.  Each colour is the farthest from those before
it, to the worst of four eyes: normal, protanope, deuteranope, tritanope (Machado et al. 2009).
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.report.colours import Colour, linear_rgb

FIRST = (250.0, 0.5)  # a blue
# Of each use: the lightness of the darkest and the lightest tone, and the chroma.
BANDS = {
    ("light", "soft"): (0.83, 0.93, 0.07),
    ("light", "strong"): (0.42, 0.64, 0.17),
    ("dark", "soft"): (0.31, 0.43, 0.09),
    ("dark", "strong"): (0.60, 0.86, 0.14),
}
EYES = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ]
)
WEIGHTS = np.array([0.6, 1.0, 1.0, 1.0])  # most eyes are the first kind: ask for more there
_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def chosen_palette(n: int) -> tuple[Colour, ...]:
    """The first ``n`` colours."""
    candidates = [(float(hue), tone) for hue in range(0, 360, 10) for tone in (0.0, 0.5, 1.0)]
    chosen = [FIRST]
    seen = np.array([_to_all_eyes(candidate) for candidate in candidates])
    nearest = np.full(len(candidates), np.inf)
    while len(chosen) < n:
        apart = (WEIGHTS * np.linalg.norm(seen - _to_all_eyes(chosen[-1]), axis=-1)).min(axis=-1)
        nearest = np.minimum(nearest, apart)
        chosen.append(candidates[int(nearest.argmax())])
    return tuple(
        Colour(*(_hex(_linear(*_lch(candidate, use))) for use in BANDS)) for candidate in chosen
    )


def seen_by_all(colour: str) -> Floats:
    """A colour as four kinds of eyes see it, (4, 3), in OKLab."""
    return np.array([_oklab(np.clip(eye @ linear_rgb(colour), 0, 1)) for eye in EYES])


def _to_all_eyes(candidate: tuple[float, float]) -> Floats:
    return seen_by_all(_hex(_linear(*_lch(candidate, ("light", "strong")))))


def _lch(candidate: tuple[float, float], use: tuple[str, str]) -> tuple[float, float, float]:
    hue, tone = candidate
    low, high, chroma = BANDS[use]
    return low + tone * (high - low), chroma, hue


def _linear(lightness: float, chroma: float, hue: float) -> Floats:
    """Linear sRGB; colours that no screen has lose chroma until one has them."""
    angle = np.deg2rad(hue)
    while True:
        lab = np.array([lightness, chroma * np.cos(angle), chroma * np.sin(angle)])
        rgb = np.linalg.solve(_LMS, np.linalg.solve(_LAB, lab) ** 3)
        if ((rgb >= -1e-4) & (rgb <= 1 + 1e-4)).all() or chroma < 1e-3:
            return np.asarray(rgb.clip(0, 1))
        chroma *= 0.97


def _oklab(rgb: Floats) -> Floats:
    return np.asarray(_LAB @ np.cbrt(_LMS @ rgb))


def _hex(rgb: Floats) -> str:
    curved = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{value:02x}" for value in np.rint(255 * curved).astype(int))
