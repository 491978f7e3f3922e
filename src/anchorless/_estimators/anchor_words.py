"""The anchor-word methods as scikit-learn estimators: SPA, SNPA, XRAY and FastAnchor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._core.anchors import (
    AnchorRule,
    WordVectors,
    extreme_ray,
    fast_anchor,
    successive_nonnegative_projection,
    successive_projection,
)
from anchorless._core.cooccurrence import Cooccurrence
from anchorless._core.recover import recover_topics
from anchorless._core.topics import Topics, assemble_topics, to_pmf
from anchorless._deprecated import DEPRECATED
from anchorless._estimators.base import TopicEstimator
from anchorless._validation import check_whole
from anchorless.errors import InputError

#: The sections of the docstring that the four methods share.
_SHARED = """

    Parameters
    ----------
    n_components : int, default=2
        Number of topics, and of anchor words.
    min_df : int, default=1
        Only words in at least this many documents may become anchors. A word in three documents is extreme by chance;
        100 is a good value for corpora of thousands of documents. `fit_cooccurrence`, which does not know the
        documents, takes 1 only.
    cooccurrence, normalize, block_size, n_jobs, n_threads
        As in `AnchorFree`.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_components,)
        The anchor word of each topic, as its column.
    components_, topic_moments_, topic_correlation_, topic_shares_, n_features_in_, feature_names_in_
        As in `AnchorFree`.

    Examples
    --------
    >>> from anchorless import NAME
    >>> model = NAME(n_components=2).fit([[2, 0, 1], [1, 0, 1], [0, 2, 1], [0, 3, 1]])
    >>> sorted(model.anchors_.tolist())
    [0, 1]
    """


class AnchorWords(TopicEstimator):
    """Anchor words chosen by the greedy rule of a subclass, then RecoverL2."""

    _rule: AnchorRule

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = f"{cls.__doc__}{_SHARED.replace('NAME', cls.__name__)}"

    def __init__(
        self,
        n_components: int = 2,
        *,
        min_df: int = 1,
        cooccurrence: str = "biased",
        normalize: bool = False,
        block_size: int | None = None,
        n_jobs: int | None = None,
        n_threads: Any = DEPRECATED,
    ) -> None:
        self.n_components = n_components
        self.min_df = min_df
        self.cooccurrence = cooccurrence
        self.normalize = normalize
        self.block_size = block_size
        self.n_jobs = n_jobs
        self.n_threads = n_threads

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("min_df", self.min_df)

    def _find_topics(self, P: Cooccurrence) -> Topics:
        candidates = self._find_candidates(P)
        words = WordVectors(P)
        anchors = np.array(type(self)._rule(words, self.n_components, candidates & (words.squares > 0)))
        inner = np.column_stack([words.inner(v) for v in anchors])
        gram = (inner[anchors] + inner[anchors].T) / 2
        C = to_pmf(recover_topics(gram, inner, words.squares, words.weight, anchors))
        topics = assemble_topics(P, C)
        self.anchors_ = anchors[topics.order]
        return topics

    def _find_candidates(self, P: Cooccurrence) -> npt.NDArray[np.bool_]:
        """Return a mask of the words that may become anchors (V,)."""
        if self.min_df == 1:
            return np.ones(P.n_words, dtype=bool)
        frequency = P.document_frequency()
        given: dict[str, Any] = {"parameter": "min_df", "value": self.min_df}
        if frequency is None:
            problem = "fit_cooccurrence does not know in how many documents a word is"
            raise InputError(problem, **given, limit=1, remedy="set {min_df} to 1, or call fit with the documents")
        candidates = np.asarray(frequency >= self.min_df)
        n_candidates = int(np.count_nonzero(candidates))
        if n_candidates < self.n_components:
            limit = int(np.sort(frequency)[-self.n_components])
            problem = f"only {n_candidates} words occur in so many documents, and {self.n_components} are needed"
            raise InputError(problem, **given, limit=limit, remedy="lower {min_df} or {n_components}")
        return candidates


class SPA(AnchorWords):
    """Anchor words by successive projection (Algorithm 1 of the paper) on the normalized rows of P, then RecoverL2."""

    _rule = staticmethod(successive_projection)


class SNPA(AnchorWords):
    """Anchor words by successive nonnegative projection (Gillis 2014), then RecoverL2."""

    _rule = staticmethod(successive_nonnegative_projection)


class XRAY(AnchorWords):
    """Anchor words as extreme rays (Kumar et al. 2013, selection rule "max"), then RecoverL2.

    The rows of P are not normalized for the selection, only for RecoverL2.
    """

    _rule = staticmethod(extreme_ray)


class FastAnchor(AnchorWords):
    """Fast anchor words (Arora et al. 2013) without the random projection, then RecoverL2."""

    _rule = staticmethod(fast_anchor)
