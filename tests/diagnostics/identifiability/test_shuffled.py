"""The same tokens in random order have no topics: nothing that is said of them may be good news."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.special import softmax

from anchorless import AnchorFree, TopicModel, datasets
from anchorless._diagnostics.identifiability.shuffled import (
    MAX_DOCUMENTS,
    MAX_KEPT_LENGTHS,
    MAX_TOKENS,
    Margins,
    compare_with_shuffled,
    draw_shuffled_corpus,
    summarize_lengths,
)
from anchorless._topic_model.verdicts import describe_identifiability

GOOD_NEWS = ("unique", "nearly unique")


@cache
def planted(n_topics=4, n_documents=1500, seed=0):
    """Documents of 60 words from topics that share their words: no anchor words, no zeros."""
    rng = np.random.default_rng([seed, n_topics])
    C = rng.permutation(1.0 / np.arange(3, 803)) * (rng.gamma(0.1, size=(n_topics, 800)) + 1e-4)
    W = softmax(2.0 * rng.standard_normal((n_documents, n_topics)), axis=1)
    lengths = np.maximum(rng.poisson(60, n_documents), 2)
    return datasets.draw_counts(C / C.sum(axis=1, keepdims=True), W, lengths, rng)


def shuffle_tokens(counts, seed):
    """Shuffle by a way of the test's own: every token gets a random key, and documents take them in that order."""
    counts = sp.coo_array(counts)
    words = np.repeat(counts.col, counts.data.astype(int))
    words = words[np.argsort(np.random.default_rng(seed).random(len(words)))]
    rows = np.repeat(np.arange(counts.shape[0]), np.asarray(counts.sum(axis=1)).ravel().astype(int))
    return sp.csr_array((np.ones(len(words)), (rows, words)), shape=counts.shape)


def fit(counts, n_topics, **parameters):
    used = np.asarray((counts > 0).sum(axis=0)).ravel() > 1
    names = [f"w{v}" for v in np.flatnonzero(used)]
    return TopicModel(n_topics, **parameters).fit_counts(sp.csr_array(counts)[:, used], names)


def stack(documents):
    return sp.csr_array(sp.vstack([*documents.map_blocks(lambda block: block, 1)]))


def margins_of(counts, **changes):
    words, lengths = (np.asarray(counts.sum(axis=axis), dtype=float).ravel() for axis in (0, 1))
    return Margins(words, summarize_lengths(lengths), counts.shape[0], "tfidf-ncw", False)._replace(**changes)


def compare(model, margins=None, seed=0):
    rng = np.random.default_rng(seed)
    return compare_with_shuffled(model.eigenvalues_, margins or model._get_margins(), rng, np.inf, with_topics=False)


# The shuffled corpus ----------------------------------------------------------------------------------------------


def test_words_and_document_lengths_are_those_of_the_corpus():
    counts = planted()
    drawn, again = (stack(draw_shuffled_corpus(margins_of(counts), np.random.default_rng(0))) for _ in range(2))
    assert_array_equal(drawn.sum(axis=0), np.asarray(counts.sum(axis=0)).ravel())
    assert_array_equal(drawn.sum(axis=1), np.sort(np.asarray(counts.sum(axis=1)).ravel()))
    assert_array_equal(drawn.toarray(), again.toarray())


def test_the_work_is_bounded_for_any_corpus():
    long, many = np.full(1000, 100_000.0), np.full(1000, 2.0)
    for lengths, n_documents in ((long, 1000), (many, 10**9)):
        margins = Margins(np.full(50, 1e9), lengths, n_documents, "tfidf-ncw", False)
        drawn = draw_shuffled_corpus(margins, np.random.default_rng(0))
        assert drawn.shape[0] <= MAX_DOCUMENTS
        assert stack(drawn).sum() <= MAX_TOKENS


def test_kept_lengths_are_quantiles():
    lengths = np.random.default_rng(0).poisson(60, 10 * MAX_KEPT_LENGTHS)
    kept = summarize_lengths(np.append(lengths, np.zeros(5)))
    assert len(kept) == MAX_KEPT_LENGTHS
    assert abs(np.quantile(kept, [0.1, 0.5, 0.9]) - np.quantile(lengths, [0.1, 0.5, 0.9])).max() <= 1
    assert abs(kept.mean() - lengths.mean()) < 0.1
    assert_array_equal(summarize_lengths(np.array([3, 0, 1])), [1, 3])


