"""Build the section of a report on effects from the result of `effects`."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._effects.columns import name_column
from anchorless._effects.effects import ESTIMAND, Effects
from anchorless._effects.summary import (
    NOTHING_FOUND,
    SIGNIFICANCE,
    describe_documents,
    describe_doubts,
    list_effects,
    name_comparison,
)
from anchorless._report.effects_section import EffectCurve, EffectsSection, EffectTarget

#: Curves of a report: more columns are not drawn.
MAX_CURVES = 8


def build_effects_section(found: Effects) -> EffectsSection:
    """Return what a report shows of effects."""
    differences, tests = found.differences(), found.tests()
    n = len(found.targets)
    names = list(dict.fromkeys(zip(differences["column"], differences["first"], differences["second"], strict=True)))
    rows = differences[["points", "low", "high", "p_adjusted"]].to_numpy(dtype=float)
    points = rows.reshape(len(names), n, 4).transpose(1, 0, 2) if len(names) else np.zeros((n, 0, 4))
    return EffectsSection(
        formula=found.formula,
        level=found.level,
        sentences=describe(found, tests),
        targets=[EffectTarget(str(t.name), t.label, list(t.topics)) for t in found.targets],
        comparisons=[name_comparison(*name) for name in names],
        points=[[tuple(row) for row in target] for target in points.tolist()],
        curves=[build_curve(found, tests, name) for name in found.design.list_curved_columns()[:MAX_CURVES]],
    )


def describe(found: Effects, tests: Any) -> list[str]:
    """Say what is estimated, from which documents, and whether the data can tell."""
    sentences = [f"Estimated is the {ESTIMAND}."]
    sentences.append(describe_documents(found.design, found.clusters.n_clusters, found.level))
    sentences += describe_doubts([target.name for target in found.targets], found.agreement)
    if not any(one.p < SIGNIFICANCE for one in list_effects(found.design, found.frame(), tests)):
        sentences.append(NOTHING_FOUND)
    return sentences


def build_curve(found: Effects, tests: Any, column: str) -> EffectCurve:
    """Return the curve of a column with the test of the term that it is in."""
    table, design = found.curve(column), found.design
    n = len(found.targets)
    values = table[name_column(column)].iloc[: len(table) // n].tolist()
    shares = table[["share", "low", "high"]].to_numpy(dtype=float).reshape(n, len(values), 3)
    of_column = [term for term in design.list_curves() if column in design.list_variables(term)]
    p = tests[tests["term"] == of_column[0]]["p_adjusted"].tolist()
    places = [design.convert_value(column, value) for value in values]
    shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return EffectCurve(column, shown, places, [[tuple(row) for row in rows] for rows in shares.tolist()], p)
