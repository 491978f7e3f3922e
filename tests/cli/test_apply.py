import itertools
import os
from argparse import Namespace
from collections import Counter

import pyarrow as pa
import pyarrow.parquet
import pytest

from anchorless import TopicModel
from anchorless._cli.apply import buffer_until_known
from anchorless.errors import InputError
from tests.helpers.command_runs import (
    get_refusal,
    list_tree,
    planted,
    read_csv,
    run,
    run_command,
    write_csv,
    write_planted,
)

__all__ = ["planted", "run"]


def test_training_file_gets_the_weights_that_fit_wrote(run, planted, tmp_path):
    ran = run("apply", planted / "a-topics", planted / "a.csv", "-o", "out.csv")
    assert ran.code == 0
    assert ran.out == ""
    assert "160 documents" in ran.err
    assert "(20.2%)" in ran.err
    assert (tmp_path / "out.csv").read_bytes() == (planted / "a-topics" / "documents.csv").read_bytes()
    assert list_tree(tmp_path) == ["out.csv"]


def test_stdout_carries_the_table_alone(run, planted):
    ran = run("apply", planted / "a-topics" / "model.anchorless", planted / "a.csv", "--quiet")
    assert ran.err == ""
    assert ran.out == (planted / "a-topics" / "documents.csv").read_text()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_do_not_matter(run, planted, threads):
    ran = run("apply", planted / "a-topics", planted / "a.csv", "--threads", threads)
    assert ran.out == (planted / "a-topics" / "documents.csv").read_text()


def test_one_document_at_a_time_equals_the_batch(run, planted, tmp_path):
    header, *rows = read_csv(planted / "a.csv")
    wanted = (planted / "a-topics" / "documents.csv").read_text().splitlines()
    for row, line in list(zip(rows, wanted[1:], strict=True))[:12]:
        write_csv(tmp_path / "one.csv", [header, row])
        assert run("apply", planted / "a-topics", "one.csv").out.splitlines() == [wanted[0], line]


def test_many_batches_equal_one(run, planted, tmp_path):
    header, *rows = read_csv(planted / "a.csv")
    many = rows * 30
    write_csv(tmp_path / "many.csv", [header, *many])
    out = run("apply", planted / "a-topics", "many.csv", "--id-column", "id").out.splitlines()
    wanted = (planted / "a-topics" / "documents.csv").read_text().splitlines()
    assert out == [wanted[0], *wanted[1:] * 30]


def test_parquet_has_all_decimals(run, planted, tmp_path):
    assert run("apply", planted / "a-topics", planted / "a.csv", "-o", "out.parquet").code == 0
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    shares = [sum(row[f"topic_{k}"] for k in range(4)) for row in table.to_pylist()]
    assert shares == pytest.approx([1.0] * 160, abs=1e-12)


def test_document_of_unknown_words_has_no_topic(run, planted, tmp_path):
    write_csv(tmp_path / "new.csv", [["text"], ["zebra giraffe"], ["bread and zebra"]])
    header, unknown, known = read_csv(run("apply", planted / "a-topics", "new.csv").out)
    at = [header.index(name) for name in ("topic", "topic_label", "share")]
    assert [unknown[k] for k in at] == ["", "", ""]
    # One token of a word that has one topic: the posterior mean is (1 + alpha_k) / (1 + sum of alpha).
    alpha = TopicModel.load(planted / "a-topics" / "model.anchorless")._record.tokens.alpha
    expected = (1 + alpha[int(known[header.index("topic")])]) / (1 + alpha.sum())
    assert float(known[header.index("share")]) == pytest.approx(expected, rel=1e-3)


def test_json_says_how_much_was_known(run, planted):
    ran = run("apply", planted / "a-topics", planted / "a.csv", "-o", "out.csv", "--json", "--quiet")
    assert ran.json == {"documents": 160, "tokens": 4000, "unknown_tokens": 810}
    assert ran.err == ""


