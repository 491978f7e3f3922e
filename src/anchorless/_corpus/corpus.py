"""The corpus: counted documents, wherever their blocks are stored, with their vocabulary and metadata."""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless._corpus.counting import batch_texts, clean_texts
from anchorless._corpus.covariates import to_table
from anchorless._corpus.disk.store import CountStore
from anchorless._corpus.documents import Documents
from anchorless._corpus.given_counts import gather_documents, sum_counts, validate_documents, validate_vocabulary
from anchorless._corpus.io.batches import Batch, EncodingError
from anchorless._corpus.io.count_readers import guess_counts_format, read_counts
from anchorless._corpus.io.formats import COUNT_FORMATS, guess_format_by_name
from anchorless._corpus.io.joined import expand_paths
from anchorless._corpus.io.readers import TextSource, open_texts, split_source
from anchorless._corpus.language import NO_WORD_LEFT, LanguageSample, note_languages
from anchorless._corpus.metadata import ColumnFile, Metadata, MetadataCollector, describe_epoch, validate_metadata
from anchorless._corpus.near_copies import NearCopies
from anchorless._corpus.quality import DataNote
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import SnippetFile
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.storage import Storage, count_within, count_words, parse_memory, translate_disk_errors
from anchorless._corpus.text.boilerplate import LineCounter, SpooledTexts
from anchorless._corpus.text.junk import JunkCheck, shorten
from anchorless._corpus.text.parts import TextParts
from anchorless._corpus.text.splitting import DOCUMENT
from anchorless._files import hash_file
from anchorless._validation import resolve_job_count
from anchorless.errors import InputError, UsageError, render_message

#: What helps if there is one document, such as a book or a file of subtitles.
DIVIDE_ONE = "divide a long text into parts with {split} (paragraph, section, or a number of words)"
#: A name of so many words, which is no question of a survey, may be the first text of a file without names.
MIN_WORDS_OF_TEXT = 8
PathLike = str | os.PathLike[str]


