"""Select the words that constrain the topics: those whose rows of U are reliable.

On sampled data every noisy row of U cuts the polytope, so constraints on all words pull the topics together. What the F
eigenvectors do not explain of a word's data, spread over N documents, is the error of its row. On exact data there is
no such rest and every word is reliable, so the volume problem is the paper's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anchorless._core.eigen import Spectrum
from anchorless._corpus.documents import Array

#: A row of U is reliable if its square is this many times that of its error, so that the error is 3% of its length.
#: A higher limit leaves too few words; with a lower one, the noisiest of many rows decides.
RELIABLE_RATIO = 1000.0
#: Each document that contains a word adds at most this to the word's ratio: a hundred documents make it reliable.
RATIO_PER_DOCUMENT = 10.0
#: At least this many words per topic are used, those with the highest ratios: fewer leave the polytope unbounded.
WORDS_PER_TOPIC = 20
#: Documents per topic that are assumed if their number is unknown; a word then needs a tenth of its square explained.
ASSUMED_DOCUMENTS = 9000.0


def compute_explained_share(spectrum: Spectrum, energy: Array) -> Array:
    """Return the share of each word's mean square (V,) that U explains: 1 on exact data."""
    U, values = spectrum.vectors, spectrum.values
    explained = np.einsum("ij,ij,j->i", U, U, abs(values))
    rest = abs(energy - (explained if np.all(values >= 0) else np.einsum("ij,ij,j->i", U, U, values)))
    rest[rest <= 1e3 * np.finfo(float).eps * abs(values[0])] = 0.0  # rounding
    return np.divide(explained, explained + rest, out=np.zeros_like(explained), where=explained > 0)


def compute_signal_to_noise(
    share: Array, n_topics: int, n_documents: int | None, frequency: Array | None = None
) -> Array:
    """Return the square of each word's row of U over that of the row's error (V,); infinite on exact data."""
    # What U does not explain is spread evenly over N documents, and F of these directions end up in the row.
    per_topic = ASSUMED_DOCUMENTS if n_documents is None else n_documents / n_topics
    rest = 1.0 - share
    ratio = np.divide(share * per_topic, rest, out=np.full_like(share, np.inf), where=rest > 0)
    if frequency is None:
        return ratio
    # A word in few documents can be explained well by chance, since an eigenvector may follow those documents.
    bound = RATIO_PER_DOCUMENT * frequency
    bounded = np.divide(ratio * bound, ratio + bound, out=np.zeros_like(share), where=np.isfinite(ratio) & (bound > 0))
    return np.where(np.isfinite(ratio), bounded, ratio)


def compute_error_variance(ratio: Array, n_topics: int) -> Array:
    """Return the variance of each entry of a row's error (m,), for rows of U scaled to length one; 0 on exact data."""
    # The square of the error is spread over F entries; an error is at most as long as the row, even if that is noise.
    return np.asarray(1.0 / (np.maximum(ratio, 1.0) * n_topics), dtype=np.float64)


def compute_word_noise(spectrum: Spectrum, energy: Array | None, n_documents: int | None) -> Array | None:
    """Return the mean square of what U does not explain of each word, over N (V,); None if P does not know it."""
    if energy is None or n_documents is None:
        return None
    return energy * (1.0 - compute_explained_share(spectrum, energy)) / n_documents


def find_reliable_words(ratio: Array, n_topics: int) -> npt.NDArray[np.bool_]:
    """Return a mask of the reliable words, by their signal-to-noise ratios (V,)."""
    enough = min(len(ratio), WORDS_PER_TOPIC * n_topics)
    return ratio >= min(RELIABLE_RATIO, float(np.partition(ratio, -enough)[-enough]))
