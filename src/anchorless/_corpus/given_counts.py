"""Counts and vocabularies that a caller gives, after a check of every entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.documents import Documents
from anchorless._corpus.sparse import NONZEROS_PER_BLOCK, rechunk_blocks, to_canonical_csr
from anchorless._validation import check_blocks, resolve_job_count
from anchorless.errors import InputError


def validate_documents(X: Any, name: str) -> Documents:
    """Return documents × words (a matrix, a list of matrices or `Documents`) after a check of every entry."""
    if isinstance(X, list | tuple) and len(X) and all(getattr(block, "ndim", 0) == 2 for block in X):
        X = Documents(X)
    if not isinstance(X, Documents):
        matrix = X if sp.issparse(X) else np.asarray(X)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise InputError(f"{name} has type {matrix.dtype}, shape {matrix.shape}; give numbers, documents × words")
        X = Documents([matrix])
    check_blocks(X, name, resolve_job_count(None))
    return gather_documents(X.blocks) if X.in_memory else X


def validate_vocabulary(vocabulary: Any, n_words: int | None) -> list[str]:
    """Return the words of the columns: a sequence of different strings, or a mapping of words to columns."""
    if isinstance(vocabulary, Mapping):
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise InputError("it must be a sequence of words, one per column", parameter="vocabulary", value=vocabulary)
    words = list(vocabulary)
    for column, word in enumerate(words):
        if not isinstance(word, str):
            raise InputError(f"vocabulary[{column}] is {word!r}, but words are strings")
    if n_words is not None and len(words) != n_words:
        raise InputError(f"{len(words)} words in the vocabulary for {n_words} columns of counts; give one per column")
    word, times = Counter(words).most_common(1)[0] if words else ("", 0)
    if times > 1:
        raise InputError(f"the vocabulary has {word!r} {times} times; add up those columns of counts")
    return [str(word) for word in words]


def gather_documents(blocks: Iterable[Any]) -> Documents:
    """Return documents in memory, in blocks whose bounds depend on the documents alone, not on how they came."""
    return Documents([*rechunk_blocks(map(to_canonical_csr, blocks), NONZEROS_PER_BLOCK)])


def sum_counts(documents: Documents) -> int:
    """Return the number of tokens."""
    return int(sum(documents.map_blocks(lambda block: block.data.sum(), 1)))
