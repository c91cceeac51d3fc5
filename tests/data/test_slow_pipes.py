"""Bytes that arrive one by one, as from a slow pipe, are read as if they had come at once."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cohmm import read_documents
from cohmm.data.read_documents import Trace, documents_at
from cohmm.data.read_sequences import Layout, read_files
from cohmm.data.readers import source

MARK = "\ufeff"


class Drip(io.RawIOBase):
    """A file of which every read has one byte."""

    def __init__(self, path):
        self._bytes = io.BytesIO(path.read_bytes())

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._bytes.readinto(memoryview(buffer)[:1])


@pytest.fixture
def dripping(monkeypatch):
    monkeypatch.setattr(source, "_opened", Drip)


def labels(path, **layout):
    try:
        return [one for batch in read_files(path, Layout(**layout)) for one in batch.labels()]
    except ValueError as error:
        return str(error)


CASES = {
    "x.txt": [MARK + "a b\nb é\n", "", MARK, "a"],
    "x.csv": [
        "page,user\na b,u\nb a,v\n",
        MARK + "page\na b\n",
        MARK + 'page,user\n"a\nb",u\n',
        f"{','.join(f'column-{n}' for n in range(9999))}\n",
        f"page,{'u' * 5000}\na b,c\n",
    ],
    "x.jsonl": [MARK + json.dumps({"page": "a b"}) + "\n" + json.dumps({"page": "b"})],
    "x.bin": ["\x1f"],
}


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in CASES for text in CASES[n]])
@pytest.mark.parametrize("column", [None, "page"])
def test_a_file_byte_by_byte(tmp_path, monkeypatch, name, text, column):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    expected = labels(path, column=column)
    monkeypatch.setattr(source, "_opened", Drip)
    assert labels(path, column=column) == expected


def test_rows_with_keys_byte_by_byte(tmp_path, dripping):
    path = tmp_path / "x.csv"
    path.write_text(f"{MARK}page,user\na,u\nb,v\nc,u\n", encoding="utf-8")
    assert labels(path, column="page", group="user") == [["a", "c"], ["b"]]


def test_a_table_byte_by_byte(tmp_path, dripping):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"page": ["a b", "b"]}), path)
    found = source.Source(path, "parquet", None)
    with found.binary() as stream:
        assert stream.read() == path.read_bytes()


def test_documents_byte_by_byte(tmp_path, dripping):
    path = tmp_path / "x.txt"
    path.write_text(f"{MARK}gas oil\noil é\n", encoding="utf-8")
    assert list(documents_at(path, "utf-8", None, Trace())) == ["gas oil", "oil é"]
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="this is not text: it is a zip archive"):
        read_documents(path)
    path.write_bytes("gas".encode("utf-16"))
    with pytest.raises(ValueError, match="this is UTF-16 text"):
        read_documents(path)


def test_a_header_of_more_than_a_buffer(tmp_path):
    names = [f"column-{n}" for n in range(200_000)]
    assert len(",".join(names)) > source.BUFFER
    path = tmp_path / "x.csv"
    path.write_text(",".join([*names, "page"]) + "\n" + ",".join(["1"] * len(names) + ["a b"]))
    assert labels(path, column="page") == [["a", "b"]]


def test_a_header_of_more_than_a_block(tmp_path):
    names = [f"column-{n}" for n in range(800_000)]
    path = tmp_path / "x.csv"
    path.write_text(",".join(names) + "\n")
    assert labels(path, column="page") == (
        f"{path}: the names of the columns are longer than 8,388,608 bytes"
    )
