"""The topics of weighed documents, and what went wrong, in the terms of `TopicModel`."""

from __future__ import annotations

import warnings

from anchorless._corpus.documents import Documents
from anchorless._estimators.anchorfree import AnchorFree
from anchorless.errors import InputError


def fit_estimator(
    estimator: AnchorFree, documents: Documents, earlier: AnchorFree | None = None, *, partial: bool = False
) -> tuple[AnchorFree, list[str]]:
    """Return the estimator, fitted, and of what it warned; the warnings are given, too.

    With `partial` the documents are a further piece: what `earlier` knew is updated, and `earlier` stays as it is.
    """
    if earlier is not None:
        estimator.__dict__.update({name: value for name, value in vars(earlier).items() if name.endswith("_")})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.partial_fit(documents) if partial else estimator.fit(documents)
        except InputError as error:
            raise error.rename_parameters({"n_components": "n_topics"}) from None
    texts = [translate_parameters(str(warning.message)) for warning in caught]
    for text, warning in zip(texts, caught, strict=True):
        warnings.warn(text, warning.category, stacklevel=4)
    return estimator, texts


def translate_parameters(message: str) -> str:
    """Return a message of the estimator in the terms of `TopicModel`."""
    return message.replace("n_components", "n_topics").replace("but P has", "but the documents carry")
