"""From counted documents and what was found in them to the record of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anchorless._core.weighting import WeightedDocuments
from anchorless._corpus.documents import Documents
from anchorless._corpus.metadata import Metadata, count_missing_dates
from anchorless._corpus.settings import CountSettings
from anchorless._corpus.snippets import build_word_snippets
from anchorless._estimators.anchorfree import AnchorFree
from anchorless._topic_model.document_summary import MixtureSummary
from anchorless._topic_model.fitted import Diagnostics, ModelRecord
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.report_data import summarize_documents
from anchorless._topic_model.summary import TopicFacts, compute_topic_facts

#: A topic of a smaller share is called faint.
FAINT_SHARE = 0.0005

#: With fewer documents per topic it is said that they are few.
MIN_DOCUMENTS_PER_TOPIC = 10

#: Returns the beginnings of the documents at given positions.
SnippetLookup = Callable[[Sequence[int]], list[str]]


class FitInput(NamedTuple):
    """Counted documents on their way into a fit."""

    blocks: list[Any] | Documents  # CSR, documents × words; a list is emptied by the fit
    vocabulary: list[str]
    counting: CountSettings | None
    metadata: Metadata
    snippets: SnippetLookup | None
    each: Callable[[Mixtures], None] | None = None  # is given the mixtures of documents that are not in memory


def build_model_record(
    found: AnchorFree,
    weighed: WeightedDocuments,
    corpus: FitInput,
    gathered: MixtureSummary,
    warned: list[str],
    how_many: str = "",
) -> ModelRecord:
    """Return the record of a fit; `how_many` says why this number of topics was taken, if it was not given."""
    documents, vocabulary = weighed.documents, corpus.vocabulary
    positions = gathered.positions
    if corpus.snippets is None:
        snippets = build_word_snippets(documents, vocabulary, positions.tolist())
    else:
        snippets = corpus.snippets(positions.tolist())
    facts = compute_topic_facts(found.components_, vocabulary, found.topic_shares_, documents)
    diagnostics = Diagnostics(
        n_documents=gathered.n_documents,
        n_tokens=int(weighed.word_counts.sum()),
        n_without_words=gathered.n_documents - gathered.n_with_words,
        mean_explained=gathered.mean_explained,
        log_volume=float(found.log_volume_),
        n_iter=int(found.n_iter_),
        converged=bool(found.converged_),
        n_constraints=int(found.n_constraints_),
        warnings=[
            *warned,
            *describe_few_documents(gathered.n_documents, len(found.components_)),
            *describe_faint_topics(facts),
            *describe_unread_dates(corpus.metadata),
        ],
        eigengap=float(found.eigengap_),
        how_many=how_many,
    )
    return ModelRecord(
        components=found.components_,
        moments=found.topic_moments_,
        correlation=found.topic_correlation_,
        eigenvalues=found.eigenvalues_,
        clipped_mass=found.clipped_mass_,
        document_frequency=weighed.document_frequency,
        word_counts=weighed.word_counts,
        vocabulary=vocabulary,
        facts=facts,
        weights=weighed.weights,
        counting=corpus.counting,
        diagnostics=diagnostics,
        kept=summarize_documents(gathered, corpus.metadata, snippets),
    )


def describe_few_documents(n_documents: int, n_topics: int) -> list[str]:
    """Say that topics of a handful of documents each are scraps, and how many topics would not be."""
    if n_documents >= MIN_DOCUMENTS_PER_TOPIC * n_topics:
        return []
    fewer = n_documents // MIN_DOCUMENTS_PER_TOPIC
    instead = f"try n_topics={fewer} or give more documents" if fewer > 1 else "give more documents"
    each = n_documents / n_topics
    return [
        f"n_topics={n_topics} for {n_documents:,} documents is {each:.2g} documents per topic, so that topics may be "
        f"scraps of single documents; {instead}"
    ]


def describe_faint_topics(facts: TopicFacts) -> list[str]:
    """Say which topics have hardly a share: they would else be read as if they were about something."""
    faint = [f"{f} ({facts.labels[f]})" for f in np.flatnonzero(facts.shares < FAINT_SHARE)]
    if not faint:
        return []
    return [
        f"less than {FAINT_SHARE:.2%} of the text is about topic {', '.join(faint)}; "
        "try fewer topics, a larger min_df or constraint='hard'"
    ]


def describe_unread_dates(metadata: Metadata) -> list[str]:
    """Say how many documents are missing in what is shown over time."""
    unread = 0 if metadata.dates is None else count_missing_dates(metadata.dates)
    return [f"{unread:,} of {len(metadata.dates):,} documents have no date that can be read"] if unread else []


def count_documents(blocks: Sequence[Any] | Documents) -> int:
    """Return the number of documents in blocks of counts."""
    if isinstance(blocks, Documents):
        return blocks.shape[0]
    return sum(block.shape[0] for block in blocks)
