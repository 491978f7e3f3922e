"""The results as Markdown tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median
from typing import Any

from benchmarks.corpora import title
from benchmarks.models import MODELS
from benchmarks.plan import FIT_METHODS, TRANSFORM_METHODS
from benchmarks.running import best, corpus_of, designs_of, fastest, list_profiles, methods_of, topics_of
from benchmarks.targets import Target, growth_points, growth_title, slope, targets
from benchmarks.topics import topic_tables
from experiments.results import Values, column, markdown_table

NONE = "There are no results yet: python -m benchmarks --quick"
MEASURED = (
    "Written by `python -m benchmarks`. "
    "Seconds are wall clock, the best of the repeats, which take turns; CPU seconds add up the threads. Every fit "
    "has a process of its own, BLAS one thread, and every model the threads that it takes by itself. Reading, "
    "weighting, conversion to a peer's own form and imports are off the clock. MB is the peak memory of the process, "
    "`start` what it held before the fit."
)


def tables(values: Values, facts: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Speed, measured"
    if not values:
        yield NONE
        return
    yield "\n\n".join((MEASURED, " ".join((*facts_text(facts), *load_text(values)))))
    yield from target_tables(values)
    yield from fit_tables(values)
    yield from peer_tables(values, facts)
    yield from topic_tables(values)
    yield from stage_tables(values)
    yield from growth_tables(values)
    yield from transform_tables(values)
    yield from import_tables(values)


def facts_text(facts: dict[str, Any]) -> Iterator[str]:
    """Yield sentences on machine and versions."""
    machine, versions = facts.get("machine", {}), facts.get("versions", {})
    if machine:
        yield (
            f"Machine: {machine.get('processor')}, {machine.get('cores')} cores, {machine.get('memory_gb')} GB, "
            f"{machine.get('platform')}."
        )
    if versions:
        yield "Versions: " + ", ".join(f"{name} {number}" for name, number in versions.items() if number) + "."
        missing = [name for name, number in versions.items() if not number]
        if missing:
            yield f"Not installed, so left out: {', '.join(missing)}."


def load_text(values: Values) -> Iterator[str]:
    """Yield a sentence on how busy the machine was: on a busy one, CPU seconds say more."""
    loads = [found["load"] for found in values.values() if not math.isnan(found.get("load", math.nan))]
    if loads:
        yield f"Load of the machine before each measurement: median {median(loads):.1f}, at most {max(loads):.1f}."


def target_tables(values: Values) -> Iterator[str]:
    """Yield the table of what must hold."""
    found = list(targets(values))
    if all(target.holds is None and not target.note for target in found):
        return
    yield "## What must hold"
    yield markdown_table(["", "measured", "by CPU", "target", "holds", "note"], [target_row(each) for each in found])


def target_row(target: Target) -> list[str]:
    """Return a target as a row."""
    sign = "≤" if target.at_most else "≥"
    holds = {True: "yes", False: "**no**", None: "not measured"}[target.holds]
    if target.holds is None and target.note:
        holds = "not verified"
    return [target.what, number(target.value), number(target.cpu), f"{sign} {target.limit:g}", holds, target.note]


def fit_tables(values: Values) -> Iterator[str]:
    """Yield the seconds that the ratios are made of, a table per corpus."""
    for design in designs_of(values, "fit"):
        methods = methods_of(values, design, (*FIT_METHODS, "tomotopy-ctm"))
        yield f"### {title(corpus_of(design))}: seconds, and CPU seconds in brackets"
        rows = [[str(K), *(both_clocks(values, design, m, K) for m in methods)] for K in topics_of(values, design)]
        yield markdown_table(["K", *methods], rows)


def both_clocks(values: Values, design: str, method: str, K: int) -> str:
    """Return wall clock and CPU seconds of the best fit, or why there are none."""
    found = fastest(values, design, method, K)
    if "reference_seconds" in found:
        return number(found["reference_seconds"]) + ("" if found["reference_finished"] else ", not at its end")
    if "fit_wall" not in found:
        return unmeasured(found) if found else "–"
    wall, cpu = (best(values, design, method, K, name) for name in ("fit_wall", "fit_cpu"))
    return f"{number(wall)} ({number(cpu)})"


def peer_tables(values: Values, facts: dict[str, Any]) -> Iterator[str]:
    """Yield a table per corpus: seconds, memory and quality of every model."""
    designs = designs_of(values, "peers")
    if not designs:
        return
    yield "## Peers"
    yield "\n".join(f"* `{name}`: {model.settings}; {model.data}" for name, model in MODELS.items())
    yield (
        "`weighted` is tf-idf and normalised-cut weighting, `counts` the counts alone. `× ours` is fit + transform "
        "over that of `anchorfree`. tomotopy keeps the weights of the documents it was trained on, so its transform is "
        "free. ClustAcc is by k-means on the weights, against the classes; K is also the number of clusters."
    )
    yield "![Seconds and quality over the number of topics](peers.png)"
    for design in designs:
        yield f"### {title(corpus_of(design))}"
        header = [
            "K",
            "model",
            "fit s",
            "CPU s",
            "transform s",
            "× ours",
            "MB",
            "start",
            "NPMI",
            "diversity",
            "ClustAcc",
        ]
        methods = methods_of(values, design, MODELS)
        rows = [peer_row(values, design, method, K) for K in topics_of(values, design) for method in methods]
        yield markdown_table(header, [row for row in rows if row])


def peer_row(values: Values, design: str, method: str, K: int) -> list[str]:
    """Return what was measured of one model, or why not; nothing if it was not run."""
    found = fastest(values, design, method, K)
    start = [str(K), method]
    if not found:
        return []
    if "fit_wall" not in found:
        return [*start, unmeasured(found), *[""] * 8]
    both = ("fit_wall", "transform_wall")
    factor = best(values, design, method, K, *both) / best(values, design, "anchorfree", K, *both)
    wall, cpu, transform = (best(values, design, method, K, name) for name in ("fit_wall", "fit_cpu", "transform_wall"))
    seconds = [number(wall), number(cpu), number(transform), "" if method == "anchorfree" else number(factor)]
    memory = [f"{found['peak_mb']:.0f}", f"{found['start_mb']:.0f}"]
    return [*start, *seconds, *memory, *(f"{found[name]:.3f}" for name in ("npmi", "diversity", "clustacc"))]


def unmeasured(found: dict[str, float]) -> str:
    """Return why a cell has no seconds."""
    if "not_tried" in found:
        return f"> {found['stopped']:.0f} with fewer"
    return f"> {found['stopped']:.0f}, stopped" if "stopped" in found else "failed"


def stage_tables(values: Values) -> Iterator[str]:
    """Yield where a fit spends its time, and its counts."""
    fits = list_profiles(values)
    if not fits:
        return
    stages = list(dict.fromkeys(name for *_, found in fits for name in found if name.startswith("seconds_")))
    counts = list(dict.fromkeys(name for *_, found in fits for name in found if name.startswith("n_")))
    yield "## Where our fit spends its time"
    yield "Seconds by stage of the fastest fit, and its counts, which are the same in every run."
    yield "![Seconds by stage](stages.png)"
    header = ["", "K", "fit s", *(name.removeprefix("seconds_") for name in stages)]
    header += [name.removeprefix("n_") for name in counts]
    rows = [
        [design, str(K), number(found["fit_wall"])]
        + [number(found.get(name, math.nan)) for name in stages]
        + [f"{found[name]:,.0f}" if name in found else "–" for name in counts]
        for design, K, found in fits
    ]
    yield markdown_table(header, rows)


def growth_tables(values: Values) -> Iterator[str]:
    """Yield the seconds over the sizes, and the exponent."""
    designs = designs_of(values, "growth")
    if not designs:
        return
    yield "## Growth"
    yield (
        "Seconds of `AnchorFree.fit`. More words: each word of a sampled corpus is split, so that the non-zeros stay "
        "as they are. The exponent is the slope of log seconds over log size."
    )
    yield "![Growth](growth.png)"
    rows = []
    for design in designs:
        sizes, seconds = growth_points(values, design)
        shown = ", ".join(f"{size:,}: {number(each)}" for size, each in zip(sizes, seconds, strict=True))
        factor = f"× {sizes[-1] / sizes[0]:.3g} → × {seconds[-1] / seconds[0]:.3g}" if sizes else "–"
        exponents = [number(slope(values, design, measure)) for measure in ("fit_wall", "fit_cpu")]
        rows.append([growth_title(design), shown, factor, *exponents])
    yield markdown_table(["more", "size: seconds", "first to last", "exponent", "by CPU"], rows)


def transform_tables(values: Values) -> Iterator[str]:
    """Yield the documents per second."""
    designs = designs_of(values, "transform")
    if not designs:
        return
    yield "## Transform"
    yield (
        "Thousands of documents per second. `product` is the sparse product of the documents with as many dense "
        "columns, on one core, which no transform can do without."
    )
    for design in designs:
        methods = methods_of(values, design, TRANSFORM_METHODS)
        yield f"### {title(corpus_of(design))}, transform"
        rows = [[str(K), *(throughput(values, design, m, K) for m in methods)] for K in topics_of(values, design)]
        yield markdown_table(["K", *methods], rows)


def throughput(values: Values, design: str, method: str, K: int) -> str:
    """Return thousands of documents per second, or why there is no number."""
    found = fastest(values, design, method, K)
    if "transform_wall" not in found:
        return unmeasured(found) if found else "–"
    return number(found["documents"] / best(values, design, method, K, "transform_wall") / 1000)


def import_tables(values: Values) -> Iterator[str]:
    """Yield the seconds of the imports."""
    modules = list(dict.fromkeys(cell.method for cell in values if cell.design == "import/python"))
    if not modules:
        return
    yield "## Import"
    rows = []
    for module in modules:
        wall, cpu = (best(values, "import/python", module, 0, f"fit_{clock}") for clock in ("wall", "cpu"))
        runs = len(column(values, "fit_wall", design="import/python", method=module))
        rows.append([module, number(wall), number(cpu), str(runs)])
    yield markdown_table(["module", "seconds", "CPU s", "runs"], rows)


def number(value: float) -> str:
    """Return about three digits, or a dash for none."""
    if math.isnan(value):
        return "–"
    if value == 0 or abs(value) < 1e-3:
        return f"{value:.2g}"
    return f"{value:,.{max(0, min(3, 2 - math.floor(math.log10(abs(value)))))}f}"
