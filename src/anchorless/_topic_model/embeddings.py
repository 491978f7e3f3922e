"""Embeddings of documents as side information: checks, neighbors among the training documents, and what is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from anchorless._core.embedding_axes import Axes, find_axes
from anchorless._core.neighbor_prior import N_NEIGHBORS, UNUSED, NeighborChoice, average_mixtures, sharpen_mixtures
from anchorless._core.neighbor_topics import NeighborTopics, build_graph, guide_topics, infer_mixtures
from anchorless._core.neighbors import (
    Positions,
    build_references,
    find_mutual_neighbors,
    find_neighbors,
    normalize_vectors,
    round_vectors,
)
from anchorless._core.token_model import TokenTopics, TrialTopics
from anchorless._core.token_sweeps import Sweeps, TopicCounts
from anchorless._corpus.documents import Array, Documents, allocate_array
from anchorless._corpus.io.embeddings import stack_lists
from anchorless._corpus.sparse import split_range
from anchorless.errors import InputError

#: Documents whose embeddings are checked, or whose priors are computed, at the same time.
ROWS_AT_A_TIME = 2**11


class Embeddings(NamedTuple):
    """Checked embeddings of documents."""

    vectors: npt.NDArray[np.float16]  # (n, d), of length one; zero for a document without an embedding
    known: npt.NDArray[np.bool_]  # (n,), whether a document has an embedding

    def __len__(self) -> int:
        return len(self.known)


class NeighborRecord(NamedTuple):
    """What the mixtures of documents with embeddings need of the training documents."""

    vectors: npt.NDArray[np.float16]  # (M, r), the references; none if neighbors are not used
    mixtures: npt.NDArray[np.float32]  # (M, F), of the references, by their words alone, sharpened
    choice: NeighborChoice
    topic_word: Array | None = None  # (F, V), topics as neighborhoods share them; None for those of the fit
    axes: Axes | None = None  # in which neighbors are searched; None in older files: in those of the embeddings

    def describe(self) -> str:
        """Say how the embeddings are used."""
        k, tau, gain = self.choice
        if not tau:
            return "embeddings: neighbors do not predict words better than words alone, so they are not used"
        better = f"they predict words that were held out better, by {gain:.3f} per word (log-probability)"
        where = " in topics that the neighbors share" if self.topic_word is not None else ""
        return f"embeddings: the {k} nearest neighbors of a document count as {tau:g} of its words{where}; {better}"

    @property
    def n_dimensions(self) -> int:
        """The number of dimensions of the embeddings."""
        return int(self.vectors.shape[1]) if self.axes is None else len(self.axes.center)


class TrainingGraph:
    """The training documents and their neighbors: what a fit needs before it knows the topics."""

    def __init__(self, embeddings: Embeddings, lengths: Array, n_threads: int) -> None:
        self.axes = find_axes(embeddings.vectors[embeddings.known & (lengths > 0)])
        embeddings = reduce_embeddings(embeddings, self.axes, n_threads)
        usable = np.flatnonzero(embeddings.known & (lengths > 0))
        first, group = group_equal_rows(embeddings.vectors[usable])
        self.vectors = embeddings.vectors[usable[first]]
        # Row r averages over the documents that have the embedding of reference r.
        weight = 1.0 / np.bincount(group, minlength=len(first))[group]
        shape = (len(first), len(lengths))
        self.members = sp.csr_matrix((weight, (group, usable)), shape=shape)
        references = build_references(normalize_vectors(self.vectors), n_threads)
        near = find_mutual_neighbors(references, N_NEIGHBORS, n_threads).positions
        positions = np.full((len(lengths), N_NEIGHBORS), -1, dtype=np.int32)
        positions[usable] = near[group]
        self.graph = build_graph(positions, near, self.vectors, self.members)
        self.topics = NeighborTopics()

    def guide(self, sweeps: Sweeps, state: TopicCounts, topics: TrialTopics, *, refit: bool) -> None:
        """Choose how neighbors are used, and with `refit` find topics with their help."""
        self.topics = guide_topics(sweeps, state, topics, self.graph, refit=refit)

    def reorder(self, order: Any) -> None:
        """Put the topics into another order."""
        topic_word = self.topics.topic_word
        self.topics = self.topics._replace(topic_word=None if topic_word is None else topic_word[order])

    def record(self, mixtures: Array, counts: Documents, tokens: TokenTopics, n_threads: int) -> NeighborRecord:
        """Return what is kept, given the mixtures (N, F) by words alone under the topics of the fit."""
        choice, topic_word = self.topics
        if not choice.n_tokens:
            none = np.zeros((0, mixtures.shape[1]), np.float32)
            return NeighborRecord(self.vectors[:0], none, UNUSED, axes=self.axes)
        if topic_word is not None:
            mixtures = infer_mixtures(counts, np.ascontiguousarray(topic_word.T), tokens.alpha, n_threads)
        mixtures = sharpen_mixtures(mixtures)
        found = np.empty((len(self.vectors), mixtures.shape[1]), dtype=np.float32)
        for rows in split_range(len(found), ROWS_AT_A_TIME):
            found[rows] = self.members[rows] @ mixtures
        return NeighborRecord(self.vectors, found, choice, topic_word, self.axes)


def validate_embeddings(given: Any, n_documents: int, n_dimensions: int | None = None) -> Embeddings:
    """Return checked embeddings of documents; rows that are masked as a whole are of documents without one."""
    if isinstance(given, Embeddings):
        return given
    found = to_array(given)
    masked = np.ma.getmaskarray(found) if isinstance(found, np.ma.MaskedArray) else None
    values = np.ma.getdata(found)
    if values.ndim == 0:
        raise make_error(f"they are of the type {type(given).__name__}", "give an array, documents × dimensions")
    if values.ndim != 2 or values.dtype.kind != "f" or values.dtype.itemsize > 8:
        kind = f"an array of {values.dtype} with {values.ndim} dimension{'s' * (values.ndim != 1)}"
        example = ": E.astype('float32')" if values.ndim == 2 and values.dtype.kind in "biu" else ""
        raise make_error(f"they are {kind}", f"give floating-point numbers, documents × dimensions{example}")
    if len(values) != n_documents:
        problem = f"{len(values):,} embeddings for {n_documents:,} documents"
        out = "; documents that are left out, such as empty ones and copies, have none: see the ids of the others"
        remedy = "give one row per document, in the order of the documents"
        raise make_error(problem, remedy + (out if len(values) > n_documents else ""))
    if values.shape[1] == 0 or n_dimensions not in (None, values.shape[1]):
        wanted, remedy = f"{n_dimensions}, as those of the training documents", "use the encoder of the fit"
        if n_dimensions is None:
            wanted, remedy = "at least 1", "give documents × dimensions"
        raise make_error(f"they have {values.shape[1]} dimensions, not {wanted}", remedy)
    known = np.ones(n_documents, dtype=bool)
    if masked is not None:
        known = np.asarray(~masked.all(axis=1))
        if (masked[known]).any():
            row = int(np.flatnonzero(known & masked.any(axis=1))[0])
            raise make_error(f"row {row} is masked in part", "mask a row as a whole, or not at all")
    return Embeddings(check_and_round(values, known), known)


def to_array(given: Any) -> npt.NDArray[Any]:
    """Return what was given as an array: a data frame of numbers, a tensor, or a column of lists, such as `df["e"]`.

    Documents without a list are masked.
    """
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given
    is_column = False
    try:
        found = np.asarray(given)
        is_column = found.ndim == 1 and found.dtype == object
    except ValueError:  # of lists, if they are not equally long, or if one is missing
        is_column = True
    except (TypeError, RuntimeError) as error:
        raise make_error(f"they are no array ({error})", "give documents × dimensions") from None
    return stack_lists(to_column(given), "the column") if is_column else found


def to_column(given: Any) -> Any:
    """Return lists of numbers as an Arrow column, in which a missing list is null."""
    if isinstance(given, pa.ChunkedArray):  # older versions of Arrow do not have its stream
        return given
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return pa.chunked_array(given)
        if hasattr(given, "__arrow_c_array__"):
            return pa.chunked_array([pa.array(given)])
        return pa.chunked_array([pa.array(list(given), from_pandas=True)])
    except (TypeError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise make_error(f"they are no lists of numbers ({reason})", "give documents × dimensions") from None


def check_and_round(values: npt.NDArray[Any], known: npt.NDArray[np.bool_]) -> npt.NDArray[np.float16]:
    """Return rows of length one; refuse NaN, infinity and zeros. A file that is mapped is read piece by piece."""
    rounded = np.zeros(values.shape, dtype=np.float16)
    for rows in split_range(len(values), ROWS_AT_A_TIME):
        part, here = values[rows], known[rows]
        finite, zero = np.isfinite(part).all(axis=1), ~part.any(axis=1)
        for is_bad, what in ((~finite, "has NaN or infinity"), (zero, "is zero")):
            if np.any(is_bad & here):
                row, n = rows.start + int(np.flatnonzero(is_bad & here)[0]), int((is_bad & here).sum())
                others = f" (and {n - 1:,} other{'s' * (n > 2)} near it)" if n > 1 else ""
                problem = f"row {row}{others} {what}"
                remedy = (
                    "encode again; documents without an embedding have a masked row (numpy.ma), or null in a column"
                )
                raise make_error(problem, remedy)
        if here.all():
            rounded[rows] = round_vectors(part)
        else:
            rounded[rows][here] = round_vectors(part[here])
    return rounded


def make_error(problem: str, remedy: str) -> InputError:
    """Return the error of embeddings that cannot be used."""
    return InputError(f"embeddings: {problem}", remedy=remedy)


def group_equal_rows(vectors: npt.NDArray[np.float16]) -> tuple[Any, Any]:
    """Return the first position of each different row, in order, and the group of each row."""
    rows = np.ascontiguousarray(vectors).view(np.dtype((np.void, vectors.dtype.itemsize * vectors.shape[1]))).ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.ravel()]


def reduce_embeddings(embeddings: Embeddings, axes: Axes, n_threads: int) -> Embeddings:
    """Return embeddings along the axes; a document in their center has none."""
    if embeddings.known.all():
        return Embeddings(*axes.reduce(embeddings.vectors, n_threads))
    vectors = np.zeros((len(embeddings), axes.directions.shape[1]), dtype=np.float16)
    known = embeddings.known.copy()
    vectors[embeddings.known], known[embeddings.known] = axes.reduce(embeddings.vectors[embeddings.known], n_threads)
    return Embeddings(vectors, known)


def search_neighbors(embeddings: Embeddings, references: Any, n_neighbors: int, n_threads: int) -> Positions:
    """Return the neighbors (n, k) of documents among references (M, r); −1 for a document without an embedding."""
    found = np.full((len(embeddings), n_neighbors), -1, dtype=np.int32)
    queries = normalize_vectors(embeddings.vectors[embeddings.known])
    among = build_references(normalize_vectors(references), n_threads)
    if len(queries) and len(references):
        found[embeddings.known] = find_neighbors(queries, among, n_neighbors, n_threads).positions
    return found


def compute_priors(record: NeighborRecord, positions: Any, *, on_disk: bool = False) -> Array:
    """Return what neighbors add to the prior of each document (n, F + 1), given their positions (n, k).

    The last column is zero.
    """
    k, tau, _ = record.choice
    found = allocate_array((len(positions), record.mixtures.shape[1] + 1), on_disk=on_disk)
    for rows in split_range(len(positions), ROWS_AT_A_TIME):
        found[rows, :-1] = tau * average_mixtures(record.mixtures, positions[rows], k)
    return found


def infer_priors(record: NeighborRecord, embeddings: Embeddings, n_threads: int) -> Array | None:
    """Return what neighbors add to the prior of new documents (n, F + 1); None if neighbors are not used."""
    if not record.choice.n_tokens:
        return None
    if record.axes is not None:
        embeddings = reduce_embeddings(embeddings, record.axes, n_threads)
    found = search_neighbors(embeddings, record.vectors, record.choice.n_neighbors, n_threads)
    return compute_priors(record, found)
