"""The same fit on the same tokens in random order, in which there are no topics: what chance alone gives.

Shuffling the tokens of a corpus keeps how often each word occurs and how many tokens each document has, so it needs
nothing but these numbers. The eigenvalues of such a corpus are those of noise: a direction of the fit that is not
clearly stronger than the strongest of them is chance (parallel analysis, Horn 1965), and so are topics that need it.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from anchorless._core.anchorfree import find_topics
from anchorless._core.cooccurrence import DocumentCooccurrence
from anchorless._core.eigen import Spectrum, find_leading_eigenpairs
from anchorless._core.weighting import weight_documents
from anchorless._corpus.documents import Array, Documents
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.scattering import check_scattering
from anchorless.errors import AnchorlessError

#: Lengths of documents that a model keeps for this: quantiles are enough.
MAX_KEPT_LENGTHS = 2_000
#: Documents and tokens of a shuffled corpus at most. With fewer documents noise is larger, so a limit hides topics but
#: never makes any.
MAX_DOCUMENTS, MAX_TOKENS = 20_000, 4_000_000
#: Shuffled corpora whose noise is measured.
N_SHUFFLES = 5
#: A direction stands out if it is stronger than the noise of all shuffled corpora by this share of it, and by this many
#: standard deviations between them, which is more in small corpora: a further shuffled corpus hardly ever does.
MIN_EXCESS, MIN_DEVIATIONS = 0.1, 3.0
#: As in `AnchorFree`.
MAX_SWEEPS = 200
#: Random starts of the search on the topics of a shuffled corpus.
N_STARTS = 5


class Margins(NamedTuple):
    """What a shuffled corpus keeps of a corpus, and how the corpus was fitted."""

    word_counts: Array  # (V,), tokens of each word
    lengths: Array  # (n,), tokens of documents: all, or quantiles
    n_documents: int
    weighting: str  # as in `weight_documents`
    all_words: bool  # whether every word constrained the topics


class ShuffledComparison(NamedTuple):
    """How a fit compares with fits of the same tokens in random order."""

    n_documents: int  # of a shuffled corpus
    n_shuffles: int  # number of shuffled corpora
    noise: float  # largest eigenvalue of the shuffled corpora but the first, which every corpus has, relative to it
    limit: float  # a relative eigenvalue stands out from here on
    strength: list[float]  # relative eigenvalues of the fit after the first, as multiples of the limit
    n_supported: int  # topics that the directions that stand out allow, at least 1
    scattering: str | None  # verdict on the condition for topics of a shuffled corpus; None if they were not fitted


def summarize_lengths(lengths: Array) -> Array:
    """Return the lengths of documents in order, at most `MAX_KEPT_LENGTHS` of them: quantiles."""
    ordered = np.sort(lengths[lengths > 0])
    if len(ordered) > MAX_KEPT_LENGTHS:
        ordered = ordered[pick_evenly(len(ordered), MAX_KEPT_LENGTHS)]
    return ordered.astype(np.float64)


def pick_evenly(n: int, n_picked: int) -> npt.NDArray[np.intp]:
    """Return `n_picked` positions of n, evenly spaced; some repeat if there are fewer."""
    return np.floor((np.arange(n_picked) + 0.5) * (n / n_picked)).astype(np.intp)


def can_shuffle(margins: Margins) -> bool:
    """Tell whether there are tokens to shuffle: whole counts, and more than one document."""
    whole = all(np.array_equal(values, np.rint(values)) for values in (margins.word_counts, margins.lengths))
    return whole and len(margins.lengths) > 1 and margins.word_counts.sum() > 0


def draw_shuffled_corpus(margins: Margins, rng: np.random.Generator) -> Documents:
    """Return counts of documents with the lengths of the corpus and its tokens in random order."""
    n_documents = max(2, min(margins.n_documents, MAX_DOCUMENTS, int(MAX_TOKENS / margins.lengths.mean())))
    kept = margins.lengths.astype(np.int64)
    lengths = kept if len(kept) == n_documents else kept[pick_evenly(len(kept), n_documents)]
    counts = margins.word_counts.astype(np.int64)
    if counts.sum() != lengths.sum():  # not all documents are drawn
        counts = rng.multinomial(lengths.sum(), counts / counts.sum())
    tokens = np.repeat(np.arange(len(counts)), counts)
    rng.shuffle(tokens)
    rows = np.repeat(np.arange(n_documents), lengths)
    shuffled = sp.csr_array((np.ones(len(tokens)), (rows, tokens)), shape=(n_documents, len(counts)))
    return Documents.from_matrix(shuffled)


def compare_with_shuffled(
    eigenvalues: Array, margins: Margins, rng: np.random.Generator, deadline: float, *, with_topics: bool
) -> ShuffledComparison | None:
    """Compare the eigenvalues (F,) of a fit with those of shuffled corpora; None if there is nothing to shuffle.

    With `with_topics`, topics are fitted to the first of them, too.
    """
    n_topics = len(eigenvalues)
    if not can_shuffle(margins):
        return None
    noise, verdict, n_documents = [], None, 0
    for shuffle in range(N_SHUFFLES):
        if shuffle and monotonic() > deadline:
            break
        P = build_cooccurrence(margins, rng)
        spectrum = find_spectrum(P, n_topics if with_topics and shuffle == 0 else 2, rng)
        if spectrum is None:
            return None
        noise.append(float(spectrum.values[1] / spectrum.values[0]))
        n_documents = P.documents.shape[0]
        if with_topics and shuffle == 0:
            verdict = fit_and_check(P, spectrum, margins.all_words, rng, deadline)
    largest = max(noise)
    limit = largest + max(MIN_EXCESS * largest, MIN_DEVIATIONS * float(np.std(noise)))
    strength = eigenvalues[1:] / (eigenvalues[0] * limit)
    n_supported = 1 + int(np.argmin(np.append(strength > 1.0, False)))
    return ShuffledComparison(n_documents, len(noise), largest, limit, strength.tolist(), n_supported, verdict)


def build_cooccurrence(margins: Margins, rng: np.random.Generator) -> DocumentCooccurrence:
    """Return the co-occurrences of a shuffled corpus, weighted as the corpus was."""
    weighted = weight_documents(draw_shuffled_corpus(margins, rng), margins.weighting, 1)
    return DocumentCooccurrence(weighted.documents, adjust=not margins.all_words)


def find_spectrum(P: DocumentCooccurrence, n_values: int, rng: np.random.Generator) -> Spectrum | None:
    """Return the leading eigenpairs, fewer if there are not so many; None without a second one."""
    while n_values > 1:
        try:
            return find_leading_eigenpairs(P, n_values, rng)
        except AnchorlessError:
            n_values = 2 if n_values > 2 else 1
    return None


def fit_and_check(
    P: DocumentCooccurrence, spectrum: Spectrum, all_words: bool, rng: np.random.Generator, deadline: float
) -> str | None:
    """Return the verdict on the condition for the topics of P, all words as fitted; None if they cannot be fitted."""
    try:
        fit = find_topics(P, spectrum, all_words=all_words, tol=None, max_sweeps=MAX_SWEEPS, rng=rng)
        return check_scattering(Cone(fit.topics.C), N_STARTS, rng, deadline).verdict
    except (AnchorlessError, np.linalg.LinAlgError):
        return None
