"""Every kind of input, and every wrong one."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cohmm import Sequences, count_pairs
from cohmm.data.vocabulary import TextWarning
from tests.strategies import sequences_of, with_gaps


def lists_of(data: Sequences) -> list[list[int]]:
    """The codes, -1 for a missing one."""
    cuts = data.offsets[1:-1]
    return [codes.tolist() for codes in np.split(data.symbols, cuts)]


# -- numbers --------------------------------------------------------------------------------

FLAT = [0, 2, 1, 2, 0]

ONE_SEQUENCE = {
    "list": FLAT,
    "tuple": tuple(FLAT),
    "generator": (symbol for symbol in FLAT),
    "range of an array": np.array(FLAT),
    "hmmlearn": np.array(FLAT)[:, None],
    "int8": np.array(FLAT, np.int8),
    "uint64": np.array(FLAT, np.uint64),
    "float": np.array(FLAT, float),
    "float32": np.array(FLAT, np.float32),
    "objects": np.array(FLAT, object),
    "big-endian": np.array(FLAT, ">i4"),
    "strided": np.repeat(FLAT, 2)[::2],
    "numpy scalars": [np.int16(symbol) for symbol in FLAT],
    "pandas": pd.Series(FLAT, index=list("vwxyz")),
    "pandas index": pd.Index(FLAT),
    "pandas nullable": pd.Series(FLAT, dtype="Int64"),
    "pandas arrow": pd.Series(FLAT, dtype=pd.ArrowDtype(pa.int32())),
    "pandas categorical": pd.Series(FLAT).astype("category"),
    "pandas frame": pd.DataFrame({"symbol": FLAT}),
    "polars": pl.Series(FLAT),
    "polars frame": pl.DataFrame({"symbol": FLAT}),
    "polars lazy frame": pl.LazyFrame({"symbol": FLAT}),
    "pyarrow": pa.array(FLAT),
    "pyarrow chunked": pa.chunked_array([FLAT[:2], [], FLAT[2:]], pa.int64()),
    "pyarrow dictionary": pa.array(FLAT).dictionary_encode(),
    "pyarrow table": pa.table({"symbol": FLAT}),
}


@pytest.mark.parametrize("kind", ONE_SEQUENCE)
def test_one_sequence_of_numbers(kind):
    data = Sequences.of(ONE_SEQUENCE[kind])
    assert lists_of(data) == [FLAT]
    assert data.symbols.dtype == np.int32
    assert data.offsets.dtype == np.int64
    assert data.n_symbols == 3
    assert data.vocabulary is None


@pytest.mark.parametrize("kind", [k for k in ONE_SEQUENCE if k != "generator"])
@pytest.mark.parametrize(
    "lengths", [[2, 3], (2, 3), np.array([2, 3], np.uint8), pd.Series([2, 3])], ids=type
)
def test_several_by_lengths(kind, lengths):
    data = Sequences.of(ONE_SEQUENCE[kind], lengths)
    assert lists_of(data) == [FLAT[:2], FLAT[2:]]
    assert data.lengths.tolist() == [2, 3]


def test_lengths_may_be_an_iterator():
    assert lists_of(Sequences.of(FLAT, iter([2, 3]))) == [FLAT[:2], FLAT[2:]]


def test_a_tuple_is_a_list():
    assert lists_of(Sequences.of(([0, 1, 0], [1, 2]))) == [[0, 1, 0], [1, 2]]  # not lengths
    assert lists_of(Sequences.of((np.array([0, 1, 0]), np.array([2, 1])))) == [[0, 1, 0], [2, 1]]
    assert lists_of(Sequences.of((["a", "b"], ["a"]))) == [[0, 1], [0]]


SEVERAL = {
    "lists": [FLAT[:2], FLAT[2:]],
    "tuples": (tuple(FLAT[:2]), tuple(FLAT[2:])),
    "arrays": [np.array(FLAT[:2]), np.array(FLAT[2:])],
    "hmmlearn arrays": [np.array(FLAT[:2])[:, None], np.array(FLAT[2:])[:, None]],
    "lists and arrays": [FLAT[:2], np.array(FLAT[2:])],
    "array of arrays": np.array([np.array(FLAT[:2]), np.array(FLAT[2:])], object),
    "generator": (piece for piece in (FLAT[:2], FLAT[2:])),
    "generators": [iter(FLAT[:2]), iter(FLAT[2:])],
    "generator of generators": (iter(piece) for piece in (FLAT[:2], FLAT[2:])),
    "pandas": [pd.Series(FLAT[:2]), pd.Series(FLAT[2:])],
    "polars": [pl.Series(FLAT[:2]), pl.Series(FLAT[2:])],
    "pyarrow": [pa.array(FLAT[:2]), pa.chunked_array([FLAT[2:3], FLAT[3:]])],
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_several_sequences_of_numbers(kind):
    assert lists_of(Sequences.of(SEVERAL[kind])) == [FLAT[:2], FLAT[2:]]


SHORT = {
    "lists": [[0], [1], [2]],
    "tuples": ((0,), (1,), (2,)),
    "arrays": [np.array([0]), np.array([1]), np.array([2])],
    "columns": [pd.Series([0]), pa.array([1]), pl.Series([2])],
    "pandas lists": pd.Series([[0], [1], [2]]),
    "polars lists": pl.Series([[0], [1], [2]]),
    "pyarrow lists": pa.array([[0], [1], [2]]),
}


@pytest.mark.parametrize("kind", SHORT)
def test_one_element_lists_are_sequences_and_with_lengths_hmmlearns_column(kind):
    assert lists_of(Sequences.of(SHORT[kind])) == [[0], [1], [2]]
    assert lists_of(Sequences.of(SHORT[kind], [1, 1, 1])) == [[0], [1], [2]]
    assert lists_of(Sequences.of(SHORT[kind], [2, 1])) == [[0, 1], [2]]


@pytest.mark.parametrize("kind", [int, object])
def test_an_array_of_one_column_is_one_sequence(kind):
    column = np.array([[0], [1], [2]], kind)
    assert lists_of(Sequences.of(column)) == [[0, 1, 2]]
    assert lists_of(Sequences.of(column, [2, 1])) == [[0, 1], [2]]


CELLS = [["a", "b"], ["b"], ["c", None]]
LIST_COLUMNS = {
    "pandas": pd.Series(CELLS),
    "arrays in pandas": pd.Series([np.array(cell, object) for cell in CELLS]),
    "arrow in pandas": pd.Series(CELLS, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
    "a frame": pd.DataFrame({"events": CELLS}),
    "polars": pl.Series(CELLS),
    "a lazy frame": pl.LazyFrame({"events": CELLS}),
    "pyarrow": pa.array(CELLS),
    "large": pa.array(CELLS, pa.large_list(pa.large_string())),
    "chunks": pa.chunked_array([CELLS[:1], CELLS[1:]]),
    "categories": pa.array(CELLS, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
}


@pytest.mark.parametrize("kind", LIST_COLUMNS)
def test_cells_that_are_lists_are_sequences(kind):
    data = Sequences.of(LIST_COLUMNS[kind])
    assert data.labels() == CELLS
    assert data.vocabulary == ("a", "b", "c")
    assert Sequences.of(LIST_COLUMNS[kind], [2, 1, 2]).labels() == CELLS


def test_lists_of_one_length_and_numbers_in_cells_are_sequences():
    assert lists_of(Sequences.of(pl.Series([[1, 2], [0, 1]], dtype=pl.Array(pl.Int8, 2)))) == [
        [1, 2],
        [0, 1],
    ]
    assert lists_of(Sequences.of(pd.Series([[1, 2, 0], [0]]))) == [[1, 2, 0], [0]]
    mixed = Sequences.of(pd.Series([["a", 1], [1]]), vocabulary=["a", 1])
    assert mixed.labels() == [["a", 1], [1]]


@pytest.mark.parametrize(
    ("X", "lengths", "message"),
    [
        (pd.Series([[0, 1], []]), None, "sequence 1 is empty: every sequence needs a symbol"),
        (pa.array([[0, 1], None]), None, "sequence 1 is empty"),
        (pl.Series([[0, 1], [1]]), [1, 2], "which have other lengths: leave out lengths"),
        (pa.array([[[0], [1]]]), None, "a cell of X is a list of sequences itself"),
        (pd.Series([["a", 1.5], ["b"]]), None, "symbol 1.5 at position 1 is a number among"),
        (pd.Series([["a"], "b"]), None, "X mixes sequences and symbols: item 1"),
        (pa.array([[None, None], [None]]), None, None),
    ],
)
def test_what_is_wrong_with_cells_is_said(X, lengths, message):
    if message is None:  # missing observations alone
        assert Sequences.of(X, lengths).labels() == [[None, None], [None]]
        return
    with pytest.raises(ValueError, match=message):
        Sequences.of(X, lengths)


def test_lists_of_which_one_is_longer_are_sequences():
    assert lists_of(Sequences.of([[0], [1], [2, 0]])) == [[0], [1], [2, 0]]
    assert lists_of(Sequences.of([[[0], [1]], [[2], [0], [1]]])) == [[0, 1], [2, 0, 1]]
    assert lists_of(Sequences.of([[1]])) == [[1]]


def test_truth_values_are_zero_and_one():
    for X in (
        [True, False],
        np.array([True, False]),
        pa.array([True, False]),
        pl.Series([True, False]),
    ):
        assert lists_of(Sequences.of(X)) == [[1, 0]]


def test_the_users_array_is_left_alone():
    mine = np.array(FLAT, np.int32)
    data = Sequences.of(mine)
    mine[0] = 1
    assert data.symbols[0] == 0
    for array in (data.symbols, data.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# -- missing --------------------------------------------------------------------------------

GAPS = [0, None, 1, None]

WITH_GAPS = {
    "list": GAPS,
    "NaN in a list": [0, float("nan"), 1, np.nan],
    "numpy NaN in a list": [0, np.float32("nan"), 1, np.float64("nan")],
    "masked in a list": [0, np.ma.masked, 1, np.ma.masked],
    "pandas NA in a list": [0, pd.NA, 1, pd.NaT],
    "objects": np.array(GAPS, object),
    "array with NaN": np.array([0, np.nan, 1, np.nan]),
    "masked array": np.ma.array([0, 7, 1, -9], mask=[0, 1, 0, 1]),
    "masked column": np.ma.array([[0], [7], [1], [-9]], mask=[[0], [1], [0], [1]]),
    "masked floats": np.ma.array([0, np.nan, 1, 0.5], mask=[0, 0, 0, 1]),
    "masked fraction": np.ma.array([0, 0.25, 1, np.inf], mask=[0, 1, 0, 1]),
    "pandas": pd.Series([0, np.nan, 1, np.nan]),
    "pandas objects": pd.Series([0, None, 1, None], dtype=object),
    "pandas nullable": pd.Series(GAPS, dtype="Int64"),
    "pandas boolean": pd.Series([False, None, True, None], dtype="boolean"),
    "pandas arrow": pd.Series(GAPS, dtype=pd.ArrowDtype(pa.uint64())),
    "pandas categorical": pd.Series(GAPS, dtype="Int64").astype("category"),
    "polars": pl.Series(GAPS),
    "polars NaN": pl.Series([0.0, float("nan"), 1.0, None]),
    "polars boolean": pl.Series([False, None, True, None]),
    "pyarrow": pa.array(GAPS),
    "pyarrow unsigned": pa.array(GAPS, pa.uint64()),
    "pyarrow floats": pa.array([0.0, float("nan"), 1.0, None]),
    "pyarrow chunked": pa.chunked_array([GAPS[:1], GAPS[1:]]),
}


@pytest.mark.parametrize("kind", WITH_GAPS)
def test_missing_numbers(kind):
    data = Sequences.of(WITH_GAPS[kind])
    assert lists_of(data) == [[0, -1, 1, -1]]
    assert data.n_symbols == 2
    assert data.labels() == [GAPS]


LABELS = ["b", None, "a", "b"]

WITH_LABEL_GAPS = {
    "list": LABELS,
    "generator": (label for label in LABELS),
    "column": np.array(LABELS, object)[:, None],
    "NaN": ["b", float("nan"), "a", "b"],
    "objects": np.array(LABELS, object),
    "masked strings": np.ma.array(["b", "x", "a", "b"], mask=[0, 1, 0, 0]),
    "masked objects": np.ma.array(["b", "x", "a", "b"], mask=[0, 1, 0, 0], dtype=object),
    "pandas": pd.Series(LABELS),
    "pandas objects": pd.Series(LABELS, dtype=object),
    "pandas categorical": pd.Series(LABELS, dtype=pd.CategoricalDtype(["x", "b", "a"])),
    "polars": pl.Series(LABELS),
    "polars categorical": pl.Series(LABELS, dtype=pl.Categorical),
    "polars enum": pl.Series(LABELS, dtype=pl.Enum(["x", "b", "a"])),
    "pyarrow": pa.array(LABELS),
    "pyarrow large": pa.array(LABELS, pa.large_string()),
    "pyarrow view": pa.array(LABELS, pa.string_view()),
    "pyarrow chunked": pa.chunked_array([LABELS[:1], LABELS[1:]]),
    "pyarrow dictionary": pa.array(LABELS).dictionary_encode(),
}


@pytest.mark.parametrize("kind", WITH_LABEL_GAPS)
def test_missing_labels(kind):
    data = Sequences.of(WITH_LABEL_GAPS[kind])
    assert data.vocabulary == ("a", "b")
    assert data.n_symbols == 2
    assert data.labels() == [LABELS]


def test_arrays_of_strings():
    for X in (np.array(["b", "a"]), np.array([["b"], ["a"]]), [np.array(["b", "a"])]):
        assert Sequences.of(X).labels() == [["b", "a"]]


def test_several_sequences_with_gaps_of_all_kinds():
    pieces = [
        [0, None],
        np.ma.array([9, 1], mask=[1, 0]),
        np.array([np.nan, 0.0]),
        pd.Series([None, 1], dtype="Int64"),
        pl.Series([None, 0]),
    ]
    expected = [[0, None], [None, 1], [None, 0], [None, 1], [None, 0]]
    assert Sequences.of(pieces).labels() == expected
    assert Sequences.of(pieces[1:3]).labels() == expected[1:3]


def test_nothing_but_gaps():
    for X in ([None, float("nan")], pa.nulls(2), pl.Series([None, None]), np.full(2, np.nan)):
        data = Sequences.of(X)
        assert lists_of(data) == [[-1, -1]]
        assert data.n_symbols == 1
    with pytest.raises(ValueError, match="every observation is missing"):
        Sequences.of(pa.nulls(2, pa.string()))


@given(sequences_of(4))
def test_round_trip(sequences):
    data = Sequences.of(with_gaps(sequences))
    assert lists_of(data) == sequences
    assert data.labels() == with_gaps(sequences)
    again = Sequences.of(data.labels())
    assert lists_of(again) == sequences
    flat = np.ma.masked_less(np.concatenate(sequences), 0)
    assert lists_of(Sequences.of(flat, data.lengths)) == sequences


@given(st.lists(st.lists(st.text("abé ", max_size=2), min_size=1), min_size=1))
def test_round_trip_of_labels(sequences):
    data = Sequences.of(sequences)
    assert data.labels() == sequences
    assert data.vocabulary == tuple(sorted({label for piece in sequences for label in piece}))


# -- frames ---------------------------------------------------------------------------------

ROWS = {
    "user": ["u", "v", "u", "w", "v"],
    "time": [5, 1, 2, 0, 9],
    "page": ["home", "cart", None, "home", "pay"],
}
FRAMES = {
    "pandas": pd.DataFrame(ROWS),
    "pandas categories": pd.DataFrame(ROWS).astype(
        {"user": pd.CategoricalDtype(["x", "w", "v", "u"]), "page": "category"}
    ),
    "polars": pl.DataFrame(ROWS),
    "polars lazy": pl.LazyFrame(ROWS),
    "polars categories": pl.DataFrame(ROWS).with_columns(
        pl.col("user").cast(pl.Categorical), pl.col("page").cast(pl.Categorical)
    ),
    "pyarrow": pa.table(ROWS),
    "pyarrow in chunks": pa.concat_tables([pa.table(ROWS).slice(0, 2), pa.table(ROWS).slice(2)]),
    "pyarrow batch": pa.table(ROWS).to_batches()[0],
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind):
    frame = FRAMES[kind]
    assert Sequences.from_frame(frame, "page").labels() == [ROWS["page"]]
    grouped = Sequences.from_frame(frame, "page", group="user")
    assert grouped.labels() == [["home", None], ["cart", "pay"], ["home"]]
    both = Sequences.from_frame(frame, "page", group="user", order="time")
    assert both.labels() == [[None, "home"], ["cart", "pay"], ["home"]]
    ordered = Sequences.from_frame(frame, "page", order="time")
    assert ordered.labels() == [["home", "cart", None, "home", "pay"]]
    known = Sequences.from_frame(
        frame, "page", "user", vocabulary=["home", "cart"], unseen="missing"
    )
    assert known.vocabulary == ("home", "cart")
    assert known.labels() == [["home", None], ["cart", None], ["home"]]


def test_order_is_stable_and_may_be_any_sortable_type():
    days = [datetime.date(2024, 1, day) for day in (3, 1, 3, 2)]
    frame = pd.DataFrame({"day": days, "symbol": [0, 1, 2, 3]})
    assert lists_of(Sequences.from_frame(frame, "symbol", order="day")) == [[1, 3, 0, 2]]
    sizes = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame({"size": ["high", "low", "middle"], "symbol": [0, 1, 2]})
    frame["size"] = frame["size"].astype(sizes)
    assert lists_of(Sequences.from_frame(frame, "symbol", order="size")) == [[1, 2, 0]]


def test_group_may_be_a_number_and_order_the_column_itself():
    frame = pa.table({"user": [7, 3, 7], "symbol": [2, 0, 1]})
    assert lists_of(Sequences.from_frame(frame, "symbol", group="user")) == [[2, 1], [0]]
    assert lists_of(Sequences.from_frame(frame, "symbol", order="symbol")) == [[0, 1, 2]]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_that_is_not_there(kind):
    for names in (("pgae",), ("page", "usr"), ("page", "user", "tiem")):
        with pytest.raises(
            ValueError, match=f"no column '{names[-1]}'; there are 'user', 'time', 'page"
        ):
            Sequences.from_frame(FRAMES[kind], *names)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_empty_cells_of_group_and_order(make):
    frame = make({"user": ["u", None], "time": [1, None], "page": ["a", "b"]})
    with pytest.raises(ValueError, match="'user' is empty in row 1"):
        Sequences.from_frame(frame, "page", group="user")
    with pytest.raises(ValueError, match="'time' is empty in row"):
        Sequences.from_frame(frame, "page", order="time")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([datetime.date(2024, 1, 1)]), "whole numbers or strings, not date32"),
        (pa.array([b"a"]), "whole numbers or strings, not binary"),
        (pd.Series([1, "a"], dtype=object), "'a'"),
        (pd.Series(["a", 1], dtype=object), "int"),
        (pd.Series([object()]), "object"),
    ],
)
def test_columns_of_the_wrong_type(column, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of(column)


def test_what_is_no_frame():
    with pytest.raises(ValueError, match="a frame is of pandas, polars or pyarrow, not a list"):
        Sequences.from_frame([1, 2], "page")
    with pytest.raises(ValueError, match="a frame of 2 columns"):
        Sequences.of(pd.DataFrame({"a": [1], "b": [2]}))


# -- vocabularies ---------------------------------------------------------------------------


def test_a_known_vocabulary_keeps_its_order():
    data = Sequences.of(["b", "a"], vocabulary=["z", "b", "a"])
    assert lists_of(data) == [[1, 2]]
    assert data.vocabulary == ("z", "b", "a")
    assert data.n_symbols == 3


def test_numbers_may_be_labels():
    data = Sequences.of([30, 10, None, 30], vocabulary=[10, 20, 30])
    assert lists_of(data) == [[2, 0, -1, 2]]
    assert data.labels() == [[30, 10, None, 30]]
    same = Sequences.of([2, 0, 1], vocabulary=[0, 1, 2])
    assert same.vocabulary == (0, 1, 2)
    assert Sequences.of([0, None], vocabulary=[-1, 0]).labels() == [[0, None]]


def test_a_huge_number_takes_no_huge_table():
    with pytest.raises(ValueError, match=r"unseen symbol 2000000000 .sequence 0, position 1"):
        Sequences.of([5, 2_000_000_000], vocabulary=[5, 6])
    data = Sequences.of([5, None, 2_000_000_000], vocabulary=[2_000_000_000, 5])
    assert lists_of(data) == [[1, -1, 0]]


def test_sequences_in_other_terms():
    data = Sequences.of([["a", "b"], ["c", None]])
    assert Sequences.of(data) is data
    turned = Sequences.of(data, vocabulary=["c", "b", "a"])
    assert turned.labels() == data.labels()
    assert lists_of(turned) == [[2, 1], [0, -1]]
    more = Sequences.of(Sequences.of([0, 1]), n_symbols=7)
    assert more.n_symbols == 7
    with pytest.raises(ValueError, match="leave out lengths"):
        Sequences.of(data, [2, 2])


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([0, 1, 4], {"n_symbols": 3}, "unseen symbol 4 .sequence 0, position 2.*from 0 to 2"),
        ([[0, 1], [0, 3]], {"n_symbols": 3}, "unseen symbol 3 .sequence 1, position 1"),
        (["a", "q"], {"vocabulary": ["a"]}, "unseen symbol 'q' .sequence 0, position 1.*1 labels"),
        ([["a"], ["a", "q"]], {"vocabulary": ["a"]}, "unseen symbol 'q' .sequence 1, position 1"),
        ([0], {"vocabulary": ["a"]}, "unseen symbol 0 .*'a' among them"),
        ([7], {"vocabulary": [5]}, "unseen symbol 7"),
    ],
)
def test_unseen_symbols(X, options, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of(X, **options)
    data = Sequences.of(X, **options, unseen="missing")
    assert (data.symbols == -1).sum() == 1
    assert data.symbols.max(initial=-1) < data.n_symbols


def test_labels_where_numbers_are_expected():
    with pytest.raises(ValueError, match="whole numbers from 0 to 2, not labels such as 'a'"):
        Sequences.of(["b", "a"], n_symbols=3)


# -- wrong input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0, -3, 1], "symbol -3 at position 1 is negative"),
        (np.array([[0], [-1]]), "symbol -1 at position 1 is negative"),
        (pl.Series([0, -2]), "symbol -2 at position 1 is negative"),
        ([0, 1.5], r"symbol 1\.5 at position 1 is not whole"),
        (np.array([0.0, 0.25]), r"symbol 0\.25 at position 1 is not whole"),
        (np.array([0.0, np.inf]), "symbol inf at position 1 is too large"),
        (np.array([-np.inf]), "symbol -inf at position 0 is negative"),
        ([0, 2**31], "symbol 2147483648 at position 1 is too large"),
        ([0, 10**30], f"symbol {10**30} at position 1 is too large"),
        ([-(10**30)], f"symbol -{10**30} at position 0 is negative"),
        (np.array([2**63], np.uint64), f"symbol {2**63} at position 0 is too large"),
        ([[0, 1], [2, -5]], "symbol -5 at position 3 is negative"),
        ([1, "a"], "symbol 1 at position 0 is a number among labels"),
        (["a", 1.0], r"symbol 1\.0 at position 1 is a number among labels"),
        ([np.array([0, 1]), np.array(["a"])], "symbol 0 at position 0 is a number among labels"),
        (["a", b"b"], "symbol b'b' at position 1 is neither"),
        ([1j], "symbol 1j at position 0 is neither"),
        (np.array([1j]), "[Cc]omplex"),
        (sparse.csr_array(np.eye(2)), "sparse matrix"),
        (np.array([b"a"]), "symbol b'a' at position 0 is neither"),
        (["a", datetime.date(2024, 1, 1)], "cannot read sequences from date|mixes sequences"),
        ("walk", "'walk' is a single string"),
        (b"walk", "single string"),
        (5, "cannot read sequences from int"),
        (None, "cannot read sequences from NoneType"),
        ([0, [1]], "mixes sequences and symbols: item 0 is 0"),
        ([[0], 1], "mixes sequences and symbols: item 1 is 1"),
        ([np.array(1), np.array(0)], "cannot read sequences from ndarray"),
        ([[[0, 1], [2]]], "item 0 of X is a list of sequences itself"),
        (([0], [[0, 1], [2]]), "item 1 of X is a list of sequences itself"),
        (np.zeros((2, 2), int), r"not \(2, 2\)"),
        (np.zeros((2, 1, 1), int), r"not \(2, 1, 1\)"),
        (np.array(3), r"not \(\)"),
    ],
)
def test_wrong_symbols_are_named_with_their_place(X, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of(X)


@pytest.mark.parametrize(
    "X",
    [
        [],
        (),
        np.array([], int),
        np.empty((0, 1)),
        pd.Series([], dtype=int),
        pl.Series([], dtype=pl.String),
        pa.array([], pa.string()),
        pa.chunked_array([], pa.int64()),
        iter([]),
    ],
)
def test_no_data(X):
    with pytest.raises(ValueError, match="there is no data"):
        Sequences.of(X)


@pytest.mark.parametrize(
    ("X", "lengths", "message"),
    [
        ([0, 1, 0], [1, 1], "lengths sum to 2, but X has 3 symbols"),
        ([0, 1, 0], [2, 2], "lengths sum to 4, but X has 3 symbols"),
        ([0, 1, 0], [3, 0], "sequence 1 is empty"),
        ([0, 1, 0], [4, -1], "sequence 1 is of length -1"),
        ([0, 1, 0], [1.5, 1.5], r"lengths must be a list of whole numbers, not \[1.5, 1.5\]"),
        ([0, 1, 0], ["3"], "lengths must be"),
        ([0, 1, 0], [], "lengths sum to 0, but X has 3 symbols"),
        ([0, 1, 0], [True, True, True], "lengths must be"),
        ([0, 1, 0], [[1], [1, 1]], "lengths must be"),
        ([0, 1, 0], [2**70], "lengths must be"),
        ([0, 1, 0, 1, 0], [2**62] * 4 + [5], "lengths sum to 18,446,744,073,709,551,621, but X"),
        (
            [0, 1, 0],
            np.array([2**63, 2**63, 3], np.uint64),
            "lengths sum to 18,446,744,073,709,551",
        ),
        ([0, 1, 0], [[3]], "lengths must be"),
        ([[0, 1], [0]], [1, 2], "leave out lengths"),
        (np.zeros((2, 3), int), [3, 4], "row 1 has 3 entries, not 4"),
        (np.zeros((2, 3), int), [6], "2 rows needs 2 lengths"),
        ([[0, 1], []], None, "sequence 1 is empty"),
        ([np.array([], int), np.array([1])], None, "sequence 0 is empty"),
        ([[], []], None, "no data"),
        ([pd.Series([1]), pd.Series([], dtype=int)], None, "sequence 1 is empty"),
    ],
)
def test_wrong_lengths(X, lengths, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of(X, lengths)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unseen": "ignore"}, "'error' or 'missing', not 'ignore'"),
        ({"n_symbols": 0}, "n_symbols must be a whole number from 1, not 0"),
        ({"n_symbols": -1}, "n_symbols must be a whole number from 1, not -1"),
        ({"n_symbols": 2.5}, "n_symbols must be a whole number from 1, not 2.5"),
        ({"vocabulary": []}, "vocabulary is empty"),
        ({"vocabulary": "ab"}, "not the string 'ab'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of([0, 1], **options)


# -- the value ------------------------------------------------------------------------------


def test_sequences_are_a_frozen_collection():
    data = Sequences.of([[0, 1], [2, None, 1]])
    assert len(data) == 2
    assert data[1] == data[-1] == [2, None, 1]
    for wrong in (2, -3):
        with pytest.raises(IndexError, match=f"no sequence {wrong}: there are 2"):
            data[wrong]
    with pytest.raises(AttributeError):
        data.n_symbols = 5
    assert repr(data) == "Sequences(2 sequences, 5 observations, 1 missing, 3 symbols)"
    assert repr(Sequences.of([0])) == "Sequences(1 sequences, 1 observations, 1 symbols)"
    places = [data.place_of(position) for position in range(5)]
    assert places == [f"sequence {s}, position {t}" for s, n in ((0, 2), (1, 3)) for t in range(n)]


# -- symbols that are too large, too long, or no text ------------------------------------------


@pytest.mark.parametrize("values", [FLAT, [0, 2, np.nan, 2, 0]])
def test_half_floats_are_read_without_a_warning(values):
    codes = [-1 if value != value else int(value) for value in values]
    assert lists_of(Sequences.of(np.array(values, np.float16))) == [codes]
    with pytest.raises(ValueError, match="symbol inf at position 0 is too large"):
        Sequences.of(np.array([np.inf], np.float16))


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "g", "i8", "u4", "u8"])
@pytest.mark.parametrize("number", [2**31 - 1, 2**31, 2**31 + 2**20])
@pytest.mark.parametrize("held", [np.asarray, list, np.ma.asarray, pa.array])
def test_numbers_beyond_the_largest_code_are_refused_whatever_holds_them(kind, number, held):
    if kind == "g" and held is pa.array:
        pytest.skip("no type of Arrow")
    with np.errstate(over="ignore"):
        values = np.array([1, number, 0] * 10, kind)
    with pytest.raises(ValueError, match="at position 1 is too large"):
        Sequences.of(held(values))
    if np.isfinite(values[1]):
        named = Sequences.of(held(values), vocabulary=[0, 1, int(values[1])])
        assert named.symbols[:3].tolist() == [1, 2, 0]
    else:
        with pytest.raises(ValueError, match="symbol inf at position 1"):
            Sequences.of(held(values), vocabulary=[0, 1])


def test_numbers_that_make_a_vocabulary_far_larger_than_the_data_are_refused():
    with pytest.raises(ValueError, match="200,000,001 symbols of 2 observations: if they are na"):
        Sequences.of([0, 200_000_000])
    assert Sequences.of([0, 200_000_000], n_symbols=200_000_001).n_symbols == 200_000_001
    named = Sequences.of([0, 200_000_000], vocabulary=[0, 200_000_000])
    assert named.labels() == [[0, 200_000_000]]
    assert Sequences.of([0, 10**6]).n_symbols == 10**6 + 1
    assert Sequences.of(np.arange(0, 4 * 10**6, 50)).n_symbols == 4 * 10**6 - 49


def test_what_is_no_text_is_named_with_its_place():
    with pytest.raises(ValueError, match=r"symbol '\\ud800' at position 1 is not Unicode text"):
        Sequences.of(["a", "\ud800"])
    with pytest.raises(ValueError, match=r"the one at 0 is '\\ud800', which is not Unicode text"):
        Sequences.of(["a"], vocabulary=["\ud800"])


LONG = "x" * 30_000


@pytest.mark.parametrize(
    ("X", "options"),
    [
        ([0, 1], {"lengths": LONG}),
        ([0, 1], {"lengths": [1.5] * 30_000}),
        ([LONG], {"vocabulary": ["a"]}),
        (["a"], {"vocabulary": [LONG]}),
        (["a"], {"vocabulary": [LONG, LONG]}),
        (["a"], {"vocabulary": LONG}),
        ([LONG, 1], {}),
        (LONG, {}),
        ([0, 10**5000], {}),
        ([0, 10**5000], {"vocabulary": [0, 1]}),
        (["a"], {"vocabulary": [10**5000]}),
        ([[0], LONG], {}),
        ([0], {"n_symbols": LONG}),
        ([0], {"unseen": LONG}),
    ],
)
def test_messages_are_short_however_long_the_value(X, options):
    with pytest.raises(ValueError, match=r"^[^\n]{20,300}$"):
        Sequences.of(X, **options)


def test_a_frame_of_many_columns_lists_some():
    frame = pa.table({f"column {n}": [0] for n in range(10_000)})
    with pytest.raises(ValueError, match=r"'column 7' and 9,992 more$"):
        Sequences.from_frame(frame, "x")


# -- numbers as labels -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "vocabulary", "expected"),
    [
        ([-1, 1, -1], [-1, 1], [-1, 1, -1]),
        ([10**10, 5, None], [10**10, 5], [10**10, 5, None]),
        ([2**63, -1], [2**63, -1], [2**63, -1]),
        ([1, "1", "a"], ["1", 1, "a"], [1, "1", "a"]),
        (np.array([-(2**63), 2**63 - 1]), [2**63 - 1, -(2**63)], [-(2**63), 2**63 - 1]),
        (np.array([2**64 - 1, 0], np.uint64), [0, 2**64 - 1], [2**64 - 1, 0]),
        (np.array([-3.0, np.nan]), [-3], [-3, None]),
        (pa.array([-3, None, 10**10]), [-3, 10**10], [-3, None, 10**10]),
        (pd.Series([-3, 10**10]), [-3, 10**10], [-3, 10**10]),
        (np.ma.array([-3, 7], mask=[0, 1]), [-3], [-3, None]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_of_a_vocabulary_may_be_any(X, vocabulary, expected):
    data = Sequences.of(X, vocabulary=vocabulary)
    assert data.labels() == [expected]
    assert data.vocabulary == tuple(vocabulary)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([-1, 1.5], "symbol 1.5 at position 1 is not whole"),
        (np.array([-1, 1.5]), "symbol 1.5 at position 1 is not whole"),
        ([-1, np.inf], "symbol inf at position 1 is too large"),
        (np.array([-1, np.inf]), "symbol inf at position 1 is too large"),
        ([-1, -2], "unseen symbol -2 .sequence 0, position 1"),
        (np.array([-1, -2]), "unseen symbol -2 .sequence 0, position 1"),
        ([-1, "x"], "unseen symbol 'x'"),
        ([-1, 1j], "neither number nor string"),
    ],
)
def test_numbers_outside_of_a_vocabulary(X, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of(X, vocabulary=[-1])


@pytest.mark.parametrize("X", [["the sun shines"], ["the sun", "the rain"], ["the sun", "rain"]])
def test_strings_with_blanks_in_a_list_are_labels_with_a_warning(X):
    with pytest.warns(TextWarning, match=r"read as labels of one sequence: \[text.split\(\)"):
        assert lists_of(Sequences.of(X)) != []


def test_labels_with_blanks_that_come_again_are_labels():
    assert Sequences.of(["New York", "Rome", "New York"]).vocabulary == ("New York", "Rome")
    assert Sequences.of([["New York", "Rome"], ["Paris"]]).n_symbols == 3


def test_an_unseen_text_of_known_words_has_a_hint():
    with pytest.raises(ValueError, match=r"unseen symbol 'a b'.*give its words as a list"):
        Sequences.of([["a b"], ["b"]], vocabulary=["a", "b"])
    with pytest.raises(ValueError, match=r"no pair at lag 1.*give its words as a list"):
        count_pairs([["sun rain"], ["rain sun"]])
    with pytest.raises(ValueError, match=r"no pair at lag 1.*array of the shape \(n, 1\)"):
        count_pairs([[0], [1], [2]])
