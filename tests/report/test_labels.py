"""Labels from files: what the page saves is taken, and nothing that is something else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.report.labels import MAX_LABEL, checked_labels

KEY = "1f0c"


@given(st.dictionaries(st.integers(0, 9), st.text(max_size=MAX_LABEL)))
def test_what_was_saved_is_read_again(tmp_path_factory, labels):
    path = tmp_path_factory.getbasetemp() / "labels.json"
    words = {k: " ".join(text.split()) for k, text in labels.items()}
    expected = {k: text for k, text in words.items() if text}
    for saved in ({"model": KEY, "labels": labels}, {"labels": labels}, labels):
        path.write_text(json.dumps(saved), "utf-8")
        assert checked_labels(path, 10, KEY) == expected
        assert checked_labels(str(path), 10, KEY) == expected
    assert checked_labels(labels, 10, KEY) == expected
    assert list(checked_labels(labels, 10, KEY)) == sorted(expected)


def test_no_labels():
    assert checked_labels(None, 3, KEY) == checked_labels({}, 3, KEY) == {}


BAD = {
    "{": r"labels\.json: not JSON \(.*line 1 column 2",
    "": r"labels\.json: not JSON",
    "[" * 100_000: r"labels\.json: not JSON",
    "[]": r"labels\.json: labels are an object",
    '"sea"': "labels are an object",
    '{"labels": ["sea"]}': '"labels" must be an object',
    '{"model": "2e2e", "labels": {}}': r"labels of another model \(2e2e, not 1f0c\)",
    '{"model": null, "labels": {}}': "labels of another model",
    '{"3": "sea"}': "there is no number '3' to label: they are from 0 to 2",
    '{"-1": "sea"}': "there is no number '-1'",
    '{"01": "sea"}': "there is no number '01'",
    '{"1.0": "sea"}': r"there is no number '1\.0'",
    '{"٣": "sea"}': "there is no number '٣'",
    '{"": "sea"}': "there is no number ''",
    '{"1": "sea", "1": "sky"}': "'1' is there twice",
    '{"1": 5}': "the label of 1 must be a string, not 5",
    '{"1": null}': "the label of 1 must be a string, not None",
    json.dumps({"2": "x" * 81}): "the label of 2 has 81 characters; the page has room for 80",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:30])
def test_files_of_something_else(tmp_path, text):
    path = tmp_path / "labels.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=BAD[text]):
        checked_labels(path, 3, KEY)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"there is no file .*nowhere"):
        checked_labels(tmp_path / "nowhere", 3, KEY)
    with pytest.raises(ValueError, match="cannot be read: Is a directory"):
        checked_labels(tmp_path, 3, KEY)
    (tmp_path / "latin").write_bytes(b'{"1": "caf\xe9"}')
    with pytest.raises(ValueError, match=r"latin: not UTF-8 text \(byte 10\)"):
        checked_labels(tmp_path / "latin", 3, KEY)


def test_labels_that_are_no_file():
    assert checked_labels({"1": "sea"}, 3, KEY) == {1: "sea"}
    with pytest.raises(ValueError, match="labels: there is no number True"):
        checked_labels({True: "sea"}, 3, KEY)
    with pytest.raises(ValueError, match=r"they are 0$"):
        checked_labels({1: "sea"}, 1, KEY)
    with pytest.raises(ValueError, match="a number has two labels"):
        checked_labels({1: "sea", "1": "sky"}, 3, KEY)
    with pytest.raises(ValueError, match="labels are an object"):
        checked_labels(["sea"], 3, KEY)
