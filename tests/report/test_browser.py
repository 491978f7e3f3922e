"""The report in a real browser: opened from disk, clicked, typed into, printed, and with hostile texts."""

import base64
import io
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from anchorless._report.html import ReportData, ReportGroup, render_report, write_report
from tests.helpers.report_records import (
    HOSTILE,
    ODD_TEXTS,
    large,
    one_topic,
    plain,
    unknown_measures,
    with_texts,
    words,
)

selenium = pytest.importorskip("selenium", reason="selenium is not installed: pip install anchorless[test]")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no Chromium with ChromeDriver here: apt-get install chromium chromium-driver",
)
#: Headless, with a fresh profile, and without the connections that a browser makes by itself.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
DESKTOP, PHONE = (1280, 900), (360, 740)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
        yield driver
        driver.quit()


class Page:
    """A report that is open in the browser."""

    def __init__(self, driver, path: Path) -> None:
        self.driver, self.path = driver, path

    def open(self, address: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(self.path.as_uri() + address)

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> None:
        self.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector
        )
        self.find(selector).click()

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def search(self, text: str) -> None:
        box = self.find("#query")
        box.clear()
        box.send_keys(text)
        self.wait(lambda: not text or not self.run("return document.getElementById('results').hidden"))
        self.wait(lambda: self.hash.q == (text or None))

    def wait(self, condition) -> None:
        WebDriverWait(self.driver, 10, poll_frequency=0.02).until(lambda _: condition())

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    @property
    def hash(self) -> SimpleNamespace:
        topic, q = self.run(
            "const p = new URLSearchParams(location.hash.slice(1)); return [p.get('topic'), p.get('q')]"
        )
        return SimpleNamespace(topic=topic, q=q)

    @property
    def chosen(self) -> dict[str, str]:
        """The chosen topic according to each part of the page."""
        return {
            "heading": self.find("#chosen-heading").text,
            "bar": self.find("#now").text.split(" · ")[1],
            "card": self.texts(".card.on h3 button")[0],
            "figure": self.find("#view .on").get_attribute("aria-label").split(": ")[1].split(". ")[0],
            "documents": self.find("#documents-note").text.split("“")[1].split("”")[0],
            "time": self.find("#time-note").text.split("“")[1].split("”")[0],
            "labels": self.find("#labels-note").text.split("“")[1].split("”")[0],
            "table": self.run("return document.querySelector('.heat thead .on button').title").split(": ")[1],
            "effects": self.texts("#effects-chosen h3")[0].split(": ")[1],
            "differences": self.find("#effects-all .on").get_attribute("aria-label").split(": ")[1],
        }  # fmt: skip

    def console_messages(self) -> list:
        return self.driver.get_log("browser")


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that writes a report and opens it from disk; at the end the console must be empty."""
    pages = []

    def open_report(data: ReportData, size=DESKTOP, scheme="light", media="") -> Page:
        path = tmp_path / f"report {len(pages)} é.html"
        write_report(path, data)
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        page = Page(browser, path)
        page.open()
        pages.append(page)
        return page

    browser.get_log("browser")
    yield open_report
    assert browser.get_log("browser") == []


def is_all(chosen: dict[str, str], label: str) -> bool:
    return all(value.startswith(label) for value in chosen.values())


# ---- opening ----


RECORDS = {
    "plain": plain,
    "one topic": one_topic,
    "unknown measures": unknown_measures,
    "odd texts": lambda: with_texts(ODD_TEXTS),
    "hostile texts": lambda: with_texts(HOSTILE),
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_view_opens_without_console_messages_and_without_horizontal_scrolling(opened, record, size):
    data = record()
    page = opened(data, size)
    assert len(page.all(".card")) == len(data.topics)
    for view in ("matrix", "shares", "map"):
        page.click(f"#views label:has([value={view}])")
        assert page.run("return document.documentElement.scrollWidth") <= size[0]
        assert page.run(WIDE, size[0]) == []
    page.click("#measures label:has([value=distinctiveness])")
    page.search("a")
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    assert page.run(WIDE, size[0]) == []


#: Elements that reach beyond the right edge, except in the table that scrolls by itself.
WIDE = """return [...document.querySelectorAll('main *, .bar *, .masthead *')].filter((e) =>
    !e.closest('.scroll, .sr, svg') && e.getClientRects().length && e.getBoundingClientRect().right > arguments[0] + 1)
    .map((e) => e.outerHTML.slice(0, 200))"""


def test_no_resource_is_loaded(opened):
    page = opened(plain())
    assert page.run("return performance.getEntriesByType('resource').map((e) => e.name)") == []


def test_the_largest_topic_is_chosen_at_first(opened):
    assert is_all(opened(plain()).chosen, "court, judge")


def test_unknown_measures_are_shown_as_a_dash(opened):
    page = opened(unknown_measures())
    assert page.texts("#chosen-figures dd") == ["–", "–", "–"]
    assert page.texts("#words td")[2:] == ["–", "–"]
    assert "NaN" not in page.find("body").text
    assert "undefined" not in page.find("body").text


# ---- hostile texts ----


@pytest.mark.parametrize(
    "address", ["", "#topic=2", "#topic=<img src=x onerror=window.pwned=1>", "#%", "#topic=2&q=%3Cscript%3E"]
)
def test_hostile_texts_are_shown_as_texts(opened, address):
    page = opened(with_texts(HOSTILE))
    page.open(address)
    page.search("script")
    assert page.run("return [window.pwned, document.scripts.length]") == [None, 2]
    assert page.all("img, iframe, base, object, embed, link, [onmouseover], [onload], [onerror]") == []
    assert page.run("return document.querySelectorAll('style').length") == 1
    assert page.find("h1").text == HOSTILE[0]
    shown = page.texts("#results .text")
    wanted = [" ".join(text.split()) for text in HOSTILE if "script" in text]
    assert set(wanted) <= set(shown)
    assert set(page.texts("#diagnostics dt")) == {" ".join(text.split()) for text in HOSTILE}


def test_the_browser_itself_refuses_markup_and_scripts_from_texts(opened):
    page = opened(plain())
    outcome = page.run("""
        try { document.body.innerHTML = "<b>x</b>"; return "allowed"; } catch (error) { return error.name; }""")
    assert outcome == "TypeError"
    assert page.all(".card") != []
    messages = page.console_messages()
    assert messages
    assert all("TrustedHTML" in entry["message"] for entry in messages)


# ---- choosing a topic ----

CLICKS = {
    "map": ".node[aria-label^='Topic 2']",
    "card": "#cards .card:nth-child(3) h3 button",  # third by share
    "table": ".heat thead th:nth-child(4) button",
}


@pytest.mark.parametrize("place", CLICKS)
def test_a_click_chooses_a_topic_everywhere_and_back_returns(opened, place):
    page = opened(plain())
    page.click(CLICKS[place])
    page.wait(lambda: page.hash.topic == "2")
    assert is_all(page.chosen, "sail, wind")
    assert page.texts("#document-list .id b") == ["doc-1", "doc-0"]  # the representative one, then by share
    assert page.texts("#words .word") == ["sail", "wind", "sea"]
    page.click(".node[aria-label^='Topic 4']")
    page.wait(lambda: is_all(page.chosen, "café, coffee"))
    page.driver.back()
    page.wait(lambda: is_all(page.chosen, "sail, wind"))
    page.driver.back()
    page.wait(lambda: is_all(page.chosen, "court, judge"))
    page.driver.forward()
    page.wait(lambda: is_all(page.chosen, "sail, wind"))


@pytest.mark.parametrize("view", ["matrix", "shares"])
def test_the_other_views_choose_too(opened, view):
    page = opened(plain())
    page.click(f"#views label:has([value={view}])")
    page.click("#view .row[aria-label^='Topic 4']")
    page.wait(lambda: is_all(page.chosen, "café, coffee"))


def test_related_topics_chips_and_neighbors_choose_too(opened):
    page = opened(plain())
    page.click("#next")
    page.wait(lambda: is_all(page.chosen, "ship, sea"))
    assert page.texts("#related .r") == ["+0.60", "−0.40"]
    page.click("#related .link")
    page.wait(lambda: is_all(page.chosen, "sail, wind"))
    assert page.run("return document.activeElement.id") == "chosen"
    page.click("#document-list .chips button:not(.on)")
    page.wait(lambda: is_all(page.chosen, "ship, sea"))
    page.click("#previous")
    page.wait(lambda: is_all(page.chosen, "court, judge"))
    page.click("#previous")  # from the first to the last
    page.wait(lambda: is_all(page.chosen, "café, coffee"))


def test_a_line_over_time_chooses_its_topic(opened):
    page = opened(plain())
    page.run("document.querySelector('#time').scrollIntoView({block: 'center', behavior: 'instant'})")
    x, y = page.run("""
        const box = document.querySelector('#time-chart svg').getBoundingClientRect();
        const end = document.querySelectorAll('#time-chart .line')[0].getPointAtLength(1e9);
        return [box.left + end.x, box.top + end.y]""")
    action = ActionChains(page.driver)
    action.w3c_actions.pointer_action.move_to_location(int(x) - 1, int(y)).click()
    action.perform()
    page.wait(lambda: is_all(page.chosen, "ship, sea"))
    assert "2002: 40.0%" in page.texts("#time-chart .callout")[0]


# ---- effects ----


def test_a_row_of_the_effects_on_all_topics_chooses_its_topic(opened):
    page = opened(plain())
    page.click("#effects-all .row[aria-label^='Topic 2']")
    page.wait(lambda: is_all(page.chosen, "sail, wind"))
    page.press(Keys.ARROW_DOWN)
    page.wait(lambda: is_all(page.chosen, "court, judge"))


def test_differences_of_the_chosen_topic_have_their_intervals_and_filled_circles_are_significant(opened):
    page = opened(plain())
    page.open("#topic=2")
    rows = "return [...document.querySelectorAll('#effects-chosen .effect')]"
    names = page.run(f"{rows}.map((e) => e.querySelector('text').textContent)")
    assert names == ["party: B − A", "age: 60 − 30"]
    assert page.texts("#effects-chosen .figure-text") == ["−6.0 (−8.0 to −4.0)", "+1.5 (−0.5 to +3.5)"]
    circles = page.run(
        "return [...document.querySelectorAll('#effects-chosen .estimate')].map((e) => e.classList.contains('open'))"
    )
    assert circles == [False, True]
    zero, low, high, middle = page.run("""
        const at = (selector, name) => Number(document.querySelector('#effects-chosen ' + selector).getAttribute(name));
        return [at('.zero', 'x1'), at('.whisker', 'x1'), at('.whisker', 'x2'), at('.estimate', 'cx')]""")
    assert low < middle < high < zero
    np.testing.assert_allclose((zero - high) / (zero - low), 0.5, atol=1e-3)
    assert "party: B − A, −6.0 percentage points" in page.find("#effects-chosen svg").get_attribute("aria-label")


def test_another_difference_of_all_topics_can_be_chosen(opened):
    page = opened(plain())
    first = page.texts("#effects-all .figure-text")
    assert first[0] == "+4.0 (+2.5 to +5.5)"
    page.run("""
        const box = document.getElementById('effects-comparison');
        box.value = 1;
        box.dispatchEvent(new Event('change'))""")
    assert page.texts("#effects-all .figure-text")[2] == "−2.0 (−3.5 to −0.5)"
    assert is_all(page.chosen, "court, judge")


def test_a_curve_says_whether_it_varies_and_is_read_with_the_keyboard(opened):
    page = opened(plain())
    page.open("#topic=1")
    assert "It varies with day (p = 0.01)." in page.find("#effects-chosen .curve").text
    page.run("document.querySelector('#effects-chosen .curve svg').focus()")
    page.press(Keys.ARROW_RIGHT)
    page.press(Keys.ARROW_RIGHT)
    assert page.texts("#announcement") == ["2008-06-01: 20.0% (10.0% to 30.0%)"]
    page.open("#topic=3")
    assert "The data cannot tell whether it varies with day (p = 1.00)." in page.find("#effects-chosen .curve").text


def test_effects_on_some_topics_and_on_topics_together(opened):
    data = plain()
    some = data.effects._replace(
        targets=[data.effects.targets[0], data.effects.targets[1]._replace(name="2+3", topics=[1, 2])]
    )
    page = opened(data._replace(effects=some))
    assert page.texts("#effects-chosen h3") == ["Topics 2+3 together: sail, wind"]
    page.open("#topic=4")
    assert page.texts("#effects-chosen .note") == ["No effects on “café, coffee” were estimated."]


def test_without_effects_there_is_no_section(opened):
    page = opened(plain()._replace(effects=None))
    assert not page.find("#effects").is_displayed()
    assert opened(plain()).find("#effects").is_displayed()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_names_of_effects_are_whole_and_do_not_leave_the_figure(opened, size):
    names = ["package: scikit-learn − numpy", "year: 2010 − 2000"]
    data = plain()
    page = opened(data._replace(effects=data.effects._replace(comparisons=names)), size)
    assert page.texts("#effects-chosen .effect-name") == names
    outside = page.run(
        """
        return [...document.querySelectorAll('.effect-name')].filter((name) => {
          const box = name.getBoundingClientRect(), figure = name.closest('svg').getBoundingClientRect();
          return box.left < figure.left - 0.5 || box.right > figure.right + 0.5;
        }).length
        """
    )
    assert outside == 0


def test_a_map_of_unrelated_topics_shows_them_and_says_why_it_has_no_lines(opened):
    page = opened(plain()._replace(association=np.eye(4).tolist()))
    assert len(page.all("#view .node")) == 4
    assert page.all("#view .link-line") == []
    note = page.find("#view-note").text
    assert note.startswith("No two topics are together more or less often than their sizes explain")
    assert "thicker lines" not in note
    centers = sorted(node.rect["y"] + node.rect["height"] / 2 for node in page.all("#view .node circle"))
    assert centers[1] - centers[0] < 20  # rows, moved for the radii
    assert centers[2] - centers[1] > 150


def test_notes_on_the_data_have_their_numbers_what_helps_and_examples(opened):
    page = opened(plain())
    assert page.texts("#quality-list dt") == ["near-copies"]
    found = page.texts("#quality-list dd")[0]
    assert found.startswith("2 documents (40.0%). Set deduplicate.")
    assert page.texts("#quality-list li") == ["The ship left the harbour.", "Sea law: the court and the ship."]
    assert not opened(plain()._replace(quality=())).find("#quality").is_displayed()


def grouped():
    """Return a record with groups of topics on two levels, one with a hostile label."""
    small = [ReportGroup("ships", 0.5, [0, 2], []), ReportGroup(HOSTILE[0], 0.3, [1], [])]
    return plain()._replace(groups=[ReportGroup("sea", 0.8, [0, 1, 2], small), ReportGroup("land", 0.2, [3], [])])


def test_groups_have_colors_and_a_legend_that_shows_their_topics(opened):
    page = opened(grouped())
    colors = page.run("return [...document.querySelectorAll('.node')].map((n) => n.style.getPropertyValue('--group'))")
    assert sorted(colors) == ["var(--c0)"] * 3 + ["var(--c1)"]
    entries = page.all("#view .legend button")
    assert len(entries) == 2
    ActionChains(page.driver).move_to_element(entries[0]).perform()
    assert len(page.all(".node.faded")) == 1
    ActionChains(page.driver).move_to_element(page.find("h1")).perform()
    assert page.all(".node.faded") == []
    entries[1].click()
    assert page.hash.topic == "4"
    assert opened(plain()).all(".legend, .grouped") == []


def test_a_click_shows_the_whole_text_and_another_one_its_beginning(opened, tmp_path):
    texts = {"doc-2": "The judge spoke in court.\n\n<b>Then</b> she left.", "unknown": "?"}
    (tmp_path / "whole.html").write_text(render_report(plain(), texts), encoding="utf-8")
    page = opened(plain())
    assert page.all(".whole-text") == []
    page.path = tmp_path / "whole.html"
    page.open()
    assert len(page.all("#document-list .whole-text")) == 1
    page.click("#document-list .whole-text")
    assert page.texts("#document-list .text")[0] == texts["doc-2"]
    page.click("#document-list .whole-text")
    assert page.texts("#document-list .text")[0] == "The judge spoke in court."


def test_the_search_says_what_it_searches(opened):
    page = opened(plain()._replace(n_documents=1234))
    assert page.find("#query").get_attribute("placeholder") == "Search 5 documents on this page"
    page.search("sea")
    note = page.find("#results .note").text
    assert "documents on this page" in note
    assert "5 of 1,234 documents are on this page; the others are not searched." in note


def test_the_note_of_the_chosen_topic_is_shown(opened):
    record = plain()
    topics = [record.topics[0], *(topic._replace(note="<b>first</b>\nsecond") for topic in record.topics[1:])]
    page = opened(record._replace(topics=topics))
    assert page.texts("#chosen-note:not([hidden])") == ["<b>first</b>\nsecond"]
    while page.chosen["heading"] != record.topics[0].label:
        page.click("#next")
    assert page.all("#chosen-note:not([hidden])") == []


def test_groups_are_a_tree_in_which_topics_are_chosen(opened):
    page = opened(grouped())
    assert len(page.all("#group-tree > details")) == 2
    assert len(page.all("#group-tree details details")) == 2
    assert page.texts("#group-tree > details > summary")[1].endswith("land (1 topic)")
    page.click("#group-tree > details:nth-child(2) button")
    assert page.chosen["heading"] == page.texts("#group-tree > details:nth-child(2) button")[0]
    assert page.texts("#group-tree [aria-current=true]") == page.texts("#group-tree > details:nth-child(2) button")
    assert page.console_messages() == []


def test_the_group_of_a_chosen_topic_is_opened_and_without_groups_there_is_no_section(opened):
    page = opened(grouped())
    page.click("#next")
    assert page.run("return document.querySelector('#group-tree [aria-current=true]').closest('details').open")
    assert not opened(plain()).find("#groups").is_displayed()


def test_bars_over_time_show_the_number_of_documents(opened):
    data = plain()
    page = opened(data._replace(prevalence=data.prevalence._replace(counts=[1000, 2000, 500])))
    heights = page.run(
        "return [...document.querySelectorAll('#time-chart .count')].map((e) => Number(e.getAttribute('height')))"
    )
    np.testing.assert_allclose(heights, np.array([0.5, 1.0, 0.25]) * max(heights), atol=0.2)
    assert "at most 2,000" in page.find("#time-note").text


def test_means_by_label_and_over_time_have_their_intervals(opened):
    data = plain()
    assert "Intervals" not in opened(data).find("#time-note").text
    tables = {
        name: table._replace(low=np.subtract(table.values, 0.15).tolist(), high=np.add(table.values, 0.05).tolist())
        for name, table in (("prevalence", data.prevalence), ("labels", data.labels))
    }
    page = opened(data._replace(**tables))
    assert page.texts("#label-bars span:last-child") == ["30.0% (15.0% to 35.0%)", "20.0% (5.0% to 25.0%)"]
    edges = "return [...document.querySelectorAll('#label-bars .hbar')].map((e) => e.getBoundingClientRect())"
    first, second = page.run(edges)
    assert first["left"] == second["left"]  # bars can be compared, however long the numbers beside them are
    np.testing.assert_allclose(second["width"] / first["width"], 2 / 3, rtol=0.02)
    for place in ("#time-note", "#labels-note"):
        assert "Intervals (90%) are about which documents were collected" in page.find(place).text
    assert page.find("#time-chart .band").get_attribute("d").count("L") == 5
    page.run("document.querySelector('#time-chart svg').focus()")
    page.press(Keys.ARROW_RIGHT)
    assert page.find("#announcement").get_attribute("textContent") == "2000: 40.0% (25.0% to 45.0%), 1 document"


def test_an_address_opens_its_topic_and_search(opened):
    page = opened(plain())
    page.open("#topic=4&q=coffee")
    assert is_all(page.chosen, "café, coffee")
    assert page.find("#query").get_attribute("value") == "coffee"
    assert page.texts("#results .id b") == ["doc-3"]


def test_words_are_ordered_by_the_chosen_measure(opened):
    page = opened(plain())
    assert page.texts("#words .word") == ["court", "judge", "law"]
    page.click("#measures label:has([value=probability])")
    assert page.texts("#words .word") == ["judge", "court", "law"]
    page.click("#measures label:has([value=distinctiveness])")
    assert page.texts("#words .word") == ["law", "judge", "court"]
    assert page.texts(".card.on li span:first-child") == ["law", "judge", "court"]
    lengths = page.run("return [...document.querySelectorAll('#words .hbar')].map((e) => e.offsetWidth)")
    assert lengths[0] > lengths[1] > lengths[2] > 0


def test_positive_and_negative_lines_differ_in_more_than_color(opened):
    page = opened(plain())
    dashes = "return [...document.querySelectorAll(arguments[0])].map((e) => getComputedStyle(e).strokeDasharray)"
    positive, negative = page.run(dashes, ".link-line:not(.negative)"), page.run(dashes, ".link-line.negative")
    assert set(positive) == {"none"}
    assert negative
    assert "none" not in negative


#: The number of visible labels that a line crosses, found by sampling points along the lines.
CROSSED = """
    const lines = [...document.querySelectorAll("#view .link-line")];
    return [...document.querySelectorAll("#view .name:not(.quiet)")].filter((name) => {
      const box = name.getBBox();
      return lines.some((line) => [...Array(400).keys()].some((i) => {
        const point = line.getPointAtLength((i / 399) * line.getTotalLength());
        const [right, bottom] = [box.x + box.width, box.y + box.height];
        return point.x > box.x && point.x < right && point.y > box.y + 2 && point.y < bottom - 2;
      }));
    }).length;
