"""A vertex in exact arithmetic, where its norm is one within rounding: floats are fractions, so this can be decided."""

from __future__ import annotations

from fractions import Fraction

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.cone import NORM_TOLERANCE

FractionRow = list[Fraction]

#: Numbers in the rows up to which a vertex is computed in fractions; more would take minutes.
MAX_EXACT_ENTRIES = 100_000


def is_exact_witness(rows: Array, x: Array) -> bool:
    """Tell whether the vertex at x (F,) of {rows·x ≥ 0, 1·x = 1} is a point of it with a norm of at least one.

    The vertex is where those rows (n, F) are tight that are so at x within rounding. False also where that cannot be
    told: where they do not determine a point, or where there are too many numbers.
    """
    if rows.size > MAX_EXACT_ENTRIES:
        return False
    tight = rows[abs(rows @ x) <= 10 * NORM_TOLERANCE * rows.sum(axis=1)]
    point = solve_exactly([[*fractions(row), Fraction(0)] for row in tight], len(x))
    if point is None or sum(value * value for value in point) < 1:
        return False
    return all(sum(a * b for a, b in zip(fractions(row), point, strict=True)) >= 0 for row in rows)


def fractions(row: Array) -> FractionRow:
    """Return the numbers of a row as fractions, exactly."""
    return [Fraction(float(value)) for value in row]


def solve_exactly(equations: list[FractionRow], n_dims: int) -> FractionRow | None:
    """Solve 1·x = 1 and row·x = 0 by elimination; each row has its right side at the end. None if x is not unique."""
    basis: list[tuple[int, FractionRow]] = []
    for equation in [[Fraction(1)] * (n_dims + 1), *equations]:
        row = equation
        for lead, pivot in basis:
            if row[lead]:
                row = [a - row[lead] * b for a, b in zip(row, pivot, strict=True)]
        lead = next((k for k in range(n_dims) if row[k]), -1)
        if lead < 0:
            if row[-1]:
                return None  # rows that are not tight together after all
            continue
        row = [a / row[lead] for a in row]
        basis = [(k, [a - other[lead] * b for a, b in zip(other, row, strict=True)]) for k, other in basis]
        basis.append((lead, row))
    if len(basis) < n_dims:
        return None
    values = {lead: row[-1] for lead, row in basis}
    return [values[k] for k in range(n_dims)]
