"""AnchorFree, step by step: spectrum, volume, topics."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from anchorless._core.constraints import compute_explained_share, compute_signal_to_noise, find_reliable_words
from anchorless._core.cooccurrence import Cooccurrence, DocumentCooccurrence
from anchorless._core.eigen import Spectrum, find_leading_eigenpairs
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.refine import EQUAL_ROUNDS, LARGEST_FIRST_ROUNDS, refine_topics
from anchorless._core.topics import Topics, assemble_topics, compute_negative_mass, to_pmf
from anchorless._core.volume import Volume, make_starting_points, maximize_volume
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import ThreadTeam
from anchorless.progress import report_progress

#: Up to this many topics, two more starts cost little.
MULTISTART_MAX_TOPICS = 12


class FitCost(NamedTuple):
    """What a fit has cost: seconds differ from run to run, counts do not."""

    seconds: dict[str, float]  # by stage: spectrum, constraints, volume, refinement, moments
    n_products: int  # vectors that P was multiplied with for the spectrum
    n_programs: int  # linear programs
    n_pivots: int  # their steps from vertex to vertex
    n_rows: int  # words that ever constrained one of them


class FitResult(NamedTuple):
    """Everything that a fit found."""

    spectrum: Spectrum
    volume: Volume
    topics: Topics
    clipped_mass: Array  # (F,)
    n_constraints: int
    report: FitCost


class StageTimer:
    """Seconds between the calls of `lap`, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def record_stage(self, stage: str) -> None:
        """Name the stage that ends now."""
        report_progress(stage, 1, 1)
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
) -> FitResult:
    """Return the topics of P: spectrum, volume, topics; `hard` as in the paper, else as real corpora need it.

    A `spectrum` of this many pairs that is known already is not computed again.
    """
    watch = StageTimer()
    if spectrum is None:
        spectrum = find_leading_eigenpairs(P, n_topics, rng)
    watch.record_stage("spectrum")
    U = spectrum.vectors
    ratio = np.full(len(U), np.inf) if hard else compute_word_ratios(P, spectrum)
    trusted = find_reliable_words(ratio, n_topics)
    watch.record_stage("constraints")
    n_starts = 1 if hard or n_topics > MULTISTART_MAX_TOPICS else 3
    starts = make_starting_points(n_topics, n_starts, rng)
    team = ThreadTeam(P.n_threads if isinstance(P, DocumentCooccurrence) else 1)
    volume = maximize_volume(SimplexSolver(U[trusted], U.sum(axis=0), team=team), starts, tol, max_sweeps)
    watch.record_stage("volume")
    from_volume = U @ volume.M
    if not hard and isinstance(P, DocumentCooccurrence):
        rounds = EQUAL_ROUNDS if P.unbiased else LARGEST_FIRST_ROUNDS
        C = refine_topics(P.documents, from_volume, ratio, rounds, P.n_threads, P.column_blocks, P.word_sums)
    else:
        C = to_pmf(from_volume)
    watch.record_stage("refinement")
    topics = assemble_topics(P, C)
    watch.record_stage("moments")
    cost = FitCost(watch.seconds, spectrum.n_products, *volume.solver_counts)
    return FitResult(spectrum, volume, topics, compute_negative_mass(from_volume), int(trusted.sum()), cost)


def compute_word_ratios(P: Cooccurrence, spectrum: Spectrum) -> Array:
    """Return how well U knows each word, infinitely well where P cannot tell (V,)."""
    energy = P.energy()
    if energy is None:
        return np.full(P.n_words, np.inf)
    share = compute_explained_share(spectrum, energy)
    return compute_signal_to_noise(share, len(spectrum.values), P.n_documents, P.document_frequency())
