"""The form in which a word is counted: by simplemma, which only this module imports, by rules, or by the user.

A lemmatizer sees one word at a time, in lower case, and is called once for each distinct word of a batch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from typing import Any

from anchorless._corpus.text.stop_words import list_languages
from anchorless.errors import InputError

NAMED = ("simplemma", "korean")
#: A lemmatizer of the user in a model file, before its name.
CALLABLE = "callable "

#: Particles of Korean, longest first: after a consonant, after a vowel, and after either.
PARTICLES = (
    ("으로부터", True), ("으로서", True), ("으로써", True), ("이라고", True), ("이라는", True), ("으로", True),
    ("이나", True), ("이란", True), ("은", True), ("이", True), ("을", True), ("과", True),
    ("로부터", False), ("로서", False), ("로써", False), ("라고", False), ("라는", False), ("나", False),
    ("는", False), ("가", False), ("를", False), ("와", False), ("로", False),
    ("에서부터", None), ("에서는", None), ("에서도", None), ("에게서", None), ("까지는", None), ("부터는", None),
    ("에서", None), ("에게", None), ("에는", None), ("에도", None), ("까지", None), ("부터", None), ("보다", None),
    ("처럼", None), ("마다", None), ("조차", None), ("밖에", None), ("한테", None), ("의", None), ("에", None),
    ("도", None), ("만", None),
)  # fmt: skip
HANGUL = re.compile("[가-힣]+")
#: Syllables of a word without its particle, at least.
MIN_SYLLABLES = 2
#: The consonant at the end of a syllable is its number modulo this; ㄹ takes 로 as a vowel does.
FINALS, RIEUL = 28, 8


def validate_lemmatizer(given: Any) -> Any:
    """Return a lemmatizer; refuse what is neither a name nor a function."""
    if given is None or callable(given):
        return given
    if isinstance(given, str) and given.strip().lower() in ("", "none"):
        return None
    if isinstance(given, str) and (given.split()[0] in NAMED or given.startswith(CALLABLE)):
        return given
    problem = (
        f"it must be {' or '.join(NAMED)}, or in Python a function that returns the form in which a word is counted"
    )
    raise InputError(problem, parameter="lemmatizer", value=given)


def name_lemmatizer(given: Any) -> str | None:
    """Return how a model file records a lemmatizer."""
    if given is None or isinstance(given, str):
        return given
    kind = given if hasattr(given, "__qualname__") else type(given)
    return f"{CALLABLE}{kind.__module__}.{kind.__qualname__}"


def pin_lemmatizer(given: Any) -> Any:
    """Return a lemmatizer by name with its version."""
    return f"simplemma {find_simplemma()}" if given == "simplemma" else given


def find_simplemma() -> str:
    """Return the version of simplemma; say how to install it if it is missing."""
    try:
        return metadata.version("simplemma")
    except metadata.PackageNotFoundError:
        problem = "it needs the package simplemma, which is not installed"
        remedy = "pip install 'anchorless[lemmas]'"
        raise InputError(problem, parameter="lemmatizer", value="simplemma", remedy=remedy) from None


def make_lemmatize(given: Any, language: str | None) -> Callable[[str], str] | None:
    """Return the function that replaces a word; None if words stay as they are."""
    if given is None or callable(given):
        return given
    if given.startswith(CALLABLE):
        name = given.removeprefix(CALLABLE)
        problem = f"this model was fitted with a lemmatizer of yours, {name}, which a model file cannot hold"
        raise InputError(problem, remedy="give it again: TopicModel.load(path, lemmatizer=…)")
    if given.split()[0] == "korean":
        return strip_particles
    find_simplemma()
    return partial(lemmatize_word, languages=list_codes(language))


@cache
def list_codes(language: str | None) -> tuple[str, ...]:
    """Return the codes of languages; refuse those that simplemma does not know."""
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    names = "english" if language in (None, "auto") else str(language)
    codes = {name: code for code, name in list_languages().items() if len(code) == 2}
    found = tuple(codes.get(name, name) for name in names.split(","))
    for name, code in zip(names.split(","), found, strict=True):
        if code not in SUPPORTED_LANGUAGES:
            problem = f"simplemma has no dictionary of {name.capitalize()}"
            raise InputError(problem, parameter="lemmatizer", value="simplemma", remedy="leave {lemmatizer} out")
    return found


def lemmatize_word(word: str, languages: tuple[str, ...]) -> str:
    """Return the dictionary form of a word."""
    from simplemma import lemmatize

    return str(lemmatize(word, lang=languages))


def strip_particles(word: str) -> str:
    """Return a Korean word without the particles at its end, where they fit its last letter."""
    while True:
        shorter = next((stem for particle in PARTICLES if (stem := remove_particle(word, *particle))), None)
        if shorter is None:
            return word
        word = shorter


def remove_particle(word: str, particle: str, after_consonant: bool | None) -> str | None:
    """Return a word without a particle; None if it does not end in it, or too little would be left."""
    stem = word.removesuffix(particle)
    if stem == word or len(stem) < MIN_SYLLABLES or not HANGUL.fullmatch(stem):
        return None
    final = (ord(stem[-1]) - ord("가")) % FINALS
    if particle.startswith("로") and final == RIEUL:
        return stem
    return stem if after_consonant in (None, final > 0) else None
