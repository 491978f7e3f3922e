"""The result of `effects` in a few lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anchorless._corpus.documents import Array
from anchorless._effects.design import Design

#: Effects with a smaller adjusted p-value are listed.
SIGNIFICANCE = 0.05
#: Smaller p-values are not printed.
LEAST_P = 0.0001
#: With fewer groups, the summary says that they are few.
FEW_GROUPS = 10
#: Topics on whose words the fit and the draws agree less (as a cosine) are doubtful.
LEAST_AGREEMENT = 0.92
NOTHING_FOUND = "No effect differs from zero at 5%, corrected for the number of topics: the data cannot tell."


class Finding(NamedTuple):
    """An effect that differs from zero, in words."""

    topic: int | str
    label: str
    effect: str
    p: float  # corrected for the number of topics


def describe_documents(design: Design, n_groups: int, level: float) -> str:
    """Say how many documents are used, and how many are left out for which reason."""
    parts = [f"{len(design.rows):,} documents"]
    parts += [f"{number:,} left out ({reason})" for reason, number in design.left_out.items()]
    if design.groups is not None:
        few = ", which is few" if n_groups < FEW_GROUPS else ""
        parts.append(f"{n_groups:,} groups of {design.groups}{few}")
    return f"{'; '.join(parts)}. Intervals: {level:.0%}."


def describe_doubts(names: Sequence[int | str], agreement: Array) -> list[str]:
    """Say which topics the documents hardly determine, in a line; none if there are none."""
    doubtful = [
        f"{name} ({value:.2f})" for name, value in zip(names, agreement, strict=True) if value < LEAST_AGREEMENT
    ]
    if not doubtful:
        return []
    which = f"topics {', '.join(doubtful)}" if len(doubtful) > 1 else f"topic {doubtful[0]}"
    return [f"Doubtful: {which}. Other words explain the documents as well; their effects are not to be relied on."]


def list_findings(design: Design, coefficients: Any, tests: Any) -> list[Finding]:
    """Return the effects that differ from zero, the strongest evidence first, from the tables of an `Effects`."""
    curves = design.list_curves()
    of_curves = {name for term in curves for name in design.columns[design.terms[term]]}
    found = [
        Finding(row.topic, row.label, f"varies with {row.term}", row.p_adjusted)
        for row in tests[tests["term"].isin(curves) & (tests["p_adjusted"] < SIGNIFICANCE)].itertuples()
    ]
    listed = (coefficients["p_adjusted"] < SIGNIFICANCE) & ~coefficients["term"].isin({*of_curves, "Intercept"})
    for row in coefficients[listed].itertuples():
        points, low, high = (format_points(value) for value in (row.estimate, row.low, row.high))
        unit = (
            "points" if row.term not in design.frame else f"points per {'day' if row.term in design.dates else 'unit'}"
        )
        effect = f"{row.term} {points} {unit} ({low} to {high})"
        found.append(Finding(row.topic, row.label, effect, row.p_adjusted))
    return sorted(found, key=lambda finding: finding.p)


def format_points(share: float) -> str:
    """Return a difference of shares in percentage points; small ones keep two digits."""
    points = 100.0 * share
    return f"{points:+.1f}" if abs(points) >= 0.95 or points == 0.0 else f"{points:+.2g}"


def format_p(p: float) -> str:
    """Return a p-value; nobody needs the digits of very small ones."""
    return f"p < {LEAST_P:g}" if p < LEAST_P else f"p {p:.2g}"


def render_findings(found: list[Finding], limit: int | None) -> list[str]:
    """Return a line for each of the first findings, and how many there are besides."""
    lines = [f"topic {one.topic} ({one.label}): {one.effect}, {format_p(one.p)}" for one in found[:limit]]
    left = len(found) - len(lines)
    return [*lines, f"and {left} more in the table"] if left else lines or [NOTHING_FOUND]
