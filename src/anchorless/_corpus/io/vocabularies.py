"""Find and read the vocabulary of a file of counts, usually a file beside it."""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path

from anchorless._corpus.io.decoding import describe_undecodable, iter_lines, open_text
from anchorless._files import open_input
from anchorless.errors import InputError

#: A line of gensim's Dictionary.save_as_text: id, word, number of documents.
DICTIONARY_LINE = re.compile(r"(\d{1,18})\t([^\t]+)\t\d+")
#: Lines of a vocabulary, or of labels; a file of kilobytes can unpack to more than any memory.
MAX_LINES = 20_000_000


def get_stem(path: Path) -> str:
    """Return a file's name without .gz, its extension, and the prefix docword of UCI files."""
    return Path(path.name.removesuffix(".gz")).stem.removeprefix("docword.")


def list_companions(path: Path, format: str) -> tuple[Path, Path]:
    """Return the names that the vocabulary and the labels get which are written with a file of counts."""
    stem = get_stem(path)
    words = f"vocab.{stem}.txt" if format == "uci" else f"{stem}.vocab.txt"
    return path.with_name(words), path.with_name(f"{stem}.labels.txt")


def find_vocabulary(path: Path, format: str) -> Path | None:
    """Return the path of the vocabulary beside a file of counts, compressed or not; None if there is none."""
    stem = get_stem(path)
    endings = ("vocab.txt", "vocab", "words.txt", "vocabulary.txt", "dict.txt", "dictionary.txt")
    names = [f"vocab.{stem}.txt"] if format == "uci" else []  # the most certain first
    names += [f"{stem}.{ending}" for ending in endings]
    names += [f"{path.name}.vocab", f"{stem.removesuffix('_bow')}_wordids.txt"]  # of gensim and its scripts
    names += ["vocab.txt"] if format == "ldac" else []
    candidates = (path.with_name(name + gz) for name in names for gz in ("", ".gz"))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), None)  # or its name is too long


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a small text file without surrounding space, and without blank lines at the end."""
    with open_input(path) as file:
        found = iter_lines(open_text(file.stream, "utf-8"))
        lines = [(line or "").strip() for line in islice(found, MAX_LINES + 1)]
    if len(lines) > MAX_LINES:
        raise InputError(f"{file.name} has more than {MAX_LINES:,} lines; is it the right file?")
    for number, line in enumerate(lines, 1):
        if what := describe_undecodable(line):
            raise InputError(f"{file.name}, line {number}: {what}; save the file as UTF-8")
    while lines and not lines[-1]:
        lines.pop()
    return lines


def read_vocabulary(path: str | os.PathLike[str]) -> list[str]:
    """Return the words of a vocabulary: one per line, or gensim's Dictionary as text."""
    lines, name = read_lines(path), os.fspath(path)
    if not lines:
        raise InputError(f"{name} is empty, but it must hold one word per line")
    if DICTIONARY_LINE.fullmatch(lines[-1]):
        words = parse_dictionary(lines, name)
    else:
        # gensim writes --- for a column without a word.
        words = [f"word_{place}" if line == "---" else line for place, line in enumerate(lines)]
    refuse_bad_words(words, name)
    return words


def parse_dictionary(lines: list[str], name: str) -> list[str]:
    """Return the words of a gensim Dictionary in the order of their ids; an unused id becomes word_ID."""
    if lines[0].isdecimal():
        lines = lines[1:]  # the number of documents
    by_id: dict[int, str] = {}
    for line in lines:
        match = DICTIONARY_LINE.fullmatch(line)
        if match is None:
            what = f"the last line is id, word and number of documents, but {line[:40]!r} is not; correct it"
            raise InputError(f"{name}: {what}")
        by_id[int(match[1])] = match[2]
    if max(by_id) > 100 * len(by_id) + 1000:
        raise InputError(f"{name}: one of {len(by_id)} words has the id {max(by_id)}; number them 0, 1, 2 and so on")
    return [by_id.get(place, f"word_{place}") for place in range(max(by_id) + 1)]


def refuse_bad_words(words: list[str], name: str) -> None:
    """Refuse blank and repeated words, and words that cannot be written one per line."""
    seen: dict[str, int] = {}
    for number, word in enumerate(words, 1):
        if not word.strip() or word != word.strip() or len(word.splitlines()) > 1:
            raise InputError(f"{name}: word {number} is {word!r}, but a word must not be blank or hold line breaks")
        if word in seen:
            raise InputError(f"{name}: words {seen[word]} and {number} are both {word!r}; rename one of them")
        seen[word] = number
