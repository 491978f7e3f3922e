"""The costs of trust and the number of topics, as commands."""

import pandas as pd
import pytest

from benchmarks import how_many, trust


@pytest.mark.parametrize(("resampled", "searched", "code"), [(24.0, 24.0, 0), (26.0, 1.0, 1), (1.0, 26.0, 1)])
def test_costs_beyond_the_plain_fits_are_told_and_fail(monkeypatch, capsys, resampled, searched, code):
    seconds = iter([1.0, 1.0, 1.0, resampled * 10 / trust.N_RESAMPLES, searched])
    monkeypatch.setattr(trust, "cpu", lambda work: next(seconds))
    assert trust.main(["--sampled", "--fits", "3", "--resamples", "10"]) == code
    printed = capsys.readouterr().out
    assert f"50 resamples: {resampled:.1f} s, {resampled / 25:.2f} of 25 plain fits" in printed
    assert f"search_k over 20 numbers: {searched:.1f} s, {searched / 25:.2f} of 25 plain fits" in printed


def test_a_missing_corpus_is_told(monkeypatch, capsys):
    monkeypatch.delenv("ANCHORLESS_DATA", raising=False)
    assert trust.main([]) == 2
    assert "ANCHORLESS_DATA" in capsys.readouterr().err


def test_cpu_seconds_are_of_work_not_of_waiting():
    import time

    assert trust.cpu(lambda: time.sleep(0.05)) < 0.04
    assert trust.cpu(lambda: sum(range(3_000_000))) > 0.005


def results(folder, suggested, drawn):
    rows = [("planted", "sampled_corpus", 1000, 5, seed, number, "") for seed, number in enumerate(suggested)]
    rows += [("TDT2", "tf-idf of the draw", 0, 5, seed, number, "") for seed, number in enumerate(drawn)]
    pd.DataFrame(rows, columns=[*how_many.KEY, "suggested", "reason"]).to_csv(folder / "results.csv", index=False)


@pytest.mark.parametrize(
    ("suggested", "drawn", "code"),
    [
        ([5] * 60, [5, 7, 3, 6, 4, 5, 5, 0, 8, 2], 0),
        ([5] * 10 + [0] * 50, [5] * 10, 0),
        ([5] * 58 + [4] * 2, [5] * 10, 1),
        ([5] * 60, [5] * 6 + [0] * 4, 1),
    ],
)
def test_table_tells_found_wrong_and_near(tmp_path, capsys, suggested, drawn, code):
    results(tmp_path, suggested, drawn)
    assert how_many.render(tmp_path) == code
    printed = capsys.readouterr().out
    wrong = sum(number not in (0, 5) for number in suggested)
    assert f"| all | {suggested.count(5)} / {wrong} / 60 |" in printed


@pytest.mark.parametrize("kind", how_many.GENERATORS)
def test_planted_corpora_are_the_same_for_the_same_seed(kind):
    one, two = (how_many.planted(kind, 50, 4, 2) for _ in range(2))
    assert one.shape == (50, 3000)
    assert (one != two).nnz == 0
