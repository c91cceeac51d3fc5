"""Topics over time and by class, and subjects and sections, in a real browser."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from cohmm.report.prepare import prepare_report
from cohmm.report.render import write
from tests.report.samples import an_over, material

DESKTOP, PHONE = (1280, 900), (390, 780)


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):
    """Reports with a section over years, and with one by class; a window for each size."""
    folder = tmp_path_factory.mktemp("over")
    for name, period in (("time", "year"), ("class", None)):
        made = replace(material(n_texts=3), over=an_over(period=period))
        write(prepare_report(made), folder / f"{name}.html")
    opened = []

    def open_(name, size=DESKTOP):
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.complaints.append(request.url))
        page.goto((folder / f"{name}.html").as_uri())
        page.complaints.pop(0)  # the page itself
        opened.append(page)
        return page

    yield open_
    for page in opened:
        assert page.complaints == []
        page.close()


def small(page):
    """The topics in their order, as they stand below the picture."""
    return [int(n) for n in page.locator("#over-all .chip").all_inner_texts()]


def test_the_arrow_keys_say_the_numbers_of_every_period(pages):
    page, over = pages("time"), an_over()
    page.locator("#over-all [data-topic='2']").click()
    page.locator("#over-large").focus()
    page.keyboard.press("Home")
    said = page.locator("#over-said").inner_text()
    found = re.fullmatch(
        r"1990: 12 documents, 1,200 words; topic 2 ([\d.]+) % of the words \((.+) to (.+) %\)\.",
        said,
    )
    assert found is not None, said
    assert float(found[1]) == pytest.approx(100 * over.share[0, 2], abs=0.51)
    assert float(found[3]) == pytest.approx(100 * over.share_high[0, 2], abs=0.51)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#over-said").inner_text() == "1992: no documents."
    page.keyboard.press("End")
    said = page.locator("#over-said").inner_text()
    assert said.startswith("1997: 1 document, 100 words; topic 2 ")
    assert "no interval" in said
    assert page.locator("#over-large .cursor").count() == 1


def test_a_gap_parts_line_and_band_and_what_is_alone_is_a_dot(pages):
    page = pages("time")
    assert page.locator("#over-large .course").count() == 2  # two years, a gap, five
    assert page.locator("#over-large .band").count() == 2  # the last year has no interval
    assert page.locator("#over-large .dot").count() == 7


def test_pointing_at_the_picture_says_its_numbers(pages):
    for size in (DESKTOP, PHONE):
        page = pages("time", size)
        page.locator("#over-large").scroll_into_view_if_needed()
        box = page.locator("#over-large svg").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 13, box["y"] + 100)
        assert page.locator("#over-said").inner_text().startswith("1997")


def test_a_topic_is_chosen_below_and_shown_above(pages):
    page = pages("time")
    page.locator("#over-all [data-topic='3']").click()
    assert page.locator("#over-head .chip").inner_text() == "3"
    assert page.locator("#topic-table .chip[aria-pressed=true]").inner_text() == "3"
    page.locator("#over-all [data-topic='3']").focus()
    first = small(page)
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator("#over-head .chip").inner_text() == str(first[0])


def test_orders_scales_and_runs(pages):
    page, over = pages("time"), an_over()
    known = over.share[[0, 1, 3, 4, 5, 6, 7]]
    reach = known.max(axis=0) - known.min(axis=0)
    assert small(page) == sorted(range(4), key=lambda k: -round(reach[k], 3))
    page.locator("#over-order").select_option("number")
    assert small(page) == [0, 1, 2, 3]
    page.locator("#over-order").select_option("peak")
    assert sorted(small(page)) == [0, 1, 2, 3]
    tallest = page.locator("#over-all [data-topic='1'] .course").first
    before = tallest.get_attribute("d")
    page.locator("#over-together").check()
    assert (before == tallest.get_attribute("d")) == (np.nanmax(over.share, axis=0).argmax() == 1)
    page.locator("input[name=over][value=run]").check()
    page.locator("#over-large").focus()
    page.keyboard.press("Home")
    assert "words in a run" in page.locator("#over-said").inner_text()


def test_classes_are_rows_with_their_intervals(pages):
    for size in (DESKTOP, PHONE):
        page = pages("class", size)
        rows = page.locator("#over-large li")
        assert rows.count() == 8
        assert "class <0>" in rows.nth(0).inner_text()
        assert " to " in rows.nth(0).inner_text()
        assert rows.nth(2).locator(".point").count() == 0
        assert "no interval" in rows.nth(7).inner_text()
        reach = "document.documentElement.scrollWidth - window.innerWidth"
        assert page.evaluate(reach) <= 0
        amount = rows.nth(0).locator(".amount")
        assert amount.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
        assert page.get_by_role("heading", name="Topics by class").is_visible()


def test_the_table_is_saved(pages):
    page, over = pages("time"), an_over()
    with page.expect_download() as waiting:
        page.locator("[data-table=over] button").first.click()
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text("utf-8"))))
    assert len(rows) == 8 * 4
    assert [float(row["share"]) for row in rows[:4]] == pytest.approx(over.share[0], rel=1e-3)
    assert rows[8]["share"] == rows[28]["share_low"] == ""


def test_topics_are_ordered_and_filtered_by_their_contrast(pages):
    page = pages("time", PHONE)  # where the head of the table is not shown

    def shown():
        return [int(n) for n in page.locator("#topic-table .chip").all_inner_texts()]

    page.locator("#topic-order").select_option("contrast")
    assert shown() == [0, 1, 2, 3]  # the samples have 0.9 to 0.1
    assert page.locator("#topic-table [data-name=contrast]").first.inner_text() == "0.90"
    page.locator("#topic-kind").select_option("sections")
    assert shown() == [2, 3]
    page.locator("#topic-kind").select_option("subjects")
    assert shown() == [0, 1]
    page.locator("#topic-kind").select_option("all")
    page.locator("#topic-order").select_option("number")
    assert shown() == [0, 1, 2, 3]
