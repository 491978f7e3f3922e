"""Results on the screen: tables of topics and correlations, or JSON."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from anchorless._report.page import truncate
from anchorless._topic_model.summary import Topic, find_strongest_pairs

#: Columns of a screen that is no terminal.
DEFAULT_WIDTH = 100
#: Columns that words get in any case.
MIN_WIDTH = 10


def print_json(value: Any) -> None:
    """Print a value as JSON; numbers that are none become null."""
    print(to_json(value, ensure_ascii="utf" not in (sys.stdout.encoding or "utf-8").lower()))


def to_json(value: Any, *, ensure_ascii: bool = False) -> str:
    """Return a value as JSON, on several lines."""
    return json.dumps(replace_nan(value), indent=2, ensure_ascii=ensure_ascii, allow_nan=False)


def replace_nan(value: Any) -> Any:
    """Return the value with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: replace_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_nan(item) for item in value]
    return value


def topic_to_dict(topic: Topic) -> dict[str, Any]:
    """Return a topic as JSON shows it."""
    return {
        "topic": topic.number,
        "label": topic.label,
        "share": topic.share,
        "coherence": topic.coherence,
        "exclusivity": topic.exclusivity,
        "words": [
            {"word": word, "probability": probability, "distinctiveness": special}
            for word, probability, special in zip(topic.words, topic.probabilities, topic.distinctiveness, strict=True)
        ],
    }


def print_topics(topics: Sequence[Topic]) -> None:
    """Print a line per topic: number, share, coherence, exclusivity, leading words as far as the line goes."""
    width = get_screen_width()
    digits = max(2, len(str(len(topics) - 1)))
    print(f"{'#':>{digits}}   share  coherence  exclusivity  leading words")
    for topic in topics:
        head = f"{topic.number:>{digits}}  {topic.share:>6.1%}  {topic.coherence:>9.3f}  {topic.exclusivity:>11.2f}  "
        print(head + shorten_words(" ".join(map(sanitize, topic.words)), width - len(head)))


def print_pairs(correlation: Any, labels: Sequence[str], n: int = 3) -> None:
    """Print the most correlated pairs of topics, and those that avoid each other most."""
    pairs = find_strongest_pairs(correlation)
    together = [pair for pair in pairs if pair.correlation > 0][:n]
    apart = [pair for pair in pairs if pair.correlation < 0][:n]
    for title, found in (("go together:", together), ("keep apart:", apart)):
        for k, (a, b, value) in enumerate(found):
            both = sanitize(f"{labels[a]} / {labels[b]}")
            print(f"{title if k == 0 else '':<13}{a:>2} and {b:>2}  {value:+.2f}  {both}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header, the first column and words to the left, numbers to the right."""
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    left = [all(not is_number(row[k]) for row in table[1:]) for k in range(len(header))]
    for row in table:
        cells = [
            cell.ljust(w) if to_left else cell.rjust(w) for cell, w, to_left in zip(row, widths, left, strict=True)
        ]
        print("  ".join(cells).rstrip())


def is_number(text: str) -> bool:
    """Return whether a cell is a number."""
    return text.lstrip("+-−").replace(",", "").replace(".", "").rstrip("%s").isdecimal()


def sanitize(text: str) -> str:
    """Return text without what would steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)


def get_screen_width() -> int:
    """Return the columns of the terminal, or the usual ones where there is none."""
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns


def shorten_words(text: str, width: int) -> str:
    """Return the whole words of a text that fit into the width, at least something."""
    width = max(width, MIN_WIDTH)
    if len(text) <= width:
        return text
    whole = text[: width - 1].rpartition(" ")[0]
    return f"{whole} …" if whole else truncate(text, width)
