import csv
import gzip
import hashlib
import io
import json
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchorless._corpus.io.batches import EncodingError
from anchorless._corpus.io.readers import TEXT_FORMATS, open_texts
from anchorless.errors import InputError, UsageError
from tests.helpers.text_files import make_xlsx, make_zip

#: Ten times the rows may take this much of the memory of the rows.
SAME_MEMORY = 1.3

ROWS = [
    {"id": f"d{n}", "group": f"g{n % 3}", "text": f"naïve 東京 number {n}, with some more words of text"}
    for n in range(4500)
]


#: Formats that hold any number of texts as they are; mails and single documents have tests of their own.
FORMATS = [format for format in TEXT_FORMATS if format not in ("mailbox", "document")]
ENDINGS = {"lines": "txt", "excel": "xlsx", "archive": "zip"}
BY_NAME = ("folder", "archive")


def written(folder, format, rows=ROWS, packed=False):
    """Write rows in a format and return the path."""
    path = folder / f"docs.{ENDINGS.get(format, format)}"
    if format == "folder":
        path.mkdir()
        for row in rows:
            name = f"{row['id']}.txt" + (".gz" if packed else "")
            content = row["text"].encode()
            (path / name).write_bytes(gzip.compress(content, 1) if packed else content)
        return path
    path.write_bytes(content_of(format, rows))
    if packed:
        packed_path = path.with_name(path.name + ".gz")
        packed_path.write_bytes(gzip.compress(path.read_bytes(), 1))
        return packed_path
    return path


def content_of(format, rows):
    if format in ("csv", "tsv"):
        stream = io.StringIO(newline="")
        writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if format == "tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue().encode()
    if format == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    if format == "lines":
        return "".join(row["text"] + "\n" for row in rows).encode()
    if format == "json":
        return json.dumps(rows, indent=1).encode()
    if format == "excel":
        return make_xlsx({"Sheet1": [list(rows[0]), *(list(row.values()) for row in rows)]})
    if format == "archive":
        return make_zip({f"{row['id']}.txt": row["text"] for row in rows})
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=1000)
    return stream.getvalue()


def read(path, **options):
    """Return all texts, all carried columns as one dictionary, and the source."""
    source = open_texts(path, **options)
    batches = list(source)
    texts = [text for batch in batches for text in batch.texts.to_pylist()]
    return texts, pa.concat_tables([batch.other_columns for batch in batches]).to_pydict(), source


def in_subprocess(code, *arguments, **options):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, check=True, **options
    )
    return done.stdout.decode()


# --- every format gives the same documents


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_same_documents(tmp_path, format, packed):
    if format == "excel":
        pytest.importorskip("python_calamine", reason="spreadsheets need the extra excel")
    rows = sorted(ROWS, key=lambda row: row["id"]) if format in BY_NAME else ROWS
    path = written(tmp_path, format, rows, packed)
    texts, carried, source = read(path)
    ending = ".txt.gz" if packed and format == "folder" else ".txt"
    assert texts == [row["text"] for row in rows]
    if format == "lines":
        assert carried == {"id": [str(n) for n in range(1, len(rows) + 1)]}
    elif format in BY_NAME:
        assert carried == {"id": [row["id"] + ending for row in rows]}
    else:
        assert carried == {key: [row[key] for row in rows] for key in ("id", "group")}
    assert source.text_column == (None if format in ("lines", *BY_NAME) else "text")
    assert source.skipped.describe_all() == []
    assert source.n_documents == len(rows)
    assert source.format == format


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_progress_ends_at_the_size_and_the_hash_is_that_of_the_file(tmp_path, format, packed):
    if format == "excel":
        pytest.importorskip("python_calamine", reason="spreadsheets need the extra excel")
    path = written(tmp_path, format, ROWS[:50], packed)
    _, _, source = read(path)
    if format == "folder":
        assert source.bytes_total == sum(file.stat().st_size for file in path.iterdir())
    else:
        assert source.bytes_total == path.stat().st_size
        assert source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source.bytes_read == source.bytes_total


