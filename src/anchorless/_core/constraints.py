"""Which words the spectrum knows well enough to constrain the topics.

On sampled data every row of U carries noise, and each noisy row cuts the polytope: hard constraints on
all words pull the topics to the middle. A word's data split into what the F eigenvectors explain and the
rest; the rest, spread over N documents, is the error of its row of U. On exact data nothing is left over
and every word is kept, so the volume problem is the paper's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anchorless._core.eigen import Spectrum
from anchorless._corpus.documents import Array

#: A row of U is trusted when its square is this many times that of its error: three per cent of its length.
#: A stricter limit leaves too few words, a looser one lets the noisiest of many rows decide.
RELIABLE_RATIO = 1000.0
#: What one document that holds a word can add to the word's ratio: a hundred documents make it trusted.
RATIO_PER_DOCUMENT = 10.0
#: At least this many words per topic are kept, the best known: fewer leave the topics without walls.
WORDS_PER_TOPIC = 20
#: Documents per topic that are assumed where their number is not known; a word then needs a share of a tenth.
ASSUMED_DOCUMENTS = 9000.0


def compute_explained_share(spectrum: Spectrum, energy: Array) -> Array:
    """Return, for each word, the share of its mean square that U explains: 1 on exact data (V,)."""
    U, values = spectrum.vectors, spectrum.values
    explained = np.einsum("ij,ij,j->i", U, U, abs(values))
    rest = abs(energy - (explained if np.all(values >= 0) else np.einsum("ij,ij,j->i", U, U, values)))
    rounding = 1e3 * np.finfo(float).eps * abs(spectrum.values[0])
    rest = np.where(rest <= rounding, 0.0, rest)
    return np.divide(explained, explained + rest, out=np.zeros_like(explained), where=explained > 0)


def compute_signal_to_noise(
    share: Array, n_topics: int, n_documents: int | None, frequency: Array | None = None
) -> Array:
    """Return, for each word, the square of its row of U over that of the row's error; infinite on exact data (V,).

    What U does not explain is spread evenly over N documents, and F of these directions end up in the row.
    A word in few documents can be explained well by chance, since those documents may have drawn an
    eigenvector to themselves: its document frequency bounds what can be known of it.
    """
    per_topic = ASSUMED_DOCUMENTS if n_documents is None else n_documents / n_topics
    rest = 1.0 - share
    ratio = np.divide(share * per_topic, rest, out=np.full_like(share, np.inf), where=rest > 0)
    if frequency is None:
        return ratio
    bound = RATIO_PER_DOCUMENT * frequency
    bounded = np.divide(ratio * bound, ratio + bound, out=np.zeros_like(share), where=np.isfinite(ratio) & (bound > 0))
    return np.where(np.isfinite(ratio), bounded, ratio)


def find_reliable_words(ratio: Array, n_topics: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the words whose rows of U are known well enough to be constraints (V,)."""
    enough = min(len(ratio), WORDS_PER_TOPIC * n_topics)
    return ratio >= min(RELIABLE_RATIO, float(np.partition(ratio, -enough)[-enough]))
