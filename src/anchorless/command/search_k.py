"""`anchorless search-k`: models with several numbers of topics side by side."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless.command.corpora import read_corpus
from anchorless.command.evaluate import measures, token_topics
from anchorless.command.options import (
    Command,
    add_counting,
    add_fitting,
    add_flags,
    add_input,
    in_options,
    numbers_of_topics,
)
from anchorless.command.printing import print_json, print_table
from anchorless.command.progress import Progress
from anchorless.errors import AnchorlessError, InputError
from anchorless.topic_model import TopicModel

#: Every so-manieth document is held out.
HELD_OUT = 10
#: Fewest documents that can be split.
FEWEST = 20
COLUMNS = ("topics", "npmi", "exclusivity", "diversity", "completion", "smallest", "seconds")


class Split(NamedTuple):
    """Documents to fit on, and documents to measure on."""

    train: Any
    test: Any


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `search-k`."""
    add_input(parser)
    parser.add_argument(
        "-k",
        "--topics",
        type=numbers_of_topics,
        default=(5, 10, 20, 40),
        metavar="LIST",
        help="numbers of topics: 5,10,20 or 5-50:5 (default: 5,10,20,40)",
    )
    add_counting(parser)
    add_fitting(parser)
    add_flags(parser, force=False)


def run(options: argparse.Namespace) -> None:
    """Fit each number of topics on nine tenths of the documents and measure it on the others."""
    progress = Progress(quiet=options.quiet)
    with read_corpus(options, progress) as corpus:
        split = split_documents(sp.vstack(corpus.blocks, format="csr").astype(np.float64))
        rows, failed = list[dict[str, Any]](), list[dict[str, Any]]()
        for K in progress.bar(iterable=options.topics, desc="numbers of topics", unit="fit"):
            try:
                rows.append(measured(K, split, corpus.vocabulary, options))
            except AnchorlessError as error:
                failed.append({"topics": K, "error": in_options(str(error))})
    if not rows:
        raise InputError(f"none of the numbers of topics could be fitted; {failure(failed[-1])}")
    for row in failed:
        progress.say(failure(row), even_quiet=True)  # it was asked for, and it is missing in the table
    if options.json:
        print_json(sorted([*rows, *failed], key=lambda row: row["topics"]))
        return
    print_table(COLUMNS, [[shown(name, row[name]) for name in COLUMNS] for row in rows])
    explain(rows, progress)


def failure(row: dict[str, Any]) -> str:
    """Say why a number of topics is missing."""
    return f"{row['topics']} topics could not be fitted: {row['error']}"


def split_documents(counts: Any) -> Split:
    """Hold out every tenth document."""
    n = counts.shape[0]
    if n < FEWEST:
        raise InputError(f"{n} documents are too few to hold some out; at least {FEWEST} are needed")
    held_out = np.arange(n) % HELD_OUT == HELD_OUT - 1
    return Split(counts[~held_out], counts[held_out])


def measured(K: int, split: Split, vocabulary: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Return the measures of a fit with K topics."""
    start = time.perf_counter()
    model = TopicModel(
        K,
        weighting=options.weighting,
        constraint=options.constraint,
        n_threads=options.threads,
        random_state=options.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit_counts(split.train, vocabulary)
    found = measures(model.components_, token_topics(model), split.test, options.seed)
    return {
        "topics": K,
        **found,
        "smallest": float(model.topic_shares_.min()),
        "seconds": time.perf_counter() - start,
    }


def shown(name: str, value: float) -> str:
    """Return a measure as the table shows it."""
    digits = {"topics": "d", "smallest": ".2%", "seconds": ".1f"}
    return f"{value:{digits.get(name, '.3f')}}"


def explain(rows: list[dict[str, Any]], progress: Progress) -> None:
    """Say how to read the table; no number is called right."""
    best = max(rows, key=lambda row: row["completion"])
    unigram = rows[0]["completion_unigram"]
    progress.say(
        f"\nnpmi: do leading words occur together. completion: log-likelihood per token of held-out documents,\n"
        f"{unigram:.3f} without topics; best with {best['topics']} topics. More topics are finer, not truer: take the\n"
        "smallest number after which completion hardly grows and npmi has not begun to fall, and look at the topics."
    )


SEARCH_K = Command(
    "search-k",
    "compare several numbers of topics",
    "Fit models with several numbers of topics on nine tenths of the documents and measure each on the last tenth.",
    "anchorless search-k reviews.csv -k 5,10,20,40",
    add_options,
    run,
)
