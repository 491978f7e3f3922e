"""Results of a run, written again after its topics were edited: model, tables and report change together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anchorless._cli.apply import read_aligned
from anchorless._cli.commands import COMMANDS
from anchorless._cli.demo import count_docstrings
from anchorless._cli.effects import EFFECTS_FILES, attach_metadata, iter_document_columns
from anchorless._cli.fit import write_tables
from anchorless._cli.options import TABLE_FORMATS
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.rereading import read_options, read_run_record
from anchorless._cli.tables import drop_column, write_documents, write_frame, zip_mixtures
from anchorless._corpus.corpus import Corpus
from anchorless._folders import atomic_write_folder
from anchorless._locks import FileState
from anchorless._report.earlier_reports import read_other_report, read_report
from anchorless._report.html import render_report, write_page
from anchorless._topic_model.frames import document_table
from anchorless._topic_model.mixtures import merge_parts
from anchorless._topic_model.model import TopicModel
from anchorless._topic_model.verdicts import UNIQUENESS_HEADING
from anchorless.errors import AnchorlessError

MODEL, REPORT, WHOLE = "model.anchorless", "report.html", "whole_documents.csv"
#: Tables with a row for each document, which need the documents of the fit.
DOCUMENT_TABLES = (*(f"documents.{format}" for format in TABLE_FORMATS), WHOLE)


class EarlierRun(NamedTuple):
    """The folder of a run, with what is known of it."""

    folder: Path
    record: dict[str, Any]  # of run.json
    files: tuple[str, ...]  # those that the run wrote and that are there

    @property
    def options(self) -> argparse.Namespace:
        """The options of the run, as the commands that read documents take them."""
        command = "demo" if self.record.get("command") == "demo" else "fit"
        known = read_options(COMMANDS[command].add_options, self.record["arguments"])
        return argparse.Namespace(**known | {"model": str(self.folder)})

    @property
    def source(self) -> dict[str, Any]:
        """What the run says of its input."""
        found = self.record.get("input")
        return found if isinstance(found, dict) else {}


class Refreshed(NamedTuple):
    """What was written again."""

    files: list[str]
    missed: str  # why tables of documents were not, or an empty text
    fewer_documents: bool  # whether the report now has only the documents of the model file


def find_run(model: Path) -> EarlierRun | None:
    """Return the run that wrote a model file; None if the file is not among its results."""
    folder, record = model.parent, read_run_record(model.parent)
    files = record.get("files", [])
    if model.name != MODEL or MODEL not in files:
        return None
    if os.path.realpath(folder) == os.path.realpath(os.getcwd()):
        return None  # the folder is replaced, and the shell of the user would stay in the old one
    there = tuple(name for name in files if (folder / name).is_file())
    return EarlierRun(folder, record, there)


def refresh(
    run: EarlierRun, model: TopicModel, state: FileState, progress: ConsoleProgress, *, metadata: bool
) -> Refreshed:
    """Replace model, tables and report of a run by those of an edited model: all of them, or none.

    `state` is that of the model file when it was loaded. What another run has written meanwhile is not replaced.
    """
    states = state, FileState.read(run.folder / REPORT)

    def refuse_changes(folder: Path) -> tuple[str, ...]:
        for known in states:
            known.refuse_change()
        return ()

    with atomic_write_folder(run.folder, force=True, list_replaced=refuse_changes) as new:
        model.save(new / MODEL, metadata=metadata)
        options = run.options
        write_tables(new, model, options, with_languages="languages.csv" in run.files)
        missed = write_document_tables(new, run, model, progress)
        fewer = write_new_report(new / REPORT, run, model) if REPORT in run.files else False
        files = sorted(path.name for path in new.iterdir())
    return Refreshed(files, missed, fewer)


def write_document_tables(new: Path, run: EarlierRun, model: TopicModel, progress: ConsoleProgress) -> str:
    """Write the tables of documents of a run again, from the documents of its fit; otherwise return why not."""
    wanted = [name for name in DOCUMENT_TABLES if name in run.files]
    if not wanted:
        return ""
    if run.options.embeddings is not None:
        return "the model was fitted with embeddings"
    try:
        with open_documents_of(run, model, progress) as corpus:
            if problem := find_difference(corpus, run, model):
                return problem
            write_rows(new, wanted, corpus, model, run.options)
    except (AnchorlessError, OSError) as error:
        for name in wanted:
            (new / name).unlink(missing_ok=True)
        return str(error)
    return ""


def open_documents_of(run: EarlierRun, model: TopicModel, progress: ConsoleProgress) -> AbstractContextManager[Corpus]:
    """Return the documents of the fit of a run, counted with the words of its model."""
    if run.record.get("command") == "demo":
        return open_docstrings(run.options, model)
    return read_aligned(run.options, model, progress)


@contextmanager
def open_docstrings(options: argparse.Namespace, model: TopicModel) -> Iterator[Corpus]:
    """Yield the documents of the demo."""
    with count_docstrings(options) as corpus:
        yield corpus.align(model.vocabulary_)


def find_difference(corpus: Corpus, run: EarlierRun, model: TopicModel) -> str:
    """Say why documents are not those of the fit; an empty text if they are."""
    name = corpus.source.get("name", "the input")
    if corpus.n_documents != model.diagnostics_.n_documents:
        fitted = f"the model was fitted on {model.diagnostics_.n_documents:,}"
        return f"{name} has {corpus.n_documents:,} documents, and {fitted}"
    if corpus.source.get("sha256") != run.source.get("sha256"):
        return f"{name} has changed since the fit"
    return ""


def write_rows(new: Path, wanted: list[str], corpus: Corpus, model: TopicModel, options: argparse.Namespace) -> None:
    """Write the tables of documents as `fit` writes them."""
    attach_metadata(corpus, options)
    mixtures = model._infer(corpus.documents)
    how = {"with_rest": model.rest_share_ > 0, "raw_cells": options.raw_cells}
    for name in wanted:
        if name == WHOLE:
            blocks = corpus.documents.map_blocks(lambda block: np.asarray(block.sum(axis=1)).ravel(), 1)
            lengths = np.concatenate([*blocks])
            columns, whole = merge_parts(corpus.whole_ids, mixtures, lengths)
            table = document_table(columns, whole, model.topic_labels_, with_rest=how["with_rest"])
            write_frame(new / name, table.to_pandas(), raw_cells=options.raw_cells)
        else:
            rows = zip_mixtures((drop_column(t, options.embeddings) for t in iter_document_columns(corpus)), mixtures)
            write_documents(new / name, rows, model.topic_labels_, Path(name).suffix[1:], **how)


def write_new_report(path: Path, run: EarlierRun, model: TopicModel) -> bool:
    """Write the report with the parts that the one before it had; tell whether it has fewer documents."""
    found = read_report(run.folder / REPORT) or read_other_report(run.folder / REPORT)
    earlier = found if found is not None and found["fingerprint"] == model.fingerprint_ else None
    headings = [item[0] for item in (found or {}).get("diagnostics", [])]
    trust = model.identifiability() if UNIQUENESS_HEADING in headings else None
    source = Path(str(run.source.get("name", ""))).name
    title = (found or {}).get("title") or run.options.title or (f"Topics of {source}" if source else "Topics")
    data = model._build_report_data(title, trust)
    write_page(path, render_report(data, None, earlier))
    return earlier is None


def list_old_files(folder: Path, kept: list[str]) -> list[str]:
    """Return results of a run in a folder that are not among those written again."""
    files = read_run_record(folder).get("files", [])
    about_topics = [name for name in files if name.endswith((".csv", ".parquet"))]
    names = [*about_topics, REPORT, *EFFECTS_FILES]
    others = dict.fromkeys(name for name in names if name not in (*kept, "removed_documents.csv"))
    return sorted(name for name in others if (folder / name).is_file())
