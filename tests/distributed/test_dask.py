import os
import pickle
import signal
import threading
import time
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import CancelledError, Client, LocalCluster
from distributed.comm import CommClosedError

from anchorless import AnchorFree, Corpus, TopicModel, distributed
from anchorless._corpus.documents import Documents
from anchorless._distributed import client as clients
from anchorless._distributed.documents import MAX_RUN_BLOCKS, add_futures, concatenate_blocks, split_into_runs
from anchorless.distributed import count, from_array, from_parts, scatter
from anchorless.errors import ClusterError, InputError
from tests.helpers.clusters import (
    assert_same,
    fetch_blocks,
    split_texts,
    sum_columns,
    wait_for_both_workers,
    write_parts,
)
from tests.helpers.planted_embeddings import Planted

WORDS = 30


@pytest.fixture(scope="module")
def X():
    """Return documents of three planted topics, with tf-idf-like weights."""
    rng = np.random.default_rng(0)
    topics, weights = rng.dirichlet(np.full(WORDS, 0.2), 3), rng.dirichlet(np.full(3, 0.3), 500)
    return sp.csr_matrix(np.vstack([rng.multinomial(40, w @ topics) for w in weights]) * rng.uniform(0.5, 2, WORDS))


@pytest.mark.parametrize("n_threads", [1, 2, 7, 100])
def test_runs_have_every_block_once_and_even_sizes(n_threads):
    rng = np.random.default_rng(n_threads)
    for n_blocks in (1, 2, 15, 37, 48, 1000):
        cuts = np.sort(rng.integers(0, n_blocks + 1, 5))
        for sizes in ([n_blocks], np.diff([0, *cuts, n_blocks]).tolist()):
            numbers = np.split(np.arange(n_blocks), np.cumsum(sizes)[:-1])
            plans = split_into_runs(sizes, n_threads)
            runs = [concatenate_blocks([numbers[source] for source in own], bounds) for own, bounds in plans]
            assert [block for run in runs for block in run] == [*range(n_blocks)]
            lengths = [len(run) for run in runs]
            assert min(lengths) > 0
            assert max(lengths) <= min(min(lengths) + 1, MAX_RUN_BLOCKS)
            assert len(runs) >= min(n_blocks, 4 * n_threads)  # each thread has work


class CountingClient:
    """Adds up lists of names instead of arrays, and counts what a sum takes from another worker."""

    def __init__(self):
        self.n_tasks = self.n_moved = 0

    def submit(self, task, arrays, *, workers, **_):
        self.n_tasks += 1
        self.n_moved += sum(worker != workers[0] for _, worker in arrays)
        return [name for names, _ in arrays for name in names], workers[0]


@pytest.mark.parametrize("n_workers", [1, 2, 16, 40])
@pytest.mark.parametrize("n_runs", [1, 3, 64, 700])
def test_a_sum_takes_every_run_once_and_one_array_from_each_worker(n_workers, n_runs):
    workers = [f"w{i * n_workers // n_runs:02}" for i in range(n_runs)]
    client = CountingClient()
    total, _ = add_futures(client, [([i], worker) for i, worker in enumerate(workers)], workers)
    assert total == [*range(n_runs)]
    assert client.n_moved < len(set(workers))
    assert client.n_tasks <= n_runs // 8 + n_workers


@pytest.mark.kernels
def test_a_fit_agrees_with_the_local_one(client, X):
    here = Documents.from_matrix(X, 14)
    there = scatter(client, here)
    assert (there.shape, there.n_blocks) == (here.shape, here.n_blocks)
    local, remote = AnchorFree(3).fit(here), AnchorFree(3).fit(there)
    assert_same(remote.components_, local.components_)
    assert_same(remote.topic_moments_, local.topic_moments_)
    assert_same(remote.transform(there), local.transform(here))
    assert_same(remote.score(there), local.score(here))
    positions = [450, 3, 3, 499, 0]
    assert (there.take_rows(positions) != X[positions]).nnz == (here.take_rows(positions) != X[positions]).nnz == 0


@pytest.mark.kernels
def test_the_number_of_workers_and_threads_changes_nothing_beyond_rounding(X):
    here = Documents.from_matrix(X, 14)
    with LocalCluster(1, threads_per_worker=3, processes=False, dashboard_address=":0") as small, Client(small) as one:
        assert_same(AnchorFree(3).fit(scatter(one, here)).components_, AnchorFree(3).fit(here).components_)


