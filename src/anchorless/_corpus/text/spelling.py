"""Rewrite texts of a language so that spellings of one word become the same, before texts are split into words.

These rules hold in one language and would be wrong in others; what holds in every text is in `tokens`.

* Turkish: the small letter of I is ı, and what follows an apostrophe is an ending: Ankara'da is a form of Ankara.
* Persian and Urdu: the Arabic letters ي and ك are other codes of ی and ک. In Persian, the zero-width non-joiner is
  before endings, such as the plural, and separates as a space does.
* Hindi: the dot below the letters of borrowed words and the candrabindu are often left out or replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable

#: Two to five capitals without a letter of Turkish alone: DIŞ and KAPIŞ are words.
ACRONYM = re.compile(r"\b[A-Z]{2,5}\b")
#: An ending after an apostrophe, which Turkish puts after names and numbers.
APOSTROPHE_ENDING = re.compile(r"(?<=\w)['’ʼ]\w+")
ZERO_WIDTH_NON_JOINER = "\u200c"
ARABIC_TO_PERSIAN = str.maketrans({"ي": "ی", "ى": "ی", "ك": "ک"})
ARABIC_TO_URDU = str.maketrans({"ي": "ی", "ى": "ی", "ك": "ک", "ه": "ہ", "ة": "ۃ"})
#: Letters of Hindi with the dot of borrowed words, in one code or two; ड़ and ढ़ are letters of their own.
DOTTED = re.compile("([कखगजफ])\u093c")
DOTTED_IN_ONE = str.maketrans("\u0958\u0959\u095a\u095b\u095e", "कखगजफ")


def strip_endings(text: str) -> str:
    """Remove endings after apostrophes, as in Turkish."""
    return APOSTROPHE_ENDING.sub("", text)


def rewrite_turkish(text: str) -> str:
    """Remove endings after apostrophes; replace I by ı and İ by i, but keep the i of an acronym among small letters."""
    text = strip_endings(text)
    if not text.isupper():
        text = ACRONYM.sub(lambda match: match[0].lower(), text)
    return text.replace("I", "ı").replace("İ", "i")


def rewrite_persian(text: str) -> str:
    """Replace Arabic letters by those of Persian, and separate endings from their words."""
    return text.replace(ZERO_WIDTH_NON_JOINER, " ").translate(ARABIC_TO_PERSIAN)


def rewrite_urdu(text: str) -> str:
    """Replace Arabic letters by those of Urdu."""
    return text.translate(ARABIC_TO_URDU)


def rewrite_hindi(text: str) -> str:
    """Remove the dot below the letters of borrowed words; replace the candrabindu by the anusvara."""
    return DOTTED.sub(r"\1", text.translate(DOTTED_IN_ONE)).replace("\u0901", "\u0902")


REWRITES: dict[str, Callable[[str], str]] = {
    "turkish": rewrite_turkish,
    "persian": rewrite_persian,
    "urdu": rewrite_urdu,
    "hindi": rewrite_hindi,
}


def find_rewrite(language: str | None, lowercase: bool) -> Callable[[str], str] | None:
    """Return the function that rewrites texts of a language; None if they stay as they are."""
    if language == "turkish" and not lowercase:
        return strip_endings
    return REWRITES.get(language or "")
