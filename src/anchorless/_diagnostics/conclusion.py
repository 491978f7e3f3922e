"""What a comparison of several numbers of topics comes to: one number, the reason, and what else was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._diagnostics.n_topics import CANNOT_TELL, Suggestion

#: Numbers whose gain in completion is at least this share of the best one's predict nearly best.
SUFFICIENT_GAIN = 0.95


class Conclusion(NamedTuple):
    """One number of topics, or none, with the reason.

    Attributes
    ----------
    n_topics : int or None
        The number to take; None if none of the compared numbers can be recommended.
    answer : str
        The same in words, such as "10 topics to begin with".
    reason : str
        Why.
    explanation : str
        What the other figures say, and how they fit together with the conclusion; may be empty.
    """

    n_topics: int | None
    answer: str
    reason: str
    explanation: str


def find_likely_range(numbers: Sequence[int], gains: Array) -> tuple[int, int] | None:
    """Return the smallest and the largest number that predict held-out documents nearly best; None without any gain."""
    if np.isnan(gains).all() or np.nanmax(gains) <= 0:
        return None
    near = np.flatnonzero(gains >= SUFFICIENT_GAIN * np.nanmax(gains))
    return numbers[int(near[0])], numbers[int(near[-1])]


def conclude(numbers: Sequence[int], gains: Array, suggestion: Suggestion) -> Conclusion:
    """Return the conclusion for compared numbers, with their gains (n,) in completion over no topics at all.

    The number of patterns that are found again comes first. If there is none, it is the smallest number that predicts
    held-out documents nearly best, as for `n_topics="auto"`.
    """
    likely = find_likely_range(numbers, gains)
    if suggestion.n_topics is not None:
        broad = "broad topics" if suggestion.is_of_classes else "topics"
        answer = f"{suggestion.n_topics} {broad}"
        return Conclusion(suggestion.n_topics, answer, suggestion.reason, compare_range(suggestion.n_topics, likely))
    if suggestion.beyond == 1:
        return Conclusion(None, "none of these numbers: the documents show no topics", suggestion.reason, "")
    if suggestion.beyond is not None:
        answer = f"compare {suggestion.beyond} topics, too"
        return Conclusion(None, answer, suggestion.reason, compare_range(suggestion.beyond, likely))
    unknown = f"the documents do not tell how many topics there are: {suggestion.reason.removeprefix(CANNOT_TELL)}"
    if likely is None:
        if np.isnan(gains).all():
            why = "prediction of held-out documents can be measured only for whole counts; choose by npmi and stability"
        else:
            why = (
                "with none of these numbers do topics predict held-out documents better than no topics at all: "
                "the documents are too few or too short to tell, or have no topics"
            )
        return Conclusion(None, "none of these numbers stands out", why, unknown)
    low, high = likely
    of_several = f"the smallest of the compared numbers that predict held-out documents nearly best ({low} to {high})"
    larger = "; larger ones may predict still better" if low == numbers[-1] else ""
    best = f"the number, of those compared, that predicts held-out documents best{larger}"
    return Conclusion(low, f"{low} topics to begin with", of_several if low < high else best, unknown)


def compare_range(n: int, likely: tuple[int, int] | None) -> str:
    """Say how a number of patterns that are found again and the numbers that predict nearly best fit together."""
    if likely is None:
        return ""
    low, high = likely
    several = f"{low} to {high} topics predict" if low < high else f"{low} topics predict"
    found = f"{several} held-out documents nearly best"
    if n < low:
        return f"{found}: they divide these {n} into finer ones; take more if you want to read finer topics"
    if n > high:
        return f"{found}: the weakest of the {n} help little to predict; take fewer if you want to read less"
    return f"{found}, and {n} is among them" if low < high else found
