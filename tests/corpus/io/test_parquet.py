import datetime
import gzip
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchorless._corpus.io import parquet
from anchorless._corpus.io.batches import SkipLog
from anchorless._corpus.io.parquet import ParquetInput, compute_rows_per_chunk, flatten_table
from anchorless._files import open_input
from anchorless.errors import InputError

FIXTURES = Path(__file__).parents[2] / "fixtures"


def write(path, table, **options):
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), path, **options)
    return path


def read(path, strict=False):
    source = ParquetInput(open_input(path))
    skips = SkipLog(source.name, "row", strict=strict)
    try:
        chunks = list(source.chunks(skips))
    finally:
        source.close()
    return pa.concat_tables([chunk.table for chunk in chunks]), skips, chunks, source


def test_what_was_written_is_what_is_read(tmp_path):
    table = pa.table(
        {"id": range(5000), "text": [f"text {n}" for n in range(5000)], "when": [datetime.date.min] * 5000}
    )
    path = write(tmp_path / "a.parquet", table, row_group_size=1700)
    found, skips, chunks, source = read(path)
    assert found.equals(table)
    assert skips.counts == {}
    assert [place for chunk in chunks for place in chunk.places] == list(range(1, 5001))
    assert chunks[-1].ids[-1] == "5000"
    assert max(len(chunk.ids) for chunk in chunks) <= 2000
    assert source.bytes_read == source.bytes_total == path.stat().st_size
    assert source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_long_texts_come_in_smaller_chunks(tmp_path):
    path = write(tmp_path / "a.parquet", {"text": [str(n) * 300_000 for n in range(100)]}, use_dictionary=False)
    _, _, chunks, _ = read(path)
    assert max(chunk.table.nbytes for chunk in chunks) < 2 * (1 << 22)
    assert compute_rows_per_chunk(pq.ParquetFile(path).metadata) < 14


@pytest.mark.parametrize("column", ["text", "label"])
def test_a_long_text_that_all_rows_share_is_in_few_rows_at_a_time(tmp_path, monkeypatch, column):
    columns = {"text": [f"text {n}" for n in range(100)], "label": [None, *"ab" * 49, "c"]}
    table = pa.table(columns | {column: ["word " * 100_000] * 99 + ["end"]})
    path = write(tmp_path / "a.parquet", table, dictionary_pagesize_limit=1 << 30)
    assert path.stat().st_size < 50_000
    lengths = []

    def flatten(part):
        lengths.append(len(part))
        return flatten_table(part)

    monkeypatch.setattr(parquet, "flatten_table", flatten)
    assert read(path)[0].equals(table)
    assert max(lengths) * 500_000 < 2 * (1 << 22)


def test_a_packed_file_is_unpacked_beforehand(tmp_path):
    table = pa.table({"text": ["a", "b"]})
    raw = gzip.compress(write(tmp_path / "a.parquet", table).read_bytes())
    (tmp_path / "b.parquet.gz").write_bytes(raw)
    found, _, _, source = read(tmp_path / "b.parquet.gz")
    assert found.equals(table)
    assert source.sha256() == hashlib.sha256(raw).hexdigest()
    assert source.temporary_file.closed


def test_columns_are_made_flat(tmp_path):
    table = pa.table(
        {
            "text": pa.array(["x", "y", "x"]).dictionary_encode(),
            "tags": [["a", "é"], None, []],
            "who": [{"name": "n", "day": datetime.date(2020, 1, 2)}, None, {"name": None, "day": None}],
            "picture": [b"\x00\xff", b"", None],
            "n": [1.5, None, 2.0],
        }
    )
    found, _, _, _ = read(write(tmp_path / "a.parquet", table))
    found = found.to_pydict()
    found["who"] = [who and json.loads(who) for who in found["who"]]  # the order of the fields is that of pyarrow
    assert found == {
        "text": ["x", "y", "x"],
        "tags": ['["a", "é"]', None, "[]"],
        "who": [{"name": "n", "day": "2020-01-02"}, None, {"name": None, "day": None}],
        "n": [1.5, None, 2.0],
    }


