"""Correlated topic models without anchor words.

Every public name is an attribute of this package, or of one of its public modules `datasets`, `distributed`, `errors`,
`metrics`, `progress` and `spark`. Names are imported when they are first used.
"""

from anchorless import _deprecated

TYPE_CHECKING = False  # type checkers read it as True; importing typing would take longer than the rest of the import
if TYPE_CHECKING:
    from typing import Any

    from anchorless import datasets, errors, metrics, progress
    from anchorless._corpus.corpus import Corpus
    from anchorless._corpus.disk.store import CountStore
    from anchorless._corpus.documents import Documents
    from anchorless._corpus.settings import CountSettings
    from anchorless._diagnostics.identifiability.identifiability import Identifiability
    from anchorless._diagnostics.search_k import SearchK, search_k
    from anchorless._diagnostics.stability import Stability
    from anchorless._effects.effects import Effects
    from anchorless._estimators.anchor_words import SNPA, SPA, XRAY, FastAnchor
    from anchorless._estimators.anchorfree import AnchorFree
    from anchorless._estimators.weighting import NormalizedCutWeighting, TfidfWeighting
    from anchorless._topic_model.hierarchy import Hierarchy
    from anchorless._topic_model.model import TopicModel
    from anchorless._topic_model.plots import TopicPlots
    from anchorless._topic_model.seeds import Seed, SeparatedWords
    from anchorless._topic_model.summary import Topic
    from anchorless.errors import (
        AnchorlessError,
        ClusterError,
        InputError,
        RankError,
        SolverError,
        SpectrumWarning,
        UsageError,
    )

__version__ = "0.1.0.dev0"

__all__ = ["SNPA", "SPA", "XRAY", "AnchorFree", "AnchorlessError", "ClusterError", "Corpus", "CountSettings"]
__all__ += ["CountStore", "Documents", "Effects", "FastAnchor", "Hierarchy", "Identifiability"]
__all__ += ["InputError"]
__all__ += [
    "NormalizedCutWeighting",
    "RankError",
    "SearchK",
    "Seed",
    "SeparatedWords",
    "SolverError",
    "SpectrumWarning",
    "Stability",
]
__all__ += ["TfidfWeighting", "Topic", "TopicModel", "TopicPlots", "UsageError", "datasets", "errors"]
__all__ += ["metrics", "progress", "search_k"]
#: Public modules that need an extra: not in `__all__`, so that `from anchorless import *` works without them.
_EXTRA_MODULES = ("distributed", "spark")

#: The names of each module; names that are not here are modules.
_NAMES = {
    "_corpus.corpus": ("Corpus",),
    "_corpus.disk.store": ("CountStore",),
    "_corpus.documents": ("Documents",),
    "_corpus.settings": ("CountSettings",),
    "_diagnostics.identifiability.identifiability": ("Identifiability",),
    "_diagnostics.search_k": ("SearchK", "search_k"),
    "_diagnostics.stability": ("Stability",),
    "_effects.effects": ("Effects",),
    "_estimators.anchor_words": ("SNPA", "SPA", "XRAY", "FastAnchor"),
    "_estimators.anchorfree": ("AnchorFree",),
    "_estimators.weighting": ("NormalizedCutWeighting", "TfidfWeighting"),
    "_topic_model.hierarchy": ("Hierarchy",),
    "_topic_model.model": ("TopicModel",),
    "_topic_model.plots": ("TopicPlots",),
    "_topic_model.seeds": ("Seed", "SeparatedWords"),
    "_topic_model.summary": ("Topic",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
_HOME |= {name: "errors" for name in __all__ if name.endswith(("Error", "Warning"))}

_deprecated.install()


def __getattr__(name: str) -> "Any":
    """Import a public name when it is first used.

    The command then starts at once and can be interrupted while it imports, and Dask, Spark and the libraries that
    read and count texts are imported only where they are needed.
    """
    from importlib import import_module

    if name not in __all__ and name not in _EXTRA_MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOME:
        return import_module(f"{__name__}.{name}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_EXTRA_MODULES})
