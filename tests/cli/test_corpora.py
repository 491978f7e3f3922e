import json
import os
import sys

import numpy as np
import pyarrow as pa
import pytest

from anchorless._cli.tables import zip_mixtures
from anchorless._topic_model.mixtures import Mixtures
from tests.helpers.command_runs import get_refusal, list_tree, planted, read_csv, run, run_command, write_csv

__all__ = ["planted", "run"]


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
def test_repeated_ids_are_not_used_and_an_error_when_strict(run, tmp_path, given, code):
    rows = [f"{i // 2},word{i % 7} other{i % 5} third{i % 3}" for i in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text", *rows]))
    done = run("fit", tmp_path / "a.csv", "-k", "3", "-o", tmp_path / "out", *given)
    assert done.code == code
    assert 'the column "id" has repeated or missing values' in done.err
    assert ("--id-column id" in done.err) is (code == 0)
    assert ("with --id-column, or drop --strict" in done.err) is (code == 1)
    assert (tmp_path / "out").exists() is (code == 0)


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
    before = list_tree(tmp_path)
    output = ["b.npz"] if command == "convert" else []
    assert "counted already" in get_refusal(run(command, "a.npz", *output, *given), 2)
    assert list_tree(tmp_path) == before


@pytest.mark.parametrize("option", ["--text-column", "--id-column", "--label-column", "--date-column"])
def test_counts_have_no_columns(run, planted, option):
    assert run("convert", planted / "a.csv", "a.npz", "--quiet").code == 0
    assert f"{option} x, but a.npz holds counts" in get_refusal(run("fit", "a.npz", option, "x"), 2)


def test_words_without_names_are_numbered(run, planted, tmp_path):
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


def test_a_full_disk_of_temporary_files_is_named(planted, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    code = (
        "import sys, tempfile; tempfile.TemporaryFile = lambda **_: open('/dev/full', 'wb', buffering=0);"
        "from anchorless._cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    ran = run_code(code, "fit", planted / "a.csv", "-k", "4", cwd=tmp_path)
    message = get_refusal(ran)
    assert "temporary files" in message
    assert "TMPDIR" in message
    assert list_tree(tmp_path) == []


def run_code(code, *arguments, **settings):
    return run_command(*arguments, **settings, start=[sys.executable, "-c", code])


def test_mixtures_are_split_like_the_batches():
    whole = Mixtures(np.random.default_rng(0).dirichlet(np.ones(3), 7), np.linspace(0, 1, 7))
    tables = [pa.table({"id": [str(i) for i in range(a, b)]}) for a, b in ((0, 3), (3, 4), (4, 7))]
    parts = list(zip_mixtures(tables, whole))
    assert [part.shares.shape[0] for _, part in parts] == [3, 1, 3]
    np.testing.assert_array_equal(np.vstack([part.shares for _, part in parts]), whole.shares)
    np.testing.assert_array_equal(np.concatenate([part.explained for _, part in parts]), whole.explained)
