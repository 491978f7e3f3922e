"""Identifiability at a glance, for tables of many fits: what costs a fraction of a fit, and depends on no clock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.identifiability.candidates import find_anchor_candidates, find_common_words
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.scattering import scattering


class IdentifiabilitySummary(NamedTuple):
    """How far topics are determined by words in enough documents."""

    anchor: float  # of the topic with the worst one: the share of its nearest anchor word's occurrences about the topic
    scattered: str  # "proved" (by anchor words), "refuted" or "not refuted" (by 2F linear programs and searches)


def glance(C: Array, shares: Array, documents: Array) -> IdentifiabilitySummary:
    """Return the glance at topics C (V, F) with these shares (F,); `documents` hold each word (V,).

    Of the proofs only that by anchor words is tried: the others could take a time that nobody knows.
    """
    nearest = [
        topic.candidates[0].share for topic in find_anchor_candidates(C, shares, documents, 1) if topic.candidates
    ]
    words = find_common_words(C, documents)
    if not C[words].any(axis=0).all():  # a topic of rare words alone
        words = np.asarray(C.any(axis=1))
    part = np.ascontiguousarray(C[words] / C[words].sum(axis=0))
    found = scattering(Cone(part), 0, np.random.default_rng(0), float("inf"), prove=False)
    return IdentifiabilitySummary(min(nearest, default=0.0), found.verdict)
