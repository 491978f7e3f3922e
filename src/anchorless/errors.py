"""The errors and warnings of this package.

An error carries its parts. In its text the names of parameters stand in braces, `{n_topics}`: `str(error)` shows them
as Python writes them, and the command line renders the same error with the names of its options.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any, Self

__all__ = ["AnchorlessError", "ClusterError", "InputError", "RankError", "SolverError", "SpectrumWarning", "UsageError"]

_PARAMETER = re.compile(r"\{([a-z][a-z0-9_]*)(?:=([a-z0-9]+))?\}")
#: Parameters that messages say to turn on.
FLAGS = ("deduplicate", "drop_boilerplate", "email", "force", "html", "phrases")
#: Names are suggested that are at least as similar as this, by difflib.
MIN_SIMILARITY = 0.6


def is_installed(package: str) -> bool:
    """Say whether a package can be imported; if not, an error names the command that installs it."""
    try:
        return find_spec(package) is not None
    except ImportError:  # of a hook that refuses it
        return False


class MessageParts:
    """The parts of a message that errors and warnings share."""

    def __init__(
        self,
        problem: str,
        *,
        parameter: str | None = None,
        value: Any = None,
        limit: Any = None,
        remedy: str | None = None,
        details: str | None = None,
    ) -> None:
        super().__init__(problem)  # type: ignore[call-arg]  # of the exception that the class is mixed into
        self.problem = problem
        self.parameter = parameter
        self.value = value
        self.limit = limit
        self.remedy = remedy
        self.details = details

    def __str__(self) -> str:
        text = self.render(name_argument, lambda name, value: f"{name.removesuffix('=True')}={value!r}")
        return text if self.details is None else f"{text}\ndetails: {self.details}"

    def render(self, name: Callable[[str], str], assign: Callable[[str, Any], str]) -> str:
        """Return the message in the terms of another face.

        Parameters
        ----------
        name : callable
            Called with the name of a parameter; returns how the face writes it.
        assign : callable
            Called with what `name` returned and the given value; returns how the face writes the assignment.

        Returns
        -------
        str
            The message.

        Examples
        --------
        >>> from anchorless import InputError
        >>> error = InputError("it must be at least 2", parameter="n_topics", value=1, limit=2)
        >>> error.render(lambda name: "--topics", lambda option, value: f"{option} {value}")
        '--topics 1, but it must be at least 2'
        """
        parts = [self.problem] if self.remedy is None else [self.problem, self.remedy]
        text = "; ".join(render_message(part, name) for part in parts)
        return text if self.parameter is None else f"{assign(name(self.parameter), self.value)}, but {text}"

    @property
    def template(self) -> str:
        """The message with the names of parameters in braces, for `render_message`."""
        return self.render(lambda name: f"{{{name}}}", lambda name, value: f"{name}={value!r}")

    def rename_parameters(self, names: Mapping[str, str]) -> Self:
        """Return the same message for a caller that has other names for the parameters.

        Parameters
        ----------
        names : mapping of str to str
            The new name by the old one. Parameters that are not in it keep their names.

        Returns
        -------
        AnchorlessError or SpectrumWarning
            A copy of the same type.
        """

        def rename(text: str | None) -> Any:
            return text and render_message(text, lambda name: f"{{{names.get(name, name)}}}")

        parameter, remedy = self.parameter and names.get(self.parameter, self.parameter), rename(self.remedy)
        kept = {"value": self.value, "limit": self.limit, "details": self.details}
        return type(self)(rename(self.problem), parameter=parameter, remedy=remedy, **kept)


def name_argument(name: str) -> str:
    """Return how Python writes the name of a parameter: one that is to be turned on with its value."""
    return f"{name}=True" if name in FLAGS else name


def render_message(template: str, name: Callable[[str], str] = name_argument) -> str:
    """Write the names of parameters, which stand in braces, as `name` returns them; {split=500} has a value."""
    return _PARAMETER.sub(lambda match: add_value(name(match[1]), match[2]), template)


def add_value(name: str, value: str | None) -> str:
    """Return a name with a value: --split paragraph, split='paragraph', {split=paragraph}."""
    if value is None:
        return name
    if name.startswith("-"):
        return f"{name} {value}"
    return f"{name[:-1]}={value}}}" if name.endswith("}") else f"{name}={value if value.isdecimal() else repr(value)}"


def suggest(given: str, known: Iterable[str]) -> str:
    """Return a question such as "; did you mean reviews.csv?" for the known name nearest to a given one, or nothing."""
    names = {name.casefold(): name for name in known}
    nearest = difflib.get_close_matches(given.casefold(), names, n=1, cutoff=MIN_SIMILARITY)
    return f"; did you mean {names[nearest[0]]}?" if nearest else ""


class AnchorlessError(MessageParts, Exception):
    """Base of all errors that this package raises.

    Parameters
    ----------
    problem : str
        What happened, in plain words. Parameters are named in braces: ``"{n_topics} is larger than …"``.
    parameter : str or None, default=None
        The parameter whose value cannot be used. With it, the message starts with ``parameter=value, but``.
    value, limit : object, default=None
        The value that was given, and the limit that it broke: a number, or the allowed values.
    remedy : str or None, default=None
        What to do next. It follows the problem after a semicolon.
    details : str or None, default=None
        The same in terms of the mathematics, for a report of a problem. It is on a line of its own.

    Attributes
    ----------
    problem, parameter, value, limit, remedy, details
        As given.

    Examples
    --------
    >>> from anchorless import RankError
    >>> problem = "5 documents support at most 4"
    >>> error = RankError(problem, parameter="n_topics", value=8, limit=4, remedy="lower {n_topics}")
    >>> print(error)
    n_topics=8, but 5 documents support at most 4; lower n_topics
    >>> error.limit
    4
    """


class InputError(AnchorlessError, ValueError):
    """The data or a parameter cannot be used as it is. See `AnchorlessError` for its parts."""


class UsageError(InputError):
    """The call is wrong, not the data: an unknown column, format or option value. The command exits with code 2."""


class RankError(InputError):
    """More topics are asked for than the documents support; `limit` is the largest number that they do."""


class SolverError(AnchorlessError, RuntimeError):
    """A linear program could not be solved."""


class ClusterError(AnchorlessError, RuntimeError):
    """The cluster cannot be used, or lost more workers than a run can replace."""


class SpectrumWarning(MessageParts, UserWarning):
    """The last topic cannot be separated from the first one left out; with the parts of `AnchorlessError`."""
