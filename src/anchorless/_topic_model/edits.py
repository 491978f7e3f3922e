"""Edits of topics as a list, and the shown topics that the list gives.

A fit has topics 0 … F − 1, and nothing changes them but a split, which replaces some by others: these are the *leaves*.
A shown topic is a leaf, or a sum of shown topics that were merged. So shares and mixtures of shown topics are sums of
columns, added in the order of the merges: after a merge they are what the user would get by adding the columns, to the
last bit. An undo applies all edits but the last one to the fit again.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from anchorless._corpus.documents import Array
from anchorless._topic_model.shapes import is_text
from anchorless.errors import InputError, UsageError

#: What an edit may be.
KINDS = ("rename", "merge", "drop", "split", "reorder", "note", "label")
#: Edits that change which topics there are, or their numbers.
STRUCTURAL_KINDS = ("merge", "drop", "split", "reorder")
#: Longest name of a topic, in characters.
MAX_NAME_LENGTH = 200
#: Joins the names of merged topics.
NAME_JOINT = " + "

#: A leaf by its number, or shown topics that were added up, in their order.
Node = int | tuple[Any, ...]


class Edit(NamedTuple):
    """A change of the topics: who made it, when, and what it was. Numbers of topics are those before the edit.

    Attributes
    ----------
    kind : {"rename", "merge", "drop", "split", "reorder", "note", "label"}
        What was done; "label" stands for names from a language model.
    values : dict
        The topics and what was done to them, as JSON can hold it.
    by, at : str
        Name of the person, and the time in UTC.
    """

    kind: str
    values: dict[str, Any]
    by: str
    at: str


class ShownTopic(NamedTuple):
    """A topic as it is shown."""

    node: Node
    name: str | None = None  # None: its most distinctive words
    note: str = ""
    coherence: float | None = None  # of a merged topic; None: not known


class Layout(NamedTuple):
    """The topics that are shown, those that were dropped, and the number of leaves."""

    topics: tuple[ShownTopic, ...]
    dropped: tuple[Node, ...]
    n_leaves: int

    @property
    def nodes(self) -> tuple[Node, ...]:
        """What the shown topics are made of."""
        return tuple(topic.node for topic in self.topics)

    @property
    def is_plain(self) -> bool:
        """Whether the shown topics are the leaves, in their order."""
        return self.nodes == tuple(range(self.n_leaves))


def make_edit(kind: str, values: dict[str, Any], by: str | None) -> Edit:
    """Return an edit of this moment, by default by the user who is logged in."""
    name = get_user_name() if by is None else check_text(by, "the name of who edits")
    return Edit(kind, values, name, datetime.now(UTC).isoformat(timespec="seconds"))


def check_text(value: Any, what: str) -> str:
    """Return a text; refuse other values, and half of a surrogate pair, with which a model file could not be read."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {value!r}, but it must be text")
    if not is_text(value):
        raise InputError(f"{what} is {value!r}, which is not valid Unicode", remedy="write it in UTF-8")
    return value


def clean_name(name: Any) -> str:
    """Return a name on one line; refuse an empty one and a long one."""
    cleaned = " ".join(check_text(name, "a name").split())
    if not cleaned or len(cleaned) > MAX_NAME_LENGTH:
        problem = "a name is empty" if not cleaned else f"a name has {len(cleaned)} characters"
        raise InputError(problem, limit=MAX_NAME_LENGTH, remedy=f"give 1 to {MAX_NAME_LENGTH} characters")
    return cleaned


