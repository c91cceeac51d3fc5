"""Reading and counting files: every format gives what the same data in memory gives."""

import gzip
import io
import json
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohmm import HMM, ImpossibleObservation, Sequences, count_pairs, count_triples, threads
from cohmm.data.read_sequences import Layout, n_bytes, read_files
from cohmm.data.readers import delimited, text
from cohmm.data.readers.codes import Coder
from cohmm.data.readers.scan import read_pieces
from cohmm.data.readers.source import find_sources
from cohmm.evidence.count_files import count_files

SEQUENCES = [
    ["b", "a", "c", "a", "b"],
    ["c"],
    ["a", "a", "é", "b", "c", "a", "zz", "b", "a"],
    ["zz", "a"],
]
LAGS = (1, 2, 5)
BATCHES = (1, 2, 3, 7, 1000)


def lines(sequences):
    return "".join(" ".join(sequence) + "\n" for sequence in sequences)


def write_text(path, sequences):
    path.write_text(lines(sequences), encoding="utf-8")
    return Layout()


def write_csv(path, sequences):
    rows = "".join(f'{i},"{" ".join(s)}"\n' for i, s in enumerate(sequences))
    path.write_text("id,words\n" + rows, encoding="utf-8")
    return Layout(column="words")


def write_tsv(path, sequences):
    rows = "".join(f"{i}\t{' '.join(s)}\n" for i, s in enumerate(sequences))
    path.write_text("id\twords\n" + rows, encoding="utf-8")
    return Layout(column="words")


def write_jsonl(path, sequences):
    path.write_text("".join(json.dumps({"id": 1, "words": s}) + "\n" for s in sequences))
    return Layout(column="words")


def write_json_arrays(path, sequences):
    path.write_text("".join(json.dumps(s) + "\n" for s in sequences))
    return Layout()


def write_lists(path, sequences):
    pq.write_table(pa.table({"words": sequences}), path, row_group_size=2)
    return Layout()


def write_grouped(path, sequences):
    """Rows of all sequences in turns, so that only the group and the order tell them apart."""
    rows = [(t, s, label) for s, labels in enumerate(sequences) for t, label in enumerate(labels)]
    rows.sort(key=lambda row: (-row[0], row[1]))
    rows.sort(key=lambda row: row[1] != 0 or row[0] != 0)  # sequence 0 appears first
    path.write_text("time,user,page\n" + "".join(f"{t},u{s},{label}\n" for t, s, label in rows))
    return Layout(column="page", group="user", order="time")


FORMATS = {
    "data.txt": write_text,
    "data.csv": write_csv,
    "data.tsv": write_tsv,
    "data.jsonl": write_jsonl,
    "data.ndjson": write_json_arrays,
    "data.parquet": write_lists,
    "grouped.csv": write_grouped,
}


def compress(path, suffix):
    data = path.read_bytes()
    packed = gzip.compress(data) if suffix == ".gz" else pa.compress(data, "zstd", asbytes=True)
    path.unlink()
    new = path.with_name(path.name + suffix)
    new.write_bytes(packed)
    return new


def labels_in(path, layout=None, **options):
    return [labels for batch in read_files(path, layout, **options) for labels in batch.labels()]


def fails(call):
    """The message of the ValueError that a call raises: one line."""
    with pytest.raises(ValueError) as error:
        call()
    message = str(error.value)
    assert "\n" not in message
    return message


def reading(path, layout=None, **options):
    return lambda: list(read_files(path, layout, **options))


# -- every format, compressed or not, in batches of any size ---------------------------------


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_counts_of_the_same_data_in_memory(tmp_path, name, suffix):
    path = tmp_path / name
    layout = FORMATS[name](path, SEQUENCES)
    if suffix:
        path = compress(path, suffix)
    for size in BATCHES:
        counted = count_files(path, layout, lags=LAGS, triples=True, batch_size=size)
        assert counted.pairs == count_pairs(SEQUENCES, lags=LAGS)
        assert counted.triples == count_triples(SEQUENCES)
        assert counted.n_sequences == len(SEQUENCES)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_sequences_in_whole_batches(tmp_path, name):
    path = tmp_path / name
    layout = FORMATS[name](path, SEQUENCES)
    for size in BATCHES:
        batches = list(read_files(path, layout, batch_size=size))
        found = [labels for batch in batches for labels in batch.labels()]
        assert sorted(found) == sorted(SEQUENCES)
        if name != "grouped.csv":
            assert found == SEQUENCES
        assert all(len(batch.symbols) <= size or len(batch) == 1 for batch in batches)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=12), min_size=1, max_size=6),
    st.integers(1, 20),
    st.sets(st.integers(1, 4), min_size=1),
)
def test_counting_across_cuts_is_counting_at_once(tmp_path, sequences, size, lags):
    path = tmp_path / "numbers.txt"
    path.write_text(lines([[str(code) for code in codes] for codes in sequences]))
    lags = {lag for lag in lags if any(len(codes) > lag for codes in sequences)}
    if not lags:
        return
    with_triples = any(len(codes) > 2 for codes in sequences)
    found = count_files(path, lags=lags, triples=with_triples, integers=True, batch_size=size)
    assert found.pairs == count_pairs(sequences, lags=lags)
    if with_triples:
        assert found.triples == count_triples(sequences)


