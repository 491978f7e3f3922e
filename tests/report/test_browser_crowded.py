"""The report of hundreds of topics in a real browser: zoom, names where there is room, and parts made on demand."""

import pytest

pytest.importorskip("selenium", reason="selenium is not installed: pip install anchorless[test]")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.helpers.report_records import large, plain
from tests.report.test_browser import DESKTOP, PHONE, WIDE, browser, opened, pytestmark

__all__ = ["browser", "opened", "pytestmark"]  # fixtures and the condition under which the tests run

CARDS_STEP, MATRIX_TOPICS, LISTED_PAIRS, LARGEST = 48, 30, 40, 60
SCALES = (
    """return [...document.querySelectorAll('.node circle')].map((c) => [c.cx, c.cy].map((v) => v.baseVal.value))"""
)
VISIBLE = """return [...document.querySelectorAll('.name')].filter((e) => getComputedStyle(e).opacity === '1'
    && getComputedStyle(e).display !== 'none')"""
BOXES = VISIBLE + """.map((e) => e.getBBox()).map((b) => [b.x, b.y, b.x + b.width, b.y + b.height])"""


def crowded(n_topics: int = 100):
    return large(n_topics, 300)


def is_zoomed(page) -> bool:
    return page.find(".zoom button:last-child").is_enabled()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("n_topics", [61, 200, 600])
def test_every_view_of_many_topics_opens(opened, n_topics, size):
    page = opened(crowded(n_topics), size)
    assert len(page.all(".node")) == n_topics
    for view in ("matrix", "shares", "pairs", "map"):
        page.click(f"#views label:has([value={view}])")
        assert page.run("return document.documentElement.scrollWidth") <= size[0]
        assert page.run(WIDE, size[0]) == []
    assert page.run("return document.querySelectorAll('*').length") < 7000 + 8 * n_topics


def test_few_topics_have_none_of_the_controls_of_many(opened):
    page = opened(plain())
    assert page.all("#view .zoom, .zoomable") == []
    for selector in ("#views label:has([value=pairs])", "#topic-filter", "#more-cards", "#zoom-keys"):
        assert not page.find(selector).is_displayed()


# ---- the map ----


def test_names_on_the_map_do_not_overlap_and_zooming_shows_more_of_those_in_view(opened):
    page = opened(crowded())
    parts = []
    for _ in range(3):
        boxes = page.run(BOXES)
        for i, (left, top, right, bottom) in enumerate(boxes):
            for a, b, c, d in boxes[:i]:
                assert right <= a + 1 or c <= left + 1 or bottom <= b + 3 or d <= top + 3
        in_view = page.run("return document.querySelectorAll('.name:not(.away)').length")
        parts.append(len(boxes) / in_view)
        page.click(".zoom button[aria-label='Zoom in']")
    assert parts[0] > 0.1
    assert parts[2] > 1.5 * parts[0]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("n_topics", [12, 50, 100])
def test_no_name_covers_another_whichever_topic_is_chosen(opened, n_topics, size):
    record = crowded(n_topics)
    topics = [topic._replace(label=f"long leading words{f}") for f, topic in enumerate(record.topics)]
    page = opened(record._replace(topics=topics), size)
    chosen = "return [...document.querySelectorAll('.name.on')].every((e) => getComputedStyle(e).opacity === '1')"
    for f in range(0, n_topics, 5):
        page.run("document.querySelectorAll('.node')[arguments[0]].dispatchEvent(new MouseEvent('click'))", f)
        assert page.run(chosen)
        boxes = page.run(BOXES)
        for i, (left, top, right, bottom) in enumerate(boxes):
            for a, b, c, d in boxes[:i]:
                assert right <= a + 1 or c <= left + 1 or bottom <= b + 3 or d <= top + 3


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_name_is_under_the_buttons(opened, size):
    page = opened(crowded(200), size)
    buttons = page.run("const b = document.querySelector('.zoom').getBoundingClientRect(); return [b.left, b.bottom]")
    boxes = VISIBLE + """.map((e) => e.getBoundingClientRect()).map((b) => [b.right, b.top])"""
    for _ in range(4):
        assert not any(right > buttons[0] and top < buttons[1] for right, top in page.run(boxes))
        page.run("document.querySelector('.zoom button').click()")


