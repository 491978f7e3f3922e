"""Exports read back by other programs: openpyxl, networkx, a browser; with hostile words, labels and ids."""

import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from anchorless import InputError, TopicModel, datasets
from anchorless._export import excel
from anchorless._topic_model.exporting import FORMATS
from tests.helpers.hostile_texts import HOSTILE


@pytest.fixture(scope="module")
def model():
    corpus = datasets.sampled_corpus(120, n_topics=3, n_words=40, length=30, random_state=0)
    words = [*HOSTILE, *(f"word {i}" for i in range(40 - len(HOSTILE)))]
    ids = [f"{HOSTILE[i % len(HOSTILE)]} {i}" for i in range(120)]
    labels = [HOSTILE[i % 3] for i in range(120)]
    dates = [f"20{20 + i % 4}-01-01" for i in range(120)]
    found = TopicModel(3, levels=[2]).fit_counts(corpus.counts, words, ids=ids, labels=labels, dates=dates)
    found.rename_topics({0: HOSTILE[0], 1: HOSTILE[3]})
    return found.annotate_topics({0: HOSTILE[2]})


@pytest.fixture(scope="module")
def loaded(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.anchorless"
    model.save(path)
    return TopicModel.load(path)


def clean(value):
    """Return a text as a sheet holds it."""
    return excel.clean_text(value) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def workbook(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("excel") / "topics.xlsx"
    model.to_excel(path)
    return path


def test_every_table_comes_back_from_excel(model, workbook):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'anchorless[test-all]'")
    book = openpyxl.load_workbook(workbook)
    names = ["about", "topics", "words", "documents", "examples", "correlations", "pairs", "over time", "by label"]
    assert book.sheetnames == names
    expected = {
        "words": model.words_frame(20),
        "documents": model.documents_frame(),
        "correlations": model.correlation_frame().reset_index(),
        "pairs": model.correlation_edges(),
    }
    for name, frame in expected.items():
        head, *rows = book[name].values
        assert list(head) == [str(column) for column in frame.columns]
        for row, values in zip(rows, frame.itertuples(index=False), strict=True):
            for cell, value in zip(row, values, strict=True):  # a workbook has 16 digits
                assert cell == (pytest.approx(value, rel=1e-15) if isinstance(value, float) else clean(value))
    described = [row[0] for row in book["about"].values]
    assert described[4:] == [f"sheet {name}" for name in names[1:]]


def test_only_columns_that_a_sheet_has_are_explained(model, workbook):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'anchorless[test-all]'")
    book = openpyxl.load_workbook(workbook)
    about = dict(row[:2] for row in book["about"].values)
    assert about["sheet pairs"].startswith("association: how often")
    assert "interval" not in about["sheet pairs"]
    tested = excel.describe_sheet("pairs", ["topic_a", "topic_b", "association", "low", "high", "p"])
    assert tested.endswith("0 for not at all; low, high: its interval; p: corrected for the number of pairs")
    explained = re.compile(r"(?:^|; )([a-z_, ]+): ")
    for name in book.sheetnames[1:]:
        head = next(book[name].values)
        for columns in explained.findall(about[f"sheet {name}"]):
            assert set(columns.split(", ")) <= set(head), f"{name}: {columns}"


def test_means_over_time_and_by_label_are_those_of_the_tables(model, workbook):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'anchorless[test-all]'")
    book = openpyxl.load_workbook(workbook)
    for sheet, expected in (("over time", model.topics_over_time()), ("by label", model.topics_by("label"))):
        head, *rows = book[sheet].values
        assert head[1:] == ("topic", "label", "share", "low", "high", "n_documents")
        found = pd.DataFrame(rows, columns=head)
        kept = model._get_record().kept
        means = kept.by_label.values if sheet == "by label" else np.transpose(kept.by_period.values)
        np.testing.assert_allclose(found["share"], np.ravel(means), rtol=1e-15)
        assert (found["low"] <= found["share"]).all()
        assert (found["share"] <= found["high"]).all()
        columns = ["share", "n_documents"]
        ordered = [frame.sort_values(["topic", "share"])[columns] for frame in (found, expected)]
        np.testing.assert_allclose(*ordered, atol=0.02)  # which average over draws of the topics


def test_nothing_in_a_workbook_is_a_formula_or_a_link(workbook):
    with zipfile.ZipFile(workbook) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    sheets = [text for name, text in parts.items() if name.startswith("xl/worksheets/")]
    assert len(sheets) == 9
    assert not any(re.search(r"<f[ >]|<hyperlink", text) for text in sheets)
    assert not any("hyperlink" in text for name, text in parts.items() if name.endswith(".rels"))


def test_the_same_model_gives_the_same_bytes(model, workbook, tmp_path):
    model.to_excel(tmp_path / "again.xlsx")
    assert (tmp_path / "again.xlsx").read_bytes() == workbook.read_bytes()


@pytest.mark.parametrize("name", ["a.csv", "a.xls", "a"])
def test_a_workbook_ends_in_xlsx(model, tmp_path, name):
    with pytest.raises(InputError, match=r"only if it ends in \.xlsx"):
        model.to_excel(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_excel_cannot_hold_is_refused(model, tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "MAX_ROWS", 100)
    with pytest.raises(InputError, match=r"the sheet documents would have 121 rows, and Excel can hold 100"):
        model.to_excel(tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_cell_ends_where_excel_would_cut_it(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'anchorless[test-all]'")
    frame = pd.DataFrame({"text": ["x" * 40_000], "n": pd.array([None], dtype="Int64"), "share": [float("inf")]})
    excel.write_excel(tmp_path / "a.xlsx", {"long": frame})
    text, n, share = list(openpyxl.load_workbook(tmp_path / "a.xlsx")["long"].values)[1]
    assert (len(text), text[-1], n, share) == (32_767, "…", None, None)


def test_excel_is_an_extra(model, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(InputError, match=r"pip install 'anchorless\[excel\]'"):
        model.to_excel(tmp_path / "a.xlsx")


@pytest.mark.parametrize("format", ["gexf", "graphml"])
def test_networks_come_back(model, format, tmp_path):
    networkx = pytest.importorskip("networkx", reason="networkx is not installed: pip install 'anchorless[test-all]'")
    path = tmp_path / f"topics.{format}"
    model.export(path)
    read = networkx.read_gexf if format == "gexf" else networkx.read_graphml
    graph = read(path)
    assert sorted(graph) == ["0", "1", "2"]
    clean_labels = [" ".join(excel.clean_text(label).split()) for label in model.topic_labels_]
    assert [graph.nodes[str(k)]["label"] for k in range(3)] == clean_labels
    assert [graph.nodes[str(k)]["share"] for k in range(3)] == model.topic_shares_.tolist()
    positive = {
        (a, b): v for a, b, v in model.correlation_edges()[["topic_a", "topic_b", "association"]].values if v > 0
    }
    assert {tuple(sorted(map(float, pair))): value for *pair, value in graph.edges(data="weight")} == positive
    groups = {graph.nodes[str(k)]["group"] for k in range(3)}
    assert len(groups) == 2
    if format == "gexf":
        sizes = np.array([graph.nodes[str(k)]["viz"]["size"] for k in range(3)])
        np.testing.assert_allclose(sizes**2 / sizes[0] ** 2, model.topic_shares_ / model.topic_shares_[0])


def test_mallet_files_add_up_to_the_tokens(model, loaded, tmp_path):
    model.export(tmp_path / "m", "mallet", n_words=5)
    keys = [line.split("\t") for line in (tmp_path / "m" / "topic-keys.txt").read_text().splitlines()]
    assert [key[0] for key in keys] == ["0", "1", "2"]
    assert all(len(key[2].split()) == 5 for key in keys)
    weights = [line.split("\t") for line in (tmp_path / "m" / "topic-word-weights.txt").read_text().splitlines()]
    assert len(weights) == 3 * 40
    assert all(len(row) == 3 for row in weights)
    found = np.array([float(row[2]) for row in weights]).reshape(3, 40)
    np.testing.assert_allclose(found.sum(axis=1), model.topic_shares_ * model.diagnostics_.n_tokens)
    np.testing.assert_allclose(found / found.sum(axis=1, keepdims=True), model.topic_word_)
    rows = [line.split("\t") for line in (tmp_path / "m" / "doc-topics.txt").read_text().splitlines()]
    assert [row[0] for row in rows] == [str(i) for i in range(120)]
    np.testing.assert_array_equal(np.array([row[2:] for row in rows], dtype=float), model.document_topics_)
    loaded.export(tmp_path / "m", "mallet", force=True)
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == ["topic-keys.txt", "topic-word-weights.txt"]


def test_paper_tables_have_a_row_for_each_topic(model, tmp_path):
    model.export(tmp_path / "t.tex")
    model.export(tmp_path / "t.md", n_words=3)
    latex, markdown = (tmp_path / "t.tex").read_text(), (tmp_path / "t.md").read_text()
    assert latex.count("\\\\\n") == 4
    assert "\\input" not in latex.replace("textbackslash{}input", "")
    assert re.findall(r"^\| (\d) \|", markdown, flags=re.MULTILINE)[:3] == ["0", "1", "2"]
    assert "<" not in markdown
    assert f"{model.topic_shares_[0]:.1%}" in markdown


def test_documents_of_a_loaded_model_are_given(model, loaded, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'anchorless[test-all]'")
    loaded.to_excel(tmp_path / "a.xlsx")
    assert "documents" not in openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames
    loaded.to_excel(tmp_path / "b.xlsx", documents=model._counts)
    head, *rows = openpyxl.load_workbook(tmp_path / "b.xlsx")["documents"].values
    first = head.index("topic_0")
    np.testing.assert_allclose([row[first : first + 3] for row in rows], model.document_topics_, atol=1e-12)


@pytest.mark.parametrize("format", FORMATS)
def test_an_existing_file_is_kept_unless_forced(model, format, tmp_path):
    if format == "pyldavis":
        pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed: pip install 'anchorless[test-all]'")
    target = tmp_path / ("there.xlsx" if format == "xlsx" else "there")
    if format == "mallet":
        target.mkdir()
    file = target / "topic-keys.txt" if format == "mallet" else target
    file.write_text("mine")
    with pytest.raises(InputError, match="exists already; pass force"):
        model.export(target, format)
    assert file.read_text() == "mine"
    model.export(target, format, force=True)
    assert file.read_bytes() != b"mine"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_formats_that_do_not_exist_are_refused(model, tmp_path):
    with pytest.raises(InputError, match="does not tell the format; name it with to, one of xlsx, latex"):
        model.export(tmp_path / "topics.doc")
    with pytest.raises(InputError, match="to='csv'"):
        model.export(tmp_path / "topics", "csv")


def test_pyldavis_page_holds_everything_and_no_word_is_markup(model, loaded, tmp_path):
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed: pip install 'anchorless[test-all]'")
    model.export(tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert page.count("<script") == page.count("</script>") == 3
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    data = json.loads(re.search(r'new LDAvis\("#topics", (.*)\);</script>', page)[1])
    assert HOSTILE[3] in data["tinfo"]["Term"]
    with pytest.raises(InputError, match="a model file has none; give them with documents"):
        loaded.export(tmp_path / "q.html")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_are_in_the_library_that_was_asked_for(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed: pip install 'anchorless[test-all]'")
    texts = ["the cat chased a mouse", "a mouse fears the cat", "the rocket reached orbit", "orbit by rocket"] * 3
    metadata = {"party": ["a", "b"] * 6, "year": [2000, 2000, 2001] * 4}
    model = TopicModel(2).set_output(transform=library).fit(texts, metadata=metadata)
    tables = [model.topics_frame(), model.words_frame(), model.documents_frame(), model.correlation_frame()]
    tables += [model.correlation_edges(), model.topics_by("party"), model.topics_over_time()]
    assert all(isinstance(table, module.DataFrame) for table in [*tables, model.transform(texts)])
    assert list(tables[3].columns) == (["topic", "0", "1"] if library == "polars" else [0, 1])
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'anchorless[plot]'")
    assert model.plot.by("party") is not None


def test_tables_are_in_the_library_of_what_was_given():
    polars = pytest.importorskip("polars", reason="polars is not installed: pip install 'anchorless[test-all]'")
    texts = ["the cat chased a mouse", "a mouse fears the cat", "the rocket reached orbit", "orbit by rocket"] * 3
    frame = polars.DataFrame({"text": texts, "party": ["a", "b"] * 6, "year": [2000, 2000, 2001] * 4})
    model = TopicModel(2).fit(frame["text"], metadata=frame)
    tables = [model.topics_frame(), model.documents_frame(), model.topics_by("party"), model.topics_over_time("year")]
    assert all(isinstance(table, polars.DataFrame) for table in tables)
    assert isinstance(model.transform(texts), np.ndarray)
    assert isinstance(model.set_output(transform="pandas").topics_frame(), pd.DataFrame)
    assert isinstance(TopicModel(2).fit(texts, metadata=frame.to_pandas()).topics_frame(), pd.DataFrame)
    assert isinstance(model.fit(frame.to_pandas()["text"]).topics_frame(), pd.DataFrame)
