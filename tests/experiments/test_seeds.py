"""The experiments on seed words: the seeds are what they claim to be."""

from argparse import Namespace

import numpy as np

from experiments import seeds
from experiments.planted import Corpus

NONE = Namespace(quick=True, cells=None, seeds=None)


def test_wrong_seeds_lead_no_common_topic_and_true_ones_lead_their_own():
    corpus, rng = seeds.draw("quick", 3), np.random.default_rng(0)
    leading = np.argsort(-corpus.topic_word, axis=1, kind="stable")[:, : seeds.N_LEADING]
    for method in seeds.TRUE:
        assert all(
            set(pair) <= set(words) for pair, words in zip(seeds.choose_true(corpus, method, rng), leading, strict=True)
        )
    for method in seeds.WRONG:
        assert not any(set(pair) <= set(words) for pair in seeds.choose_wrong(corpus, method, rng) for words in leading)


def test_words_share_a_topic_in_which_both_are_clearly_more_probable():
    topics = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6], [0.1, 0.1, 0.2, 0.6]])
    corpus = Corpus(None, [], topics, np.zeros((0, 3)))
    assert seeds.shares_topic(corpus, 0, [0, 1])
    assert not seeds.shares_topic(corpus, 0, [0, 2])
    assert not seeds.shares_topic(corpus, 1, [0, 1])


def test_recovery_of_the_truth_is_one_whatever_the_order():
    topics = np.random.default_rng(1).dirichlet(np.full(30, 0.1), 4)
    corpus = Corpus(None, [], topics, np.zeros((0, 4)))
    assert seeds.measure_recovery(corpus, topics[[2, 0, 3, 1]]) > 1 - 1e-12
    assert seeds.measure_recovery(corpus, topics[[2, 0, 3, 3]]) < 1 - 1e-3


def test_every_kind_of_seed_has_a_row(tmp_path, capsys):
    cells = [*seeds.plan(NONE)]
    results = seeds.Results(tmp_path, seeds.EXPERIMENT)
    results.resume()
    for cell in cells:
        results.add(cell, dict.fromkeys(seeds.expected(cell), 1.0))
    results.save()
    assert seeds.render(tmp_path) == 0
    printed = capsys.readouterr().out
    assert all(method in printed for method in (*seeds.TRUE, *seeds.WRONG))
