import json
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._cli import embed
from anchorless._cli.progress import ConsoleProgress
from anchorless._corpus.encoders import find_folder
from anchorless.errors import InputError
from tests.helpers.command_runs import planted, read_csv, run
from tests.helpers.letter_encoder import LetterEncoder

__all__ = ["planted", "run"]


@pytest.fixture
def letters(monkeypatch):
    monkeypatch.setattr(embed, "Encoder", LetterEncoder)
    monkeypatch.setattr(embed, "TEXTS_AT_A_TIME", 32)
    monkeypatch.setattr(LetterEncoder, "encoded", 0)
    monkeypatch.setattr(LetterEncoder, "fail_after", None)
    return LetterEncoder


def test_embed_then_fit_then_apply(run, planted, letters, tmp_path):
    ran = run("embed", planted / "a.csv", "-o", "a.npy", "--json")
    assert json.loads(ran.out) == {"output": "a.npy", "documents": 160, "dimensions": 16}
    vectors = np.load(tmp_path / "a.npy")
    assert vectors.shape == (160, 16)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy"]
    fitted = run("fit", planted / "a.csv", "-k", "3", "--embeddings", "a.npy", "-o", "out")
    assert fitted.code == 0
    assert "embeddings: " in fitted.err
    assert "anchorless apply out NEW.csv --embeddings NEW.npy\n" in fitted.err
    assert TopicModel.load(tmp_path / "out" / "model.anchorless")._record.neighbors.n_dimensions == 16
    applied = run("apply", "out", planted / "a.csv", "--embeddings", "a.npy", "-o", "new.csv")
    assert applied.code == 0
    assert (tmp_path / "new.csv").read_bytes() == (tmp_path / "out" / "documents.csv").read_bytes()
    assert "was fitted with embeddings" in run("apply", "out", planted / "a.csv").err
    np.save(tmp_path / "short.npy", vectors[:50])
    refused = run("fit", planted / "a.csv", "-k", "3", "--embeddings", "short.npy", "-o", "other")
    assert refused.code == 1
    assert "50 embeddings for 160 documents" in refused.err
    assert not (tmp_path / "other").exists()


def test_a_column_of_the_input_has_the_embeddings(run, planted, letters, tmp_path):
    rows = read_csv(planted / "a.csv")
    texts = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    vectors = LetterEncoder("").encode([json.dumps(row) for row in texts]).astype(float).tolist()
    lines = [json.dumps(row | {"vector": vector}) for row, vector in zip(texts, vectors, strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    fitted = run("fit", "a.jsonl", "-k", "3", "--embeddings", "vector", "-o", "out")
    assert fitted.code == 0
    assert "anchorless apply out NEW.jsonl --embeddings vector\n" in fitted.err
    header = (tmp_path / "out" / "documents.csv").read_text().splitlines()[0]
    assert "vector" not in header
    applied = run("apply", "out", "a.jsonl", "--embeddings", "vector", "-o", "new.csv")
    assert applied.code == 0
    assert (tmp_path / "new.csv").read_bytes() == (tmp_path / "out" / "documents.csv").read_bytes()
    assert run("fit", "a.jsonl", "-k", "3", "--embeddings", "nothing", "-o", "other").code == 2


def test_an_interrupted_run_continues_and_gives_the_same_bytes(run, planted, letters, tmp_path, monkeypatch):
    run("embed", planted / "a.csv", "-o", "whole.npy")
    monkeypatch.setattr(letters, "encoded", 0)
    monkeypatch.setattr(letters, "fail_after", 64)
    assert run("embed", planted / "a.csv", "-o", "b.npy").code == 130
    assert not (tmp_path / "b.npy").exists()
    monkeypatch.setattr(letters, "fail_after", None)
    with open(tmp_path / "b.npy.part", "ab") as file:
        file.write(b"cut in the middle of a row")
    ran = run("embed", planted / "a.csv", "-o", "b.npy")
    assert "64 documents were encoded before" in ran.err
    assert letters.encoded == 160
    assert (tmp_path / "b.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.npy", "whole.npy"]


def test_progress_counts_the_documents_that_are_encoded(run, planted, letters, monkeypatch):
    shown = []

    @contextmanager
    def record(self, name, total, n_done):
        shown.append((total, n_done))
        yield shown.append

    monkeypatch.setattr(ConsoleProgress, "track_encoding", record)
    monkeypatch.setattr(letters, "fail_after", 64)
    assert run("embed", planted / "a.csv", "-o", "b.npy").code == 130
    monkeypatch.setattr(letters, "fail_after", None)
    assert run("embed", planted / "a.csv", "-o", "b.npy").code == 0
    assert shown == [(160, 0), 32, 32, (160, 64), 32, 32, 32]


def test_a_partial_file_of_another_input_is_not_used(run, planted, letters, tmp_path, monkeypatch):
    monkeypatch.setattr(letters, "fail_after", 64)
    run("embed", planted / "a.csv", "-o", "b.npy")
    monkeypatch.setattr(letters, "fail_after", None)
    (tmp_path / "other.txt").write_text("a cat\nan orbit\n")
    ran = run("embed", "other.txt", "-o", "b.npy")
    assert ran.code == 0
    assert np.load(tmp_path / "b.npy").shape == (2, 16)
    assert run("embed", "other.txt", "-o", "b.npy").code == 1  # exists already


def test_what_cannot_be_done_is_said(run, planted, tmp_path, monkeypatch):
    assert run("embed", planted / "a.csv", "-o", "b.csv").code == 2
    with pytest.raises(InputError, match="neither a folder nor an installed package"):
        find_folder("no-such-encoder")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    ran = run("embed", planted / "a.csv", "--encoder", str(tmp_path))
    assert ran.code == 1
    assert "pip install 'anchorless[embed]'" in ran.err


def test_two_runs_do_not_mix_their_rows(run, planted, letters, tmp_path):
    with embed.PartialFile(tmp_path / "a.npy", "key"):
        ran = run("embed", planted / "a.csv", "-o", "a.npy")
        assert ran.code == 1
        assert (
            "another run is encoding texts for a.npy; wait until it ends, or name another file with --output" in ran.err
        )
    assert list(tmp_path.iterdir()) == []
    assert run("embed", planted / "a.csv", "-o", "a.npy").code == 0
