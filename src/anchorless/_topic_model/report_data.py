"""Build the plain record that the report shows from the record of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anchorless._diagnostics.identifiability.identifiability import Identifiability
from anchorless._diagnostics.stability import Stability
from anchorless._effects.effects import Effects
from anchorless._report.html import QualityNote, ReportData, ReportGroup, ReportTopic
from anchorless._topic_model.document_map import DocumentMap
from anchorless._topic_model.effects_section import build_effects_section
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.hierarchy import build_hierarchy
from anchorless._topic_model.summary import Topic, build_topics, join_some, rank_pairs
from anchorless._topic_model.verdicts import describe_identifiability
from anchorless.errors import render_message

REPORT_WORDS = 20  # of a topic
DUPLICATE_COSINE = 0.9  # topics the relevance of whose words has a larger cosine similarity are nearly identical
MIN_STABILITY = 0.6  # topics that keep a smaller share of their leading words in bootstrap resamples are named
MIN_COHERENCE = 0.0  # topics with a smaller mean NPMI are named; at 0, words are as if independent
MAX_NAMED_PAIRS, MIN_NAMED_ASSOCIATION = 3, 0.02  # pairs of topics that are named at most, from this association on

Sentence = tuple[str, str]  # heading, text

#: What holds without a token model; a model does not record which of the reasons applies.
NO_TOKEN_MODEL = (
    "This model has none, so its probabilities, shares, mixtures and associations are rougher. It was fitted with "
    "--no-likelihood (likelihood=False), to weights instead of counts, or by partial_fit, or its file is from an older "
    "version; fit whole counts again without these to have it. Details: its probabilities are the relevance of the "
    "words with the weights of the words removed, its shares are of the weight of all documents instead of all "
    "tokens, its mixtures are found by least squares, and its associations include the noise of the words' counts."
)

#: What helps against documents without topics.
NO_KNOWN_WORD = "They have no topics. A lower --min-df and another list of stop words keep more words."

#: What identifiability is about if topics were merged, dropped, split or put into another order.
BEFORE_EDITS = "What follows is about the topics as they were fitted, with the numbers that they had before the edits."


def build_report_data(
    fitted: ModelRecord,
    title: str,
    identifiability: Identifiability | None = None,
    stability: Stability | None = None,
    effects: Effects | None = None,
    *,
    fitted_labels: Sequence[str] | None = None,
    notes: Sequence[str] | None = None,
) -> ReportData:
    """Return everything that the report of a fitted model shows.

    `fitted_labels` are those before edits, and `notes` what people wrote about the topics.
    """
    topics = build_topics(fitted.relevance, fitted.topic_word, fitted.vocabulary, fitted.facts, REPORT_WORDS)
    kept, diagnostics = fitted.kept, fitted.diagnostics
    sentences = [*describe_corpus(fitted), *describe_fit(fitted), *describe_topics(fitted, topics)]
    if identifiability is not None:
        if fitted_labels is not None:
            sentences.append(("Edited topics", BEFORE_EDITS))
        labels = fitted.facts.labels if fitted_labels is None else fitted_labels
        sentences += describe_identifiability(identifiability, labels, fitted.vocabulary)
    if stability is not None:
        sentences += describe_stability(stability, topics)
    return ReportData(
        title=title,
        subtitle=f"{len(topics)} topics in {diagnostics.n_documents:,} documents; "
        f"a vocabulary of {len(fitted.vocabulary):,} words",
        topics=[*map(build_report_topic, topics, kept.representatives, notes or [""] * len(topics))],
        association=fitted.association.tolist(),
        documents=kept.documents,
        n_documents=diagnostics.n_documents,
        prevalence=kept.by_period,
        labels=kept.by_label,
        diagnostics=sentences,
        uncertain=() if stability is None else find_uncertain_pairs(stability),
        effects=None if effects is None else build_effects_section(effects),
        groups=[] if not fitted.groupings else [*map(build_group, list_groups(fitted))],
        quality=list_quality_notes(fitted),
    )


def add_document_map(data: ReportData, found: DocumentMap | None) -> ReportData:
    """Return the record with the places of its documents on a map."""
    return data if found is None else data._replace(places=found.places.tolist(), by_embeddings=found.by_embeddings)


def list_quality_notes(fitted: ModelRecord) -> list[QualityNote]:
    """Return what was noticed about the data, that which concerns most documents first."""
    facts = fitted.diagnostics
    notes = [QualityNote(*note._replace(remedy=render_remedy(note.remedy))) for note in fitted.data_notes]
    if facts.n_without_words:
        share = facts.n_without_words / facts.n_documents
        notes.append(QualityNote("documents without a known word", facts.n_without_words, share, NO_KNOWN_WORD))
    return sorted(notes, key=lambda note: -note.n_documents)


def render_remedy(remedy: str) -> str:
    """Return what helps as a sentence of the report: parameters are named as options of the command."""
    text = render_message(remedy, lambda name: f"--{name.replace('_', '-')}")
    return f"{text[:1].upper()}{text[1:]}{'.' if text and not text.endswith('.') else ''}"


def list_groups(fitted: ModelRecord) -> list[dict[str, Any]]:
    """Return the broadest groups of topics, with their parts."""
    groupings = fitted.groupings or []
    return build_hierarchy(groupings, fitted.facts, fitted.relevance, fitted.vocabulary, REPORT_WORDS).as_dict()


def build_group(group: dict[str, Any]) -> ReportGroup:
    """Return a group as the report shows it; parts that are single topics of the fit are no groups."""
    parts = [build_group(part) for part in group["children"] if part["children"]]
    return ReportGroup(group["label"], group["share"], group["topics"], parts)


def build_report_topic(topic: Topic, documents: list[int], note: str) -> ReportTopic:
    """Return one topic as the report shows it."""
    words = [*zip(topic.words, topic.probabilities, topic.relevance, topic.distinctiveness, strict=True)]
    measures = topic.coherence, topic.exclusivity
    return ReportTopic(topic.number, topic.label, topic.share, words, *measures, documents, topic.junk, note)


def find_uncertain_pairs(stability: Stability) -> list[tuple[int, int]]:
    """Return the pairs of topics whose association does not differ significantly from zero, by Holm's method."""
    # The p-value of a merged topic is not known.
    certain = stability.association_p <= 1.0 - stability.level + 1e-12
    pairs = np.argwhere(np.triu(~certain, 1))
    return [(f, g) for f, g in pairs.tolist()]


