"""Example data: corpora with planted topics, for which the truth is known, and docstrings of installed packages."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from anchorless._corpus.documents import Array
from anchorless._corpus.sampling import sample_counts
from anchorless._validation import check_choice, check_whole

__all__ = [
    "LabeledTexts",
    "Planted",
    "SampledCorpus",
    "draw_counts",
    "load_docstrings",
    "planted_topics",
    "sampled_corpus",
]

#: Packages that are installed with this one.
DOCSTRING_PACKAGES = ("numpy", "scipy", "sklearn")
#: Names that exist only after another import, so that the corpus would depend on what was imported before.
_EXPERIMENTAL_NAMES = frozenset({"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"})
#: Marks of lines that differ from process to process: random samples, and sets in arbitrary order.
_VARYING_LINES = re.compile(r"# may vary|Use of argument\(s\) ``\{|Argument\(s\) ``\{'\w+', ")
#: Shorter docstrings, in characters, are left out: they are single lines.
_MIN_DOCSTRING_LENGTH = 200


class Planted(NamedTuple):
    """A model with known topics.

    Attributes
    ----------
    components : ndarray of shape (n_topics, n_words)
        Topics; each row is a distribution over the words.
    moments : ndarray of shape (n_topics, n_topics)
        Second moments E of the topic weights.
    """

    components: Array
    moments: Array

    @property
    def cooccurrence(self) -> Array:
        """Exact co-occurrences P = CECᵀ, of shape (n_words, n_words)."""
        return self.components.T @ self.moments @ self.components


class SampledCorpus(NamedTuple):
    """Documents drawn from known topics.

    Attributes
    ----------
    counts : sparse matrix of shape (n_documents, n_words)
        Word counts of each document, in CSR format.
    weights : ndarray of shape (n_documents, n_topics)
        Topic proportions of each document.
    components : ndarray of shape (n_topics, n_words)
        Topics; each row is a distribution over the words.
    """

    counts: Any
    weights: Array
    components: Array


class LabeledTexts(NamedTuple):
    """Documents with names and labels.

    Attributes
    ----------
    texts, names, labels : list of str
        Text, name and label of each document.
    """

    texts: list[str]
    names: list[str]
    labels: list[str]


def planted_topics(n_topics: int, n_words: int = 1000, *, moments: str = "gaussian", random_state: int = 0) -> Planted:
    """Generate the synthetic design of the AnchorFree paper: exponential topics with half of their entries zero.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    n_words : int, default=1000
        Number of words, at least `n_topics`.
    moments : {"gaussian", "nonnegative"}, default="gaussian"
        E = RᵀR/n_topics with Gaussian R, which has entries of both signs, as in the paper; or the second moments of
        Dirichlet proportions.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Planted
        Topics and moments.

    Examples
    --------
    >>> from anchorless.datasets import planted_topics
    >>> planted = planted_topics(3, n_words=20)
    >>> planted.components.shape, planted.cooccurrence.shape
    ((3, 20), (20, 20))
    """
    check_whole("n_topics", n_topics)
    check_whole("n_words", n_words, least=n_topics)
    check_choice("moments", moments, ("gaussian", "nonnegative"))
    rng = np.random.default_rng(random_state)
    C = rng.exponential(size=(n_words, n_topics)) * (rng.random((n_words, n_topics)) < 0.5)
    C[np.arange(n_topics), np.arange(n_topics)] += C.sum(axis=0) == 0  # all of a topic's entries may be zero
    C /= C.sum(axis=0)
    if moments == "gaussian":
        R = rng.standard_normal((n_topics, n_topics))
        E = R.T @ R / n_topics
    else:
        E = _compute_dirichlet_moments(rng.uniform(0.05, 0.5, n_topics))
    return Planted(np.ascontiguousarray(C.T), E)


def sampled_corpus(
    n_documents: int, n_topics: int = 10, n_words: int = 1000, *, length: int = 100, random_state: int = 0
) -> SampledCorpus:
    """Draw documents from planted topics with Zipf-distributed words and correlated logistic-normal proportions.

    Each topic uses about half of the words, so that few words belong to one topic alone.

    Parameters
    ----------
    n_documents : int
        Number of documents.
    n_topics, n_words
        As in `planted_topics`.
    length : int, default=100
        Mean number of tokens of a document, Poisson-distributed, at least 2.
    random_state : int, default=0
        Seed.

    Returns
    -------
    SampledCorpus
        Counts, topic proportions and topics.

    Examples
    --------
    >>> from anchorless.datasets import sampled_corpus
    >>> corpus = sampled_corpus(50, n_topics=3, n_words=20)
    >>> corpus.counts.shape, corpus.weights.shape
    ((50, 20), (50, 3))
    """
    check_whole("n_documents", n_documents)
    rng = np.random.default_rng([random_state, 1])  # not the stream of the topics
    C = planted_topics(n_topics, n_words, random_state=random_state).components
    C = C * rng.permutation(1.0 / np.arange(1, n_words + 1))
    C /= C.sum(axis=1, keepdims=True)
    mixing = rng.standard_normal((n_topics, n_topics)) / np.sqrt(n_topics)
    W = softmax(2.5 * rng.standard_normal((n_documents, n_topics)) @ mixing, axis=1)
    lengths = np.maximum(rng.poisson(length, n_documents), 2)
    return SampledCorpus(draw_counts(C, W, lengths, rng), W, C)


def draw_counts(C: Array, W: Array, lengths: Any, rng: np.random.Generator) -> Any:
    """Draw the word counts of documents: for each token a topic, then a word of that topic.

    Parameters
    ----------
    C, W : ndarrays of shape (n_topics, n_words) and (n_documents, n_topics)
        Word distribution of each topic, and topic proportions of each document.
    lengths : ndarray of int of shape (n_documents,)
        Number of tokens of each document.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    sparse matrix of shape (n_documents, n_words)
        Word counts of each document, in CSR format.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorless.datasets import draw_counts
    >>> draw_counts(np.eye(2), np.eye(2), [5, 3], np.random.default_rng(0)).toarray().tolist()
    [[5.0, 0.0], [0.0, 3.0]]
    """
    return sample_counts(C, W, lengths, rng)


def load_docstrings(packages: tuple[str, ...] = DOCSTRING_PACKAGES) -> LabeledTexts:
    """Collect the docstrings of the public functions and classes of installed packages.

    Parameters
    ----------
    packages : tuple of str, default=("numpy", "scipy", "sklearn")
        Names of packages.

    Returns
    -------
    LabeledTexts
        Docstrings, named by their import path and labeled by their module, in the order of their names.

    Examples
    --------
    >>> from anchorless.datasets import load_docstrings
    >>> found = load_docstrings(("numpy",))
    >>> dict(zip(found.names, found.labels))["numpy.linalg.svd"]
    'numpy.linalg'
    """
    found: dict[str, tuple[str, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing every public module also imports the deprecated ones
        for package in packages:
            for module in _iter_public_modules(importlib.import_module(package)):
                for name, text in _iter_public_docstrings(module):
                    if len(text) >= _MIN_DOCSTRING_LENGTH:
                        found.setdefault(text, (f"{module.__name__}.{name}", module.__name__))
    rows = sorted((name, label, text) for text, (name, label) in found.items())
    return LabeledTexts([text for *_, text in rows], [name for name, *_ in rows], [label for _, label, _ in rows])


def _compute_dirichlet_moments(alpha: Array) -> Array:
    """Return E{wwᵀ} (F, F) for w drawn from a Dirichlet distribution with parameters alpha (F,)."""
    return (np.outer(alpha, alpha) + np.diag(alpha)) / (alpha.sum() * (alpha.sum() + 1.0))


def _iter_public_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield the package and its public subpackages, in the order of their names."""
    yield package
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_") or info.name in {"tests", "conftest", "f2py", "distutils"}:
            continue
        try:
            yield importlib.import_module(f"{package.__name__}.{info.name}")
        except ImportError:  # an optional dependency of that module is not installed
            continue


def _iter_public_docstrings(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield name and docstring of a module's public functions and classes, the same in every process."""
    for name in sorted(getattr(module, "__all__", None) or dir(module)):
        if name.startswith("_") or name in _EXPERIMENTAL_NAMES:
            continue
        try:
            member = getattr(module, name, None)
        except ImportError:  # newer versions may hide other names in the same way
            continue
        text = inspect.getdoc(member) if callable(member) else None
        if text:
            lines = [line for line in text.splitlines() if not _VARYING_LINES.search(line)]
            yield name, "\n".join(lines)
