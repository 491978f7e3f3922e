"""Formulas: the design of a regression from a formula and a table of covariates, by formulaic (extra `effects`)."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.linalg import qr

from anchorless._corpus.covariates import SECONDS_PER_DAY, convert_table, read_values, require_columns
from anchorless._corpus.documents import Array
from anchorless._effects.regression import Clusters
from anchorless._validation import LARGEST_ENTRY
from anchorless.errors import AnchorlessError, InputError, UsageError

#: Columns of a smooth curve `s(x)`, the fewest columns, and the fewest different values for one.
CURVE_COLUMNS, MIN_CURVE_COLUMNS, MIN_CURVE_VALUES = 5, 2, 4
#: The outer knots of a curve, as quantiles (Harrell 2015, section 2.4.6).
KNOT_QUANTILES = (0.05, 0.95)
#: The largest n of `(a + b + c)**n`: all interactions of up to n columns, whose number grows with the n-th power.
MAX_POWER = 5
#: A column of the design is a combination of others if less than this part of its length is left.
COLLINEAR = 1e-8
#: Marks of the place of an error in messages of formulaic.
#: Names of columns that are no Python names.
QUOTED = re.compile(r"`([^`]+)`")
MARKS = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")


class Design(NamedTuple):
    """The design of a regression: one row per document that is used."""

    formula: str
    matrix: Array  # (n, P)
    columns: list[str]  # (P,), names of the columns
    terms: dict[str, slice]  # columns of each term of the formula
    rows: Any  # (n,), positions of the documents among all
    codes: Any  # (n,), the number of each document's group, or None
    groups: str | None
    frame: Any  # (n rows), the covariates as pandas DataFrame
    dates: frozenset[str]  # columns of the frame that hold dates, as days
    left_out: dict[str, int]  # why documents are not used, and how many
    spec: Any  # of formulaic, which computes the same columns for other values

    def is_category(self, name: str) -> bool:
        """Say whether a column of the table holds categories."""
        return bool(self.frame[name].dtype == "category")

    def is_curve(self, term: str) -> bool:
        """Say whether a term has several columns that have no meaning one by one."""
        names = self.columns[self.terms[term]]
        if len(names) < 2 or any("[T." in name for name in names) or term.startswith("C("):
            return False
        return not any(self.is_category(name) for name in self.list_variables(term))

    def list_curves(self) -> list[str]:
        """Return the terms that are curves."""
        return [term for term in self.terms if self.is_curve(term)]

    def list_variables(self, term: str) -> set[str]:
        """Return the columns of the table that a term uses."""
        return find_columns([one for one in self.spec.terms if str(one) == term])

    def list_curved_columns(self) -> list[str]:
        """Return the columns of the table that are in a curve."""
        used = set[str]().union(*map(self.list_variables, self.list_curves()))
        return [name for name in self.frame if name in used]

    def list_compared(self, name: str) -> list[Any]:
        """Return the levels of a category, or the lower and the upper quartile of a number."""
        if self.is_category(name):
            return self.list_levels(name)
        values = self.frame[name]
        low, high = np.quantile(values, [0.25, 0.75], method="nearest")
        if low == high:
            low, high = values.min(), values.max()
        return [self.show_value(name, low), self.show_value(name, high)]

    def show_value(self, name: str, value: float) -> Any:
        """Return a number of the frame as users write it: days as dates."""
        if name not in self.dates:
            return int(value) if float(value).is_integer() else float(value)
        return str(np.datetime64(round(value * SECONDS_PER_DAY), "s").astype("datetime64[D]"))

    def require_numbers(self, name: str) -> None:
        """Refuse a name that is not a column of numbers or dates."""
        if name not in self.frame or self.is_category(name):
            listed = ", ".join(repr(one) for one in self.frame if not self.is_category(one)) or "none"
            raise InputError(f"the formula has no column {name!r} of numbers or dates; it has: {listed}")

    def list_levels(self, name: str) -> list[str]:
        """Return the levels of a category that occur."""
        return [str(level) for level in self.frame[name].cat.categories]

    def convert_value(self, name: str, value: Any) -> Any:
        """Return a value of a column as the frame holds it: a known level, or a number."""
        if name not in self.frame:
            raise InputError(f"the formula has no column {name!r}; it has: {', '.join(map(repr, self.frame))}")
        if self.is_category(name):
            if str(value) not in self.list_levels(name):
                listed = ", ".join(map(repr, self.list_levels(name)))
                raise InputError(f"the column {name!r} has no level {value!r}; it has: {listed}")
            return str(value)
        table = pa.table({name: pa.array([value])})
        found, is_date = read_values(table, name)
        if found.dtype.kind != "f" or is_date != (name in self.dates) or not np.isfinite(found[0]):
            kind = "a date such as '2008-05-31'" if name in self.dates else "a number"
            raise InputError(f"{value!r} is no value of the column {name!r}; give {kind}")
        return float(found[0])

    def average_row(self, values: Mapping[str, Any]) -> Array:
        """Return the mean row of the design (P,) if every document had these values, converted before."""
        import pandas as pd

        changed = self.frame.copy()
        for name, value in values.items():
            if self.is_category(name):
                changed[name] = pd.Categorical([value] * len(changed), categories=self.frame[name].cat.categories)
            else:
                changed[name] = value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about extrapolation
            return np.asarray(self.spec.get_model_matrix(changed, context=make_context()), dtype=np.float64).mean(
                axis=0
            )

    def read_grid(self, grid: Any) -> list[dict[str, Any]]:
        """Return the rows of a grid of values as dictionaries, converted."""
        try:
            listed = convert_table(grid).to_pylist()
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"the grid cannot be read as a table: {error}", remedy="give a data frame") from None
        if not listed:
            raise InputError("the grid has no rows", remedy="give a row for each combination of values")
        return [{name: self.convert_value(name, value) for name, value in row.items()} for row in listed]


def list_formula_columns(formula: str) -> list[str]:
    """Return the columns that a formula uses, in its order."""
    return order_columns(parse_formula(formula), formula)


def order_columns(parsed: Any, formula: str) -> list[str]:
    """Return the columns of a parsed formula in the order of its text."""

    def find_place(name: str) -> int:
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", formula)
        return len(formula) if found is None else found.start()

    return sorted(find_columns(parsed), key=lambda name: (find_place(name), name))


def find_columns(terms: Any) -> set[str]:
    """Return the names in parsed terms that are neither functions nor modules.

    formulaic's own list leaves out the columns of functions such as `poly` and `bs`.
    """
    names = set[str]()
    for factor in {factor for term in terms for factor in term.factors}:
        kind, expression = factor.eval_method.value, str(factor.expr)
        if kind == "lookup":
            names.add(expression)
        elif kind == "python":
            names.update(QUOTED.findall(expression))
            tree = ast.parse(QUOTED.sub("None", expression).strip(), mode="eval")
            names.update(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return names - set(make_context())


def build_design(formula: str, table: pa.Table, groups: str | None, known: Any) -> Design:
    """Return the design of a formula; `known` (N,) says which documents have words."""
    parsed = parse_formula(formula)
    names = order_columns(parsed, formula)
    require_columns(names, table, f"the formula {formula!r}")
    if groups is not None:
        require_columns([groups], table, f"groups={groups!r}")
    columns = {name: read_values(table, name) for name in dict.fromkeys([*names, *([groups] if groups else [])])}
    used, left_out = select_documents({name: values for name, (values, _) in columns.items()}, known)
    frame = build_frame({name: columns[name][0] for name in names}, used)
    matrix, spec = compute_matrix(parsed, formula, frame)
    codes = None if groups is None else number_groups(columns[groups][0][used], groups)
    found = Design(
        formula=formula,
        matrix=matrix,
        columns=[str(name) for name in spec.column_names],
        terms={str(term): where for term, where in spec.term_slices.items()},
        rows=np.flatnonzero(used),
        codes=codes,
        groups=groups,
        frame=frame,
        dates=frozenset(name for name in names if columns[name][1]),
        left_out=left_out,
        spec=spec,
    )
    check_rank(found)
    return found


def import_formulaic() -> Any:
    """Return the library, which is an optional dependency."""
    try:
        import formulaic
    except ImportError:
        remedy = "install it with `pip install 'anchorless[effects]'`"
        raise InputError("formulas need the package formulaic", remedy=remedy) from None
    return formulaic


def parse_formula(formula: str) -> Any:
    """Return the parsed right side of a formula."""
    formulaic = import_formulaic()
    if not isinstance(formula, str) or not formula.strip():
        raise UsageError("it must be a text such as '~ party + s(year)'", parameter="formula", value=formula)
    try:
        check_powers(formula)
        parsed = formulaic.Formula(formula)
        if isinstance(parsed, formulaic.SimpleFormula):
            find_columns(parsed)
    except (AnchorlessError, MemoryError):
        raise
    except Exception as error:  # of a formula that formulaic's parser did not foresee, too
        reason = MARKS.sub("", str(error)).split("\n")[0].strip().rstrip(".")
        problem = f"it cannot be read: {reason}"
        remedy = "write terms with + between them, as in '~ party + s(year)'"
        raise UsageError(problem, parameter="formula", value=formula, remedy=remedy) from None
    if hasattr(parsed, "lhs") or not isinstance(parsed, formulaic.SimpleFormula):
        problem, remedy = "the left side is always the topics' shares", "begin with '~'"
        raise UsageError(problem, parameter="formula", value=formula, remedy=remedy)
    return parsed


def check_powers(formula: str) -> None:
    """Refuse interactions of so many columns that listing them would take all memory."""
    from formulaic.parser.algos.tokenize import tokenize

    tokens = [str(token) for token in tokenize(formula) if str(token) not in "()"]
    for operator, exponent in pairwise(tokens):
        if operator in ("**", "^") and exponent.isdecimal() and (len(exponent) > 2 or int(exponent) > MAX_POWER):
            problem, remedy = f"its power {exponent[:20]} is above {MAX_POWER}", "name the interactions, as in 'a:b'"
            raise UsageError(problem, parameter="formula", value=formula, limit=MAX_POWER, remedy=remedy)


def select_documents(columns: Mapping[str, Any], known: Any) -> tuple[Any, dict[str, int]]:
    """Return which documents have words and all values, and how many are left out for which reason."""
    used, left_out = known.copy(), {}
    if not known.all():
        left_out["no word that the model knows"] = int((~known).sum())
    for name, values in columns.items():
        missing = np.asarray(values.isna())
        if missing.all():
            problem = f"all values of the column {name!r} are missing"
            raise InputError(problem, remedy="take it out of the formula")
        if (missing & used).any():
            left_out[f"no value of {name}"] = int((missing & used).sum())
        used &= ~missing
    if not used.any():
        problem = "no document has words and a value in every column that is used"
        raise InputError(problem, remedy="use fewer columns, or fill in missing values")
    return used, left_out


def build_frame(columns: Mapping[str, Any], used: Any) -> Any:
    """Return the used rows of the columns as a DataFrame; refuse a column with a single value."""
    import pandas as pd

    frame = pd.DataFrame({name: values[used].reset_index(drop=True) for name, values in columns.items()})
    frame = frame if len(frame.columns) else pd.DataFrame(index=range(int(used.sum())))
    for name in frame:
        if frame[name].dtype == "category":
            frame[name] = frame[name].cat.remove_unused_categories()
        if frame[name].nunique() < 2:
            problem = f"the column {name!r} is constant: every document that is used has {frame[name].tolist()[0]!r}"
            raise InputError(problem, remedy="remove it from the formula")
    return frame


def compute_matrix(parsed: Any, formula: str, frame: Any) -> tuple[Array, Any]:
    """Return the design (n, P) and its specification."""
    formulaic = import_formulaic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = parsed.get_model_matrix(frame, context=make_context(), na_action="ignore", output="pandas")
            matrix = np.asarray(found, dtype=np.float64)
    except (formulaic.errors.FormulaicError, SyntaxError, TypeError, ValueError, ArithmeticError) as error:
        cause = error.__cause__ if isinstance(error.__cause__, InputError) else None
        if cause is not None:
            raise cause from None
        reason = MARKS.sub("", str(error)).split("\n")[0].strip()
        if "required positional argument" in reason:
            reason = f"{reason.split('`')[1]} needs a column"  # formulaic's words are about Python
        elif "dtype category" in reason:
            term = reason.split("`")[1]
            reason = f"{term} needs numbers, but a column in it holds categories; use the column by itself"
        raise InputError(f"it cannot be computed: {reason}", parameter="formula", value=formula) from None
    wrong = np.flatnonzero(~np.isfinite(matrix).all(axis=0))
    if len(wrong):
        problem = f"the term {found.columns[wrong[0]]!r} is not a finite number for every document"
        raise InputError(problem, remedy="correct the values, or leave them empty")
    size = np.abs(matrix).max(axis=0, initial=0.0)
    extreme = np.flatnonzero((size > LARGEST_ENTRY) | ((size > 0) & (size < 1 / LARGEST_ENTRY)))
    if len(extreme):
        limits = f"{1 / LARGEST_ENTRY:.0e} … {LARGEST_ENTRY:.0e}"
        problem = (
            f"the largest value of the term {found.columns[extreme[0]]!r} is {size[extreme[0]]:.3g}, outside {limits}"
        )
        raise InputError(problem, remedy="correct the values, or give them in another unit")
    return matrix, found.model_spec


def number_groups(values: Any, name: str) -> Any:
    """Return the number of each document's group; refuse groups that say nothing."""
    import pandas as pd

    codes, found = pd.factorize(values)
    if len(found) < 2:
        raise InputError(f"the column {name!r} puts all documents into one group", remedy="leave out {groups}")
    if len(found) == len(codes):
        problem = f"every group of the column {name!r} has one document, which is the same as no groups"
        raise InputError(problem, remedy="leave out {groups}")
    return codes


