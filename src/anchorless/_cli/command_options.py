"""The options of each command. Nothing here needs a library, so that help is printed at once."""

from __future__ import annotations

import argparse
from typing import Any

from anchorless._choices import DEFAULT_ENCODER
from anchorless._cli import options as shared
from anchorless._corpus.io.formats import TEXT_FORMATS, WRITABLE_FORMATS

#: The file if none is named.
DEFAULT_FILES = {
    "xlsx": "topics.xlsx",
    "latex": "topics.tex",
    "markdown": "topics.md",
    "gexf": "topics.gexf",
    "graphml": "topics.graphml",
    "mallet": "mallet",
    "pyldavis": "pyldavis.html",
}
DEFAULT_FOLDER = "anchorless-demo"


def add_fit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `fit`."""
    shared.add_input(parser)
    help = "number of topics, or auto (default: 20)"
    parser.add_argument("-k", "--topics", type=shared.parse_number_or_auto, metavar="N", help=help)
    help = "numbers of topics of several levels, such as 8,40: 8 groups of 40 topics (or of those of --topics, if more)"
    parser.add_argument("--levels", type=shared.parse_topic_numbers, default=(), metavar="N,…", help=help)
    help = 'TOML file with words of topics that you expect, such as economy = ["bank", "inflation"]'
    parser.add_argument("--seed-words", metavar="FILE", help=help)
    help = "pairs of words that should belong to different topics, such as apple:fruit,bank:river"
    parser.add_argument("--separate-words", type=shared.parse_pairs, default=(), metavar="A:B,…", help=help)
    help = "fit N bootstrap resamples, such as 50, for intervals and stability"
    parser.add_argument("--stability", type=shared.make_int_parser(10, shared.MAX_DRAWS), metavar="N", help=help)
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to write (default: INPUT-topics)")
    parser.add_argument("--title", help="title of the report (default: the name of the input)")
    help = "count and fit on a Dask cluster: tcp://HOST:PORT or a scheduler file"
    parser.add_argument("--dask", metavar="SCHEDULER", help=help)
    help = "columns to keep with the model, for `anchorless effects`: party,year"
    parser.add_argument("--covariates", type=shared.parse_names, default=(), metavar="NAMES", help=help)
    shared.add_metadata(parser)
    shared.add_embeddings(parser)
    help = "estimate the effects of columns on topics, as `anchorless effects` does: '~ party + s(year)'"
    parser.add_argument("--formula", metavar="TERMS", help=help)
    shared.add_effects(parser)
    parser.add_argument("--documents-format", choices=shared.TABLE_FORMATS, default="csv", help="(default: csv)")
    shared.add_raw_cells(parser)
    shared.add_counting(parser)
    shared.add_fitting(parser)
    shared.add_likelihood(parser)
    shared.add_flags(parser, force=True)


def add_apply_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `apply`."""
    shared.add_model(parser)
    shared.add_input(parser)
    help = "a row per document instead of a row per part, for a model that was fitted with --split"
    parser.add_argument("--whole", action="store_true", help=help)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help=".csv or .parquet (default: CSV on stdout)")
    shared.add_raw_cells(parser)
    shared.add_embeddings(parser)
    shared.add_jobs(parser)
    shared.add_flags(parser, force=True)


def add_show_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `show`."""
    shared.add_model(parser)
    parser.add_argument("topic", nargs="?", type=int, metavar="TOPIC", help="number of one topic (default: all)")
    shared.add_number(parser, "-w", "--words", default=10, help="words per topic")
    shared.add_number(parser, "-d", "--documents", default=5, help="documents")
    help = "documents at the border of the topic (default: 0; with --full as many as documents)"
    parser.add_argument("--border", type=shared.make_int_parser(0), metavar="N", help=help)
    help = "the texts of the fit: print whole documents; repeat it for several files"
    parser.add_argument("--full", action="append", metavar="FILE", help=help)
    shared.add_rereading(parser, "--full")
    parser.add_argument("--trust", action="store_true", help="check whether other topics fit as well (takes seconds)")
    shared.add_flags(parser, force=False)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    shared.add_model(parser)
    help = "(default: report.html, next to the model, where the one that `fit` wrote is replaced)"
    parser.add_argument("-o", "--output", metavar="FILE", help=help)
    parser.add_argument("--title", help="title of the page (default: that of the report next to the model)")
    help = "the texts of the fit: show whole documents on a click; repeat it for several files"
    parser.add_argument("--full", action="append", metavar="FILE", help=help)
    shared.add_rereading(parser, "--full")
    parser.add_argument("--trust", action="store_true", help="check whether other topics fit as well")
    shared.add_flags(parser, force=True)


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `export`."""
    shared.add_model(parser)
    parser.add_argument("--to", choices=tuple(DEFAULT_FILES), help="format (default: by the name of the output)")
    help = "where to write; a folder for mallet (default: topics with the ending of the format)"
    parser.add_argument("-o", "--output", metavar="FILE", help=help)
    parser.add_argument("-w", "--words", type=shared.make_int_parser(), metavar="N", help="words per topic")
    help = "texts or counts whose mixtures are written, too: a model file has none"
    parser.add_argument("--documents", dest="input", nargs="+", action=shared.InputAction, metavar="FILE", help=help)
    shared.add_rereading(parser, "--documents")
    parser.set_defaults(label_column=None, date_column=None, strict=False, memory=None, vocabulary=None)
    shared.add_jobs(parser)
    shared.add_flags(parser, force=True)


