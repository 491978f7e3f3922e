import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from anchorless._corpus.documents import Documents
from anchorless._corpus.user_counts import match_vectorizer, validate_blocks, validate_vocabulary, vectorize_texts
from anchorless.errors import InputError

TEXTS = ["one two two", "two three", "three three one"]
X = np.array([[1, 0, 2], [0, 1, 1], [1, 2, 0]])


def dense(blocks):
    return sp.vstack(blocks).toarray()


def test_an_unfitted_vectorizer_is_fitted_as_a_copy():
    given = CountVectorizer()
    counted = vectorize_texts(given, iter(TEXTS))
    assert not hasattr(given, "vocabulary_")
    assert counted.vocabulary == ["one", "three", "two"]
    np.testing.assert_array_equal(dense(counted.blocks), X)
    np.testing.assert_array_equal(counted.vectorizer.transform(TEXTS).toarray(), X)


def test_a_fitted_vectorizer_is_used_as_it_is():
    given = CountVectorizer().fit(["two", "four"])
    counted = vectorize_texts(given, TEXTS)
    assert counted.vectorizer is given
    assert counted.vocabulary == ["four", "two"]
    np.testing.assert_array_equal(dense(counted.blocks), [[0, 2], [0, 1], [0, 0]])


def test_a_fixed_vocabulary_needs_no_fit():
    counted = vectorize_texts(CountVectorizer(vocabulary=["two", "one"]), TEXTS)
    assert counted.vocabulary == ["two", "one"]
    np.testing.assert_array_equal(dense(counted.blocks), [[2, 1], [1, 0], [0, 1]])


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
    np.testing.assert_array_equal(dense(counted.blocks), [[1, 1], [0, 2]])


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


FORMS = [
    lambda X: X,
    sp.csr_matrix,
    sp.csc_array,
    lambda X: sp.coo_matrix(X.astype(np.uint8)),
    lambda X: [sp.csr_matrix(X[:1]), sp.csr_matrix(X[1:])],
    lambda X: Documents([X[:2], X[2:]]),
    lambda X: X.tolist(),
]


@pytest.mark.parametrize("form", FORMS)
def test_counts_may_come_in_any_form(form):
    np.testing.assert_array_equal(dense(validate_blocks(form(X), "X")), X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(3), r"shape \(3,\)"),
        ([["a", "b"]], "give numbers"),
        (-X, "Negative values"),
        (X * np.nan, "NaN"),
        ([X, np.full((1, 3), np.inf)], "infinity"),
    ],
)
def test_what_is_no_count_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        validate_blocks(given, "X")


@pytest.mark.parametrize("given", [["b", "a"], ("b", "a"), np.array(["b", "a"]), iter("ba"), {"a": 1, "b": 0}])
def test_a_vocabulary_in_any_form(given):
    words = validate_vocabulary(given, 2)
    assert words == ["b", "a"]
    assert {type(word) for word in words} == {str}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "1 words in the vocabulary for 2 columns"),
        (["a", "a"], "the vocabulary has 'a' 2 times"),
        (["a", 5], r"vocabulary\[1\] is 5"),
        ("ab", "must be a sequence of words"),
        (None, "must be a sequence of words"),
        ([], "0 words"),
    ],
)
def test_a_vocabulary_that_does_not_fit(given, message):
    with pytest.raises(InputError, match=message):
        validate_vocabulary(given, 2)
