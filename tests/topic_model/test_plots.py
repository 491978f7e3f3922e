import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from anchorless import TopicModel, search_k
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts

NAMES = ("topics", "shares", "correlations", "documents", "over_time", "by", "effects", "hierarchy", "stability")


@pytest.fixture(autouse=True)
def _close_figures():
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    texts, labels = planted_texts(160)
    days = np.datetime64("2008-01-01") + np.arange(160)
    table = pd.DataFrame({"theme": labels, "day": days, "one": ["same"] * 160})
    model = TopicModel(4, n_jobs=1, levels=[2]).fit(texts, metadata=table)
    model.stability(10)
    model.effects("~ theme")
    return model


def draw(model, name, **parameters):
    return getattr(model.plot, name)(*(["theme"] if name == "by" else []), **parameters)


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn_on_the_given_axes_alone(model, name):
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    ax, before = Figure().subplots(), pyplot.get_fignums()
    assert draw(model, name, ax=ax) is ax
    assert ax.has_data()
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize("name", NAMES)
def test_new_figures_are_the_same_each_time_and_cut_no_text(model, name, tmp_path):
    pages = []
    for i in range(2):
        ax = draw(model, name)
        ax.figure.savefig(tmp_path / f"{i}.png")
        pages.append((tmp_path / f"{i}.png").read_bytes())
        frame, found = ax.figure.bbox, ax.get_tightbbox()
        assert found.x0 >= frame.x0 - 1
        assert found.x1 <= frame.x1 + 1
        assert found.y0 >= frame.y0 - 1
        assert found.y1 <= frame.y1 + 1
    assert pages[0] == pages[1]


def test_chosen_topics_are_drawn_and_unknown_ones_refused(model):
    ax = model.plot.topics([2, 0], n_words=3)
    assert len(ax.patches) == 6
    with pytest.raises(InputError, match="topics=4"):
        model.plot.topics([4])
    with pytest.raises(InputError, match="no topic is given"):
        model.plot.topics([])


def test_correlations_are_a_network_or_a_matrix(model):
    shown = model.plot.correlations("matrix").collections[0].get_array()
    assert shown.shape == (4, 4)
    with pytest.raises(InputError, match="kind='heat'"):
        model.plot.correlations("heat")


def test_shares_have_the_intervals_of_stability(model):
    ax = model.plot.shares()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * model.topic_shares_)
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends[:, 1], 100 * np.maximum(model.stability_.shares.high, model.topic_shares_))


def test_a_search_is_that_given_or_made_of_the_training_documents(model):
    found = search_k(model._counts, [2, 3, 4], n_jobs=1)
    ax = model.plot.search_k(found, measure="npmi")
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), [row.npmi for row in found.rows])
    ax = model.plot.search_k([2, 3])
    assert list(ax.lines[-1].get_xdata()) == [2, 3]
    with pytest.raises(InputError, match="measure='noise'"):
        model.plot.search_k(found, measure="noise")


def test_what_a_model_file_does_not_have_is_said(model, tmp_path):
    model.save(tmp_path / "m.anchorless")
    loaded = TopicModel.load(tmp_path / "m.anchorless")
    for name in ("topics", "shares", "correlations", "hierarchy", "stability"):
        assert draw(loaded, name).has_data()
    with pytest.raises(InputError, match="a model file keeps no document weights"):
        loaded.plot.documents()
    with pytest.raises(InputError, match="must be in memory"):
        loaded.plot.search_k([2, 3])


def test_an_unfitted_model_has_no_figures():
    with pytest.raises(NotFittedError):
        TopicModel(3).plot.shares()


def test_the_package_works_without_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from anchorless import InputError, TopicModel\n"
        "model = TopicModel(2, n_jobs=1).fit(['cat mouse', 'mouse cat', 'orbit rocket', 'rocket orbit'])\n"
        "try:\n    model.plot.shares()\nexcept InputError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'anchorless[plot]'" in run.stdout
