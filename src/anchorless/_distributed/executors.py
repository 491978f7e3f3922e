"""What can happen to the executors of a Spark session, in plain words."""

from __future__ import annotations

import time
import weakref
from typing import Any

from anchorless.errors import ClusterError

#: What Spark says if a session cannot go on, what that means, and what helps.
NEW_SESSION = "start a new session, and read the log of the old one"
LOST_AGAIN = "executors of Spark were lost again and again while they computed the same documents"
FAILURES = (
    ("ExecutorLostFailure", LOST_AGAIN, "give them more memory, or read their logs"),
    ("Master removed our application", "the cluster has ended this session of Spark", NEW_SESSION),
    ("SparkContext was shut down", "the session of Spark has ended", NEW_SESSION),
    ("stopped SparkContext", "the session of Spark has ended", NEW_SESSION),
)
#: Contexts that have had executors: before its first one, a session may wait for a busy cluster.
_seen: weakref.WeakSet[Any] = weakref.WeakSet()


def refuse_failure(error: Exception) -> None:
    """Raise ClusterError if an error of Spark is about the cluster, not about a task."""
    for sign, problem, remedy in FAILURES:
        if sign in str(error):
            raise ClusterError(problem, remedy=remedy) from error


def has_own_executors(context: Any) -> bool:
    """Tell whether a context computes in other processes than the driver's, and keeps them while it is idle."""
    is_local = context.master.startswith("local") and not context.master.startswith("local-cluster")
    return not is_local and context.getConf().get("spark.dynamicAllocation.enabled", "false") != "true"


class ExecutorWatch:
    """Raises an error when all executors of a context have been gone for so many seconds.

    Spark replaces executors that are lost, and after `spark.network.timeout` those that are stopped. But where no
    worker is left that could start one, an action waits for ever.
    """

    def __init__(self, context: Any, seconds: float) -> None:
        self._context, self._seconds = context, seconds
        self._is_watched: bool | None = None
        self._gone_since: float | None = None

    def count_executors(self) -> int | None:
        """Ask the driver for the number of executors; None if there need not be any."""
        if self._is_watched is None:
            self._is_watched = has_own_executors(self._context)
        # The driver is in this list, too.
        n_processes = int(self._context._jsc.sc().getExecutorMemoryStatus().size())
        return n_processes - 1 if self._is_watched else None

    def check(self, n_executors: int | None) -> None:
        """Raise ClusterError if there has been no executor for too long."""
        if n_executors:
            _seen.add(self._context)
        if n_executors != 0 or self._context not in _seen:
            self._gone_since = None
            return
        now = time.monotonic()
        self._gone_since = self._gone_since or now
        if now - self._gone_since >= self._seconds:
            problem = f"Spark has had no executor for {self._seconds:g} seconds: all were lost, and none was started"
            raise ClusterError(problem, remedy="look whether the workers of the cluster still run, and start again")
