"""Short planted documents with embeddings."""

import numpy as np
import scipy.sparse as sp

from anchorless import TopicModel

N, F, WORDS = 900, 5, 80


class Planted:
    """Short documents about one of five topics each, and embeddings that know the topics."""

    def __init__(self):
        rng = np.random.default_rng(3)
        topics = rng.dirichlet(np.full(WORDS, 0.15), F)
        self.topic = rng.integers(F, size=N)
        theta = 0.7 * np.eye(F)[self.topic] + 0.3 * rng.dirichlet(np.ones(F), N)
        counts = np.array([rng.multinomial(6, row) for row in theta @ topics])
        self.X = sp.csr_matrix(counts.astype(np.float64))
        self.vocabulary = [f"word{i}" for i in range(WORDS)]
        self.embeddings = (np.eye(F)[self.topic] @ rng.normal(size=(F, 24)) + rng.normal(size=(N, 24))).astype(
            "float32"
        )
        self.random = rng.normal(size=(N, 24)).astype("float32")

    def fit(self, embeddings=None, X=None, **parameters):
        model = TopicModel(F, **parameters)
        return model.fit_counts(self.X if X is None else X, self.vocabulary, embeddings=embeddings)
