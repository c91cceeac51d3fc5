"""`read_sequences`: every file once, encoded as it streams by."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cohmm.data.read_sequences
from cohmm import Sequences, count_pairs, read_sequences
from cohmm.data.read_sequences import Layout, read_files
from cohmm.evidence.count_files import count_files

LINES = [["sun", "rain", "sun"], ["cloud"], ["rain", "rain", "cloud", "sun"]]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "weather.txt"
    path.write_text("".join(f"{' '.join(line)}\n" for line in LINES))
    return path


@pytest.fixture(params=[2**28, 1], ids=["memory", "disk"])
def in_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cohmm.data.read_sequences, "IN_MEMORY", request.param)


@pytest.mark.usefixtures("in_memory")
def test_it_is_what_the_same_data_is_in_memory(words: Path) -> None:
    data, expected = read_sequences(words), Sequences.of(LINES)
    assert data.vocabulary == expected.vocabulary == ("cloud", "rain", "sun")
    np.testing.assert_array_equal(data.symbols, expected.symbols)
    np.testing.assert_array_equal(data.offsets, expected.offsets)
    assert data.symbols.dtype == expected.symbols.dtype
    assert not data.symbols.flags.writeable
    assert data.labels() == LINES
    assert count_pairs(data) == count_pairs(LINES) == count_files(words).pairs


def test_every_format_gives_the_same(tmp_path: Path, words: Path) -> None:
    flat = [(s, t, word) for s, line in enumerate(LINES) for t, word in enumerate(line)]
    table = tmp_path / "weather.csv"
    rows = "".join(f"{word},{s},{t}\n" for s, t, word in sorted(flat, key=lambda row: row[1]))
    table.write_text(f"sky,day,hour\n{rows}")
    lines = tmp_path / "weather.jsonl"
    lines.write_text("".join(f'{{"sky": "{" ".join(line)}"}}\n' for line in LINES))
    for data in (
        read_sequences(table, "sky", "day", "hour"),
        read_sequences(str(lines), column="sky"),
        read_sequences([words]),
    ):
        assert data.labels() == LINES
        assert data.vocabulary == ("cloud", "rain", "sun")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("b a\na b b\n",))
    writer.start()
    data = read_sequences(path)
    writer.join()
    assert data.labels() == [["b", "a"], ["a", "b", "b"]]


def test_numbers_labels_and_unseen_symbols(tmp_path: Path) -> None:
    path = tmp_path / "numbers.txt"
    path.write_text("3 1\n1 0 3\n")
    numbers = read_sequences(path, integers=True)
    assert (numbers.n_symbols, numbers.vocabulary) == (4, None)
    assert numbers.symbols.tolist() == [3, 1, 1, 0, 3]
    assert read_sequences(path, n_symbols=9).n_symbols == 9
    known = read_sequences(path, vocabulary=[3, 1], unseen="missing")
    assert known.labels() == [[3, 1], [1, None, 3]]
    with pytest.raises(ValueError, match=r"numbers.txt, line 2: unseen symbol '0'"):
        read_sequences(path, vocabulary=["3", "1"])
    (tmp_path / "large.txt").write_text("2000000 1\n")
    with pytest.raises(ValueError, match=r"largest symbol is 2000000, .* without integers"):
        read_sequences(tmp_path / "large.txt", integers=True)


@pytest.mark.usefixtures("in_memory")
def test_places_and_characters(words: Path) -> None:
    data = read_sequences(words)
    assert data.place_of(4) == f"{words}, line 3, position 0"
    letters = read_sequences(words, characters=True)
    assert letters[1] == list("cloud")
    assert "".join(letters.vocabulary or ()) == "".join(sorted(set("sun rain cloud")))


def test_what_it_says(words: Path) -> None:
    told: list[int] = []
    notices: list[str] = []
    words.write_text("a b\n\nb\n")
    read_sequences(words, progress=told.append, notice=notices.append)
    assert sum(told) == 7
    assert notices == [f"{words}: 1 blank line was skipped"]
    with pytest.raises(ValueError, match="text has no columns, so column has no meaning"):
        read_sequences(words, "sky")
    with pytest.raises(ValueError, match=r"a cap of 10 MB is too small"):
        read_sequences(words, memory="10MB")
    words.write_text("\n")
    with pytest.raises(ValueError, match=r"there is no data: no symbol in .*weather.txt"):
        read_sequences(words)


EVENTS = [  # two files of clicks: user, time, page
    [("u", 3, "pay"), ("v", 1, "in"), ("u", 1, "in")],
    [("u", 2, "find"), ("w", 1, "in")],
]


def write_events(folder: Path, suffix: str) -> list[Path]:
    """The same rows in files of one format."""
    paths = []
    for number, rows in enumerate(EVENTS):
        path = folder / f"clicks{number}{suffix}"
        names = ("user", "time", "page")
        if suffix == ".csv":
            lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
            path.write_text("\n".join(lines))
        elif suffix == ".jsonl":
            path.write_text(
                "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
            )
        else:
            columns = zip(*rows, strict=True)
            pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), path)
        paths.append(path)
    return paths


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_groups_keep_their_keys_and_the_rows_of_their_symbols(tmp_path: Path, suffix: str) -> None:
    paths = write_events(tmp_path, suffix)
    data = read_sequences(paths, "page", group="user", order="time")
    assert data.keys.tolist() == ["u", "v", "w"]
    assert data.labels() == [["in", "find", "pay"], ["in"], ["in"]]
    assert data.groups is not None
    assert data.groups.files.tolist() == [0, 1, 0, 0, 1]
    assert data.groups.rows.tolist() == [3, 1, 1, 2, 2]
    for t, (file, row) in enumerate(zip(data.groups.files, data.groups.rows, strict=True)):
        page = data.vocabulary[data.symbols[t]] if data.vocabulary else None
        assert EVENTS[file][row - 1][2] == page
    layout = Layout(None, "page", "user", "time")
    batches = list(read_files(paths, layout, batch_size=2))
    assert [batch.keys.tolist() for batch in batches] == [["u"], ["v", "w"]]
    rows = [batch.groups.rows.tolist() for batch in batches if batch.groups]
    assert rows == [[3, 1, 1], [2, 2]]


def test_an_order_alone_has_rows_and_no_keys_and_text_has_neither(
    tmp_path: Path, words: Path
) -> None:
    data = read_sequences(write_events(tmp_path, ".csv"), "page", order="time")
    assert data.keys is None
    assert data.groups is not None
    assert data.groups.rows.tolist() == [2, 3, 2, 1, 1]
    assert read_sequences(words).groups is read_sequences(words).keys is None
