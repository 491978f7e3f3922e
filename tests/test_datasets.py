import importlib
import json
import os
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless import datasets
from anchorless.datasets import LabeledTexts, draw_counts, load_docstrings, planted_topics, sampled_corpus
from anchorless.errors import InputError
from tests.helpers.tolerances import ROUNDING

#: Standard deviations: none of a few thousand sampled numbers should be this far off.
SIGMAS = 5.0


def assert_distributions(rows):
    assert rows.min() >= 0
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=ROUNDING)


@pytest.mark.parametrize("moments", ["gaussian", "nonnegative"])
@pytest.mark.parametrize(("n_topics", "n_words"), [(1, 20), (3, 50), (20, 1000)])
def test_planted_topics_are_distributions(n_topics, n_words, moments):
    C = planted_topics(n_topics, n_words, moments=moments).components
    assert C.shape == (n_topics, n_words)
    assert_distributions(C)


def test_planted_topics_over_few_words_are_distributions():
    for seed in range(20):
        assert_distributions(planted_topics(3, 4, random_state=seed).components)


def test_about_half_of_the_entries_are_zero():
    C = planted_topics(20, 1000).components
    assert abs(np.mean(C == 0) - 0.5) <= SIGMAS * 0.5 / np.sqrt(C.size)


def test_the_other_entries_are_exponential():
    """Their squared mean is half of their mean square, and their median is ln 2 of their mean."""
    C = planted_topics(5, 20_000).components
    for c in C:
        positive = c[c > 0]
        np.testing.assert_allclose(np.mean(positive**2) / np.mean(positive) ** 2, 2.0, rtol=0.1)
        np.testing.assert_allclose(np.median(positive) / np.mean(positive), np.log(2), rtol=0.05)


@pytest.mark.parametrize("moments", ["gaussian", "nonnegative"])
def test_moments_are_symmetric_and_positive_definite(moments):
    for seed in range(10):
        E = planted_topics(6, 50, moments=moments, random_state=seed).moments
        assert E.shape == (6, 6)
        np.testing.assert_array_equal(E, E.T)
        assert np.linalg.eigvalsh(E)[0] > 0


def test_gaussian_moments_have_both_signs_and_the_identity_for_a_mean():
    drawn = np.array([planted_topics(4, 20, random_state=seed).moments for seed in range(500)])
    assert drawn.min() < 0 < drawn.max()
    # An entry of RᵀR/F is a mean of four products: variance 1/4, on the diagonal 2/4.
    assert np.all(abs(drawn.mean(axis=0) - np.eye(4)) <= SIGMAS * np.sqrt((1 + np.eye(4)) / 4 / 500))


def test_nonnegative_moments_are_second_moments_of_proportions():
    for seed in range(10):
        E = planted_topics(6, 50, moments="nonnegative", random_state=seed).moments
        assert E.min() >= 0
        np.testing.assert_allclose(E.sum(), 1.0, rtol=ROUNDING)  # of wwᵀ, for weights that sum to one


def test_dirichlet_moments_are_those_of_samples():
    alpha = np.array([0.05, 0.3, 0.5, 2.0])
    W = np.random.default_rng(0).dirichlet(alpha, 200_000)
    products = W[:, :, None] * W[:, None, :]
    error = SIGMAS * products.std(axis=0) / np.sqrt(len(W))
    assert np.all(abs(products.mean(axis=0) - datasets._compute_dirichlet_moments(alpha)) <= error)


def test_cooccurrence_is_topics_moments_topics():
    planted = planted_topics(3, 8)
    C, E = planted.components, planted.moments
    P = np.zeros((8, 8))
    for f in range(3):
        for g in range(3):
            P += E[f, g] * np.outer(C[f], C[g])
    np.testing.assert_allclose(planted.cooccurrence, P, rtol=ROUNDING, atol=ROUNDING)


def test_one_seed_gives_the_same_topics():
    one, same, other = (planted_topics(5, 40, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.components, same.components)
    np.testing.assert_array_equal(one.moments, same.moments)
    assert not np.array_equal(one.components, other.components)
    assert not np.array_equal(one.moments, other.moments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_topics": 0}, "n_topics=0.*at least 1"),
        ({"n_topics": 2.5}, "n_topics=2.5.*whole number"),
        ({"n_topics": 8, "n_words": 7}, "n_words=7.*at least 8"),
        ({"n_topics": 2, "moments": "beta"}, "moments='beta'.*'gaussian', 'nonnegative'"),
    ],
)
def test_bad_designs_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        planted_topics(**arguments)


@pytest.fixture
def corpus():
    return sampled_corpus(4000, n_topics=4, n_words=60, length=30)


def test_a_sampled_corpus_is_counts_and_distributions(corpus):
    assert sp.issparse(corpus.counts)
    assert corpus.counts.format == "csr"
    assert corpus.counts.shape == (4000, 60)
    assert corpus.counts.has_canonical_format
    assert corpus.counts.data.min() >= 1
    np.testing.assert_array_equal(corpus.counts.data, np.round(corpus.counts.data))
    assert corpus.weights.shape == (4000, 4)
    assert corpus.components.shape == (4, 60)
    assert_distributions(corpus.weights)
    assert_distributions(corpus.components)


