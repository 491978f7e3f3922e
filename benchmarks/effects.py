"""Cost of effects beside the fit: `python -m benchmarks.effects --documents 100000 --topics 50 --draws 100 [--disk]`.

Planted texts of 60 words, five terms: two categories, two numbers and a curve. Prints the CPU seconds of the plain fit
and of `effects`, and the most memory that each has used beyond files. With --disk, the counts stay on disk.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anchorless import Corpus, TopicModel
from benchmarks.planted import plan, write_texts

FORMULA = "~ party + sex + age + income + s(year)"
#: Memory beyond which counts go to disk: less than any corpus needs.
TO_DISK = "1MB"
#: Seconds between two looks at the memory.
PAUSE = 0.02


class Meter:
    """CPU seconds, and the most memory beyond files (Linux), while it is open."""

    def __enter__(self) -> Meter:
        self.peak, self._open = 0, True
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self._start = time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds, self._open = time.process_time() - self._start, False
        self._thread.join()

    def _watch(self) -> None:
        while self._open:
            self.peak = max(self.peak, read_memory())
            time.sleep(PAUSE)


def read_memory() -> int:
    """Return the memory of this process beyond files, in MiB; zero where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon")), 0)


def draw_table(n: int) -> pa.Table:
    """Draw covariates."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"party": rng.choice(["A", "B", "C"], n), "sex": rng.choice(["f", "m"], n)}
    columns |= {"age": rng.uniform(18, 90, n), "income": rng.lognormal(size=n), "year": rng.uniform(1990, 2020, n)}
    return pa.table(columns)


def main() -> None:
    """Measure, and print a line for the fit and one for the effects."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.effects", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--disk", action="store_true", help="counts stay on disk")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # doubts about the number of topics
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.txt"
        write_texts(path, plan(options.topics, options.words), options.documents)
        with Corpus.read(path, memory=TO_DISK if options.disk else None) as corpus:
            measure(corpus, options)


def measure(corpus: Corpus, options: argparse.Namespace) -> None:
    """Fit the topics and estimate effects, and print the cost of both."""
    table = draw_table(corpus.n_documents)
    sizes = f"{corpus.n_documents:,} documents, {len(corpus.vocabulary):,} words, {options.topics} topics"
    with Meter() as fit:
        model = TopicModel(options.topics, n_jobs=options.jobs).fit(corpus)
    print(f"fit: {sizes}: {fit.seconds:.1f} CPU s, {fit.peak:,} MiB", flush=True)
    with Meter() as effects:
        model.effects(FORMULA, table, documents=corpus if options.disk else None, n_draws=options.draws)
    cost = f"{effects.seconds:.1f} CPU s, {effects.seconds / fit.seconds:.1f} fits, {effects.peak:,} MiB"
    print(f"effects: {FORMULA}, {options.draws} draws: {cost}")


if __name__ == "__main__":
    main()
