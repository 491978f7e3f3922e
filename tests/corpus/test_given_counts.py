import numpy as np
import pytest
import scipy.sparse as sp

from anchorless._corpus.documents import Documents
from anchorless._corpus.given_counts import validate_documents, validate_vocabulary
from anchorless.errors import InputError

X = np.array([[1, 0, 2], [0, 1, 1], [1, 2, 0]])
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
    np.testing.assert_array_equal(sp.vstack(validate_documents(form(X), "X").blocks).toarray(), X)


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
        validate_documents(given, "X")


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