def test_matrices_of_a_dask_array_and_of_parts(client, X):
    here = Documents.from_matrix(X, 60)
    matrices = [sp.csr_array(block) for block in here.blocks]
    delayed = [dask.delayed(matrix) for matrix in matrices]
    shapes = [matrix.shape for matrix in matrices]
    array = da.concatenate([da.from_delayed(d, s, float) for d, s in zip(delayed, shapes, strict=True)])
    for there in (
        from_array(client, array),
        from_parts(client, delayed),
        from_parts(client, [matrices[:3], matrices[3:]]),
    ):
        assert there.shape == X.shape
        for ours, theirs in zip(here.blocks, fetch_blocks(there), strict=True):
            assert (ours != theirs).nnz == 0
        assert_same(there.sum_blocks(sum_columns, 1), here.sum_blocks(sum_columns, 1))


def sum_or_die(flag, D):
    """Return the sum of the documents; kill the worker instead if the flag does not exist yet."""
    with suppress(FileExistsError):
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return sum_columns(D)


def kill_in_third_pass(documents, flag):
    """Kill a worker while it computes the third pass of a fit."""
    n_passes = 0
    sum_blocks, transform_blocks = documents.sum_blocks, documents.transform_blocks

    def sum_and_kill(function, n_threads):
        nonlocal n_passes
        n_passes += 1
        if n_passes == 3:
            sum_blocks(partial(sum_or_die, str(flag)), n_threads)
        return sum_blocks(function, n_threads)

    documents.sum_blocks = sum_and_kill
    # A fit passes over documents of adjusted lengths.
    documents.transform_blocks = lambda *args: kill_in_third_pass(transform_blocks(*args), flag)
    return documents


@pytest.mark.kernels
@pytest.mark.parametrize("source", ["this process", "files"])
def test_a_killed_worker_changes_nothing_beyond_rounding(client, X, tmp_path, source):
    if source == "this process":
        there = scatter(client, Documents.from_matrix(X, 14))
    else:
        with count(client, write_parts(tmp_path, split_texts()), text_column="body") as corpus:
            there = corpus.documents.transform_blocks(np.sqrt)
    before = AnchorFree(3).fit(Documents(fetch_blocks(there)))
    pids = set(client.run(os.getpid).values())
    after = AnchorFree(3).fit(kill_in_third_pass(there, tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    assert not pids <= set(client.run(os.getpid).values())
    assert_same(after.components_, before.components_)
    assert_same(after.transform(there), before.transform(Documents(fetch_blocks(there))))
    wait_for_both_workers(client)


def test_a_wait_ends_when_no_worker_computes_and_not_before(client, monkeypatch):
    monkeypatch.setattr(clients, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(clients, "MAX_IDLE_POLLS", 2)
    assert clients.wait_for_result(client, client.submit(late, 1.5, pure=False)) == 1.5
    waiting = client.submit(late, 0.0, pure=False, resources={"nowhere": 1})
    with pytest.raises(TimeoutError, match=r"no worker did anything for 0\.4 seconds"):
        clients.wait_for_result(client, waiting)
    with pytest.raises(TimeoutError, match="its own"):
        clients.wait_for_result(client, client.submit(too_late, pure=False))


def test_a_result_that_comes_with_the_timeout_is_taken(client):
    class LateFuture:
        """Times out once, and is done right after."""

        timed_out = False

        def done(self):
            return self.timed_out

        def result(self, timeout=None):
            if not self.timed_out:
                self.timed_out = True
                raise TimeoutError
            return 1.5

    assert clients.wait_for_result(client, LateFuture()) == 1.5


def test_a_pass_goes_on_after_its_last_value_when_workers_are_lost(monkeypatch):
    monkeypatch.setattr(clients, "RETRY_PAUSE", 0.0)
    client = SimpleNamespace(status="running")

    def lose(n_done):
        yield n_done
        if n_done < 5:
            raise OSError("lost")

    assert [*clients.retry(client, lose)] == [*range(6)]
    with pytest.raises(ClusterError, match=r"workers were lost 6 times .*lost.*read the logs"):
        [*clients.retry(client, lambda n_done: lose(min(n_done, 4)))]
    client.status = "closed"
    with pytest.raises(ClusterError, match="client is closed"):
        next(clients.retry(client, lose))


def late(seconds):
    time.sleep(seconds)
    return seconds


def too_late():
    raise TimeoutError("its own")


def test_unusable_documents_and_clients_are_refused(client, X):
    for bad in (None, "tcp://127.0.0.1:8786", Client):
        with pytest.raises(InputError, match=r"client=.*, but it must be a synchronous dask.distributed.Client"):
            scatter(bad, [X])
    with pytest.raises(InputError, match=r"\[20, 30\] columns"):
        from_parts(client, [X, X[:, :20]])
    with pytest.raises(InputError, match="2 chunks of words"):
        from_array(client, da.zeros((4, 4), chunks=(4, 2)))
    with pytest.raises(InputError, match="ndarray, but it must be a Dask array"):
        from_array(client, np.zeros((4, 4)))
    with pytest.raises(InputError, match="at least one"):
        from_parts(client, [])
    with pytest.raises(InputError, match="matrix, documents × words"):
        from_parts(client, [dask.delayed([1, 2])])
    with pytest.raises(InputError, match="Negative values"):
        AnchorFree(2).fit(scatter(client, [X, -X]))
    with pytest.raises(TypeError, match="stay with their cluster"):
        pickle.dumps(scatter(client, [X]))


def test_a_closed_client_is_refused(client, X):
    other = Client(client.scheduler.address)
    there = scatter(other, [X])
    other.close()
    with pytest.raises(ClusterError, match="client is closed; connect again"):
        there.sum_blocks(sum_columns, 1)
    with pytest.raises(ClusterError, match="client is closed; connect again"):
        scatter(other, [X])


@pytest.mark.parametrize(("old", "new"), [("connected", "connect"), ("scattered", "scatter")])
def test_old_names_work_with_a_warning(old, new):
    with pytest.warns(FutureWarning, match=f"is now called {new}"):
        assert getattr(distributed, old) is getattr(distributed, new)
    with pytest.raises(AttributeError, match="no attribute 'gathered'"):
        _ = distributed.gathered


def make_silent_client(identity):
    """Return a client whose calls never end, but for the one that describes the scheduler."""
    never = threading.Event()

    def sync(call):
        return call()

    scheduler = SimpleNamespace(address="tcp://nowhere", identity=identity or never.wait)
    return SimpleNamespace(sync=sync, scheduler=scheduler, nthreads=never.wait), never


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        (None, "scheduler at tcp://nowhere has not answered"),
        (lambda: {"workers": {"a": {"last_seen": 1.0}}}, "no worker has answered"),
        (lambda: {"workers": {"a": {"last_seen": time.time()}, "b": {"last_seen": 1.0}}}, "worker b has not answered"),
    ],
)
def test_a_stopped_scheduler_or_workers_that_are_stopped_end_a_call(monkeypatch, identity, message):
    for name in ("POLL_SECONDS", "ANSWER_SECONDS", "SILENT_SECONDS"):
        monkeypatch.setattr(clients, name, 0.1)
    client, never = make_silent_client(identity)
    with pytest.raises(ClusterError, match=message):
        clients.count_threads(client)
    never.set()


def test_a_scheduler_that_is_stopped_before_the_first_worker_is_known_ends_the_check(monkeypatch):
    for name in ("POLL_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(clients, name, 0.1)
    silent, never = make_silent_client(None)
    client = Mock(spec=clients.Client, asynchronous=False, status="running")
    client.scheduler, client.sync = silent.scheduler, silent.sync
    client.wait_for_workers = lambda n, timeout: never.wait()  # its timeout does not hold for the scheduler
    with pytest.raises(ClusterError, match="scheduler at tcp://nowhere has not answered"):
        clients.check_client(client)
    never.set()


def test_a_scheduler_that_is_stopped_before_the_connection_is_refused(monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(clients, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(clients, "Client", lambda **options: never.wait())  # its timeout does not hold
    with (
        pytest.raises(ClusterError, match="scheduler at tcp://nowhere has not answered"),
        clients.connect("tcp://nowhere"),
    ):
        pytest.fail("the block must not run")
    never.set()


@pytest.mark.parametrize(
    "error",
    [CancelledError("scheduler-connection-lost"), CommClosedError("Stream is closed"), TimeoutError("no worker")],
)
def test_a_scheduler_that_is_lost_while_texts_are_counted_is_told_in_plain_words(client, monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(distributed, "wait_for_result", fail)
    with pytest.raises(ClusterError, match="the connection to the scheduler, or data of its workers, were lost"):
        count(client, [dask.delayed(list)(["bread wine", "goal match"])])


def test_errors_of_a_call_are_raised():
    with pytest.raises(ZeroDivisionError):
        clients.ask(None, lambda: 1 / 0)


def test_embeddings_are_used_as_in_memory(client):
    planted = Planted()
    local = planted.fit(planted.embeddings)
    corpus = Corpus.from_counts(planted.X, planted.vocabulary)
    corpus.documents = scatter(client, corpus.documents)
    model = TopicModel(local.n_topics_).fit(corpus, embeddings=planted.embeddings)
    assert model._record.neighbors.choice.n_tokens > 0
    np.testing.assert_allclose(model.document_topics_, local.document_topics_, atol=1e-10)
