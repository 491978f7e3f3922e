"""The public border: names with signatures, docstrings of all, and attributes of fitted estimators."""

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anchorless
from tests.helpers.planted_texts import planted_texts
from tests.helpers.public_api import (
    EXTRA_MODULES,
    MISSING,
    format_name,
    iter_public_names,
    list_parameters,
    parse_sections,
)

RECORDED = Path(__file__).parent / "fixtures" / "public_api.txt"
NAMES = list(iter_public_names())
#: Their examples need a cluster; the how-to pages about clusters are run instead.
WITHOUT_EXAMPLES = tuple(f"anchorless.{name}." for name in EXTRA_MODULES)

EVERY_NAME = pytest.mark.parametrize("name", NAMES, ids=[name.path for name in NAMES])


def is_property(name):
    """Tell whether a name is a property or a constant."""
    return not callable(name.value)


def is_record(value):
    """Tell whether a class is a result or an error, which users do not create."""
    return inspect.isclass(value) and issubclass(value, tuple | BaseException)


def shares_constructor(value):
    """Tell whether another public class describes the same constructor."""
    others = [other.value for other in NAMES if inspect.isclass(other.value) and other.value is not value]
    return any(
        other.__init__ is value.__init__ and "Parameters" in parse_sections(inspect.getdoc(other)) for other in others
    )


def list_parameter_names(name):
    return [parameter.name for parameter in list_parameters(name)]


def overrides_public(name):
    """Tell whether a method overrides, with the same parameters, one that another public class describes."""
    described = {other.path: other for other in NAMES}
    bases = [other for other in NAMES if inspect.isclass(other.value) and other.value in name.owner.__mro__[1:]]
    overridden = [described.get(f"{base.path}.{name.path.rpartition('.')[2]}") for base in bases]
    return any(other and list_parameter_names(other) == list_parameter_names(name) for other in overridden)


def test_names_and_signatures_are_as_recorded():
    """After an intended change: python -m tests.helpers.public_api > tests/fixtures/public_api.txt."""
    recorded = RECORDED.read_text(encoding="utf-8").splitlines()
    missing = tuple(f"anchorless.{name}." for name in MISSING)
    assert [*map(format_name, NAMES)] == [line for line in recorded if not line.startswith(missing)]


def test_exports_are_listed_once():
    assert len(set(anchorless.__all__)) == len(anchorless.__all__)
    assert {*anchorless.__all__, *EXTRA_MODULES} <= set(dir(anchorless))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = anchorless.nothing


def test_a_name_outside_the_border_is_private():
    package = Path(anchorless.__file__).parent
    modules = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {name for name in modules if not name.startswith("_")} <= {*anchorless.__all__, *EXTRA_MODULES}


def test_star_import_without_the_extras():
    code = "import sys; sys.modules.update(dask=None, distributed=None, pyspark=None); from anchorless import *; SPA"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@EVERY_NAME
def test_everything_public_has_a_docstring(name):
    doc = inspect.getdoc(name.value)
    assert doc
    assert not doc.startswith("Alias for field number")
    assert doc.splitlines()[0].endswith((".", ":"))


@EVERY_NAME
def test_the_docstring_names_the_parameters_of_the_signature(name):
    if is_property(name) or (name.owner and overrides_public(name)):
        return
    sections = parse_sections(inspect.getdoc(name.value))
    documented = sections.get("Parameters", sections.get("Attributes", []) if is_record(name.value) else [])
    if inspect.isclass(name.value) and not documented and shares_constructor(name.value):
        return
    assert documented == list_parameter_names(name)


@EVERY_NAME
def test_the_docstring_says_what_is_returned(name):
    if is_property(name) or inspect.isclass(name.value) or (name.owner and overrides_public(name)):
        return
    returned = inspect.signature(name.value).return_annotation
    if returned not in (None, "None", "NoReturn"):
        assert {"Returns", "Yields"} & set(parse_sections(inspect.getdoc(name.value)))


@EVERY_NAME
def test_examples_run(name):
    doc = inspect.getdoc(name.value)
    if name.path.startswith(WITHOUT_EXAMPLES):
        return
    if name.owner is None and callable(name.value) and not is_record(name.value):
        assert "Examples" in parse_sections(doc)
    example = doctest.DocTestParser().get_doctest(doc, {}, name.path, None, 0)
    out = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=out.append)
    assert out == []


# Fitted attributes --------------------------------------------------------------------------------------------

X = np.random.default_rng(0).poisson(1.0, (60, 20)).astype(float)
FITTED = {
    "AnchorFree": lambda: anchorless.AnchorFree(3).fit(X),
    "AnchorFree, cooccurrences": lambda: anchorless.AnchorFree(3).fit_cooccurrence(X.T @ X),
    "AnchorFree, partial": lambda: anchorless.AnchorFree(3).partial_fit(X),
    "SPA": lambda: anchorless.SPA(3).fit(X),
    "SNPA": lambda: anchorless.SNPA(3).fit(X),
    "XRAY": lambda: anchorless.XRAY(3).fit(X),
    "FastAnchor": lambda: anchorless.FastAnchor(3).fit(X),
    "TfidfWeighting": lambda: anchorless.TfidfWeighting().fit(X),
    "NormalizedCutWeighting": lambda: anchorless.NormalizedCutWeighting().fit(X),
    "TopicModel": lambda: anchorless.TopicModel(3).fit(planted_texts(60)[0]),
    "TopicModel, partial": lambda: anchorless.TopicModel(3).partial_fit(planted_texts(60)[0]),
}


@pytest.mark.parametrize("make", FITTED.values(), ids=FITTED.keys())
def test_every_fitted_attribute_is_documented(make):
    model = make()
    attributes = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    documented = parse_sections(inspect.getdoc(type(model)))["Attributes"]
    assert attributes <= set(documented)
    public = {name for name in vars(model) if not name.startswith("_") and not name.endswith("_")}
    assert public == set(model.get_params(deep=False))


def test_private_packages_are_not_named_in_public_docstrings():
    named = {name.path for name in NAMES if "anchorless._" in (inspect.getdoc(name.value) or "")}
    assert named == set()