"""


def test_few_lines_cross_labels(opened):
    crossed = []
    for seed in range(6):
        R = np.random.default_rng(seed).uniform(-0.6, 0.6, (4, 4))
        R = (R + R.T) / 2
        np.fill_diagonal(R, 1.0)
        crossed.append(opened(plain()._replace(association=R.tolist())).run(CROSSED))
    assert sum(crossed) <= 4  # of 24; it would be 9 if labels took the first free place


# ---- search ----


def test_search_finds_words_and_documents_whatever_the_case_and_accents(opened):
    page = opened(plain())
    page.search("café")
    assert page.texts("#results .found b") == ["Café"]
    assert page.texts("#results .id b") == ["doc-3"]
    assert page.texts("#results mark") == ["Café", "CAFE"]
    page.search("sea court")  # documents must have both, words any
    assert page.texts("#results .id b") == ["doc-4"]
    assert page.texts("#results .found b") == ["court", "sea"]
    page.search("zebra")
    assert page.find("#results h2").text == "Found 0 words and 0 documents"
    page.press(Keys.ESCAPE)
    page.wait(lambda: page.run("return document.getElementById('results').hidden"))
    assert page.hash.q is None


def test_a_topic_of_a_result_is_chosen_and_the_search_stays(opened):
    page = opened(plain())
    page.search("wind")
    page.click("#results .found .link")
    page.wait(lambda: is_all(page.chosen, "sail, wind"))
    assert page.hash.q == "wind"
    assert page.texts("#results .id b") == ["doc-1"]


def test_a_word_of_the_chosen_topic_is_searched_by_a_click(opened):
    page = opened(plain())
    page.click("#words .word")
    page.wait(lambda: page.hash.q == "court")
    assert page.texts("#results .id b") == ["doc-2", "doc-4"]


def test_marks_fall_on_whole_characters(opened):
    data = plain()
    texts = ["ﬁsh and e\u0301te\u0301 👩‍👧 fish", "İstanbul ISTANBUL", "Straße 漢字"]
    documents = [d._replace(snippet=text) for d, text in zip(data.documents, texts, strict=False)]
    documents += data.documents[3:]
    page = opened(data._replace(documents=documents))
    for query, marks in [
        ("fish", ["ﬁsh", "fish"]),
        ("ete", ["e\u0301te"]),
        ("istanbul", ["İstanbul", "ISTANBUL"]),
        ("字", ["字"]),
    ]:
        page.search(query)
        assert page.texts("#results mark") == marks
        assert page.texts("#results .text")[0] in texts


def test_search_over_ten_thousand_documents_counts_as_python_does(opened):
    data = large()
    page = opened(data)
    for query in ("77", "part-3", "label 19"):
        page.search(query)
        fields = ((d.id, d.snippet[:240], d.label) for d in data.documents)
        expected = sum(all(any(term in field for field in row) for term in query.split()) for row in fields)
        assert f"and {expected:,} documents" in page.find("#results h2").text
    assert len(page.all("#results .documents > li")) == 20
    page.click("#results .more")
    assert len(page.all("#results .documents > li")) == 60


def test_more_documents_are_shown_on_demand(opened):
    page = opened(large(4, 200))
    before = page.texts("#document-list .id b")
    page.click("#more")
    after = page.texts("#document-list .id b")
    assert len(before) == 10
    assert len(after) == 30
    assert after[:10] == before
    assert len(set(after)) == 30


# ---- keys ----


def test_arrow_keys_move_on_the_map_and_one_tab_enters_it(opened):
    page = opened(plain())
    assert len(page.all(".node[tabindex='0']")) == 1
    page.run("document.querySelector('.node.on').focus()")
    page.press(Keys.ARROW_RIGHT)
    page.wait(lambda: is_all(page.chosen, "ship, sea"))
    page.press(Keys.ARROW_LEFT)
    page.press(Keys.ARROW_LEFT)
    page.wait(lambda: is_all(page.chosen, "café, coffee"))
    assert page.run("return document.activeElement.getAttribute('aria-label')").startswith("Topic 4")
    page.press(Keys.HOME)
    page.wait(lambda: is_all(page.chosen, "court, judge"))


def test_arrow_keys_move_between_cards_and_enter_chooses(opened):
    page = opened(plain())
    page.run("document.querySelector('.card button').focus()")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert page.run("return document.activeElement.textContent") == "sail, wind"
    assert is_all(page.chosen, "court, judge")
    page.press(Keys.ENTER)
    page.wait(lambda: is_all(page.chosen, "sail, wind"))


def test_slash_searches_and_brackets_change_the_topic(opened):
    page = opened(plain())
    page.press("]")
    page.wait(lambda: is_all(page.chosen, "ship, sea"))
    page.press("[")
    page.wait(lambda: is_all(page.chosen, "court, judge"))
    page.press("/")
    assert page.run("return document.activeElement.id") == "query"
    page.press("[/]")
    assert page.find("#query").get_attribute("value") == "[/]"
    assert is_all(page.chosen, "court, judge")


def test_arrow_keys_read_the_chart_over_time(opened):
    page = opened(plain())
    page.run("document.querySelector('#time-chart svg').focus()")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.find("#announcement").get_attribute("textContent") == "2001: 40.0%, 1 document"


def test_every_tab_stop_has_a_name_and_visible_focus(opened):
    page = opened(plain())
    stops = []
    for _ in range(60):
        page.press(Keys.TAB)
        stop = page.run("""
            const e = document.activeElement;
            const drawn = e.matches("input[type=radio]") ? e.nextSibling : e.querySelector(":scope > circle") || e;
            const style = getComputedStyle(drawn), labels = [...(e.labels || [])].map((l) => l.textContent).join();
            const seen = parseFloat(style.outlineWidth) >= 2 || parseFloat(style.strokeWidth) >= 3;
            return [e.tagName, e.getAttribute("aria-label") || e.textContent.trim() || labels, seen]""")
        if stop[0] == "BODY":
            break
        stops.append(stop)
    assert len(stops) > 15
    assert all(name and visible for _, name, visible in stops), stops
    assert stops[-1][0] != "BODY"


# ---- light, dark, print ----


def test_dark_and_light_follow_the_reader(opened):
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert opened(plain(), scheme="light").run(ground) == "rgb(255, 255, 255)"
    assert opened(plain(), scheme="dark").run(ground) == "rgb(21, 24, 27)"


def test_print_shows_topics_without_controls(opened):
    page = opened(plain(), scheme="dark", media="print")
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for selector in ("#bar", "#views", "#measures", "#label-table"):
        assert not page.find(selector).is_displayed()
    for selector in ("h1", "#view svg", "#words", "#cards .card", "#diagnostics"):
        assert page.find(selector).is_displayed()
    pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")


def test_a_heading_is_on_the_page_of_its_figure_wherever_the_pages_end(opened):
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed: pip install 'anchorless[test-all]'")
    page = opened(large(12, 20)._replace(places=np.random.default_rng(0).random((20, 2)).tolist()), media="print")
    for height in (9.0, 10.0, 11.0, 11.7):
        found = page.driver.execute_cdp_cmd("Page.printToPDF", {"paperHeight": height})["data"]
        sheets = pypdf.PdfReader(io.BytesIO(base64.b64decode(found))).pages
        texts = [" ".join(sheet.extract_text().split()) for sheet in sheets]
        pairs = (("Map of the documents", "directions and large distances"), ("share of all text", "exclusivity"))
        pairs += (("Often together", "more or less often than their sizes explain"),)
        for first, second in pairs:  # a heading and its caption; numbers of a topic and their names
            assert any(first in text and second in text for text in texts), (height, first)


def test_the_map_adapts_to_the_width_and_circles_do_not_overlap(opened):
    page = opened(large(50, 20), PHONE)
    boxes = """return [...document.querySelectorAll('.node circle')].map((c) =>
        [...["cx", "cy", "r"].map((name) => +c.getAttribute(name)), c.ownerSVGElement.viewBox.baseVal.width])"""
    for size in (PHONE, DESKTOP):
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        page.wait(lambda size=size: (page.run(boxes)[0][3] > 400) == (size is DESKTOP))
        circles = page.run(boxes)
        assert len(circles) == 50
        for i, (x, y, r, width) in enumerate(circles):
            assert x - r >= 0
            assert x + r <= width
            for a, b, s, _ in circles[:i]:
                assert (x - a) ** 2 + (y - b) ** 2 >= (r + s) ** 2


def test_the_map_is_the_same_every_time(opened):
    drawing = "return document.querySelector('#view svg').outerHTML"
    assert opened(large(30, 20)).run(drawing) == opened(large(30, 20)).run(drawing)


def test_associations_are_described_as_often_and_rarely_together(opened):
    page = opened(plain())
    page.click("#next")
    page.wait(lambda: is_all(page.chosen, "ship, sea"))
    assert page.texts("#related h3") == ["Often together", "Rarely together"]
    page.click("#views label:has([value=matrix])")
    assert "Often together with sail, wind +0.60" in page.find("#view .row.on").get_attribute("aria-label")


def test_a_positive_share_is_not_shown_as_zero(opened):
    data = plain()
    shares = [0.9996, 0.0004, 0.0005, 0.0]
    page = opened(data._replace(topics=[t._replace(share=s) for t, s in zip(data.topics, shares, strict=True)]))
    assert [text.split()[0] for text in page.texts(".share-line")] == ["100.0%", "0.1%", "<0.1%", "0.0%"]


def test_a_topic_of_junk_is_marked_in_the_list_of_topics_and_when_it_is_chosen(opened):
    data = plain()
    first, *others = data.topics
    page = opened(data._replace(topics=[first._replace(junk="HTML markup"), *others]))
    marked = [text.endswith("of the text · looks like HTML markup") for text in page.texts(".share-line")]
    assert sum(marked) == 1
    page.run("arguments[0].click()", page.all(".card h3 button")[marked.index(True)])
    assert page.find("#chosen-kicker").text.endswith("looks like HTML markup, not like a subject")


def test_words_of_both_directions_begin_at_the_same_place(opened):
    record = plain()
    mixed = words(["الحزم", "apt", "חבילה", "dpkg"])
    page = opened(record._replace(topics=[topic._replace(words=mixed) for topic in record.topics]))
    for selector in (".words .word", ".card li span[dir]"):
        starts = """const text = (e) => { const range = document.createRange(); range.selectNodeContents(e);
            return Math.round(range.getBoundingClientRect().left - e.closest('td, li').getBoundingClientRect().left) };
            return [...new Set([...document.querySelectorAll(arguments[0])].map(text))]"""
        assert len(page.run(starts, selector)) == 1
