"""Correlated topic models without anchor words."""

TYPE_CHECKING = False  # checkers of types take it for True; importing the true one would take longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from anchorless import datasets, metrics
    from anchorless._corpus.documents import Documents
    from anchorless._estimators.estimators import SNPA, SPA, XRAY, AnchorFree, FastAnchor
    from anchorless._estimators.weighting import NormalizedCutWeighting, TfidfWeighting
    from anchorless._topic_model.model import TopicModel

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

#: Where each name comes from; modules come from themselves.
_HOME = {
    **dict.fromkeys(("SNPA", "SPA", "XRAY", "AnchorFree", "FastAnchor"), "_estimators.estimators"),
    **dict.fromkeys(("NormalizedCutWeighting", "TfidfWeighting"), "_estimators.weighting"),
    "Documents": "_corpus.documents",
    "TopicModel": "_topic_model.model",
}


def __getattr__(name: str) -> "Any":
    """Import what is asked for when it is first asked for.

    The command starts at once and can be interrupted while it imports the rest, and reading and counting text need
    libraries that arrays do not.
    """
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOME:
        return import_module(f"{__name__}.{name}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
