"""Texts counted into a folder, block by block, so that a process that was ended anywhere can continue.

First every term is counted, in the order of the documents; a block is a whole number of the batches in which the texts
come. When all documents are counted the vocabulary is selected, and the counts of its words are written once more, in
the blocks in which a fit in memory would have them.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout

from anchorless._corpus.counting import Counts, count_batch, remap_columns, split_batch
from anchorless._corpus.disk.block_folder import LOCK, BlockFolder, read_about
from anchorless._corpus.disk.documents import MATERIALIZED, store_blocks
from anchorless._corpus.disk.vocabulary import UNBOUNDED_WIDTH, GrowingVocabulary
from anchorless._corpus.parts import TermTotals, choose_vocabulary
from anchorless._corpus.phrases import build_subtraction, merge_phrases
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks, stack_rows
from anchorless._corpus.text.terms import BatchTerms
from anchorless._corpus.threads import map_in_threads
from anchorless._files import make_write_error
from anchorless.errors import InputError

#: Folders inside that of a store: the counts of all terms, and of the selected ones.
ALL_TERMS, SELECTED_TERMS = "all-terms", "selected"


class CountStore:
    """A folder into which texts are counted, with memory for a few blocks of them at a time.

    Counting can be interrupted anywhere: a store that is opened again with the same `about` continues after the last
    complete block. With another `about`, the counts in the folder are deleted, since they are of other texts.

    Parameters
    ----------
    path : str or os.PathLike
        The folder. It is created if it does not exist, and must hold nothing but a store.
    about : dict
        What the counts depend on, such as the checksum of the input: plain values that JSON can hold.

    Attributes
    ----------
    n_documents : int
        The documents in complete blocks.

    Raises
    ------
    InputError
        If the folder holds something else, is damaged or full, or another run uses it.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from anchorless import CountSettings, CountStore
    >>> settings = CountSettings(stop_words=None, max_df=1.0)
    >>> store = CountStore(tempfile.mkdtemp(), {"input": "two short texts"})
    >>> store.count([pa.array(["a red fox", "a red hen"], pa.large_string())], settings, n_threads=1)
    >>> documents, vocabulary, n_tokens, _ = store.select_vocabulary(settings, n_threads=1)
    >>> documents.shape, vocabulary, n_tokens
    ((2, 3), ['fox', 'hen', 'red'], 4)
    >>> store.remove()
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path = Path(path)
        own = {*list_own_folders(self.path), self.path / LOCK}
        if self.path.exists() and (not self.path.is_dir() or {*self.path.iterdir()} - own):
            raise InputError(f"{path} exists and is not a folder of counts; move it away, or name another folder")
        self._lock = lock_store(self.path)
        counts = self.path / ALL_TERMS
        is_same = read_about(counts) == about
        if not is_same and counts.is_dir():
            shutil.rmtree(counts)
        self.folder = BlockFolder(counts) if is_same else BlockFolder.create(counts, about)

    @property
    def n_documents(self) -> int:
        """Documents in complete blocks, which `count` will not count again."""
        return self.folder.n_rows

    def count(self, batches: Iterable[pa.Array], settings: CountSettings, n_threads: int) -> None:
        """Count the words of all texts; texts in complete blocks are read, but not counted again.

        Parameters
        ----------
        batches : iterable of pyarrow.Array of strings
            All texts, from the first one on, in the same order each time.
        settings : CountSettings
            What a word is; how the vocabulary is selected does not matter here.
        n_threads : int
            The number of threads. The result does not depend on it.
        """
        with self._release_on_error():
            self._count(batches, settings, n_threads)

    def _count(self, batches: Iterable[pa.Array], settings: CountSettings, n_threads: int) -> None:
        """Count the words of all texts, as `count` says."""
        vocabulary = GrowingVocabulary.from_folder(self.folder)
        texts = skip_texts(batches, self.folder.n_rows)
        if self.folder.is_finished:
            deque(texts, maxlen=0)  # the caller collects metadata while the texts are read
        else:
            with self.folder:
                for block, n_runs in count_blocks(texts, vocabulary, settings, n_threads):
                    new_terms = vocabulary.new_terms
                    vocabulary.add_block(block)
                    threshold = vocabulary.compute_prune_threshold()
                    self.folder.append(block, new_terms, n_runs=n_runs, pruned=threshold)
                    vocabulary.prune(threshold)
                self.folder.finish()
        self.vocabulary = vocabulary

    def select_vocabulary(self, settings: CountSettings, n_threads: int) -> Counts:
        """Select the vocabulary, and write the counts of its words.

        Parameters
        ----------
        settings : CountSettings
            How the vocabulary is selected: `min_df`, `max_df` and `max_features`.
        n_threads : int
            As in `count`.

        Returns
        -------
        Counts
            `documents` (StoredDocuments), `vocabulary` (list of str), `n_tokens` (int) and `document_frequency`
            (array of int). An earlier result becomes invalid: its blocks are replaced.
        """
        if not self.folder.is_finished:
            raise InputError(f"the texts of {self.path} are not all counted yet; call count first")
        if not hasattr(self, "vocabulary"):
            self.vocabulary = GrowingVocabulary.from_folder(self.folder)
        numbers = self.vocabulary.list_numbers()
        terms = pa.array(self.vocabulary.numbers_by_term, type=pa.large_string())
        n_runs = sum(facts["n_runs"] for facts in self.folder.facts)
        frequency, total = self.vocabulary.frequency[numbers], self.vocabulary.total[numbers]
        selected = choose_vocabulary(TermTotals(terms, frequency, total, self.n_documents, n_runs), settings)
        vocabulary, n_words = selected.words.to_pylist(), len(selected.words)
        subtraction = build_subtraction(vocabulary) if settings.phrases else None
        column = np.full(self.vocabulary.n_numbers, -1, dtype=np.int32)
        column[numbers] = pc.index_in(terms, value_set=selected.words).fill_null(-1).to_numpy(zero_copy_only=False)
        for path in list_own_folders(self.path):
            if path.name != ALL_TERMS:  # of an earlier call, or of a process that was ended
                shutil.rmtree(path, ignore_errors=True)

        def select(number: int) -> Any:
            counts = remap_columns(self.folder.read(number, UNBOUNDED_WIDTH)[0], column, n_words)
            return merge_phrases(counts, subtraction)

        blocks = map_in_threads(select, range(len(self.folder.facts)), n_threads)
        with self._release_on_error():
            documents = store_blocks(self.path / SELECTED_TERMS, rechunk_blocks(blocks, NONZEROS_PER_BLOCK), n_words)
        documents.folder.store_lock = self._lock
        return Counts(documents, vocabulary, selected.n_tokens, selected.document_frequency)

    def remove(self) -> None:
        """Delete the folder, and let other processes use its name."""
        for path in list_own_folders(self.path):
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            (self.path / LOCK).unlink()
            self.path.rmdir()
        self.close()

    def close(self) -> None:
        """Let other processes use the folder; its documents must not be read afterwards."""
        self._lock.release()

    @contextmanager
    def _release_on_error(self) -> Iterator[None]:
        """Let another run continue if this one fails."""
        try:
            yield
        except BaseException:
            self.close()
            raise


