"""The border for counts that are the user's own: a matrix with its vocabulary, or a scikit-learn vectoriser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from anchorless._corpus.documents import Documents
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import resolve_n_threads
from anchorless._validation import check_blocks, check_entries
from anchorless.errors import InputError

#: What is asked of a vectoriser.
REQUIRED_METHODS = ("fit_transform", "transform", "get_feature_names_out")


class VectorizedTexts(NamedTuple):
    """Texts counted by a vectoriser."""

    vectorizer: Any  # fitted
    blocks: list[Any]  # CSR, documents × words
    vocabulary: list[str]


def vectorize_texts(vectorizer: Any, texts: Iterable[str]) -> VectorizedTexts:
    """Count texts by a vectoriser: as it is where it knows its words, else by a copy fitted to the texts."""
    check_vectorizer(vectorizer)
    try:
        if get_vectorizer_words(vectorizer) is None:
            vectorizer = clone(vectorizer, safe=False)
            counts = vectorizer.fit_transform(texts)
        else:
            counts = vectorizer.transform(texts)
        words = get_vectorizer_words(vectorizer)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{type(vectorizer).__name__} could not count the documents: {error}") from error
    if words is None:
        raise InputError(f"{type(vectorizer).__name__} does not say its words after fitting; use a CountVectorizer")
    return VectorizedTexts(vectorizer, validate_blocks(counts, type(vectorizer).__name__), words)


def match_vectorizer(vectorizer: Any, vocabulary: Sequence[str]) -> Any:
    """Return a vectoriser that counts the words of a model; refuse one that knows other words, or none yet."""
    check_vectorizer(vectorizer)
    words = get_vectorizer_words(vectorizer)
    name = type(vectorizer).__name__
    if words is None:
        raise InputError(f"the {name} is not fitted; give the one the model was fitted with, or set its vocabulary")
    if words != list(vocabulary):
        different = next((i for i, pair in enumerate(zip(words, vocabulary, strict=False)) if pair[0] != pair[1]), None)
        where = "" if different is None else f" (column {different}: {words[different]!r}, {vocabulary[different]!r})"
        raise InputError(
            f"the {name} counts {len(words)} words and the model {len(vocabulary)}, which are not the same{where}; "
            "give the vectoriser the model was fitted with"
        )
    return vectorizer


def check_vectorizer(vectorizer: Any) -> None:
    """Refuse what is no vectoriser, or one that cannot tell its words."""
    missing = [name for name in REQUIRED_METHODS if not callable(getattr(vectorizer, name, None))]
    if missing or isinstance(vectorizer, type):
        what = "a class" if isinstance(vectorizer, type) else f"without {', '.join(missing)}"
        raise InputError(f"vectorizer={vectorizer!r} is {what}; give an object such as CountVectorizer(min_df=5)")


def get_vectorizer_words(vectorizer: Any) -> list[str] | None:
    """Return the words of a vectoriser in the order of its columns; None before it is fitted."""
    try:
        return [str(word) for word in vectorizer.get_feature_names_out()]
    except (NotFittedError, AttributeError):
        return None


def validate_blocks(X: Any, who: str) -> Any:
    """Return documents × words (sparse, dense, `Documents` or a list of blocks) as CSR blocks of finite numbers ≥ 0.

    `Documents` that are not in memory are checked where they are, and returned as they are.
    """
    if isinstance(X, Documents) and not X.in_memory:
        check_blocks(X, who, resolve_n_threads(None))
        return X
    if isinstance(X, list | tuple) and len(X) and all(getattr(block, "ndim", 0) == 2 for block in X):
        X = Documents(X)
    if isinstance(X, Documents):
        blocks = [*X.map_blocks(lambda block: block, 1)]
    else:
        matrix = X if sp.issparse(X) else np.asarray(X)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise InputError(f"{who} has type {matrix.dtype}, shape {matrix.shape}; give numbers, documents × words")
        blocks = [to_canonical_csr(matrix)]
    first = 0
    for block in blocks:
        check_entries(block, who, first)
        first += block.shape[0]
    return blocks


def validate_vocabulary(vocabulary: Any, n_words: int) -> list[str]:
    """Return the words of the columns: a sequence of different strings, or a mapping of words to columns."""
    if isinstance(vocabulary, Mapping):
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise InputError(f"vocabulary={vocabulary!r}, but it must be a sequence of words, one per column")
    words = list(vocabulary)
    for column, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"vocabulary[{column}] is {word!r}, but words are strings")
    if len(words) != n_words:
        raise InputError(f"{len(words)} words in the vocabulary for {n_words} columns of counts; give one per column")
    word, times = Counter(words).most_common(1)[0] if words else ("", 0)
    if times > 1:
        raise InputError(f"the vocabulary has {word!r} {times} times; add up those columns of counts")
    return [str(word) for word in words]
