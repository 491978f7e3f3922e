"""A fit and all that is kept of it, as one record: what is saved in a model file and comes back from it, bit by bit."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from anchorless._choices import CONSTRAINT_SYNONYMS
from anchorless._core.embedding_axes import Axes
from anchorless._core.neighbor_prior import NeighborChoice
from anchorless._core.proportions import compute_moment_association
from anchorless._core.weighting import WeightedDocuments, WordWeights, compute_relevance, scale_words
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.documents import Array, Documents
from anchorless._corpus.metadata import Metadata, count_missing_dates
from anchorless._corpus.quality import DataNote
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import build_word_snippets
from anchorless._deprecated import find_stack_level
from anchorless._diagnostics.identifiability.shuffled import summarize_lengths
from anchorless._estimators.anchorfree import AnchorFree, VolumeConvergenceWarning
from anchorless._report.html import DocumentRecord, LabelTable, PeriodTable
from anchorless._topic_model.document_summary import MixtureSummary
from anchorless._topic_model.embeddings import NeighborRecord
from anchorless._topic_model.file import Arrays, decode_words, encode_words
from anchorless._topic_model.junk_topics import list_junk
from anchorless._topic_model.mixtures import TokenInference
from anchorless._topic_model.summary import (
    Positions,
    TopicFacts,
    compute_topic_facts,
    join_some,
    list_top_topics,
    rank_borders,
    rank_representatives,
)
from anchorless.errors import InputError, MessageParts, render_message
from anchorless.metrics import leading_words

#: Documents of each topic that a fit keeps for the report, and those that a model file keeps, with their snippets.
MAX_DOCUMENTS_PER_TOPIC, SAVED_DOCUMENTS = 100, 20
#: Documents at the border of each topic that a fit and a model file keep.
MAX_BORDER_DOCUMENTS = 10
#: A topic is called faint below this share, or below this part of the mean share if that is less: of 500 topics, many
#: have 0.05% rightly. With fewer documents per topic it is said that they are few.
FAINT_SHARE, FAINT_PART = 0.0005, 0.1
MIN_DOCUMENTS_PER_TOPIC = 10
#: Arrays of a record that are saved as they are, and measures of the topics that are saved as arrays.
ARRAYS = ("components", "moments", "correlation", "eigenvalues", "clipped_mass", "document_frequency", "word_counts")
TOKEN_ARRAYS = {"mean": "proportion_mean", "covariance": "proportion_covariance"}
MEASURES = ("shares", "coherence", "exclusivity")
#: Packages whose versions are noted in a model file.
MODEL_PACKAGES = ("anchorless", "numpy", "scipy", "scikit-learn", "pyarrow")
PARAMETERS = {"n_components": "n_topics"}  # what the parameters of the estimator are called in `TopicModel`

#: What to do if a model has no token model.
FIT_TOKEN_MODEL = "fit texts or whole counts again, and do not turn the token model off ({likelihood})"


class Diagnostics(NamedTuple):
    """What to know of a fit before trusting it."""

    n_documents: int
    n_tokens: int  # of words in the vocabulary
    n_without_words: int  # documents that hold no word of the vocabulary
    mean_explained: float  # mean over the other documents
    log_volume: float
    n_iter: int
    converged: bool
    n_constraints: int
    warnings: list[str]
    eigengap: float | None = None  # None in files of versions that did not keep it
    how_many: str = ""  # why this number of topics, where it was not given

    def render(self, name: Callable[[str], str]) -> Diagnostics:
        """Write the names of parameters in the warnings as a face does."""
        return self._replace(warnings=[render_message(warning, name) for warning in self.warnings])


class DocumentSummary(NamedTuple):
    """Documents that stand for the topics, and tables over all documents."""

    documents: list[DocumentRecord]
    representatives: list[list[int]]  # for each topic positions in `documents`, best first
    by_label: LabelTable | None = None
    by_period: PeriodTable | None = None
    mixtures: Array | None = None  # (n, F), of the documents; None in files of versions that did not keep them
    positions: Any = None  # (n,), of the documents in the corpus; None in older files
    borders: list[list[int]] | None = None  # for each topic positions in `documents` in which another is about as large


class FitNotes(NamedTuple):
    """Warnings of a fit, and why this number of topics was chosen, if it was not given."""

    warnings: list[str]
    how_many: str


class TokenRecord(NamedTuple):
    """What the token model adds."""

    topic_word: Array  # (F, V), p(word | topic)
    alpha: Array  # (F,), prior of the mixtures
    association: Array  # (F, F), beyond what the shares imply
    mean: Array | None = None  # (F,), of the proportions over documents; None in older files
    covariance: Array | None = None  # (F, F), of the proportions


class ModelRecord(NamedTuple):
    """A fitted model of V words and F topics."""

    components: Array  # (F, V), topics of weighted words, as the estimator found them
    relevance: Array  # (F, V), which ranks the words that are shown
    moments: Array  # (F, F)
    correlation: Array  # (F, F)
    eigenvalues: Array  # (F,)
    clipped_mass: Array  # (F,)
    document_frequency: Array  # (V,)
    word_counts: Array  # (V,)
    vocabulary: list[str]
    facts: TopicFacts
    weights: WordWeights
    counting: CountSettings | None  # None: counted by the user's vectoriser, or by the user
    diagnostics: Diagnostics
    kept: DocumentSummary
    word_noise: Array | None = None  # (V,), that of `AnchorFree`
    document_lengths: Array | None = None  # tokens of the documents, in order; quantiles of many
    tokens: TokenRecord | None = None  # None: of weights that are no counts, or `likelihood=False`, or an older file
    moment_association: Array | None = None  # (F, F), where it is not that of `moments`: some topics are not shown
    groupings: list[list[list[int]]] | None = None  # topics of each group, for each level; None: not computed
    neighbors: NeighborRecord | None = None  # None: fitted without embeddings
    data_notes: Sequence[DataNote] = ()  # on the quality of the texts

    @property
    def topic_word(self) -> Array:
        """p(word | topic) (F, V); without a token model, the topics without the weights of their words."""
        return remove_word_weights(self.components, self.weights) if self.tokens is None else self.tokens.topic_word

    @property
    def association(self) -> Array:
        """Association beyond what the shares imply (F, F); without a token model, that of the moments."""
        if self.tokens is not None:
            return self.tokens.association
        return compute_moment_association(self.moments) if self.moment_association is None else self.moment_association

    @property
    def token_inference(self) -> TokenInference | None:
        """What is needed for mixtures under the token model."""
        if self.tokens is None:
            return None
        guided = None if self.neighbors is None else self.neighbors.topic_word
        return build_token_inference(self.tokens.topic_word, self.tokens.alpha, self.word_counts, guided)


def remove_word_weights(components: Array, weights: WordWeights) -> Array:
    """Return topics (F, V) of weighted words as probabilities of tokens."""
    found = weights.remove_idf(components)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def add_word_weights(topic_word: Array, weights: WordWeights) -> Array:
    """Return topics (F, V) of tokens as topics of weighted words: the inverse of `remove_word_weights`."""
    return topic_word if weights.idf is None else scale_words(topic_word, weights.idf)


def build_token_inference(
    topic_word: Array, alpha: Array, word_counts: Array, guided: Array | None = None
) -> TokenInference:
    """Return what is needed for mixtures under topics (F, V); `guided` are those of documents with neighbors."""
    phi, frequency = np.ascontiguousarray(topic_word.T), word_counts / word_counts.sum()
    return TokenInference(phi, alpha, frequency, None if guided is None else np.ascontiguousarray(guided.T))


def reorder_estimator(found: AnchorFree, order: Positions) -> None:
    """Put the topics of an estimator into another order."""
    for name in ("components_", "topic_shares_", "clipped_mass_"):
        setattr(found, name, np.ascontiguousarray(getattr(found, name)[order]))
    for name in ("topic_moments_", "topic_correlation_"):
        setattr(found, name, np.ascontiguousarray(getattr(found, name)[np.ix_(order, order)]))


def fit_estimator(
    estimator: AnchorFree, documents: Documents, earlier: AnchorFree | None = None, *, partial: bool = False
) -> tuple[AnchorFree, list[str]]:
    """Fit the estimator; also return the templates of its warnings, which are issued, too.

    With `partial`, the documents are a further piece after those of `earlier`, which stays as it is.
    """
    if earlier is not None:
        estimator.__dict__.update({name: value for name, value in vars(earlier).items() if name.endswith("_")})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.partial_fit(documents) if partial else estimator.fit(documents)
        except InputError as error:
            raise error.rename_parameters(PARAMETERS) from None
    templates = []
    for warning in caught:
        message = warning.message
        if isinstance(message, VolumeConvergenceWarning):  # `TopicModel` has neither `max_iter` nor `tol`
            problem = f"the topics were still changing after {message.value} sweeps"
            message = VolumeConvergenceWarning(problem, remedy="lower {n_topics}")
        elif isinstance(message, MessageParts):
            message = message.rename_parameters(PARAMETERS)
        templates.append(message.template if isinstance(message, MessageParts) else str(message))
        warnings.warn(message, warning.category, stacklevel=find_stack_level())
    return estimator, templates


def get_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a result depends on."""
    return {"python": platform.python_version()} | {name: version(name) for name in MODEL_PACKAGES}


