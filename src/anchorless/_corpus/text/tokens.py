"""Split texts into words, working on the bytes of a whole batch at once, which a regular expression cannot do as fast.

1. A word is a longest run of letters, combining marks, digits and underscores (Unicode categories L, M, N and "_").
   Invisible characters (soft hyphen, joiners, the Arabic tatweel) and the optional vowel marks of Arabic and Hebrew are
   removed; everything else separates.
2. Ligatures and the forms that Arabic letters have in print are replaced by their letters (ﬁ → fi), ٱ by ا, and the
   Thai vowel am in two characters by the one (ํ + า → ำ). Each word is lowercased, unless `lowercase` is off, and put
   in the composed form NFC. İ and I both become i; ı stays.
   `strip_accents` removes the marks of Latin, Greek and Cyrillic; the vowel signs of other scripts stay.
3. Underscores at either end and marks without a letter before them are removed: _so_ → so, but n_words stays.
4. Words without a letter (numbers), words of fewer than `min_length` characters or of more than 100, and stop words
   are removed. Stop words are compared in lower case, also if words keep their capitals.

   A single Chinese character counts as two.

Before step 1, `rewrite` replaces texts by others, see `spelling`. After step 3, `segment` divides runs in scripts
without spaces between words (Chinese, Japanese, Thai); without it, whole clauses are words. After step 4, `lemmatize`
replaces words by others, to which step 4 applies once more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.text.scripts import HAN, HAS_UNSPACED

#: A longer run is an encoded file or a line without spaces, not a word.
MAX_WORD_LENGTH = 100
#: Invisible characters inside words: soft hyphen, tatweel, zero-width (non-)joiner, word joiner, BOM.
INVISIBLE = dict.fromkeys((0x00AD, 0x0640, 0x200C, 0x200D, 0x2060, 0xFEFF))
#: Marks of Arabic and Hebrew for vowels and the like, which most texts leave out: the same word has them or not. The
#: last ones are the signs for reading the Quran, among them two small letters.
OPTIONAL_MARKS = {
    **dict.fromkeys(
        point
        for start, end in ((0x0591, 0x05C8), (0x0610, 0x061B), (0x064B, 0x0653), (0x0656, 0x0671), (0x06D6, 0x06EE))
        for point in range(start, end)
        if unicodedata.category(chr(point)) == "Mn"  # between them is the maqaf, which separates words
    ),
    **dict.fromkeys((0x06E5, 0x06E6)),
}
#: The same for marks that NFC joins with an alef before them: أ, إ and آ stay.
LOOSE_MARKS = dict.fromkeys((0x0653, 0x0654, 0x0655))
#: An alef that the word before is joined to when read aloud.
WASLA = {0x0671: 0x0627}
#: Ligatures of Latin letters, and the forms of Hebrew and Arabic letters in print, as PDF files have them.
PRINTED_FORMS = re.compile("[\ufb00-\ufb06\ufb1d-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc]")
#: The Thai and Lao vowel am in two characters, before or after the mark of the tone, as many PDF files have it.
DIVIDED_AM = re.compile("\u0e4d([\u0e48-\u0e4b]?)\u0e32|\u0ecd([\u0ec8-\u0ecb]?)\u0eb2")
#: The combining marks of Latin, Greek and Cyrillic, which `strip_accents` removes.
ACCENTS = dict.fromkeys(range(0x0300, 0x0370))

#: Bytes that separate words become 0; characters outside ASCII are handled by `mask_nonascii_separators`.
WORD_BYTES = bytes(byte if byte >= 0x80 or chr(byte).isalnum() or byte == ord("_") else 0 for byte in range(256))
LOWER_WORD_BYTES = WORD_BYTES.lower()
#: Between words that are next to each other.
NEIGHBOR_BYTES = np.frombuffer(b" -\n", dtype=np.uint8)

Codes = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]


class TokenRule(NamedTuple):
    """The options of the rule."""

    lowercase: bool = True
    strip_accents: bool = False
    min_length: int = 2
    stop_words: Any = None  # pa.Array of strings, as `normalize_stop_words` returns; None for none
    segment: Callable[[str], list[str]] | None = None  # divides a run in a script without spaces; None: it stays whole
    lemmatize: Callable[[str], str] | None = None  # returns the form in which a word is counted; None: as it is
    rewrite: Callable[[str], str] | None = None  # makes spellings of a language the same; None: texts as they are
    with_neighbors: bool = False  # whether to find which words are next to each other


class Tokens(NamedTuple):
    """The words of a batch of texts, in their order."""

    words: Any  # pa.Array: the distinct ones, sorted by code point
    codes: Codes  # one per token: its position in `words`
    offsets: Positions  # text i has the tokens offsets[i] … offsets[i + 1]
    n_runs: int  # tokens before step 4 removed some
    follows: Any = (
        None  # one per token: whether it follows the one before with a space or hyphen between; None: unknown
    )


class Runs(NamedTuple):
    """The runs of word characters of a batch of texts, in their order."""

    words: Any  # pa.Array: distinct runs; may hold a word twice
    codes: Any  # one per run: its position in `words`
    offsets: Positions  # text i has the runs offsets[i] … offsets[i + 1]
    follows: Any = None  # as in `Tokens`


def tokenize(texts: Any, rule: TokenRule) -> Tokens:
    """Return the words of each text of a pa.Array of strings."""
    if rule.rewrite is not None:
        rewritten = [None if text is None else rule.rewrite(text) for text in texts.to_pylist()]
        texts = pa.array(rewritten, type=texts.type)
    runs = divide_runs(find_word_runs(texts, rule), rule)
    words, kept = runs.words, find_kept_words(runs.words, rule)
    words = words.filter(pa.array(kept))
    if rule.lemmatize is not None:
        words, is_word = replace_by_lemmas(words, rule)
        kept[kept] = is_word
    distinct = words.unique()  # several spellings may be one word
    distinct = distinct.take(pc.sort_indices(distinct))
    position = np.full(len(kept), -1, dtype=np.int32)
    position[kept] = pc.index_in(words, value_set=distinct).to_numpy(zero_copy_only=False)
    codes = position[runs.codes]
    chosen = codes >= 0
    n_before = np.concatenate([[0], np.cumsum(chosen)])
    follows = None if runs.follows is None else find_followers(runs.follows, chosen)
    return Tokens(distinct, codes[chosen], n_before[runs.offsets], len(codes), follows)


def find_followers(follows: npt.NDArray[np.bool_], chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return for each chosen token whether it follows the chosen one before it, with none between that was removed."""
    after_chosen = np.concatenate([[False], chosen[:-1]])
    return (follows & after_chosen)[chosen]


