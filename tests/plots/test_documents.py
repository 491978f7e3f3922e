import numpy as np

from anchorless._plots.documents import choose_colors, plot_documents


def make_documents(n=400, n_topics=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 2)), rng.dirichlet(np.full(n_topics, 0.2), n)


def test_neighbors_differ_in_color():
    X = np.array([[0.0, 0.0], [0.01, 0.0], [0.0, 0.01], [1.0, 1.0], [1.0, 0.99]])
    chosen = choose_colors(X)
    assert len(set(chosen[:3])) == 3
    assert chosen[3] != chosen[4]


def test_documents_without_topics_or_without_a_place_are_left_out(ax):
    places, mixtures = make_documents(40)
    mixtures[:5] = 0.0
    places[5:8] = np.nan
    plot_documents(places, mixtures, list("abcd"), ax)
    drawn = np.asarray(ax.collections[0].get_offsets())
    expected = np.column_stack([places[8:, 0], 1 - places[8:, 1]])  # pages count from the top
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    assert {text.get_text()[0] for text in ax.texts} == set("0123")


def test_no_document_is_no_error(ax):
    assert plot_documents(np.full((3, 2), np.nan), np.zeros((3, 2)), ["a", "b"], ax) is ax
