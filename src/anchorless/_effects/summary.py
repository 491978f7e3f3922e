"""The result of `effects` in a few lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
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
    """An effect in words."""

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


def name_comparison(column: str, first: Any, second: Any) -> str:
    """Return the name of the difference between two values of a column, here and in the report."""
    return f"{column}: {first} − {second}"


def name_coefficients(design: Design) -> dict[str, str]:
    """Return the names, for readers, of the columns of a design that compare levels: formulas write `party[T.B]`."""
    names = {}
    for term in design.spec.terms:
        factors = [str(factor.expr) for factor in term.factors]
        conditions = " and ".join(list_conditions(design, factors))
        for levels in product(*(name_levels(design, factor).items() for factor in factors)):
            written, shown = zip(*levels, strict=True)
            name = shown[0] if len(shown) == 1 else " × ".join(f"({one})" for one in shown)
            names[":".join(written)] = f"{name}, if {conditions}" if conditions else name
    return names


def name_levels(design: Design, factor: str) -> dict[str, str]:
    """Return the names of the columns of a factor: as formulas write them → as differences from the first level."""
    column, levels = list_factor_levels(design, factor)
    if not levels:
        return {factor: factor}
    first, *others = levels
    return {f"{factor}[T.{level}]": name_comparison(column, levels[level], levels[first]) for level in others}


def list_factor_levels(design: Design, factor: str) -> tuple[str, dict[Any, Any]]:
    """Return the column of a factor, and its levels as formulas write them → as users do; none if it is no category."""
    for column in design.frame:
        if factor in (f"C({column})", f"C(`{column}`)") or (factor == column and design.is_category(column)):
            if design.is_category(column):
                return column, {level: level for level in design.list_levels(column)}
            return column, {x: design.show_value(column, x) for x in sorted(set(design.frame[column].tolist()))}
    return factor, {}


def list_conditions(design: Design, factors: Sequence[str]) -> list[str]:
    """Return where the coefficients of a single factor are its effect: at zero or the first level of the others."""
    terms = [[str(factor.expr) for factor in term.factors] for term in design.spec.terms]
    others = dict.fromkeys(name for term in terms if {*factors} < {*term} for name in term if name not in factors)
    found = [list_factor_levels(design, name) for name in others] if len(factors) == 1 else []
    return [f"{column} is {next(iter(levels.values()), 0)}" for column, levels in found]


def list_effects(design: Design, coefficients: Any, tests: Any) -> list[Finding]:
    """Return all effects, the strongest evidence first, from the tables of an `Effects`."""
    curves = design.list_curves()
    of_curves = {name for term in curves for name in design.columns[design.terms[term]]}
    found = [
        Finding(row.topic, row.label, f"varies with {row.term}", row.p_adjusted)
        for row in tests[tests["term"].isin(curves)].itertuples()
    ]
    names = name_coefficients(design)
    for row in coefficients[~coefficients["term"].isin({*of_curves, "Intercept"})].itertuples():
        points, low, high = (format_points(value) for value in (row.estimate, row.low, row.high))
        unit = (
            "points" if row.term not in design.frame else f"points per {'day' if row.term in design.dates else 'unit'}"
        )
        name = names.get(row.term, row.term)
        effect = f"{name}{':' * (name != row.term)} {points} {unit} ({low} to {high})"
        found.append(Finding(row.topic, row.label, effect, row.p_adjusted))
    return sorted(found, key=lambda finding: finding.p)


def format_points(share: float) -> str:
    """Return a difference of shares in percentage points; small ones keep two digits."""
    points = 100.0 * share
    return f"{points:+.1f}" if abs(points) >= 0.95 or points == 0.0 else f"{points:+.2g}"


def format_p(p: float) -> str:
    """Return a p-value; nobody needs the digits of very small ones."""
    return f"p < {LEAST_P:g}" if p < LEAST_P else f"p {p:.2g}"


def render_effects(effects: list[Finding], limit: int | None, level: float, where: str) -> list[str]:
    """Return a line for each of the first effects that differ from zero, below one that says how many there are.

    `where` names what has all effects.
    """
    found = [one for one in effects if one.p < SIGNIFICANCE]
    lines = [f"topic {one.topic} ({one.label}): {one.effect}, {format_p(one.p)}" for one in found[:limit]]
    if not lines:
        return [NOTHING_FOUND]
    first = f"The first {len(lines)} are" if len(lines) < len(found) else "They are" if len(found) > 1 else "It is"
    n_left, verb = len(effects) - len(lines), "have" if len(found) > 1 else "has"
    left = f"; the other {n_left} {'are' if n_left > 1 else 'is'} in {where}" if n_left else ""
    heading = f"{len(found)} of {len(effects)} effects {verb} p < {SIGNIFICANCE:g}, corrected for the number of topics."
    return [f"{heading} {first} listed with {level:.0%} intervals{left}:", *lines]