def check_rank(design: Design) -> None:
    """Refuse a formula without columns, more columns than documents allow, and combinations of other columns."""
    n, P = design.matrix.shape
    if not P:
        problem = "it has no term, not even the intercept"
        raise UsageError(problem, parameter="formula", value=design.formula, remedy="name a column, as in '~ party'")
    if n <= P:
        problem = f"the formula has {P} columns, but there are only {n} documents"
        raise InputError(problem, limit=n - 1, remedy="use fewer terms or fewer levels, or more documents")
    scale = np.linalg.norm(design.matrix, axis=0)
    R, order = qr(design.matrix / np.where(scale > 0, scale, 1.0), mode="r", pivoting=True)[0:2]
    left = abs(np.diag(R))
    if left.min() > COLLINEAR:
        return
    named = ", ".join(repr(name) for name in find_dependent(design.matrix, design.columns, int(order[np.argmin(left)])))
    raise InputError(f"the terms {named} are collinear: one is determined by the others", remedy="remove one of them")


def check_clusters(design: Design, clusters: Clusters) -> None:
    """Refuse coefficients that one document or one group alone determines: nothing tells how far they are known."""
    weights = clusters.find_determined()
    if weights is None:
        return
    size = abs(weights) * np.linalg.norm(design.matrix, axis=0)
    size[[name == "Intercept" for name in design.columns]] = 0.0
    unit = "document" if design.groups is None else f"group of {design.groups!r}"
    problem = f"the term {design.columns[int(np.argmax(size))]!r} depends on one {unit} alone"
    raise InputError(problem, remedy="remove it, or put that level together with another one")