def divide_runs(runs: Runs, rule: TokenRule) -> Runs:
    """Replace runs in scripts without spaces by their words."""
    words = normalize_words(runs.words, rule)
    if rule.segment is None:
        return runs._replace(words=words)
    unspaced = pc.match_substring_regex(words, HAS_UNSPACED)
    here = unspaced.to_numpy(zero_copy_only=False)
    if not here.any():
        return runs._replace(words=words)
    parts = [[normalize_word(part, rule) for part in rule.segment(run)] for run in words.filter(unspaced).to_pylist()]
    found = pa.array([word for part in parts for word in part], type=words.type)
    sizes, first = np.ones(len(words), dtype=np.int64), np.zeros(len(words), dtype=np.int64)
    sizes[here] = [len(part) for part in parts]
    n_spaced = len(words) - len(parts)
    first[~here] = np.arange(n_spaced)
    first[here] = n_spaced + np.cumsum(sizes[here]) - sizes[here]
    n_words = sizes[runs.codes]
    starts = np.concatenate([[0], np.cumsum(n_words)])
    inside = np.arange(starts[-1]) - np.repeat(starts[:-1], n_words)
    codes = np.repeat(first[runs.codes], n_words) + inside
    follows = None if runs.follows is None else np.repeat(runs.follows, n_words) | (inside > 0)
    return Runs(pa.concat_arrays([words.filter(pc.invert(unspaced)), found]), codes, starts[runs.offsets], follows)


def replace_by_lemmas(words: Any, rule: TokenRule) -> tuple[Any, npt.NDArray[np.bool_]]:
    """Return the forms in which words are counted, and which of the words have one that is not removed."""
    assert rule.lemmatize is not None
    lemmas = pa.array([str(rule.lemmatize(word)) for word in words.to_pylist()], type=words.type)
    lemmas = pa.array([normalize_word(word, rule) for word in lemmas.to_pylist()], type=words.type)
    kept = find_kept_words(lemmas, rule)
    return lemmas.filter(pa.array(kept)), kept


def find_word_runs(texts: Any, rule: TokenRule) -> Runs:
    """Return the runs of word characters, ASCII in lower case unless the rule keeps capitals."""
    lowercase = rule.lowercase
    original, bounds = view_text_bytes(texts)
    # bytes.translate is ten times as fast as indexing in NumPy, which converts every byte to eight.
    data = np.frombuffer(original.tobytes().translate(LOWER_WORD_BYTES if lowercase else WORD_BYTES), dtype=np.uint8)
    inside = data != 0
    mask_nonascii_separators(data, inside)
    before, after = np.zeros_like(inside), np.zeros_like(inside)
    before[1:], after[:-1] = inside[:-1], inside[1:]
    # There is no gap between texts: the last word of one must not continue into the next.
    filled = bounds[:-1][np.diff(bounds) > 0]
    before[filled] = False
    after[filled[1:] - 1] = False
    starts = np.flatnonzero(inside & ~before)
    ends = np.flatnonzero(inside & ~after) + 1
    run_bounds = np.concatenate([[0], np.cumsum(ends - starts)])
    runs = pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(run_bounds), pa.py_buffer(data[inside]))
    encoded, offsets = runs.dictionary_encode(), np.searchsorted(starts, bounds)
    follows = find_neighbors(original, starts, ends, offsets) if rule.with_neighbors else None
    return Runs(encoded.dictionary, encoded.indices.to_numpy(), offsets, follows)


