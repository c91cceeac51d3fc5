"""The guide builds without a warning, needs no network, and leads nowhere that is not there."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import cohmm
from cohmm import plots

pytest.importorskip("sphinx", reason="the extra docs is missing")

DOCS = Path(__file__).parent.parent / "docs"


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.mathematics = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.mathematics += tag == "math"
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag in ("script", "img", "iframe", "source", "link"):
            self.loaded += [given[name] for name in ("src", "href") if name in given]


Pages = dict[Path, Page]


def test_the_guide(tmp_path: Path) -> None:
    """One test, as the site is built once for all that is asked of it."""
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", tmp_path / "trees"]
    done = subprocess.run([*command, DOCS, site], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    pages = {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html")}
    every_page_is_built(site, pages)
    links_lead_to_what_is_there(pages)
    reading_needs_no_network(site, pages)
    formulas_are_drawn_by_the_browser(site, pages)
    public_names_are_in_the_reference(pages)
    the_first_page_shows_a_report_and_pictures(site, pages)


def every_page_is_built(site: Path, pages: Pages) -> None:
    built = {path.relative_to(site).with_suffix("") for path in pages}
    sources = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")}
    assert len(sources) >= 15
    assert sources <= built


def links_lead_to_what_is_there(pages: Pages) -> None:
    for path, page in pages.items():
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{path.name}: {link}"


def reading_needs_no_network(site: Path, pages: Pages) -> None:
    for path, page in pages.items():
        assert [link for link in page.loaded if urlsplit(link).netloc] == [], path.name
    for path in site.rglob("*.css"):
        text = path.read_text("utf-8")
        assert "@import" not in text, path.name
        assert "url(http" not in text.replace('"', "").replace("'", ""), path.name


def formulas_are_drawn_by_the_browser(site: Path, pages: Pages) -> None:
    assert pages[site / "method.html"].mathematics >= 10


def public_names_are_in_the_reference(pages: Pages) -> None:
    names = {name for page in pages.values() for name in page.places}
    assert {f"cohmm.{name}" for name in cohmm.__all__} <= names
    drawn = [name for name in plots.__all__ if name.startswith("plot_")]
    assert len(drawn) >= 8
    assert {f"cohmm.plots.{name}" for name in drawn} <= names
    assert {"cohmm.HMM.decode", "cohmm.HTMM.segment", "cohmm.learn.nmf"} <= names


def the_first_page_shows_a_report_and_pictures(site: Path, pages: Pages) -> None:
    """Before any code; the report is built with the site."""
    text = (site / "index.html").read_text("utf-8")
    shown = text[: text.index("<pre>")]
    assert 'src="demo/report.html#transitions"' in shown
    assert shown.count("<img") >= 3
    assert "documents" in pages[site / "demo" / "report.html"].places
