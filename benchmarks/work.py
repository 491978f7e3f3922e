"""What one process measures: `python -m benchmarks.work JOB`, where JOB is JSON; started by `benchmarks.processes`.

The clock runs for the fit and for the transform alone, after a fit of a few random documents: imports and whatever a
library does once are not measured. Memory is the peak of the process up to there.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import stored
from benchmarks.models import MODELS, Model

#: Topics of the fit before the clock runs.
WARM_UP_TOPICS = 2
#: Documents and words of each of them.
WARM_UP = (20, 15)
#: Transforms of which the fastest counts.
TRANSFORMS = 3


class Job(NamedTuple):
    """What to measure."""

    task: str
    corpus: str
    method: str
    topics: int
    folder: str  # where corpora are stored
    budget: float = 0.0  # seconds that the reference may take, or processor seconds of a fit; 0 is no limit


class Seconds(NamedTuple):
    """Time of one run."""

    wall: float
    cpu: float


def main(arguments: list[str]) -> None:
    """Do the job, and write what was measured to the file."""
    job, target = Job(**json.loads(arguments[0])), Path(arguments[1])
    found = TASKS[job.task](job)
    beside = target.with_suffix(".part")
    beside.write_text(json.dumps({name: float(value) for name, value in found.items()}))
    beside.replace(target)


def store(job: Job) -> dict[str, float]:
    """Make a corpus."""
    from benchmarks import corpora

    corpora.store(job.corpus, Path(job.folder))
    return {}


def fit(job: Job) -> dict[str, float]:
    """Fit and transform, without quality; `svds` only decomposes."""
    return svds(job) if job.method == "svds" else measure_fit(job)[0]


def peer(job: Job) -> dict[str, float]:
    """Fit, transform, and measure the quality of the topics and the clusters."""
    found, components, W = measure_fit(job)
    drawn = stored.load_draw(job.corpus, Path(job.folder))
    return found | quality(components, W, MODELS[job.method].shares, drawn)


def measure_fit(job: Job) -> tuple[dict[str, float], Any, Any]:
    """Return what a fit and a transform cost, the topics and the weights."""
    method = MODELS[job.method]
    X = stored.load_matrix(job.corpus, method.data, Path(job.folder))
    n_words = X.shape[1]
    warm_up(method)
    documents = method.prepare(X, job.topics)
    start = peak_mb()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        fit_seconds, model = time_call(lambda: method.fit(documents, job.topics))
    transform_seconds, W = time_call(lambda: method.transform(model, documents))
    found = seconds_of("fit", fit_seconds) | seconds_of("transform", transform_seconds)
    found |= {"start_mb": start, "peak_mb": peak_mb(), "warnings": len(given)}
    found |= costs(getattr(model, "fit_report_", None))
    if hasattr(model, "log_volume_"):
        found |= {"log_volume": model.log_volume_, "n_sweeps": model.n_iter_}
    elif hasattr(model, "n_iter_"):  # of those allowed: NMF ends when it gains little
        found["n_iterations"] = model.n_iter_
    return found, method.components(model, n_words), W


def svds(job: Job) -> dict[str, float]:
    """Compute the truncated singular value decomposition that fits are compared with."""
    from scipy.sparse.linalg import svds as decompose

    X = stored.load_matrix(job.corpus, "weighted", Path(job.folder))
    decompose(few_documents(), WARM_UP_TOPICS, random_state=0)
    start = peak_mb()
    seconds, _ = time_call(lambda: decompose(X, job.topics, random_state=0))
    return seconds_of("fit", seconds) | {"start_mb": start, "peak_mb": peak_mb()}


def transform(job: Job) -> dict[str, float]:
    """Time the transform alone; `product` is the product with as many dense columns, which it cannot do without."""
    X = stored.load_matrix(job.corpus, "weighted", Path(job.folder))
    if job.method == "product":
        C = np.random.default_rng(0).random((X.shape[1], job.topics))
        return seconds_of("transform", fastest(lambda: X @ C)) | {"documents": X.shape[0]}
    method = MODELS[job.method]
    if method.data == "counts":
        X = stored.load_matrix(job.corpus, "counts", Path(job.folder))
    documents = method.prepare(X, job.topics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method.fit(documents, job.topics)
    return seconds_of("transform", fastest(lambda: method.transform(model, documents))) | {"documents": X.shape[0]}


def reference(job: Job) -> dict[str, float]:
    """Maximize the same volume by the reference solver."""
    from benchmarks.reference import reference_volume

    X = stored.load_matrix(job.corpus, "weighted", Path(job.folder))
    return reference_volume(X, job.topics, job.budget)


def many_topics(job: Job) -> dict[str, float]:
    """Fit hundreds of topics to nine tenths of the documents, and measure their quality."""
    from benchmarks import topics  # it needs the functions of this module

    return topics.measure(job)


TASKS: dict[str, Callable[[Job], dict[str, float]]] = {
    "store": store,
    "fit": fit,
    "peer": peer,
    "transform": transform,
    "topics": many_topics,
    "reference": reference,
}


def quality(components: Any, W: Any, shares: bool, drawn: Any) -> dict[str, float]:
    """Return the experiments' measures of topics and clusters, and the diversity of the topics."""
    from anchorless import metrics
    from experiments.corpora_fits import Fitted, probabilities
    from experiments.corpora_fits import quality as measures

    C, totals = probabilities(components)
    found = measures(Fitted(C, W if shares else W * totals, 0.0, 0), drawn)
    return found | {"diversity": metrics.topic_diversity(C, min(10, C.shape[1]))}


