"""The parts of identifiability, against brute force over all vertices."""

import subprocess
import sys
import threading
from itertools import combinations
from time import monotonic

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from anchorless._diagnostics.identifiability import scattering
from anchorless._diagnostics.identifiability.cone import Cone, is_exact_witness
from anchorless._diagnostics.identifiability.identifiability import assess_identifiability
from anchorless._diagnostics.identifiability.noise import (
    LARGE_CORRELATION,
    LARGE_OVERLAP,
    SamplingNoise,
    compute_mean_difference,
    find_close_pairs,
    find_least_overlap,
)
from anchorless._diagnostics.identifiability.scattering import (
    MAX_SEARCHED_TOPICS,
    NOT_REFUTED,
    bound_squared_norm,
    check_scattering,
    compute_vertex_limit,
    enumerate_vertices,
    has_anchor_words,
    is_proved_at_vertices,
)
from anchorless._diagnostics.identifiability.subtraction import subtract_topics
from anchorless._topic_model.verdicts import describe_identifiability


def topics(n_topics, n_words, seed, zeros):
    """Topics with a share of zeros and no anchor words."""
    rng = np.random.default_rng(seed)
    C = rng.exponential(size=(4 * n_words, n_topics)) * (rng.random((4 * n_words, n_topics)) >= zeros)
    C = C[np.count_nonzero(C, axis=1) > 1][:n_words]
    return C / C.sum(axis=0)


def nearly_separable(n_topics, seed, leak):
    """Topics with words that belong to one topic but for a leak into one other."""
    rng = np.random.default_rng(seed)
    near = [np.eye(n_topics)[f] + leak * rng.random() * np.eye(n_topics)[g] for f in range(n_topics) for g in range(f)]
    far = [np.eye(n_topics)[f] + leak * rng.random() * np.eye(n_topics)[g] for g in range(n_topics) for f in range(g)]
    C = np.vstack([near, far, rng.random((50, n_topics))])
    return C / C.sum(axis=0)


def all_vertices(C):
    """Return every vertex of {Cx ≥ 0, 1·x = 1}: all sets of F − 1 words that are tight together."""
    n_topics = C.shape[1]
    sets = np.array(list(combinations(range(len(C)), n_topics - 1)))
    systems = np.concatenate([C[sets] * len(C), np.ones((len(sets), 1, n_topics))], axis=1)
    good = abs(np.linalg.det(systems)) > 1e-10
    right = np.zeros((n_topics, 1))
    right[-1] = 1.0
    X = np.linalg.solve(systems[good], np.broadcast_to(right, (good.sum(), n_topics, 1)))[:, :, 0]
    return X[(C @ X.T).min(axis=0) >= -1e-11]


def by_brute_force(C):
    X = all_vertices(C)
    other = X[abs(X - np.eye(C.shape[1])[X.argmax(axis=1)]).max(axis=1) > 1e-8]
    return "refuted" if np.linalg.norm(other, axis=1).max(initial=0.0) >= 1.0 else "proved"


def judged(C, seed=0):
    return check_scattering(Cone(C), 5, np.random.default_rng(seed), monotonic() + 100)


@pytest.mark.parametrize(("n_topics", "n_words", "zeros"), [(4, 16, 0.45), (5, 14, 0.55), (6, 15, 0.6)])
def test_verdicts_are_those_of_brute_force(n_topics, n_words, zeros):
    verdicts = []
    for seed in range(15):
        C = topics(n_topics, n_words, seed, zeros)
        if np.linalg.matrix_rank(C) == n_topics:
            verdicts.append(judged(C).verdict)
            assert verdicts[-1] == by_brute_force(C), seed
    assert "refuted" in verdicts


@pytest.mark.parametrize("n_topics", [3, 4, 5])
def test_both_proofs_and_brute_force_agree_where_topics_are_nearly_separable(n_topics):
    proved = []
    for seed in range(8):
        for leak in (0.01, 0.1, 0.5):
            C = nearly_separable(n_topics, seed, leak)
            words = C[: n_topics * (n_topics - 1)]  # the others hold every topic and are inside
            cone = Cone(C)
            lowest = np.array([-cone.solver.maximize(-e).value - 1e-9 for e in np.eye(n_topics)])
            truth = by_brute_force(words) == "proved"
            largest_norm, _ = enumerate_vertices(cone, monotonic() + 100)
            assert (largest_norm is not None) == truth
            if truth:
                X = all_vertices(words)
                other = X[abs(X - np.eye(n_topics)[X.argmax(axis=1)]).max(axis=1) > 1e-8]
                # Words that are not needed for the proof are left out, so that its vertices may be longer.
                assert np.linalg.norm(other, axis=1).max() <= largest_norm + 1e-9 < 1.0
            bounded = is_proved_at_vertices(cone, lowest, monotonic() + 100)
            assert truth or not bounded
            proved.append(bounded)
    assert any(proved)


def test_nearly_separable_topics_are_proved_for_any_number_of_topics():
    for n_topics in (11, 13, 20):
        found = judged(nearly_separable(n_topics, n_topics, 0.01))
        assert found.verdict == "proved"
        assert min(found.lowest) < 0


def test_a_single_word_can_take_the_proof_away():
    C = nearly_separable(12, 0, 0.01)
    assert judged(C).verdict == "proved"
    C[C[:, 3] == 0, 3] = 1e-3 * C.max()  # topic 3 in every word
    found = judged(C / C.sum(axis=0))
    assert found.verdict == "refuted"
    assert found.stretch[3] > 1


def test_anchor_words_of_all_topics_are_needed():
    C = np.vstack([np.eye(3), np.full((2, 3), 0.5)])
    assert has_anchor_words(Cone(C / C.sum(axis=0)))
    C[0, 1] = 1e-6
    assert not has_anchor_words(Cone(C / C.sum(axis=0)))
    C[0, 1] = 1e-12  # rounding error
    assert has_anchor_words(Cone(C / C.sum(axis=0)))


def test_the_bound_on_squares_holds():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 7))
        lower, upper = -rng.random(n), rng.uniform(0.3, 1.0, n)
        if upper.sum() < 1:
            assert bound_squared_norm(lower, upper) == -1.0
            continue
        X = rng.uniform(lower, upper, (4000, n))
        X[:, 0] = 1 - X[:, 1:].sum(axis=1)
        X = X[(X[:, 0] >= lower[0]) & (X[:, 0] <= upper[0])]
        assert (X**2).sum(axis=1).max(initial=0.0) <= bound_squared_norm(lower, upper)
        free = rng.dirichlet(np.ones(n), 500) * (1 - lower.sum()) + lower
        assert (free**2).sum(axis=1).max() <= bound_squared_norm(lower, np.full(n, np.inf)) + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_points_above_the_limit_of_a_unit_vector_are_short_and_the_limit_is_exact(seed):
    """From unit vector e along d, with d = −1 at its entry and the rest above bounds: |e + τd| = 1 at τ = 2/|d|²."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    bounds = -rng.random(n)
    reach = 1.0 - compute_vertex_limit(bounds)  # how far τ may go
    worst = bounds + (1 - bounds.sum()) * (np.arange(n) == bounds.argmax())
    other = bounds + (1 - bounds.sum()) * rng.dirichlet(np.ones(n), 200)
    assert squared_length(worst, reach) == pytest.approx(1.0, abs=1e-12)
    assert squared_length(worst, 1.001 * reach) > 1.0
    for d in [worst, *other]:
        assert squared_length(d, 0.999 * reach) < 1.0


def squared_length(d, step):
    """Of e + step·d: the unit vector's own entry is 1 − step."""
    return (1 - step) ** 2 + step**2 * (d @ d)


def test_moving_inside_ends_all_violations_and_moves_little():
    rng = np.random.default_rng(0)
    for seed in range(20):
        C = topics(5, 40, seed, 0.4)
        cone = Cone(C)
        x = cone.solver.maximize(rng.standard_normal(5)).x
        wrong = x + 1e-9 * rng.standard_normal(5)
        moved = cone.move_inside(wrong)
        assert (C @ moved).min() >= 0
        assert abs(moved - x).max() < 1e-5
    assert_allclose(cone.move_inside(np.full(5, 0.2)), 0.2)


