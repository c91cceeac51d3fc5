"""A short run of every target; ``make fuzz`` runs on."""

from __future__ import annotations

import random
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.draws import Draws
from tests.fuzz.left_behind import at_once
from tests.fuzz.targets import TARGETS

SLOW = {
    "learning": 25,
    "topics": 15,
    "command_line": 25,
    "command_grammar": 25,
    "several_threads": 6,
    "evidence_that_swings": 40,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_whatever_is_drawn(name: str, tmp_path: Path) -> None:
    @settings(max_examples=SLOW.get(name, 80))
    @given(st.binary(max_size=200))
    def run(data: bytes) -> None:
        TARGETS[name](Draws(data), tmp_path)

    run()
    rng = random.Random(name)  # hypothesis' examples are short and tidy: these are neither
    for _ in range(SLOW.get(name, 80)):
        TARGETS[name](Draws(rng.randbytes(rng.randrange(1, 400))), tmp_path)


def test_every_way_in_has_a_target() -> None:
    assert len(TARGETS) >= 20
    assert {"text_files", "delimited_files", "json_files", "parquet_files"} <= set(TARGETS)
    assert {"learning", "topics", "command_line", "inference", "counting"} <= set(TARGETS)
    assert "several_threads" in TARGETS


def test_a_target_tells_a_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.oracles.pair_matrix", lambda *args: 1)
    with pytest.raises(AssertionError):
        TARGETS["counting"](Draws(bytes([3, 0, 2, 7, 1, 2, 1, 2, 1, 2, 1, 2])), tmp_path)


def test_what_is_left_behind_is_told(tmp_path: Path) -> None:
    def careless() -> None:
        warnings.simplefilter("ignore")

    with warnings.catch_warnings(), pytest.raises(AssertionError, match="filters of warnings"):
        at_once([careless], tmp_path)
    with pytest.raises(AssertionError, match="temporary files"):
        at_once([tempfile.mkdtemp], tmp_path)
