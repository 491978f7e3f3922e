"""The places of documents on the map that the report and `model.plot.documents` show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anchorless._core.document_layout import lay_out_documents
from anchorless._corpus.documents import Array


class DocumentMap(NamedTuple):
    """A place for each of the documents that a fit keeps."""

    places: Array  # (n, 2), in the unit square; NaN for documents that are not on the map
    by_embeddings: bool  # whether neighbors are those of the embeddings, or those of the mixtures


def map_documents(mixtures: Array, embeddings: Any = None, n_threads: int = 1) -> DocumentMap:
    """Place documents by their embeddings (n, d) if they are given, otherwise by their mixtures (n, F) of topics.

    The distance of two mixtures is Hellinger's: that of the square roots of the shares. Documents without topics, and
    those whose embedding is zero, are not on the map.
    """
    known = mixtures.any(axis=1)
    vectors = np.sqrt(mixtures)
    if embeddings is not None:
        vectors = np.asarray(embeddings, dtype=np.float64)
        known &= vectors.any(axis=1)
    places = np.full((len(mixtures), 2), np.nan)
    places[known] = lay_out_documents(vectors[known], n_threads)
    return DocumentMap(places, embeddings is not None)
