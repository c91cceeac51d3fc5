"""Columns of every Arrow type, in every role: an answer, or an error that names the file."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cohmm import Sequences
from cohmm.data.read_sequences import Layout, read_files
from tests.arrow_types import COLUMNS

ROLES = (
    {"column": "c"},
    {"column": "c", "each_row": "symbol"},
    {"column": "c", "each_row": "sequence"},
    {"column": "c", "characters": True},
    {"column": "c", "group": "g"},
    {"column": "c", "order": "c"},
    {"column": "s", "group": "c"},
    {"column": "s", "order": "c"},
    {"column": "s", "group": "c", "order": "c"},
)


def labels(path, **layout):
    return [one for batch in read_files(path, Layout(**layout)) for one in batch.labels()]


def saved(path, cells):
    pq.write_table(pa.table({"c": cells, "s": ["a", "b", "a", "c"], "g": [1, 1, 2, 2]}), path)
    return path


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_any_type_is_read_or_refused_by_name(tmp_path, name):
    path = saved(tmp_path / "x.parquet", COLUMNS[name])
    for layout in ROLES:
        try:
            answer = str(labels(path, **layout)[0][0])
        except ValueError as error:
            answer = str(error)
            assert "x.parquet" in answer
        assert answer


@pytest.mark.parametrize("name", COLUMNS)
def test_a_frame_with_a_column_of_any_type(name):
    table = pa.table({"c": COLUMNS[name], "s": ["a", "b", "a", "c"]})
    for column, group, order in (("c", None, None), ("s", "c", None), ("s", None, "c")):
        try:
            read = Sequences.from_frame(table, column, group, order)
        except ValueError:
            continue
        assert 2 <= read.n_observations <= 4


@pytest.mark.parametrize(
    ("odd", "common"),
    [
        ("float16", "float32"),
        ("string_view", "string"),
        ("list of views", "list"),
        ("list of float16", "large_list"),
    ],
)
@pytest.mark.parametrize("layout", ROLES)
def test_half_floats_and_views_are_what_they_stand_for(tmp_path, odd, common, layout):
    found = []
    for name in (odd, common):
        path = saved(tmp_path / "x.parquet", COLUMNS[name])
        try:
            found.append(labels(path, **layout))
        except ValueError as error:
            found.append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([[1], [2]], "is of type list<item: int64>, which has no order"),
        ([{"a": 1}, {"a": 2}], "is of type struct<a: int64>, which has no order"),
        ([2**70, 1], ", line 1: 'o' is 1180591620717411303424, which is too large"),
        (["a", "\ud800"], r", line 2: '\ud800' is not Unicode text"),
        ([1, "a"], "'o' is of several types"),
        ([1, "\ud800"], "'o' is of several types"),
    ],
)
def test_an_order_in_json_that_is_none_names_its_file(tmp_path, values, complaint):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"s": "a", "o": value}) + "\n" for value in values))
    with pytest.raises(ValueError, match=r"x\.jsonl") as error:
        labels(path, column="s", order="o")
    assert complaint in str(error.value)


# -- names that are empty ---------------------------------------------------------------------


def test_text_has_no_column_of_an_empty_name(tmp_path):
    (tmp_path / "x.txt").write_text("a b\n")
    for role in ("column", "group", "order"):
        with pytest.raises(ValueError, match=f"text has no columns, so {role} has no meaning"):
            labels(tmp_path / "x.txt", **{role: ""})


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_a_column_may_have_an_empty_name(tmp_path, name):
    """As the index of a frame has that pandas writes."""
    path, table = tmp_path / name, {"": [1, 0, 1, 0], "s": ["a", "b", "c", "d"]}
    if name == "x.parquet":
        pq.write_table(pa.table(table), path)
    rows = zip(*table.values(), strict=True)
    if name == "x.csv":
        path.write_text(",s\n" + "".join(f"{number},{label}\n" for number, label in rows))
    elif name == "x.jsonl":
        path.write_text("".join(json.dumps({"": n, "s": label}) + "\n" for n, label in rows))
    assert labels(path, column="s", group="") == [["a", "c"], ["b", "d"]]
    assert labels(path, column="s", order="") == [["b", "d", "a", "c"]]
    assert labels(path, column="", each_row="symbol") == [["1", "0", "1", "0"]]
    assert Sequences.from_frame(pa.table(table), "s", group="").labels() == [["a", "c"], ["b", "d"]]
