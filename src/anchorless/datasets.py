"""Corpora to try things on: planted topics, where the truth is known, and the docstrings of installed packages."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.documents import Array
from anchorless._validation import check_choice, check_whole

#: Packages that are installed with this one.
DOCSTRING_PACKAGES = ("numpy", "scipy", "sklearn")
#: They are there only after an import of their own.
EXPERIMENTAL_NAMES = frozenset({"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"})
#: Marks of lines that differ from process to process: random samples, and sets in their order.
VARYING_LINES = ("# may vary", "Use of argument(s) ``{")
#: A docstring of fewer characters is a one-liner that says too little for a document.
MIN_DOCSTRING_LENGTH = 200


class Planted(NamedTuple):
    """A model with known topics."""

    components: Array  # (F, V), each row a probability mass function
    moments: Array  # E, (F, F)

    @property
    def cooccurrence(self) -> Array:
        """P = CECᵀ, exact (V, V)."""
        return self.components.T @ self.moments @ self.components


class SampledCorpus(NamedTuple):
    """Documents drawn from a planted model."""

    counts: Any  # CSR, documents × words
    weights: Array  # (N, F), each row the topic proportions of a document
    components: Array  # (F, V)


class LabeledTexts(NamedTuple):
    """Documents with a name and a label each."""

    texts: list[str]
    names: list[str]
    labels: list[str]


def planted_topics(n_topics: int, n_words: int = 1000, *, moments: str = "gaussian", random_state: int = 0) -> Planted:
    """Return the synthetic design of the paper: exponential C with half of its entries zero, and a random E.

    `moments` is "gaussian" for E = RᵀR/F with Gaussian R, entries of both signs, as in the paper, or
    "nonnegative" for the second moments of Dirichlet proportions, which real topic weights could have.
    """
    check_whole("n_topics", n_topics)
    check_whole("n_words", n_words, least=n_topics)
    check_choice("moments", moments, ("gaussian", "nonnegative"))
    rng = np.random.default_rng(random_state)
    C = rng.exponential(size=(n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.5)
    C[np.arange(n_topics), np.arange(n_topics)] += C.sum(axis=0) == 0  # a topic over a few words may draw none
    C /= C.sum(axis=0)
    if moments == "gaussian":
        R = rng.standard_normal((n_topics, n_topics))
        E = R.T @ R / n_topics
    else:
        E = dirichlet_moments(rng.uniform(0.05, 0.5, n_topics))
    return Planted(np.ascontiguousarray(C.T), E)


def dirichlet_moments(alpha: Array) -> Array:
    """Return E{wwᵀ} for w drawn from a Dirichlet distribution."""
    total = alpha.sum()
    return (np.outer(alpha, alpha) + np.diag(alpha)) / (total * (total + 1.0))


def sampled_corpus(
    n_documents: int, n_topics: int = 10, n_words: int = 1000, *, length: int = 100, random_state: int = 0
) -> SampledCorpus:
    """Draw documents from planted topics: Zipf-weighted words, correlated logistic-normal proportions.

    Each topic uses about half of the words, so that few words belong to one topic alone; lengths are
    Poisson with mean `length`, at least 2.
    """
    check_whole("n_documents", n_documents)
    rng = np.random.default_rng([random_state, 1])  # another stream than that of the topics
    C = planted_topics(n_topics, n_words, random_state=random_state).components
    C = C * rng.permutation(1.0 / np.arange(1, n_words + 1))
    C /= C.sum(axis=1, keepdims=True)
    mixing = rng.standard_normal((n_topics, n_topics)) / np.sqrt(n_topics)
    scores = 2.5 * rng.standard_normal((n_documents, n_topics)) @ mixing
    W = np.exp(scores - scores.max(axis=1, keepdims=True))
    W /= W.sum(axis=1, keepdims=True)
    lengths = np.maximum(rng.poisson(length, n_documents), 2)
    return SampledCorpus(draw_counts(C, W, lengths, rng), W, C)


def draw_counts(C: Array, W: Array, lengths: Any, rng: np.random.Generator) -> Any:
    """Draw the words of each document, token by token: a topic from W, then a word from that topic's row of C."""
    tokens_per_topic = rng.multinomial(lengths, W)
    documents, words = [], []
    for topic, distribution in enumerate(C):
        n_tokens = tokens_per_topic[:, topic]
        documents.append(np.repeat(np.arange(len(W)), n_tokens))
        words.append(rng.choice(C.shape[1], size=int(n_tokens.sum()), p=distribution))
    rows, columns = np.concatenate(documents), np.concatenate(words)
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(W), C.shape[1]))
    counts.sum_duplicates()
    return counts


def load_docstrings(packages: tuple[str, ...] = DOCSTRING_PACKAGES) -> LabeledTexts:
    """Return the public docstrings of installed packages, named by their path and labelled by subpackage."""
    found: dict[str, tuple[str, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing every public module also imports the deprecated ones
        for package in packages:
            for module in iter_public_modules(importlib.import_module(package)):
                for name, text in iter_public_docstrings(module):
                    if len(text) >= MIN_DOCSTRING_LENGTH:
                        found.setdefault(text, (f"{module.__name__}.{name}", module.__name__))
    rows = sorted((name, label, text) for text, (name, label) in found.items())
    return LabeledTexts([row[2] for row in rows], [row[0] for row in rows], [row[1] for row in rows])


def iter_public_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the package and its public subpackages, in the order of their names."""
    yield package
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_") or info.name in {"tests", "conftest", "f2py", "distutils"}:
            continue
        try:
            yield importlib.import_module(f"{package.__name__}.{info.name}")
        except ImportError:  # an optional dependency of that module is not installed
            continue


def iter_public_docstrings(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield (name, docstring) of the module's public functions and classes, the same in every process."""
    for name in sorted(getattr(module, "__all__", None) or dir(module)):
        if name.startswith("_") or name in EXPERIMENTAL_NAMES:
            continue
        try:
            member = getattr(module, name, None)
        except ImportError:  # a name that newer versions hide in the same way
            continue
        if member is None or isinstance(member, ModuleType):
            continue
        if not (inspect.isclass(member) or callable(member)):
            continue
        text = inspect.getdoc(member)
        if text:
            yield name, "\n".join(line for line in text.splitlines() if not any(mark in line for mark in VARYING_LINES))
