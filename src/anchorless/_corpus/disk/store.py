"""Texts counted into a folder, once: block by block, so that a process that is ended anywhere goes on where it was.

First every term is counted, in the order of the documents; a block is a whole number of the batches in which the texts
come. When all documents are counted the vocabulary is chosen, and the counts of its words are written once more, in
the blocks in which a fit in memory would have them: both have the same bits.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anchorless._corpus.counting import Integers, choose_terms, count_batch, map_parallel, remap_columns, split_batch
from anchorless._corpus.disk.block_folder import BlockFolder
from anchorless._corpus.disk.documents import StoredDocuments, arrays_to_csr, csr_to_arrays
from anchorless._corpus.disk.vocabulary import UNBOUNDED_WIDTH, GrowingVocabulary, pack_words
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks, stack_rows
from anchorless._corpus.text.terms import BatchTerms
from anchorless.errors import InputError

#: Folders inside that of a store: counts of all terms, and of the chosen ones.
ALL_TERMS, CHOSEN_TERMS = "all-terms", "chosen"


class StoredCounts(NamedTuple):
    """Counted documents on disk."""

    documents: StoredDocuments
    vocabulary: list[str]  # sorted by code point
    n_tokens: int
    n_documents: int
    document_frequency: Integers  # in how many documents each word is
    settings: CountSettings


class CountStore:
    """A folder into which texts are counted. `about` says of what; one that is there goes on if it says the same.

    Counts of other texts, or of the same texts by another rule, are removed: they were not finished.
    """

    def __init__(self, path: str | Path, about: dict[str, Any]) -> None:
        self.path = Path(path)
        refuse_other_content(self.path)
        if (self.path / ALL_TERMS).is_dir() and not self._matches(about):
            shutil.rmtree(self.path / ALL_TERMS)
        there = (self.path / ALL_TERMS).is_dir() and any((self.path / ALL_TERMS).iterdir())
        self.folder = BlockFolder(self.path / ALL_TERMS) if there else BlockFolder.create(self.path / ALL_TERMS, about)

    def _matches(self, about: dict[str, Any]) -> bool:
        """Tell whether the folder that is there holds counts of the same texts by the same rule."""
        try:
            return BlockFolder(self.path / ALL_TERMS).about == about
        except InputError:
            return False

    @property
    def n_documents(self) -> int:
        """Documents counted so far: those that will be read past."""
        return self.folder.n_rows

    def count(self, batches: Iterable[pa.Array], settings: CountSettings, n_threads: int) -> None:
        """Count batches of texts, all from the first on: those that are in complete blocks are passed over."""
        vocabulary = GrowingVocabulary.from_folder(self.folder)
        counted = count_batches(skip_texts(batches, self.folder.n_rows), settings, n_threads)
        if self.folder.end is not None:
            deque(counted, maxlen=0)  # to the end: what goes along with the texts is read again
        else:
            with self.folder:
                for part in group_into_blocks(counted, vocabulary, settings.ngram_range[0]):
                    forgotten = self._append(part, vocabulary)
                    vocabulary.forget(forgotten)
                self.folder.finish(documents=self.folder.n_rows)
        self.vocabulary = vocabulary

    def _append(self, part: tuple[Any, int], vocabulary: GrowingVocabulary) -> int:
        """Write a block; return the frequency up to which terms are to be forgotten."""
        block, n_runs = part
        arrays = csr_to_arrays(block) | pack_words(vocabulary.new)
        vocabulary.note(arrays["indices"], arrays["data"])
        forgotten = vocabulary.excess()
        self.folder.append(arrays, block.shape[0], block.nnz, n_runs=n_runs, forgotten=forgotten)
        return forgotten

    def chosen(self, settings: CountSettings, n_threads: int) -> StoredCounts:
        """Choose the vocabulary and return the counts of its words, written anew."""
        vocabulary, n_documents = self.vocabulary, self.folder.n_rows
        if n_documents == 0:
            raise InputError("there are no documents to count; at least one text is needed")
        n_runs = sum(record.facts["n_runs"] for record in self.folder.records)
        numbers, terms = vocabulary.numbers(), vocabulary.terms()
        frequency, total = vocabulary.frequency[numbers], vocabulary.total[numbers]
        at, words = choose_terms(
            frequency, total, settings, (n_documents, n_runs), lambda places: terms.take(pa.array(places))
        )
        column = np.full(vocabulary.n_numbers, -1, dtype=np.int32)
        column[numbers[at]] = np.arange(len(at))
        folder = self._write_chosen(column, len(at), n_threads)
        documents = StoredDocuments(folder, len(at))
        return StoredCounts(documents, words.to_pylist(), int(total[at].sum()), n_documents, frequency[at], settings)

    def _write_chosen(self, column: Any, n_words: int, n_threads: int) -> BlockFolder:
        """Write the counts of the chosen terms; what an ended process left of them is removed first."""
        for path in list_own_folders(self.path):
            if path.name != ALL_TERMS:
                shutil.rmtree(path, ignore_errors=True)

        def narrowed(number: int) -> Any:
            return remap_columns(arrays_to_csr(self.folder.read(number), UNBOUNDED_WIDTH), column, n_words)

        with BlockFolder.create(self.path / CHOSEN_TERMS, {"words": n_words}) as folder:
            for block in rechunk_blocks(
                map_parallel(narrowed, range(len(self.folder.records)), n_threads), NONZEROS_PER_BLOCK
            ):
                folder.append(csr_to_arrays(block), block.shape[0], block.nnz)
            folder.finish()
        return folder

    def remove(self) -> None:
        """Remove the folder."""
        for path in list_own_folders(self.path):
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            self.path.rmdir()


def list_own_folders(path: Path) -> list[Path]:
    """Return the folders that a store makes inside its own."""
    return [folder for name in (ALL_TERMS, CHOSEN_TERMS, "settled-*") for folder in path.glob(name)]


def refuse_other_content(path: Path) -> None:
    """Refuse a place that holds something else: it would be in the way, or be removed with the store."""
    if path.exists() and (not path.is_dir() or set(path.iterdir()) - set(list_own_folders(path))):
        raise InputError(f"{path} is there and is no folder of counts; move it away, or name another folder")


def skip_texts(batches: Iterable[pa.Array], n: int) -> Iterator[pa.Array]:
    """Yield the batches without their first `n` texts."""
    for batch in batches:
        if n < len(batch):
            yield batch.slice(n) if n else batch
        n = max(0, n - len(batch))


def count_batches(
    batches: Iterable[pa.Array], settings: CountSettings, n_threads: int
) -> Iterator[tuple[BatchTerms, bool]]:
    """Yield counted pieces of the batches, in their order, with whether a piece is the last of its batch."""
    count, rule = count_batch, settings.to_token_rule()

    def marked() -> Iterator[tuple[Any, bool]]:
        for batch in batches:
            parts = [*split_batch(batch)]
            yield from ((part, place == len(parts)) for place, part in enumerate(parts, 1))

    def counted(piece: tuple[Any, bool]) -> tuple[BatchTerms, bool]:
        return partial(count, settings=settings, rule=rule)(piece[0]), piece[1]

    yield from map_parallel(counted, marked(), n_threads)


def group_into_blocks(
    counted: Iterable[tuple[BatchTerms, bool]], vocabulary: GrowingVocabulary, first: int
) -> Iterator[tuple[Any, int]]:
    """Yield CSR blocks of whole batches of about NONZEROS_PER_BLOCK entries, with the runs that were counted."""
    waiting: list[Any] = []
    n_runs = 0
    for batch, ends in counted:
        waiting.append(vocabulary.renumber_counts(batch, first))
        n_runs += batch.n_runs
        if ends and sum(part.nnz for part in waiting) >= NONZEROS_PER_BLOCK:
            yield stack_rows(waiting), n_runs
            waiting, n_runs = [], 0
    if waiting:
        yield stack_rows(waiting), n_runs