def describe_corpus(fitted: ModelRecord) -> list[Sentence]:
    """Say what the model was fitted to."""
    facts = fitted.diagnostics
    size = f"{facts.n_documents:,} documents with {facts.n_tokens:,} tokens of {len(fitted.vocabulary):,} words."
    return [("Documents", size)]


def describe_fit(fitted: ModelRecord) -> list[Sentence]:
    """Say why this number of topics was used, how much the topics explain, and whether the fit converged."""
    facts = fitted.diagnostics
    if fitted.tokens is None:
        what, tokens = "the sum of squares of its weighted word counts", [("Token model", NO_TOKEN_MODEL)]
    else:
        what, tokens = "its deviance: of what makes its words different from those of the whole corpus", []
    explained = (
        f"On average, a document's mixture of topics explains {facts.mean_explained:.0%} of {what}. "
        "Low values are normal, because every document has words of its own. "
        "A document far below the average of documents of its length is about something other than these topics."
    )
    if facts.converged:
        convergence = f"The fit converged after {facts.n_iter} sweeps over the topics."
    else:
        convergence = f"The fit did not converge in {facts.n_iter} sweeps over the topics, so they are not final."
    warnings = [("Warning", f"{warning[:1].upper()}{warning[1:]}.") for warning in facts.warnings]
    number = [("Number of topics", f"{facts.how_many[:1].upper()}{facts.how_many[1:]}.")] if facts.how_many else []
    return [*number, *tokens, ("Explained", explained), ("Convergence", convergence), *warnings]


def describe_topics(fitted: ModelRecord, topics: Sequence[Topic]) -> list[Sentence]:
    """Name topics that are often together, nearly identical ones, and those whose words rarely occur together."""
    sentences, names = [], [f"{topic.number} ({topic.label})" for topic in topics]
    pairs = [pair for pair in rank_pairs(fitted.association) if pair.value >= MIN_NAMED_ASSOCIATION]
    if pairs:
        text = "; ".join(f"{names[a]} and {names[b]}, {value:+.2f}" for a, b, value in pairs[:MAX_NAMED_PAIRS])
        reason = "Together in a document more often than their sizes explain (association)"
        sentences.append(("Often together", f"{reason}: {text}."))
    C = fitted.relevance / np.linalg.norm(fitted.relevance, axis=1, keepdims=True)
    same = [pair for pair in rank_pairs(C @ C.T) if pair.value > DUPLICATE_COSINE]
    if same:
        text = join_some([f"{names[a]} and {names[b]}" for a, b, _ in same])
        reason = f"the cosine similarity of the relevance of their words is above {DUPLICATE_COSINE:g}"
        hint = f"They have nearly the same words; fewer topics may be enough. Details: {reason}."
        sentences.append(("Nearly identical topics", f"{text}. {hint}"))
    incoherent = [names[topic.number] for topic in topics if topic.coherence < MIN_COHERENCE]
    if incoherent:
        text = "On average, two leading words of these topics occur together less often than independent words would "
        text += f"(coherence, the mean NPMI, is below {MIN_COHERENCE:g}): {join_some(incoherent)}."
        sentences.append(("Incoherent topics", text))
    return sentences


def describe_stability(stability: Stability, topics: Sequence[Topic]) -> list[Sentence]:
    """Say how many leading words and associations are stable in bootstrap resamples."""
    n_topics, n_words = stability.words.shape
    part = stability.topic_stability.tolist()
    low = [f"{topic.number} ({topic.label})" for topic in topics if part[topic.number] < MIN_STABILITY]
    unknown = [f"{topic.number} ({topic.label})" for topic in topics if np.isnan(part[topic.number])]
    text = (
        f"In {stability.n_resamples} bootstrap resamples of the documents, on average "
        f"{np.nanmean(stability.topic_stability):.0%} of a topic's {n_words} leading words are again among them. "
        f"Topics below {MIN_STABILITY:.0%}: {join_some(low) or 'none'}."
    )
    if unknown:
        text += f" Not known for merged topics: {join_some(unknown)}."
    if len(unknown) == len(topics):
        return [("Stability", f"Not known for merged topics: {join_some(unknown)}.")]
    n_pairs = n_topics * (n_topics - 1) // 2
    n_significant = n_pairs - len(find_uncertain_pairs(stability))
    if not n_pairs:
        return [("Stability", text)]
    significant = (
        f"{n_significant:,} of {n_pairs:,} pairs of topics are together more or less often than their sizes explain, "
        "beyond what chance could do. In the map, the lines of the others are dotted. Details: significant at level "
        f"{1 - stability.level:.2g} for all pairs together, by Holm's method."
    )
    return [("Stability", text), ("Significant associations", significant)]
