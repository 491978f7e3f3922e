"""A local Dask cluster that all tests of a session share: its workers take seconds to start."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as running:
        yield running


# Not for the session: a page of the docs creates its own client, and with two in one process Dask may take the other.
@pytest.fixture(scope="module")
def client(cluster):
    from distributed import Client

    with Client(cluster) as connected:
        yield connected
