import errno
import gc
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless import SPA, AnchorFree
from anchorless._corpus.counting import batch_texts, count_texts
from anchorless._corpus.disk import store as counts
from anchorless._corpus.disk import vocabulary as growing
from anchorless._corpus.disk.block_folder import FINISHED, BlockFolder, write_block
from anchorless._corpus.disk.documents import StoredDocuments
from anchorless._corpus.disk.store import ALL_TERMS, CountStore
from anchorless._corpus.documents import Documents
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import rechunk_blocks
from anchorless._files import TEMPORARY_PREFIX
from anchorless.errors import InputError
from anchorless.progress import listen

SETTINGS = CountSettings(stop_words=None, min_df=2)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(counts, "NONZEROS_PER_BLOCK", 100)
    monkeypatch.setattr("anchorless._corpus.counting.TEXTS_PER_BATCH", 20)


def texts(n=200, seed=0):
    """Return texts of words of very different frequency, one of them without a word."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(600)])
    drawn = [" ".join(words[(599 * rng.random(rng.integers(3, 30)) ** 4).astype(int)]) for _ in range(n)]
    drawn[17] = "?"
    return drawn


def counted(path, documents, settings=SETTINGS, n_threads=2):
    store = CountStore(path, {"of": "texts"})
    store.count(batch_texts(documents), settings, n_threads)
    return store


def files(store):
    return {path.name: path.read_bytes() for path in sorted((Path(store) / ALL_TERMS).iterdir())}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "settings", [SETTINGS, CountSettings(ngram_range=(1, 2), max_features=50), CountSettings(max_df=0.2)]
)
def test_counts_on_disk_are_those_in_memory(tmp_path, seed, settings):
    expected = count_texts(batch_texts(texts(seed=seed)), settings, 1)
    found = counted(tmp_path / "s", texts(seed=seed), settings).select_vocabulary(settings, 2)
    assert found.vocabulary == expected.vocabulary
    assert (found.n_tokens, found.documents.shape) == (expected.n_tokens, expected.documents.shape)
    np.testing.assert_array_equal(found.document_frequency, expected.document_frequency)
    blocks = [*rechunk_blocks(expected.documents.blocks, 100)]
    assert found.documents.n_blocks == len(blocks) > 1
    for number, block in enumerate(blocks):
        np.testing.assert_array_equal(found.documents.block(number).toarray(), block.toarray())


def test_a_store_does_not_depend_on_threads(tmp_path):
    for n_threads in (1, 2, 5):
        counted(tmp_path / str(n_threads), texts(), n_threads=n_threads)
    assert files(tmp_path / "1") == files(tmp_path / "2") == files(tmp_path / "5")


class Ended(BaseException):
    """Stands for the end of a process."""


@pytest.mark.parametrize("where", ["before", "temporary", "after"])
@pytest.mark.parametrize("after", [0, 1, 4, 7])
def test_counting_continues_where_it_was_ended(tmp_path, monkeypatch, where, after):
    """A process is ended before a block is written, before its file is renamed, or before it is recorded in memory."""
    counted(tmp_path / "whole", texts())
    calls = []

    def ending(path, *arguments):
        calls.append(1)
        if len(calls) <= after or where == "after":
            write_block(path, *arguments)
        elif where == "temporary":
            (path.parent / f"{TEMPORARY_PREFIX}0.block").write_bytes(b"half a block")
        if len(calls) > after:
            raise Ended

    with monkeypatch.context() as patch:
        patch.setattr("anchorless._corpus.disk.block_folder.write_block", ending)
        with pytest.raises(Ended):
            counted(tmp_path / "s", texts())
    assert len(BlockFolder(tmp_path / "s" / ALL_TERMS).facts) == after + (where == "after")
    counted(tmp_path / "s", texts())
    assert files(tmp_path / "s") == files(tmp_path / "whole")


def test_blocks_without_the_mark_of_the_end_are_continued(tmp_path):
    counted(tmp_path / "s", texts())
    whole, folder = files(tmp_path / "s"), tmp_path / "s" / ALL_TERMS
    (folder / FINISHED).unlink()
    assert not BlockFolder(folder).is_finished
    counted(tmp_path / "s", texts())
    assert files(tmp_path / "s") == whole


def keep_blocks(folder, n_blocks):
    """Leave of a folder what a process would have left that was killed after so many blocks."""
    (folder / FINISHED).unlink()
    for path in sorted(folder.glob("*.block"))[n_blocks:]:
        path.unlink()


def test_batches_of_another_size_go_on_too(tmp_path, monkeypatch):
    counted(tmp_path / "s", texts())
    keep_blocks(tmp_path / "s" / ALL_TERMS, 3)
    monkeypatch.setattr("anchorless._corpus.counting.TEXTS_PER_BATCH", 37)
    found = counted(tmp_path / "s", texts()).select_vocabulary(SETTINGS, 1)
    expected = count_texts(batch_texts(texts()), SETTINGS, 1)
    np.testing.assert_array_equal(found.document_frequency, expected.document_frequency)
    rows = [found.documents.block(number) for number in range(found.documents.n_blocks)]
    np.testing.assert_array_equal(sp.vstack(rows).toarray(), sp.vstack(expected.documents.blocks).toarray())


def test_random_kills_lose_nothing_and_count_nothing_twice():
    """The whole run of a hundred is `python -m benchmarks.kills`."""
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.kills", "15"], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "same bytes: True" in run.stdout


@pytest.mark.parametrize("seed", range(8))
def test_a_flipped_byte_is_found_and_named(tmp_path, seed):
    rng = np.random.default_rng(seed)
    counted(tmp_path / "s", texts())
    blocks = sorted((tmp_path / "s" / ALL_TERMS).glob("*.block"))
    path = blocks[rng.integers(len(blocks))]
    data = bytearray(path.read_bytes())
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"{path.name} is damaged.*count again"):
        counted(tmp_path / "s", texts())


def test_a_flipped_byte_in_the_selected_counts_is_detected(tmp_path):
    found = counted(tmp_path / "s", texts()).select_vocabulary(SETTINGS, 1)
    path = found.documents.folder.block_path(1)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    fresh = StoredDocuments(BlockFolder(path.parent), found.documents.shape[1])
    with pytest.raises(InputError, match=f"{path.name} is damaged"):
        fresh.sum_blocks(lambda D: D.sum(axis=0), 2)


@pytest.mark.parametrize("content", [b"", b"7x", b"0"])
def test_a_damaged_mark_of_the_end_is_named(tmp_path, content):
    counted(tmp_path / "s", texts())
    path = tmp_path / "s" / ALL_TERMS / FINISHED
    path.write_bytes(content)
    with pytest.raises(InputError, match="finished is damaged"):
        BlockFolder(path.parent)


def test_a_last_block_that_is_gone_is_missed(tmp_path):
    counted(tmp_path / "s", texts())
    sorted((tmp_path / "s" / ALL_TERMS).glob("*.block"))[-1].unlink()
    with pytest.raises(InputError, match=r"damaged.*count again"):
        counted(tmp_path / "s", texts())


@pytest.mark.parametrize("missing", ["delete", "cut"])
def test_a_block_that_is_gone_or_cut_off_is_named(tmp_path, missing):
    counted(tmp_path / "s", texts())
    path = sorted((tmp_path / "s" / ALL_TERMS).glob("*.block"))[2]
    path.unlink() if missing == "delete" else path.write_bytes(path.read_bytes()[:-64])
    with pytest.raises(InputError, match=path.name):
        BlockFolder(path.parent)


def test_a_full_disk_is_reported_and_complete_blocks_stay(tmp_path):
    counted(tmp_path / "whole", texts())
    sizes = [path.stat().st_size for path in sorted((tmp_path / "whole" / ALL_TERMS).glob("*.block"))]
    long = [*texts(40), " ".join(texts(900, seed=5))]  # its last block is beyond the limit
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[0] + 1, hard))
    try:
        with pytest.raises(InputError, match=r"limit of this disk.*; the 40 documents counted so far are kept"):
            counted(tmp_path / "s", long)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [*(tmp_path / "s" / ALL_TERMS).glob(".*")]
    folder = BlockFolder(tmp_path / "s" / ALL_TERMS)
    for number in range(len(folder.facts)):
        folder.read(number, growing.UNBOUNDED_WIDTH)


@pytest.mark.parametrize("call", range(0, 20, 3))
def test_a_store_continues_after_a_full_disk_at_any_step(tmp_path, monkeypatch, call):
    counted(tmp_path / "whole", texts())
    real, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) > call + 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="the disk is full"):
            counted(tmp_path / "s", texts())
    counted(tmp_path / "s", texts())
    assert files(tmp_path / "s") == files(tmp_path / "whole")


def test_two_processes_do_not_write_one_store(tmp_path):
    first = CountStore(tmp_path / "s", {"of": "texts"})
    first.folder.append(sp.csr_matrix([[1.0]]), n_runs=1, pruned=0)
    second = BlockFolder(tmp_path / "s" / ALL_TERMS)
    with pytest.raises(InputError, match="another process is writing"):
        second.append(sp.csr_matrix([[1.0]]))
    first.folder.close()
    second.append(sp.csr_matrix([[1.0]]))
    second.close()


def test_counts_of_other_texts_are_not_continued(tmp_path):
    counted(tmp_path / "s", texts())
    assert CountStore(tmp_path / "s", {"of": "texts"}).n_documents == 200
    assert CountStore(tmp_path / "s", {"of": "others"}).n_documents == 0


def test_rare_terms_are_pruned_and_frequent_ones_counted_exactly(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "MAX_TERMS_IN_MEMORY", 150)
    documents = texts(600)
    store = counted(tmp_path / "s", documents)
    assert sum(facts["pruned"] > 0 for facts in store.folder.facts) > 1
    assert len(store.vocabulary.numbers_by_term) < 300
    often = CountSettings(stop_words=None, min_df=40)
    exact, found = count_texts(batch_texts(documents), often, 1), store.select_vocabulary(often, 2)
    lost = sum(facts["pruned"] for facts in store.folder.facts)
    true = dict(zip(exact.vocabulary, exact.document_frequency, strict=True))
    assert set(found.vocabulary) <= set(true)
    assert {word for word, n in true.items() if n >= 40 + lost} <= set(found.vocabulary)
    for word, n in zip(found.vocabulary, found.document_frequency, strict=True):
        assert true[word] - lost <= n <= true[word]
    parts = tmp_path / "parts"
    store = CountStore(parts, {"of": "texts"})
    with pytest.raises(Ended):
        store.count(ending_after(documents, 15), SETTINGS, 1)
    counted(parts, documents)
    assert files(parts) == files(tmp_path / "s")


def ending_after(documents, n_batches):
    for number, batch in enumerate(batch_texts(documents)):
        if number == n_batches:
            raise Ended
        yield batch


@pytest.fixture
def pair(tmp_path):
    """Return the same documents in memory and on disk, in 20 blocks."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(60, 0.1), 4)
    X = sp.csr_matrix(rng.poisson(30 * rng.dirichlet(np.full(4, 0.3), 400) @ topics).astype(float))
    memory = Documents.from_matrix(X, 20)
    with BlockFolder.create(tmp_path / "f", {}) as folder:
        for block in memory.blocks:
            folder.append(block)
    return memory, StoredDocuments(BlockFolder(tmp_path / "f"), 60)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_documents_on_disk_are_those_in_memory(pair, n_threads):
    memory, stored = pair
    assert (stored.shape, stored.n_blocks) == (memory.shape, memory.n_blocks)
    Q = np.random.default_rng(0).standard_normal((60, 3))
    scaled = [documents.transform_blocks(lambda D: 0.3 * D) for documents in pair]
    for first, second in (pair, scaled, [documents.materialize(n_threads) for documents in scaled]):
        product = [documents.sum_blocks(lambda D: D.T @ (D @ Q), n_threads) for documents in (first, second)]
        np.testing.assert_array_equal(*product)
    assert not scaled[1].materialize(1)._functions


