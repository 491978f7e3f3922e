"""A model that draws its documents anew: which of its topics depend on the documents that happened to be there."""

from __future__ import annotations

import warnings
from typing import Any

from anchorless._corpus.documents import Documents
from anchorless._diagnostics.stability import Stability
from anchorless._estimators.anchorfree import AnchorFree
from anchorless._topic_model.shown import InspectionMixin
from anchorless._validation import OLD_CONSTRAINTS
from anchorless.errors import InputError
from anchorless.progress import ProgressCallback


class StabilityMixin(InspectionMixin):
    """A model with the record of its fit in `fitted_`, and after a fit its weighted documents in `documents_`."""

    documents_: Documents
    stability_: Stability
    constraint: str
    n_threads: int | None
    random_state: Any

    def stability(
        self,
        n_resamples: int = 50,
        *,
        level: float = 0.9,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Stability:
        """Return how far the topics depend on which documents are there, and keep it for tables and the report.

        A bootstrap over the training documents (see `AnchorFree.stability`), with their weighting as it is. A model
        that was loaded from a file has no documents: fit again.
        """
        self._get_fitted()
        if not hasattr(self, "documents_"):
            raise InputError("documents on disk, on a cluster or of a model file cannot be resampled; fit in memory")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has given them
            found = self._make_estimator(self._n_features_out)
            found.components_, found.n_features_in_ = self.components_, self.components_.shape[1]
            self.stability_ = found.stability(
                self.documents_, n_resamples, level=level, n_jobs=n_jobs, progress=progress
            )
        return self.stability_

    @property
    def n_topics_(self) -> int:
        """The number of topics, also where it was not given."""
        return self._n_features_out

    def _make_estimator(self, n_topics: int) -> AnchorFree:
        return AnchorFree(
            n_topics,
            constraint=OLD_CONSTRAINTS.get(self.constraint, self.constraint),
            n_jobs=self.n_threads,
            random_state=self.random_state,
        )
