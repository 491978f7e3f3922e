import errno
import itertools
import json
import os
import re
import shlex
import subprocess

import pyarrow.parquet
import pytest

from anchorless import TopicModel
from anchorless._cli.fit import get_default_folder, list_replaced_files
from anchorless._cli.options import name_new_input
from anchorless.errors import InputError
from tests.helpers.command_runs import (
    FILES,
    get_refusal,
    list_tree,
    planted,
    read_csv,
    run,
    run_command,
    write_csv,
    write_planted,
)
from tests.helpers.languages import SENTENCES
from tests.helpers.planted_texts import THEMES

__all__ = ["planted", "run"]

#: Arguments of run.json that say where, not what.
PLACES = ("output", "jobs", "input")


def same_files(first, second):
    for name in FILES:
        if name != "run.json":
            assert (first / name).read_bytes() == (second / name).read_bytes(), name
    records = [json.loads((folder / "run.json").read_text()) for folder in (first, second)]
    for record in records:
        del record["seconds"]
        for name in PLACES:
            del record["arguments"][name]
    assert records[0] == records[1]


def test_writes_everything_and_names_the_next_commands(run, planted, tmp_path):
    ran = run("fit", planted / "a.csv", "-k", "4")
    assert ran.code == 0
    assert list_tree(tmp_path) == sorted(["a-topics", *(f"a-topics/{name}" for name in FILES)])
    assert "read 160 documents" in ran.err
    assert "anchorless show a-topics" in ran.err
    lines = ran.out.splitlines()
    assert lines[0].split() == ["#", "share", "coherence", "exclusivity", "leading", "words"]
    assert [line.split()[0] for line in lines[1:5]] == list("0123")
    assert "and" not in lines[1:5]


def test_topics_are_the_planted_ones(planted):
    rows = read_csv(planted / "a-topics" / "topics.csv")
    leading = [set(row[5].split(", ")[:5]) for row in rows[1:]]
    assert sorted(name for name in THEMES for words in leading if words <= set(THEMES[name])) == sorted(THEMES)


def test_same_input_same_bytes_with_any_threads(run, planted, tmp_path):
    for name, options in {"one": ["--threads", "1"], "two": ["--threads", "2"]}.items():
        assert run("fit", planted / "a.csv", "-k", "4", "-o", name, "--quiet", "--json", *options).code == 0
        same_files(planted / "a-topics", tmp_path / name)


def test_json_is_all_of_stdout_and_quiet_leaves_stderr_empty(run, planted):
    ran = run("fit", planted / "a.csv", "-k", "4", "--json", "--quiet")
    assert ran.err == ""
    assert [topic["topic"] for topic in ran.json["topics"]] == [0, 1, 2, 3]