def test_columns_of_one_name_get_different_names(tmp_path):
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    assert read(write(tmp_path / "a.parquet", table))[0].to_pydict() == {"text": ["a"], "text_2": ["b"]}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_strings_that_are_no_utf8_are_skipped(tmp_path, kind):
    broken = pa.array(
        [b"fine", b"caf\xe9", None, "é".encode()], pa.large_binary() if kind == pa.large_string() else pa.binary()
    )
    path = write(tmp_path / "a.parquet", {"text": broken.view(kind), "n": [1, 2, 3, 4]})
    found, skips, chunks, _ = read(path)
    assert found["text"].to_pylist() == ["fine", None, "é"]
    assert found["n"].to_pylist() == [1, 3, 4]
    assert chunks[0].ids == ["1", "3", "4"]
    assert skips.places["undecodable"] == [2]
    with pytest.raises(InputError, match=r"a\.parquet, row 2: .*not UTF-8"):
        read(path, strict=True)


@pytest.mark.parametrize(("value", "kind"), [(2**62, pa.timestamp("us")), (2**31 - 1, pa.date32())])
def test_dates_in_lists_that_python_does_not_have_are_an_error(tmp_path, value, kind):
    path = write(tmp_path / "a.parquet", {"text": ["one", "two"], "when": pa.array([[0], [value]], pa.list_(kind))})
    with pytest.raises(InputError, match=r"damaged or incomplete Parquet file.*'when'"):
        read(path)


def test_times_in_a_zone_that_nobody_knows_are_read_as_utc(tmp_path):
    times = {zone: pa.array([0, None], pa.timestamp("us", zone)) for zone in ("Mars/X", "Europe/Rome")}
    found = read(write(tmp_path / "a.parquet", {"text": ["one", "two"], **times}))[0]
    assert found["Mars/X"].cast(pa.string()).to_pylist() == ["1970-01-01 00:00:00.000000Z", None]
    assert found["Europe/Rome"].type.tz == "Europe/Rome"


def test_no_rows_give_an_empty_chunk(tmp_path):
    found, _, chunks, _ = read(write(tmp_path / "a.parquet", pa.table({"text": pa.array([], pa.string())})))
    assert found.column_names == ["text"]
    assert chunks[0].ids == []


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"id,text\n1,x\n")
    with pytest.raises(InputError, match=r"a\.parquet is not a Parquet file"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize("cut", [4, 100, -1])
def test_a_truncated_file_is_refused(tmp_path, cut):
    path = write(tmp_path / "a.parquet", {"text": ["a"] * 100})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"damaged or incomplete Parquet file.*again"):
        read(path)


def test_damaged_data_are_refused(tmp_path):
    path = write(tmp_path / "a.parquet", {"text": [str(n) for n in range(10_000)]}, compression="gzip")
    raw = bytearray(path.read_bytes())
    raw[50:5000] = bytes(4950)
    path.write_bytes(raw)
    with pytest.raises(InputError, match="damaged or incomplete Parquet file"):
        read(path)


def test_damaged_statistics_of_a_column_do_not_end_the_process():
    # PyArrow calls abort where it is asked about a column whose histogram has a wrong length.
    with pytest.raises(InputError, match="damaged or incomplete Parquet file"):
        read(FIXTURES / "damaged-histogram.parquet")


@pytest.mark.parametrize(("limit", "ratio", "is_repeated"), [(1 << 26, 50, True), (1, 50, False), (1, 1, True)])
def test_texts_of_large_files_need_no_dictionary(tmp_path, monkeypatch, limit, ratio, is_repeated):
    monkeypatch.setattr(parquet, "MAX_DICTIONARY", limit)
    monkeypatch.setattr(parquet, "MAX_RATIO", ratio)
    path = write(tmp_path / "a.parquet", {"text": ["a text"] * 5000 + ["b" * 5000], "n": range(5001)})
    facts = pq.ParquetFile(path)
    n_bytes = 200 if ratio == 1 else path.stat().st_size
    assert parquet.list_repeated_texts(facts, n_bytes) == (["text"] if is_repeated else [])
    assert len(read(path)[0]) == 5001
