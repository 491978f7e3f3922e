"""Topic models of documents in Spark: texts are counted, fitted and transformed where the rows are.

Texts of a DataFrame are counted partition by partition, and the counts stay in Spark. Every published number agrees
with that of a fit on one machine to 1e-10. The session is the user's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.counting import batch_texts
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.io.batches import ROWS_PER_CHUNK
from anchorless._corpus.parts import TermTotals, choose_vocabulary, merge_term_totals
from anchorless._corpus.settings import CountSettings
from anchorless._distributed.tasks import (
    apply_to_run,
    check_shapes,
    get_shapes,
    select_rows,
    sum_run,
    to_canonical_blocks,
    transform_run,
)
from anchorless._distributed.texts import (
    CountedPart,
    TextBatch,
    build_blocks,
    build_corpus,
    collect_facts,
    count_batches,
    get_facts,
    get_totals,
    infer_batches,
    prepare_inference,
)
from anchorless._topic_model.mixtures import Inference
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError

try:
    from pyspark import StorageLevel
    from pyspark.sql.functions import col
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType
except ImportError as error:
    raise ImportError(
        f"anchorless.spark needs PySpark ({error}): pip install 'anchorless[spark]', and a Java runtime beside it"
    ) from error

__all__ = ["SparkDocuments", "count", "from_blocks", "transform"]

Result = TypeVar("Result")
#: The column that `transform` adds.
TOPICS_COLUMN = "topics"


class SparkDocuments(Documents):
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
    runs
        As given.
    shape : tuple of int
        Number of documents and number of words.
    n_blocks : int
        Number of blocks.

    Examples
    --------
    >>> from anchorless import AnchorFree
    >>> from anchorless.spark import from_blocks
    >>> AnchorFree(20).fit(from_blocks(matrices))  # doctest: +SKIP
    """

    in_memory = False

    def __init__(self, runs: Any, shapes: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.runs = runs
        self.shape = check_shapes(shapes)
        self.n_blocks = sum(len(part) for part in shapes)
        self._shapes = shapes

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        yield from self.runs.flatMap(partial(apply_to_run, function)).collect()

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, added up where the blocks are."""
        total: Array = self.runs.filter(len).map(partial(sum_run, function)).treeReduce(operator.add)
        return total

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> SparkDocuments:
        """Return documents whose blocks are function(block), of as many rows."""
        runs = self.runs.map(partial(transform_run, function)).persist(StorageLevel.MEMORY_AND_DISK)
        width = self.shape[1] if n_words is None else n_words
        return SparkDocuments(runs, [[(rows, width) for rows, _ in part] for part in self._shapes])

    def take_rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *(sum(rows for rows, _ in part) for part in self._shapes)])
        parts = np.split(wanted, np.searchsorted(wanted, starts[1:-1]))
        rows = [part - start for part, start in zip(parts, starts[:-1], strict=True)]
        found = self.runs.mapPartitionsWithIndex(partial(select_partition_rows, rows)).collect()
        return sp.vstack(found, format="csr")[inverse]

    def __reduce__(self) -> NoReturn:
        raise TypeError("SparkDocuments stay with their session; a function of a block must not hold them")


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
    return build_spark_documents(matrices.mapPartitions(gather_partition))


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
    settings : CountSettings or None, default=None
        How texts are counted; None for the defaults.
    id_column, label_column, date_column : str or None, default=None
        Columns of ids, labels and dates; None for none. Documents without ids are numbered from 0.

    Returns
    -------
    corpus : Corpus
        The documents stay in Spark. It owns temporary files: close it, or use it in a ``with`` statement.

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
    wanted = {"id": id_column, "label": label_column, "date": date_column}
    named = {role: name for role, name in wanted.items() if name is not None}
    for role, name in named.items():
        if name not in frame.columns:
            raise InputError(f"the DataFrame has {', '.join(frame.columns)}", parameter=f"{role}_column", value=name)
    rows = frame.select(col(column), *(col(name).cast("string").alias(role) for role, name in named.items())).rdd
    parts = rows.mapPartitions(partial(count_partition, settings.pin_stop_words(), [*named]))
    parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
    chosen = choose_vocabulary(parts.map(get_totals).treeReduce(add_totals), settings)
    documents = build_spark_documents(parts.map(partial(build_blocks, words=chosen.words)))
    facts = collect_facts(parts.map(get_facts).toLocalIterator(), 1, None, None)
    parts.unpersist()
    return build_corpus(documents, chosen, settings, facts)


def transform(model: TopicModel, frame: Any, column: str) -> Any:
    """Compute the topics of the texts of a DataFrame.

    Parameters
    ----------
    model : TopicModel
        A fitted model. Only what `TopicModel.transform` needs is sent to Spark.
    frame : pyspark.sql.DataFrame
        A document per row.
    column : str
        The column of texts. Null is a text without a word.

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
    return frame.mapInPandas(partial(add_topics_column, prepare_inference(model), column), schema)


def check_text_column(frame: Any, column: str) -> None:
    """Refuse a column that does not exist or is not of strings."""
    found = dict(frame.dtypes)
    if found.get(column) != "string":
        problem = f"holds {found[column]}, not strings" if column in found else "does not exist"
        raise InputError(f"column {column!r} {problem}; there are {', '.join(f'{n} ({t})' for n, t in found.items())}")


def build_spark_documents(runs: Any) -> SparkDocuments:
    """Return documents from an RDD with one list of blocks per partition."""
    runs = runs.persist(StorageLevel.MEMORY_AND_DISK)
    return SparkDocuments(runs, runs.map(get_shapes).collect())


def count_partition(settings: CountSettings, roles: list[str], rows: Iterable[Any]) -> Iterator[CountedPart]:
    """Yield the counts of one partition of rows: a text, then a string for each role."""
    yield count_batches(iter_batches(roles, rows), settings)


def iter_batches(roles: list[str], rows: Iterable[Any]) -> Iterator[TextBatch]:
    """Yield the texts of some rows, and a table of their other columns."""
    rows = iter(rows)
    while batch := [*islice(rows, ROWS_PER_CHUNK)]:
        texts, *others = zip(*batch, strict=True)
        table = pa.table({role: pa.array(values, pa.string()) for role, values in zip(roles, others, strict=True)})
        yield pa.array([text or "" for text in texts], pa.large_string()), table if roles else None


def add_totals(first: TermTotals, second: TermTotals) -> TermTotals:
    """Return the totals of the terms of two parts together."""
    return merge_term_totals([first, second])


def gather_partition(matrices: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the matrices of a partition as one run."""
    yield to_canonical_blocks([*matrices])


def select_partition_rows(rows: Sequence[Any], number: int, runs: Iterable[list[Any]]) -> Iterator[Any]:
    """Yield the documents of a partition that are wanted, if any; `rows` has their positions in each partition."""
    for blocks in runs:
        if len(rows[number]):
            yield select_rows(blocks, rows[number])


def add_topics_column(inference: Inference, column: str, frames: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of rows with their topics."""
    for frame in frames:
        shares = infer_batches(inference, batch_texts(frame[column].fillna("").tolist()))
        yield frame.assign(**{TOPICS_COLUMN: list(shares)})
