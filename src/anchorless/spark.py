"""Topic models of documents in Spark: texts are counted, fitted and transformed where the rows are.

Texts of a DataFrame are counted partition by partition, and the counts stay in Spark. Every published number agrees
with that of a fit on one machine to 1e-10. The session is the user's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.counting import batch_texts
from anchorless._corpus.documents import Array
from anchorless._corpus.io.batches import ROWS_PER_CHUNK
from anchorless._corpus.language import FIRST_TEXTS, LanguageSample
from anchorless._corpus.metadata import MetadataCollector
from anchorless._corpus.parts import choose_vocabulary, merge_term_totals
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.threads import Result
from anchorless._distributed.answers import require_answer, wait_for_answer
from anchorless._distributed.executors import NEW_SESSION, ExecutorWatch, refuse_failure
from anchorless._distributed.tasks import RemoteDocuments, check_shapes, sum_run, to_canonical_blocks, transform_run
from anchorless._distributed.texts import (
    CountedPart,
    build_corpus,
    build_inference,
    count_batches,
    infer_batches,
    refuse_split,
)
from anchorless._topic_model.mixtures import Inference
from anchorless._topic_model.model import TopicModel
from anchorless.errors import ClusterError, InputError

try:
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark import StorageLevel, inheritable_thread_target
    from pyspark.sql.functions import col
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType
except ImportError as error:
    raise ImportError(f"Spark needs PySpark and Java ({error}); install: pip install 'anchorless[spark]'") from error

__all__ = ["SparkDocuments", "count", "from_blocks", "transform"]

#: Seconds between two checks that the driver answers, that it may take to answer, and without any executor.
POLL_SECONDS, ANSWER_SECONDS, LOST_SECONDS = 5, 20, 45
#: The column that `transform` adds.
TOPICS_COLUMN = "topics"


class SparkDocuments(RemoteDocuments):
    """Documents × words in blocks that stay in Spark, in memory or on disk there.

    Made by `count` and `from_blocks`. Every estimator takes it, as it takes `Documents` in memory.

    Parameters
    ----------
    runs : pyspark.RDD
        One list of blocks per partition.
    shapes : sequence of sequences of tuples
        The shape of each block of each partition.

    Attributes
    ----------
    runs, shape, n_blocks
        As given, and the numbers of documents, words and blocks.

    Examples
    --------
    >>> from anchorless import AnchorFree
    >>> from anchorless.spark import from_blocks
    >>> AnchorFree(20).fit(from_blocks(matrices))  # doctest: +SKIP
    """

    def __init__(self, runs: Any, shapes: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.runs, self._shapes = runs, shapes
        self.shape = check_shapes(shapes)
        self.n_blocks = sum(len(part) for part in shapes)
        self._run_sizes = [sum(rows for rows, _ in part) for part in shapes]

    def _map_runs(self, task: Callable[[int, Any], Result]) -> Iterator[Result]:
        """Yield task(number, blocks) for each partition."""
        runs = self.runs

        def run_all(number: int, some: Iterable[Any]) -> list[Result]:
            return [task(number, run) for run in some]

        yield from run_action(runs.context, lambda: runs.mapPartitionsWithIndex(run_all).collect())

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, added up where the blocks are."""
        runs = self.runs  # the task must not contain this object
        total: Array = run_action(
            runs.context, lambda: runs.filter(len).map(partial(sum_run, function)).treeReduce(operator.add)
        )
        return total

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> SparkDocuments:
        """Return documents whose blocks are function(block), of as many rows."""
        before = self.runs
        runs = run_action(
            before.context,
            lambda: before.map(partial(transform_run, function)).persist(StorageLevel.MEMORY_AND_DISK),
        )
        width = self.shape[1] if n_words is None else n_words
        return SparkDocuments(runs, [[(rows, width) for rows, _ in part] for part in self._shapes])


def from_blocks(matrices: Any) -> SparkDocuments:
    """Use an RDD of sparse matrices.

    Parameters
    ----------
    matrices : pyspark.RDD
        Matrices, documents × words. Each becomes a block, in the order of the RDD.

    Returns
    -------
    documents : SparkDocuments
        The blocks, which stay in Spark.

    Raises
    ------
    InputError
        If there is no matrix, or matrices have different numbers of words.

    Examples
    --------
    >>> from anchorless.spark import from_blocks
    >>> documents = from_blocks(spark.sparkContext.parallelize([X[:1000], X[1000:]]))  # doctest: +SKIP
    """
    return build_spark_documents(matrices.glom().map(to_canonical_blocks))


