"""Mixed membership: the share of each topic in a document, and how much of the document the topics explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from anchorless._core.nnls import compute_gram, solve_nnls
from anchorless._core.token_mixtures import count_document_topics, mix_document_topics, sum_entries
from anchorless._core.weighting import WordWeights
from anchorless._corpus.counting import count_with_vocabulary
from anchorless._corpus.documents import Array, Documents, allocate_array
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.sparse import to_canonical_csr
from anchorless._corpus.threads import map_in_threads
from anchorless._topic_model.edits import Node, sum_columns
from anchorless._topic_model.embeddings import Embeddings, NeighborRecord, infer_priors, validate_embeddings
from anchorless.errors import InputError


class Mixtures(NamedTuple):
    """The topics of some documents, one row each."""

    shares: Array  # (n, F): nonnegative rows that sum to one, or zero for a document without a known word
    explained: Array  # (n,), in [0, 1]: the part of what is special about the document that its topics explain


class BatchMixtures(NamedTuple):
    """The topics of a batch of texts."""

    mixtures: Mixtures
    n_tokens: int  # tokens counted
    n_unknown: int | None  # tokens of words that the model does not know; None where a vectorizer does not tell
    lengths: Array | None = None  # (n,) tokens of each text that the model knows


class TokenInference(NamedTuple):
    """All that is needed for the mixtures of counts under the token model."""

    phi: Array  # (V, F), p(word | topic)
    alpha: Array  # (F,), the Dirichlet prior
    frequency: Array  # (V,), of the words in the corpus
    guided: Array | None = None  # (V, F), topics of documents with neighbors; None if they are the same

    def compute(self, X: Any, added: Array | None = None) -> Mixtures:
        """Compute the posterior means of the mixtures of counts X. No row needs another.

        `added` (n, F) is what the neighbors of each document add to its prior.
        `explained` is the part of the deviance: (log-likelihood of the mixture − that of the corpus's frequencies) /
        (the largest possible − that of the frequencies).
        """
        X = to_canonical_csr(X)
        if added is None:
            return self.compute_with(X, self.phi, self.alpha)
        if self.guided is None:
            return self.compute_with(X, self.phi, self.alpha + added)
        shares, explained = np.empty(added.shape), np.empty(len(added))
        near = added.any(axis=1)
        for rows, phi in ((near, self.guided), (~near, self.phi)):
            shares[rows], explained[rows] = self.compute_with(X[rows], phi, self.alpha + added[rows])
        return Mixtures(shares, explained)

    def compute_with(self, X: Any, phi: Array, prior: Array) -> Mixtures:
        """Compute the mixtures of counts X, in canonical form, under topics (V, F) and a prior (F,) or (n, F)."""
        counts = count_document_topics(X, phi, prior)
        known = counts.sum(axis=1) > 0
        shares = np.where(known[:, None], counts + prior, 0.0)
        total = shares.sum(axis=1, keepdims=True)
        np.divide(shares, total, out=shares, where=total > 0)
        return Mixtures(shares, compute_explained_deviance(X, shares, phi, self.frequency))

    def count_effective_tokens(self, X: Any, shares: Array) -> Array:
        """Return how many tokens of known topic would tell as much about mixtures (n, F) as the tokens of X do (n,).

        A token that certainly belongs to one topic counts as one, and one whose topics are those of the document in
        any case as none: (Σ_k r_k² − Σ_k θ_k²) / (1 − Σ_k θ_k²), where r are the probabilities of its topics.
        """
        X = to_canonical_csr(X)
        mixed, squares = mix_document_topics(X, shares, self.phi)
        known, total = sum_entries(X, squares), sum_entries(X, (mixed > 0).astype(np.float64))
        alike = np.einsum("ij,ij->i", shares, shares)
        part = np.divide(known - total * alike, 1.0 - alike, out=np.zeros_like(total), where=alike < 1.0 - 1e-9)
        return np.clip(part, 0.0, total)


class Inference(NamedTuple):
    """All that is needed to find the topics of new documents; small enough to send to a worker."""

    components: Array  # (F, V)
    weights: WordWeights
    vocabulary: list[str]
    counting: CountSettings | None  # None: counted by a vectorizer, or by the user
    vectorizer: Any = None
    tokens: TokenInference | None = None  # None: least squares of weighted words
    nodes: tuple[Node, ...] | None = None  # topics that edits have changed; None: the topics are as they were fitted
    neighbors: NeighborRecord | None = None  # None: fitted without embeddings

    def transform_batches(
        self, batches: Iterable[Any], n_threads: int, embeddings: Any = None
    ) -> Iterator[BatchMixtures]:
        """Yield the topics of each batch of texts (string arrays) as they come."""
        self.check_embeddings(embeddings)
        # One BLAS thread: its rounding depends on their number, and ours use the same cores.
        with threadpool_limits(1, user_api="blas"):
            compute = self.make_compute()

            def transform(counted: tuple[tuple[Any, int, int | None], Array | None]) -> BatchMixtures:
                (X, n_tokens, n_unknown), added = counted
                mixtures = compute(X) if added is None else compute(X, added=added[:, :-1])
                lengths = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
                return BatchMixtures(mixtures, n_tokens, n_unknown, lengths)

            counted = self.add_priors(self.count_batches(batches, n_threads), embeddings)
            yield from map_in_threads(transform, counted, n_threads)

    def transform_documents(self, counts: Documents, n_threads: int, embeddings: Any = None) -> Iterator[Mixtures]:
        """Yield the topics of each block of counts, in order."""
        self.check_embeddings(embeddings)
        if self.neighbors is None:
            return iter_mixtures(counts, self.make_compute(), n_threads)
        checked = validate_embeddings(embeddings, counts.shape[0], self.neighbors.n_dimensions)
        with threadpool_limits(1, user_api="blas"):
            added = infer_priors(self.neighbors, checked, n_threads)
        leaves = iter_mixtures(counts, self._replace(nodes=None).make_compute(), n_threads, added)
        return (show_mixtures(mixtures, self.nodes) for mixtures in leaves)

    def check_embeddings(self, embeddings: Any) -> None:
        """Refuse embeddings for a model that was fitted without, and none for one that was fitted with them."""
        if self.neighbors is None and embeddings is not None:
            problem = "embeddings were given, but this model was fitted, or saved, without them"
            raise InputError(problem, remedy="leave {embeddings} out, or fit again with {embeddings}")
        if self.neighbors is not None and embeddings is None:
            problem = "this model was fitted with embeddings, so it needs those of new documents"
            raise InputError(problem, remedy="give {embeddings} of the same encoder, or fit without")

    def add_priors(self, counted: Iterable[Any], embeddings: Any) -> Iterator[tuple[Any, Array | None]]:
        """Yield counted batches, each with what neighbors add to the priors; the embeddings are of all documents."""
        if self.neighbors is None:
            yield from ((batch, None) for batch in counted)
            return
        n_given, start = len(embeddings) if hasattr(embeddings, "__len__") else 0, 0
        checked = validate_embeddings(embeddings, n_given, self.neighbors.n_dimensions)
        for batch in counted:
            rows = slice(start, start + batch[0].shape[0])
            start = rows.stop
            part = Embeddings(checked.vectors[rows], checked.known[rows])
            if len(part) == batch[0].shape[0]:
                yield batch, infer_priors(self.neighbors, part, 1)
        if start != n_given:
            problem = f"embeddings: {n_given:,} embeddings for {start:,} documents"
            raise InputError(problem, remedy="give one row per document, in the order of the documents")

    @property
    def n_topics(self) -> int:
        """The number of topics that mixtures have."""
        return len(self.components) if self.nodes is None else len(self.nodes)

    def make_compute(self) -> Callable[..., Mixtures]:
        """Return the function that computes the mixtures of a block of counts."""
        compute = make_compute(self.components, self.weights, self.tokens)
        return compute if self.nodes is None else partial(compute_shown_mixtures, compute=compute, nodes=self.nodes)

    def count_batches(self, batches: Iterable[Any], n_threads: int) -> Iterator[tuple[Any, int, int | None]]:
        """Yield counts, tokens and unknown tokens of batches of texts."""
        if self.vectorizer is not None:
            for batch in batches:
                counts = self.vectorizer.transform(batch.to_pylist())
                yield counts, int(counts.sum()), None
        elif self.counting is not None:
            yield from count_with_vocabulary(batches, self.vocabulary, self.counting, n_threads)
        else:
            remedy = (
                "load it with vectorizer=, the vectorizer it was fitted with, or use vocabulary_ and transform_counts"
            )
            raise InputError("this model was fitted on counts made elsewhere, so it cannot count texts", remedy=remedy)


def merge_parts(whole_ids: Any, mixtures: Mixtures, lengths: Array) -> tuple[pa.Table, Mixtures]:
    """Return the mixtures of documents, given those of their parts: means weighted by the tokens of the parts.

    `whole_ids` names the document of each part; the parts of a document follow each other. A document without a known
    word has a row of zeros.
    """
    ids = whole_ids.to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.zeros(0, dtype=np.int64)
    tokens = np.add.reduceat(lengths, starts) if len(ids) else np.zeros(0)
    sums = (
        np.add.reduceat(values * lengths[:, None], starts, axis=0)
        for values in (mixtures.shares, mixtures.explained[:, None])
    )
    shares, explained = (
        np.divide(part, tokens[:, None], out=np.zeros_like(part), where=tokens[:, None] > 0) for part in sums
    )
    n_parts = np.diff(np.append(starts, len(ids)))
    columns = {"document": pa.array(ids[starts], pa.string()), "parts": n_parts, "tokens": tokens.astype(np.int64)}
    return pa.table(columns), Mixtures(shares, explained[:, 0])


def compute_mixtures(D: Any, C: Array, gram: Array, weights: WordWeights | None = None) -> Mixtures:
    """Compute the mixtures of documents D under topics C (V, F); with `weights`, D are counts. No row needs another.

    Weights w ≥ 0 minimize ‖d − Cw‖; shares are w / Σw. At the minimum w·(Cᵀd − CᵀCw) = 0, so
    (‖d‖² − ‖d − Cw‖²) / ‖d‖² is w·Cᵀd / ‖d‖².
    """
    D = to_canonical_csr(D if weights is None else weights.transform(D))
    B = D @ C
    W = solve_nnls(gram, B)
    squares = D.copy()
    squares.data **= 2
    energy = squares @ np.ones(D.shape[1])
    explained = np.divide((B * W).sum(axis=1), energy, out=np.zeros(len(W)), where=energy > 0)
    total = W.sum(axis=1, keepdims=True)
    return Mixtures(np.divide(W, total, out=np.zeros_like(W), where=total > 0), np.clip(explained, 0.0, 1.0))


def compute_explained_deviance(X: Any, shares: Array, phi: Array, frequency: Array) -> Array:
    """Return the part of the deviance of documents X (n, V) from the frequencies (V,) that mixtures explain (n,)."""
    length = np.asarray(X.sum(axis=1)).ravel()
    mixed, usual = mix_document_topics(X, shares, phi)[0], frequency[X.indices]
    # A smaller frequency is none that counts can have, and a probability divided by it would overflow.
    known = (mixed > 0) & (usual >= np.finfo(float).tiny)
    own = X.data / np.repeat(length, np.diff(X.indptr))
    gain, most = (
        sum_entries(X, np.log(np.divide(probability, usual, out=np.ones_like(usual), where=known)))
        for probability in (mixed, own)
    )
    return np.clip(np.divide(gain, most, out=np.zeros_like(gain), where=most > 0), 0.0, 1.0)


def make_compute(
    components: Array, weights: WordWeights | None, tokens: TokenInference | None
) -> Callable[..., Mixtures]:
    """Return the function that computes the mixtures of a block: of counts, or without `weights` of weighted words."""
    if tokens is not None:
        return tokens.compute
    C = np.ascontiguousarray(components.T)
    return partial(compute_mixtures, C=C, gram=compute_gram(C), weights=weights)


def compute_shown_mixtures(
    X: Any, compute: Callable[..., Mixtures], nodes: tuple[Node, ...], **added: Array
) -> Mixtures:
    """Compute the mixtures of a block, with columns added up as edits say."""
    return show_mixtures(compute(X, **added), nodes)


def show_mixtures(mixtures: Mixtures, nodes: tuple[Node, ...] | None) -> Mixtures:
    """Return mixtures with columns added up as edits say."""
    return mixtures if nodes is None else mixtures._replace(shares=sum_columns(mixtures.shares, nodes))


def iter_mixtures(
    documents: Documents, compute: Callable[..., Mixtures], n_threads: int, added: Array | None = None
) -> Iterator[Mixtures]:
    """Yield the mixtures of each block of documents, in order; `added` (N, F + 1) are added to the priors.

    Its last column has no meaning: results take its place, also where the documents are on a cluster.
    """
    with threadpool_limits(1, user_api="blas"):
        if added is None:
            yield from documents.map_blocks(compute, n_threads)
            return
        for rows in documents.map_rows(partial(compute_rows, compute=compute), added, n_threads):
            yield Mixtures(np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy())


def compute_rows(X: Any, rows: Array, compute: Callable[..., Mixtures]) -> Array:
    """Return the mixtures of a block (n, F + 1), `explained` in the last column, for what is added to the priors."""
    return np.column_stack(compute(X, added=rows[:, :-1]))


def collect_mixtures(
    parts: Iterable[Mixtures], shape: tuple[int, int], *, on_disk: bool, add: Callable[[Mixtures], None]
) -> Mixtures:
    """Gather the mixtures of all documents, (N, F), in memory or in a mapped temporary file; `add` sees each part."""
    shares, explained = allocate_array(shape, on_disk=on_disk), allocate_array(shape[:1], on_disk=on_disk)
    first = 0
    for part in parts:
        rows = slice(first, first + len(part.shares))
        shares[rows], explained[rows] = part
        first = rows.stop
        add(part)
    return Mixtures(shares, explained)


def stack_mixtures(parts: Iterable[Mixtures], n_topics: int) -> Mixtures:
    """Stack the mixtures of several blocks."""
    empty = Mixtures(np.zeros((0, n_topics)), np.zeros(0))
    shares, explained = zip(empty, *parts, strict=True)
    return Mixtures(np.vstack(shares), np.concatenate(explained))
