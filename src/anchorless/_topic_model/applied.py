"""Topics that are known, found in other documents: batches of texts, or counts wherever they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from anchorless._corpus.counting import count_with_vocabulary
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.threads import resolve_n_threads
from anchorless._corpus.user_counts import validate_blocks
from anchorless._topic_model.mixtures import (
    BatchMixtures,
    Mixtures,
    iter_block_mixtures,
    iter_document_mixtures,
    stack_mixtures,
)
from anchorless._topic_model.shown import InspectionMixin
from anchorless.errors import InputError


class InferenceMixin(InspectionMixin):
    """A model with the record of its fit in `fitted_`, and in `vectorizer_` what counts for it if it does not."""

    n_threads: int | None
    vectorizer_: Any

    def transform_counts(self, X: Any) -> Array:
        """Return the share of each topic in documents × words, counted with the words of `vocabulary_` as columns."""
        return self.infer_mixtures(X).shares

    def infer_mixtures(self, X: Any) -> Mixtures:
        """Return shares, and the explained part, of documents × words with the words of `vocabulary_` as columns."""
        blocks = validate_blocks(X, "X")
        n_words = (blocks if isinstance(blocks, Documents) else blocks[0]).shape[1]
        if n_words != len(self.vocabulary_):
            raise InputError(
                f"X has {n_words} words, but the model knows {len(self.vocabulary_)}; count with vocabulary_"
            )
        return stack_mixtures(self._mixtures(blocks), self._n_features_out)

    def transform_batches(self, batches: Iterable[Any]) -> Iterator[BatchMixtures]:
        """Yield the topics of each batch of texts (string arrays) as they come; memory does not grow."""
        tokens: deque[tuple[int, int | None]] = deque()

        def counts() -> Iterator[Any]:
            for counted in self._count_batches(batches):
                tokens.append(counted[1:])
                yield counted[0]

        for mixtures in self._mixtures(counts()):
            yield BatchMixtures(mixtures, *tokens.popleft())

    def _count_batches(self, batches: Iterable[Any]) -> Iterator[tuple[Any, int, int | None]]:
        """Yield counts, tokens and unknown tokens of batches of texts."""
        fitted = self._get_fitted()
        if hasattr(self, "vectorizer_"):
            for batch in batches:
                counts = self.vectorizer_.transform(batch.to_pylist())
                yield counts, int(counts.sum()), None
        elif fitted.counting is not None:
            yield from count_with_vocabulary(
                batches, fitted.vocabulary, fitted.counting, resolve_n_threads(self.n_threads)
            )
        else:
            raise InputError(
                "this model was fitted on counts that are not its own, so it cannot count texts; load it with "
                "vectorizer=, the vectoriser it was fitted with, or count with vocabulary_ and use transform_counts"
            )

    def _mixtures(self, blocks: Iterable[Any] | Documents) -> Iterator[Mixtures]:
        """Yield the topics of blocks of counts, in their order."""
        fitted = self._get_fitted()
        if isinstance(blocks, Documents):
            elsewhere = blocks.transform_blocks(fitted.weights.transform)
            return iter_document_mixtures(elsewhere, fitted.components, resolve_n_threads(self.n_threads))
        weighed = (fitted.weights.transform(block) for block in blocks)
        return iter_block_mixtures(weighed, fitted.components, resolve_n_threads(self.n_threads))
