"""Texts of a Python iterable divided into parts, and what was given for the texts spread over their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.io.batches import Batch
from anchorless._corpus.metadata import Metadata
from anchorless._corpus.near_copies import NearCopies
from anchorless._corpus.text.splitting import DOCUMENT, MARK, parse_split, split_batches


class TextParts:
    """Divide texts by a rule and leave out copies, and remember to which text each part belongs."""

    def __init__(self, split: str | int | None, copies: NearCopies | None = None) -> None:
        self._rule, self._copies = parse_split(split), copies
        self._rows = [np.zeros(0, dtype=np.int64)]
        self._numbers: list[str] = []
        self._n_texts = 0
        self.whole_ids: Any = None  # the id of the text of each part; None if texts are whole

    @property
    def is_active(self) -> bool:
        """Whether other documents are counted than those that come."""
        return self._rule is not None or self._copies is not None

    def divide(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches of texts as batches of their parts."""
        if not self.is_active:
            yield from batches
            return
        numbered = self._number(batches)
        parts = numbered if self._rule is None else split_batches(numbered, self._rule)
        for batch in parts if self._copies is None else self._copies.drop(parts):
            column = 0 if self._rule is None else DOCUMENT
            self._rows.append(batch.other_columns[column].cast(pa.int64()).to_numpy())
            self._numbers += [name.rpartition(MARK)[2] for name in batch.other_columns.column(0).to_pylist()]
            yield batch.texts

    def _number(self, batches: Iterable[Any]) -> Iterator[Batch]:
        """Yield batches of texts with their numbers as ids."""
        for texts in batches:
            start, self._n_texts = self._n_texts, self._n_texts + len(texts)
            yield Batch(texts, pa.table({"id": pa.array(map(str, range(start, self._n_texts)), pa.string())}))

    def describe(self) -> list[str]:
        """Return sentences about the parts and the copies."""
        sentences = [] if self._rule is None else self._rule.describe()
        return sentences if self._copies is None else [*sentences, *self._copies.describe()]

    def count_documents(self, n: int) -> int:
        """Return the number of texts, given that of the documents that were counted."""
        return self._n_texts if self.is_active else n

    def spread_metadata(self, known: Metadata) -> Metadata:
        """Return ids, labels and dates of the documents that were counted, given those of the texts."""
        if not self.is_active:
            return known
        rows = pa.array(np.concatenate(self._rows))
        ids = known.ids.take(rows)
        if self._rule is not None:
            self.whole_ids = ids
            ids = pc.binary_join_element_wise(
                ids, pa.array(self._numbers, pa.large_string()), pa.scalar(MARK, pa.large_string())
            )
        if self._copies is not None:
            names = known.ids.to_pylist()
            self._copies.rename(lambda name: rename_part(name, names))
        return Metadata(ids, *(None if values is None else values.take(rows) for values in known[1:]))

    def spread_table(self, table: pa.Table) -> pa.Table:
        """Return the rows of the documents that were counted, given those of the texts."""
        return table.take(pa.array(np.concatenate(self._rows))) if self.is_active else table


def rename_part(name: str, ids: list[str]) -> str:
    """Return the id of a text in place of its number: 3 or 3#2."""
    number, mark, part = name.partition(MARK)
    return f"{ids[int(number)]}{mark}{part}"
