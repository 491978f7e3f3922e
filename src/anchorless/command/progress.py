"""What a long run shows on stderr: a bar with the time left while reading, a line for every stage until it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from tqdm import tqdm

from anchorless.command.printing import cut, printable
from anchorless.reading.batches import Batch
from anchorless.reading.readers import TextSource

#: Characters of a name beside a bar: a whole path would push out the time left.
NAME_WIDTH = 30
BAR = "{desc} {percentage:3.0f}% {bar} {elapsed} gone, {remaining} left"
#: Seconds between two looks at a walk over documents.
SHOWN_EVERY = 0.5
#: Where it is not known how much there is.
NO_BAR = "{desc} {n_fmt}{unit}, {elapsed} gone"


class Walk:
    """Walks over the documents in one step of a stage."""

    def __init__(self, name: str = "", expected: int | None = None) -> None:
        self.name, self.expected = name, expected
        self.n_done = 0
        self.start = self.last = time.perf_counter()

    def line(self, done: int, n_blocks: int) -> str:
        """Count a block; return what to show of the step, nothing when something was shown just before."""
        now = time.perf_counter()
        self.n_done += done == n_blocks
        if now - self.last < SHOWN_EVERY:
            return ""
        self.last = now
        walks = self.n_done + (done / n_blocks if done < n_blocks else 0.0)
        text = f"{self.name}, {timed(now - self.start)} gone"
        if self.expected is None or walks >= self.expected:
            return f"{text}, walk {self.n_done + 1} over the documents"
        return f"{text}, about {timed((now - self.start) * (self.expected - walks) / walks)} left"


def timed(seconds: float) -> str:
    """Return minutes and seconds."""
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


class Progress:
    """Says on stderr what is going on, unless it is told to be quiet; remembers the seconds of each stage."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}
        self.shown = not quiet and sys.stderr.isatty()
        self.doing = ""
        self.walk = Walk()

    def step(self, name: str, n_walks: int | None) -> None:
        """Note that a step of the stage begins that walks over all documents about so many times."""
        self.walk = Walk(name, n_walks)

    def walked(self, done: int, n_blocks: int) -> None:
        """Show how far a walk over the documents is, and the time that is left of the step."""
        if self.shown and (line := self.walk.line(done, n_blocks)):
            print(f"\r\x1b[K{self.doing} {line}", end="", file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """Print lines on stderr, above the bar or the line of a stage."""
        if self.quiet:
            return
        self.clear()
        for line in text.split("\n"):
            tqdm.write(printable(line), file=sys.stderr)
        self.show(self.doing)

    @contextmanager
    def stage(self, name: str, doing: str) -> Iterator[None]:
        """Show what is being done while the block runs, and note its seconds under `name`."""
        self.doing = f"{printable(doing)} …"
        self.show(self.doing)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            self.clear()
            self.doing = ""

    def show(self, text: str) -> None:
        """Write to the terminal, if there is one, without ending the line."""
        if self.shown and text:
            print(text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Wipe out the line of the stage, if there is one."""
        if self.doing:
            self.show("\r\x1b[K")

    def reading(self, source: TextSource) -> Iterator[Batch]:
        """Yield the batches of a source under a bar of the bytes that are read."""
        name = cut(printable(PurePath(source.name).name), NAME_WIDTH)
        form = BAR if source.bytes_total else NO_BAR
        with self.bar(desc=f"reading {name}", total=source.bytes_total, form=form, unit="B") as bar:
            for batch in source:
                yield batch
                bar.update(source.bytes_read - bar.n)
        self.show(self.doing)  # the bar has wiped it out, and the last batches are still to be counted

    def bar(self, *, desc: str, form: str = BAR, **settings: Any) -> Any:
        """Return a bar on stderr, hidden when quiet or where stderr is no terminal."""
        self.clear()
        return tqdm(
            desc=desc,
            bar_format=form,
            unit_scale=True,
            dynamic_ncols=True,
            file=sys.stderr,
            leave=False,
            disable=not self.shown,
            **settings,
        )
