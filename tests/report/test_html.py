"""The report as a file: texts stay texts, numbers stay the same, and the size is limited."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from anchorless._report import html as report
from anchorless._report.html import render_report, write_report
from anchorless._report.page import SCRIPTS, encode_parts, join_scripts, to_line, to_script_json
from anchorless.errors import InputError
from tests.helpers.report_records import HOSTILE, ODD_TEXTS, large, one_topic, plain, unknown_measures, with_texts

RECORDS = {
    "plain": plain,
    "hostile": lambda: with_texts(HOSTILE),
    "odd": lambda: with_texts(ODD_TEXTS),
    "one topic": one_topic,
    "unknown measures": unknown_measures,
}


class Parsed(HTMLParser):
    """A page as a parser sees it: its tags in order with attributes, and the text in each element by tag."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.others: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(attrs)))
        if tag not in ("meta", "input", "link", "br", "img"):
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def handle_comment(self, data):
        self.others.append(data)

    unknown_decl = handle_pi = handle_comment

    @property
    def data(self) -> dict:
        return json.loads(self.texts["script"][0])

    @property
    def structure(self) -> list:
        return [tag for tag in self.tags if tag[0] not in ("li", "meta")]


def rounded(data):
    return [[None if r is None else r / 10_000 for r in row] for row in data["association"]]


@pytest.mark.parametrize("name", RECORDS)
def test_the_same_record_gives_the_same_page(name):
    assert render_report(RECORDS[name]()) == render_report(RECORDS[name]())


def test_the_page_does_not_depend_on_the_process():
    code = "import hashlib, sys; from tests.helpers.report_records import *; "
    code += "from anchorless._report.html import render_report; "
    code += "sys.stdout.write(hashlib.sha256(render_report(with_texts(HOSTILE)).encode()).hexdigest())"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert hashes == {hashlib.sha256(render_report(with_texts(HOSTILE)).encode()).hexdigest().encode()}


@pytest.mark.parametrize("name", RECORDS)
def test_texts_change_no_tag_of_the_page(name):
    parsed = Parsed(render_report(RECORDS[name]()))
    assert parsed.structure == Parsed(render_report(plain())).structure
    assert parsed.others == []
    assert parsed.open == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_unchanged(text):
    parsed = Parsed(render_report(with_texts([text])))
    seen = " ".join(text.split())
    assert parsed.data["documents"]["text"] == [seen]
    assert parsed.data["documents"]["id"] == [seen]
    assert parsed.data["topics"][0]["words"][0][0] == seen
    assert parsed.data["topics"][0]["label"] == seen
    assert parsed.data["labels"]["names"] == [seen, seen]
    assert parsed.data["prevalence"]["names"] == [seen] * 3
    assert parsed.data["diagnostics"] == [[seen, seen]]
    assert parsed.texts["title"] == [seen]
    assert parsed.texts["h1"] == [seen]
    assert all(seen in item for item in parsed.texts["li"])


@pytest.mark.parametrize("text", [*HOSTILE, *ODD_TEXTS[:-2], "\u2028<>&\u2029"])
def test_json_for_a_script_contains_no_character_that_markup_needs(text):
    block = to_script_json({text: [text]})
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block) == {text: [text]}