@pytest.mark.parametrize("format", FORMATS)
def test_batches_are_bounded_and_well_formed(tmp_path, format):
    rows = ROWS + [{"id": f"long {n}", "group": "", "text": f"{n} words " * 100_000} for n in range(20)]
    for batch in open_texts(written(tmp_path, format, rows)):
        assert isinstance(batch.texts, pa.Array)
        assert 0 < len(batch.texts) == len(batch.other_columns) <= 2000
        assert batch.texts.nbytes < 10 << 20
        assert batch.texts.null_count == 0
        assert batch.other_columns.column_names[0] == "id"
        batch.texts.validate(full=True)
        batch.other_columns.validate(full=True)


@pytest.mark.parametrize("format", ["csv", "jsonl", "lines", "parquet"])
def test_stdin_gives_what_the_file_gives(tmp_path, format):
    path = written(tmp_path, format)
    code = (
        "import sys; from anchorless._corpus.io.readers import open_texts; "
        "s = open_texts('-', format=sys.argv[1] or None);"
        "assert s.name == 'stdin' and s.bytes_total is None;"
        "t = [t for b in s for t in b.texts.to_pylist()]; print(len(t), ascii(t[-1]), s.sha256())"
    )
    said = format if format == "csv" else ""
    expected = f"{len(ROWS)} {ROWS[-1]['text']!a} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    assert in_subprocess(code, said, input=path.read_bytes()).strip() == expected


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a", b'\n {"text": "x"}\n', "jsonl"),
        ("a", b'\xef\xbb\xbf{"text": "x"}\n', "jsonl"),
        ("a.log", b"some text\n", "lines"),
        ("a.dump", content_of("parquet", ROWS[:2]), "parquet"),
        ("A.CSV", b"text\nx\n", "csv"),
        ("a.ndjson.gz", gzip.compress(b'{"text": "x"}', mtime=0), "jsonl"),
        ("a.gz", gzip.compress(b"some text", mtime=0), "lines"),
        ("a.tab", b"text\tid\nx\t1\n", "tsv"),
    ],
)
def test_the_format_is_guessed_from_name_and_content(tmp_path, name, content, format):
    (tmp_path / name).write_bytes(content)
    with open_texts(tmp_path / name) as source:
        assert source.format == format


def test_a_given_format_is_not_guessed(tmp_path):
    (tmp_path / "a.csv").write_text("one, two\nthree\n")
    assert read(tmp_path / "a.csv", format="lines")[0] == ["one, two", "three"]


def test_a_source_is_read_once(tmp_path):
    _, _, source = read(written(tmp_path, "lines"))
    with pytest.raises(InputError, match="read already; open it again"):
        list(source)


def test_the_file_is_closed_when_the_reading_stops_early(tmp_path):
    batches = iter(open_texts(written(tmp_path, "csv")))
    next(batches)
    batches.close()  # an open file would be a warning, and warnings are errors here


# --- columns


def test_columns_can_be_chosen(tmp_path):
    texts, carried, source = read(written(tmp_path, "csv", ROWS[:3]), text_column="group", id_column="text")
    assert texts == ["g0", "g1", "g2"]
    assert carried == {"id": [row["text"] for row in ROWS[:3]], "input_id": ["d0", "d1", "d2"]}
    assert (source.text_column, source.id_column) == ("group", "text")


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("role", ["text_column", "id_column"])
def test_a_wrong_column_is_refused_at_once(tmp_path, format, role):
    path = written(tmp_path, format, ROWS[:3])
    with pytest.raises(UsageError, match=r"_column='body', but .* has no such column; .*'id', 'group', 'text'"):
        open_texts(path, **{role: "body"})


@pytest.mark.parametrize("format", ["lines", "folder"])
def test_a_column_of_a_format_without_columns_is_refused(tmp_path, format):
    with pytest.raises(UsageError, match=f"_column='body', but .* is read as {format}"):
        open_texts(written(tmp_path, format, ROWS[:3]), text_column="body")


def test_columns_that_could_all_be_the_text_are_listed(tmp_path):
    (tmp_path / "a.csv").write_text("first,second\nx,y\n")
    with pytest.raises(UsageError, match="set text_column to one of 'first', 'second'"):
        open_texts(tmp_path / "a.csv")


