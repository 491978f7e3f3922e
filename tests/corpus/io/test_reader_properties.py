"""Laws of the readers: what is written is read, and no bytes raise anything but an InputError."""

import csv
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from anchorless._corpus.io.count_readers import read_counts
from anchorless._corpus.io.count_writers import write_counts
from anchorless._corpus.io.formats import COUNT_FORMATS, WRITABLE_FORMATS
from anchorless._corpus.io.readers import open_texts
from anchorless.errors import InputError
from tests.helpers.properties import run_examples

# No control characters: a file with many of them is refused as binary. The x keeps a text from being blank.
LINES = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff"), max_size=20).map(
    "x".__add__
)
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from('\n\t",;|\r'), max_size=20).map(
    "x".__add__
)
ENCODINGS = st.sampled_from(["utf-8", "latin-1", "cp1252", "utf-16", "utf-32", "ascii", "utf-8-sig"])


def as_csv(texts, delimiter=","):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter).writerows([("id", "text"), *enumerate(texts)])
    return stream.getvalue().encode()


def as_parquet(texts):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [str(i) for i in range(len(texts))], "text": pa.array(texts, pa.string())}), sink)
    return sink.getvalue().to_pybytes()


def as_jsonl(texts, ensure_ascii=True):
    rows = [json.dumps({"id": str(i), "text": text}, ensure_ascii=ensure_ascii) for i, text in enumerate(texts)]
    return "\n".join(rows).encode()


WRITERS = {
    "csv": as_csv,
    "tsv": lambda texts: as_csv(texts, "\t"),
    "jsonl": as_jsonl,
    "ndjson": lambda texts: as_jsonl(texts, False),
    "parquet": as_parquet,
    "txt": lambda texts: "\n".join(texts).encode(),
}


def read(path, **options):
    with open_texts(path, **options) as source:
        batches = list(source)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return texts, [value for batch in batches for value in batch.other_columns["id"].to_pylist()]


@pytest.mark.parametrize("extension", WRITERS)
@run_examples(40)
@given(data=st.data(), packed=st.booleans())
def test_what_is_written_is_read(tmp_path, extension, data, packed):
    texts = data.draw(st.lists(LINES if extension == "txt" else TEXTS, min_size=1, max_size=8))
    content = WRITERS[extension](texts)
    path = tmp_path / f"a.{extension}"
    path.write_bytes(gzip.compress(content) if packed else content)
    found, ids = read(path)
    assert found == texts
    assert ids == [str(i + (extension == "txt")) for i in range(len(texts))]


@st.composite
def damaged(draw, content):
    """Return content with some of its bytes replaced, inserted or cut off."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(changed)))
        changed[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(changed[: draw(st.integers(0, len(changed)))] if draw(st.booleans()) else changed)


@pytest.mark.parametrize("extension", [*WRITERS, "unknown"])
@run_examples(40)
@given(data=st.data(), strict=st.booleans(), encoding=ENCODINGS, packed=st.booleans())
def test_any_bytes_are_read_or_refused(tmp_path, extension, data, strict, encoding, packed):
    valid = WRITERS.get(extension, as_csv)(["a text of many words, all ordinary"] * 3)
    content = data.draw(st.binary(max_size=80) | damaged(valid))
    path = tmp_path / f"a.{extension}"
    path.write_bytes(data.draw(damaged(gzip.compress(content))) if packed else content)
    try:
        texts, ids = read(path, strict=strict, encoding=encoding)
    except InputError:
        return
    assert len(texts) == len(ids) > 0
    assert all(text.strip("\0 ") for text in texts)


@st.composite
def counts(draw):
    """Return a matrix of small counts with its words and, sometimes, labels."""
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    values = draw(st.lists(st.integers(0, 300), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    word = st.text(st.characters(categories=("L", "N", "S")), min_size=1, max_size=5)
    words = draw(st.lists(word, min_size=shape[1], max_size=shape[1], unique=True))
    labels = draw(st.none() | st.lists(st.sampled_from("αβγ"), min_size=shape[0], max_size=shape[0]))
    return sp.csr_matrix(np.reshape(values, shape).astype(float)), words, labels


@pytest.mark.parametrize("format", WRITABLE_FORMATS)
@run_examples(15)
@given(written=counts(), packed=st.booleans())
def test_counts_that_are_written_are_read(tmp_path, format, written, packed):
    X, words, labels = written
    name = "docword.a.txt" if format == "uci" else f"a.{format}"
    path = tmp_path / (f"{name}.gz" if packed and format != "npz" else name)
    for file in tmp_path.iterdir():
        file.unlink()
    write_counts(path, X, words, labels)
    found = read_counts(path)
    np.testing.assert_array_equal(found.counts.toarray(), X.toarray())
    assert found.vocabulary == words
    assert labels is None or found.labels == labels


@pytest.mark.parametrize("format", COUNT_FORMATS)
@run_examples(40)
@given(data=st.data())
def test_any_bytes_are_counts_or_refused(tmp_path, format, data):
    X = sp.csr_matrix(np.arange(6.0).reshape(2, 3))
    path = tmp_path / f"a.{format}"
    valid = b""
    if format in WRITABLE_FORMATS:
        write_counts(path, X, ["a", "b", "c"], format=format, force=True)
        valid = path.read_bytes()
    path.write_bytes(data.draw(st.binary(max_size=80) | damaged(valid)))
    try:
        found = read_counts(path, format=format, vocabulary=["a", "b", "c"])
    except InputError:
        return
    assert found.counts.shape[1] == 3
