import contextlib
import csv
import io
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._topic_model import intrusion
from anchorless._topic_model.label_endpoint import clean_answer, resolve_address
from anchorless._topic_model.matching import compute_similarity, match_names
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError
from tests.helpers.planted_texts import THEMES, planted_texts

TEXTS, LABELS = planted_texts()


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    TopicModel(4, n_jobs=1).fit(TEXTS, labels=LABELS).save(path)
    return path


@pytest.fixture
def model(fitted):
    return TopicModel.load(fitted)


def read_table(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def write_table(path, rows, delimiter=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


# The codebook.


def test_a_codebook_comes_back_with_names(model, tmp_path):
    model.rename_topics({3: "known"}).write_codebook(tmp_path / "c.csv", n_words=6, n_quotes=2)
    rows = read_table(tmp_path / "c.csv")
    assert [row["topic"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[3]["name"] == "known"
    assert rows[0]["words"].split(", ") == model.topics(6)[0].words
    assert rows[0]["quotes"].count("---") == 1
    rows[0]["name"], rows[1]["note"] = "Weltraum, nah", "unsure"
    for delimiter in ",;\t":
        write_table(tmp_path / "filled.csv", rows, delimiter)
        other = model.apply_codebook(tmp_path / "filled.csv", by="Ann")
        assert other.topic_names_ == ["Weltraum, nah", None, None, "known"]
        assert other.topic_notes_ == ["", "unsure", "", ""]
        assert [edit.kind for edit in other.edits] == ["rename", "rename", "note"]
        assert other.apply_codebook(tmp_path / "filled.csv").edits == other.edits  # nothing new
        model.undo(2)


def test_a_codebook_for_reading(model, tmp_path):
    model.annotate_topics({1: "a note"}).write_codebook(tmp_path / "c.md")
    text = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert text.count("\n## ") == 4
    assert "Note: a note" in text
    with pytest.raises(InputError, match="exists already"):
        model.write_codebook(tmp_path / "c.md")
    with pytest.raises(InputError, match=r"c\.md is Markdown, which is for reading; fill a codebook"):
        model.apply_codebook(tmp_path / "c.md")
    with pytest.raises(InputError, match=r"\.csv or \.md"):
        model.write_codebook(tmp_path / "c.xlsx")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:3], r"has the topics 0, 1, 2, but this model has 0 to 3"),
        (lambda rows: [*rows, rows[0]], "each once"),
        (lambda rows: [row | {"model": "abc"} for row in rows], "are for model abc"),
        (lambda rows: [*rows[:3], rows[3] | {"model": "abc"}], "are for model abc"),
        (lambda rows: [{k: v for k, v in row.items() if k != "name"} for row in rows], "has no column 'name'"),
    ],
)
def test_a_codebook_of_other_topics_is_refused(model, tmp_path, change, message):
    model.write_codebook(tmp_path / "c.csv")
    write_table(tmp_path / "c.csv", change(read_table(tmp_path / "c.csv")))
    with pytest.raises(InputError, match=message):
        model.apply_codebook(tmp_path / "c.csv")
    assert model.edits == []


def test_a_codebook_with_a_stray_carriage_return_is_refused(model, tmp_path):
    (tmp_path / "c.csv").write_bytes(b"topic,name,note,model\n0,a\rb,,m\n")
    with pytest.raises(InputError, match="is no valid CSV: new-line"):
        model.apply_codebook(tmp_path / "c.csv")


def test_a_codebook_from_before_a_merge_is_refused(model, tmp_path):
    model.write_codebook(tmp_path / "c.csv")
    with pytest.raises(InputError, match="undo the edits made since"):
        model.merge_topics([[0, 1]]).apply_codebook(tmp_path / "c.csv")
    with pytest.raises(InputError, match="no such file"):
        model.apply_codebook(tmp_path / "missing.csv")


# Intrusion tasks.


def theme_of(word):
    return next((name for name, words in THEMES.items() if word in words), None)


def test_intruders_are_of_another_topic(model):
    tasks = model.intrusion_tasks()
    assert sorted((task.kind, task.topic) for task in tasks) == [
        (k, f) for k in ("documents", "words") for f in range(4)
    ]
    for task in tasks:
        intruder = task.choices[task.intruder - 1]
        others = [choice for choice in task.choices if choice != intruder]
        if task.kind == "words":
            assert len(others) == 5
            assert theme_of(intruder) not in set(map(theme_of, others))
        else:
            assert len(others) == 3
            assert model.transform([intruder])[0, task.topic] <= 0.05


