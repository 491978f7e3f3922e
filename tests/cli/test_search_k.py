import pytest

from anchorless._cli.options import parse_topic_numbers
from tests.helpers.command_runs import get_refusal, list_tree, planted, run, write_csv, write_planted

__all__ = ["planted", "run"]


def test_table_of_several_numbers(run, planted, tmp_path):
    ran = run("search-k", planted / "a.csv", "-k", "2,4")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.split()[0] for line in lines] == ["topics", "2", "4"]
    assert "\nconclusion: 4 topics" in ran.err
    assert list_tree(tmp_path) == []


def test_screen_and_json_give_one_conclusion_in_the_same_words(run, planted):
    ran = run("search-k", planted / "a.csv", "-k", "2,4,8")
    found = run("search-k", planted / "a.csv", "-k", "2,4,8", "--json").json["conclusion"]
    assert f"\nconclusion: {found['answer']}; {found['reason']}\n" in ran.err
    assert found["explanation"] in ran.err
    assert ran.err.count("conclusion: ") == 1
    for other in ("suggestion", "suggested", "supported", "is best with"):
        assert other not in ran.err


def test_json_has_the_planted_number_best(run, planted):
    ran = run("search-k", planted / "a.csv", "-k", "2-6:2", "--json", "--quiet")
    assert ran.err == ""
    rows = ran.json["rows"]
    assert [row["topics"] for row in rows] == [2, 4, 6]
    assert max(rows, key=lambda row: row["npmi"])["topics"] == 4


def test_threads_do_not_matter(run, planted):
    def measured(threads):
        rows = run("search-k", planted / "a.csv", "-k", "3,4", "--json", "--threads", threads).json["rows"]
        return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]

    assert measured("1") == measured("2")


def test_numbers_beyond_the_rank_are_reported_and_left_out(run, planted):
    ran = run("search-k", planted / "a.csv", "-k", "4,60,1000")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == ["topics", "4"]
    assert "60 topics could not be fitted" in ran.err
    assert "1000 topics could not be fitted" in ran.err


def test_failed_numbers_are_reported_when_quiet_and_in_json(run, planted):
    ran = run("search-k", planted / "a.csv", "-k", "1000,4", "--quiet")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["topics", "4"]
    (line,) = ran.err.splitlines()
    assert line.startswith("1000 topics could not be fitted: --topics 1000, but")
    fitted, failed = run("search-k", planted / "a.csv", "-k", "1000,4", "--quiet", "--json").json["rows"]
    assert (fitted["topics"], failed["topics"]) == (4, 1000)
    assert set(failed) == {"topics", "error"}


def test_no_number_that_can_be_fitted(run, planted):
    message = get_refusal(run("search-k", planted / "a.csv", "-k", "60,70"), 2)
    assert "--topics 60, but the 144 documents to fit on support at most" in message
    assert "lower --topics" in message


def test_too_few_documents(run, tmp_path):
    write_csv(tmp_path / "few.csv", [["text"], *[["bread butter"], ["court judge"]] * 4])
    assert "too few" in get_refusal(run("search-k", "few.csv", "-k", "2"))


def test_short_documents(run, tmp_path):
    write_csv(tmp_path / "short.csv", [["text"], *[["bread"], ["court"], ["bread butter"], ["court judge"]] * 20])
    ran = run("search-k", "short.csv", "-k", "2,3,4", "--json")
    assert ran.code == 0 or get_refusal(ran)


def test_plot(run, planted, tmp_path):
    ran = run("search-k", planted / "a.csv", "-k", "2,4", "--plot", "k.svg")
    assert ran.code == 0
    assert (tmp_path / "k.svg").read_bytes().startswith(b"<?xml")
    refusal = get_refusal(run("search-k", planted / "a.csv", "-k", "2,4", "--plot", "k.gif"), 2)
    assert "must end in .svg, .png or .pdf" in refusal


@pytest.mark.parametrize(("name", "reason"), [("nope/k.svg", "does not exist"), ("k.svg", "exists already")])
def test_a_plot_that_cannot_be_written_is_refused_before_anything_is_read(run, planted, tmp_path, name, reason):
    (tmp_path / "k.svg").write_text("mine")
    ran = run("search-k", planted / "a.csv", "-k", "2,4", "--plot", name)
    assert reason in get_refusal(ran)
    assert "read 160" not in ran.err


def test_counts(run, planted):
    assert run("convert", planted / "a.csv", "a.npz").code == 0
    assert [row["topics"] for row in run("search-k", "a.npz", "-k", "3,4", "--json").json["rows"]] == [3, 4]


def test_ranges():
    assert parse_topic_numbers("5,10,20") == [5, 10, 20]
    assert parse_topic_numbers("5-8") == [5, 6, 7, 8]
    assert parse_topic_numbers("5-20:5,7,5") == [5, 7, 10, 15, 20]


@pytest.mark.parametrize("text", ["", "1", "0-5", "8-5", "5-10:0", "a", "5,,6", "-5", f"2-{'9' * 35}"])
def test_bad_ranges_are_exit_code_2(run, tmp_path, text):
    write_planted(tmp_path / "a.csv")
    assert run("search-k", "a.csv", f"--topics={text}").code == 2