def build_model_record(
    found: AnchorFree,
    weighted: WeightedDocuments,
    corpus: Corpus,
    summary: MixtureSummary,
    notes: FitNotes,
    tokens: TokenRecord | None = None,
) -> ModelRecord:
    """Build the record of a fit."""
    warned, why = notes
    documents, vocabulary = weighted.documents, list(corpus.vocabulary)
    positions = summary.positions.tolist()
    snippets = corpus.take_snippets(positions) or build_word_snippets(documents, vocabulary, positions)
    statistics, topic_word = weighted.statistics, None if tokens is None else tokens.topic_word
    about = statistics.document_frequency, statistics.n_documents, topic_word
    relevance = compute_relevance(found.components_, weighted.weights, *about)
    facts = compute_topic_facts(relevance, vocabulary, found.topic_shares_, documents)
    diagnostics = Diagnostics(
        n_documents=summary.n_documents,
        n_tokens=int(weighted.statistics.word_counts.sum()),
        n_without_words=summary.n_documents - summary.n_with_words,
        mean_explained=summary.mean_explained,
        log_volume=float(found.log_volume_),
        n_iter=int(found.n_iter_),
        converged=bool(found.converged_),
        n_constraints=int(found.n_constraints_),
        warnings=[
            *warned,
            *list_problems(summary.n_documents, facts, corpus.metadata.dates, found.constraint),
            *list_junk(list_leading_words(relevance, vocabulary), facts.labels, corpus.counting),
        ],
        eigengap=float(found.eigengap_),
        how_many=why,
    )
    return ModelRecord(
        components=found.components_,
        relevance=relevance,
        moments=found.topic_moments_,
        correlation=found.topic_correlation_,
        eigenvalues=found.eigenvalues_,
        clipped_mass=found.clipped_mass_,
        document_frequency=weighted.statistics.document_frequency,
        word_counts=weighted.statistics.word_counts,
        vocabulary=vocabulary,
        facts=facts,
        weights=weighted.weights,
        counting=corpus.counting,
        diagnostics=diagnostics,
        kept=summarize_documents(summary, corpus.metadata, snippets),
        word_noise=found.word_noise_,
        document_lengths=summarize_lengths(weighted.lengths),
        tokens=tokens,
        data_notes=corpus.data_notes,
    )


