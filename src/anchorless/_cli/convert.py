"""`anchorless convert`: texts to counts, and counts from one format to another."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from anchorless._cli.corpora import log_corpus, read_corpus
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.io.count_readers import guess_counts_format
from anchorless._corpus.io.count_writers import write_counts
from anchorless._corpus.io.formats import WRITABLE_FORMATS
from anchorless._corpus.io.vocabularies import list_companions
from anchorless._file_groups import validate_group
from anchorless.errors import UsageError


def run(options: argparse.Namespace) -> None:
    """Read counts, or texts to count, and write counts with their vocabulary."""
    progress = ConsoleProgress(quiet=options.quiet)
    target, format = Path(options.output), options.to or guess_counts_format(options.output)
    if format not in WRITABLE_FORMATS:
        raise UsageError(f"{options.output}: counts are written as {', '.join(WRITABLE_FORMATS)}; name one with --to")
    validate_group([target, *list_companions(target, format)], force=options.force)  # before hours of counting
    with read_corpus(options, progress) as corpus:
        log_corpus(corpus, progress)
        counts, labels = corpus.to_matrix(), get_writable_labels(corpus.metadata.labels)
        with progress.stage("write", f"writing {options.output}"):
            files = write_counts(target, counts, corpus.vocabulary, labels, format=options.to, force=options.force)
    if labels is None and corpus.metadata.labels is not None:
        progress.log("labels are not written: some are missing or have more than one line")
    progress.log(f"wrote {'  '.join(map(str, files))}")
    if options.json:
        print_json({"files": [str(file) for file in files], "documents": counts.shape[0], "words": counts.shape[1]})


def get_writable_labels(labels: Any) -> list[str] | None:
    """Return the labels if all can be written on one line each, otherwise None."""
    if labels is None or labels.null_count:
        return None
    found: list[str] = labels.to_pylist()
    return found if all(len(label.splitlines()) == 1 and label.strip() for label in found) else None
