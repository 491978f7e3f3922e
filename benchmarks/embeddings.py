"""What embeddings add to a fit: `python -m benchmarks.embeddings`, or of a corpus: `--corpus "AG News"`.

Prints, for several corpora and numbers of topics, the seconds of a plain fit, of a fit with embeddings, and what it
adds, as a part of the plain fit: the smallest of some repeats, in turn, so that both see the same load. 1 if embeddings
add more CPU seconds than a plain fit takes. Without a corpus, documents are drawn from planted topics, with embeddings
that know their mixtures: of about 15, 30 and 60 words. A corpus is one of `python -m experiments embeddings`, which
says where its files and embeddings are.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless import TopicModel
from anchorless.datasets import sampled_corpus
from experiments.embeddings import DESIGNS, MIN_DOCUMENTS, READERS, encode, read_benchmark

N_DIMENSIONS, N_PLANTED, N_WORDS = 384, 30, 4000
LENGTHS = (15, 30, 60)
#: Standard deviation of what embeddings have besides the mixtures.
NOISE = 0.3


class Sample(NamedTuple):
    """Documents with their embeddings."""

    name: str
    counts: Any  # (N, V)
    embeddings: Any  # (N, d)


class Cost(NamedTuple):
    """Seconds of a computation."""

    wall: float
    cpu: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a line for each fit; 1 if embeddings take more than a plain fit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embeddings", description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--corpus", choices=DESIGNS, nargs="+", help="corpora instead of planted topics")
    options = parser.parse_args(arguments)
    most = 0.0
    for sample in read_samples(options.corpus, options.documents):
        for n_topics in options.topics:
            for n_jobs in options.jobs:
                plain, full = measure_fits(sample, n_topics, n_jobs, options.repeats)
                added = Cost(*((b - a) / a for a, b in zip(plain, full, strict=True)))
                print(
                    f"{sample.name}, {n_topics} topics, {n_jobs} jobs: "
                    f"plain {plain.wall:.2f} s, {plain.cpu:.2f} CPU s; with embeddings {full.wall:.2f} s, "
                    f"{full.cpu:.2f} CPU s: adds {added.wall:.2f}, of CPU seconds {added.cpu:.2f}",
                    flush=True,
                )
                most = max(most, added.cpu)
    print(f"at most {most:.2f} of the CPU seconds of a plain fit")
    return int(most > 1.0)


def read_samples(corpora: Sequence[str] | None, n: int) -> Iterator[Sample]:
    """Yield n documents of each corpus, or of planted topics."""
    if corpora is None:
        yield from (draw_sample(n, length) for length in LENGTHS)
        return
    for corpus in corpora:
        design = DESIGNS[corpus]
        X, _, _, texts = READERS.get(design.name, read_benchmark)(design)
        X, E = sp.csr_matrix(X[:n]), encode(design.name, texts)[:n]
        X = sp.csr_matrix(X[:, np.asarray((X > 0).sum(axis=0)).ravel() >= MIN_DOCUMENTS])
        yield Sample(describe(corpus, X), X, E)


def draw_sample(n: int, length: int) -> Sample:
    """Draw documents of about so many words from planted topics, and embeddings of their mixtures."""
    corpus, rng = sampled_corpus(n, N_PLANTED, N_WORDS, length=length), np.random.default_rng(length)
    E = corpus.weights @ rng.normal(size=(N_PLANTED, N_DIMENSIONS)) + rng.normal(scale=NOISE, size=(n, N_DIMENSIONS))
    return Sample(describe("planted topics", corpus.counts), corpus.counts, E.astype(np.float32))


def describe(name: str, X: Any) -> str:
    """Return the name of documents X, with their number and their mean length."""
    return f"{name}, {X.shape[0]:,} documents of {X.sum() / X.shape[0]:.0f} words"


def measure_fits(sample: Sample, n_topics: int, n_jobs: int, n_repeats: int) -> tuple[Cost, Cost]:
    """Return the cost of a plain fit and of one with embeddings."""
    words = [f"word{i}" for i in range(sample.counts.shape[1])]

    def fit(embeddings: Any) -> Cost:
        model = TopicModel(n_topics, n_jobs=n_jobs)
        return measure(lambda: model.fit_counts(sample.counts, words, embeddings=embeddings))

    costs = [(fit(None), fit(sample.embeddings)) for _ in range(n_repeats)]
    plain, full = (Cost(*(min(values) for values in zip(*kind, strict=True))) for kind in zip(*costs, strict=True))
    return plain, full


def measure(work: Callable[[], Any]) -> Cost:
    """Return the seconds that something takes."""
    start, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()
    return Cost(time.perf_counter() - start, time.process_time() - cpu)


if __name__ == "__main__":
    raise SystemExit(main())
