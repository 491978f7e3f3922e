import numpy as np
import pytest

from anchorless._corpus.metadata import validate_metadata
from anchorless._topic_model import document_summary as gathered
from anchorless._topic_model.document_summary import MixtureAccumulator, summarize_mixtures
from anchorless._topic_model.mixtures import MixtureFile, Mixtures
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
def test_what_passes_is_gathered_as_what_is_there(seed, limit, monkeypatch):
    monkeypatch.setattr(gathered, "MAX_KEPT_DOCUMENTS", limit)
    whole, known = mixtures(seed), metadata(seed)
    expected = summarize_mixtures(whole, known)
    passing = MixtureAccumulator(500, 5, known, limit)
    for start in range(0, 500, 70):
        passing.add(Mixtures(whole.shares[start : start + 70], whole.explained[start : start + 70]))
    found = passing.result()
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
        found = passing.result()
        assert found.by_label is None
        assert found.by_period is None
        assert (found.n_with_words, found.mean_explained) == (0, 0.0)


def test_spooled_mixtures_come_back():
    whole = mixtures(0)
    with MixtureFile() as spool:
        for start in range(0, 500, 33):
            spool.add(Mixtures(whole.shares[start : start + 33], whole.explained[start : start + 33]))
        for _ in range(2):
            parts = [*spool.zip_tables([range(200), range(0), range(300)])]
            np.testing.assert_array_equal(np.vstack([part.shares for _, part in parts]), whole.shares)
            np.testing.assert_array_equal(np.concatenate([part.explained for _, part in parts]), whole.explained)
