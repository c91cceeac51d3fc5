"""``cohmm report``."""

import inspect
import json
import re

import pytest

from cohmm import HTMM, EvidenceWarning, TextWarning, count_pairs
from cohmm.cli.report import report
from cohmm.data import read_sequences
from cohmm.report.prepare import N_TEXTS, model_key

TEXTS = ["The sun and the rain", "rain, snow and rain", "Sun! Snow?", "the"] * 5


def data_of(path):
    text = path.read_text("utf-8")
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )


@pytest.fixture
def topics(folder):
    model = HTMM(n_components=2, stop_words=["the", "and"], random_state=0)
    with pytest.warns(EvidenceWarning), pytest.warns(TextWarning):
        model.fit(TEXTS)
    model.save("t.cohmm")
    (folder / "t.txt").write_text("\n".join(TEXTS))
    return folder


def test_a_report_about_an_hmm(run, folder):
    result = run("report", "m.cohmm", "d.txt", "-o", "r.html", "--title", "Days <1>")
    assert result.stdout == ""
    assert re.fullmatch(r"cohmm: wrote r.html, [\d.]+ MB\n", result.stderr)
    data = data_of(folder / "r.html")
    assert data["title"] == "Days <1>"
    assert data["kind"] == "states"
    words = [[data["vocabulary"][w] for w in text["words"]] for text in data["texts"]]
    assert words == [["walk", "shop", "clean"], ["clean", "walk"], ["shop"]]


def test_a_page_says_what_it_is_about_and_nothing_of_the_machine(run, topics):
    run("report", str(topics / "t.cohmm"), str(topics / "t.txt"))
    page = (topics / "report.html").read_text("utf-8")
    assert str(topics) not in page
    assert "cohmm report" not in page
    data = data_of(topics / "report.html")
    assert data["texts"][0]["name"] == "t.txt, line 1"
    assert data["about"].startswith("20 documents with 35 words, sorted into 2 topics")
    assert f'<p class="about">{data["about"]}</p>' in page
    run("report", "m.cohmm", "d.txt")
    about = data_of(topics / "report.html")["about"]
    assert about.startswith("3 sequences with 6 symbols of 3 kinds, explained by 2 hidden states.")


def test_batches_make_no_difference(run, folder, monkeypatch):
    run("report", "m.cohmm", "d.txt", "--documents", "2", "-o", "r.html")
    whole = (folder / "r.html").read_text()
    read = read_sequences.read_files
    monkeypatch.setattr(read_sequences, "read_files", lambda *a, **k: read(*a, **k, batch_size=1))
    run("report", "m.cohmm", "d.txt", "--documents", "2", "-o", "r.html")
    assert (folder / "r.html").read_text() == whole


def test_labels_of_the_model_are_those_of_the_report(run, topics):
    HTMM.load("t.cohmm").rename({0: "rain", 1: "sun"}).save("named.cohmm")
    run("report", "named.cohmm")
    assert data_of(topics / "report.html")["labels"] == {"0": "rain", "1": "sun"}
    (topics / "labels.json").write_text('{"1": "snow"}')
    run("report", "named.cohmm", "--labels", "labels.json")
    assert data_of(topics / "report.html")["labels"] == {"0": "rain", "1": "snow"}


def test_a_report_about_topics_shows_texts_as_they_were_written(run, topics):
    run("report", "t.cohmm", "t.txt")
    data = data_of(topics / "report.html")
    assert data["title"] == "t"
    assert [text["text"] for text in data["texts"]] == TEXTS
    assert data["texts"][1]["name"] == "t.txt, line 2"
    run("report", "t.cohmm", "-", "--documents", "3", input="rain\nsun\nsnow\nsun\n")
    data = data_of(topics / "report.html")
    assert len(data["texts"]) == 3
    assert [text["text"] for text in data["texts"]] == [None] * 3


