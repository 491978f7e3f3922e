import numpy as np
import pytest

from anchorless import Corpus, TopicModel, search_k
from anchorless._corpus.documents import Documents
from anchorless._diagnostics import search_k as module
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError, RankError


def corpus(seed=0, n_documents=1500, n_topics=4, n_words=200):
    return sampled_corpus(n_documents, n_topics, n_words, random_state=seed).counts


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_number_is_suggested_or_none(seed):
    found = search_k(corpus(seed), [2, 4, 8])
    assert [row.topics for row in found.rows] == [2, 4, 8]
    assert found.suggestion.n_topics in (4, None)
    assert found.suggestion.reason
    assert found.rows[1].completion > found.rows[0].completion


def test_the_number_of_threads_changes_no_bit():
    one, two = (search_k(corpus(), [2, 5], n_jobs=n) for n in (1, 2))
    assert [row[:-1] for row in one.rows] == [row[:-1] for row in two.rows]


def test_eigenvalues_of_each_number_are_those_of_one_spectrum():
    found = search_k(corpus(), [3, 6])
    for row in found.rows:
        assert row.eigenvalue == found.eigenvalues[row.topics - 1] / found.eigenvalues[0]
    assert len(found.eigenvalues) >= 20


def test_numbers_beyond_the_rank_are_left_out():
    X = np.random.default_rng(0).multinomial(50, np.full(12, 1 / 12), size=200)
    found = search_k(X, [2, 500])
    assert [row.topics for row in found.rows] == [2]
    assert found.failed_numbers[0][0] == 500


def test_numbers_beyond_the_rank_of_documents_of_very_different_lengths_are_left_out():
    """Some documents of one word are so long that all others are rounding errors relative to them."""
    rng = np.random.default_rng(0)
    X = np.zeros((460, 40))
    X[np.arange(400), rng.integers(0, 3, 400)] = 4e7
    X[400:, 3:] = rng.integers(0, 3, (60, 37))
    found = search_k(rng.permutation(X), [2, 3, 4, 5, 6, 8], weighting="counts")
    assert [*(row.topics for row in found.rows), *(K for K, _ in found.failed_numbers)] == [2, 3, 4, 5, 6, 8]
    assert found.failed_numbers


def test_bad_input_raises():
    with pytest.raises(InputError, match="empty"):
        search_k(corpus(), [])
    with pytest.raises(InputError, match="too few"):
        search_k(corpus()[:10], [2])
    with pytest.raises(InputError, match="n_topics=0"):
        search_k(corpus(), [0])
    with pytest.raises(InputError, match="document 3, word 1 is nan"):
        search_k(np.where(np.arange(300).reshape(100, 3) == 10, np.nan, 1.0), [2])
    with pytest.raises(InputError, match="all zero"):
        search_k(np.zeros((30, 5)), [2])


def test_one_topic_can_be_fitted():
    assert search_k(corpus(), [1]).rows[0].topics == 1


@pytest.mark.parametrize("seed", [0, 1])
def test_auto_takes_the_suggestion_and_says_so(seed, tmp_path):
    X = corpus(seed, 2000)
    model = TopicModel("auto").fit_counts(X, [f"w{k}" for k in range(200)])
    assert model.n_topics_ == len(model.components_)
    assert model.diagnostics_.how_many
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert loaded.diagnostics_.how_many == model.diagnostics_.how_many
    model.report(tmp_path / "r.html")
    assert "Number of topics" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_stability_of_a_model_is_in_tables_and_report(tmp_path):
    model = TopicModel(3).fit_counts(corpus(0, 600), [f"w{k}" for k in range(200)])
    assert "p" not in model.correlation_edges().columns
    with pytest.raises(InputError, match="stability"):
        model.stability_frame()
    model.stability(10)
    assert {"low", "high", "p"} <= set(model.correlation_edges().columns)
    assert len(model.stability_frame()) == 30
    model.report(tmp_path / "r.html")
    assert "10 bootstrap resamples" in (tmp_path / "r.html").read_text(encoding="utf-8")
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match="fit in memory"):
        TopicModel.load(tmp_path / "m").stability()


