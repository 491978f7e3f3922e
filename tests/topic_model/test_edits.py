import numpy as np
import pytest

from anchorless._topic_model.edits import (
    Edit,
    apply_edit,
    build_selection,
    from_json,
    lay_out,
    list_leaves,
    make_edit,
    start_layout,
    sum_columns,
    sum_square,
    to_json,
)
from anchorless.errors import UsageError


def edit(kind, **values):
    return Edit(kind, values, "Ann", "2026-01-01T00:00:00+00:00")


def test_a_merge_takes_the_place_of_the_first_topic():
    layout = apply_edit(start_layout(6), edit("merge", groups=[[4, 1], [2, 5]]))
    assert layout.nodes == (0, (4, 1), (2, 5), 3)
    assert not layout.is_plain


def test_merges_of_merged_topics_keep_the_order_of_the_sums():
    values = np.random.default_rng(0).random((50, 4))
    layout = lay_out(4, [edit("merge", groups=[[0, 2]]), edit("merge", groups=[[2, 0]])])
    assert layout.nodes == ((3, (0, 2)), 1)
    expected = values[:, 3] + (values[:, 0] + values[:, 2])
    np.testing.assert_array_equal(sum_columns(values, layout.nodes)[:, 0], expected)


def test_sums_of_pairs_are_those_of_the_selection():
    A = np.random.default_rng(1).random((5, 5))
    A += A.T
    nodes = lay_out(5, [edit("merge", groups=[[0, 3]]), edit("drop", topics=[1])]).nodes
    S = build_selection(nodes, 5)
    np.testing.assert_allclose(sum_square(A, nodes), S.T @ A @ S, rtol=1e-14)


def test_a_split_renumbers_the_leaves():
    edits = [edit("merge", groups=[[1, 3]]), edit("drop", topics=[0]), edit("split", topic=0, n=3)]
    layout = lay_out(5, edits)
    assert layout.n_leaves == 6
    assert layout.nodes == (3, 4, 5, 1, 2)  # the parts, then 2 and 4 of the fit
    assert layout.dropped == (0,)
    assert sorted(leaf for node in (*layout.nodes, *layout.dropped) for leaf in list_leaves(node)) == [*range(6)]


def test_names_and_notes_go_with_their_topics():
    layout = lay_out(
        4,
        [
            edit("rename", names=[[1, "tax"], [3, "war"]]),
            edit("note", notes=[[3, "also peace"]]),
            edit("reorder", order=[3, 2, 1, 0]),
            edit("merge", groups=[[0, 2]]),
        ],
    )
    assert [topic.name for topic in layout.topics] == ["war + tax", None, None]
    assert layout.topics[0].note == "also peace"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (edit("rename", names=[[4, "x"]]), "there is no topic 4; topics have the numbers 0 to 3"),
        (edit("merge", groups=[[1]]), "topic 1 alone cannot be merged; name at least two"),
        (edit("merge", groups=[]), "no topics to merge"),
        (edit("merge", groups=[[0, 1], [1, 2]]), "topic 1 comes twice"),
        (edit("merge", groups=[[0, -1]]), "there is no topic -1"),
        (edit("drop", topics=[]), "no topic to drop"),
        (edit("drop", topics=[0, 1, 2, 3]), "all topics would be dropped"),
        (edit("drop", topics=[0, 0]), "topic 0 comes twice"),
        (edit("split", topic=9, n=2), "there is no topic 9"),
        (edit("reorder", order=[0, 1, 2]), "each number from 0 to 3 once"),
        (edit("note", notes=[["one", "x"]]), "there is no topic 'one'"),
        (edit("drop", topics=[True]), "there is no topic True"),
    ],
)
def test_refusals(made, message):
    with pytest.raises(UsageError, match=message):
        apply_edit(start_layout(4), made)


def test_json_and_back():
    made = [make_edit("merge", {"groups": [[0, 1]], "coherence": [None]}, None), edit("drop", topics=[2])]
    assert from_json(to_json(made)) == made
    assert made[0].by
    assert made[0].at.endswith("+00:00")
