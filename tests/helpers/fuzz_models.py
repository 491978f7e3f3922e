"""Target of the fuzzer: model files with a right checksum whose arrays or header are changed."""

import contextlib
import io
import tempfile
import warnings
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from anchorless import TopicModel
from anchorless._cli.main import main
from anchorless._topic_model import annotation
from anchorless._topic_model.file import encode_model, load_model
from tests.helpers.fuzzing import Target
from tests.helpers.mutations import mutate_array, mutate_json
from tests.helpers.planted_embeddings import Planted
from tests.helpers.planted_texts import planted_texts

#: Exit codes of a command that worked or refused its input.
DONE_OR_REFUSED = (0, 1, 2)
#: Commands that use a model file: those at its end change it.
COMMANDS = (
    ("show", "m.anchorless"),
    ("show", "m.anchorless", "0", "--json"),
    ("report", "m.anchorless", "-o", "report.html", "--force"),
    ("apply", "m.anchorless", "new.csv", "-o", "new.parquet", "--force", "--jobs", "1"),
    ("codebook", "m.anchorless", "-o", "c.csv", "--force"),
    ("edit", "m.anchorless", "--merge", "0,1", "-o", "e.anchorless", "--force"),
    ("edit", "m.anchorless", "--undo"),
)
#: Numbers that users see, and the arrays of the file that they are.
SEEN_ARRAYS = {"topic_shares_": "shares", "topic_correlation_": "correlation", "coherence_": "coherence"}


def make_model_seeds() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return arrays and header of models: plain, without the token model, and two with what else a file can hold."""
    texts, labels = planted_texts(100, 0)
    table = {"party": labels, "year": [2000 + i % 7 for i in range(len(texts))]}
    dates = [f"20{10 + i % 5}-01-01" for i in range(len(texts))]
    plain = TopicModel(4, n_jobs=1).fit(texts)
    bare = TopicModel(3, likelihood=False, weighting="counts", n_jobs=1).fit(texts)
    words = {"first": plain.topics(2)[0].words}
    full = TopicModel(4, levels=[2], seed_words=words, separate_words=[tuple(plain.topics(2)[0].words)], n_jobs=1)
    full.fit(texts, metadata=table, labels=labels, dates=dates)
    full.rename_topics({0: "a"}, by="x").annotate_topics({1: "n"}, by="x").split_topic(2, n=2, by="x")
    full.merge_topics([[0, 1]], by="x").drop_topics([2], by="x")
    planted = Planted()
    guided = planted.fit(planted.embeddings, n_jobs=1)
    guided.stability(10)
    with patch.object(annotation, "ask_server", lambda *_: "a name"):
        guided.label_topics("http://127.0.0.1:1", topics=[0, 1], by="x")
    seeds = []
    with tempfile.TemporaryDirectory() as folder:
        for number, model in enumerate((plain, bare, full, guided)):
            path = Path(folder) / f"{number}.anchorless"
            model.save(path, metadata=model is full)
            seeds.append(load_model(path))
    return seeds


def mutate_model(seeds: list[tuple[dict[str, Any], dict[str, Any]]], rng: Random) -> bytes:
    """Return a model file with one or two changed parts and the right checksum."""
    arrays, header = rng.choice(seeds)
    arrays = dict(arrays)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            header = mutate_json(header, rng)
            header = header if isinstance(header, dict) else {}
        else:
            name = rng.choice(sorted(arrays))
            if rng.random() < 0.05:
                del arrays[name]
            else:
                arrays[name] = mutate_array(arrays[name], rng)
    return b"".join(encode_model(arrays, header))


def run_command(*arguments: Any) -> str:
    """Run a command; return what it printed, nothing if it refused its input."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*map(str, arguments), "--quiet"])
    assert code in DONE_OR_REFUSED, f"exit {code}: {err.getvalue()}"
    assert "out of memory" not in err.getvalue(), err.getvalue()
    return out.getvalue() if code == 0 else ""


def use_model(path: Path) -> None:
    """Load a model, compare its numbers with the file, and show, report, edit and apply it."""
    arrays, header = load_model(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicModel.load(path)
        if not header.get("edits"):
            for name, array in SEEN_ARRAYS.items():
                np.testing.assert_array_equal(getattr(model, name), arrays[array])
        assert np.all(np.abs(model.topic_word_.sum(axis=1) - 1) < 1e-6)
        assert np.all(np.isfinite(model.topic_shares_)), "shares"
        model.topics_frame(), model.correlation_edges(), model.words_frame(5)
        if header.get("levels"):
            model.hierarchy()
        if header.get("neighbors"):
            width = arrays["neighbor_vectors"].shape[1]
            mixtures = model.transform_counts(np.eye(2, len(model.vocabulary_)), embeddings=np.ones((2, width)))
            assert np.all(np.isfinite(mixtures)), "mixtures"
        model.set_params(n_jobs=1)
        texts = path.with_name("new.csv")
        if not texts.exists():
            texts.write_text("id,text\n1,bread cheese wine\n2,\n3,goal match\n")
        for arguments in COMMANDS:
            run_command(*(path.with_name(part) if "." in part else part for part in arguments))


def list_model_targets() -> list[Target]:
    """Return the target of model files."""
    seeds = make_model_seeds()
    for arrays, header in seeds:  # compiles what the processes use
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.anchorless"
            path.write_bytes(b"".join(encode_model(arrays, header)))
            use_model(path)
    return [Target("model", "m.anchorless", lambda rng: mutate_model(seeds, rng), use_model)]
