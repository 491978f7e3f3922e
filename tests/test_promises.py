"""The numerical promises of docs/reproducibility.md, by the public API; `make test-kernels` runs them per kernel."""

import json
import subprocess
import sys

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from anchorless import SPA, AnchorFree, TopicModel, datasets, metrics
from tests.helpers.command_runs import without_coverage
from tests.helpers.kernels import executable_settings, publish_numbers
from tests.helpers.planted_texts import planted_texts

pytestmark = pytest.mark.kernels

#: What is promised between processors, and between storage in memory, on disk and on a cluster.
AGREEMENT = 1e-10
#: The paper's design: squared error of the topics.
EXACT = 1e-14
#: Fits in a process of its own, whose kernel is set by the environment.
FIT = """
import json, sys
from tests.helpers.kernels import publish_numbers
json.dump(publish_numbers(), sys.stdout)
"""


@pytest.fixture(autouse=True)
def _two_blas_threads():
    """The promises hold whatever the threads of BLAS."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.fixture(scope="module")
def texts():
    return planted_texts(160, 0)[0]


@pytest.fixture(scope="module")
def counts():
    return datasets.sampled_corpus(400, 5, 300, random_state=0).counts


def test_numbers_agree_between_kernels():
    reference = publish_numbers()
    settings = executable_settings()
    assert settings
    for name, variables in settings.items():
        environment = without_coverage() | variables
        run = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True)
        assert run.returncode == 0, f"{name}: {run.stderr}"
        for key, values in json.loads(run.stdout).items():
            assert_allclose(values, reference[key], rtol=0, atol=AGREEMENT, err_msg=f"{key} with {name}")


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_threads_does_not_change_a_bit(n_jobs, texts, counts):
    one, many = (TopicModel(n_topics=4, n_jobs=n).fit(texts) for n in (1, n_jobs))
    assert_array_equal(one.components_, many.components_)
    assert_array_equal(one.document_topics_, many.document_topics_)
    assert_array_equal(one.topic_correlation_, many.topic_correlation_)
    one, many = (AnchorFree(5, n_jobs=n).fit(counts) for n in (1, n_jobs))
    assert_array_equal(one.components_, many.components_)
    assert_array_equal(one.transform(counts), many.transform(counts))


def test_a_second_fit_has_the_same_bits(counts):
    first, second = (AnchorFree(5).fit(counts) for _ in range(2))
    assert_array_equal(first.components_, second.components_)
    assert first.log_volume_ == second.log_volume_


def test_a_document_alone_has_the_bits_that_it_has_in_a_batch(texts, counts):
    model = TopicModel(n_topics=4).fit(texts)
    together = model.transform(texts)
    for size in (1, 7):
        for start in (0, 50, 153):
            alone = model.transform(texts[start : start + size])
            assert_array_equal(alone, together[start : start + size])
    for estimator in (AnchorFree(5).fit(counts), SPA(5).fit(counts)):
        together = estimator.transform(counts)
        for row in (0, 17, 399):
            assert_array_equal(estimator.transform(counts[row : row + 1])[0], together[row])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_topics", [3, 10, 20])
def test_topics_of_the_paper_design_are_exact(n_topics, seed):
    planted = datasets.planted_topics(n_topics, random_state=seed)
    model = AnchorFree(n_topics).fit_cooccurrence(planted.cooccurrence)
    assert metrics.recovery_error(model.components_, planted.components) <= EXACT


def test_words_without_weight_are_not_listed():
    model = TopicModel(n_topics=2, max_df=1.0).fit(
        ["cat chased mouse", "mouse fears cat", "rocket reached orbit", "orbit of moon rocket"]
    )
    for number, topic in enumerate(model.topics(n_words=10)):
        columns = [list(model.vocabulary_).index(word) for word in topic.words]
        assert (model.components_[number, columns] > 1e-12).all(), topic.words
