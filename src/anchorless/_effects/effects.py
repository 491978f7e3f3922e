"""`Effects`: how the shares of topics depend on covariates, with intervals and p-values.

The mean share of a topic in documents with covariates x is x·β. Each document counts once. Its shares are estimated
without bias (`topic_draws.compute_projection`), so β is, too. Its error has two parts: which documents were collected
(`regression`), and how well the topics are known: β under draws of the topics, and its distance from β under the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import f as fisher
from scipy.stats import t as student

from anchorless._corpus.covariates import convert_table
from anchorless._corpus.documents import Array
from anchorless._diagnostics.stability import adjust_holm
from anchorless._effects.coefficients import Coefficients, Sample, estimate_by_draw
from anchorless._effects.design import Design, check_clusters
from anchorless._effects.plot import plot_curves, plot_differences
from anchorless._effects.regression import Clusters, combine_freedom
from anchorless._effects.topic_draws import compute_projection, project_documents
from anchorless.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

ESTIMAND = "mean share of the topic over documents, each counted once"
#: Values of a curve in `as_dict` and `plot`, and leading topics in a plot.
CURVE_VALUES, PLOTTED_TOPICS = 40, 6
#: With fewer groups, `summary` says that they are few.
FEW_GROUPS = 10
#: Effects with a smaller adjusted p-value are in `summary`.
SIGNIFICANCE = 0.05
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
    """

    formula: str
    level: float
    targets: list[Target]
    coefficients: Coefficients
    design: Design
    clusters: Clusters
    n_draws: int

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
            One row per topic and row of the grid: topic, label, the columns of the grid, share, low, high.
        """
        converted = self.design.read_grid(grid)
        rows = np.array([self.design.average_row(values) for values in converted])
        given = convert_columns(grid)
        found = self._tabulate(rows, given).drop(columns=["p", "p_adjusted"])
        found = found.rename(columns={"estimate": "share"})
        found[["share", "low", "high"]] = found[["share", "low", "high"]].clip(0.0, 1.0)  # a line may leave them
        return found

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
            return plot_differences(self._contrast_levels(name), name, self.level, ax)
        return plot_curves(self._predict_curve(name), name, name in self.design.dates, self.level, ax, PLOTTED_TOPICS)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as lists and dictionaries, such as JSON can hold.

        Returns
        -------
        dict
            formula, estimand, level, numbers of documents, groups and draws, `effects` (the rows of `frame`), `tests`,
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
            "effects": self.frame().to_dict("records"),
            "tests": self.tests().to_dict("records"),
            "contrasts": {name: self._contrast_levels(name).to_dict("records") for name in categories},
            "curves": {n: self._predict_curve(n).to_dict("records") for n in names if n not in categories},
            "dates": sorted(self.design.dates),
        }

    def summary(self) -> str:
        """Describe the result in a few lines.

        Returns
        -------
        str
        """
        lines = [f"Effects on topics, {self.formula}", f"Estimated: {ESTIMAND}.", self._describe_documents()]
        curves = [term for term in self.design.terms if self.design.is_curve(term)]
        tests, found = self.tests(), self.frame()
        for row in tests[tests["term"].isin(curves) & (tests["p_adjusted"] < SIGNIFICANCE)].itertuples():
            lines.append(f"topic {row.topic} ({row.label}): varies with {row.term}, p {row.p_adjusted:.2g}")
        of_curves = [name for term in curves for name in self.design.columns[self.design.terms[term]]]
        listed = (found["p_adjusted"] < SIGNIFICANCE) & ~found["term"].isin([*of_curves, "Intercept"])
        for row in found[listed].itertuples():
            points, low, high = (f"{100 * value:+.1f}" for value in (row.estimate, row.low, row.high))
            effect = f"{row.term} {points} points ({low} to {high}), p {row.p_adjusted:.2g}"
            lines.append(f"topic {row.topic} ({row.label}): {effect}")
        if len(lines) == 3:
            lines.append("No effect differs from zero at 5%, corrected for the number of topics: the data cannot tell.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Effects {self.formula!r}, {len(self.targets)} topics, {len(self.design.rows):,} documents>"

    def _describe_documents(self) -> str:
        n, parts = len(self.design.rows), []
        for reason, number in self.design.left_out.items():
            parts.append(f"{number:,} left out ({reason})")
        if self.design.groups is not None:
            few = ", which is few" if self.clusters.n_clusters < FEW_GROUPS else ""
            parts.append(f"{self.clusters.n_clusters:,} groups of {self.design.groups}{few}")
        return f"{'; '.join([f'{n:,} documents', *parts])}. Intervals: {self.level:.0%}."

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
        freedom = max(1.0, float(self.clusters.compute_freedom(contrasts).min()) - n + 1.0)
        return statistic, fisher.sf(statistic * freedom / (freedom + n - 1.0), n, freedom)

    def _contrast_levels(self, name: str) -> DataFrame:
        """Return the contrasts of every level of a category with the first."""
        import pandas as pd

        first, *others = self.design.list_levels(name)
        return pd.concat([self.contrast(name, level, first) for level in others], ignore_index=True)

    def _predict_curve(self, name: str) -> DataFrame:
        """Return predictions over the range of a column of numbers, where most documents are."""
        values = self.design.frame[name]
        grid = np.linspace(values.min(), values.max(), CURVE_VALUES)
        if values.nunique() <= CURVE_VALUES:
            grid = np.sort(values.unique())
        given = grid.astype("datetime64[D]").astype(str).tolist() if name in self.design.dates else grid.tolist()
        return self.predict({name: given})


def convert_columns(grid: Any) -> dict[str, list[Any]]:
    """Return the columns of a grid as lists."""
    return {str(name): values for name, values in convert_table(grid).to_pydict().items()}


def list_targets(topics: Any, labels: Sequence[str]) -> list[Target]:
    """Return the responses: every topic by default; numbers of topics; lists of numbers, taken together."""
    asked = range(len(labels)) if topics is None else [topics] if isinstance(topics, int | np.integer) else topics
    targets = []
    for one in asked:
        numbers = tuple(int(f) for f in np.atleast_1d(np.asarray(one)))
        for f in numbers:
            if not 0 <= f < len(labels):
                problem = f"there is no topic {f}; topics have the numbers 0 to {len(labels) - 1}"
                raise InputError(problem, parameter="topics", value=topics)
        if not numbers or len(set(numbers)) < len(numbers):
            raise InputError("topics taken together must be different", parameter="topics", value=topics)
        is_one = isinstance(one, int | np.integer)
        name = numbers[0] if is_one else "+".join(map(str, numbers))
        targets.append(Target(name, numbers, " + ".join(labels[f] for f in numbers)))
    if not targets:
        raise InputError("no topic was asked for", parameter="topics", value=topics)
    return targets


def estimate_effects(sample: Sample, design: Design, targets: list[Target], level: float) -> Effects:
    """Regress the shares of the targets on the design."""
    if not 0 < level < 1:
        raise InputError("a confidence level is above 0 and below 1", parameter="level", value=level, remedy="try 0.9")
    clusters = Clusters(design.matrix, design.codes)
    check_clusters(design, clusters)
    weights = np.zeros((sample.counts.shape[0], design.matrix.shape[1]))
    weights[design.rows] = design.matrix @ clusters.inverse
    of_topics = estimate_by_draw(sample, weights)
    S = sample.shown @ select_topics(targets, sample.shown.shape[1])
    shares = project_documents(sample.counts, compute_projection(sample.draws.mean), sample.n_threads)[design.rows] @ S
    residuals = shares - design.matrix @ (clusters.inverse @ (design.matrix.T @ shares))
    mean, covariance = of_topics.summarize(S)
    found = Coefficients(mean, clusters.compute_covariance(residuals), covariance)
    return Effects(design.formula, level, targets, found, design, clusters, len(sample.draws.drawn))


def select_topics(targets: Sequence[Target], n_topics: int) -> Array:
    """Return the matrix (F, T) that adds up the topics of each target."""
    S = np.zeros((n_topics, len(targets)))
    for t, target in enumerate(targets):
        S[list(target.topics), t] = 1.0
    return S
