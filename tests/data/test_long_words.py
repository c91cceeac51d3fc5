"""A word has a largest length: whatever is longer ends the reading, and says so."""

import gzip
import json
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cohmm import read_documents
from cohmm.data.read_sequences import Layout, read_files
from cohmm.data.readers import text
from cohmm.data.readers.codes import LONGEST
from cohmm.evidence.count_files import count_files

LONG = "é" * (LONGEST // 2)
TOLD = r"{}: symbol 'é+\.\.\.é*' is longer than 1,048,576 bytes, the most that one may have"


def files(folder, word):
    """A file of each format with the word in its second row."""
    (folder / "x.txt").write_text(f"a b\nb {word} a\n", encoding="utf-8")
    (folder / "x.txt.gz").write_bytes(gzip.compress(f"a b\nb {word} a\n".encode(), 1))
    (folder / "x.jsonl").write_text(f"{json.dumps('a b')}\n{json.dumps(f'b {word}')}\n")
    (folder / "x.csv").write_text(f"t\nb {word}\n", encoding="utf-8")
    pq.write_table(pa.table({"t": ["a b", f"b {word}"]}), folder / "x.parquet")
    return sorted(folder.iterdir())


def test_the_longest_word_is_a_label(tmp_path):
    for path in files(tmp_path, LONG):
        labels = [label for batch in read_files(path) for label in batch.vocabulary]
        assert LONG in labels


@pytest.mark.parametrize("size", [2**10, 2**19, 2**22])
def test_a_longer_word_is_told_with_its_place(tmp_path, size):
    for path in files(tmp_path, LONG + "a"):
        place = {".parquet": "row 2", ".csv": "row 1"}.get(path.suffix, "line 2")
        with pytest.raises(ValueError, match=TOLD.format(place)):
            list(read_files(path, batch_size=size))


def test_no_more_is_read_of_a_word_than_it_may_have(tmp_path, monkeypatch):
    """A file that is all one word ends where its word is too long, not with the file."""
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"a" * 2**26))
    asked = []
    seen = text._last_blank
    monkeypatch.setattr(text, "_last_blank", lambda b: asked.append(len(b)) or seen(b))
    with pytest.raises(ValueError, match=r"x\.txt\.gz, line 1: symbol 'a{24}"):
        count_files(tmp_path / "x.txt.gz", batch_size=2**16)
    assert max(asked) <= LONGEST + 2**17


def test_characters_of_a_long_line_are_symbols(tmp_path):
    (tmp_path / "x.txt").write_text("ab" * LONGEST)
    counts = count_files(tmp_path / "x.txt", Layout(characters=True)).pairs
    assert counts.n_pairs(1) == 2 * LONGEST - 1


def test_a_document_of_one_long_line_is_joined_once(tmp_path):
    word = "".join(f"b{n}" for n in range(400_000))  # of more than one block
    (tmp_path / "x.txt").write_bytes(f"{word} a\r\nc\n".encode())
    documents = read_documents(tmp_path / "x.txt", token_pattern=r"\S+")
    assert documents.vocabulary == ("a", word, "c")
    assert all(a != b for a, b in pairwise(documents.vocabulary))
