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
    cooccurrence : {"biased", "unbiased"}, default="biased"
        "biased" is DᵀD / N of the documents as given; "unbiased" the estimator of Arora et al., for counts.
    normalize : bool, default=False
        Whether `transform` scales the weights of each document to sum to one.
    block_size : int or None, default=None
        Documents per block; None for blocks of about 500,000 entries. Results of different block sizes agree
        to rounding.
    n_jobs : int or None, default=None
        Number of threads over the blocks; None and -1 for every core, -2 for all but one. The result does not depend
        on it, to the bit.
    n_threads : int or None, default="deprecated"
        The old name of `n_jobs`.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_components,)
        The anchor word of each topic, as its column.
    components_ : ndarray of shape (n_components, n_words)
        The topics, each row a probability mass function over the words, largest share first.
    topic_moments_ : ndarray of shape (n_components, n_components)
        Second moments of the topic weights.
    topic_correlation_ : ndarray of shape (n_components, n_components)
        Correlation of the proportions of the topics over the documents.
    topic_shares_ : ndarray of shape (n_components,)
        Share of each topic in the weight of all documents.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_words,)
        Names of the words, where X had string column names.

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
        if frequency is None:
            raise InputError(
                "fit_cooccurrence does not know in how many documents a word is",
                parameter="min_df",
                value=self.min_df,
                limit=1,
                remedy="set {min_df} to 1, or call fit with the documents",
            )
        candidates = frequency >= self.min_df
        n_candidates = int(np.count_nonzero(candidates))
        if n_candidates < self.n_components:
            raise InputError(
                f"only {n_candidates} words are in so many documents, fewer than {{n_components}}={self.n_components}",
                parameter="min_df",
                value=self.min_df,
                limit=int(np.sort(frequency)[-self.n_components]),
                remedy="lower {min_df} or {n_components}",
            )
        return np.asarray(candidates)


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
