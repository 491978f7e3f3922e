import numpy as np

from anchorless._topic_model.assembly import FAINT_SHARE, describe_faint_topics, describe_few_documents
from anchorless._topic_model.summary import TopicFacts


def facts(shares):
    labels = [f"label{f}" for f in range(len(shares))]
    return TopicFacts(labels, np.array(shares), np.zeros(len(shares)), np.zeros(len(shares)))


def test_topics_without_a_share_are_named():
    (warning,) = describe_faint_topics(facts([0.7, 0.3 - FAINT_SHARE / 2, FAINT_SHARE / 2, 0.0]))
    assert "2 (label2), 3 (label3)" in warning
    assert "label1" not in warning
    assert "min_df" in warning


def test_topics_with_a_share_are_not():
    assert describe_faint_topics(facts([0.7, 0.3 - FAINT_SHARE, FAINT_SHARE])) == []


def test_few_documents_are_said_with_the_number_that_would_do():
    assert describe_few_documents(100, 10) == []
    (warning,) = describe_few_documents(99, 10)
    assert "10 topics for 99 documents are 9.9" in warning
    assert "set {n_topics} to 9 " in warning
    (warning,) = describe_few_documents(12, 20)
    assert warning.endswith("; give more documents")
