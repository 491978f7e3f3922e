import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._core.proportions import compute_null_covariance
from anchorless._topic_model.edits import Edit, lay_out
from anchorless._topic_model.view import build_view, describe_merged, get_moments, measure_exclusivity
from anchorless.datasets import sampled_corpus
from anchorless.metrics import exclusivity
from tests.helpers.tolerances import ROUNDING

WORDS = [f"w{i}" for i in range(200)]


def edit(kind, **values):
    return Edit(kind, values, "Ann", "")


@pytest.fixture(scope="module")
def record():
    corpus = sampled_corpus(300, 6, 200, length=60, random_state=3)
    return TopicModel(6, n_jobs=1).fit_counts(corpus.counts, WORDS)._record


@pytest.fixture(scope="module")
def without_tokens():
    corpus = sampled_corpus(300, 6, 200, length=60, random_state=3)
    return TopicModel(6, n_jobs=1, likelihood=False).fit_counts(corpus.counts, WORDS)._record


def view_of(record, *edits):
    return build_view(record, lay_out(len(record.components), edits))


def test_words_of_a_merged_topic_are_means_by_share(record):
    view, shares = view_of(record, edit("merge", groups=[[1, 4, 5]])), record.facts.shares
    joint = shares[:, None] * record.topic_word
    np.testing.assert_allclose(view.topic_word[1], joint[[1, 4, 5]].sum(axis=0) / shares[[1, 4, 5]].sum(), rtol=1e-13)
    np.testing.assert_allclose(view.facts.shares @ view.topic_word, shares @ record.topic_word, rtol=1e-13)
    np.testing.assert_allclose(view.relevance.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_array_equal(view.topic_word[[0, 2, 3]], record.topic_word[[0, 2, 3]])


def test_covariances_add_up(record):
    view = view_of(record, edit("merge", groups=[[0, 2]]))
    before, after = record.tokens.covariance, view.tokens.covariance
    assert after[0, 0] == pytest.approx(before[0, 0] + 2 * before[0, 2] + before[2, 2], rel=ROUNDING)
    assert after[0, 1] == pytest.approx(before[0, 1] + before[2, 1], rel=ROUNDING, abs=1e-15)
    assert after.sum() == pytest.approx(before.sum(), abs=1e-14)


def test_correlations_are_those_of_summed_mixtures():
    """Without a correction, the moments of merged topics are those of added columns of the mixtures."""
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(5, 0.7), size=4000)
    merged = np.column_stack([theta[:, 0] + theta[:, 3], theta[:, 1], theta[:, 2], theta[:, 4]])
    found = describe_merged(merged.mean(axis=0), np.cov(merged.T))
    np.testing.assert_allclose(found.correlation, np.corrcoef(merged.T), atol=1e-10)
    null = compute_null_covariance(merged.var(axis=0, ddof=1), merged.mean(axis=0))
    spread = merged.std(axis=0, ddof=1)
    expected = (np.cov(merged.T) - null) / np.outer(spread, spread)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(found.association, expected, atol=1e-12)
    assert abs(found.association).max() < 0.1  # a merged Dirichlet distribution is one: nothing beyond the closure


def test_topics_that_are_not_merged_keep_their_numbers(record):
    view = view_of(record, edit("merge", groups=[[0, 2]]), edit("reorder", order=[4, 3, 2, 1, 0]))
    pairs = np.ix_([0, 1, 2, 3], [0, 1, 2, 3])
    leaves = np.ix_([5, 4, 3, 1], [5, 4, 3, 1])
    np.testing.assert_array_equal(view.correlation[pairs], record.correlation[leaves])
    np.testing.assert_array_equal(view.association[pairs], record.association[leaves])


@pytest.mark.parametrize("name", ["record", "without_tokens"])
def test_dropped_topics_change_no_number_of_the_others(name, request):
    record = request.getfixturevalue(name)
    view = view_of(record, edit("drop", topics=[3, 0]))
    at = [1, 2, 4, 5]
    np.testing.assert_array_equal(view.topic_word, record.topic_word[at])
    np.testing.assert_array_equal(view.facts.shares, record.facts.shares[at])
    np.testing.assert_array_equal(view.association, record.association[np.ix_(at, at)])
    np.testing.assert_array_equal(view.correlation, record.correlation[np.ix_(at, at)])
    np.testing.assert_array_equal(view.moments, record.moments[np.ix_(at, at)])
    assert view.facts.labels == [record.facts.labels[k] for k in at]


def test_dropped_topics_stay_in_the_closure(record):
    merged = view_of(record, edit("merge", groups=[[0, 2]]))
    dropped = view_of(record, edit("merge", groups=[[0, 2]]), edit("drop", topics=[4]))
    np.testing.assert_allclose(dropped.association, merged.association[:4, :4], atol=ROUNDING)


def test_moments_of_a_model_without_tokens_add_up(without_tokens):
    view = view_of(without_tokens, edit("merge", groups=[[0, 1]]))
    assert view.moments.sum() == pytest.approx(without_tokens.moments.sum(), rel=ROUNDING)
    assert view.tokens is None
    assert abs(view.correlation).max() <= 1.0
    assert view.association.shape == (5, 5)


def test_kept_documents_have_the_shares_of_the_shown_topics(record):
    view = view_of(record, edit("merge", groups=[[1, 4]]))
    mixtures = record.kept.mixtures[:, 1] + record.kept.mixtures[:, 4]
    for i, document in enumerate(view.kept.documents[:50]):
        shares = dict(document.topics)
        assert shares.get(1, mixtures[i]) == mixtures[i]
    best = view.kept.representatives[1]
    scores = mixtures * [document.explained for document in record.kept.documents]
    assert scores[best[0]] == scores.max()
    assert view.kept.representatives[0] == record.kept.representatives[0]


def test_an_older_file_uses_the_variances_of_the_prior(record):
    older = record._replace(tokens=record.tokens._replace(mean=None, covariance=None))
    mean, covariance = get_moments(older)
    alpha = record.tokens.alpha
    np.testing.assert_allclose(mean, alpha / alpha.sum(), rtol=1e-14)
    spread = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(covariance / np.outer(spread, spread), record.correlation, atol=ROUNDING)
    assert view_of(older, edit("merge", groups=[[0, 1]])).correlation.shape == (5, 5)


def test_coherence_of_a_merge_is_not_known_where_no_document_is(record):
    assert np.isnan(view_of(record, edit("merge", groups=[[0, 1]])).facts.coherence[0])
    assert view_of(record, edit("merge", groups=[[0, 1]], coherence=[0.25])).facts.coherence[0] == 0.25


def test_exclusivity_is_that_of_the_metrics(record):
    np.testing.assert_allclose(measure_exclusivity(record.relevance), exclusivity(record.relevance, 10), rtol=1e-12)
    view = view_of(record, edit("merge", groups=[[0, 1]]))
    np.testing.assert_allclose(view.facts.exclusivity, exclusivity(view.relevance, 10), rtol=1e-12)


def test_groups_of_levels_follow(record):
    leaves = record._replace(groupings=[[[0, 1], [2, 3], [4, 5]], [[0, 1, 2, 3], [4, 5]]])
    view = view_of(leaves, edit("merge", groups=[[1, 4]]), edit("drop", topics=[4]))
    assert record.facts.shares[1] > record.facts.shares[4]
    assert view.groupings == [[[0, 1], [2, 3]], [[0, 1, 2, 3]]]  # 5 was dropped, and 4 went with 1
