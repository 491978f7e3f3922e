"""Scripts that put no spaces between words, and how a run of letters is divided where the script changes.

Without a dictionary the words of such a run are not known. `split_into_ngrams` then counts overlapping parts of it:
pairs of Chinese characters, and three syllables in a row of Thai, Lao, Khmer and Burmese. Katakana are words of their
own. Hiragana, which are mostly endings and particles, and the Chinese particle 的 separate words.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆\U00020000-\U0003ffff"
HIRAGANA, KATAKANA = "ぁ-ゖ", "ァ-ヺーｦ-ﾟ"
THAI, LAO, KHMER, BURMESE = "ก-ฺเ-๎", "ກ-ຽເ-ໍໜ-ໟ", "ក-៓ៜ៝", "က-႟ꧠ-ꧾꩠ-ꩿ"
#: Letters of each script without spaces, by the family that one segmenter handles.
FAMILIES = {
    "Chinese or Japanese": HAN + HIRAGANA + KATAKANA,
    "Thai": THAI,
    "Lao": LAO,
    "Khmer": KHMER,
    "Burmese": BURMESE,
}
UNSPACED = "".join(FAMILIES.values())
HAS_UNSPACED = f"[{UNSPACED}]"
#: Longest parts of a run of one family, or of letters of other scripts.
SPANS = re.compile("|".join([*(f"[{letters}]+" for letters in FAMILIES.values()), f"[^{UNSPACED}]+"]))
KANA = re.compile(f"[{HIRAGANA}{KATAKANA}]")
#: What separates words in parts of runs: endings and particles, and 的, the most frequent character of Chinese.
PARTICLES = re.compile(f"[{HIRAGANA}的]+")
KATAKANA_OR_HAN = re.compile(f"[{KATAKANA}]+|[{HAN}]+")
#: Latin letters of full width and katakana of half width: other forms of the same letters.
OTHER_WIDTH = re.compile("[\uff00-\uffef]+")
#: A syllable: vowels written before their consonant, the consonant with its marks and stacked consonants, and vowels
#: written after it.
SYLLABLE = re.compile(
    r"[เ-ไເ-ໄ]?"
    r"(?:[^\W\d_](?:[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECD"
    r"\u17B4-\u17D1\u17D3\u17DD\u102B-\u1038\u103A-\u103E]|[\u17D2\u1039].)*)"
    r"[ะาำๅະາຳ]*|."
)
#: Characters of a term of Chinese, and syllables of a term of other scripts.
HAN_LENGTH, SYLLABLES = 2, 3


class Span(NamedTuple):
    """A part of a run in one script."""

    text: str
    family: str | None  # None: a script with spaces between words


def divide_run(run: str) -> list[Span]:
    """Divide a run of letters and digits where it changes between scripts with and without spaces."""
    run = OTHER_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), run)
    return [Span(match[0], find_family(match[0][0])) for match in SPANS.finditer(run)]


def find_family(letter: str) -> str | None:
    """Return the family of a letter; None for a script with spaces between words."""
    return next((family for family, letters in FAMILIES.items() if re.match(f"[{letters}]", letter)), None)


def split_into_ngrams(span: Span) -> list[str]:
    """Return overlapping parts of a span, which stand for its words where no dictionary is at hand."""
    if span.family != "Chinese or Japanese":
        return join_neighbors([match[0] for match in SYLLABLE.finditer(span.text)], SYLLABLES)
    parts = []
    for match in KATAKANA_OR_HAN.finditer(PARTICLES.sub(" ", span.text)):
        is_word = KANA.match(match[0]) is not None
        parts += [match[0]] if is_word else join_neighbors(list(match[0]), HAN_LENGTH)
    return [part for part in parts if len(part) >= HAN_LENGTH]  # a single character is mostly the stem of a verb


def join_neighbors(pieces: list[str], n: int) -> list[str]:
    """Return every n pieces in a row, joined; all of them if they are fewer."""
    return ["".join(pieces[start : start + n]) for start in range(max(1, len(pieces) - n + 1))]