def test_intruding_words_are_rare_in_the_topic():
    """Topics share words here: a leading word of another topic may be a word of this one, too."""
    corpus = sampled_corpus(200, 6, 200, length=60, random_state=3)
    model = TopicModel(6, n_jobs=1).fit_counts(corpus.counts, [f"w{i}" for i in range(200)])
    for seed in range(5):
        for task in model.intrusion_tasks(random_state=seed):
            if task.kind == "words":
                word = model.vocabulary_.index(task.choices[task.intruder - 1])
                assert model.components_[task.topic, word] <= np.median(model.components_[task.topic])


def test_the_same_seed_gives_the_same_tasks(model):
    assert model.intrusion_tasks(random_state=3) == model.intrusion_tasks(random_state=3)
    assert model.intrusion_tasks(random_state=3) != model.intrusion_tasks(random_state=4)
    places = [task.intruder for seed in range(30) for task in model.intrusion_tasks(random_state=seed)]
    assert set(places) == {1, 2, 3, 4, 5, 6}


def test_perfect_and_blind_raters(model, tmp_path):
    model.write_intrusion_form(tmp_path / "f.csv", random_state=2)
    rows, tasks = read_table(tmp_path / "f.csv"), model.intrusion_tasks(random_state=2)
    assert [row["choice_1"] for row in rows] == [task.choices[0] for task in tasks]
    assert not {"topic", "intruder"} & set(rows[0])
    for row, task in zip(rows, tasks, strict=True):
        row["answer"] = str(task.intruder)
    write_table(tmp_path / "f.csv", rows)
    scores = model.score_intrusion(tmp_path / "f.csv")
    words = next(score for score in scores if score.kind == "words" and score.topic is None)
    assert (words.n_correct, words.n_answers, words.chance) == (4, 4, 1 / 6)
    assert words.p == pytest.approx(1 / 6**4)
    assert words.high == 1.0
    for row in rows:
        row["answer"] = "1"
    write_table(tmp_path / "f.csv", rows)
    documents = [score for score in model.score_intrusion(tmp_path / "f.csv") if score.kind == "documents"]
    assert documents[0].n_correct == sum(task.intruder == 1 for task in tasks if task.kind == "documents")
    assert documents[0].chance == 0.25
    assert sum(score.n_answers for score in documents[1:]) == documents[0].n_answers


def test_a_form_has_no_ending_with_which_a_browser_would_run_its_texts(model, tmp_path):
    for name in ("f.html", "f.svg", "f"):
        with pytest.raises(InputError, match=r"a form is \.csv; choose this ending"):
            model.write_intrusion_form(tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_forms_of_several_raters_below_each_other(model, tmp_path):
    """Their forms may have different seeds, and each its row of headings."""
    for seed in (2, 3):
        model.write_intrusion_form(tmp_path / f"{seed}.csv", random_state=seed)
        rows, tasks = read_table(tmp_path / f"{seed}.csv"), model.intrusion_tasks(random_state=seed)
        answers = ({"answer": str(task.intruder)} for task in tasks)
        write_table(tmp_path / f"{seed}.csv", [row | answer for row, answer in zip(rows, answers, strict=True)])
    first, second = ((tmp_path / f"{seed}.csv").read_text() for seed in (2, 3))
    for both in (first + second, first + second.partition("\n")[2]):
        (tmp_path / "f.csv").write_text(both)
        scores = model.score_intrusion(tmp_path / "f.csv")
        assert [(s.n_correct, s.n_answers) for s in scores if s.topic is None] == [(8, 8), (8, 8)]
    (tmp_path / "f.csv").write_text(first + second.replace(model.fingerprint_, "abc"))
    with pytest.raises(InputError, match="are for model abc"):
        model.score_intrusion(tmp_path / "f.csv")


def test_intervals_of_scores_cover():
    """The interval of Clopper and Pearson contains the probability in at least 90% of cases."""
    rng, n, p = np.random.default_rng(0), 20, 0.4
    found = [intrusion.compute_score("words", None, n, int(k), 6) for k in rng.binomial(n, p, 400)]
    assert np.mean([score.low <= p <= score.high for score in found]) >= 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": ""}, "has no answers"),
        ({"answer": "9"}, "line 2: the answer is '9'"),
        ({"answer": "5"}, "the answer is '5', but it must be the number of a choice, 1 to 4"),  # a task of documents
        ({"answer": "two"}, "line 2: the answer is 'two'"),
        ({"answer": "1", "task": "99"}, "line 2: there is no task '99'"),
        ({"answer": "1", "model": "abc"}, "are for model abc"),
        ({"answer": "9" * 5000}, "line 2: the answer is '9999"),
        ({"answer": "1", "task": "9" * 5000}, "line 2: there is no task '9999"),
        ({"answer": "1", "seed": "9" * 5000}, "no column seed"),
        ({"answer": "1", "seed": ""}, "no column seed, which says how its tasks were made"),
    ],
)
def test_forms_with_errors_are_refused(model, tmp_path, changes, message):
    model.write_intrusion_form(tmp_path / "f.csv")
    write_table(tmp_path / "f.csv", [row | changes for row in read_table(tmp_path / "f.csv")])
    with pytest.raises(InputError, match=message):
        model.score_intrusion(tmp_path / "f.csv")


