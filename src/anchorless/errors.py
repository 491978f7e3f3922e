"""The errors and warnings of this package.

An error carries its parts: which parameter, its value, the limit it broke and the remedy. In its text the names of
parameters stand in braces, `{n_topics}`; `str(error)` shows them as Python writes them, and another face, such as the
command line, renders the same error with the names of its options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Self

_PARAMETER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


class AnchorlessError(Exception):
    """Base of all errors that this package raises.

    Parameters
    ----------
    problem : str
        What happened, in plain words. Parameters are named in braces: ``"{n_topics} is larger than …"``.
    parameter : str or None
        The parameter whose value cannot be used. With it, the message starts with ``parameter=value, but``.
    value : object
        The value that was given.
    limit : object
        The limit that the value broke, where there is one: a number, or the allowed values.
    remedy : str or None
        What to do next. It follows the problem after a semicolon.

    Attributes
    ----------
    problem, parameter, value, limit, remedy
        As given.

    Examples
    --------
    >>> from anchorless.errors import InputError
    >>> error = InputError("5 documents support at most 4", parameter="n_topics", value=8, limit=4, remedy="lower {n_topics}")
    >>> print(error)
    n_topics=8, but 5 documents support at most 4; lower n_topics
    >>> error.render(lambda name: f"--{name.removeprefix('n_')}", lambda option, value: f"{option} {value}")
    '--topics 8, but 5 documents support at most 4; lower --topics'
    """

    def __init__(
        self,
        problem: str,
        *,
        parameter: str | None = None,
        value: Any = None,
        limit: Any = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.parameter = parameter
        self.value = value
        self.limit = limit
        self.remedy = remedy

    def __str__(self) -> str:
        return self.render(str, lambda name, value: f"{name}={value!r}")

    def render(self, name: Callable[[str], str], assign: Callable[[str, Any], str]) -> str:
        """Return the message with parameters written by `name`, and the given value by `assign`."""
        parts = [self.problem] if self.remedy is None else [self.problem, self.remedy]
        text = "; ".join(_PARAMETER.sub(lambda match: name(match[1]), part) for part in parts)
        return text if self.parameter is None else f"{assign(name(self.parameter), self.value)}, but {text}"

    def rename_parameters(self, names: Mapping[str, str]) -> Self:
        """Return the same error for a caller that has other names for the parameters."""

        def replace(text: str | None) -> str | None:
            return text and _PARAMETER.sub(lambda match: f"{{{names.get(match[1], match[1])}}}", text)

        renamed = type(self)(
            replace(self.problem) or "",
            parameter=None if self.parameter is None else names.get(self.parameter, self.parameter),
            value=self.value,
            limit=self.limit,
            remedy=replace(self.remedy),
        )
        return renamed


class InputError(AnchorlessError, ValueError):
    """The data or a parameter cannot be used as it is."""


class UsageError(InputError):
    """The call is wrong, not the data: an unknown column, format or option value. The command exits with code 2."""


class RankError(InputError):
    """More topics are asked for than the documents support; `limit` is the largest number that they do."""


class SolverError(AnchorlessError, RuntimeError):
    """A linear program could not be solved."""


class ClusterError(AnchorlessError, RuntimeError):
    """The cluster cannot be used, or lost more workers than a run can make up for."""


class SpectrumWarning(UserWarning):
    """The last topic cannot be separated from the first one that was left out."""
