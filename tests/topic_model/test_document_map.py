import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._topic_model.document_map import map_documents
from tests.helpers.planted_texts import planted_texts


@pytest.fixture(scope="module")
def model():
    return TopicModel(4).fit([*planted_texts()[0][:-1], "?"])


def measure_agreement(places, classes):
    """Return the share of nearest neighbors that are of the same class."""
    distance = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(len(places), np.inf))
    return float((classes[distance.argmin(axis=1)] == classes).mean())


def test_documents_of_a_topic_are_neighbors_and_those_without_topics_have_no_place(model):
    found, mixtures = model._get_document_map(), model._record.kept.mixtures
    known = mixtures.any(axis=1)
    assert (~known).sum() == 1
    np.testing.assert_array_equal(np.isfinite(found.places).all(axis=1), known)
    assert measure_agreement(found.places[known], mixtures[known].argmax(axis=1)) > 0.95
    assert not found.by_embeddings


def test_embeddings_decide_where_they_are_given(model):
    rng = np.random.default_rng(0)
    mixtures, classes = rng.dirichlet(np.ones(3), 90), np.arange(90) % 3
    embeddings = np.eye(8)[classes] + 0.1 * rng.standard_normal((90, 8))
    embeddings[5] = 0.0
    found = map_documents(mixtures, embeddings)
    assert found.by_embeddings
    assert np.isnan(found.places[5]).all()
    there = np.delete(np.arange(90), 5)
    assert measure_agreement(found.places[there], classes[there]) > 0.95


def test_the_map_is_the_same_in_the_report_the_figure_and_after_edits(model):
    before = model._get_document_map().places
    model.merge_topics([[0, 1]])
    try:
        places = model._build_report_data("").places
        np.testing.assert_array_equal(np.array(places), before)
        drawn = np.asarray(model.plot.documents().collections[0].get_offsets())
    finally:
        model.undo()
    known = np.isfinite(before).all(axis=1)
    expected = np.column_stack([before[known, 0], 1 - before[known, 1]])
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
