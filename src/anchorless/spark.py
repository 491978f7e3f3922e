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

from anchorless._corpus.counting import Counts, text_batches
from anchorless._corpus.parts import (
    PartCounts,
    added_totals,
    chosen_vocabulary,
    count_part,
    counts_elsewhere,
    part_blocks,
)
from anchorless._corpus.settings import Counting
from anchorless._corpus.documents import FAN_IN, Array, Documents
from anchorless.errors import InputError
from anchorless._distributed.tasks import added, applied, canonical_blocks, mapped_blocks, n_rows, partly_added, picked, shapes
from anchorless._topic_model.model import TopicModel

try:
    from pyspark import StorageLevel
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType
except ImportError as error:
    raise ImportError(
        f"anchorless.spark needs PySpark ({error}): pip install 'anchorless[spark]', and a Java runtime beside it"
    ) from error

__all__ = ["SparkDocuments", "count", "from_blocks", "transform"]

Part = TypeVar("Part")
#: What is known of the documents of a fit, which new documents do not need.
OF_THE_FIT = ("document_topics_", "document_explained_", "document_lengths_", "metadata_")
#: The name of the new column.
TOPICS = "topics"


class Run(NamedTuple):
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

    def map_blocks(self, function: Callable[[Any], Part], n_threads: int) -> Iterator[Part]:
        """Yield function(block) for each block, in their order, computed where the blocks are."""
        found = self.runs.map(partial(run_results, function)).collect()
        for _, results in sorted(found, key=lambda pair: pair[0]):
            yield from results

    def add_up(self, function: Callable[[Any], Array], n_threads: int) -> Array:
        """Return the sum of function(block) over the blocks, by the tree, the lower levels in Spark."""
        nodes = self.runs.map(partial(run_sum, function))
        size, n_nodes = 1, self.n_blocks
        while n_nodes > FAN_IN:  # the last ones are added up in this process
            size, n_nodes = size * FAN_IN, -(-n_nodes // FAN_IN)
            nodes = nodes.map(partial(by_group, size)).groupByKey().map(group_sum)
        pieces = [piece for _, piece in sorted(nodes.collect(), key=lambda pair: pair[0])]
        return added(pieces)[0]

    def mapped(self, function: Callable[[Any], Any], n_words: int | None = None) -> SparkDocuments:
        """Return documents whose blocks are function(block), of as many rows."""
        runs = self.runs.map(partial(mapped_run, function)).persist(StorageLevel.MEMORY_AND_DISK)
        shape = (self.shape[0], self.shape[1] if n_words is None else n_words)
        return SparkDocuments(runs, self.n_blocks, shape)

    def rows(self, positions: Any) -> Any:
        """Return the documents at these positions, in this order, as one CSR matrix; only these travel."""
        wanted, inverse = np.unique(np.asarray(positions, dtype=np.intp), return_inverse=True)
        starts = np.cumsum([0, *self.map_blocks(n_rows, 1)])
        found = self.runs.map(partial(picked_of_run, starts, wanted)).collect()
        parts = [rows for _, rows in sorted(found, key=lambda pair: pair[0])]
        return sp.vstack(parts, format="csr")[inverse]

    def __reduce__(self) -> NoReturn:
        raise TypeError("SparkDocuments stay with their session; a function of a block must not hold them")


def from_blocks(matrices: Any) -> SparkDocuments:
    """Take an RDD of sparse matrices, documents × words: a block each, in the order of the RDD."""
    return documents_of(matrices.mapPartitionsWithIndex(numbered_blocks))


def count(frame: Any, column: str, settings: Counting | None = None) -> Counts:
    """Count a column of texts of a DataFrame where its rows are; the counts go into `TopicModel.fit_counted`.

    Documents have the order of the partitions. Null counts as a text without a word.
    """
    check_column(frame, column)
    settings = settings or Counting()
    texts = frame.select(column).rdd.map(first_field)
    parts = texts.mapPartitionsWithIndex(partial(counted_partition, settings.pinned()))
    parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
    chosen = chosen_vocabulary(parts.map(totals_of).treeReduce(sum_of_two), settings)
    documents = documents_of(parts.map(partial(part_run, chosen.words)))
    parts.unpersist()
    return counts_elsewhere(documents, chosen, settings)


def transform(model: TopicModel, frame: Any, column: str) -> Any:
    """Return the DataFrame with one more column, `topics`: the share of each topic in the text of each row."""
    check_column(frame, column)
    if TOPICS in frame.columns:
        raise InputError(f"the DataFrame has a column {TOPICS!r} already; rename it")
    light = copy.copy(model)
    light._fitted()
    for name in OF_THE_FIT:
        light.__dict__.pop(name, None)
    light.n_threads = 1
    schema = StructType([*frame.schema.fields, StructField(TOPICS, ArrayType(DoubleType(), False), False)])
    return frame.mapInPandas(partial(with_topics, light, column), schema)


def check_column(frame: Any, column: str) -> None:
    """Refuse a column that is not there, or holds no texts."""
    found = dict(frame.dtypes)
    if found.get(column) != "string":
        held = f"holds {found[column]}" if column in found else "is not there"
        raise InputError(f"column {column!r} {held}; there are {', '.join(f'{n} ({t})' for n, t in found.items())}")


def documents_of(parts: Any) -> SparkDocuments:
    """Return documents from an RDD of (number of the part, its blocks)."""
    parts = parts.persist(StorageLevel.MEMORY_AND_DISK)
    known = dict(parts.mapValues(shapes).collect())
    numbers = sorted(known)
    widths = sorted({width for part in known.values() for _, width in part})
    if len(widths) == 0:
        raise InputError("no partition holds a block of documents; at least one is needed")
    if len(widths) > 1:
        raise InputError(f"blocks have {widths} columns; every block needs one column per word of one vocabulary")
    sizes = [len(known[number]) for number in numbers]
    firsts = dict(zip(numbers, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    runs = parts.flatMap(partial(cut_into_runs, firsts)).persist(StorageLevel.MEMORY_AND_DISK)
    runs.count()
    parts.unpersist()
    return SparkDocuments(runs, sum(sizes), (sum(rows for part in known.values() for rows, _ in part), widths[0]))


def first_field(row: Any) -> str:
    """Return the text of a row."""
    return row[0] or ""


def counted_partition(settings: Counting, number: int, texts: Iterable[str]) -> Iterator[tuple[int, PartCounts]]:
    """Yield the counts of one partition."""
    yield number, count_part(text_batches(texts), settings)


def totals_of(part: tuple[int, PartCounts]) -> Any:
    """Return what a part says of its terms."""
    return part[1].totals


def sum_of_two(first: Any, second: Any) -> Any:
    """Return what two parts say together."""
    return added_totals([first, second])


def part_run(words: pa.Array, part: tuple[int, PartCounts]) -> tuple[int, list[Any]]:
    """Return the blocks of a part."""
    return part[0], canonical_blocks(part_blocks(part[1], words))


def numbered_blocks(number: int, matrices: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the blocks of a partition of matrices."""
    yield number, canonical_blocks([*matrices])


def cut_into_runs(firsts: dict[int, int], part: tuple[int, list[Any]]) -> list[Run]:
    """Cut the blocks of a part where groups of FAN_IN begin."""
    number, blocks = part
    first = firsts[number]
    bounds = [first, *range(first // FAN_IN * FAN_IN + FAN_IN, first + len(blocks), FAN_IN), first + len(blocks)]
    return [Run(start, blocks[start - first : stop - first]) for start, stop in pairwise(bounds) if stop > start]


def run_results(function: Callable[[Any], Part], run: Run) -> tuple[int, list[Part]]:
    """Return what the function returns for each block."""
    return run.first, applied(function, run.blocks)


def run_sum(function: Callable[[Any], Array], run: Run) -> tuple[int, list[Array]]:
    """Return what of a group can be added up in one run."""
    return run.first, partly_added(function, run.blocks, 1, run.first % FAN_IN == 0)


def picked_of_run(starts: Any, wanted: Any, run: Run) -> tuple[int, Any]:
    """Return the documents of a run that are wanted; `starts` has the number of the first of each block."""
    first, last = starts[run.first], starts[run.first + len(run.blocks)]
    return run.first, picked(run.blocks, wanted[slice(*np.searchsorted(wanted, [first, last]))] - first)


def mapped_run(function: Callable[[Any], Any], run: Run) -> Run:
    """Return the run with other blocks."""
    return Run(run.first, mapped_blocks(function, run.blocks))


def by_group(size: int, piece: tuple[int, list[Array]]) -> tuple[int, tuple[int, list[Array]]]:
    """Return the first block of the group, and the piece with its own."""
    return piece[0] // size * size, piece


def group_sum(group: tuple[int, Iterable[tuple[int, list[Array]]]]) -> tuple[int, list[Array]]:
    """Return the sum of the pieces of a group, in the order of their blocks, whatever the order they came in."""
    return group[0], added([pieces for _, pieces in sorted(group[1], key=lambda piece: piece[0])])


def with_topics(model: TopicModel, column: str, frames: Iterable[Any]) -> Iterator[Any]:
    """Yield batches of rows with their topics."""
    for frame in frames:
        shares = model.transform(frame[column].fillna("").tolist())
        yield frame.assign(**{TOPICS: list(shares)})
