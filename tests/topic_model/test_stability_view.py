import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._topic_model.stability_view import view_stability
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError

WORDS = [f"w{i}" for i in range(300)]


@pytest.fixture(scope="module")
def corpus():
    return sampled_corpus(400, 5, 300, length=60, random_state=0)


@pytest.fixture
def model(corpus):
    return TopicModel(5, n_jobs=1).fit_counts(corpus.counts, WORDS)


@pytest.fixture
def stable(model):
    model.stability(10)
    return model


def test_intervals_of_leaves_stay(stable):
    before = stable.stability_
    stable.merge_topics([[1, 3]]).reorder_topics([3, 2, 1, 0])
    after, leaves, at = stable.stability_, [4, 2, 0], [0, 1, 3]
    for name in ("shares", "words", "word_stability", "topic_stability", "probabilities"):
        first, second = getattr(after, name), getattr(before, name)
        for new, old in zip(first, second, strict=True) if isinstance(first, tuple) else [(first, second)]:
            np.testing.assert_array_equal(new[at], old[leaves], err_msg=name)
    for name in ("correlation", "association"):
        for new, old in zip(getattr(after, name), getattr(before, name), strict=True):
            np.testing.assert_array_equal(new[np.ix_(at, at)], old[np.ix_(leaves, leaves)])
    np.testing.assert_array_equal(after.association_p[np.ix_(at, at)], before.association_p[np.ix_(leaves, leaves)])


def test_merged_topics_have_intervals_from_the_same_draws(stable):
    before = stable.stability_
    stable.merge_topics([[1, 3]])
    after = stable.stability_
    drawn = before.draws.corpus.shares[:, [1, 3]].astype(float).sum(axis=1)
    assert after.shares.low[1] < after.shares.estimate[1] < after.shares.high[1]
    assert after.shares.low[1] <= drawn.mean() <= after.shares.high[1]
    assert after.shares.estimate[1] == stable.topic_shares_[1]
    for name in ("correlation", "association"):
        interval = getattr(after, name)
        assert (interval.low <= interval.estimate).all()
        assert (interval.estimate <= interval.high).all()
    known = np.isfinite(after.probabilities.low[1])
    assert known.sum() >= 5
    assert (after.probabilities.low[1, known] <= after.probabilities.estimate[1, known]).all()
    at = np.searchsorted(before.draws.words, after.words[1, known])
    joint = before.draws.corpus.shares[:, [1, 3], None] * before.draws.probabilities[:, [1, 3]][:, :, at]
    mean = (joint.sum(axis=1) / before.draws.corpus.shares[:, [1, 3]].sum(axis=1, keepdims=True)).mean(axis=0)
    assert (after.probabilities.low[1, known] <= mean).all()
    assert (mean <= after.probabilities.high[1, known]).all()


def test_what_is_not_known_of_a_merge_is_nan(stable, tmp_path):
    stable.merge_topics([[1, 3]])
    after = stable.stability_
    assert np.isnan(after.topic_stability[1])
    assert np.isnan(after.association_p[1, 0])
    assert np.isfinite(after.topic_stability[[0, 2, 3]]).all()
    frame = stable.stability_frame()
    assert (frame["topic"] == 1).sum() == 10
    edges = stable.correlation_edges()
    assert edges["low"].notna().all()
    assert edges["p"].isna().sum() == 3
    stable.report(tmp_path / "r.html")
    assert "Not known for merged topics: 1 (" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_dropped_topics_stay_in_the_draws(stable):
    stable.merge_topics([[1, 3]])
    before = stable.stability_
    stable.drop_topics([3])
    np.testing.assert_allclose(stable.stability_.association.high, before.association.high[:3, :3], atol=1e-9)


def test_after_a_split_it_is_computed_anew(stable):
    before = stable.stability_
    stable.split_topic(0)
    assert not hasattr(stable, "stability_")
    with pytest.raises(InputError, match="call stability"):
        stable.stability_frame()
    found = stable.stability(10)
    assert len(found.words) == 6
    assert np.isfinite(found.topic_stability).all()
    stable.undo()
    assert not hasattr(stable, "stability_")
    assert len(before.words) == 5


def test_it_comes_back_when_a_split_is_undone(stable, tmp_path):
    stable.merge_topics([[0, 4]])
    before = stable.correlation_edges()
    stable.split_topic(1).merge_topics([[0, 1]]).save(tmp_path / "m")
    stable.undo(2)
    loaded = TopicModel.load(tmp_path / "m")
    assert "low" not in loaded.correlation_edges()
    loaded.undo(2)
    for found in (stable, loaded):
        assert found.correlation_edges().equals(before)


def test_it_may_be_of_the_topics_between_two_splits(stable, corpus, tmp_path):
    stable.split_topic(0)
    stable.stability(10)
    before = stable.stability_frame()
    stable.split_topic(1).save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert not hasattr(loaded, "stability_")
    assert loaded.undo().stability_frame().equals(before)
    assert not hasattr(loaded.undo(), "stability_")


def test_after_a_merge_it_is_that_of_the_shown_topics(model):
    model.merge_topics([[0, 1]])
    found = model.stability(10)
    assert len(found.words) == 4
    assert np.isfinite(found.shares.low).all()


def test_without_draws_nothing_is_invented(corpus):
    model = TopicModel(5, n_jobs=1, likelihood=False).fit_counts(corpus.counts, WORDS)
    model.stability(10)
    model.merge_topics([[0, 1]])
    found = model.stability_
    assert np.isnan(found.shares.low[0])
    assert np.isfinite(found.shares.low[1:]).all()
    assert view_stability(model._bootstrapped[1], model._get_layout(), model._get_leaves()).draws is None
