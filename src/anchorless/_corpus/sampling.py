"""Draw documents from topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from anchorless._corpus.documents import Array


def sample_counts(C: Array, W: Array, lengths: Any, rng: np.random.Generator) -> Any:
    """Draw word counts (n, V) for topics C (F, V) and proportions W (n, F): for each token a topic, then a word."""
    tokens_per_topic = rng.multinomial(lengths, W).T
    rows = np.concatenate([np.repeat(np.arange(len(W)), n_tokens) for n_tokens in tokens_per_topic])
    words = [rng.choice(C.shape[1], n.sum(), p=topic) for n, topic in zip(tokens_per_topic, C, strict=True)]
    # Duplicates are added.
    return sp.csr_matrix((np.ones(len(rows)), (rows, np.concatenate(words))), shape=(len(W), C.shape[1]))
