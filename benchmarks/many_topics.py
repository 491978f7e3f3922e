"""Quality of hundreds of topics: `python -m benchmarks.many_topics --corpora reuters --topics 100,200`.

A line per fit: the default, the converged volume (`tol=1e-6`) or scikit-learn NMF on the same weighted matrix, with the
NPMI of ten words, Coh, NMI of the largest weight with the classes, diversity, and processor seconds. One thread.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from anchorless import AnchorFree, metrics
from benchmarks import corpora, stored
from experiments.corpora_fits import probabilities

#: Iterations of NMF: at hundreds of topics one takes seconds.
NMF_ITERATIONS = 50
METHODS: dict[str, Callable[[int], Any]] = {
    "default": lambda K: AnchorFree(K, n_jobs=1),
    "converged": lambda K: AnchorFree(K, tol=1e-6, n_jobs=1),
    "nmf": lambda K: NMF(K, init="nndsvd", max_iter=NMF_ITERATIONS),
}


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default="tdt2,reuters,newsgroups")
    parser.add_argument("--topics", default="100,200,500")
    parser.add_argument("--methods", default="default")
    options = parser.parse_args()
    print("| corpus | topics | method | NPMI | Coh | NMI | diversity | CPU s | ended by |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name in options.corpora.split(","):
            corpora.store(name, Path(folder))
            drawn = stored.load_draw(name, Path(folder))
            for K in map(int, options.topics.split(",")):
                for method in options.methods.split(","):
                    print(f"| {name} | {K} | {method} | {measure(method, K, drawn)} |", flush=True)


def measure(method: str, K: int, drawn: Any) -> str:
    """Return the measures of one fit as the cells of a row."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = METHODS[method](K).fit(drawn.weighted)
    seconds = time.process_time() - start
    C, totals = probabilities(model.components_)
    W = model.transform(drawn.weighted) * totals * np.linalg.norm(C, axis=1)
    npmi = metrics.npmi(C, drawn.counts, n_words=10).mean()
    coherence = metrics.coherence(C, drawn.counts).mean()
    nmi = normalized_mutual_info_score(drawn.labels, W.argmax(axis=1))
    diversity = metrics.topic_diversity(C, 10)
    ended = getattr(model, "stopping_rule_", f"{model.n_iter_} iterations")
    return f"{npmi:.3f} | {coherence:.0f} | {nmi:.3f} | {diversity:.2f} | {seconds:.1f} | {ended}"


if __name__ == "__main__":
    main()