def summarize_documents(summary: MixtureSummary, metadata: Metadata, snippets: Sequence[str]) -> DocumentSummary:
    """Return the kept documents as records, the representative ones of each topic, and means by label and period."""
    positions, mixtures = summary.positions, summary.mixtures
    nothing = [None] * len(positions)
    ids, labels, dates = (nothing if column is None else column.take(positions).to_pylist() for column in metadata)
    topics, explained = list_top_topics(mixtures.shares), mixtures.explained.tolist()
    documents = list(map(DocumentRecord, ids, snippets, topics, explained, labels, dates))
    best = rank_representatives(mixtures.shares, mixtures.explained, MAX_DOCUMENTS_PER_TOPIC)
    borders = [rows.tolist() for rows in rank_borders(mixtures.shares, MAX_BORDER_DOCUMENTS)]
    tables = summary.by_label, summary.by_period
    return DocumentSummary(documents, [r.tolist() for r in best], *tables, mixtures.shares, positions, borders)


def list_leading_words(relevance: Array, vocabulary: Sequence[str]) -> list[list[str]]:
    """Return the ten leading words of each topic."""
    return [[vocabulary[word] for word in lead] for lead in leading_words(relevance, min(10, len(vocabulary)))]


def list_problems(n_documents: int, facts: TopicFacts, dates: Any, constraint: str = "reliable") -> list[str]:
    """Warn of too few documents per topic, of topics of hardly a share, and of dates that cannot be read."""
    n_topics, problems = len(facts.labels), []
    if n_documents < MIN_DOCUMENTS_PER_TOPIC * n_topics:
        fewer = n_documents // MIN_DOCUMENTS_PER_TOPIC
        instead = f"set {{n_topics}} to {fewer} or give more documents" if fewer > 1 else "give more documents"
        ratio = f"{n_documents / n_topics:.2g}"
        many = f"only {ratio} {'document' if ratio == '1' else 'documents'} per topic"
        few = f"{n_topics} topics for {n_documents:,} documents have {many}"
        problems.append(f"{few}, so some topics may describe single documents; {instead}")
    least = min(FAINT_SHARE, FAINT_PART / n_topics)
    faint = [f"{f} ({facts.labels[f]})" for f in np.flatnonzero(facts.shares < least)]
    if faint:
        ways = ["lower {n_topics}", "raise {min_df}", "set {constraint} to all"]
        remedy = f"{', '.join(ways[:2])}, or {ways[2]}" if constraint == "reliable" else " or ".join(ways[:2])
        problems.append(f"less than {least:.2%} of the text is about topic {join_some(faint, ', ')}; {remedy}")
    n_unread = 0 if dates is None else count_missing_dates(dates)
    if n_unread:
        problems.append(f"{n_unread:,} of {len(dates):,} documents have no date that can be read")
    return problems


