"""`anchorless codebook`: topics to be read and named by a person."""

from __future__ import annotations

import argparse

from anchorless._cli import options as shared
from anchorless._cli.printing import print_json
from anchorless._cli.progress import ConsoleProgress
from anchorless._topic_model.model import TopicModel


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `codebook`."""
    shared.add_model(parser)
    help = ".csv, which comes back, or .md for reading (default: codebook.csv)"
    parser.add_argument("-o", "--output", default="codebook.csv", metavar="FILE", help=help)
    shared.add_number(parser, "-w", "--words", default=15, help="words per topic")
    shared.add_number(parser, "-d", "--documents", default=3, help="documents that stand for each topic")
    help = "documents at the border of each topic (default: 1)"
    parser.add_argument("--border", type=shared.make_int_parser(0), default=1, metavar="N", help=help)
    shared.add_flags(parser, force=True)


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


CODEBOOK = shared.Command(
    "codebook",
    "write the topics as a codebook, to be named by a person",
    "Write the words and documents of each topic as a table with the columns name and note. After a person has filled\n"
    "them, `anchorless edit MODEL --codebook FILE` takes them over.",
    "anchorless codebook reviews-topics -o codebook.csv",
    add_options,
    run,
)
