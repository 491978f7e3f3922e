"""`model.plot`: figures of a fitted model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from anchorless._diagnostics.search_k import SearchK
from anchorless._effects.plot import plot_periods
from anchorless._plots.correlations import plot_matrix, plot_network
from anchorless._plots.diagnostics import MEASURES, plot_search, plot_stability
from anchorless._plots.documents import plot_documents
from anchorless._plots.fonts import with_fonts
from anchorless._plots.groups import plot_by
from anchorless._plots.tree import plot_tree
from anchorless._plots.words import WordBars, plot_shares, plot_words
from anchorless._topic_model.output import to_pandas
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError

#: Words at the end of a bar of `shares`.
SHARE_WORDS = 5
KINDS = ("network", "matrix")
#: Numbers of topics that `search_k` compares if none are given.
SEARCHED_NUMBERS = range(2, 22)
#: Topics of a figure over time, if none are named: those that change most.
PLOTTED_TOPICS = 6

#: Leading words that a figure may show.
SHOWN_WORDS = 30


def list_labels(plots: TopicPlots) -> Iterator[str]:
    """Yield the names of topics and of known labels."""
    yield from plots._model.topic_labels_
    by_label = plots._model._get_record().kept.by_label
    if by_label is not None:
        yield from map(str, by_label.names)


def list_leading_texts(plots: TopicPlots) -> Iterator[str]:
    """Yield the names of topics and few words of each, as `shares` shows them."""
    yield from list_labels(plots)
    for topic in plots._model.topics(SHARE_WORDS):
        yield from topic.words


def list_all_texts(plots: TopicPlots) -> Iterator[str]:
    """Yield the names of topics and all words that `topics` and groups may show."""
    yield from list_labels(plots)
    for topic in plots._model.topics(SHOWN_WORDS):
        yield from topic.words


class TopicPlots:
    """Figures of a fitted model, with matplotlib (`pip install 'anchorless[plot]'`).

    Every method draws on the axes `ax`, or on those of a new figure, and returns the axes: change titles and limits
    there, and save the figure with ``ax.figure.savefig("topics.pdf")``. Colors can be told apart by color-blind
    readers. The same model gives the same figure.

    Parameters
    ----------
    model : TopicModel
        A fitted model.

    Examples
    --------
    >>> from anchorless import TopicModel
    >>> texts = ["the cat chased a mouse", "a mouse fears the cat", "the rocket reached orbit", "orbit by rocket"]
    >>> model = TopicModel(n_topics=2).fit(texts)
    >>> ax = model.plot.shares()
    >>> ax.get_xlabel()
    'share of all tokens, %'
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def __repr__(self) -> str:
        names = [name for name in vars(TopicPlots) if not name.startswith("_")]
        return f"<figures of a model: {', '.join(names)}>"

    @with_fonts(list_all_texts)
    def topics(self, topics: Iterable[int] | None = None, *, n_words: int = 8, ax: Any = None) -> Any:
        """Draw the leading words of topics with their probabilities, a panel for each topic.

        The longest bar is equally long in all panels; the numbers are probabilities.

        Parameters
        ----------
        topics : iterable of int or None, default=None
            Numbers of the topics; None for all.
        n_words : int, default=8
            Number of words of each topic.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        found = self._model.topics(n_words)
        numbers = range(len(found)) if topics is None else list(topics)
        for number in numbers:
            check_choice("topics", number, range(len(found)))
        chosen = [found[number] for number in numbers]
        if not chosen:
            raise InputError("no topic is given", parameter="topics", value=numbers, remedy="give at least one number")
        return plot_words([WordBars(t.number, t.label, t.words, t.probabilities) for t in chosen], ax)

    @with_fonts(list_leading_texts)
    def shares(self, *, ax: Any = None) -> Any:
        """Draw the share of each topic, largest first, with its leading words.

        After `TopicModel.stability` with confidence intervals.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        model, stability = self._model, self._model._get_stability()
        interval = None if stability is None else (stability.shares.low, stability.shares.high)
        words = [topic.words for topic in model.topics(SHARE_WORDS)]
        return plot_shares(model.topic_shares_, model.topic_labels_, words, interval, ax)

    @with_fonts(list_labels)
    def correlations(self, kind: str = "network", *, ax: Any = None) -> Any:
        """Draw which topics are often and rarely together, beyond what their sizes explain.

        Parameters
        ----------
        kind : {"network", "matrix"}, default="network"
            A map on which lines connect each topic with those that it is most associated with; or all numbers of
            `topic_association_`.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        check_choice("kind", kind, KINDS)
        model = self._model
        if kind == "matrix":
            return plot_matrix(model.topic_association_, model.topic_labels_, ax)
        return plot_network(model.topic_association_, model.topic_shares_, model.topic_labels_, ax)

    @with_fonts(list_labels)
    def documents(self, *, ax: Any = None) -> Any:
        """Draw the training documents as dots, in the color of the leading topic.

        It is the map of the report. Documents with similar topics lie near each other, or those with similar
        embeddings, if they were given; directions and large distances mean nothing. Of more than 10,000 documents,
        half of those drawn represent the topics best, the others are evenly spaced.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        self._model._get_training_documents()
        places, mixtures = self._model._get_document_map().places, self._model._get_record().kept.mixtures
        return plot_documents(places, mixtures, self._model.topic_labels_, ax)

    @with_fonts(list_labels)
    def over_time(
        self,
        column: str | None = None,
        data: Any = None,
        *,
        topics: Sequence[int] | None = None,
        period: str | None = None,
        groups: str | None = None,
        level: float = 0.9,
        documents: Any = None,
        ax: Any = None,
    ) -> Any:
        """Draw the mean shares of topics by period with bands, and the number of documents of each period as bars.

        Parameters
        ----------
        column, data
            As in `TopicModel.topics_over_time`.
        topics : list of int or None, default=None
            Numbers of topics; None for the six that change most.
        period, groups, level, documents
            As in `TopicModel.topics_over_time`.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        for topic in topics or ():
            check_choice("topics", topic, range(self._model.n_topics_))
        how = {"period": period, "groups": groups, "level": level, "documents": documents}
        table = to_pandas(self._model.topics_over_time(column, data, **how))
        return plot_periods(table, str(table.columns[0]), level, ax, PLOTTED_TOPICS, topics)

    @with_fonts(list_labels)
    def by(self, column: str, *, n_topics: int = 10, ax: Any = None, **parameters: Any) -> Any:
        """Draw the mean shares of the topics that differ most between the values of a column, with intervals.

        More than seven values are drawn as a matrix; a question mark stands where the interval is wider than half of
        the scale of colors.

        Parameters
        ----------
        column : str
            As in `TopicModel.topics_by`.
        n_topics : int, default=10
            Number of topics that are drawn.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.
        **parameters
            Further parameters of `TopicModel.topics_by`: data, groups, level, documents.

        Returns
        -------
        ax : matplotlib Axes
        """
        return plot_by(to_pandas(self._model.topics_by(column, **parameters)), check_whole("n_topics", n_topics), ax)

    def effects(self, column: str | None = None, *, ax: Any = None) -> Any:
        """Draw the last result of `TopicModel.effects`, as `Effects.plot` does.

        Parameters
        ----------
        column, ax
            As in `Effects.plot`.

        Returns
        -------
        ax : matplotlib Axes
        """
        found = getattr(self._model, "effects_", None)
        if found is None:
            raise InputError("no effects of this model have been estimated; call effects() first")
        return found.plot(column, ax=ax)

    @with_fonts(list_all_texts)
    def hierarchy(self, levels: Any = None, *, ax: Any = None) -> Any:
        """Draw the tree of topics and their broader groups, with shares.

        Parameters
        ----------
        levels
            As in `TopicModel.hierarchy`.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        return plot_tree(self._model.hierarchy(levels).as_dict(), self._model.topic_labels_, ax)

    @with_fonts(list_labels)
    def search_k(
        self, search: SearchK | Iterable[int] | None = None, *, measure: str | None = None, ax: Any = None
    ) -> Any:
        """Draw a measure of several numbers of topics, with the conclusion.

        The band are the numbers that predict held-out documents nearly best. The dashed line is the conclusion: the
        number of patterns of words that are found again in other documents, or, where the documents do not tell it, the
        smallest number of the band.

        Parameters
        ----------
        search : SearchK, iterable of int or None, default=None
            What `search_k` returned; or numbers of topics, which are compared on the training documents; None for 2
            to 21.
        measure : {"completion", "npmi", "exclusivity", "stability"} or None, default=None
            What is drawn; None for completion, or npmi where there are no counts.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        if measure is not None:
            check_choice("measure", measure, tuple(MEASURES))
        found = search if isinstance(search, SearchK) else self._model._search_numbers(search or SEARCHED_NUMBERS)
        is_known = not np.isnan([row.completion for row in found.rows]).all()
        name = measure or ("completion" if is_known else "npmi")
        marks = {"likely_range": found.likely_range, "conclusion": found.conclusion}
        numbers, values = [row.topics for row in found.rows], [getattr(row, name) for row in found.rows]
        return plot_search(numbers, values, name, marks, ax)

    @with_fonts(list_labels)
    def stability(self, *, ax: Any = None) -> Any:
        """Draw how often the leading words of each topic stay so in bootstrap resamples.

        It needs the result of `TopicModel.stability`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        found = self._model._get_stability()
        if found is None:
            raise InputError("the stability of this model has not been computed; call stability() first")
        return plot_stability(found.word_stability, found.topic_stability, self._model.topic_labels_, ax)
