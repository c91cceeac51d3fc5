"""Text in: the words of scikit-learn, in their order; and everything that is no text."""

import gzip
import io
import re
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from cohmm.data import read_documents as text_module
from cohmm.data.documents import Documents
from cohmm.data.read_documents import TextWarning, read_documents
from cohmm.data.readers import source
from cohmm.data.tokens import SKLEARN_PATTERN, Runs, as_analyzer
from cohmm.evidence.counting import count_documents

TEXTS = ["The sun, the SUN!", "Rain and sun.", "no rain"]
WORDS = [["the", "sun", "the", "sun"], ["rain", "and", "sun"], ["no", "rain"]]


def quiet(X, **options) -> Documents:
    """Without a word about empty documents."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)
        return read_documents(X, **options)


def oracle(texts, **options):
    """Vocabulary and counts by scikit-learn, or the error it raises."""
    vectorizer = CountVectorizer(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about stop words that the pattern would cut
        try:
            counts = vectorizer.fit_transform(texts)
        except ValueError as error:
            return error
    return tuple(vectorizer.get_feature_names_out()), counts.toarray()


def compare(texts, **options) -> None:
    expected = oracle(texts, **options)
    if isinstance(expected, ValueError):
        with pytest.raises(ValueError, match=r"no word|one at most"):
            quiet(texts, **options)
        return
    documents = quiet(texts, **options)
    assert documents.vocabulary == expected[0]
    np.testing.assert_array_equal(documents.term_counts().toarray(), expected[1])


# -- the same words as scikit-learn ---------------------------------------------------------

SOME_TEXT = st.text(alphabet="ab Ic'_1-éÉßİΣσ\u0301\n\x00\u2028中\U00010400\ud800", max_size=12)
ANY_TEXT = st.text(max_size=12)


@given(st.lists(st.one_of(SOME_TEXT, ANY_TEXT), min_size=1, max_size=6), st.booleans())
def test_tokens_are_those_of_scikit_learn_in_their_order(texts, lowercase):
    analyze = CountVectorizer(lowercase=lowercase).build_analyzer()
    tokens = [analyze(text) for text in texts]
    assume(any(tokens))
    assert list(quiet(texts, lowercase=lowercase, token_pattern=SKLEARN_PATTERN)) == tokens


PATTERNS = [
    *(r"(?u)\b\w\w+\b", r"\w+", r"(?u)\w{3,}", r"[ab]{2,}", r"[a-zA-Z]{3,}", r"[aé中]+"),  # runs
    *(r"[^ ]+", r"\b[ab]{2,}\b", r"(?i)[AB]+", "[\ud7ff-\ue000a]+", r"[ab]{2,3}", r"a(b+)", r"b"),
]


@given(st.lists(st.one_of(SOME_TEXT, ANY_TEXT), min_size=1), st.sampled_from(PATTERNS))
def test_tokens_are_those_of_any_pattern(texts, pattern):
    tokens = [re.findall(pattern, text.lower()) for text in texts]
    assume(any(tokens))
    assume(not any("\ud800" in word for words in tokens for word in words))
    assert list(quiet(texts, token_pattern=pattern)) == tokens


def test_patterns_for_which_there_is_a_kernel():
    assert [isinstance(as_analyzer(None, pattern, True), Runs) for pattern in PATTERNS] == [
        *[True] * 6,
        *[False] * 7,
    ]


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "lowercase": st.booleans(),
        "stop_words": st.sampled_from([None, ["ab", "ba"]]),
        "min_df": st.sampled_from([1, 2, 3, 0.0, 0.3, 0.5, 1.0]),
        "max_df": st.sampled_from([3, 4, 0.5, 0.6, 1.0]),
        "token_pattern": st.sampled_from(PATTERNS),
    },
)


@given(st.lists(st.text("aAb ", max_size=12), min_size=3, max_size=8), OPTIONS)
def test_vocabulary_and_counts_are_those_of_scikit_learn(texts, options):
    compare(texts, **options)


@given(
    st.lists(st.text("abc ", max_size=12), min_size=1, max_size=8),
    st.integers(1, 4),
    st.integers(1, 2),
)
def test_the_most_frequent_words_and_of_equals_the_first(texts, most, min_df):
    expected = oracle(texts, min_df=min_df)
    assume(not isinstance(expected, ValueError))
    totals = expected[1].sum(axis=0).tolist()
    ranked = sorted(zip([-n for n in totals], expected[0], strict=True))[:most]
    found = quiet(texts, max_features=most, min_df=min_df)
    assert found.vocabulary == tuple(sorted(word for _, word in ranked))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_words": "english"},
        {"min_df": 5, "max_df": 0.3},
        {"lowercase": False, "token_pattern": r"[A-Za-z]{3,}"},
    ],
    ids=str,
)
def test_real_text_as_scikit_learn_has_it(reuters_texts, options):
    """With the words that scikit-learn's pattern finds, which has no apostrophes."""
    options = {"token_pattern": SKLEARN_PATTERN, **options}
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform(reuters_texts)
    documents = quiet(reuters_texts, **options)
    assert documents.vocabulary == tuple(vectorizer.get_feature_names_out())
    assert (documents.term_counts() != counts).nnz == 0


