"""Settings of `hypothesis` for this suite: the same examples in every run, no limit on the time of one example."""

from typing import Any

from hypothesis import HealthCheck, settings


def run_examples(n: int) -> Any:
    """Return a decorator that runs a property on `n` examples; a folder from `tmp_path` may be shared by all."""
    shared = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(
        max_examples=n, deadline=None, derandomize=True, database=None, suppress_health_check=shared, print_blob=False
    )