def to_file(
    fitted: ModelRecord, settings: dict[str, Any], used: Sequence[int] | None = None
) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the header of a model file, for parameters of the model; `used` documents are in it."""
    used = list_saved_documents([fitted.kept]) if used is None else used
    weights, kept = fitted.weights, select_saved_documents(fitted.kept, used)
    arrays: Arrays = {name: getattr(fitted, name) for name in ARRAYS}
    arrays |= {name: getattr(fitted.facts, name) for name in MEASURES} | encode_words(fitted.vocabulary)
    optional = {"idf": weights.idf, "ncw_sum": weights.total}
    optional |= {"word_noise": fitted.word_noise, "document_lengths": fitted.document_lengths}
    optional |= {} if fitted.tokens is None else name_token_arrays(fitted.tokens)
    optional |= {"kept_mixtures": kept.mixtures, "kept_positions": kept.positions}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    header: dict[str, Any] = {
        "settings": {name: to_json_value(value) for name, value in settings.items()},
        "counting": None if fitted.counting is None else fitted.counting.to_dict(),
        "weighting": {"name": weights.weighting, "least_degree": weights.least_degree},
        "labels": fitted.facts.labels,
        "diagnostics": fitted.diagnostics._asdict(),
        "documents": [document._asdict() for document in kept.documents],
        "representatives": kept.representatives,
        "borders": kept.borders,
        "by_label": None if kept.by_label is None else kept.by_label._asdict(),
        "by_period": None if kept.by_period is None else kept.by_period._asdict(),
        "versions": get_versions(),
    }
    if fitted.groupings is not None:
        header["levels"] = fitted.groupings
    if fitted.data_notes:
        header["data_notes"] = [note._asdict() for note in fitted.data_notes]
    if fitted.neighbors is not None:
        vectors, mixtures, choice, topic_word, axes = fitted.neighbors
        arrays |= {"neighbor_vectors": vectors, "neighbor_mixtures": mixtures}
        arrays |= {} if topic_word is None else {"neighbor_topics": topic_word}
        arrays |= {} if axes is None else {"neighbor_center": axes.center, "neighbor_axes": axes.directions}
        header["neighbors"] = choice._asdict()
    return arrays, header


def from_file(arrays: Arrays, header: dict[str, Any]) -> ModelRecord:
    """Return the fitted model of a file's arrays and header; JSON has no tuples."""
    counting, weighting = header["counting"], header["weighting"]
    label, period = header["by_label"], header["by_period"]
    documents = [DocumentRecord(**d | {"topics": [*map(tuple, d["topics"])]}) for d in header["documents"]]
    weights = WordWeights(weighting["name"], arrays.get("idf"), arrays.get("ncw_sum"), weighting["least_degree"])
    diagnostics = Diagnostics(**header["diagnostics"])
    about = arrays["document_frequency"], diagnostics.n_documents, arrays.get("topic_word")
    return ModelRecord(
        **{name: arrays[name] for name in ARRAYS},
        relevance=compute_relevance(arrays["components"], weights, *about),
        vocabulary=decode_words(arrays),
        facts=TopicFacts(header["labels"], *(arrays[name] for name in MEASURES)),
        weights=weights,
        counting=None if counting is None else read_counting(counting),
        diagnostics=diagnostics,
        kept=DocumentSummary(
            documents,
            header["representatives"],
            None if label is None else LabelTable(**label),
            None if period is None else PeriodTable(**period),
            arrays.get("kept_mixtures"),
            arrays.get("kept_positions"),
            header.get("borders"),
        ),
        word_noise=arrays.get("word_noise"),
        document_lengths=arrays.get("document_lengths"),
        tokens=read_tokens(arrays) if "topic_word" in arrays else None,
        groupings=header.get("levels"),
        data_notes=[DataNote(**note) for note in header.get("data_notes", [])],
        neighbors=read_neighbors(arrays, header),
    )


