"""Verdicts on planted topics, each witness checked by arithmetic of the test's own."""

import json
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from anchorless import AnchorFree, TopicModel, datasets
from anchorless._diagnostics.identifiability.identifiability import Evidence, assess_identifiability
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts

SEEDS = range(5)


def scaled(C):
    return C / C.sum(axis=0)


def dense(n_topics, seed, n_words=120):
    return scaled(np.random.default_rng(seed).exponential(size=(n_words, n_topics)))


def sparse(n_topics, seed, n_words=300):
    """Half of the entries are zero, and no word belongs to one topic alone."""
    C = datasets.planted_topics(n_topics, n_words, random_state=seed).components.T
    return scaled(C[np.count_nonzero(C, axis=1) > 1])


def separable(n_topics, seed):
    C = dense(n_topics, seed)
    anchors = np.random.default_rng(seed).permutation(len(C))[:n_topics]
    C[anchors] = np.diag(np.random.default_rng(seed).uniform(1e-5, 1e-2, n_topics))
    return scaled(C), anchors


def moments(n_topics, seed):
    R = np.random.default_rng(seed).standard_normal((n_topics, n_topics))
    return R.T @ R / n_topics


def pairs_of_topics(n_topics):
    """A word for every two topics: for four of them the condition holds but for its part (ii)."""
    return scaled(np.array([[float(f in pair) for f in range(n_topics)] for pair in combinations(range(n_topics), 2)]))


def check_witness(C, found):
    x = np.array(found.witness)
    assert_allclose(x.sum(), 1.0, rtol=0, atol=1e-12)
    assert (C @ x).min() >= -1e-15
    assert_allclose(np.linalg.norm(x), found.norm, rtol=1e-12)
    assert found.norm > 1.0


def check_second_solution(C, E, second):
    other = second.components.T
    assert other.min() >= 0
    assert_allclose(other.sum(axis=0), 1.0, rtol=0, atol=1e-12)
    P = C @ E @ C.T
    assert_allclose(other @ second.moments @ other.T, P, rtol=0, atol=1e-10 * abs(P).max())
    assert abs(np.linalg.det(second.moments)) <= abs(np.linalg.det(E)) * (1 + 1e-9)
    apart = abs(other[:, :, None] - C[:, None, :]).sum(axis=0)  # of each new topic from each old one
    assert apart.min(axis=1).max() > 1e-7
    assert_allclose(C @ second.mixing, other, atol=1e-14)


# The condition, against what theory says ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_topics", [2, 5, 30])
def test_separable_topics_are_proved_and_unique(n_topics, seed):
    C, anchors = separable(n_topics, seed)
    found = assess_identifiability(C.T, moments(n_topics, seed))
    assert found.scattering.verdict == "proved"
    assert found.scattering.witness is None
    assert found.uniqueness == ("unique", None, 0)
    assert [topic.candidates[0].word for topic in found.anchors] == anchors.tolist()
    assert all(topic.separable and topic.candidates[0].share == 1.0 for topic in found.anchors)
    assert all(topic.candidates[1].distance > 0 for topic in found.anchors)


@pytest.mark.parametrize("n_topics", [3, 4, 5, 6])
def test_the_papers_design_is_proved_with_and_without_its_anchor_words(n_topics):
    for seed in SEEDS:
        whole = datasets.planted_topics(n_topics, random_state=seed).components
        assert assess_identifiability(whole).scattering.reason == "every topic has an anchor word"
        found = assess_identifiability(sparse(n_topics, seed, 1000).T)
        assert found.scattering.verdict == "proved"
        assert "anchor" not in found.scattering.reason
        assert_allclose(found.scattering.stretch, 1.0, rtol=0, atol=1e-9)
        assert min(found.scattering.lowest) < 0
        assert not any(topic.separable for topic in found.anchors)


