"""The report in a real browser: what it shows, and what it does when it is used."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from cohmm.report.labels import checked_labels
from cohmm.report.prepare import model_key, prepare_report
from cohmm.report.render import write
from cohmm.topics.top_words import RELEVANCE, top_words
from tests.report.samples import TRICKY, WORDS, a_trust, an_over, material

DESKTOP, PHONE = (1280, 900), (360, 740)
FORMULA = tuple("=+-@\t\r")  # what a spreadsheet takes for the begin of one
QUOTED = 'the "sea" & it\'s <b>tides</b>'
SECTIONS = ["overview", "topics", "transitions", "summary", "documents", "order"]


class Opened:
    """A page, with all that it asked for and complained about."""

    def __init__(self, context, path):
        self.page = context.new_page()
        self.requests, self.blocked, self.complaints = [], [], []
        self.page.on("requestfailed", lambda request: self.blocked.append(request.failure))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append("a dialog opened"))
        self.page.goto(path.as_uri())
        assert self.page.evaluate("'ready' in document.documentElement.dataset")

    def saved(self, selector):
        with self.page.expect_download() as waiting:
            self.page.locator(selector).click()
        download = waiting.value
        return download.suggested_filename, download.path().read_text("utf-8")

    def data(self):
        return json.loads(self.page.locator("#data").text_content())

    def count(self, selector):
        return self.page.locator(selector).count()

    def text(self, selector):
        return self.page.locator(selector).inner_text()


def wide(page):
    """How far the page reaches beyond the screen."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


CASES = {
    "plain": lambda: material(n_texts=30),
    "tricky": lambda: replace(
        material(vocabulary=TRICKY, n_texts=6, k=3), title=TRICKY[0] + TRICKY[1] + TRICKY[8]
    ),
    "tricky words": lambda: material(vocabulary=TRICKY, n_texts=6, k=3, text=False),
    "states": lambda: material(
        kind="states", vocabulary=tuple(map(str, range(20))), text=False, n_texts=5
    ),
    "one": lambda: material(k=1, n_texts=3),
    "many": lambda: material(
        k=200, vocabulary=tuple(f"w{i}" for i in range(400)), n_texts=4, length=60
    ),
    "short": lambda: replace(
        (base := material(n_texts=3, length=1)),
        readings=(
            *base.readings,
            replace(material(n_texts=1, length=0).readings[0], number=3, name="Empty"),
        ),
    ),
    "right to left": lambda: material(
        vocabulary=("שלום", "ירח", "לחם"), k=2, n_texts=2, text=False
    ),
    "emoji": lambda: replace(
        material(vocabulary=tuple("x" * i + "👩‍🚀🚀" * 40 for i in range(12)), k=3, n_texts=3),
        labels={0: QUOTED, 1: "🚀" * 80},
    ),
    "labelled": lambda: replace(material(n_texts=3), labels={1: "sea", 2: "sky"}),
    "labelled anew": lambda: replace(material(n_texts=3), labels={1: "ocean"}),
    "long names": lambda: replace(
        (base := material(n_texts=12, k=12, vocabulary=tuple(f"{w}-{w}-{w}" for w in WORDS))),
        readings=tuple(
            replace(one, name=f"a/folder/with-a-long-name/{'file' * 5}.txt, line {one.number}")
            for one in base.readings
        ),
    ),
    "over": lambda: replace(material(n_texts=3), over=an_over()),
    "by class": lambda: replace(material(n_texts=3), over=an_over(period=None)),
    "trust": lambda: replace(
        material(n_texts=3, kind="states", text=False), trust=a_trust(), coherence=None
    ),
    "alone": lambda: material(n_texts=0),
    "absorbed": lambda: replace(material(k=3), transitions=np.eye(3)),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    made = {}

    def file(name):
        if name not in made:
            made[name] = folder / f"{name}.html"
            write(prepare_report(CASES[name]()), made[name])
        return made[name]

    return file


@pytest.fixture(scope="module")
def contexts(browser):
    """A window of some size, in light or dark; opening one for every test would take long."""
    made = {}

    def context(size, dark):
        if (size, dark) not in made:
            made[size, dark] = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme="dark" if dark else "light",
            )
        return made[size, dark]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture
def opened(contexts, files):
    """Open a report, which at the end has asked for nothing, and complained of nothing."""
    pages = []

    def open_(name="plain", size=DESKTOP, dark=False):
        pages.append((Opened(contexts(size, dark), files(name)), files(name)))
        return pages[-1][0]

    yield open_
    for one, path in pages:
        one.page.evaluate("localStorage.clear()")
        one.page.close()
        assert set(one.requests) <= {path.as_uri(), "data:,"}
        assert one.complaints == []


# -- what is there -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_report_opens_and_fits_a_phone(opened, name):
    one = opened(name, size=PHONE)
    shown = SECTIONS if name != "alone" else SECTIONS[:4]
    for section in SECTIONS:
        assert one.page.locator(f"section#{section}").is_visible() == (section in shown)
    assert wide(one.page) <= 0
    assert one.page.evaluate("window.hacked") is None
    assert one.count("#topic-table tbody tr") == one.count(".node") == len(one.data()["topics"])
    one.page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    assert wide(one.page) <= 0


def test_the_summary_is_there_without_a_script(browser, files):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files("plain").as_uri())
    assert "cohmm report 'a b' \"c\" <d>" in page.locator("#summary").inner_text()
    assert page.locator("h1").inner_text() == "A <b>small</b> model"
    context.close()


def test_the_first_screen_says_what_there_is_and_leads_on(opened):
    """The topics by their shares, each with three words or its label; all is links."""
    one = opened("labelled")
    data = one.data()
    items = one.page.locator(".glance li")
    shares = [topic["prevalence"] for topic in data["topics"]]
    assert [item["share"] for item in data["glance"]] == sorted(shares, reverse=True)
    assert items.count() == len(data["topics"])
    box = one.page.locator("#overview").bounding_box()
    assert box["y"] + box["height"] <= DESKTOP[1]
    for place, item in enumerate(data["glance"]):
        k = item["topic"]
        assert f"{100 * item['share']:.1f} %" in items.nth(place).inner_text()
        words = one.page.evaluate("k => ownLabel(k)", k)
        assert item["name"] == {1: "sea", 2: "sky"}.get(k, words)
    bars = one.page.locator(".glance .fill").evaluate_all("all => all.map(x => x.clientWidth)")
    assert bars == sorted(bars, reverse=True)
    assert bars[-1] / bars[0] == pytest.approx(min(shares) / max(shares), abs=0.03)
    items.nth(1).locator("a").click()
    assert one.page.evaluate("state.topic") == data["glance"][1]["topic"]


@pytest.mark.parametrize("name", ["tricky", "tricky words"])
def test_words_that_are_markup_are_shown_as_text(opened, name):
    one = opened(name)
    text = one.data()["texts"][0]
    vocabulary = one.data()["vocabulary"]
    shown = one.page.locator("#text .w").evaluate_all("all => all.map(w => w.textContent)")
    assert shown == [vocabulary[w] for w in text["words"]]
    assert one.page.evaluate("document.querySelectorAll('main img, main script').length") == 0


def test_nothing_that_gets_in_can_run(contexts, files):
    """The page's own policy: a script that is not its own does not run."""
    one = Opened(contexts(DESKTOP, False), files("plain"))
    one.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hacked = 1';"
        "document.body.append(s); const i = document.createElement('img');"
        "i.setAttribute('onerror', 'window.hacked = 2'); i.src = 'data:,'; document.body.append(i);"
        "const e = document.createElement('img'); e.src = 'https://example.invalid/x.png';"
        "document.body.append(e) }"
    )
    one.page.wait_for_function("performance.now() > 0")
    assert one.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in one.complaints)
    assert one.blocked == ["csp"]  # the picture was not asked for
    one.page.close()


def test_states_are_called_states(opened):
    one = opened("states")
    assert one.text("#topics-head") == "States"
    assert one.text("#documents-head") == "Sequences"
    assert "Coherence" not in one.text("#topic-table")
    assert re.fullmatch(
        r"[\d, ]+", one.page.locator("#topic-table input").first.get_attribute("placeholder")
    )


# -- what changes when it is used --------------------------------------------------------------


def slide(page, selector, value):
    page.locator(selector).evaluate(
        "(input, value) => { input.value = value;"
        "input.dispatchEvent(new Event('input', { bubbles: true })) }",
        str(value),
    )