@pytest.fixture(scope="module")
def reuters_texts():
    from cohmm.datasets.corpora import reuters21578
    from cohmm.datasets.data_files import MissingData

    try:
        return reuters21578("test").texts
    except MissingData as error:
        pytest.skip(str(error))


def test_words_that_go_leave_no_gap():
    documents = read_documents(["sun and rain and sun", "and rain"], stop_words=["and"])
    assert list(documents) == [["sun", "rain", "sun"], ["rain"]]
    assert count_documents(documents, 1)[1].tolist() == [[0, 1], [1, 0]]
    assert list(quiet(["sun rare rain", "rain sun"], min_df=2)) == [
        ["sun", "rain"],
        ["rain", "sun"],
    ]


def test_an_analyzer_is_any_function():
    assert read_documents(TEXTS, analyzer=str.split).words(0) == ["The", "sun,", "the", "SUN!"]
    assert list(read_documents(TEXTS, analyzer=lambda t: iter(t.split())))[2] == ["no", "rain"]
    theirs = CountVectorizer(stop_words="english", strip_accents="unicode").build_analyzer()
    assert list(read_documents(["Café, the café"], analyzer=theirs)) == [["cafe", "cafe"]]
    assert list(read_documents(TEXTS, analyzer="word")) == WORDS


def test_english_stop_words_are_those_of_scikit_learn():
    documents = read_documents([" ".join(ENGLISH_STOP_WORDS) + " rain"], stop_words="english")
    assert documents.vocabulary == ("rain",)
    assert read_documents([["the", "rain"]], stop_words="english").words(0) == ["rain"]


# -- kinds of X -----------------------------------------------------------------------------

SAME = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "generator": (text for text in TEXTS),
    "array": np.array(TEXTS),
    "object array": np.array(TEXTS, object),
    "pandas": pd.Series(TEXTS, index=[5, 6, 7]),
    "polars": pl.Series(TEXTS),
    "pyarrow": pa.array(TEXTS),
    "pyarrow chunked": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "bytes": [text.encode() for text in TEXTS],
    "token lists": WORDS,
    "token tuples": [tuple(words) for words in WORDS],
    "token arrays": [np.array(words) for words in WORDS],
    "token generators": (iter(words) for words in WORDS),
    "token series": [pd.Series(words) for words in WORDS],
    "texts and tokens": [TEXTS[0], WORDS[1], TEXTS[2].encode()],
}


@pytest.mark.parametrize("kind", SAME)
def test_every_kind_of_list(kind):
    documents = read_documents(SAME[kind])
    assert list(documents) == WORDS
    assert documents.vocabulary == ("and", "no", "rain", "sun", "the")
    assert all(type(word) is str for word in documents.vocabulary)
    assert documents.names is None
    assert documents.n_unknown == 0


