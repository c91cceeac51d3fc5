"""One file: complete, and with nothing in it that could be taken for markup."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from cohmm.report.prepare import MAX_TOTAL_WORDS, MAX_WORDS, prepare_report
from cohmm.report.render import as_script_data, check_path, render_page, write
from cohmm.report.schema import Material, Reading
from tests.report.samples import TRICKY, material


class Page(HTMLParser):
    """Elements, their attributes, and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self._in = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append([dict(attrs), ""])
            self._in = self.scripts[-1]

    def handle_endtag(self, tag):
        self._in = None

    def handle_data(self, data):
        if self._in is not None:
            self._in[1] += data


def test_data_survives_whatever_its_words_are():
    report = prepare_report(material(vocabulary=TRICKY))
    page = Page(render_page(report))
    assert [script[0].get("type") for script in page.scripts] == ["application/json", None]
    found = json.loads(page.scripts[0][1])
    assert found["vocabulary"] == report["vocabulary"]
    assert [text["text"] for text in found["texts"]] == [text["text"] for text in report["texts"]]
    assert not [tag for tag, _ in page.elements if tag in ("img", "b")]


def test_nothing_comes_from_elsewhere():
    page = Page(render_page(prepare_report(material())))
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "srcset"):
            value = attributes.get(name, "#")
            assert value.startswith(("#", "data:")), (tag, value)
    text = render_page(prepare_report(material(n_texts=0)))
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|innerHTML|eval\(", text)
    assert set(re.findall(r"https?://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("bad", ["</script>", "<!--", "]]>", "&lt;", "\u2028", "\u2029", "'\""])
def test_no_character_ends_the_script_element(bad):
    text = as_script_data({bad: [bad]})
    assert json.loads(text) == {bad: [bad]}
    assert not set(text) & set("<>&\u2028\u2029")


def test_numbers_that_json_has_not_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_script_data(float("nan"))


def test_the_code_of_the_page_is_small():
    assert len(render_page(prepare_report(material(n_texts=0)))) < 100_000


def test_the_largest_report_is_below_five_megabytes():
    """As many words, topics and texts as the caps let in."""
    rng = np.random.default_rng(0)
    k, v, n = 200, 30_000, MAX_TOTAL_WORDS // MAX_WORDS
    components = rng.dirichlet(np.full(v, 0.02), size=k) + 1e-12
    components /= components.sum(axis=1, keepdims=True)
    words = tuple(f"word{code}" for code in range(v))

    def reading(d):
        symbols, topics = rng.integers(v, size=MAX_WORDS), rng.integers(k, size=(3, MAX_WORDS))
        sure = rng.random((2, MAX_WORDS))
        return Reading(
            d, f"Document {d}", MAX_WORDS, symbols, topics[0], sure[0], topics[1], sure[1],
            topics[2], rng.dirichlet(np.ones(k)), "abc def gh " * MAX_WORDS,
            tuple((11 * i, 11 * i + 3) for i in range(MAX_WORDS)),
        )  # fmt: skip

    given = Material(
        "topics", "Large", components, rng.dirichlet(np.ones(k)),
        rng.dirichlet(np.ones(k), size=k), words, readings=tuple(map(reading, range(n))),
    )  # fmt: skip
    size = len(render_page(prepare_report(given)).encode())
    assert 3e6 < size < 5e6


def test_a_path_that_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match=r"cannot write .*: it is a folder"):
        check_path(tmp_path)
    with pytest.raises(ValueError, match=r"cannot write .*: there is no folder .*nowhere"):
        check_path(tmp_path / "nowhere" / "report.html")
    check_path(tmp_path / "report.html")


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    report = prepare_report(material(n_texts=1))
    monkeypatch.setattr("cohmm.report.render.render_page", lambda report: "\ud800")
    with pytest.raises(UnicodeEncodeError):
        write(report, path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"
