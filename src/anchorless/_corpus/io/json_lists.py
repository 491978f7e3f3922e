"""JSON files with a list of documents: an array, or an object with a list inside, read piece by piece.

Only the part of the file that is being parsed is in memory. An element of the list becomes a row.
"""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from anchorless._corpus.io.batches import Row, SkipLog
from anchorless._corpus.io.decoding import MAX_ROW_LENGTH, describe_undecodable
from anchorless._corpus.io.tabular import JSON_NAMES, refuse_many_parts
from anchorless.errors import InputError, UsageError

#: Characters that are read at a time, at first.
PIECE = 1 << 18
#: Objects in each other in which a list is looked for.
MAX_DEPTH = 5
#: Characters before the end of what was read at which an error may only mean that the rest is missing.
MARGIN = 64
#: What is read, too.
ONE_PER_LINE = "or one object per line (.jsonl)"
#: How a data frame is written as a list of objects.
PANDAS = "in pandas: to_json(…, orient='records')"
#: The column of a list of strings.
TEXT = "text"
SPACE = " \t\n\r"
DECODER = json.JSONDecoder()


class JsonCursor:
    """A place in a JSON text that is read as far as needed."""

    def __init__(self, text: io.TextIOWrapper, name: str) -> None:
        self.name = name
        self._text, self._buffer, self._at = text, "", 0
        self._n_dropped, self._at_end = 0, False

    def peek(self) -> str:
        """Return the next character that is not white space; an empty string at the end."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in SPACE:
                self._at += 1
            if self._at < len(self._buffer) or not self._read(PIECE):
                return self._buffer[self._at : self._at + 1]

    def take(self, expected: str) -> None:
        """Go beyond a character, which must be the expected one."""
        found = self.peek()
        if found != expected:
            raise self.make_error(
                f"{expected!r} is expected, but {found!r} found" if found else f"{expected!r} is missing"
            )
        self._at += 1

    def read_value(self) -> Any:
        """Return the value that begins here."""
        self.peek()
        n_known = 0  # characters that belong to the value
        while True:
            try:
                refuse_many_parts(self._buffer, self._at, self._at + n_known)
                value, end = DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(self._buffer) - MARGIN or error.msg.startswith("Unterminated string")
                if self._at_end or not is_cut:
                    raise self.make_error(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:  # thousands of digits or brackets
                raise self.make_error(f"{type(error).__name__}: {error}".splitlines()[0]) from None
            else:
                if end < len(self._buffer) or self._at_end:  # a number may go on
                    self._at = end
                    return value
            if len(self._buffer) - self._at > MAX_ROW_LENGTH:
                raise self.make_error(f"a value has more than {MAX_ROW_LENGTH:,} characters")
            n_known = len(self._buffer) - self._at
            self._read(max(PIECE, n_known))

    def read_to_end(self) -> None:
        """Read the rest, for the hash of the file."""
        self._buffer, self._at = "", 0
        while self._text.read(PIECE):
            pass

    def make_error(self, what: str, at: int | None = None, remedy: str = "write it again") -> InputError:
        """Return the error for a place of the text."""
        place = self._n_dropped + (self._at if at is None else at) + 1
        return InputError(f"{self.name} is not valid JSON: {what} at character {place:,}", remedy=remedy)

    def _read(self, size: int) -> bool:
        """Append further text to the buffer, without what lies behind; tell whether there was any."""
        self._n_dropped += self._at
        more = self._text.read(size)
        self._buffer, self._at = self._buffer[self._at :] + more, 0
        self._at_end = not more
        return bool(more)


class JsonList:
    """The list of documents in a JSON file: the one that was named, as in data.items, or the first.

    Inside an object, the first is the first of objects or of texts of several words: services put lists of errors,
    tags or numbers before the list that was asked for. Without one, it is the first list of single words.
    """

    def __init__(self, text: io.TextIOWrapper, skips: SkipLog, wanted: str | None) -> None:
        self.cursor, self.skips, self.wanted = JsonCursor(text, skips.name), skips, wanted
        self.found: str | None = None  # where the list is; empty for the whole file
        self.others: list[str] = []  # lists that are not read
        self._words: tuple[str, list[Any]] | None = None  # a list that is read if there is no better one
        self._lengths: dict[str, int] = {}  # of lists of single values beside each other, in the outermost object

    def rows(self) -> Iterator[Row]:
        """Yield the elements of the list."""
        yield from self._visit(())
        if self.found is None and self._words is not None:
            self.found, values = self._words
            self.others.remove(self.found)
            yield from self._make_rows(values)
        if self.found is None:
            self._refuse()
        self._refuse_columns()
        if self.cursor.peek():
            what = "there is more after the end of the list or object"
            raise self.cursor.make_error(what, remedy=f"write one list, {ONE_PER_LINE}")
        self.cursor.read_to_end()

    def describe(self) -> list[str]:
        """Return a sentence about the list that was read."""
        if not self.found:
            return []
        others = f"; not read: {', '.join(map(repr, self.others[:5]))}" if self.others else ""
        return [
            f"read the list {self.found!r}{others}; {{table}} names another"
            if others
            else f"read the list {self.found!r}"
        ]

    def _visit(self, path: tuple[str, ...]) -> Iterator[Row]:
        """Go through the value at a path; yield the rows of the list if it is in it."""
        name, first = ".".join(path), self.cursor.peek()
        if first == "[":
            yield from self._visit_list(name)
        elif first == "{" and len(path) < MAX_DEPTH:
            yield from self._visit_object(path)
        else:
            self.cursor.read_value()

    def _visit_list(self, name: str) -> Iterator[Row]:
        """Yield the rows of a list if it is the one to read, else go beyond it."""
        values = self._count_values(name)
        first = next(values, None)
        is_named = name in ("", self.wanted)
        if self.found is None and (is_named or (self.wanted is None and is_document(first))):
            self.found = name
            yield from self._make_rows(values if first is None else chain([first], values))
            return
        self.others.append(name)
        if isinstance(first, str) and self._words is None and self.wanted is None and self.found is None:
            self._words = name, [first, *values]
        else:
            deque(values, maxlen=0)

    def _visit_object(self, path: tuple[str, ...]) -> Iterator[Row]:
        self.cursor.take("{")
        while self.cursor.peek() != "}":
            key = self.cursor.read_value()
            if not isinstance(key, str):
                raise self.cursor.make_error("a name in quotes is expected")
            self.cursor.take(":")
            yield from self._visit((*path, key))
            if self.cursor.peek() != ",":
                break
            self.cursor.take(",")
        self.cursor.take("}")

    def _iter_values(self) -> Iterator[Any]:
        """Yield the elements of the list that begins here."""
        self.cursor.take("[")
        while self.cursor.peek() not in ("]", ""):
            yield self.cursor.read_value()
            if self.cursor.peek() != ",":
                break
            self.cursor.take(",")
        self.cursor.take("]")

    def _count_values(self, name: str) -> Iterator[Any]:
        """Yield the elements of the list that begins here, and keep its length if all are single values."""
        n, are_single = 0, True
        for value in self._iter_values():
            n, are_single = n + 1, are_single and not isinstance(value, dict | list)
            yield value
        if are_single:
            self._lengths[name] = n

    def _make_rows(self, values: Iterable[Any]) -> Iterator[Row]:
        rows = (self._make_row(value, number) for number, value in enumerate(values, 1))
        return (row for row in rows if row is not None)

    def _make_row(self, value: Any, number: int) -> Row | None:
        """Return an element as a row; None if it is no document."""
        cells = {TEXT: value} if isinstance(value, str) else value
        if not isinstance(cells, dict):
            what = f"a {JSON_NAMES[type(value).__name__]}, but a string or an object with texts is needed"
            self.skips.add("malformed", number, what)
            return None
        size = sum(len(part) if isinstance(part, str) else 20 for part in cells.values())
        if any(isinstance(part, str) and describe_undecodable_byte(part) for part in cells.values()):
            self.skips.add("undecodable", number)
            return None
        return Row(number, str(number), cells, size)

    def _refuse_columns(self) -> None:
        """Refuse an object with a list for each column of a table, of which one was read."""
        columns = {name: n for name, n in self._lengths.items() if "." not in name}
        if self.wanted is not None or self.found not in columns or len(columns) == 1:
            return
        if set(columns.values()) <= {1} or len(set(columns.values())) > 1:
            return
        named = ", ".join(map(repr, [*columns][:5])) + (" …" if len(columns) > 5 else "")
        remedy = f"write an object for each row ({PANDAS}), or name one of the lists with {{table}}"
        raise InputError(f"{self.skips.name} holds a list for each column: {named}", remedy=remedy)

    def _refuse(self) -> None:
        lists = ", ".join(map(repr, self.others))
        if self.wanted is not None:
            problem = f"{self.skips.name} has no such list; its lists are {lists or 'none'}"
            raise UsageError(problem, parameter="table", value=self.wanted)
        problem = f"{self.skips.name} holds no list of documents"
        raise InputError(problem, remedy=f'give an array such as [{{"text": "…"}}, …] ({PANDAS}), {ONE_PER_LINE}')


def is_document(value: Any) -> bool:
    """Say whether an element of a list may be a document: an object, or a text of several words."""
    return isinstance(value, dict) or (isinstance(value, str) and " " in value.strip())


def describe_undecodable_byte(text: str) -> bool:
    """Say whether a byte of the file did not decode; a lone surrogate that JSON spells out is replaced later."""
    return describe_undecodable(text) is not None and any("\udc80" <= letter <= "\udcff" for letter in text)


def is_json_list(head: str, is_whole: bool) -> bool:
    """Say whether a text that begins so is one JSON document with a list, not one object per line."""
    head = head.lstrip("\ufeff").lstrip()
    if head.startswith("["):
        return True
    if not head.startswith("{"):
        return False
    try:
        value, end = DECODER.raw_decode(head)
    except (ValueError, RecursionError):
        first = head.split("\n", 1)[0]  # an object over many lines, or a line that is cut off or malformed
        return first.strip() in ("{",) or ("\n" not in head and not is_whole)
    return not head[end:].strip() and is_whole and has_list(value)


def has_list(value: dict[str, Any], depth: int = 0) -> bool:
    """Say whether an object has a list of objects or strings inside."""
    for part in value.values():
        if isinstance(part, list) and part and all(isinstance(element, dict) for element in part):
            return True
        if isinstance(part, dict) and depth < MAX_DEPTH and has_list(part, depth + 1):
            return True
    return False
