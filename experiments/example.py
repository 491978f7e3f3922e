"""Leading words of five topics by every method, on the first draw of each corpus: words.csv, and tables of it."""

from __future__ import annotations

import csv
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.corpora_data import CORPORA, draw, find_corpora, load, readable_words
from experiments.corpora_fits import MAIN_METHODS, METHODS, N_WORDS, fit
from experiments.results import ResultsError, csv_text, markdown_table, replace_file

F = 5
COLUMNS = ("corpus", "classes", "method", "topic", "rank", "word")


class Entry(NamedTuple):
    """One word of one topic."""

    corpus: str
    classes: str
    method: str
    topic: str
    rank: str
    word: str


def run(folder: Path, options: Namespace) -> int:
    """Fit the first draw of each corpus, write the leading words and render them."""
    find_corpora(CORPORA, words=True)
    unknown = [method for method in options.methods or () if method not in METHODS]
    if unknown:
        raise ResultsError(f"there is no method {unknown[0]!r}; choose from {', '.join(METHODS)}")
    methods = options.methods or tuple(m for m in MAIN_METHODS if not (options.quick and m == "lda"))
    entries = [entry for name in CORPORA for method in methods for entry in leading_words(name, method)]
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "words.csv", csv_text([COLUMNS, *entries]))
    return render(folder)


def leading_words(name: str, method: str) -> Iterator[Entry]:
    """Yield the leading words of each topic, the topic with the largest weights first."""
    corpus = load(name)
    with threadpool_limits(1):
        drawn = draw(name, CORPORA[name].min_class_size, F, 0)
        fitted = fit(method, F, drawn)
    words = np.array(readable_words(name))[drawn.columns]
    names = dict(zip(np.unique(corpus.labels), corpus.names, strict=True))
    classes = ", ".join(names[label] for label in sorted(drawn.classes))
    for topic, f in enumerate(np.argsort(-fitted.W.sum(axis=0), kind="stable"), start=1):
        for rank, v in enumerate(np.argsort(-fitted.C[f], kind="stable")[:N_WORDS], start=1):
            yield Entry(name, classes, method, str(topic), str(rank), str(words[v]))


def render(folder: Path) -> int:
    """Write and print the tables; return 1 if there is nothing to show."""
    path = folder / "words.csv"
    if not path.exists():
        print("There are no results yet: python -m experiments example")
        return 1
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if tuple(header) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise ResultsError(f"{path} is not a table of leading words; remove it and run again")
    text = "\n\n".join(tables([Entry(*row) for row in rows])) + "\n"
    print(text, end="", flush=True)
    replace_file(folder / "tables.md", text)
    return 0


def tables(entries: list[Entry]) -> Iterator[str]:
    """Yield a table for each corpus and method: a column per topic, as in the paper."""
    yield f"# Leading words of {F} topics"
    for name, classes in dict.fromkeys((entry.corpus, entry.classes) for entry in entries):
        yield f"## {CORPORA[name].title}, first draw: {classes}"
        if name == "tdt2":
            yield "No word list is known for this matrix: the numbers are its columns, from 1."
        for method in dict.fromkeys(entry.method for entry in entries if entry.corpus == name):
            found = {(e.rank, e.topic): e.word for e in entries if (e.corpus, e.method) == (name, method)}
            topics = list(dict.fromkeys(topic for _, topic in found))
            ranks = list(dict.fromkeys(rank for rank, _ in found))
            yield f"### {method}"
            yield markdown_table(
                [f"topic {topic}" for topic in topics], [[found.get((r, t), "") for t in topics] for r in ranks]
            )