def read_counting(values: dict[str, Any]) -> CountSettings:
    """Return how texts were counted; older files have no languages, and their stop words in another place."""
    listed = values["stop_words"] if isinstance(values["stop_words"], list) else []
    words = {"stop_words": None, "extra_stop_words": (*listed, *values["extra_stop_words"])} if listed else {}
    return CountSettings(**{"language": None, "segmenter": "none"} | values | words)


def read_neighbors(arrays: Arrays, header: dict[str, Any]) -> NeighborRecord | None:
    """Return what a model file has of the embeddings."""
    found = header.get("neighbors")
    if found is None:
        return None
    vectors, mixtures = arrays["neighbor_vectors"], arrays["neighbor_mixtures"]
    axes = Axes(arrays["neighbor_center"], arrays["neighbor_axes"]) if "neighbor_axes" in arrays else None
    return NeighborRecord(vectors, mixtures, NeighborChoice(**found), arrays.get("neighbor_topics"), axes)


def name_token_arrays(tokens: TokenRecord) -> dict[str, Array | None]:
    """Return the arrays of a token model by their names in a model file."""
    return {TOKEN_ARRAYS.get(name, name): values for name, values in tokens._asdict().items()}


def read_tokens(arrays: Arrays) -> TokenRecord:
    """Return the token model of a file; the last arrays are not in older ones."""
    required = ("topic_word", "alpha", "association")
    return TokenRecord(*(arrays[name] for name in required), *(arrays.get(name) for name in TOKEN_ARRAYS.values()))


def list_saved_documents(summaries: Sequence[DocumentSummary]) -> list[int]:
    """Return documents that stand for the topics, `SAVED_DOCUMENTS` for each, and those at the borders.

    The summaries are of the same documents, before and after edits.
    """
    chosen = [positions[:SAVED_DOCUMENTS] for kept in summaries for positions in kept.representatives]
    borders = [positions for kept in summaries for positions in kept.borders or []]
    return sorted({position for positions in [*chosen, *borders] for position in positions})


def select_saved_documents(kept: DocumentSummary, used: Sequence[int]) -> DocumentSummary:
    """Return the documents at these positions, and no other."""
    chosen, borders = [positions[:SAVED_DOCUMENTS] for positions in kept.representatives], kept.borders or []
    place = {position: i for i, position in enumerate(used)}
    moved, moved_borders = ([[place[p] for p in positions] for positions in lists] for lists in (chosen, borders))
    return kept._replace(
        documents=[kept.documents[position] for position in used],
        representatives=moved,
        mixtures=None if kept.mixtures is None else kept.mixtures[list(used)],
        positions=None if kept.positions is None else kept.positions[list(used)],
        borders=None if kept.borders is None else moved_borders,
    )


def to_json_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it; None for what it cannot, such as a generator of random numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(name): to_json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [to_json_value(item) for item in items]
    return value if isinstance(value, str | int | float | bool | None) else None


def restore_parameters(settings: dict[str, Any]) -> dict[str, Any]:
    """Return saved parameters as they were: JSON has no tuples, and some values have a new name."""
    restored = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    constraint = str(restored["constraint"])
    return restored | {"constraint": CONSTRAINT_SYNONYMS.get(constraint, constraint)}