def test_a_large_vocabulary_is_counted_sparse_and_in_order(tmp_path):
    rng = np.random.default_rng(0)
    sequences = [[f"w{i}" for i in rng.integers(0, 3000, 500)] for _ in range(20)]
    path = tmp_path / "data.txt"
    path.write_text(lines(sequences))
    for size in (300, 10**6):
        counts = count_files(path, lags=(1, 3), batch_size=size).pairs
        assert counts.is_sparse
        assert counts == count_pairs(sequences, lags=(1, 3))


def test_any_number_of_threads_gives_the_same(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "data.txt"
    path.write_text(lines([[f"w{i}" for i in rng.integers(0, 50, 3000)] for _ in range(5)]))
    found = []
    for n in (1, 2, 4):
        with threads(n):
            found.append(count_files(path, batch_size=700).pairs)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("n", [1, 2, 128])
def test_few_blocks_are_read_ahead_however_many_threads_there_are(n):
    """A cap on memory has room for these."""
    taken, held = [], []
    with threads(n):
        for block in text._ahead(str, (taken.append(i) or i for i in range(300))):
            held.append(len(taken) - int(block))
    assert taken == list(range(300))
    assert max(held) <= text.MOST_AHEAD + 1


def test_a_long_line_is_never_held_as_a_whole(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a b " * 10_000)
    pieces = read_pieces(find_sources(path), Layout(), Coder(), 100)
    sizes = [len(piece.codes) for piece in pieces]
    assert sum(sizes) == 20_000
    assert max(sizes) <= 100


def test_files_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("word\n" * 1_000_000)
    told = []
    next(read_files(path, batch_size=1000, progress=told.append))
    assert 0 < sum(told) < path.stat().st_size / 2


def test_codes_stay_what_they_are_while_the_vocabulary_grows(tmp_path):
    path = tmp_path / "data.txt"
    write_text(path, SEQUENCES)
    batches = list(read_files(path, batch_size=1))
    grown = [batch.vocabulary for batch in batches]
    assert grown[-1] == ("b", "a", "c", "é", "zz")
    assert all(grown[-1][: len(labels)] == labels for labels in grown)


# -- text ------------------------------------------------------------------------------------


def test_blank_lines_are_skipped_and_told(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("\na b\n\n  \t\nc d\n\n")
    told = []
    assert labels_in(path, notice=told.append) == [["a", "b"], ["c", "d"]]
    assert told == [f"{path}: 4 blank lines were skipped"]


@pytest.mark.parametrize("size", BATCHES)
def test_blank_lines_are_counted_in_batches_of_any_size(tmp_path, size):
    path = tmp_path / "data.txt"
    path.write_text("aaaa bb c\n\nd\n\n\nee ff gggggggg\n ")
    told = []
    found = labels_in(path, batch_size=size, notice=told.append)
    assert found == [["aaaa", "bb", "c"], ["d"], ["ee", "ff", "gggggggg"]]
    assert told == [f"{path}: 4 blank lines were skipped"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a b\r\nc\r\n", [["a", "b"], ["c"]]),
        (b"\xef\xbb\xbfa b\n", [["a", "b"]]),
        (b"a\tb  c", [["a", "b", "c"]]),
        ("a\u00a0b c".encode(), [["a\u00a0b", "c"]]),
    ],
    ids=["CRLF", "byte order mark", "tabs, no newline", "no-break space"],
)
def test_what_text_may_look_like(tmp_path, content, expected):
    path = tmp_path / "data.txt"
    path.write_bytes(content)
    assert labels_in(path) == expected


def test_text_has_no_columns(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a b\n")
    assert fails(reading(path, Layout(column="x"))) == (
        f"{path}: text has no columns, so column has no meaning; if this is CSV, JSON Lines or "
        "Parquet, give the format"
    )


# -- symbols ---------------------------------------------------------------------------------


def test_a_known_vocabulary_gives_its_codes(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("b a b\n")
    (batch,) = read_files(path, vocabulary=["a", "b", "c"])
    assert batch.symbols.tolist() == [1, 0, 1]
    assert batch.vocabulary == ("a", "b", "c")
    assert batch.n_symbols == 3


@pytest.mark.parametrize("size", BATCHES)
def test_an_unseen_symbol_is_named_with_its_place(tmp_path, size):
    path = tmp_path / "data.txt"
    path.write_text("a b\n\nb x a\n")
    assert fails(reading(path, vocabulary=["a", "b"], batch_size=size)) == (
        f"{path}, line 3: unseen symbol 'x': the vocabulary has 2 labels, 'a' among them; with "
        "unseen='rare' a fitted model takes it for a symbol that hardly ever comes, with "
        "unseen='missing' it is a missing one"
    )


def test_an_unseen_symbol_may_be_a_missing_observation(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a x b\n7 1\n")
    (batch,) = read_files(path, vocabulary=["a", "b", 7], unseen="missing")
    assert batch.symbols.tolist() == [0, -1, 1, 2, -1]
    path.write_text("0 5 1\n")
    (batch,) = read_files(path, n_symbols=2, unseen="missing")
    assert batch.symbols.tolist() == [0, -1, 1]


def test_a_vocabulary_in_which_files_cannot_tell_two_labels_apart(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("7\n")
    assert fails(reading(path, vocabulary=["7", "a", 7])) == (
        "the vocabulary has 7 as a number and as a string: files do not tell the two apart"
    )


def test_numbers_are_labels_unless_they_are_said_to_be_codes(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("10 9 10\n")
    assert count_files(path).pairs.vocabulary == ("10", "9")
    counts = count_files(path, integers=True).pairs
    assert counts.vocabulary is None
    assert counts.n_symbols == 11
    assert counts[1][10, 9] == 1


@pytest.mark.parametrize(
    ("symbol", "complaint"),
    [
        ("-2", "symbol -2 is negative: codes are whole numbers from 0"),
        ("1.5", "symbol '1.5' is not a whole number"),
        ("word", "symbol 'word' is not a whole number"),
        ("1_0", "symbol '1_0' is not a whole number"),
        ("9999999999", "symbol 9999999999 is too large: codes are whole numbers from 0"),
    ],
)
def test_what_is_no_code_is_named_with_its_place(tmp_path, symbol, complaint):
    path = tmp_path / "data.txt"
    path.write_text(f"0 1\n1 {symbol} 0\n")
    assert fails(reading(path, integers=True)) == f"{path}, line 2: {complaint}"


def test_codes_above_the_given_number_of_symbols(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 1.0 2\n")
    assert [batch.symbols.tolist() for batch in read_files(path, n_symbols=3)] == [[0, 1, 2]]
    assert fails(reading(path, n_symbols=2)) == (
        f"{path}, line 1: unseen symbol 2: symbols are whole numbers from 0 to 1; with "
        "unseen='rare' a fitted model takes it for a symbol that hardly ever comes, with "
        "unseen='missing' it is a missing one"
    )


# -- CSV -------------------------------------------------------------------------------------


def table(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_column_of_numbers_is_one_sequence_with_empty_cells_missing(tmp_path):
    path = table(tmp_path, "a,b\n1,x\n3,y\n,z\n2,x\n")
    (batch,) = read_files(path, Layout(column="a"), integers=True)
    assert batch.symbols.tolist() == [1, 3, -1, 2]
    assert len(batch) == 1


def test_each_row_says_what_a_cell_is(tmp_path):
    path = table(tmp_path, "a\nNew York\nRome\n")
    assert labels_in(path) == [["New", "York"], ["Rome"]]
    assert labels_in(path, Layout(each_row="symbol")) == [["New York", "Rome"]]
    path = table(tmp_path, "a\n1\n2\n")
    assert labels_in(path) == [["1", "2"]]
    assert labels_in(path, Layout(each_row="sequence")) == [["1"], ["2"]]


def test_empty_cells_that_would_be_sequences_are_skipped_and_told(tmp_path):
    path = table(tmp_path, 'a,b\n1,x y\n2,\n3,"  "\n4,z\n')
    told = []
    assert labels_in(path, Layout(column="b"), notice=told.append) == [["x", "y"], ["z"]]
    assert told == [f"{path}: 2 blank rows were skipped"]


def test_rows_of_a_group_in_the_order_of_a_column(tmp_path):
    """As numbers: 9 comes before 10."""
    path = table(tmp_path, "u,t,x\nv,10,c\nw,1,a\nv,9,b\nw,2,\nv,8,a\n")
    layout = Layout(column="x", group="u", order="t")
    assert labels_in(path, layout) == [["a", "b", "c"], ["a", None]]
    assert labels_in(path, Layout(column="x", group="u")) == [["c", "b", "a"], ["a", None]]
    assert labels_in(path, Layout(column="x", order="t")) == [["a", None, "a", "b", "c"]]


def test_a_group_goes_across_files(tmp_path):
    first = table(tmp_path, "u,t,x\n1,2,b\n2,1,a\n", "a.csv")
    second = tmp_path / "b.parquet"
    pq.write_table(pa.table({"u": [2, 1], "t": [5, 1], "x": ["c", "z"]}), second)
    layout = Layout(column="x", group="u", order="t")
    assert labels_in([first, second], layout) == [["z", "b"], ["a", "c"]]


def test_a_grouped_sequence_is_named_by_its_first_row(tmp_path):
    first = table(tmp_path, "u,t,x\nv,1,0\nw,5,1\nv,2,0\n", "a.csv")
    second = table(tmp_path, "u,t,x\nv,3,0\nw,4,0\n", "b.csv")
    layout = Layout(column="x", group="u", order="t")
    (batch,) = read_files([first, second], layout, integers=True)
    assert batch.labels() == [[0, 0, 0], [0, 1]]
    assert batch.place_of(2) == f"{first}, line 2, position 2"
    assert batch.place_of(4) == f"{second}, line 3, position 1"


def test_a_column_may_be_its_own_order(tmp_path):
    path = table(tmp_path, "t\n10\n9\n11\n")
    assert labels_in(path, Layout(column="t", order="t")) == [["9", "10", "11"]]


def test_an_order_of_several_types_is_refused(tmp_path):
    first = table(tmp_path, "t,x\n1,b\n", "a.csv")
    second = table(tmp_path, "t,x\nlate,b\n", "b.csv")
    assert fails(reading([first, second], Layout(column="x", order="t"))) == (
        f"the order column has different types in the files: int64 in {first}, string in {second}"
    )


def test_the_only_column_besides_the_keys_needs_no_name(tmp_path):
    path = table(tmp_path, "u,x\nv,a\nv,b\n")
    assert labels_in(path, Layout(group="u")) == [["a", "b"]]


@pytest.mark.parametrize(
    ("text", "layout", "complaint"),
    [
        ("a,b\n1,2\n", Layout(column="c"), ": there is no column 'c'; there are 'a', 'b'"),
        (
            "a,b\n1,2\n",
            Layout("csv", "a", group="z"),
            ": there is no column 'z'; there are 'a', 'b'",
        ),
        ("a,b\n1,2\n", Layout(), ": say which column to read (column): there are 'a', 'b'"),
        ("a,a\n1,2\n", Layout(column="a"), ": there are 2 columns 'a'"),
        ("a,b\n\n1,2,3\n", Layout(), ": say which column to read (column): there are 'a', 'b'"),
        ("a,b\n\n1,2,3\n", Layout(column="a"), ", line 3: 3 cells where the header has 2: '1,2,3'"),
        ("u,x\nv,a\n,b\n", Layout(group="u"), ", line 3: the group column 'u' is empty"),
        ("t,x\n1,a\n,b\n", Layout(order="t"), ", line 3: the order column 't' is empty"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(tmp_path, text, layout, complaint):
    path = table(tmp_path, text)
    assert fails(reading(path, layout)) == f"{path}{complaint}"


@pytest.mark.parametrize("text", ["", "a,b\n"])
@pytest.mark.parametrize("layout", [Layout(column="a"), Layout(column="a", group="b")])
def test_a_table_without_rows_is_told(tmp_path, text, layout):
    path = table(tmp_path, text)
    assert fails(reading(path, layout)) == f"there is no data: no symbol in {path}"


def test_the_line_of_a_row_below_cells_of_several_lines(tmp_path):
    path = table(tmp_path, 'note,x\n"two\nlines",1\n\n"and\nthree\nmore",2\nplain,-7\n')
    for layout in (Layout(column="x"), Layout(column="x", group="note")):
        assert fails(reading(path, layout, integers=True)) == (
            f"{path}, line 8: symbol -7 is negative: codes are whole numbers from 0"
        )


def test_cells_of_several_lines_may_lie_anywhere_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 64)
    path = table(tmp_path, "note,x\n" + '"a\nb,\nc",7 8\n' * 50)
    assert labels_in(path, Layout(column="x")) == [["7", "8"]] * 50


def test_standard_input_has_rows_but_no_lines_to_find_again(tmp_path, monkeypatch):
    feed(monkeypatch, b"x\n1\n-7\n")
    assert fails(reading("-", Layout(format="csv"), integers=True)) == (
        "standard input, row 2: symbol -7 is negative: codes are whole numbers from 0"
    )


@pytest.mark.parametrize("block", [40, 10_000])
def test_blocks_of_a_table_make_no_difference(tmp_path, monkeypatch, block):
    monkeypatch.setattr(delimited, "BLOCK", block)
    path = table(tmp_path, "i,x\n" + "".join(f"{i},{i % 7}\n" for i in range(200)))
    expected = count_pairs([i % 7 for i in range(200)])
    assert count_files(path, Layout(column="x"), integers=True).pairs == expected


def test_a_column_that_stops_being_numbers_is_not_guessed_about(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 8)
    path = table(tmp_path, "x\n1\n2\n3\n4\nnew york\n")
    message = fails(reading(path))
    assert re.fullmatch(
        rf"{re.escape(str(path))}, line \d or below: the column 'x' held numbers, and no longer "
        "does; say by each_row whether a cell is a symbol or a sequence",
        message,
    )
    assert labels_in(path, Layout(each_row="symbol")) == [["1", "2", "3", "4", "new york"]]


def test_a_row_longer_than_a_block_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 32)
    path = table(tmp_path, "x,y\n" + "a" * 100 + ",b\n")
    assert fails(reading(path, Layout(column="x"))) == (f"{path}: a row is longer than 32 bytes")


# -- JSON Lines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "layout", "expected"),
    [
        ('["a", null, 1]\n[2.0]\n', Layout(), [["a", None, "1"], ["2"]]),
        ('"a b"\n\n" c "\n', Layout(), [["a", "b"], ["c"]]),
        ('{"w": "a b"}\n{"w": ["c"]}\n{"w": null}\n', Layout(), [["a", "b"], ["c"]]),
        ('{"w": 1}\n{"w": null}\n{"w": 0}\n', Layout(), [["1", None, "0"]]),
        ('{"w": 1}\n{"w": 0}\n', Layout(each_row="sequence"), [["1"], ["0"]]),
        ('{"w": "a b"}\n{"w": ""}\n', Layout(each_row="symbol"), [["a b", None]]),
        (
            '{"w": "a", "g": 1}\n{"w": "b", "g": 2}\n{"w": "c", "g": 1}\n',
            Layout(group="g"),
            [["a", "c"], ["b"]],
        ),
        ('{"w": "a", "t": 10}\n{"w": "b", "t": 9}\n', Layout(order="t"), [["b", "a"]]),
    ],
)
def test_what_a_line_of_json_may_be(tmp_path, text, layout, expected):
    path = table(tmp_path, text, "data.jsonl")
    for size in BATCHES:
        assert labels_in(path, layout, batch_size=size) == expected


NO_SYMBOL = "is no symbol: symbols are text or whole numbers"
NOT_WHOLE = "is not whole: symbols are labels or whole numbers"
CHOOSE = "say by each_row whether a line is a symbol or a sequence"


@pytest.mark.parametrize(
    ("text", "layout", "complaint"),
    [
        ('[1]\n["b"\n', Layout(), ", line 2: not JSON: Expecting ',' delimiter (character 5)"),
        ('{"w": "a"}\n', Layout(column="x"), ", line 1: there is no 'x'; there are 'w'"),
        ('{"w": 1}\n{}\n', Layout(column="w"), ", line 2: there is no 'w'; there are none"),
        ('{"w": 1, "v": 1}\n', Layout(), ": say which column to read (column): there are 'w', 'v'"),
        ('["a"]\n', Layout(column="w"), ", line 1: there is no 'w': not an object"),
        ('["a", true]\n', Layout(), f", line 1: true {NO_SYMBOL}"),
        ('["a", ["b"]]\n', Layout(), f', line 1: ["b"] {NO_SYMBOL}'),
        ("[1.5]\n", Layout(), f", line 1: symbol 1.5 {NOT_WHOLE}"),
        ('["a"]\n7\n', Layout(), f", line 2: 7 where lines before it hold a sequence; {CHOOSE}"),
        ('7\n["a"]\n', Layout(), f', line 2: ["a"] {NO_SYMBOL}'),
        ('["a", "\\ud800"]\n', Layout(), ", line 1: '\\ud800' is not Unicode text"),
        ('["a"]\n', Layout(group="g"), ", line 1: not an object with names and values"),
        ('{"w": 1, "g": null}\n', Layout(group="g"), ", line 1: the group column 'g' is empty"),
        (
            '{"w": 1, "t": 1}\n{"w": 1, "t": "x"}\n',
            Layout(order="t"),
            ": 't' is of several types, which have no order",
        ),
        ("[" * 100_000, Layout(), ", line 1: nested too deeply"),
    ],
)
def test_what_is_wrong_with_json_is_told(tmp_path, text, layout, complaint):
    path = table(tmp_path, text, "data.jsonl")
    assert fails(reading(path, layout)) == f"{path}{complaint}"


@pytest.mark.parametrize("text", ["", "\n\n"])
@pytest.mark.parametrize("layout", [Layout(), Layout(group="g")])
def test_json_without_a_symbol_is_told(tmp_path, text, layout):
    path = table(tmp_path, text, "data.jsonl")
    assert fails(reading(path, layout)) == f"there is no data: no symbol in {path}"


# -- Parquet ---------------------------------------------------------------------------------


def parquet(tmp_path, **columns):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("cells", "layout", "expected"),
    [
        ([["a", None], [], None, ["b"]], Layout(), [["a", None], ["b"]]),
        ([[3, 1], [2]], Layout(), [["3", "1"], ["2"]]),
        (["a b", None, " ", "c"], Layout(), [["a", "b"], ["c"]]),
        (["a b", None, "c"], Layout(each_row="symbol"), [["a b", None, "c"]]),
        ([4, None, 5], Layout(), [["4", None, "5"]]),
        ([4, None, 5], Layout(each_row="sequence"), [["4"], ["5"]]),
        ([4.0, float("nan"), 5.0], Layout(), [["4", None, "5"]]),
        (pa.array(["a", "b"]).dictionary_encode(), Layout(each_row="symbol"), [["a", "b"]]),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), Layout(), [["1", "2"], ["3", "4"]]),
        (pa.array([["x"]], pa.large_list(pa.large_string())), Layout(), [["x"]]),
    ],
)
def test_what_a_parquet_column_may_hold(tmp_path, cells, layout, expected):
    path = parquet(tmp_path, x=cells)
    for size in BATCHES:
        assert labels_in(path, layout, batch_size=size) == expected


WITH_LISTS = "symbols are text, whole numbers, or lists of them"
NO_LISTS = "symbols are text or whole numbers"
LISTS_OF_LISTS = "list<element: list<element: string>>"


@pytest.mark.parametrize(
    ("cells", "each_row", "complaint"),
    [
        ([True], None, f": the column 'x' is of type bool: {WITH_LISTS}"),
        ([["a"]], "symbol", f": the column 'x' is of type list<element: string>: {NO_LISTS}"),
        ([[["a"]]], None, f": the column 'x' is of type {LISTS_OF_LISTS}: {WITH_LISTS}"),
        ([1.5], None, f", row 1: symbol 1.5 {NOT_WHOLE}"),
        ([], "symbol", f": the column 'x' is of type null: {NO_LISTS}"),
    ],
)
def test_what_is_wrong_with_a_parquet_column_is_told(tmp_path, cells, each_row, complaint):
    path = parquet(tmp_path, x=cells)
    assert fails(reading(path, Layout(each_row=each_row))) == f"{path}{complaint}"


def test_a_parquet_file_without_the_column_names_those_there_are(tmp_path):
    path = parquet(tmp_path, x=[1], z=["a"])
    assert fails(reading(path, Layout(column="y"))) == (
        f"{path}: there is no column 'y'; there are 'x', 'z'"
    )


def test_a_parquet_column_of_lists_is_not_a_symbol_a_row(tmp_path):
    path = parquet(tmp_path, x=[["a"]], g=[1])
    assert fails(reading(path, Layout(column="x", group="g"))) == (
        f"{path}: the column 'x' is of type list<element: string>: {NO_LISTS}"
    )


def test_negative_numbers_in_parquet_are_named_with_their_row(tmp_path):
    path = parquet(tmp_path, x=[3, 1, -4])
    assert fails(reading(path, integers=True, batch_size=2)) == (
        f"{path}, row 3: symbol -4 is negative: codes are whole numbers from 0"
    )


@pytest.mark.parametrize(
    "cells", [[f"{i} " + "word " * 99 for i in range(100)], [["a", "b"] * 50] * 100]
)
def test_long_cells_of_parquet_come_a_few_at_a_time(tmp_path, cells):
    path = parquet(tmp_path, x=cells)
    pieces = read_pieces(find_sources(path), Layout(), Coder(), 500)
    sizes = [len(piece.codes) for piece in pieces]
    assert sum(sizes) == 10_000
    assert max(sizes) <= 5_000


def test_what_is_no_parquet_file_is_told(tmp_path):
    path = parquet(tmp_path, x=[1, 2])
    path.write_bytes(path.read_bytes()[:-10])
    assert fails(reading(path)).startswith(f"{path}: not a Parquet file, or damaged (")


# -- where bytes come from -------------------------------------------------------------------


def feed(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input_is_text_unless_said_otherwise(monkeypatch, tmp_path):
    feed(monkeypatch, b"a b\nc\n")
    assert labels_in("-") == [["a", "b"], ["c"]]
    feed(monkeypatch, b'["a b"]\n')
    assert labels_in("-", Layout(format="jsonl")) == [["a b"]]
    path = parquet(tmp_path, x=[["a"], ["b"]])
    feed(monkeypatch, path.read_bytes())
    assert labels_in("-", Layout(format="parquet")) == [["a"], ["b"]]


def test_a_folder_means_the_files_in_it_in_order(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("b b\n")
    (tmp_path / "a").write_text("a a\n")
    (tmp_path / "sub" / "c.txt.gz").write_bytes(gzip.compress(b"c c\n"))
    (tmp_path / ".hidden").write_text("no\n")
    (tmp_path / "_SUCCESS").write_text("no\n")
    assert labels_in(tmp_path) == [["a", "a"], ["b", "b"], ["c", "c"]]


def test_a_sequence_does_not_go_on_in_the_next_file(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("x y")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert labels_in(paths) == [["x", "y"], ["x", "y"]]
    assert count_files(paths).pairs[1].tolist() == [[0, 2], [0, 0]]


def test_an_empty_file_among_others_is_told(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "b.txt").write_text("")
    told = []
    assert labels_in(tmp_path, notice=told.append) == [["a"]]
    assert told == [f"{tmp_path / 'b.txt'}: there is no symbol in it"]


def test_gzip_of_several_parts_is_read_to_its_end(tmp_path):
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(b"a b\n") + gzip.compress(b"c\n"))
    assert labels_in(path) == [["a", "b"], ["c"]]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_was_cut_short_is_told(tmp_path, suffix):
    rng = np.random.default_rng(0)
    path = tmp_path / "data.txt"
    path.write_text(lines([rng.integers(0, 10**9, 20_000).astype(str).tolist()]))
    path = compress(path, suffix)
    path.write_bytes(path.read_bytes()[:-100])
    assert fails(reading(path)) == (
        f"{path}: the file is damaged or cut short (Truncated compressed stream)"
    )


def test_a_file_that_is_not_what_its_name_says(tmp_path):
    path = tmp_path / "data.txt.gz"
    path.write_text("a b\n")
    assert fails(reading(path)).startswith(f"{path}: the file is damaged or cut short (zlib")


@pytest.mark.parametrize("name", ["data.txt", "data.csv", "data.jsonl"])
def test_bytes_that_are_not_utf8_are_told_with_their_line(tmp_path, name):
    path = tmp_path / name
    start = {"data.txt": b"a\n", "data.csv": b"x\n", "data.jsonl": b'["a"]\n'}[name]
    path.write_bytes(start + b'"b"\n' * 2 + b"caf\xe9\n")
    assert fails(reading(path)) == f"{path}: line 4 is not UTF-8 text: it has the byte 0xe9"


def test_the_line_of_bad_bytes_is_right_beyond_the_first_buffer(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes("é\n".encode() * 700_001 + b"\xc3\n")
    assert fails(reading(path)) == f"{path}: line 700002 is not UTF-8 text: it has the byte 0xc3"


def test_a_file_that_ends_within_a_character(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"a\nb \xc3")
    assert fails(reading(path)) == f"{path}: line 2 is not UTF-8 text: it has the byte 0xc3"


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "empty").mkdir()
    assert fails(reading(tmp_path / "no.txt")) == f"{tmp_path / 'no.txt'}: there is no such file"
    assert (
        fails(reading(tmp_path / "empty"))
        == f"{tmp_path / 'empty'}: there is no file in this folder"
    )
    assert fails(reading([])) == "there is no input: give a file, a folder, or - for standard input"
    assert fails(reading(["-", "-"])) == "standard input can be read only once: give - once"


def test_no_data_at_all_names_the_files(tmp_path):
    for name in "abcde":
        (tmp_path / name).write_text("\n")
    first = ", ".join(str(tmp_path / name) for name in "abc")
    assert fails(lambda: count_files(tmp_path)) == (
        f"there is no data: no symbol in {first} and 2 more files"
    )


@pytest.mark.parametrize("name", FORMATS)
def test_progress_adds_up_to_the_bytes_of_the_files(tmp_path, name):
    path = tmp_path / name
    layout = FORMATS[name](path, SEQUENCES * 50)
    told = []
    count_files([path, path], layout, batch_size=20, progress=told.append)
    assert sum(told) == n_bytes([path, path]) == 2 * path.stat().st_size
    assert min(told) >= 0


def test_the_size_of_standard_input_is_not_known():
    assert n_bytes("-") is None


# -- counting --------------------------------------------------------------------------------


def test_no_pair_or_no_triple_at_all_is_told(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a b\nc\n")
    assert fails(lambda: count_files(path, lags=(1, 2))) == (
        "there is no pair at lag 2: none of the 2 sequences has two observations 2 apart"
    )
    assert fails(lambda: count_files(path, triples=True)) == (
        "there is no triple: none of the 2 sequences has three observations in a row"
    )


def test_wrong_arguments_are_told_before_anything_is_read(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"\xff")
    assert fails(lambda: count_files(path, lags=(0,))) == "a lag is a whole number from 1, not 0"
    assert fails(lambda: count_files(path, batch_size=0)) == "batch_size must be at least 1, not 0"
    assert (
        fails(lambda: read_files(path, unseen="x"))
        == "unseen must be 'error' or 'missing', not 'x'"
    )
    assert fails(lambda: read_files(path, vocabulary=["a"], integers=True)) == (
        "symbols have a vocabulary, or are whole numbers: give one of the two"
    )
    assert fails(lambda: Layout(each_row="x")) == "each_row must be 'symbol' or 'sequence', not 'x'"
    assert fails(lambda: Layout(group="g", each_row="sequence")) == (
        "with group or order each row is a symbol, not a sequence"
    )
    assert fails(lambda: read_files(path, Layout(format="xls"))) == (
        "format must be one of text, csv, tsv, jsonl, parquet, not 'xls'"
    )


@pytest.mark.parametrize("vocabulary", [None, ["a", "b", "c"]])
def test_a_model_names_the_file_and_line_of_what_it_cannot_have_produced(tmp_path, vocabulary):
    hmm = HMM([1, 0], [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5, 0], [0.5, 0.5, 0]], vocabulary)
    words = vocabulary or ["0", "1", "2"]
    path = tmp_path / "data.txt"
    path.write_text(lines([words[:2], [words[0], words[2]]]))
    options = {"n_symbols": 3} if vocabulary is None else {"vocabulary": vocabulary}
    for size in (1, 100):
        *_, last = read_files(path, batch_size=size, **options)
        with pytest.raises(ImpossibleObservation, match=r"data\.txt, line 2, position 1 has prob"):
            hmm.decode(last)


def test_sequences_of_files_are_sequences(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 1 1\n")
    (batch,) = read_files(path, integers=True)
    assert isinstance(batch, Sequences)
    assert repr(batch) == "Sequences(1 sequences, 3 observations, 2 symbols)"
    assert Sequences.of(batch, n_symbols=5).n_symbols == 5
    assert count_pairs(batch) == count_pairs([0, 1, 1])