def test_lengths_of_one_are_decided_by_fractions():
    C = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
    x = np.array([0.5, 0.5, 0.5, -0.5])
    assert is_exact_witness(C, x + 1e-12)
    assert not is_exact_witness(np.vstack([C, [[1.0, 1, 1, 3.000001]]]), x)  # cuts x off by a hair
    assert not is_exact_witness(C[:2], x)  # does not determine a point
    inner = np.vstack([[1.0, 0, 0, 1 - 2.0**-30], [0, 1.0, 0, 1 - 2.0**-30], [0, 0, 1.0, 1 - 2.0**-30], C[3:4]])
    near = np.linalg.solve(np.vstack([inner[:3], np.ones(4)]), [0, 0, 0, 1.0])
    assert abs(near @ near - 1) < 1e-8
    exact = near @ near >= 1
    assert is_exact_witness(inner[:3], near) == exact


def test_no_answer_after_the_deadline():
    cone = Cone(topics(6, 60, 0, 0.5))
    assert enumerate_vertices(cone, monotonic() - 1) == (None, None)
    assert not is_proved_at_vertices(cone, np.zeros(6), monotonic() - 1)


def test_hulls_are_computed_beside_the_main_thread_which_has_to_handle_signals(monkeypatch):
    threads = []

    def build(points):
        threads.append(threading.current_thread())
        return ConvexHull(points)

    monkeypatch.setattr(scattering, "ConvexHull", build)
    enumerate_vertices(Cone(topics(4, 60, 0, 0.5)), monotonic() + 100)
    assert threads
    assert threading.main_thread() not in threads


#: Qhull ended the process (exit code 7) when words were added to the hull of these topics.
ROUNDED_TOPICS = """
import time
import numpy as np
from anchorless._diagnostics.identifiability.cone import Cone
from anchorless._diagnostics.identifiability.scattering import enumerate_vertices
rng = np.random.default_rng(11)
C = np.round(rng.exponential(size=(600, 10)) * (rng.random((600, 10)) >= 0.6), 1)
C = C[np.count_nonzero(C, axis=1) > 1]
enumerate_vertices(Cone(C / C.sum(axis=0)), time.monotonic() + 60)
print("done")
"""


def test_rounding_errors_in_the_hull_do_not_end_the_process():
    ran = subprocess.run([sys.executable, "-c", ROUNDED_TOPICS], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout.strip()) == (0, "done"), ran.stderr


@pytest.mark.parametrize("n_topics", [3, 4, 5])
def test_the_margin_is_that_of_the_expanded_condition(n_topics):
    """Every nonnegative x with 1·x ≥ p|x| is a combination of words with weights ≥ 0, for p² = F − 1/(1 − margin)²."""
    n_checked = 0
    for seed in range(6):
        C = topics(n_topics, 80, seed, 0.5)
        found = judged(C)
        if found.verdict == "proved":
            assert 0 < found.margin <= 1
            p = np.sqrt(max(1.0, n_topics - 1 / (1 - found.margin) ** 2)) if found.margin < 1 else 1.0
            assert p < np.sqrt(n_topics - 1)
            X = np.random.default_rng(seed).dirichlet(np.full(n_topics, 2.0), 500)
            X = X[X.sum(axis=1) >= p * np.linalg.norm(X, axis=1)]
            assert max(nnls(C.T / C.sum(axis=1), x)[1] for x in X[:60]) < 1e-9
            n_checked += 1
    assert n_checked


def test_the_margin_has_the_sign_of_the_verdict():
    C = np.vstack([np.eye(3), np.ones((2, 3))])
    assert judged(C / C.sum(axis=0)).margin == 1.0
    refuted = judged(topics(4, 60, 0, 0.0))
    assert refuted.margin == 1.0 - refuted.norm < 0


@pytest.mark.parametrize("leak", [0.2, 0.4, 0.48])
def test_the_margin_is_no_larger_than_that_of_all_vertices(leak):
    """Six words, (1, a, 0) in all orders: the longest vertices are those of two words with the same largest topic."""
    C = np.array([[1, leak, 0], [1, 0, leak], [leak, 1, 0], [0, 1, leak], [leak, 0, 1], [0, leak, 1]])
    found = judged(C / C.sum(axis=0))
    longest = np.linalg.norm([leak, -1, -1]) / (2 - leak)
    assert found.verdict == "proved"
    assert 0 < found.margin <= 1 - longest + 1e-9


