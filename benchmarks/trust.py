"""Cost of the diagnostics on TDT2, compared with plain fits in the same run: `python -m benchmarks.trust`.

Fifty resamples with 25 topics are compared with 25 plain fits, and `search_k` over 20 numbers of topics with 25 plain
fits at the largest. CPU seconds, one thread. TDT2.mat is read from the folder that the environment variable
ANCHORLESS_DATA names; `--sampled` takes documents with planted topics instead.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from anchorless import AnchorFree, Corpus, NormalizedCutWeighting, TfidfWeighting, TopicModel, search_k
from anchorless.datasets import sampled_corpus
from experiments.corpora_data import load

N_TOPICS, N_RESAMPLES, PLAIN_FITS = 25, 50, 25
NUMBERS = range(6, 26)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the costs; 1 if the diagnostics cost more than the plain fits, 2 if there is no corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sampled", action="store_true", help="2,000 sampled documents instead of TDT2")
    parser.add_argument("--fits", type=int, default=3, metavar="N", help="plain fits that are timed (default: 3)")
    parser.add_argument("--resamples", type=int, default=N_RESAMPLES, metavar="N", help="(default: 50)")
    options = parser.parse_args(arguments)
    try:
        counts = sampled_corpus(2000, N_TOPICS, 1000, random_state=0).counts if options.sampled else load("tdt2").counts
    except FileNotFoundError as error:
        print(f"{parser.prog}: {error}; or take --sampled", file=sys.stderr)
        return 2
    print(f"{counts.shape[0]:,} documents, {counts.shape[1]:,} words, {N_TOPICS} topics, CPU seconds of one thread")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure_cell(counts, options.fits, options.resamples)


def measure_cell(counts: Any, n_fits: int, n_resamples: int) -> int:
    """Time plain fits, the resamples and the search in turn, and print their ratios."""
    names = [str(word) for word in range(counts.shape[1])]
    model = TopicModel(N_TOPICS, n_jobs=1).fit(Corpus.from_counts(counts, names))
    weighted = make_pipeline(TfidfWeighting(), NormalizedCutWeighting()).fit_transform(counts)  # as the model does
    plain = float(np.median([cpu(lambda: AnchorFree(N_TOPICS, n_jobs=1).fit(weighted)) for _ in range(n_fits)]))
    resampled = cpu(lambda: model.stability(n_resamples)) * N_RESAMPLES / n_resamples
    searched = cpu(lambda: search_k(counts, NUMBERS, n_jobs=1))
    limit = PLAIN_FITS * plain
    print(
        f"a plain fit of the weighted documents: {plain:.2f} s (median of {n_fits}); {PLAIN_FITS} of them {limit:.1f} s"
    )
    for what, seconds in ((f"{N_RESAMPLES} resamples", resampled), (f"search_k over {len(NUMBERS)} numbers", searched)):
        print(f"{what}: {seconds:.1f} s, {seconds / limit:.2f} of {PLAIN_FITS} plain fits")
    return int(max(resampled, searched) >= limit)


def cpu(work: Callable[[], Any]) -> float:
    """Return the CPU seconds that something takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    raise SystemExit(main())
