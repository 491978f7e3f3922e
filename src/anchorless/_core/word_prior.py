"""Topics from counts of their words: probabilities under a prior that keeps rare words near their frequency.

A topic's probability of word w is Gamma-distributed around the frequency p_w with shape s, so that, before they are
scaled to sum to one, φ_kw = (n_kw + s) / (n_k + s / p_w): frequent words are as counted.
"""

from __future__ import annotations

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._corpus.sparse import split_range

#: Shape of the prior of a word's probability in a topic: the smaller, the more topics may differ. Dense topics have
#: every word, by different factors; others have some of the words, and hardly any of the rest.
WORD_SHAPE, DENSE_WORD_SHAPE = 0.1, 0.4
#: Words whose numbers exist at the same time, where an array of all of them would be large.
WORDS_AT_A_TIME = 2**10


class WordPrior:
    """The topics that word counts (V, F) and the prior give, with `background` tokens of the corpus in every topic.

    With one token more of word w, topic k would have `step` = 1 / ((topic_sizes[k] + sizes[w])·sums[k]) more of it, and
    its probability is (words[w, k] + added[w])·step. At hundreds of topics an array of these would be large.
    """

    def __init__(self, words: Array, p: Array, shape: float = WORD_SHAPE, background: float = 0.0) -> None:
        self.words, self.p = words, p
        self.added = np.where(p > 0, shape + background * p, 0.0)
        with np.errstate(divide="ignore"):
            self.sizes = shape / p + background  # infinite without a token
        self.topic_sizes, self.sums = words.sum(axis=0), np.ones(words.shape[1])
        self.sums = sum((self._compute_rows(rows).sum(axis=0) for rows in self._parts), start=np.zeros(words.shape[1]))

    @property
    def _parts(self) -> list[slice]:
        return split_range(len(self.words), WORDS_AT_A_TIME)

    def _compute_rows(self, rows: slice) -> Array:
        """Return the probabilities of some words in the topics (n, F)."""
        step = 1.0 / ((self.topic_sizes + self.sizes[rows, None]) * self.sums)
        return np.asarray((self.words[rows] + self.added[rows, None]) * step)

    def compute_phi(self, part: float = 0.0) -> Array:
        """Return the probabilities of the words in the topics (V, F), mixed with a part of their frequencies p."""
        phi = np.empty(self.words.shape)
        for rows in self._parts:
            found = self._compute_rows(rows)
            phi[rows] = found + part * (self.p[rows, None] - found) if part else found
        return phi
