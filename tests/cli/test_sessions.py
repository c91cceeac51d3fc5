"""Sessions on the command line: they end, and have events that training did not see."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from cohmm import HMM, PairwiseHMM
from cohmm.data.sequences import END
from cohmm.model.answers import Answers


def test_files_of_the_command_line_are_the_estimators(run: Any, folder: Path) -> None:
    emission = [[0.7, 0.2, 0.1, 0], [0.1, 0.2, 0.6, 0.1], [0, 0, 0, 1]]
    transmat = [[0.5, 0.4, 0.1], [0.2, 0.5, 0.3], [0, 0, 1]]
    truth = HMM([0.8, 0.2, 0], transmat, emission, ("a", "b", "c", END))
    sessions, _ = Answers(truth, end=True).sample(300, random_state=0)
    text, model = folder / "sessions.txt", folder / "sessions.cohmm"
    text.write_text("".join(f"{' '.join(map(str, y))}\n" for y in sessions))
    run("fit", str(text), "-k", "3", "--end", "--no-refine", "-o", str(model))
    ours = PairwiseHMM(3, end=True, refine=False, random_state=0).fit(str(text))
    loaded = PairwiseHMM.load(model)
    assert loaded.model_ == ours.model_
    assert loaded.end
    (folder / "new.txt").write_text("a b nobody\nc\n")
    printed = run("score", str(model), str(folder / "new.txt"), "--each").stdout.split()
    expected = ours.score_sequences([["a", "b", "nobody"], ["c"]])
    assert [float(value) for value in printed] == pytest.approx(expected)
    states = run("decode", str(model), str(folder / "new.txt")).stdout.splitlines()
    assert [len(line.split()) for line in states] == [3, 1]
    drawn = run("sample", str(model), "--sequences", "4", "--random-state", "0").stdout
    assert len(drawn.splitlines()) == 4
    assert END not in drawn
    own = "leave out --length, and say how many by --sequences"
    run("sample", str(model), "-n", "9", fails=f"sequences of this model end by themselves: {own}")
    run("fit", str(text), "-k", "3", "--lags", "1", "--no-refine", "-o", "plain.cohmm")
    without = "--unseen rare needs counts of symbols, which m.cohmm does not have"
    again = "fit it again, or say --unseen missing"
    run("score", "m.cohmm", "new.txt", "--unseen", "rare", fails=f"{without}: {again}")
    run("score", "plain.cohmm", "new.txt", "--unseen", "error", fails=ANY)
    run("score", "plain.cohmm", "new.txt", "--unseen", "missing")
