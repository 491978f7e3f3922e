import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorless._corpus.metadata import validate_metadata
from anchorless._diagnostics.stability import Interval, Stability
from anchorless._topic_model.frames import (
    correlation_edges,
    correlation_frame,
    document_table,
    documents_frame,
    stability_frame,
    topics_frame,
    words_frame,
)
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.summary import Topic

TOPICS = [
    Topic(0, "cat dog", 0.7, ["cat", "dog"], [0.1, 0.4], [1.0, 0.5], 0.3, 0.75, [0.6, 0.2]),
    Topic(1, "new york", 0.3, ["new york"], [1.0], [0.9], -0.1, 0.9, [0.7]),
]
MIXTURES = Mixtures(np.array([[0.2, 0.8], [0.0, 0.0], [0.5, 0.5]]), np.array([0.4, 0.0, 0.1]))


def test_topics_have_a_row_each():
    frame = topics_frame(TOPICS)
    assert frame.columns.tolist() == ["topic", "label", "share", "coherence", "exclusivity", "words", "junk"]
    assert frame["words"].tolist() == ["cat, dog", "new york"]
    assert frame.iloc[1].tolist()[:-1] == [1, "new york", 0.3, -0.1, 0.9, "new york"]
    assert frame["junk"].isna().all()


def test_words_have_a_row_each():
    frame = words_frame(TOPICS)
    assert frame.columns.tolist() == ["topic", "rank", "word", "probability", "relevance", "distinctiveness"]
    assert frame.to_numpy().tolist() == [
        [0, 1, "cat", 0.1, 0.6, 1.0],
        [0, 2, "dog", 0.4, 0.2, 0.5],
        [1, 1, "new york", 1.0, 0.7, 0.9],
    ]


def test_documents_have_a_row_each():
    metadata = validate_metadata(3, ["a", "b", "c"], ["x", None, "y"], ["1999", "2000", None])
    frame = documents_frame(metadata, MIXTURES, ["cat dog", "new york"])
    names = ["id", "label", "date", "topic", "topic_label", "share", "explained", "topic_0", "topic_1"]
    assert frame.columns.tolist() == names
    assert frame["id"].tolist() == ["a", "b", "c"]
    assert frame["topic"].tolist() == [1, pd.NA, 0]  # on ties the first topic; no topic without a word
    assert frame["topic_label"].fillna("none").tolist() == ["new york", "none", "cat dog"]
    np.testing.assert_array_equal(frame["share"], [0.8, np.nan, 0.5])
    np.testing.assert_array_equal(frame["explained"], MIXTURES.explained)
    np.testing.assert_array_equal(frame[["topic_0", "topic_1"]], MIXTURES.shares)


def test_columns_that_were_not_given_are_not_there():
    frame = documents_frame(validate_metadata(3, None, None, None), MIXTURES, ["a", "b"])
    assert frame.columns.tolist()[:2] == ["id", "topic"]


def test_documents_are_the_same_after_writing_and_reading_csv(tmp_path):
    frame = documents_frame(validate_metadata(3, None, ["x", None, "y"], None), MIXTURES, ["a", "b"])
    frame.to_csv(tmp_path / "documents.csv", index=False)
    back = pd.read_csv(tmp_path / "documents.csv", dtype={"id": str, "topic": "Int64"})
    assert back["topic"].tolist() == frame["topic"].tolist()
    np.testing.assert_array_equal(back[["topic_0", "topic_1"]], MIXTURES.shares)


def test_the_arrow_table_has_the_columns_of_the_frame():
    metadata = validate_metadata(3, ["a", "b", "c"], ["x", None, "y"], None)
    columns = pa.table({"id": metadata.ids, "label": metadata.labels})
    table = document_table(columns, MIXTURES, ["cat dog", "new york"])
    frame = documents_frame(metadata, MIXTURES, ["cat dog", "new york"])
    assert table.column_names == frame.columns.tolist()
    assert table["topic"].to_pylist() == [1, None, 0]
    assert table["share"].to_pylist() == [0.8, None, 0.5]


