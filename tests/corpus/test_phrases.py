"""Phrases: found by the test, counted as if the texts had been rewritten, everywhere the same."""

import itertools
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency

from anchorless import Corpus, CountSettings, TopicModel
from anchorless._corpus.counting import count_with_vocabulary
from anchorless._corpus.phrases import compute_likelihood_ratio, drop_overlaps
from anchorless.errors import InputError

SETTINGS = CountSettings(phrases=True, stop_words="english", min_df=2, max_df=1.0)


def make_texts(n=400, seed=0):
    """Random words, in which "new york" and "climate change" are planted, and their words also alone."""
    rng = random.Random(seed)
    plain = [f"w{i}" for i in range(40)] + ["new", "york", "climate", "change", "policy"]
    texts = []
    for _ in range(n):
        words = rng.choices(plain, k=12)
        for phrase in rng.choices(["new york", "climate change", ""], k=3):
            words.insert(rng.randrange(len(words)), phrase)
        texts.append(" ".join(word for word in words if word))
    return texts


@pytest.fixture(scope="module")
def corpus():
    with Corpus.from_texts(make_texts(), counting=SETTINGS) as corpus:
        yield corpus


def test_planted_phrases_are_found_and_no_others(corpus):
    assert [word for word in corpus.vocabulary if " " in word] == ["climate change", "new york"]


def test_no_phrase_is_found_in_words_in_random_order():
    rng = random.Random(1)
    texts = [" ".join(rng.choices([f"w{i}" for i in range(30)], k=20)) for _ in range(300)]
    with Corpus.from_texts(texts, counting=SETTINGS) as shuffled:
        assert not any(" " in word for word in shuffled.vocabulary)


def test_counts_are_those_of_rewritten_texts(corpus):
    texts = make_texts()
    rows = []
    for text in texts:
        joined = text.replace("climate change", "climate_change").replace("new york", "new_york").split()
        rows.append(Counter(word.replace("_", " ") for word in joined))
    expected = np.array([[row[word] for word in corpus.vocabulary] for row in rows])
    assert (corpus.to_matrix().toarray() == expected).all()
    assert corpus.n_tokens == expected.sum()


def test_a_mark_between_words_separates_them():
    filler = [" ".join(f"w{(7 * i + j) % 90}" for j in range(12)) for i in range(200)]
    texts = [f"w{i} new york w{i + 40}" for i in range(30)] + ["it is new. york is old", "new and york"] * 30 + filler
    with Corpus.from_texts(texts, counting=SETTINGS) as corpus:
        counts = dict(zip(corpus.vocabulary, corpus.to_matrix().sum(axis=0).tolist()[0], strict=True))
    assert counts["new york"] == 30
    assert counts["new"] == counts["york"] == 60


def test_counts_on_disk_and_of_a_given_vocabulary_are_the_same(corpus):
    texts = make_texts()
    with Corpus.from_texts(texts, counting=SETTINGS, memory=1) as stored:
        assert stored.vocabulary == corpus.vocabulary
        assert (stored.to_matrix() != corpus.to_matrix()).nnz == 0
        assert stored.n_tokens == corpus.n_tokens
    (again,) = count_with_vocabulary([pa.array(texts, pa.large_string())], corpus.vocabulary, SETTINGS, 1)
    assert (again.counts != corpus.to_matrix()).nnz == 0
    assert again.n_unknown == 0


def test_words_of_a_known_phrase_are_not_unknown():
    (batch,) = count_with_vocabulary([pa.array(["new york new thing"])], ["new york", "thing"], SETTINGS, 1)
    assert batch.n_tokens == 4
    assert batch.n_unknown == 1


def test_the_statistic_is_the_likelihood_ratio_of_a_table():
    found = compute_likelihood_ratio(np.array([30]), np.array([50]), np.array([80]), 1000)
    table = [[30, 20], [50, 900]]
    assert found[0] == pytest.approx(chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic)


def test_no_word_begins_one_phrase_and_ends_another():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 12, (2, 60))
    kept = drop_overlaps(first, second, np.flatnonzero(first != second))
    assert not set(first[kept]) & set(second[kept])
    assert kept.size
    assert all(a != b for a, b in itertools.pairwise(kept))


@pytest.mark.filterwarnings("ignore")
def test_transform_applies_the_phrases_of_the_fit(tmp_path):
    texts = make_texts(120)
    model = TopicModel(3, phrases=True, min_df=2, n_jobs=1).fit(texts)
    model.save(tmp_path / "m")
    again = TopicModel.load(tmp_path / "m")
    assert (again.transform(texts[:9]) == model.document_topics_[:9]).all()
    assert again.fitted_counting_.phrases


def test_phrases_and_ngrams_exclude_each_other():
    with pytest.raises(InputError, match="phrases are found among single words"):
        CountSettings(phrases=True, ngram_range=(1, 2))
    with pytest.raises(InputError, match="cannot find phrases"):
        TopicModel(2, phrases=True).partial_fit(["a b", "c d"])
