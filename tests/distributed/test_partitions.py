"""Partitions of files in this process: the same rows however they are cut, and the same models."""

from __future__ import annotations

import json
import mmap
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from cohmm import HTMM, PairwiseHMM, Sequences, count_pairs, count_triples
from cohmm.data.memory import ScratchArray
from cohmm.data.partitioned import Partitioned, as_data
from cohmm.data.parts import Failed, add, add_all, report_progress
from cohmm.data.read_sequences import joined_on_disk
from cohmm.data.sequences import row_sequences
from cohmm.distributed import Partitions
from tests.distributed.data_at_hand import (
    K,
    assert_same_hmm,
    assert_same_topics,
    local_hmm,
    local_topics,
    rows_of_symbols,
    sequences,
    texts,
)


def lines_of(rows: list[list[str]]) -> str:
    return "".join(" ".join(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part in range(3):
        size = -(-len(sequences()) // 3)
        rows = sequences()[part * size : (part + 1) * size]
        (tmp_path / f"{part}.txt").write_text(lines_of(rows))
    return tmp_path


def test_counts_and_models_are_those_of_data_in_memory(folder: Path) -> None:
    data = Partitions.of(str(folder / "*.txt"))
    assert count_pairs(data, lags=(1, 3)) == count_pairs(sequences(), lags=(1, 3))
    assert count_triples(data) == count_triples(sequences())
    assert_same_hmm(PairwiseHMM(K, random_state=0).fit(data), local_hmm())


def test_topics_are_those_of_documents_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts()[:-1]) + "\n")
    data = Partitions.of(path, block=10_000)
    assert data.n_partitions > 3
    model = HTMM(K, random_state=0).fit(data)
    assert_same_topics(model, local_topics())
    assert model.coherence() == pytest.approx(local_topics().coherence(), abs=1e-9)
    shares = pa.concat_tables(model.transform(data))["shares"].to_pylist()
    np.testing.assert_allclose(shares, local_topics().transform(texts()[:-1]), atol=1e-12)


def test_pruning_is_exact_across_parts(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts()[:-1]) + "\n")
    options = {"min_df": 20, "max_df": 0.7, "max_features": 40, "stop_words": ["w001"]}
    far = HTMM(K, random_state=0, **options).fit(Partitions.of(path, block=5000))
    here = HTMM(K, random_state=0, **options).fit(texts()[:-1])
    assert far.vocabulary_ == here.vocabulary_
    assert far.counts_ == here.counts_


ROW = st.one_of(
    st.none(),
    st.text("ab \t\x1f\u3000", max_size=8),
    st.lists(st.sampled_from(["a", "b", "a b", "", None]), max_size=4),
)


@given(st.lists(ROW, min_size=1, max_size=6))
def test_rows_are_read_as_python_splits_them(rows: list[Any]) -> None:
    expected = [row.split() if isinstance(row, str) else list(row or []) for row in rows]
    filled = [row for row in expected if row]
    for column in (rows, pa.array(rows) if all(isinstance(row, str) for row in rows) else rows):
        found, lengths = row_sequences(column)
        assert lengths.tolist() == [len(row) for row in expected]
        if not filled:
            assert found is None
        else:
            flat = [symbol for row in filled for symbol in row]
            here = Sequences.of(flat, [len(row) for row in filled])
            assert found is not None
            assert found.labels() == here.labels()
            assert found.vocabulary == here.vocabulary


@given(st.lists(st.text("ab \r", max_size=12), min_size=1, max_size=12), st.integers(1, 40))
def test_lines_are_whole_wherever_a_file_is_cut(lines: list[str], block: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "x.txt")
        path.write_bytes(("\n".join(lines) + "\n").encode())
        parts = [table.column(0).to_pylist() for table in _rows(Partitions.of(path, block=block))]
    found = [line for part in parts for line in part]
    assert found == [line.removesuffix("\r") for line in lines]


def _rows(data: Partitions) -> Any:
    return data.map_rows(lambda rows: pa.table({"row": rows}))


def test_every_format_has_the_same_rows(tmp_path: Path) -> None:
    rows = [["sun", "rain"], ["rain"], ["rain", "rain", "sun"]]
    (tmp_path / "a.txt").write_text(lines_of(rows))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"w": row}) + "\n" for row in rows))
    (tmp_path / "a.csv").write_text("w\n" + lines_of(rows))
    parquet.write_table(pa.table({"w": rows}), tmp_path / "a.parquet", row_group_size=1)
    expected = count_pairs(rows)
    for path in sorted(tmp_path.iterdir()):
        column = None if path.suffix == ".txt" else "w"
        assert count_pairs(Partitions.of(path, column=column, block=1)) == expected, path
    assert Partitions.of(tmp_path / "a.parquet", block=1).n_partitions == 3


