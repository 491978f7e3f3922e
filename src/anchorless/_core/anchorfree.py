"""AnchorFree from co-occurrences to topics: spectrum, constraints, volume, refinement, moments."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from anchorless._core.anchored import find_anchored_start, relax_volume
from anchorless._core.constraints import (
    compute_error_variance,
    compute_explained_share,
    compute_signal_to_noise,
    find_reliable_words,
)
from anchorless._core.cooccurrence import Cooccurrence, DocumentCooccurrence
from anchorless._core.eigen import Spectrum
from anchorless._core.lp.simplex import SimplexSolver
from anchorless._core.refine import EQUAL_ROUNDS, LARGEST_FIRST_ROUNDS, refine_topics
from anchorless._core.topics import Topics, assemble_topics, compute_negative_mass, to_pmf
from anchorless._core.volume import Volume, make_starting_points, maximize_volume, run_sweeps
from anchorless._corpus.documents import Array
from anchorless._corpus.threads import call_interruptibly
from anchorless.progress import report_progress

#: Up to this many topics, two more starting points cost little.
MULTISTART_MAX_TOPICS = 12
#: Up to this many topics, sweeps to convergence cost less than the spectrum.
CONVERGE_MAX_TOPICS = 50
#: Up to this many topics of noisy data, the sweeps cost about what the spectrum costs. Both the pivots and the cost of
#: each grow: programs from anchor rows on TDT2 have 4,900 pivots at 50 topics, 28,000 at 100 and 132,000 at 200.
SWEEP_MAX_TOPICS = 120
#: The tolerance if none is given.
DEFAULT_TOLERANCE = 1e-7


class FitCost(NamedTuple):
    """What a fit has cost: seconds differ from run to run, counts do not."""

    seconds: dict[str, float]  # by stage: spectrum, constraints, volume, refinement, moments
    n_products: int  # vectors that P was multiplied with for the spectrum
    n_programs: int  # linear programs
    n_pivots: int  # of the linear programs
    n_rows: int  # words that constrained at least one linear program
    n_fallbacks: int  # linear programs that were left to HiGHS, at many times the cost


class FitResult(NamedTuple):
    """Everything that a fit found."""

    spectrum: Spectrum
    volume: Volume
    topics: Topics
    clipped_mass: Array  # (F,), negative probability mass that was set to zero
    n_constraints: int  # words used as constraints
    report: FitCost


def find_topics(
    P: Cooccurrence,
    spectrum: Spectrum,
    *,
    all_words: bool,
    tol: float | None,
    max_sweeps: int,
    rng: np.random.Generator,
) -> FitResult:
    """Return the topics of P; with `all_words` these are all constraints and nothing is refined, as in the paper.

    Without a tolerance, the noise of the words decides when the volume is large enough.
    """
    seconds: dict[str, float] = {}
    last = perf_counter() - spectrum.seconds

    def end_stage(stage: str) -> None:
        nonlocal last
        report_progress(stage, 1, 1)
        seconds[stage], last = perf_counter() - last, perf_counter()

    end_stage("spectrum")
    U, n_topics = spectrum.vectors, len(spectrum.values)
    ratio = np.full(len(U), np.inf) if all_words else compute_word_ratios(P, spectrum)
    reliable = find_reliable_words(ratio, n_topics)
    end_stage("constraints")
    n_starts = 1 if all_words or n_topics > MULTISTART_MAX_TOPICS else 3
    starts = make_starting_points(n_topics, n_starts, rng)
    variance = compute_error_variance(ratio[reliable], n_topics) if tol is None else np.zeros(int(reliable.sum()))
    volume = find_volume(U[reliable], U.sum(axis=0), variance, starts, tol, max_sweeps)
    end_stage("volume")
    from_volume = call_interruptibly(np.matmul, U, volume.M)
    if not all_words and isinstance(P, DocumentCooccurrence):
        rounds = EQUAL_ROUNDS if P.unbiased else LARGEST_FIRST_ROUNDS
        C = refine_topics(P.products, from_volume, ratio, rounds, P.word_sums)
    else:
        C = to_pmf(from_volume)
    end_stage("refinement")
    topics = assemble_topics(P, C)
    end_stage("moments")
    cost = FitCost(seconds, spectrum.n_products, *volume.solver_counts)
    return FitResult(spectrum, volume, topics, compute_negative_mass(from_volume), int(reliable.sum()), cost)


def find_volume(
    R: Array, s: Array, variance: Array, starts: Sequence[Array], tol: float | None, max_sweeps: int
) -> Volume:
    """Maximize the volume over the rows R (m, F) to the tolerance, or, without one, as far as their noise allows.

    `variance` (m,) is that of the entries of the errors of rows of length one; `s` (F,) is the sum of the rows of U.
    """
    n_topics, is_noisy = len(s), bool(variance.any())
    if is_noisy and n_topics > SWEEP_MAX_TOPICS:
        relaxed = relax_volume(R, s, variance)
        if relaxed is not None:
            return relaxed
    solver, tolerance = SimplexSolver(R, s, variance=variance), tol or DEFAULT_TOLERANCE
    # From the identity, as in the paper, the volume may be a little larger, but the first sweep costs twice as much.
    if n_topics > (CONVERGE_MAX_TOPICS if tol is None else SWEEP_MAX_TOPICS):
        near = find_anchored_start(solver, R)  # None if two anchors have the same vertex
        start, feasible = (starts[0], False) if near is None else (near, True)
        return run_sweeps(solver, start, tolerance, max_sweeps, feasible=feasible, until_noise=is_noisy)
    return maximize_volume(solver, starts, tolerance, max_sweeps)


def compute_word_ratios(P: Cooccurrence, spectrum: Spectrum) -> Array:
    """Return the signal-to-noise ratio of each word's row of U (V,), infinite where P does not know it."""
    energy = P.energy()
    if energy is None:
        return np.full(P.n_words, np.inf)
    share = compute_explained_share(spectrum, energy)
    return compute_signal_to_noise(share, len(spectrum.values), P.n_documents, P.document_frequency())
