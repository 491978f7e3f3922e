import pytest

from tests.helpers.command_runs import get_refusal, planted, read_csv, run, write_csv, write_planted

__all__ = ["planted", "run"]


def test_a_model_with_itself(run, planted):
    ran = run("compare", planted / "a-topics", planted / "a-topics")
    assert ran.code == 0
    assert ran.err == ""
    assert "mean similarity 1.00" in ran.out
    assert "only in" not in ran.out
    found = run("compare", planted / "a-topics", planted / "a-topics", "--json").json
    assert [(pair["first"], pair["second"]) for pair in found["pairs"]] == [(k, k) for k in range(4)]
    assert [pair["similarity"] for pair in found["pairs"]] == pytest.approx([1.0] * 4)
    assert all(len(pair["shared_words"]) == 10 for pair in found["pairs"])
    assert (found["only_first"], found["only_second"]) == ([], [])


def test_other_documents_of_the_same_themes(run, planted, tmp_path):
    write_planted(tmp_path / "b.csv", seed=3)
    assert run("fit", "b.csv", "-k", "4").code == 0
    pairs = run("compare", planted / "a-topics", "b-topics", "--json").json["pairs"]
    assert min(pair["similarity"] for pair in pairs) > 0.9
    assert all(set(pair["first_label"].split()) & set(pair["second_label"].split()) for pair in pairs)


def test_topics_left_over_are_named(run, planted, tmp_path):
    assert run("fit", planted / "a.csv", "-k", "3").code == 0
    ran = run("compare", planted / "a-topics", "a-topics")
    assert f"only in {planted / 'a-topics'}" in ran.out
    assert len(run("compare", "a-topics", planted / "a-topics", "--json").json["only_second"]) == 1


def test_models_without_a_common_word(run, planted, tmp_path):
    rows = read_csv(planted / "a.csv")
    write_csv(
        tmp_path / "b.csv", [rows[0], *([r[0], r[1].strip(".").replace(" ", "x ") + "x", *r[2:]] for r in rows[1:])]
    )
    assert run("fit", "b.csv", "-k", "4", "--min-df", "0.05").code == 0
    assert "no word in common" in get_refusal(run("compare", planted / "a-topics", "b-topics"))
