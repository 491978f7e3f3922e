"""From a fitted model to the plain record that the report shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.stability import Stability
from anchorless._report.html import LabelTable, Prevalence, ReportData, ReportDocument, ReportTopic, ReportWord
from anchorless._topic_model.document_summary import MixtureSummary
from anchorless._topic_model.fitted import Diagnostics, DocumentSummary, ModelRecord
from anchorless._topic_model.summary import (
    DocumentRecord,
    Topic,
    build_topics,
    find_strongest_pairs,
    list_top_topics,
    representatives,
)
from anchorless._topic_model.verdicts import describe_identifiability

#: Words of a topic in the report.
REPORT_WORDS = 20
#: Documents that are listed under each topic.
MAX_DOCUMENTS_PER_TOPIC = 100
#: Two topics whose words are as close as this, as a cosine, are called nearly the same.
DUPLICATE_COSINE = 0.9
#: A topic of which fewer leading words survive is named.
MIN_STABILITY = 0.6
#: Mean NPMI below which the leading words of a topic rarely meet.
MIN_COHERENCE = 0.0


def summarize_documents(gathered: MixtureSummary, metadata: Metadata, snippets: Sequence[str]) -> DocumentSummary:
    """Return the documents that were gathered as records, which of them stand for each topic, and tables over all."""
    positions, mixtures = gathered.positions, gathered.mixtures
    ids = metadata.ids.take(positions).to_pylist()
    labels, dates = (None if c is None else c.take(positions).to_pylist() for c in (metadata.labels, metadata.dates))
    documents = [
        DocumentRecord(
            id=ids[i],
            snippet=snippets[i],
            topics=list_top_topics(mixtures.shares[i]),
            explained=float(mixtures.explained[i]),
            label=None if labels is None else labels[i],
            date=None if dates is None else dates[i],
        )
        for i in range(len(positions))
    ]
    best = representatives(mixtures.shares, mixtures.explained, MAX_DOCUMENTS_PER_TOPIC)
    return DocumentSummary(documents, [lead.tolist() for lead in best], gathered.by_label, gathered.by_period)


def report_data(
    fitted: ModelRecord, title: str, trust: Identifiability | None = None, stability: Stability | None = None
) -> ReportData:
    """Return all that the report of a fitted model shows, and with `stability` what is uncertain about it."""
    trusted = [] if trust is None else describe_identifiability(trust, fitted.facts.labels, fitted.vocabulary)
    topics = build_topics(fitted.components, fitted.vocabulary, fitted.facts, REPORT_WORDS)
    kept, facts = fitted.kept, fitted.diagnostics
    return ReportData(
        title=title,
        subtitle=f"{len(topics)} topics in {facts.n_documents:,} documents; {len(fitted.vocabulary):,} different words",
        topics=[build_report_topic(topic, kept.representatives[topic.number]) for topic in topics],
        correlation=fitted.correlation.tolist(),
        documents=[ReportDocument(d.id, d.snippet, d.topics, d.label, d.date) for d in kept.documents],
        n_documents=facts.n_documents,
        prevalence=None if kept.by_period is None else Prevalence(kept.by_period.periods, kept.by_period.values),
        labels=None if kept.by_label is None else LabelTable(*kept.by_label),
        diagnostics=[
            *describe_corpus(fitted),
            *describe_fit(facts),
            *describe_topics(fitted, topics),
            *trusted,
            *describe_stability(stability, topics),
        ],
        uncertain=() if stability is None else find_uncertain_pairs(stability),
    )


def find_uncertain_pairs(stability: Stability) -> list[tuple[int, int]]:
    """Return the pairs of topics whose correlation may be zero, at the level of the intervals, all pairs together."""
    first, second = np.nonzero(np.triu(stability.correlation_p > 1.0 - stability.level + 1e-12, 1))
    return [(int(f), int(g)) for f, g in zip(first, second, strict=True)]


def describe_stability(stability: Stability | None, topics: Sequence[Topic]) -> list[tuple[str, str]]:
    """Say which topics come back when documents are drawn anew, and how many correlations are certain."""
    if stability is None:
        return []
    low = [
        f"{topics[f].number} ({topics[f].label})" for f in np.flatnonzero(stability.topic_stability < MIN_STABILITY).tolist()
    ]
    text = f"When the documents are drawn anew ({stability.n_resamples} times), {stability.topic_stability.mean():.0%} of the "
    text += (
        f"leading words lead again; fewer than {MIN_STABILITY:.0%} in " + ("; ".join(low) if low else "no topic") + "."
    )
    n_pairs, n_open = len(topics) * (len(topics) - 1) // 2, len(find_uncertain_pairs(stability))
    certain = (
        f"{n_pairs - n_open} of {n_pairs} correlations differ from zero (level {1 - stability.level:.2g}, all pairs "
    )
    certain += "together); the others are dotted in the map."
    return [("Stability", text), *([("Certain correlations", certain)] if n_pairs else [])]


def build_report_topic(topic: Topic, documents: list[int]) -> ReportTopic:
    """Return one topic as the report shows it."""
    words = map(ReportWord, topic.words, topic.probabilities, topic.distinctiveness)
    return ReportTopic(
        topic.number, topic.label, topic.share, list(words), topic.coherence, topic.exclusivity, documents
    )


def describe_corpus(fitted: ModelRecord) -> list[tuple[str, str]]:
    """Say what went into the model."""
    facts = fitted.diagnostics
    size = f"{facts.n_documents:,} documents with {facts.n_tokens:,} tokens of {len(fitted.vocabulary):,} words."
    sentences = [("Documents", size)]
    if facts.n_without_words:
        left = f"{facts.n_without_words:,} documents hold no word of the vocabulary and have no topic."
        sentences.append(("Documents without a topic", left))
    return sentences


def describe_fit(facts: Diagnostics) -> list[tuple[str, str]]:
    """Say how the fit went."""
    share = (
        f"On average the topics explain {facts.mean_explained:.0%} of a document, as a sum of squares of its weighted "
        "words. Single documents always hold much that is theirs alone; documents far below the average are "
        "about something else than these topics."
    )
    if facts.converged:
        end = f"The search for the most different topics came to an end after {facts.n_iter} sweeps."
    else:
        end = "The search for the most different topics was stopped before its end: take the topics with care."
    warned = [("Warning", f"{warning[:1].upper()}{warning[1:]}.") for warning in facts.warnings]
    number = [("Number of topics", f"{facts.how_many[:1].upper()}{facts.how_many[1:]}.")] if facts.how_many else []
    return [*number, ("Explained", share), ("Convergence", end), *warned]


def describe_topics(fitted: ModelRecord, topics: Sequence[Topic]) -> list[tuple[str, str]]:
    """Say which topics go together, are nearly the same, or hardly hang together."""
    sentences = []
    names = [f"{topic.number} ({topic.label})" for topic in topics]
    together = [pair for pair in find_strongest_pairs(fitted.correlation) if pair.correlation > 0][:3]
    if together:
        text = "; ".join(f"{names[a]} and {names[b]}, {value:+.2f}" for a, b, value in together)
        sentences.append(("Topics that go together", f"Most correlated: {text}."))
    C = fitted.components / np.linalg.norm(fitted.components, axis=1, keepdims=True)
    same = [pair for pair in find_strongest_pairs(C @ C.T) if pair.correlation > DUPLICATE_COSINE]
    if same:
        text = "; ".join(f"{names[a]} and {names[b]}" for a, b, _ in same)
        sentences.append(("Topics that are nearly the same", f"{text}. Fewer topics may do."))
    loose = [names[topic.number] for topic in topics if topic.coherence < MIN_COHERENCE]
    if loose:
        text = f"The leading words of {'; '.join(loose)} rarely occur together."
        sentences.append(("Topics that hardly hang together", text))
    return sentences
