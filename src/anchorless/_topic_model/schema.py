"""What the parts of a model file must be, compared with each other: a right checksum does not make them consistent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anchorless._choices import WEIGHTINGS
from anchorless._corpus.quality import is_note
from anchorless._topic_model.edits import KINDS, Edit, apply_edit, list_leaves, start_layout
from anchorless._topic_model.shapes import (
    Items,
    Maybe,
    Shape,
    find_misfit,
    is_count,
    is_flag,
    is_number,
    is_share,
    is_text,
    make_choice,
    make_range,
)
from anchorless.errors import InputError

Arrays = dict[str, npt.NDArray[Any]]

#: Numbers of a fit are far from these; larger ones overflow when they are multiplied.
LARGEST, SMALLEST = 1e100, 1e-100
#: Neighbors of a document are fewer; a file could ask for more memory than there is.
MOST_NEIGHBORS = 1000
#: Rows of probabilities sum to one within this: they are stored as float64.
SUM_TOLERANCE = 1e-6


class Rule(NamedTuple):
    """What the numbers of an array must be."""

    axes: str  # F topics, V words, D kept documents, P parts of a split; n: any length
    low: float = -LARGEST
    high: float = LARGEST
    sums: bool = False  # whether rows sum to one
    missing: bool = False  # whether NaN is allowed
    symmetric: bool = False
    kind: Any = np.float64


UNIT = 1.0 + SUM_TOLERANCE
PAIRS = Rule("FF", -UNIT, UNIT, missing=True, symmetric=True)
RULES = {
    "components": Rule("FV", 0.0, UNIT, sums=True),
    "topic_word": Rule("FV", 0.0, UNIT, sums=True),
    "moments": Rule("FF"),
    "correlation": PAIRS,
    "association": PAIRS,
    "shares": Rule("F", 0.0, UNIT, sums=True),
    "coherence": Rule("F", -UNIT, UNIT, missing=True),
    "exclusivity": Rule("F", 0.0, UNIT, missing=True),
    "clipped_mass": Rule("F", 0.0),
    "alpha": Rule("F", SMALLEST),
    "proportion_mean": Rule("F", -UNIT, UNIT),
    "proportion_covariance": Rule("FF", symmetric=True),
    "document_frequency": Rule("V", 0.0),
    "word_counts": Rule("V", 0.0),
    "idf": Rule("V", 0.0),
    "ncw_sum": Rule("V", 0.0),
    "word_noise": Rule("V", missing=True),
    "eigenvalues": Rule("n"),
    "document_lengths": Rule("n", 0.0),
    "kept_mixtures": Rule("DF", 0.0, UNIT),
    "kept_positions": Rule("D", 0, LARGEST, kind=np.int64),
    "vocabulary_ends": Rule("V", 0, LARGEST, kind=np.int64),
    "neighbor_vectors": Rule("nn", -UNIT, UNIT, kind=np.float16),
    "neighbor_mixtures": Rule("nF", 0.0, UNIT, kind=np.float32),
    "neighbor_topics": Rule("FV", 0.0, UNIT, sums=True),
    "neighbor_center": Rule("n", -UNIT, UNIT, kind=np.float32),
    "neighbor_axes": Rule("nn", -UNIT, UNIT, kind=np.float32),
}
#: Of the arrays of a split, F is the number of topics after it.
SPLIT_RULES = {
    "topic_word": Rule("PV", 0.0, UNIT, sums=True),
    "components": Rule("PV", 0.0, UNIT, sums=True),
    "coherence": Rule("P", -UNIT, UNIT, missing=True),
    "mean": RULES["proportion_mean"],
    "covariance": RULES["proportion_covariance"],
    "kept_mixtures": RULES["kept_mixtures"],
    "kept_explained": Rule("D"),
    **{name: RULES[name] for name in ("alpha", "shares", "correlation", "association")},
}
REQUIRED = (
    *("components", "moments", "correlation", "shares", "coherence", "exclusivity", "clipped_mass", "eigenvalues"),
    *("document_frequency", "word_counts", "vocabulary_ends"),
)
NEIGHBORS = ("neighbor_vectors", "neighbor_mixtures")
AXES = ("neighbor_center", "neighbor_axes")
#: Arrays of which a file has all or none.
TOGETHER = (("topic_word", "alpha", "association"), ("proportion_mean", "proportion_covariance"), NEIGHBORS, AXES)


def check_schema(arrays: Arrays, header: dict[str, Any], name: str) -> None:
    """Refuse a model file whose arrays and header do not fit each other; the message names the part."""
    try:
        sizes = {"F": len(arrays["components"]), "V": arrays["components"].shape[1], "D": len(header["documents"])}
        part = find_bad_array(arrays, sizes) or find_misfit(header, describe_header(sizes), "header")
        part = part or find_bad_edits(header.get("edits"), arrays, sizes)
        part = part or find_bad_relation(arrays, header)
    except InputError as error:
        raise InputError(f"{name} has edits that do not fit its topics: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise InputError(f"{name} lacks parts that a model of anchorless has ({error}); fit again") from error
    if part is not None:
        raise InputError(f"{name} is not consistent: its part {part} does not fit the others; fit again")


def find_bad_array(arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return the name of an array with a wrong type, shape or content; None if there is none."""
    present = [name for group in TOGETHER if any(name in arrays for name in group) for name in group]
    missing = next((name for name in (*REQUIRED, *present) if name not in arrays), None)
    wrong = (name for name, rule in RULES.items() if name in arrays and not is_valid_array(arrays[name], rule, sizes))
    if found := missing or next(wrong, None):
        return found
    ends, n_bytes = arrays["vocabulary_ends"], arrays["vocabulary"].size
    if arrays["vocabulary"].dtype != np.uint8 or np.any(np.diff(ends, prepend=0) <= 0) or ends[-1] != n_bytes:
        return "vocabulary"
    return None


