"""Files that are cut short, badly quoted, or no text: an error that names the place, no silence."""

import csv
import gzip
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohmm import read_documents
from cohmm.data.read_sequences import Layout, read_files
from cohmm.data.readers import delimited
from cohmm.data.readers.source import find_sources
from cohmm.evidence.count_files import count_files
from tests.data.test_files import fails, labels_in, reading

KEPT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
BOTH = pytest.mark.parametrize("group", [None, "user"])


def rows_with(*wrong: tuple[int, str]) -> str:
    rows = [f"u{n % 7},home" for n in range(1000)]
    for place, row in wrong:
        rows[place] = row
    return "user,page\n" + "\n".join(rows) + "\n"


# -- quotes ----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("block", [64, delimited.BLOCK])
def test_a_quote_that_does_not_close_is_named_with_its_line(
    tmp_path, monkeypatch, block, packed, group
):
    monkeypatch.setattr(delimited, "BLOCK", block)
    data = rows_with((500, 'u1,"home')).encode()
    path = tmp_path / ("data.csv.gz" if packed else "data.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    message = fails(lambda: count_files(path, Layout(column="page", group=group)))
    assert message.startswith(f"{path}, line 502: a quote opens, and does not close")


@BOTH
def test_a_quote_that_closes_where_another_should_open(tmp_path, group):
    path = tmp_path / "data.csv"
    path.write_text(rows_with((500, 'u1,"home'), (700, 'u1,"cart"')))
    assert fails(lambda: count_files(path, Layout(column="page", group=group))) == (
        f"{path}, line 502: a quote opens, and closes in line 702, in the midst of a cell"
    )


def test_quotes_in_standard_input_have_lines_too(monkeypatch):
    text = io.TextIOWrapper(io.BytesIO(b'x\na b\n"c d\ne f\n'))
    monkeypatch.setattr("sys.stdin", text)
    assert fails(reading("-", Layout(format="csv"))) == (
        "standard input, line 3: a quote opens, and does not close"
    )


def test_documents_have_quotes_as_well(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('text\nsun and rain\n"rain\nsun\n')
    with pytest.raises(ValueError, match="line 3: a quote opens, and does not close"):
        read_documents(path)


def test_quotes_that_are_right_or_harmless(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('x,y\n"a\nb",1\n"c ""d"" e",2\n5" pipe,3\n"f"g,4\n"h\r\ni" ,5\n"",6\n')
    expected = [["a", "b"], ["c", '"d"', "e"], ['5"', "pipe"], ["fg"], ["h", "i"]]
    assert labels_in(path, Layout(column="x")) == expected


CELLS = st.text('ab", \n\r', max_size=6)


@KEPT
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.sampled_from([3, 64]))
def test_what_pythons_writer_quotes_is_read_back(tmp_path, rows, size):
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("x", "y"), *rows])
    expected = [words for words in (first.split() for first, _ in rows) if words]
    if not expected:
        return
    assert labels_in(path, Layout(column="x", each_row="sequence"), batch_size=size) == expected


