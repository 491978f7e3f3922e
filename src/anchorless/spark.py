"""Topics of documents that sit in Spark: the block functions of one machine, run where the rows are.

A thin road beside `anchorless.distributed`: texts in a DataFrame are counted partition by partition, the counts stay in
Spark as an RDD of runs of blocks, and sums follow the tree of `documents.TreeSum`, so that a fit has the bits of one on
one machine over the same blocks. The session is the user's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from anchorless._corpus.counting import Counts, batch_texts
from anchorless._corpus.documents import FAN_IN, Array, Documents
from anchorless._corpus.parts import (
    PartitionCounts,
    choose_vocabulary,
    count_text_partition,
    make_partition_blocks,
    make_remote_counts,
    merge_term_totals,
)
from anchorless._corpus.settings import CountSettings
from anchorless._distributed.tasks import (
    apply_to_blocks,
    count_rows,
    get_shapes,
    map_to_csr_blocks,
    select_rows,
    sum_nodes,
    sum_pieces,
    to_canonical_blocks,
)
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError

try:
    from pyspark import StorageLevel
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType
except ImportError as error:
    raise ImportError(
        f"anchorless.spark needs PySpark ({error}): pip install 'anchorless[spark]', and a Java runtime beside it"
    ) from error

__all__ = ["SparkDocuments", "count", "from_blocks", "transform"]

Result = TypeVar("Result")
#: What is known of the documents of a fit, which new documents do not need.
FIT_ATTRIBUTES = ("document_topics_", "document_explained_", "document_lengths_", "metadata_")
#: The name of the new column.
TOPICS_COLUMN = "topics"


class BlockRun(NamedTuple):
    """Consecutive blocks, within a group of FAN_IN."""

    first: int  # the number of its first block
    blocks: list[Any]


class SparkDocuments(Documents):
    """Documents × words in blocks that stay in Spark: an RDD of runs, kept in memory or on disk there."""

    in_memory = False

    def __init__(self, runs: Any, n_blocks: int, shape: tuple[int, int]) -> None:
        self.runs = runs
        self.n_blocks = n_blocks
        self.shape = shape

    def map_blocks(self, function: Callable[[Any], Result], n_threads: int) -> Iterator[Result]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        found = self.runs.map(partial(apply_to_run, function)).collect()
        for _, results in sorted(found, key=lambda pair: pair[0]):
            yield from results

    def sum_blocks(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, by the tree, the lower levels in Spark."""
        nodes = self.runs.map(partial(sum_run, function))
        size, n_nodes = 1, self.n_blocks
        while n_nodes > FAN_IN:  # the last ones are added up in this process
            size, n_nodes = size * FAN_IN, -(-n_nodes // FAN_IN)
            nodes = nodes.map(partial(key_by_group, size)).groupByKey().map(sum_group)
        pieces = [piece for _, piece in sorted(nodes.collect(), key=lambda pair: pair[0])]
        return sum_pieces(pieces)[0]

    def transform_blocks(self, function: Callable[[Any], Any], n_words: int | None = None) -> SparkDocuments:
        """Return documents whose blocks are function(block), of as many rows."""
        runs = self.runs.map(partial(map_run, function)).persist(StorageLevel.MEMORY_AND_DISK)
        shape = (self.shape[0], self.shape[1] if n_words is None else n_words)
        return SparkDocuments(runs, self.n_blocks, shape)

    def take_rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *self.map_blocks(count_rows, 1)])
        found = self.runs.map(partial(select_run_rows, starts, wanted)).collect()
        parts = [rows for _, rows in sorted(found, key=lambda pair: pair[0])]
        return sp.vstack(parts, format="csr")[inverse]

    def __reduce__(self) -> NoReturn:
        raise TypeError("SparkDocuments stay with their session; a function of a block must not hold them")


def from_blocks(matrices: Any) -> SparkDocuments:
    """Take an RDD of sparse matrices, documents × words: a block each, in the order of the RDD."""
    return build_spark_documents(matrices.mapPartitionsWithIndex(number_blocks))


def count(frame: Any, column: str, settings: CountSettings | None = None) -> Counts:
    """Count a column of texts of a DataFrame where its rows are; the counts go into `TopicModel.fit_counted`.

    Documents have the order of the partitions. Null counts as a text without a word.
    """
    check_text_column(frame, column)
    settings = settings or CountSettings()
    texts = frame.select(column).rdd.map(get_first_field)
    parts = texts.mapPartitionsWithIndex(partial(count_partition, settings.pin_stop_words()))
    parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
    chosen = choose_vocabulary(parts.map(get_part_totals).treeReduce(add_two_totals), settings)
    documents = build_spark_documents(parts.map(partial(build_part_blocks, chosen.words)))
    parts.unpersist()
    return make_remote_counts(documents, chosen, settings)