# Names of an earlier model.


def test_names_are_carried_to_a_new_fit(model):
    model.rename_topics({0: "zero", 2: "two"}).annotate_topics({2: "a note"})
    new = TopicModel(4, n_jobs=1).fit(planted_texts(seed=9)[0])
    found = new.carry_names(model)
    assert [name.is_carried for name in found] == [True, True]
    for name in found:
        old, now = model.topics(5)[name.earlier].words, new.topics(5)[name.topic].words
        assert {theme_of(word) for word in old} == {theme_of(word) for word in now}
        assert new.topic_names_[name.topic] == name.name
    assert new.topic_notes_[found[1].topic] == "a note"
    assert new.topic_names_.count(None) == 2
    assert len(new.edits) == 2
    assert new.carry_names(model) == found
    assert len(new.edits) == 2  # nothing new


def test_notes_of_topics_without_a_name_are_carried_or_told(model):
    model.annotate_topics({1: "a note"})
    new = TopicModel(4, n_jobs=1).fit(planted_texts(seed=9)[0])
    found = new.carry_names(model, min_similarity=1.0)
    assert [(name.name, name.earlier, name.is_carried) for name in found] == [("", 1, False)]
    assert new.edits == []
    (name,) = new.carry_names(model)
    assert (name.is_carried, new.topic_notes_[name.topic]) == (True, "a note")
    assert new.topic_names_ == [None] * 4


def test_names_of_missing_topics_are_reported(model):
    model.rename_topics(dict(enumerate(["a", "b", "c", "d"])))
    space = [text for text, label in zip(TEXTS, LABELS, strict=True) if label != "space"]
    new = TopicModel(3, n_jobs=1).fit(space)
    found = new.carry_names(model)
    missing = [name for name in found if not name.is_carried]
    assert len(found) == 4
    assert len(missing) == 1
    assert set(map(theme_of, model.topics(5)[missing[0].earlier].words)) == {"space"}
    assert sorted(new.topic_names_) == sorted(name.name for name in found if name.is_carried)


def test_models_without_a_common_word_share_nothing():
    similarity = compute_similarity(np.eye(2), ["a", "b"], np.eye(2), ["c", "d"])
    np.testing.assert_array_equal(similarity, 0.0)
    assert [name.is_carried for name in match_names(similarity, ["x", None], ["", ""], 0.7)] == [False]


# Names from a language model.


class StubServer(BaseHTTPRequestHandler):
    """A chat interface that answers with the first word of the prompt."""

    seen: ClassVar[list] = []
    answer = None
    code = 200
    waiting = threading.Event()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append((self.path, body))
        if type(self).answer == "wait":
            type(self).waiting.wait(5)
        word = body["messages"][1]["content"].split(": ")[1].split(",")[0]
        content = {"choices": [{"message": {"content": f'"{word} things".\nBecause.'}}]}
        sent = json.dumps(content).encode() if self.answer is None else self.answer.encode()
        self.send_response(self.code)
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):
            self.wfile.write(sent)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    StubServer.seen, StubServer.answer, StubServer.code = [], None, 200
    StubServer.waiting.clear()
    running = HTTPServer(("127.0.0.1", 0), StubServer)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    StubServer.waiting.set()
    running.shutdown()
    running.server_close()
    thread.join()


def test_a_local_model_names_the_topics(model, server, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # is not asked for this machine
    first = [topic.words[0] for topic in model.topics()]
    model.rename_topics({1: "mine"}).label_topics(server, model="small", n_quotes=1, by="Ann")
    assert model.topic_labels_ == [f"{first[0]} things", "mine", f"{first[2]} things", f"{first[3]} things"]
    assert [path for path, _ in StubServer.seen] == ["/v1/chat/completions"] * 3
    assert StubServer.seen[0][1]["model"] == "small"
    assert StubServer.seen[0][1]["temperature"] == 0
    model.save(tmp_path / "m")
    edit = TopicModel.load(tmp_path / "m").edits[-1]
    assert edit.kind == "label"
    assert edit.values["endpoint"] == server
    assert len(edit.values["prompts"]) == len(edit.values["answers"]) == 3
    assert all(prompt.count("Document: ") == 1 for prompt in edit.values["prompts"])
    assert model.undo().topic_names_ == [None, "mine", None, None]


def test_words_only(model, server):
    model.label_topics(server, topics=[2], n_quotes=0)
    assert len(StubServer.seen) == 1
    assert "Document" not in StubServer.seen[0][1]["messages"][1]["content"]
    with pytest.raises(InputError, match="there is no topic 7"):
        model.label_topics(server, topics=[7])
    with pytest.raises(InputError, match="every topic has a name"):
        model.label_topics(server).label_topics(server)


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        ("no", 500, "answers with HTTP 500"),
        ("<html>", 200, "gave no answer of the chat interface, but '<html>'"),
        ('{"choices": []}', 200, "gave no answer of the chat interface"),
        ("[" * 100_000, 200, "gave no answer of the chat interface"),
        ('{"choices": [{"message": {"content": null}}]}', 200, "gave no answer of the chat interface"),
        ("wait", 200, "gave no answer within 0.2 seconds; raise timeout"),
    ],
)
def test_a_server_that_fails_changes_nothing(model, server, answer, code, message):
    StubServer.answer, StubServer.code = answer, code
    with pytest.raises(InputError, match=message):
        model.label_topics(server, timeout=0.2)
    assert model.edits == []


