"""A local Dask cluster that all tests of a session share: workers take seconds to start."""

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def cluster():
    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as running:
        yield running


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster) as connected:
        yield connected
