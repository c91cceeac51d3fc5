"""Any sequences in any format are read as they are, and counted as loops count them."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohmm.data.read_sequences import Layout, read_files
from cohmm.evidence.count_files import count_files
from tests import oracles

KEPT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
LABELS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zs", "Zl", "Zp"]),
    min_size=1,
    max_size=4,
)
SEQUENCES = st.lists(st.lists(LABELS, min_size=1, max_size=6), min_size=1, max_size=6)
TEXTS = st.lists(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\0\r\n\ufeff"), min_size=1, max_size=6
    ),
    min_size=1,
    max_size=6,
)


def write_csv(path, cells, delimiter=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([("id", "x"), *enumerate(cells)])
    return Layout(column="x", each_row="sequence")


def write_tsv(path, cells):
    return write_csv(path, cells, "\t")


def write_lines(path, cells):
    path.write_text("".join(cell + "\n" for cell in cells), encoding="utf-8", newline="")
    return Layout()


def write_json(path, cells):
    path.write_text("".join(json.dumps({"x": cell}) + "\n" for cell in cells))
    return Layout(column="x")


def write_parquet(path, cells):
    pq.write_table(pa.table({"x": cells}), path, row_group_size=2)
    return Layout(column="x")


FORMATS = {
    "data.txt": write_lines,
    "data.csv": write_csv,
    "data.tsv": write_tsv,
    "data.jsonl": write_json,
    "data.parquet": write_parquet,
}
ANY_FORMAT = pytest.mark.parametrize("name", FORMATS)


@ANY_FORMAT
@KEPT
@given(SEQUENCES, st.sampled_from([1, 3, 1000]), st.integers(1, 3))
def test_labels_of_any_kind(tmp_path, name, sequences, size, lag):
    path = tmp_path / name
    layout = FORMATS[name](path, [" ".join(labels) for labels in sequences])
    check(path, layout, sequences, size, lag)


@ANY_FORMAT
@KEPT
@given(TEXTS, st.sampled_from([1, 3, 1000]), st.integers(1, 3))
def test_characters_of_any_kind(tmp_path, name, texts, size, lag):
    path = tmp_path / name
    layout = FORMATS[name](path, texts)
    check(path, Layout(column=layout.column, characters=True), [list(t) for t in texts], size, lag)


def check(path, layout, sequences, size, lag):
    batches = list(read_files(path, layout, batch_size=size))
    assert [labels for batch in batches for labels in batch.labels()] == sequences
    order = sorted({label for labels in sequences for label in labels})
    codes = [[order.index(label) for label in labels] for labels in sequences]
    expected = oracles.pair_matrix(codes, len(order), lag)
    if not expected.any():
        with pytest.raises(ValueError, match="there is no pair"):
            count_files(path, layout, lags=lag, batch_size=size)
        return
    counts = count_files(path, layout, lags=lag, batch_size=size).pairs
    assert counts.vocabulary == tuple(order)
    assert counts[lag].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("data.jsonl", '["ab"]\n', r"\['ab'\] is no text, and text has characters"),
        ("data.jsonl", "12\n", "12 is no text, and text has characters"),
    ],
)
def test_what_has_no_characters(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        list(read_files(path, Layout(characters=True)))


def test_numbers_in_parquet_have_no_characters(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": [10, 11]}), path)
    with pytest.raises(ValueError, match="the column 'x' is of type int64: text has characters"):
        list(read_files(path, Layout(characters=True)))


def test_digits_in_csv_have_characters(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x\n0110\n01\n\n")
    (batch,) = read_files(path, Layout(characters=True))
    assert batch.labels() == [list("0110"), list("01")]


def test_line_ends_are_no_characters(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes("ab\r\n\r\n \u00e9\n\n".encode())
    told = []
    (batch,) = read_files(path, Layout(characters=True), notice=told.append)
    assert batch.labels() == [["a", "b"], [" ", "\u00e9"]]
    assert told == [f"{path}: 2 blank lines were skipped"]


@pytest.mark.parametrize("options", [{"group": "u"}, {"order": "t"}, {"each_row": "symbol"}])
def test_rows_that_are_a_symbol_have_no_characters(options):
    with pytest.raises(ValueError, match="each row cannot be a symbol"):
        Layout(characters=True, **options)


def test_lines_of_one_symbol_each_get_a_hint(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("ACGT\nACG\n")
    with pytest.raises(ValueError, match=r"no pair at lag 1: .*; characters=True \(--characters\)"):
        count_files(path)
    with pytest.raises(ValueError, match=r"line 1: unseen symbol 'ACGT': .*; characters=True"):
        list(read_files(path, vocabulary=list("ACGT")))
