"""The experiment on documents: its measures tell right from wrong, and a quick run is complete."""

import numpy as np
import pytest
import scipy.sparse as sp

from experiments import __main__ as command
from experiments import documents
from experiments.planted import Design, draw_corpus, draw_population


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with a small planted corpus in the place of GoogleNews."""
    rng = np.random.default_rng(0)
    design = Design(4, 150, 500, 40)
    corpus = draw_corpus(draw_population(design, rng), design, rng)
    folder = tmp_path / "data" / "benchmark" / "GoogleNews"
    folder.mkdir(parents=True)
    sp.save_npz(folder / "train_bow.npz", corpus.counts[:400])
    sp.save_npz(folder / "test_bow.npz", corpus.counts[400:])
    np.savetxt(folder / "test_labels.txt", corpus.mixtures[400:].argmax(axis=1), fmt="%d")
    (folder / "vocab.txt").write_text("\n".join(corpus.words), encoding="utf-8")
    monkeypatch.setenv("ANCHORLESS_DATA", str(tmp_path / "data"))
    monkeypatch.setitem(documents.CORPORA, "GoogleNews", ("GoogleNews", 4))
    documents.read_halves.cache_clear()
    yield
    documents.read_halves.cache_clear()


def test_purity_counts_the_most_frequent_class_of_each_cluster():
    assert documents.compute_purity(np.array([0, 0, 1, 2, 2]), np.array([7, 7, 7, 3, 3])) == 0.8


@pytest.mark.usefixtures("data")
def test_a_quick_run_measures_both_weightings(tmp_path, capsys):
    assert command.main(["documents", "--quick", "--out", str(tmp_path / "out")]) == 0
    table = capsys.readouterr().out
    assert "| GoogleNews |" in table
    assert table.count("anchorless") == 2
    found = documents.Results(tmp_path / "out" / "documents", "documents").values
    assert all(set(values) == set(documents.MEASURES) for values in found.values())
    assert all(values["purity"] > 0.6 for values in found.values())  # planted topics, one class each


def test_a_missing_folder_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ANCHORLESS_DATA", str(tmp_path))
    assert command.main(["documents", "--quick", "--out", str(tmp_path / "out")]) == 2
    assert "benchmark/GoogleNews" in capsys.readouterr().err


def test_an_unknown_corpus_is_named(tmp_path, capsys):
    assert command.main(["documents", "--cells", "nope", "--out", str(tmp_path / "out")]) == 2
    assert "no cell 'nope'" in capsys.readouterr().err
