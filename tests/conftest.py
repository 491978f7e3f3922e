"""A local Dask cluster that all tests of a session share: its workers take seconds to start."""

import os
from importlib.util import find_spec
from pathlib import Path

# Before NumPy is imported: workers of pytest-xdist share the cores, and threads of BLAS would fight over them.
# Tests of what more threads must not change ask for them (`threadpool_limits`).
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import pytest

HAS_DASK = find_spec("distributed") is not None
#: Modules that cannot be imported without Dask; with the extra `test` alone they are left out, and the header says so.
collect_ignore = (
    [] if HAS_DASK else ["distributed/test_dask.py", "distributed/test_dask_texts.py", "cli/test_dask_option.py"]
)


def pytest_report_header():
    return (
        None if HAS_DASK else "left out, as Dask is not installed (anchorless[test-all]): " + ", ".join(collect_ignore)
    )


#: Tests of clusters, of what is outside the package, and of whole pages: `make test-slow` runs them.
SLOW_FOLDERS = ("distributed", "experiments", "benchmarks")
SLOW_FILES = ("cli/test_dask_option.py", "test_site.py", "test_notebooks.py")
SLOW_TESTS = ("test_examples_print_what_the_page_shows", "test_numbers_agree_between_kernels")


def pytest_collection_modifyitems(items):
    """Mark slow tests; those of pages come first: one of them at the end would keep one worker busy alone."""
    root = Path(__file__).parent
    for item in items:
        place = item.path.relative_to(root)
        name = getattr(item, "originalname", "")
        if place.parts[0] in SLOW_FOLDERS or place.as_posix() in SLOW_FILES or name in SLOW_TESTS:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: getattr(item, "originalname", "") not in SLOW_TESTS)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Let a skipped test fail the run where every test can run: in CI, which sets ANCHORLESS_NO_SKIPS."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("ANCHORLESS_NO_SKIPS") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'anchorless[test-all]'")
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as running:
        yield running


# Not for the session: a page of the docs creates its own client, and with two in one process Dask may take the other.
@pytest.fixture(scope="module")
def client(cluster):
    from distributed import Client

    with Client(cluster) as connected:
        yield connected
