"""Text that stands in dictionaries of Parquet: the same symbols, and never much of it decoded."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohmm.data.arrow import by_appearance, in_parts
from cohmm.data.read_documents import read_documents
from cohmm.data.read_sequences import Layout, read_files
from cohmm.data.readers.parquet import read_parquet
from cohmm.data.readers.scan import scan
from cohmm.data.readers.source import find_sources

TEXT = " ".join(["sun rain fog"] * 400)  # 5 kB
N = 8192
SIZE = 2**12
MOST = 2**22  # bytes: the text of all rows is 40 MB
PLAIN = {"t": pa.string(), "g": pa.string(), "l": pa.list_(pa.string())}


def coded(values, indices, kind=None):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(values, kind))


def save(path, **columns):
    plain = pa.table(columns).cast(pa.schema({name: PLAIN[name] for name in columns}))
    pq.write_table(plain, path, compression="zstd")
    assert path.stat().st_size < 50_000
    return find_sources(path)[0]


def peak(iterator):
    before = pa.total_allocated_bytes()
    return max(pa.total_allocated_bytes() - before for _ in iterator)


@pytest.mark.parametrize(
    "layout", [{}, {"each_row": "symbol"}, {"each_row": "sequence", "characters": True}]
)
def test_a_small_file_of_much_text_takes_little_memory(tmp_path, layout):
    source = save(tmp_path / "x.parquet", t=coded([TEXT], [0] * N))
    chunks = scan(source, Layout(**layout), SIZE)
    assert peak(chunks if not layout.get("characters") else (next(chunks),)) < MOST


def test_lists_of_long_words_take_little_memory(tmp_path):
    offsets = pa.array(range(0, N + 1, 4), pa.int32())
    lists = pa.ListArray.from_arrays(offsets, coded(["w" * 5000], [0] * N))
    source = save(tmp_path / "x.parquet", l=lists)
    chunks = list(scan(source, Layout(), SIZE))
    assert sum(len(chunk.symbols) for chunk in chunks) == N
    assert peak(scan(source, Layout(), SIZE)) < MOST


def test_groups_are_not_decoded(tmp_path):
    columns = {
        "t": coded([TEXT, "b"], [0, 1] * (N // 2)),
        "g": coded([TEXT, "c"], [0, 0, 1, 1] * (N // 4)),
    }
    save(tmp_path / "x.parquet", **columns)
    (source,) = find_sources(tmp_path / "x.parquet")
    (cells,) = read_parquet(source, Layout(column="t", group="g"), SIZE)
    assert sum(column.nbytes for column in cells.columns.values()) < MOST
    (batch,) = read_files(tmp_path / "x.parquet", Layout(column="t", group="g"))
    assert batch.labels() == [[TEXT, "b"] * (N // 4), [TEXT, "b"] * (N // 4)]


def test_documents_and_dates_come_a_few_at_a_time(tmp_path):
    source = save(tmp_path / "x.parquet", t=coded([TEXT, "fog"], [0, 1] * (N // 2)))
    assert len(read_documents(tmp_path / "x.parquet")) == N
    cells = read_parquet(source, Layout(column="t"), SIZE, any_type=True)
    values = (value for some in cells for value in some.columns["column"].to_pylist())
    assert peak(values) < MOST


CELL = st.one_of(st.none(), st.sampled_from(["", "a", "b a", "c  é", "a" * 40]))
EACH = st.sampled_from(["symbol", "sequence"])


@settings(max_examples=30)
@given(st.lists(CELL, min_size=1, max_size=30), st.integers(1, 9), st.integers(1, 12), EACH)
def test_a_dictionary_changes_nothing(tmp_path_factory, cells, size, rows, each_row):
    folder = tmp_path_factory.mktemp("files")
    found = []
    for dictionary in (True, False):
        path = folder / f"{dictionary}.parquet"
        table = pa.table({"t": pa.array(cells, pa.string())})
        pq.write_table(table, path, use_dictionary=dictionary, row_group_size=rows)
        layout = Layout(each_row=each_row)
        try:
            batches = list(read_files(path, layout, batch_size=size))
            found.append([labels for batch in batches for labels in batch.labels()])
        except ValueError as error:
            found.append(str(error).replace(str(path), ""))
    assert found[0] == found[1]


@given(st.lists(st.sampled_from([None, 0, 1, 2, 3])), st.integers(0, 4))
def test_cells_by_appearance(indices, first):
    cells = coded(["a", "b", "c", "d"], indices)[first:]
    again = by_appearance(cells)
    assert again.to_pylist() == cells.to_pylist()
    occur = [label for label in cells.to_pylist() if label is not None]
    assert again.dictionary.to_pylist() == list(dict.fromkeys(occur))


@given(st.lists(CELL), st.integers(1, 60), st.sampled_from([pa.string(), pa.string_view()]))
def test_cells_in_parts(cells, n_bytes, kind):
    whole = pa.array(cells, kind)
    for given_cells in (whole, whole.cast(pa.string()).dictionary_encode()):
        parts = [part.to_pylist() for part in in_parts(given_cells, n_bytes)]
        assert [cell for part in parts for cell in part] == cells
        for part in parts:
            assert len(part) == 1 or sum(len((c or "").encode()) for c in part) <= n_bytes
