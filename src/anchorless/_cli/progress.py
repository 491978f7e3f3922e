"""Progress on stderr: bars with the time left while a command reads, fits and writes, lines for other stages."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from tqdm import tqdm

from anchorless._cli.printing import sanitize
from anchorless._report.page import truncate
from anchorless.progress import listen

#: Characters of a name next to a bar: a whole path would leave no space for the remaining time.
NAME_WIDTH = 30
BAR = "{desc} {percentage:3.0f}% {bar} {elapsed} gone, {remaining} left"
#: For an unknown total.
NO_BAR = "{desc} {n_fmt}{unit}, {elapsed} gone"
#: Before and after the first report of a fit; the time left is an estimate.
FIT_START = "{desc} …"
FIT_BAR = "{desc} {percentage:3.0f}% {bar} {elapsed} gone, about {remaining} left"
#: The stages of a fit in their order, by their names in `anchorless.progress`, as the bar shows them.
STAGES = {
    "weighting": "weights of words",
    "spectrum": "patterns of words",
    "constraints": "reliable words",
    "volume": "most distinct topics",
    "refinement": "refinement",
    "moments": "correlations",
    "likelihood": "token model",
    "documents": "mixtures of documents",
    "summary": "summary",
}


class Bar(tqdm):
    """A bar that other processes do not wait for: with the lock of tqdm, a fork that is killed stops all others."""


Bar.set_lock(threading.RLock())


class FitProgress:
    """How far a fit is, from its reports and the usual costs of its stages."""

    def __init__(self, n_topics: int) -> None:
        self._costs, self._passes = estimate_stage_costs(n_topics), estimate_stage_passes(n_topics)
        self._names = list(STAGES)
        self._n_passes = 0  # over documents on disk, in the current stage
        self.total = sum(self._costs.values())
        self.stage, self.completed = self._names[0], 0.0

    def update(self, stage: str, done: int, total: int | None) -> None:
        """Add a report; a pass over documents on disk belongs to the current stage."""
        if stage == "pass":
            passes = self._n_passes + (done / total if total else 0.0)
            self._n_passes += done == total
            self._advance(self.stage, min(passes / self._passes.get(self.stage, 2), 0.95))
        elif stage in self._costs:
            # If the number of sweeps is unknown, one more is assumed to follow.
            self._advance(stage, done / (done + 1) if total is None else done / total)
            if done == total:
                self.stage = self._names[min(self._names.index(stage) + 1, len(self._names) - 1)]
                self._n_passes = 0

    def _advance(self, stage: str, part: float) -> None:
        before = sum(self._costs[name] for name in self._names[: self._names.index(stage)])
        self.completed = min(max(self.completed, before + self._costs[stage] * part), self.total)


class ConsoleProgress:
    """Shows on stderr what the command does, unless it is quiet, and records the seconds of each stage."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}
        self.start = time.perf_counter()
        self.is_visible = not quiet and sys.stderr.isatty()
        self.activity = ""

    def log(self, text: str, *, even_quiet: bool = False) -> None:
        """Print lines on stderr, above the bar or the line of a stage."""
        if self.quiet and not even_quiet:
            return
        self.clear()
        for line in text.split("\n"):
            Bar.write(sanitize(line), file=sys.stderr)
        self.show(self.activity)

    @contextmanager
    def stage(self, name: str, doing: str) -> Iterator[None]:
        """Show what is done while the block runs, and record its seconds under `name`."""
        self.activity = f"{sanitize(doing)} …"
        self.show(self.activity)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            self.clear()
            self.activity = ""

    def show(self, text: str) -> None:
        """Write to the terminal, if there is one, without ending the line."""
        if self.is_visible and text:
            print(text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Clear the line of the stage, if there is one."""
        if self.activity:
            self.show("\r\x1b[K")

    @contextmanager
    def track_reading(self, name: str) -> Iterator[None]:
        """Show how many bytes have been read in the block, and how long the rest will take."""
        name = truncate(sanitize(PurePath(name).name), NAME_WIDTH)
        with self.bar(desc=f"reading {name}", form=NO_BAR, unit="B") as bar:

            def advance(stage: str, done: int, total: int | None) -> None:
                if stage != "reading":
                    return
                if total and not bar.total:
                    bar.total, bar.bar_format = total, BAR
                bar.update(done - bar.n)

            with listen(advance):
                yield

    def track_documents(self, parts: Iterable[tuple[Sized, Any]], total: int, name: str) -> Iterator[Any]:
        """Yield parts, each a table and its mixtures, under a bar of the rows that have been written."""
        with self.bar(desc=f"writing {name}", total=total, unit=" documents") as bar:
            for part in parts:
                yield part
                bar.update(len(part[0]))

    @contextmanager
    def track_encoding(self, name: str, total: int | None, n_done: int) -> Iterator[Callable[[int], None]]:
        """Yield a function that adds documents to a bar of those that are encoded; `n_done` were before."""
        name = truncate(sanitize(PurePath(name).name), NAME_WIDTH)
        form = NO_BAR if total is None else BAR
        with self.bar(desc=f"encoding {name}", form=form, total=total, initial=n_done, unit=" documents") as bar:
            yield bar.update

    @contextmanager
    def track_steps(self, name: str, total: int) -> Iterator[Callable[[int, int], None]]:
        """Yield the progress callback of a bar of steps that take about the same time.

        The bar is drawn again at every report within a step, so that its time goes on while hundreds of topics are
        fitted.
        """
        with self.bar(desc=name, total=total, form=FIT_BAR, smoothing=0) as bar:

            def advance(done: int, of_all: int) -> None:
                bar.total = of_all  # with a token model, resamples have two stages
                bar.update(done - bar.n)

            with listen(lambda stage, done, total: bar.update(0)):
                yield advance

    @contextmanager
    def track_stage(self, stage: str, name: str) -> Iterator[None]:
        """Show how far one stage of a computation in the block is, by its reports."""
        with self.bar(desc=name, form=FIT_START, smoothing=0) as bar:

            def advance(reported: str, done: int, total: int | None) -> None:
                if reported == stage and total:
                    bar.total, bar.bar_format = total, FIT_BAR
                    bar.update(done - bar.n)

            with listen(advance):
                yield

    @contextmanager
    def track_fitting(self, n_topics: int) -> Iterator[None]:
        """Show how far the fit in the block is, and about how long it will take."""
        course = FitProgress(n_topics)
        doing = f"finding {n_topics} topics: "
        with self.bar(desc=doing + STAGES[course.stage], form=FIT_START, total=course.total, smoothing=0) as bar:

            def advance(stage: str, done: int, total: int | None) -> None:
                before = course.stage
                course.update(stage, done, total)
                bar.bar_format = FIT_BAR if course.completed else FIT_START
                bar.update(max(course.completed - bar.n, 0.0))
                if course.stage != before:
                    bar.set_description_str(doing + STAGES[course.stage])

            with listen(advance):
                yield

    @contextmanager
    def bar(self, *, desc: str, form: str = BAR, **settings: Any) -> Iterator[Any]:
        """Yield a bar on stderr, hidden when quiet or where stderr is not a terminal.

        With `smoothing=0` all steps count for the time left. Otherwise the last ones count most: if two threads finish
        steps at the same time, the second seems to have taken none.
        """
        self.clear()
        with Bar(
            desc=desc,
            bar_format=form,
            unit_scale=True,
            dynamic_ncols=True,
            file=sys.stderr,
            leave=False,
            miniters=0,  # otherwise the bar waits for a step as large as the largest so far
            disable=not self.is_visible,
            **settings,
        ) as bar:
            yield bar
        self.show(self.activity)


def estimate_stage_costs(n_topics: int) -> dict[str, float]:
    """Return the relative cost of each stage, as measured on 20 Newsgroups and TDT2; the last three on docstrings.

    That of the likelihood is fixed. Eigenvectors and refinement grow faster with the topics, up to about 200.
    """
    costs = {"weighting": 0.1, "constraints": 0.01, "moments": 0.04, "likelihood": 15.0, "documents": 2.0}
    costs |= {"spectrum": min(max(1.0, n_topics / 70), 3.0), "refinement": min(max(0.8, n_topics / 80), 2.5)}
    costs["summary"] = min(max(0.6, n_topics / 60), 1.6)
    # From 121 topics on the volume has a bounded number of pivots per topic.
    costs["volume"] = 0.04 * (n_topics / 20) ** 2 if n_topics <= 120 else 0.5
    return {name: costs[name] for name in STAGES}


def estimate_stage_passes(n_topics: int) -> dict[str, int]:
    """Return about how many passes over documents on disk each stage makes, as measured on 20 Newsgroups and TDT2."""
    passes = {"weighting": 6, "spectrum": 30 + n_topics, "constraints": 1, "refinement": 12, "moments": 1}
    return passes | {"likelihood": 25, "documents": 1, "summary": 6}
