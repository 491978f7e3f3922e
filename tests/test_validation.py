"""What users pass is checked once: good input passes, bad input is refused with its place and a remedy."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from anchorless import Documents
from anchorless._validation import (
    check_blocks,
    check_choice,
    check_positive,
    check_whole,
    count_cores,
    resolve_constraint,
    resolve_job_count,
    validate_matrix,
)
from anchorless.errors import InputError


class Reader(BaseEstimator):
    """An estimator that does nothing, to be named in messages."""


@pytest.fixture
def reader():
    return Reader()


@pytest.fixture
def X():
    return np.random.default_rng(0).integers(0, 3, (5, 4)).astype(float)


def unsorted(container):
    """Return a constructor of CSR or CSC that stores the entries of each row or column from last to first."""

    def construct(dense):
        X = container(dense)
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            X.data[start:stop] = X.data[start:stop][::-1].copy()
            X.indices[start:stop] = X.indices[start:stop][::-1].copy()
        X.has_sorted_indices = False
        return X

    return construct


FORMS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "list": np.ndarray.tolist,
    "DataFrame": pd.DataFrame,
    "object": lambda dense: dense.astype(object),
    "csr": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "csc unsorted": unsorted(sp.csc_matrix),
    "csr unsorted": unsorted(sp.csr_matrix),
}
EVERY_FORM = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


def test_a_choice_among_the_choices_passes():
    check_choice("norm", None, ("l1", None))
    check_choice("norm", "l1", ("l1", None))


def test_another_choice_is_refused_with_the_choices():
    with pytest.raises(InputError, match=r"^norm='l3', but it must be one of 'l1', None$"):
        check_choice("norm", "l3", ("l1", None))


@pytest.mark.parametrize(("value", "least"), [(1, 1), (7, 1), (np.int64(2), 2), (np.uint8(0), 0)])
def test_whole_numbers_pass_as_int(value, least):
    result = check_whole("n", value, least)
    assert result == value
    assert type(result) is int


@pytest.mark.parametrize(
    ("value", "least"), [(0, 1), (2, 3), (-1, 0), (2.0, 1), (1.5, 1), (True, 1), ("3", 1), (None, 1), (np.nan, 1)]
)
def test_other_numbers_are_refused_with_the_limit(value, least):
    with pytest.raises(InputError, match=f"^n={value!r}, but it must be a whole number of at least {least}$"):
        check_whole("n", value, least)


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2.5), np.int64(3), 1e-300])
def test_positive_numbers_pass_as_float(value):
    result = check_positive("tol", value)
    assert result == value
    assert type(result) is float


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, -np.inf, True, "1", None, 1j])
def test_other_numbers_are_not_positive(value):
    with pytest.raises(InputError, match=r"^tol=.*, but it must be a finite number above 0$") as error:
        check_positive("tol", value)
    assert repr(value) in str(error.value)


def test_an_error_has_the_parameter_the_value_and_the_limit():
    with pytest.raises(InputError) as raised:
        check_whole("n", 0, 1)
    assert (raised.value.parameter, raised.value.value, raised.value.limit) == ("n", 0, 1)
    with pytest.raises(InputError) as raised:
        check_choice("norm", "l3", ("l1", None))
    assert (raised.value.parameter, raised.value.value, raised.value.limit) == ("norm", "l3", ("l1", None))


@pytest.mark.parametrize("constraint", ["reliable", "all"])
def test_the_constraints_are_their_own_names(constraint):
    assert resolve_constraint(constraint) == constraint


@pytest.mark.parametrize("constraint", ["soft", None, ["all"], 1])
def test_other_constraints_are_refused_without_the_old_words(constraint):
    with pytest.raises(InputError, match=r"it must be one of 'reliable', 'all'$"):
        resolve_constraint(constraint)


@pytest.mark.parametrize("n_jobs", [1, 7, np.int64(3)])
def test_a_number_of_jobs_is_kept(n_jobs):
    assert resolve_job_count(n_jobs) == n_jobs
    assert type(resolve_job_count(n_jobs)) is int


@pytest.mark.parametrize(("n_jobs", "n_threads"), [(None, 4), (-1, 4), (-2, 3), (-4, 1), (-5, 1), (-100, 1)])
def test_negative_numbers_of_jobs_count_from_the_number_of_cores(monkeypatch, n_jobs, n_threads):
    monkeypatch.setattr("anchorless._validation.count_cores", lambda: 4)
    assert resolve_job_count(n_jobs) == n_threads


@pytest.mark.parametrize("n_jobs", [0, 1.5, 2.0, True, "2"])
def test_other_numbers_of_jobs_are_refused(n_jobs):
    with pytest.raises(InputError, match=f"^n_jobs={n_jobs!r}, but it must be a whole number other than 0.*-1 for"):
        resolve_job_count(n_jobs)


def test_the_cores_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 4, 5}, raising=False)
    assert count_cores() == 3


@pytest.mark.parametrize(("cores", "threads"), [(6, 6), (None, 1)])
def test_without_affinity_all_cores_are_counted(monkeypatch, cores, threads):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert count_cores() == threads


@EVERY_FORM
def test_good_data_pass_as_double_precision(reader, X, form):
    result = validate_matrix(reader, form(X), reset=True)
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result.toarray() if sp.issparse(result) else result, X)
    assert reader.n_features_in_ == 4


@EVERY_FORM
@pytest.mark.parametrize(
    ("value", "begin", "remedy"),
    [
        (-2.5, "Negative values in data passed to Reader", "must be at least 0"),
        (np.nan, "Input X contains NaN", "replace or drop it before Reader"),
        (np.inf, "Input X contains infinity", "replace or drop it before Reader"),
        (-np.inf, "Input X contains infinity", "replace or drop it before Reader"),
    ],
)
def test_a_bad_entry_is_named_with_its_place(reader, X, form, value, begin, remedy):
    X[3, 1] = value
    with pytest.raises(InputError, match=f"^{begin}: document 3, word 1 is {value};.*{remedy}"):
        validate_matrix(reader, form(X), reset=True)


@EVERY_FORM
def test_the_first_bad_entry_in_reading_order_is_named(reader, X, form):
    X[1, 3], X[2, 0], X[1, 2], X[4, 0] = np.nan, -1.0, -7.0, np.inf
    with pytest.raises(InputError, match=r"document 1, word 2 is -7\.0"):
        validate_matrix(reader, form(X), reset=True)


def stored_twice(container, value):
    """Return a 2 × 2 matrix that stores its first entry twice."""
    data = np.array([value, value])
    if container is sp.coo_matrix:
        return container((data, ([0, 0], [0, 0])), shape=(2, 2))
    return container((data, np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 2))


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])
@pytest.mark.parametrize("value", [np.uint8(200), np.int8(100), np.uint16(60_000)])
def test_duplicates_of_small_integers_do_not_wrap_around(reader, container, value):
    result = validate_matrix(reader, stored_twice(container, value), reset=True)
    np.testing.assert_array_equal(result.toarray(), [[2.0 * value, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("form", ["C order", "list", "DataFrame", "object"])
def test_text_is_refused_with_a_remedy(reader, form):
    with pytest.raises(InputError, match=r"X holds text, but Reader needs numbers.*count the words first"):
        validate_matrix(reader, FORMS[form](np.array([["the", "cat"], ["sat", "down"]])), reset=True)


@pytest.mark.parametrize(("value", "named"), [(1e80, "1e\\+80"), (1e-80, "1e-80")])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_numbers_whose_squares_overflow_are_refused(reader, form, value, named):
    with pytest.raises(InputError, match=f"largest entry of X is {named}, outside 1e-75 … 1e\\+75; rescale X"):
        validate_matrix(reader, form(np.array([[0.0, value], [value / 2, 0.0]])), reset=True)


def test_a_bad_entry_of_a_block_is_named_with_its_document_among_all():
    blocks = [sp.csr_matrix(np.ones((n, 4))) for n in (3, 5, 2)]
    check_blocks(Documents(blocks), "Reader", 2)
    blocks[1][4, 2] = np.nan
    with pytest.raises(InputError, match=r"^Input X contains NaN: document 7, word 2 is nan; .* before Reader$"):
        check_blocks(Documents(blocks), "Reader", 2)


@pytest.mark.parametrize("X", [np.zeros((2, 3)), sp.csr_matrix((2, 3)), np.zeros((0, 3)), sp.csr_matrix((0, 3))])
def test_zeros_and_nothing_are_no_bad_entries(X):
    check_blocks(Documents([X]), "Reader", 1)


def test_another_width_than_at_training_is_refused(reader, X):
    validate_matrix(reader, X, reset=True)
    with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
        validate_matrix(reader, X[:, :3], reset=False)


@EVERY_FORM
def test_what_is_passed_stays_as_it_was(reader, X, form):
    given = form(X)
    validate_matrix(reader, given, reset=True)
    again = given.toarray() if sp.issparse(given) else np.asarray(given, dtype=float)
    np.testing.assert_array_equal(again, X)
