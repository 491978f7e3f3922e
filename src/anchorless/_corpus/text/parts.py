"""Texts of a Python iterable divided into parts, and what was given for the texts spread over their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.io.batches import Batch
from anchorless._corpus.metadata import Metadata
from anchorless._corpus.text.splitting import DOCUMENT, MARK, parse_split, split_batches


class TextParts:
    """Divide texts by a rule, and remember to which text each part belongs; without a rule, texts stay as they are."""

    def __init__(self, split: str | int | None) -> None:
        self._rule = parse_split(split)
        self._rows = [np.zeros(0, dtype=np.int64)]
        self._numbers: list[str] = []
        self.whole_ids: Any = None  # the id of the text of each part; None if texts are whole

    def divide(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches of texts as batches of their parts."""
        if self._rule is None:
            yield from batches
            return
        for batch in split_batches(number_texts(batches), self._rule):
            self._rows.append(batch.other_columns[DOCUMENT].cast(pa.int64()).to_numpy())
            self._numbers += [name.rpartition(MARK)[2] for name in batch.other_columns.column(0).to_pylist()]
            yield batch.texts

    def describe(self) -> list[str]:
        """Return a sentence about the parts."""
        return [] if self._rule is None else self._rule.describe()

    def count_documents(self, n: int) -> int:
        """Return the number of texts, given that of the parts."""
        return n if self._rule is None else self._rule.n_documents

    def spread_metadata(self, known: Metadata) -> Metadata:
        """Return ids, labels and dates of the parts, given those of the texts."""
        if self._rule is None:
            return known
        rows = pa.array(np.concatenate(self._rows))
        self.whole_ids = known.ids.take(rows)
        ids = pc.binary_join_element_wise(self.whole_ids, pa.array(self._numbers, pa.large_string()), MARK)
        return Metadata(ids, *(None if values is None else values.take(rows) for values in known[1:]))

    def spread_table(self, table: pa.Table) -> pa.Table:
        """Return the rows of the parts, given those of the texts."""
        return table if self._rule is None else table.take(pa.array(np.concatenate(self._rows)))


def number_texts(batches: Iterable[Any]) -> Iterator[Batch]:
    """Yield batches of texts with their numbers as ids."""
    start = 0
    for texts in batches:
        stop = start + len(texts)
        yield Batch(texts, pa.table({"id": pa.array(map(str, range(start, stop)), pa.string())}))
        start = stop