def test_a_hidden_name_is_shown_while_its_topic_is_pointed_at(opened):
    page = opened(crowded())
    hidden = page.run(
        """return [...document.querySelectorAll('.names .name')].findIndex((e) => e.matches('.quiet:not(.on)'))"""
    )
    node = page.all(".node")[hidden]  # names and circles are in the same order
    page.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", node)
    is_shown = "return getComputedStyle(document.querySelectorAll('.names .name')[arguments[0]]).opacity === '1'"
    assert not page.run(is_shown, hidden)
    ActionChains(page.driver).move_to_element(node).perform()
    assert page.run(is_shown, hidden)


def test_buttons_zoom_in_out_and_back_to_the_same_map(opened):
    page = opened(crowded())
    before = page.run(SCALES)
    assert not is_zoomed(page)
    page.click(".zoom button[aria-label='Zoom in']")
    assert is_zoomed(page)
    after = page.run(SCALES)
    assert after != before
    extent = [max(x for x, _ in points) - min(x for x, _ in points) for points in (before, after)]
    assert extent[1] == pytest.approx(1.6 * extent[0], rel=0.01)
    page.click(".zoom button[aria-label='Zoom out']")
    assert page.run(SCALES) == before
    for _ in range(9):
        page.run("document.querySelector('.zoom button').click()")
    assert not page.find(".zoom button[aria-label='Zoom in']").is_enabled()
    page.click(".zoom button[aria-label='Show the whole map']")
    assert page.run(SCALES) == before


def test_keys_zoom_and_arrows_bring_the_chosen_topic_into_view(opened):
    page = opened(crowded())
    page.run("document.querySelector('.node.on').focus()")
    page.press("+", "+", "+")
    assert is_zoomed(page)
    top = page.run("return scrollY")
    where = """const svg = document.querySelector('#view svg'), [x, y] = ['cx', 'cy'].map((name) =>
        svg.querySelector('.node.on circle')[name].baseVal.value), box = svg.viewBox.baseVal;
        return x >= 0 && x <= box.width && y >= 0 && y <= box.height"""
    moved = set()
    for _ in range(8):
        page.press(Keys.ARROW_RIGHT)
        assert page.run("return document.activeElement.matches('.node.on')")
        assert page.run(where)
        moved.add(str(page.run(SCALES)[0]))
    assert len(moved) > 1
    assert page.run("return scrollY") == top
    page.press("0")
    assert not is_zoomed(page)
    page.press("-")
    assert not is_zoomed(page)


