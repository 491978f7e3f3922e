"""What `identifiability` says where the truth is known: planted topics, wrong numbers of them, and shuffled tokens.

Documents of 60 words from planted topics that share most of their words: Zipf's law, logistic-normal proportions with
correlated topics, no anchor words. A shuffled corpus has the same words and document lengths, but no topics. The real
corpora that the folder in the environment variable ANCHORLESS_DATA has are shuffled, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import softmax

from anchorless import TopicModel, datasets, metrics
from experiments.corpora_data import load

N_DOCUMENTS, N_WORDS, LENGTH = 4000, 1500, 60
#: Shape of the gamma weights of a word over the topics: the smaller, the fewer topics share a word.
SHAPE = 0.15
#: Least weight of a word in a topic: there are no anchor words, and no exact zeros.
LEAST_WEIGHT = 1e-4
#: Spread of the topics of a document on the scale of logarithms.
SPREAD = 1.5
TOPICS, SEEDS = (4, 6, 8, 10), 10
QUICK_TOPICS, QUICK_SEEDS = (4,), 2
#: Numbers of topics of real corpora, and their names for `load`.
CORPUS_TOPICS, CORPORA = (2, 5, 10, 20), ("reuters",)
#: Largest share of a topic's probability on other words than the planted topic's: of a good fit, and of a fair one.
GOOD_DISTANCE, FAIR_DISTANCE = 0.3, 0.4
VERDICTS = ("unique", "nearly unique", "none found", "another solution", "not supported")
GOOD_NEWS = VERDICTS[:2]
#: Share of the good fits that should get good news.
LEAST_GOOD = 0.5


def run(folder: Path, options: Any) -> int:
    """Ask for the verdict on every case that is not in the results."""
    folder.mkdir(parents=True, exist_ok=True)
    topics, seeds = (QUICK_TOPICS, QUICK_SEEDS) if options.quick else (options.topics or TOPICS, options.draws or SEEDS)
    path = folder / "results.csv"
    rows = pd.read_csv(path, keep_default_na=False).to_dict("records") if path.is_file() else []
    known = {(row["corpus"], row["planted"], row["seed"]) for row in rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits with too many topics warn, as they should
        for corpus, K, seed, cases in list_cases(topics, seeds, quick=options.quick):
            if (corpus, K, seed) not in known:
                rows += cases()
                pd.DataFrame(rows).to_csv(path, index=False, float_format="%.4g")
    return render(folder)


def list_cases(topics: Any, seeds: int, *, quick: bool) -> Iterator[tuple[str, int, int, Any]]:
    """Yield corpus, number of topics and seed, and a function that returns the rows of the results."""
    for K in topics:
        for seed in range(seeds):
            yield "planted", K, seed, lambda K=K, seed=seed: [*judge_planted(K, seed)]
    for corpus in () if quick else CORPORA:
        try:
            counts = load(corpus).counts
        except FileNotFoundError:
            continue
        for K in CORPUS_TOPICS:
            yield corpus, K, 0, lambda corpus=corpus, counts=counts, K=K: [*judge_corpus(corpus, counts, K)]


def judge_planted(K: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the verdicts for the planted number of topics, half of it, twice as many, and shuffled tokens."""
    rng = np.random.default_rng([seed, K])
    counts, truth = draw_planted(K, rng)
    for n_topics in (K, max(2, K // 2), 2 * K):
        model = fit(counts, n_topics)
        case = "half as many topics" if n_topics < K else "twice as many topics"
        if n_topics == K:
            case = f"planted number, {grade_fit(measure_distance(model, counts, truth))}"
        yield {"corpus": "planted", "planted": K, "seed": seed, "case": case, "topics": n_topics} | judge(model)
    shuffled = fit(shuffle_tokens(counts, rng), K)
    yield {"corpus": "planted", "planted": K, "seed": seed, "case": "shuffled tokens", "topics": K} | judge(shuffled)


def judge_corpus(corpus: str, counts: Any, K: int) -> Iterator[dict[str, Any]]:
    """Yield the verdicts for a real corpus as it is, and shuffled."""
    shuffled = shuffle_tokens(counts, np.random.default_rng(K))
    for case, documents in (("as it is", counts), ("shuffled tokens", shuffled)):
        found = judge(fit(documents, K))
        yield {"corpus": corpus, "planted": K, "seed": 0, "case": case, "topics": K} | found


def draw_planted(K: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return counts (N, V) and planted topics (K, V)."""
    zipf = rng.permutation(1.0 / (np.arange(N_WORDS) + 2.7))
    C = zipf * (rng.gamma(SHAPE, size=(K, N_WORDS)) + LEAST_WEIGHT)
    C /= C.sum(axis=1, keepdims=True)
    mixing = np.eye(K) + rng.standard_normal((K, K)) / np.sqrt(K)
    W = softmax(SPREAD * rng.standard_normal((N_DOCUMENTS, K)) @ mixing, axis=1)
    return datasets.draw_counts(C, W, np.maximum(rng.poisson(LENGTH, N_DOCUMENTS), 2), rng), C


def shuffle_tokens(counts: Any, rng: np.random.Generator) -> Any:
    """Return counts of the same tokens in random order: the same document lengths and word frequencies."""
    words, lengths = (np.asarray(counts.sum(axis=axis)).ravel().astype(int) for axis in (0, 1))
    tokens = rng.permutation(np.repeat(np.arange(len(words)), words))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return sp.csr_matrix((np.ones(len(tokens)), (rows, tokens)), shape=counts.shape)


def fit(counts: Any, n_topics: int) -> TopicModel:
    """Fit topics to the words in at least five documents."""
    used = np.asarray((counts > 0).sum(axis=0)).ravel() >= 5
    names = [str(word) for word in np.flatnonzero(used)]
    return TopicModel(n_topics, n_jobs=1).fit_counts(sp.csr_matrix(counts)[:, used], names)


def measure_distance(model: TopicModel, counts: Any, truth: Any) -> float:
    """Return the largest share of a topic's tokens that is on other words than in the planted topic."""
    words = [int(word) for word in model.vocabulary_]
    frequency = np.asarray((counts > 0).sum(axis=0)).ravel()[words]
    fitted = model.components_ / np.log(counts.shape[0] / frequency)  # topics are weighted by the words' idf
    fitted /= fitted.sum(axis=1, keepdims=True)
    planted = truth[:, words] / truth[:, words].sum(axis=1, keepdims=True)
    ours, theirs = metrics.match_topics(fitted, planted)
    return float(0.5 * abs(fitted[ours] - planted[theirs]).sum(axis=1).max())


def grade_fit(distance: float) -> str:
    """Name the quality of a fit by the distance of its worst topic."""
    if distance > FAIR_DISTANCE:
        return "a wrong topic"
    return "good fit" if distance <= GOOD_DISTANCE else "fair fit"


def judge(model: TopicModel) -> dict[str, Any]:
    """Return the verdict and the figures behind it."""
    found = model.identifiability()
    return {
        "verdict": found.uniqueness.verdict,
        "as_fitted": found.scattering.verdict,
        "leeway": max(found.leeway or [np.nan]),
        "strength": found.shuffled.strength[-1] if found.shuffled else np.nan,
    }


def render(folder: Path) -> int:
    """Write and print the table; 1 if shuffled tokens get good news, or too few good fits do."""
    results = pd.read_csv(folder / "results.csv")
    lines = [
        "# Verdicts where the truth is known",
        "",
        f"`python -m experiments verdicts`: planted corpora of {N_DOCUMENTS:,} documents of {LENGTH} words. Fits with "
        f"the planted number of topics are good if the worst topic has at most {GOOD_DISTANCE:.0%} of its probability "
        f"on other words than the planted one, fair up to {FAIR_DISTANCE:.0%}. The last three columns: how often the "
        "condition is proved as fitted; medians of the largest share of a topic that could change, and of the weakest "
        "pattern as a multiple of what chance could give.",
        "",
        f"| corpus | case | fits | {' | '.join(VERDICTS)} | proved as fitted | change | strength |",
        "|---" * (len(VERDICTS) + 6) + "|",
    ]
    for (corpus, case), group in results.groupby(["corpus", "case"], sort=True):
        counts = [int((group["verdict"] == verdict).sum()) for verdict in VERDICTS]
        proved = int((group["as_fitted"] == "proved").sum())
        means = [f"{group['leeway'].median():.1%}", f"{group['strength'].median():.2f}"]
        lines.append("| " + " | ".join(map(str, [corpus, case, len(group), *counts, proved, *means])) + " |")
    text = "\n".join(lines) + "\n"
    (folder / "tables.md").write_text(text, encoding="utf-8")
    print(text)
    good = results["verdict"].isin(GOOD_NEWS)
    fits = results["case"] == "planted number, good fit"
    return int(good[results["case"] == "shuffled tokens"].any() or good[fits].mean() < LEAST_GOOD)
