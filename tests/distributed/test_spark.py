import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from anchorless import Corpus, TopicModel
from anchorless._corpus.counting import batch_texts, count_texts
from anchorless._corpus.documents import Documents
from anchorless._corpus.settings import CountSettings
from anchorless.errors import ClusterError, InputError
from tests.helpers.clusters import RemoteDocuments, assert_same, fetch_blocks, sum_columns
from tests.helpers.planted_texts import planted_texts

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'anchorless[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs a Java runtime: apt install default-jre-headless", allow_module_level=True)

from pyspark.sql import SparkSession

from anchorless import spark as spark_module
from anchorless.spark import count, from_blocks, iter_answers, run_action, transform

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
def corpus(frame):
    with count(frame, "body", id_column="id", label_column="label") as counted:
        yield counted


def test_sums_and_rows_agree_with_one_machine(spark):
    blocks = [sp.random(3, 5, 0.5, format="csr", random_state=i) for i in range(29)]
    there = from_blocks(spark.sparkContext.parallelize([*blocks, sp.csr_matrix((2, 5))], 4))
    assert (there.shape, there.n_blocks) == ((89, 5), 30)
    assert_same(there.sum_blocks(sum_columns, 1), Documents(blocks).sum_blocks(sum_columns, 1))
    positions = [80, 5, 5, 88]
    expected = sp.vstack([*blocks, sp.csr_matrix((2, 5))]).tocsr()[positions]
    assert (there.take_rows(positions) != expected).nnz == 0
    mapped = there.transform_blocks(lambda block: block[:, :2], 2)
    assert (sp.vstack(fetch_blocks(mapped)).tocsr()[positions] != expected[:, :2]).nnz == 0
    assert mapped.shape == (89, 2)
    few = from_blocks(spark.sparkContext.parallelize(blocks[:2], 4))  # some partitions have no block
    assert_same(few.sum_blocks(sum_columns, 1), Documents(blocks[:2]).sum_blocks(sum_columns, 1))
    assert (few.take_rows([5, 0]) != sp.vstack(blocks[:2]).tocsr()[[5, 0]]).nnz == 0


def test_texts_are_counted_as_on_one_machine(frame, corpus):
    texts = [row["body"] or "" for row in frame.collect()]
    expected = count_texts(batch_texts(texts), CountSettings(), 1)
    assert corpus.vocabulary == expected.vocabulary
    assert (corpus.n_tokens, corpus.n_documents) == (expected.n_tokens, 161)
    assert (sp.vstack(fetch_blocks(corpus.documents)) != sp.vstack(expected.documents.blocks)).nnz == 0


def test_ids_labels_and_snippets_come_with_the_counts(frame, corpus):
    rows = frame.collect()
    assert corpus.metadata.ids.to_pylist() == [str(row["id"]) for row in rows]
    assert corpus.metadata.labels.to_pylist() == [row["label"] for row in rows]
    assert corpus.metadata.dates is None
    assert corpus.take_snippets([160, 3]) == ["", rows[3]["body"]]
    with count(frame, "body") as bare:
        assert bare.metadata.ids.to_pylist() == [str(i) for i in range(161)]
        assert bare.metadata.labels is None


def test_a_fit_agrees_with_the_local_one(frame, corpus):
    model = TopicModel(4, weighting="counts", constraint="all")  # fewer passes
    here = Corpus(RemoteDocuments(fetch_blocks(corpus.documents)), corpus.vocabulary, counting=corpus.counting)
    remote, local = clone(model).fit(corpus), clone(model).fit(here)
    assert_same(remote.components_, local.components_)
    rows = transform(remote, frame, "body").orderBy("id").collect()
    texts = [row["body"] or "" for row in rows]
    assert [row["id"] for row in rows] == [*range(161)]
    assert_same(np.array([row["topics"] for row in rows]), local.transform(texts))


def test_unusable_columns_and_blocks_are_refused(spark, frame, corpus):
    with pytest.raises(InputError, match=r"column 'text' does not exist; there are id \(bigint\), body"):
        count(frame, "text")
    with pytest.raises(InputError, match="'id' holds bigint"):
        count(frame, "id")
    with pytest.raises(
        InputError, match="label_column='theme', but the DataFrame has no such column; its columns are id, body, label"
    ):
        count(frame, "body", label_column="theme")
    with pytest.raises(InputError, match=r"\[1, 2\] columns"):
        from_blocks(spark.sparkContext.parallelize([sp.eye(1, 1), sp.eye(2, 2)], 2))
    with pytest.raises(pickle.PicklingError, match="stay with their cluster"):
        corpus.documents.sum_blocks(lambda D: D @ np.ones(corpus.documents.shape[1]), 1)


