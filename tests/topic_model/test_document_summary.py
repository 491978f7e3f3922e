import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from anchorless import TopicModel
from anchorless._core.proportions import find_nearest_mixtures
from anchorless._corpus.metadata import validate_metadata
from anchorless._topic_model.document_summary import MAX_LABELS, MixtureAccumulator
from anchorless._topic_model.mixtures import Mixtures
from tests.helpers.tolerances import ROUNDING


def mixtures(seed, n=500, n_topics=5):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_topics, 0.3), n).round(2)  # rounded: many are equal
    shares[rng.random(n) < 0.1] = 0.0
    return Mixtures(shares, rng.random(n).round(1))


def metadata(seed, n=500):
    rng = np.random.default_rng(seed)
    labels = [None if rng.random() < 0.2 else f"l{int(150 * rng.random() ** 2)}" for _ in range(n)]
    days = np.datetime64("2001-01-01") + rng.integers(0, 700 if seed % 2 else 40, n)
    return validate_metadata(n, None, labels, [None if rng.random() < 0.1 else str(day) for day in days])


@pytest.mark.parametrize("limit", [40, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_batches_change_nothing(seed, limit):
    whole, known = mixtures(seed), metadata(seed)
    at_once = MixtureAccumulator(500, 5, known, limit)
    at_once.add(whole)
    expected = at_once.result(whole)
    passing = MixtureAccumulator(500, 5, known, limit)
    for start in range(0, 500, 70):
        passing.add(Mixtures(whole.shares[start : start + 70], whole.explained[start : start + 70]))
    found = passing.result(whole)
    np.testing.assert_array_equal(found.positions, expected.positions)
    np.testing.assert_array_equal(found.mixtures.shares, expected.mixtures.shares)
    np.testing.assert_array_equal(found.mixtures.explained, expected.mixtures.explained)
    assert (found.n_documents, found.n_with_words) == (expected.n_documents, expected.n_with_words)
    np.testing.assert_allclose(found.mean_explained, expected.mean_explained, rtol=ROUNDING)
    for name, labels in (("by_label", "names"), ("by_period", "periods")):
        here, there = getattr(found, name), getattr(expected, name)
        assert getattr(here, labels) == getattr(there, labels)
        assert here.counts == there.counts
        np.testing.assert_allclose(here.values, there.values, rtol=ROUNDING)


def test_without_labels_dates_or_a_known_word_there_are_no_tables():
    nothing = Mixtures(np.zeros((3, 2)), np.zeros(3))
    for known in (validate_metadata(3, None, None, None), validate_metadata(3, None, ["a"] * 3, ["2001"] * 3)):
        passing = MixtureAccumulator(3, 2, known)
        passing.add(nothing)
        found = passing.result(nothing)
        assert found.by_label is None
        assert found.by_period is None
        assert (found.n_with_words, found.mean_explained) == (0, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_documents_of_largest_score_represent_the_topics(seed):
    """Brute force: half of the documents are those of largest share · explained, topic by topic in turns.

    The others are evenly spaced.
    """
    whole = mixtures(seed)
    accumulator = MixtureAccumulator(500, 5, metadata(seed), 40)
    accumulator.add(whole)
    scores = whole.shares * whole.explained[:, None]
    best = [np.argsort(-score, kind="stable")[:8] for score in scores.T]
    in_turns = [int(positions[depth]) for depth in range(8) for positions in best]
    found = accumulator.result(whole).positions
    assert found[:20].tolist() == list(dict.fromkeys(in_turns))[:20]
    others = np.setdiff1d(np.arange(500), found[:20])
    ranks = np.searchsorted(others, found[20:])
    np.testing.assert_array_equal(others[ranks], found[20:])
    assert (ranks[0], ranks[-1]) == (0, 479)
    assert set(np.diff(ranks)) <= {25, 26}


def summarize(shares, **known):
    accumulator = MixtureAccumulator(len(shares), shares.shape[1], validate_metadata(len(shares), **NOTHING | known))
    whole = Mixtures(shares, np.ones(len(shares)))
    accumulator.add(whole)
    return accumulator.result(whole)


NOTHING = {"ids": None, "labels": None, "dates": None}


def test_by_label_is_the_mean_of_each_group():
    rng = np.random.default_rng(0)
    shares, labels = rng.dirichlet(np.ones(3), 40), rng.choice(["x", "y", "z"], 40).tolist()
    shares[3], labels[5] = 0.0, None  # neither counts
    table = summarize(shares, labels=labels).by_label
    frame = pd.DataFrame(shares).assign(label=labels)
    frame = frame[shares.any(axis=1)].groupby("label")
    assert dict(zip(table.names, table.counts, strict=True)) == frame.size().to_dict()
    assert table.counts == sorted(table.counts, reverse=True)
    np.testing.assert_allclose(table.values, frame.mean().loc[table.names], rtol=ROUNDING)


def test_by_label_keeps_the_most_frequent():
    labels = [f"{i:03}" for i in range(MAX_LABELS + 5)] + ["104"]
    table = summarize(np.ones((len(labels), 1)), labels=labels).by_label
    assert len(table.names) == MAX_LABELS
    assert table.names[:3] == ["104", "000", "001"]


def test_no_label_no_table():
    assert summarize(np.ones((2, 1)), labels=[None, None]).by_label is None
    assert summarize(np.zeros((2, 1)), labels=["a", "b"]).by_label is None


@pytest.mark.parametrize(
    ("dates", "periods"),
    [
        (["2001-03-04", "2001-03-05", "2001-03-04T23:59:59"], ["2001-03-04", "2001-03-05"]),
        (
            [f"2001-{m:02}-{d:02}" for m in range(1, 13) for d in (1, 9, 17, 20, 25, 28)],
            [f"2001-{m:02}" for m in range(1, 13)],
        ),
        (
            [f"{year}-{month:02}" for year in range(1990, 2000) for month in range(1, 13)],
            [str(y) for y in range(1990, 2000)],
        ),
        (["1993", "1994", "1994"], ["1993-01-01", "1994-01-01"]),
    ],
)
def test_periods_are_days_months_or_years(dates, periods):
    table = summarize(np.ones((len(dates), 1)), dates=dates).by_period
    assert table.periods == periods
    assert sum(table.counts) == len(dates)


def test_by_period_is_the_mean_of_each_group():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 40)
    days = [f"2020-01-{d:02}" for d in rng.integers(1, 9, 40)]
    shares[3], days[5], days[6] = 0.0, None, "one day"
    table = summarize(shares, dates=days).by_period
    frame = pd.DataFrame(shares).assign(day=days)[shares.any(axis=1) & (np.array(days) != "one day")].groupby("day")
    assert table.periods == sorted(frame.groups)
    assert table.counts == frame.size().tolist()
    np.testing.assert_allclose(np.transpose(table.values), frame.mean(), rtol=ROUNDING)


def test_one_period_says_nothing_about_time():
    assert summarize(np.ones((2, 1)), dates=["2001-01-01", "2001-01-01"]).by_period is None
    assert summarize(np.ones((2, 1)), dates=[None, "soon"]).by_period is None


def compute_reach(own, every):
    """Return half the width of 90% intervals: six documents with the variance of all count beside those of a group."""
    n = len(own)
    variance = (((own - own.mean(axis=0)) ** 2).sum(axis=0) + 6 * every.var(axis=0, ddof=1)) / (n - 1 + 6)
    return student.ppf(0.95, n - 1 + 6) * np.sqrt(variance / n)


def test_means_of_projections_have_intervals_with_the_spread_of_all_documents():
    rng = np.random.default_rng(3)
    shares, labels = rng.normal(1 / 3, 0.4, (60, 3)), rng.choice(["x", "y"], 60).tolist()
    labels[7], shares[7, 0], shares[11, 0] = "alone", -0.3, -0.5  # estimates without bias may be negative
    shares[:, 2] = 1 - shares[:, 0] - shares[:, 1]
    known = np.arange(60) != 9
    days = [f"20{10 + i % 7}-01-01" for i in range(60)]
    accumulator = MixtureAccumulator(60, 3, validate_metadata(60, None, labels, days))
    whole = Mixtures(np.full((60, 3), 1 / 3), np.ones(60))
    topics = rng.dirichlet(np.ones(20), 3)
    found = accumulator.result(whole, [(shares[:25], known[:25]), (shares[25:], known[25:])], topics)
    table = found.by_label
    for name, mean, low, high, count in zip(
        table.names, table.values, table.low, table.high, table.counts, strict=True
    ):
        own = shares[known & (np.array(labels) == name)]
        center = own.mean(axis=0)
        np.testing.assert_allclose(mean, find_nearest_mixtures(center[None], topics)[0], rtol=1e-9)
        assert count == len(own)
        np.testing.assert_allclose(np.subtract(high, low), 2 * compute_reach(own, shares[known]))
        np.testing.assert_allclose(np.add(high, low) / 2, center, rtol=1e-9)
    own = shares[known & (np.array(days) == "2012-01-01")]
    assert found.by_period.counts[2] == len(own)
    reach = compute_reach(own, shares[known])
    np.testing.assert_allclose(np.array(found.by_period.low)[:, 2], own.mean(axis=0) - reach)


def test_means_of_short_documents_are_not_pulled_to_the_mean():
    """Planted: groups differ by 30 points, documents have 12 words. Means of mixtures understate the difference."""
    rng = np.random.default_rng(4)
    topics = np.vstack([np.repeat([3.0, 1.0], [20, 40]), np.repeat([1.0, 3.0], [40, 20])])
    topics /= topics.sum(axis=1, keepdims=True)
    labels = np.repeat(["a", "b"], 600)
    W = rng.dirichlet([2.0, 2.0], 1200) * 0.7 + np.where(labels == "a", 0.3, 0.0)[:, None] * [1, 0]
    W[:, 1] = 1 - W[:, 0]
    counts = np.array([rng.multinomial(12, w @ topics) for w in W], dtype=float)
    model = TopicModel(2, n_jobs=1).fit_counts(counts, [f"w{i}" for i in range(60)], labels=labels.tolist())
    table = model._get_record().kept.by_label
    first = int(np.argmax(model.topic_word_[:, :20].sum(axis=1)))
    rows = [table.names.index(name) for name in "ab"]
    difference = np.diff([table.values[i][first] for i in reversed(rows)])[0]
    mixtures = [model.document_topics_[labels == name, first].mean() for name in "ba"]
    assert abs(difference - 0.3) < abs(mixtures[1] - mixtures[0] - 0.3) - 0.03
    low, high = ([ends[i][first] for i in rows] for ends in (table.low, table.high))
    assert low[0] - high[1] < 0.3 < high[0] - low[1]
    merged = model.merge_topics([[0, 1]])._get_record().kept.by_label
    np.testing.assert_allclose(merged.low, np.sum(table.low, axis=1, keepdims=True))
    assert (
        TopicModel(2, likelihood=False)
        .fit_counts(counts, model.vocabulary_, labels=labels.tolist())
        ._record.kept.by_label.low
        is None
    )