def count(
    frame: Any,
    column: str,
    settings: CountSettings | None = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    date_column: str | None = None,
) -> Corpus:
    """Count a column of texts of a DataFrame where its rows are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        A document per row. Documents keep the order of the partitions.
    column : str
        The column of texts. Null counts as a text without a word.
    settings : as in `anchorless.distributed.count`
    id_column, label_column, date_column : str or None, default=None
        Columns of ids, labels and dates; None for none. Documents without ids are numbered from 0.

    Returns
    -------
    corpus : Corpus
        As in `anchorless.distributed.count`; the documents stay in Spark.

    Raises
    ------
    InputError
        If a column does not exist, the texts are not strings, or no word is left.

    Examples
    --------
    >>> from anchorless import TopicModel
    >>> from anchorless.spark import count
    >>> with count(frame, "body", id_column="id") as corpus:  # doctest: +SKIP
    ...     model = TopicModel(n_topics=20).fit(corpus)
    """
    check_text_column(frame, column)
    settings = settings or CountSettings()
    refuse_split(settings)
    wanted = {"id": id_column, "label": label_column, "date": date_column}
    named = {role: name for role, name in wanted.items() if name is not None}
    for role, name in named.items():
        if name not in frame.columns:
            problem = f"the DataFrame has no such column; its columns are {', '.join(frame.columns)}"
            raise InputError(problem, parameter=f"{role}_column", value=name)
    rows = frame.select(col(column), *(col(name).cast("string").alias(role) for role, name in named.items())).rdd
    sample = LanguageSample(settings)
    context, first = rows.context, frame.select(col(column)).limit(FIRST_TEXTS)
    settings, _ = sample.resolve(batch_texts(row[0] or "" for row in run_action(context, first.collect)))
    roles, pinned = [*named], settings.pin_stop_words()
    parts = rows.mapPartitions(lambda part: [count_batches(iter_batches(roles, part), pinned)])
    parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
    found = parts.map(CountedPart.compute_totals)
    merge = partial(found.treeReduce, lambda first, second: merge_term_totals([first, second]))
    chosen = choose_vocabulary(run_action(context, merge), settings)
    documents = build_spark_documents(parts.map(partial(CountedPart.build_blocks, words=chosen.words)))
    facts = iter_answers(context, lambda: parts.map(CountedPart.drop_counts).toLocalIterator())
    collector = MetadataCollector("the DataFrame")
    corpus = build_corpus(facts, collector, settings, lambda: (documents, chosen), sample)
    parts.unpersist()
    return corpus


def transform(model: TopicModel, frame: Any, column: str) -> Any:
    """Compute the topics of the texts of a DataFrame.

    Parameters
    ----------
    model : TopicModel
        A fitted model. Only what `TopicModel.transform` needs is sent to Spark.
    frame, column : as in `count`

    Returns
    -------
    frame : pyspark.sql.DataFrame
        The DataFrame with one more column, ``topics``: the share of each topic in the text of the row.

    Raises
    ------
    InputError
        If the column does not exist or is not of strings, or a column ``topics`` exists.

    Examples
    --------
    >>> from anchorless.spark import transform
    >>> transform(model, frame, "body").select("id", "topics").show()  # doctest: +SKIP
    """
    check_text_column(frame, column)
    if TOPICS_COLUMN in frame.columns:
        raise InputError(f"the DataFrame has a column {TOPICS_COLUMN!r} already", remedy="rename it")
    schema = StructType([*frame.schema.fields, StructField(TOPICS_COLUMN, ArrayType(DoubleType(), False), False)])
    return frame.mapInPandas(partial(add_topics_column, build_inference(model), column), schema)


def check_text_column(frame: Any, column: str) -> None:
    """Refuse a column that does not exist or is not of strings."""
    found = dict(frame.dtypes)
    if found.get(column) != "string":
        problem = f"holds {found[column]}, not strings" if column in found else "does not exist"
        raise InputError(f"column {column!r} {problem}; there are {', '.join(f'{n} ({t})' for n, t in found.items())}")


def build_spark_documents(runs: Any) -> SparkDocuments:
    """Return documents from an RDD with one list of blocks per partition."""
    runs = runs.persist(StorageLevel.MEMORY_AND_DISK)
    shapes = runs.map(lambda blocks: [block.shape for block in blocks])
    return SparkDocuments(runs, run_action(runs.context, shapes.collect))


def run_action(context: Any, action: Callable[[], Any]) -> Any:
    """Return what an action of Spark returns, however long it takes, as long as its driver answers and has executors.

    Single executors that are lost or stopped are Spark's own affair: it computes their part again, or the action fails.
    """
    watch = ExecutorWatch(context, LOST_SECONDS)

    def check() -> None:
        watch.check(require_answer(watch.count_executors, "the driver of Spark", ANSWER_SECONDS))

    try:
        check()  # the next line asks the driver from this thread, without a time limit
        return wait_for_answer(inheritable_thread_target(action), check, POLL_SECONDS)
    except Py4JJavaError as error:
        refuse_failure(error)
        raise
    except (Py4JError, ConnectionError, EOFError) as error:
        problem = f"the driver of Spark has ended ({type(error).__name__})"
        raise ClusterError(problem, remedy=NEW_SESSION) from error


def iter_answers(context: Any, make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yield the values of an iterator that asks Spark for each of them."""
    end, values = object(), run_action(context, make)
    while (value := run_action(context, lambda: next(values, end))) is not end:
        yield value


def iter_batches(roles: list[str], rows: Iterable[Any]) -> Iterator[tuple[pa.Array, pa.Table | None]]:
    """Yield the texts of some rows, and a table of their other columns."""
    rows = iter(rows)
    while batch := [*islice(rows, ROWS_PER_CHUNK)]:
        texts, *others = zip(*batch, strict=True)
        table = pa.table({role: pa.array(values, pa.string()) for role, values in zip(roles, others, strict=True)})
        yield pa.array([text or "" for text in texts], pa.large_string()), table if roles else None


def add_topics_column(inference: Inference, column: str, frames: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of rows with their topics."""
    for frame in frames:
        shares = infer_batches(inference, batch_texts(frame[column].fillna("").tolist()))
        yield frame.assign(**{TOPICS_COLUMN: list(shares)})
