"""Counting against scikit-learn's CountVectorizer: `python -m benchmarks.counting`.

The texts are 20 Newsgroups, raw posts, from 20newsgroups.jsonl.gz in the folder that the environment variable
ANCHORLESS_DATA names, or else the docstrings of the installed packages. Both sides leave out the same stop words and
keep the words in 5 documents at least and in half of them at most. Times are the best of the repeats, which take turns,
so that a busy machine affects both sides alike; CPU time adds up the threads. Memory is the peak of a separate process
that streams the texts, once and ten times over; the ten times are the same texts again, so their vocabulary does not
grow.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

#: The words of `CountSettings`, as far as Python's regular expressions allow: they do not know combining marks.
SAME_WORDS = r"(?u)\b_*(?=[\d_]*[^\W\d_])([^\W_]\w*[^\W_])_*\b"
#: The words of CountVectorizer, which are faster to find.
OWN_WORDS = r"(?u)\b\w\w+\b"
MIN_DF, MAX_DF = 5, 0.5
MANY_TIMES = 10
SIDES = ("scikit-learn", "anchorless")


def main() -> None:
    """Measure memory first, while this process is small: a child starts with the peak of its parent."""
    parser = argparse.ArgumentParser(description="Counting against scikit-learn's CountVectorizer.")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each, of which the best counts (default: 5)")
    parser.add_argument("--pairs", action="store_true", help="time words and pairs of words too")
    parser.add_argument("--no-memory", action="store_true", help="leave out the peak memory")
    parser.add_argument("--peak", nargs=2, metavar=("SIDE", "TIMES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print(peak_memory(options.peak[0], int(options.peak[1])))
        return
    if not options.no_memory:
        report_memory()
    name, texts = list_of_texts()
    print(f"{name}: {len(texts):,} texts, {sum(map(len, texts)) / 1e6:.1f} million characters")
    report_times(texts, options.repeats, options.pairs)


def report_memory() -> None:
    """Print the peak memory of both sides, for the texts once and many times over."""
    print(f"peak memory (MB)          after import   1 × texts{MANY_TIMES:4} × texts")
    for side in SIDES:
        peaks = [measure_peak(side, times) for times in (0, 1, MANY_TIMES)]
        print(f"  {side:<24}" + "".join(f"{peak:12.0f}" for peak in peaks), flush=True)


def report_times(texts: list[str], repeats: int, pairs: bool) -> None:
    """Print the best time of each way to count, and check that the counts are the same."""
    ways = ways_to_count(texts) | (ways_to_count_pairs(texts) if pairs else {})
    best = best_times(ways, repeats)
    print(f"best of {repeats} (s)                                 wall     CPU")
    for way, (wall, cpu) in best.items():
        print(f"  {way:<42}{wall:8.2f}{cpu:8.2f}")
    same, ours = ways["scikit-learn, the same words"](), ways["anchorless, 1 thread"]()
    equal = same[0] == ours.vocabulary and same[1].sum() == ours.n_tokens
    print(f"  vocabulary of {len(ours.vocabulary):,} words, {ours.n_tokens:,} tokens; equal on both sides: {equal}")


def ways_to_count(texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Return each way to count the words of the texts; all begin with a list of strings."""
    return {
        "scikit-learn, its own words": lambda: with_scikit_learn(texts, OWN_WORDS),
        "scikit-learn, the same words": lambda: with_scikit_learn(texts, SAME_WORDS),
        "anchorless, 1 thread": lambda: with_anchorless(texts, 1),
        "anchorless, 2 threads": lambda: with_anchorless(texts, 2),
        "anchorless, 1 thread, email=True": lambda: with_anchorless(texts, 1, email=True),
        "anchorless, 2 threads, email=True": lambda: with_anchorless(texts, 2, email=True),
    }


def ways_to_count_pairs(texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Return each way to count words and pairs of words."""
    return {
        "scikit-learn, its own words, pairs": lambda: with_scikit_learn(texts, OWN_WORDS, (1, 2)),
        "anchorless, 1 thread, pairs": lambda: with_anchorless(texts, 1, ngram_range=(1, 2)),
        "anchorless, 2 threads, pairs": lambda: with_anchorless(texts, 2, ngram_range=(1, 2)),
    }


def with_anchorless(texts: Iterable[str], n_threads: int, **settings: Any) -> Any:
    """Return the corpus that anchorless counts."""
    from anchorless import Corpus, CountSettings

    return Corpus.from_texts(texts, counting=CountSettings(min_df=MIN_DF, max_df=MAX_DF, **settings), n_jobs=n_threads)


def with_scikit_learn(texts: Any, pattern: str, ngram_range: tuple[int, int] = (1, 1)) -> tuple[list[str], Any]:
    """Return vocabulary and counts by CountVectorizer."""
    from sklearn.feature_extraction.text import CountVectorizer

    from anchorless._corpus.text.stop_words import load_stop_words

    stop_words = list(load_stop_words("english"))
    vectorizer = CountVectorizer(
        token_pattern=pattern, stop_words=stop_words, min_df=MIN_DF, max_df=MAX_DF, ngram_range=ngram_range
    )
    counts = vectorizer.fit_transform(texts)
    return vectorizer.get_feature_names_out().tolist(), counts


def best_times(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, tuple[float, float]]:
    """Return the shortest wall and CPU time of each way, all taken in turns."""
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, function in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            taken[way].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {way: (min(wall for wall, _ in runs), min(cpu for _, cpu in runs)) for way, runs in taken.items()}


def measure_peak(side: str, times: int) -> float:
    """Return the peak memory in MB of a process that counts the texts repeatedly."""
    command = [sys.executable, "-m", "benchmarks.counting", "--peak", side, str(times)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak_memory(side: str, times: int) -> float:
    """Count the texts repeatedly in this process, and return its peak memory in MB."""
    import resource

    from sklearn.feature_extraction.text import CountVectorizer  # noqa: F401  both sides import the same

    from anchorless import Corpus  # noqa: F401

    texts = itertools.chain.from_iterable(stream_of_texts() for _ in range(times))
    if times and side == "scikit-learn":
        with_scikit_learn(texts, OWN_WORDS)
    elif times:
        with_anchorless(texts, n_threads=2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def newsgroups_file() -> Path | None:
    """Return the file of 20 Newsgroups, if there is one."""
    path = Path(os.environ.get("ANCHORLESS_DATA", "")) / "20newsgroups.jsonl.gz"
    return path if path.is_file() else None


def stream_of_texts() -> Iterator[str]:
    """Yield the texts one by one."""
    path = newsgroups_file()
    if path is None:
        from anchorless.datasets import load_docstrings

        yield from load_docstrings().texts
        return
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def list_of_texts() -> tuple[str, list[str]]:
    """Return the name of the corpus and its texts."""
    return "docstrings" if newsgroups_file() is None else "20 Newsgroups", list(stream_of_texts())


if __name__ == "__main__":
    main()
