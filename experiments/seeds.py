"""Are planted topics found where their seed words say, and do wrong seeds do harm?

Every planted topic has a seed of two of its words: the two most probable, two random ones of the ten most probable, or
those two of the ten that are rarest in other topics. A seed is found if the topic at its place is, by the cosine, most
like the planted topic. *By the words alone* is the same for the planted topics themselves, in which the seeds are most
probable: two words can be leading words of several topics. *Same words* are the seeds with the words of another seed:
nothing can tell which of two topics is meant by which, and one in two is found by chance. Wrong seeds are two random
words of the vocabulary, or two words that lead different planted topics and no common one. Such words can belong to
one topic nevertheless, further behind: a wrong seed is *unfounded* if it is supported though one of its words is hardly
more probable in the planted topic that is most like its topic than in the others.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless import TopicModel
from experiments.planted import Corpus, Design, draw_corpus, draw_population
from experiments.results import Cell, Results, ResultsError, Values, column, markdown_table, replace_file, run_cells

EXPERIMENT = "seeds"
#: Name -> the corpora; their names say the kind, the number of topics and the mean length of a document.
DESIGNS = {
    "sparse-10-60": Design(10, 1500, 3000, 60),
    "sparse-20-100": Design(20, 2000, 4000, 100),
    "sparse-20-20": Design(20, 2000, 4000, 20),
    "sparse-50-60": Design(50, 3000, 6000, 60),
    "dense-12-80": Design(12, 1500, 3000, 80, kind="dense"),
    "dense-20-40": Design(20, 2000, 4000, 40, kind="dense"),
    "dirichlet-20-50": Design(20, 2000, 3000, 50, kind="dirichlet"),
}
QUICK = {"quick": Design(5, 300, 800, 60)}
TRUE, WRONG = ("most probable", "random of ten", "distinctive"), ("random words", "words of two topics")
N_LEADING, N_WRONG, N_CORPORA = 10, 3, 2
#: A word is clearly more probable in a topic if it is so many times as probable as in the mean topic.
MIN_LIFT = 1.5
#: Corpora have these numbers and those after them; other numbers were used while the method was chosen.
FIRST_SEED = 800


def run(folder: Path, options: Namespace) -> int:
    """Run what is not yet in the results, then render them."""
    run_cells(Results(folder, EXPERIMENT), [*plan(options)], measure_cell, expected)
    return render(folder)


def plan(options: Namespace) -> Iterator[Cell]:
    """Yield the fits that were asked for."""
    names = options.cells or (QUICK if options.quick else DESIGNS)
    for name in names:
        if name not in DESIGNS | QUICK:
            raise ResultsError(f"there is no cell {name!r}; choose from {', '.join(DESIGNS)}")
        design = (DESIGNS | QUICK)[name]
        for seed in range(1 if options.quick else options.seeds or N_CORPORA):
            for method in (*TRUE, *WRONG):
                yield Cell(name, method, design.n_topics, design.n_documents, FIRST_SEED + seed)


def expected(cell: Cell) -> Iterable[str]:
    """Return the measures of a fit."""
    return (
        ("found", "named", "by_words", "same", "found_other", "n")
        if cell.method in TRUE
        else ("supported", "unfounded", "change", "n")
    )


def measure_cell(cell: Cell) -> dict[str, float]:
    """Fit a corpus with seeds."""
    corpus = draw(cell.design, cell.seed)
    rng = np.random.default_rng([cell.seed, 1])
    seeds = choose_true(corpus, cell.method, rng) if cell.method in TRUE else choose_wrong(corpus, cell.method, rng)
    named = {f"seed {i}": [corpus.words[w] for w in words] for i, words in enumerate(seeds)}
    model = TopicModel(cell.F, seed_words=named).fit_counts(corpus.counts, corpus.words)
    supported = np.array([seed.supported for seed in model.seeds_])
    closest = compare(model.topic_word_, corpus.topic_word).argmax(axis=1)
    if cell.method in WRONG:
        change = measure_recovery(corpus, model.topic_word_) - measure_recovery(corpus, fit_plain(cell).topic_word_)
        unfounded = supported & [
            not shares_topic(corpus, closest[s.topic], w) for s, w in zip(model.seeds_, seeds, strict=True)
        ]
        return {
            "supported": float(supported.sum()),
            "unfounded": float(unfounded.sum()),
            "change": change,
            "n": float(N_WRONG),
        }
    is_found = np.array([closest[seed.topic] == k for k, seed in enumerate(model.seeds_)])
    logs = np.log(np.maximum(corpus.topic_word, 1e-300))
    by_words = linear_sum_assignment(-np.array([logs[:, words].sum(axis=1) for words in seeds]))[1]
    pairs = [frozenset(words) for words in seeds]
    is_same = np.array([pairs.count(pair) > 1 for pair in pairs])
    return {
        "found": float(is_found.sum()),
        "named": float((is_found & supported).sum()),
        "by_words": float((by_words == np.arange(cell.F)).sum()),
        "same": float(is_same.sum()),
        "found_other": float((is_found & ~is_same).sum()),
        "n": float(cell.F),
    }


@lru_cache(maxsize=1)
def draw(name: str, seed: int) -> Corpus:
    """Draw the corpus of a cell."""
    rng, design = np.random.default_rng(seed), (DESIGNS | QUICK)[name]
    return draw_corpus(draw_population(design, rng), design, rng)


@lru_cache(maxsize=1)
def fit_plain(cell: Cell) -> Any:
    """Fit the corpus of a cell without seeds."""
    corpus = draw(cell.design, cell.seed)
    return TopicModel(cell.F).fit_counts(corpus.counts, corpus.words)


def choose_true(corpus: Corpus, method: str, rng: np.random.Generator) -> list[list[int]]:
    """Return two words of each planted topic."""
    C, found = corpus.topic_word, []
    for topic in C:
        leading = np.argsort(-topic, kind="stable")[:N_LEADING]
        if method == "random of ten":
            leading = rng.permutation(leading)
        elif method == "distinctive":
            leading = leading[np.argsort(-(topic / C.mean(axis=0))[leading], kind="stable")]
        found.append(leading[:2].tolist())
    return found


def choose_wrong(corpus: Corpus, method: str, rng: np.random.Generator) -> list[list[int]]:
    """Return pairs of words that are leading words of no common topic."""
    leading = np.argsort(-corpus.topic_word, axis=1, kind="stable")[:, :N_LEADING]
    found: list[list[int]] = []
    while len(found) < N_WRONG:
        if method == "random words":
            pair = rng.choice(len(corpus.words), 2, replace=False)
        else:
            pair = np.array([rng.choice(leading[k]) for k in rng.choice(len(leading), 2, replace=False)])
        if not any(np.isin(pair, words).all() for words in leading):
            found.append(pair.tolist())
    return found


def shares_topic(corpus: Corpus, topic: int, words: Sequence[int]) -> bool:
    """Return whether all words are clearly more probable in a planted topic than in the mean topic."""
    C = corpus.topic_word[:, [*words]]
    return bool((C[topic] >= MIN_LIFT * C.mean(axis=0)).all())


def compare(first: Any, second: Any) -> Any:
    """Return the cosines of the rows of two matrices."""
    first, second = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (first, second))
    return first @ second.T


def measure_recovery(corpus: Corpus, topic_word: Any) -> float:
    """Return the mean cosine of the planted topics with the topics that match them best."""
    cosine = compare(corpus.topic_word, topic_word)
    return float(cosine[linear_sum_assignment(-cosine)].mean())


def render(folder: Path) -> int:
    """Write and print the tables; there are no limits."""
    values = Results(folder, EXPERIMENT).values
    true = markdown_table(
        [
            "corpora",
            "words",
            "topics",
            "found at their place",
            "named",
            "by the words alone",
            "same words",
            "others found",
        ],
        [*tabulate(values, TRUE, ("found", "named", "by_words", "same"))],
    )
    wrong = markdown_table(
        ["corpora", "words", "seeds", "supported", "unfounded", "least change of recovery"],
        [*tabulate(values, WRONG, ("supported", "unfounded"))],
    )
    text = f"# Seed words\n\n`python -m experiments seeds`\n\nTrue seeds:\n\n{true}\n\nWrong seeds:\n\n{wrong}\n"
    print(text, end="", flush=True)
    if values:
        replace_file(folder / "tables.md", text)
    return 0


def tabulate(values: Values, methods: Iterable[str], measures: Iterable[str]) -> Iterator[list[str]]:
    """Yield one row per design and kind of words, and one for all designs."""
    for method in methods:
        for name in (*dict.fromkeys(cell.design for cell in values), None):
            where = {"method": method} | ({} if name is None else {"design": name})
            if n := sum(column(values, "n", **where)):
                parts = [f"{sum(column(values, measure, **where)) / n:.1%}" for measure in measures]
                if method in WRONG:
                    last = f"{min(column(values, 'change', **where)):+.3f}"
                else:
                    others = n - sum(column(values, "same", **where))
                    last = f"{sum(column(values, 'found_other', **where)) / others:.1%}" if others else "–"
                yield [name or "all", method, f"{n:.0f}", *parts, last]
