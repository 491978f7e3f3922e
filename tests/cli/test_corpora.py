import argparse
import hashlib
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pytest

from anchorless._cli.corpora import ColumnFile, MetadataCollector, close_quietly, sha256
from anchorless._cli.tables import zip_mixtures
from anchorless._corpus.snippets import extract_snippets
from anchorless._topic_model.frames import document_table
from anchorless._topic_model.mixtures import Mixtures
from anchorless.errors import UsageError
from tests.helpers.command_runs import everything, planted, process, read_csv, refused, run, write_csv

__all__ = ["planted", "run"]

MAIL = "From: a@b.example\nSubject: Re: baking\nLines: 2\n\n> who bakes?\nBread needs time.\n"


def options(**given):
    return argparse.Namespace(**{"label_column": None, "date_column": None} | given)


def kept_columns(table, **given):
    kept = MetadataCollector(options(**given), "a.csv")
    kept.add(table)
    return kept.columns


def test_a_spool_gives_the_batches_again_in_their_order():
    with ColumnFile() as spool:
        tables = [pa.table({"id": [f"{k}", f"{k}b"], "n": [k, None]}) for k in range(5)]
        for table in tables:
            spool.add(table)
        assert pa.concat_tables(spool.tables()) == pa.concat_tables(tables)


def test_a_column_that_was_null_at_first_keeps_its_type():
    with ColumnFile() as spool:
        spool.add(pa.table({"id": ["a"], "n": pa.array([1], pa.int64())}))
        spool.add(pa.table({"id": ["b"], "n": pa.nulls(1)}))
        assert [table["n"].to_pylist() for table in spool.tables()] == [[1], [None]]


def test_a_spool_that_nothing_was_put_in_is_empty():
    with ColumnFile() as spool:
        assert list(spool.tables()) == []


def test_closing_is_quiet_on_a_full_disk():
    class Full:
        def __exit__(self, *_):
            raise OSError(28, "No space left on device")

    close_quietly(Full())


def test_labels_and_dates_are_found_by_customary_names():
    table = pa.table({"id": ["1"], "Year": ["2020"], "Category": ["a"], "Date": ["2020-01-01"], "other": ["x"]})
    assert kept_columns(table) == {"label": "Category", "date": "Date"}
    assert kept_columns(table.select(["id", "other"])) == {"label": None, "date": None}
    assert kept_columns(table, label_column="other", date_column="Year") == {"label": "other", "date": "Year"}


def test_a_named_column_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match=r"'nope' is no column of a.csv beside its text; there are .id., .other."):
        kept_columns(pa.table({"id": ["1"], "other": ["x"]}), date_column="nope")


def test_labels_of_any_kind_become_text_and_blank_ones_null():
    kept = MetadataCollector(options(), "a.csv")
    kept.add(pa.table({"id": ["1", "2"], "label": [3, None]}))
    kept.add(pa.table({"id": ["3", "4"], "label": ["", "x"]}))
    ids, labels, dates = kept.arrays()
    assert ids.to_pylist() == ["1", "2", "3", "4"]
    assert labels.to_pylist() == ["3", None, None, "x"]
    assert dates is None


def test_snippets_of_mail_begin_with_what_was_written():
    only_quoted = "From: a@b.example\nSubject:\n\n> yes\n"
    texts = pa.array([MAIL, only_quoted, "no mail at all"])
    own, quoted, plain = extract_snippets(texts, email=True).to_pylist()
    assert own.split() == ["baking", "Bread", "needs", "time."]
    assert quoted.strip()
    assert plain == "no mail at all"


def test_web_pages_are_counted_and_shown_without_markup(run, tmp_path):
    words = ("bread butter flour", "court judge jury")
    rows = [[f"<div class='x'><script>var q</script>{words[i % 2].replace(' ', '<br>')} {i}</div>"] for i in range(40)]
    write_csv(tmp_path / "a.csv", [["text"], *rows])
    ran = run("fit", "a.csv", "-k", "2", "--html", "--json")
    assert sorted(word["word"] for topic in ran.json["topics"] for word in topic["words"]) == sorted(
        " ".join(words).split()
    )
    documents = run("show", "a-topics", "0", "--json").json["documents"]
    assert documents
    assert not any("<" in document["snippet"] or "var" in document["snippet"] for document in documents)
    assert run("apply", "a-topics", "a.csv").out == (tmp_path / "a-topics" / "documents.csv").read_text()


def test_mail_is_shown_without_its_header(run, tmp_path):
    words = ("bread butter flour", "court judge jury")
    rows = [[f"From: x@y.example\nSubject: s{i}\nLines: 9\n\n{words[i % 2]} {i}"] for i in range(40)]
    write_csv(tmp_path / "a.csv", [["text"], *rows])
    assert run("fit", "a.csv", "-k", "2", "--email").code == 0
    documents = run("show", "a-topics", "0", "--json").json["documents"]
    assert documents
    assert not any("From:" in document["snippet"] for document in documents)


