"""Do 90 % intervals hold the truth nine times in ten? Sampled corpora of 20,000 documents with planted topics.

The truth of shares and correlations is that of 300,000 documents of the same generator; of word probabilities the
planted topics themselves. Leading words are those that the fit found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anchorless import AnchorFree, datasets, metrics

N_DOCUMENTS, N_WORDS, LENGTH, N_RESAMPLES, LEVEL = 20_000, 1000, 80, 50, 0.9
TOPICS = (5, 8, 10)
SEEDS = 10
QUICK_TOPICS, QUICK_SEEDS = (5,), 2
#: Coverage that counts as right.
LEAST, MOST = 0.80, 0.97
FIGURES = ("shares", "correlations", "leading words")


def run(folder: Path, options: Any) -> int:
    """Measure the coverage of every corpus that is not measured yet."""
    folder.mkdir(parents=True, exist_ok=True)
    topics, seeds = (QUICK_TOPICS, QUICK_SEEDS) if options.quick else (options.topics or TOPICS, options.draws or SEEDS)
    path = folder / "results.csv"
    done = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["topics", "seed"])
    known = set(zip(done["topics"], done["seed"], strict=True))
    rows = done.to_dict("records")
    for F in topics:
        for seed in range(100, 100 + seeds):
            if (F, seed) not in known:
                rows += covered(F, seed)
                pd.DataFrame(rows).to_csv(path, index=False, float_format="%.6g")
    return render(folder)


def covered(F: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield, for each kind of figure, how many intervals there are and how many hold the truth."""
    corpus = datasets.sampled_corpus(N_DOCUMENTS, F, N_WORDS, length=LENGTH, random_state=seed)
    weights = datasets.sampled_corpus(300_000, F, N_WORDS, length=2, random_state=seed).weights
    model = AnchorFree(F, cooccurrence="unbiased").fit(corpus.counts)
    found = model.stability(corpus.counts, N_RESAMPLES, level=LEVEL)
    _, place = metrics.match_topics(model.components_, corpus.components)
    pairs = np.triu_indices(F, 1)
    words = np.take_along_axis(corpus.components[place], found.words, axis=1)
    triples = (
        (found.shares, model.topic_shares_, weights.mean(axis=0)[place]),
        (found.correlation, model.topic_correlation_, np.corrcoef(weights.T)[np.ix_(place, place)]),
        (found.probabilities, np.take_along_axis(model.components_, found.words, axis=1), words),
    )
    for name, (interval, fitted, truth) in zip(FIGURES, triples, strict=True):
        at = pairs if name == "correlations" else ...
        low, high, estimate, true, raw = (
            x[at] for x in (interval.low, interval.high, interval.estimate, truth, fitted)
        )
        yield {
            "topics": F,
            "seed": seed,
            "figure": name,
            "intervals": int(low.size),
            "covered": int(((low <= true) & (true <= high)).sum()),
            "error": float(np.sqrt(((estimate - true) ** 2).mean())),
            "error_of_fit": float(np.sqrt(((raw - true) ** 2).mean())),
            "half_width": float(((high - low) / 2).mean()),
        }


def render(folder: Path) -> int:
    """Write and print the table; 1 if a coverage is out of bounds."""
    results = pd.read_csv(folder / "results.csv")
    lines = [
        f"# Coverage of {LEVEL:.0%} intervals",
        "",
        f"`python -m experiments coverage-unbiased`: {N_DOCUMENTS:,} documents of {LENGTH} tokens, {N_WORDS:,} words, "
        f"unbiased co-occurrence, {N_RESAMPLES} resamples. Errors are root mean squares; that of the fit is "
        "uncorrected.",
        "",
        "| topics | corpora | figure | intervals | coverage | error | error of the fit | half width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    within: dict[bool, list[bool]] = {
        False: [],
        True: [],
    }  # whether coverage is in bounds: of each number of topics, and of all together
    for (F, name), group in results.groupby(["topics", "figure"], sort=True):
        coverage = group["covered"].sum() / group["intervals"].sum()
        means = [f"{group[column].mean():.4f}" for column in ("error", "error_of_fit", "half_width")]
        within[False].append(bool(LEAST <= coverage <= MOST))
        cells = [F, group["seed"].nunique(), name, group["intervals"].sum(), f"{coverage:.1%}", *means]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for name, group in results.groupby("figure"):
        total = group["covered"].sum() / group["intervals"].sum()
        within[True].append(bool(LEAST <= total <= MOST))
        lines.append(f"| all | {len(group)} | {name} | {group['intervals'].sum()} | {total:.1%} | | | |")
    lines += [
        "",
        f"Within {LEAST:.0%} to {MOST:.0%}: {sum(within[False])} of {len(within[False])} rows of one number of topics, "
        f"{sum(within[True])} of {len(within[True])} of all together.",
    ]
    text = "\n".join(lines) + "\n"
    (folder / "tables.md").write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(within[False] + within[True]) else 1
