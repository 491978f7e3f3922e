"""The experiments on groups of topics: what is compared, and the table."""

from argparse import Namespace

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless import Corpus
from experiments import levels
from experiments.results import Cell, ResultsError

NONE = Namespace(quick=True, cells=None, seeds=None)


def draw_classes():
    """Return documents of three classes of two topics each: every topic has words of its own and words of its class."""
    rng = np.random.default_rng(0)
    topic = np.repeat(np.arange(6), 80)
    weights = np.full((6, 90), 0.02)
    for k in range(6):
        weights[k, 10 * k : 10 * (k + 1)] = 1.0
        weights[k, 60 + 10 * (k // 2) : 70 + 10 * (k // 2)] = 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    counts = sp.csr_matrix([rng.multinomial(40, weights[k]) for k in topic], dtype=float)
    return levels.Labeled(Corpus.from_counts(counts, [f"word{v}" for v in range(90)]), topic // 2)


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr(levels, "CORPORA", {"planted": (3, (6,))})
    monkeypatch.setattr(levels, "QUICK", ("planted",))
    found = draw_classes()
    monkeypatch.setattr(levels, "read", lambda name: found)
    levels.fit_broad.cache_clear()
    yield found
    levels.fit_broad.cache_clear()


def test_groups_of_planted_topics_are_their_classes(planted):
    (cell,) = levels.plan(NONE)
    assert cell == Cell("planted", "anchorless", 6, None, 0)
    found = levels.measure_cell(cell)
    assert found["groups"] > 0.95
    assert 0 < found["fit"] <= 1


def test_labels_that_have_nothing_to_do_with_the_words_agree_with_no_group(planted, monkeypatch):
    shuffled = planted._replace(labels=np.random.default_rng(1).permutation(planted.labels))
    monkeypatch.setattr(levels, "read", lambda name: shuffled)
    found = levels.measure_cell(Cell("planted", "anchorless", 6, None, 0))
    assert max(found.values()) < 0.1


def test_an_unknown_corpus_is_refused_and_every_corpus_has_its_rows(planted, tmp_path, capsys):
    with pytest.raises(ResultsError, match="there is no cell 'other'; choose from planted"):
        list(levels.plan(Namespace(quick=False, cells=["other"], seeds=None)))
    assert levels.run(tmp_path, NONE) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    assert [part.strip() for part in row.strip("|").split("|")][:3] == ["planted", "6", "3"]
    assert (tmp_path / "tables.md").read_text(encoding="utf-8").endswith(f"{row}\n")