# What stands out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighting", ["tfidf-ncw", "tfidf", "counts"])
@pytest.mark.parametrize("n_documents", [60, 1500])
def test_no_direction_of_shuffled_tokens_stands_out(weighting, n_documents):
    for seed in range(3):
        shuffled = shuffle_tokens(planted(n_documents=n_documents), seed)
        model = fit(shuffled, 4, weighting=weighting, likelihood=False)  # only the eigenvalues are compared
        found = compare(model, seed=seed)
        assert found.n_supported == 1
        assert max(found.strength) < 1.0


@pytest.mark.parametrize("n_topics", [3, 5])
def test_as_many_directions_stand_out_as_there_are_topics(n_topics):
    for seed in range(3):
        model = fit(planted(n_topics, seed=seed), 2 * n_topics, likelihood=False)
        found = compare(model)
        assert found.n_supported == n_topics
        assert min(found.strength[: n_topics - 1]) > 1.0 > max(found.strength[n_topics - 1 :])


def test_fractions_and_single_documents_cannot_be_shuffled():
    eigenvalues = np.array([1.0, 0.5])
    for changes in ({"word_counts": np.full(800, 0.5)}, {"lengths": np.array([1.5, 2.5])}, {"lengths": np.ones(1)}):
        margins = margins_of(planted(), **changes)
        rng = np.random.default_rng(0)
        assert compare_with_shuffled(eigenvalues, margins, rng, np.inf, with_topics=True) is None


# The verdict ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_topics", [2, 4, 8])
def test_shuffled_tokens_never_get_good_news(n_topics):
    """The condition may be proved for the topics as fitted: their zeros are made by clipping."""
    for seed in range(3):
        model = fit(shuffle_tokens(planted(), seed), n_topics)
        found = model.identifiability(n_starts=3)
        assert found.uniqueness.verdict == "not supported"
        assert found.known.verdict != "proved"
        assert max(found.leeway) > 0.1
        said = dict(describe_identifiability(found, model.topic_labels_, model.vocabulary_))
        assert said["Are these the only topics?"].startswith("Not supported: these topics may be chance.")
        assert "Anchor words" not in said
        assert "says little" in said["Sufficiently scattered words"]
        assert (found.shuffled.scattering is None) == (found.scattering.verdict != "proved")


def test_too_many_topics_are_not_supported_and_the_right_number_is_said():
    model = fit(planted(4), 8)
    found = model.identifiability(n_starts=3)
    assert found.uniqueness.verdict == "not supported"
    said = dict(describe_identifiability(found, model.topic_labels_, model.vocabulary_))
    assert "at least 4 of these topics may be chance" in said["Are these the only topics?"]
    assert "Fit at most 4 topics" in said["Are these the only topics?"]


def test_planted_topics_get_good_news():
    verdicts = [fit(planted(4, 4000, seed), 4).identifiability(n_starts=3) for seed in range(3)]
    assert all(found.uniqueness.verdict in GOOD_NEWS for found in verdicts)
    assert all(max(found.leeway) < 0.1 for found in verdicts)
    assert all(found.shuffled.n_supported == 4 for found in verdicts)


def test_more_documents_leave_less_leeway():
    few, many = (max(fit(planted(4, n), 4).identifiability(n_starts=3).leeway) for n in (1500, 12_000))
    assert many < few


def test_without_documents_there_is_no_comparison_and_no_claim_of_one(tmp_path):
    counts = planted()
    assert AnchorFree(4).fit(counts).identifiability(n_starts=2).shuffled is None
    model = fit(counts, 4)
    model._record = model._record._replace(document_lengths=None)  # as in a file of an earlier version
    model.save(tmp_path / "old")
    old = TopicModel.load(tmp_path / "old")
    found = old.identifiability(n_starts=2)
    assert found.shuffled is None
    said = dict(describe_identifiability(found, old.topic_labels_, old.vocabulary_))
    assert "lacks what is needed to check" in said["Are these the only topics?"]


def test_topics_given_exactly_have_no_errors_and_no_comparison():
    truth = datasets.planted_topics(5, 300, random_state=0)
    found = AnchorFree(5).fit_cooccurrence(truth.cooccurrence).identifiability()
    assert found.uniqueness.verdict == "unique"
    assert found.leeway is None
    assert found.shuffled is None
