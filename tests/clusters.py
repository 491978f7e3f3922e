"""A local Dask cluster that the tests of a session share, since workers take seconds to start; blocks for sums."""

import pytest
import scipy.sparse as sp

from anchorless.documents import Documents


@pytest.fixture(scope="session")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as running:
        yield running


@pytest.fixture(scope="session")
def client(cluster):
    from distributed import Client

    with Client(cluster) as connected:
        yield connected


def blocks_of(documents):
    return [*documents.map_blocks(lambda block: block, 1)]


def numbers(n, rng):
    """Return one-entry blocks whose sum depends on the order and the grouping of the terms."""
    return [sp.csr_matrix([[value]]) for value in 10.0 ** rng.uniform(-12, 12, n)]


def entry(block):
    return block.toarray()


class StillDocuments(Documents):
    """Blocks in this process that are weighed where they end, as those of a cluster are."""

    in_memory = False