def add_effects_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `effects`."""
    shared.add_model(parser)
    shared.add_input(parser)
    help = "terms such as '~ party + s(year)': columns, C() for categories, s() for curves, a:b for interactions"
    parser.add_argument("--formula", required=True, metavar="TERMS", help=help)
    shared.add_metadata(parser)
    help = "topics, and topics taken together: 0,3,1+4 (default: all)"
    parser.add_argument("--topics", type=shared.parse_targets, metavar="LIST", help=help)
    shared.add_effects(parser)
    parser.add_argument("-o", "--output", metavar="FOLDER", help="where to write (default: INPUT-effects)")
    parser.add_argument("--title", default="Topics", help="title of the report, if MODEL has none")
    shared.add_raw_cells(parser)
    shared.add_jobs(parser)
    shared.add_flags(parser, force=True)


def add_embed_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `embed`."""
    help = "texts, as in fit: tables, documents, folders, archives, several files or a pattern, or - for stdin"
    parser.add_argument("input", nargs="+", action=shared.InputAction, metavar="INPUT", help=help)
    help = f"folder of a model of sentence-transformers, or a package that contains one (default: {DEFAULT_ENCODER})"
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, metavar="NAME", help=help)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write, .npy (default: INPUT.npy)")
    parser.add_argument("--text-column", metavar="NAME", help="column with the texts (guessed if one is obvious)")
    parser.add_argument("--id-column", metavar="NAME", help="column with the ids (guessed; else row numbers)")
    parser.add_argument("--format", choices=TEXT_FORMATS, help="format of the input (default: by its name)")
    parser.add_argument("--encoding", default="utf-8", metavar="NAME", help="encoding of the texts (default: utf-8)")
    parser.add_argument("--strict", action="store_true", help="stop at the first row that would be skipped")
    shared.add_flags(parser, force=True)