def test_shares_are_rounded_after_the_largest_is_found():
    mixtures = Mixtures(np.array([[0.499, 0.501]]), np.array([0.25]))
    table = document_table(pa.table({"topic": ["given"]}), mixtures, ["a", "b"], decimals=1)
    assert table.column_names[:2] == ["input_topic", "topic"]
    assert (table["topic"][0].as_py(), table["share"][0].as_py(), table["explained"][0].as_py()) == (1, 0.5, 0.2)


def test_names_of_given_columns_are_never_lost():
    names = ["id", "topic", "input_topic", "share", "topic_2", "topic_1", "input_id"]
    table = document_table(pa.table({name: [name] * 3 for name in names}), MIXTURES, ["a", "b"], decimals=6)
    ours = ["topic", "topic_label", "share", "explained", "topic_0", "topic_1"]
    assert table.column_names[len(names) :] == ours
    assert len(set(table.column_names)) == len(names) + len(ours)
    assert [table.column(k)[0].as_py() for k in range(len(names))] == names
    assert table.column_names[0] == "id"
    assert "topic_2" in table.column_names  # there is no such topic


def test_no_document_is_a_frame_without_rows():
    frame = documents_frame(validate_metadata(0, [], None, None), Mixtures(np.zeros((0, 2)), np.zeros(0)), ["a", "b"])
    assert frame.shape == (0, 7)


@pytest.fixture
def correlation():
    return np.array([[1.0, 0.2, -0.7], [0.2, 1.0, 0.1], [-0.7, 0.1, 1.0]])


def test_correlations_square(correlation):
    frame = correlation_frame(correlation)
    np.testing.assert_array_equal(frame, correlation)
    assert frame.index.tolist() == frame.columns.tolist() == [0, 1, 2]


def test_edges_are_ranked_by_association_positive_first(correlation):
    association = np.array([[0.0, -0.5, 0.1], [-0.5, 0.0, 0.3], [0.1, 0.3, 0.0]])
    frame = correlation_edges(association, correlation, ["a", "b", "c"])
    assert frame.columns.tolist() == ["topic_a", "topic_b", "label_a", "label_b", "association", "correlation"]
    assert frame.to_numpy().tolist() == [
        [1, 2, "b", "c", 0.3, 0.1],
        [0, 2, "a", "c", 0.1, -0.7],
        [0, 1, "a", "b", -0.5, 0.2],
    ]
    assert correlation_edges(np.zeros((1, 1)), np.ones((1, 1)), ["a"]).shape == (0, 6)


def test_stability_has_a_row_per_topic_and_word_that_is_not_zero_up_to_rounding():
    probabilities = np.array([[0.6, 0.4], [1.0, 1e-17]])
    stability = Stability(
        n_resamples=20,
        level=0.9,
        corrected=False,
        words=np.array([[2, 0], [1, 0]]),
        word_stability=np.array([[1.0, 0.5], [0.9, 0.1]]),
        topic_stability=np.array([0.75, 0.5]),
        probabilities=Interval(probabilities, 0.9 * probabilities, 1.1 * probabilities),
        shares=Interval(np.array([0.7, 0.3]), np.array([0.6, 0.2]), np.array([0.8, 0.4])),
        correlation=Interval(np.eye(2), np.eye(2), np.eye(2)),
        association=Interval(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))),
        association_p=np.zeros((2, 2)),
    )
    frame = stability_frame(stability, ["cat dog", "new york"], ["dog", "new york", "cat"])
    assert frame["word"].tolist() == ["cat", "dog", "new york"]
    assert frame["word_stability"].tolist() == [1.0, 0.5, 0.9]
    assert frame["stability"].tolist() == [0.75, 0.75, 0.5]
    assert frame["share_low"].tolist() == [0.6, 0.6, 0.2]
    assert frame.index.tolist() == [0, 1, 2]
