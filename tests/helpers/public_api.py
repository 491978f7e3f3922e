"""The public names of the package with their signatures: `python -m tests.helpers.public_api` prints them."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import anchorless

MEMBERS = (FunctionType, classmethod, staticmethod, property, cached_property)
#: Public modules that need an extra, and those whose extra is not installed here.
EXTRA_MODULES = {"distributed": "dask", "spark": "pyspark"}
MISSING = {name for name, library in EXTRA_MODULES.items() if find_spec(library) is None}


class PublicName(NamedTuple):
    """A public class, function, method or property, and the class that has it."""

    path: str
    value: Any
    owner: type | None = None


def iter_public_names() -> Iterator[PublicName]:
    """Yield what the package and its public modules export, and the members of their classes."""
    exported = [(f"anchorless.{name}", getattr(anchorless, name)) for name in anchorless.__all__]
    modules = [value for _, value in exported if isinstance(value, ModuleType)]
    exported = [(path, value) for path, value in exported if not isinstance(value, ModuleType)]
    known = {id(value) for _, value in exported}
    for module in [*modules, *(getattr(anchorless, name) for name in EXTRA_MODULES if name not in MISSING)]:
        own = [(f"{module.__name__}.{name}", getattr(module, name)) for name in module.__all__]
        exported += [(path, value) for path, value in own if id(value) not in known]
    classes = {value for _, value in exported if inspect.isclass(value)}
    for path, value in exported:
        yield PublicName(path, value)
        if inspect.isclass(value):
            yield from iter_members(path, value, classes)


def iter_members(path: str, owner: type, classes: set[type]) -> Iterator[PublicName]:
    """Yield the public methods and properties of a class that neither scikit-learn nor another public class has."""
    for name in sorted(dir(owner)):
        home = next((base for base in owner.__mro__ if name in vars(base)), object)
        raw = vars(home).get(name)
        if name.startswith("_") or not home.__module__.startswith("anchorless") or not isinstance(raw, MEMBERS):
            continue
        bases = classes & {*owner.__mro__} - {owner}
        if any(inspect.getattr_static(base, name, None) is raw for base in bases):
            continue
        is_property = isinstance(raw, property | cached_property)
        yield PublicName(f"{path}.{name}", raw if is_property else getattr(owner, name), owner)


def list_parameters(name: PublicName) -> list[inspect.Parameter]:
    """List the parameters of a function, method or constructor, without `self`."""
    function = name.value
    if inspect.isclass(function):
        # The signature of a NamedTuple is that of `__new__`, of other classes that of `__init__`.
        function = function.__new__ if issubclass(function, tuple) else function.__init__
    parameters = list(inspect.signature(function).parameters.values())
    takes_self = inspect.isclass(name.value) or (name.owner is not None and not inspect.ismethod(name.value))
    is_static = name.owner is not None and isinstance(inspect.getattr_static(name.owner, get_last(name)), staticmethod)
    return parameters[1:] if takes_self and not is_static else parameters


def get_last(name: PublicName) -> str:
    """Return the last part of a path."""
    return name.path.rpartition(".")[2]


def format_name(name: PublicName) -> str:
    """Write a name with its signature, without annotations."""
    if not callable(name.value):
        return name.path
    parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in list_parameters(name)]
    return f"{name.path}{inspect.Signature(parameters)}"


def parse_sections(doc: str) -> dict[str, list[str]]:
    """Return the names that stand at the margin of each section of a numpydoc docstring.

    In the sections with parameters, a line of several names counts as so many.
    """
    sections: dict[str, list[str]] = {"": []}
    current = ""
    lines = [*inspect.cleandoc(doc).splitlines(), ""]
    for line, following in pairwise(lines):
        if line and re.fullmatch("-+", following) and len(following) == len(line):
            current = line
            sections[current] = []
        elif line and not line[0].isspace() and not re.fullmatch("-+", line):
            names = line.partition(" : ")[0].split(",")
            sections[current] += [part.strip().lstrip("*") for part in names]
    return sections


if __name__ == "__main__":
    assert not MISSING, f"install the extras first: {MISSING}"
    for public in iter_public_names():
        print(format_name(public))  # noqa: T201