def is_valid_array(values: npt.NDArray[Any], rule: Rule, sizes: dict[str, int]) -> bool:
    """Tell whether an array has the type, the shape and the range of its rule."""
    if values.dtype != rule.kind or values.ndim != len(rule.axes):
        return False
    if any(axis != "n" and length != sizes[axis] for axis, length in zip(rule.axes, values.shape, strict=True)):
        return False
    known = values[~np.isnan(values)] if rule.missing else values
    if known.size and not (known.min() >= rule.low and known.max() <= rule.high):  # false for NaN
        return False
    if rule.symmetric and not np.allclose(values, values.T, rtol=1e-6, atol=1e-9, equal_nan=True):
        return False
    return not rule.sums or bool(np.all(np.abs(values.sum(axis=-1) - 1.0) < SUM_TOLERANCE))


def find_bad_relation(arrays: Arrays, header: dict[str, Any]) -> str | None:
    """Return the name of a part that contradicts another one."""
    weights, n_documents = header["weighting"]["name"], header["diagnostics"]["n_documents"]
    if "idf" in arrays and np.any((arrays["idf"] > 0) & (arrays["idf"] < SMALLEST)):
        return "idf"
    if not arrays["word_counts"].sum() > 0:
        return "word_counts"
    if ("idf" in arrays) == (weights == "counts") or ("ncw_sum" in arrays) != weights.endswith("ncw"):
        return "weighting"
    if "kept_positions" in arrays and arrays["kept_positions"].size and arrays["kept_positions"].max() >= n_documents:
        return "kept_positions"
    neighbors = header.get("neighbors")
    if (neighbors is not None) != all(name in arrays for name in NEIGHBORS):
        return "neighbors"
    if neighbors is not None and neighbors["n_tokens"] > 0 and not neighbors["n_neighbors"]:
        return "neighbors"
    if neighbors is not None and not is_neighborhood(*(arrays[name] for name in NEIGHBORS)):
        return NEIGHBORS[0]
    if AXES[1] in arrays and not fit_axes(*(arrays[name] for name in (*AXES, NEIGHBORS[0]))):
        return AXES[1]
    return None