def test_the_relevance_slider_orders_words(opened):
    one = opened()
    data = one.data()
    overall, words = data["overall"], data["vocabulary"]
    topic = data["topics"][0]
    orders = []
    for share in (0.0, 0.4, 1.0):
        slide(one.page, "#relevance", share)
        value = {
            words[w]: np.log(p) - (1 - share) * np.log(overall[w])
            for w, p in zip(topic["words"], topic["probabilities"], strict=True)
        }
        shown = one.page.locator("#bars .name").all_inner_texts()
        assert len(shown) == 15
        best = sorted(value.values(), reverse=True)[:15]
        np.testing.assert_allclose([value[word] for word in shown], best, atol=1e-9)
        first = one.page.locator("#topic-table .top-words").first.inner_text().split(" · ")
        assert first == shown[:8]
        assert one.text("#relevance-value") == f"{share:.1f}"
        orders.append(tuple(shown))
    assert len(set(orders)) == 3


def test_distinctive_words_come_first(opened):
    one = opened()
    given = material()
    words = top_words(given.components, given.vocabulary, 15, "relevance", given.prevalence)
    assert one.text("#relevance-value") == f"{RELEVANCE:.1f}"
    assert one.page.locator("#relevance").input_value() == f"{RELEVANCE}"
    assert one.page.locator("#bars .name").all_inner_texts() == words[0]
    holder = one.page.locator("#topic-table input").first.get_attribute("placeholder")
    assert holder == ", ".join(words[0][:3])
    states = opened("states")
    assert states.text("#relevance-value") == "1.0"


def test_the_threshold_slider_hides_edges(opened):
    one = opened()
    transitions = np.array(one.data()["transitions"])
    np.fill_diagonal(transitions, 0)
    follows = transitions / transitions.sum(axis=1, keepdims=True)
    for value in (0, 50, 100):
        slide(one.page, "#threshold", value)
        shown = (follows > 0) & (follows >= value / 100 * follows.max() - 1e-12)
        assert one.count(".edge") == shown.sum()
    assert one.count(".edge") == 1


def test_a_topic_that_is_chosen_is_marked_everywhere(opened):
    one = opened()
    text = one.data()["texts"][0]
    topic = text["path"][0]
    one.page.locator(f"#topic-table .chip[data-topic='{topic}']").click()
    assert one.page.locator(".node[aria-pressed=true]").get_attribute("data-topic") == str(topic)
    assert f"{topic}" in one.text("#selected")
    assert one.text("#detail-head").endswith(str(topic))
    assert one.text("#strongest-head").endswith(str(topic))
    for place in ("#text", "#text-with"):
        assert one.count(f"{place} .w:not(.off)") == text["path"].count(topic)
    assert one.count("#text-without .w:not(.off)") == text["bag"].count(topic)
    on = one.page.locator("#ribbon span:not(.off)")
    assert {item.get_attribute("data-topic") for item in on.all()} == {str(topic)}
    one.page.keyboard.press("Escape")
    assert one.count(".w.off, .edge.off, #ribbon .off") == 0
    assert one.count("[aria-pressed=true][data-topic]") == 0
    assert not one.page.locator("#selection").is_visible()


def test_a_topic_is_chosen_from_anywhere_and_let_go_there(opened):
    one = opened()
    d = next(d for d, text in enumerate(one.data()["texts"]) if 2 in text["path"])
    one.page.evaluate("d => openText(d)", d)
    found = one.page.locator("#topic-table .chip[data-topic='2']")
    for place in (
        ".node[data-topic='2'] .disc",
        "#text .w[data-topic='2']",
        "#ribbon [data-topic='2']",
    ):
        for chosen in (True, False):
            one.page.locator(place).first.click()
            assert found.get_attribute("aria-pressed") == str(chosen).lower()


def test_pointing_at_things_shows_their_numbers(opened):
    one = opened()
    data = one.data()
    one.page.locator(".node[data-topic='1'] .disc").hover()
    assert re.match(r"Topic 1 \(.*\): .* of the words, lasts [\d.]+ words", one.text("#flow"))
    box = one.page.locator("#matrix canvas").bounding_box()
    side = (box["width"] - 26) / 4
    one.page.mouse.move(box["x"] + 26 + 1.5 * side, box["y"] + 26 + 0.5 * side)
    i, j = data["order"][:2]
    assert one.text("#flow").startswith(f"From {i} (")
    assert f" to {j} (" in one.text("#flow")
    p = float(re.search(r"([\d.e-]+) at each word", one.text("#flow"))[1])
    assert p == pytest.approx(data["transitions"][i][j], rel=0.01)
    one.page.locator("#text .w").nth(3).hover()
    text = data["texts"][0]
    assert f"topic {text['path'][3]} (" in one.text("#word")
    assert f"{text['path_p'][3]} % sure" in one.text("#word")