def test_lists_of_words_are_left_as_they_are():
    assert read_documents([["A", "New York", "", "x"]]).words(0) == ["A", "New York", "", "x"]


def test_one_document_of_one_word():
    documents = read_documents(["rain"])
    assert list(documents) == [["rain"]]


def test_latin_1():
    assert read_documents(["café".encode("latin-1")], encoding="latin-1").words(0) == ["café"]


def test_small_batches_change_nothing(monkeypatch):
    told = []
    monkeypatch.setattr(text_module, "MOST_DOCUMENTS", 2)
    assert list(read_documents([*TEXTS, *WORDS], progress=told.append)) == [*WORDS, *WORDS]
    assert told == [2, 1, 2, 1]
    monkeypatch.setattr(text_module, "BATCH", 1)
    assert list(read_documents(TEXTS)) == WORDS


# -- a given vocabulary ---------------------------------------------------------------------


def test_words_outside_a_given_vocabulary_are_left_out_and_counted():
    for X in (TEXTS, WORDS):
        documents = read_documents(X, vocabulary=["sun", "snow", "rain"])
        assert documents.vocabulary == ("sun", "snow", "rain")
        assert list(documents) == [["sun", "sun"], ["rain", "sun"], ["rain"]]
        assert documents.n_unknown == 4
        few = quiet(X, vocabulary=["sun", "snow", "rain"], stop_words=["the", "sun"])
        assert list(few) == [[], ["rain"], ["rain"]]
        assert few.n_unknown == 2
        assert few.vocabulary == ("sun", "snow", "rain")


def test_a_given_vocabulary_is_not_pruned():
    documents = quiet(["sun", "rain"], vocabulary=["sun"], min_df=2, max_features=5)
    assert list(documents) == [["sun"], []]


def test_vocabularies_of_scikit_learn():
    assert read_documents(["b a"], vocabulary={"b": 1, "a": 0}, analyzer=str.split).vocabulary == (
        "a",
        "b",
    )
    assert read_documents(["bb"], vocabulary={"bb", "aa"}).vocabulary == ("aa", "bb")
    with pytest.raises(ValueError, match="0 to 1, once each"):
        read_documents(["bb"], vocabulary={"bb": 0, "aa": 2})


def test_documents_stay_or_change_their_vocabulary():
    documents = read_documents(WORDS)
    assert read_documents(documents, min_df=3) is documents
    assert read_documents(documents, vocabulary=documents.vocabulary) is documents
    other = read_documents(documents, vocabulary=["sun", "rain"])
    assert other == read_documents(WORDS, vocabulary=["sun", "rain"])
    assert other.n_unknown == 4
    assert list(documents) == WORDS
    with pytest.warns(TextWarning, match="1 of 3 documents have no word") as caught:
        assert list(read_documents(documents, vocabulary=["sun"])) == [["sun", "sun"], ["sun"], []]
    assert caught[0].filename == __file__


# -- files ----------------------------------------------------------------------------------

LINES = "The sun, the SUN!\nRain and sun.\nno rain\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [1, 7, 2**20])
def test_a_document_a_line(tmp_path, monkeypatch, end, block):
    monkeypatch.setattr(source, "BUFFER", block)
    path = tmp_path / "news.txt"
    for text in (LINES, LINES.rstrip("\n"), "\ufeff" + LINES):
        path.write_bytes(text.replace("\n", end).encode())
        for X in (path, str(path)):
            documents = read_documents(X)
            assert list(documents) == WORDS
            assert documents.names is not None
            assert documents.names[:] == [f"{path}, line {line}" for line in (1, 2, 3)]
    whole = read_documents(path, analyzer=lambda text: [text])  # without mark and line ends
    assert list(whole) == [[line] for line in LINES.splitlines()]