@pytest.mark.parametrize("n_topics", [2, 3, 6, 15])
def test_dense_topics_are_refuted_and_another_solution_is_found(n_topics):
    for seed in SEEDS:
        C, E = dense(n_topics, seed), moments(n_topics, seed)
        found = assess_identifiability(C.T, E, n_starts=3)
        assert found.scattering.verdict == "refuted"
        check_witness(C, found.scattering)
        assert found.uniqueness.verdict == "another solution"
        check_second_solution(C, E, found.uniqueness.second)
        assert found.uniqueness.second.log_volume > 0
        changes = [trade.change for trade in found.uniqueness.second.trades]
        assert changes == sorted(changes, reverse=True)
        assert changes[0] > 1e-4


def test_the_largest_volume_is_that_of_the_second_solution():
    """The second solution of dense topics is what AnchorFree finds in their co-occurrences."""
    for seed in SEEDS:
        C, E = dense(4, seed), moments(4, seed)
        second = assess_identifiability(C.T, E).uniqueness.second
        fitted = AnchorFree(4, constraint="all").fit_cooccurrence(C @ E @ C.T)
        gain = fitted.log_volume_ - 0.5 * np.linalg.slogdet(C.T @ C)[1]
        assert_allclose(second.log_volume, gain, rtol=1e-5)


def by_angles(C):
    """Decide the condition for three topics: the polygon of all pairs of tight words, by brute force."""
    longest = 0.0
    for a, b in combinations(range(len(C)), 2):
        x = np.cross(C[a], C[b])
        if abs(x.sum()) < 1e-14:
            continue
        x = x / x.sum()
        if (C @ x).min() >= -1e-12 and abs(x - np.eye(3)[x.argmax()]).max() > 1e-9:
            longest = max(longest, np.linalg.norm(x))
    return "refuted" if longest > 1 else "proved"


def test_three_topics_against_brute_force():
    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        C = rng.exponential(size=(14, 3)) * (rng.random((14, 3)) < 0.7)
        C = scaled(C[np.count_nonzero(C, axis=1) > 1])
        found = assess_identifiability(C.T, n_starts=2).scattering
        assert found.verdict == by_angles(C), seed
        if found.verdict == "refuted":
            check_witness(C, found)
        verdicts.append(found.verdict)
    assert 5 < verdicts.count("proved") < 35


def test_three_topics_against_a_fine_grid():
    """On the plane of sum one the boundary is a circle: no point of the polygon may lie outside."""
    angle = np.linspace(0, 2 * np.pi, 20_001)
    plane = np.linalg.svd(np.ones((1, 3)))[2][1:]
    circle = 1 / 3 + np.sqrt(2 / 3) * 1.0001 * (np.outer(np.cos(angle), plane[0]) + np.outer(np.sin(angle), plane[1]))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        C = scaled(rng.exponential(size=(12, 3)) * (rng.random((12, 3)) < 0.7) + 1e-300)
        outside = bool(((C @ circle.T) >= 0).all(axis=0).any())
        found = assess_identifiability(C.T, n_starts=2).scattering
        if outside:
            assert found.verdict == "refuted"


def test_two_topics_need_anchor_words():
    for seed in SEEDS:
        C = dense(2, seed)
        C[0, 1] = 0.0
        assert assess_identifiability(scaled(C).T).scattering.verdict == "refuted"
        C[1, 0] = 0.0
        assert assess_identifiability(scaled(C).T).scattering.verdict == "proved"


def test_part_two_of_the_condition_is_decided_exactly():
    """Four topics, a word for every two: (1, 1, 1, −1)/2 has length one, is no topic, and gives another solution."""
    C, E = pairs_of_topics(4), moments(4, 0)
    found = assess_identifiability(C.T, E)
    assert found.scattering.verdict == "refuted"
    assert "part (ii)" in found.scattering.reason
    assert_allclose(np.sort(found.scattering.witness), [-0.5, 0.5, 0.5, 0.5], atol=1e-12)
    check_second_solution(C, E, found.uniqueness.second)
    assert_allclose(abs(np.linalg.det(found.uniqueness.second.mixing)), 1.0, rtol=1e-12)
    assert assess_identifiability(pairs_of_topics(3).T).scattering.norm > 1.5  # there (1, 1, −1)


