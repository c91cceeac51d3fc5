"""Values check themselves when they are made, and nobody else can change them."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import Documents, Sequences, StorageError, count_pairs, storage
from cohmm._validation import SHOWN_LENGTH, as_amount, as_floats, listed, own, shown
from cohmm.data.documents import Names
from cohmm.data.vocabulary import as_vocabulary

WORDS = ("rain", "sun")


def sequences(symbols, offsets=None, n_symbols=2, vocabulary=None) -> Sequences:
    return Sequences(
        symbols, [0, len(symbols)] if offsets is None else offsets, n_symbols, vocabulary
    )


# -- what is wrong is refused ----------------------------------------------------------------


def test_codes_beyond_the_symbols_are_refused_before_they_are_counted():
    with pytest.raises(ValueError, match="symbol 1000000 at position 0: symbols are from 0 to 1"):
        count_pairs(Sequences(np.array([10**6] * 500, np.int32), np.array([0, 500]), 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 2], [0, 3], 2), "symbol 2 at position 2: symbols are from 0 to 1"),
        (([0, -2], [0, 2], 2), "symbol -2 at position 1"),
        ((np.array([0, 2**63], np.uint64), [0, 2], 2), "symbol 9223372036854775808 at position 1"),
        (([0, 2**32], [0, 2], 2), "symbol 4294967296 at position 1"),
        (([0.0, 1.0], [0, 2], 2), "symbols must be a list of whole numbers"),
        (([True, False], [0, 2], 2), "symbols must be a list of whole numbers"),
        (([[0, 1]], [0, 2], 2), "symbols must be a list of whole numbers"),
        (([0, [1]], [0, 2], 2), "symbols must be a list of whole numbers"),
        ((np.ma.array([0, 1], mask=[0, 1]), [0, 2], 2), "must not be masked"),
        (([], [0], 2), "there is no data"),
        (([0, 1], [0, 3], 2), "offsets must rise from 0 to 2"),
        (([0, 1], [1, 2], 2), "they are from 1 to 2"),
        (([0, 1], [], 2), "they are empty"),
        (([0, 1], [0, 1, 1, 2], 2), "sequence 1 goes from 1 to 1, and every sequence needs"),
        (([0, 1], [0, 2, 1, 2], 2), "sequence 1 goes from 2 to 1"),
        (([0, 1], [0, 2**62, -(2**62), 2], 2), "sequence 1 goes from"),
        (([0, 1], np.array([0, 2**63, 2], np.uint64), 2), "sequence 1 goes from"),
        (([0, 1], [0.0, 2.0], 2), "offsets must be a list of whole numbers"),
        (([0, 1], [0, 2], 0), "n_symbols must be a whole number from 1, not 0"),
        (([0, 1], [0, 2], 2.0), "n_symbols must be a whole number from 1, not 2.0"),
        (([0, 1], [0, 2], True), "n_symbols must be a whole number from 1, not True"),
        (([0, 1], [0, 2], 2**31), "at most 2,147,483,647 symbols"),
        (([0, 1], [0, 2], 2, ("a",)), "1 labels for 2 symbols"),
        (([0, 1], [0, 2], 2, ("a", "a")), "the label 'a' twice"),
        (([0, 1], [0, 2], 2, ("a", 1.5)), "the one at 1 is 1.5"),
        (([0, 1], [0, 2], 2, "ab"), "not the string 'ab'"),
    ],
)
def test_wrong_sequences(arguments, message):
    with pytest.raises(ValueError, match=message):
        Sequences(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0, 2], WORDS), "the words are from 0 to 2: the vocabulary has 2"),
        (([0, -1], [0, 2], WORDS), "the words are from -1 to 0"),
        (([0, 1], np.array([0, 2**63, 2], np.uint64), WORDS), "document 1 goes from"),
        (([0, 1], [0, 2], ("rain", "\ud800")), r"strings; the one at 1 is '\\ud800'"),
        (([0, 1], [0, 2], WORDS, None, -1), "n_unknown must be a whole number from 0, not -1"),
        (([0, 1], [0, 2], WORDS, None, 0.5), "n_unknown must be a whole number from 0, not 0.5"),
    ],
)
def test_wrong_documents(arguments, message):
    with pytest.raises(ValueError, match=message):
        Documents(*arguments)


@pytest.mark.parametrize(
    ("which", "rows", "message"),
    [
        ([0.0], [0], "which must be a list of whole numbers"),
        ([0], ["1"], "rows must be a list of whole numbers"),
        ([0], [-1], "rows must be from 0"),
        ([-1], [0], "1 origins, from 0"),
    ],
)
def test_wrong_names(which, rows, message):
    with pytest.raises(ValueError, match=message):
        Names(("a.txt",), which, rows)


@given(
    st.lists(st.integers(-2, 4), max_size=4),
    st.lists(st.integers(-1, 5), max_size=4),
    st.integers(0, 4),
)
def test_what_is_accepted_is_right(symbols, offsets, n_symbols):
    right = (
        n_symbols >= 1
        and symbols
        and all(-1 <= symbol < n_symbols for symbol in symbols)
        and offsets[:1] == [0]
        and offsets[-1:] == [len(symbols)]
        and offsets == sorted(set(offsets))
    )
    if right:
        data = Sequences(symbols, offsets, n_symbols)
        assert (data.symbols.dtype, data.offsets.dtype) == (np.int32, np.int64)
        assert data.symbols.tolist() == symbols
        assert data.offsets.tolist() == offsets
    else:
        with pytest.raises(ValueError, match=r"."):
            Sequences(symbols, offsets, n_symbols)


def test_what_is_loaded_is_checked(tmp_path):
    path = tmp_path / "documents.cohmm"
    arrays = {"symbols": np.array([0, 5], np.int32), "offsets": np.array([0, 2])}
    storage.save(path, "documents", {"vocabulary": WORDS, "n_unknown": 0}, arrays)
    with pytest.raises(StorageError, match="is damaged: the words are from 0 to 5"):
        Documents.load(path)


# -- what is no number, no list, no amount ----------------------------------------------------


@pytest.mark.parametrize(
    "values",
    ["ab", ["a"], [1j], np.array([1j]), [10**400], [[1], [1, 2]], {}, [{}],
     np.ma.array([0.5, 0.5], mask=[0, 1]), np.array(["1"]), np.array([1], "M8[s]")],
    ids=lambda values: type(values).__name__,
)  # fmt: skip
def test_what_is_no_array_of_numbers(values):
    with pytest.raises(ValueError, match="weights must be an array of numbers, not "):
        as_floats("weights", values)


def test_numbers_of_any_kind_are_copied():
    mine = np.array([0.5, 0.25])
    assert not np.shares_memory(as_floats("weights", mine), mine)
    for values in (
        [1, 2],
        (True, 2),
        np.array([1, 2], object),
        np.array([1, 2], ">i2"),
        range(1, 3),
    ):
        assert as_floats("weights", values).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "value",
    [0, -1, np.nan, np.inf, None, "5", b"5", 1j, np.complex64(1), 10**400, [5], {}, np.ma.masked],
)
def test_what_is_no_amount(value):
    with pytest.raises(ValueError, match="n_pairs must be finite and above 0, not "):
        as_amount("n_pairs", value)


@pytest.mark.parametrize("wrong", [3, None, 2.5, object()])
def test_what_is_no_list(wrong):
    with pytest.raises(ValueError, match="a vocabulary must be a list, not "):
        Sequences.of([0], vocabulary=wrong) if wrong is not None else as_vocabulary(wrong)
    with pytest.raises(ValueError, match="the vocabulary must be a list, not "):
        Documents([0], [0, 1], wrong)
    with pytest.raises(ValueError, match="origins must be a list, not "):
        Names(wrong, [0], [0])


# -- nobody else can change a value ----------------------------------------------------------


def test_the_callers_arrays_are_copied_and_stay_writable():
    symbols, offsets = np.array([0, 1, 1], np.int32), np.array([0, 3])
    for data in (sequences(symbols, offsets), Documents(symbols, offsets, WORDS)):
        symbols[0] = 1
        offsets[1] = 2
        assert (data.symbols[0], data.offsets[1]) == (0, 3)
        symbols[0], offsets[1] = 0, 3
        for array in (data.symbols, data.offsets):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    view = symbols.view()
    view.setflags(write=False)
    assert not np.shares_memory(sequences(view).symbols, symbols)  # it can be changed still


def test_what_nobody_can_write_to_is_not_copied():
    data = sequences([0, 1, 1])
    assert sequences(data.symbols).symbols is data.symbols
    assert np.shares_memory(sequences(data.symbols[1:]).symbols, data.symbols)
    assert own(data.symbols, np.int64) is not data.symbols


def test_names_share_nothing():
    which, rows = np.array([0, 0], np.int32), np.array([1, 2])
    names = Names(("a.txt, line",), which, rows)
    rows[1] = 7
    assert names[1] == "a.txt, line 2"


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_copies_are_frozen_as_well(make):
    data = make(sequences([0, 1, 1], [0, 1, 3], vocabulary=WORDS))
    assert data.labels() == [["rain"], ["sun", "sun"]]
    assert not data.symbols.flags.writeable
    documents = Documents([0, 1], [0, 2], WORDS, Names.of(["a"]), 3)
    again = make(documents)
    assert again == documents
    assert (again.n_unknown, again.names[0]) == (3, "a")
    assert not again.offsets.flags.writeable


# -- what messages show ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["x" * 10**5, b"x" * 10**5, 10**5000, list(range(10**5)), np.arange(10**5), {"a" * 10**5: 1}],
    ids=["str", "bytes", "int", "list", "array", "dict"],
)
def test_values_in_messages_are_short(value):
    assert len(shown(value)) <= SHOWN_LENGTH
    assert "\n" not in shown(value)


def test_short_values_are_shown_as_they_are():
    for value in ("a  b", 12, 2.5, None, [1, 2], ("a", None), True):
        assert shown(value) == repr(value)
    assert listed([]) == "none"
    assert listed(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