def test_quiet_leaves_stderr_empty_with_rows_to_speak_of(run, tmp_path):
    write_planted(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", "a") as file:
        file.write("x,,,\n")
    assert run("fit", "a.csv", "-k", "4", "--quiet").err == ""


def test_run_record_tells_how_to_repeat_the_run(planted):
    record = json.loads((planted / "a-topics" / "run.json").read_text())
    assert record["command"] == "fit"
    assert record["arguments"]["topics"] == 4
    assert "print_completion" not in record["arguments"]
    assert len(record["input"]["sha256"]) == 64
    assert record["versions"]["numpy"]
    assert record["seconds"]["all"] > 0


def test_run_record_has_the_hash_of_counts(run, planted, tmp_path):
    assert run("convert", planted / "a.csv", "a.npz").code == 0
    assert run("fit", "a.npz", "-k", "4").code == 0
    record = json.loads((tmp_path / "a-topics" / "run.json").read_text())
    assert len(record["input"]["sha256"]) == 64


def test_parquet_holds_what_csv_holds(run, planted, tmp_path):
    assert run("fit", planted / "a.csv", "-k", "4", "--documents-format", "parquet").code == 0
    table = pyarrow.parquet.read_table(tmp_path / "a-topics" / "documents.parquet")
    header, *rows = read_csv(planted / "a-topics" / "documents.csv")
    assert table.column_names == header
    assert table["topic"].to_pylist() == [int(row[header.index("topic")]) for row in rows]
    for k in range(4):
        wanted = [float(row[header.index(f"topic_{k}")]) for row in rows]
        assert table[f"topic_{k}"].to_pylist() == pytest.approx(wanted, abs=1e-6)


def test_columns_with_our_names_are_kept_under_others(run, tmp_path):
    write_planted(tmp_path / "p.csv")
    rows = read_csv(tmp_path / "p.csv")
    ours = ["topic", "input_topic", "share", "topic_label", "explained", "topic_0", "label"]
    header = ["id", "text", *ours]
    write_csv(tmp_path / "a.csv", [header, *([*row[:2], *(f"{name}!" for name in ours)] for row in rows[1:])])
    assert run("fit", "a.csv", "-k", "4").code == 0
    header, first, *_ = read_csv(tmp_path / "a-topics" / "documents.csv")
    assert len(set(header)) == len(header)
    assert sorted(cell for cell in first if cell.endswith("!")) == sorted(f"{name}!" for name in ours)
    assert 0 <= float(first[header.index("share")]) <= 1
    assert run("apply", "a-topics", "a.csv").out == (tmp_path / "a-topics" / "documents.csv").read_text()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_nested_and_changing_columns_are_carried(run, tmp_path, format):
    write_planted(tmp_path / "p.csv", n_documents=160)
    texts = [row[1] for row in read_csv(tmp_path / "p.csv")[1:]] * 15  # more than one batch
    odd = [1, 2.5, "three", None, [4], {"five": 6}, True]
    with open(tmp_path / "a.jsonl", "w") as file:
        for i, text in enumerate(texts):
            row = {"text": text, "list": [i, "x"], "odd": 1 if i < 2100 else odd[i % 7]}
            file.write(json.dumps(row) + "\n")
    ran = run("fit", "a.jsonl", "-k", "4", "--documents-format", format)
    assert ran.code == 0, ran.err
    ran = run("apply", "a-topics", "a.jsonl", "-o", f"out.{format}")
    assert ran.code == 0, ran.err
    assert (tmp_path / f"out.{format}").read_bytes() == (tmp_path / "a-topics" / f"documents.{format}").read_bytes()


def test_nested_columns_of_parquet_are_carried(run, planted, tmp_path):
    texts = [row[1] for row in read_csv(planted / "a.csv")[1:]]
    table = {"text": texts, "tags": [["a", "b"]] * 160, "where": [{"x": 1}] * 160, "n": list(range(160))}
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "a.parquet")
    for format in ("csv", "parquet"):
        ran = run("fit", "a.parquet", "-k", "4", "--documents-format", format, "-o", format)
        assert ran.code == 0, ran.err
    header = read_csv(tmp_path / "csv" / "documents.csv")[0]
    assert {"tags", "where", "n"} <= set(header)


def test_more_topics_than_words(run, planted, tmp_path):
    message = get_refusal(run("fit", planted / "a.csv", "-k", "100", "-o", "deep/down/out"), 2)
    assert "100" in message
    assert "48 words" in message
    assert list_tree(tmp_path) == []


def test_more_topics_than_co_occurrences_carry(run, tmp_path):
    write_csv(tmp_path / "a.csv", [["text"], *[["bread butter flour"], ["court judge jury"]] * 20])
    assert "topics" in get_refusal(run("fit", "a.csv", "-k", "4", "--max-df", "0.9"), 2)
    assert list_tree(tmp_path) == ["a.csv"]


def test_one_topic(run, planted):
    ran = run("fit", planted / "a.csv", "-k", "1")
    assert ran.code == 0, ran.err


