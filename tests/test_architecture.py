"""Who may import whom, as data: a new module must state its place, and imports point down."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "anchorless"

# a module at the top of the package → what it may import: modules beside it, or rooms
MAY_IMPORT = {
    "errors": set(),
    "progress": set(),
    "documents": {"errors"},
    "checks": {"documents", "errors"},
    "wordwise": {"documents"},
    "lengths": {"documents"},
    "cooccurrence": {"documents", "errors", "lengths", "wordwise"},
    "spectrum": {"cooccurrence", "documents", "errors"},
    "explained": {"documents", "spectrum"},
    "polytope": {"documents", "errors"},
    "corners": {"documents", "polytope"},
    "compiled": {"corners", "documents", "polytope"},
    "walker": {"compiled", "corners", "documents", "errors", "polytope"},
    "volume": {"documents", "errors", "polytope", "progress"},
    "topics": {"cooccurrence", "documents"},
    "weights": {"documents", "errors"},
    "refine": {"documents", "progress", "topics", "weights", "wordwise"},
    "weighting": {"checks", "documents", "errors"},
    "metrics": {"documents", "errors", "weights"},
    "datasets": {"checks", "documents"},
    "anchorfree": {
        *("cooccurrence", "documents", "explained", "progress", "refine", "spectrum", "topics", "volume", "walker"),
    },
    "how_many": {"cooccurrence", "documents"},
    "resampling": {
        *("anchorfree", "cooccurrence", "documents", "errors", "explained", "lengths", "refine", "spectrum", "topics"),
        *("volume", "walker", "wordwise"),
    },
    "stability": {"anchorfree", "checks", "cooccurrence", "documents", "errors", "metrics", "resampling", "topics"},
    "search_k": {
        *("anchorfree", "checks", "cooccurrence", "documents", "errors", "how_many", "lengths", "metrics", "model"),
        *("resampling", "spectrum", "stability", "trust"),
    },
    "recover": {"documents", "errors", "weights"},
    "anchors": {"cooccurrence", "documents", "errors", "recover", "weights"},
    "identifiability": {"checks", "documents", "errors", "topics", "trust"},
    "base": {"checks", "cooccurrence", "documents", "errors", "topics", "weights"},
    "online": {"cooccurrence", "documents", "refine", "topics", "weights"},
    "estimators": {
        *("anchorfree", "anchors", "base", "checks", "cooccurrence", "documents", "errors", "identifiability"),
        *("lengths", "online", "recover", "stability", "topics"),
    },
    "topic_model": {
        *("checks", "counting", "documents", "errors", "estimators", "model", "progress", "search_k", "store"),
    },
    "runs": {"documents", "errors"},
    "clients": {"errors", "runs"},
    "cluster": {"clients", "documents", "errors", "runs"},
    "distributed": {"clients", "cluster", "counting", "documents", "errors", "reading", "runs", "topic_model"},
    "spark": {"counting", "documents", "errors", "runs", "topic_model"},
    "cli": {"command", "errors"},
    "entry": {"cli"},
    "__main__": {"entry"},
    "__init__": {"datasets", "documents", "estimators", "metrics", "topic_model", "weighting"},
}

# a room → what its modules may import from outside
ROOM_MAY_IMPORT = {
    "reading": {"documents", "errors"},
    "counting": {"checks", "documents", "errors"},
    "trust": {"documents", "errors", "topics", "volume", "walker"},
    "store": {"counting", "documents", "errors", "progress", "reading"},
    "report": {"errors", "reading"},
    "model": {
        "checks",
        "counting",
        "documents",
        "errors",
        "estimators",
        "identifiability",
        "metrics",
        "reading",
        "report",
        "stability",
        "trust",
        "weighting",
        "weights",
    },
    "command": {
        *("counting", "datasets", "distributed", "documents", "errors", "identifiability", "metrics", "model"),
        *("progress", "reading", "report", "search_k", "store", "topic_model"),
    },
}

# the modules of a room in their order: each may import those before it
ROOMS = {
    "reading": (
        *("files", "batches", "decoding", "columns", "tabular", "plain", "parquet", "readers"),
        *("vocabularies", "pairs", "counted", "countfiles"),
    ),
    "counting": ("mail", "markup", "tokens", "stopwords", "terms", "settings", "counting", "parts"),
    "trust": ("cone", "exact", "proofs", "scattering", "uniqueness", "candidates", "closeness", "survival", "glance"),
    "store": ("blockfile", "folder", "stored", "growing", "counts"),
    "report": ("page", "topic_map", "html", "spectrum_plot"),
    "model": (
        *("weighed", "updating", "mixtures", "metadata", "snippets", "own_counts", "summary", "gathered", "modelfile"),
        *("fitted", "verdicts", "frames", "pyldavis", "report_data", "assembling", "finding", "shown", "applied"),
        "resampled",
    ),
    "command": (
        *("options", "printing", "progress", "large", "folders", "corpora", "tables", "onto_cluster", "fit", "apply"),
        *("show", "evaluate", "search_k", "compare", "convert", "demo"),
    ),
}

# libraries that few modules may import
ONLY_DOORS = {
    "highspy": {"polytope"},
    "argparse": {"cli", *(f"command.{name}" for name in ROOMS["command"])},
    "shtab": {"cli"},
    "tqdm": {"command.progress"},
    "safetensors": {"model.modelfile"},
    "stop_words": {"counting.stopwords"},
    "pyLDAvis": {"model.pyldavis"},
    "dask": {"clients"},
    "distributed": {"clients"},
    "pyspark": {"spark"},
}

# rooms and modules that know nothing of scikit-learn
WITHOUT_SKLEARN = {
    *("errors", "progress", "documents", "wordwise", "cooccurrence", "spectrum", "explained", "polytope", "corners"),
    *("walker", "volume", "topics", "weights", "refine", "metrics", "datasets", "anchorfree", "recover", "anchors"),
    *("reading", "counting", "store", "report", "command", "trust", "identifiability", "online"),
    *("how_many", "resampling"),
}


def modules() -> list[str]:
    found = (".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in PACKAGE.rglob("*.py"))
    return sorted(name for name in found if not name.endswith(".__init__"))


def placed_modules() -> list[str]:
    return sorted([*MAY_IMPORT, *(f"{room}.{name}" for room, names in ROOMS.items() for name in names)])


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


def room_of(module: str) -> str:
    return module.split(".")[0]


def test_every_module_has_its_place():
    assert modules() == placed_modules()


@pytest.mark.parametrize("module", placed_modules())
def test_imports_are_those_allowed(module):
    room, _, name = module.rpartition(".")
    if not room:
        assert {room_of(other) for other in own_imports(module)} <= MAY_IMPORT[module]
        return
    before = {f"{room}.{other}" for other in ROOMS[room][: ROOMS[room].index(name)]}
    inside = {other for other in own_imports(module) if room_of(other) == room}
    outside = {room_of(other) for other in own_imports(module)} - {room}
    assert inside <= before
    assert outside <= ROOM_MAY_IMPORT[room]


def test_the_tables_have_no_cycle():
    placed: set[str] = set()
    waiting = {**MAY_IMPORT, **ROOM_MAY_IMPORT}
    while waiting:
        ready = {module for module, needs in waiting.items() if needs <= placed}
        assert ready, f"import cycle among {sorted(waiting)}"
        placed |= ready
        waiting = {module: needs for module, needs in waiting.items() if module not in ready}


@pytest.mark.parametrize("library", sorted(ONLY_DOORS))
def test_few_doors_to_a_library(library):
    users = {module for module in modules() if any(name.split(".")[0] == library for name in imported_names(module))}
    assert users
    assert users <= ONLY_DOORS[library]


@pytest.mark.parametrize("module", [name for name in placed_modules() if room_of(name) in WITHOUT_SKLEARN])
def test_algorithms_know_nothing_of_scikit_learn(module):
    assert not any(name.split(".")[0] == "sklearn" for name in imported_names(module))


def test_nothing_is_pickled():
    users = {module for module in modules() if imported_names(module) & {"pickle", "joblib", "cloudpickle", "shelve"}}
    assert users == set()
