"""Results of an experiment as one tidy CSV file: written fit by fit, resumed after a stop, rendered as tables.

A fit's rows are appended in one piece. A line without its end was torn by a crash and is dropped; a fit that
lacks a measure is run again.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from importlib.metadata import version
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from experiments.progress import Progress

COLUMNS = ("experiment", "design", "method", "F", "N", "seed", "measure", "value")
#: Packages whose version can change a result.
PACKAGES = ("anchorless", "numpy", "scipy", "scikit-learn", "highspy")
PNG_DPI = 100
PNG_COLOURS = 128


class ResultsError(Exception):
    """Results on disk cannot be used; the message names the way out."""


class Cell(NamedTuple):
    """One fit of an experiment."""

    design: str
    method: str
    F: int  # topics
    N: int | None  # documents; None where the co-occurrences are exact
    seed: int

    def __str__(self) -> str:
        documents = "" if self.N is None else f", N={self.N:,}"
        return f"{self.design}, {self.method}, F={self.F}{documents}, seed {self.seed}"


Values = dict[Cell, dict[str, float]]
Measure = Callable[[Cell], Mapping[str, float]]
Done = tuple[Cell, Mapping[str, float], float]  # with its measures and seconds
Run = Callable[[Cell], Done]


class Results:
    """The measures of every fit of an experiment, in memory (`values`) and in `folder`/results.csv."""

    def __init__(self, folder: Path, experiment: str) -> None:
        self.folder = folder
        self.path = folder / "results.csv"
        self.experiment = experiment
        self.values: Values = read_values(self.path, experiment)

    def resume(self) -> None:
        """Prepare the file for appending: create the folder and the facts, remove an incomplete last line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        note_facts(self.folder / "facts.json", kept=bool(self.values))
        self.save()

    def add(self, cell: Cell, measures: Mapping[str, float]) -> None:
        """Append the rows of one fit, in one piece."""
        with open(self.path, "ab", buffering=0) as file:
            file.write(csv_text(rows_of(self.experiment, cell, measures)).encode())
        self.values[cell] = dict(measures)

    def save(self) -> None:
        """Write all rows in order to a temporary file and rename it."""
        rows = [row for cell in sorted(self.values, key=order) for row in self._rows(cell)]
        replace_file(self.path, csv_text([COLUMNS, *rows]))

    def _rows(self, cell: Cell) -> list[tuple[str, ...]]:
        return rows_of(self.experiment, cell, self.values[cell])


def run_cells(
    results: Results,
    cells: Sequence[Cell],
    measure: Measure,
    expected: Callable[[Cell], Iterable[str]],
    jobs: int = 1,
) -> None:
    """Measure every cell that lacks one of its expected measures, and add it to the results.

    With several jobs, `measure` can be pickled, and cells that differ in their method only, and follow each other,
    go to the same process: what they share is made once.
    """
    results.resume()
    to_do = [cell for cell in cells if not set(expected(cell)) <= results.values.get(cell, {}).keys()]
    kinds = [kind_of(cell) for cell in to_do]
    run = one_by_one if jobs == 1 or not to_do else partial(side_by_side, jobs=jobs)
    with Progress(kinds, n_kept=len(cells) - len(to_do), jobs=jobs) as progress:
        for cell, found, seconds in run(partial(measure_noting, measure, results.experiment), to_do):
            results.add(cell, found)
            progress.done(cell, kind_of(cell), seconds)
    results.save()


def kind_of(cell: Cell) -> Cell:
    """Return what cells that take about the same time have in common."""
    return cell._replace(seed=0)


def measure_noting(measure: Measure, experiment: str, cell: Cell) -> Done:
    """Measure a cell and return it with its measures and seconds; an error names the cell."""
    start = time.perf_counter()
    try:
        return cell, measure(cell), time.perf_counter() - start
    except Exception as error:
        error.add_note(f"in {experiment}: {cell}")
        raise