# --- bad input


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: there is no such file"):
        open_texts(tmp_path / "none.csv")


@pytest.mark.parametrize("format", ["pdf", "CSV", ""])
def test_an_unknown_format_is_refused(tmp_path, format):
    with pytest.raises(UsageError, match="must be one of csv, tsv, jsonl"):
        open_texts(tmp_path / "a", format=format)


def test_a_folder_where_a_file_is_needed_and_the_reverse(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(InputError, match="it is a folder"):
        open_texts(tmp_path, format="csv")
    with pytest.raises(UsageError, match="is not a folder"):
        open_texts(tmp_path / "a.txt", format="folder")


def test_a_folder_without_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no \.txt file"):
        open_texts(tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt", "a.parquet", "a"])
@pytest.mark.parametrize("packed", [False, True])
def test_an_empty_file_is_reported(tmp_path, name, packed):
    (tmp_path / name).write_bytes(gzip.compress(b"", mtime=0) if packed else b"")
    with pytest.raises(InputError, match="is empty"):
        open_texts(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"id,text\n"),
        ("a.csv", b"id,text\n1,\n2,  \n"),
        ("a.csv", b"id,text\n1\n2\n"),
        ("a.jsonl", b"\n\n\n"),
        ("a.jsonl", b"nonsense\nmore of it\n"),
        ("a.jsonl", b'{"text": ""}\n{"text": null}\n'),
        ("a.txt", b"\n \n\n"),
        ("a.parquet", content_of("parquet", [{"text": ""}])),
    ],
)
def test_no_document_at_all_is_an_error(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"holds no (documents|documents that can be read): "):
        list(open_texts(tmp_path / name))


def test_a_folder_of_empty_files_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(InputError, match=r"holds no documents: skipped 1 file without text \(file a\.txt\)"):
        list(open_texts(tmp_path))


def test_one_document_is_a_document(tmp_path):
    (tmp_path / "a.txt").write_text("only one")
    assert read(tmp_path / "a.txt")[0] == ["only one"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.txt", "a"])
def test_a_binary_file_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x89PNG\r\n" + random.Random(0).randbytes(2000))
    with pytest.raises(InputError, match="is not text but an image"):
        open_texts(tmp_path / name)
    (tmp_path / name).write_bytes(random.Random(0).randbytes(2000))
    with pytest.raises(InputError, match="is not text but binary"):
        open_texts(tmp_path / name)


LATIN1 = {
    "a.csv": b"id,text\n1,plain\n2,caf\xe9\n3,plain\n",
    "a.tsv": b"id\ttext\n1\tplain\n2\tcaf\xe9\n3\tplain\n",
    "a.jsonl": b'{"text": "plain", "id": "1"}\n{"text": "caf\xe9", "id": "2"}\n{"text": "plain", "id": "3"}\n',
    "a.txt": b"plain\ncaf\xe9\nplain\n",
}


@pytest.mark.parametrize("name", sorted(LATIN1))
def test_latin1_is_skipped_or_an_error_or_read_with_its_encoding(tmp_path, name):
    (tmp_path / name).write_bytes(LATIN1[name])
    texts, carried, source = read(tmp_path / name)
    line = 3 if name in ("a.csv", "a.tsv") else 2
    assert texts == ["plain", "plain"]
    assert carried["id"] == ["1", "3"]
    assert source.skipped.places == {"undecodable": [line]}
    assert "set {encoding}, for example to cp1252" in source.skipped.describe_all()[0]
    with pytest.raises(InputError, match=rf"line {line}: .*byte 0xe9 at character \d+.*for example to cp1252"):
        list(open_texts(tmp_path / name, strict=True))
    assert read(tmp_path / name, encoding="latin-1")[0] == ["plain", "café", "plain"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "lines"])
