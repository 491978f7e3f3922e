import numpy as np
import pyarrow as pa

from anchorless._topic_model.fitted import FAINT_PART, FAINT_SHARE, list_problems
from anchorless._topic_model.summary import TopicFacts


def facts(shares):
    labels = [f"label{f}" for f in range(len(shares))]
    return TopicFacts(labels, np.array(shares), np.zeros(len(shares)), np.zeros(len(shares)))


def test_topics_without_a_share_are_named():
    (warning,) = list_problems(1000, facts([0.7, 0.3 - FAINT_SHARE / 2, FAINT_SHARE / 2, 0.0]), None)
    assert "2 (label2), 3 (label3)" in warning
    assert "label1" not in warning
    assert "min_df" in warning


def test_topics_with_a_share_are_not():
    assert list_problems(1000, facts([0.7, 0.3 - FAINT_SHARE, FAINT_SHARE]), None) == []


def test_few_documents_are_said_with_the_number_that_would_do():
    assert list_problems(100, facts([0.1] * 10), None) == []
    (warning,) = list_problems(99, facts([0.1] * 10), None)
    assert "10 topics for 99 documents have only 9.9 documents per topic" in warning
    assert "set {n_topics} to 9 " in warning
    (warning,) = list_problems(12, facts([0.05] * 20), None)
    assert warning.endswith("; give more documents")


def test_dates_that_cannot_be_read_are_counted():
    assert list_problems(20, facts([1.0]), pa.array(["2001-01-01", "2002"])) == []
    (warning,) = list_problems(20, facts([1.0]), pa.array(["2001-01-01", "soon", None]))
    assert warning == "2 of 3 documents have no date that can be read"


def test_what_is_faint_depends_on_the_number_of_topics():
    """A twentieth of a percent is a quarter of the mean share of 500 topics."""
    shares = np.full(500, 1 / 500)
    shares[-1] = FAINT_SHARE * 0.9
    assert list_problems(10_000, facts(shares), None) == []
    shares[-1] = FAINT_PART / 500 * 0.9
    (warning,) = list_problems(10_000, facts(shares), None)
    assert "less than 0.02% of the text is about topic 499 (label499);" in warning


def test_the_way_out_of_faint_topics_is_not_what_is_set_already():
    shares = [0.5, 0.5, 0.0]
    (warning,) = list_problems(1000, facts(shares), None)
    assert warning.endswith("; lower {n_topics}, raise {min_df}, or set {constraint} to all")
    (warning,) = list_problems(1000, facts(shares), None, "all")
    assert warning.endswith("; lower {n_topics} or raise {min_df}")


def test_hundreds_of_faint_topics_are_not_all_named():
    (warning,) = list_problems(10_000, facts([0.5, 0.5, *[0.0] * 98]), None)
    assert "13 (label13) and 86 more;" in warning