def one_by_one(run: Run, cells: Iterable[Cell]) -> Iterator[Done]:
    """Yield the cells as they are done, in this process."""
    return map(run, cells)


def side_by_side(run: Run, cells: Iterable[Cell], jobs: int) -> Iterator[Done]:
    """Yield the cells as they are done, in several processes, those of one draw together."""
    batches = [list(batch) for _, batch in groupby(cells, key=lambda cell: cell._replace(method=""))]
    # Fresh processes: a fork of one with threads can hang.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=prepare_worker)
    try:
        futures = [pool.submit(run_batch, run, batch) for batch in batches]
        for future in as_completed(futures):
            yield from future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def prepare_worker() -> None:
    """End at once if the run is interrupted; the parent reports it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_batch(run: Run, cells: Iterable[Cell]) -> list[Done]:
    """Run the cells of one draw, in a worker, one thread each."""
    with threadpool_limits(1):
        return [run(cell) for cell in cells]


def order(cell: Cell) -> tuple[Any, ...]:
    """Return the key that rows are sorted by."""
    return (cell.design, cell.method, cell.F, cell.N or 0, cell.seed)


def rows_of(experiment: str, cell: Cell, measures: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return the tidy rows of one fit."""
    fields = (experiment, cell.design, cell.method, str(cell.F), "" if cell.N is None else str(cell.N), str(cell.seed))
    return [(*fields, name, f"{value:.12g}") for name, value in measures.items()]


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as the lines of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def read_values(path: Path, experiment: str) -> Values:
    """Return the measures in a results file; none if there is no file. If a row occurs twice, the last counts."""
    data = path.read_bytes() if path.exists() else b""
    lines = data[: data.rfind(b"\n") + 1].decode().splitlines()
    values: Values = {}
    for number, fields in enumerate(csv.reader(lines), start=1):
        if number == 1 and tuple(fields) == COLUMNS:
            continue
        try:
            name, design, method, F, N, seed, measure, value = fields
            cell = Cell(design, method, int(F), int(N) if N else None, int(seed))
            values.setdefault(cell, {})[measure] = float(value)
        except ValueError:
            name = ""
        if number == 1 or name != experiment:
            raise ResultsError(
                f"{path}, line {number} is not a result of {experiment}; correct or remove it, or choose another --out"
            )
    return values


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a temporary file and rename it, so that a reader sees the old or the new file, never a part."""
    beside = path.with_name(path.name + ".part")
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def machine_facts() -> dict[str, Any]:
    """Return what results depend on in addition to the code: versions and the machine, without its name."""
    versions = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return {
        "versions": versions,
        "machine": {"cores": os.cpu_count(), "platform": f"{platform.system()} {platform.machine()}"},
    }


def note_facts(path: Path, *, kept: bool) -> None:
    """Write the facts next to the results; refuse to add to results that were made with others."""
    facts = machine_facts()
    if kept:
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            before = None
        if before != facts:
            raise ResultsError(
                f"{path.parent} holds results made with other versions or on another machine "
                f"(was {before}, is {facts}); remove it or choose another --out"
            )
    replace_file(path, json.dumps(facts, indent=2) + "\n")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, its columns padded so that it reads well as plain text too."""
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = [
        "| " + " | ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def column(values: Values, measure: str, **where: Any) -> list[float]:
    """Return one measure of the cells whose fields are as asked for; nan where it is missing."""
    return [
        found.get(measure, math.nan)
        for cell, found in values.items()
        if all(getattr(cell, name) == value for name, value in where.items())
    ]


def save_png(figure: Any, path: Path) -> None:
    """Write a figure with few colors, which keeps the file small, to a temporary file and rename it."""
    from PIL import Image  # comes with matplotlib

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=PNG_DPI)
    # Maximize the distance between colors: the default, median cut, merges blue and green lines.
    pixels = Image.open(drawn).convert("RGB").quantize(PNG_COLOURS, method=Image.Quantize.MAXCOVERAGE)
    pixels.save(small, format="png", optimize=True)
    replace_file(path, small.getvalue())