def test_so_many_documents_are_shown_as_the_library_shows():
    (option,) = (p for p in inspect.signature(report).parameters.values() if p.name == "documents")
    assert option.default == N_TEXTS


def test_several_inputs_and_none(run, topics):
    run("report", "t.cohmm", "t.txt", "d.txt")
    data = data_of(topics / "report.html")
    assert data["n_texts"] == 23
    assert data["texts"][-1]["name"] == "d.txt, line 3"
    for model in ("t.cohmm", "n.cohmm"):
        run("report", model)
        assert data_of(topics / "report.html")["texts"] == []


def test_what_symbols_are_is_not_asked_of_topics(run, topics):
    told = "--unseen is for sequences, and t.cohmm is a topic model"
    run("report", "t.cohmm", "t.txt", "--unseen", "missing", fails=told)


def test_text_in_another_encoding(run, topics):
    (topics / "latin.txt").write_bytes("Sun, caf\xe9 rain\n".encode("latin-1"))
    result = run("report", "t.cohmm", "latin.txt", "--encoding", "latin-1")
    assert data_of(topics / "report.html")["texts"][0]["text"] == "Sun, café rain"
    assert result.stdout == ""
    run("report", "t.cohmm", "latin.txt", "--encoding", "klingon",
        fails="there is no encoding 'klingon'; try 'utf-8' or 'latin-1'")  # fmt: skip
    run("report", "m.cohmm", "d.txt", "--encoding", "latin-1",
        fails="--encoding is for documents, and m.cohmm is an HMM")  # fmt: skip


@pytest.mark.parametrize("model", ["t.cohmm", "m.cohmm"])
def test_labels_of_a_page_are_taken_by_the_next(run, topics, model):
    run("report", model)
    key = data_of(topics / "report.html")["key"]
    labels = {"1": 'the "sea" & <b>'}
    (topics / "l.json").write_text(json.dumps({"model": key, "labels": labels}))
    run("report", model, "--labels", "l.json")
    assert data_of(topics / "report.html")["labels"] == labels


def test_labels_are_checked_before_any_work(run, topics):
    before = {path.name for path in topics.iterdir()}
    (topics / "l.json").write_text(json.dumps({"model": "x", "labels": {}}))
    key = model_key(HTMM.load("t.cohmm").components_)
    run("report", "t.cohmm", "no.txt", "--labels", "l.json",
        fails=f"l.json: these are labels of another model (x, not {key}), whose topics have other "
        'numbers; without its "model" the file is taken for any')  # fmt: skip
    run("report", "t.cohmm", "no.txt", "--labels", "no.json", fails="there is no file no.json")
    assert {path.name for path in topics.iterdir()} == before | {"l.json"}


def test_a_file_that_holds_no_model(run, topics):
    count_pairs([0, 1, 0]).save("c.cohmm")
    run("report", "c.cohmm", fails="c.cohmm holds a cooccurrence: a report is about a topic model "
        "or an HMM")  # fmt: skip
    # The name of a file is no part of what tells the two kinds of models apart.
    (topics / "m.cohmm").rename(topics / "m.cohmm holds a")
    run("report", "m.cohmm holds a")


def test_nothing_is_written_where_nothing_can_be(run, topics):
    (topics / "report.html").write_text("before")
    before = {path.name for path in topics.iterdir()}
    run("report", "no.cohmm", fails="there is no file no.cohmm")
    run("report", "d.txt", fails="d.txt is not a cohmm file")
    run("report", "t.cohmm", "-o", "no/r.html",
        fails="cannot write no/r.html: there is no folder no")  # fmt: skip
    run("report", "t.cohmm", "t.txt", "--group", "x",
        fails="--group is for sequences, and t.cohmm is a topic model")  # fmt: skip
    run("report", "t.cohmm", "no.txt", fails="no.txt: there is no such file")
    assert {path.name for path in topics.iterdir()} == before
    assert (topics / "report.html").read_text() == "before"
