"""Names of earlier versions keep working, with a warning at the user's line that says what to write."""

import subprocess
import sys
import warnings
from importlib import import_module

import numpy as np
import pytest

import anchorless
from anchorless import SPA, AnchorFree, TopicModel, search_k
from anchorless._choices import CONSTRAINT_SYNONYMS, CONSTRAINTS
from anchorless._deprecated import OLD_MODULES, OLD_NAMES
from anchorless._estimators.base import resolve_n_jobs
from anchorless._validation import OLD_CONSTRAINTS
from anchorless.errors import InputError
from tests.helpers.command_runs import without_coverage
from tests.helpers.planted_texts import planted_texts

#: Names that README, docs or docstrings told users to import from an old path.
DOCUMENTED = {
    "counting.counting": ["Counting", "count_texts"],
    "counting.settings": ["Counting"],
    "documents": ["Documents"],
    "estimators": ["AnchorFree", "SPA", "SNPA", "XRAY", "FastAnchor"],
    "explained": [],
    "identifiability": ["Identifiability", "identifiability"],
    "lengths": [],
    "model.summary": ["Topic"],
    "model.updating": [],
    "online": [],
    "reading.readers": ["open_texts"],
    "refine": [],
    "search_k": ["search_k"],
    "stability": ["Stability"],
    "store.counts": ["CountStore"],
    "store.stored": ["StoredDocuments"],
    "topic_model": ["TopicModel"],
    "topics": ["topic_correlation"],
    "weighting": ["TfidfWeighting", "NormalizedCutWeighting"],
}


@pytest.fixture
def forget_old_modules():
    """Import the old modules anew, and leave no trace of them in the package."""

    def forget():
        for old in OLD_MODULES:
            sys.modules.pop(f"anchorless.{old}", None)
            vars(anchorless).pop(old, None)

    forget()
    yield
    forget()


@pytest.fixture
def X():
    return np.random.default_rng(0).poisson(1.0, (60, 20)).astype(float)


def test_every_old_module_is_tested():
    assert set(DOCUMENTED) == {old for old, homes in OLD_MODULES.items() if homes}


@pytest.mark.parametrize("old", DOCUMENTED)
def test_an_old_module_is_found_with_one_warning(forget_old_modules, old):
    with pytest.warns(FutureWarning, match=rf"anchorless\.{old} has moved.*removed in version") as warned:
        module = import_module(f"anchorless.{old}")
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_module(f"anchorless.{old}") is module  # no second warning
        for name in DOCUMENTED[old]:
            present = OLD_NAMES.get(old, {}).get(name, name)
            homes = [import_module(f"anchorless.{home}") for home in OLD_MODULES[old]]
            assert getattr(module, name) in [getattr(home, present, None) for home in homes]
            if present in anchorless.__all__ and present != "search_k":
                assert getattr(module, name) is getattr(anchorless, present)


@pytest.mark.parametrize("old", DOCUMENTED)
def test_the_modules_behind_an_old_path_exist(old):
    for home in OLD_MODULES[old]:
        import_module(f"anchorless.{home}")


def test_the_warning_is_at_the_line_of_the_user(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n\nfrom anchorless.estimators import SPA\n\nSPA(1, n_threads=1).fit([[1, 2], [3, 1]])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    warned = [line.split(": ")[0] for line in done.stderr.splitlines() if "FutureWarning" in line]
    assert warned == [f"{script}:3", f"{script}:5"]


def test_a_module_that_never_was_is_not_found(forget_old_modules):
    with pytest.raises(ModuleNotFoundError, match=r"anchorless\.nothing"):
        import_module("anchorless.nothing")
    with pytest.warns(FutureWarning):
        module = import_module("anchorless.estimators")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


def test_the_old_module_search_k_can_be_called_as_the_function(forget_old_modules):
    function = anchorless.search_k
    with pytest.warns(FutureWarning):
        import_module("anchorless.search_k")
    assert anchorless.search_k.search_k is function
    with pytest.raises(InputError):
        anchorless.search_k(np.ones((3, 2)), [])


@pytest.mark.parametrize("name", [name for name in OLD_NAMES if name not in OLD_MODULES])
def test_an_old_name_in_a_module_is_the_new_one(name):
    if name == "distributed":
        pytest.importorskip("dask", reason="Dask is not installed: pip install 'anchorless[test-all]'")
    module = import_module(f"anchorless.{name}")
    for old, new in OLD_NAMES[name].items():
        with pytest.warns(FutureWarning, match=f"{old} is now called {new}"):
            assert getattr(module, old) is getattr(module, new)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


def test_importing_the_package_is_cheap():
    code = "import sys, anchorless; sys.exit('numpy' in sys.modules or 'typing' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, env=without_coverage()).returncode == 0


# Parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [AnchorFree, SPA])
def test_n_threads_is_n_jobs_with_a_warning(X, estimator):
    model = estimator(2, n_threads=1)
    for call in (model.fit, model.transform, model.score):
        with pytest.warns(FutureWarning, match=r"n_threads=1 is now called n_jobs=1.*removed in version"):
            call(X)
    np.testing.assert_array_equal(model.components_, estimator(2, n_jobs=1).fit(X).components_)


def test_n_threads_warns_once_in_a_fit(X):
    with pytest.warns(FutureWarning) as warned:
        AnchorFree(2, n_threads=None, constraint="explained").fit(X)
    assert sorted(str(warning.message).split(" ")[0] for warning in warned) == [
        "constraint='explained'",
        "n_threads=None",
    ]


def test_both_names_of_n_jobs_are_refused(X):
    with pytest.raises(InputError, match=r"n_threads=2, but it is the old name of n_jobs.*give only n_jobs"):
        AnchorFree(2, n_jobs=1, n_threads=2).fit(X)


def test_resolve_n_jobs_serves_every_estimator():
    assert resolve_n_jobs(AnchorFree(n_jobs=3)) == 3
    with pytest.warns(FutureWarning):
        assert resolve_n_jobs(AnchorFree(n_threads=2)) == 2


@pytest.mark.parametrize("old", OLD_CONSTRAINTS)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_an_old_constraint_is_the_new_one_with_a_warning(X, old, method):
    new = CONSTRAINT_SYNONYMS[old]
    assert new in CONSTRAINTS
    expected = getattr(AnchorFree(2, constraint=new), method)(X)
    model = AnchorFree(2, constraint=old)
    with pytest.warns(FutureWarning, match=f"constraint='{old}' is now called constraint='{new}'"):
        getattr(model, method)(X)
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert model.n_constraints_ == expected.n_constraints_
    assert model.get_params()["constraint"] == old
    model.transform(X)  # without a warning: it does not use the constraint


@pytest.mark.parametrize(
    ("old", "new"),
    [({"n_threads": 1}, {"n_jobs": 1}), ({"constraint": "explained"}, {"constraint": "reliable"})],
    ids=["n_threads", "constraint"],
)
def test_topic_models_accept_the_old_names(old, new):
    texts = planted_texts(60)[0]
    with pytest.warns(FutureWarning, match=rf"{next(iter(old))}=.* is now called {next(iter(new))}=") as warned:
        model = TopicModel(3, **old).fit(texts)
    assert {warning.filename for warning in warned} == {__file__}
    np.testing.assert_array_equal(model.components_, TopicModel(3, **new).fit(texts).components_)


def test_search_k_accepts_the_old_names(X):
    with pytest.warns(FutureWarning, match="n_threads=1 is now called n_jobs=1"):
        old = search_k(X, [2, 3], n_threads=1)
    assert [row.topics for row in old.rows] == [2, 3]
