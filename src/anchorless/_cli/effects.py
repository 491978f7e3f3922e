"`anchorless effects`: how topics depend on what is known of the documents."

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anchorless._cli import options as shared
from anchorless._cli.apply import read_aligned
from anchorless._cli.printing import print_json, sanitize
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.tables import write_frame
from anchorless._corpus.corpus import Corpus, is_counts_file
from anchorless._corpus.covariates import infer_numbers, to_table
from anchorless._corpus.io.tables import read_table
from anchorless._effects.design import build_design, list_formula_columns
from anchorless._effects.effects import Effects
from anchorless._figures import has_matplotlib
from anchorless._folders import atomic_write_folder
from anchorless._locks import FileState
from anchorless._report import html
from anchorless._report.earlier_reports import read_page
from anchorless._topic_model.covariates import collect_covariates
from anchorless._topic_model.effects_section import build_effects_section
from anchorless._topic_model.model import TopicModel
from anchorless.errors import UsageError

#: Effects on the screen: those with the strongest evidence. The table has all.
PRINTED_EFFECTS = 12
FIGURE_FORMATS = ("svg", "png")
#: How often a model is loaded that other runs keep replacing.
MAX_LOADS = 3
EFFECTS_FILES = ("effects.csv", *(f"effects.{format}" for format in FIGURE_FORMATS))


def run(options: argparse.Namespace) -> None:
    "Estimate the effects, write table, figures and report, and print the strongest evidence."
    progress = ConsoleProgress(quiet=options.quiet)
    names = list_columns(options)  # a wrong formula is refused before anything is read
    model, page = load_with_report(options.model)
    model.set_params(n_jobs=options.jobs)
    target = Path(options.output or get_default_folder(options.inputs[0]))
    with atomic_write_folder(target, force=options.force, list_replaced=lambda _: EFFECTS_FILES) as folder:
        with read_aligned(options, model, progress) as corpus:
            attach_metadata(corpus, options, model)
            table = collect_named(corpus, names, options)
            progress.log(f"read {corpus.n_documents:,} documents from {corpus.source['name']}")
            found = estimate(model, corpus, table, options, progress, options.topics)
        write_effects(folder, found, options, progress)
        with progress.stage("write", "writing the report"):
            write_page(folder / "report.html", model, found, page, options.title)
        files = sorted(path.name for path in folder.iterdir())
    if options.json:
        print_json({"folder": str(target), "files": files, **found.as_dict()})
    else:
        print(format_effects(found))
    progress.log(f"\nwrote to {target}: {'  '.join(files)}\nnext: open {target / 'report.html'} in a browser")


def get_default_folder(given: str) -> str:
    "Return the folder for the effects of an input: its name with -effects instead of its extensions."
    path = Path("stdin" if given == "-" else given)
    stem = path.resolve().name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    return f"{stem or 'input'}-effects"


def list_columns(options: argparse.Namespace) -> list[str]:
    "Return the columns that the formula and the groups need."
    needed = [*list_formula_columns(options.formula), *([options.groups] if options.groups else [])]
    return list(dict.fromkeys(needed))


def attach_metadata(corpus: Corpus, options: argparse.Namespace, model: TopicModel | None = None) -> None:
    "Give a corpus the table of `--metadata`, or of a model of as many documents if the input has no columns."
    if options.metadata is not None:
        table = to_table(read_table(options.metadata), corpus.n_documents, options.metadata)
        corpus.covariates = infer_numbers(table)
        return
    kept = getattr(model, "_covariates", None)
    if kept is not None and len(kept) == corpus.n_documents and is_counts_file(options.inputs, options.format):
        corpus.covariates = kept


def collect_named(corpus: Corpus, names: Sequence[str], options: argparse.Namespace) -> Any:
    "Return columns of a corpus, among them those of the formula and of the groups."
    if options.groups is not None:
        collect_covariates(corpus, [options.groups], "--groups")
    table = collect_covariates(corpus, names, f"the formula {options.formula!r}")
    return table if table.num_columns else pa.table({"id": np.arange(corpus.n_documents)})  # the formula is "~ 1"


def iter_document_columns(corpus: Corpus) -> Iterator[pa.Table]:
    "Yield the columns of the documents, with those of `--metadata`."
    start = 0
    for table in corpus.iter_columns():
        if corpus.covariates is not None:
            known = corpus.covariates.slice(start, len(table))
            for name in [name for name in known.column_names if name not in table.column_names]:
                table = table.append_column(name, known[name])
        start += len(table)
        yield table


def collect_table(corpus: Corpus, options: argparse.Namespace) -> Any:
    "Return the columns that `fit` keeps, None for none; refuse a formula that cannot be computed before the fit."
    attach_metadata(corpus, options)
    if options.formula is None:
        return collect_covariates(corpus, options.covariates, "--covariates") if options.covariates else None
    if not options.likelihood:
        raise UsageError("effects need the token model; leave out --no-likelihood, or --formula")
    collect_covariates(corpus, options.covariates, "--covariates")
    names = list(dict.fromkeys([*options.covariates, *list_columns(options)]))
    table = collect_named(corpus, names, options)
    build_design(options.formula, table, options.groups, np.ones(corpus.n_documents, dtype=bool))
    return table


def estimate(
    model: TopicModel, corpus: Corpus, table: Any, options: argparse.Namespace, progress: ConsoleProgress, targets: Any
) -> Effects:
    "Return the effects of a formula on topics (None for all) of a corpus with its covariates."
    with progress.stage("effects", "drawing topics"), progress.track_stage("topics", "drawing topics"):
        return model.effects(
            options.formula,
            table,
            documents=None if hasattr(model, "_counts") else corpus,
            topics=targets,
            groups=options.groups,
            level=options.level,
            n_draws=options.draws,
        )


def write_effects(folder: Path, found: Effects, options: argparse.Namespace, progress: ConsoleProgress) -> None:
    "Write the table and the figures of effects into a folder."
    with progress.stage("write", "writing effects.csv"):
        write_frame(folder / "effects.csv", found.frame(), raw_cells=options.raw_cells)
    if not has_matplotlib():
        progress.log("note: no figures without matplotlib; install it with `pip install 'anchorless[plot]'`")
    elif len(found.design.frame.columns):
        with progress.stage("write", "drawing effects"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for format in FIGURE_FORMATS:
                found.save_plot(folder / f"effects.{format}")
        for note in dict.fromkeys(str(warning.message) for warning in caught):
            progress.log(f"note: {sanitize(note)}")


def load_with_report(given: str) -> tuple[TopicModel, str]:
    "Return a model and the page of the report beside it, both of one run; an empty page if there is none."
    path = shared.resolve_model_path(given)
    for _ in range(MAX_LOADS):
        state, model = FileState.read(path), TopicModel.load(path)
        page = read_page(Path(given) / "report.html")  # empty where the model is a file, or its report is gone
        if state.is_current():
            break
    return model, page


def write_page(path: Path, model: TopicModel, found: Effects, before: str, title: str) -> None:
    "Write the report that `fit` wrote, which has more documents than a model file, with a section on effects."
    page = html.insert_effects(before, build_effects_section(found), model.fingerprint_)
    if page is None:
        model.report(path, title=title)
    else:
        html.write_page(path, page)


def format_effects(found: Effects) -> str:
    "Return the summary for the screen."
    return "\n".join(map(sanitize, found._summarize(PRINTED_EFFECTS, "effects.csv and report.html").split("\n")))
