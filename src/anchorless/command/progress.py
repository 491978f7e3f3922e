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
#: Where it is not known how much there is.
NO_BAR = "{desc} {n_fmt}{unit}, {elapsed} gone"


class Progress:
    """Says on stderr what is going on, unless it is told to be quiet; remembers the seconds of each stage."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}
        self.shown = not quiet and sys.stderr.isatty()
        self.doing = ""

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
