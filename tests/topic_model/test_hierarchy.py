from itertools import chain, pairwise

import numpy as np
import pytest

from anchorless import TopicModel, datasets
from anchorless._topic_model.hierarchy import build_hierarchy, choose_levels, nest_groups
from anchorless._topic_model.summary import TopicFacts
from anchorless.errors import InputError


@pytest.fixture(scope="module")
def corpus():
    """Eight planted topics in pairs: documents are about the two topics of a pair."""
    rng = np.random.default_rng(0)
    C = datasets.planted_topics(8, 160, random_state=0).components
    pairs = np.repeat(np.eye(4), 2, axis=1)[rng.integers(0, 4, 1500)]
    theta = rng.dirichlet(np.full(8, 0.8), 1500) * (0.02 + pairs)
    theta /= theta.sum(axis=1, keepdims=True)
    return C, datasets.draw_counts(C, theta, np.full(1500, 50), rng), [f"w{i}" for i in range(160)]


@pytest.fixture(scope="module")
def model(corpus):
    return TopicModel(8, levels=[4, 2]).fit_counts(*corpus[1:])


def test_shares_add_up_and_groups_are_unions_of_the_groups_before(model):
    levels = model.hierarchy().levels
    assert [len(level.groups) for level in levels] == [8, 4, 2]
    for level in levels:
        assert sorted(topic for topics in level.groups for topic in topics) == [*range(8)]
        np.testing.assert_allclose(level.shares, [model.topic_shares_[topics].sum() for topics in level.groups])
        assert level.shares.sum() == pytest.approx(1.0, abs=1e-12)
        assert (np.diff(level.shares) <= 0).all()
    for fine, broad in pairwise(levels):
        assert all(any(set(topics) <= set(other) for other in broad.groups) for topics in fine.groups)


def test_children_sum_to_their_parent_and_the_table_has_every_group(model):
    hierarchy = model.hierarchy()

    def check(group):
        if group["children"]:
            assert group["share"] == pytest.approx(sum(part["share"] for part in group["children"]), abs=1e-12)
            assert sorted(group["topics"]) == sorted(t for part in group["children"] for t in part["topics"])
        for part in group["children"]:
            check(part)

    for group in hierarchy.as_dict():
        check(group)
    frame = hierarchy.frame()
    assert len(frame) == 14
    assert frame["parent"].isna().sum() == 2
    for i, j in ((0, 3), (1, 2)):
        place = hierarchy.parent(i, j)
        assert set(hierarchy.levels[i].groups[j]) <= set(hierarchy.levels[i + 1].groups[place])


def test_planted_pairs_are_the_groups(corpus, model):
    C = corpus[0]
    cosine = (model.topic_word_ @ C.T) / np.outer(*(np.linalg.norm(A, axis=1) for A in (model.topic_word_, C)))
    planted = cosine.argmax(axis=1) // 2
    found = TopicModel(8, levels=[4]).fit_counts(*corpus[1:]).hierarchy()
    assert all(len(set(planted[topics])) == 1 for topics in found.levels[1].groups)


def test_mixtures_of_groups_are_sums(model):
    hierarchy = model.hierarchy()
    theta = model.document_topics_
    broad = hierarchy.aggregate(theta)
    np.testing.assert_allclose(broad.sum(axis=1), theta.sum(axis=1))
    np.testing.assert_array_equal(broad[:, 0], theta[:, hierarchy.levels[-1].groups[0]].sum(axis=1))


def test_a_saved_model_has_its_levels_and_no_others(model, tmp_path):
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert loaded.hierarchy().as_dict() == model.hierarchy().as_dict()
    with pytest.raises(InputError, match="need the mixtures of the training documents"):
        loaded.hierarchy([3])


def test_levels_can_be_asked_later_and_have_a_default(corpus):
    model = TopicModel(8).fit_counts(*corpus[1:])
    assert [len(level.groups) for level in model.hierarchy().levels] == [8, *choose_levels(8)]
    assert [len(level.groups) for level in model.hierarchy(3).levels] == [8, 3]
    assert [len(level.groups) for level in model.hierarchy([]).levels] == [8]


@pytest.mark.parametrize(
    ("levels", "message"), [([8], "cannot be made of 8 topics"), ([1], "at least 2"), ([2.5], "whole"), (2.5, "whole")]
)
def test_levels_that_cannot_be_are_refused_before_the_fit(corpus, levels, message):
    with pytest.raises(InputError, match=message):
        TopicModel(8, levels=levels).fit_counts(*corpus[1:])


def test_no_levels_are_none(corpus):
    model = TopicModel(8, levels=None).fit_counts(*corpus[1:])
    assert [len(level.groups) for level in model.hierarchy().levels] == [8, *choose_levels(8)]


def test_broader_levels_group_the_groups():
    """Pairs of topics are always in the same documents, and pairs of pairs often."""
    rng = np.random.default_rng(1)
    broad = rng.dirichlet(np.full(2, 0.2), 300)
    fine = [rng.dirichlet(np.full(2, 0.5), 300) * broad[:, [k]] for k in range(2)]
    mixtures = np.column_stack([fine[k][:, [i]] * rng.dirichlet([3.0, 3.0], 300) for k in range(2) for i in range(2)])
    first, second = nest_groups([4, 2], mixtures)
    assert first == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert second == [[0, 1, 2, 3], [4, 5, 6, 7]]
    facts = TopicFacts([*"ABCDEFGH"], np.full(8, 1 / 8), np.zeros(8), np.zeros(8))
    hierarchy = build_hierarchy([first, second], facts, np.eye(8), list("abcdefgh"), 3)
    assert hierarchy.levels[0].labels == [*"ABCDEFGH"]
    assert hierarchy.levels[2].words[0] == ["a", "b", "c"]


def test_levels_of_edited_topics_group_what_is_shown(corpus):
    model = TopicModel(8).fit_counts(*corpus[1:]).merge_topics([[0, 1]]).drop_topics([3])
    fine, broad = model.hierarchy(2).levels
    assert [*fine.shares] == [*model.topic_shares_]
    assert sorted(chain(*broad.groups)) == [*range(6)]
    assert broad.shares.sum() == pytest.approx(1.0 - model.rest_share_, abs=1e-12)
