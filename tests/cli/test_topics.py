"""``cohmm topics``."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cohmm import HTMM, EvidenceWarning
from cohmm.cli import app
from cohmm.cli.app import in_options, json_line, print_result
from cohmm.cli.options import frequency, whole_numbers
from cohmm.cli.topics import _lines, _summary, _table
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.topics.overview import Overview
from tests.cli.test_report import data_of

SAMPLE = sample_htmm(120, n_components=3, n_words=60, length=30, random_state=0).documents
TEXTS = [" ".join(SAMPLE.words(d)) for d in range(len(SAMPLE))]
N = len(np.unique(SAMPLE.symbols))


@pytest.fixture
def texts(folder):
    (folder / "news.txt").write_text("".join(text + "\n" for text in TEXTS))
    return TEXTS


def fitted(texts, **options) -> HTMM:
    return HTMM(3, random_state=0, **options).fit(texts)


def same(path: str, model: HTMM) -> bool:
    found = HTMM.load(path)
    return (
        found.vocabulary_ == model.vocabulary_
        and np.array_equal(found.components_, model.components_)
        and np.array_equal(found.topic_transitions_, model.topic_transitions_)
        and found.switch_ == model.switch_
        and found.chain == model.chain
    )


def test_the_model_is_that_of_the_library(run, texts):
    result = run("topics", "news.txt", "-k", "3", "-o", "t.cohmm")
    model = fitted(texts)
    assert same("t.cohmm", model)
    assert np.array_equal(HTMM.load("t.cohmm").transform(texts), model.transform(texts))
    lines = result.stdout.splitlines()
    n = SAMPLE.n_words
    assert lines[0] == f"t.cohmm: 3 topics of 120 documents; {n:,} words, {N} distinct"
    n = model.fit_.n_document_passes
    assert f"passes over pairs at lags 1, 2, 3, 4, 5, 8, 16; {n} over the documents" in lines[1]
    assert lines[2] == (f"coherence {model.coherence():.1f} (the paper's: top 20 words, eps 0.01)")
    rows = [line.split() for line in lines[7:10]]
    assert "most distinctive words" in lines[5]
    for k, (row, words) in enumerate(zip(rows, model.top_words(5, "relevance"), strict=True)):
        assert row[:2] == [str(k), f"{model.topic_prevalence_[k]:.1%}"]
        assert row[3:8] == words
    assert max(map(len, lines)) <= 80
    assert result.stderr == ""


def test_a_report_of_what_was_learned(run, texts, folder):
    result = run("topics", "news.txt", "-k", "3", "-o", "t.cohmm", "--report", "r.html", "--json")
    assert json.loads(result.stdout)["topics"] == 3
    assert re.fullmatch(r"cohmm: wrote r.html, [\d.]+ MB\n", result.stderr)
    data = data_of(folder / "r.html")
    assert data["title"] == "t"
    assert len(data["topics"]) == 3
    assert [text["text"] for text in data["texts"]] == TEXTS
    run("report", "t.cohmm", "news.txt", "-o", "again.html")
    again = data_of(folder / "again.html")
    for one in (data, again):
        one["summary"] = [item for item in one["summary"] if item["name"] != "Command"]
        assert one["trust"].pop("advice")
    *same, intervals = again.pop("trust")["lines"]
    assert [*same, data["trust"]["lines"][-1]] == data.pop("trust")["lines"]
    assert intervals["value"].endswith("if the topics were learned from these documents")
    assert data == again
    run("topics", "-", "-k", "2", "--report", "r.html", input="\n".join(TEXTS))
    assert data_of(folder / "r.html")["texts"][0]["text"] is None


def test_a_report_in_another_encoding(run, folder):
    (folder / "news.txt").write_text("\n".join(f"{text} café" for text in TEXTS), "latin-1")
    run("topics", "news.txt", "-k", "2", "--report", "r.html", "--encoding", "latin-1")
    assert data_of(folder / "r.html")["texts"][0]["text"] == f"{TEXTS[0]} café"


def test_where_a_report_cannot_be_written_nothing_is_learned(run, texts, folder):
    (folder / "x").mkdir()
    for path, why in (("x", "it is a folder"), ("no/r.html", "there is no folder no")):
        run("topics", "no.txt", "--report", path, fails=f"cannot write {path}: {why}")


def test_json_is_one_object(run, texts):
    found = json.loads(run("topics", "news.txt", "-k", "3", "--top-words", "4", "--json").stdout)
    model = fitted(texts)
    counted = {name: found[name] for name in ("topics", "documents", "empty", "vocabulary")}
    assert counted == {"topics": 3, "documents": 120, "empty": 0, "vocabulary": N}
    assert found["words"] == SAMPLE.n_words
    assert found["coherence"]["eps"] == 0.01
    assert found["coherence"]["each"] == pytest.approx(model.coherence(by_topic=True))
    assert found["top_words"] == model.top_words(4, "relevance")
    assert (found["words_by"], found["labels"]) == ("relevance", [None] * 3)
    assert found["prevalence"] == model.topic_prevalence_.tolist()
    assert found["starts"] == list(model.fit_.starts)
    runs = [last - first + 1 for s in model.segment(texts) for first, last, _ in s.runs]
    assert found["mean_run"] == pytest.approx(np.mean(runs))
    first = [b - a + 1 for s in model.segment(texts) for a, b, topic in s.runs if topic == 0]
    assert found["mean_runs"][0] == pytest.approx(np.mean(first))


def test_starts_are_as_many_as_asked_for(run, texts):
    run("topics", "news.txt", "-k", "3", "--starts", "4", "-o", "t.cohmm")
    assert len(HTMM.load("t.cohmm").fit_.starts) == 4


def test_seed_words_from_a_file(run, texts, tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("some words: w4 w57\n\n  others :w9\n")
    run("topics", "news.txt", "-k", "3", "--seed-words", seeds, "-o", "t.cohmm")
    given = {"some words": ["w4", "w57"], "others": ["w9"]}
    assert same("t.cohmm", fitted(texts, seed_words=given))
    assert sorted(filter(None, HTMM.load("t.cohmm").labels_)) == ["others", "some words"]
    for content, message in [
        (
            "w4 w57\n",
            f"{seeds}, line 1: a line has a label, a colon and words, such as "
            "\"grain: wheat maize\", not 'w4 w57'",
        ),
        (
            "a: w4\nb:\n",
            f"{seeds}, line 2: a line has a label, a colon and words, such as "
            "\"grain: wheat maize\", not 'b:'",
        ),
        ("a: w4\na: w9\n", f"{seeds}, line 2: there is a topic 'a' above"),
        ("\n", f"{seeds}: there is no line with a label, a colon and words"),
        ("a: w4\nb: w4\n", "'w4' is a seed word of topics 'a' and 'b'"),
    ]:
        seeds.write_text(content)
        run("topics", "news.txt", "-k", "3", "--seed-words", seeds, fails=message)


def test_words_in_another_order(run, texts):
    model = fitted(texts)
    for order in ("probability", "frex"):
        given = ("topics", "news.txt", "-k", "3", "--words-by", order)
        found = json.loads(run(*given, "--json").stdout)
        assert found["words_by"] == order
        assert found["top_words"] == model.top_words(10, order)
    assert model.top_words(10, "frex") != model.top_words(10)
    assert "most probable words" in run("topics", "news.txt", "--words-by", "probability").stdout


def test_a_mean_run_is_the_same_everywhere(run, texts, folder):
    """In the table, for machines, in frames, over time, and in the report."""
    given = ("topics", "news.txt", "-k", "3")
    means = json.loads(run(*given, "--json", "--report", "r.html").stdout)["mean_runs"]
    model = fitted(texts)
    np.testing.assert_allclose(model.to_frame("topics")["mean_run"], means)
    np.testing.assert_allclose(model.over(texts, by=["all"] * len(texts)).run[0], means)
    in_report = [topic["run"] for topic in data_of(folder / "r.html")["topics"]]
    np.testing.assert_allclose(in_report, means, rtol=1e-3)
    rows = [line.split() for line in run(*given).stdout.splitlines()]
    shown = [row[2] for row in rows if row and row[0].isdigit()][-3:]
    assert shown == [f"{mean:.1f}" for mean in means]


def test_topics_that_say_little_are_named(run, folder):
    letters = str.maketrans("0123456789", "aeiouyaeio")
    lines = [text.translate(letters) for text in TEXTS]
    codes = [f"{a}{b}{c}" for a in "xyz" for b in range(10) for c in "qwk"]
    lines += [" ".join(np.random.default_rng(d).choice(codes, 200)) for d in range(6)]
    (folder / "posts.txt").write_text("\n".join(lines) + "\n")
    result = run("topics", "posts.txt", "-k", "4", "-o", "t.cohmm", "--report", "r.html")
    ((k, verdict),) = HTMM.load("t.cohmm").junk(lines).items()
    assert verdict == "encoded"
    assert f"1 of 4 topics say little: {k} (encoded)" in result.stdout
    assert "junk" in result.stdout
    summary = {item["name"]: item for item in data_of(folder / "r.html")["summary"]}
    assert summary["Topics that say little"]["value"] == "1"
    assert f"{k} (encoded)" in summary["Topics that say little"]["note"]


def test_counts_are_saved_when_asked_for(run, texts):
    run("topics", "news.txt", "-k", "3", "-o", "t.cohmm", "--save-counts")
    assert HTMM.load("t.cohmm").counts_ == fitted(texts).counts_
    assert len(HTMM.load("t.cohmm").partial_fit(texts[:9]).components_) == 3
    why = "--save-counts keeps counts in the model's file: give --output"
    run("topics", "news.txt", "--save-counts", fails=why)


def test_labels_have_a_column(capsys, texts):
    model = fitted(texts).rename({0: "[the sea]", 2: "a label that is longer than its column"})
    overview = Overview.of(model.fit_, model.documents_)
    table = _table(model, overview, None, "relevance")
    print_result(False, {}, _lines(model, overview, 1.0, None), table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    head, first, second, third = (lines[i] for i in (5, 7, 8, 9))
    assert head.split()[4:] == ["label", "most", "distinctive", "words"]
    words = model.top_words(1, "relevance")
    assert f" [the sea]              {words[0][0]}" in first
    assert second.split()[3] == words[1][0]
    assert " a label that is lon…   " in third
    found = json.loads(json_line(_summary(model, overview, 1.0, 3, "probability")))
    assert found["labels"] == list(model.labels_)


@pytest.mark.filterwarnings("ignore:topics were still changing")
@pytest.mark.parametrize(
    ("given", "options"),
    [
        (("--lags", "1,3"), {"lags": (1, 3)}),
        (("--refine-passes", "0"), {"refine": 0}),
        (("--passes", "2"), {"max_iter": 2}),
        (("--min-df", "40"), {"min_df": 40}),
        (("--min-df", "0.3"), {"min_df": 0.3}),
        (("--max-df", "0.6"), {"max_df": 0.6}),
        (("--max-features", "30"), {"max_features": 30}),
        (("--token-pattern", r"w\d\b"), {"token_pattern": r"w\d\b"}),
    ],
)
def test_options_are_those_of_the_library(run, texts, given, options):
    run("topics", "news.txt", "-k", "3", "-o", "t.cohmm", *given)
    assert same("t.cohmm", fitted(texts, **options))
    assert not same("t.cohmm", fitted(texts))
    for name, value in options.items():
        assert getattr(HTMM.load("t.cohmm"), name) == (list(value) if name == "lags" else value)


def test_chains_seeds_and_threads(run, texts):
    chains = {}
    for chain in ("sticky", "full", "independent"):
        given = ("--chain", chain, "-o", f"{chain}.cohmm", "--json")
        chains[chain] = json.loads(run("topics", "news.txt", "-k", "3", *given).stdout)["mean_run"]
        assert HTMM.load(f"{chain}.cohmm").chain == chain
    assert chains["independent"] < chains["sticky"]
    run("topics", "news.txt", "-k", "3", "--threads", "1", "-o", "one.cohmm")
    assert same("one.cohmm", HTMM.load("sticky.cohmm"))
    told = run("topics", "news.txt", "-k", "7", "--seed", "5", "-o", "other.cohmm").stderr
    assert "n_components=7 asks for more" in told
    with pytest.warns(EvidenceWarning):
        five, zero = (HTMM(7, random_state=seed).fit(texts).components_ for seed in (5, 0))
    assert np.array_equal(HTMM.load("other.cohmm").components_, five)
    assert not np.array_equal(five, zero)


def test_all_ways_to_give_documents(run, texts, folder):
    halves = texts[:50], texts[50:]
    (folder / "many").mkdir()
    for d, text in enumerate(halves[0]):
        (folder / "many" / f"{d:03}.txt").write_text(text)
    with gzip.open(folder / "rest.txt.gz", "wt") as file:
        file.write("\n".join(halves[1]) + "\n")
    run("topics", "many", "rest.txt.gz", "-k", "3", "-o", "several.cohmm")
    assert same("several.cohmm", fitted(texts))
    run("topics", "-", "-k", "3", "-o", "stdin.cohmm", input="\n".join(texts))
    assert same("stdin.cohmm", fitted(texts))
    table = pa.table({"id": range(len(texts)), "body": texts})
    pq.write_table(table, folder / "t.parquet")
    (folder / "t.csv").write_text(
        "id,body\n" + "".join(f'{d},"{text}"\n' for d, text in enumerate(texts))
    )
    (folder / "t.jsonl").write_text(
        "".join(json.dumps({"id": d, "body": text}) + "\n" for d, text in enumerate(texts))
    )
    for name in ("t.parquet", "t.csv", "t.jsonl"):
        run("topics", name, "--column", "body", "-k", "3", "-o", "table.cohmm")
        assert same("table.cohmm", fitted(texts))


def test_stop_words(run, texts, folder):
    common = fitted(texts).top_words(2)[0]
    (folder / "stop.txt").write_text("\n".join(word.upper() for word in common))
    run("topics", "news.txt", "-k", "3", "--stop-words", "stop.txt", "-o", "t.cohmm")
    assert same("t.cohmm", fitted(texts, stop_words=common))
    assert not set(common) & set(HTMM.load("t.cohmm").vocabulary_)
    (folder / "plain.txt").write_text("the oil of the sea\nthe price of the oil is the same\n" * 9)
    told = run("topics", "plain.txt", "-k", "2").stderr
    assert "--stop-words english leaves them out" in told
    assert run("topics", "plain.txt", "-k", "2", "--stop-words", "english").stderr == ""


def test_text_without_blanks_is_told(run, folder):
    phrase = "\u6211\u4eec\u4eca\u5929\u53bb\u5317\u4eac"  # without a blank
    lines = [" ".join(phrase + chr(0x4E00 + (d + i) % 9) for i in range(9)) for d in range(60)]
    (folder / "chinese.txt").write_text("\n".join(lines))
    told = run("topics", "chinese.txt", "-k", "1").stderr
    assert "the text seems to be Chinese, which has no blanks between words" in told


def test_documents_without_words_are_told_and_shown(run, texts, folder):
    (folder / "gaps.txt").write_text("\n".join(texts[:60] + ["", "!"] + texts[60:]) + "\n")
    result = run("topics", "gaps.txt", "-k", "3")
    assert result.stderr == (
        "cohmm: 2 of 122 documents have no word that is kept, the first of them document 60 "
        "(gaps.txt, line 61)\n"
    )
    assert "3 topics of 122 documents, 2 of them empty;" in result.stdout


def test_one_document(run, folder):
    (folder / "one.txt").write_text(" ".join(TEXTS))
    assert "there is one document" in run("topics", "one.txt", "-k", "2").stderr


def test_all_topics_and_all_words_are_listed(run, texts):
    printed = run("topics", "news.txt", "-k", "25").stdout
    rows = [line.split() for line in printed.partition("topic  ")[2].splitlines()]
    assert [row[0] for row in rows if row and row[0].isdigit()] == list(map(str, range(25)))
    folded = run("topics", "news.txt", "-k", "3", "--top-words", "30").stdout.split()
    assert all(word in folded for words in fitted(texts).top_words(30) for word in words)


def test_auto(run, texts):
    found = json.loads(run("topics", "news.txt", "-k", "auto", "--json").stdout)
    assert found["topics"] == HTMM("auto", random_state=0).fit(texts).components_.shape[0] > 1


def test_bad_input_is_one_line_and_nothing_is_written(run, texts, folder):
    (folder / "latin.txt").write_bytes("ein schöner Tag\n".encode("latin-1"))
    (folder / "empty.txt").write_text("")
    (folder / "blank.txt").write_text("\n\n")
    (folder / "one-word.txt").write_text("rain\nsun\n")
    (folder / "none").mkdir()
    (folder / "t.csv").write_text("a,b\nrain,sun\n")
    (folder / "stop.txt").write_text(" ")
    before = {path.name for path in folder.iterdir()}

    def fails(why, *args):
        run("topics", *args, "-o", "t.cohmm", fails=why)
        assert {path.name for path in folder.iterdir()} == before

    fails("gone.txt: there is no such file", "gone.txt")
    fails(
        "latin.txt: line 1 is not utf-8: byte 7 of the file is 0xf6; give --encoding latin-1 if "
        "that is what it is",
        "latin.txt",
    )
    fails("m.cohmm: this is not text: it is a zip archive, as a cohmm model or a Word document is",
          "m.cohmm")  # fmt: skip
    fails("there is no document: X is empty", "empty.txt")
    fails(
        "there is no word in 2 documents: a word is what token_pattern or the analyzer finds; by "
        "default it has two letters or digits at least",
        "blank.txt",
    )
    fails(
        "there is no pair of words at lag 1, 2, 3, 4, 5: the longest of 2 documents has 1 word",
        *("one-word.txt", "-k", "2"),
    )
    fails(
        f"n_components=61 topics cannot be learned from pairs of {N} words: there must be "
        "at least as many words as topics",
        *("news.txt", "-k", "61"),
    )
    fails(
        "none: there is no .txt file in this folder; give a list of paths to read files of other "
        "names",
        "none",
    )
    fails("t.csv: say which column to read (column): there are 'a', 'b'", "t.csv")
    fails("t.csv: there is no column 'c'; there are 'a', 'b'", "t.csv", "--column", "c")
    fails("standard input can be read only once: give - once", "-", "-")
    fails("--n-components must be a whole number from 1, or auto, not '0'", "news.txt", "-k", "0")
    fails(
        "--n-components must be a whole number from 1, or auto, not 'many'",
        "news.txt",
        "-k",
        "many",
    )
    for lags in ("0", "1-", "a", "3,", "-2"):
        fails(f"--lags must be whole numbers from 1, such as 1-5 or 1,2,3, or auto, not {lags!r}",
              "news.txt", f"--lags={lags}")  # fmt: skip
    fails(
        "--min-df must be a number of documents, such as 5, or a share of them, such as 0.01, not "
        "'few'",
        *("news.txt", "--min-df", "few"),
    )
    fails(
        "--stop-words must be a language, none, or a file of words; there is no file some.txt",
        *("news.txt", "--stop-words", "some.txt"),
    )
    fails("stop.txt: there is no word in it", "news.txt", "--stop-words", "stop.txt")
    fails("there is no encoding 'utf-9'; try 'utf-8' or 'latin-1'",
          "news.txt", "--encoding", "utf-9")  # fmt: skip
    run("topics", "news.txt", "-o", "none", fails="cannot write none: it is a folder")


def test_a_vocabulary_that_min_df_empties(run, texts):
    most = int(np.bincount(SAMPLE.term_counts().indices).max())
    result = CliRunner().invoke(app, ["topics", "news.txt", "--min-df", str(most + 1)])
    assert result.exit_code == 2
    assert result.stderr.startswith(
        f"cohmm: no word is left: --min-df {most + 1} drops the last {N};"
    )


def test_other_commands_say_what_a_topic_model_is(run, texts):
    run("topics", "news.txt", "-k", "3", "-o", "t.cohmm")
    why = "t.cohmm holds a topic model, not a HMM"
    for command in ("decode", "score"):
        run(command, "t.cohmm", "news.txt", fails=why)
    run("fit", "t.cohmm", "-o", "f.cohmm", fails="t.cohmm holds a topic model, not a cooccurrence")


def test_numbers_and_ranges_of_them():
    for text, expected in (("1-5", (1, 2, 3, 4, 5)), ("2,1,2", (1, 2)), ("1-2,5-6", (1, 2, 5, 6))):
        assert whole_numbers("--lags", text, "1-5") == expected


def test_frequencies_are_numbers_or_shares():
    assert isinstance(frequency("--min-df", "1"), int)
    assert isinstance(frequency("--max-df", "1.0"), float)


def test_advice_is_in_terms_of_options():
    assert in_options("give encoding='latin-1' or min_df=0.5, x=1") == (
        "give --encoding latin-1 or --min-df 0.5, x=1"
    )
