"""The experiment on verdicts: its corpora are what they claim to be, and its limits can fail."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from experiments import verdicts


@pytest.fixture
def few_documents(monkeypatch):
    monkeypatch.setattr(verdicts, "N_DOCUMENTS", 1500)
    monkeypatch.setattr(verdicts, "QUICK_SEEDS", 1)


def test_shuffled_tokens_keep_words_and_lengths_but_not_their_order(few_documents):
    counts, _ = verdicts.draw_planted(4, np.random.default_rng(0))
    shuffled = verdicts.shuffle_tokens(counts, np.random.default_rng(0))
    for axis in (0, 1):
        assert_array_equal(counts.sum(axis=axis), shuffled.sum(axis=axis))
    assert abs(counts - shuffled).sum() > 0


def test_planted_topics_have_neither_zeros_nor_anchor_words(few_documents):
    _, truth = verdicts.draw_planted(4, np.random.default_rng(0))
    assert truth.min() > 0
    assert (truth / truth.sum(axis=0)).max() < 1


def test_a_quick_run_covers_every_case_and_is_not_repeated(few_documents, tmp_path, capsys, monkeypatch):
    verdicts.run(tmp_path, Namespace(quick=True))
    results = pd.read_csv(tmp_path / "results.csv")
    assert results["topics"].tolist() == [4, 2, 8, 4]
    assert results["verdict"].isin(verdicts.VERDICTS).all()
    assert results["verdict"].tolist()[2:] == ["not supported"] * 2
    assert "| planted | shuffled tokens | 1 |" in capsys.readouterr().out
    monkeypatch.setattr(verdicts, "judge_planted", None)
    verdicts.run(tmp_path, Namespace(quick=True))


@pytest.mark.parametrize(("good", "chance", "code"), [("unique", "not supported", 0), ("unique", "unique", 1)])
def test_good_news_for_shuffled_tokens_fails(tmp_path, good, chance, code):
    rows = [("planted number, good fit", good), ("shuffled tokens", chance)]
    table = pd.DataFrame(rows, columns=["case", "verdict"]).assign(
        corpus="planted", planted=4, seed=0, topics=4, as_fitted="proved", leeway=0.05, strength=2.0
    )
    table.to_csv(tmp_path / "results.csv", index=False)
    assert verdicts.render(tmp_path) == code
    table.assign(verdict="not supported").to_csv(tmp_path / "results.csv", index=False)
    assert verdicts.render(tmp_path) == 1
