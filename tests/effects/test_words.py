import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import false_discovery_control

from anchorless import TopicModel
from anchorless._effects.words import adjust_false_discoveries, compute_topic_tokens, describe_group
from anchorless.datasets import draw_counts, planted_topics
from anchorless.errors import InputError
from anchorless.metrics import match_topics

WORDS = [f"w{v:03d}" for v in range(120)]


def fit_content(seed, factor):
    """Fit topics of which the first has some words more in party B, by a factor; return the model and these words."""
    rng = np.random.default_rng(seed)
    C = planted_topics(3, 120, random_state=1).components
    other = C.copy()
    changed = np.argsort(-C[0])[:6:2]
    other[0, changed] *= factor
    other /= other.sum(axis=1, keepdims=True)
    W = rng.dirichlet(np.full(3, 0.4), 800)
    counts = sp.vstack(
        [draw_counts(T, W[half], np.full(400, 40), rng) for T, half in ((C, slice(400)), (other, slice(400, None)))]
    )
    model = TopicModel(3, n_jobs=1).fit_counts(counts, WORDS, metadata={"party": ["A"] * 400 + ["B"] * 400})
    return model, int(np.argsort(match_topics(model.topic_word_, C)[1])[0]), {WORDS[v] for v in changed}


def test_words_that_a_party_prefers_are_found_and_others_are_not():
    model, topic, changed = fit_content(0, 2.5)
    found = model.topic_words_by("party", topic, "B", "A")
    assert list(found) == ["word", "first", "second", "difference", "low", "high", "p", "p_adjusted"]
    assert set(found["word"][:3]) == changed
    assert (found["difference"][:3] > 0).all()
    preferred = found[(found["p_adjusted"] < 0.05) & (found["difference"] > 0)]
    assert len(set(preferred["word"]) - changed) <= 1
    back = model.topic_words_by("party", topic, "A")  # against all others
    np.testing.assert_allclose(back["p"], found["p"])
    np.testing.assert_allclose(back["difference"], -found["difference"])


def test_without_a_difference_no_word_is_found_and_p_values_are_uniform():
    significant, small, n = 0, 0, 0
    for seed in range(1, 5):
        model, topic, _ = fit_content(seed, 1.0)
        found = model.topic_words_by("party", topic, "B", "A")
        significant += (found["p_adjusted"] < 0.05).sum()
        small, n = small + (found["p"] < 0.05).sum(), n + len(found)
    assert significant <= 1
    assert small / n < 0.08


def test_a_word_that_one_document_repeats_is_no_difference():
    Y = sp.csr_matrix(np.ones((40, 3)))
    Y[0, 2] = 30.0
    found = describe_group(Y, None)
    assert found.variance[2] > 3 * found.variance[0] > 0
    clustered = describe_group(sp.vstack([Y, Y], format="csr"), np.tile(np.arange(40), 2))
    np.testing.assert_allclose(clustered.probability, found.probability)
    np.testing.assert_allclose(clustered.variance, found.variance)


def test_tokens_of_all_topics_add_up_to_the_counts():
    model, _, _ = fit_content(0, 1.0)
    parts = [
        compute_topic_tokens(model._counts, model.topic_word_, model.document_topics_, f, 1).toarray() for f in range(3)
    ]
    np.testing.assert_allclose(sum(parts), model._counts.blocks[0].toarray(), atol=1e-9)


def test_false_discoveries_are_those_of_scipy():
    p = np.random.default_rng(0).uniform(size=50) ** 2
    np.testing.assert_allclose(adjust_false_discoveries(p), false_discovery_control(p))
    assert len(adjust_false_discoveries(p[:0])) == 0


def test_unknown_topics_and_values_are_refused():
    model, _, _ = fit_content(0, 1.0)
    with pytest.raises(InputError, match="topic=3, but it must be one of 0, 1, 2"):
        model.topic_words_by("party", 3, "A")
    with pytest.raises(InputError, match="first='C', but the column 'party' has no such value; it has: 'A', 'B'"):
        model.topic_words_by("party", 0, "C")
