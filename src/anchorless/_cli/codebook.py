"""`anchorless codebook`: topics to be read and named by a person."""

from __future__ import annotations

import argparse

from anchorless._cli import options as shared
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._topic_model.model import TopicModel


def run(options: argparse.Namespace) -> None:
    """Write the codebook of a model."""
    model = TopicModel.load(shared.resolve_model_path(options.model))
    numbers = {"n_words": options.words, "n_quotes": options.documents, "n_border": options.border}
    model.write_codebook(options.output, force=options.force, **numbers)
    if options.json:
        print_json({"codebook": options.output, "topics": model.n_topics_, "fingerprint": model.fingerprint_})
    hint = f"fill name and note, then: anchorless edit {options.model} --codebook {options.output}"
    log = ConsoleProgress(quiet=options.quiet).log
    log(f"wrote {options.output}" + (f"; {hint}" if options.output.endswith(".csv") else ""))
