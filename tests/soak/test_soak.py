"""A short soak, and that it would notice: `make soak` does the long one."""

import pytest

from cohmm import HTMM
from tests.soak import soak
from tests.soak.cases import CASES
from tests.soak.contents import contents


def test_a_short_soak(tmp_path):
    rows = soak.soak(tmp_path, soak.QUICK)
    assert [loss for row in rows for loss in row.losses] == []
    assert [row.leftovers for row in rows] == [0, 0]
    assert all(row.whole == row.checked > 0 for row in rows)
    assert rows[0].refusals >= 1
    assert len(soak.table(rows).splitlines()) == 5


@pytest.fixture
def bench(tmp_path):
    """As after the runs to compare with, without them."""
    made = object.__new__(soak.Bench)
    made.case = next(case for case in CASES if case.name == "sample")
    made.row, made.out = soak.Row("sample"), tmp_path
    made.reference = {soak.OLD: {"s.txt": "a a\n"}, soak.NEW: {"s.txt": "b b\n"}}
    return made


@pytest.mark.parametrize(
    ("text", "allowed", "loss"),
    [
        ("a a\n", (soak.OLD, soak.NEW), None),
        ("b b\n", (soak.NEW,), None),
        ("a a\n", (soak.NEW,), "neither the old nor the new"),
        ("b b", (soak.OLD, soak.NEW), "not whole"),
        ("", (soak.OLD, soak.NEW), "not whole"),
        (None, (soak.OLD, soak.NEW), "not whole"),
    ],
)
def test_a_loss_is_noticed(bench, text, allowed, loss):
    if text is not None:
        (bench.out / "s.txt").write_text(text)
    bench.check("here", allowed)
    assert (bench.row.checked, bench.row.whole) == (1, int(loss is None))
    assert [loss in line for line in bench.row.losses] == ([] if loss is None else [True])


def test_two_runs_have_the_same_contents(tmp_path):
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        corpus, model, page = (tmp_path / name / file for file in ("c.txt", "m.cohmm", "p.html"))
        corpus.write_text("oil gas oil\ncorn wheat corn\n" * 20)
        topics = HTMM(2, random_state=0).fit(corpus)
        topics.save(model)
        topics.report(page, corpus)
        found.append([contents(model), contents(page)])
    assert found[0] == found[1]


def test_pages_and_tables_without_an_end_are_noticed(tmp_path):
    for name, text in (("r.html", "<html>"), ("c.csv", "a,b\n1,2"), ("m.cohmm", "PK")):
        (tmp_path / name).write_text(text)
        with pytest.raises((AssertionError, ValueError)):
            contents(tmp_path / name)
