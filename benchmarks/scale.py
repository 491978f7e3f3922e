"""Time, memory and recovery of planted topics for growing numbers of documents, compared with scikit-learn and gensim.

    python -m benchmarks scale                                             # 10,000 and 100,000 documents, 50 topics
    python -m benchmarks scale --documents 250000,1000000 --methods anchorless --budget 3600

Every fit is a process of its own, from a file of texts to topics, and is ended if it exceeds its budget of
processor seconds; what was ended is not tried with more documents or topics. Texts are made by `benchmarks.planted`
(about 60 words each) and stay in --texts. "Recovered" are planted topics whose match, one found topic for each, has a
cosine of at least 0.8 with them, over the words that the method has counted: all leave out those in fewer than 5
documents and in more than half of them. Methods that weight words by inverse document frequency are compared with
planted topics weighted in the same way.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planted import plan, spell_words, write_texts
from benchmarks.processes import environment
from benchmarks.running import BenchmarkResults, agree, facts, run_repeats
from benchmarks.scale_methods import METHODS
from benchmarks.scale_tables import tables
from experiments.results import Cell, ResultsError, Values, replace_file

#: A planted topic is recovered when its match has this cosine with it.
RECOVERED = 0.8
MEAN_LENGTH = 60.0
DESIGN = "scale/planted"
OURS = "anchorless"


def run(options: Namespace) -> int:
    """Measure what is not yet in the results, fewer documents first, then write and print the tables."""
    unknown = [method for method in options.methods if method not in METHODS]
    if unknown:
        raise ResultsError(f"there is no method {unknown[0]!r}; choose from {', '.join(METHODS)}")
    cells = [
        Cell(DESIGN, method, K, n, 0)
        for n in sorted(options.documents)
        for K in sorted(options.topics)
        for method in options.methods
    ]
    results = BenchmarkResults(options.out)
    if options.fresh:
        of_other_code = not agree(results.facts, facts())
        results.forget(lambda cell, found: cell in cells or (of_other_code and cell.method == OURS))
    results.forget(partial(worth_more, options.budget))
    with tempfile.TemporaryDirectory() as temporary:
        texts = options.texts or Path(temporary)
        texts.mkdir(parents=True, exist_ok=True)
        run_repeats(results, cells, partial(measure_cell, results, texts, options.budget, options.words), 1)
    text = "\n\n".join(tables(results.values, results.facts)) + "\n"
    print(text, end="", flush=True)
    replace_file(options.out / "tables.md", text)
    return 0


def worth_more(budget: int, cell: Cell, found: dict[str, float]) -> bool:
    """Return whether a result is to be measured again: it failed, or was ended although there is more time now."""
    return "failed" in found or found.get("stopped", budget) < budget


def measure_cell(results: BenchmarkResults, texts: Path, budget: int, n_words: int, cell: Cell) -> dict[str, float]:
    """Return what one fit took and found, with the load of the machine before it."""
    load = {"load": os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")}
    if ended_before(results.values, cell):
        return load | {"stopped": float(budget), "not_tried": 1.0}
    planned = plan(cell.F, n_words)
    path = texts / f"planted-{cell.F}-{n_words}-{cell.N}.jsonl"
    if not path.exists():
        beside = path.with_suffix(".part.jsonl")
        write_texts(beside, planned, cell.N or 0, MEAN_LENGTH)
        beside.rename(path)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary, "found.npz")
        took = run_in_process([cell.method, str(path), str(cell.F), str(out)], budget)
        found = recovery(out, planned.topics) if out.exists() else {}
    # Stages look at their own peak of memory, after which the system forgets those before.
    peaks = [took["peak_mb"], *(value for name, value in found.items() if name.startswith("peak_"))]
    return load | took | found | {"peak_mb": float(np.nanmax(peaks))}


def ended_before(values: Values, cell: Cell) -> bool:
    """Return whether the method was ended with fewer documents or topics, and as many of the other."""
    return any(
        "stopped" in found and other.method == cell.method and other != cell and fewer(other, cell)
        for other, found in values.items()
    )


def fewer(one: Cell, other: Cell) -> bool:
    """Return whether a fit had no more documents and no more topics than another."""
    return one.F <= other.F and (one.N or 0) <= (other.N or 0)


def run_in_process(arguments: list[str], budget: int) -> dict[str, float]:
    """Run one method in a separate process; return its seconds and memory."""
    command = [sys.executable, "-m", "benchmarks.scale_methods", *arguments]
    # One thread of each numeric library for all: two fight over two cores that the methods use already.
    settings = environment() | {"OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=settings, stdout=subprocess.DEVNULL, preexec_fn=limit_of_processor_time(budget)
    )
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    processor = usage.ru_utime + usage.ru_stime
    took = {
        "wall": time.perf_counter() - start,
        "cpu": processor,
        "peak_mb": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }
    if process.returncode == 0:
        return took
    # The kernel ends a process that reaches its limit by a signal; its own account of the time lags a little.
    reached = process.returncode < 0 and processor > 0.8 * budget
    return took | ({"stopped": float(budget)} if reached else {"failed": 1.0})


def limit_of_processor_time(seconds: int) -> Callable[[], None]:
    """Return a function that limits the CPU seconds of the process that calls it."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def recovery(out: Path, truth: np.ndarray) -> dict[str, float]:
    """Return the mean cosine of matched topics, the share recovered, and seconds and memory of the stages."""
    from scipy.optimize import linear_sum_assignment

    found = np.load(out, allow_pickle=False)
    column = {word: k for k, word in enumerate(spell_words(truth.shape[1]).to_pylist())}
    # Words that are not counted, such as those in most documents, are no part of any topic.
    planted = truth[:, [column[word] for word in found["words"]]]
    if found["idf"].size:
        planted = planted * found["idf"]
    cosine = rows_of_length_one(planted) @ rows_of_length_one(found["components"]).T
    best = cosine[linear_sum_assignment(-cosine)]
    return {
        "cosine": float(best.mean()),
        "recovered": float((best >= RECOVERED).mean()),
        **json.loads(str(found["stages"])),
    }


def rows_of_length_one(A: Any) -> Any:
    """Return rows scaled to length one; rows of zeros stay."""
    return A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