def get_user_name() -> str:
    """Return the name under which the user is logged in, or "unknown"."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without a user
        return "unknown"


def start_layout(n_topics: int, names: Mapping[int, str] | None = None) -> Layout:
    """Return the layout of a fit, some of whose topics may have names."""
    known = names or {}
    return Layout(tuple(ShownTopic(number, known.get(number)) for number in range(n_topics)), (), n_topics)


def lay_out(n_topics: int, edits: Iterable[Edit]) -> Layout:
    """Return the layout after edits of a fit with so many topics."""
    layout = start_layout(n_topics)
    for edit in edits:
        layout = apply_edit(layout, edit)
    return layout


def count_leaves(n_topics: int, edits: Sequence[Edit], n_splits: int) -> int:
    """Return the number of leaves after so many splits of a fit with so many topics."""
    ends = [0, *(i for i, edit in enumerate(edits, 1) if edit.kind == "split")]
    return lay_out(n_topics, edits[: ends[n_splits]]).n_leaves


def apply_edit(layout: Layout, edit: Edit) -> Layout:
    """Return the layout after one edit; refuse one that does not fit."""
    values = edit.values
    if edit.kind in ("rename", "label"):
        return rename(layout, values["names"])
    if edit.kind == "note":
        return annotate(layout, values["notes"])
    if edit.kind == "merge":
        return merge(layout, values["groups"], values.get("coherence"))
    if edit.kind == "drop":
        return drop(layout, values["topics"])
    if edit.kind == "split":
        return split(layout, values["topic"], values["n"])
    return reorder(layout, values["order"])


def rename(layout: Layout, names: Iterable[Sequence[Any]]) -> Layout:
    """Give names to topics, from pairs of number and name; None takes a name away."""
    topics = list(layout.topics)
    for number, name in names:
        check_topic(layout, number)
        topics[number] = topics[number]._replace(name=name)
    return layout._replace(topics=tuple(topics))


def annotate(layout: Layout, notes: Iterable[Sequence[Any]]) -> Layout:
    """Set the notes of topics, from pairs of number and text."""
    topics = list(layout.topics)
    for number, note in notes:
        check_topic(layout, number)
        topics[number] = topics[number]._replace(note=note)
    return layout._replace(topics=tuple(topics))


def merge(layout: Layout, groups: Sequence[Sequence[int]], coherence: Sequence[float | None] | None = None) -> Layout:
    """Merge the topics of each group; the result is in the place of the first of them."""
    check_groups(layout, groups)
    topics: list[ShownTopic | None] = list(layout.topics)
    for g, group in enumerate(groups):
        merged = join_topics([layout.topics[number] for number in group], None if coherence is None else coherence[g])
        for number in group:
            topics[number] = None
        topics[min(group)] = merged
    return layout._replace(topics=tuple(topic for topic in topics if topic is not None))


def join_topics(topics: Sequence[ShownTopic], coherence: float | None) -> ShownTopic:
    """Return one topic for several: given names and notes are joined."""
    names, notes = ([getattr(t, field) for t in topics if getattr(t, field)] for field in ("name", "note"))
    node = tuple(topic.node for topic in topics)
    return ShownTopic(node, NAME_JOINT.join(dict.fromkeys(names)) or None, "\n".join(notes), coherence)


def drop(layout: Layout, numbers: Sequence[int]) -> Layout:
    """Show topics no more."""
    check_distinct(layout, numbers, "what to drop")
    if not numbers:
        raise UsageError("no topic to drop was given")
    if len(numbers) == len(layout.topics):
        raise UsageError("all topics would be dropped, and none would be left", remedy="keep at least one")
    gone = set(numbers)
    kept = tuple(topic for number, topic in enumerate(layout.topics) if number not in gone)
    return layout._replace(topics=kept, dropped=layout.dropped + tuple(layout.topics[n].node for n in numbers))


def split(layout: Layout, number: int, n: int) -> Layout:
    """Replace a topic by n new leaves, which come after all others that stay."""
    check_topic(layout, number)
    place = number_kept_leaves(layout, number)
    parts = tuple(ShownTopic(len(place) + part) for part in range(n))
    others = [topic._replace(node=relabel(topic.node, place)) for topic in remove_at(layout.topics, number)]
    dropped = tuple(relabel(node, place) for node in layout.dropped)
    return Layout((*others[:number], *parts, *others[number:]), dropped, len(place) + n)


def number_kept_leaves(layout: Layout, number: int) -> dict[int, int]:
    """Return the new number of each leaf that stays if a shown topic is split."""
    gone = set(list_leaves(layout.topics[number].node))
    return {leaf: i for i, leaf in enumerate(leaf for leaf in range(layout.n_leaves) if leaf not in gone)}


def remove_at(topics: Sequence[ShownTopic], number: int) -> list[ShownTopic]:
    """Return the topics without one."""
    return [*topics[:number], *topics[number + 1 :]]


def relabel(node: Node, place: Mapping[int, int]) -> Node:
    """Return a node with other numbers of leaves."""
    return place[node] if isinstance(node, int) else tuple(relabel(part, place) for part in node)


def reorder(layout: Layout, order: Sequence[int]) -> Layout:
    """Put the topics into another order."""
    if sorted(order) != list(range(len(layout.topics))):
        problem = f"an order has each number from 0 to {len(layout.topics) - 1} once"
        raise UsageError(problem, parameter="order", value=list(order))
    return layout._replace(topics=tuple(layout.topics[number] for number in order))


def check_topic(layout: Layout, number: Any) -> int:
    """Return the number of a topic; refuse one that does not exist."""
    n = len(layout.topics)
    if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= int(number) < n:
        raise UsageError(f"there is no topic {number!r}; topics have the numbers 0 to {n - 1}")
    return int(number)


def check_distinct(layout: Layout, numbers: Sequence[int], what: str) -> None:
    """Refuse numbers of topics that do not exist or come twice."""
    for number in numbers:
        check_topic(layout, number)
    twice = next((number for number in numbers if list(numbers).count(number) > 1), None)
    if twice is not None:
        raise UsageError(f"topic {twice} comes twice in {what}", remedy="name each topic once")


def check_groups(layout: Layout, groups: Sequence[Sequence[int]]) -> None:
    """Refuse groups of one topic, and topics in two groups."""
    if not groups:
        raise UsageError("no topics to merge were given", remedy="name at least two, such as 1 and 4")
    for group in groups:
        if len(group) < 2:
            problem = f"topic {group[0]} alone cannot be merged" if group else "a group of topics to merge is empty"
            raise UsageError(problem, remedy="name at least two, such as 1 and 4")
    check_distinct(layout, [number for group in groups for number in group], "what to merge")


def list_leaves(node: Node) -> list[int]:
    """Return the leaves of a node, in the order in which they are added."""
    return [node] if isinstance(node, int) else [leaf for part in node for leaf in list_leaves(part)]


def sum_columns(values: Array, nodes: Sequence[Node]) -> Array:
    """Return the sums of columns (n, F) that nodes stand for, (n, G), added in the order of the merges."""
    found = np.empty((len(values), len(nodes)), dtype=values.dtype)
    for g, node in enumerate(nodes):
        found[:, g] = sum_node(values, node)
    return found


def sum_node(values: Array, node: Node) -> Array:
    """Return the sum of the columns of a node (n,)."""
    if isinstance(node, int):
        return values[:, node]
    first, *others = (sum_node(values, part) for part in node)
    total = first.copy()
    for other in others:
        total += other
    return total


def sum_square(values: Array, nodes: Sequence[Node]) -> Array:
    """Return the sums of rows and columns of a matrix (F, F) that nodes stand for, (G, G)."""
    return sum_columns(np.ascontiguousarray(sum_columns(values, nodes).T), nodes).T


def build_selection(nodes: Sequence[Node], n_leaves: int) -> Array:
    """Return the matrix (F, G) of zeros and ones that adds up the leaves of each node."""
    selection = np.zeros((n_leaves, len(nodes)))
    for g, node in enumerate(nodes):
        selection[list_leaves(node), g] = 1.0
    return selection


def to_json(edits: Iterable[Edit]) -> list[dict[str, Any]]:
    """Return edits as JSON can hold them."""
    return [edit._asdict() for edit in edits]


def from_json(items: Any) -> list[Edit]:
    """Return the edits of a model file."""
    return [Edit(str(item["kind"]), dict(item["values"]), str(item["by"]), str(item["at"])) for item in items]