def add_edit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `edit`."""
    shared.add_model(parser)
    many: dict[str, Any] = {"action": "append"}
    add = parser.add_argument
    help = "give a topic a name, or take it away (3=); may be repeated"
    add("--rename", type=shared.parse_assignment, metavar="TOPIC=NAME", help=help, **many)
    help = "set the note of a topic; may be repeated"
    add("--note", type=shared.parse_assignment, metavar="TOPIC=TEXT", help=help, **many)
    add("--merge", type=shared.parse_numbers, metavar="A,B", help="merge topics; may be repeated", **many)
    help = "leave topics out of all results; may be repeated"
    add("--drop", type=shared.parse_numbers, metavar="A,B", help=help, **many)
    help = "split a topic into N parts (2); needs --documents"
    add("--split", type=shared.parse_topic_split, metavar="TOPIC[=N]", help=help, **many)
    add("--order", type=shared.parse_numbers, metavar="A,B,C", help="put the topics into this order")
    add("--undo", type=shared.make_int_parser(), nargs="?", const=1, metavar="N", help="take back the last N edits (1)")
    group = parser.add_argument_group("edits from elsewhere")
    group.add_argument("--edits", metavar="FILE", help="a TOML file with rename, note, merge, drop, order, split")
    group.add_argument("--codebook", metavar="FILE", help="a codebook (CSV) with names and notes filled in")
    group.add_argument("--carry-names", metavar="MODEL", help="names of an earlier model whose topics match")
    add_label_options(group)
    group = parser.add_argument_group("documents and output")
    group.add_argument("--documents", metavar="FILE", help="the documents of the fit, for --split")
    shared.add_rereading(group, "--documents")
    group.add_argument("--by", metavar="NAME", help="who makes the edits (default: the user who is logged in)")
    group.add_argument("-o", "--output", metavar="FILE", help="write the model here (default: replace MODEL)")
    help = "leave the tables and the report next to MODEL as they are; by default they are written again"
    group.add_argument("--model-only", action="store_true", help=help)
    shared.add_flags(parser, force=True)


def add_label_options(group: Any) -> None:
    """Add the options of names from a language model."""
    help = "name topics without a name by a language model with the interface of OpenAI: http://127.0.0.1:8080"
    group.add_argument("--label-endpoint", metavar="URL", help=help)
    group.add_argument("--label-model", default="default", metavar="NAME", help="its name on the server")
    help = "topics to name, with or without a name"
    group.add_argument("--label-topics", type=shared.parse_numbers, metavar="A,B", help=help)
    help = "documents of each topic that are sent (default: 3; 0: words only)"
    group.add_argument("--label-quotes", type=shared.make_int_parser(0), default=3, metavar="N", help=help)
    help = "seconds to wait for an answer (default: 60)"
    group.add_argument(
        "--label-timeout", type=shared.make_int_parser(1, shared.MAX_SECONDS), default=60, metavar="N", help=help
    )


def add_codebook_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `codebook`."""
    shared.add_model(parser)
    help = ".csv, which comes back, or .md for reading (default: codebook.csv)"
    parser.add_argument("-o", "--output", default="codebook.csv", metavar="FILE", help=help)
    shared.add_number(parser, "-w", "--words", default=15, help="words per topic")
    shared.add_number(parser, "-d", "--documents", default=3, help="documents that stand for each topic")
    help = "documents at the border of each topic (default: 1)"
    parser.add_argument("--border", type=shared.make_int_parser(0), default=1, metavar="N", help=help)
    shared.add_flags(parser, force=True)


def add_intrusion_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `intrusion`."""
    shared.add_model(parser)
    parser.add_argument("-o", "--output", default="intrusion.csv", metavar="FILE", help="(default: intrusion.csv)")
    parser.add_argument("--score", metavar="FILE", help="score a form with answers instead of writing one")
    shared.add_seed(parser, "seed of the tasks (default: 0)")
    shared.add_flags(parser, force=True)


def add_search_k_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `search-k`."""
    shared.add_input(parser)
    help = "numbers of topics: 5,10,20 or 5-50:5 (default: 5,10,20,40)"
    parse, numbers = shared.parse_topic_numbers, (5, 10, 20, 40)
    parser.add_argument("-k", "--topics", type=parse, default=numbers, metavar="LIST", help=help)
    parser.add_argument("--plot", metavar="FILE", help="draw the measures (.svg, .png or .pdf)")
    shared.add_counting(parser)
    shared.add_fitting(parser)
    shared.add_flags(parser, force=True)


def add_evaluate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `evaluate`."""
    shared.add_model(parser)
    shared.add_input(parser)
    shared.add_seed(parser, "seed of the split of documents (default: 0)")
    shared.add_jobs(parser)
    shared.add_flags(parser, force=False)


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    shared.add_model(parser, "first")
    shared.add_model(parser, "second")
    shared.add_number(parser, "-w", "--words", default=10, help="words to compare")
    shared.add_flags(parser, force=False)


def add_convert_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `convert`."""
    shared.add_input(parser)
    parser.add_argument("output", metavar="OUTPUT", help=".npz .mtx docword.NAME.txt .svm .ldac; may end in .gz")
    parser.add_argument("--to", choices=WRITABLE_FORMATS, help="format of the output (default: by its name)")
    shared.add_counting(parser)
    shared.add_jobs(parser)
    shared.add_flags(parser, force=True)


def add_demo_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `demo`."""
    shared.add_number(parser, "-k", "--topics", default=12, help="number of topics")
    parser.add_argument("-o", "--output", default=DEFAULT_FOLDER, metavar="FOLDER", help=f"(default: {DEFAULT_FOLDER})")
    shared.add_fitting(parser)
    shared.add_flags(parser, force=True)
    title = "What the docstrings of NumPy, SciPy and scikit-learn are about"
    fixed = {"title": title, "documents_format": "csv", "input": "INPUT", "stability": None, "likelihood": True}
    fixed |= {"raw_cells": False, "embeddings": None}
    parser.set_defaults(
        **fixed, levels=(), seed_words=None, separate_words=(), covariates=(), metadata=None, formula=None
    )