# ---- many topics ----


def many_topics(n_topics: int, n_words: int = 4000):
    rng = np.random.default_rng(0)
    C = rng.gamma(0.05, size=(n_words, n_topics)) + 1e-6
    return C / C.sum(axis=0)


def describe(found, n_words: int = 4000):
    labels, words = ([str(i) for i in range(n)] for n in (found.n_topics, n_words))
    return dict(describe_identifiability(found, labels, words))


def test_of_more_topics_than_can_be_searched_others_are_subtracted_and_it_is_said():
    C = many_topics(MAX_SEARCHED_TOPICS + 1)
    C = np.where(C > 1e-5, C, 0.0)  # no topic has all words of another
    found = assess_identifiability((C / C.sum(axis=0)).T, time_limit=30.0)
    assert (found.scattering.verdict, found.scattering.n_starts) == (NOT_REFUTED, 101)
    assert np.isnan(found.scattering.stretch).all()
    assert (found.uniqueness.verdict, found.uniqueness.n_starts) == ("none found", 101)
    sentences = describe(found)
    assert (
        "neither proved nor refuted (by subtracting others from 101 topics)"
        in sentences["Sufficiently scattered words"]
    )
    assert "from 101 of 101 topics" in sentences["Are these the only topics?"]
    assert "not a proof" in sentences["Are these the only topics?"]


def test_many_topics_of_which_one_contains_another_are_not_the_only_ones():
    C = many_topics(MAX_SEARCHED_TOPICS + 1)
    C = np.where(C > 1e-5, C, 0.0)
    C /= C.sum(axis=0)
    mixed = C.copy()
    mixed[:, 7] = 0.6 * C[:, 7] + 0.4 * C[:, 30]
    found = assess_identifiability(mixed.T, time_limit=30.0)
    assert found.scattering.verdict == scattering.REFUTED
    assert found.uniqueness.verdict == "another solution"
    np.testing.assert_allclose(found.uniqueness.second.components.T, C, atol=1e-9)
    assert found.uniqueness.second.trades[0].topic == 7
    assert "No: other topics give exactly the same word co-occurrences" in describe(found)["Are these the only topics?"]


def test_a_small_change_of_many_topics_is_not_called_the_largest_possible():
    """Subtracting topics finds a part of what could change: all words of all topics have a probability here."""
    found = assess_identifiability(many_topics(MAX_SEARCHED_TOPICS + 1).T, time_limit=30.0)
    assert found.scattering.verdict == scattering.REFUTED
    assert found.uniqueness.second is None or found.uniqueness.second.trades[0].change < 0.01
    assert "Unknown" in describe(found)["Are these the only topics?"]


@pytest.mark.parametrize("seed", range(5))
def test_subtracting_topics_stays_in_the_polytope_and_finds_no_more_than_linear_programs(seed):
    rng = np.random.default_rng(seed)
    C = rng.gamma(0.3, size=(60, 5)) * (rng.random((60, 5)) < 0.6)
    C[:, 0] += 0.5 * C[:, 1] + 0.2 * C[:, 2]
    cone = Cone(C / C.sum(axis=0))
    points, largest = subtract_topics(cone, np.inf), [cone.solver.maximize(e).value for e in np.eye(5)]
    np.testing.assert_allclose(points.sum(axis=1), 1.0)
    assert (cone.C @ points.T).min() >= -1e-12
    own = np.diag(points)
    assert (own >= 1.0).all()
    assert (own <= np.maximum(largest, 1.0) + 1e-9).all()
    assert own[0] > 1.2


def test_no_topic_is_subtracted_after_the_time_limit():
    assert subtract_topics(Cone(many_topics(5)), monotonic() - 1).shape == (0, 5)


def test_anchor_words_prove_uniqueness_of_any_number_of_topics():
    C = np.vstack([many_topics(150, 300), np.eye(150)])
    assert assess_identifiability((C / C.sum(axis=0)).T, time_limit=30.0).uniqueness.verdict == "unique"


def test_no_program_is_solved_after_the_time_limit():
    found = check_scattering(Cone(many_topics(80)), 5, np.random.default_rng(0), monotonic() - 1)
    assert (found.verdict, found.reason) == (NOT_REFUTED, "not refuted in 0 starts")
    assert np.isnan([*found.stretch, *found.lowest]).all()


