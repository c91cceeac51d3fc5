"""Colours that are told apart, and text that can be read on them."""

import numpy as np
import pytest

from cohmm.report.colours import INK, PAGE, PALETTE, contrast, text_on
from tests.report.eyes import chosen_palette, seen_by_all


def test_colours_are_those_that_are_farthest_apart():
    assert chosen_palette(len(PALETTE)) == PALETTE


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_is_readable_on_every_colour_at_any_opacity(mode):
    for colour in PALETTE:
        soft, strong = getattr(colour, f"{mode}_soft"), getattr(colour, f"{mode}_strong")
        assert contrast(soft, INK[mode]) >= 4.5
        assert contrast(PAGE[mode], INK[mode]) >= 4.5  # so that what lies between is, too
        assert contrast(strong, text_on(strong)) >= 4.5
        assert contrast(strong, PAGE[mode]) >= 3  # WCAG's for pictures


def test_four_kinds_of_eyes_tell_the_colours_apart():
    seen = np.array([seen_by_all(colour.light_strong) for colour in PALETTE])
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
    some = np.triu_indices(len(PALETTE), 1)
    assert (apart[some] > 0.04).all()
    first = np.triu_indices(8, 1)
    assert (apart[:8, :8][first] > 0.08).all()
    assert (apart[:8, :8, 0][first] > 0.12).all()


def test_known_contrasts():
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert text_on("#ffff00") == "#000000"
    assert text_on("#000080") == "#ffffff"
