"""The map of the documents in a real browser: pointing, selecting, zooming, colors."""

import numpy as np
import pytest

from anchorless._report.html import ReportGroup
from tests.helpers.report_records import PLACES, large, plain
from tests.report.test_browser import (  # noqa: F401
    PHONE,
    ActionChains,
    Keys,
    browser,
    is_all,
    opened,
    pytestmark,
)

RIM, MAX_STRETCH = 26, 1.7
#: What is on the canvas.
PIXELS = "return document.getElementById('atlas-canvas').toDataURL()"
#: How many pixels have this color, nearly.
COUNT = """
const canvas = document.getElementById('atlas-canvas'), copy = document.createElement('canvas');
[copy.width, copy.height] = [canvas.width, canvas.height];
const context = copy.getContext('2d', { willReadFrequently: true });
context.drawImage(canvas, 0, 0);
const p = context.getImageData(0, 0, copy.width, copy.height).data;
const isNear = (i) => p[i + 3] > 60 && arguments[0].every((c, k) => Math.abs(p[i + k] - c) < 12);
let n = 0;
for (let i = 0; i < p.length; i += 4) n += isNear(i);
return n"""
WHEEL = """
const event = new WheelEvent('wheel', { deltaY: -240, ctrlKey: arguments[0], cancelable: true });
document.getElementById('atlas-canvas').dispatchEvent(event)"""
PINCH = """
const canvas = document.getElementById('atlas-canvas'), box = canvas.getBoundingClientRect();
for (const [type, id, x] of arguments[0]) canvas.dispatchEvent(new PointerEvent(type, {
    pointerId: id, pointerType: 'touch', button: 0, buttons: 1, clientX: box.left + x, clientY: box.top + 100 }));"""
OVERLAPS = """
const boxes = [...document.querySelectorAll('.regions button:not([hidden])')].map((b) => b.getBoundingClientRect());
const overlap = (a, b) => a.right > b.left + 1 && a.left < b.right - 1 && a.bottom > b.top + 1 && a.top < b.bottom - 1;
return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => overlap(a, b))).length"""


def find_place(page, d):
    """Return where a document is, relative to the middle of the canvas."""
    width, height = page.run(
        "const c = document.getElementById('atlas-canvas'); return [c.clientWidth, c.clientHeight]"
    )
    X = np.array(PLACES)
    low, high = X.min(axis=0), X.max(axis=0)
    scales = (np.array([width, height]) - 2 * RIM) / (high - low)
    return ((X[d] - (low + high) / 2) * np.minimum(scales, MAX_STRETCH * scales.min())).round().astype(int).tolist()


def point_at(page, d):
    page.run("document.getElementById('atlas').scrollIntoView({block: 'start', behavior: 'instant'})")
    chain = ActionChains(page.driver).move_to_element_with_offset(page.find("#atlas-canvas"), *find_place(page, d))
    chain.perform()
    return chain


def settle(page):
    """Wait for the next frame, and return the pixels."""
    page.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return page.run(PIXELS)


def selected(page):
    return page.run("return new URLSearchParams(location.hash.slice(1)).get('document')")


def test_pointing_shows_a_document_and_a_click_selects_it_everywhere(opened):  # noqa: F811
    page = opened(plain())
    page.click(".card:nth-child(2) h3 button")
    before = page.run(PIXELS)
    point_at(page, 2)
    assert page.find(".tip").text.splitlines() == ["doc-2", "The judge spoke in court.", "100% court, judge"]
    ActionChains(page.driver).click().perform()
    assert selected(page) == "2"
    assert is_all(page.chosen, "court, judge")
    assert page.texts("#atlas-document b") == ["doc-2"]
    assert page.run(PIXELS) != before
    page.driver.back()
    page.wait(lambda: selected(page) is None)
    assert page.texts("#atlas-document b") == []


