"""Tables in the library of the user: pandas, or polars if the fit was given columns of polars, or `set_output` asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn import get_config

Method = TypeVar("Method", bound=Callable[..., Any])


def follow_output(method: Method) -> Method:
    """Let a method that returns a pandas data frame return one of polars where the user works with polars."""

    @wraps(method)
    def convert(self: Any, *arguments: Any, **options: Any) -> Any:
        frame = method(self, *arguments, **options)
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        if asked is None and get_config()["transform_output"] != "default":
            asked = get_config()["transform_output"]
        is_polars = getattr(self, "_is_given_polars", False) if asked is None else asked == "polars"
        return to_polars(frame) if is_polars else frame

    return cast(Method, convert)


def is_any_polars(*given: Any) -> bool:
    """Say whether one of the arguments of a fit is a column or a table of polars."""
    return any(type(value).__module__.partition(".")[0] == "polars" for value in given)


def to_polars(frame: Any) -> Any:
    """Return a pandas data frame as one of polars; an index that has a name becomes a column."""
    import polars  # scikit-learn has checked that it is installed

    return polars.from_pandas(frame.rename(columns=str), include_index=frame.index.name is not None)


def to_pandas(frame: Any) -> Any:
    """Return a data frame of pandas or polars as one of pandas."""
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame
