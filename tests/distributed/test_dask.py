import json
import os
import pickle
import signal
import time
from contextlib import suppress
from functools import partial

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster

from anchorless import AnchorFree, TopicModel
from anchorless._corpus.counting import batch_texts, count_texts
from anchorless._corpus.documents import FAN_IN, Documents
from anchorless._corpus.settings import CountSettings
from anchorless._distributed import client as clients
from anchorless._distributed.client import WorkerThread
from anchorless._distributed.documents import WorkerRun, split_into_segments, sum_by_tree
from anchorless._distributed.tasks import (
    choose_run_size,
    compute_node_size,
    concatenate_blocks,
    split_into_runs,
    sum_pieces,
    sum_segment,
)
from anchorless.distributed import count, from_array, from_parts, scatter, transform
from anchorless.errors import ClusterError, InputError
from tests.helpers.clusters import StillDocuments, blocks_of, entry, numbers
from tests.helpers.planted_texts import planted_texts

WORDS = 30


@pytest.fixture(scope="module")
def X():
    """Return documents of three planted topics, tf-idf-like weights whose sums depend on the order of the terms."""
    rng = np.random.default_rng(0)
    topics, weights = rng.dirichlet(np.full(WORDS, 0.2), 3), rng.dirichlet(np.full(3, 0.3), 500)
    return sp.csr_matrix(np.vstack([rng.multinomial(40, w @ topics) for w in weights]) * rng.uniform(0.5, 2, WORDS))


@pytest.fixture(scope="module")
def parts():
    """Return the planted texts in five parts of unequal size."""
    texts, _ = planted_texts(160)
    return [texts[:50], texts[50:51], texts[51:90], texts[90:91], texts[91:]]


def runs_of(blocks, sizes, n_threads):
    """Cut blocks that come from sources of these sizes into runs, as a cluster with that many threads would."""
    starts = np.cumsum([0, *sizes])
    sources = [blocks[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    per_run, found = choose_run_size(len(blocks), n_threads), []
    cut = [*split_into_runs(sizes, per_run)]
    for i, cuts in enumerate(cut):
        run = concatenate_blocks([sources[number] for number, _, _ in cuts], [cut[1:] for cut in cuts])
        found.append(WorkerRun(run, i * per_run, len(run), WorkerThread("", i * n_threads // len(cut))))
    assert [block for run in found for block in run.blocks] == blocks
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_threads", [1, 2, 7, 100])
def test_runs_add_up_by_the_tree_of_one_machine(n_threads, seed):
    rng = np.random.default_rng(seed)
    for n in (1, 2, 15, 16, 17, 37, 256, 257, 600):
        blocks = numbers(n, rng)
        expected = Documents(blocks).sum_blocks(entry, 1)
        cuts = np.sort(rng.integers(0, n + 1, 5))
        for sizes in ([n], np.diff([0, *cuts, n]).tolist()):
            runs = runs_of(blocks, sizes, n_threads)
            unit = compute_node_size(runs[0].n_blocks)

            def piece(stretch, before, unit=unit):
                return sum_segment(entry, [run.blocks for run in stretch.runs], unit, stretch.begins, before)

            (total,) = sum_by_tree(piece, sum_pieces, runs, unit)
            assert np.array_equal(total, expected)


def test_runs_are_long_and_threads_loaded_evenly():
    for n_threads in (1, 2, 8, 100):
        for n_blocks in (1, 10, 37, 48, 1000, 20_000):
            per_run = choose_run_size(n_blocks, n_threads)
            n_runs = -(-n_blocks // per_run)
            most = np.bincount(np.arange(n_runs) * n_threads // n_runs).max() * per_run
            assert per_run == 1 or most <= 1.1 * n_blocks / n_threads
    assert choose_run_size(48, 2) == 8
    assert choose_run_size(20_000, 4) == FAN_IN**2


def test_a_sum_in_another_order_would_be_seen():
    blocks = numbers(40, np.random.default_rng(0))
    assert Documents(blocks).sum_blocks(entry, 1) != sum(entry(block) for block in blocks)


def test_tasks_of_a_pass_grow_with_the_blocks_at_most_linearly():
    n_tasks = []
    for n_blocks in (500, 1000, 2000, 4000, 8000):
        runs = runs_of([sp.csr_matrix((1, 1))] * n_blocks, [n_blocks // 10] * 10, 8)
        made = []
        sum_by_tree(lambda *task, made=made: made.append(task), made.append, runs, compute_node_size(runs[0].n_blocks))
        n_tasks.append(len(made))
    assert n_tasks[0] < 100
    assert n_tasks[-1] < 50  # longer runs


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_threads_with_enough_to_do_return_sums_only_and_wait_for_nothing_that_is_late(n_threads):
    for n_blocks in (n_threads * FAN_IN, 48, 200, 1000):
        runs = runs_of([sp.csr_matrix((1, 1))] * n_blocks, [n_blocks], n_threads)
        size = compute_node_size(runs[0].n_blocks) * FAN_IN
        threads = np.bincount([run.place.thread for run in runs], [run.n_blocks for run in runs])
        for node in split_into_segments(runs, size // FAN_IN):
            lengths = [sum(run.n_blocks for run in stretch.runs) for stretch in node]
            for k, stretch in enumerate(node):
                assert stretch.begins == (k == 0)
                assert stretch.waits == (k > 0 and node[k - 1].continued)
                if threads.min() >= size:
                    assert stretch.begins or stretch.waits
                if stretch.waits:
                    others = threads[stretch.runs[0].place.thread] - lengths[k]
                    assert others >= lengths[k - 1]  # done meanwhile


def test_a_fit_has_the_bits_of_the_local_one(client, X):
    here = Documents.from_matrix(X, 14)
    there = scatter(client, here)
    assert (there.shape, there.n_blocks) == (here.shape, here.n_blocks)
    local, remote = AnchorFree(3).fit(here), AnchorFree(3, n_jobs=3).fit(there)
    assert np.array_equal(local.components_, remote.components_)
    assert np.array_equal(local.topic_moments_, remote.topic_moments_)
    assert np.array_equal(local.transform(here), remote.transform(there))
    assert local.score(here) == remote.score(there)
    positions = [450, 3, 3, 499, 0]
    assert (there.take_rows(positions) != X[positions]).nnz == (here.take_rows(positions) != X[positions]).nnz == 0


def test_the_number_of_workers_and_threads_changes_no_bit(X):
    here = Documents.from_matrix(X, 14)
    with LocalCluster(1, threads_per_worker=3, processes=False, dashboard_address=":0") as small, Client(small) as one:
        there = scatter(one, here)
        assert np.array_equal(AnchorFree(3).fit(here).components_, AnchorFree(3).fit(there).components_)


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
        for ours, theirs in zip(here.blocks, blocks_of(there), strict=True):
            assert (ours != theirs).nnz == 0


def written(folder, parts):
    """Write the parts as files of all kinds, with other columns beside the text."""
    names = [folder / f"part-{i}" for i in range(5)]
    frames = [pd.DataFrame({"n": range(len(part)), "body": part}) for part in parts]
    frames[0].to_parquet(names[0].with_suffix(".parquet"))
    frames[1].to_csv(names[1].with_suffix(".csv"), index=False)
    frames[2].to_json(names[2].with_suffix(".jsonl"), orient="records", lines=True)
    frames[3].to_csv(names[3].with_suffix(".tsv.gz"), index=False, sep="\t")
    frames[4].to_csv(names[4].with_suffix(".csv"), index=False)
    return sorted(str(path) for path in folder.iterdir())


@pytest.mark.parametrize(
    "settings",
    [CountSettings(), CountSettings(ngram_range=(1, 2), min_df=2, max_features=60), CountSettings(min_df=0.05)],
)
def test_texts_are_counted_as_on_one_machine(client, parts, tmp_path, settings):
    expected = count_texts(batch_texts(text for part in parts for text in part), settings, 1)
    files = written(tmp_path, parts)
    bag = db.from_delayed([dask.delayed(part) for part in parts])
    for texts, reading in ((files, {"text_column": "body"}), (bag, {}), (client.scatter(parts, hash=False), {})):
        counts = count(client, texts, settings, **reading)
        assert counts.vocabulary == expected.vocabulary
        assert np.array_equal(counts.document_frequency, expected.document_frequency)
        assert (counts.n_tokens, counts.n_documents) == (expected.n_tokens, expected.n_documents)
        assert (sp.vstack(blocks_of(counts.blocks)) != sp.vstack(expected.blocks)).nnz == 0


def test_a_topic_model_has_the_bits_of_the_local_one(client, parts):
    counts = count(client, db.from_delayed([dask.delayed(part) for part in parts]))
    remote = TopicModel(4).fit_counted(counts)
    local = TopicModel(4).fit_counted(counts._replace(blocks=StillDocuments(blocks_of(counts.blocks))))
    assert np.array_equal(remote.components_, local.components_)
    assert remote.diagnostics_ == local.diagnostics_
    assert np.array_equal(remote.coherence_, local.coherence_)
    texts = [text for part in parts for text in part]
    assert np.array_equal(transform(client, remote, counts.blocks).compute(), local.transform(texts))


def test_topics_of_new_texts_stay_on_the_workers(client, parts, tmp_path):
    texts = [text for part in parts for text in part]
    model = TopicModel(4).fit(texts)
    files = written(tmp_path, parts)
    rows = transform(client, model, files, text_column="body")
    assert rows.chunks == ((50, 1, 39, 1, 69), (4,))
    assert np.array_equal(rows.compute(), model.transform(texts))
    pattern = transform(client, model, tmp_path / "part-[13]*", text_column="body")
    assert np.array_equal(pattern.compute(), model.transform(parts[1] + parts[3]))


def killed_once(flag, D):
    """Return the documents' sum, but end the worker without a word where the flag is not there yet."""
    with suppress(FileExistsError):
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return np.asarray(D.sum(axis=0)).ravel()


def killing(documents, flag):
    """Let a worker be killed in the third pass of a fit, at work."""
    n_passes = 0
    add_up = documents.sum_blocks

    def counted(function, n_threads):
        nonlocal n_passes
        n_passes += 1
        if n_passes == 3:
            add_up(partial(killed_once, str(flag)), n_threads)
        return add_up(function, n_threads)

    documents.sum_blocks = counted
    mapped = documents.transform_blocks
    documents.transform_blocks = lambda *args: killing(
        mapped(*args), flag
    )  # a fit walks over documents with other lengths
    return documents


def with_both_workers(client):
    """Wait for the worker that takes the place of a killed one; on a busy machine nobody may start it in time."""
    try:
        client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        client.cluster.scale(1)
        client.cluster.scale(2)
        client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("road", ["scattered", "files"])
def test_a_killed_worker_changes_no_bit(client, X, parts, tmp_path, road):
    if road == "scattered":
        there = scatter(client, Documents.from_matrix(X, 14))
    else:
        there = count(client, written(tmp_path, parts), text_column="body").blocks.transform_blocks(np.sqrt)
    before = AnchorFree(3).fit(Documents(blocks_of(there)))
    pids = set(client.run(os.getpid).values())
    after = AnchorFree(3).fit(killing(there, tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    assert not pids <= set(client.run(os.getpid).values())
    assert np.array_equal(before.components_, after.components_)
    assert np.array_equal(before.transform(Documents(blocks_of(there))), after.transform(there))
    with_both_workers(client)


def test_a_wait_ends_when_nobody_works_and_not_before(client, monkeypatch):
    monkeypatch.setattr(clients, "POLL_SECONDS", 0.2)
    assert clients.wait_for_result(client, client.submit(late, 1.5, pure=False)) == 1.5
    nobody = client.submit(late, 0.0, pure=False, resources={"what no worker has": 1})
    with pytest.raises(TimeoutError, match=r"no worker did anything for 0\.4 seconds"):
        clients.wait_for_result(client, nobody)
    with pytest.raises(TimeoutError, match="its own"):
        clients.wait_for_result(client, client.submit(too_late, pure=False))


def late(seconds):
    time.sleep(seconds)
    return seconds


def too_late():
    raise TimeoutError("its own")


def test_what_cannot_be_used_is_refused(client, X, tmp_path):
    for bad in (None, "tcp://127.0.0.1:8786", Client):
        with pytest.raises(InputError, match=r"must be a dask.distributed.Client"):
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
    with pytest.raises(TypeError, match="stay with their client"):
        pickle.dumps(scatter(client, [X]))


def test_texts_that_cannot_be_counted_are_refused(client, tmp_path):
    (tmp_path / "a.csv").write_text("body,n\nsome words here,1\n")
    (tmp_path / "b.csv").write_text("text,n\nother words there,1\n")
    (tmp_path / "c.jsonl").write_text(json.dumps({"body": "good"}) + "\n" + json.dumps({"body": " "}) + "\n")
    with pytest.raises(InputError, match=r"missing.csv is not there on .*every worker"):
        count(client, [tmp_path / "missing.csv"])
    with pytest.raises(InputError, match="no file has a name like"):
        count(client, str(tmp_path / "*.parquet"))
    with pytest.raises(InputError, match=r"part 1 is \['a'\]"):
        count(client, [tmp_path / "a.csv", ["a"]])
    with pytest.raises(InputError, match=r"b\.csv in 'text'; pass text_column"):
        count(client, [tmp_path / "a.csv", tmp_path / "b.csv"], CountSettings(min_df=1, max_df=1.0))
    with pytest.raises(InputError, match="no word is left"):
        count(client, [tmp_path / "a.csv"], CountSettings(min_df=2))
    with pytest.raises(InputError, match="says nothing about reading"):
        count(client, [tmp_path / "a.csv"], column="body")
    with pytest.warns(UserWarning, match="without text"):
        count(client, [tmp_path / "a.csv", tmp_path / "c.jsonl"], CountSettings(min_df=1, max_df=1.0))
    with pytest.raises(InputError, match=r"document 1 is 3 \(int\)"):
        count(client, db.from_sequence(["a b", 3], npartitions=1))


def test_a_client_that_is_closed_is_refused(client, X):
    other = Client(client.scheduler.address)
    there = scatter(other, [X])
    other.close()
    with pytest.raises(ClusterError, match="client is closed; connect again"):
        there.sum_blocks(entry, 1)
    with pytest.raises(ClusterError, match="client is closed; connect again"):
        scatter(other, [X])