def test_search_finds_marks_and_forgets(opened):
    one = opened()
    data = one.data()
    word = data["vocabulary"][data["texts"][7]["words"][0]]
    one.page.keyboard.press("/")
    one.page.keyboard.type(word.upper())
    matches = [text for text in data["texts"] if word in text["text"]]
    assert one.text("#found").startswith(f"{len(matches)} of 30" if len(matches) < 30 else "30")
    hits = one.page.locator("#text .hit").all_inner_texts()
    assert hits
    assert set(hits) == {word}
    one.page.locator("#search").fill("no such word")
    assert one.text("#found") == "0 of 30 documents"
    assert one.count("#document-list button") == 0
    one.page.locator("#search").press("Escape")
    assert one.text("#found") == "30 documents"
    assert one.count(".hit") == 0


def test_the_filter_keeps_documents_with_a_topic_the_most_of_it_first(opened):
    one = opened()
    one.page.locator("#filter").select_option("2")
    shares = {d: dict(text["shares"]).get(2, 0) for d, text in enumerate(one.data()["texts"])}
    expected = sorted((d for d in shares if shares[d] >= 0.05), key=lambda d: (-shares[d], d))
    shown = one.page.locator("#document-list button").evaluate_all(
        "all => all.map(b => Number(b.dataset.text))"
    )
    assert shown == expected[:8]
    assert one.text("#document-name") == f"Document {expected[0]}" or 0 in expected


def test_the_two_ways_to_read_differ_where_they_should(opened):
    one = opened()
    text = one.data()["texts"][0]

    def topics():
        return one.page.locator("#text .w").evaluate_all("all => all.map(w => +w.dataset.topic)")

    assert topics() == text["path"]
    one.page.get_by_label("each word (posterior)").check()
    assert topics() == text["best"] != text["path"]
    opacity = one.page.locator("#text .w").evaluate_all(
        "all => all.map(w => parseFloat(w.style.getPropertyValue('--p')))"
    )
    np.testing.assert_allclose(opacity, 15 + 0.85 * np.array(text["best_p"]))


def test_what_order_changes_is_marked_and_counted(opened):
    one = opened()
    texts = one.data()["texts"]
    changed = [sum(a != b for a, b in zip(t["path"], t["bag"], strict=True)) for t in texts]
    assert one.count("#text-with .changed") == one.count("#text-without .changed") == changed[0]
    rows = one.page.locator("#order-table tbody tr").all_inner_texts()
    share = [int(re.search(r"([\d.]+) %", row)[1].split(".")[0]) for row in rows]
    assert share[0] == pytest.approx(100 * changed[0] / 40, abs=1)
    assert share[1] == pytest.approx(100 * sum(changed) / (40 * len(texts)), abs=1)
    one.page.locator("#most-changed").click()
    assert one.text("#document-name") == f"Document {int(np.argmax(changed))}"
    assert one.count("#text-with .changed") == max(changed)


def test_labels_are_kept_shown_and_saved(opened):
    one = opened()
    label = QUOTED
    assert one.page.locator("#save-labels").is_disabled()
    one.page.get_by_label("Label of topic 1").fill(label)
    assert label in one.page.locator("#filter option").nth(2).inner_text()
    name, text = one.saved("#save-labels")
    assert name == "labels.json"
    assert json.loads(text) == {"model": one.data()["key"], "labels": {"1": label}}
    one.page.reload()
    assert one.page.get_by_label("Label of topic 1").input_value() == label
    assert label in one.page.locator("#topic-table .chip").nth(1).get_attribute("aria-label")


def shown_labels(one):
    return [one.page.get_by_label(f"Label of topic {k}").input_value() for k in range(4)]


