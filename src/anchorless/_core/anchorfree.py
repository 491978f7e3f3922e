"""AnchorFree, step by step: spectrum, volume, topics."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from anchorless._core.cooccurrence import Cooccurrence, DocumentCooccurrence
from anchorless._corpus.documents import Array, Crew
from anchorless._core.constraints import explained_share, signal_to_noise, trusted_words
from anchorless.progress import report
from anchorless._core.refine import ALIKE, LARGEST_FIRST, refined
from anchorless._core.eigen import Spectrum, leading_eigenpairs
from anchorless._core.topics import Topics, as_pmf, assemble, negative_mass
from anchorless._core.volume import Volume, maximise_volume, starting_points
from anchorless._core.lp.simplex import Walker

#: Up to this many topics, two more starts cost little.
CHEAP_TOPICS = 12


class FitReport(NamedTuple):
    """What a fit has cost: seconds differ from run to run, counts do not."""

    seconds: dict[str, float]  # by stage: spectrum, constraints, volume, refinement, moments
    n_products: int  # vectors that P was multiplied with for the spectrum
    n_programs: int  # linear programs
    n_pivots: int  # their steps from vertex to vertex
    n_rows: int  # words that ever constrained one of them


class Fit(NamedTuple):
    """Everything that a fit found."""

    spectrum: Spectrum
    volume: Volume
    topics: Topics
    clipped_mass: Array  # (F,)
    n_constraints: int
    report: FitReport


class Stopwatch:
    """Seconds between the calls of `lap`, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        """Name the stage that ends now."""
        report(stage, 1, 1)
        now = perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now


def find_topics(
    P: Cooccurrence,
    n_topics: int,
    *,
    hard: bool,
    tol: float,
    max_sweeps: int,
    rng: np.random.Generator,
    spectrum: Spectrum | None = None,
) -> Fit:
    """Return the topics of P: spectrum, volume, topics; `hard` as in the paper, else as real corpora need it.

    A `spectrum` of this many pairs that is known already is not computed again.
    """
    watch = Stopwatch()
    if spectrum is None:
        spectrum = leading_eigenpairs(P, n_topics, rng)
    watch.lap("spectrum")
    U = spectrum.vectors
    ratio = np.full(len(U), np.inf) if hard else word_ratios(P, spectrum)
    trusted = trusted_words(ratio, n_topics)
    watch.lap("constraints")
    n_starts = 1 if hard or n_topics > CHEAP_TOPICS else 3
    starts = starting_points(n_topics, n_starts, rng)
    crew = Crew(P.n_threads if isinstance(P, DocumentCooccurrence) else 1)
    volume = maximise_volume(Walker(U[trusted], U.sum(axis=0), crew=crew), starts, tol, max_sweeps)
    watch.lap("volume")
    from_volume = U @ volume.M
    if not hard and isinstance(P, DocumentCooccurrence):
        rounds = ALIKE if P.unbiased else LARGEST_FIRST
        C = refined(P.documents, from_volume, ratio, rounds, P.n_threads, P.sides, P.word_sums)
    else:
        C = as_pmf(from_volume)
    watch.lap("refinement")
    topics = assemble(P, C)
    watch.lap("moments")
    cost = FitReport(watch.seconds, spectrum.n_products, *volume.tally)
    return Fit(spectrum, volume, topics, negative_mass(from_volume), int(trusted.sum()), cost)


def word_ratios(P: Cooccurrence, spectrum: Spectrum) -> Array:
    """Return how well U knows each word, infinitely well where P cannot tell (V,)."""
    energy = P.energy()
    if energy is None:
        return np.full(P.n_words, np.inf)
    share = explained_share(spectrum, energy)
    return signal_to_noise(share, len(spectrum.values), P.n_documents, P.document_frequency())