@pytest.mark.parametrize(
    "value",
    [{}, [], {"a": {}}, [[]] * 600, {"a": {"b": [*range(256)], "c": [*range(257)]}, "d": [None, 0.1, True, "ä"]}],
)
def test_json_in_parts_is_the_json_of_the_whole(value):
    assert to_script_json(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_no_part_of_the_json_is_large_as_ctrl_c_waits_for_its_encoder():
    texts = {"documents": {"text": [f"{i} " + 50 * "д<" for i in range(10_000)]}}
    assert max(len(part) for part in encode_parts(texts)) < len(to_script_json(texts)) / 30


def test_the_data_block_contains_no_character_that_markup_needs():
    page = render_report(with_texts(HOSTILE))
    block = page[page.index('id="data">') + len('id="data">') :]
    block = block[: block.index("</script>")]
    assert not set("<>&\u2028\u2029") & set(block)
    json.loads(block)


def test_the_policy_allows_exactly_the_style_and_the_script_of_the_page():
    parsed = Parsed(render_report(plain()))
    policy = next(dict(a)["content"] for t, a in parsed.tags if dict(a).get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digest = lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()  # noqa: E731
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == f"'sha256-{digest(parsed.texts['style'][0])}'"
    assert rules["script-src"] == f"'sha256-{digest(parsed.texts['script'][1])}'"
    assert "unsafe" not in policy
    assert len(parsed.texts["style"]) == 1
    assert len(parsed.texts["script"]) == 2


def test_the_page_refers_to_no_other_resource():
    page = render_report(plain())
    assert set(re.findall(r"\w+://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    attributes = [pair for _, attrs in Parsed(page).tags for pair in attrs]
    assert {value for name, value in attributes if name in ("href", "src")} == {"#chosen"}
    assert not [name for name, _ in attributes if name.startswith("on") or name == "style"]
    assert not re.search(r"@import|url\(|@font-face", page)


def test_the_script_never_turns_texts_into_markup_or_code():
    script = join_scripts()
    for name in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "setHTML",
        "createContextualFragment",
        "DOMParser",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
    ):
        assert name not in script
    assert "</script" not in script.lower()
    assert "<!--" not in script


def test_every_file_of_the_page_is_used():
    names = {path.name for path in files("anchorless._report").joinpath("assets").iterdir() if path.is_file()}
    assert names == {"page.html", "page.css", *SCRIPTS}


# ---- size ----


@pytest.mark.parametrize("text", ["word", "漢字", "<&>", "👩‍👧"])
def test_fifty_topics_and_ten_thousand_documents_fit_into_5_mb(text):
    page = render_report(large(text=text))
    assert len(page.encode()) < 5_000_000
    data = Parsed(page).data
    assert len(data["topics"]) == 50
    assert len(data["documents"]["text"]) == 10_000
    assert min(map(len, data["documents"]["text"])) >= 40


def test_snippets_of_a_small_report_keep_the_full_length():
    texts = Parsed(render_report(large(5, 50))).data["documents"]["text"]
    longest = report.SNIPPET_LENGTHS[0]
    assert {longest - 5 <= len(text) <= longest for text in texts} == {True}
    assert {text.split()[-1] for text in texts} == {"word…"}  # they end at a word


# ---- numbers ----


def test_numbers_are_those_of_the_record():
    given, data = plain(), Parsed(render_report(plain())).data
    for topic, entry in zip(given.topics, data["topics"], strict=True):
        assert entry["share"] == topic.share
        assert entry["coherence"] == pytest.approx(topic.coherence, abs=5e-4)
        assert [word[0] for word in entry["words"]] == [word[0] for word in topic.words]
        for measure in (1, 2, 3):  # probability, relevance, distinctiveness
            expected = [word[measure] for word in topic.words]
            assert [word[measure] for word in entry["words"]] == pytest.approx(expected, rel=1e-3)
    assert rounded(data) == [row[:f] for f, row in enumerate(given.association)]
    assert data["documents"]["topics"][3] == [3, 970, 2, 30]
    assert data["documents"]["date"] == [document.date for document in given.documents]
    assert data["prevalence"]["values"] == given.prevalence.values
    assert data["labels"]["counts"] == [3, 2]


def test_nan_and_infinity_become_null():
    data = Parsed(render_report(unknown_measures())).data
    assert {entry[key] for entry in data["topics"] for key in ("share", "coherence", "exclusivity")} == {None}
    assert data["topics"][0]["words"] == [["w", None, None, None]]
    assert rounded(data) == [[], [None], [None] * 2, [None] * 3]
    assert data["documents"]["topics"][0] == [0, None]


def test_columns_without_values_are_empty():
    given = plain()
    bare = given._replace(documents=[d._replace(label=None, date=None) for d in given.documents])
    columns = Parsed(render_report(bare)).data["documents"]
    assert columns["label"] == columns["date"] == []
    some = given._replace(documents=[given.documents[0]._replace(label=None, date=None), *given.documents[1:]])
    assert Parsed(render_report(some)).data["documents"]["label"][:2] == ["", "b"]


# ---- texts ----


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("a  b\n\tc ", 10, "a b c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("abcd efg", 6, "abcd…"),
        ("a\x00b\x1b[31mc\x85", 10, "ab[31mc"),
        ("page one\x0cpage two\x85\x1fend", 30, "page one page two end"),
        ("x\ud800y", 10, "x?y"),
        ("word", 0, ""),
        ("", 5, ""),
    ],
)
def test_a_line_is_one_line_of_whole_characters(text, length, expected):
    assert to_line(text, length) == expected


def test_a_line_of_a_huge_text_is_its_beginning():
    assert to_line("ab " * 20_000_000, 8) == "ab ab…"
    assert to_line("ab" * 20_000_000, 8) == "abababa…"


def test_a_page_with_odd_texts_can_be_encoded():
    render_report(with_texts(ODD_TEXTS)).encode("utf-8")


# ---- files ----


def test_write_report_replaces_a_file_only_with_force(tmp_path):
    path = tmp_path / "report.html"
    write_report(path, plain())
    assert path.read_bytes() == render_report(plain()).encode()
    with pytest.raises(InputError, match=r"report\.html exists already"):
        write_report(path, one_topic())
    assert path.read_bytes() == render_report(plain()).encode()
    write_report(path, one_topic(), force=True)
    assert path.read_bytes() == render_report(one_topic()).encode()
    assert os.listdir(tmp_path) == ["report.html"]


# ---- colors ----


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_have_the_contrast_of_wcag_aa(scheme):
    style = files("anchorless._report").joinpath("assets", "page.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]))
    for text in ("ink", "muted", "accent", "negative"):
        for ground in ("paper", "wash"):
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
    assert contrast(colors["ink"], colors["mark"]) >= 4.5
    assert contrast(colors["paper"], colors["accent"]) >= 4.5  # the number in the chosen circle


def test_effects_are_added_to_a_page_as_if_they_had_been_there():
    data = plain()
    before = render_report(data._replace(effects=None))
    assert report.insert_effects(before, data.effects, data.fingerprint) == render_report(data)
    assert report.insert_effects(render_report(data), data.effects, data.fingerprint) == render_report(data)
    hostile = with_texts(HOSTILE)
    without = render_report(hostile._replace(effects=None))
    assert report.insert_effects(without, hostile.effects, hostile.fingerprint) == render_report(hostile)


def test_effects_are_not_added_to_a_page_of_other_topics():
    data = plain()._replace(fingerprint="0123")
    assert report.insert_effects(render_report(data), data.effects, "0123") is not None
    assert report.insert_effects(render_report(data), data.effects, "4567") is None


def test_effects_are_not_added_to_a_page_of_another_version():
    page = render_report(plain())
    fingerprint = plain().fingerprint
    assert report.insert_effects(page, plain().effects, fingerprint) is not None
    assert report.insert_effects(page.replace("drawMap", "drawmap"), plain().effects, fingerprint) is None
    assert report.insert_effects("<html></html>", plain().effects, fingerprint) is None