@KEPT
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.integers(0, 200))
def test_a_file_that_ends_within_quotes_is_never_read_to_the_end(tmp_path, rows, cut):
    """Python's reader, which is strict where it is asked to be, says which files those are."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("x", "y"), *rows])
    kept = text.getvalue()[: len('"x","y"\r\n') + cut]
    path = tmp_path / "data.csv"
    path.write_bytes(kept.encode())
    try:
        list(csv.reader(io.StringIO(kept, newline=""), strict=True))
    except csv.Error:
        message = fails(reading(path, Layout(column="x", each_row="sequence")))
        assert f"{path}" in message


# -- files that were cut short ----------------------------------------------------------------


def test_json_that_was_cut_short(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"w": ["a", "b"]}\n{"w": ["a", "b')
    assert fails(reading(path)).startswith(f"{path}, line 2: not JSON: ")
    assert fails(reading(path, Layout(group="w"))).startswith(f"{path}")


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_parquet_that_was_cut_short(tmp_path, kept):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"w": [str(n) for n in range(5000)]}), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    for layout in (Layout(), Layout(column="w", order="w")):
        assert fails(reading(path, layout)).startswith(f"{path}: not a Parquet file, or damaged")


def test_parquet_whose_text_is_damaged(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"w": ["sunny", "rainy"]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"sunny", b"sun\xffy"))
    for layout in (Layout(), Layout(column="w", order="w")):
        assert fails(reading(path, layout)).startswith(f"{path}: not a Parquet file, or damaged")
    assert "or damaged" in fails(lambda: read_documents(path))


@pytest.mark.parametrize("name", ["data.txt.gz", "data.csv.gz", "data.jsonl.gz"])
def test_gzip_that_was_cut_short(tmp_path, name):
    rng = random.Random(0)
    text = "w\n" + "".join(f"{rng.random()}a\n" for _ in range(20_000))
    if "json" in name:
        text = "".join(json.dumps(line) + "\n" for line in text.splitlines())
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode())[:-1000])
    assert fails(reading(path)).startswith(f"{path}")


# -- what is no text ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.txt", "data.csv", "data.jsonl"])
def test_utf_16_is_told_by_name_and_line(tmp_path, name):
    path = tmp_path / name
    path.write_bytes("a\n1\n".encode("utf-16-le"))
    assert fails(reading(path)) == (
        f"{path}: line 1 is not UTF-8 text: it has a NUL byte, as UTF-16 text has"
    )


def test_documents_of_utf_16_without_its_mark(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes("sun and rain\n".encode("utf-16-le"))
    assert fails(lambda: read_documents(path, encoding="utf-16")) == (
        f"{path}: this is not utf-16: UTF-16 stream does not start with BOM"
    )
    assert list(read_documents(path, encoding="utf-16-le")) == [["sun", "and", "rain"]]


def test_an_encoding_that_ignores_nothing(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"sun\nra\xffin\n")
    assert fails(lambda: read_documents(path, encoding="idna")).startswith(f"{path}: ")


@pytest.mark.parametrize("encoding", ["rot13", "base64", "utf-99", "", "utf-8\0", None, 8])
def test_what_is_no_encoding_of_text(encoding):
    assert "there is no encoding" in fails(lambda: read_documents(["a"], encoding=encoding))


@pytest.mark.parametrize(
    ("name", "text", "layout"),
    [
        ("data.jsonl", '{"w": 1}\n{"w": ' + "1" * 5000 + "}\n", Layout()),
        ("data.jsonl", '{"w": 1}\n{"w": ' + "1" * 5000 + "}\n", Layout(order="w", column="w")),
        ("data.txt", "1\n" + "1" * 5000 + "\n", Layout()),
        ("data.csv", "w\n1\n" + "1" * 5000 + "\n", Layout()),
    ],
)
def test_numbers_of_thousands_of_digits(tmp_path, name, text, layout):
    path = tmp_path / name
    path.write_text(text)
    message = fails(reading(path, layout, integers=True))
    line = 3 if name == "data.csv" else 2
    assert message.startswith(f"{path}, line {line}: ")
    assert "too l" in message  # too long, or too large
    assert len(message) < 300


# -- paths and numbers -------------------------------------------------------------------------


def test_an_empty_path_is_no_folder(tmp_path, monkeypatch):
    (tmp_path / "data.txt").write_text("a b\n")
    monkeypatch.chdir(tmp_path)
    for paths in ("", ["data.txt", ""]):
        assert fails(lambda paths=paths: find_sources(paths)).startswith("the path is empty: give")
    from cohmm.data.read_documents import Trace, documents_at

    assert "the path is empty" in fails(lambda: list(documents_at("", "utf-8", None, Trace())))


def test_numbers_far_larger_than_the_data_ask_for_no_memory(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 200000000\n")
    assert fails(lambda: count_files(path, integers=True)) == (
        "the largest symbol is 200000000, which makes 200,000,001 symbols of 2 observations: "
        "without integers (--integers) they are labels"
    )
    assert count_files(path).pairs.vocabulary == ("0", "200000000")
    (batch,) = read_files(path, integers=True)
    assert batch.labels() == [[0, 200_000_000]]


@pytest.mark.parametrize("vocabulary", [[1, "1"], ["1", 1], ["a", 1, "1"]])
def test_labels_that_files_cannot_tell_apart(tmp_path, vocabulary):
    path = tmp_path / "data.txt"
    path.write_text("1\n")
    assert fails(reading(path, vocabulary=vocabulary)).startswith(
        "the vocabulary has 1 as a number and as a string"
    )


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("data.jsonl", json.dumps({"k" * 999 + str(n): 1 for n in range(99)}), {"column": "x"}),
        ("data.csv", ",".join("k" * 999 + str(n) for n in range(99)) + "\n", {"column": "x"}),
        ("data.jsonl", json.dumps(["a"]) + "\n" + json.dumps(10**4000), {}),
        ("data.jsonl", json.dumps([["x" * 30_000]]), {}),
    ],
)
def test_messages_are_short_however_long_the_names(tmp_path, name, text, options):
    path = tmp_path / name
    path.write_text(text)
    assert len(fails(reading(path, Layout(**options)))) < 1000


@pytest.mark.parametrize("marks", [1, 2, 3])
def test_byte_order_marks_before_the_names_of_columns(tmp_path, marks):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" * marks + b"page\nhome\ncart\n")
    column = "page" if marks < 3 else "\ufeffpage"
    assert labels_in(path, Layout(column=column)) == [["home"], ["cart"]]
