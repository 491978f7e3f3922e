import re
from html.parser import HTMLParser

import pytest

from anchorless import TopicModel
from anchorless._topic_model.notebook import BAR_WIDTH, MAX_ROWS, render_topics
from anchorless._topic_model.summary import Topic
from tests.helpers.planted_texts import planted_texts


@pytest.fixture(scope="module")
def model():
    return TopicModel(4, n_jobs=1).fit(planted_texts()[0])


class Reader(HTMLParser):
    """Tags and texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def make_topic(number, share, words, label="label"):
    n = len(words)
    return Topic(number, label, share, words, [0.1] * n, [0.5] * n, 0.1, 0.5, [0.1] * n)


def test_a_fitted_model_shows_its_topics(model):
    page = model._repr_html_()
    read = Reader(page)
    assert read.tags.count("tr") == 5
    assert "4 topics of 160 documents" in " ".join(read.texts)
    for topic in model.topics(8):
        assert ", ".join(topic.words) in read.texts
        assert f"{topic.share:.1%}" in read.texts


def test_notebooks_take_the_topics_instead_of_the_parameters(model):
    shown = model._repr_mimebundle_(include=None, exclude=None)
    assert shown["text/html"] == model._repr_html_()
    assert shown["text/plain"] == repr(model)


def test_before_the_fit_the_parameters_are_shown():
    assert "n_topics" in TopicModel(7)._repr_html_()


def test_texts_are_escaped():
    page = render_topics([make_topic(0, 1.0, ["<script>alert(1)</script>", "a&b"], "<img src=x>")], 2)
    assert set(Reader(page).tags) <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert "<script>alert(1)</script>, a&b" in Reader(page).texts


def test_bars_are_proportional_to_shares():
    page = render_topics([make_topic(0, 0.6, ["a"]), make_topic(1, 0.3, ["b"])], 2)
    assert [int(width) for width in re.findall(r"width:(\d+)px", page)] == [BAR_WIDTH, BAR_WIDTH // 2]


def test_hundreds_of_topics_are_not_all_listed():
    page = render_topics([make_topic(k, 0.001, ["a"]) for k in range(MAX_ROWS + 20)], 2)
    assert page.count("<tr>") == MAX_ROWS + 1
    assert "and 20 more topics" in page


def test_print_topics_prints_a_line_for_each(model, capsys):
    model.print_topics(3)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1", "2", "3"]
    assert lines[0].split()[2:] == model.topics(3)[0].words


class FrameReader(HTMLParser):
    """The attributes of a frame."""

    def handle_starttag(self, tag, attrs):
        assert tag == "iframe"
        self.attributes = dict(attrs)


def test_a_report_without_a_path_is_a_frame_with_the_page_of_the_file(model, tmp_path):
    shown = model.report(title='A "title" & more')
    assert model.report(tmp_path / "report.html", title='A "title" & more') is None
    assert shown.html == (tmp_path / "report.html").read_text(encoding="utf-8")
    reader = FrameReader()
    reader.feed(shown._repr_html_())
    assert reader.attributes["srcdoc"] == shown.html
    assert reader.attributes["sandbox"] == "allow-scripts"
    assert len(repr(shown)) < 200


@pytest.mark.parametrize("name", ["stability", "identifiability", "hierarchy", "plot"])
def test_a_result_as_the_last_line_of_a_cell_is_one_line(model, name):
    shown = getattr(model, name)
    line = repr(shown if name == "plot" else shown(10) if name == "stability" else shown())
    assert len(line) < 200
    assert "\n" not in line
    assert "4 topics" in line or "figures of a model" in line
