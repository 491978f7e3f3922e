"""Tables in the library of the user: pandas, or polars after ``set_output(transform="polars")``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn import get_config

Method = TypeVar("Method", bound=Callable[..., Any])


def follow_output(method: Method) -> Method:
    """Let a method that returns a pandas data frame return one of polars where the user has asked for polars."""

    @wraps(method)
    def convert(self: Any, *arguments: Any, **options: Any) -> Any:
        frame = method(self, *arguments, **options)
        asked = getattr(self, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
        return to_polars(frame) if asked == "polars" else frame

    return cast(Method, convert)


def to_polars(frame: Any) -> Any:
    """Return a pandas data frame as one of polars; an index that has a name becomes a column."""
    import polars  # scikit-learn has checked that it is installed

    return polars.from_pandas(frame.rename(columns=str), include_index=frame.index.name is not None)


def to_pandas(frame: Any) -> Any:
    """Return a data frame of pandas or polars as one of pandas."""
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame
