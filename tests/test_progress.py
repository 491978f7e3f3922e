"""A fit reports its progress to the callback of its thread, and to no other."""

import threading

import numpy as np
import pytest

from anchorless import AnchorFree, TopicModel
from anchorless.progress import listen, report_progress, track
from tests.helpers.planted_texts import planted_texts

STAGES = [
    "weighting",
    "spectrum",
    "constraints",
    "volume",
    "refinement",
    "moments",
    "likelihood",
    "documents",
    "summary",
]


def record(function):
    reports = []
    with listen(lambda *report: reports.append(report)):
        function()
    return reports


@pytest.mark.parametrize("n_topics", [2, 4])
def test_the_stages_of_a_fit_are_reported_in_their_order(n_topics):
    texts, _ = planted_texts(80, 1)
    reports = record(lambda: TopicModel(n_topics).fit(texts))
    assert list(dict.fromkeys(stage for stage, _, _ in reports)) == STAGES
    for stage in STAGES:
        ends = [(done, total) for name, done, total in reports if name == stage]
        assert ends[-1][0] == ends[-1][1]  # the last report of a stage is that it is done
    assert any(total is None for name, _, total in reports if name == "volume")
    assert sum(name == "refinement" for name, _, _ in reports) > 3


def test_a_callback_changes_no_bit():
    X = np.random.default_rng(0).poisson(1.0, (60, 40)).astype(float)
    alone = AnchorFree(3).fit(X).components_
    with listen(lambda *_: None):
        assert np.array_equal(AnchorFree(3).fit(X).components_, alone)


def test_the_callback_is_dropped_after_the_block_even_if_it_fails():
    reports = []
    with pytest.raises(KeyboardInterrupt), listen(lambda *report: reports.append(report)):
        raise KeyboardInterrupt
    report_progress("a", 1, 1)
    assert reports == []


def test_the_outer_callback_is_set_again_after_an_inner_one():
    outer, inner = [], []
    with listen(lambda *report: outer.append(report)):
        with listen(lambda *report: inner.append(report)):
            report_progress("a", 1, 2)
        report_progress("a", 2, 2)
    assert (outer, inner) == ([("a", 2, 2)], [("a", 1, 2)])


def test_a_callback_gets_no_reports_of_another_thread():
    def report_in_a_thread():
        thread = threading.Thread(target=report_progress, args=("a", 1, 1))
        thread.start()
        thread.join()

    assert record(report_in_a_thread) == []


def test_an_item_is_done_when_the_next_is_asked_for():
    reports = []
    with listen(lambda *report: reports.append(report)):
        for item in track("a", "xy", 2):
            assert len(reports) == "xy".index(item)
    assert reports == [("a", 1, 2), ("a", 2, 2)]