def find_dependent(matrix: Array, columns: Sequence[str], j: int) -> list[str]:
    """Return the names of column j and of those that determine it."""
    others = [k for k in range(matrix.shape[1]) if k != j]
    weights = np.linalg.lstsq(matrix[:, others], matrix[:, j], rcond=None)[0]
    size = abs(weights) * np.linalg.norm(matrix[:, others], axis=0)
    involved = [others[k] for k in np.flatnonzero(size > 1e-6 * size.max(initial=1e-300))]
    return [columns[k] for k in sorted([j, *involved])]


def smooth(x: Any, df: int = CURVE_COLUMNS, _state: Any = None) -> Any:
    """Return a natural cubic spline of x with at most `df` columns, centered.

    Knots are quantiles. Beyond the outer ones it is a straight line: in the long tail of a skewed column a bend would
    depend on a few documents.
    """
    from formulaic.transforms.cubic_spline import cubic_spline

    if "knots" not in _state:
        if getattr(x, "dtype", None) == "category":
            named = f"its column {x.name!r}" if getattr(x, "name", None) else "its column"
            problem = f"s() needs numbers or dates, but {named} holds categories such as {x.tolist()[0]!r}"
            raise InputError(problem, remedy="use the column itself, without s()")
        n_values = len(np.unique(np.asarray(x)))
        if n_values < MIN_CURVE_VALUES:
            problem = f"s() needs at least {MIN_CURVE_VALUES} different values, but its column has {n_values}"
            raise InputError(problem, remedy="use the column itself, or C() for categories")
        _state["knots"], _state["spline"] = place_knots(np.asarray(x, dtype=np.float64), df), {}
    low, *inner, high = _state["knots"]
    bounds = {"lower_bound": low, "upper_bound": high, "extrapolation": "extend"}
    return cubic_spline(x, knots=inner, **bounds, constraints="center", _state=_state["spline"])


def place_knots(x: Array, df: int) -> list[float]:
    """Return the knots of a curve with at most `df` columns, one more than columns: quantiles from 5% to 95%.

    If most values are the same, they are quantiles of the different values.
    """
    if not isinstance(df, int) or df < MIN_CURVE_COLUMNS:
        problem = f"df={df!r} in s(): a curve has at least {MIN_CURVE_COLUMNS} columns"
        raise InputError(problem, remedy="use the column itself for a straight line")
    for values in (x, np.unique(x)):
        knots = np.unique(np.quantile(values, np.linspace(*KNOT_QUANTILES, df + 1)))
        if len(knots) > MIN_CURVE_COLUMNS:
            break
    return [float(knot) for knot in knots]


@cache
def make_context() -> dict[str, Any]:
    """Return the names that formulas may use: those of formulaic, and `s`. It takes long to import."""
    from formulaic.transforms import TRANSFORMS, stateful_transform

    return {**TRANSFORMS, "s": stateful_transform(smooth)}