def test_saved_labels_come_back_in_the_next_report(opened, tmp_path):
    one = opened()
    for k, label in ((1, QUOTED), (3, "🚀")):
        one.page.get_by_label(f"Label of topic {k}").fill(label)
    (tmp_path / "labels.json").write_text(one.saved("#save-labels")[1], "utf-8")
    given = material()
    named = checked_labels(tmp_path / "labels.json", 4, model_key(given.components))
    assert prepare_report(replace(given, labels=named))["labels"] == {"1": QUOTED, "3": "🚀"}


def test_labels_that_a_report_came_with(opened):
    one = opened("labelled")
    assert shown_labels(one) == ["", "sea", "sky", ""]
    assert "sky" in one.page.locator("#filter option").nth(3).inner_text()
    one.page.get_by_label("Label of topic 1").fill("")
    one.page.get_by_label("Label of topic 0").fill("land")
    assert json.loads(one.saved("#save-labels")[1])["labels"] == {"0": "land", "2": "sky"}
    one.page.reload()
    assert shown_labels(one) == ["land", "", "sky", ""]
    # A report of the same model with other labels begins with those.
    assert shown_labels(opened("labelled anew")) == ["", "ocean", "", ""]


def test_no_character_is_cut_in_two(opened):
    one = opened("emoji")
    shown = one.page.evaluate("document.querySelector('main').innerText")
    values = one.page.locator("#topic-table input").evaluate_all("all => all.map(i => i.value)")
    assert values == [QUOTED, "🚀" * 80, ""]
    assert "🚀" in shown
    assert "…" in shown
    assert not one.page.evaluate(
        "[...document.querySelectorAll('main *')].some(e => [...e.childNodes].some(n =>"
        "n.nodeType === 3 && !n.data.isWellFormed()))"
    )


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_names_that_are_cut_keep_their_ends(opened, size):
    one = opened("long names", size=size)
    ends = one.page.locator("#document-list .row bdi > span:last-child")
    assert ends.all_inner_texts()[:2] == ["line 0", "line 1"]
    whole = ends.evaluate_all("all => all.every(e => e.scrollWidth <= e.clientWidth)")
    assert whole
    begins = one.page.locator("#document-list .row bdi > span:first-child")
    assert begins.evaluate_all("all => all.every(e => e.scrollWidth > e.clientWidth)")


def test_the_names_in_the_graph_are_whole_and_cover_no_loop(opened):
    one = opened("long names")
    overlaps = one.page.locator("#graph .node").evaluate_all(
        """nodes => nodes.flatMap((node) => {
          const frame = document.querySelector('#graph svg').getBoundingClientRect();
          const loop = node.querySelector('.loop').getBoundingClientRect();
          const [cx, cy] = [(loop.left + loop.right) / 2, (loop.top + loop.bottom) / 2];
          return [...node.querySelectorAll('.name, .last')].map((text) => {
            const box = text.getBoundingClientRect();
            const outside = Math.max(frame.left - box.left, box.right - frame.right,
                                     frame.top - box.top, box.bottom - frame.bottom);
            const dx = Math.max(box.left - cx, 0, cx - box.right);
            const dy = Math.max(box.top + 3 - cy, 0, cy - box.bottom + 3);
            return [text.textContent, outside, Math.hypot(dx, dy) - loop.width / 2];
          });
        })"""
    )
    assert len(overlaps) == 24
    for text, outside, gap in overlaps:
        assert outside <= 0, text
        assert gap >= 0, text
    assert {text[-1] for text, *_ in overlaps[::2]} == {"…"}


def test_every_table_is_saved_as_csv_and_as_json(opened):
    one = opened("tricky")
    places = one.page.locator("[data-table]")
    names = places.evaluate_all("all => all.map(place => place.dataset.table)")
    assert set(names) == {
        "summary", "trace", "topics", "top-words", "transitions", "documents", "words", "shares",
        "order",
    }  # fmt: skip
    one.page.evaluate("() => { window.saved = []; save = (...file) => window.saved.push(file) }")
    one.page.locator("[data-table] button").evaluate_all("all => all.map(one => one.click())")
    files = {name: (type, text) for name, type, text in one.page.evaluate("window.saved")}
    for name in names:
        assert files[f"{name}.csv"][0] == "text/csv;charset=utf-8"
        rows = list(csv.DictReader(io.StringIO(files[f"{name}.csv"][1], newline="")))
        objects = json.loads(files[f"{name}.json"][1])
        assert objects
        assert [list(row) for row in rows] == [list(item) for item in objects]
        for row, item in zip(rows, objects, strict=True):
            texts = [value for value in item.values() if isinstance(value, str)]
            cells = [row[key] for key, value in item.items() if isinstance(value, str)]
            assert cells == [f"'{text}" if text[:1] in FORMULA else text for text in texts]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_no_word_is_a_formula_in_csv(opened, begin):
    page = opened().page
    made = f"asCsv({{columns: ['word', 'share'], rows: [[{json.dumps(begin + 'A1')}, -0.5]]}})"
    ((word, share),) = list(csv.reader(io.StringIO(page.evaluate(made), newline="")))[1:]
    assert (word, share) == (f"'{begin}A1", "-0.5")


