import numpy as np

from anchorless._plots.documents import MAX_DOCUMENTS, choose_colors, lay_out_documents, plot_documents
from anchorless._report.topic_map import compute_layout


def make_mixtures(n=400, n_topics=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.2), n)


def test_documents_lie_nearest_to_their_leading_topic():
    mixtures, R = make_mixtures(), np.eye(4)
    places, leading = lay_out_documents(mixtures, R)
    X = compute_layout(R)
    nearest = np.linalg.norm(places[:, None] - X[None], axis=2).argmin(axis=1)
    clear = mixtures.max(axis=1) > 0.8
    assert (nearest[clear] == leading[clear]).mean() > 0.95
    np.testing.assert_array_equal(leading, mixtures.argmax(axis=1))


def test_a_document_of_two_topics_lies_toward_the_second():
    R = np.eye(3)
    mixtures = np.vstack([make_mixtures(300, 3), [[0.55, 0.45, 0.0]] * 20, [[0.55, 0.0, 0.45]] * 20])
    places, _ = lay_out_documents(mixtures, R)
    X = compute_layout(R)
    to_second = np.linalg.norm(places - X[1], axis=1)
    assert to_second[300:320].mean() < to_second[320:].mean()


def test_documents_with_the_same_mixture_do_not_hide_each_other():
    places, _ = lay_out_documents(np.tile([1.0, 0.0], (50, 1)), np.eye(2))
    distance = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(50)
    assert distance.min() > 0.02


def test_the_layout_does_not_depend_on_the_order_of_the_documents():
    mixtures, order = make_mixtures(), np.random.default_rng(1).permutation(400)
    places, _ = lay_out_documents(mixtures, np.eye(4))
    np.testing.assert_allclose(lay_out_documents(mixtures[order], np.eye(4))[0], places[order])


def test_neighbors_differ_in_color():
    X = np.array([[0.0, 0.0], [0.01, 0.0], [0.0, 0.01], [1.0, 1.0], [1.0, 0.99]])
    chosen = choose_colors(X)
    assert len(set(chosen[:3])) == 3
    assert chosen[3] != chosen[4]


def test_documents_without_words_are_left_out_and_many_are_thinned(ax):
    mixtures = np.vstack([make_mixtures(30), np.zeros((5, 4))])
    plot_documents(mixtures, np.eye(4), list("abcd"), ax)
    assert len(ax.collections[0].get_offsets()) == 30


def test_many_documents_are_thinned(ax):
    plot_documents(make_mixtures(2 * MAX_DOCUMENTS), np.eye(4), list("abcd"), ax)
    assert len(ax.collections[0].get_offsets()) == MAX_DOCUMENTS
    assert {text.get_text()[0] for text in ax.texts} == set("0123")
