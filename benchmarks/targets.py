"""What the suite holds the package to, and whether it does: ratios within one run, growth, the volume reached."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.plan import CTM_CORPUS, CTM_TOPICS, IMPORTED
from benchmarks.running import best, fastest
from experiments.results import Values

#: fit / svds at most, and NMF / fit at least, by the number of topics, on TDT2.
AT_MOST_SVDS = {25: 1.7, 50: 2.0, 100: 2.5, 200: 3.0, 500: 4.0}
AT_LEAST_NMF = {25: 3.0, 50: 8.0, 100: 10.0}
AT_LEAST_CTM = 30.0
#: How far below the reference's a log-volume may be, relatively.
VOLUME_TOLERANCE = 1e-6
AT_MOST_IMPORT = 1.2
#: Exponent of the growth at most: 1 is linear.
AT_MOST_GROWTH = {"growth/words": 1.0, "growth/documents": 1.0, "growth/tdt2": 2.0, "growth/synthetic": 2.0}
FIT = "fit/tdt2"


class Target(NamedTuple):
    """What was asked for and what was measured."""

    what: str
    value: float  # nan if it was not measured
    limit: float
    at_most: bool
    cpu: float = math.nan  # the same by processor time
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None if it was not measured."""
        if math.isnan(self.value):
            return None
        return self.value <= self.limit if self.at_most else self.value >= self.limit


def targets(values: Values) -> Iterator[Target]:
    """Yield every target, measured or not."""
    for K, limit in AT_MOST_SVDS.items():
        yield Target(f"AnchorFree({K}).fit / svds({K}), TDT2", *ratio(values, "anchorfree", "svds", K, limit, True))
    for K, limit in AT_LEAST_NMF.items():
        yield Target(f"scikit-learn NMF / fit, K = {K}, TDT2", *ratio(values, "nmf", "anchorfree", K, limit, False))
    for K in AT_LEAST_NMF:
        yield volume_target(values, K)
    yield ctm_target(values)
    for design, limit in AT_MOST_GROWTH.items():
        wall, cpu = (slope(values, design, measure) for measure in ("fit_wall", "fit_cpu"))
        yield Target(f"growth exponent, {growth_title(design)}", wall, limit, True, cpu)
    wall, cpu = (import_ratio(values, measure) for measure in ("fit_wall", "fit_cpu"))
    yield Target(f"import {IMPORTED[0]} / import {IMPORTED[1]}", wall, AT_MOST_IMPORT, True, cpu)


def ratio(
    values: Values, upper: str, lower: str, K: int, limit: float, at_most: bool
) -> tuple[float, float, bool, float, str]:
    """Return a ratio of the best fits on TDT2, its limit, the ratio by processor time, and why there is none."""
    wall, cpu = (
        best(values, FIT, upper, K, measure) / best(values, FIT, lower, K, measure)
        for measure in ("fit_wall", "fit_cpu")
    )
    other = best(values, FIT, lower, K, "fit_wall")
    if not at_most:
        wall = at_least(values, FIT, upper, K, other, wall, limit)
    return wall, limit, at_most, cpu, stopped_note(values, FIT, upper, K, other)


def at_least(values: Values, design: str, method: str, K: int, other: float, wall: float, limit: float) -> float:
    """Return a ratio; of a method that was stopped, what it had reached by then, if that is enough to hold."""
    reached = fastest(values, design, method, K).get("stopped", math.nan) / other
    return reached if math.isnan(wall) and reached >= limit else wall


def stopped_note(values: Values, design: str, method: str, K: int, other: float) -> str:
    """Return that a method was stopped, and how many times the other's seconds that was."""
    stopped = fastest(values, design, method, K).get("stopped")
    if stopped is None:
        return ""
    times = "" if math.isnan(other) else f", {stopped / other:.1f} times the other"
    return f"{method} was stopped after {stopped:.0f} s{times}"


def volume_target(values: Values, K: int) -> Target:
    """Return how far the log-volume is below that of the reference solver, relatively."""
    what = f"log-volume below the reference's, K = {K}, TDT2"
    found = fastest(values, FIT, "reference", K)
    theirs, ours = found.get("reference_log_volume", math.nan), found.get("log_volume", math.nan)
    short = (theirs - ours) / max(1.0, abs(theirs))
    sweeps, seconds = found.get("reference_sweeps", 0.0), found.get("reference_seconds", 0.0)
    if not found:
        return Target(what, math.nan, VOLUME_TOLERANCE, True)
    if "reference_seconds" not in found:
        return Target(what, math.nan, VOLUME_TOLERANCE, True, note="the reference was stopped, or failed")
    if found["reference_finished"]:
        return Target(what, short, VOLUME_TOLERANCE, True, note=f"{ours:.6f}; reference {theirs:.6f}, {seconds:.0f} s")
    note = f"the reference did not end in {seconds:.0f} s: {sweeps:.0f} sweeps, {theirs:.6f} so far; ours {ours:.6f}"
    # Below what the reference had already would be wrong whatever it still gains; above proves nothing.
    return Target(what, short if short > VOLUME_TOLERANCE else math.nan, VOLUME_TOLERANCE, True, note=note)


def ctm_target(values: Values) -> Target:
    """Return how many times longer tomotopy's CTM trains than our fit and transform take."""
    design = f"fit/{CTM_CORPUS}"
    wall, cpu = (
        best(values, design, "tomotopy-ctm", CTM_TOPICS, f"fit_{clock}")
        / best(values, design, "anchorfree", CTM_TOPICS, f"fit_{clock}", f"transform_{clock}")
        for clock in ("wall", "cpu")
    )
    what = f"tomotopy CTM, 100 iterations / fit + transform, K = {CTM_TOPICS}, 20 Newsgroups"
    ours = best(values, design, "anchorfree", CTM_TOPICS, "fit_wall", "transform_wall")
    note = stopped_note(values, design, "tomotopy-ctm", CTM_TOPICS, ours)
    wall = at_least(values, design, "tomotopy-ctm", CTM_TOPICS, ours, wall, AT_LEAST_CTM)
    return Target(what, wall, AT_LEAST_CTM, False, cpu, note)


def import_ratio(values: Values, measure: str) -> float:
    """Return the import of ours over that of scikit-learn's, the best of each."""
    ours, theirs = (best(values, "import/python", module, 0, measure) for module in IMPORTED)
    return ours / theirs


def growth_points(values: Values, design: str, measure: str = "fit_wall") -> tuple[list[int], list[float]]:
    """Return the sizes and the best seconds of a design of growth."""
    by_topics = design not in ("growth/words", "growth/documents")
    sizes: dict[int, float] = {}
    for cell in values:
        if cell.design == design:
            seconds = best(values, design, cell.method, cell.F, measure, N=cell.N)
            if not math.isnan(seconds):
                sizes[cell.F if by_topics else cell.N or 0] = seconds
    return sorted(sizes), [sizes[size] for size in sorted(sizes)]


def slope(values: Values, design: str, measure: str = "fit_wall") -> float:
    """Return the exponent of the growth: the slope of log seconds over log size, by least squares."""
    sizes, seconds = growth_points(values, design, measure)
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]) if len(sizes) > 1 else math.nan


def growth_title(design: str) -> str:
    """Return what a design of growth varies."""
    varied = {"growth/words": "words, the same non-zeros", "growth/documents": "documents"}
    return varied.get(design, f"topics, {design.partition('/')[2]}")
