"""`anchorless fit`: from a file of texts or counts to a folder with model, tables and report."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from anchorless._cli import options as shared
from anchorless._cli.apply import SOURCE_OPTIONS
from anchorless._cli.command_options import add_apply_options, add_search_k_options
from anchorless._cli.corpora import READING_OPTIONS, log_corpus, log_notes, read_corpus
from anchorless._cli.edited_models import EditedModel
from anchorless._cli.effects import (
    EFFECTS_FILES,
    collect_table,
    estimate,
    format_effects,
    iter_document_columns,
    write_effects,
)
from anchorless._cli.printing import (
    print_json,
    print_levels,
    print_model,
    print_stability,
    stability_to_dict,
    to_json,
    topic_to_dict,
)
from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.repeating import format_options, quote_path
from anchorless._cli.replaced_inputs import refuse_replaced_inputs
from anchorless._cli.rereading import RUN_RECORD, read_run_record
from anchorless._cli.tables import drop_column, write_documents, write_frame, zip_mixtures
from anchorless._corpus.corpus import Corpus, is_counts_file
from anchorless._corpus.io.joined import expand_paths
from anchorless._corpus.settings import COUNTING_PARAMETERS
from anchorless._effects.effects import Effects
from anchorless._folders import atomic_write_folder, validate_target_folder
from anchorless._topic_model.fitted import get_versions
from anchorless._topic_model.frames import languages_frame
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.model import TopicModel
from anchorless.errors import UsageError

#: What the parser leaves among the options.
PARSER_ATTRIBUTES = ("run", "command", "print_completion")
#: The number of topics if none is given.
DEFAULT_TOPICS = 20
#: Files that not every run writes.
OPTIONAL_FILES = (
    *(f"documents.{format}" for format in shared.TABLE_FORMATS),
    *(f"{name}.csv" for name in ("levels", "languages", "stability")),
    "removed_documents.csv",
    "whole_documents.csv",
    *EFFECTS_FILES,
)
#: All files that a run may write.
RESULT_FILES = (
    "model.anchorless",
    *(f"{name}.csv" for name in ("topics", "correlation", "correlation_pairs")),
    "report.html",
    RUN_RECORD,
    *OPTIONAL_FILES,
)
#: Words of a topic in topics.csv.
TABLE_WORDS = 20


class Results(NamedTuple):
    """What a run found."""

    model: TopicModel
    effects: Effects | None


def run(options: argparse.Namespace) -> None:
    """Fit, write everything, print the topics and name the next commands."""
    options.topics, options.levels = resolve_levels(options.topics, options.levels)
    options.seed_words = shared.read_seed_words(options.seed_words)
    progress = ConsoleProgress(quiet=options.quiet)
    target = Path(options.output or get_default_folder(options.inputs[0]))
    validate_target_folder(Path(os.path.realpath(target)), options.force)
    refuse_replaced_inputs(options, (target / name for name in RESULT_FILES))
    store = target.with_name(f"{target.name}.counts")
    read = count_on_cluster(options, progress) if options.dask else read_corpus(options, progress, store=store)
    other = shlex.join(["anchorless", "search-k", *options.inputs, *format_options(add_search_k_options, options)])
    other += " < TEXTS" if "-" in options.inputs else ""  # stdin was read to its end
    edited = EditedModel(target, list_replaced_files)
    with atomic_write_folder(target, force=options.force, list_replaced=edited.list_replaced) as folder:
        edited.start(folder, progress)
        found = fit_and_write(folder, "fit", read, options, progress)
        files = sorted(path.name for path in folder.iterdir())
    report_results(found, target, files, options, progress, f"  other numbers of topics        {other}{edited.hint}")


def resolve_levels(topics: int | str | None, levels: Sequence[int]) -> tuple[int | str, tuple[int, ...]]:
    """Return the number of topics and those of broader groups, given both options."""
    if not levels:
        return topics or DEFAULT_TOPICS, ()
    largest = levels[-1]
    topics = topics or largest
    if isinstance(topics, str) or topics < largest:
        problem = f"--levels has a level of {largest} topics, and --topics is {topics}"
        raise UsageError(f"{problem}; leave --topics out, or give at least {largest}")
    return topics, tuple(level for level in levels if level < topics)


@contextmanager
def count_on_cluster(options: argparse.Namespace, progress: ConsoleProgress) -> Iterator[Corpus]:
    """Yield the corpus with its counts on the workers: texts are counted there, counts are sent there."""
    try:
        from anchorless import distributed
    except ImportError as error:
        raise UsageError(f"--dask: {error}") from None
    with distributed.connect(options.dask) as client:
        if options.inputs == ["-"] or is_counts_file(options.inputs, options.format):
            with read_corpus(options, progress) as corpus:
                corpus.documents = distributed.scatter(client, corpus.documents)
                yield corpus
            return
        if options.table is not None:
            raise UsageError("a sheet or list is not chosen on a cluster; leave out --table, or --dask")
        reading = {name: getattr(options, name) for name in READING_OPTIONS if name != "table"}
        with progress.stage("read and count", f"counting {options.input} on the cluster"):
            corpus = distributed.count(
                client, expand_paths(options.inputs), shared.build_count_settings(options), **reading
            )
        with corpus:
            log_notes(corpus, progress)
            yield corpus


def fit_and_write(
    folder: Path,
    command: str,
    read: AbstractContextManager[Corpus],
    options: argparse.Namespace,
    progress: ConsoleProgress,
) -> Results:
    """Read a corpus, fit it, write everything into a folder that is empty, and return model and effects."""
    with read as corpus:
        log_corpus(corpus, progress)
        table = collect_table(corpus, options)
        embeddings = shared.read_given_embeddings(options.embeddings, corpus.iter_columns, options.input)
        model = fit_model(options, corpus, progress, table, embeddings)
        if options.stability and not corpus.documents.in_memory:
            progress.log("note: documents on disk or on a cluster cannot be resampled; --stability is ignored")
        elif options.stability:
            with (
                progress.stage("stability", f"fitting {options.stability} bootstrap resamples"),
                progress.track_steps("bootstrap resamples", options.stability) as callback,
            ):
                model.stability(options.stability, progress=callback)
        found = None if options.formula is None else estimate(model, corpus, table, options, progress, None)
        write_results(folder, model, corpus, options, progress, found)
        write_run_record(folder, command, options, corpus.source, progress)
    return Results(model, found)


def list_replaced_files(folder: Path) -> list[str]:
    """Return files that the last run wrote into a folder, and that the new one may not write."""
    files = read_run_record(folder).get("files", [])
    return [name for name in OPTIONAL_FILES if name in files]


def get_default_folder(given: str) -> str:
    """Return the folder for the results of an input: its name with -topics instead of its extensions."""
    path = Path("stdin" if given == "-" else given)
    stem = path.resolve().name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    stem = re.sub(r"[*?\[\]]", "", stem) or path.parent.name.strip("*")  # of a pattern
    return f"{stem or 'input'}-topics"


def fit_model(
    options: argparse.Namespace, corpus: Corpus, progress: ConsoleProgress, table: Any = None, embeddings: Any = None
) -> TopicModel:
    """Return the model of a corpus, with a table of covariates; its warnings are logged, not raised."""
    counting = {} if corpus.counting is None else vars(corpus.counting)
    model = TopicModel(
        options.topics,
        **{name: counting[name] for name in COUNTING_PARAMETERS if name in counting},
        weighting=options.weighting,
        constraint=options.constraint,
        likelihood=options.likelihood,
        levels=options.levels,
        seed_words=options.seed_words,
        separate_words=options.separate_words,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    auto = options.topics == "auto"
    with (
        progress.stage("topics", "finding topics" if auto else f"finding {options.topics} topics"),
        # How long the fits that choose a number take is not known.
        nullcontext() if auto else progress.track_fitting(options.topics),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # they are in the diagnostics
        model.fit(corpus, metadata=table, embeddings=embeddings)
    if model.diagnostics_.how_many:
        progress.log(f"number of topics: {model.diagnostics_.how_many}")
    if model._record.neighbors is not None:
        progress.log(model._record.neighbors.describe())
    for warning in model._record.diagnostics.render(shared.name_option).warnings:
        progress.log(f"note: {warning}")
    for line in (*(seed.describe() for seed in model.seeds_), *(pair.describe() for pair in model.separated_words_)):
        progress.log(line)
    return model


def write_results(
    folder: Path,
    model: TopicModel,
    corpus: Corpus,
    options: argparse.Namespace,
    progress: ConsoleProgress,
    found: Effects | None,
) -> None:
    """Write model, tables, effects and report into a folder that is empty."""
    with progress.stage("write", "writing the model and its topics"):
        model.save(folder / "model.anchorless", metadata=bool(options.covariates))
        has_languages = corpus.languages is not None and corpus.metadata.labels is None
        write_tables(folder, model, options, with_languages=has_languages)
    name = f"documents.{options.documents_format}"
    with progress.stage("write", f"writing {name}"):
        columns = (drop_column(table, options.embeddings) for table in iter_document_columns(corpus))
        rows = zip_mixtures(columns, Mixtures(model.document_topics_, model.document_explained_))
        parts = progress.track_documents(rows, corpus.n_documents, name)
        raw = options.raw_cells
        write_documents(folder / name, parts, model.topic_labels_, options.documents_format, raw_cells=raw)
        if corpus.removed is not None and len(corpus.removed):
            write_frame(folder / "removed_documents.csv", corpus.removed.to_pandas(), raw_cells=raw)
        if corpus.whole_ids is not None:
            write_frame(folder / "whole_documents.csv", model.whole_documents_frame(), raw_cells=raw)
    if found is not None:
        write_effects(folder, found, options, progress)
    with progress.stage("write", "placing the documents on a map"):
        model._get_document_map()
    with progress.stage("write", "writing the report"):
        title = options.title or f"Topics of {Path(corpus.source['name']).name}"
        model.report(folder / "report.html", title=title)


def write_tables(folder: Path, model: TopicModel, options: argparse.Namespace, *, with_languages: bool) -> None:
    """Write the topics, their correlations, levels, languages and stability as CSV."""
    raw = options.raw_cells
    write_frame(folder / "topics.csv", model.topics_frame(TABLE_WORDS), raw_cells=raw)
    write_frame(folder / "correlation.csv", model.correlation_frame(), index=True, raw_cells=raw)
    write_frame(folder / "correlation_pairs.csv", model.correlation_edges(), raw_cells=raw)
    if options.levels:
        write_frame(folder / "levels.csv", model.hierarchy().frame(), raw_cells=raw)
    if with_languages:
        frame = languages_frame(model._record.kept.by_label, model.topic_labels_)
        write_frame(folder / "languages.csv", frame, raw_cells=raw)
    if hasattr(model, "stability_"):
        write_frame(folder / "stability.csv", model.stability_frame(), raw_cells=raw)


def write_run_record(
    folder: Path, command: str, options: argparse.Namespace, facts: dict[str, Any], progress: ConsoleProgress
) -> None:
    """Write what is needed to repeat the run, arguments, hash of the input, versions, timings; and its files."""
    arguments = {name: value for name, value in sorted(vars(options).items()) if name not in PARSER_ATTRIBUTES}
    seconds = {**progress.seconds, "all": time.perf_counter() - progress.start}
    record = {
        "command": command,
        "arguments": arguments,
        "input": facts,
        "versions": get_versions() | {"highspy": version("highspy")},
        "machine": {"system": platform.system(), "processor": platform.machine()},
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "files": sorted([*(path.name for path in folder.iterdir()), RUN_RECORD]),
    }
    # A file name may have bytes that do not decode: they are written as \udcXX, which JSON allows.
    (folder / RUN_RECORD).write_bytes((to_json(record) + "\n").encode(errors="backslashreplace"))


def report_results(
    found: Results,
    target: Path,
    files: list[str],
    options: argparse.Namespace,
    progress: ConsoleProgress,
    last_hint: str,
) -> None:
    """Print the topics and effects; log how long each stage took, the files that were written and the next commands."""
    if options.json:
        topics = [topic_to_dict(topic) for topic in found.model.topics()]
        effects = {} if found.effects is None else {"effects": found.effects.as_dict()}
        stability = {"stability": stability_to_dict(found.model)} if hasattr(found.model, "stability_") else {}
        print_json({"folder": str(target), "files": files, "topics": topics} | stability | effects)
    else:
        print_model(found.model)
        if options.levels:
            print_levels(found.model.hierarchy())
        if hasattr(found.model, "stability_"):
            print_stability(found.model)
        if found.effects is not None:
            print(f"\n{format_effects(found.effects)}")
    sys.stdout.flush()  # before what follows on stderr
    took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in progress.seconds.items())
    folder = quote_path(target)
    given = *format_options(add_apply_options, options, SOURCE_OPTIONS), *shared.name_new_embeddings(options.embeddings)
    new = shlex.join([shared.name_new_input(getattr(options, "inputs", [])), *given])
    progress.log(f"\n{took}\nwrote to {target}: {'  '.join(files)}\n")
    progress.log(
        f"next: open {target / 'report.html'} in a browser\n"
        f"  one topic with its documents   anchorless show {folder} 0\n"
        f"  topics of new documents        anchorless apply {folder} {new}\n"
        f"{last_hint}"
    )
