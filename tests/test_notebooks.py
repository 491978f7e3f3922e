"""The notebooks of the documentation run, show what they showed, and display tables, figures and the report."""

import pytest

from tests.helpers.doc_examples import documented_versions, installed_versions
from tests.helpers.notebooks import NOTEBOOKS, execute, list_texts

REASON = "notebooks need nbclient and ipykernel: pip install 'anchorless[test-all]'"


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def notebooks(request, tmp_path_factory):
    nbformat = pytest.importorskip("nbformat", reason=REASON)
    for module in ("nbclient", "ipykernel"):
        pytest.importorskip(module, reason=REASON)
    folder = tmp_path_factory.mktemp("notebook")
    return nbformat.read(request.param, as_version=4), execute(request.param, folder), folder


def outputs_of(notebook, source):
    """Return what the cell with this source displays, by kind."""
    cell = next(cell for cell in notebook.cells if cell.source.splitlines()[-1].startswith(source))
    return [output.get("data", output) for output in cell.outputs]


def test_a_notebook_shows_what_it_showed(notebooks):
    stored, executed, _ = notebooks
    if documented_versions() == installed_versions():
        assert list_texts(executed) == list_texts(stored), "run `make docs-examples`"


def test_a_model_displays_its_topics_and_the_report_displays_inline(notebooks):
    _, executed, folder = notebooks
    (shown,) = outputs_of(executed, "model")
    assert "6 topics of" in shown["text/html"]
    assert shown["text/html"].count("<tr>") == 7
    (report,) = outputs_of(executed, "report")
    assert report["text/html"]
    figure = outputs_of(executed, "figure.tight_layout")[-1]
    assert "image/png" in figure
    assert sorted(path.name for path in folder.iterdir()) == ["topics.tex", "topics.xlsx"]


def test_a_table_is_refused_with_its_columns(notebooks):
    _, executed, _ = notebooks
    (refusal,) = outputs_of(executed, "    print(error)")
    assert "'text', 'module', 'year'" in refusal["text"]


def test_every_figure_is_displayed_although_no_cell_imports_matplotlib(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason=REASON)
    for module in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(module, reason=REASON)
    texts = "from anchorless import TopicModel, datasets\ntexts = datasets.load_docstrings().texts[:300]"
    sources = [texts, "model = TopicModel(3).fit(texts)", "model.plot.shares()", "model.plot.topics();"]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "figures.ipynb")
    executed = execute(tmp_path / "figures.ipynb", tmp_path)
    for cell in executed.cells[2:]:
        assert "image/png" in cell.outputs[-1]["data"], cell.source
