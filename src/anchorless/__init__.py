"""Correlated topic models without anchor words."""

from typing import TYPE_CHECKING, Any

from anchorless import datasets, metrics
from anchorless.documents import Documents
from anchorless.estimators import SNPA, SPA, XRAY, AnchorFree, FastAnchor
from anchorless.weighting import NormalizedCutWeighting, TfidfWeighting

if TYPE_CHECKING:
    from anchorless.topic_model import TopicModel

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
    "TopicModel",
    "datasets",
    "metrics",
]


def __getattr__(name: str) -> Any:
    """Import `TopicModel` when it is first asked for: reading and counting text need libraries that arrays do not."""
    if name == "TopicModel":
        from anchorless.topic_model import TopicModel

        return TopicModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
