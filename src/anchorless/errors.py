"""What can go wrong, by name. Each message names the value, the limit and the way out."""


class AnchorlessError(Exception):
    """Base of every error that this package raises by itself."""


class InputError(AnchorlessError, ValueError):
    """The data or a parameter cannot be used as it is."""


class UsageError(InputError):
    """The call was wrong, not the data: an unknown column, format or option value. The command ends with code 2."""


class RankError(InputError):
    """More topics were asked for than the co-occurrences carry; `usable` is how many they do, where it is known."""

    def __init__(self, message: str, usable: int | None = None) -> None:
        super().__init__(message)
        self.usable = usable


class SolverError(AnchorlessError, RuntimeError):
    """A linear program was given up, also from a fresh start."""


class ClusterError(AnchorlessError, RuntimeError):
    """The cluster cannot be used, or lost more of its workers than a run can make up for."""


class SpectrumWarning(UserWarning):
    """The last topic direction is not separated from the first one left out."""
