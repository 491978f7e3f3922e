"""Every output of a model with hostile words, labels, ids, names and notes has the structure of a harmless one."""

import csv
import io
import re
import warnings
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest

from anchorless import TopicModel, datasets
from anchorless._export.text import LATEX
from anchorless._topic_model.exporting import ENDINGS, FORMATS
from tests.helpers.hostile_texts import CONTROLS, HOSTILE

HARMLESS = [f"word{chr(97 + i)}" for i in range(len(HOSTILE))]  # with digits they would be marked as junk
N_DOCUMENTS, N_WORDS = 120, 40
#: Figures of a model; each takes nothing, or what is given here.
FIGURES = {
    "topics": {},
    "shares": {},
    "correlations": {},
    "documents": {},
    "over_time": {},
    "by": {"column": "label"},
    "effects": {},
    "hierarchy": {},
    "stability": {},
}
#: Not a figure of one model's texts: it has numbers only.
WITHOUT_TEXTS = {"search_k"}


def make_model(texts):
    """Return a fitted model with these texts in every place where a user's texts can be."""
    corpus = datasets.sampled_corpus(N_DOCUMENTS, n_topics=3, n_words=N_WORDS, length=30, random_state=0)
    words = [*texts, *(f"plain{chr(97 + i)}" for i in range(N_WORDS - len(texts)))]
    ids = [f"{texts[i % len(texts)]} {i}" for i in range(N_DOCUMENTS)]
    labels = [texts[i % 3 * 4] for i in range(N_DOCUMENTS)]
    dates = [f"20{20 + i % 4}-01-01" for i in range(N_DOCUMENTS)]
    found = TopicModel(3, levels=[2], n_jobs=1)
    found.fit_counts(corpus.counts, words, ids=ids, labels=labels, dates=dates, metadata={"label": labels})
    found.rename_topics({0: texts[0], 1: texts[8]}, by=texts[5]).annotate_topics({0: texts[9], 1: texts[12]}, by="x")
    found.stability(10)
    found.effects("~ label", n_draws=4)
    return found


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_model(HOSTILE), make_model(HARMLESS)


class Tags(HTMLParser):
    """The tags of a page with their attributes, without the texts in them."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(name for name, _ in attributes)))


def list_xml_tags(text):
    assert not CONTROLS.search(text.replace("\n", ""))
    root = ElementTree.fromstring(text)
    return sorted({(node.tag, *sorted(node.attrib)) for node in root.iter()})


def list_html_tags(text):
    assert not CONTROLS.search(text.replace("\n", ""))
    return Tags(text).found


def list_latex_commands(text):
    assert not CONTROLS.search(text.replace("\n", ""))
    escapes = {escape.removesuffix("{}") for escape in LATEX.values()}
    return sorted({*re.findall(r"\\(?:[A-Za-z]+|.)", text)} - escapes)


def list_markdown_tags(text):
    assert not CONTROLS.search(text.replace("\n", ""))
    markdown = pytest.importorskip("markdown", reason="Markdown is not installed: pip install 'anchorless[docs]'")
    assert not re.search(r"<\w", text)  # other dialects pass HTML through
    return Tags(markdown.markdown(text, extensions=["tables"])).found


XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def list_sheet_tags(content):
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        assert not [name for name in book.namelist() if "external" in name.lower() or "vba" in name.lower()]
        parts = [book.read(name).decode() for name in book.namelist() if name.endswith((".xml", ".rels"))]
    tags = {tag for part in parts for tag in list_xml_tags(part)}
    assert not {tag for tag, *_ in tags if tag.endswith(("}f", "}hyperlink"))}
    # A text that begins with a blank is marked to keep it.
    return sorted({tuple(name for name in tag if name != XML_SPACE) for tag in tags})


def list_mallet_shape(text):
    assert not CONTROLS.search(text.replace("\n", ""))
    return [line.count("\t") for line in text.split("\n")]


def list_cells(text):
    assert not CONTROLS.search(text.replace("\n", ""))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    for cell in (cell for row in rows for cell in row):
        assert cell[:1] not in ("\t", "\r")
        seen = cell.lstrip(" \u200b\ufeff")
        assert seen[:1] not in ("=", "@")
        assert seen[:1] not in ("+", "-") or float(seen) is not None
    return [len(row) for row in rows]


STRUCTURES = {
    "xlsx": list_sheet_tags,
    "latex": list_latex_commands,
    "markdown": list_markdown_tags,
    "gexf": list_xml_tags,
    "graphml": list_xml_tags,
    "mallet": list_mallet_shape,
    "pyldavis": list_html_tags,
}


@pytest.mark.parametrize("format", FORMATS)
def test_exports(models, tmp_path, format):
    if format == "pyldavis":
        pytest.importorskip("pyLDAvis")
    structures = []
    for model in models:
        path = tmp_path / (f"{len(structures)}" + (".xlsx" if format == "xlsx" else ""))
        model.export(path, format)
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        contents = [file.read_bytes() for file in files]
        structure = STRUCTURES[format]
        structures.append([structure(part if format == "xlsx" else part.decode()) for part in contents])
    assert structures[0] == structures[1]
    assert set(STRUCTURES) == set(FORMATS) == set(ENDINGS.values()) | {"mallet"}


@pytest.mark.parametrize(("ending", "structure"), [("csv", list_cells), ("md", list_markdown_tags)])
def test_codebooks(models, tmp_path, ending, structure):
    for number, model in enumerate(models):
        model.write_codebook(tmp_path / f"{number}.{ending}")
    found = [structure((tmp_path / f"{number}.{ending}").read_text(encoding="utf-8")) for number in range(2)]
    assert found[0] == found[1]


def test_reports_and_notebooks(models):
    for show in (
        lambda model, title: model.report(title=title).html,
        lambda model, title: model._repr_html_(),
        lambda model, title: model.report(title=title)._repr_html_(),
    ):
        hostile, harmless = show(models[0], HOSTILE[8]), show(models[1], "title")
        assert list_html_tags(hostile) == list_html_tags(harmless)


@pytest.mark.parametrize("name", FIGURES)
def test_figures(models, name):
    found = []
    for model in models:
        ax = getattr(model.plot, name)(**FIGURES[name])
        figure, stream = getattr(ax, "figure", ax), io.BytesIO()
        figure.savefig(stream, format="svg")
        plt.close(figure)
        found.append({tag.rpartition("}")[2] for tag, *_ in list_xml_tags(stream.getvalue().decode())})
    assert found[0] - found[1] <= {"use", "path", "g", "defs"}  # letters are drawn
    assert not {"script", "a", "image", "foreignObject"} & found[0]


def test_every_figure_is_tried(models):
    assert {name for name in dir(models[0].plot) if not name.startswith("_")} == {*FIGURES} | WITHOUT_TEXTS
