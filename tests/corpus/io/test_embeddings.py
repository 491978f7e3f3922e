import base64
import os
import pickle
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from anchorless._corpus.io import limits
from anchorless._corpus.io.embeddings import collect_embeddings, is_embedding_file, read_embeddings
from anchorless.errors import InputError, UsageError

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3) / 8


def test_every_kind_of_file_gives_the_same_array(tmp_path):
    np.save(tmp_path / "a.npy", VALUES)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(VALUES.ravel()), 3)
    half = pa.ListArray.from_arrays(pa.array([0, 3, 6, 9, 12], pa.int32()), pa.array(VALUES.ravel().astype(np.float16)))
    tables = {
        "fixed": pa.table({"id": ["a", "b", "c", "d"], "embedding": fixed}),
        "lists": pa.table({"embedding": pa.array(VALUES.tolist(), pa.list_(pa.float32()))}),
        "columns": pa.table({"id": [1, 2, 3, 4]} | {f"d{k}": VALUES[:, k] for k in range(3)}),
        "half": pa.table({"e": half}),
    }
    np.testing.assert_array_equal(read_embeddings(tmp_path / "a.npy"), VALUES)
    for name, table in tables.items():
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
        np.testing.assert_array_equal(read_embeddings(tmp_path / f"{name}.parquet"), VALUES)
    assert is_embedding_file("A.NPY")
    assert not is_embedding_file("embedding")


def test_lists_of_a_column_may_be_json_and_missing_ones_are_masked():
    tables = [pa.table({"e": ["[0.5, 1]", None]}), pa.table({"e": ["[2, 3]", ""]})]
    found = collect_embeddings(iter(tables), "e", "a.csv")
    np.testing.assert_array_equal(found.mask[:, 0], [False, True, False, True])
    np.testing.assert_array_equal(found.compressed(), [0.5, 1, 2, 3])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["[1, 2]", "[1]"], "have 1 to 2 numbers"),
        (["[1, 2", "[1, 2]"], "no lists of numbers"),
        (['["a"]', "[1]"], "no lists of numbers"),
        ([1, 2], "must be a list of numbers"),
        (["[" * 100_000, "[1]"], "no lists of numbers"),
    ],
)
def test_columns_that_are_no_embeddings_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        collect_embeddings(iter([pa.table({"e": values})]), "e", "a.csv")


def test_a_missing_column_is_named_with_those_there_are():
    with pytest.raises(UsageError, match=r"no column 'x', only 'id', 'e'"):
        collect_embeddings(iter([pa.table({"id": [1], "e": [2]})]), "x", "a.csv")


def nest_header():
    """An array whose header Python's parser gives up, for which it raises MemoryError."""
    header = b"-" * 9000 + b"1"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def test_files_that_cannot_be_read_are_refused(tmp_path):
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("no array")
    np.savez(tmp_path / "archive.npz", a=VALUES)
    (tmp_path / "archive.npz").rename(tmp_path / "archive.npy")
    np.save(tmp_path / "header.npy", VALUES)
    content = (tmp_path / "header.npy").read_bytes()
    (tmp_path / "header.npy").write_bytes(content.replace(b"}", b" ", 1))
    (tmp_path / "nested.npy").write_bytes(nest_header())
    (tmp_path / "text.parquet").write_text("no table")
    pyarrow.parquet.write_table(pa.table({"id": [1]}), tmp_path / "none.parquet")
    (tmp_path / "empty.npy").touch()
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(VALUES))
    reasons = {"text": "in another format", "pickle": "in another format", "archive": "an archive of", "empty": "empty"}
    for name, reason in reasons.items():
        with pytest.raises(InputError, match=rf"no array of numbers \(it is {reason}"):
            read_embeddings(tmp_path / f"{name}.npy")
    for name in ("object.npy", "text.parquet", "header.npy", "nested.npy"):
        with pytest.raises(InputError, match="is no array of numbers"):
            read_embeddings(tmp_path / name)
    with pytest.raises(InputError, match="0 columns of lists"):
        read_embeddings(tmp_path / "none.parquet")
    for name in ("missing.npy", "missing.parquet"):
        with pytest.raises(InputError, match="there is no such file"):
            read_embeddings(tmp_path / name)


def test_a_small_file_that_unpacks_to_more_than_the_memory_is_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "measure_available_memory", lambda: 10**6)
    few, many = np.zeros(10_000), np.zeros(10**6)
    pyarrow.parquet.write_table(pa.table({"e": few}), tmp_path / "few.parquet")
    assert read_embeddings(tmp_path / "few.parquet").shape == (10_000, 1)
    pyarrow.parquet.write_table(pa.table({"e": many}), tmp_path / "many.parquet")
    assert (tmp_path / "many.parquet").stat().st_size < 10_000
    with pytest.raises(InputError, match=r"it needs 0\.0 GB of memory, and 0\.0 GB are available"):
        read_embeddings(tmp_path / "many.parquet")


#: A mutant whose counts of values PyArrow does not give: it ends the process.
DAMAGED = (
    "eNoLcAwyFGURPcAERD6iGqIMQgwgoGCi8nA/kF4Qr3LdHsTXv/sFRB+oWeH3Dsz43/IMrEDL/guIdrj78TGIPrBWYylYfuVMpgNA"
    "uiGW8QxIPMHh/WcQzbAn7zmQ9mZMP/gi3erBxCywNQzOdlfApqlH3ALpblBa9wFEP7hUfABsKsfdryB+gpvnUxBfQaX+mr0og6iL"
    "qIuOqJaogCibKJuMBAdMJYQFcoEYkwYWUUFBIIsFiNnv3JVlBdLMf/5LMbOyK3Q4dllqrDw6q9rgFCcDgyiLpI8pgwRbcXJGam6i"
    "KBODqYIEY5kokyibjw1QkymLBEtOZnEJUEKUS5VJgj01JzU3Na+EQYxHUkZSRo1BRpRL0pSBTUDSgrEMrBKmQpRBTEtsEQsQqb1g"
    "UuMgzeWSOsD4YgBZygD0OBODjaYaj5ykGxMDgwZQFchYHjUOIMUgKSPB4xgU5B9uBfGAxANGfRAwcwSBQEcI8HZ0LHd0Snd0c3RM"
    "d3ROB4s5OTk6+oIYzo6OnmABBA0ErnDCMABoXjnItPJQEN8DYTRYqRdcvZMRVNAVKh/o6BQIMt/d0THZ0QUhCQGBvoFo5jnCDXXP"
    "MYgKNwAyIqH6I6Gyno4MEgoFiUWFpakluskFBbqJRUX55QplqUXFmfl5CkZmegZ6hpIyMsBgus3IwBAATPoA41XHaA=="
)


def test_a_file_with_damaged_counts_of_values_does_not_end_the_process(tmp_path):
    (tmp_path / "e.parquet").write_bytes(zlib.decompress(base64.b64decode(DAMAGED)))
    with pytest.raises(InputError, match=r"e\.parquet"):
        read_embeddings(tmp_path / "e.parquet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "e.npy")
    with pytest.raises(InputError, match="it is a device or pipe"):
        read_embeddings(tmp_path / "e.npy")