def test_a_vertex_that_only_the_enumeration_finds():
    """The search from no random starts may miss a vertex; the enumeration does not, and both verdicts agree."""
    verdicts = set()
    for seed in range(12):
        C = sparse(5, seed, 27)
        few, many = (assess_identifiability(C.T, n_starts=n, random_state=seed).scattering for n in (1, 40))
        assert few.verdict == many.verdict
        assert few.verdict in ("proved", "refuted")
        verdicts.add(few.verdict)
        if few.verdict == "refuted":
            check_witness(C, few)
    assert verdicts == {"proved", "refuted"}


def test_refuted_does_not_mean_that_another_solution_was_found():
    verdicts = [assess_identifiability(sparse(5, seed, 16).T, moments(5, seed), n_starts=5) for seed in range(12)]
    refuted = [found for found in verdicts if found.scattering.verdict == "refuted"]
    assert {found.uniqueness.verdict for found in refuted} <= {"another solution", "none found"}
    for found in verdicts:
        if found.scattering.verdict == "proved":
            assert found.uniqueness.verdict == "unique"


def test_large_numbers_of_topics_are_never_called_proved_without_a_proof():
    found = assess_identifiability(sparse(20, 0, 1000).T, n_starts=2)
    assert found.scattering.verdict in ("proved", "not refuted")
    if found.scattering.verdict == "not refuted":
        assert found.scattering.reason == f"not refuted in {found.scattering.n_starts} starts"
        assert found.uniqueness.verdict == "none found"


# Invariance -----------------------------------------------------------------------------------------------------


def test_topics_may_have_any_sum_and_words_may_come_in_parts():
    """Topics are scaled to sum one first; a word split in two parts in fixed proportion changes no cone and no sum."""
    for seed in SEEDS:
        C = sparse(5, seed, 16)
        whole = assess_identifiability(C.T).scattering
        rng = np.random.default_rng(seed)
        assert assess_identifiability((C * rng.uniform(0.1, 10, 5)).T).scattering.verdict == whole.verdict
        part = rng.uniform(0.1, 0.9, (len(C), 1))
        split = assess_identifiability(np.vstack([part * C, (1 - part) * C]).T).scattering
        assert split.verdict == whole.verdict
        assert_allclose(split.stretch, whole.stretch, atol=1e-9)


def test_weighting_words_can_change_the_verdict():
    """Scaling rows leaves the cone, but the topics must sum to one again, and scaling columns moves the cone."""
    changed = 0
    for seed in range(12):
        C = sparse(3, seed, 14)
        weights = 10 ** np.random.default_rng(seed).uniform(-1, 1, (len(C), 1))
        one, other = assess_identifiability(C.T).scattering, assess_identifiability((weights * C).T).scattering
        changed += one.verdict != other.verdict
        total = (weights * C).sum(axis=0)
        for found, B in ((one, C), (other, weights * C / total)):
            if found.verdict == "refuted":
                check_witness(B, found)
    assert 0 < changed < 12


def test_words_and_topics_in_another_order_give_the_same_verdict():
    for seed in SEEDS:
        for C in (sparse(5, seed, 16), dense(5, seed)):
            rng = np.random.default_rng(seed)
            words, topics = rng.permutation(len(C)), rng.permutation(5)
            one, other = assess_identifiability(C.T), assess_identifiability(C[words][:, topics].T)
            assert one.scattering.verdict == other.scattering.verdict
            assert_allclose(np.array(one.scattering.stretch)[topics], other.scattering.stretch, atol=1e-9)
            assert_allclose(np.array(one.scattering.lowest)[topics], other.scattering.lowest, atol=1e-8)