def test_identifiability_of_each_number_is_in_the_table():
    """Six topics of six words each: up to six every one has its own words, and a seventh shares another's."""
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(6), np.full((50, 6), 1.0)) * rng.poisson(4, (300, 36))
    found = search_k(X + 0.0, [6])
    assert found.rows[0].anchor > 0.99
    assert found.rows[0].scattered == "proved"
    assert "anchor" in found.table_help


@pytest.mark.parametrize("seed", [0, 1])
def test_the_suggestion_depends_on_the_smallest_and_the_largest_number_alone(seed):
    assert search_k(corpus(seed), [2, 8]).suggestion == search_k(corpus(seed), range(2, 9)).suggestion


def low_rank_counts():
    """Three kinds of documents, each the same words, some of them twice."""
    return np.kron(np.eye(3), np.ones((20, 4))) * np.array([[1], [2]] * 30)


def test_an_error_that_is_raised_again_keeps_its_parts():
    """If no number can be fitted, the error of the smallest is raised."""
    with pytest.raises(RankError) as raised:
        search_k(low_rank_counts(), [7, 9])
    assert (raised.value.parameter, raised.value.value, raised.value.limit) == ("n_topics", 7, 3)
    assert (
        str(raised.value)
        == "n_topics=7, but the 54 documents to fit on support at most 3; lower n_topics or add documents"
    )
    with pytest.raises(RankError) as raised:
        TopicModel(7).fit_counts(low_rank_counts(), [f"w{k}" for k in range(12)])
    assert (raised.value.parameter, raised.value.value, raised.value.limit) == ("n_topics", 7, 3)


def test_the_limit_is_right_if_no_number_is_possible():
    X = np.random.default_rng(0).multinomial(60, np.full(30, 1 / 30), size=100)
    with pytest.raises(RankError) as raised:
        search_k(X, [60, 70])
    assert raised.value.limit == 30
    assert [row.topics for row in search_k(X, [30]).rows] == [30]


def test_numbers_that_fail_keep_their_errors():
    ((K, error),) = search_k(low_rank_counts(), [2, 7]).failed_numbers
    assert (K, error.value, error.limit) == (7, 7, 3)


class StoredElsewhere(Documents):
    """Documents whose blocks count as not in memory."""

    in_memory = False


def measures(found):
    return [row[:-1] for row in found.rows], found.suggestion


def test_a_matrix_documents_and_a_corpus_give_the_same_result():
    X = corpus(0, 400)
    expected = measures(search_k(X, [2, 4]))
    blocks = Documents.from_matrix(X, block_size=90)
    for other in (
        X.toarray().astype(np.uint8),
        blocks,
        Corpus.from_counts(X, [f"w{k}" for k in range(200)]),
        StoredElsewhere(blocks.blocks),
    ):
        assert measures(search_k(other, [2, 4])) == expected


def test_documents_that_are_not_in_memory_are_sampled(monkeypatch):
    X = corpus(0, 400)
    monkeypatch.setattr(module, "MAX_LOADED_ENTRIES", X.nnz // 2 + 1)
    expected = measures(search_k(X[::2], [2, 4]))
    assert measures(search_k(StoredElsewhere([X[:100], X[100:]]), [2, 4])) == expected
    assert measures(search_k(X, [2, 4])) != expected


def test_weighted_documents_have_no_completion():
    X = corpus(0, 400) * 0.5
    found = search_k(X, [2, 4], weighting="counts")
    assert np.isnan([row.completion for row in found.rows]).all()
    assert np.isnan(found.unigram)
    assert all(np.isfinite(row.npmi) for row in found.rows)
    with pytest.raises(InputError, match="whole counts"):
        search_k(X, [2, 4])


@pytest.mark.parametrize(
    ("old", "new"), [({"n_threads": 1}, {"n_jobs": 1}), ({"constraint": "explained"}, {"constraint": "reliable"})]
)
def test_old_names_are_accepted_with_a_warning(old, new):
    with pytest.warns(FutureWarning, match=next(iter(new))):
        found = search_k(corpus(0, 300), [3], **old)
    assert measures(found) == measures(search_k(corpus(0, 300), [3], **new))
