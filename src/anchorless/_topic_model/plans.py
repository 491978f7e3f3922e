"""Plans of edits: what a file of edits or a command line asks for, checked before anything changes."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anchorless._files import PathLike, is_number, parse_toml, read_small_text
from anchorless._topic_model.edits import Layout, check_topic, list_leaves
from anchorless.errors import InputError


class EditPlan(NamedTuple):
    """Edits whose numbers of topics are those before the first of them."""

    rename: dict[int, str]
    note: dict[int, str]
    merge: list[list[int]]
    drop: list[int]
    order: list[int]
    split: dict[int, int]
    by: str | None = None


#: Keys of a plan, and an example of each.
KEYS = {
    "rename": 'rename = {3 = "immigration"}',
    "note": 'note = {3 = "also asylum"}',
    "merge": "merge = [[1, 4]]",
    "drop": "drop = [7]",
    "order": "order = [2, 0, 1]",
    "split": "split = {5 = 2}",
    "model": 'model = "3f2a90c1d4e5b678"',
    "by": 'by = "Ann"',
}


def read_plan(path: PathLike) -> dict[str, Any]:
    """Return the content of a TOML file."""
    text = read_small_text(path)
    try:
        return parse_toml(text)
    except ValueError as error:
        raise InputError(f"{os.fspath(path)} is not TOML: {error}", remedy="correct this line") from None


def check_plan(given: Mapping[str, Any], fingerprint: str) -> EditPlan:
    """Return a plan; refuse unknown keys, values of another kind, and a plan for another model."""
    if not isinstance(given, Mapping):
        problem = f"the edits are a {type(given).__name__}, but they must be a dictionary or the name of a TOML file"
        raise InputError(problem, remedy='give {"rename": {3: "immigration"}}')
    for key in given:
        if key not in KEYS:
            refuse_key(key)
    check_fingerprint(given.get("model"), fingerprint, "these edits")
    plan = EditPlan(
        rename=read_numbers(given, "rename", str),
        note=read_numbers(given, "note", str),
        merge=[read_list(group, "merge") for group in read_groups(given)],
        drop=read_list(given.get("drop", []), "drop"),
        order=read_list(given.get("order", []), "order"),
        split=read_numbers(given, "split", int),
        by=given.get("by"),
    )
    if not any(plan[:-1]):
        raise InputError("there is nothing to do", remedy=f"give one of {', '.join(list(KEYS)[:-2])}")
    if both := [number for group in plan.merge for number in group if number in plan.drop]:
        raise InputError(f"topic {both[0]} is both merged and dropped", remedy="name it once")
    if any(n < 2 for n in plan.split.values()):
        raise_kind("split", plan.split)
    if plan.order and plan.split:
        raise InputError("order and split cannot be in the same file", remedy="split first, then order the parts")
    return plan


def refuse_key(key: str) -> None:
    """Name an unknown key and the known one that is most like it."""
    near = difflib.get_close_matches(key, KEYS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys are {', '.join(KEYS)}"
    raise InputError(f"the edits have an unknown key {key!r}", remedy=hint)


def check_fingerprint(given: Any, fingerprint: str, what: str) -> None:
    """Refuse what was made for another model, or before its topics were edited."""
    if given is not None and given != fingerprint:
        problem = f"{what} are for model {given}, but the topics of this model are {fingerprint}"
        raise InputError(problem, remedy="use the model they were made for, or undo the edits made since")


def read_numbers(given: Mapping[str, Any], key: str, kind: type) -> dict[int, Any]:
    """Return a table whose keys are numbers of topics; TOML has them as text."""
    table = given.get(key, {})
    if not isinstance(table, Mapping):
        raise_kind(key, table)
    found = {}
    for number, value in table.items():
        if not is_number(str(number)) or isinstance(value, bool) or not isinstance(value, kind):
            raise_kind(key, {number: value})
        if int(number) in found:
            raise InputError(f"topic {int(number)} comes twice in {key}", remedy="name each topic once")
        found[int(number)] = value
    return found


def read_groups(given: Mapping[str, Any]) -> list[Any]:
    """Return the lists of topics to merge; a single list of numbers is one of them."""
    groups = given.get("merge", [])
    if not isinstance(groups, list | tuple):
        raise_kind("merge", groups)
    return [groups] if groups and all(isinstance(number, int) for number in groups) else list(groups)


def read_list(value: Any, key: str) -> list[int]:
    """Return a list of numbers."""
    if not isinstance(value, list | tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in value):
        raise_kind(key, value)
    return list(value)


def raise_kind(key: str, value: Any) -> None:
    """Refuse a value that is not what a key takes."""
    raise InputError(f"the edits have {key} = {value!r}", remedy=f"write it like {KEYS[key]}")


def find_topic(before: Layout, now: Layout, number: int) -> int:
    """Return the present number of a topic that had this number before; refuse one that is gone."""
    leaves = list_leaves(before.topics[check_topic(before, number)].node)
    for place, topic in enumerate(now.topics):
        if leaves[0] in list_leaves(topic.node):
            return place
    raise InputError(f"topic {number} is dropped by the same edits", remedy="name it once")


def find_all(before: Layout, now: Layout, numbers: Sequence[int]) -> list[int]:
    """Return the present numbers of topics, each once."""
    return list(dict.fromkeys(find_topic(before, now, number) for number in numbers))
