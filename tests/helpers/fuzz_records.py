"""Targets of the fuzzer: what runs leave beside a model, forms that raters fill, and answers of a server."""

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from anchorless import TopicModel
from anchorless._file_groups import finish_replacement, get_journal
from anchorless._files import GROUP_PREFIX
from anchorless._topic_model.label_endpoint import clean_answer, read_answer
from tests.helpers.fuzz_files import make_mutation
from tests.helpers.fuzz_models import run_command
from tests.helpers.fuzzing import Target
from tests.helpers.mutations import mutate_bytes, mutate_json
from tests.helpers.planted_texts import planted_texts

#: Where the new files of a group wait, and what they replace.
WAITING = f"{GROUP_PREFIX}0123456789ab-"
JOURNAL = json.dumps({f"{WAITING}{name}": name for name in ("a.npz", "a.vocab.txt")}).encode()
ANSWERS = [
    b'{"choices": [{"message": {"role": "assistant", "content": "**Name of the topic:** bread\\n\\nand more"}}]}',
    b'{"choices": [{"message": {"content": "  \\"wine\\" "}}], "usage": {"total_tokens": 3}}',
]
DATA = re.compile(rb'(<script[^>]*type="application/json"[^>]*>)(.*?)(</script>)', re.DOTALL)


def make_results() -> Path:
    """Return a folder with the results of a fit, its input, and a form that a rater has filled."""
    folder = Path(tempfile.mkdtemp(prefix="results-"))
    texts, labels = planted_texts(60, 0)
    rows = [f"{i},{label},{text}" for i, (text, label) in enumerate(zip(texts, labels, strict=True))]
    (folder / "a.csv").write_text("\n".join(["id,label,text", *rows, ""]))
    arguments = ("--text-column", "text", "--id-column", "id", "--label-column", "label", "-k", "4", "--jobs", "1")
    run_command("fit", folder / "a.csv", *arguments, "-o", folder / "topics")
    TopicModel.load(folder / "topics" / "model.anchorless").write_intrusion_form(folder / "form.csv")
    lines = (folder / "form.csv").read_text().splitlines()
    answer = lines[0].split(",").index("answer") - len(lines[0].split(","))
    for i in range(1, len(lines)):
        cells = lines[i].split(",")
        cells[answer] = str(1 + i % 5)
        lines[i] = ",".join(cells)
    (folder / "form.csv").write_text("\n".join(lines))
    return folder


def mutate_json_bytes(content: bytes, rng: Random) -> bytes:
    """Return a JSON text with one of its values changed, or one of its uppermost names."""
    value = json.loads(content)
    if rng.random() < 0.1:
        name = rng.choice(sorted(value))
        value = {str(mutate_json(key, rng)) if key == name else key: value[key] for key in value}
        return json.dumps(value).encode()
    return json.dumps(mutate_json(value, rng)).encode()


def mutate_page(content: bytes, rng: Random) -> bytes:
    """Return a report whose data are changed, and can be read."""

    def change(match: re.Match[bytes]) -> bytes:
        changed = mutate_json_bytes(match[2], rng) if rng.random() < 0.8 else mutate_bytes(match[2], rng)
        return match[1] + changed.replace(b"<", b"\\u003c") + match[3]

    return DATA.sub(change, content, count=1)


def use_beside_model(results: Path, name: str) -> Callable[[Path], None]:
    """Return the function that puts a file into results, and edits, reports and exports them."""

    def use(path: Path) -> None:
        folder = path.with_name("results")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(results, folder)
        shutil.copy(path, folder / "topics" / name)
        run_command("report", folder / "topics", "-o", folder / "report.html")
        run_command("export", folder / "topics", "--to", "markdown", "-o", folder / "topics.md")
        run_command("edit", folder / "topics", "--rename", "0=bread")
        run_command("show", folder / "topics")
        assert TopicModel.load(folder / "topics" / "model.anchorless").topic_labels_[0] == "bread"

    return use


def score_form(results: Path) -> Callable[[Path], None]:
    """Return the function that scores a form of raters."""
    model = TopicModel.load(results / "topics" / "model.anchorless")

    def use(path: Path) -> None:
        for score in model.score_intrusion(path):
            assert 0 <= score.low <= score.high <= 1
            assert score.n_correct <= score.n_answers

    return use


def follow_journal(path: Path) -> None:
    """Finish what a journal says: it is gone, and no file but those of the group has changed."""
    folder = path.with_name("group")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    group = [folder / "a.npz", folder / "a.vocab.txt"]
    for file in [*group, folder / "b.csv", *(folder / f"{WAITING}{file.name}" for file in group)]:
        file.write_text(file.name)
    shutil.copy(path, get_journal(group[0]))
    finish_replacement(group[0], group)
    assert not get_journal(group[0]).exists()
    assert (folder / "b.csv").read_text() == "b.csv"
    assert all(file.exists() for file in group)


def read_server_answer(path: Path) -> None:
    """Read the answer of a server for labels: a name in one line, or none."""
    name = clean_answer(read_answer(path.read_bytes(), "http://127.0.0.1:1"))
    assert name is None or (name and "\n" not in name)


def list_record_targets() -> list[Target]:
    """Return the targets: run.json, report.html, forms of raters, journals, answers of a server."""
    results = make_results()
    run, page = (results / "topics" / name for name in ("run.json", "report.html"))
    given = {
        "run record": (run.read_bytes(), mutate_json_bytes, use_beside_model(results, run.name)),
        "earlier report": (page.read_bytes(), mutate_page, use_beside_model(results, page.name)),
        "form": ((results / "form.csv").read_bytes(), None, score_form(results)),
        "journal": (JOURNAL, mutate_json_bytes, follow_journal),
    }
    answer = Target("answer", "mutant", make_mutation(ANSWERS, mutate_json_bytes), read_server_answer)
    return [
        *(Target(name, "mutant", make_mutation([seed], inside), use) for name, (seed, inside, use) in given.items()),
        answer,
    ]