def test_dragging_moves_the_map_and_chooses_nothing(opened):
    page = opened(crowded())
    page.click(".zoom button[aria-label='Zoom in']")
    before, topic = page.run(SCALES), page.hash.topic
    picture = page.find("#view svg")
    ActionChains(page.driver).move_to_element(picture).click_and_hold().move_by_offset(40, 30).release().perform()
    after = page.run(SCALES)
    steps = {(round(b[0] - a[0]), round(b[1] - a[1])) for a, b in zip(before, after, strict=True)}
    assert steps == {(40, 30)}
    assert page.hash.topic == topic
    page.run("document.querySelector('.node:not(.on)').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    page.wait(lambda: page.hash.topic != topic)


def test_the_wheel_zooms_with_a_key_only(opened):
    page = opened(crowded())
    turn = """const box = document.querySelector('#view svg').getBoundingClientRect(), [ctrlKey, x, y] = arguments;
        return document.querySelector('#view svg').dispatchEvent(new WheelEvent('wheel', {ctrlKey, deltaY: -240,
        clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true, cancelable: true}))"""
    before = page.run(SCALES)
    assert page.run(turn, False, 0.25, 0.25)  # not cancelled: the page scrolls
    assert page.run(SCALES) == before
    assert not page.run(turn, True, 0.25, 0.25)
    after = page.run(SCALES)
    width = page.run("return document.querySelector('#view svg').viewBox.baseVal.width")
    for (x, _), (moved, _) in zip(before, after, strict=True):  # the point under the pointer stays
        assert moved - width / 4 == pytest.approx(2 * (x - width / 4), abs=1.5)  # pointers are at whole pixels


# ---- the other views ----


def test_the_matrix_has_the_chosen_topic_and_its_strongest_associations(opened):
    data = crowded()
    page = opened(data)
    page.click("#views label:has([value=matrix])")
    for _ in range(2):
        chosen = int(page.find("#chosen-kicker").text.split()[1].rstrip(","))
        sizes = [abs(r) if abs(r) >= 0.01 else 0.0 for r in data.association[chosen]]
        sizes[chosen] = 2.0
        least = sorted(sizes)[-MATRIX_TOPICS]
        shown = page.run("return [...document.querySelectorAll('#view .row')].map((e) => e.getAttribute('aria-label'))")
        numbers = {int(label.split(":")[0].removeprefix("Topic ")) for label in shown}
        assert len(shown) == MATRIX_TOPICS
        assert {f for f, size in enumerate(sizes) if size > least} <= numbers
        page.run("document.querySelector('#view .row:not(.on)').focus()")
        page.press(Keys.ENTER)
        assert page.run("return document.activeElement.matches('#view .row.on')")


def test_pairs_are_the_strongest_and_choose_a_topic(opened):
    data = crowded()
    page = opened(data)
    page.click("#views label:has([value=pairs])")
    shown = [float(text.replace("−", "-")) for text in page.texts(".pairs .r")]
    values = sorted(round(r, 4) for f, row in enumerate(data.association) for r in row[:f])
    positive = values[: -LISTED_PAIRS - 1 : -1]
    assert shown[:LISTED_PAIRS] == pytest.approx(positive, abs=0.0051)
    assert shown[LISTED_PAIRS:] == pytest.approx(values[:LISTED_PAIRS], abs=0.0051)
    link = page.find(".pairs li:nth-child(3) .link")
    number = link.get_attribute("title").split(":")[0].removeprefix("Topic ")
    page.click(".pairs li:nth-child(3) .link")
    page.wait(lambda: page.hash.topic == number)
    assert link.get_attribute("class") == "link on"


def test_the_list_of_shares_scrolls_to_the_chosen_topic(opened):
    page = opened(crowded(200))
    page.click("#views label:has([value=shares])")
    page.press("[")  # from the largest to the smallest
    in_list = """const list = document.querySelector('.rows').getBoundingClientRect(),
        row = document.querySelector('.row.on').getBoundingClientRect();
        return list.height < 700 && row.top >= list.top - 1 && row.bottom <= list.bottom + 1"""
    page.wait(lambda: page.run(in_list))


def test_tables_and_lines_are_bounded_to_the_largest_topics(opened):
    page = opened(crowded(200))
    assert len(page.all(".heat thead button")) == LARGEST
    page.press("[")
    assert len(page.all("#time-chart .line")) == LARGEST + 1
    assert len(page.all("#time-chart .line.on")) == 1
    page.press("]")
    assert len(page.all("#time-chart .line")) == LARGEST


# ---- cards ----


def test_cards_are_made_when_they_are_asked_for(opened):
    page = opened(crowded(200))
    assert len(page.all(".card")) == CARDS_STEP
    page.click("#more-cards")
    assert len(page.all(".card")) == 3 * CARDS_STEP
    assert page.run("return document.activeElement === document.querySelectorAll('.card button')[arguments[0]]", 48)
    page.click("#more-cards")
    assert len(page.all(".card")) == 200
    assert not page.find("#more-cards").is_displayed()


def test_topics_are_found_by_number_label_and_word(opened):
    page = opened(crowded(200))
    box = page.find("#topic-query")
    box.send_keys("17")
    page.wait(lambda: page.texts(".card .digit")[0] == "17")
    assert len(page.all(".card")) == CARDS_STEP  # also a part of many words
    for query, numbers in [("w42x7", ["42"]), ("V99", ["99"]), ("w33x1 v33", ["33"]), ("nothing", [])]:
        box.clear()
        box.send_keys(query)
        page.wait(lambda numbers=numbers: page.texts(".card .digit") == numbers)
    assert "0 topics of 200 match" in page.find("#all-note").text
    box.send_keys("[")  # typed, not a command
    assert box.get_attribute("value") == "nothing["
    box.clear()
    box.send_keys("w42x7")
    page.wait(lambda: page.texts(".card .digit") == ["42"])
    page.find("#topic-filter").find_element(By.CSS_SELECTOR, "input").send_keys(Keys.ENTER)  # the page stays
    page.click(".card button")
    page.wait(lambda: page.hash.topic == "42")
    assert len(page.all(".card.on")) == 1


def test_all_cards_are_printed(opened):
    page = opened(crowded(200), media="print")
    count = """window.counts = []; addEventListener('beforeprint',
        () => counts.push(document.querySelectorAll('.card').length))"""
    page.run(count)
    page.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert page.run("return window.counts") == [200]
    assert len(page.all(".card")) == CARDS_STEP
    for selector in (".zoom", "#topic-filter", "#more-cards"):
        assert not page.find(selector).is_displayed()
