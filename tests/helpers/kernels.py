"""Run the numerical promises under every BLAS kernel and SIMD level that this processor can execute.

python -m tests.helpers.kernels

OpenBLAS rounds differently with each kernel, so that a promise which holds for one may break with another.
"""

import os
import subprocess
import sys
import time

#: Core types of OpenBLAS on x86, from the newest to the generic one.
CORE_TYPES = ("SkylakeX", "Zen", "Haswell", "Sandybridge", "Nehalem", "Prescott")
#: Products and a factorization: a kernel that the processor cannot execute ends this program by a signal.
PROBE = """
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info
a = np.random.default_rng(0).standard_normal((150, 150))
a @ a; a @ a[0]; a[0] @ a[1]; np.linalg.solve(a, a); np.linalg.eigh(a + a.T); scipy.linalg.qr(a, pivoting=True)
print(" ".join(sorted({library["architecture"] for library in threadpool_info() if "architecture" in library})))
"""
#: A test that runs every kernel by itself.
ALL_KERNELS = "tests/test_promises.py::test_numbers_agree_between_kernels"
#: The SIMD features that NumPy can do without.
FEATURES = """
from numpy._core import _multiarray_umath as core
print(" ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)))
"""


def probe(code, **variables):
    """Return what the code prints in a process with these environment variables; None if the process fails."""
    found = subprocess.run([sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def executable_settings():
    """Return the environment variables that select each numerical kernel of this processor: description → variables."""
    settings, seen = {}, set()
    for core_type in CORE_TYPES:
        architecture = probe(PROBE, OPENBLAS_CORETYPE=core_type)
        if architecture and architecture not in seen:  # an unknown core type silently selects another
            seen.add(architecture)
            settings[f"OPENBLAS_CORETYPE={core_type} ({architecture})"] = {"OPENBLAS_CORETYPE": core_type}
    if features := probe(FEATURES):
        settings["NPY_DISABLE_CPU_FEATURES"] = {"NPY_DISABLE_CPU_FEATURES": features}
    return settings


def publish_numbers():
    """Return published numbers of a text model and of an estimator, as lists."""
    import numpy as np

    from anchorless import AnchorFree, TopicModel, datasets
    from tests.helpers.planted_texts import planted_texts

    model = TopicModel(n_topics=4).fit(planted_texts(160, 0)[0])
    X = datasets.sampled_corpus(400, 5, 300, random_state=0).counts
    estimator = AnchorFree(5).fit(X)
    found = {
        "mixtures with embeddings": publish_mixtures_with_embeddings(),
        "components": model.components_,
        "correlation": model.topic_correlation_,
        "document_topics": model.document_topics_,
        "estimator components": estimator.components_,
        "estimator shares": estimator.topic_shares_,
        "estimator weights": estimator.transform(X[:50]),
    }
    return {name: np.asarray(values).tolist() for name, values in found.items()}


def publish_mixtures_with_embeddings():
    """Return the mixtures of documents of few words with embeddings."""
    import numpy as np

    from anchorless import TopicModel, datasets

    corpus, rng = datasets.sampled_corpus(1500, 8, 400, length=6, random_state=0), np.random.default_rng(0)
    E = corpus.weights @ rng.normal(size=(8, 256)) + rng.normal(scale=0.5, size=(1500, 256))
    return TopicModel(8).fit_counts(corpus.counts, [f"word{i}" for i in range(400)], embeddings=E).document_topics_


def main():
    """Run the tests marked `kernels` under each setting; return 1 if one fails."""
    failed = []
    settings = executable_settings()
    for name, variables in settings.items():
        start = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "-m", "kernels", "--deselect", ALL_KERNELS, "tests"]
        if subprocess.run(command, env=os.environ | variables).returncode:
            failed.append(name)
        sys.stdout.write(f"{name}: {time.perf_counter() - start:.0f} s\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(settings)} kernels, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}\n")
    return 1 if failed or not settings else 0


if __name__ == "__main__":
    sys.exit(main())