def test_names_choose_topics_and_lists_lead_to_the_map(opened):  # noqa: F811
    page = opened(plain())
    page.run("document.querySelectorAll('.regions button')[3].click()")
    assert is_all(page.chosen, "café, coffee")
    page.click("#document-list .show-on-map")
    assert selected(page) == "3"
    assert page.texts("#atlas-document b") == ["doc-3"]
    page.open("#topic=1&document=4")
    assert page.texts("#atlas-document b") == ["doc-4"]
    page.open("#topic=1&document=99999")
    assert page.texts("#atlas-document b") == []


def test_keys_buttons_drags_and_the_wheel_zoom_and_move(opened):  # noqa: F811
    page = opened(plain())
    page.run("document.getElementById('atlas-canvas').focus()")
    whole = settle(page)
    page.press("+")
    near = settle(page)
    page.press(Keys.ARROW_LEFT)
    moved = settle(page)
    page.press("0")
    assert settle(page) == whole
    assert len({whole, near, moved}) == 3
    page.click("#atlas .zoom button:first-child")
    assert settle(page) == near
    canvas = page.find("#atlas-canvas")
    ActionChains(page.driver).move_to_element_with_offset(canvas, 40, 40).click_and_hold().move_by_offset(
        70, 30
    ).release().perform()
    assert settle(page) not in {whole, near}
    assert selected(page) is None
    page.press("0")
    page.run(WHEEL, False)
    assert settle(page) == whole
    page.run(WHEEL, True)
    assert settle(page) != whole


def test_two_fingers_zoom(opened):  # noqa: F811
    page = opened(plain(), PHONE)
    whole = settle(page)
    moves = [("pointerdown", 1, 100), ("pointerdown", 2, 140), ("pointermove", 2, 220), ("pointerup", 1, 100)]
    page.run(PINCH, [*moves, ("pointerup", 2, 220)])
    assert settle(page) != whole
    assert page.run("return document.getElementById('atlas-canvas').classList.contains('zoomed')")


def test_colors_are_those_of_topics_groups_or_the_chosen_topic_and_follow_the_reader(opened):  # noqa: F811
    blue, green, accent, dark_blue = [0, 114, 178], [0, 158, 115], [11, 92, 173], [79, 168, 224]
    page = opened(plain())
    assert not page.find("#colorings [value=groups]").find_element("xpath", "..").is_displayed()
    assert page.run(COUNT, blue) > 20
    page.click("#colorings label:has([value=chosen])")
    assert page.run(COUNT, blue) == 0
    assert page.run(COUNT, accent) > 20
    groups = [ReportGroup("sea", 0.5, [0, 1], []), ReportGroup("land", 0.5, [2, 3], [])]
    page = opened(plain()._replace(groups=groups))
    assert page.run("return document.querySelector('#colorings :checked').value") == "groups"
    assert page.run(COUNT, green) == 0
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(COUNT, blue) > 20
    page = opened(plain()._replace(groups=groups), scheme="dark")
    assert page.run(COUNT, dark_blue) > 20
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(COUNT, blue) > 20
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(COUNT, dark_blue) > 20


def test_documents_without_a_place_are_counted_and_a_sample_is_called_one(opened):  # noqa: F811
    data = plain()
    page = opened(data._replace(places=[[float("nan")] * 2, *PLACES[1:]], n_documents=70))
    note = page.find("#atlas-note").text
    assert note.startswith("4 of 70 documents (those that represent the topics best, and others, evenly spaced).")
    assert "1 document without topics or without a place is not shown" in note
    assert "similar topics" in note
    assert "similar embeddings" in opened(data._replace(by_embeddings=True)).find("#atlas-note").text
    assert not opened(data._replace(places=())).find("#atlas").is_displayed()


@pytest.mark.parametrize("size", [(1280, 900), PHONE], ids=["desktop", "phone"])
def test_ten_thousand_documents_are_painted_and_found(opened, size):  # noqa: F811
    page = opened(large(), size)
    assert page.path.stat().st_size < 6_000_000
    assert "10,000 documents." in page.find("#atlas-note").text
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    assert page.run(OVERLAPS) == 0