class Driver:
    """A stand-in for the driver of Spark: answers, never answers, or is gone; with some executors, or none."""

    def __init__(self, answer, n_executors=(2,), master="spark://host:7077", **settings):
        self._answer, self._left, self.master = answer, [*n_executors], master
        self._jsc, self._settings = self, settings

    def sc(self):  # py4j asks the driver for every name
        self._answer()
        return self

    def getConf(self):
        return self._settings

    def getExecutorMemoryStatus(self):
        return self

    def size(self):  # the driver is one of them
        return 1 + (self._left.pop(0) if len(self._left) > 1 else self._left[0])


def refuse():
    raise ConnectionRefusedError("Connection refused")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(spark_module, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(spark_module, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(spark_module, "LOST_SECONDS", 0.2)
    monkeypatch.setattr(spark_module, "inheritable_thread_target", lambda action: action)


def test_an_action_may_take_long_while_the_driver_answers(impatient):
    assert run_action(Driver(lambda: 1), lambda: time.sleep(0.3) or "done") == "done"
    assert list(iter_answers(Driver(lambda: 1), lambda: iter([1, 2]))) == [1, 2]
    with pytest.raises(ValueError, match="of a task"):
        run_action(Driver(lambda: 1), lambda: int("of a task"))


@pytest.mark.parametrize(
    ("answer", "action", "message"),
    [
        (lambda: time.sleep(60), lambda: time.sleep(60), "the driver of Spark has not answered for 0.1 seconds; look"),
        (refuse, lambda: 1, r"the driver of Spark has ended \(ConnectionRefusedError\); start a new session"),
        (lambda: 1, refuse, "the driver of Spark has ended"),
    ],
)
def test_a_driver_that_is_stopped_or_gone_ends_the_run_in_plain_words(impatient, answer, action, message):
    start = time.monotonic()
    with pytest.raises(ClusterError, match=message):
        run_action(Driver(answer), action)
    assert time.monotonic() - start < 20


def test_a_session_that_has_lost_all_executors_ends_the_run_in_plain_words(impatient):
    lost = Driver(lambda: 1, [2, 2, 0])
    with pytest.raises(ClusterError, match=r"no executor for 0\.2 seconds.*; look whether the workers"):
        run_action(lost, lambda: time.sleep(60))
    with pytest.raises(ClusterError, match="no executor"):  # the next action of the same session
        run_action(lost, lambda: time.sleep(60))


@pytest.mark.parametrize(
    "driver",
    [
        Driver(lambda: 1, [2, 0, 0, 2]),  # replaced
        Driver(lambda: 1, [0]),  # waiting for the first one
        Driver(lambda: 1, [0], master="local[2]"),
        Driver(lambda: 1, [2, 0], **{"spark.dynamicAllocation.enabled": "true"}),
    ],
)
def test_a_session_that_gets_executors_is_waited_for(impatient, driver):
    assert run_action(driver, lambda: time.sleep(0.6) or "done") == "done"


def strike_cluster(*faults):
    """Return what an action gives under each fault."""
    command = [sys.executable, "-m", "tests.helpers.spark_cluster", *faults]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=Path(__file__).parents[2])
    lines = dict(line.split(": ", 1) for line in ran.stdout.splitlines())
    assert lines.get("without a fault") == "right 2 executors", ran.stderr
    return lines


def test_executors_that_are_stopped_are_replaced_and_the_sum_is_right():
    """Spark waits for them as long as `spark.network.timeout` says."""
    lines = strike_cluster("stop-executor", "stop-executors")
    for fault in ("stop-executor", "stop-executors"):
        assert lines[fault].startswith(("right, after", "Spark has had no executor for 45 seconds"))


def test_executors_and_drivers_that_are_killed_or_stopped_give_the_right_sum_or_an_error_within_a_minute():
    faults = ["kill-executors", "stop-driver", "kill-driver"]
    lines = strike_cluster(*faults)
    # A busy machine may need longer to start new ones than they are waited for.
    assert lines["kill-executors"].startswith(("right, after", "Spark has had no executor for 45 seconds"))
    assert lines["stop-driver"].startswith("the driver of Spark has not answered for 20 seconds")
    assert lines["kill-driver"].startswith("the driver of Spark has ended")
    errors = [lines[fault] for fault in faults if not lines[fault].startswith("right")]
    assert max(int(line.rpartition("after ")[2].removesuffix(" s")) for line in errors) <= 60
