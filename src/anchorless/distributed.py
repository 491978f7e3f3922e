"""Topics of documents on a Dask cluster: counting, weighing, fitting and transforming where the documents are.

Every function takes the user's `Client`. What it returns works with the estimators as they are: `AnchorFree(20).fit(X)`
for X from `from_array`, `TopicModel(20).fit_counted(counts)` for counts from `count`.
"""

from __future__ import annotations

import copy
import glob
import os
import socket
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anchorless._corpus.counting import Counts, batch_texts
from anchorless._corpus.documents import FAN_IN, Documents
from anchorless._corpus.io.readers import open_texts
from anchorless._corpus.parts import (
    PartitionCounts,
    choose_vocabulary,
    count_text_partition,
    make_partition_blocks,
    make_remote_counts,
    merge_term_totals,
)
from anchorless._corpus.settings import CountSettings
from anchorless._distributed.client import (
    Client,
    Future,
    assign_workers,
    check_client,
    compute_on_workers,
    count_threads,
    da,
    dask,
    iter_attempts,
)
from anchorless._distributed.documents import DaskDocuments, WorkerRun, build_dask_documents, submit_on_runs
from anchorless._distributed.tasks import choose_run_size, identity, to_canonical_blocks
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError

__all__ = ["DaskDocuments", "connected", "count", "from_array", "from_parts", "scattered", "transform"]

#: What is known of the documents of a fit, which new documents do not need.
FIT_ATTRIBUTES = ("document_topics_", "document_explained_", "document_lengths_", "metadata_")


class CountedPart(NamedTuple):
    """One part, counted, and how it was read."""

    counts: PartitionCounts
    text_column: str | None
    skipped: list[str]  # sentences about rows that were left out


