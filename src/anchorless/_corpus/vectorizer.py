"""Texts counted by a scikit-learn vectorizer of the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from anchorless.errors import InputError

#: What is asked of a vectorizer.
REQUIRED_METHODS = ("fit_transform", "transform", "get_feature_names_out")


class VectorizedTexts(NamedTuple):
    """Texts counted by a vectorizer."""

    vectorizer: Any  # fitted
    counts: Any  # documents × words
    vocabulary: list[str]


def vectorize_texts(vectorizer: Any, texts: Iterable[str]) -> VectorizedTexts:
    """Count texts by a vectorizer: as it is where it knows its words, else by a copy fitted to the texts."""
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
    return VectorizedTexts(vectorizer, counts, words)


def match_vectorizer(vectorizer: Any, vocabulary: Sequence[str]) -> Any:
    """Return a vectorizer that counts the words of a model; refuse one that knows other words, or none yet."""
    words = get_vectorizer_words(vectorizer)
    name = type(vectorizer).__name__
    if words is None:
        raise InputError(f"the {name} is not fitted; give the one the model was fitted with, or set its vocabulary")
    if words != list(vocabulary):
        pairs = enumerate(zip(words, vocabulary, strict=False))
        where = next((f" (column {i}: {a!r}, {b!r})" for i, (a, b) in pairs if a != b), "")
        raise InputError(
            f"the {name} counts {len(words)} words and the model {len(vocabulary)}, which are not the same{where}; "
            "give the vectorizer the model was fitted with"
        )
    return vectorizer


def get_vectorizer_words(vectorizer: Any) -> list[str] | None:
    """Return the words of a vectorizer in the order of its columns, None before it is fitted; refuse other objects."""
    missing = [name for name in REQUIRED_METHODS if not callable(getattr(vectorizer, name, None))]
    if missing or isinstance(vectorizer, type):
        what = "a class" if isinstance(vectorizer, type) else f"without {', '.join(missing)}"
        raise InputError(f"vectorizer={vectorizer!r} is {what}; give an object such as CountVectorizer(min_df=5)")
    try:
        return [str(word) for word in vectorizer.get_feature_names_out()]
    except (NotFittedError, AttributeError):
        return None
