"""The experiment on recovery: its measures tell right from wrong, and a quick run is complete and resumable."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments import __main__ as command
from experiments import recovery, recovery_methods
from experiments.planted import Design
from experiments.recovery_methods import METHODS, Method, complete_fit, rank_pairs

FAST = "anchorless,anchorless-moments,nmf-kl"


@pytest.fixture(autouse=True)
def small_corpora(monkeypatch):
    monkeypatch.setitem(recovery.DESIGNS, "quick-L60", Design(5, 200, 600, 60))
    monkeypatch.setitem(recovery.DESIGNS, "quick-L14", Design(5, 200, 900, 14))
    monkeypatch.setattr(recovery, "N_RESAMPLES", 10)
    recovery.draw.cache_clear()
    yield
    recovery.draw.cache_clear()


def fit_truth(corpus, order):
    """A fit that found the truth, its topics in another order."""
    return complete_fit(corpus, corpus.topic_word[order], corpus.mixtures[:, order], 1.0)


def test_the_truth_in_any_order_has_no_error():
    population, corpus = recovery.draw("quick-L60", 0)
    found = recovery.compare(fit_truth(corpus, [3, 0, 4, 2, 1]), population, corpus)
    assert_allclose([found[name] for name in ("topics", "mixtures", "shares")], 0.0, atol=1e-12)
    assert_allclose([found[name] for name in ("recovered", "correlations", "precision")], 1.0)


def test_wrong_topics_mixtures_and_pairs_are_measured():
    population, corpus = recovery.draw("quick-L60", 0)
    fit = fit_truth(corpus, [0, 1, 2, 3, 4])
    flat = np.full_like(fit.topic_word, 1.0 / fit.topic_word.shape[1])
    assert recovery.compare(fit._replace(topic_word=flat), population, corpus)["recovered"] == 0.0
    rolled = np.roll(fit.mixtures, 1, axis=0)
    assert recovery.compare(fit._replace(mixtures=rolled), population, corpus)["mixtures"] > 0.5
    assert recovery.compare(fit._replace(pairs=fit.pairs[::-1]), population, corpus)["precision"] == 0.0
    even = np.full(5, 0.2)
    assert_allclose(
        recovery.compare(fit._replace(shares=even), population, corpus)["shares"], abs(corpus.shares - 0.2).sum()
    )


def test_pairs_are_ranked_by_their_value():
    values = np.array([[1.0, 0.1, -0.4], [0.1, 1.0, 0.7], [-0.4, 0.7, 1.0]])
    assert_array_equal(rank_pairs(values), [[1, 2], [0, 1], [0, 2]])


def test_documents_are_lists_of_their_words():
    _, corpus = recovery.draw("quick-L14", 0)
    documents = recovery_methods.list_documents(corpus)
    place = {word: v for v, word in enumerate(corpus.words)}
    row = corpus.counts[0].toarray().ravel()
    assert_array_equal(np.bincount([place[word] for word in documents[0]], minlength=len(row)), row)
    assert sum(map(len, documents)) == corpus.counts.sum()


@pytest.mark.parametrize("name", [name for name in METHODS if name not in FAST.split(",")])
def test_other_libraries_beat_chance(name, monkeypatch):
    for iterations in ("TOMOTOPY_LDA_ITERATIONS", "TOMOTOPY_CTM_ITERATIONS", "LDA_ITERATIONS"):
        monkeypatch.setattr(recovery_methods, iterations, 50)
    method = METHODS[name]
    if not method.is_installed:
        pytest.skip(f"{method.package} is not installed")
    population, corpus = recovery.draw("quick-L60", 0)
    fit = method.fit(corpus, 5, 0)
    found = recovery.compare(fit, population, corpus)
    other_words, other_documents = fit._replace(topic_word=fit.topic_word[:, ::-1]), np.roll(fit.mixtures, 1, axis=0)
    assert found["topics"] < 0.8 * recovery.compare(other_words, population, corpus)["topics"]
    chance = recovery.compare(fit._replace(mixtures=other_documents), population, corpus)["mixtures"]
    assert found["mixtures"] < 0.95 * chance
    assert_allclose(fit.topic_word.sum(axis=1), 1.0)


def test_a_quick_run_is_complete_and_not_repeated(tmp_path, capsys, monkeypatch):
    arguments = ["recovery", "--quick", "--methods", FAST, "--out", str(tmp_path)]
    assert command.main(arguments) == 0
    with open(tmp_path / "recovery" / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["design"], row["method"]) for row in rows} == {
        (design, method) for design in recovery.QUICK for method in FAST.split(",")
    }
    values = {(row["design"], row["method"], row["measure"]): float(row["value"]) for row in rows}
    assert values["quick-L60", "anchorless", "recovered"] == 1.0
    assert 0.0 <= values["quick-L60", "anchorless", "independent_significant"] <= 1.0
    assert (tmp_path / "recovery" / "tables.md").read_text() == capsys.readouterr().out
    monkeypatch.setattr(recovery, "measure_cell", lambda cell: pytest.fail(f"ran {cell} again"))
    assert command.main(arguments) == 0


def test_a_package_that_is_not_installed_is_left_out_with_a_reason(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(METHODS, "absent", Method("a_package_that_is_absent", "none", pytest.fail))
    assert command.main(["recovery", "--quick", "--methods", "absent", "--out", str(tmp_path)]) == 0
    assert "absent is left out: a_package_that_is_absent is not installed" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--cells", "--methods"])
def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path, capsys, option):
    assert command.main(["recovery", option, "K21", "--out", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "'K21'" in message
    assert ("K20-L60" if option == "--cells" else "tomotopy-lda") in message
