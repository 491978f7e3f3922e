"""The language of texts, by their script and their stop words.

A script that one language uses tells it at once. Texts in Latin, Cyrillic, Arabic or Devanagari letters are in the
language of whose stop words they have most, where a word that several languages share counts less in each. A text with
fewer than two such words, or hardly any, stays without a language: it may be a table or a list of names.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from anchorless._corpus.text.scripts import BURMESE, HAN, HIRAGANA, KATAKANA, KHMER, LAO, THAI
from anchorless._corpus.text.stop_words import drop_region, list_languages, load_stop_words, normalize_stop_words
from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError, suggest

#: Characters of each text that are looked at.
SCANNED_CHARACTERS = 500
#: Letters of scripts that one language uses, and of those that several share.
OWN_SCRIPTS = {
    "chinese": HAN,
    "japanese": HIRAGANA + KATAKANA,
    "korean": "가-힣ㄱ-ㅣ",
    "thai": THAI,
    "lao": LAO,
    "khmer": KHMER,
    "burmese": BURMESE,
    "hebrew": "א-ת",
    "greek": "Ͱ-Ͽἀ-῿",
    "gujarati": "\u0a80-\u0aff",
    "bengali": "\u0980-\u09ff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "kannada": "\u0c80-\u0cff",
    "georgian": "ა-ჿ",
    "armenian": "Ա-֏",
}
SHARED_SCRIPTS = {"latin": "A-Za-zÀ-ɏḀ-ỿ", "cyrillic": "Ѐ-ӿ", "arabic": "\u0620-\u06ff", "devanagari": "\u0900-\u097f"}
SCRIPTS = {**OWN_SCRIPTS, **SHARED_SCRIPTS}
#: Languages with lists of stop words that are not written in Latin letters, by their script.
WRITTEN_IN = {
    "cyrillic": ("russian", "ukrainian", "bulgarian", "serbian"),
    "arabic": ("arabic", "persian", "urdu"),
    "devanagari": ("hindi", "marathi"),
}
#: Letters that one language with a list has, or hardly another: a word with one of them speaks for it.
OWN_LETTERS = {
    "turkish": "[ığ]",
    "vietnamese": "[ạảấầẩẫậắằẳẵặẹẻẽếềểễệịỉọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹđơư]",
    "polish": "[łąęńśźż]",
    "czech": "[řěů]",
    "slovak": "[ľĺŕ]",
    "hungarian": "[őű]",
    "romanian": "[ățţ]",
    "ukrainian": "[іїєґ]",
    "russian": "[ыэё]",
    "serbian": "[јљњћђџ]",
    "persian": "[پچژگ]",
    "urdu": "[ٹڈڑںھہے]",
    "marathi": "[ळॲ]",
    "latvian": "[āēģīķļņ]",
    "lithuanian": "[ėįų]",
    "german": "ß",
    "spanish": "ñ",
    "portuguese": "[ãõ]",
    "catalan": "ŀ|l·l|[aeiou]ïa",
    "finnish": "ää|yö|äy",
}
#: Kana among the letters of a Japanese text, at least.
MIN_KANA = 0.1
#: Letters of a script in a text that is partly in its language: a name or two are not.
MIN_WRITTEN = 5
#: A text has a language if so many of its words are stop words of it, and so much of its words.
MIN_HITS, MIN_SHARE = 2, 0.08
#: Words of a text that is long enough to have stop words.
LONG_TEXT = 10
#: How far another language must be ahead of the expected one: Danish has many words of Norwegian.
MIN_LEAD = 1.5
#: Single letters that stand in formulas and enumerations of any language.
CONSONANTS = "bcdfghjklmnpqrstvwxz"
#: The list of Malay is nearly that of Indonesian, of which it is made.
LEFT_OUT = ("malaysian",)


class Evidence(NamedTuple):
    """What some texts tell about their languages."""

    languages: list[str | None]  # of each text
    weights: dict[str, float]  # how much the stop words of all texts speak for each language in a shared script
    n_words: dict[str, int]  # different words of all texts that speak for the language and not for English
    lengths: npt.NDArray[np.int64]  # words of each text
    stop_word_shares: npt.NDArray[np.float64]  # of each text, in the language that its stop words tell; NaN for others


class LanguageTable(NamedTuple):
    """Stop words of all languages, with what they tell."""

    languages: list[str]
    words: Any  # pa.Array, distinct
    weights: Any  # CSR (words, languages): 0 where the language does not have the word
    scripts: list[str]  # of each language


def find_script(language: str | None) -> str:
    """Return the script of a language; that of Japanese is Chinese, too, since texts have characters of both."""
    by_language = {name: script for script, names in WRITTEN_IN.items() for name in names}
    own = "chinese" if language == "japanese" else language
    return str(own) if own in OWN_SCRIPTS else by_language.get(str(language), "latin")


@cache
def build_table() -> LanguageTable:
    """Build the table of the stop words of all languages."""
    known = sorted({*list_languages().values()} - {*LEFT_OUT, *OWN_SCRIPTS})
    lists = [
        [word for word in normalize_stop_words(load_stop_words(name), False).to_pylist() if word not in CONSONANTS]
        for name in known
    ]
    words = sorted({word for listed in lists for word in listed})
    place = {word: number for number, word in enumerate(words)}
    rows = [place[word] for listed in lists for word in listed]
    columns = np.repeat(np.arange(len(known)), [len(listed) for listed in lists])
    there = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(known)))
    shared = np.asarray(there.sum(axis=1)).ravel()
    weights = sp.diags(1.0 / shared) @ there
    scripts = [find_script(name) for name in known]
    return LanguageTable(known, pa.array(words, type=pa.large_string()), weights.tocsr(), scripts)


def detect_languages(texts: Any, main: str | None = None) -> Evidence:
    """Return the language of each text of a pa.Array of strings, None where it cannot be told, and the evidence.

    A text is said to be in another language than `main` only if that one is clearly ahead.
    """
    texts = pc.utf8_slice_codeunits(texts.cast(pa.large_string()), 0, SCANNED_CHARACTERS)
    table, letters = build_table(), count_letters(texts)
    names, (scores, hits, n_distinct) = [*SCRIPTS], score_stop_words(texts, table)
    of_script = {script: np.array([name == script for name in table.scripts]) for script in SHARED_SCRIPTS}
    found: list[str | None] = []
    for row, score in zip(letters, scores, strict=True):
        script = names[int(row.argmax())] if row.any() else None
        if script in ("chinese", "japanese"):
            kana, han = row[names.index("japanese")], row[names.index("chinese")]
            script = "japanese" if kana >= MIN_KANA * (kana + han) else "chinese"
        if script in SHARED_SCRIPTS:
            best = int(np.where(of_script[script], score, -1.0).argmax())
            if main in table.languages and score[table.languages.index(main)] * MIN_LEAD >= score[best]:
                best = table.languages.index(main)
            script = table.languages[best] if score[best] > 0 else None
        found.append(script)
    n_words = np.maximum(pc.count_substring_regex(texts, r"\w+").fill_null(0).to_numpy(zero_copy_only=False), 1)
    weights = (scores / n_words[:, None]).sum(axis=0)
    by_weight, by_words = (dict(zip(table.languages, values.tolist(), strict=True)) for values in (weights, n_distinct))
    place = {name: number for number, name in enumerate(table.languages)}
    n_hits = [hits[text, place[name]] if name in place else np.nan for text, name in enumerate(found)]
    return Evidence(found, by_weight, by_words, n_words, np.array(n_hits) / n_words)


def count_written(texts: Any) -> dict[str, int]:
    """Return how many texts have letters of each script that one language uses; with kana, characters are Japanese."""
    names = [*OWN_SCRIPTS]
    letters = count_letters(pc.utf8_slice_codeunits(texts.cast(pa.large_string()), 0, SCANNED_CHARACTERS))
    has = letters[:, : len(names)] >= MIN_WRITTEN
    has[:, names.index("chinese")] &= letters[:, names.index("japanese")] == 0
    return dict(zip(names, has.sum(axis=0).tolist(), strict=True))


def count_letters(texts: Any) -> npt.NDArray[np.float64]:
    """Return the letters of each text by script (n, scripts)."""
    texts = texts.fill_null("")
    is_ascii = pc.string_is_ascii(texts).to_numpy(zero_copy_only=False)
    counts = np.zeros((len(texts), len(SCRIPTS)))
    others = texts.filter(pa.array(~is_ascii))
    for column, (name, letters) in enumerate(SCRIPTS.items()):
        if name == "latin":
            counts[:, column] = pc.count_substring_regex(texts, f"[{letters}]").to_numpy(zero_copy_only=False)
        elif len(others):
            found = pc.count_substring_regex(others, f"[{letters}]")
            counts[~is_ascii, column] = found.to_numpy(zero_copy_only=False)
    return counts


def score_stop_words(
    texts: Any, table: LanguageTable
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return how much the stop words of each text speak for each language (n, languages); 0 where they are too few.

    Also return how many stop words of each language it has (n, languages), and the number of different words that speak
    for each language, and not for English (languages,). A word with a letter of a language speaks for it as a stop word
    does, but letters alone do not tell the language of a text of 10 words or more: Yoruba has ọ, too.
    """
    tokens = tokenize(texts, TokenRule(min_length=1))
    n_texts = len(tokens.offsets) - 1
    rows = np.repeat(np.arange(n_texts), np.diff(tokens.offsets))
    shape = (n_texts, len(tokens.words))
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, tokens.codes)), shape=shape)
    counts.sum_duplicates()
    at = pc.index_in(tokens.words, value_set=table.words).fill_null(-1).to_numpy(zero_copy_only=False)
    listed = table.weights[np.maximum(at, 0)].multiply((at >= 0)[:, None])
    weights = listed + find_own_letters(tokens.words, table)
    scores, hits, n_listed = (
        np.asarray((counts @ found).todense())
        for found in (weights, (weights > 0).astype(np.float64), (listed > 0).astype(np.float64))
    )
    n_words = np.maximum(np.diff(tokens.offsets), 1)[:, None]
    there = np.asarray((weights > 0).todense())
    n_distinct = there[~there[:, table.languages.index("english")]].sum(axis=0)
    is_told = (hits >= MIN_HITS) & (hits >= MIN_SHARE * n_words) & ((n_listed > 0) | (n_words < LONG_TEXT))
    return np.where(is_told, scores, 0.0), n_listed, n_distinct