def scatter(client: Client, blocks: Any) -> DaskDocuments:
    """Send blocks of this process (`Documents`, or a list of matrices) to the workers.

    They must stay as they are: what a lost worker had is sent again.
    """
    check_client(client)
    documents = blocks if isinstance(blocks, Documents) else Documents(list(blocks))
    size = choose_run_size(documents.n_blocks, count_threads(client))
    n_runs = -(-documents.n_blocks // size)

    def source() -> list[WorkerRun]:
        walk, runs = documents.map_blocks(identity, 1), []
        for i, place in enumerate(assign_workers(client, n_runs)):
            here = [*islice(walk, size)]
            runs.append(
                WorkerRun(client.scatter([here], workers=[place.worker], hash=False)[0], i * size, len(here), place)
            )
        return runs

    for again in iter_attempts(client):
        with again:
            return DaskDocuments(client, source(), documents.shape, source)
    raise AssertionError("attempts end with a result or an error")


def from_parts(client: Client, parts: Sequence[Any]) -> DaskDocuments:
    """Take futures or delayed values, each a sparse matrix (documents × words) or a list of such blocks."""
    check_client(client)
    if len(parts) == 0:
        raise InputError("no blocks of documents were given; at least one is needed")
    return build_dask_documents(
        client, compute_on_workers(client, [dask.delayed(to_canonical_blocks)(part) for part in parts])
    )


def from_array(client: Client, X: Any) -> DaskDocuments:
    """Take a Dask array, documents × words, whose chunks are sparse matrices of whole rows: a block each."""
    if not isinstance(X, da.Array) or X.ndim != 2:
        raise InputError(f"X is {type(X).__name__}, but it must be a Dask array, documents × words")
    if X.numblocks[1] != 1:
        raise InputError(f"X is cut into {X.numblocks[1]} chunks of words; use X.rechunk({{1: -1}}): whole documents")
    return from_parts(client, X.to_delayed().ravel().tolist())


def count(client: Client, texts: Any, settings: CountSettings | None = None, **reading: Any) -> Counts:
    """Count texts on the workers; the counts stay there, and go into `TopicModel.fit_counted`.

    Parameters
    ----------
    client : dask.distributed.Client
    texts : what is counted, a part each on one worker: names of files that every worker can read (a list, or a
        pattern such as "news/part-*.parquet"; every format that `anchorless fit` reads), a Dask bag of strings, or
        a list of futures or delayed values, each a list of strings
    settings : how texts are counted; None for the defaults, `model.counting_settings()` for those of a TopicModel
    reading : text_column, format, encoding, strict: how files are read, as in `anchorless._corpus.io.readers.open_texts`
    """
    check_client(client)
    settings = settings or CountSettings()
    sources = list_parts(texts, reading)
    pinned = settings.pin_stop_words()  # a worker may have other lists of stop words
    parts = compute_on_workers(client, [dask.delayed(count_source)(source, pinned, reading) for source in sources])
    totals = client.map(get_totals, parts, pure=False)
    while len(totals) > 1:
        groups = [totals[start : start + FAN_IN] for start in range(0, len(totals), FAN_IN)]
        totals = [client.submit(merge_term_totals, group, pure=False) for group in groups]
    chosen = choose_vocabulary(totals[0].result(), settings)
    check_same_column(client.gather(client.map(get_read_info, parts, pure=False)), sources)
    words = client.submit(identity, chosen.words, pure=False)
    documents = build_dask_documents(client, client.map(build_blocks, parts, [words] * len(parts), pure=False))
    return make_remote_counts(documents, chosen, settings)


def transform(client: Client, model: TopicModel, documents: Any, **reading: Any) -> Any:
    """Return the topics of documents as a Dask array (n_documents, n_topics) whose chunks stay on the workers.

    `documents` are texts in parts as in `count`, or counts as `DaskDocuments` with the words of `model.vocabulary_`. A
    chunk is a part; each row has the bits that `model.transform` gives.
    """
    check_client(client)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        # With the scheduler and not scattered: a part that is lost later can be transformed again.
        kept = client.submit(identity, strip_model(model), pure=False)
    if isinstance(documents, DaskDocuments):
        parts = submit_on_runs(client, transform_run, kept, documents.runs())
    else:
        sources = list_parts(documents, reading)
        parts = client.compute([dask.delayed(transform_source)(kept, source, reading) for source in sources])
    sizes = client.gather(client.map(len, parts, pure=False))
    n_topics = len(model.components_)
    rows = [da.from_delayed(part, (n, n_topics), np.float64) for part, n in zip(parts, sizes, strict=True)]
    return da.concatenate(rows)


def list_parts(texts: Any, reading: dict[str, Any]) -> list[Any]:
    """Return the parts: names of files, or delayed lists of strings."""
    unknown = sorted(set(reading) - {"text_column", "format", "encoding", "strict"})
    if unknown:
        raise InputError(f"{unknown[0]} says nothing about reading; there are text_column, format, encoding and strict")
    if hasattr(texts, "to_delayed"):
        if reading:
            raise InputError(f"{next(iter(reading))} is for files, but the texts are a {type(texts).__name__}")
        return list(texts.to_delayed())
    if isinstance(texts, str | os.PathLike):
        name = os.fspath(texts)
        found = sorted(glob.glob(name)) if glob.has_magic(name) else [name]
        if not found:
            raise InputError(f"no file has a name like {name!r}; name the parts, or another pattern")
        return found
    parts = list(texts)
    if not parts:
        raise InputError("there are no parts to count; at least one is needed")
    for number, part in enumerate(parts):
        if not isinstance(part, str | os.PathLike | Future) and not dask.is_dask_collection(part):
            raise InputError(
                f"part {number} is {part!r:.40}, but parts are names of files, or futures of lists of strings; "
                "make a bag of texts in this process: dask.bag.from_sequence(texts, npartitions=8)"
            )
    return [os.fspath(part) if isinstance(part, str | os.PathLike) else part for part in parts]


def count_source(source: Any, settings: CountSettings, reading: dict[str, Any]) -> CountedPart:
    """Count one part: a file, or strings."""
    if not isinstance(source, str):
        return CountedPart(count_text_partition(batch_texts(iter_strings(source)), settings), None, [])
    with open_part(source, reading) as file:
        counts = count_text_partition((batch.texts for batch in file), settings)
    return CountedPart(counts, file.text_column, file.skipped.describe_all())


def iter_strings(part: Any) -> Iterable[str]:
    """Return the strings of a part, which a bag may hand on as an iterator."""
    return part if isinstance(part, list | tuple | Iterator) else list(part)


def open_part(name: str, reading: dict[str, Any]) -> Any:
    """Open a part on a worker."""
    if not os.path.exists(name):
        raise InputError(
            f"{name} is not there on {socket.gethostname()}; parts must lie where every worker finds them by this name"
        )
    return open_texts(name, **reading)


def get_totals(part: CountedPart) -> Any:
    """Return what a part says of its terms."""
    return part.counts.totals


def get_read_info(part: CountedPart) -> tuple[str | None, list[str]]:
    """Return the text column of a part, and what was left out."""
    return part.text_column, part.skipped


def build_blocks(part: CountedPart, words: pa.Array) -> list[Any]:
    """Return a part as blocks of counts with the words as columns."""
    return to_canonical_blocks(make_partition_blocks(part.counts, words))


def check_same_column(found: Sequence[tuple[str | None, list[str]]], sources: Sequence[Any]) -> None:
    """Refuse parts whose texts were guessed to be in different columns; warn of what was left out."""
    first = found[0][0]
    for (column, _), source in zip(found, sources, strict=True):
        if column != first:
            raise InputError(
                f"the texts of {sources[0]} are in column {first!r}, those of {source} in {column!r}; pass text_column"
            )
    skipped = [
        f"{source}: {'; '.join(sentences)}" for (_, sentences), source in zip(found, sources, strict=True) if sentences
    ]
    if skipped:
        warnings.warn(f"rows were left out in {len(skipped)} parts: {skipped[0]}", stacklevel=3)


def strip_model(model: TopicModel) -> TopicModel:
    """Return the model without what it knows of its training documents, and with one thread: workers have others."""
    light = copy.copy(model)
    light._get_fitted()
    for name in FIT_ATTRIBUTES:
        light.__dict__.pop(name, None)
    light.n_threads = 1
    return light


def transform_source(model: TopicModel, source: Any, reading: dict[str, Any]) -> Any:
    """Return the topics of the texts of one part."""
    if not isinstance(source, str):
        return model.transform(iter_strings(source))
    with open_part(source, reading) as file:
        parts = [part.mixtures.shares for part in model.transform_batches(batch.texts for batch in file)]
    return np.vstack(parts)


def transform_run(model: TopicModel, blocks: Sequence[Any]) -> Any:
    """Return the topics of the documents of a run of counts."""
    return np.vstack([model.transform_counts(block) for block in blocks])
