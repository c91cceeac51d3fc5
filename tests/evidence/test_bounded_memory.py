"""Counting under a cap: the same counts, bit for bit, and temporary files that vanish."""

import mmap
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from cohmm import Cooccurrence, count_pairs, read_sequences
from cohmm.data import memory
from cohmm.data.memory import LIBRARIES, Budget, MemoryCapError, ScratchArray, as_bytes
from cohmm.data.readers.source import find_sources
from cohmm.evidence import external_sum
from cohmm.evidence.count_files import Options, count_files, count_sources
from cohmm.evidence.external_sum import PackedRows, added_rows


def zipf(n, n_symbols=3000, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.zipf(1.2, n) % n_symbols).astype(np.int64)


def matrices(n, n_parts, seed=0):
    """Sparse counts, small and beyond a byte."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(n_parts):
        size = int(rng.integers(1, n + 1))
        table = rng.poisson(rng.choice([0.1, 2, 300], (size, size)))
        parts.append(sparse.csr_array(table.astype(np.int64)))
    return parts


@st.composite
def sums(draw):
    n = draw(st.integers(1, 30))
    parts = matrices(n, draw(st.integers(1, 5)), draw(st.integers(0, 10**6)))
    places = draw(st.permutations(range(n)))
    kept = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return n, parts, [place if keep else -1 for place, keep in zip(places, kept, strict=True)]


@settings(max_examples=60)
@given(sums(), st.sampled_from([2**30, 40, 4000]), st.booleans())
def test_a_sum_is_that_of_dense_tables(drawn, room, on_disk):
    n, parts, places = drawn
    expected = np.zeros((n, n), np.int64)
    for part in parts:
        for (a, b), count in part.todok().items():
            if places[a] >= 0 and places[b] >= 0:
                expected[a, places[b]] += count
    where = np.array(places, np.int32)
    runs = [PackedRows.of(m) for m in parts]
    found = added_rows(runs, n, where, room, None, on_disk)
    assert isinstance(found.columns, ScratchArray) == on_disk
    matrix = found.matrix(None, n)
    assert np.array_equal(matrix.toarray(), expected)
    assert matrix.data.dtype == np.int64
    assert np.array_equal(matrix.indices, sparse.csr_array(expected).indices)
    assert found.total == expected.sum()


def test_a_packed_matrix_is_the_matrix():
    [matrix] = matrices(40, 1)
    rows = PackedRows.of(matrix)
    assert (np.asarray(rows.small) == 0).sum() == len(rows.large) > 0
    assert np.array_equal(rows.matrix(None, matrix.shape[1]).toarray(), matrix.toarray())


@pytest.fixture
def tight(monkeypatch):
    """A cap at which nothing has room: parts go to disk after a few symbols."""

    class Tight(Budget):
        @classmethod
        def of(cls, memory, folder=None):
            return cls(10**12, 3000, folder) if memory else Budget.of(None, folder)

        def beside(self, n_symbols, labelled):
            return self

    monkeypatch.setattr("cohmm.evidence.count_files.Budget", Tight)
    monkeypatch.setattr(external_sum, "MOST_RUNS", 4)
    monkeypatch.setattr(external_sum, "FAN", 3)
    monkeypatch.setattr(external_sum, "CHUNK", 50)
    for module in ("cooccurrence", "counting"):
        monkeypatch.setattr(f"cohmm.evidence.{module}.LARGEST_DENSE", 10)
    return Tight


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def write(path, sequences):
    path.write_text("".join(" ".join(map(str, y)) + "\n" for y in sequences))
    return path


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("lags", [(1,), (1, 3)])
def test_what_waits_on_disk_counts_as_in_memory(tmp_path, tight, integers, lags):
    sequences = np.split(zipf(4000, 90), [7, 8, 1500, 1501, 3000])
    path = write(tmp_path / "data.txt", sequences)
    expected = count_files(path, lags=lags, integers=integers).pairs
    how = Options(lags=lags, integers=integers, memory=1, folder=tmp_path)
    found = count_sources(find_sources(path), how)
    assert {lag: expected.n_pairs(lag) for lag in lags} == found.n_pairs
    mapped = found.pairs
    assert mapped == expected
    assert all(is_mapped(mapped[lag].data) for lag in lags)
    found.pairs.save(tmp_path / "found.cohmm")
    expected.save(tmp_path / "expected.cohmm")
    assert (tmp_path / "found.cohmm").read_bytes() == (tmp_path / "expected.cohmm").read_bytes()
    assert Cooccurrence.load(tmp_path / "found.cohmm") == expected
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("integers", [False, True])
def test_sequences_are_counted_in_blocks_within_their_budget(tmp_path, tight, integers):
    path = write(tmp_path / "data.txt", np.split(zipf(4000, 90), [7, 8, 1500, 1501, 3000]))
    data = read_sequences(path, integers=integers)
    expected = count_pairs(data, lags=(1, 3))
    counts = count_pairs(replace(data, budget=tight(10**12, 3000, tmp_path)), lags=(1, 3))
    assert counts == expected == count_files(path, lags=(1, 3), integers=integers).pairs
    assert is_mapped(counts[3].data)
    assert not is_mapped(expected[3].data)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=60), min_size=1, max_size=8),
    st.integers(1, 9) | st.none(),
    st.integers(1, 30) | st.none(),
)
def test_pruning_is_exact_with_a_cap_and_without(tmp_path, tight, sequences, least, most):
    if not any(len(y) > 1 for y in sequences):
        return
    path = write(tmp_path / "data.txt", [[f"w{code}" for code in y] for y in sequences])
    symbols = [f"w{code}" for y in sequences for code in y]
    often = {label: symbols.count(label) for label in set(symbols)}
    ranked = sorted(often, key=lambda label: (-often[label], label))
    kept = sorted(label for label in ranked[:most] if often[label] >= (least or 1))
    options = {"min_count": least, "max_vocabulary": most}
    told = []
    try:
        expected = count_pairs(
            [[f"w{code}" for code in y] for y in sequences], vocabulary=kept, unseen="missing"
        )
    except ValueError:
        with pytest.raises(ValueError, match=r"no (symbol|pair) is left"):
            count_files(path, **options)
        return
    for cap in (None, 1):
        assert count_files(path, **options, memory=cap, notice=told.append).pairs == expected
    gone = len(often) - len(kept)
    lost = sum(often[label] for label in often if label not in kept)
    assert len(told) == (2 if gone else 0)
    for text in told:
        assert f"dropped {gone:,} of {len(often):,} symbols, with {lost:,} of" in text


def test_codes_that_go_leave_their_places(tmp_path):
    path = write(tmp_path / "data.txt", [[0, 3, 3, 1, 3, 0, 7]])
    counts = count_files(path, integers=True, min_count=2).pairs
    assert counts.symbol_counts.tolist() == [2, 0, 0, 3]
    assert counts == count_pairs([0, 3, 3, None, 3, 0, None], n_symbols=4)


def test_pruning_drops_triples(tmp_path):
    path = write(tmp_path / "data.txt", [["a", "b", "a", "a", "b", "c", "a", "b", "a"]])
    found = count_files(path, triples=True, max_vocabulary=2).triples
    assert (found.vocabulary, found.triples.tolist()) == (
        ("a", "b"),
        [[0, 0, 1], [0, 1, 0], [1, 0, 0]],
    )
    assert found.counts.tolist() == [1, 2, 1]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_pruning_is_checked(value):
    with pytest.raises(ValueError, match="min_count must be a whole number from 1"):
        Options(min_count=value)


@pytest.mark.parametrize("memory", ["", "x", "1 XB", "-1GB", 0, 1.5, True, "GB"])
def test_what_is_no_amount_of_memory_is_told(memory):
    with pytest.raises(ValueError, match="memory must be a number of bytes"):
        as_bytes(memory)


def test_a_cap_that_is_too_small_is_told_before_reading(tmp_path):
    path = write(tmp_path / "data.txt", [[1, 2]])
    with pytest.raises(MemoryCapError, match="a cap of 100 MB is too small: Python and its"):
        count_files(path, memory="100MB")


def test_a_vocabulary_that_has_no_room_is_told(tmp_path, monkeypatch):
    path = write(tmp_path / "data.txt", [[f"w{code}" for code in range(1000)]])
    cap, room = 10**9, memory.MIN_ROOM // 3 + 100_000
    monkeypatch.setattr(Budget, "of", classmethod(lambda cls, *_: cls(cap, room)))
    message = (
        "a cap of 1.00 GB is too small for 1,000 labels, which take about 400,000 bytes beside "
        "Python and its libraries; give 1.01 GB at least"
    )
    with pytest.raises(MemoryCapError, match=message):
        count_files(path)


def test_what_is_read_and_has_no_room_is_told(tmp_path, monkeypatch):
    path = write(tmp_path / "data.txt", [[1, 2]])
    monkeypatch.setattr(memory, "resident", lambda: 10**12)
    monkeypatch.setattr(Budget, "of", classmethod(lambda cls, *_: cls(10**9, 10**9)))
    with pytest.raises(
        MemoryCapError, match=r"too small for what is read: this process has 1000\.00 GB"
    ):
        count_files(path)


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("most", [None, 30])
def test_triples_that_have_no_room_wait_on_disk(tmp_path, tight, monkeypatch, integers, most):
    monkeypatch.setattr(external_sum, "MIN_BLOCK", 16)
    path = write(tmp_path / "data.txt", np.split(zipf(4000, 90), [7, 8, 1500, 1501, 3000]))
    options = {"triples": True, "integers": integers, "max_vocabulary": most}
    expected = count_files(path, **options).triples
    how = Options(**options, memory=1, folder=tmp_path)
    counted = count_sources(find_sources(path), how)
    found = counted.triples
    assert counted.n_triples == found.n_triples == expected.n_triples
    assert found == expected
    assert is_mapped(found.triples)
    assert is_mapped(found.counts)
    found.save(tmp_path / "found.cohmm")
    expected.save(tmp_path / "expected.cohmm")
    assert (tmp_path / "found.cohmm").read_bytes() == (tmp_path / "expected.cohmm").read_bytes()
    assert count_files(path, **options, memory=1).triples == expected


def test_a_full_disk_is_one_clear_error(tmp_path):
    """Temporary files cannot grow beyond a limit of the system: as on a full disk."""
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
import numpy as np
from cohmm.data.memory import ScratchArray
ScratchArray(np.int64, 0, {str(tmp_path)!r}).append(np.zeros(1000))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith(
        f"StorageError: a scratch file cannot be written to the folder {tmp_path}: File too large; "
        "the environment variable TMPDIR names another folder"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"a scratch file cannot be written to the folder .*no:"):
        ScratchArray(np.int64, 0, tmp_path / "no")


PEAK = """
import runpy, sys
try:
    runpy.run_module("cohmm", run_name="__main__")
finally:
    status = open("/proc/self/status").read()
    print(status.split("VmHWM:")[1].split()[0])
"""


def test_the_cap_holds(tmp_path):
    """The peak of a whole process whose result alone is larger than its share of the cap."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the peak of a process is measured on Linux")
    cap = LIBRARIES + memory.MIN_ROOM + 4 * 10**6
    data = np.random.default_rng(0).integers(0, 60_000, 8_000_000, dtype=np.int32)
    pq.write_table(pa.table({"symbol": data}), tmp_path / "data.parquet")
    command = ["count", tmp_path / "data.parquet", "--integers", "-o", tmp_path / "c.cohmm"]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *command, "--memory", str(cap)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) * 1024 < cap
    assert (tmp_path / "c.cohmm").stat().st_size > 0.9 * memory.MIN_ROOM
    assert {path.name for path in tmp_path.iterdir()} == {"c.cohmm", "data.parquet"}
    assert Cooccurrence.load(tmp_path / "c.cohmm") == count_pairs(data)