def find_own_letters(words: Any, table: LanguageTable) -> Any:
    """Return 1 where a word has a letter of a language, CSR (words, languages)."""
    found = sp.lil_matrix((len(words), len(table.languages)))
    for language, letters in OWN_LETTERS.items():
        rows = np.flatnonzero(pc.match_substring_regex(words, letters).to_numpy(zero_copy_only=False))
        found[rows, table.languages.index(language)] = 1.0
    return found.tocsr()


def validate_language(name: object) -> str | None:
    """Return the language that a name or a code means (de and German both mean german), or several; None for none."""
    if name is None or (isinstance(name, str) and name.strip().lower() in ("", "none")):
        return None
    parts = [part.strip().lower() for part in name.split(",")] if isinstance(name, str) else []
    known = {**list_languages(), **{language: language for language in OWN_SCRIPTS}}
    if parts == ["auto"]:
        return "auto"
    parts = [drop_region(part, known) for part in parts]
    if not parts or not all(part in known for part in parts):
        names, unknown = sorted(set(known.values())), next((part for part in parts if part not in known), "")
        problem = "it must be auto or the name of a language"
        remedy = f"give one of {', '.join(names)}, several with commas between, or none for texts in another language"
        remedy += suggest(unknown, names)
        raise InputError(problem, parameter="language", value=name, remedy=remedy)
    return ",".join(dict.fromkeys(known[part] for part in parts))