def test_compressed_files(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(LINES.encode()))
    with pa.output_stream(str(tmp_path / "b.txt.zst"), compression="zstd") as file:
        file.write(LINES.encode())
    for name in ("a.txt.gz", "b.txt.zst"):
        assert list(read_documents(tmp_path / name)) == WORDS
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(LINES.encode())[:-9])
    with pytest.raises(ValueError, match=r"c.txt.gz: the file is damaged or cut short"):
        read_documents(tmp_path / "c.txt.gz")


def test_a_document_a_file(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.txt").write_text("Rain\nand sun.")
    (tmp_path / "a.TXT").write_text("The sun,\n\nthe SUN!\n")
    (tmp_path / "deep" / "c.txt.gz").write_bytes(gzip.compress(b"no rain"))
    (tmp_path / "README.md").write_text("not this")
    documents = read_documents(tmp_path)
    assert list(documents) == WORDS
    assert documents.names[2] == str(tmp_path / "deep" / "c.txt.gz")
    some = read_documents([tmp_path / "README.md", tmp_path / "b.txt"])
    assert list(some) == [["not", "this"], ["rain", "and", "sun"]]
    assert some.names[0] == str(tmp_path / "README.md")
    assert read_documents([tmp_path / "README.md", "or that"]).names is None


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES.encode())))
    assert list(read_documents("-")) == WORDS


def test_a_document_a_row(tmp_path):
    frame = pd.DataFrame({"id": [1, 2, 3], "text": TEXTS})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    pq.write_table(pa.table({"id": [1, 2, 3], "text": TEXTS}), tmp_path / "t.parquet")
    for name, unit in (
        ("t.csv", "row"),
        ("t.tsv", "row"),
        ("t.jsonl", "line"),
        ("t.parquet", "row"),
    ):
        documents = read_documents(tmp_path / name, column="text")
        assert list(documents) == WORDS
        assert documents.names[1] == f"{tmp_path / name}, {unit} 2"
    with pytest.raises(ValueError, match="say which column"):
        read_documents(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="there is no column 'body'"):
        read_documents(tmp_path / "t.csv", column="body")
    with pytest.raises(ValueError, match="a document is text, and the column has int64"):
        read_documents(tmp_path / "t.parquet", column="id")
    with pytest.raises(ValueError, match="read as UTF-8, not as latin-1"):
        read_documents(tmp_path / "t.csv", column="text", encoding="latin-1")


def test_an_empty_cell_is_an_empty_document(tmp_path):
    pq.write_table(pa.table({"text": ["rain", None, ""]}), tmp_path / "t.parquet")
    with pytest.warns(TextWarning, match=r"2 of 3 .* document 1 \(.*t.parquet, row 2\)"):
        assert list(read_documents(tmp_path / "t.parquet")) == [["rain"], [], []]


def test_other_encodings(tmp_path):
    path = tmp_path / "news.txt"
    for encoding in ("latin-1", "utf-16", "utf-32"):
        path.write_text("café\nthé glacé\n", encoding=encoding)
        assert list(read_documents(path, encoding=encoding)) == [["café"], ["thé", "glacé"]]


# -- bad input ------------------------------------------------------------------------------


def test_documents_without_a_word_stay_and_are_told_of(tmp_path):
    with pytest.warns(
        TextWarning, match="2 of 4 documents have no word .* first of them document 1"
    ):
        documents = read_documents(["rain", "", "sun", "a ! b"])
    assert list(documents) == [["rain"], [], ["sun"], []]
    path = tmp_path / "news.txt"
    path.write_text("rain\n\nsun\n")
    with pytest.warns(TextWarning, match=r"1 of 3 .*document 1 \(.*news.txt, line 2\)") as caught:
        assert len(read_documents(path)) == 3
    assert caught[0].filename == __file__
    with pytest.warns(TextWarning, match="1 of 1"):
        assert list(read_documents(["snow"], vocabulary=["rain"])) == [[]]


