"""Who may import whom, as data: a new module must state its place, and imports point down."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "anchorless"

# module → what it may import of this package
MAY_IMPORT = {
    "errors": set(),
    "documents": {"errors"},
    "checks": {"errors"},
    "cooccurrence": {"documents", "errors"},
    "spectrum": {"cooccurrence", "documents", "errors"},
    "explained": {"documents", "spectrum"},
    "polytope": {"documents", "errors"},
    "walker": {"documents", "polytope"},
    "volume": {"documents", "errors", "polytope"},
    "topics": {"cooccurrence", "documents"},
    "weights": {"documents", "errors"},
    "refine": {"documents", "weights"},
    "weighting": {"checks", "documents"},
    "metrics": {"documents", "errors", "weights"},
    "datasets": {"checks", "documents"},
    "anchorfree": {"cooccurrence", "documents", "explained", "refine", "spectrum", "topics", "volume", "walker"},
    "recover": {"documents", "errors", "weights"},
    "anchors": {"cooccurrence", "documents", "errors", "recover", "weights"},
    "base": {"checks", "cooccurrence", "documents", "errors", "topics", "weights"},
    "estimators": {"anchorfree", "anchors", "base", "checks", "cooccurrence", "errors", "recover", "topics"},
    "cli": {"datasets", "errors", "estimators", "weighting"},
    "__init__": {"datasets", "documents", "estimators", "metrics", "weighting"},
}

# libraries that one module alone may import
ONLY_DOOR = {"highspy": "polytope", "argparse": "cli"}

# arrays know nothing of scikit-learn
WITHOUT_SKLEARN = {
    "errors",
    "documents",
    "cooccurrence",
    "spectrum",
    "explained",
    "polytope",
    "walker",
    "volume",
    "topics",
    "weights",
    "refine",
    "metrics",
    "datasets",
    "anchorfree",
    "recover",
    "anchors",
}


def modules() -> list[str]:
    return sorted(path.stem for path in PACKAGE.rglob("*.py"))


def imported_names(module: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def own_imports(module: str) -> set[str]:
    parts = (name.split(".") for name in imported_names(module))
    return {part[1] for part in parts if part[0] == "anchorless" and len(part) > 1 and part[1] in MAY_IMPORT}


def test_every_module_has_its_place():
    assert modules() == sorted(MAY_IMPORT)


@pytest.mark.parametrize("module", sorted(MAY_IMPORT))
def test_imports_are_those_allowed(module):
    assert own_imports(module) <= MAY_IMPORT[module]


def test_the_table_has_no_cycle():
    placed: set[str] = set()
    waiting = dict(MAY_IMPORT)
    while waiting:
        ready = {module for module, needs in waiting.items() if needs <= placed}
        assert ready, f"import cycle among {sorted(waiting)}"
        placed |= ready
        waiting = {module: needs for module, needs in waiting.items() if module not in ready}


@pytest.mark.parametrize(("library", "door"), sorted(ONLY_DOOR.items()))
def test_one_door_to_a_library(library, door):
    users = {module for module in modules() if any(name.split(".")[0] == library for name in imported_names(module))}
    assert users == {door}


@pytest.mark.parametrize("module", sorted(WITHOUT_SKLEARN))
def test_algorithms_know_nothing_of_scikit_learn(module):
    assert not any(name.split(".")[0] == "sklearn" for name in imported_names(module))


def test_nothing_is_pickled():
    users = {module for module in modules() if imported_names(module) & {"pickle", "joblib", "cloudpickle", "shelve"}}
    assert users == set()
