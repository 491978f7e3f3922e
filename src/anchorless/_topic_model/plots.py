"""`model.plot`: figures of a model, with matplotlib (extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anchorless._effects.plot import plot_periods
from anchorless._validation import check_choice
from anchorless.errors import InputError

#: Topics of a figure over time, if none are named: those that change most.
PLOTTED_TOPICS = 6


class Plots:
    """Figures of a fitted `TopicModel`. Each method draws on `ax`, or on new axes, and returns the axes."""

    def __init__(self, model: Any) -> None:
        self._model = model

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
        column, data, period, groups, level, documents
            As in `TopicModel.topics_over_time`.
        topics : list of int or None, default=None
            Numbers of topics; None for the six that change most.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        for topic in topics or ():
            check_choice("topics", topic, range(self._model.n_topics_))
        table = self._model.topics_over_time(
            column, data, period=period, groups=groups, level=level, documents=documents
        )
        return plot_periods(table, str(table.columns[0]), level, ax, PLOTTED_TOPICS, topics)

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
