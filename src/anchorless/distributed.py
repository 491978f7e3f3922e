"""Topic models of documents on a Dask cluster: texts are counted, fitted and transformed where they are.

Every function takes the client that you connected. What it returns works with the estimators as they are:
``AnchorFree(20).fit(X)`` for X from `from_array`, ``TopicModel(20).fit(corpus)`` for a corpus from `count`. Every
published number agrees with that of a fit on one machine to 1e-10, and a lost worker changes no more than that.
"""

from __future__ import annotations

import glob
import os
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.documents import FAN_IN, Documents
from anchorless._corpus.given_counts import validate_documents
from anchorless._corpus.metadata import MetadataCollector
from anchorless._corpus.parts import SharedVocabulary, choose_vocabulary, merge_term_totals
from anchorless._corpus.settings import CountSettings
from anchorless._deprecated import get_renamed
from anchorless._distributed.client import (
    Client,
    Future,
    check_client,
    compute_on_workers,
    connect,
    da,
    dask,
    refuse_losses,
    wait_for_result,
)
from anchorless._distributed.documents import DaskDocuments, build_dask_documents, scatter, submit_on_runs
from anchorless._distributed.tasks import identity, to_canonical_blocks
from anchorless._distributed.texts import (
    CountedPart,
    build_corpus,
    build_inference,
    count_part,
    infer_part,
    infer_run,
    refuse_split,
    sample_part,
)
from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError

__all__ = ["DaskDocuments", "connect", "count", "from_array", "from_parts", "scatter", "transform"]


@refuse_losses()
def from_parts(client: Client, parts: Sequence[Any]) -> DaskDocuments:
    """Use matrices that are on the workers.

    Parameters
    ----------
    client : as in `scatter`
    parts : sequence of futures or delayed values
        Each is a sparse matrix, documents × words, or a list of such blocks.

    Returns
    -------
    documents : DaskDocuments
        The blocks of all parts, in their order.

    Raises
    ------
    InputError, ClusterError
        As in `scatter`; also if there are no parts, or they are not matrices.

    Examples
    --------
    >>> from anchorless.distributed import from_parts
    >>> documents = from_parts(client, client.map(load_matrix, names))  # doctest: +SKIP
    """
    check_client(client)
    tasks = [dask.delayed(to_canonical_blocks)(part) for part in parts]
    return build_dask_documents(client, compute_on_workers(client, tasks))


@refuse_losses()
def from_array(client: Client, X: Any) -> DaskDocuments:
    """Use a Dask array of documents × words.

    Parameters
    ----------
    client : as in `scatter`
    X : dask.array.Array of shape (n_documents, n_words)
        Its chunks are sparse matrices of whole rows; each becomes a block.

    Returns
    -------
    documents : DaskDocuments
        The chunks, in their order.

    Raises
    ------
    InputError, ClusterError
        As in `scatter`; also if `X` is not a Dask array of two dimensions, or its rows are divided.

    Examples
    --------
    >>> from anchorless.distributed import from_array
    >>> documents = from_array(client, X.rechunk({1: -1}))  # doctest: +SKIP
    """
    if not isinstance(X, da.Array) or X.ndim != 2:
        raise InputError(f"X is {type(X).__name__}, but it must be a Dask array, documents × words")
    if X.numblocks[1] != 1:
        problem = f"X has {X.numblocks[1]} chunks of words, but a chunk must have whole documents"
        raise InputError(problem, remedy="use X.rechunk({1: -1})")
    return from_parts(client, X.to_delayed().ravel().tolist())


