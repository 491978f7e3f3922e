"""Results on the screen: tables of topics and correlations, or JSON."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from anchorless._report.page import truncate
from anchorless._topic_model.hierarchy import Hierarchy
from anchorless._topic_model.model import TopicModel
from anchorless._topic_model.summary import Topic, rank_pairs

#: Width of output that does not go to a terminal.
DEFAULT_WIDTH = 100
#: Associations nearer to zero are not listed: they would be printed as zero.
MIN_LISTED = 0.005
#: Associations with a smaller p, adjusted for the number of pairs, are called more than chance.
CERTAIN = 0.05
#: Width that words get in any case.
MIN_WIDTH = 10


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN and infinity become null."""
    print(to_json(value, ensure_ascii="utf" not in (sys.stdout.encoding or "utf-8").lower()))


def to_json(value: Any, *, ensure_ascii: bool = False) -> str:
    """Return a value as JSON, on several lines; characters that a terminal would interpret are written as \\uXXXX."""
    text = json.dumps(replace_nan(value), indent=2, ensure_ascii=ensure_ascii, allow_nan=False)
    return "".join(c if c.isprintable() or c == "\n" else escape_character(c) for c in text)


def escape_character(character: str) -> str:
    """Return a character as JSON escapes it: the value stays the same."""
    return character if "\ud800" <= character <= "\udfff" else json.dumps(character)[1:-1]


def replace_nan(value: Any) -> Any:
    """Return the value with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: replace_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_nan(item) for item in value]
    return value


def topic_to_dict(topic: Topic) -> dict[str, Any]:
    """Return a topic as JSON shows it."""
    facts = {name: getattr(topic, name) for name in ("label", "share", "coherence", "exclusivity", "junk")}
    rows = zip(topic.words, topic.probabilities, topic.relevance, topic.distinctiveness, strict=True)
    names = ("word", "probability", "relevance", "distinctiveness")
    words = [dict(zip(names, row, strict=True)) for row in rows]
    return {"topic": topic.number, **facts, "words": words}


def print_model(model: TopicModel, n_words: int = 10) -> None:
    """Print the topics of a model and their strongest associations."""
    print_topics(model.topics(n_words), model.topic_names_)
    print()
    print_pairs(model.topic_association_, model.topic_labels_)


def print_topics(topics: Sequence[Topic], names: Sequence[str | None] = ()) -> None:
    """Print a line per topic: number, share, coherence, exclusivity, given name, and leading words that fit into it."""
    width = get_screen_width()
    digits = max(2, len(str(len(topics) - 1)))
    print(f"{'#':>{digits}}   share  coherence  exclusivity  leading words")
    for topic in topics:
        coherence = format_coherence(topic)
        head = f"{topic.number:>{digits}}  {topic.share:>6.1%}  {coherence:>9}  {topic.exclusivity:>11.2f}  "
        given = names[topic.number] if names else None
        mark = "" if topic.junk is None else f"({topic.junk}) "
        name = mark if given is None else f"{mark}{given}: "
        print(head + shorten_words(sanitize(name + " ".join(topic.words)), width - len(head)))


def format_coherence(topic: Topic) -> str:
    """Return the coherence of a topic; that of a topic merged without its documents is not known."""
    return f"{topic.coherence:.3f}" if math.isfinite(topic.coherence) else "-"


def print_levels(hierarchy: Hierarchy) -> None:
    """Print the broadest groups of topics, each with its parts."""
    print("\ntopics by groups (share):")

    def print_group(group: dict[str, Any], indent: str) -> None:
        numbers = group["topics"]
        number = f"{numbers[0]:>3}  " if not group["children"] else ""
        print(f"{indent}{number}{sanitize(group['label'])}  {group['share']:.1%}")
        for part in group["children"]:
            print_group(part, indent + "  ")

    for group in hierarchy.as_dict():
        print_group(group, "  ")


def stability_to_dict(model: TopicModel) -> dict[str, Any]:
    """Return what bootstrap resamples found, as JSON shows it."""
    found = model.stability_
    topics = [
        {"topic": f, "words_kept": words, "share": [low, high]}
        for f, (words, low, high) in enumerate(
            zip(found.topic_stability.tolist(), found.shares.low.tolist(), found.shares.high.tolist(), strict=True)
        )
    ]
    edges = model.correlation_edges()
    certain = int((edges["p"] < CERTAIN).sum())
    return {"resamples": found.n_resamples, "level": found.level, "topics": topics, "certain_associations": certain}


def print_stability(model: TopicModel) -> None:
    """Print how far the topics would be others with other documents of the same kind."""
    found, labels = stability_to_dict(model), model.topic_labels_
    n, level = found["resamples"], found["level"]
    print(f"\nwith other documents of the same kind ({n} bootstrap resamples, {level:.0%} intervals):")
    rows = [
        [str(row["topic"]), f"{row['words_kept']:.0%}", f"{row['share'][0]:.1%} to {row['share'][1]:.1%}", label]
        for row, label in zip(found["topics"], map(sanitize, labels), strict=True)
    ]
    print_table(["#", "words kept", "share", "topic"], rows)
    print(
        "words kept: how much of its leading words a topic keeps; where it is little, the topic hangs on few documents"
    )
    n_pairs = len(labels) * (len(labels) - 1) // 2
    n_certain = found["certain_associations"]
    print(f"{n_certain:,} of {n_pairs:,} associations between topics are more than chance (p < {CERTAIN})")


def print_pairs(association: Any, labels: Sequence[str], n: int = 3) -> None:
    """Print the `n` most positively and the `n` most negatively associated pairs of topics."""
    pairs = rank_pairs(association)
    often = [pair for pair in pairs if pair.value >= MIN_LISTED][:n]
    rarely = [pair for pair in reversed(pairs) if pair.value <= -MIN_LISTED][:n]
    if pairs and not (often or rarely):
        print("topics are together as often as their sizes explain (every association is zero to two decimals)")
    for listed, how in ((often, "often"), (rarely, "rarely")):
        if listed:
            print(f"{how} together, beyond what their sizes explain (association):")
        for a, b, value in listed:
            print(f"  {a:>2} and {b:>2}  {value:+.2f}  {sanitize(f'{labels[a]} / {labels[b]}')}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header; columns with a number are aligned to the right, others to the left."""
    columns = zip(header, *rows, strict=True)
    aligned = []
    for column in columns:
        justify = str.rjust if any(map(is_number, column[1:])) else str.ljust
        aligned.append([justify(cell, max(map(len, column))) for cell in column])
    for row in zip(*aligned, strict=True):
        print("  ".join(row).rstrip())


def is_number(text: str) -> bool:
    """Return whether a cell is a number."""
    return text.lstrip("+-−").replace(",", "").replace(".", "").rstrip("%s").isdecimal()


def sanitize(text: str) -> str:
    """Return text without control characters, which a terminal would interpret."""
    return "".join(c if c.isprintable() else "�" for c in text)


def get_screen_width() -> int:
    """Return the width of the terminal, or the default width if there is none."""
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns


def shorten_words(text: str, width: int) -> str:
    """Return the whole words of a text that fit into the width, or the start of its first word."""
    width = max(width, MIN_WIDTH)
    if len(text) <= width:
        return text
    whole = text[: width - 1].rpartition(" ")[0]
    return f"{whole} …" if whole else truncate(text, width)
