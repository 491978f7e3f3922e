"""A fit says how far it is to whoever listens, and to nobody else."""

import threading

import numpy as np
import pytest

from anchorless import AnchorFree, TopicModel
from anchorless.progress import listen, report, track
from tests.helpers.planted_texts import planted_texts

STAGES = ["weighing", "spectrum", "constraints", "volume", "refinement", "moments", "documents", "summary"]


def heard_in(function):
    heard = []
    with listen(lambda *said: heard.append(said)):
        function()
    return heard


@pytest.mark.parametrize("n_topics", [2, 4])
def test_the_stages_of_a_fit_are_told_in_their_order(n_topics):
    texts, _ = planted_texts(80, 1)
    heard = heard_in(lambda: TopicModel(n_topics).fit(texts))
    assert list(dict.fromkeys(stage for stage, _, _ in heard)) == STAGES
    for stage in STAGES:
        ends = [(done, total) for name, done, total in heard if name == stage]
        assert ends[-1][0] == ends[-1][1]  # the last word of each stage is that it is done
    assert any(total is None for name, _, total in heard if name == "volume")
    assert sum(name == "refinement" for name, _, _ in heard) > 3


def test_listening_changes_no_bit():
    X = np.random.default_rng(0).poisson(1.0, (60, 40)).astype(float)
    alone = AnchorFree(3).fit(X).components_
    with listen(lambda *_: None):
        assert np.array_equal(AnchorFree(3).fit(X).components_, alone)


def test_nobody_listens_after_the_block_even_if_it_fails():
    heard = []
    with pytest.raises(KeyboardInterrupt), listen(lambda *said: heard.append(said)):
        raise KeyboardInterrupt
    report("a", 1, 1)
    assert heard == []


def test_an_inner_listener_gives_the_ear_back():
    outer, inner = [], []
    with listen(lambda *said: outer.append(said)):
        with listen(lambda *said: inner.append(said)):
            report("a", 1, 2)
        report("a", 2, 2)
    assert (outer, inner) == ([("a", 2, 2)], [("a", 1, 2)])


def test_another_thread_is_not_overheard():
    def aloud():
        thread = threading.Thread(target=report, args=("a", 1, 1))
        thread.start()
        thread.join()

    assert heard_in(aloud) == []


def test_an_item_is_done_when_the_next_is_asked_for():
    heard = []
    with listen(lambda *said: heard.append(said)):
        for item in track("a", "xy", 2):
            assert len(heard) == "xy".index(item)
    assert heard == [("a", 1, 2), ("a", 2, 2)]
