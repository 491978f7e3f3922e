"""`model.plot`: figures of a fitted model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from anchorless._corpus.covariates import read_values
from anchorless._diagnostics.search_k import SearchK
from anchorless._effects.effects import Effects
from anchorless._plots.correlations import plot_matrix, plot_network
from anchorless._plots.diagnostics import MEASURES, plot_search, plot_stability
from anchorless._plots.documents import plot_documents
from anchorless._plots.groups import plot_by, plot_over_time
from anchorless._plots.tree import plot_tree
from anchorless._plots.words import WordBars, plot_shares, plot_words
from anchorless._validation import check_choice, check_whole
from anchorless.errors import InputError

#: Words at the end of a bar of `shares`.
SHARE_WORDS = 5
KINDS = ("network", "matrix")
#: Numbers of topics that `search_k` compares if none are given.
SEARCHED_NUMBERS = range(2, 22)
#: Values of a category whose effect is drawn if no formula is given, and of a number that is drawn as a curve.
MAX_LEVELS, MIN_CURVE_VALUES = 12, 10


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

    def documents(self, *, ax: Any = None) -> Any:
        """Draw the training documents as dots, in the color of the leading topic.

        Topics that are often together lie near each other. A document lies near its leading topic, toward the other
        topics that it has; documents of one topic are spread so that they do not hide each other. At most 5,000
        documents are drawn, spread evenly over all.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        _, mixtures = self._model._get_training_documents()
        return plot_documents(mixtures.shares, self._model.topic_association_, self._model.topic_labels_, ax)

    def over_time(self, column: str | None = None, *, n_topics: int = 6, ax: Any = None, **parameters: Any) -> Any:
        """Draw the mean shares of the topics that change most, with bands.

        Parameters
        ----------
        column : str or None, default=None
            As in `TopicModel.topics_over_time`.
        n_topics : int, default=6
            Number of topics that are drawn.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for a new figure.
        **parameters
            Further parameters of `TopicModel.topics_over_time`: data, period, groups, level, documents.

        Returns
        -------
        ax : matplotlib Axes
        """
        frame = self._model.topics_over_time(column, **parameters)
        return plot_over_time(frame, check_whole("n_topics", n_topics), ax)

    def by(self, column: str, *, n_topics: int = 10, ax: Any = None, **parameters: Any) -> Any:
        """Draw the mean shares of the topics that differ most between the values of a column, with intervals.

        More than seven values are drawn as a matrix, without intervals.

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
        return plot_by(self._model.topics_by(column, **parameters), check_whole("n_topics", n_topics), ax)

    def effects(self, effects: Effects | str | None = None, column: str | None = None, *, ax: Any = None) -> Any:
        """Draw the effect of a column on the shares of topics.

        Parameters
        ----------
        effects : Effects, str or None, default=None
            What `TopicModel.effects` returned, or its formula. None for the last result of `TopicModel.effects`, or
            else for the first column of the metadata that has several values.
        column, ax
            As in `Effects.plot`.

        Returns
        -------
        ax : matplotlib Axes
        """
        if effects is None:
            effects = getattr(self._model, "_effects", None) or propose_formula(self._model._get_covariates(None, None))
        found = self._model.effects(effects) if isinstance(effects, str) else effects
        return found.plot(column, ax=ax)

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

    def search_k(
        self, search: SearchK | Iterable[int] | None = None, *, measure: str | None = None, ax: Any = None
    ) -> Any:
        """Draw a measure of several numbers of topics, with the likely range and the suggestion.

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
        marks = {"likely_range": found.likely_range, "suggested": found.suggestion.n_topics}
        numbers, values = [row.topics for row in found.rows], [getattr(row, name) for row in found.rows]
        return plot_search(numbers, values, name, marks, ax)

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


def propose_formula(table: Any) -> str:
    """Return a formula of the first column that has several values, a curve for numbers and dates."""
    for name in table.column_names:
        values, is_date = read_values(table, name)
        n, is_number = values.nunique(), is_date or values.dtype.kind == "f"
        if name.isidentifier() and n >= 2 and (is_number or n <= MAX_LEVELS):
            return f"~ s({name})" if is_number and n >= MIN_CURVE_VALUES else f"~ {name}"
    listed = ", ".join(map(repr, table.column_names))
    remedy = "give a formula, such as model.plot.effects('~ party')"
    raise InputError(f"no column of the metadata can be drawn without a formula; there are: {listed}", remedy=remedy)
