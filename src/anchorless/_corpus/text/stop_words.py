"""Stop words by language: words that tell nothing about the subject of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import pyarrow as pa

from anchorless._corpus.text.stop_word_lists import CONJUNCTIONS, EXTENDED, OTHER_WORDS, OWN_CODES, OWN_LISTS
from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError, suggest

#: The package's Turkish list was decoded wrongly: altmýþ for altmış. Turkish has no ý, þ or ð.
TURKISH_LETTERS = str.maketrans("ýþðÝÞÐ", "ışğİŞĞ")


def list_languages() -> dict[str, str]:
    """Return the names that can be given, each with its language: fr and french both mean french."""
    from stop_words import LANGUAGE_MAPPING

    known = {**LANGUAGE_MAPPING, **OWN_CODES}
    return known | {language: language for language in known.values()}


def drop_region(name: str, known: Collection[str]) -> str:
    """Return zh for zh-CN and pt for pt_BR, unless the whole name is known."""
    return name if name in known else re.split("[-_]", name)[0]


def resolve_languages(name: str) -> str | None:
    """Return the languages that a name or several, separated by commas, mean; None for no stop words."""
    known = list_languages()
    wanted = [drop_region(part.strip().lower(), known) for part in name.split(",") if part.strip()]
    if wanted in ([], ["none"]):
        return None
    unknown = [part for part in wanted if part not in known]
    if unknown:
        names = sorted(set(known.values()))
        problem = f"no stop words are known for {unknown[0]!r}"
        remedy = f"give one of {', '.join(names)}, several with commas between, or none"
        remedy += suggest(unknown[0], names) or "; for words of your own, use {extra_stop_words}"
        raise InputError(problem, parameter="stop_words", value=name, remedy=remedy)
    return ",".join(dict.fromkeys(known[part] for part in wanted))


def resolve_listed_languages(words: tuple[str, ...]) -> str | None:
    """Return the languages if a list names languages; None if it holds words. A mixture of both is refused."""
    languages = set(list_languages().values())
    named = [word for word in words if word.strip().lower() in languages]
    if not named:
        return None
    if len(named) < len(words):
        problem = f"{named[0]!r} names the stop words of a language, and the other entries are words"
        remedy = f"pass stop_words={','.join(named)!r}, and the words as {{extra_stop_words}}"
        raise InputError(problem, parameter="stop_words", value=list(words), remedy=remedy)
    return resolve_languages(",".join(words))


@cache
def load_stop_words(languages: str) -> tuple[str, ...]:
    """Return the stop words of languages, separated by commas, without phrases of several words."""
    return tuple(dict.fromkeys(word for language in languages.split(",") for word in load_list(language)))


def load_list(language: str) -> list[str]:
    """Return the stop words of one language as they are in the list."""
    own = OWN_LISTS.get(language, "").split()
    if own and language not in EXTENDED:
        return own
    from stop_words import get_stop_words

    listed = [entry.strip() for entry in get_stop_words(language)]
    if language == "turkish":
        listed = [entry.translate(TURKISH_LETTERS) for entry in listed]
    # The single words of a phrase need not be stop words.
    words = own + [unicodedata.normalize("NFC", entry.strip('",')) for entry in listed if len(entry.split()) == 1]
    return words + add_conjunctions(words, CONJUNCTIONS.get(language, ""))


def add_conjunctions(words: list[str], letters: str) -> list[str]:
    """Return words of at least two letters with a conjunction before them: وهذا means "and this"."""
    joined = [letter + word for letter in letters for word in words if len(word) > 1]
    return [word for word in joined if word not in OTHER_WORDS]


def normalize_stop_words(
    words: tuple[str, ...], strip_accents: bool, rewrite: Callable[[str], str] | None = None
) -> Any:
    """Return words in the form in which `tokenize` compares them, as a pa.Array.

    They are tokenized themselves: this removes quotes and marks around them, and turns qu' into qu, as in qu'il.
    """
    listed = pa.array(words, type=pa.large_string())
    return tokenize(listed, TokenRule(strip_accents=strip_accents, min_length=1, rewrite=rewrite)).words
