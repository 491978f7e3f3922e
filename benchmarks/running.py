"""Results of the benchmarks: one table for all parts, resumed after a stop, never mixed with those of other code."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.corpora import TITLES
from experiments.results import Cell, Results, ResultsError, Values, column, machine_facts, replace_file, run_cells

EXPERIMENT = "benchmarks"
PEER_PACKAGES = ("gensim", "tomotopy", "topica")
#: Methods whose results depend on our code; those of the others stay when it changes (not so if corpora or weights do).
OURS = ("anchorfree", "topic-model", "converged", "reference", "anchorless")
#: A fit that takes longer than these seconds is measured once, whatever the repeats.
SLOW = 20.0

Measure = Callable[[Cell], dict[str, float]]


class BenchmarkResults(Results):
    """Results in `folder`/results.csv, with the facts of the machine, the versions and the code next to them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, EXPERIMENT)
        self.facts = read_facts(folder)

    def resume(self) -> None:
        """Make the file ready to be added to; refuse to mix results of ours by other code, or of other machines."""
        now = facts()
        if all(cell.method not in OURS for cell in self.values):
            self.facts["code"] = now["code"]
        if self.values and not agree(self.facts, now):
            raise ResultsError(
                f"{self.folder} holds results of other code, versions or another machine "
                f"({difference(self.facts, now)}); use --fresh to replace them, or choose another --out"
            )
        self.facts = now
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / "facts.json", json.dumps(now, indent=2) + "\n")
        self.save()

    def forget(self, unwanted: Callable[[Cell, dict[str, float]], bool]) -> None:
        """Drop results that shall be measured again."""
        self.values = {cell: found for cell, found in self.values.items() if not unwanted(cell, found)}


def run_repeats(results: Results, cells: Sequence[Cell], measure: Measure, repeats: int) -> None:
    """Measure every cell once, then again: all take turns, so that a busy moment hits all alike."""
    for repeat in range(repeats):
        todo = [cell._replace(seed=repeat) for cell in cells if not repeat or worth_repeating(results.values, cell)]
        run_cells(results, todo, measure, lambda cell: ("load",))


def worth_repeating(values: Values, cell: Cell) -> bool:
    """Return whether a cell that was measured once is quick enough to be measured again."""
    first = values.get(cell._replace(seed=0), {})
    if "stopped" in first or "failed" in first:
        return False
    return cell.method != "reference" and sum(first.get(f"{name}_wall", 0.0) for name in ("fit", "transform")) < SLOW


def with_load(measure: Measure, results: Results, limit: float = 0.0) -> Measure:
    """Return the measure with the load of the machine; what was stopped with fewer topics is not tried with more.

    What was stopped before `limit` is.
    """

    def measure_cell(cell: Cell) -> dict[str, float]:
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
        before = stopped_before(results.values, cell)
        skip = before is not None and before >= limit
        return {"load": load} | ({"stopped": before, "not_tried": 1.0} if before and skip else measure(cell))

    return measure_cell


def stopped_before(values: Values, cell: Cell) -> float | None:
    """Return the largest limit at which the same model was stopped with fewer topics on the same documents."""
    return max(
        (
            found["stopped"]
            for other, found in values.items()
            if other.F < cell.F and other._replace(F=cell.F, seed=cell.seed) == cell and "stopped" in found
        ),
        default=None,
    )


def best(values: Values, design: str, method: str, F: int, *measures: str, N: int | None = None) -> float:
    """Return the least sum of the measures over the repeats, nan if there is none."""
    where = {"design": design, "method": method, "F": F, "N": N}
    sums = [sum(each) for each in zip(*(column(values, measure, **where) for measure in measures), strict=True)]
    return min((value for value in sums if not math.isnan(value)), default=math.nan)


def fastest(values: Values, design: str, method: str, F: int, N: int | None = None) -> dict[str, float]:
    """Return all measures of the repeat with the fastest fit; of any if none has one."""
    found = [each for cell, each in values.items() if cell[:4] == (design, method, F, N)]
    return min(found, key=lambda each: each.get("fit_wall", math.inf), default={})


def part_of(design: str) -> str:
    """Return the part of the suite that a design belongs to: peers/tdt2 is of peers."""
    return design.partition("/")[0]


def corpus_of(design: str) -> str:
    """Return the corpus of a design."""
    return design.partition("/")[2]


def designs_of(values: Values, part: str) -> list[str]:
    """Return the designs of a part with results: real corpora first, as they are listed."""
    found = {cell.design for cell in values if part_of(cell.design) == part}
    listed = list(TITLES)
    return sorted(
        found, key=lambda design: (listed.index(corpus_of(design)) if corpus_of(design) in listed else -1, design)
    )


def list_profiles(values: Values) -> list[tuple[str, int, dict[str, float]]]:
    """Return (design, topics, measures) of our fits that have stages."""
    designs = [design for part in ("fit", "peers", "counts") for design in designs_of(values, part)]
    fits = [
        (design, K, fastest(values, design, "anchorfree", K)) for design in designs for K in topics_of(values, design)
    ]
    return [each for each in fits if any(name.startswith("seconds_") for name in each[2])]


def topics_of(values: Values, design: str) -> list[int]:
    """Return the numbers of topics of a design, sorted."""
    return sorted({cell.F for cell in values if cell.design == design})


def methods_of(values: Values, design: str, order: Iterable[str]) -> list[str]:
    """Return the methods with results on a design, in the given order."""
    return [method for method in order if any(cell[:2] == (design, method) for cell in values)]


def facts() -> dict[str, Any]:
    """Return what results depend on: versions, machine, threads, and the code of the package as a digest."""
    known = machine_facts()
    known["versions"] |= {name: installed_version(name) for name in PEER_PACKAGES}
    known["machine"] |= {"processor": processor(), "memory_gb": memory_gb()}
    return known | {"blas_threads": 1, "code": code_digest()}


def installed_version(name: str) -> str | None:
    """Return the version of a package, None if it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def memory_gb() -> int | None:
    """Return the memory of the machine, rounded."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def code_digest() -> str:
    """Return a digest of the Python and C files of the package: its version stays while the code changes."""
    spec = importlib.util.find_spec("anchorless")
    if spec is None or spec.origin is None:
        raise ResultsError("anchorless is not installed; pip install --editable '.[benchmarks]'")
    folder, digest = Path(spec.origin).parent, hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.c")]):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def read_facts(folder: Path) -> dict[str, Any]:
    """Return the facts next to results, or an empty dict."""
    try:
        found = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def agree(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether facts are the same but for peers that were not installed."""
    return not difference(before, now)


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return what differs, as text."""
    was, is_now = flat(before), flat(now)
    missing = {f"versions.{name}" for name in PEER_PACKAGES if was.get(f"versions.{name}") is None}
    names = [name for name in is_now if name not in missing and was.get(name) != is_now[name]]
    return ", ".join(f"{name} was {was.get(name)}, is {is_now[name]}" for name in names)


def flat(facts: dict[str, Any]) -> dict[str, Any]:
    """Return nested facts under names with a dot."""
    flattened: dict[str, Any] = {}
    for name, value in facts.items():
        inner = value.items() if isinstance(value, dict) else ()
        flattened |= {f"{name}.{key}": each for key, each in inner} if inner else {name: value}
    return flattened
