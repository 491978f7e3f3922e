"""Which words the spectrum knows well enough to constrain the topics.

On sampled data every row of U carries noise, and each noisy row cuts the polytope: hard constraints on
all words pull the topics to the middle. A word's data split into what the F eigenvectors explain and the
rest; the rest, spread over N documents, is the error of its row of U. On exact data nothing is left over
and every word is kept, so the volume problem is the paper's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anchorless.documents import Array
from anchorless.spectrum import Spectrum

#: A row of U is trusted when its length is ten times its error, which is a ratio of 100 in squares.
SIGNAL_TO_NOISE = 100.0
#: Where the number of documents is not known: the explained share of a word's data that is asked for.
EXPLAINED_SHARE = 0.1
#: At least this many words per topic are kept, the best known: fewer leave the topics without walls.
WORDS_PER_TOPIC = 20


def explained_share(spectrum: Spectrum, energy: Array) -> Array:
    """Return, for each word, the share of its mean square that U explains: 1 on exact data (V,)."""
    explained = spectrum.vectors**2 @ abs(spectrum.values)
    rest = abs(energy - spectrum.vectors**2 @ spectrum.values)
    rounding = 1e3 * np.finfo(float).eps * abs(spectrum.values[0])
    rest = np.where(rest <= rounding, 0.0, rest)
    return np.divide(explained, explained + rest, out=np.zeros_like(explained), where=explained > 0)


def trusted_words(spectrum: Spectrum, energy: Array, n_documents: int | None) -> npt.NDArray[np.bool_]:
    """Return a mask of the words whose rows of U are known well enough to be constraints (V,)."""
    share = explained_share(spectrum, energy)
    n_topics = len(spectrum.values)
    # share / (1 − share) · N / F ≥ SIGNAL_TO_NOISE, solved for the share
    needed = None if n_documents is None else SIGNAL_TO_NOISE / (SIGNAL_TO_NOISE + n_documents / n_topics)
    limit = EXPLAINED_SHARE if needed is None else needed
    enough = min(len(share), WORDS_PER_TOPIC * n_topics)
    return share >= min(limit, float(np.partition(share, -enough)[-enough]))
