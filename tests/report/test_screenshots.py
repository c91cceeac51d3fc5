"""The script that makes the pictures of reports for the docs."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cohmm.report.prepare import prepare_report
from cohmm.report.render import write
from tests.report.samples import material

PATH = Path(__file__).parents[2] / "docs" / "screenshots.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("screenshots", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_picture_has_the_sections_asked_for(script, browser, tmp_path):
    write(prepare_report(material(n_texts=3)), tmp_path / "r.html")
    heights = {}
    for parts in (("topics",), ("topics", "transitions")):
        to = tmp_path / f"{len(parts)}.png"
        script.picture(browser, tmp_path / "r.html", "phone", parts, to)
        with Image.open(to) as picture:
            assert picture.size[0] == 390
            assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
            heights[len(parts)] = picture.size[1]
    assert heights[2] > heights[1] + 500
    cut = tmp_path / "cut.png"
    script.picture(browser, tmp_path / "r.html", "phone", script.SECTIONS, cut, "h1", "dark")
    with Image.open(cut) as picture:
        assert picture.size == (390, script.MOST["phone"])
        assert max(picture.convert("RGB").getpixel((1, 1))) < 40


def test_frequent_colours_stay_as_they_are(script):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, size=(40, 40, 3)).astype(np.uint8)
    pixels[:20] = (1, 2, 3)
    pixels[20:30, :20] = (254, 255, 255)
    few = np.asarray(script.few_colours(Image.fromarray(pixels)).convert("RGB"))
    assert (few[:20] == (1, 2, 3)).all()
    assert (few[20:30, :20] == (254, 255, 255)).all()
    assert len(np.unique(few.reshape(-1, 3), axis=0)) == 256


def test_a_report_that_there_is_not(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["screenshots.py", "demo", "news"])
    with pytest.raises(SystemExit):
        script.main()
    assert "there is no report 'news': there are demo and reuters" in capsys.readouterr().err