@pytest.mark.parametrize(("given", "code"), [((), 0), (("--strict",), 1)])
def test_ids_that_tell_nothing_apart_are_left_aside_and_an_error_when_strict(run, tmp_path, given, code):
    rows = [f"{i // 2},word{i % 7} other{i % 5} third{i % 3}" for i in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text", *rows]))
    done = run("fit", tmp_path / "a.csv", "-k", "3", "-o", tmp_path / "out", *given)
    assert done.code == code
    assert 'the column "id" repeats or lacks values' in done.err
    assert (tmp_path / "out").exists() is (code == 0)


def test_hash_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256(str(tmp_path / "a")) == hashlib.sha256(b"abc").hexdigest()
    assert sha256("-") is None
    assert sha256(None) is None


COUNTING = (
    ["--min-df", "3"],
    ["--stop-words", "german"],
    ["--email"],
    ["--html"],
    ["--max-features", "10"],
    ["--ngrams", "2"],
)


@pytest.mark.parametrize("given", COUNTING, ids=" ".join)
@pytest.mark.parametrize("command", ["fit", "search-k", "convert"])
def test_counts_cannot_be_counted_again(run, planted, tmp_path, command, given):
    assert run("convert", planted / "a.csv", "a.npz", "--quiet").code == 0
    before = everything(tmp_path)
    output = ["b.npz"] if command == "convert" else []
    assert "counted already" in refused(run(command, "a.npz", *output, *given), 2)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("option", ["--text-column", "--id-column", "--label-column", "--date-column"])
def test_counts_have_no_columns(run, planted, option):
    assert run("convert", planted / "a.csv", "a.npz", "--quiet").code == 0
    assert f"{option}, but a.npz holds counts" in refused(run("fit", "a.npz", option, "x"), 2)


def test_words_without_names_are_said(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "a.npz", "--quiet").code == 0
    (tmp_path / "a.vocab.txt").unlink()
    ran = run("fit", "a.npz", "-k", "4", "--json")
    assert "word_0" in ran.err
    assert ran.json["topics"][0]["words"][0]["word"].startswith("word_")
    record = json.loads((tmp_path / "a-topics" / "run.json").read_text())
    assert record["input"]["vocabulary_sha256"] is None


def test_documents_come_in_their_order_through_many_batches(run, planted, tmp_path):
    texts = [row[1] for row in read_csv(planted / "a.csv")[1:]] * 30
    write_csv(tmp_path / "a.csv", [["id", "text"], *([f"n{i}", text] for i, text in enumerate(texts))])
    assert run("fit", "a.csv", "-k", "4", "--quiet", "--threads", "2").code == 0
    rows = read_csv(tmp_path / "a-topics" / "documents.csv")[1:]
    assert [row[0] for row in rows] == [f"n{i}" for i in range(len(texts))]
    first = rows[:160]
    for start in range(160, len(rows), 160):  # the same text has the same shares wherever it stands
        assert [row[1:] for row in rows[start : start + 160]] == [row[1:] for row in first]


def test_temporary_files_that_find_no_place_are_named(planted, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    code = (
        "import sys, tempfile; tempfile.TemporaryFile = lambda **_: open('/dev/full', 'wb', buffering=0);"
        "from anchorless._cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    ran = process_of_code(code, "fit", planted / "a.csv", "-k", "4", cwd=tmp_path)
    message = refused(ran)
    assert "temporary files" in message
    assert "TMPDIR" in message
    assert everything(tmp_path) == []


def process_of_code(code, *arguments, **settings):
    return process(*arguments, **settings, start=[sys.executable, "-c", code])


def mixtures(n, n_topics=3, seed=0):
    shares = np.random.default_rng(seed).dirichlet(np.ones(n_topics), n)
    return Mixtures(shares, np.linspace(0, 1, n))


def test_names_of_carried_columns_are_never_lost():
    names = ["id", "topic", "input_topic", "share", "topic_2", "topic_3", "input_id"]
    carried = pa.table({name: [name] * 4 for name in names})
    table = document_table(carried, mixtures(4), ["a", "b", "c"], decimals=6)
    ours = ["topic", "topic_label", "share", "explained", "topic_0", "topic_1", "topic_2"]
    assert table.column_names[len(names) :] == ours
    assert len(set(table.column_names)) == len(names) + len(ours)
    assert [table.column(k)[0].as_py() for k in range(len(names))] == names
    assert table.column_names[0] == "id"
    assert "topic_3" in table.column_names  # there is no such topic


def test_a_document_without_known_words_has_no_topic():
    shares = np.array([[0.2, 0.8], [0.0, 0.0]])
    table = document_table(pa.table({"id": ["a", "b"]}), Mixtures(shares, np.zeros(2)), ["x", "y"], decimals=None)
    assert table["topic"].to_pylist() == [1, None]
    assert table["topic_label"].to_pylist() == ["y", None]
    assert table["share"].to_pylist() == [0.8, None]
    assert table["topic_0"].to_pylist() == [0.2, 0.0]


def test_rows_of_mixtures_go_with_the_rows_of_their_batch():
    whole = mixtures(7)
    tables = [pa.table({"id": [str(i) for i in range(a, b)]}) for a, b in ((0, 3), (3, 4), (4, 7))]
    parts = list(zip_mixtures(tables, whole))
    assert [part.shares.shape[0] for _, part in parts] == [3, 1, 3]
    np.testing.assert_array_equal(np.vstack([part.shares for _, part in parts]), whole.shares)
    np.testing.assert_array_equal(np.concatenate([part.explained for _, part in parts]), whole.explained)