def test_groups_are_brought_together_across_files(tmp_path: Path) -> None:
    table = pa.table(rows_of_symbols())
    for part in range(3):
        some = table.slice(part * 2000, 2000) if part < 2 else table.slice(4000)
        parquet.write_table(some, tmp_path / f"{part}.parquet")
    data = Partitions.of(tmp_path / "*.parquet", column="page", group="user", order="time")
    assert count_pairs(data) == count_pairs(sequences())
    scores = pa.concat_tables(local_hmm().score_sequences(data)).sort_by("user")
    np.testing.assert_allclose(
        scores["log_prob"].to_numpy(), local_hmm().score_sequences(sequences()), atol=1e-9
    )


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({}, {}, r"\*: no file has such a name"),
        ({"a.txt": b"a \xff"}, {}, r"a\.txt: this is not UTF-8 text: byte 2 is 0xff"),
        ({"a.txt": b""}, {}, "there is no data"),
        ({"a.csv": b"x,y\n1 2,3\n"}, {}, r"a\.csv: say which column to read"),
        ({"a.csv": b"x\n1 2\n"}, {"column": "z"}, r"a\.csv: there is no column 'z'"),
        ({"a.txt": b"a b\n"}, {"column": "z"}, r"a\.txt: text has no columns"),
        ({"a.parquet": b"PAR1 and no more"}, {}, r"a\.parquet: this is no Parquet file"),
        (
            {"a.csv": b"x,y\n1,2\n,3\n"},
            {"column": "y", "group": "x"},
            r"a\.csv, line 3: the group column 'x' is empty",
        ),
        ({"a.csv": b"x\n5\n"}, {}, r"a\.csv: the column holds numbers.*group="),
        ({"a.txt": b"a b\n"}, {"order": "z"}, "order='z' is that of the rows of a group"),
    ],
)
def test_what_is_wrong_is_told(
    tmp_path: Path, files: dict[str, bytes], options: dict[str, Any], message: str
) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        count_pairs(Partitions.of(str(tmp_path / "*"), **options))


@pytest.mark.parametrize("wrong", [[1, 2], 5, None, [], {"a": 1}, np.zeros(3)])
def test_data_in_memory_needs_no_partitions(wrong: Any) -> None:
    with pytest.raises(ValueError, match="partitions are those of"):
        Partitions.of(wrong)


def test_what_is_kept_on_disk_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(cache))
    path = tmp_path / "x.txt"
    path.write_text("a b c d e f g h\n" * 100_000)
    data = as_data(Partitions.of(path))
    assert isinstance(data, Partitioned)
    assert data.map_sum(_is_mapped) == 1
    assert not list(cache.iterdir())  # so nothing stays behind, however this ends
    assert count_pairs(data) == count_pairs([list("abcdefgh")] * 100_000)


def _is_mapped(part: Sequences) -> int:
    base: Any = part.symbols
    while isinstance(base, np.ndarray):
        base = base.base
    return int(isinstance(getattr(base, "obj", base), mmap.mmap))


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b c d e f g h\n" * 100_000)

    class Full:
        def write(self, data: memoryview) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(ScratchArray, "_opened", lambda self: Full())
    with pytest.raises(ValueError, match=r"cannot be written .*: No space left on device.*TMPDIR"):
        as_data(Partitions.of(path))


def test_weights_and_lengths_stay_at_home(folder: Path) -> None:
    data = Partitions.of(str(folder / "*.txt"))
    model = PairwiseHMM(K, random_state=0)
    with pytest.raises(ValueError, match="weights are for data in memory"):
        model.fit(data, sample_weight=np.ones(len(sequences())))
    with pytest.raises(ValueError, match="lengths are for data in memory"):
        model.fit(data, lengths=[3])
    with pytest.raises(ValueError, match="lengths"):
        count_triples(data, [3])
    with pytest.raises(ValueError, match="labels are for data in memory"):
        model.fit(data, states=np.zeros(6_000, int))
    with pytest.raises(ValueError, match="Partitions have score"):
        local_hmm().predict_proba(data)


def test_somebody_may_look_on(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    with report_progress(lambda done, n: seen.append((done, n))):
        count_pairs(Partitions.of(str(folder / "*.txt")))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_errors_that_are_more_than_a_text_are_told_too(folder: Path) -> None:
    def wrong(rows: Any) -> None:
        b"\xff".decode()

    with pytest.raises(ValueError, match=r"0\.txt: 'utf-8' codec can't decode"):
        Partitions.of(str(folder / "*.txt")).map_sum(wrong)


def test_sums() -> None:
    assert add_all([]) is None
    assert add_all([None, 3, None, 4]) == 7
    assert add({"a": (1, None)}, {"a": (2, 5), "b": (0, 0)}) == {"a": (3, 5), "b": (0, 0)}
    late, early = Failed(4, ValueError("late")), Failed(1, ValueError("early"))
    assert add_all([2, late, 3, early]) is early


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 60))
def test_sequences_on_disk_are_those_in_memory(sizes: list[int], most: int) -> None:
    rng = np.random.default_rng(0)
    batches = [Sequences.of([rng.integers(0, 5, n)] * 2, n_symbols=5) for n in sizes]
    found, expected = joined_on_disk(batches, most), Sequences.joined(batches)
    np.testing.assert_array_equal(found.symbols, expected.symbols)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_groups_of_files_one_of_which_is_empty(tmp_path):
    texts = {"1.csv": "page,user\na,u\nb,v\n", "2.csv": "", "3.csv": "page,user\nc,u\nd,w\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    counts = count_pairs(Partitions.of(tmp_path, column="page", group="user"))
    assert counts.n_pairs(1) == 1
