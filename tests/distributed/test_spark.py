import pickle
import shutil
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from anchorless import TopicModel
from anchorless._corpus.counting import batch_texts, count_texts
from anchorless._corpus.documents import Documents
from anchorless._corpus.settings import CountSettings
from anchorless.errors import InputError
from tests.helpers.clusters import StillDocuments, blocks_of, entry, numbers
from tests.helpers.planted_texts import planted_texts

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'anchorless[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs a Java runtime: apt install default-jre-headless", allow_module_level=True)

from pyspark.sql import SparkSession

from anchorless.spark import count, from_blocks, transform

pytestmark = pytest.mark.filterwarnings("default")  # Spark's own


@pytest.fixture(scope="module")
def spark():
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # else any python3 that is found first
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    texts, labels = planted_texts(160)
    rows = [*zip(range(160), texts, labels, strict=True), (160, None, "none")]
    return spark.createDataFrame(rows, "id long, body string, label string").repartitionByRange(3, "id").cache()


@pytest.fixture(scope="module")
def counts(frame):
    return count(frame, "body")


def test_sums_follow_the_tree_of_one_machine(spark):
    blocks = numbers(290, np.random.default_rng(0))
    there = from_blocks(spark.sparkContext.parallelize(blocks, 3))
    assert there.shape == (290, 1)
    assert np.array_equal(there.sum_blocks(entry, 1), Documents(blocks).sum_blocks(entry, 1))
    assert (there.take_rows([280, 5, 5]) != sp.vstack(blocks).tocsr()[[280, 5, 5]]).nnz == 0


def test_texts_are_counted_as_on_one_machine(frame, counts):
    texts = [row["body"] or "" for row in frame.collect()]
    expected = count_texts(batch_texts(texts), CountSettings(), 1)
    assert counts.vocabulary == expected.vocabulary
    assert np.array_equal(counts.document_frequency, expected.document_frequency)
    assert (counts.n_tokens, counts.n_documents) == (expected.n_tokens, 161)
    assert (sp.vstack(blocks_of(counts.blocks)) != sp.vstack(expected.blocks)).nnz == 0


def test_a_fit_has_the_bits_of_the_local_one(frame, counts):
    model = TopicModel(4, weighting="counts", constraint="hard")  # fewer passes
    here = counts._replace(blocks=StillDocuments(blocks_of(counts.blocks)))
    remote, local = clone(model).fit_counted(counts), clone(model).fit_counted(here)
    assert np.array_equal(remote.components_, local.components_)
    rows = transform(remote, frame, "body").orderBy("id").collect()
    texts = [row["body"] or "" for row in rows]
    assert [row["id"] for row in rows] == [*range(161)]
    assert np.array_equal(np.array([row["topics"] for row in rows]), local.transform(texts))


def test_what_cannot_be_used_is_refused(spark, frame, counts):
    with pytest.raises(InputError, match=r"column 'text' is not there; there are id \(bigint\), body"):
        count(frame, "text")
    with pytest.raises(InputError, match="'id' holds bigint"):
        count(frame, "id")
    with pytest.raises(InputError, match=r"\[1, 2\] columns"):
        from_blocks(spark.sparkContext.parallelize([sp.eye(1, 1), sp.eye(2, 2)], 2))
    with pytest.raises(pickle.PicklingError, match="stay with their session"):
        counts.blocks.sum_blocks(lambda D: D @ np.ones(counts.blocks.shape[1]), 1)