def make_answer(content):
    return json.dumps({"choices": [{"message": {"content": content}}]})


def test_answers_without_a_name_change_nothing(model, server):
    StubServer.answer, StubServer.code = make_answer("<think>I"), 200
    with pytest.raises(InputError, match="gave no name for any topic; its first answer was '<think>I'"):
        model.label_topics(server)
    assert model.edits == []


def test_half_a_surrogate_pair_in_an_answer_is_replaced(model, server, tmp_path):
    StubServer.answer, StubServer.code = make_answer("Law\ud800"), 200
    model.label_topics(server, topics=[0, 0]).save(tmp_path / "m")
    assert TopicModel.load(tmp_path / "m").topic_names_[0] == "Law\ufffd"
    assert len(StubServer.seen) == 1


def test_no_server_and_no_address(model):
    with pytest.raises(InputError, match=r"cannot reach http://127\.0\.0\.1:9/v1/chat/completions"):
        model.label_topics("http://127.0.0.1:9")
    with pytest.raises(InputError, match="not the address of a server; write it like http://"):
        model.label_topics("file:///etc/passwd")


@pytest.mark.parametrize("address", ["http://[", "http://127.0.0.1:x"])
def test_addresses_that_are_none(address):
    with pytest.raises(InputError, match="not the address of a server"):
        resolve_address(address)


def send_raw(content, pause=0.0):
    """Return the address of a server that sends these bytes to the first request, whatever it is, one at a time."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer():
        with listening, listening.accept()[0] as connection, contextlib.suppress(OSError):
            connection.recv(65536)
            for at in range(len(content)) if pause else ():
                connection.sendall(content[at : at + 1])
                time.sleep(pause)
            if not pause:
                connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):  # closed with bytes of the request unread, the connection would be reset
                pass

    threading.Thread(target=answer, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_server_that_speaks_something_else(model):
    with pytest.raises(InputError, match="cannot reach"):
        model.label_topics(send_raw(b"SSH-2.0-OpenSSH_9.6\r\n"), timeout=5)
    with pytest.raises(InputError, match="cannot reach"):
        model.label_topics("http://a b", timeout=5)


def test_a_server_that_never_ends_its_answer(model):
    address = send_raw(b"HTTP/1.0 200 OK\r\n\r\n", 0.0)
    with pytest.raises(InputError, match="gave no answer of the chat interface"):
        model.label_topics(address, timeout=5)
    for head in (b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\nX: "):
        slow = send_raw(head + b" " * 1000, 0.02)
        start = time.monotonic()
        with pytest.raises(InputError, match=r"gave no answer within 0\.6 seconds"):
            model.label_topics(slow, timeout=0.6)
        assert time.monotonic() - start < 10  # all its bytes would take 20 s


def test_no_server_but_the_named_one_is_asked(model, server):
    away = f"HTTP/1.0 302 Found\r\nLocation: {server}/v1/chat/completions\r\n\r\n".encode()
    with pytest.raises(InputError, match="answers with HTTP 302"):
        model.label_topics(send_raw(away), timeout=5)
    assert StubServer.seen == []


def test_addresses_may_be_given_in_three_ways():
    for given in ("http://h:1", "http://h:1/v1/", "http://h:1/v1/chat/completions"):
        assert resolve_address(given) == "http://h:1/v1/chat/completions"


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ('"Space flight."', "Space flight"),
        ("**Law**\nmore", "Law"),
        ("\n \n", None),
        ("x" * 100, "x" * 60),
        ("<think>\nThe words are …\n</think>\n\nLaw", "Law"),
        ("The words are …\n</think>\nLaw", "Law"),  # some servers leave the beginning out
        ("<think>The words", None),  # the answer was too long
        ("**Name of the topic:** Law", "Law"),
        ("Topic: Law", "Law"),
        ("- `Law`", "Law"),
        ("\x1b[31mLaw", "\ufffd[31mLaw"),
    ],
)
def test_answers_become_names(answer, name):
    assert clean_answer(answer) == name
