"""`anchorless edit`: rename, merge, drop, split and annotate the topics of a model file."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anchorless._cli import options as shared
from anchorless._cli.apply import SOURCE_OPTIONS as APPLY_OPTIONS
from anchorless._cli.command_options import add_apply_options
from anchorless._cli.printing import print_json, print_table, print_topics, sanitize
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.refreshing import MODEL, REPORT, Refreshed, find_run, list_old_files, refresh
from anchorless._cli.repeating import format_options, quote_path
from anchorless._cli.rereading import complete_reading, is_list_of_texts, read_run_record
from anchorless._corpus.corpus import Corpus, is_counts_file
from anchorless._corpus.io.readers import open_texts
from anchorless._locks import FileState
from anchorless._topic_model.edits import Edit, to_json
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError, UsageError

#: Options that are edits of a plan, and those that take their edits from elsewhere.
PLAN_OPTIONS = ("rename", "note", "merge", "drop", "order", "split")
SOURCE_OPTIONS = ("edits", "codebook", "carry_names", "label_endpoint")
#: Characters of an edit in the list.
MAX_DESCRIPTION = 70


def run(options: argparse.Namespace) -> None:
    """Apply the edits and write the model; without edits, print those that it has."""
    path = shared.resolve_model_path(options.model)
    state = FileState.read(path)
    model, progress = TopicModel.load(path), ConsoleProgress(quiet=options.quiet)
    asked = [name for name in (*PLAN_OPTIONS, *SOURCE_OPTIONS, "undo") if getattr(options, name)]
    if not asked:
        print_edits(model, options)
        return
    before = model.edits
    carried = apply_all(model, options)
    target = path if options.output is None else Path(options.output)
    refreshed = write_model(model, target, state, options, progress)
    old = [] if options.output is not None else list_old_files(path.parent, refreshed.files)
    made = model.edits[len(before) :]
    if options.json:
        dropped = [name._asdict() for name in carried if not name.is_carried]
        written = {"files": refreshed.files, "old_files": old}
        found = {"model": str(target), "edits": to_json(made), "n_edits": len(model.edits), "not_carried": dropped}
        print_json(found | written)
        return
    print_topics(model.topics(), model.topic_names_)
    log_result(model, len(before), carried, target, options, progress)
    log_files(refreshed, old, path.parent, options, progress)


def write_model(
    model: TopicModel, target: Path, state: FileState, options: argparse.Namespace, progress: ConsoleProgress
) -> Refreshed:
    """Write the model, and the tables and the report of the run that it is of, if it stays in its folder."""
    metadata, in_place = hasattr(model, "_covariates"), options.output is None
    run = find_run(target) if in_place and not options.model_only else None
    if run is not None:
        return refresh(run, model, state, progress, metadata=metadata)
    made_from = state if state.path == Path(os.path.realpath(target)) else None  # edits of another run are not lost
    model._save(target, force=options.force or in_place, metadata=metadata, made_from=made_from)
    return Refreshed([target.name], "", False)


def apply_all(model: TopicModel, options: argparse.Namespace) -> list[Any]:
    """Apply what the options ask for, and return the names of an earlier model."""
    if options.undo:
        model.undo(options.undo)
    plan = build_plan(options)
    with open_documents(options, model) as documents:
        if options.edits:
            model.apply_edits(options.edits, documents=documents, by=options.by)
        if plan:
            model.apply_edits(plan, documents=documents, by=options.by)
    if options.codebook:
        model.apply_codebook(options.codebook, by=options.by)
    carried: list[Any] = []
    if options.carry_names:
        earlier = TopicModel.load(shared.resolve_model_path(options.carry_names))
        carried = model.carry_names(earlier, by=options.by)
    if options.label_endpoint:
        label_topics(model, options)
    return carried


def label_topics(model: TopicModel, options: argparse.Namespace) -> None:
    """Name topics by a language model."""
    how = {"model": options.label_model, "n_quotes": options.label_quotes, "timeout": options.label_timeout}
    try:
        model.label_topics(options.label_endpoint, topics=options.label_topics, by=options.by, **how)
    except InputError as error:
        raise error.rename_parameters({"topics": "label_topics"}) from None


def build_plan(options: argparse.Namespace) -> dict[str, Any]:
    """Return the edits of the options; all numbers are those before the first of them."""
    plan: dict[str, Any] = {name: getattr(options, name) for name in PLAN_OPTIONS if getattr(options, name)}
    for name in ("rename", "note", "split"):
        if name in plan:
            numbers = [number for number, _ in plan[name]]
            twice = next((number for number in numbers if numbers.count(number) > 1), None)
            if twice is not None:
                raise UsageError(f"topic {twice} comes twice in --{name}", remedy="name each topic once")
            plan[name] = dict(plan[name])
    if "drop" in plan:
        plan["drop"] = [number for numbers in plan["drop"] for number in numbers]
    if plan and options.edits:
        raise UsageError("--edits cannot be combined with edits on the command line; give one after the other")
    return plan


@contextmanager
def open_documents(options: argparse.Namespace, model: TopicModel) -> Iterator[Any]:
    """Yield the documents of the fit, or None where they are not needed."""
    if options.documents is None:
        if options.split:
            problem = "--split needs the documents of the fit, which a model file does not have"
            raise UsageError(problem, remedy="give them with --documents FILE")
        yield None
    elif is_counts_file(options.documents, None):
        with Corpus.read(options.documents) as corpus:
            yield corpus
    else:
        split = None if model.fitted_counting_ is None else model.fitted_counting_.split
        with open_texts(options.documents, **complete_reading(options, [options.documents]), split=split) as source:
            yield [text for batch in source for text in batch.texts.to_pylist()]


def log_result(
    model: TopicModel,
    n_before: int,
    carried: list[Any],
    target: Path,
    options: argparse.Namespace,
    progress: ConsoleProgress,
) -> None:
    """Say what was done."""
    for name in carried:
        if not name.is_carried:
            alike = f"the nearest is topic {name.topic}, similarity {name.similarity:.2f}"
            what = sanitize(name.name) or "a note"
            progress.log(f"not carried: {what} (topic {name.earlier} of {options.carry_names}); {alike}")
    if unnamed := list_unnamed(model.edits[n_before:]):
        progress.log(f"no name in the answers about topics {', '.join(map(str, unnamed))}")
    if model.rest_share_ > 0:
        progress.log(f"topics that were dropped have {model.rest_share_:.1%} of all tokens, the rest of each document")
    n = len(model.edits)
    progress.log(f"wrote {target}: {n} {'edit' if n == 1 else 'edits'} (before: {n_before})")


def list_unnamed(edits: list[Edit]) -> list[int]:
    """Return the topics that a language model was asked about and gave no name."""
    found = []
    for values in (edit.values for edit in edits if edit.kind == "label"):
        named = [topic for topic, _ in values["names"]]
        found += [topic for topic in values["topics"] if topic not in named]
    return found


def log_files(
    refreshed: Refreshed, old: list[str], place: Path, options: argparse.Namespace, progress: ConsoleProgress
) -> None:
    """Say which files were written again, which show the topics before, and what writes these."""
    folder = quote_path(place)
    others = [name for name in refreshed.files if name != MODEL]
    if options.output is None and len(refreshed.files) > 1:
        progress.log(f"also written again: {'  '.join(others)}")
    if refreshed.fewer_documents:
        progress.log(f"note: {REPORT} has fewer documents than before: those of the model file")
    if not old:
        return
    why = f" ({refreshed.missed})" if refreshed.missed else ""
    progress.log(f"these files in {place} still show the topics before{why}: {'  '.join(old)}")
    inputs, reading = get_inputs(place)
    tables = next((name for name in old if name.startswith("documents.")), None)
    commands = {}
    if REPORT in old:
        commands["the report"] = ["anchorless", "report", folder]
    if "topics.csv" in old:
        commands["tables"] = ["anchorless", "export", folder, "--to", "xlsx"]
    if tables is not None:
        output = ["-o", quote_path(place / tables), "--force"]
        commands["topics of each document"] = ["anchorless", "apply", folder, inputs, *reading, *output]
    for what, command in commands.items():
        progress.log(f"  {what:<30} {' '.join(command)}")


def get_inputs(folder: Path) -> tuple[str, list[str]]:
    """Return the files that a run read, as in a shell, and the options by which `apply` reads them."""
    arguments = read_run_record(folder).get("arguments", {})
    inputs = arguments.get("inputs")
    if not is_list_of_texts(inputs) or "-" in inputs:
        return "DOCUMENTS.csv", []
    given = format_options(add_apply_options, argparse.Namespace(**arguments), APPLY_OPTIONS)
    return " ".join(quote_path(name) for name in inputs), [shlex.quote(part) for part in given]


def print_edits(model: TopicModel, options: argparse.Namespace) -> None:
    """Print the edits of a model and its fingerprint."""
    if options.json:
        print_json({"fingerprint": model.fingerprint_, "edits": to_json(model.edits)})
        return
    print(f"model {model.fingerprint_}, {model.n_topics_} topics, {len(model.edits)} edits")
    rows = [[str(i), edit.at, sanitize(edit.by), describe_edit(edit)] for i, edit in enumerate(model.edits, 1)]
    if rows:
        print_table(["#", "at", "by", "edit"], rows)


def describe_edit(edit: Edit) -> str:
    """Return an edit on one line."""
    values = edit.values
    parts = {
        "rename": lambda: ", ".join(f"{f} = {name or 'its words'}" for f, name in values["names"]),
        "label": lambda: ", ".join(f"{f} = {name}" for f, name in values["names"]) + f" (by {values['model']})",
        "note": lambda: ", ".join(f"{f}: {note}" for f, note in values["notes"]),
        "merge": lambda: "; ".join(" + ".join(map(str, group)) for group in values["groups"]),
        "drop": lambda: ", ".join(map(str, values["topics"])),
        "split": lambda: f"{values['topic']} into {values['n']}",
        "reorder": lambda: ", ".join(map(str, values["order"])),
    }
    text = sanitize(f"{edit.kind} {' '.join(parts[edit.kind]().split())}")
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"
