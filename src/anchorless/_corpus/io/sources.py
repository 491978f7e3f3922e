"""An open input with texts: its documents, to be iterated over once, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import pyarrow as pa

from anchorless._corpus.io.batches import Batch, SkipLog
from anchorless.errors import InputError
from anchorless.progress import report_progress


class SourceFacts(NamedTuple):
    """What is known of an input before its documents are read."""

    format: str
    text_column: str | None  # None for a format without columns
    id_column: str | None  # None if ids are numbers or names of files
    columns: pa.Schema  # of the other columns
    paths: list[str]  # the files and folders
    reading: dict[str, Any]  # how they are read: what the texts depend on besides the files


class TextSource(AbstractContextManager["TextSource"]):
    """The documents of an input, to be iterated over once; memory holds one batch, whatever the size of the input."""

    def __init__(self, source: Any, batches: Iterator[Batch], facts: SourceFacts, skips: SkipLog) -> None:
        self.name, self.facts, self.skipped = skips.name, facts, skips
        self.format, self.text_column, self.id_column = facts.format, facts.text_column, facts.id_column
        self.columns, self.paths = facts.columns, facts.paths
        self.n_documents = 0  # so far
        self._source, self._batches = source, batches
        self._started = False

    def __iter__(self) -> Iterator[Batch]:
        try:
            yield from self.batches()
        finally:
            self.close()
        if not self.n_documents:
            why = "; ".join(self.describe_reading()) or "it has no rows"
            raise InputError(f"{self.name} holds no documents: {why}")

    def batches(self) -> Iterator[Batch]:
        """Yield the documents; unlike the iteration, an input without any is no error."""
        if self._started:
            raise InputError(f"{self.name} was read already; open it again to read it a second time")
        self._started = True
        for batch in self._batches:
            self.n_documents += len(batch.texts)
            yield batch
            report_progress("reading", self.bytes_read, self.bytes_total)
        if self.format != "parquet":  # its texts have no other encoding
            self.skipped.check_decoding(self.n_documents, self.facts.reading["encoding"])

    @property
    def bytes_total(self) -> int | None:
        """Bytes of the input on disk; None for a pipe."""
        total: int | None = self._source.bytes_total
        return total

    @property
    def bytes_read(self) -> int:
        """Bytes of the input that have been read so far."""
        return int(self._source.bytes_read)

    @property
    def skip_counts(self) -> Counter[str]:
        """How many rows were skipped or warned about, by reason."""
        counts = Counter(self.skipped.counts)
        counts.update(getattr(self._source, "skip_counts", {}))
        return counts

    def describe_reading(self) -> list[str]:
        """Return sentences about what was skipped, and about what was read; names of parameters are in braces."""
        describe = getattr(self._source, "describe", list)
        return [*describe(), *self.skipped.describe_all()]

    def sha256(self) -> str:
        """Return the hash of the input, after the last batch; for a folder, that of all names and contents."""
        return str(self._source.sha256())

    def close(self) -> None:
        """Close the input, as the end of the iteration does too."""
        self._source.close()

    def __exit__(self, *_: object) -> None:
        self.close()
