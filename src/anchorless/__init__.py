"""Correlated topic models without anchor words."""

from anchorless import datasets, metrics
from anchorless.documents import Documents
from anchorless.estimators import SNPA, SPA, XRAY, AnchorFree, FastAnchor
from anchorless.weighting import NormalizedCutWeighting, TfidfWeighting

__version__ = "0.1.0.dev0"

__all__ = [
    "SNPA",
    "SPA",
    "XRAY",
    "AnchorFree",
    "Documents",
    "FastAnchor",
    "NormalizedCutWeighting",
    "TfidfWeighting",
    "datasets",
    "metrics",
]
