"""Data for learners, whatever a user has: a path is as good as the same data in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cohmm import PairwiseHMM, Sequences, count_pairs, count_triples, read_sequences
from cohmm.data.partitioned import as_data

STATES = 4


def rows() -> list[list[str]]:
    """Sequences of ten words, of a chain with two habits."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(10)]
    steps = rng.choice([0, 1, 1, 2, 5], (40, 60)).cumsum(axis=1)
    return [[words[place % 10] for place in row[: 20 + n]] for n, row in enumerate(steps)]


def written(folder: Path, kind: str) -> Path:
    path = folder / f"words.{kind}"
    lines = [" ".join(row) for row in rows()]
    if kind == "parquet":
        parquet.write_table(pa.table({"words": rows()}), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"words": row}) + "\n" for row in rows()))
    else:
        header = ["words"] if kind == "csv" else []
        path.write_text("\n".join(header + lines) + "\n")
    return path


@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl", "parquet"])
def test_a_fit_of_a_path_is_that_of_the_data_in_memory(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, kind)
    here = PairwiseHMM(STATES, random_state=0).fit(rows())
    for X in (str(path), path, [path], read_sequences(path)):
        there = PairwiseHMM(STATES, random_state=0).fit(X)
        assert there.model_.vocabulary == here.model_.vocabulary
        for name in ("startprob_", "transmat_", "emissionprob_"):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert there.score(path) == here.score(rows())
    np.testing.assert_array_equal(there.predict(str(path)), here.predict(rows()))
    assert count_pairs(path, lags=(1, 2)) == count_pairs(rows(), lags=(1, 2))
    assert count_triples(str(path)) == count_triples(rows())


def test_numbers_of_a_file_are_codes_where_their_number_is_given(tmp_path: Path) -> None:
    path = tmp_path / "numbers.txt"
    path.write_text("0 1 2 1\n2 2 0\n")
    data = as_data(path, n_symbols=4)
    assert isinstance(data, Sequences)
    assert data.labels() == [[0, 1, 2, 1], [2, 2, 0]]
    assert data.n_symbols == 4


def test_a_string_is_a_path_unless_it_is_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ab").write_text("sun rain\n")
    assert as_data("ab").vocabulary == ("rain", "sun")
    assert as_data("ab", characters=True).vocabulary == ("a", "b")
    assert as_data("ab", vocabulary=["a", "b", "c"]).n_observations == 2
    assert as_data(["ab", "ab"]).vocabulary == ("ab",)  # a list of strings is one of labels
    assert as_data(Path("ab"), characters=True).n_observations == len("sun rain")


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ("nowhere.txt", {}, "'nowhere.txt' is a single string.*path of a file that exists"),
        (Path("nowhere.txt"), {}, "nowhere.txt"),
        ("here.txt", {"lengths": [2]}, "lengths are for data in memory: files have theirs"),
        ("here.txt", {"vocabulary": ["sun"]}, r"here\.txt, line 1: unseen symbol 'rain'"),
    ],
)
def test_what_is_wrong_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, X: Any, options: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.txt").write_text("sun rain\n")
    with pytest.raises(ValueError, match=message):
        as_data(X, **options)
