from anchorless._plots.tree import count_leaves, measure_depth, plot_tree


def make_leaf(number, share=0.25):
    return {"label": f"words {number}", "share": share, "topics": [number], "children": []}


def make_tree():
    left = {"label": "left", "share": 0.5, "topics": [0, 2], "children": [make_leaf(0), make_leaf(2)]}
    right = {"label": "right", "share": 0.5, "topics": [1, 3], "children": [make_leaf(1), make_leaf(3)]}
    return [left, right]


def test_every_topic_has_a_row_with_its_label_and_share(ax):
    plot_tree(make_tree(), ["zero", "one", "two", "three"], ax)
    rows = [tick.get_text() for tick in ax.get_yticklabels()]
    assert rows == ["0 zero  25.0%", "2 two  25.0%", "1 one  25.0%", "3 three  25.0%"]
    assert [text.get_text() for text in ax.texts] == ["left 50%", "right 50%"]


def test_a_group_lies_in_the_middle_of_its_parts(ax):
    plot_tree(make_tree(), list("abcd"), ax)
    assert [text.get_position()[1] for text in ax.texts] == [-0.5, -2.5]


def test_topics_without_groups_are_rows(ax):
    plot_tree([make_leaf(0), make_leaf(1)], list("ab"), ax)
    assert len(ax.get_yticklabels()) == 2
    assert len(ax.texts) == 0


def test_counts():
    assert count_leaves(make_tree()[0]) == 2
    assert measure_depth(make_tree()[0]) == 1
    assert measure_depth(make_leaf(0)) == 0


def test_no_label_of_a_group_is_cut_off_at_the_left():
    from matplotlib.figure import Figure

    tree = make_tree()
    tree[0]["label"] = "armenian genocide turks"
    ax = Figure(figsize=(6.0, 4.0), layout="constrained").subplots()
    plot_tree(tree, ["a very long name of a topic, too long", "one", "two", "three"], ax)
    ax.figure.draw_without_rendering()
    assert min(text.get_window_extent().x0 for text in ax.texts) >= 0
