"""Progress of a long run on stderr, with the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable, Sequence
from types import TracebackType
from typing import Self

#: Seconds between two lines where stderr is a file.
SELDOM = 15.0


class Progress:
    """Counts tasks and estimates the remaining time: each task takes as long as its kind took so far.

    `kinds` has the kind of each task, in order. A kind not yet seen counts like the mean of those seen.
    `jobs` tasks run at a time.
    """

    def __init__(self, kinds: Sequence[Hashable], n_kept: int = 0, jobs: int = 1) -> None:
        self.kinds = list(kinds)
        self.n_kept = n_kept
        self.jobs = jobs
        self.n_done = 0
        self.seconds: dict[Hashable, list[float]] = {}
        self.last_shown = -SELDOM

    def __enter__(self) -> Self:
        self.clock = time.perf_counter()
        if self.n_kept:
            print(f"{self.n_kept} fits are done already, {len(self.kinds)} to do", file=sys.stderr)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.n_done and sys.stderr.isatty():
            print(file=sys.stderr)

    def done(self, task: object, kind: Hashable, seconds: float) -> None:
        """Note that a task of this kind is done, in whatever order, and show it."""
        at = self.kinds.index(kind, self.n_done)
        self.kinds[at], self.kinds[self.n_done] = self.kinds[self.n_done], kind
        self.seconds.setdefault(kind, []).append(seconds)
        self.clock = time.perf_counter()
        self.n_done += 1
        self._show(f"{self.n_done}/{len(self.kinds)} done, about {format_seconds(self.left())} left ({task})")

    def left(self) -> float:
        """Return the seconds that the rest will take, as far as is known."""
        means = {kind: sum(seconds) / len(seconds) for kind, seconds in self.seconds.items()}
        overall = sum(means.values()) / len(means) if means else 0.0
        return sum(means.get(kind, overall) for kind in self.kinds[self.n_done :]) / self.jobs

    def _show(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif self.clock - self.last_shown >= SELDOM or self.n_done == len(self.kinds):
            self.last_shown = self.clock
            print(text, file=sys.stderr, flush=True)


def format_seconds(seconds: float) -> str:
    """Return seconds as 42 s or 3 min 05 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"