class Corpus:
    """Counted documents with their vocabulary and metadata.

    Make one with `from_texts`, `from_counts` or `read`. A corpus may own temporary files: close it, or use it in a
    ``with`` statement.

    Parameters
    ----------
    documents : Documents
        The counts, documents × words.
    vocabulary : list of str
        The word of each column.
    counting : CountSettings or None, default=None
        How texts were counted; None for counts that were made elsewhere.
    metadata : Metadata or None, default=None
        Ids, labels and dates; None to number the documents from 0.
    n_tokens : int or None, default=None
        The sum of all counts; None to compute it.
    columns, snippets : ColumnFile and SnippetFile, or None, default=None
        The columns of the input that go with the documents, and the beginnings of the texts.
    source : dict or None, default=None
        Where the documents come from: name, format, hash and the like.

    Attributes
    ----------
    documents, vocabulary, counting, metadata, n_tokens, source
        As given.
    covariates : pyarrow.Table or None
        Columns of numbers, categories and dates, a row per document, where they were given.
    whole_ids : pyarrow.Array or None
        For documents that were divided into parts, the id of the document of each part.
    notes : list of str
        What happened while reading that a user should know, such as rows that were skipped.
    removed : pyarrow.Table or None
        Near-copies that were left out: id, kept (the earlier document) and similarity; None if none were looked for.
    languages : pyarrow.Array or None
        The language of each document, found from the beginning of its text; None where there is only one.
    data_notes : list of DataNote
        What was noticed about the quality of the texts, such as near-copies; for the report.
    n_unknown : int or None
        Tokens of words outside a given vocabulary; None where the vocabulary was chosen from the texts.

    Examples
    --------
    >>> from anchorless import Corpus, TopicModel
    >>> texts = ["the cat chased a mouse", "a mouse fears the cat", "the rocket reached orbit", "orbit by rocket"]
    >>> with Corpus.from_texts(texts) as corpus:
    ...     model = TopicModel(n_topics=2).fit(corpus)
    >>> corpus.n_documents, corpus.vocabulary[:3]
    (4, ['cat', 'chased', 'fears'])
    """

    def __init__(
        self,
        documents: Documents,
        vocabulary: list[str],
        *,
        counting: CountSettings | None = None,
        metadata: Metadata | None = None,
        n_tokens: int | None = None,
        columns: ColumnFile | None = None,
        snippets: SnippetFile | None = None,
        source: dict[str, Any] | None = None,
    ) -> None:
        self.documents = documents
        self.vocabulary = vocabulary
        self.counting = counting
        self.metadata = metadata or validate_metadata(documents.shape[0], None, None, None)
        self.n_tokens = sum_counts(documents) if n_tokens is None else n_tokens
        self.source = source or {}
        self._notes: list[str] = []  # names of parameters in braces, see `render_message`
        self._problems: list[str] = []  # those notes that Python warns about
        self.data_notes: list[DataNote] = []
        self.languages: Any = None
        self.n_unknown: int | None = None
        self.covariates: pa.Table | None = None
        self.whole_ids: Any = None
        self.removed: pa.Table | None = None
        self._columns, self._snippets = columns, snippets
        self._resources = ExitStack()
        self._store: CountStore | None = None

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        counting: CountSettings | None = None,
        ids: Any = None,
        labels: Any = None,
        dates: Any = None,
        metadata: Any = None,
        memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Count texts.

        Parameters
        ----------
        texts : iterable of str
            The documents. They are read once and not kept.
        counting : CountSettings or None, default=None
            How texts are counted; None for the defaults.
        ids, labels, dates : sequences or None, default=None
            One entry per document.
        metadata : data frame of pandas or polars, Arrow table, dict of columns, or None, default=None
            Numbers, categories and dates of the documents, one row each, for `TopicModel.effects`.
        memory : int, str or None, default=None
            Bytes of memory that a fit may use, such as "2GB"; None for no limit. Texts that need more are counted on
            disk.
        n_jobs : int or None, default=None
            Threads; None for every core. The result does not depend on it.

        Returns
        -------
        corpus : Corpus
        """
        settings = counting or CountSettings()
        storage = Storage(parse_memory(memory), None, resolve_job_count(n_jobs))
        with ExitStack() as stack:
            snippets = stack.enter_context(closing(SnippetFile(email=settings.email, html=settings.html)))
            junk, copies = make_junk_check(settings), NearCopies() if settings.deduplicate else None
            parts = TextParts(settings.split, copies)
            sample = LanguageSample(settings)
            settings, batches = sample.resolve(junk.tee(snippets.tee(parts.divide(batch_texts(texts)))))
            counted, settings = find_boilerplate(batches, settings, stack)
            with sample.explain_errors():
                (documents, words, n_tokens, _), store, _ = count_within(counted, None, settings, storage, stack)
            n_given = parts.count_documents(documents.shape[0])
            known = parts.spread_metadata(validate_metadata(n_given, ids, labels, dates))
            covariates = None if metadata is None else parts.spread_table(to_table(metadata, n_given))
            corpus = cls(documents, words, counting=settings, metadata=known, n_tokens=n_tokens, snippets=snippets)
            corpus.covariates, corpus.whole_ids = covariates, parts.whole_ids
            corpus._note_languages(sample)
            corpus._problems = [*corpus._notes]
            corpus._add_junk(junk, copies)
            corpus._notes += [*parts.describe(), *(note for note in [describe_epoch(known.dates)] if note is not None)]
            corpus._resources, corpus._store = stack.pop_all(), store
        return corpus

    @classmethod
    def from_counts(
        cls,
        X: Any,
        vocabulary: Any,
        *,
        ids: Any = None,
        labels: Any = None,
        dates: Any = None,
        metadata: Any = None,
        name: str = "X",
    ) -> Self:
        """Take counts that were made elsewhere.

        Parameters
        ----------
        X : sparse or dense matrix, Documents, or list of matrices
            Nonnegative numbers, documents × words.
        vocabulary : sequence of str, or mapping of str to int
            The word of each column.
        ids, labels, dates, metadata
            As in `from_texts`.
        name : str, default="X"
            What error messages call the counts.

        Returns
        -------
        corpus : Corpus
        """
        documents = validate_documents(X, name)
        words = validate_vocabulary(vocabulary, documents.shape[1])
        corpus = cls(documents, words, metadata=validate_metadata(documents.shape[0], ids, labels, dates))
        corpus.covariates = None if metadata is None else to_table(metadata, documents.shape[0])
        return corpus

    @classmethod
    def read(
        cls,
        path: PathLike | Sequence[PathLike] | TextSource,
        *,
        text_column: str | None = None,
        id_column: str | None = None,
        label_column: str | None = None,
        date_column: str | None = None,
        format: str | None = None,
        table: str | None = None,
        encoding: str = "utf-8",
        strict: bool = False,
        counting: CountSettings | None = None,
        vocabulary: PathLike | Sequence[str] | None = None,
        memory: int | str | None = None,
        store: PathLike | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Read files of texts, a folder or an archive of texts, or a file of counts.

        Parameters
        ----------
        path : str, path, list of them, or open TextSource
            Tables (CSV, TSV, JSON, JSON lines, Parquet, Excel, .ods), one document per line (.txt), single documents
            (.md, .html, .pdf, .docx, .eml, .srt, .vtt), a mailbox (.mbox), a folder or an archive (.zip, .tar, .tar.gz)
            of such documents, "-" for stdin; several of them, also as a pattern such as "texts/**/*.txt"; or counts
            as .npz, Matrix Market, UCI, SVMlight, LDA-C and .mat.
        text_column, id_column, label_column, date_column, format : str or None, default=None
            Columns of the file, and its format; None to guess them from names and contents.
        table : str or None, default=None
            The sheet of a spreadsheet, or the list in a JSON file, such as "data.items"; None for the first.
        encoding : str, default="utf-8"
            Encoding of the texts.
        strict : bool, default=False
            Refuse the first row that would be skipped.
        counting : as in `from_texts`
        vocabulary : sequence of str, path or None, default=None
            For texts: the words to count, instead of choosing them by `counting`. For counts: the word of each column,
            or the file that lists them.
        memory : as in `from_texts`
        store : path or None, default=None
            The folder for counts on disk. A run that was interrupted continues there. None for a temporary folder.
        n_jobs : as in `from_texts`

        Returns
        -------
        corpus : Corpus

        Raises
        ------
        InputError
            If the file cannot be read, or no word is left to count.
        """
        if not isinstance(path, TextSource) and is_counts_file(path, format):
            return cls._read_counts(expand_paths(path)[0], vocabulary, format)
        settings = counting or CountSettings()  # before the file is opened: a wrong setting is reported at once
        storage = Storage(parse_memory(memory), None if store is None else Path(store), resolve_job_count(n_jobs))
        source = path
        if not isinstance(source, TextSource):
            columns = {"text_column": text_column, "id_column": id_column, "table": table}
            how: dict[str, Any] = {"format": format, "strict": strict, "encoding": encoding, "split": settings.split}
            source = open_texts(source, **(columns | how))
        elif settings.split is not None:
            source = split_source(source, settings.split)
        collector = MetadataCollector(source.name, label_column, date_column, source.id_column, source.text_column)
        collector.whole_column = DOCUMENT if source.facts.reading.get("split") is not None else None
        return cls._read_texts(source, collector, settings, vocabulary, storage)

    @classmethod
    def _read_texts(
        cls, source: TextSource, collector: MetadataCollector, settings: CountSettings, words: Any, storage: Storage
    ) -> Self:
        """Count texts as they are read: given words, or those that the settings choose."""
        store, notes, unknown = None, list[str](), None
        with ExitStack() as stack:
            columns = stack.enter_context(closing(ColumnFile()))
            snippets = stack.enter_context(closing(SnippetFile(email=settings.email, html=settings.html)))
            are_lines = words is None and source.format == "lines" and guess_format_by_name(source.name) == "lines"
            junk = make_junk_check(settings, are_lines=are_lines)
            copies = NearCopies() if settings.deduplicate and words is None else None
            given = source if copies is None else copies.drop(source)
            sample = LanguageSample(settings)
            with source, sample.explain_errors():
                try:
                    settings, batches = sample.resolve(junk.tee(keep_columns(given, columns, snippets, collector)))
                    if words is None:
                        counted, settings = find_boilerplate(batches, settings, stack)
                        counts, store, notes = count_within(counted, source, settings, storage, stack)
                        documents, words, n_tokens, _ = counts
                    else:
                        words = validate_vocabulary(words, None)
                        documents, n_tokens, unknown = count_words(batches, source, settings, words, storage, stack)
                except EncodingError:
                    raise
                except InputError as error:
                    explained = explain_reading(error, source)
                    if explained is None:
                        raise
                    raise explained from None
            known = collector.collect()
            corpus = cls(
                documents,
                words,
                counting=settings,
                metadata=known,
                n_tokens=n_tokens,
                columns=columns,
                snippets=snippets,
            )
            corpus.source = describe_source(source) | {"documents": corpus.n_documents, "tokens": n_tokens}
            corpus.n_unknown, corpus.whole_ids = unknown, collector.collect_whole_ids()
            corpus._notes += [*notes, *source.describe_reading(), *note_text_as_name(source)]
            corpus._notes += copies.describe() if copies else []
            can_change = unknown is None  # with the words of a model, it is too late to change how texts are read
            if can_change:
                corpus._add_junk(junk, copies)
            corpus._note_languages(sample, can_change)
            corpus._notes += [note for note in [describe_epoch(known.dates)] if note is not None]
            if source.id_column is None and "input_id" in columns.schema.names:
                corpus._notes.append(refuse_or_note_ids(source))
            corpus._resources, corpus._store = stack.pop_all(), store
        return corpus

    def _note_languages(self, sample: LanguageSample, can_change: bool = True) -> None:
        """Say the languages of the texts, if settings can follow; keep those of the documents if there are several."""
        self._notes += sample.describe() if can_change else []
        self.languages = None if self._snippets is None else sample.label(self._snippets.iter_batches())
        if self.languages is not None:
            self.data_notes += note_languages(self.languages, sample.settings)

    @classmethod
    def _read_counts(cls, path: PathLike, vocabulary: Any, format: str | None) -> Self:
        """Read a file of counts."""
        found = read_counts(path, vocabulary=vocabulary, format=format)
        named = {"id": pa.array([str(k + 1) for k in range(found.counts.shape[0])])}
        if found.labels is not None:
            named["label"] = pa.array(found.labels)
        metadata = validate_metadata(len(named["id"]), named["id"], named.get("label"), None)
        columns = ColumnFile()
        columns.add(pa.table(named))
        corpus = cls(gather_documents([found.counts]), found.vocabulary, metadata=metadata, columns=columns)
        files = (("name", "sha256", found.name), ("vocabulary", "vocabulary_sha256", found.vocabulary_name))
        for key, hash_key, name in files:
            corpus.source |= {key: name, hash_key: hash_file(name) if name and Path(name).is_file() else None}
        corpus.source |= {"documents": corpus.n_documents, "tokens": corpus.n_tokens}
        corpus.own(columns.close)
        return corpus

    def _add_junk(self, junk: JunkCheck, copies: NearCopies | None) -> None:
        """Keep what was noticed in the texts, and which copies were left out."""
        self.data_notes += junk.list_notes()
        self._notes += junk.describe()
        if self.counting is not None and self.counting.boilerplate:
            lines = self.counting.boilerplate
            more = "" if len(lines) == 1 else f" and {len(lines) - 1:,} more"
            self._notes.append(f"left out lines that stand in many documents: {shorten(lines[0])!r}{more}")
        if copies is not None:
            self.removed = copies.to_table()

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.documents.shape[0]

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary."""
        return len(self.vocabulary)

    @property
    def notes(self) -> list[str]:
        """What happened while reading that a user should know."""
        return [render_message(note) for note in self._notes]

    def to_matrix(self) -> Any:
        """Return the counts as one sparse matrix in memory.

        Returns
        -------
        counts : scipy.sparse.csr_matrix of shape (n_documents, n_words)
        """
        return sp.vstack([*self.documents.map_blocks(to_canonical_csr, 1)], format="csr")

    def align(self, vocabulary: Sequence[str]) -> Self:
        """Return the corpus with the columns of another vocabulary; words are matched by their names.

        Its `n_unknown` is the number of tokens of words that the vocabulary does not have.

        Parameters
        ----------
        vocabulary : sequence of str
            The words, such as the `vocabulary_` of a model.

        Returns
        -------
        corpus : Corpus
            It is valid until the original is closed.
        """
        column = {word: k for k, word in enumerate(vocabulary)}
        at = np.array([column.get(word, -1) for word in self.vocabulary])
        rows = np.flatnonzero(at >= 0)
        moved = sp.csr_matrix((np.ones(len(rows)), (rows, at[rows])), shape=(len(at), len(vocabulary)))
        aligned = copy.copy(self)
        aligned.documents = self.documents.transform_blocks(lambda block: block @ moved, len(vocabulary))
        aligned.vocabulary, aligned.n_unknown = list(vocabulary), self.n_tokens - sum_counts(aligned.documents)
        aligned._resources, aligned._store = ExitStack(), None
        return aligned

    def take_snippets(self, positions: Sequence[int]) -> list[str] | None:
        """Return the beginnings of texts.

        Parameters
        ----------
        positions : sequence of int, of the documents

        Returns
        -------
        list of str, or None where the texts are not known
        """
        return None if self._snippets is None else self._snippets.take(positions)

    def iter_columns(self) -> Iterator[pa.Table]:
        """Yield the columns that go with the documents, batch by batch.

        Yields
        ------
        pyarrow.Table, with their ids at least
        """
        if self._columns is None:
            named = {"id": self.metadata.ids, "label": self.metadata.labels, "date": self.metadata.dates}
            yield pa.table({name: values for name, values in named.items() if values is not None})
        else:
            yield from self._columns.tables()

    def close(self) -> None:
        """Remove the temporary files, and the counts on disk."""
        if self._store is not None:
            self._store.remove()
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is not None and self._store is not None:
            self._store.close()
            self._store = None  # an interrupted run continues with the counts that are there
        self.close()

    def own(self, close: Callable[[], object]) -> None:
        """Call `close` when the corpus is closed.

        Parameters
        ----------
        close : callable
            Removes temporary files that belong to the corpus.
        """
        self._resources.callback(close)


def make_junk_check(settings: CountSettings, *, are_lines: bool = False) -> JunkCheck:
    """Return what notices markup and the like in texts, unless a setting removes it."""
    removing = ("email", "html", "drop_boilerplate", "deduplicate", "split")
    return JunkCheck((name for name in removing if getattr(settings, name)), are_lines=are_lines)


def find_boilerplate(
    batches: Iterable[pa.Array], settings: CountSettings, stack: ExitStack
) -> tuple[Iterable[pa.Array], CountSettings]:
    """Find the lines to leave out, if they are asked for and not known yet: texts pass through a temporary file."""
    if not settings.drop_boilerplate or settings.boilerplate:
        return batches, settings
    counter = LineCounter()

    def count() -> Iterator[pa.Array]:
        for texts in batches:
            counter.add(clean_texts(texts, settings))
            yield texts

    with translate_disk_errors():
        spooled = stack.enter_context(closing(SpooledTexts(count())))
    lines = tuple(line for line, _ in counter.list_frequent())
    return spooled, dataclasses.replace(settings, boilerplate=lines)


def keep_columns(
    source: Iterable[Batch], columns: ColumnFile, snippets: SnippetFile, collector: MetadataCollector
) -> Iterator[pa.Array]:
    """Yield the texts of each batch, after what goes with them has been kept."""
    for batch in source:
        with translate_disk_errors():
            columns.add(batch.other_columns)
            snippets.add(batch.texts)
        collector.add(batch.other_columns)
        yield batch.texts


def describe_source(source: TextSource) -> dict[str, Any]:
    """Return where texts come from and how they were read, for the record of a run."""
    return {
        "name": source.name,
        "format": source.format,
        "text_column": source.text_column,
        "bytes": source.bytes_read,
        "sha256": source.sha256(),
        "skipped": source.skip_counts,
    }


def note_text_as_name(source: TextSource) -> list[str]:
    """Return a note if the name of the text column reads like a text: the file may have no row of names."""
    name = source.text_column or ""
    is_named_by_row = source.format in ("csv", "tsv", "excel")
    if not is_named_by_row or len(name.split()) < MIN_WORDS_OF_TEXT or name.rstrip().endswith(("?", ":")):
        return []
    said = f"the first row names the columns, so {shorten(name)!r} is no document"
    return [f"{said}; if it is one, add a row of names above it, such as text"]


def explain_reading(error: InputError, source: TextSource) -> InputError | None:
    """Return an error that there is nothing to count with what was read, as that may be the reason; None for others."""
    problem, remedy = error.problem, error.remedy
    if source.n_documents == 1:
        # All words of a single document are too frequent, but that is not the reason to name.
        problem = f"{source.name} holds 1 document: topics are what documents share, so give at least 2"
        remedy = DIVIDE_ONE
    elif not problem.startswith(NO_WORD_LEFT):
        return None
    return InputError(problem, remedy="; ".join(filter(None, [remedy, *source.describe_reading()])))


def refuse_or_note_ids(source: TextSource) -> str:
    """Return the note that a column of ids is not used; refuse it where rows must be strict."""
    problem = 'the column "id" has repeated or missing values'
    if source.skipped.strict:
        raise InputError(f"{source.name}: {problem}", remedy="name a column of ids with {id_column}, or drop {strict}")
    return f"{problem}, so documents are numbered; to use it, pass {{id_column}} id"


def is_counts_file(path: PathLike | Sequence[PathLike], format: str | None) -> bool:
    """Say whether a file holds counts, by its format or name."""
    paths = expand_paths(path)
    counted = [one for one in paths if one != "-" and guess_counts_format(one) is not None]
    is_counted = format in COUNT_FORMATS if format is not None else bool(counted)
    if is_counted and len(paths) > 1:
        raise UsageError(f"{(counted or paths)[0]} holds counts, which are read from one file only; name it alone")
    return is_counted