def test_a_materialized_folder_is_removed_with_the_last_documents_that_use_it(pair):
    _, stored = pair
    scaled = stored.transform_blocks(lambda D: 2 * D).materialize(1)
    path, derived = scaled.folder.path, scaled.transform_blocks(lambda D: D)
    del scaled
    gc.collect()
    assert path.is_dir()
    assert derived.sum_blocks(lambda D: D.sum(axis=0), 1).sum() > 0
    del derived
    gc.collect()
    assert not path.exists()


def test_a_vocabulary_is_selected_only_when_all_texts_are_counted(tmp_path):
    with pytest.raises(InputError, match="not all counted yet; call count first"):
        CountStore(tmp_path / "s", {"of": "texts"}).select_vocabulary(SETTINGS, 1)
    store = counted(tmp_path / "s", texts())
    expected = store.select_vocabulary(SETTINGS, 1)
    store.close()  # its documents have the folder locked
    found = CountStore(tmp_path / "s", {"of": "texts"}).select_vocabulary(SETTINGS, 1)
    assert found.vocabulary == expected.vocabulary
    np.testing.assert_array_equal(found.document_frequency, expected.document_frequency)


@pytest.mark.parametrize("options", [{}, {"cooccurrence": "unbiased"}, {"constraint": "all"}])
def test_topics_are_the_same_from_disk(pair, options):
    memory, stored = (AnchorFree(4, **options).fit(documents) for documents in pair)
    np.testing.assert_allclose(memory.components_, stored.components_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(memory.topic_moments_, stored.topic_moments_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(memory.transform(pair[0]), stored.transform(pair[1]), rtol=0, atol=1e-10)
    assert memory.score(pair[0]) == pytest.approx(stored.score(pair[1]), rel=1e-10)


def test_anchor_words_from_disk(pair):
    memory, stored = (SPA(4, cooccurrence="unbiased").fit(documents) for documents in pair)
    np.testing.assert_array_equal(memory.anchors_, stored.anchors_)
    np.testing.assert_allclose(memory.components_, stored.components_, atol=1e-9)


def test_a_bad_entry_on_disk_is_named(pair, tmp_path):
    memory, _ = pair
    blocks = [block.copy() for block in memory.blocks]
    blocks[7].data[0] = np.nan
    with BlockFolder.create(tmp_path / "bad", {}) as folder:
        for block in blocks:
            folder.append(block)
    with pytest.raises(InputError, match="NaN: document 140"):
        AnchorFree(3).fit(StoredDocuments(folder, 60))


def test_the_progress_callback_is_called_after_every_block(pair):
    _, stored = pair
    told = []
    with listen(lambda *said: told.append(said)):
        stored.transform_blocks(lambda D: D).sum_blocks(lambda D: np.ones(1), 3)
    assert told == [("pass", i, 20) for i in range(1, 21)]


def test_a_second_store_in_the_same_folder_is_refused_until_the_first_is_closed(tmp_path):
    """Two runs that replaced each other's blocks gave wrong topics without an error."""
    store = counted(tmp_path / "s", texts())
    documents = store.select_vocabulary(SETTINGS, 1).documents
    expected = documents.block(0).toarray()
    for about in ({"of": "texts"}, {"of": "other texts"}):
        with pytest.raises(InputError, match="another run uses the counts in"):
            CountStore(tmp_path / "s", about)
    np.testing.assert_array_equal(documents.block(0).toarray(), expected)
    store.close()
    assert CountStore(tmp_path / "s", {"of": "texts"}).n_documents == 200


def test_documents_keep_the_store_locked(tmp_path):
    documents = counted(tmp_path / "s", texts()).select_vocabulary(SETTINGS, 1).documents
    gc.collect()
    with pytest.raises(InputError, match="another run uses"):
        CountStore(tmp_path / "s", {"of": "texts"})
    del documents
    gc.collect()
    CountStore(tmp_path / "s", {"of": "texts"})


def test_a_store_is_free_after_a_process_that_was_killed(tmp_path):
    code = (
        "import os, signal, sys; from anchorless import CountStore; "
        "store = CountStore(sys.argv[1], {'of': 'texts'}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], timeout=60, check=False)
    CountStore(tmp_path / "s", {"of": "texts"}).remove()
    assert not (tmp_path / "s").exists()


def test_a_block_that_was_replaced_by_another_is_found(tmp_path):
    folder = counted(tmp_path / "s", texts()).folder
    folder.read(0, 600)
    other = counted(tmp_path / "t", texts(seed=1)).folder
    os.replace(other.block_path(0), folder.block_path(0))
    with pytest.raises(InputError, match=r"00000000\.block is damaged"):
        folder.read(0, 600)
