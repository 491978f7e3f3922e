"""How good topics are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from anchorless.documents import Array
from anchorless.errors import InputError


def match_topics(components: Any, reference: Any) -> tuple[Array, Array]:
    """Return index arrays (i, j): row i of `components` goes with row j of `reference`, least squares in total."""
    A, B = np.asarray(components, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if A.ndim != 2 or A.shape != B.shape:
        raise InputError(f"topics of shapes {A.shape} and {B.shape} cannot be matched; both are topics × words")
    distance = np.array([((A - b) ** 2).sum(axis=1) for b in B]).T
    return linear_sum_assignment(distance)


def recovery_error(components: Any, true_components: Any) -> float:
    """Return ‖C − C_true‖², summed over words and topics, after the best matching of the topics (rows)."""
    i, j = match_topics(components, true_components)
    A, B = np.asarray(components, dtype=np.float64), np.asarray(true_components, dtype=np.float64)
    return float(((A[i] - B[j]) ** 2).sum())