@refuse_losses()
def count(
    client: Client,
    texts: Any,
    settings: CountSettings | None = None,
    *,
    text_column: str | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
    date_column: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    strict: bool = False,
) -> Corpus:
    """Count texts on the workers and leave the counts there.

    A part is read and counted by one worker. Its ids, labels, dates and other columns, and the beginnings of its texts,
    travel part by part into temporary files of this process. All parts get the columns of the first.

    Parameters
    ----------
    client : as in `scatter`
    texts : str, path, list, or Dask bag
        Names of files that every worker can read: a list, or a pattern such as ``"news/part-*.parquet"``, in every
        format that ``anchorless fit`` reads. Or a Dask bag of strings, or a list of futures or delayed values, each a
        list of strings.
    settings : CountSettings or None, default=None
        How texts are counted; None for the defaults, ``model.counting_settings()`` for those of a TopicModel.
    text_column, id_column, label_column, date_column, format, encoding, strict : as in `Corpus.read`
        How files are read.

    Returns
    -------
    corpus : Corpus
        The documents stay on the workers. It owns temporary files: close it, or use it in a ``with`` statement.

    Raises
    ------
    InputError, ClusterError
        As in `scatter`; also if a part cannot be read, texts are in different columns, or no word is left.

    Examples
    --------
    >>> from anchorless import TopicModel
    >>> from anchorless.distributed import count
    >>> model = TopicModel(n_topics=20)
    >>> with count(client, "news/part-*.parquet", model.counting_settings()) as corpus:  # doctest: +SKIP
    ...     model.fit(corpus)
    """
    check_client(client)
    settings = settings or CountSettings()
    refuse_split(settings)
    reading: dict[str, Any] = {"text_column": text_column, "id_column": id_column}
    reading |= {"format": format, "encoding": encoding, "strict": strict}
    sources = list_parts(texts, reading | {"label_column": label_column, "date_column": date_column})
    sampled = compute_on_workers(client, [dask.delayed(sample_part)(sources[0], settings, reading)])
    sample = wait_for_result(client, sampled[0])
    settings = sample.settings
    pinned = settings.pin_stop_words()  # a worker may have other lists of stop words
    tasks = [dask.delayed(count_part)(source, pinned, reading, len(sources) == 1) for source in sources]
    parts = compute_on_workers(client, tasks)

    def build_documents() -> tuple[Documents, SharedVocabulary]:
        totals = client.map(CountedPart.compute_totals, parts, pure=False)
        while len(totals) > 1:
            groups = [totals[start : start + FAN_IN] for start in range(0, len(totals), FAN_IN)]
            totals = [client.submit(merge_term_totals, group, pure=False) for group in groups]
        chosen = choose_vocabulary(wait_for_result(client, totals[0]), settings)
        words = [client.submit(identity, chosen.words, pure=False)] * len(parts)
        blocks = client.map(CountedPart.build_blocks, parts, words, pure=False)
        return build_dask_documents(client, blocks), chosen

    futures = deque(client.map(CountedPart.drop_counts, parts, pure=False))
    facts = (wait_for_result(client, futures.popleft()) for _ in range(len(futures)))
    collector = MetadataCollector(sources[0], label_column, date_column)
    return build_corpus(facts, collector, settings, build_documents, sample)


@refuse_losses()
def transform(
    client: Client,
    model: TopicModel,
    documents: Any,
    *,
    text_column: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    strict: bool = False,
) -> Any:
    """Compute the topics of documents on the workers and leave them there.

    Parameters
    ----------
    client : as in `scatter`
    model : TopicModel
        A fitted model. Only what `TopicModel.transform` needs is sent; Dask warns if that is more than 10 MB.
    documents : str, path, list, Dask bag, or DaskDocuments
        Texts as in `count`, or counts with the words of ``model.vocabulary_`` as columns.
    text_column, format, encoding, strict : as in `count`

    Returns
    -------
    shares : dask.array.Array of shape (n_documents, n_topics)
        The share of each topic in each document, a chunk per part; equal to the rows of ``model.transform``.

    Raises
    ------
    InputError, ClusterError
        As in `scatter`; also if a part cannot be read, or counts have other words than the model.

    Examples
    --------
    >>> from anchorless.distributed import transform
    >>> transform(client, model, "news/part-*.parquet").mean(axis=0).compute()  # doctest: +SKIP
    """
    check_client(client)
    inference = build_inference(model)
    # As a task, not scattered: Dask can repeat it, and with it parts that are lost with a worker later.
    sent = client.submit(identity, inference, pure=False)
    if isinstance(documents, DaskDocuments):
        if documents.shape[1] != len(inference.vocabulary):
            problem = f"documents have {documents.shape[1]} words, but the model knows {len(inference.vocabulary)}"
            raise InputError(problem, remedy="count with vocabulary_")
        validate_documents(documents, "documents")
        parts = submit_on_runs(client, infer_run, sent, documents._renew_runs())
    else:
        reading = {"text_column": text_column, "format": format, "encoding": encoding, "strict": strict}
        sources = list_parts(documents, reading)
        parts = compute_on_workers(client, [dask.delayed(infer_part)(sent, source, reading) for source in sources])
    sizes = [wait_for_result(client, size) for size in client.map(len, parts, pure=False)]
    n_topics = len(inference.components)
    chunks = [da.from_delayed(part, (n, n_topics), np.float64) for part, n in zip(parts, sizes, strict=True)]
    return da.concatenate(chunks)


def list_parts(texts: Any, reading: dict[str, Any]) -> list[Any]:
    """Return the parts: names of files, or delayed lists of strings."""
    if hasattr(texts, "to_delayed"):
        parts = list(texts.to_delayed())
    elif isinstance(texts, str | os.PathLike):
        name = os.fspath(texts)
        parts = sorted(glob.glob(name)) if glob.has_magic(name) and not os.path.exists(name) else [name]
    else:
        parts = [os.fspath(part) if isinstance(part, os.PathLike) else part for part in texts]
    if not parts:
        raise InputError(f"there are no parts in {texts!r}", remedy="name at least one, or give another pattern")
    for number, part in enumerate(parts):
        if not isinstance(part, str | Future) and not dask.is_dask_collection(part):
            problem = f"part {number} is {part!r:.40}, but parts are names of files, or futures of lists of strings"
            raise InputError(problem, remedy="make a bag: dask.bag.from_sequence(texts, npartitions=8)")
    given = [name for name, value in reading.items() if value not in (None, False, "utf-8")]
    if given and not all(isinstance(part, str) for part in parts):
        raise InputError("it is for files, but the parts are texts", parameter=given[0], value=reading[given[0]])
    return parts


def __getattr__(name: str) -> Any:
    return get_renamed(sys.modules[__name__], name)
