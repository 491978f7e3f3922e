"""The topics of weighed documents, and what went wrong, in the terms of `TopicModel`."""

from __future__ import annotations

import warnings

from anchorless.documents import Documents
from anchorless.errors import RankError
from anchorless.estimators import AnchorFree


def fitted_estimator(estimator: AnchorFree, documents: Documents) -> tuple[AnchorFree, list[str]]:
    """Return the estimator, fitted, and of what it warned; the warnings are given, too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(documents)
        except RankError as error:
            raise RankError(in_own_words(str(error))) from None
    texts = [in_own_words(str(warning.message)) for warning in caught]
    for text, warning in zip(texts, caught, strict=True):
        warnings.warn(text, warning.category, stacklevel=4)
    return estimator, texts


def in_own_words(message: str) -> str:
    """Return a message of the estimator in the terms of `TopicModel`."""
    return message.replace("n_components", "n_topics").replace("but P has", "but the documents carry")