def test_the_same_call_gives_the_same_result():
    C, E = dense(6, 0), moments(6, 0)
    one, other = assess_identifiability(C.T, E).as_dict(), assess_identifiability(C.T, E).as_dict()
    assert json.dumps(one) == json.dumps(other)
    third = assess_identifiability(C.T, E, random_state=1)
    assert third.scattering.verdict == "refuted"


# Noise ----------------------------------------------------------------------------------------------------------


def test_only_words_in_enough_documents_are_anchor_candidates():
    C, anchors = separable(4, 0)
    documents = np.full(len(C), 200.0)
    documents[anchors[0]] = 3
    found = assess_identifiability(C.T, evidence=Evidence(documents))
    assert found.anchors[0].candidates[0].word != anchors[0]
    assert found.anchors[0].candidates[0].documents == 200
    assert [topic.candidates[0].word for topic in found.anchors[1:]] == anchors[1:].tolist()
    assert found.scattering.verdict == "proved"
    assert found.known.verdict == "refuted"
    assert found.n_known_words == len(C) - 1


def test_a_verdict_is_more_robust_with_more_documents():
    levels = []
    for documents in (40, 40_000):
        C, _ = separable(3, 0)
        C[:3] *= 0.5
        evidence = Evidence(np.full(len(C), float(documents)))
        levels.append(assess_identifiability(scaled(C).T, evidence=evidence).survival)
    assert all(level.verdict == "proved" and level.unit == "standard errors" for level in levels)
    assert levels[0].level <= levels[1].level


def test_a_narrow_refutation_has_a_negligible_second_solution():
    C = scaled(np.vstack([np.eye(3), dense(3, 0)]) + 1e-7)
    found = assess_identifiability(C.T)
    assert found.scattering.verdict == "refuted"
    assert found.survival.level is not None
    assert found.uniqueness.second.trades[0].change < 1e-4


def test_topics_that_are_nearly_the_same_are_named():
    for seed in SEEDS:
        C = dense(4, seed)
        C[:, 2] = 0.97 * C[:, 0] + 0.03 * C[:, 2]
        found = assess_identifiability(C.T, np.eye(4))
        assert [(pair.first, pair.second) for pair in found.close_pairs if pair.overlap > 0.9] == [(0, 2)]
        assert {f for f, _ in found.weakest.topics[:2]} == {0, 2}
    C, _ = separable(3, 0)
    E = np.array([[0.125, 0.125, 0.0], [0.125, 0.126, 0.0], [0.0, 0.0, 0.5]])  # half and half, or the third alone
    together = [pair for pair in assess_identifiability(C.T, E).close_pairs if "same documents" in pair.reason]
    assert [(pair.first, pair.second) for pair in together] == [(0, 1)]


def test_topics_with_few_documents_behind_them_are_not_told_apart():
    C, _ = separable(2, 0)
    C[:, 1] = 0.5 * C[:, 0] + 0.5 * C[:, 1]
    assert assess_identifiability(C.T, evidence=Evidence(np.full(len(C), 1e6))).close_pairs == []
    (unsure,) = assess_identifiability(C.T, evidence=Evidence(np.ones(len(C)))).close_pairs
    assert "samples of one topic" in unsure.reason
    assert unsure.overlap >= 0.8 * (1 - unsure.by_chance)


# Special cases ----------------------------------------------------------------------------------------------------


def test_one_topic():
    found = assess_identifiability([[0.2, 0.8]], [[1.0]])
    assert found.scattering.reason == "there is only one topic"
    assert found.uniqueness.verdict == "unique"


