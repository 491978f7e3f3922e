"""Compiled loops that move documents on a map: one after another, so that the result has the same bits every time.

The loops themselves are in layout_kernels.c.
"""

from __future__ import annotations

from ctypes import c_int
from typing import Any

import numpy as np

from anchorless._core.compiled import call, check_range, make_room, read, write
from anchorless._corpus.documents import Array


def move_documents(places: Array, rows: Any, columns: Any, weights: Array, n_epochs: int) -> None:
    """Move the documents at places (n, 2), in place: pairs attract, each document is pushed from a few others.

    A pair of half the weight moves half as often. The force between two documents at distance d is that of the kernel
    1 / (1 + d²); steps become smaller from pass to pass.
    """
    n, n_pairs = len(places), len(rows)
    check_range(rows, n)
    check_range(columns, n)
    read(weights, n_pairs)
    intervals = weights.max(initial=0.0) / weights
    call(
        "move_documents",
        *(n, n_pairs, n_epochs),
        write(places, n, 2),
        *(read(rows, n_pairs, dtype=np.int64), read(columns, n_pairs, dtype=np.int64)),
        *(read(intervals, n_pairs), write(intervals.copy(), n_pairs)),
    )


def spread_documents(places: Array, least: float, n_rounds: int) -> None:
    """Move documents at places (n, 2) in the unit square apart, in place, if they are nearer than `least`.

    Dense groups grow until their documents can be seen, and push those around them outward. Only documents of the same
    or a neighboring cell of a grid are compared.
    """
    if not least > 0:
        raise ValueError(f"documents are moved {least} apart, but a distance is above 0")
    n = len(places)
    given = n, write(places, n, 2), float(least), n_rounds, make_room(n, dtype=np.int64)
    if not call("spread_documents", *given, result=c_int):
        raise MemoryError(f"a grid of cells of {least} around {n} documents is too large")
