"""The record of a fit, from the corpus and the fitted estimator."""

from __future__ import annotations

import numpy as np

from anchorless._core.weighting import WeightedDocuments
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.metadata import Metadata, count_missing_dates
from anchorless._corpus.snippets import build_word_snippets
from anchorless._estimators.anchorfree import AnchorFree
from anchorless._topic_model.document_summary import MixtureSummary
from anchorless._topic_model.fitted import Diagnostics, ModelRecord
from anchorless._topic_model.report_data import summarize_documents
from anchorless._topic_model.summary import TopicFacts, compute_topic_facts

#: A topic of a smaller share is called faint; with fewer documents per topic it is said that they are few.
FAINT_SHARE = 0.0005
MIN_DOCUMENTS_PER_TOPIC = 10


def build_model_record(
    found: AnchorFree,
    weighted: WeightedDocuments,
    corpus: Corpus,
    summary: MixtureSummary,
    warned: list[str],
    how_many: str = "",
) -> ModelRecord:
    """Build the record of a fit; `how_many` says why this number of topics was chosen, if it was not given."""
    documents, vocabulary = weighted.documents, list(corpus.vocabulary)
    positions = summary.positions.tolist()
    snippets = corpus.take_snippets(positions) or build_word_snippets(documents, vocabulary, positions)
    facts = compute_topic_facts(found.components_, vocabulary, found.topic_shares_, documents)
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
            *describe_few_documents(summary.n_documents, len(found.components_)),
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
        document_frequency=weighted.statistics.document_frequency,
        word_counts=weighted.statistics.word_counts,
        vocabulary=vocabulary,
        facts=facts,
        weights=weighted.weights,
        counting=corpus.counting,
        diagnostics=diagnostics,
        kept=summarize_documents(summary, corpus.metadata, snippets),
    )


def describe_few_documents(n_documents: int, n_topics: int) -> list[str]:
    """Warn of topics of a handful of documents each, and say how many topics would have more."""
    if n_documents >= MIN_DOCUMENTS_PER_TOPIC * n_topics:
        return []
    fewer = n_documents // MIN_DOCUMENTS_PER_TOPIC
    instead = f"set {{n_topics}} to {fewer} or give more documents" if fewer > 1 else "give more documents"
    return [
        f"{n_topics} topics for {n_documents:,} documents are {n_documents / n_topics:.2g} documents per topic, so "
        f"some topics may describe single documents; {instead}"
    ]


def describe_faint_topics(facts: TopicFacts) -> list[str]:
    """Name the topics that have hardly a share: a reader would take them for subjects."""
    faint = [f"{f} ({facts.labels[f]})" for f in np.flatnonzero(facts.shares < FAINT_SHARE)]
    if not faint:
        return []
    return [
        f"less than {FAINT_SHARE:.2%} of the text is about topic {', '.join(faint)}; "
        "lower {n_topics}, raise {min_df}, or set {constraint} to all"
    ]


def describe_unread_dates(metadata: Metadata) -> list[str]:
    """Say how many documents are missing in the figures over time."""
    unread = 0 if metadata.dates is None else count_missing_dates(metadata.dates)
    return [f"{unread:,} of {len(metadata.dates):,} documents have no date that can be read"] if unread else []
