"""Time, memory and recovery of planted topics as documents grow, beside scikit-learn and gensim.

    python -m benchmarks.scale                                   # 10,000 and 40,000 documents, 50 topics
    python -m benchmarks.scale --documents 250000,1000000 --methods anchorless --budget 3600

Every fit is a process of its own, from the file of texts to topics, and is stopped when it has used its budget of
processor seconds. Texts are made by `benchmarks.planted` (about 60 words each, V = 50,000) and stay in --folder.
"Recovered" are planted topics whose best match has a cosine of at least 0.8 with them; methods that weigh words are
compared with the planted topics weighed by inverse document frequency.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.planted import plan, spelt, write_texts
from benchmarks.scale_methods import METHODS

#: A planted topic is recovered when its match has this cosine with it.
RECOVERED = 0.8
MEAN_LENGTH = 60.0


def measured(method: str, texts: Path, n_topics: int, budget: int, folder: Path) -> dict[str, Any]:
    """Run one method in a process of its own; return seconds, memory, and where its topics are."""
    out = folder / f"{method}.npz"
    command = [sys.executable, "-m", "benchmarks.scale_methods", method, str(texts), str(n_topics), str(out)]
    start = time.perf_counter()
    # One BLAS thread for all: two fight over two cores that the methods use already.
    settings = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, env=settings, stdout=subprocess.DEVNULL, preexec_fn=lambda: limit_processor(budget)
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "finished": process.returncode == 0,
        "seconds": time.perf_counter() - start,
        "processor": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "out": out,
    }


def limit_processor(seconds: int) -> None:
    """Let this process be ended when it has used so many processor seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def recovery(out: Path, truth: np.ndarray) -> tuple[float, float, str]:
    """Return mean cosine of the matched topics, the share recovered, and the seconds of the stages."""
    from scipy.optimize import linear_sum_assignment

    found = np.load(out, allow_pickle=False)
    column = {word: k for k, word in enumerate(spelt(truth.shape[1]).to_pylist())}
    topics = np.zeros((len(found["components"]), truth.shape[1]))
    topics[:, [column[word] for word in found["words"]]] = found["components"]
    weighed = truth.copy()
    if found["idf"].size:
        weighed[:, [column[word] for word in found["words"]]] *= found["idf"]
    lengths = np.outer(np.linalg.norm(weighed, axis=1), np.maximum(np.linalg.norm(topics, axis=1), 1e-300))
    cosine = weighed @ topics.T / lengths
    rows, columns = linear_sum_assignment(-cosine)
    best = cosine[rows, columns]
    return float(best.mean()), float((best >= RECOVERED).mean()), str(found["stages"])


def machine() -> str:
    """Return what the figures were measured on."""
    names = ("anchorless", "scikit-learn", "scipy", "numpy")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    cores = os.cpu_count()
    return f"{platform.machine()}, {cores} cores, load {load:.0f}, Python {platform.python_version()}, {packages}"


def main(argv: list[str] | None = None) -> int:
    """Print a row per method and number of documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="10000,40000")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--budget", type=int, default=600, help="processor seconds of one fit")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--folder", help="where texts are made and stay; default: a temporary one")
    options = parser.parse_args(argv)
    print(machine())
    head = (
        f"{'documents':>10} {'method':<12} {'wall s':>7} {'cpu s':>7} {'MB':>6} {'cosine':>7} {'recovered':>9}  stages"
    )
    print(head, flush=True)
    planned = plan(options.topics, options.words)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        for n in map(int, options.documents.split(",")):
            texts = folder / f"planted-{options.topics}-{options.words}-{n}.jsonl"
            if not texts.exists():
                write_texts(texts, planned, n, MEAN_LENGTH)
            for method in options.methods.split(","):
                print_row(n, method, measured(method, texts, options.topics, options.budget, Path(temporary)), planned)
    return 0


def print_row(n: int, method: str, found: dict[str, Any], planned: Any) -> None:
    """Print one row."""
    figures = f"{found['seconds']:7.0f} {found['processor']:7.0f} {found['memory'] / 1e6:6.0f}"
    if found["finished"]:
        cosine, share, stages = recovery(found["out"], planned.topics)
        print(f"{n:>10,} {method:<12} {figures} {cosine:7.3f} {share:9.0%}  {stages}", flush=True)
    else:
        print(f"{n:>10,} {method:<12} {figures}       –         –  stopped or failed", flush=True)


if __name__ == "__main__":
    sys.exit(main())
