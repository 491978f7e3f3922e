"""The section of a report on effects: a plain record, and the data that the page's script draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from anchorless._report.page import TITLE_LENGTH, to_line

#: Characters of a name, and of a sentence.
NAME_LENGTH, SENTENCE_LENGTH = 120, 1000


class EffectTarget(NamedTuple):
    """A topic, or several taken together."""

    name: str
    label: str
    topics: Sequence[int]  # positions of topics in the report


class EffectCurve(NamedTuple):
    """Mean shares of each target over the values of a column."""

    column: str
    values: Sequence[str]  # as they are written
    places: Sequence[float]  # on the axis
    shares: Sequence[Sequence[tuple[float, float, float]]]  # targets × values: estimate, low, high
    p: Sequence[float]  # targets; corrected for their number


class EffectsSection(NamedTuple):
    """What a report shows of the effects of metadata on topics."""

    formula: str
    level: float
    sentences: Sequence[str]
    targets: Sequence[EffectTarget]
    comparisons: Sequence[str]  # names of differences, such as "party: B − A"
    points: Sequence[Sequence[tuple[float, float, float, float]]]  # targets × comparisons: points, low, high, p
    curves: Sequence[EffectCurve] = ()


def build_effects_payload(section: EffectsSection) -> dict[str, Any]:
    """Return the section for the script."""
    return {
        "formula": to_line(section.formula, TITLE_LENGTH),
        "level": section.level,
        "sentences": [to_line(sentence, SENTENCE_LENGTH) for sentence in section.sentences],
        "targets": [
            {"name": to_line(t.name, NAME_LENGTH), "label": to_line(t.label, NAME_LENGTH), "topics": list(t.topics)}
            for t in section.targets
        ],
        "comparisons": [to_line(name, NAME_LENGTH) for name in section.comparisons],
        "points": [[[*map(round_number, row)] for row in rows] for rows in section.points],
        "curves": [build_curve_payload(curve) for curve in section.curves],
    }


def build_curve_payload(curve: EffectCurve) -> dict[str, Any]:
    """Return one curve for the script."""
    return {
        "column": to_line(curve.column, NAME_LENGTH),
        "values": [to_line(value, NAME_LENGTH) for value in curve.values],
        "places": [round_number(place, 8) for place in curve.places],
        "shares": [[[*map(round_number, row)] for row in rows] for rows in curve.shares],
        "p": [*map(round_number, curve.p)],
    }


def round_number(x: float, digits: int = 6) -> float | None:
    """Round to significant digits; NaN and infinity become None, because JSON has neither."""
    return float(f"{float(x):.{digits}g}") if math.isfinite(x) else None