def test_dark_and_light_are_a_button_apart_and_remembered(opened):
    one = opened()

    def background():
        return one.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = background()
    one.page.locator("#theme").click()
    assert background() != light
    one.page.reload()
    assert background() != light
    assert (
        opened(dark=True).page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    )


def test_print_shows_everything_and_no_controls(opened):
    one = opened(dark=True)
    one.page.emulate_media(media="print")
    assert not one.page.locator(".controls, .files, header, .list").filter(visible=True).count()
    assert one.page.locator("#text .w").last.is_visible()
    assert (
        one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    assert (
        one.page.evaluate("getComputedStyle(document.getElementById('text')).maxHeight") == "none"
    )


# -- the keyboard ------------------------------------------------------------------------------


def test_the_arrow_keys_go_through_topics(opened):
    one = opened()
    one.page.locator("#topic-table .chip").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        one.page.keyboard.press(key)
    one.page.keyboard.press("Enter")
    assert one.page.locator("#topic-table .chip[aria-pressed=true]").inner_text() == "1"
    assert one.page.locator("#topic-table .chip[tabindex='0']").inner_text() == "1"
    one.page.locator(".node[tabindex='0']").focus()
    one.page.keyboard.press("ArrowRight")
    one.page.keyboard.press(" ")
    order = one.data()["order"]
    chosen = one.page.locator("#topic-table .chip[aria-pressed=true]").inner_text()
    assert chosen == str(order[order.index(1) + 1])


def test_the_arrow_keys_go_through_documents_and_their_pages(opened):
    one = opened()
    one.page.locator("#document-list button").first.focus()
    for _ in range(8):
        one.page.keyboard.press("ArrowDown")
    assert one.text("#page") == "2 of 4"
    one.page.keyboard.press("Enter")
    assert one.text("#document-name") == "Document 8"
    one.page.keyboard.press("ArrowUp")
    assert one.text("#page") == "1 of 4"
    one.page.keyboard.press("Enter")
    assert one.text("#document-name") == "Document 7"


def test_the_arrow_keys_go_through_words_and_through_the_matrix(opened):
    one = opened()
    text = one.data()["texts"][0]
    one.page.locator("#text").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        one.page.keyboard.press(key)
    assert one.page.locator("#text .cursor").get_attribute("data-i") == "1"
    assert f"topic {text['path'][1]} (" in one.text("#word")
    one.page.keyboard.press("Enter")
    chosen = one.page.locator("#topic-table .chip[aria-pressed=true]").inner_text()
    assert chosen == str(text["path"][1])
    one.page.locator("#matrix canvas").focus()
    for key in ("ArrowRight", "ArrowRight"):
        one.page.keyboard.press(key)
    i, j = one.data()["order"][:2]
    assert one.text("#flow").startswith(f"From {i} (")
    assert f" to {j} (" in one.text("#flow")


def test_tab_reaches_every_part(opened):
    one = opened()
    reached = set()
    for _ in range(80):
        one.page.keyboard.press("Tab")
        reached.add(
            one.page.evaluate("document.activeElement.closest('section, header')?.id ?? ''")
        )
    assert set(SECTIONS) <= reached


# -- how far it can be trusted -----------------------------------------------------------------


def test_the_diagnosis_is_read_and_saved_by_keyboard_on_a_phone(opened):
    from playwright.sync_api import expect

    one = opened("trust", size=(390, 844))
    one.page.locator("nav a[href='#trust']").focus()
    one.page.keyboard.press("Enter")
    expect(one.page.locator("#trust-head")).to_be_in_viewport()
    assert one.text("#trust-head") == "Can this fit be trusted?"
    said = ["Good. There is <i>enough</i>.", "Weak. All may be off."]
    assert one.page.locator("#trust .lights li").all_inner_texts() == said
    assert one.page.locator("#overview .lights li").all_inner_texts() == said
    assert one.page.locator("#trust ol li").all_inner_texts() == [
        "Try <b>5</b> states",
        "Find more data",
    ]
    one.page.keyboard.press("Tab")  # from the section that the link led to, to its first button
    assert one.page.evaluate("document.activeElement.ariaLabel") == "Save diagnosis as CSV"
    with one.page.expect_download() as waiting:
        one.page.keyboard.press("Enter")
    rows = list(csv.reader(io.StringIO(waiting.value.path().read_text("utf-8"))))
    assert rows[1] == ["Fit of", "4 topics, 20 symbols"]
    assert rows[-1] == ["Next, 2", "Find more data"]
    assert not one.page.locator("#trust dl").is_visible()
    one.page.locator("#trust summary").press("Enter")
    assert one.page.locator("#trust dt").all_inner_texts() == ["Fit of", "Scatter", "Not answered"]
    assert one.page.locator("#trust dd").nth(1).inner_text() == "not refuted <i>so far</i>"
    assert wide(one.page) <= 0


def test_intervals_stand_on_bars_and_are_said_of_transitions(opened):
    one = opened("trust")
    data = one.data()
    topic = data["topics"][1]
    one.page.locator("#topic-table .chip").nth(1).click()
    bars = one.page.locator("#bars li").evaluate_all(
        """all => all.map(li => ['.track', '.fill', '.whisker'].map(part => {
          const box = li.querySelector(part).getBoundingClientRect();
          return [box.left, box.right] }))"""
    )
    first = bars[0]
    scale = (first[1][1] - first[0][0]) / topic["probabilities"][0]
    for (track, _, whisker), low, high in zip(bars, topic["low"], topic["high"], strict=False):
        assert whisker[0] - track[0] == pytest.approx(scale * low, abs=1.5)
        assert whisker[1] - track[0] == pytest.approx(scale * high, abs=2.5)
        assert whisker[1] <= track[1] + 2.5
    assert re.search(r"\d\u20130\.\d", one.text("#bars li:first-child .note"))
    one.page.locator("#matrix canvas").focus()
    for key in ("ArrowRight", "ArrowRight"):
        one.page.keyboard.press(key)
    i, j = data["order"][:2]
    said = re.search(r"\(90 %: ([\d.e-]+)\u2013([\d.e-]+)\) at each symbol", one.text("#flow"))
    assert float(said[1]) == pytest.approx(data["transitions_low"][i][j], rel=0.06)
    assert float(said[2]) == pytest.approx(data["transitions_high"][i][j], rel=0.06)
    # Where nothing is known, a line is cut at the end of its track.
    one.page.locator("#topic-table .chip").nth(0).click()
    assert one.page.evaluate(
        """() => [...document.querySelectorAll('#bars .track')].every(track =>
          track.querySelector('.whisker').getBoundingClientRect().right
          <= track.getBoundingClientRect().right + 2.5)"""
    )


# -- everyone can read it ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {}),
        ("plain", {"dark": True}),
        ("tricky", {"size": PHONE}),
        ("over", {"size": PHONE}),
        ("by class", {}),
        ("trust", {"size": PHONE}),
        ("trust", {"dark": True}),
    ],
)
def test_no_serious_complaint_of_axe(opened, name, options):
    from axe_playwright_python.sync_playwright import Axe

    one = opened(name, **options)
    if not options:
        one.page.locator("#topic-table .chip").nth(1).click()
    found = Axe().run(one.page).response["violations"]
    serious = [
        (item["id"], node["html"][:200], node["any"][:1])
        for item in found
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]
    assert serious == []


def test_text_that_runs_from_the_right_does(opened):
    one = opened("right to left")
    for place in ("#text", "#text-with", "#text-without"):
        shown = one.page.locator(place)
        assert shown.evaluate("place => getComputedStyle(place).direction") == "rtl"
        left, right = (shown.locator(".w").nth(i).bounding_box()["x"] for i in (1, 0))
        assert left < right
    assert one.count("#bars bdi.name") == one.count("#bars li")