PRUNED = ["sun rain", "sun snow", "sun"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 4}, r"min_df=4 drops the last 3; they are in 1 to 3 of 3 documents, 'sun'"),
        ({"max_df": 0.2}, r"max_df=0.2 drops the last 3; they are in 1 to 3 of 3"),
        ({"min_df": 2, "max_df": 2}, r"min_df=2 drops the last 2; they are in 1 to 1 of 3"),
        ({"stop_words": ["sun", "rain", "snow"]}, r"stop_words drops all of them, 'sun' too"),
    ],
)
def test_a_vocabulary_that_an_option_empties(options, message):
    with pytest.raises(ValueError, match=message):
        read_documents(PRUNED, **options)


def test_no_word_at_all():
    with pytest.raises(ValueError, match="there is no word in 2 documents"):
        read_documents(["", "a"])
    with pytest.raises(ValueError, match="there is no word in 1 documents"):
        read_documents([[]])


@pytest.mark.parametrize("X", [[], (), iter([]), np.array([]), pd.Series([], dtype=str)], ids=type)
def test_no_document(X):
    with pytest.raises(ValueError, match="there is no document"):
        read_documents(X)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("one long text", r"one string is not a list of documents, .* 'one long text'"),
        ("x" * 10_000, "one string"),
        ("nul\0byte", "one string"),
        (b"one text", "one string"),
        (["rain", None], "document 1 is None: a document is a string or a list"),
        (["rain", "sun", float("nan")], "document 2 is nan"),
        (pd.Series(["rain", None], dtype=object), "document 1 is None"),
        (pa.array(["rain", None]), "document 1 is None"),
        ([3], "document 0 is 3"),
        ([{"rain"}], "document 0 is {"),
        ([{"rain": 1}], "document 0 is {'rain': 1}"),
        ([["rain"], ["sun", 3]], "document 1 has the word 3, which is no string"),
        ([["rain"], ["sun", None]], "document 1 has the word None"),
        ([["rain"], [["sun"]]], "document 1 has a word that is no string: unhashable"),
        ([["rain"], ["\ud800"]], r"document 1 has the word '\\ud800', which is not Unicode"),
        ([b"caf\xe9"], "document 0 is not utf-8: byte 3 of it is 0xe9; give encoding='latin-1'"),
        (3, "X is 3: give a list of documents"),
        (None, "X is None"),
        (np.array(["ab", "cd"])[:, None], "give a list of documents"),
        ({"a": "rain"}, "a dict has no order"),
        ({"rain"}, "a set has no order"),
        (pd.DataFrame({"text": ["rain"]}), "X is a table: give the column"),
        (pl.DataFrame({"text": ["rain"]}), "X is a table"),
        (pa.table({"text": ["rain"]}), "X is a table"),
        (sparse.csr_array(np.eye(2)), "the order of words is lost"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_are_no_documents(wrong, message):
    with pytest.raises(ValueError, match=message):
        read_documents(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 0}, "min_df must be a number of documents from 1 .* not 0"),
        ({"min_df": True}, "min_df must"),
        ({"max_df": 1.5}, "max_df must .* not 1.5"),
        ({"max_df": float("nan")}, "max_df must .* not nan"),
        ({"max_df": "all"}, "max_df must .* not 'all'"),
        ({"max_features": 0}, "max_features must be a whole number from 1, not 0"),
        ({"max_features": 2.5}, "max_features must"),
        ({"stop_words": "French"}, "not the string 'French'|stop_words='French'.*need the package"),
        ({"stop_words": ["the", 3]}, "stop_words has 3"),
        ({"stop_words": 3}, "stop_words must be the name of a language or a list of words, not 3"),
        ({"token_pattern": "("}, r"token_pattern '\(' is no pattern"),
        ({"token_pattern": "(a)(b)"}, "has 2 groups"),
        ({"token_pattern": 3}, "token_pattern 3 is no pattern"),
        ({"token_pattern": r"\S+", "analyzer": str.split}, "leave out token_pattern"),
        ({"analyzer": "char"}, "analyzer='char' is not the name of a function, 'module:function'"),
        ({"analyzer": str.lower}, "gives 'the sun, the sun!' for document 0"),
        ({"analyzer": len}, "gives 17 for document 0"),
        ({"encoding": "utf-9"}, "there is no encoding 'utf-9'"),
        ({"vocabulary": []}, "the vocabulary is empty"),
        ({"vocabulary": "rain"}, "not the string 'rain'"),
        ({"vocabulary": ["rain", "rain"]}, "'rain' twice"),
        ({"vocabulary": ["rain", 3]}, "has 3 at 1"),
        ({"column": "text"}, "column='text' is for a file"),
    ],
    ids=str,
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        read_documents(TEXTS, **options)