def is_neighborhood(vectors: npt.NDArray[Any], mixtures: npt.NDArray[Any]) -> bool:
    """Tell whether embeddings have a mixture each, and a length."""
    return len(vectors) == len(mixtures) and vectors.shape[1] > 0 and bool(np.all(vectors.any(axis=1)))


def fit_axes(center: npt.NDArray[Any], axes: npt.NDArray[Any], vectors: npt.NDArray[Any]) -> bool:
    """Tell whether embeddings have coordinates along the axes."""
    return len(center) == len(axes) > 0 and axes.shape[1] == vectors.shape[1]


def describe_header(sizes: dict[str, int]) -> dict[str, Shape]:
    """Return the shape of the header of a model of so many topics and kept documents."""
    n_topics = sizes["F"]
    topic, positions = make_range(n_topics), Items(Items(make_range(sizes["D"])), n_topics)
    document = {
        "id": is_text,
        "snippet": is_text,
        "topics": Items(
            lambda pair: isinstance(pair, list) and len(pair) == 2 and topic(pair[0]) and is_share(pair[1])
        ),
        "explained": is_number,
        "label?": Maybe(is_text),
        "date?": Maybe(is_text),
    }
    return {
        "settings": lambda value: isinstance(value, dict),
        "counting": Maybe(lambda value: isinstance(value, dict)),
        "weighting": {"name": make_choice(*WEIGHTINGS), "least_degree": is_number},
        "labels": Items(is_text, n_topics),
        "diagnostics": DIAGNOSTICS,
        "documents": Items(document),
        "representatives": positions,
        "borders?": Maybe(positions),
        "by_label": Maybe(describe_table("names", n_topics)),
        "by_period": Maybe(describe_table("periods", n_topics)),
        "versions?": lambda value: isinstance(value, dict),
        "levels?": Maybe(Items(lambda groups: is_grouping(groups, n_topics))),
        "data_notes?": Items(is_note),
        "seeds?": Items(describe_seed(topic)),
        "separated_words?": Items({"words": Items(is_text, 2), "topics": Items(topic, 2), "separated": is_flag}),
        "edits?": Maybe({"fit": is_text, "list": Items(EDIT), "splits": Items(lambda split: isinstance(split, dict))}),
        "neighbors?": Maybe(
            {
                "n_neighbors": make_range(MOST_NEIGHBORS + 1),
                "n_tokens": lambda value: is_number(value) and value >= 0,
                "gain": is_number,
            }
        ),
        "stability?": Maybe(lambda value: isinstance(value, dict)),
    }


EDIT: dict[str, Shape] = {
    "kind": make_choice(*KINDS),
    "values": lambda value: isinstance(value, dict),
    "by": is_text,
    "at": is_text,
}
DIAGNOSTICS: dict[str, Shape] = {
    **dict.fromkeys(("n_tokens", "n_without_words", "n_iter", "n_constraints"), is_count),
    "n_documents": lambda value: is_count(value) and value > 0,
    "mean_explained": is_number,
    "log_volume": is_number,
    "converged": is_flag,
    "warnings": Items(is_text),
    "eigengap?": Maybe(is_number),
    "how_many?": is_text,
}
_NUMBERS = Items(is_count)
#: Values of each kind of edit. Which topics there are is checked when the edits are applied.
EDIT_VALUES: dict[str, Shape] = {
    "rename": {"names": Items(lambda pair: is_pair(pair) and (pair[1] is None or is_text(pair[1])))},
    "label": {
        "names": Items(lambda pair: is_pair(pair) and is_text(pair[1])),
        **dict.fromkeys(("model", "endpoint"), is_text),
        **dict.fromkeys(("prompts", "answers"), Items(is_text)),
        "topics": _NUMBERS,
    },
    "note": {"notes": Items(lambda pair: is_pair(pair) and is_text(pair[1]))},
    "merge": {"groups": Items(_NUMBERS), "coherence?": Maybe(Items(Maybe(is_number)))},
    "drop": {"topics": _NUMBERS},
    "split": {"topic": is_count, "n": lambda value: is_count(value) and 2 <= value <= 10**6},
    "reorder": {"order": _NUMBERS},
}


