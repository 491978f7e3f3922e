import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from anchorless._corpus.vectorizer import match_vectorizer, vectorize_texts
from anchorless.errors import InputError

TEXTS = ["one two two", "two three", "three three one"]
X = np.array([[1, 0, 2], [0, 1, 1], [1, 2, 0]])


def dense(counts):
    return sp.csr_matrix(counts).toarray()


def test_an_unfitted_vectorizer_is_fitted_as_a_copy():
    given = CountVectorizer()
    counted = vectorize_texts(given, iter(TEXTS))
    assert not hasattr(given, "vocabulary_")
    assert counted.vocabulary == ["one", "three", "two"]
    np.testing.assert_array_equal(dense(counted.counts), X)
    np.testing.assert_array_equal(counted.vectorizer.transform(TEXTS).toarray(), X)


def test_a_fitted_vectorizer_is_used_as_it_is():
    given = CountVectorizer().fit(["two", "four"])
    counted = vectorize_texts(given, TEXTS)
    assert counted.vectorizer is given
    assert counted.vocabulary == ["four", "two"]
    np.testing.assert_array_equal(dense(counted.counts), [[0, 2], [0, 1], [0, 0]])


def test_a_fixed_vocabulary_needs_no_fit():
    counted = vectorize_texts(CountVectorizer(vocabulary=["two", "one"]), TEXTS)
    assert counted.vocabulary == ["two", "one"]
    np.testing.assert_array_equal(dense(counted.counts), [[2, 1], [1, 0], [0, 1]])


class Letters:
    """No estimator of scikit-learn, but one by its manners."""

    def fit_transform(self, texts):
        texts = list(texts)
        self.letters = sorted(set("".join(texts)))
        return self.transform(texts)

    def transform(self, texts):
        return np.array([[text.count(letter) for letter in self.letters] for text in texts])

    def get_feature_names_out(self):
        return self.letters


def test_any_object_with_the_three_methods_will_do():
    counted = vectorize_texts(Letters(), ["ab", "bb"])
    assert counted.vocabulary == ["a", "b"]
    np.testing.assert_array_equal(dense(counted.counts), [[1, 1], [0, 2]])


@pytest.mark.parametrize("given", [HashingVectorizer(), CountVectorizer, "count", 5])
def test_what_is_no_vectorizer_is_refused(given):
    with pytest.raises(InputError, match="give an object such as CountVectorizer"):
        vectorize_texts(given, TEXTS)


def test_what_the_vectorizer_complains_of_is_passed_on():
    with pytest.raises(InputError, match="CountVectorizer could not count the documents: empty vocabulary"):
        vectorize_texts(CountVectorizer(), ["", " "])


def test_a_vectorizer_that_stays_silent_is_refused():
    class Silent(Letters):
        def get_feature_names_out(self):
            raise AttributeError

    with pytest.raises(InputError, match="does not say its words"):
        vectorize_texts(Silent(), TEXTS)


def test_a_model_takes_only_a_vectorizer_of_its_words():
    fitted = CountVectorizer().fit(TEXTS)
    assert match_vectorizer(fitted, ["one", "three", "two"]) is fitted
    assert match_vectorizer(TfidfVectorizer().fit(TEXTS), ["one", "three", "two"])
    with pytest.raises(InputError, match="the CountVectorizer is not fitted"):
        match_vectorizer(CountVectorizer(), ["one"])
    with pytest.raises(InputError, match=r"counts 3 words and the model 3, .* \(column 1: 'three', 'ten'\)"):
        match_vectorizer(fitted, ["one", "ten", "two"])
    with pytest.raises(InputError, match="counts 3 words and the model 2, which are not the same; give"):
        match_vectorizer(fitted, ["one", "three"])