def test_words_are_as_frequent_as_weights_and_topics_say(corpus):
    """Where a topic is strong and where it is weak, so that each row of W is seen to belong to its document."""
    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    expected = lengths[:, None] * (corpus.weights @ corpus.components)
    for topic in range(4):
        strong = corpus.weights[:, topic] > np.median(corpus.weights[:, topic])
        for group in (strong, ~strong):
            found = np.asarray(corpus.counts[group].sum(axis=0)).ravel()
            mean = expected[group].sum(axis=0)
            assert np.all(abs(found - mean) <= SIGMAS * np.sqrt(mean) + 1e-9)


def test_lengths_have_the_mean_asked_for(corpus):
    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    assert abs(lengths.mean() - 30) <= SIGMAS * np.sqrt(30 / 4000)
    assert sampled_corpus(200, 2, 10, length=1).counts.sum(axis=1).min() == 2


def test_topic_weights_are_correlated(corpus):
    """Proportions that only compete are correlated alike for all pairs; here the pairs differ."""
    correlation = np.corrcoef(np.log(corpus.weights).T)
    pairs = correlation[np.triu_indices(4, 1)]
    assert pairs.max() - pairs.min() > 0.2


def test_few_words_of_a_sampled_corpus_are_anchors():
    C = sampled_corpus(10).components
    assert np.count_nonzero(np.count_nonzero(C, axis=0) == 1) < 30


def test_one_seed_gives_the_same_corpus():
    one, same, other = (sampled_corpus(50, 3, 20, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.counts.toarray(), same.counts.toarray())
    np.testing.assert_array_equal(one.weights, same.weights)
    np.testing.assert_array_equal(one.components, same.components)
    assert not np.array_equal(one.counts.toarray(), other.counts.toarray())
    assert not np.array_equal(one.weights, other.weights)
    assert not np.array_equal(one.components, other.components)


def test_a_corpus_needs_documents():
    with pytest.raises(InputError, match=r"n_documents=0.*at least 1"):
        sampled_corpus(0)


@pytest.fixture(scope="module")
def docstrings():
    """Return the demo corpus, frozen: it takes half a second to gather."""
    return LabeledTexts(*map(tuple, load_docstrings()))


def test_docstrings_are_many_and_long_enough(docstrings):
    assert len(docstrings.texts) > 1500
    assert len(docstrings.texts) == len(docstrings.names) == len(docstrings.labels)
    assert min(map(len, docstrings.texts)) >= datasets._MIN_DOCSTRING_LENGTH


def test_docstrings_are_sorted_by_name_without_repetition(docstrings):
    assert list(docstrings.names) == sorted(set(docstrings.names))
    assert len(set(docstrings.texts)) == len(docstrings.texts)


def test_docstrings_are_public_and_belong_to_their_name(docstrings):
    assert not any(part.startswith("_") for name in docstrings.names for part in name.split("."))
    text = dict(zip(docstrings.names, docstrings.texts, strict=True))
    assert text["numpy.linalg.svd"].startswith("Singular Value Decomposition")
    assert "Non-Negative Matrix Factorization" in text["sklearn.decomposition.NMF"]


def test_labels_are_the_beginning_of_the_name(docstrings):
    for name, label in zip(docstrings.names, docstrings.labels, strict=True):
        assert name.startswith(label)
    of = dict(zip(docstrings.names, docstrings.labels, strict=True))
    assert of["scipy.stats.ttest_ind"] == "scipy.stats"
    assert {"scipy.stats", "numpy.linalg", "sklearn.decomposition"} <= set(docstrings.labels)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_labels_are_modules(docstrings):
    for label in set(docstrings.labels):
        assert isinstance(importlib.import_module(label), ModuleType)


def test_one_package_can_be_asked_for():
    names = load_docstrings(("scipy",)).names
    assert len(names) > 500
    assert all(name.startswith("scipy.") for name in names)


def test_docstrings_are_the_same_when_asked_again(docstrings):
    assert LabeledTexts(*map(tuple, load_docstrings())) == docstrings


ELSEWHERE = """
import json, sklearn.experimental.enable_halving_search_cv, sklearn.experimental.enable_iterative_imputer
from anchorless.datasets import load_docstrings
print(json.dumps([*map(list, load_docstrings())]))
"""


def test_docstrings_are_the_same_in_every_process(docstrings):
    """Another process has another hash seed, and may have imported what this one has not."""
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    there = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], env=environment, capture_output=True, text=True, check=True
    )
    elsewhere = LabeledTexts(*json.loads(there.stdout))
    here = dict(zip(docstrings.names, docstrings.texts, strict=True))
    other = dict(zip(elsewhere.names, elsewhere.texts, strict=True))
    assert sorted(here.keys() ^ other.keys()) == []
    assert [name for name in here if here[name] != other[name]] == []
    assert LabeledTexts(*map(tuple, elsewhere)) == docstrings


def test_a_document_draws_as_many_tokens_as_it_is_long():
    rng = np.random.default_rng(0)
    lengths = np.array([0, 1, 7, 300])
    counts = draw_counts(rng.dirichlet(np.ones(6), 3), rng.dirichlet(np.ones(3), 4), lengths, rng)
    np.testing.assert_array_equal(np.asarray(counts.sum(axis=1)).ravel(), lengths)
