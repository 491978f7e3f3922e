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
from anchorless._files import validate_target
from anchorless.errors import UsageError


def run(options: argparse.Namespace) -> None:
    """Read counts, or texts to count, and write counts with their vocabulary."""
    progress = ConsoleProgress(quiet=options.quiet)
    if (options.to or guess_counts_format(options.output)) not in WRITABLE_FORMATS:
        raise UsageError(f"{options.output}: counts are written as {', '.join(WRITABLE_FORMATS)}; name one with --to")
    validate_target(Path(options.output), options.force)  # before counting, which may take hours
    with read_corpus(options, progress) as corpus:
        log_corpus(corpus, progress)
        counts, labels = corpus.to_matrix(), get_writable_labels(corpus.metadata.labels)
        with progress.stage("write", f"writing {options.output}"):
            target = {"format": options.to, "force": options.force}
            files = write_counts(options.output, counts, corpus.vocabulary, labels, **target)
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
