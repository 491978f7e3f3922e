"""Import directions between the packages, as data. A module may import its neighbors in a package, without a cycle."""

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "anchorless"

# Package, or module at the top → the packages it may import.
BASE = {
    "errors",
    "progress",
    "_choices",
    "_deprecated",
    "_file_groups",
    "_files",
    "_figures",
    "_folders",
    "_locks",
    "_text_safety",
    "_validation",
}
MAY_IMPORT = {
    "errors": set(),
    "_choices": set(),
    "_deprecated": set(),
    "progress": {"_deprecated"},
    "_file_groups": {"_files", "_locks", "errors"},
    "_files": {"_locks", "errors"},
    "_figures": {"errors"},
    "_folders": {"errors", "_files", "_locks"},
    "_locks": {"errors"},
    "_text_safety": set(),
    "_validation": {"errors", "_choices", "_deprecated"},
    "_corpus": BASE,
    "_core": {*BASE, "_corpus"},
    "metrics": {*BASE, "_corpus", "_core"},
    "datasets": {*BASE, "_corpus"},
    "_estimators": {*BASE, "_corpus", "_core", "_diagnostics", "metrics"},
    "_diagnostics": {*BASE, "_corpus", "_core", "metrics"},
    "_effects": {*BASE, "_corpus", "_core", "_diagnostics", "_plots"},
    "_report": {"errors", "_files", "_figures", "_locks"},
    "_plots": {"errors", "_figures", "_report", "_text_safety"},
    "_export": {"errors", "_files", "_text_safety"},
    "_topic_model": {
        *BASE,
        "_corpus",
        "_core",
        "_diagnostics",
        "_effects",
        "_estimators",
        "_export",
        "_plots",
        "_report",
        "metrics",
    },
    "_distributed": {*BASE, "_corpus", "_topic_model"},
    "distributed": {*BASE, "_corpus", "_distributed", "_topic_model"},
    "spark": {*BASE, "_corpus", "_distributed", "_topic_model"},
    "_cli": {
        *BASE,
        "_core",
        "_corpus",
        "_diagnostics",
        "_effects",
        "_report",
        "_topic_model",
        "datasets",
        "distributed",
        "metrics",
    },
    "__main__": {"_cli"},
}
# The package's face names everything that is public.
FACES = {"__init__"}

# Libraries that few modules may import.
ONLY_IMPORTERS = {
    "formulaic": {"_effects.design"},
    "highspy": {"_core.lp.polytope"},
    "argparse": {"_cli"},
    "sentence_transformers": {"_corpus.encoders"},
    "shtab": {"_cli"},
    "tqdm": {"_cli.progress"},
    "safetensors": {"_topic_model.file"},
    "stop_words": {"_corpus.text.stop_words"},
    "pypdf": {"_corpus.io.pdf"},
    "python_calamine": {"_corpus.io.sheet_process"},
    "rjieba": {"_corpus.text.chinese"},
    "sudachipy": {"_corpus.text.japanese"},
    "pythainlp": {"_corpus.text.thai"},
    "simplemma": {"_corpus.text.lemmas"},
    "pyLDAvis": {"_topic_model.pyldavis"},
    "xlsxwriter": {"_export.excel"},
    "matplotlib": {"_effects.plot", "_plots", "_report.spectrum_plot"},
    "dask": {"_distributed.client"},
    "distributed": {"_distributed.client"},
    "pyspark": {"spark"},
}

WITHOUT_SKLEARN = {
    "errors",
    "progress",
    "_files",
    "_core",
    "metrics",
    "_export",
    "_plots",
    "_report",
    "_cli",
    "_distributed",
}


def modules() -> list[str]:
    return sorted(".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py"))


@cache
def imported_names(module: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def own_imports(module: str) -> set[str]:
    names = {name.removeprefix("anchorless.") for name in imported_names(module) if name.startswith("anchorless.")}
    return names & set(modules())


def package_of(module: str) -> str:
    return module.split(".")[0]


def is_within(module: str, place: str) -> bool:
    return module == place or module.startswith(f"{place}.")


@pytest.mark.parametrize("module", [name for name in modules() if name not in FACES])
def test_imports_point_down(module):
    package = package_of(module)
    assert {package_of(other) for other in own_imports(module)} <= MAY_IMPORT[package] | {package}


def assert_no_cycle(imports: dict[str, set[str]]) -> None:
    placed: set[str] = set()
    waiting = dict(imports)
    while waiting:
        ready = {module for module, needs in waiting.items() if needs <= placed}
        assert ready, f"import cycle among {sorted(waiting)}"
        placed |= ready
        waiting = {module: needs for module, needs in waiting.items() if module not in ready}


def test_the_table_has_no_cycle():
    assert_no_cycle(MAY_IMPORT)


def test_the_modules_have_no_cycle():
    assert_no_cycle({module: own_imports(module) for module in modules() if module not in FACES})


@pytest.mark.parametrize("library", sorted(ONLY_IMPORTERS))
def test_only_importers_of_a_library(library):
    users = {module for module in modules() if any(name.split(".")[0] == library for name in imported_names(module))}
    assert users
    assert all(any(is_within(user, place) for place in ONLY_IMPORTERS[library]) for user in users), users


@pytest.mark.parametrize("module", [name for name in modules() if package_of(name) in WITHOUT_SKLEARN])
def test_algorithms_know_nothing_of_scikit_learn(module):
    assert not any(name.split(".")[0] == "sklearn" for name in imported_names(module))


def test_nothing_is_pickled():
    users = {module for module in modules() if imported_names(module) & {"pickle", "joblib", "cloudpickle", "shelve"}}
    assert users == set()
