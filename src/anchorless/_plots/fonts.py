"""Fonts for the letters of a figure: installed ones are used without being asked for, missing ones are named once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from anchorless._figures import require_matplotlib

#: Fonts of many scripts, the first choice among those that are installed.
KNOWN_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR"),
    *("Source Han Sans SC", "Source Han Sans", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback"),
    *("Microsoft YaHei", "SimHei", "PingFang SC", "Heiti TC", "Hiragino Sans", "Yu Gothic", "MS Gothic"),
    *("IPAexGothic", "Malgun Gothic", "Apple SD Gothic Neo", "NanumGothic", "Noto Sans Thai", "Noto Sans Devanagari"),
    "Arial Unicode MS",
)
#: Letters that are shown as examples.
SHOWN_LETTERS = 5
#: What matplotlib says about every single letter, at every drawing.
GLYPH_WARNING = r"Glyph \d+ .* missing from font"

P = ParamSpec("P")
Drawn = TypeVar("Drawn")


class ScriptFont(NamedTuple):
    """A font to install for a range of letters."""

    first: int
    last: int
    font: str
    package: str  # of Debian and Ubuntu


CJK = ("Noto Sans CJK", "fonts-noto-cjk")
SCRIPT_FONTS = (
    ScriptFont(0x1100, 0x11FF, *CJK),
    ScriptFont(0x2E80, 0x9FFF, *CJK),
    ScriptFont(0xA960, 0xA97F, *CJK),
    ScriptFont(0xAC00, 0xD7FF, *CJK),
    ScriptFont(0xF900, 0xFAFF, *CJK),
    ScriptFont(0xFE30, 0xFE4F, *CJK),
    ScriptFont(0xFF00, 0xFFEF, *CJK),
    ScriptFont(0x20000, 0x3FFFF, *CJK),
)
#: For all other letters.
OTHER_FONT = ("Noto Sans, for your script", "fonts-noto-core")


def with_fonts(
    list_texts: Callable[[Any], Iterable[str]],
) -> Callable[[Callable[P, Drawn]], Callable[P, Drawn]]:
    """Return a decorator for methods that draw: their texts are listed, and get fonts that have their letters."""

    def decorate(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
        @wraps(draw)
        def draw_with_fonts(*args: P.args, **kwargs: P.kwargs) -> Drawn:
            require_matplotlib()
            with use_fonts(list_texts(args[0]), stacklevel=4):
                return draw(*args, **kwargs)

        return draw_with_fonts

    return decorate


@contextmanager
def use_fonts(texts: Iterable[str], stacklevel: int = 3) -> Iterator[None]:
    """Draw with fonts for all letters of texts; warn once, instead of once per letter, if some are in no font.

    No other setting is restored: the first figure of a notebook turns on that figures are displayed, and with
    `rc_context` no later one was.
    """
    from matplotlib import rcParams

    letters = {letter for text in texts for letter in text if letter.isprintable() and not letter.isspace()}
    families = tuple(rcParams["font.family"])
    fonts, missing = choose_fonts(frozenset(letters), families, tuple(rcParams["font.sans-serif"]))
    if missing:
        warnings.filterwarnings("ignore", GLYPH_WARNING, UserWarning)
        warnings.warn(describe_missing(missing), stacklevel=stacklevel)
    rcParams["font.family"] = [*families, *fonts]
    try:
        yield
    finally:
        rcParams["font.family"] = list(families)


@lru_cache(maxsize=64)
def choose_fonts(letters: frozenset[str], families: tuple[str, ...], _: Any) -> tuple[tuple[str, ...], str]:
    """Return installed fonts for letters that the families lack, and the letters that no font has."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    missing = set(letters)
    for family in families:
        missing -= list_letters(findfont(FontProperties(family=[family])))
    if not missing:
        return (), ""
    installed = {entry.name: entry.fname for entry in fontManager.ttflist if entry.style == "normal"}
    order = {name: i for i, name in enumerate(KNOWN_FONTS)}
    chosen = []
    for name in sorted(installed, key=lambda name: (order.get(name, len(order)), name)):
        found = missing & list_letters(installed[name])
        if found and "Last Resort" not in name:
            chosen.append(name)
            missing -= found
        if not missing:
            break
    return tuple(chosen), "".join(sorted(missing))


@lru_cache(maxsize=512)
def list_letters(path: str) -> frozenset[str]:
    """Return the letters of a font file; none of one that cannot be read."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(map(chr, get_font(path).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()


def describe_missing(missing: str) -> str:
    """Say which letters no font has, and which font to install."""
    shown = " ".join(missing[:SHOWN_LETTERS]) + (" …" if len(missing) > SHOWN_LETTERS else "")
    font, package = next((s[2:] for s in SCRIPT_FONTS if s.first <= ord(missing[0]) <= s.last), OTHER_FONT)
    number = "1 letter" if len(missing) == 1 else f"{len(missing)} letters"
    remedy = f"install one, such as {font} (`apt install {package}`, or from fonts.google.com/noto)"
    boxes = f"no font on this computer has {number} of this figure ({shown}); boxes are drawn instead"
    return f"{boxes}; {remedy}, and start Python again"