def is_pair(value: Any) -> bool:
    """Tell whether a value is a list of a number of a topic and something."""
    return isinstance(value, list) and len(value) == 2 and is_count(value[0])


def is_grouping(groups: Any, n_topics: int) -> bool:
    """Tell whether a value is lists of topics, each topic in one of them."""
    if find_misfit(groups, Items(Items(make_range(n_topics))), "levels") is not None:
        return False
    return all(groups) and sorted(topic for group in groups for topic in group) == list(range(n_topics))


def describe_seed(topic: Shape) -> dict[str, Shape]:
    """Return the shape of what became of a seed."""
    texts, flags = Items(is_text), dict.fromkeys(("supported", "restarted"), is_flag)
    rejected = lambda value: isinstance(value, dict) and all(map(topic, value.values()))  # noqa: E731
    numbers = dict.fromkeys(("support", "moved"), is_number)
    return (
        {
            "name": is_text,
            "words": texts,
            "topic": Maybe(topic),
            "accepted": texts,
            "rejected": rejected,
            "reason?": is_text,
        }
        | flags
        | numbers
    )


def describe_table(names: str, n_topics: int) -> Shape:
    """Return the shape of a table of mean shares by label (labels × topics) or by period (topics × periods)."""

    def is_table(value: Any) -> bool:
        rows, columns = len(value["counts"]), n_topics
        if names == "periods":
            rows, columns = columns, rows
        numbers = Items(Items(is_number, columns), rows)
        ends = {"low?": Maybe(numbers), "high?": Maybe(numbers)}
        shape = {names: Items(is_text, len(value["counts"])), "values": numbers, "counts": Items(is_count), **ends}
        return bool(value["counts"]) and find_misfit(value, shape, names) is None

    return is_table


def find_bad_edits(edits: Any, arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return the name of a part of the edits that is wrong; an edit of a topic that does not exist is an InputError."""
    if edits is None:
        return None
    layout, splits, n_splits = start_layout(sizes["F"]), edits["splits"], 0
    for item in edits["list"]:
        edit = Edit(**item)
        if bad := find_misfit(edit.values, EDIT_VALUES[edit.kind], f"edits.{edit.kind}"):
            return bad
        if edit.kind == "merge" and len(edit.values.get("coherence") or edit.values["groups"]) != len(
            edit.values["groups"]
        ):
            return "edits.merge.coherence"
        members = len(list_leaves(layout.topics[edit.values["topic"]].node)) if edit.kind == "split" else 0
        after = apply_edit(layout, edit)
        if edit.kind == "split":
            if n_splits >= len(splits) or after.n_leaves != layout.n_leaves - members + edit.values["n"]:
                return "edits.splits"
            changed = sizes | {"F": after.n_leaves, "P": edit.values["n"]}
            if bad := find_bad_split(splits[n_splits], f"split{n_splits}", arrays, changed):
                return bad
            n_splits += 1
        layout = after
    if n_splits and "topic_word" not in arrays:
        return "edits.splits"
    return "edits.splits" if n_splits != len(splits) else None


def find_bad_split(split: Any, prefix: str, arrays: Arrays, sizes: dict[str, int]) -> str | None:
    """Return the name of a part of a split that is wrong."""
    for name, rule in SPLIT_RULES.items():
        if not is_valid_array(arrays[f"{prefix}_{name}"], rule, sizes):
            return f"{prefix}_{name}"
    tables = {
        "by_label": Maybe(describe_table("names", sizes["F"])),
        "by_period": Maybe(describe_table("periods", sizes["F"])),
    }
    return find_misfit(split, tables, prefix)