def test_byte_order_marks_are_followed(tmp_path, format, encoding):
    path = written(tmp_path, format, ROWS[:5])
    path.write_bytes(path.read_bytes().decode().encode(encoding))
    texts, carried, _ = read(path)
    assert texts == [row["text"] for row in ROWS[:5]]
    assert carried["id"][0] in ("d0", "1")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"id,text\n1,some wor\0ds here\n2,more words\n"),
        ("a.jsonl", b'{"id": "1", "text": "some wor\\u0000ds here"}\n{"id": "2", "text": "more words"}\n'),
        ("a.txt", b"some wor\0ds here\nmore words\n"),
    ],
)
def test_nul_bytes_become_blanks(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    texts, carried, _ = read(tmp_path / name)
    assert texts == ["some wor ds here", "more words"]
    assert carried["id"] == ["1", "2"]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "lines", "parquet", "folder"])
def test_a_line_of_50_megabytes_is_a_document(tmp_path, format):
    rows = [{"id": "a", "text": "x"}, {"id": "b", "text": "word " * 10_000_000}, {"id": "c", "text": "y"}]
    sizes = [len(text) for batch in open_texts(written(tmp_path, format, rows)) for text in batch.texts.to_pylist()]
    assert sizes == [1, 50_000_000, 1]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.jsonl", b'{"text": "', b'"}\n{"text": "y"}'),
        ("a.txt", b"", b"\ny"),
        ("a.csv", b"id,text\n1,", b"\n2,y"),
    ],
)
def test_a_longer_line_is_skipped_or_refused_and_never_a_traceback(tmp_path, name, before, after):
    with open(tmp_path / name, "wb") as file:
        file.write(before)
        for _ in range(140):
            file.write(b"word " * 100_000)
        file.write(after)
    if name == "a.csv":
        with pytest.raises(InputError, match=r"a\.csv, line 2: field larger than field limit"):
            read(tmp_path / name)
        return
    texts, _, source = read(tmp_path / name)
    assert texts == ["y"]
    assert source.skipped.describe_all() == [
        "skipped 1 line of more than 64 million characters (line 1); put one document on each line"
    ]