def test_close_pairs_are_those_of_all_pairs():
    rng = np.random.default_rng(1)
    for n_documents in (3.0, 30.0, 300.0):
        C, shares = many_topics(12, 60), rng.dirichlet(np.ones(12))
        C[:, 7] = 0.9 * C[:, 2] + 0.1 * C[:, 7]
        correlation = np.eye(12)
        correlation[3, 4] = correlation[4, 3] = 0.99
        documents = n_documents * (1.0 + rng.random(60))
        noise, expected = SamplingNoise(C, shares, documents), set()
        for f, g in combinations(range(12), 2):
            overlap, null = np.minimum(C[:, f], C[:, g]).sum(), noise.compute_distance(f, g)
            near = overlap >= min(LARGE_OVERLAP, find_least_overlap(1.0 - null.mean, null.deviation))
            if near or correlation[f, g] >= LARGE_CORRELATION:
                expected.add((f, g))
        found = find_close_pairs(C, shares, correlation, documents)
        assert {(pair.first, pair.second) for pair in found} == expected
        assert {(2, 7), (3, 4)} <= expected
        assert len(expected) < 66


def draw_samples(n_topics: int, documents_per_topic: float, rng: np.random.Generator):
    """Topics as counted in documents of one topic each; topic 1 is a second sample of topic 0."""
    n_words = 4000
    planted = rng.gamma(0.05, size=(n_topics, n_words)) / (np.arange(n_words) + 2.7)
    planted[1] = planted[0]
    planted /= planted.sum(axis=1, keepdims=True)
    sizes = np.maximum(rng.poisson(documents_per_topic * np.exp(0.5 * rng.standard_normal(n_topics))), 2)
    counts = np.array([rng.multinomial(30 * n, p) for n, p in zip(sizes, planted, strict=True)])
    used = counts.any(axis=0)
    counts = counts[:, used]
    return (counts / counts.sum(axis=1, keepdims=True)).T, sizes / sizes.sum(), counts.sum(axis=0).astype(float)


@pytest.mark.parametrize("documents_per_topic", [30, 400])
@pytest.mark.parametrize("n_topics", [20, 200])
def test_of_planted_topics_only_two_samples_of_one_topic_are_close(n_topics, documents_per_topic):
    C, shares, seen = draw_samples(n_topics, documents_per_topic, np.random.default_rng(n_topics))
    found = find_close_pairs(C, shares, np.eye(n_topics), seen)
    assert [(pair.first, pair.second) for pair in found] == [(0, 1)]
    assert_allclose(1.0 - found[0].overlap, found[0].by_chance, rtol=0.25)


@pytest.mark.parametrize("n_topics", [20, 200])
def test_planted_topics_that_share_half_of_their_tokens_are_not_close(n_topics):
    C, shares, seen = draw_samples(n_topics, 400, np.random.default_rng(n_topics))
    C[:, 1] = 0.5 * C[:, 1] + 0.5 * C[:, 2]
    assert find_close_pairs(C, shares, np.eye(n_topics), seen) == []


def test_mean_difference_is_that_of_poisson_numbers():
    rng = np.random.default_rng(0)
    for n in (0.01, 0.3, 3.0, 100.0):
        drawn = 0.5 * abs(np.diff(rng.poisson(n, (2, 200_000)), axis=0)).mean()
        (expected,) = compute_mean_difference(np.array([0.5 * n]), np.array([0.5]))
        assert_allclose(expected, drawn, rtol=0.05)


def test_distance_by_chance_is_that_of_samples():
    rng = np.random.default_rng(0)
    p = 0.5 + rng.gamma(0.2, size=3000)
    p /= p.sum()
    for n in (3000, 20_000):
        samples = rng.multinomial(n, p, size=(2, 100)) / n
        distances = 0.5 * abs(samples[0] - samples[1]).sum(axis=1)
        null = SamplingNoise(np.stack([p, p], axis=1), np.array([0.5, 0.5]), 2.0 * n * p).compute_distance(0, 1)
        assert_allclose(null.mean, distances.mean(), rtol=0.02)
        assert_allclose(null.deviation, distances.std(), rtol=0.25)
