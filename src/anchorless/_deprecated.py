"""Old names that keep working for one version: each warns and says what to write instead."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

TYPE_CHECKING = False  # type checkers read it as True; importing typing would take longer than the rest of the import
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

#: The default of a parameter under its old name: "not given".
DEPRECATED = "deprecated"
#: The version that drops the old names.
REMOVED_IN = "0.2"

#: Module paths that README, docs or docstrings named before version 0.1, and where their content is now.
OLD_MODULES: dict[str, tuple[str, ...]] = {
    "counting": (),
    "counting.counting": ("_corpus.counting", "_corpus.settings"),
    "counting.settings": ("_corpus.settings",),
    "documents": ("_corpus.documents",),
    "estimators": ("_estimators.anchorfree", "_estimators.anchor_words"),
    "explained": ("_core.constraints",),
    "identifiability": ("_diagnostics.identifiability.identifiability",),
    "lengths": ("_core.document_lengths",),
    "model": (),
    "model.summary": ("_topic_model.summary",),
    "model.updating": ("_topic_model.updating",),
    "online": ("_core.online",),
    "reading": (),
    "reading.readers": ("_corpus.io.readers",),
    "refine": ("_core.refine",),
    "search_k": ("_diagnostics.search_k",),
    "stability": ("_diagnostics.stability",),
    "store": (),
    "store.counts": ("_corpus.disk.store",),
    "store.stored": ("_corpus.disk.documents",),
    "topic_model": ("_topic_model.model",),
    "topics": ("_core.topics",),
    "weighting": ("_estimators.weighting",),
}
#: Names that were renamed, by the module that had them.
OLD_NAMES: dict[str, dict[str, str]] = {
    "counting.counting": {"Counting": "CountSettings"},
    "counting.settings": {"Counting": "CountSettings"},
    "distributed": {"connected": "connect", "scattered": "scatter"},
    "identifiability": {"identifiability": "assess_identifiability"},
    "progress": {"listening": "listen"},
    "topics": {"topic_correlation": "compute_topic_correlation"},
}
#: Packages whose frames stand between a warning and the line of the user that caused it.
INNER_PACKAGES = frozenset({"anchorless", "contextlib", "importlib", "sklearn"})


def find_stack_level() -> int:
    """Find the `stacklevel` with which the caller of this function warns at the user's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in INNER_PACKAGES:
        frame = frame.f_back
        level += "importlib._bootstrap" not in frame.f_code.co_filename  # `warnings.warn` does not count these
    return level


def warn_deprecated(message: str) -> None:
    """Warn that an old name is used, at the user's line."""
    message += f"; the old name will be removed in version {REMOVED_IN}"
    warnings.warn(message, FutureWarning, stacklevel=find_stack_level())


def get_renamed(module: ModuleType, old: str) -> Any:
    """Return what a module of this package calls by another name now; the module's `__getattr__` calls this."""
    new = OLD_NAMES[module.__name__.removeprefix("anchorless.")].get(old)
    if new is None:
        raise AttributeError(f"module {module.__name__!r} has no attribute {old!r}")
    warn_deprecated(f"{module.__name__}.{old} is now called {new}")
    return getattr(module, new)


class OldModule(ModuleType):
    """A module under its old path, which looks its names up in the modules that have them now."""

    def __getattr__(self, name: str) -> Any:
        from importlib import import_module

        path = self.__name__.removeprefix("anchorless.")
        new = OLD_NAMES.get(path, {}).get(name, name)
        for home in () if name.startswith("__") else OLD_MODULES[path]:
            module = import_module(f"anchorless.{home}")
            if hasattr(module, new):
                return getattr(module, new)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of the module's name: importing the old module `search_k` hides the function."""
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **kwargs)


class OldModuleFinder:
    """An entry of `sys.meta_path` that finds old modules, and is its own loader."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of an old module, None for every other module."""
        prefix, _, old = name.partition(".")
        if prefix != "anchorless" or old not in OLD_MODULES:
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, cls, is_package=not OLD_MODULES[old])  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """Create an old module."""
        return OldModule(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Warn that the path is old; a package without content is only on the way to a module."""
        if OLD_MODULES[module.__name__.removeprefix("anchorless.")]:
            warn_deprecated(f"the module {module.__name__} has moved: import public names from anchorless itself")


def install() -> None:
    """Let the old module paths be found, after every other way to find a module."""
    if OldModuleFinder not in sys.meta_path:
        sys.meta_path.append(OldModuleFinder)