def test_broken_json_at_a_line(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{"text": "y"\n{"text": "z"}\n')
    texts, _, source = read(tmp_path / "a.jsonl")
    assert texts == ["x", "z"]
    assert (
        "(line 2; the first: not valid JSON: Expecting ',' delimiter at character 14)"
        in source.skipped.describe_all()[0]
    )
    with pytest.raises(InputError, match=r"a\.jsonl, line 2: "):
        list(open_texts(tmp_path / "a.jsonl", strict=True))


def test_ragged_csv(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,x\n2,y,z\n3\n4,w\n")
    texts, carried, source = read(tmp_path / "a.csv")
    assert texts == ["x", "w"]
    assert carried["id"] == ["1", "4"]
    assert source.skipped.describe_all() == [
        "skipped 2 lines that could not be read (lines 3, 4; the first: 3 cells, but the header has 2)"
    ]


def test_quoted_newlines_stay_in_the_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'id,text\n1,"two\r\nlines"\n2,"a\n\n""b"""\n')
    assert read(tmp_path / "a.csv")[0] == ["two\r\nlines", 'a\n\n"b"']


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_duplicate_ids_are_kept_and_reported(tmp_path, format):
    """In another batch than the first, which is where ids are guessed."""
    rows = [*ROWS, {"id": "d7", "group": "g", "text": "twice"}]
    path = written(tmp_path, format, rows)
    texts, carried, source = read(path)
    assert len(texts) == len(rows)
    assert carried["id"].count("d7") == 2
    assert source.skipped.counts == {"duplicate id": 1}
    assert source.skipped.counts == {"duplicate id": 1}
    with pytest.raises(InputError, match=r"an id that an earlier document has \('d7'\)"):
        list(open_texts(path, strict=True))


@pytest.mark.parametrize("format", ["csv", "jsonl", "lines"])
def test_truncated_gzip_is_reported(tmp_path, format):
    path = written(tmp_path, format, packed=True)
    path.write_bytes(path.read_bytes()[:-3000])
    with pytest.raises(InputError, match="is cut off: its gzip data end too early"):
        list(open_texts(path))


def test_a_truncated_parquet_file_is_reported(tmp_path):
    path = written(tmp_path, "parquet")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="damaged or incomplete"):
        open_texts(path)


# --- memory and speed

MEASURED = """
import re, sys
from pathlib import Path
from anchorless._corpus.io.batches import EncodingError
from anchorless._corpus.io.readers import open_texts
import pyarrow.parquet
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
n = sum(len(batch.texts) for batch in open_texts(sys.argv[1]))
print(n, peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process by itself")
@pytest.mark.parametrize("format", ["csv", "jsonl", "lines", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, format):
    """Measured beyond what imports take: the whole process would hide a growth of fifty megabytes."""
    peaks = []
    for n_rows in (10_000, 100_000):
        words = "some words of a document that is about one thing or another " * 10
        rows = [{"id": str(n), "text": f"{n} {words}"} for n in range(n_rows)]
        (tmp_path / str(n_rows)).mkdir()
        n_read, peak = map(int, in_subprocess(MEASURED, written(tmp_path / str(n_rows), format, rows)).split())
        assert n_read == n_rows
        peaks.append(peak)
    assert peaks[1] < SAME_MEMORY * peaks[0]


def write_german(path, n_umlauts, n_plain, encoding="cp1252"):
    """Write a table whose text column has an unusual name; the rows without umlauts are too short to find it."""
    umlauts = ["Bremen;Die Lieferung kam spät, die Hülle war beschädigt und der Händler antwortete nicht darauf"]
    rows = ["Ort;Bewertung", *umlauts * n_umlauts, *["Bonn;Alles gut"] * n_plain]
    path.write_bytes("\n".join(rows).encode(encoding))
    return path


def test_a_wrong_encoding_is_an_error_that_names_another(tmp_path):
    path = write_german(tmp_path / "a.csv", 30, 200)
    says = r"30 of 230 lines of .*a\.csv are not utf-8 \(the first, line 2: byte 0xe4 .*\); set encoding .* cp1252"
    with pytest.raises(EncodingError, match=says):
        list(open_texts(path, text_column="Bewertung"))
    with pytest.raises(EncodingError, match=says):  # the rows that tell the column are those that were skipped
        open_texts(path)
    with pytest.raises(InputError, match="line 2: a line with bytes that do not decode"):
        list(open_texts(path, text_column="Bewertung", strict=True))
    texts, _, _ = read(path, text_column="Bewertung", encoding="cp1252")
    assert len(texts) == 230


@pytest.mark.parametrize(("n_umlauts", "n_plain"), [(2, 1), (20, 180), (30, 5000)])
def test_a_few_undecodable_rows_are_skipped(tmp_path, n_umlauts, n_plain):
    path = write_german(tmp_path / "a.csv", n_umlauts, n_plain)
    texts, _, source = read(path, text_column="Bewertung")
    assert len(texts) == n_plain
    assert source.skip_counts["undecodable"] == n_umlauts


def test_an_unclear_text_column_mentions_the_rows_that_were_skipped(tmp_path):
    path = write_german(tmp_path / "a.csv", 2, 50)
    with pytest.raises(UsageError, match=r"not obvious which column .*skipped 2 lines with bytes that do not decode"):
        open_texts(path)


def test_the_limit_holds_for_each_of_several_files_and_for_parts(tmp_path):
    paths = [write_german(tmp_path / "a.csv", 3, 3), write_german(tmp_path / "b.csv", 30, 3000, "utf-8")]
    with pytest.raises(EncodingError, match=r"3 of 6 lines of .*a\.csv"):
        list(open_texts(paths, text_column="Bewertung"))
    with pytest.raises(EncodingError, match=r"3 of 6 lines of .*a\.csv"):
        list(open_texts(paths[0], text_column="Bewertung", split="paragraph"))


def test_other_formats_in_a_wrong_encoding_are_refused(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.txt").write_bytes("schön".encode("cp1252"))
    with pytest.raises(EncodingError, match=r"5 of 5 files of .*folder are not utf-8 \(the first, file 0\.txt"):
        list(open_texts(folder))
    (tmp_path / "a.txt").write_bytes("schön\n".encode("cp1252") * 5 + b"gut\n" * 9)
    with pytest.raises(EncodingError, match="5 of 14 lines"):
        list(open_texts(tmp_path / "a.txt"))
