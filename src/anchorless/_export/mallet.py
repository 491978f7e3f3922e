"""The files that MALLET writes after training: topic keys, topics of documents, weights of words.

The columns are those of ``--output-topic-keys``, ``--output-doc-topics`` and ``--topic-word-weights-file``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._export.text import clean_line

Array = npt.NDArray[np.float64]

KEYS, DOCUMENTS, WEIGHTS = "topic-keys.txt", "doc-topics.txt", "topic-word-weights.txt"


def write_keys(folder: Path, alpha: Array, words: Sequence[Sequence[str]]) -> None:
    """Write for each topic its number, its prior weight and its leading words."""
    lines = (
        f"{k}\t{a!r}\t{' '.join(map(join_word, some))} "
        for k, (a, some) in enumerate(zip(alpha.tolist(), words, strict=True))
    )
    write_lines(folder / KEYS, lines)


def write_documents(folder: Path, names: Sequence[Any], shares: Array) -> None:
    """Write for each document its position, its name and the shares of all topics (N, F)."""
    with open(folder / DOCUMENTS, "w", encoding="utf-8", newline="\n") as file:
        for i, (name, row) in enumerate(zip(names, shares, strict=True)):
            values = "\t".join(map(repr, row.tolist()))
            file.write(f"{i}\t{join_word(str(name))}\t{values}\n")


def write_weights(folder: Path, weights: Array, vocabulary: Sequence[str]) -> None:
    """Write for each topic and word the expected number of tokens (F, V)."""
    words = [join_word(word) for word in vocabulary]
    with open(folder / WEIGHTS, "w", encoding="utf-8", newline="\n") as file:
        for k, row in enumerate(weights):
            file.writelines(f"{k}\t{word}\t{weight!r}\n" for word, weight in zip(words, row.tolist(), strict=True))


def join_word(text: str) -> str:
    """Return a word or name without spaces, which separate words in these files."""
    return "_".join(clean_line(text).split()) or "_"


def write_lines(path: Path, lines: Any) -> None:
    """Write lines of text."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
