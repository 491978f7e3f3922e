import numpy as np
import pytest

from anchorless import Documents
from anchorless._core.proportions import compute_projection
from anchorless._corpus.disk.documents import store_blocks
from anchorless._effects.topic_draws import (
    LEAST_FIRST_SWEEPS,
    MOST_FIRST_SWEEPS,
    SWEEPS_PER_DRAW,
    SWEEPS_PER_TOKEN,
    count_first_sweeps,
    count_lengths,
    draw_topics,
    project_documents,
    sum_frequencies,
)
from anchorless.datasets import draw_counts, planted_topics
from anchorless.progress import listen
from tests.helpers.planted_effects import fit_planted

C = planted_topics(4, 60, random_state=0).components


def test_topics_project_to_themselves_and_shares_sum_to_one():
    solve = compute_projection(C)
    np.testing.assert_allclose(C @ solve, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(solve.sum(axis=1), C.any(axis=0), atol=1e-9)
    doubled = compute_projection(np.vstack([C, C[:1]]))
    assert np.isfinite(doubled).all()


@pytest.mark.parametrize("length", [3, 40])
def test_short_documents_do_not_pull_shares_to_the_mean(length):
    rng = np.random.default_rng(1)
    W = np.tile([0.7, 0.1, 0.1, 0.1], (20000, 1))
    counts = Documents([draw_counts(C, W, np.full(20000, length), rng)])
    np.testing.assert_allclose(project_documents(counts, compute_projection(C), 1).mean(axis=0), W[0], atol=0.02)


def test_blocks_and_threads_give_the_sums_of_one_matrix():
    rng = np.random.default_rng(2)
    X, rows = rng.poisson(0.5, (30, 60)), rng.standard_normal((30, 3))
    X[4] = 0
    lengths = X.sum(axis=1, keepdims=True)
    expected = rows.T @ np.divide(X, lengths, out=np.zeros(X.shape), where=lengths > 0)
    kept = rows.copy()
    for n_threads in (1, 2):
        found = sum_frequencies(Documents.from_matrix(X, 7), rows, n_threads)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(rows, kept)


def test_some_documents_are_projected_as_all_are_and_stay_on_disk_if_they_are_there(tmp_path):
    X = np.random.default_rng(3).poisson(0.5, (30, 60)).astype(float)
    counts, positions = Documents.from_matrix(X, 7), np.array([0, 6, 7, 20, 29])
    stored = store_blocks(tmp_path / "blocks", counts.blocks, 60)
    expected = project_documents(counts, compute_projection(C), 1)
    np.testing.assert_allclose(expected[6], X[6] @ compute_projection(C) / X[6].sum())
    np.testing.assert_array_equal(project_documents(counts, compute_projection(C), 2, positions), expected[positions])
    found = project_documents(stored, compute_projection(C), 1, positions)
    np.testing.assert_array_equal(found, expected[positions])
    assert isinstance(found, np.memmap)


def test_draws_are_topics_around_the_fit_and_progress_is_reported():
    model = fit_planted(0, n_documents=1500)[0]
    steps = []
    with listen(lambda *step: steps.append(step)):
        draws = draw_topics(model._counts, model._get_token_fit().topics, 4, 0, 1)
    n_sweeps = int(SWEEPS_PER_TOKEN * count_lengths(model._counts, 1).mean()) + 4 * SWEEPS_PER_DRAW
    assert steps[-1] == ("topics", n_sweeps, n_sweeps)
    np.testing.assert_allclose(draws.drawn.sum(axis=2), 1.0, atol=1e-5)
    assert (abs(draws.mean - model.topic_word_).sum(axis=1) < 0.4).all()
    assert (abs(draws.drawn[0] - draws.drawn[1]).sum(axis=1) > 0.01).all()


def test_short_documents_and_large_corpora_have_fewer_sweeps_before_the_first_draw():
    assert count_first_sweeps(3.0, 1e5) == LEAST_FIRST_SWEEPS
    assert LEAST_FIRST_SWEEPS < count_first_sweeps(20.0, 1e5) < count_first_sweeps(100.0, 1e5) == MOST_FIRST_SWEEPS
    assert MOST_FIRST_SWEEPS > count_first_sweeps(100.0, 1e8) > count_first_sweeps(100.0, 1e10) == LEAST_FIRST_SWEEPS
