"""What a long run shows on stderr: a bar with the time left while reading, a line for every stage that is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from anchorless.reading.batches import Batch
from anchorless.reading.readers import TextSource


class Progress:
    """Says on stderr what is going on, unless it is told to be quiet; remembers the seconds of each stage."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}

    def say(self, line: str) -> None:
        """Print a line on stderr."""
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)

    @contextmanager
    def stage(self, name: str, doing: str) -> Iterator[None]:
        """Show what is being done while the block runs, and note its seconds under `name`."""
        shown = not self.quiet and sys.stderr.isatty()
        if shown:
            print(f"{doing} …", end="", file=sys.stderr, flush=True)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            if shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def reading(self, source: TextSource) -> Iterator[Batch]:
        """Yield the batches of a source under a bar of the bytes that are read."""
        with self.bar(total=source.bytes_total, unit="B", unit_scale=True, desc=f"reading {source.name}") as bar:
            for batch in source:
                yield batch
                bar.update(source.bytes_read - bar.n)

    def bar(self, **settings: Any) -> Any:
        """Return a bar on stderr, hidden when quiet or where stderr is no terminal."""
        return tqdm(file=sys.stderr, leave=False, disable=True if self.quiet else None, **settings)