def transform(model: TopicModel, frame: Any, column: str) -> Any:
    """Return the DataFrame with one more column, `topics`: the share of each topic in the text of each row."""
    check_text_column(frame, column)
    if TOPICS_COLUMN in frame.columns:
        raise InputError(f"the DataFrame has a column {TOPICS_COLUMN!r} already; rename it")
    light = copy.copy(model)
    light._get_fitted()
    for name in FIT_ATTRIBUTES:
        light.__dict__.pop(name, None)
    light.n_threads = 1
    schema = StructType([*frame.schema.fields, StructField(TOPICS_COLUMN, ArrayType(DoubleType(), False), False)])
    return frame.mapInPandas(partial(add_topics_column, light, column), schema)


def check_text_column(frame: Any, column: str) -> None:
    """Refuse a column that is not there, or holds no texts."""
    found = dict(frame.dtypes)
    if found.get(column) != "string":
        held = f"holds {found[column]}" if column in found else "is not there"
        raise InputError(f"column {column!r} {held}; there are {', '.join(f'{n} ({t})' for n, t in found.items())}")


def build_spark_documents(parts: Any) -> SparkDocuments:
    """Return documents from an RDD of (number of the part, its blocks)."""
    parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
    known = dict(parts.mapValues(get_shapes).collect())
    numbers = sorted(known)
    widths = sorted({width for part in known.values() for _, width in part})
    if len(widths) == 0:
        raise InputError("no partition holds a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    sizes = [len(known[number]) for number in numbers]
    firsts = dict(zip(numbers, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    runs = parts.flatMap(partial(split_part, firsts)).persist(StorageLevel.MEMORY_AND_DISK)
    runs.count()
    parts.unpersist()
    return SparkDocuments(runs, sum(sizes), (sum(rows for part in known.values() for rows, _ in part), widths[0]))


def get_first_field(row: Any) -> str:
    """Return the text of a row."""
    return row[0] or ""


def count_partition(
    settings: CountSettings, number: int, texts: Iterable[str]
) -> Iterator[tuple[int, PartitionCounts]]:
    """Yield the counts of one partition."""
    yield number, count_text_partition(batch_texts(texts), settings)


def get_part_totals(part: tuple[int, PartitionCounts]) -> Any:
    """Return what a part says of its terms."""
    return part[1].totals


def add_two_totals(first: Any, second: Any) -> Any:
    """Return what two parts say together."""
    return merge_term_totals([first, second])


def build_part_blocks(words: pa.Array, part: tuple[int, PartitionCounts]) -> tuple[int, list[Any]]:
    """Return the blocks of a part."""
    return part[0], to_canonical_blocks(make_partition_blocks(part[1], words))


def number_blocks(number: int, matrices: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the blocks of a partition of matrices."""
    yield number, to_canonical_blocks([*matrices])


def split_part(firsts: dict[int, int], part: tuple[int, list[Any]]) -> list[BlockRun]:
    """Cut the blocks of a part where groups of FAN_IN begin."""
    number, blocks = part
    first = firsts[number]
    bounds = [first, *range(first // FAN_IN * FAN_IN + FAN_IN, first + len(blocks), FAN_IN), first + len(blocks)]
    return [BlockRun(start, blocks[start - first : stop - first]) for start, stop in pairwise(bounds) if stop > start]


def apply_to_run(function: Callable[[Any], Result], run: BlockRun) -> tuple[int, list[Result]]:
    """Return what the function returns for each block."""
    return run.first, apply_to_blocks(function, run.blocks)


def sum_run(function: Callable[[Any], Array], run: BlockRun) -> tuple[int, list[Array]]:
    """Return what of a group can be added up in one run."""
    return run.first, sum_nodes(function, run.blocks, 1, run.first % FAN_IN == 0)


def select_run_rows(starts: Any, wanted: Any, run: BlockRun) -> tuple[int, Any]:
    """Return the documents of a run that are wanted; `starts` has the number of the first of each block."""
    first, last = starts[run.first], starts[run.first + len(run.blocks)]
    return run.first, select_rows(run.blocks, wanted[slice(*np.searchsorted(wanted, [first, last]))] - first)


def map_run(function: Callable[[Any], Any], run: BlockRun) -> BlockRun:
    """Return the run with other blocks."""
    return BlockRun(run.first, map_to_csr_blocks(function, run.blocks))


def key_by_group(size: int, piece: tuple[int, list[Array]]) -> tuple[int, tuple[int, list[Array]]]:
    """Return the first block of the group, and the piece with its own."""
    return piece[0] // size * size, piece


def sum_group(group: tuple[int, Iterable[tuple[int, list[Array]]]]) -> tuple[int, list[Array]]:
    """Return the sum of the pieces of a group, in the order of their blocks, whatever the order they came in."""
    return group[0], sum_pieces([pieces for _, pieces in sorted(group[1], key=lambda piece: piece[0])])


def add_topics_column(model: TopicModel, column: str, frames: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of rows with their topics."""
    for frame in frames:
        shares = model.transform(frame[column].fillna("").tolist())
        yield frame.assign(**{TOPICS_COLUMN: list(shares)})
