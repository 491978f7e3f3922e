"""Shapes of JSON values as data, and the part of a value that does not have its shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

#: A predicate, a record (dict of shapes; a name that ends in "?" may be missing), `Items`, or `Maybe`.
Shape = Any


class Items(NamedTuple):
    """A list of values of one shape, of any length or of a given one."""

    shape: Shape
    length: int | None = None


class Maybe(NamedTuple):
    """A value of a shape, or null."""

    shape: Shape


def find_misfit(value: Any, shape: Shape, name: str) -> str | None:
    """Return the name of the first part of a value that does not have its shape; None if all do."""
    if isinstance(shape, Maybe):
        return None if value is None else find_misfit(value, shape.shape, name)
    if isinstance(shape, Items):
        if not isinstance(value, list) or shape.length not in (None, len(value)):
            return name
        return next((bad for item in value if (bad := find_misfit(item, shape.shape, name))), None)
    if isinstance(shape, dict):
        return find_misfit_in_record(value, shape, name)
    return None if shape(value) else name


def find_misfit_in_record(value: Any, shape: dict[str, Shape], name: str) -> str | None:
    """Return the name of the first part of a record that is unknown or of another shape; KeyError if one is missing."""
    known = {key.rstrip("?"): part for key, part in shape.items()}
    if not isinstance(value, dict) or not set(value) <= set(known):
        return name
    if missing := [key for key in shape if not key.endswith("?") and key not in value]:
        raise KeyError(f"{name}.{missing[0]}")
    return next((bad for key in value if (bad := find_misfit(value[key], known[key], f"{name}.{key}"))), None)


def is_text(value: Any) -> bool:
    """Tell whether a value is a text that UTF-8 can hold: half of a surrogate pair could not be written again."""
    return isinstance(value, str) and (
        value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    )


def is_flag(value: Any) -> bool:
    """Tell whether a value is true or false."""
    return isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number that a float can hold."""
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) < 1e100
    )


def is_share(value: Any, tolerance: float = 1e-6) -> bool:
    """Tell whether a value is a number from 0 to 1."""
    return is_number(value) and -tolerance <= value <= 1.0 + tolerance


def is_count(value: Any) -> bool:
    """Tell whether a value is a whole number of things, which an array can hold."""
    return type(value) is int and 0 <= value < 2**62


def make_range(n: int) -> Callable[[Any], bool]:
    """Return the shape of a position among 0 … n − 1."""
    return lambda value: type(value) is int and 0 <= value < n


def make_choice(*choices: Any) -> Callable[[Any], bool]:
    """Return the shape of one of some values."""
    return lambda value: isinstance(value, str) and value in choices
