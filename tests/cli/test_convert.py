import pytest

from tests.helpers.command_runs import get_refusal, list_tree, planted, read_csv, run, write_csv

__all__ = ["planted", "run"]

NAMES = ("x.npz", "x.mtx", "x.mtx.gz", "docword.x.txt", "docword.x.txt.gz", "x.svm", "x.ldac")


@pytest.mark.parametrize("name", NAMES)
def test_counts_have_the_topics_of_their_texts(run, planted, tmp_path, name):
    ran = run("convert", planted / "a.csv", name, "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["documents"], ran.json["words"]) == (160, 48)
    assert sorted(ran.json["files"]) == list_tree(tmp_path)
    ran = run("fit", name, "-k", "4", "-o", "out")
    assert ran.code == 0, ran.err
    for table in ("topics.csv", "correlation.csv"):
        assert (tmp_path / "out" / table).read_text() == (planted / "a-topics" / table).read_text()
    shares = [
        [row[-4:] for row in read_csv(folder / "documents.csv")] for folder in (tmp_path / "out", planted / "a-topics")
    ]
    assert shares[0] == shares[1]


def test_labels_go_along(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "x.npz").code == 0
    labels = [row[2] for row in read_csv(planted / "a.csv")[1:]]
    assert (tmp_path / "x.labels.txt").read_text().splitlines() == labels


def test_from_counts_to_counts_and_back(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "x.mtx").code == 0
    assert run("convert", "x.mtx", "y.svm").code == 0
    assert run("convert", "y.svm", "z.mtx").code == 0
    assert (tmp_path / "x.mtx").read_bytes() == (tmp_path / "z.mtx").read_bytes()
    assert (tmp_path / "x.vocab.txt").read_bytes() == (tmp_path / "z.vocab.txt").read_bytes()


def test_unknown_format_is_exit_code_2_before_anything_is_read(run, planted, tmp_path):
    ran = run("convert", planted / "a.csv", "x.foo")
    assert "npz" in get_refusal(ran, 2)
    assert "read 160" not in ran.err
    assert run("convert", planted / "a.csv", "x.foo", "--to", "mtx").code == 0


def test_existing_output_is_refused_before_anything_is_read(run, planted, tmp_path):
    (tmp_path / "x.npz").write_text("mine")
    ran = run("convert", planted / "a.csv", "x.npz")
    assert "exists already" in get_refusal(ran)
    assert "read 160" not in ran.err


def test_existing_vocabulary_is_kept(run, planted, tmp_path):
    (tmp_path / "x.vocab.txt").write_text("mine")
    ran = run("convert", planted / "a.csv", "x.npz")
    assert "x.vocab.txt exists already" in get_refusal(ran)
    assert "read 160" not in ran.err
    assert list_tree(tmp_path) == ["x.vocab.txt"]


@pytest.mark.parametrize(("name", "reason"), [("nope/x.npz", "does not exist"), (f"{'x' * 240}.npz", "shorter")])
def test_impossible_output_is_refused_before_anything_is_read(run, planted, tmp_path, name, reason):
    ran = run("convert", planted / "a.csv", name)
    assert reason in get_refusal(ran)
    assert "read 160" not in ran.err
    assert list_tree(tmp_path) == []


def test_counts_with_a_long_name_are_read(run, planted, tmp_path):
    run("convert", planted / "a.csv", "x.npz")
    (tmp_path / "x.npz").rename(tmp_path / f"{'x' * 251}.npz")
    assert run("convert", f"{'x' * 251}.npz", "y.npz", "--vocabulary", "x.vocab.txt").code == 0


def test_quiet(run, planted):
    assert run("convert", planted / "a.csv", "x.npz", "--quiet") == (0, "", "")


def test_labels_that_cannot_be_written_one_per_line(run, planted, tmp_path):
    rows = read_csv(planted / "a.csv")
    write_csv(tmp_path / "a.csv", [rows[0], *([*row[:2], "a\nb", row[3]] for row in rows[1:])])
    ran = run("convert", "a.csv", "x.npz")
    assert ran.code == 0
    assert "labels are not written" in ran.err
    assert list_tree(tmp_path) == ["a.csv", "x.npz", "x.vocab.txt"]


def test_labels_of_other_documents_do_not_stay_beside_new_counts(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "x.npz").code == 0
    write_csv(tmp_path / "b.csv", [["text"], *[[row[1]] for row in read_csv(planted / "a.csv")[1:]]])
    (tmp_path / "x.npz").unlink()
    (tmp_path / "x.vocab.txt").unlink()
    assert "x.labels.txt exists already" in get_refusal(run("convert", "b.csv", "x.npz"))
    assert run("convert", "b.csv", "x.npz", "--force").code == 0
    assert list_tree(tmp_path) == ["b.csv", "x.npz", "x.vocab.txt"]
