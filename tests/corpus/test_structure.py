"""Matrices with index arrays that point outside are refused wherever users pass them: compiled code trusts them."""

import numpy as np
import pytest
import scipy.sparse as sp

from anchorless import AnchorFree, Corpus, Documents, TopicModel
from anchorless._corpus.sparse import to_canonical_csr
from anchorless.errors import InputError

WORDS = ["a", "b", "c", "d"]
X = sp.csr_matrix(np.kron(np.eye(2), np.ones((10, 2))) + np.random.default_rng(0).poisson(0.3, (20, 4)))


def make_broken(part, place, value, format="csr"):
    broken = X.asformat(format).copy()
    (broken.coords[1] if format == "coo" else getattr(broken, part))[place] = value
    return broken


BROKEN = {
    "index too large": make_broken("indices", 3, 4),
    "index far too large": make_broken("indices", 3, 2**30),
    "negative index": make_broken("indices", 3, -1),
    "decreasing indptr": make_broken("indptr", 3, 2**20),
    "indptr beyond the data": make_broken("indptr", -1, 2**20),
    "negative indptr": make_broken("indptr", 3, -5),
    "csc": make_broken("indices", 3, 2**30, "csc"),
    "coo": make_broken("col", 3, 2**30, "coo"),
}


@pytest.fixture(scope="module")
def model():
    return TopicModel(2).fit_counts(X, WORDS)


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize(
    "use",
    [
        to_canonical_csr,
        lambda B: Documents([X, B]),
        lambda B: Documents.from_matrix(B),
        lambda B: AnchorFree(2).fit(B),
        lambda B: AnchorFree(2).fit([X, B]),
        lambda B: AnchorFree(2).fit(X).transform(B),
        lambda B: TopicModel(2).fit_counts(B, WORDS),
        lambda B: TopicModel(2, likelihood=True).fit_counts(B, WORDS),
        lambda B: Corpus.from_counts(B, WORDS),
    ],
)
def test_broken_matrices_are_refused(use, name):
    with pytest.raises(InputError, match="index arrays"):
        use(BROKEN[name])


@pytest.mark.parametrize("name", BROKEN)
def test_a_fitted_model_refuses_them(model, name):
    with pytest.raises(InputError, match="index arrays"):
        model.transform_counts(BROKEN[name])


def test_room_after_the_last_entry_is_no_entry():
    loose = X.copy()
    loose.data, loose.indices = np.append(X.data, np.nan), np.append(X.indices, 2**30).astype(np.int32)
    np.testing.assert_array_equal(to_canonical_csr(loose).toarray(), X.toarray())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_every_valid_format_is_accepted(format):
    np.testing.assert_array_equal(to_canonical_csr(X.asformat(format)).toarray(), X.toarray())
