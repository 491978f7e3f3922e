"""The mean document of each class as a topic: a reference that uses the labels, not a method."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls


class ClassMeans:
    """Topics from labels; weights by nonnegative least squares."""

    def fit(self, X: Any, labels: Any) -> Self:
        """Average the documents of each class."""
        classes, members = np.unique(labels, return_inverse=True)
        by_class = sp.csr_matrix((np.ones(len(members)), (members, np.arange(len(members)))))
        sums = (by_class @ X).toarray()
        self.components_ = sums / np.bincount(members, minlength=len(classes))[:, None]
        return self

    def transform(self, X: Any) -> Any:
        """Return w ≥ 0 with the least ‖x − w·components_‖ for each document x."""
        Q, R = np.linalg.qr(self.components_.T)
        return np.array([nnls(R, target)[0] for target in np.asarray(X @ Q)])
