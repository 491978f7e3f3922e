"""Tables and lists of a fitted model: its topics, their words and pairs, and the training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anchorless._corpus.metadata import Metadata
from anchorless._diagnostics.stability import Stability
from anchorless._report.html import DocumentRecord
from anchorless._topic_model import frames
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.mixtures import Mixtures, merge_parts
from anchorless._topic_model.output import follow_output
from anchorless._topic_model.summary import Topic, build_topics
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


class TablesMixin:
    """List topics and documents of a fitted model, as records and as data frames."""

    if TYPE_CHECKING:
        topic_labels_: Any
        topic_correlation_: Any
        vocabulary_: Any
        rest_share_: Any
        topic_notes_: list[str]
        _whole_ids: Any
        _lengths: Any

        def _get_record(self) -> ModelRecord: ...
        def _get_stability(self) -> Stability | None: ...
        def _get_training_documents(self) -> tuple[Metadata, Mixtures]: ...

    def topics(self, n_words: int = 10) -> list[Topic]:
        """List the topics with their leading words, the topic of largest share first.

        Parameters
        ----------
        n_words : int, default=10
            Number of words of each topic.

        Returns
        -------
        topics : list of Topic
        """
        record = self._get_record()
        return build_topics(
            record.relevance, record.topic_word, record.vocabulary, record.facts, check_whole("n_words", n_words)
        )

    def print_topics(self, n_words: int = 10) -> None:
        """Print a line for each topic: number, share, and leading words.

        Parameters
        ----------
        n_words : int, default=10
            As in `topics`.
        """
        for topic in self.topics(n_words):
            print(f"{topic.number:>3} {topic.share:>6.1%}  {' '.join(topic.words)}")  # noqa: T201

    @follow_output
    def topics_frame(self, n_words: int = 10) -> DataFrame:
        """Tabulate the topics, a row each.

        Parameters
        ----------
        n_words : int, default=10
            As in `topics`.

        Returns
        -------
        pandas.DataFrame
            topic, label, share, coherence, exclusivity, words (joined by ", "), junk ("HTML markup", "mail headers" or
            "encoded binaries" if the leading words look like that instead of a subject; else missing). If there are
            notes, also note.
        """
        return frames.topics_frame(self.topics(n_words), self.topic_notes_)

    @follow_output
    def words_frame(self, n_words: int = 10) -> DataFrame:
        """Tabulate the leading words of the topics.

        Parameters
        ----------
        n_words : int, default=10
            As in `topics`.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic and word: topic, rank, word, probability, distinctiveness.
        """
        return frames.words_frame(self.topics(n_words))

    @follow_output
    def documents_frame(self) -> DataFrame:
        """Tabulate the training documents.

        Returns
        -------
        frame : pandas.DataFrame
            One row per document: id, label and date if given, topic (the leading one), topic_label, share, explained,
            and the share of every topic. `explained` is low where a document is about something else than the topics.
            `topic` and `share` are missing where a document has no word of the vocabulary. If topics were dropped, the
            last column, rest, has their share.
        """
        metadata, mixtures = self._get_training_documents()
        return frames.documents_frame(metadata, mixtures, self.topic_labels_, with_rest=self.rest_share_ > 0)

    @follow_output
    def whole_documents_frame(self) -> DataFrame:
        """Tabulate the documents that were divided into parts by `split`, a row each.

        The share of a topic in a document is the mean of its shares in the parts, weighted by their tokens.

        Returns
        -------
        frame : pandas.DataFrame
            document, parts, tokens, and the columns of `documents_frame` from topic on.
        """
        _, mixtures = self._get_training_documents()
        if getattr(self, "_whole_ids", None) is None:
            raise InputError(
                "the documents were not divided into parts", remedy="fit with {split}, or use documents_frame"
            )
        columns, whole = merge_parts(self._whole_ids, mixtures, self._lengths)
        with_rest = self.rest_share_ > 0
        return frames.document_table(columns, whole, self.topic_labels_, with_rest=with_rest).to_pandas()

    @follow_output
    def correlation_frame(self) -> DataFrame:
        """Tabulate the correlations of the topics.

        Returns
        -------
        frame : pandas.DataFrame, topics × topics
        """
        return frames.correlation_frame(self.topic_correlation_)

    @follow_output
    def correlation_edges(self) -> DataFrame:
        """Tabulate the pairs of topics.

        Returns
        -------
        frame : pandas.DataFrame
            One row per pair, strongest positive association first: topic_a, topic_b, label_a, label_b, association,
            correlation. After `stability()` also low and high, the interval of the association, and p: how likely an
            association so far from zero would be if the topics were unrelated, corrected for the number of pairs.
        """
        record = self._get_record()
        found = record.association, record.correlation, record.facts.labels
        return frames.correlation_edges(*found, self._get_stability())

    @follow_output
    def stability_frame(self) -> DataFrame:
        """Tabulate the result of `stability`.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic and leading word, with their stability and intervals.
        """
        found = self._get_stability()
        if found is None:
            raise InputError("the stability of this model has not been computed; call stability() first")
        return frames.stability_frame(found, self.topic_labels_, self.vocabulary_)

    def representative_documents(self, topic: int, n: int = 5) -> list[DocumentRecord]:
        """List the training documents that represent a topic best.

        They have a large share of the topic and are well explained. A fit keeps 100 of each topic, a model file 20.

        Parameters
        ----------
        topic, n : int
            Number of the topic, and of documents.

        Returns
        -------
        documents : list of DocumentRecord
        """
        kept = self._get_record().kept
        check_choice("topic", topic, range(len(kept.representatives)))
        return [kept.documents[i] for i in kept.representatives[topic][: check_whole("n", n)]]