def lock_store(path: Path) -> FileLock:
    """Return the lock of a store, acquired: a second run would replace blocks that the first one still reads."""
    lock = FileLock(path / LOCK, timeout=0, thread_local=False)
    try:
        while not lock.is_locked:
            path.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # the run before has just removed the folder
                lock.acquire()
            if lock.is_locked and not (path / LOCK).exists():  # or the file, after it was opened here
                lock.release()
    except Timeout:
        remedy = "wait until it ends, or name another folder"
        raise InputError(f"another run uses the counts in {path}", remedy=remedy) from None
    except OSError as error:
        raise make_write_error(error, path) from error
    return lock


def list_own_folders(path: Path) -> list[Path]:
    """Return the folders that a store creates inside its own."""
    return [folder for name in (ALL_TERMS, SELECTED_TERMS, f"{MATERIALIZED}*") for folder in path.glob(name)]


def skip_texts(batches: Iterable[pa.Array], n: int) -> Iterator[pa.Array]:
    """Yield the batches without their first `n` texts."""
    for batch in batches:
        if n < len(batch):
            yield batch.slice(n) if n else batch
        n = max(0, n - len(batch))


def count_blocks(
    batches: Iterable[pa.Array], vocabulary: GrowingVocabulary, settings: CountSettings, n_threads: int
) -> Iterator[tuple[Any, int]]:
    """Yield CSR blocks of whole batches, of at least NONZEROS_PER_BLOCK entries, and their runs of letters."""
    rule = settings.to_token_rule()

    def slices() -> Iterator[tuple[Any, bool]]:
        for batch in batches:
            parts = [*split_batch(batch)]
            yield from ((part, place == len(parts)) for place, part in enumerate(parts, 1))

    def count(item: tuple[Any, bool]) -> tuple[BatchTerms, bool]:
        return count_batch(item[0], settings=settings, rule=rule), item[1]

    waiting: list[Any] = []
    n_runs = 0
    for counted, ends_batch in map_in_threads(count, slices(), n_threads):
        waiting.append(vocabulary.renumber_counts(counted, settings.counted_ngrams[0]))
        n_runs += counted.n_runs
        if ends_batch and sum(part.nnz for part in waiting) >= NONZEROS_PER_BLOCK:
            yield stack_rows(waiting), n_runs
            waiting, n_runs = [], 0
    if waiting:
        yield stack_rows(waiting), n_runs
