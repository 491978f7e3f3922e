"""Figures as files: the formats, and a style with which the same figure gives the same bytes."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from anchorless.errors import InputError, UsageError, is_installed

#: File endings, and the metadata that would make the bytes depend on the time of writing.
PLOT_FORMATS: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
#: The salt makes the ids in an SVG the same in every run; text stays text, so that it can be searched.
STYLE: Any = {"svg.hashsalt": "anchorless", "svg.fonttype": "none", "font.size": 9.0, "axes.titlelocation": "left"}

#: How errors of FreeType begin, through which matplotlib reads fonts.
FONT_ERROR = "FT_"


def find_plot_format(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's ending asks for; refuse unknown endings, and a missing matplotlib."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in PLOT_FORMATS:
        problem = "the name of a plot must end in .svg, .png or .pdf"
        raise UsageError(problem, parameter="plot", value=os.fspath(path), limit=tuple(PLOT_FORMATS))
    require_matplotlib()
    return ending


def has_matplotlib() -> bool:
    """Say whether matplotlib is installed."""
    return is_installed("matplotlib")


def require_matplotlib() -> None:
    """Refuse to draw without matplotlib."""
    if not has_matplotlib():
        remedy = "install it with `pip install 'anchorless[plot]'`"
        raise InputError("figures need the package matplotlib", remedy=remedy)


def render_figure(figure: Any, format: str) -> bytes:
    """Return a matplotlib figure as a file's bytes; the caller uses `STYLE`."""
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format=format, dpi=150, metadata=PLOT_FORMATS[format])
    except RuntimeError as error:
        if FONT_ERROR not in str(error):
            raise
        remedy = "install matplotlib again: `pip install --force-reinstall matplotlib`"
        raise InputError(f"a font of the figure cannot be read ({error})", remedy=remedy) from error
    return buffer.getvalue()