def test_json_and_table_cannot_share_stdout(run, planted):
    assert "-o" in get_refusal(run("apply", planted / "a-topics", planted / "a.csv", "--json"), 2)


def test_table_of_unknown_kind_is_exit_code_2(run, planted, tmp_path):
    assert ".csv or .parquet" in get_refusal(run("apply", planted / "a-topics", planted / "a.csv", "-o", "out.xls"), 2)
    assert list_tree(tmp_path) == []


def test_output_that_is_a_folder(run, planted, tmp_path):
    (tmp_path / "out.csv").mkdir()
    assert "folder" in get_refusal(run("apply", planted / "a-topics", planted / "a.csv", "-o", "out.csv", "--force"))


def test_output_in_a_folder_that_is_not_there(run, planted, tmp_path):
    message = get_refusal(run("apply", planted / "a-topics", planted / "a.csv", "-o", "nope/out.csv"))
    assert "does not exist" in message
    assert list_tree(tmp_path) == []


def test_input_that_breaks_off_leaves_the_old_output(run, planted, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    (tmp_path / "in.csv").write_text("text\nbread\n,\n\n  \n")
    assert get_refusal(run("apply", planted / "a-topics", "in.csv", "-o", "out.csv", "--force", "--strict"))
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert list_tree(tmp_path) == ["in.csv", "out.csv"]


def test_counts_of_the_training_file_get_the_same_weights(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "a.npz").code == 0
    header, *rows = read_csv(run("apply", planted / "a-topics", "a.npz").out)
    wanted_header, *wanted = read_csv(planted / "a-topics" / "documents.csv")
    for name in ("topic", "share", "explained", *(f"topic_{k}" for k in range(4))):
        at, wanted_at = header.index(name), wanted_header.index(name)
        assert [row[at] for row in rows] == [row[wanted_at] for row in wanted]


def test_counts_are_matched_by_their_words(run, planted, tmp_path):
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 2\n1 2 1\n1 3 5\n")
    (tmp_path / "x.vocab.txt").write_text("zebra\nbutter\nbread\n")
    ran = run("apply", planted / "a-topics", "x.mtx")
    header, row = read_csv(ran.out)
    assert "bread" in row[header.index("topic_label")]
    assert "2 of 8 tokens" in ran.err


def test_counts_of_another_vocabulary_are_refused(run, planted, tmp_path):
    (tmp_path / "x.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 2\n1 2 1\n")
    (tmp_path / "x.vocab.txt").write_text("zebra\ngiraffe\n")
    for command in ("apply", "evaluate"):
        assert "another vocabulary" in get_refusal(run(command, planted / "a-topics", "x.mtx"))


def test_model_of_counts_cannot_read_texts(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "a.npz").code == 0
    assert run("fit", "a.npz", "-k", "4").code == 0
    for command in ("apply", "evaluate"):
        assert "counts" in get_refusal(run(command, "a-topics", planted / "a.csv"))
    assert run("apply", "a-topics", "a.npz").out == (tmp_path / "a-topics" / "documents.csv").read_text()


def broken_models(folder, model):
    whole = model.read_bytes()
    for name, content in {
        "empty": b"",
        "cut": whole[:-100],
        "cut in the header": whole[:50],
        "altered": whole[:-50] + bytes([whole[-50] ^ 1]) + whole[-49:],
        "text": b"hello",
    }.items():
        (folder / name).write_bytes(content)
        yield name


@pytest.mark.parametrize("command", ["apply", "show", "report", "evaluate", "compare"])
def test_broken_models_are_refused(run, planted, tmp_path, command):
    last = {"apply": [planted / "a.csv"], "evaluate": [planted / "a.csv"], "compare": [planted / "a-topics"]}
    for name in broken_models(tmp_path, planted / "a-topics" / "model.anchorless"):
        assert name in get_refusal(run(command, name, *last.get(command, [])))
    assert "no such file" in get_refusal(run(command, "nope", *last.get(command, [])))
    (tmp_path / "folder").mkdir()
    assert "folder" in get_refusal(run(command, "folder", *last.get(command, [])))


def test_output_through_a_link_keeps_the_link(run, planted, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    os.symlink("real.csv", tmp_path / "link.csv")
    assert run("apply", planted / "a-topics", planted / "a.csv", "-o", "link.csv", "--force").code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == (planted / "a-topics" / "documents.csv").read_bytes()


def test_table_through_a_pipe(planted):
    ran = run_command("apply", planted / "a-topics", planted / "a.csv", "--quiet")
    assert ran == (0, (planted / "a-topics" / "documents.csv").read_text(), "")


def test_other_documents_get_the_topics_of_their_themes(run, planted, tmp_path):
    write_planted(tmp_path / "new.csv", seed=5)
    header, *rows = read_csv(run("apply", planted / "a-topics", "new.csv").out)
    pairs = {(row[header.index("label")], row[header.index("topic")]) for row in rows}
    counts = {pair: sum((r[header.index("label")], r[header.index("topic")]) == pair for r in rows) for pair in pairs}
    assert sum(sorted(counts.values())[-4:]) > 140


def test_texts_of_another_vocabulary_are_refused(run, planted, tmp_path):
    write_csv(tmp_path / "x.csv", [["text"], ["quantum gravity"], ["string theory"]])
    assert "another vocabulary" in get_refusal(run("apply", planted / "a-topics", "x.csv", "-o", "out.csv"))
    assert list_tree(tmp_path) == ["x.csv"]
    assert "another vocabulary" in get_refusal(run("apply", planted / "a-topics", "x.csv"))  # no row on stdout


@pytest.mark.parametrize("strange", [0, 1, 5])
def test_rows_before_the_first_known_word_are_held_back_not_lost(run, planted, tmp_path, strange):
    write_csv(tmp_path / "x.csv", [["text"], *[["quantum gravity"]] * strange, ["bread"], ["quantum gravity"]])
    ran = run("apply", planted / "a-topics", "x.csv")
    assert ran.code == 0, ran.err
    assert len(read_csv(ran.out)) == 1 + strange + 2


def parts_of(sizes):
    for n in sizes:
        yield pa.table({"id": [""] * n}), None


@pytest.mark.parametrize("sizes", [[1, 1, 1], [3, 3, 3, 3], [2, 2, 9]])
@pytest.mark.parametrize("known_at", [0, 1, 2])
def test_parts_are_held_back_up_to_the_first_known_word(sizes, known_at):
    tokens, taken = Counter(), []

    def given():
        for k, part in enumerate(parts_of(sizes)):
            tokens.update(tokens=5, unknown_tokens=4 if k == known_at else 5)
            taken.append(len(part[0]))
            yield part

    for table, _ in buffer_until_known(given(), tokens, Namespace(model="m", input="x")):
        assert len(taken) > known_at
        assert table.num_rows in sizes
    assert taken == sizes


def test_a_stream_of_unknown_words_is_refused_before_memory_is_full(monkeypatch):
    monkeypatch.setattr("anchorless._cli.apply.MAX_BUFFERED_DOCUMENTS", 10)
    tokens, taken = Counter(), []

    def given():
        for part in parts_of(itertools.repeat(4)):
            tokens.update(tokens=5, unknown_tokens=5)
            taken.append(part)
            yield part

    with pytest.raises(InputError, match="the first 12 documents of x"):
        list(buffer_until_known(given(), tokens, Namespace(model="m", input="x")))
    assert len(taken) == 3


def test_documents_without_a_word_are_written_however_many(monkeypatch):
    monkeypatch.setattr("anchorless._cli.apply.MAX_BUFFERED_DOCUMENTS", 10)
    assert len(list(buffer_until_known(parts_of([4] * 9), Counter(), Namespace(model="m", input="x")))) == 9