def test_output_that_is_a_file(run, planted, tmp_path):
    (tmp_path / "out").write_text("mine")
    for place in ("out", "out/deeper", "out/deeper/still"):
        for force in ([], ["--force"]):
            message = get_refusal(run("fit", planted / "a.csv", "-k", "4", "-o", place, *force))
            assert "is a file" in message
    assert list_tree(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "mine"


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_force_replaces_our_files_and_keeps_others(run, planted, tmp_path):
    folder = tmp_path / "a-topics"
    assert run("fit", planted / "a.csv", "-k", "3").code == 0
    (folder / "notes.txt").write_text("mine")
    assert run("fit", planted / "a.csv", "-k", "4", "--force").code == 0
    assert (folder / "notes.txt").read_text() == "mine"
    assert sorted(os.listdir(folder)) == sorted([*FILES, "notes.txt"])
    assert (folder / "topics.csv").read_bytes() == (planted / "a-topics" / "topics.csv").read_bytes()
    assert list_tree(tmp_path) == sorted(["a-topics", *(f"a-topics/{name}" for name in [*FILES, "notes.txt"])])


@pytest.mark.parametrize("failure", ["input", "late", "settling"])
def test_failure_with_force_leaves_everything_as_it_was(run, planted, tmp_path, monkeypatch, failure):
    folder = tmp_path / "a-topics"
    assert run("fit", planted / "a.csv", "-k", "3").code == 0
    (folder / "notes.txt").write_text("mine")
    if failure == "settling":
        (folder / "run.json").unlink()
        (folder / "run.json").mkdir()
    before, names = files_of(folder), list_tree(tmp_path)
    if failure == "late":

        def fail(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("anchorless._cli.fit.write_run_record", fail)
    source = "nope.csv" if failure == "input" else planted / "a.csv"
    get_refusal(run("fit", source, "-k", "4", "-o", "a-topics", "--force"))
    assert files_of(folder) == before
    assert list_tree(tmp_path) == names


def test_empty_folder_needs_no_force(run, planted, tmp_path):
    (tmp_path / "out").mkdir()
    assert run("fit", planted / "a.csv", "-k", "4", "-o", "out").code == 0


def test_folder_of_texts_and_gzip_and_lines(run, planted, tmp_path):
    (tmp_path / "texts" / "deep").mkdir(parents=True)
    rows = read_csv(planted / "a.csv")[1:]
    for row in rows:
        (tmp_path / "texts" / "deep" / f"{row[0]}.txt").write_text(row[1])
    ran = run("fit", "texts", "-k", "4", "--json")
    assert ran.code == 0, ran.err
    assert len(read_csv(tmp_path / "texts-topics" / "documents.csv")) == 161


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ("-", "stdin-topics"),
        ("a.csv", "a-topics"),
        ("x/y/a.jsonl.gz", "a-topics"),
        (".", "here-topics"),
        (".hidden", ".hidden-topics"),
    ],
)
def test_name_of_the_folder(given, folder, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert get_default_folder(given) == folder


def test_extra_stop_words_from_a_file(run, planted, tmp_path):
    (tmp_path / "stop.txt").write_text("bread\n\nbutter\n")
    ran = run("fit", planted / "a.csv", "-k", "4", "--extra-stop-words", "@stop.txt", "--json")
    assert not {"bread", "butter"} & {word["word"] for topic in ran.json["topics"] for word in topic["words"]}
    ran = run("fit", planted / "a.csv", "-k", "4", "--extra-stop-words", "stop.txt")
    assert (ran.code, ran.out) == (2, "")
    assert "stop.txt is a file; for the words in it, write @stop.txt" in ran.err


@pytest.mark.parametrize(
    "options",
    [
        ["--stop-words", "klingon"],
        ["--ngrams", "3-1"],
        ["--max-df", "1.5"],
        ["--encoding", "klingon"],
        ["--format", "folder"],
    ],
    ids=" ".join,
)
def test_wrong_settings_are_exit_code_2(run, planted, tmp_path, options):
    get_refusal(run("fit", planted / "a.csv", "-k", "4", *options), 2)
    assert list_tree(tmp_path) == []


def test_a_script_in_a_text_is_text_in_the_report(run, tmp_path):
    write_planted(tmp_path / "p.csv")
    rows = read_csv(tmp_path / "p.csv")
    evil = "<script>alert(1)</script> "
    write_csv(tmp_path / "a.csv", [rows[0], *([row[0] + evil, evil + row[1], evil, row[3]] for row in rows[1:])])
    assert run("fit", "a.csv", "-k", "4", "--title", evil).code == 0
    assert "<script>alert" not in (tmp_path / "a-topics" / "report.html").read_text()


def test_in_a_process_of_its_own_the_same_bytes(planted, tmp_path):
    ran = run_command("fit", planted / "a.csv", "-k", "4", "--quiet", "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    same_files(planted / "a-topics", tmp_path / "a-topics")


def test_the_next_command_it_names_reads_the_same_texts(run, planted, tmp_path):
    rows = [["my text", "body"], *([row[1], row[2]] for row in read_csv(planted / "a.csv")[1:])]
    write_csv(tmp_path / "my file.csv", rows)
    ran = run("fit", "my file.csv", "-k", "4", "--text-column", "my text", "--email")
    line = next(line for line in ran.err.splitlines() if "search-k" in line)
    command = shlex.split(line[line.index("anchorless") :])
    assert command == ["anchorless", "search-k", "my file.csv", "--text-column", "my text", "--email"]
    again = run(*command[1:], "-k", "2")
    assert again.code == 0, again.err
    assert '(column "my text")' in again.err


def test_the_next_command_after_stdin_says_that_texts_are_given_again(planted, tmp_path):
    given = (planted / "a.csv").read_bytes()
    ran = run_command("fit", "-", "--format", "csv", "-k", "4", given=given, stdin=subprocess.PIPE, cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert "anchorless search-k - --format csv < TEXTS\n" in ran.err


def test_the_next_commands_carry_all_that_says_how_texts_are_read_and_counted(run, tmp_path):
    rows = [f"Der Zins der Bank{i % 7} f\u00e4llt und w\u00e4chst nicht" for i in range(30)]
    rows += [f"Das Raumschiff{i % 7} f\u00e4hrt auf den Mond und die Erde" for i in range(30)]
    (tmp_path / "a.csv").write_text("body\n" + "\n".join(rows), encoding="latin-1")
    given = ["--encoding", "latin-1", "--text-column", "body", "--language", "de", "--stop-words", "german,english"]
    given += ["--extra-stop-words", "mond,erde", "--ngrams", "1-2", "--min-df", "3", "--max-df", "0.9", "--html"]
    given += ["--weighting", "tfidf-ncw", "--seed", "3"]
    ran = run("fit", "a.csv", "-k", "2", *given)
    assert ran.code == 0, ran.err
    lines = {
        word: next(line for line in ran.err.splitlines() if f"anchorless {word}" in line)
        for word in ("search-k", "apply")
    }
    search, apply = (shlex.split(line[line.index("anchorless") :]) for line in lines.values())
    pairs = [*itertools.pairwise(search)]
    assert all(pair in pairs for pair in zip(given[:20:2], given[1:20:2], strict=True))
    assert "--html" in search
    again = run(*search[1:], "-k", "2")
    assert again.code == 0, again.err
    said = [line for line in ran.err.splitlines() if line.startswith(("read 60", "vocabulary"))]
    assert [line for line in again.err.splitlines() if line.startswith(("read 60", "vocabulary"))] == said
    assert apply[3:] == ["NEW.csv", "--text-column", "body", "--encoding", "latin-1"]
    applied = run(*["a.csv" if part == "NEW.csv" else part for part in apply[1:]])
    assert applied.code == 0, applied.err


def test_new_documents_are_expected_in_a_file_like_the_old_ones(tmp_path):
    (tmp_path / "v1.5").mkdir()
    named = {"a.csv.gz": "NEW.csv.gz", "x.xlsx": "NEW.xlsx", "texts/**/*.txt": "NEW.txt", "a b.json": "NEW.json"}
    assert [name_new_input([name]) for name in named] == [*named.values()]
    assert name_new_input([str(tmp_path / "v1.5")]) == name_new_input(["texts"]) == "NEW"
    assert name_new_input(["-"]) == name_new_input([]) == "NEW.csv"


def test_stability_says_what_it_found(run, planted):
    ran = run("fit", planted / "a.csv", "-k", "2", "--stability", "10")
    assert "10 bootstrap resamples" in ran.out
    assert re.search(r"^0 +\d+% +\d+\.\d% to \d+\.\d%", ran.out, flags=re.MULTILINE)
    assert "of 1 associations between topics are more than chance" in ran.out


def test_languages_are_said_and_tabulated(run, tmp_path):
    rows = [["text"], *[[SENTENCES[name] + f" {i % 5}"] for i in range(30) for name in ("german", "french")]]
    write_csv(tmp_path / "a.csv", rows)
    ran = run("fit", "a.csv", "-k", "2", "--max-df", "1.0")
    assert "in several languages: " in ran.err
    assert re.search("the stop words of (German and French|French and German) are left out", ran.err)
    table = read_csv(tmp_path / "a-topics" / "languages.csv")
    assert table[0] == ["language", "documents", "topic", "topic_label", "share"]
    assert {(row[0], row[1]) for row in table[1:]} == {("German", "30"), ("French", "30")}
    shares = {(row[0], row[2]): float(row[4]) for row in table[1:]}
    best = {name: max("01", key=lambda topic: shares[name, topic]) for name in ("German", "French")}
    assert best["German"] != best["French"]


def test_only_what_was_written_is_listed(run, planted, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    ran = run("fit", planted / "a.csv", "-k", "4", "-o", "out", "--force", "--json")
    assert ran.json["files"] == sorted(FILES)
    assert "mine.txt" not in ran.err


def test_another_format_takes_the_place_of_the_earlier_table(run, planted, tmp_path):
    for format, other in (("csv", "parquet"), ("parquet", "csv"), ("csv", "parquet")):
        assert run("fit", planted / "a.csv", "-k", "4", "--documents-format", format, "--force").code == 0
        assert (tmp_path / "a-topics" / f"documents.{format}").exists()
        assert not (tmp_path / "a-topics" / f"documents.{other}").exists()


def test_files_that_the_new_run_does_not_write_are_removed(run, planted, tmp_path):
    for options in (["--levels", "2,4", "--stability", "10"], ["-k", "4"]):
        assert run("fit", planted / "a.csv", "-o", "out", *options, "--force").code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)


def test_a_table_that_no_run_wrote_is_left_alone(run, planted, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "documents.parquet").write_text("mine")
    for _ in range(2):
        assert run("fit", planted / "a.csv", "-k", "4", "-o", "out", "--force").code == 0
    assert (tmp_path / "out" / "documents.parquet").read_text() == "mine"


@pytest.mark.parametrize(
    "record", ["[]", "{", "{}", '{"arguments": []}', '{"arguments": {}, "files": ["mine.txt", "../x", {}]}']
)
def test_a_strange_run_json_is_no_run(tmp_path, record):
    (tmp_path / "run.json").write_text(record)
    assert list_replaced_files(tmp_path) == []


def test_a_run_json_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    def fail(path):
        raise OSError(errno.EIO, "Input/output error", str(path))

    assert list_replaced_files(tmp_path) == []
    monkeypatch.setattr("pathlib.Path.read_bytes", fail)
    with pytest.raises(InputError, match=r"cannot read .*run\.json: Input/output error"):
        list_replaced_files(tmp_path)


def test_few_documents_per_topic_are_noted_with_a_remedy(run, tmp_path):
    write_planted(tmp_path / "few.csv", 60)
    ran = run("fit", "few.csv")
    assert ran.code == 0, ran.err
    assert "note: 20 topics for 60 documents have only 3 documents per topic" in ran.err
    assert "set --topics to 6 or give more documents" in ran.err
    assert "documents per topic" not in run("fit", "few.csv", "-k", "6", "--force").err


def test_errors_name_options_not_parameters(run, planted, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    messages = [
        get_refusal(run("fit", planted / "a.csv", "-k", "1000"), 2),
        get_refusal(run("fit", planted / "a.csv", "-k", "80"), 2),
        get_refusal(run("fit", planted / "a.csv", "--min-df", "1.0")),
        get_refusal(run("fit", planted / "a.csv", "--stop-words", "klingon"), 2),
        get_refusal(run("fit", planted / "a.csv", "--ngrams", "2-1"), 2),
        get_refusal(run("fit", planted / "a.csv", "--encoding", "klingon"), 2),
        get_refusal(run("apply", planted / "a-topics", planted / "a.csv", "-o", "out.csv")),
    ]
    for message in messages:
        assert re.search(r"--(topics|min-df|stop-words|ngrams|encoding|force)", message), message
        assert not re.search(r"\b[a-z]+_[a-z_]+\b|\w=|True", message), message


def test_no_likelihood_is_the_model_without_a_token_model(run, planted, tmp_path):
    assert run("fit", planted / "a.csv", "-k", "4", "--no-likelihood", "-o", "plain").code == 0
    found, with_tokens = (
        TopicModel.load(folder / "model.anchorless") for folder in (tmp_path / "plain", planted / "a-topics")
    )
    assert found.likelihood is False
    assert with_tokens.likelihood is True
    assert found._record.tokens is None
    assert with_tokens._record.tokens is not None
    assert "This model has none" in (tmp_path / "plain" / "report.html").read_text(encoding="utf-8")
    assert "This model has none" not in (planted / "a-topics" / "report.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "plain" / "run.json").read_text())["arguments"]["likelihood"] is False


def test_levels_are_printed_as_a_tree_and_written(run, planted, tmp_path):
    ran = run("fit", planted / "a.csv", "--levels", "2,4", "-o", "out")
    assert ran.code == 0
    tree = ran.out.split("topics by groups (share):\n")[1].splitlines()
    assert [line.startswith("    ") for line in tree].count(False) == 2
    rows = read_csv(tmp_path / "out" / "levels.csv")
    assert [row[0] for row in rows[1:]] == ["0"] * 4 + ["1"] * 2
    assert TopicModel.load(tmp_path / "out" / "model.anchorless").hierarchy().frame().shape[0] == 6


def test_levels_are_groups_of_the_given_number_of_topics(run, planted, tmp_path):
    assert run("fit", planted / "a.csv", "--levels", "2", "-k", "4", "-o", "out").code == 0
    assert [row[0] for row in read_csv(tmp_path / "out" / "levels.csv")[1:]] == ["0"] * 4 + ["1"] * 2


@pytest.mark.parametrize("topics", ["3", "auto"])
def test_levels_of_more_topics_than_asked_for_contradict(run, planted, topics):
    ran = run("fit", planted / "a.csv", "--levels", "2,4", "-k", topics)
    assert ran.code == 2
    assert f"--levels has a level of 4 topics, and --topics is {topics}" in ran.err


def test_seed_words_come_from_a_file_and_their_fate_is_said(run, planted, tmp_path):
    (tmp_path / "seeds.toml").write_text('sport = ["team", "match"]\nmixed = ["rocket", "bread"]\n')
    ran = run("fit", planted / "a.csv", "-k", "4", "--seed-words", "seeds.toml", "-o", "out")
    assert ran.code == 0
    assert "seed sport (team, match): topic 0;" in ran.err
    assert "seed mixed (rocket, bread): not supported" in ran.err
    assert read_csv(tmp_path / "out" / "topics.csv")[1][1] == "sport"
    for shown in (ran, run("show", "out"), run("edit", "out", "--rename", "1=other")):
        topics = [line for line in shown.out.splitlines() if "%" in line]
        assert "  sport: " in topics[0]
        assert not any("mixed: " in line or "sport: " in line for line in topics[1:])


@pytest.mark.parametrize(
    ("content", "message", "code"),
    [
        ('sport = "team"', "must be a list of words", 2),
        ("sport = [", "seeds.toml is not TOML", 2),
        ("", "names no topic", 2),
        ('sport = ["teams"]', "is not among the", 1),
    ],
)
def test_seed_files_that_cannot_be_used_leave_no_folder(run, planted, tmp_path, content, message, code):
    (tmp_path / "seeds.toml").write_text(content)
    ran = run("fit", planted / "a.csv", "-k", "4", "--seed-words", "seeds.toml", "-o", "out")
    assert message in get_refusal(ran, code)
    assert not (tmp_path / "out").exists()


def test_a_missing_seed_file_is_not_called_something_else(run, planted):
    ran = run("fit", planted / "a.csv", "-k", "4", "--seed-words", "none.toml", "-o", "out")
    assert get_refusal(ran, 1) == "cannot read none.toml: there is no such file"
