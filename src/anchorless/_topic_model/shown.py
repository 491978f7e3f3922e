"""What a fitted model shows: topics, tables, documents, the report. Reads the record of a fit, changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from anchorless._core.weighting import WeightedDocuments
from anchorless._corpus.documents import Array
from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.identifiability.identifiability import (
    Evidence,
    Identifiability,
    assess_identifiability,
)
from anchorless._diagnostics.stability import Stability
from anchorless._report.html import write_report
from anchorless._topic_model import frames
from anchorless._topic_model.fitted import Diagnostics, ModelRecord
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.pyldavis import prepare_pyldavis
from anchorless._topic_model.report_data import build_report_data
from anchorless._topic_model.summary import DocumentRecord, Topic, build_topics
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


class InspectionMixin:
    """A model with the record of its fit in `fitted_`, and for training documents `metadata_` and `document_…_`."""

    fitted_: ModelRecord
    metadata_: Metadata
    document_topics_: Array
    document_explained_: Array
    document_lengths_: Array

    def topics(self, n_words: int = 10) -> list[Topic]:
        """Return the topics with their most probable words, the topic of largest share first."""
        fitted = self._get_fitted()
        return build_topics(fitted.components, fitted.vocabulary, fitted.facts, check_whole("n_words", n_words))

    def topics_frame(self, n_words: int = 10) -> DataFrame:
        """Return one row per topic: topic, label, share, coherence, exclusivity, words (joined by ", ")."""
        return frames.topics_frame(self.topics(n_words))

    def words_frame(self, n_words: int = 10) -> DataFrame:
        """Return one row per topic and word: topic, rank, word, probability, distinctiveness."""
        return frames.words_frame(self.topics(n_words))

    def documents_frame(self) -> DataFrame:
        """Return one row per training document: id, label and date if given, leading topic, explained, all shares.

        `explained` is low where a document is about something else than the topics: there is no bin of outliers.
        `topic` and `share` are missing where a document holds no word of the vocabulary.
        """
        metadata, mixtures = self._get_training_documents()
        return frames.documents_frame(metadata, mixtures, self.topic_labels_)

    def correlation_frame(self) -> DataFrame:
        """Return the correlations of the topics, topics × topics."""
        return frames.correlation_frame(self.topic_correlation_)

    def correlation_edges(self) -> DataFrame:
        """Return one row per pair of topics: topic_a, topic_b, label_a, label_b, correlation; strongest first.

        After `stability()` also low and high, the interval, and p: how likely a correlation so far from zero would be
        if there were none, corrected for the number of pairs.
        """
        return frames.correlation_edges(self.topic_correlation_, self.topic_labels_, self._get_stability())

    def stability_frame(self) -> DataFrame:
        """Return one row per topic and leading word, after `stability()`: what survives, and intervals."""
        stability = self._get_stability()
        if stability is None:
            raise InputError("the stability of this model has not been computed; call stability() first")
        return frames.stability_frame(stability, self.topic_labels_, self.vocabulary_)

    def representative_documents(self, topic: int, n: int = 5) -> list[DocumentRecord]:
        """Return the `n` training documents that stand for a topic best, as far as they were kept (100; 20 in a file).

        They have a large share of the topic and are well explained.
        """
        kept = self._get_fitted().kept
        check_choice("topic", topic, range(len(kept.representatives)))
        return [kept.documents[i] for i in kept.representatives[topic][: check_whole("n", n)]]

    def identifiability(
        self, *, n_starts: int = 10, time_limit: float = 60.0, random_state: int = 0
    ) -> Identifiability:
        """Return how far the topics are the only ones that their co-occurrences allow: see docs/trust.md."""
        fitted = self._get_fitted()
        evidence = Evidence(fitted.document_frequency, fitted.diagnostics.eigengap, fitted.clipped_mass)
        return assess_identifiability(
            fitted.components,
            fitted.moments,
            evidence,
            n_starts=n_starts,
            time_limit=time_limit,
            random_state=random_state,
        )

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Topics",
        force: bool = False,
        trust: Identifiability | None = None,
    ) -> None:
        """Write the report, one HTML file that needs no network; a loaded model shows the documents that it kept.

        `trust`, what `identifiability` returned, is added to it in words.
        """
        write_report(path, build_report_data(self._get_fitted(), title, trust, self._get_stability()), force=force)

    def to_pyldavis(self) -> Any:
        """Return what `pyLDAvis.save_html` and `pyLDAvis.display` take; needs the package pyLDAvis."""
        _, mixtures = self._get_training_documents()
        return prepare_pyldavis(self._get_fitted(), mixtures, self.document_lengths_)

    def _get_fitted(self) -> ModelRecord:
        check_is_fitted(self, "fitted_")
        return self.fitted_

    def _store_documents(self, mixtures: Mixtures, weighed: WeightedDocuments, metadata: Metadata) -> None:
        """Keep what is told of the training documents."""
        self.document_topics_, self.document_explained_ = mixtures
        self.metadata_ = metadata
        if weighed.lengths is not None:
            self.document_lengths_ = weighed.lengths

    def _get_stability(self) -> Stability | None:
        self._get_fitted()
        return getattr(self, "stability_", None)

    def _get_training_documents(self) -> tuple[Metadata, Mixtures]:
        self._get_fitted()
        if not hasattr(self, "metadata_"):
            raise InputError("a model file keeps no document weights; transform the documents, or fit again")
        return self.metadata_, Mixtures(self.document_topics_, self.document_explained_)

    @property
    def components_(self) -> Array:
        """Topics × words, each row a probability mass function."""
        return self._get_fitted().components

    @property
    def topic_moments_(self) -> Array:
        """Second moments of the topic weights, topics × topics."""
        return self._get_fitted().moments

    @property
    def topic_correlation_(self) -> Array:
        """Correlation of the topics' proportions, topics × topics."""
        return self._get_fitted().correlation

    @property
    def topic_shares_(self) -> Array:
        """Share of each topic in the weight of all documents."""
        return self._get_fitted().facts.shares

    @property
    def eigenvalues_(self) -> Array:
        """Leading eigenvalues of the co-occurrences."""
        return self._get_fitted().eigenvalues

    @property
    def vocabulary_(self) -> list[str]:
        """The word of each column of `components_`."""
        return self._get_fitted().vocabulary

    @property
    def topic_labels_(self) -> list[str]:
        """The most distinctive words of each topic."""
        return self._get_fitted().facts.labels

    @property
    def coherence_(self) -> Array:
        """Mean NPMI of each topic's leading words."""
        return self._get_fitted().facts.coherence

    @property
    def exclusivity_(self) -> Array:
        """Exclusivity of each topic's leading words."""
        return self._get_fitted().facts.exclusivity

    @property
    def diagnostics_(self) -> Diagnostics:
        """Numbers about the fit."""
        return self._get_fitted().diagnostics

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
