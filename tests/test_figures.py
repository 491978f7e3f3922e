"""Figures as files."""

import builtins
import io

import pytest

from anchorless._figures import render_figure
from anchorless.errors import InputError
from tests.helpers.forked_commands import BrokenFile

font_manager = pytest.importorskip("matplotlib.font_manager")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of matplotlib, which calls `read`
def test_a_font_on_a_disk_that_cannot_be_read_is_named_and_is_no_bug(monkeypatch):
    from matplotlib.figure import Figure

    font_manager._get_font.cache_clear()
    opened = io.open
    is_font = lambda file: str(file).endswith(".ttf")  # noqa: E731
    broken = lambda file, *rest: io.BufferedReader(BrokenFile(file)) if is_font(file) else opened(file, *rest)  # noqa: E731
    monkeypatch.setattr(builtins, "open", broken)
    monkeypatch.setattr(io, "open", broken)
    figure = Figure()
    figure.suptitle("a title")
    try:
        with pytest.raises(InputError, match=r"a font of the figure cannot be read.*install matplotlib again"):
            render_figure(figure, "svg")
    finally:
        font_manager._get_font.cache_clear()


def test_other_errors_of_a_figure_stay_as_they_are():
    class Broken:
        def savefig(self, *_, **__):
            raise RuntimeError("other")

    with pytest.raises(RuntimeError, match="other"):
        render_figure(Broken(), "svg")