def test_an_error_of_the_analyzer_is_its_own():
    def analyzer(text):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        read_documents(TEXTS, analyzer=analyzer)

    def tokens(text):
        yield "rain"
        raise TypeError("mine as well")

    with pytest.raises(TypeError, match="mine as well"):
        read_documents(TEXTS, analyzer=tokens)


@pytest.mark.parametrize("block", [2, 5, 2**20])
def test_bytes_that_are_not_utf_8(tmp_path, monkeypatch, block):
    monkeypatch.setattr(source, "BUFFER", block)
    path = tmp_path / "news.txt"
    path.write_bytes("thé\nà la\n".encode() + b"caf\xe9 noir\n")
    message = (
        f"{path}: line 3 is not utf-8: byte 14 of the file is 0xe9; give encoding='latin-1' "
        "if that is what it is"
    )
    for X in (path, tmp_path, [path]):
        with pytest.raises(ValueError, match=re.escape(message)):
            read_documents(X)
    assert path.read_bytes()[14] == 0xE9
    path.write_bytes(b"\xef\xbb\xbfcaf\xe9")  # a mark that says it is UTF-8, and then it is not
    with pytest.raises(ValueError, match="line 1 is not utf-8: byte 6 of the file is 0xe9"):
        read_documents(path)
    path.write_bytes(b"rain\xc3")  # cut short
    with pytest.raises(ValueError, match="byte 4 of the file is 0xc3"):
        read_documents(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04rest", "a zip archive, as a cohmm model"),
        (b"%PDF-1.7 rest", "a PDF"),
        (b"\x89PNG\r\n", "a picture"),
        (gzip.compress(b"rain", mtime=0), r"compressed; let its name end in \.gz"),
        (b"rain\nsn\x00ow\n", "a NUL byte in line 2"),
        ("rain".encode("utf-16"), "give encoding='utf-16'"),
    ],
)
def test_files_that_are_not_text(tmp_path, data, message):
    path = tmp_path / "news.txt"
    path.write_bytes(data)
    for X in (path, tmp_path):
        with pytest.raises(ValueError, match=f"news.txt: this is .*{message}"):
            read_documents(X)


def test_our_own_files_are_not_text(tmp_path):
    path = tmp_path / "model.cohmm"
    read_documents(TEXTS).save(path)
    with pytest.raises(ValueError, match="a zip archive, as a cohmm model"):
        read_documents(path)


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(ValueError, match="there is no such file"):
        read_documents(tmp_path / "news.txt")
    with pytest.raises(ValueError, match=r"there is no \.txt file in this folder; give"):
        read_documents(tmp_path)
    (tmp_path / "news.md").write_text("rain")
    with pytest.raises(ValueError, match=r"there are 1 others \(news.md\): give a list of paths"):
        read_documents(str(tmp_path))
    with pytest.raises(ValueError, match="is a folder: give it alone"):
        read_documents([tmp_path])
    with pytest.raises(ValueError, match="a folder has a document a file, and no column"):
        read_documents(tmp_path, column="text")
    with pytest.raises(ValueError, match="text has no columns"):
        read_documents(tmp_path / "news.md", column="text")
    (tmp_path / "news.txt").write_text("")
    with pytest.raises(ValueError, match="there is no document"):
        read_documents(tmp_path / "news.txt")
