"""Documents as values: words in order, pairs within documents, parts and files."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cohmm import StorageError, count_pairs
from cohmm.data.documents import Documents, Names
from cohmm.evidence.counting import count_documents

VOCABULARY = ("rain", "snow", "sun")
LISTS = st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=6)


def documents_of(lists, vocabulary=VOCABULARY, **options) -> Documents:
    symbols = [code for codes in lists for code in codes]
    return Documents(symbols, np.cumsum([0, *map(len, lists)]), vocabulary, **options)


SOME = documents_of([[0, 2, 2], [], [1], [2, 0]], names=Names.of(["a", "b", "c", "d"]))


def test_what_there_is():
    assert len(SOME) == 4
    assert SOME.n_words == 6
    assert SOME.n_symbols == 3
    assert SOME.lengths.tolist() == [3, 0, 1, 2]
    assert SOME.symbols.dtype == np.int32
    assert SOME.offsets.dtype == np.int64
    assert SOME.words(0) == ["rain", "sun", "sun"]
    assert SOME.words(-3) == []
    assert list(SOME) == [["rain", "sun", "sun"], [], ["snow"], ["sun", "rain"]]
    assert repr(SOME) == "Documents(4 documents, 1 empty, 6 words, 3 distinct)"
    assert SOME.name_of(1) == "document 1 (b)"
    assert documents_of([[0]]).name_of(0) == "document 0"
    with pytest.raises(IndexError, match="there is no document 4: there are 4"):
        SOME.words(4)


def test_a_value_does_not_change():
    with pytest.raises(FrozenInstanceError):
        SOME.symbols = np.zeros(6, np.int32)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        SOME.symbols[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        SOME.offsets[0] = 1


@given(LISTS)
def test_term_counts(lists):
    counts = documents_of(lists).term_counts()
    assert isinstance(counts, sparse.csr_array)
    assert counts.dtype == np.int64
    assert counts.has_canonical_format
    expected = [[codes.count(word) for word in range(3)] for codes in lists]
    assert counts.toarray().tolist() == expected


def test_term_counts_leave_the_words_in_their_order():
    SOME.term_counts()
    assert SOME.words(3) == ["sun", "rain"]


def pairs_of(lists, lag, weights):
    """The slow and obvious count."""
    counts = np.zeros((3, 3))
    for codes, weight in zip(lists, weights, strict=True):
        for a, b in zip(codes, codes[lag:], strict=False):
            counts[a, b] += weight
    return counts


@given(LISTS, st.data())
def test_pairs_are_within_documents(lists, data):
    documents = documents_of(lists)
    longest = max(map(len, lists))
    lags = (1, 2, 3)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(lists), max_size=len(lists)))
    if longest < 2:
        with pytest.raises(ValueError, match="there is no pair of words at lag 1, 2, 3"):
            count_documents(documents, lags)
        return
    counts = count_documents(documents, lags)
    ones = [1] * len(lists)
    for lag in lags:
        assert counts[lag].dtype == np.int64
        np.testing.assert_array_equal(counts[lag], pairs_of(lists, lag, ones))
    assert counts.vocabulary == VOCABULARY
    assert counts == count_documents(documents, lags)
    flat = [code for codes in lists for code in codes]
    assert counts.symbol_counts.tolist() == np.bincount(flat, minlength=3).tolist()
    starts = [codes[0] for codes in lists if codes]
    assert counts.start_counts.tolist() == np.bincount(starts, minlength=3).tolist()
    if pairs_of(lists, 1, weights).any():
        weighed = count_documents(documents, lags, weights)
        for lag in lags:
            assert weighed[lag].dtype == np.float64
            np.testing.assert_array_equal(weighed[lag], pairs_of(lists, lag, weights))


def test_pairs_of_a_large_vocabulary_are_those_of_the_sequences():
    rng = np.random.default_rng(0)
    lists = [rng.integers(0, 2000, n).tolist() for n in (50, 0, 1, 30, 0)]
    documents = documents_of(lists, tuple(f"w{n}" for n in range(2000)))
    expected = count_pairs([codes for codes in lists if codes], lags=(1, 4), n_symbols=2000)
    found = count_documents(documents, (1, 4))
    for lag in (1, 4):
        assert (found[lag] != expected[lag]).nnz == 0


@pytest.mark.parametrize("n", [3, 2000])
def test_documents_without_a_pair(n):
    vocabulary = tuple(f"w{code}" for code in range(n))
    with pytest.raises(ValueError, match="the longest of 2 documents has 0 words"):
        count_documents(documents_of([[], []], vocabulary))
    with pytest.raises(ValueError, match=r"the longest of 2 documents has 1 word$"):
        count_documents(documents_of([[1], []], vocabulary))
    assert count_documents(documents_of([[1, 2], []], vocabulary), (1, 2)).n_pairs(2) == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"one number per document, \(4,\), not \(2,\)"),
        ([1, -1, 1, 1], r"the weight of document 1 \(b\) is -1.0"),
        ([1, np.nan, 1, 1], "is nan"),
        ([0, 5, 0, 0], "the weights of all documents are zero, but for empty ones"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        count_documents(SOME, 1, weights)


def test_wrong_lags():
    with pytest.raises(ValueError, match="a lag is a whole number from 1, not 0"):
        count_documents(SOME, 0)
    with pytest.raises(ValueError, match="lags is empty"):
        count_documents(SOME, ())


@given(LISTS, st.data())
def test_some_documents(lists, data):
    indices = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8))
    names = Names.of(str(d) for d in range(len(lists)))
    some = documents_of(lists, names=names).select(indices)
    assert some == documents_of([lists[d] for d in indices])
    assert list(some.names) == [str(d) for d in indices]


@pytest.mark.parametrize("wrong", [[4], [-1], [0.5], [[0]], 1, [True, False, True, True]])
def test_documents_that_there_are_not(wrong):
    with pytest.raises(ValueError, match=r"there is no document|by a list of numbers"):
        SOME.select(wrong)


@given(st.integers(2, 40), st.floats(0.1, 0.9), st.integers(0, 5))
def test_two_parts_are_the_whole(n, share, seed):
    documents = Documents(np.arange(n), np.arange(n + 1), tuple(f"{d:02}" for d in range(n)))
    if not 0 < round(share * n) < n:
        with pytest.raises(ValueError, match="a part would be empty"):
            documents.split(share, seed)
        return
    train, test = documents.split(share, seed)
    assert len(train) == round(share * n)
    assert sorted([*train.symbols, *test.symbols]) == list(range(n))
    assert (np.diff(train.symbols) > 0).all()
    assert (np.diff(test.symbols) > 0).all()
    assert train.vocabulary == test.vocabulary == documents.vocabulary
    assert documents.split(share, seed) == (train, test)


def test_the_seed_decides():
    documents = Documents(range(100), range(101), tuple(map(str, range(100))))
    assert documents.split(0.5, 0) != documents.split(0.5, 1)
    old = np.random.RandomState
    assert documents.split(0.5, old(0)) == documents.split(0.5, old(0))
    assert documents.split(0.5, np.random.default_rng(0)) == documents.split(0.5, 0)


@pytest.mark.parametrize("share", [0, 1, -0.5, 2, float("nan")])
def test_wrong_shares(share):
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        SOME.split(share)


@given(LISTS)
def test_documents_with_a_word_as_sequences(lists):
    sequences, indices = documents_of(lists).as_sequences()
    assert indices.tolist() == [d for d, codes in enumerate(lists) if codes]
    assert sequences.lengths.tolist() == [len(codes) for codes in lists if codes]
    assert sequences.labels() == [[VOCABULARY[c] for c in codes] for codes in lists if codes]


def test_equality():
    same = documents_of([[0, 2, 2], [], [1], [2, 0]])
    assert same == SOME  # without names
    assert same != documents_of([[0, 2, 2], [1], [], [2, 0]])
    assert same != documents_of([[2, 0, 2], [], [1], [2, 0]])
    assert same != documents_of([[0, 2, 2], [], [1], [2, 0]], ("a", "b", "c"))
    assert same != "documents"
    with pytest.raises(TypeError, match="unhashable"):
        hash(same)


@given(LISTS, st.booleans(), st.integers(0, 9))
def test_files_give_back_what_was_saved(tmp_path_factory, lists, named, unknown):
    path = tmp_path_factory.mktemp("documents") / "d.cohmm"
    names = Names(("x.txt, line", "y"), np.arange(len(lists)) % 2, np.arange(len(lists)))
    documents = documents_of(lists, names=names if named else None, n_unknown=unknown)
    documents.save(path)
    again = Documents.load(path)
    assert again == documents
    assert again.n_unknown == unknown
    assert (None if again.names is None else list(again.names)) == (list(names) if named else None)


def test_damaged_files(tmp_path):
    path = tmp_path / "d.cohmm"
    SOME.save(path)
    data = path.read_bytes()
    path.write_bytes(data[:-30])
    with pytest.raises(StorageError, match=r"d\.cohmm"):
        Documents.load(path)
    count_documents(SOME).save(path)
    with pytest.raises(StorageError, match="holds a cooccurrence, not a documents"):
        Documents.load(path)


@pytest.mark.parametrize(
    ("symbols", "offsets", "message"),
    [
        ([0, 1], [0, 1], "offsets must rise from 0 to 2"),
        ([0, 1], [1, 2], "offsets must rise"),
        ([0, 1], [0, 3, 2], "offsets must rise"),
        ([0, 1], [], "offsets must rise"),
        ([0, 3], [0, 2], "the words are from 0 to 3: the vocabulary has 3"),
        ([0, -1], [0, 2], "the words are from -1 to 0"),
        ([0, 2**32], [0, 2], "from 0 to 4294967296"),
        ([0.5], [0, 1], "symbols must be a list of whole numbers"),
        ([[0]], [0, 1], "symbols must be"),
        ([0], [[0, 1]], "offsets must be a list of whole numbers"),
    ],
)
def test_what_are_no_documents(symbols, offsets, message):
    with pytest.raises(ValueError, match=message):
        Documents(symbols, offsets, VOCABULARY)


def test_a_vocabulary_is_of_different_words():
    with pytest.raises(ValueError, match="has a word twice"):
        Documents([0], [0, 1], ("rain", "rain"))
    with pytest.raises(ValueError, match="must be of strings"):
        Documents([0], [0, 1], (3, 4))


def test_names_are_one_a_document():
    with pytest.raises(ValueError, match="there are 2 names for 1 documents"):
        documents_of([[0]], names=Names.of(["a", "b"]))
    with pytest.raises(ValueError, match="2 names have 1 rows"):
        Names(("a",), np.array([0, 0]), np.array([0]))
    with pytest.raises(ValueError, match="refer to 1 origins"):
        Names(("a",), np.array([1]), np.array([0]))
    names = Names(("news.txt, line", "b.txt"), np.array([0, 0, 1]), np.array([1, 2, 0]))
    assert list(names) == ["news.txt, line 1", "news.txt, line 2", "b.txt"]
    assert names[1:] == ["news.txt, line 2", "b.txt"]
    assert names[-1] == "b.txt"
    with pytest.raises(IndexError):
        names[3]


def test_some_documents_are_neither_empty_nor_all_of_one_kind() -> None:
    """Every other one is empty, a title or left out: by number, all might be of that kind."""
    documents = documents_of([[0] * 10, [], [1] * 10, [2]] * 50)
    chosen = documents.some(200)
    assert documents.lengths[chosen].tolist() == [10] * 20
    assert {documents.words(d)[0] for d in chosen} == set(VOCABULARY[:2])
    assert (np.diff(chosen) > 0).all()
    assert np.array_equal(chosen, documents.some(200))
    only = np.arange(200) % 4 == 2
    assert (documents.some(200, only) % 4 == 2).all()
    assert len(documents.some(5)) == 1  # none is so short
    assert documents.some(10_000).tolist() == list(range(200))
    assert len(documents_of([[0]] * 30).some(10)) == 30  # none has two words