@pytest.mark.parametrize("seed", SEEDS)
def test_dependent_topics_are_refuted(seed):
    C = dense(4, seed)
    C[:, 3] = (C[:, 0] + C[:, 1]) / 2
    E = moments(4, seed)
    found = assess_identifiability(C.T, E)
    assert "linearly dependent" in found.scattering.reason
    x = np.array(found.scattering.witness)
    assert (C @ x).min() >= -1e-12
    assert np.linalg.norm(x) > 1
    assert found.weakest.size < 1e-9
    second = found.uniqueness.second
    P = C @ E @ C.T
    assert_allclose(second.components.T @ second.moments @ second.components, P, atol=1e-10 * abs(P).max())
    assert abs(np.linalg.det(second.moments)) <= abs(np.linalg.det(E))


def test_more_topics_than_words():
    found = assess_identifiability(np.random.default_rng(0).random((5, 3)) + 0.1, np.eye(5))
    assert found.scattering.verdict == "refuted"


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ([[0.5, np.nan]], r"components\[0, 1\] is nan"),
        ([[0.5, -0.5]], r"components\[0, 1\] is -0.5"),
        ([[0.5, 0.5], [0.0, 0.0]], "probabilities of topic 1 sum to 0"),
        ([0.5, 0.5], "shape"),
        (np.empty((0, 3)), "shape"),
        ("topics", "array of numbers"),
    ],
)
def test_bad_components(components, message):
    with pytest.raises(InputError, match=message):
        assess_identifiability(components)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"moments": np.eye(2)}, "moments has shape"),
        ({"moments": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "symmetric"),
        ({"moments": np.full((3, 3), np.nan)}, "finite"),
        ({"evidence": Evidence(np.ones(3))}, "document_frequency"),
        ({"n_starts": 0}, "n_starts=0"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        assess_identifiability(dense(3, 0).T, **arguments)


def test_a_short_time_limit_is_kept_and_said():
    found = assess_identifiability(sparse(9, 0, 200).T, time_limit=1e-6)
    assert found.time_is_up
    assert found.scattering.verdict == "not refuted"
    assert found.uniqueness.verdict == "none found"


# Fitted models --------------------------------------------------------------------------------------------------


def test_a_fit_of_exact_cooccurrences_is_proved():
    for seed in range(3):
        truth = datasets.planted_topics(5, 300, random_state=seed)
        found = AnchorFree(5).fit_cooccurrence(truth.cooccurrence).identifiability()
        assert found.scattering.verdict == "proved"
        assert found.eigengap > 0.9
        assert max(found.clipped_mass) < 1e-6


def test_models_answer_alike_and_a_loaded_one_too(tmp_path):
    texts, _ = planted_texts()
    model = TopicModel(4).fit(texts)
    found = model.identifiability(n_starts=3)
    model.save(tmp_path / "model")
    again = TopicModel.load(tmp_path / "model").identifiability(n_starts=3)
    assert found.as_dict() == again.as_dict()
    assert found.eigengap == model.diagnostics_.eigengap > 0
    assert found.n_topics == 4
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_fit_on_documents_knows_in_how_many_each_word_is():
    corpus = datasets.sampled_corpus(500, 4, 100)
    model = AnchorFree(4).fit(corpus.counts)
    assert_array_equal(model.document_frequency_, np.asarray((corpus.counts > 0).sum(axis=0)).ravel())
    assert model.identifiability().anchors[0].candidates[0].documents >= 1


def test_the_search_ends_for_nearly_dependent_topics():
    """Two topics differ by a millionth or less: vertices are far out, and rounding errors exceed tolerances."""
    for seed in SEEDS:
        for size in (1e-3, 1e-6, 1e-8, 1e-10):
            rng = np.random.default_rng(seed)
            C = rng.exponential(size=(8, 5)) * (rng.random((8, 5)) < 0.7) + 1e-3
            C[:, 0] = C[:, 1] + size * rng.random(8)
            found = assess_identifiability(scaled(C).T, n_starts=2, time_limit=20)
            assert found.scattering.verdict == "refuted"
            x = np.array(found.scattering.witness)
            assert (scaled(C) @ x).min() >= -1e-9
