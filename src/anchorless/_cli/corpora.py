"""The input of a command as a corpus: read and counted in one pass."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anchorless._cli.options import build_count_settings, name_option
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.corpus import Corpus, is_counts_file
from anchorless._corpus.settings import CountSettings
from anchorless.errors import UsageError, render_message

#: Options that name columns, and all that say how texts are read.
COLUMN_OPTIONS = ("text_column", "id_column", "label_column", "date_column")
READING_OPTIONS = (*COLUMN_OPTIONS, "format", "table", "encoding", "strict")


@contextmanager
def read_corpus(
    options: argparse.Namespace,
    progress: ConsoleProgress,
    *,
    store: Path | None = None,
    settings: CountSettings | None = None,
    vocabulary: Sequence[str] | None = None,
) -> Iterator[Corpus]:
    """Yield the corpus of the input; what it keeps on disk is removed at the end of the block.

    `store` is the folder for texts that are too large for `options.memory`. If the block fails, the counts in it are
    kept for the next run. `settings` and `vocabulary` are those of a model, if the words are given.
    """
    counted = is_counts_file(options.inputs, options.format)
    if counted and settings is None:
        refuse_text_options(options)
    try:
        with progress.stage("read and count", f"counting {options.input}"), progress.track_reading(options.input):
            corpus = Corpus.read(
                options.inputs,
                **{name: getattr(options, name) for name in READING_OPTIONS},
                counting=settings or (None if counted else build_count_settings(options)),
                vocabulary=options.vocabulary if counted or vocabulary is None else vocabulary,
                memory=options.memory,
                store=store,
                n_jobs=options.jobs,
            )
        with corpus:
            log_notes(corpus, progress)
            yield corpus
    except BaseException:
        if store is not None and store.is_dir():
            progress.log(f"the documents counted so far are kept in {store}; the same command continues from there")
        raise


def refuse_text_options(options: argparse.Namespace) -> None:
    """Refuse options that say how to read and count texts: counts would be used as if they had not been given."""
    for name in COLUMN_OPTIONS:
        if value := getattr(options, name):
            raise UsageError(f"{options.input} holds counts, which have no columns", parameter=name, value=value)
    if build_count_settings(options) != CountSettings():
        raise UsageError(f"{options.input} is counted already; leave out the options that say how to count")


def describe_words(corpus: Corpus) -> str:
    """Say how words were found and changed, where that is not the usual way."""
    counting = corpus.counting or CountSettings()
    divided = "" if counting.segmenter in ("auto", "ngrams", "none") else f"; words by {counting.segmenter}"
    n_phrases = sum(" " in word for word in corpus.vocabulary) if counting.phrases else 0
    phrases = f"; {n_phrases:,} phrases" if counting.phrases else ""
    return f"{divided}{phrases}" + (f"; lemmas by {counting.lemmatizer}" if counting.lemmatizer else "")


def log_notes(corpus: Corpus, progress: ConsoleProgress) -> None:
    """Log what happened while reading, with the names of the options."""
    for note in corpus._notes:
        progress.log(render_message(note, name_option))


def log_corpus(corpus: Corpus, progress: ConsoleProgress) -> None:
    """Log what was read."""
    source: dict[str, Any] = corpus.source
    column = f' (column "{source["text_column"]}")' if source.get("text_column") else ""
    progress.log(f"read {corpus.n_documents:,} documents from {source['name']}{column}")
    how = ""
    if corpus.counting is not None:
        least, most = corpus.counting.compute_df_bounds(corpus.n_documents)
        stop_words = corpus.counting.stop_words or "none"
        how = f" (each in {least:,.0f} to {most:,.0f} documents; stop words: {stop_words}{describe_words(corpus)})"
    elif source.get("vocabulary") is None:
        how = " without a file of words, so they are called word_0, word_1 …"
    words = "word" if corpus.n_words == 1 else "words"
    progress.log(f"vocabulary of {corpus.n_words:,} {words}{how}; {corpus.n_tokens:,} tokens")
