"""Words of scripts without spaces between words: by a package where one is installed, else by parts of runs.

A run of letters is divided by itself, so that its words do not depend on the text around it. The packages that divided
the texts of a model are recorded by name and version, such as "rjieba 0.2.2": texts of a later call are divided the
same way, or refused if the package is missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from typing import NamedTuple

from anchorless._corpus.text.chinese import split_chinese
from anchorless._corpus.text.japanese import split_japanese
from anchorless._corpus.text.scripts import KANA, Span, divide_run, split_into_ngrams
from anchorless._corpus.text.thai import split_thai
from anchorless.errors import InputError

#: Segmenters that need no package: parts of runs, and runs as they are.
NGRAMS, NONE = "ngrams", "none"
#: Characters that a package divides at once: SudachiPy refuses more than 49,149 bytes, and the time of PyThaiNLP grows
#: with the square.
MAX_SPAN = 5000
#: Encodings of the characters that a language uses: 们 and 订 are in none of Japanese, 発 and 価 in none of Chinese.
JAPANESE_CHARACTERS, CHINESE_CHARACTERS = "cp932", ("gb2312", "big5")


class Segmenter(NamedTuple):
    """A package that finds the words of one language."""

    language: str
    package: str  # as it is installed and recorded
    extra: str  # of this package
    family: str  # of letters, see `scripts`
    split: Callable[[str], list[str]]
    needs: tuple[str, ...] = ()  # further packages


SEGMENTERS = (
    Segmenter("chinese", "rjieba", "chinese", "Chinese or Japanese", split_chinese),
    Segmenter("japanese", "sudachipy", "japanese", "Chinese or Japanese", split_japanese, needs=("sudachidict_small",)),
    Segmenter("thai", "pythainlp", "thai", "Thai", split_thai),
)


def find_version(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def find_segmenter(language: str) -> Segmenter | None:
    """Return the segmenter of a language; None if there is none."""
    return next((one for one in SEGMENTERS if one.language == language), None)


def is_installed(segmenter: Segmenter) -> bool:
    """Tell whether all packages of a segmenter are installed."""
    return all(find_version(package) is not None for package in (segmenter.package, *segmenter.needs))


def pin_segmenter(segmenter: Segmenter) -> str:
    """Return the name of a segmenter with its version."""
    return f"{segmenter.package} {find_version(segmenter.package)}"


def validate_segmenter(name: object) -> str:
    """Return the names of segmenters; refuse unknown ones."""
    known = ("auto", NGRAMS, NONE, *(one.package for one in SEGMENTERS))
    parts = [part.split() for part in name.split(",")] if isinstance(name, str) else []
    if not parts or not all(part and part[0] in known and len(part) <= 2 for part in parts):
        raise InputError(f"it must be one of {', '.join(known)}", parameter="segmenter", value=name)
    return str(name)


@cache
def make_segment(names: str) -> Callable[[str], list[str]] | None:
    """Return the function that divides a run, by the names of segmenters; None if runs stay whole."""
    if names == NONE:
        return None
    wanted = [part.split() for part in names.split(",") if part.split()[0] not in ("auto", NGRAMS)]
    return partial(segment_run, segmenters=tuple(open_segmenter(*part) for part in wanted))


def open_segmenter(package: str, version: str | None = None) -> Segmenter:
    """Return a segmenter that is installed; warn if a model was fitted with another version."""
    segmenter = next(one for one in SEGMENTERS if one.package == package)
    if not is_installed(segmenter):
        problem = f"the texts are divided into words by the package {package}, which is not installed"
        raise InputError(problem, remedy=f"pip install 'anchorless[{segmenter.extra}]'")
    found = find_version(package)
    if version is not None and found != version:
        warnings.warn(
            f"the model was fitted with {package} {version}, and {found} is installed: some texts may be divided into "
            f"other words; pip install {package}=={version} divides them as before",
            stacklevel=2,
        )
    return segmenter


def segment_run(run: str, segmenters: tuple[Segmenter, ...]) -> list[str]:
    """Return the words of a run of letters and digits."""
    return [word for span in divide_run(run) for word in segment_span(span, segmenters)]


def tell_language(text: str) -> str | None:
    """Return whether characters are Chinese or Japanese; None if they may be of either language."""
    if KANA.search(text):
        return "japanese"
    if not can_encode(text, JAPANESE_CHARACTERS):
        return "chinese"
    return None if any(can_encode(text, name) for name in CHINESE_CHARACTERS) else "japanese"


def can_encode(text: str, encoding: str) -> bool:
    """Tell whether an encoding has all characters of a text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def segment_span(span: Span, segmenters: tuple[Segmenter, ...]) -> list[str]:
    """Return the words of a part of a run in one script."""
    if span.family is None:
        return [span.text]
    able = [one for one in segmenters if one.family == span.family]
    if len(able) > 1:
        language = tell_language(span.text)
        able = [one for one in able if one.language == language] or able
    if able:
        pieces = (span.text[start : start + MAX_SPAN] for start in range(0, len(span.text), MAX_SPAN))
        return [word for piece in pieces for word in able[0].split(piece)]
    # An empty string between two parts: they overlap, so they are not neighbors as words of a phrase are.
    return [word for part in split_into_ngrams(span) for word in (part, "")]
