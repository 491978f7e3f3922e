"""Fitting the estimator of `TopicModel`: its errors and warnings in the terms of the model."""

from __future__ import annotations

import warnings

from anchorless._corpus.documents import Documents
from anchorless._deprecated import find_stack_level
from anchorless._estimators.anchorfree import AnchorFree, VolumeConvergenceWarning
from anchorless.errors import InputError, MessageParts

#: What the parameters of the estimator are called in `TopicModel`.
PARAMETERS = {"n_components": "n_topics"}


def fit_estimator(
    estimator: AnchorFree, documents: Documents, earlier: AnchorFree | None = None, *, partial: bool = False
) -> tuple[AnchorFree, list[str]]:
    """Fit the estimator; also return the templates of its warnings, which are issued, too.

    With `partial`, the documents are a further piece after those of `earlier`, which stays as it is.
    """
    if earlier is not None:
        estimator.__dict__.update({name: value for name, value in vars(earlier).items() if name.endswith("_")})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.partial_fit(documents) if partial else estimator.fit(documents)
        except InputError as error:
            raise error.rename_parameters(PARAMETERS) from None
    templates = []
    for warning in caught:
        message = warning.message
        if isinstance(message, VolumeConvergenceWarning):  # `TopicModel` has neither `max_iter` nor `tol`
            problem = f"the topics were still changing after {message.value} sweeps"
            message = VolumeConvergenceWarning(problem, remedy="lower {n_topics}")
        elif isinstance(message, MessageParts):
            message = message.rename_parameters(PARAMETERS)
        templates.append(message.template if isinstance(message, MessageParts) else str(message))
        warnings.warn(message, warning.category, stacklevel=find_stack_level())
    return estimator, templates