def find_neighbors(data: npt.NDArray[np.uint8], starts: Any, ends: Any, offsets: Positions) -> npt.NDArray[np.bool_]:
    """Return for each run whether a single space, line break or hyphen separates it from the one before."""
    follows = np.zeros(len(starts), dtype=bool)
    single = starts[1:] == ends[:-1] + 1
    between = data[np.minimum(ends[:-1], len(data) - 1)]
    follows[1:] = single & np.isin(between, NEIGHBOR_BYTES)
    first = offsets[:-1][np.diff(offsets) > 0]
    follows[first] = False
    return follows


def view_text_bytes(texts: Any) -> tuple[npt.NDArray[np.uint8], Positions]:
    """Return the UTF-8 bytes of all texts, without copying, and where each text begins."""
    texts = texts.fill_null("") if texts.null_count else texts
    if len(texts) == 0:
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    _, bounds, data = texts.buffers()
    bounds = np.frombuffer(bounds, dtype=np.int64 if pa.types.is_large_string(texts.type) else np.int32)
    bounds = bounds[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return np.frombuffer(data or b"", dtype=np.uint8)[bounds[0] : bounds[-1]], bounds - bounds[0]


def mask_nonascii_separators(data: npt.NDArray[np.uint8], inside: npt.NDArray[np.bool_]) -> None:
    """Set `inside` to False for the bytes of characters outside ASCII that belong to no word."""
    leads = np.flatnonzero(data >= 0xC0)
    if len(leads) == 0:
        return
    first = data[leads].astype(np.int32)
    size = 2 + (first >= 0xE0) + (first >= 0xF0)
    points = first & (0xFF >> (size + 1))
    for step in range(1, 4):
        here = size > step
        points[here] = points[here] << 6 | data[leads[here] + step] & 0x3F
    outside = ~find_word_characters()[points]
    for step in range(4):
        inside[leads[outside & (size > step)] + step] = False


@cache
def find_word_characters() -> npt.NDArray[np.bool_]:
    """Return for every code point whether it belongs to words."""
    table = np.zeros(0x110000, dtype=bool)
    for plane in (0, 1, 2, 3, 14):  # the others have no letters: unassigned, or private use
        for point in range(plane << 16, (plane + 1) << 16):
            table[point] = unicodedata.category(chr(point))[0] in "LMN"
    table[[ord("_"), *INVISIBLE]] = True
    return table


def normalize_words(runs: Any, rule: TokenRule) -> Any:
    """Apply steps 2 and 3 of the rule to each distinct run."""
    words = pc.ascii_trim(runs, characters="_")
    foreign = pc.invert(pc.string_is_ascii(words))
    if not pc.any(foreign).as_py():
        return words
    rewritten = [normalize_word(word, rule) for word in words.filter(foreign).to_pylist()]
    return pc.replace_with_mask(words, foreign, pa.array(rewritten, type=words.type))


def normalize_word(word: str, rule: TokenRule) -> str:
    """Apply steps 2 and 3 of the rule to one run."""
    word = PRINTED_FORMS.sub(replace_printed_form, word).translate(INVISIBLE).translate(OPTIONAL_MARKS).translate(WASLA)
    word = unicodedata.normalize("NFC", word.lower() if rule.lowercase else word).translate(LOOSE_MARKS)
    word = DIVIDED_AM.sub(join_am, word)
    if rule.lowercase:
        word = word.replace("i\u0307", "i")  # lower() turns İstanbul into this, which would differ from istanbul
    if rule.strip_accents:
        word = unicodedata.normalize("NFC", unicodedata.normalize("NFD", word).translate(ACCENTS))
    start = 0
    while start < len(word) and (word[start] == "_" or unicodedata.category(word[start])[0] == "M"):
        start += 1  # = and a combining stroke are ≠ in two characters: the stroke must not begin a word
    return word[start:].rstrip("_")


def replace_printed_form(match: re.Match[str]) -> str:
    """Return the letters of a ligature or a printed form; nothing for a whole phrase in one character."""
    letters = unicodedata.normalize("NFKC", match[0])
    return "" if " " in letters else letters


def join_am(match: re.Match[str]) -> str:
    """Return the vowel am in one character, after the mark of the tone."""
    thai, lao = match.groups()
    return f"{lao}\u0eb3" if thai is None else f"{thai}\u0e33"


def find_kept_words(words: Any, rule: TokenRule) -> npt.NDArray[np.bool_]:
    """Return which words step 4 of the rule keeps."""
    length = pc.utf8_length(words).to_numpy()
    length = length + pc.match_substring_regex(words, f"^[{HAN}]$").to_numpy(zero_copy_only=False)
    kept = (length >= rule.min_length) & (length <= MAX_WORD_LENGTH)
    kept &= pc.match_substring_regex(words, r"\p{L}").to_numpy(zero_copy_only=False)
    if rule.stop_words is not None and len(rule.stop_words):
        compared = words if rule.lowercase else pc.utf8_lower(words)
        kept &= ~pc.is_in(compared, value_set=rule.stop_words.cast(words.type)).to_numpy(zero_copy_only=False)
    return np.asarray(kept)
