"""The result of `stability` in a model file: arrays, and a part of the header; checked when it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from anchorless._diagnostics.stability import Interval, Stability
from anchorless._diagnostics.token_intervals import DrawnMoments, TopicDraws
from anchorless._topic_model.file import Arrays

#: Names in a file begin with this.
PREFIX = "stability_"
#: Shapes of the arrays: F topics, n leading words, D draws, U searched words; and the type where it is not float64.
SHAPES = {
    "words": "Fn",
    "word_stability": "Fn",
    "topic_stability": "F",
    "association_p": "FF",
    "probabilities": "Fn",
    "shares": "F",
    "correlation": "FF",
    "association": "FF",
}
INTERVALS = ("probabilities", "shares", "correlation", "association")
#: Draws, without those of single words, and their shapes.
MOMENTS = {"shares": "DF", "mean": "DF", "covariance": "DFF"}
SOURCES = ("corpus", "population")


def write_stability(found: Stability, arrays: Arrays) -> dict[str, Any]:
    """Add the arrays of a stability to those of a model file, and return its part of the header."""
    parts: Arrays = {name: getattr(found, name) for name in SHAPES if name not in INTERVALS}
    for name in INTERVALS:
        parts |= {f"{name}_{end}": values for end, values in getattr(found, name)._asdict().items()}
    if found.draws is not None:
        for source in SOURCES:
            parts |= {f"{source}_{name}": values for name, values in getattr(found.draws, source)._asdict().items()}
        parts |= {"drawn_words": found.draws.words, "drawn_probabilities": found.draws.probabilities}
    for name, values in parts.items():
        arrays[PREFIX + name] = values.astype(np.int64) if values.dtype.kind == "i" else values
    return {"n_resamples": found.n_resamples, "level": found.level, "corrected": found.corrected}


def read_stability(header: dict[str, Any], arrays: Arrays, n_topics: int, n_words: int) -> Stability:
    """Return the stability of a model file of so many topics and words; ValueError if a part does not fit."""
    sizes = {"F": n_topics, "n": arrays[PREFIX + "words"].shape[1]}

    def take(name: str, axes: str, kind: type = np.float64) -> Any:
        values = arrays[PREFIX + name]
        if values.shape != tuple(sizes[axis] for axis in axes) or values.dtype != kind:
            raise ValueError(PREFIX + name)
        return values

    def take_words(name: str, axes: str) -> Any:
        words = take(name, axes, np.int64)
        if words.size and not (words.min() >= 0 and words.max() < n_words):
            raise ValueError(PREFIX + name)
        return words.astype(np.intp)

    found: dict[str, Any] = {"words": take_words("words", SHAPES["words"])}
    for name, axes in SHAPES.items():
        if name in INTERVALS:
            found[name] = Interval(*(take(f"{name}_{end}", axes) for end in Interval._fields))
        elif name != "words":
            found[name] = take(name, axes)
    if PREFIX + "drawn_words" in arrays:
        sizes |= {"D": len(arrays[PREFIX + "corpus_shares"]), "U": len(arrays[PREFIX + "drawn_words"])}
        corpus, population = (
            DrawnMoments(*(take(f"{source}_{name}", axes, np.float32) for name, axes in MOMENTS.items()))
            for source in SOURCES
        )
        words, probabilities = take_words("drawn_words", "U"), take("drawn_probabilities", "DFU", np.float32)
        found["draws"] = TopicDraws(corpus, population, words, probabilities)
    n_resamples, level = header["n_resamples"], header["level"]
    if type(n_resamples) is not int or n_resamples < 1 or not 0 < level < 1:
        raise ValueError("stability")
    return Stability(n_resamples, float(level), bool(header["corrected"]), **found)
