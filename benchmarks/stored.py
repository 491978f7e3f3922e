"""Corpora on disk, read by every process that measures: it imports nothing that the measured model does not need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def is_stored(name: str, folder: Path) -> bool:
    """Return whether a corpus is in the folder: its labels are written last."""
    return (folder / f"{name}.labels.npy").exists()


def load_matrix(name: str, kind: str, folder: Path) -> Any:
    """Return the matrix, "counts" or "weighted", of a stored corpus."""
    return sp.csr_matrix(sp.load_npz(folder / f"{name}.{kind}.npz"))


def load_draw(name: str, folder: Path) -> Any:
    """Return all of a stored corpus, as the experiments' measures want it."""
    from experiments.corpora_data import Draw

    counts, weighted = (load_matrix(name, kind, folder) for kind in ("counts", "weighted"))
    labels = np.load(folder / f"{name}.labels.npy")
    return Draw(counts, weighted, labels, np.arange(counts.shape[1]), tuple(np.unique(labels)))
