"""The guard against growing costs: counts of two results, which are the same in every run, where times are not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from benchmarks.running import EXPERIMENT
from experiments.results import (
    COLUMNS,
    Cell,
    ResultsError,
    Values,
    csv_text,
    markdown_table,
    order,
    read_values,
    replace_file,
    rows_of,
)

#: The share by which a count may grow: other processors round differently and take other pivots.
TOLERANCE = 0.1
BASELINE = Path(__file__).parent / "baseline.csv"


class Change(NamedTuple):
    """One count of one fit, in both results."""

    cell: Cell
    count: str
    before: float
    after: float

    @property
    def growth(self) -> float:
        """The share by which it grew."""
        if self.before:
            return self.after / self.before - 1.0
        return math.inf if self.after else 0.0

    def row(self) -> list[str]:
        """Return it as a row of the table."""
        cell = self.cell
        size = f"{cell.F}" if cell.N is None else f"{cell.F}, N={cell.N:,}"
        return [
            cell.design,
            size,
            self.count.removeprefix("n_"),
            f"{self.before:,.0f}",
            f"{self.after:,.0f}",
            f"{self.growth:+.1%}",
        ]


def compare(before: Path, after: Path, tolerance: float = TOLERANCE) -> int:
    """Print the counts that changed and return 1 if one grew by more than the tolerance."""
    old, new = read_existing(before), read_existing(after)
    changes = compare_counts(old, new)
    if not changes:
        raise ResultsError(f"{before} and {after} have no count of the same fit; make both by the same command")
    grown = [change for change in changes if change.growth > tolerance]
    shrunk = [change for change in changes if change.growth < -tolerance]
    for title, found in (("Grown", grown), ("Shrunk", shrunk)):
        if found:
            print(f"{title} by more than {tolerance:.0%}:\n\n{table(found)}\n")
    alone = sorted({str(cell) for cell in set(old) - set(new) if counts_of(old[cell])})
    if alone:
        print(f"Not in {after}, so not compared: {len(alone)} fits, such as {alone[0]}\n")
    fits = len({change.cell for change in changes})
    print(f"{len(changes)} counts of {fits} fits compared: {len(grown)} grown, {len(shrunk)} shrunk")
    return 1 if grown else 0


def compare_counts(before: Values, after: Values) -> list[Change]:
    """Return every count that both results have, those that grew most first."""
    changes = [
        Change(cell, count, value, after[cell][count])
        for cell in before
        if cell in after
        for count, value in counts_of(before[cell]).items()
        if count in after[cell]
    ]
    return sorted(changes, key=lambda change: -change.growth)


def counts_of(found: dict[str, float]) -> dict[str, float]:
    """Return the counts among measures."""
    return {name: value for name, value in found.items() if name.startswith("n_")}


def table(changes: list[Change]) -> str:
    """Return changes as a table."""
    return markdown_table(["fit", "topics", "count", "before", "after", "change"], [change.row() for change in changes])


def save_baseline(values: Values, path: Path = BASELINE) -> None:
    """Write the counts of the guard's fits."""
    rows = [row for cell in sorted(values, key=order) for row in rows_of(EXPERIMENT, cell, counts_of(values[cell]))]
    replace_file(path, csv_text([COLUMNS, *rows]))


def read_existing(path: Path) -> Values:
    """Return the results of a file that must be there."""
    if not path.is_file():
        raise ResultsError(f"there is no file {path}; results are in results.csv below the folder that --out named")
    return read_values(path, EXPERIMENT)
