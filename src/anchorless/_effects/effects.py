"""`Effects`: how the shares of topics depend on covariates, with intervals and p-values.

The mean share of a topic in documents with covariates x is x·β. Each document counts once. Its shares are estimated
without bias (`proportions.compute_projection`), so β is, too. Its error has two parts: which documents were collected
(`regression`), and how well the topics are known: β under draws of the topics, and its distance from β under the fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import f as fisher
from scipy.stats import t as student

from anchorless._core.proportions import compute_projection
from anchorless._corpus.covariates import convert_table
from anchorless._corpus.documents import Array
from anchorless._diagnostics.stability import adjust_holm
from anchorless._effects.coefficients import Coefficients, Sample, compare_topics, estimate_by_draw
from anchorless._effects.columns import name_column
from anchorless._effects.design import Design, check_clusters
from anchorless._effects.plot import CURVE_HEIGHT, measure_differences, plot_curves, plot_differences, render_panels
from anchorless._effects.regression import Clusters, combine_freedom
from anchorless._effects.summary import (
    LEAST_AGREEMENT,
    describe_documents,
    describe_doubts,
    list_effects,
    render_effects,
)
from anchorless._effects.topic_draws import project_documents
from anchorless._figures import find_plot_format
from anchorless._files import atomic_write
from anchorless._plots.fonts import with_fonts
from anchorless.errors import InputError, UsageError

if TYPE_CHECKING:
    from pandas import DataFrame

ESTIMAND = "mean share of the topic over documents, each counted once"
#: Values of a curve in `as_dict` and `plot`, and leading topics in a plot.
CURVE_VALUES, PLOTTED_TOPICS = 40, 6
#: Smaller standard errors of shares are rounding errors.
ROUNDING = 1e-9


class Target(NamedTuple):
    """A topic, or several taken together, whose shares are a response."""

    name: int | str
    topics: tuple[int, ...]
    label: str


class Estimates(NamedTuple):
    """Estimates of contrasts, with intervals and p-values, (T, C) each."""

    estimate: Array
    low: Array
    high: Array
    p: Array


def list_plotted_texts(effects: Effects) -> Iterator[str]:
    """Yield the texts that figures of effects show."""
    for target in effects.targets:
        yield target.label
    for name in effects.design.frame:
        yield str(name)
        if effects.design.is_category(name):
            yield from effects.design.list_levels(name)


class Effects(NamedTuple):
    """How the shares of topics depend on covariates: the result of `TopicModel.effects`.

    The mean share of a topic over documents with covariates x, each document counted once, is x·β. The estimates for a
    topic do not depend on which other topics are asked for, and the topics not on the covariates.

    Attributes
    ----------
    formula : str
        The formula.
    level : float
        Level of the intervals.
    targets : list of Target
        The responses: topics, or several topics taken together.
    coefficients : Coefficients
        β of each target and column of the design, and the covariances of its errors: which documents were collected,
        and how well the topics are known.
    design : Design
        The columns of the regression, the documents that are used, and how many are left out for which reason.
    clusters : Clusters
        The same by group of documents.
    n_draws : int
        Draws of the topics.
    agreement : ndarray of shape (n_targets,)
        Cosine of the words of each target in the fit and in the mean of the draws. Below 0.92, other topics explain the
        documents as well, and the effects are not to be relied on; `summary` says so.
    """

    formula: str
    level: float
    targets: list[Target]
    coefficients: Coefficients
    design: Design
    clusters: Clusters
    n_draws: int
    agreement: Array

    def frame(self) -> DataFrame:
        """Tabulate the coefficients.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic and term: topic, label, term, estimate, low, high, p, p_adjusted. Estimates are shares:
            0.1 stands for 10 percentage points. p is for the hypothesis of no effect; p_adjusted is corrected for the
            number of topics, term by term, by Holm's method.
        """
        return self._tabulate(np.eye(len(self.design.columns)), {"term": self.design.columns})

    def tests(self) -> DataFrame:
        """Test each term as a whole: all levels of a category, or a curve.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic and term: topic, label, term, n_columns, f, p, p_adjusted, as in `frame`.
        """
        import pandas as pd

        parts = []
        for term, where in self.design.terms.items():
            statistic, p = self._test(np.eye(len(self.design.columns))[where])
            columns = {"term": term, "n_columns": where.stop - where.start, "f": statistic, "p": p}
            parts.append(pd.DataFrame(self._name_targets() | columns | {"p_adjusted": adjust_holm(p)}))
        return pd.concat(parts, ignore_index=True).sort_values("topic", kind="stable", key=self._rank_topics)

    def contrast(self, column: str, first: Any, second: Any) -> DataFrame:
        """Compare the shares of documents with two values of a column, in percentage points.

        Parameters
        ----------
        column : str
            A column of the formula.
        first, second : str, number or date
            The values. The other columns of each document stay as they are.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic: topic, label, first, second, points, low, high, p, p_adjusted. `points` is positive where
            the share is larger with `first`.
        """
        rows = [self.design.average_row({column: self.design.convert_value(column, v)}) for v in (first, second)]
        found = self._tabulate((rows[0] - rows[1])[None], {"first": [first], "second": [second]})
        found[["estimate", "low", "high"]] *= 100.0
        return found.rename(columns={"estimate": "points"})

    def predict(self, grid: Any) -> DataFrame:
        """Estimate the mean shares of documents with given values.

        Parameters
        ----------
        grid : data frame, Arrow table or dict of columns
            Values of some columns of the formula, a row for each estimate. The other columns of each document stay as
            they are, and the mean over documents is taken.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic and row of the grid: topic, label, the columns of the grid, share, low, high. Each is cut
            at 0 and 1, so the shares of a row need not sum to one exactly. A column of the grid whose name is taken
            gets the prefix ``input_``.
        """
        converted = self.design.read_grid(grid)
        rows = np.array([self.design.average_row(values) for values in converted])
        given = {name_column(name): values for name, values in convert_columns(grid).items()}
        found = self._tabulate(rows, given).drop(columns=["p", "p_adjusted"])
        found = found.rename(columns={"estimate": "share"})
        found[["share", "low", "high"]] = found[["share", "low", "high"]].clip(0.0, 1.0)  # a line may leave them
        return found

    def differences(self) -> DataFrame:
        """Compare the levels of each category with the first, and the upper with the lower quartile of each number.

        Returns
        -------
        frame : pandas.DataFrame
            One row per topic and comparison: column, and the columns of `contrast`. Curves such as ``s(year)`` are not
            in it: one difference does not describe them.
        """
        import pandas as pd

        curved = self.design.list_curved_columns()
        names = [name for name in self.design.frame if name not in curved]
        parts = [self._contrast_values(name).assign(column=name) for name in names]
        columns = ["column", "topic", "label", "first", "second", "points", "low", "high", "p", "p_adjusted"]
        return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)

    @with_fonts(list_plotted_texts)
    def plot(self, column: str | None = None, *, ax: Any = None) -> Any:
        """Draw the effect of a column: curves with bands for numbers and dates, differences for categories.

        Parameters
        ----------
        column : str or None, default=None
            A column of the formula; None for the first.
        ax : matplotlib Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        ax : matplotlib Axes
        """
        name = next(iter(self.design.frame), None) if column is None else column
        if name is None or name not in self.design.frame:
            listed = ", ".join(map(repr, self.design.frame)) or "none"
            raise InputError(f"the formula has no column {name!r} to draw; it has: {listed}")
        if self.design.is_category(name):
            return plot_differences(self._contrast_values(name), name, self.level, ax)
        return plot_curves(self.curve(name), name, name in self.design.dates, self.level, ax, PLOTTED_TOPICS)

    @with_fonts(list_plotted_texts)
    def save_plot(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Draw every column of the formula into one file, as `plot` does.

        Parameters
        ----------
        path : str or path
            The file; its ending says the format: .svg, .png or .pdf.
        force : bool, default=False
            Replace an existing file.
        """
        format, names = find_plot_format(path), list(self.design.frame)
        if not names:
            problem = f"the formula {self.formula!r} has no column to draw"
            raise InputError(problem, remedy="name a column in the formula of effects()")
        n_rows = len(self.targets)
        heights = [
            measure_differences(range(n_rows * (len(self.design.list_levels(name)) - 1)))
            if self.design.is_category(name)
            else CURVE_HEIGHT
            for name in names
        ]
        content = render_panels([partial(self._plot_on, name) for name in names], heights, format)
        with atomic_write(path, force=force) as temporary, open(temporary, "wb") as file:
            file.write(content)

    def curve(self, column: str) -> DataFrame:
        """Estimate the mean shares over the range of a column of numbers or dates.

        Parameters
        ----------
        column : str
            A column of the formula that holds numbers or dates.

        Returns
        -------
        frame : pandas.DataFrame
            As `predict`, with at most 40 values of the column.
        """
        self.design.require_numbers(column)
        values = self.design.frame[column]
        grid = np.linspace(values.min(), values.max(), CURVE_VALUES)
        if values.nunique() <= CURVE_VALUES:
            grid = np.sort(values.unique())
        elif (values == values.round()).all():
            grid = np.unique(grid.round())
        return self.predict({column: [self.design.show_value(column, value) for value in grid]})

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as lists and dictionaries, such as JSON can hold.

        Returns
        -------
        dict
            formula, estimand, level, numbers of documents, groups and draws, `topics` (`agreement` of each, and whether
            it is `doubtful`), `effects` (the rows of `frame`), `tests`,
            `contrasts` (each level of a category with the first), and `curves` (predictions for numbers and dates).
        """
        names = list(self.design.frame)
        categories = [name for name in names if self.design.is_category(name)]
        return {
            "formula": self.formula,
            "estimand": ESTIMAND,
            "level": self.level,
            "n_documents": len(self.design.rows),
            "left_out": dict(self.design.left_out),
            "groups": self.design.groups,
            "n_groups": None if self.design.groups is None else self.clusters.n_clusters,
            "n_draws": self.n_draws,
            "adjustment": "holm",
            "topics": [
                {"topic": target.name, "label": target.label, "agreement": value, "doubtful": value < LEAST_AGREEMENT}
                for target, value in zip(self.targets, self.agreement.tolist(), strict=True)
            ],
            "effects": self.frame().to_dict("records"),
            "tests": self.tests().to_dict("records"),
            "contrasts": {name: self._contrast_values(name).to_dict("records") for name in categories},
            "curves": {n: self.curve(n).to_dict("records") for n in names if n not in categories},
            "dates": sorted(self.design.dates),
        }

    def summary(self, n_effects: int | None = None) -> str:
        """Describe the result in a few lines: documents, and the effects that differ from zero.

        Parameters
        ----------
        n_effects : int or None, default=None
            List so many effects, those with the strongest evidence; None for all that differ from zero at 5%.

        Returns
        -------
        str
        """
        return self._summarize(n_effects, "frame() and tests()")

    def _summarize(self, n_effects: int | None, where: str) -> str:
        """Return the summary; `where` says where effects are that it leaves out."""
        lines = [f"Effects on topics, {self.formula}", f"Estimated: {ESTIMAND}."]
        lines.append(describe_documents(self.design, self.clusters.n_clusters, self.level))
        lines += describe_doubts([t.name for t in self.targets], self.agreement)
        found = list_effects(self.design, self.frame(), self.tests())
        return "\n".join([*lines, *render_effects(found, n_effects, self.level, where)])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Effects {self.formula!r}, {len(self.targets)} topics, {len(self.design.rows):,} documents>"

    def _name_targets(self) -> dict[str, Any]:
        return {"topic": [t.name for t in self.targets], "label": [t.label for t in self.targets]}

    def _rank_topics(self, names: Any) -> Any:
        place = {target.name: i for i, target in enumerate(self.targets)}
        return names.map(place)

    def _tabulate(self, contrasts: Array, columns: dict[str, Any]) -> DataFrame:
        """Return one row per target and contrast (C, P), with columns (C,) that describe the contrasts."""
        import pandas as pd

        found, (T, C) = self._estimate(contrasts), (len(self.targets), len(contrasts))
        named = {name: np.repeat(np.array(values, dtype=object), C) for name, values in self._name_targets().items()}
        table = pd.DataFrame(named | {name: list(values) * T for name, values in columns.items()}).infer_objects()
        for name, values in found._asdict().items():
            table[name] = values.ravel()
        table["p_adjusted"] = np.apply_along_axis(adjust_holm, 0, found.p).ravel()
        return table

    def _estimate(self, contrasts: Array) -> Estimates:
        """Estimate contrasts (C, P) of the coefficients."""
        estimate = self.coefficients.estimate @ contrasts.T
        sources = self.coefficients.of_documents, self.coefficients.of_topics
        variances = np.array([np.einsum("cp,tpq,cq->tc", contrasts, V, contrasts) for V in sources])
        variances = np.maximum(variances, 0.0)
        of_documents = np.broadcast_to(self.clusters.compute_freedom(contrasts), estimate.shape)
        freedom = combine_freedom(variances, np.array([of_documents, np.full(estimate.shape, self.n_draws - 1.0)]))
        error = np.sqrt(variances.sum(axis=0))
        reach = student.ppf((1 + self.level) / 2, freedom) * error
        # What is the same for every document up to rounding, such as the share of all topics, is not tested.
        size = np.divide(abs(estimate), error, out=np.zeros_like(error), where=error > ROUNDING)
        return Estimates(estimate, estimate - reach, estimate + reach, 2 * student.sf(size, freedom))

    def _test(self, contrasts: Array) -> tuple[Array, Array]:
        """Return F and p (T,) of the hypothesis that all contrasts (C, P) are zero."""
        n, inner = len(contrasts), self._estimate(contrasts)
        estimate = inner.estimate
        V = contrasts @ (self.coefficients.of_documents + self.coefficients.of_topics) @ contrasts.T
        statistic = np.array([b @ np.linalg.pinv(v, hermitian=True) @ b / n for b, v in zip(estimate, V, strict=True)])
        # The scaled F of Hotelling: with few clusters the covariance is itself uncertain.
        freedom = max(1.0, self.clusters.compute_joint_freedom(contrasts) - n + 1.0)
        return statistic, fisher.sf(statistic * freedom / (freedom + n - 1.0), n, freedom)

    def _contrast_values(self, name: str) -> DataFrame:
        """Return the contrasts of every level of a category with the first, or of the quartiles of a number."""
        import pandas as pd

        first, *others = self.design.list_compared(name)
        return pd.concat([self.contrast(name, value, first) for value in others], ignore_index=True)

    def _plot_on(self, name: str, ax: Any) -> Any:
        return self.plot(name, ax=ax)


def convert_columns(grid: Any) -> dict[str, list[Any]]:
    """Return the columns of a grid as lists."""
    return {str(name): values for name, values in convert_table(grid).to_pydict().items()}


def join_labels(topics: Sequence[int], labels: Sequence[str]) -> str:
    """Return the label of topics taken together."""
    return " + ".join(labels[f] for f in topics)


def rename_targets(found: Effects, labels: Sequence[str]) -> Effects:
    """Return the effects with other labels of the topics."""
    return found._replace(targets=[one._replace(label=join_labels(one.topics, labels)) for one in found.targets])


def list_targets(topics: Any, labels: Sequence[str]) -> list[Target]:
    """Return the responses: every topic by default; numbers of topics; lists of numbers, taken together."""
    asked = range(len(labels)) if topics is None else topics if isinstance(topics, Iterable) else [topics]
    targets = []
    for one in asked:
        given = list(one) if isinstance(one, Iterable) and not isinstance(one, str) else [one]
        for f in given:
            if isinstance(f, bool) or not isinstance(f, int | np.integer) or not 0 <= f < len(labels):
                problem = f"there is no topic {f!r}; topics have the numbers 0 to {len(labels) - 1}"
                raise UsageError(problem, parameter="topics", value=topics)
        numbers = tuple(map(int, given))
        if not numbers or len(set(numbers)) < len(numbers):
            raise UsageError("topics taken together must be different", parameter="topics", value=topics)
        is_one = isinstance(one, int | np.integer)
        name = numbers[0] if is_one else "+".join(map(str, numbers))
        targets.append(Target(name, numbers, join_labels(numbers, labels)))
    if not targets:
        remedy = "name at least one topic, or leave {topics} out for all"
        raise InputError("no topic was asked for", parameter="topics", value=topics, remedy=remedy)
    return targets


def estimate_effects(sample: Sample, design: Design, targets: list[Target], level: float) -> Effects:
    """Regress the shares of the targets on the design."""
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise UsageError("a confidence level is above 0 and below 1", parameter="level", value=level, remedy="try 0.9")
    clusters = Clusters(design.matrix, design.codes)
    check_clusters(design, clusters)
    weights = np.zeros((sample.counts.shape[0], design.matrix.shape[1]))
    weights[design.rows] = design.matrix @ clusters.inverse
    of_topics = estimate_by_draw(sample, weights)
    S = sample.shown @ select_topics(targets, sample.shown.shape[1])
    solve = compute_projection(sample.draws.mean) @ S
    shares = project_documents(sample.counts, solve, sample.n_threads, design.rows)
    mean, covariance = of_topics.summarize(S)
    found = Coefficients(mean, clusters.compute_covariance(shares), covariance)
    agreement = compare_topics(sample, S)
    return Effects(design.formula, level, targets, found, design, clusters, len(sample.draws.drawn), agreement)


def select_topics(targets: Sequence[Target], n_topics: int) -> Array:
    """Return the matrix (F, T) that adds up the topics of each target."""
    S = np.zeros((n_topics, len(targets)))
    for t, target in enumerate(targets):
        S[list(target.topics), t] = 1.0
    return S
