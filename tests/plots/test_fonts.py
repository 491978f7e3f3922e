import warnings

import pytest

from anchorless import TopicModel
from anchorless._plots import fonts

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

TEXTS = ["猫 追 老鼠 花园", "老鼠 怕 猫 花园", "火箭 进入 轨道 月球", "轨道 火箭 月球 卫星"] * 5
LATIN = frozenset(map(chr, range(0x250)))


@pytest.fixture
def latin_fonts(monkeypatch):
    """Fonts of a computer that has Latin letters alone."""
    monkeypatch.setattr(fonts, "list_letters", lambda path: LATIN)
    fonts.choose_fonts.cache_clear()
    yield
    fonts.choose_fonts.cache_clear()
    pyplot.close("all")


@pytest.fixture
def model():
    return TopicModel(n_topics=2, language="chinese", segmenter="none", stop_words=None).fit(TEXTS)


@pytest.mark.parametrize("name", ["topics", "shares", "correlations", "documents"])
def test_one_warning_names_a_font_for_letters_that_none_has(model, latin_fonts, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ax = getattr(model.plot, name)()
        ax.figure.canvas.draw()
        ax.figure.canvas.draw()
    (warning,) = caught
    assert "no font on this computer has" in str(warning.message)
    assert "Noto Sans CJK (`apt install fonts-noto-cjk`" in str(warning.message)
    assert warning.filename == __file__


def test_letters_that_a_figure_does_not_show_need_no_font(model, latin_fonts):
    model.rename_topics({0: "cats", 1: "rockets"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.plot.correlations()
    with pytest.warns(UserWarning, match="no font on this computer has"):
        model.plot.shares()


def test_letters_of_the_usual_fonts_need_no_others():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with fonts.use_fonts(["crème brûlée", "кошка", "γάτα"]):
            assert matplotlib.rcParams["font.family"] == ["sans-serif"]


def test_an_installed_font_that_has_the_letters_is_used(monkeypatch):
    monkeypatch.setattr(fonts, "list_letters", lambda path: LATIN | {"猫"} if "Serif" in path else LATIN)
    fonts.choose_fonts.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with fonts.use_fonts(["cat 猫"]):
            (first, second) = matplotlib.rcParams["font.family"]
    assert (first, "Serif" in second) == ("sans-serif", True)
    assert matplotlib.rcParams["font.family"] == ["sans-serif"]
    fonts.choose_fonts.cache_clear()


@pytest.mark.parametrize(
    ("letters", "font"),
    [("猫", "Noto Sans CJK"), ("ね", "Noto Sans CJK"), ("한", "Noto Sans CJK"), ("ไ", "your script")],
)
def test_the_font_depends_on_the_script(letters, font):
    assert font in fonts.describe_missing(letters)
    assert "1 letter of" in fonts.describe_missing(letters)


def test_what_the_first_figure_sets_stays_set():
    """In a notebook it turns on that figures are displayed."""
    with matplotlib.rc_context({"interactive": False}):
        with fonts.use_fonts(["cat"]):
            matplotlib.rcParams["interactive"] = True
        assert matplotlib.rcParams["interactive"]