def costs(report: Any) -> dict[str, float]:
    """Return the seconds by stage and the counts of a fit, whatever its report names them."""
    if report is None:
        return {}
    fields = dataclasses.asdict(report) if dataclasses.is_dataclass(report) else report._asdict()
    counts = {name: value for name, value in fields.items() if name.startswith("n_") and np.isscalar(value)}
    return counts | {f"seconds_{stage}": seconds for stage, seconds in fields["seconds"].items()}


def warm_up(method: Model) -> None:
    """Fit a few random documents, so that one-time costs of a library are not timed."""
    n_topics = WARM_UP_TOPICS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        documents = method.prepare(few_documents(n_topics), n_topics)
        method.transform(method.fit(documents, n_topics), documents)


def few_documents(n_topics: int = WARM_UP_TOPICS) -> Any:
    """Return a small matrix of counts without an empty row: each topic has its own words."""
    mean = np.kron(np.eye(n_topics), np.ones(WARM_UP)) + 1.0 / n_topics
    return sp.csr_matrix(np.random.default_rng(0).poisson(mean) + (mean > 1.0) * np.resize([1, 0, 0], mean.shape))


def time_call(function: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Run once and return the time and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu), result


@contextmanager
def limit_processor_time(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer than so many processor seconds of all threads; 0 is no limit."""
    import resource

    if not seconds:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, before)


def fastest(function: Callable[[], Any]) -> Seconds:
    """Return the least wall clock and the least processor time of some runs."""
    runs = [time_call(function)[0] for _ in range(TRANSFORMS)]
    return Seconds(min(run.wall for run in runs), min(run.cpu for run in runs))


def seconds_of(name: str, seconds: Seconds) -> dict[str, float]:
    """Return a time as measures."""
    return {f"{name}_wall": seconds.wall, f"{name}_cpu": seconds.cpu}


def peak_mb() -> float:
    """Return the peak memory of this process so far, in MB."""
    import resource

    try:  # on Linux, getrusage starts with the peak of the parent process
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return float(re.findall(r"^VmHWM:\s+(\d+) kB", status, flags=re.MULTILINE)[0]) / 2**10
    except (OSError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main(sys.argv[1:])
