"""The languages of a corpus: settings that follow from the first texts, and what to say about all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anchorless._corpus.quality import DataNote, make_note
from anchorless._corpus.settings import AUTO, CountSettings
from anchorless._corpus.text.cleaning import strip_mail_parts, strip_markup
from anchorless._corpus.text.languages import (
    LONG_TEXT,
    MIN_LEAD,
    Evidence,
    count_written,
    detect_languages,
    find_script,
)
from anchorless._corpus.text.lemmas import pin_lemmatizer
from anchorless._corpus.text.segmentation import NGRAMS, SEGMENTERS, find_segmenter, is_installed, pin_segmenter
from anchorless._corpus.text.stop_words import list_languages
from anchorless.errors import InputError

#: Texts of the first batch, of each further batch and of all of them together that are looked at, and their beginnings.
FIRST_TEXTS, BATCH_TEXTS, MAX_TEXTS, CHARACTERS = 300, 100, 2000, 2000
#: A language is that of the corpus if so much of the texts has it.
MIN_MAIN_SHARE = 0.2
#: Different words that must speak for a language, and not for English: a single "cat" does not make a text Romanian.
MIN_WORDS = 5
#: Languages of a smaller share of the texts are not named: they may be mistaken.
MIN_LANGUAGE_SHARE = 0.05
#: Languages without spaces between words.
UNSPACED_LANGUAGES = ("chinese", "japanese", "thai", "lao", "khmer", "burmese")
#: The label of a document whose language is not told.
NOT_TOLD = "language not told"
#: A letter that English does not have, and how many of the texts must have one to say that no language was recognized:
#: a share, and a number, since two recipes with "crème" in one of them are English.
FOREIGN_LETTER, MIN_FOREIGN_SHARE, MIN_FOREIGN = r"[^\x00-\x7f\P{L}]", 0.5, 5
#: Where stop words of other languages than English are in so many of the long texts, but those of no language are in
#: most of them, and few words are stop words, the language is none of those that are known: Swahili is not Spanish.
MIN_LONG, MIN_OTHER_SHARE, MOST, MAX_STOP_WORDS = 20, 0.3, 0.5, 0.3
#: The language of the corpus is that of so many of the long texts, too.
MIN_LONG_SHARE = 0.1
NOT_RECOGNIZED = (
    "the language of the texts is not recognized, and English stop words are left out; name the language with "
    "{language}, or give its most frequent words with {extra_stop_words}"
)
#: How the error begins that no word is left to count.
NO_WORD_LEFT = "no word is left"


class LanguageSample:
    """The beginnings of some texts of a corpus, which tell its languages."""

    def __init__(self, settings: CountSettings) -> None:
        self.given = self.settings = settings
        self._texts: list[Any] = []
        self._n_texts = 0
        self._main: str | None = None
        self._is_unknown = False

    def tee(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches of texts, and keep a sample of each."""
        for batch in batches:
            self.add(batch)
            yield batch

    def add(self, batch: Any) -> None:
        """Keep texts of a batch, evenly spaced."""
        n = min(FIRST_TEXTS if not self._texts else BATCH_TEXTS, MAX_TEXTS - self._n_texts, len(batch))
        if n < 1:
            return
        batch = pa.concat_arrays(batch.chunks) if isinstance(batch, pa.ChunkedArray) else batch
        rows = np.unique(np.linspace(0, len(batch) - 1, n).astype(np.int64))
        texts = pc.utf8_slice_codeunits(batch.take(pa.array(rows)).cast(pa.large_string()), 0, CHARACTERS)
        texts = strip_mail_parts(texts) if self.given.email else texts
        self._texts.append(strip_markup(texts) if self.given.html else texts)
        self._n_texts += n

    def resolve(self, batches: Iterable[Any]) -> tuple[CountSettings, Iterator[Any]]:
        """Return settings in which nothing is left to the texts, by the first batch, and all batches."""
        iterator = self.tee(batches)
        first = [batch for batch in [next(iterator, None)] if batch is not None]
        found = [detect_languages(texts) for texts in self._texts]
        self._main = find_main_language(found[0]) if found else None
        if found and is_unknown_language(detect_languages(self._texts[0], self._main), self._main):
            self._main, self._is_unknown = None, True
        counts = self.count_languages()
        frequent = [name for name, n in counts.most_common() if n >= self._least_share(name) * self._n_texts]
        beside = self.find_beside()
        self.settings = resolve_settings(self.given, self._main, [*counts, *beside], [*frequent, *beside])
        return self.settings, chain(first, iterator)

    def _least_share(self, language: str) -> float:
        """Return how much of the texts a language must have for its stop words to be left out.

        In other letters than those of the main language they are no words of it: 的 does no harm to English texts.
        """
        return MIN_MAIN_SHARE if find_script(language) == find_script(self._main) else MIN_LANGUAGE_SHARE

    def find_beside(self) -> list[str]:
        """Return languages without spaces that enough texts have beside another one, such as Chinese and English."""
        written = Counter[str]()
        for texts in self._texts:
            written.update(count_written(texts))
        least = MIN_LANGUAGE_SHARE * self._n_texts
        own = find_script(self._main)
        return [name for name in UNSPACED_LANGUAGES if written[name] >= max(least, 1) and find_script(name) != own]

    def count_languages(self) -> Counter[str]:
        """Return in how many texts of the sample each language is found; in none if the language is none of them."""
        if self._is_unknown:
            return Counter()
        evidence = [detect_languages(texts, self._main) for texts in self._texts]
        counts = Counter(name for found in evidence for name in found.languages if name is not None)
        told = {name for found in evidence for name, n in found.n_words.items() if n >= MIN_WORDS}
        shared = {name for found in evidence for name in found.n_words} - {"english", self._main}
        return Counter({name: n for name, n in counts.most_common() if name not in shared or name in told})

    def describe_shares(self) -> dict[str, float]:
        """Return the share of each language in the texts of the sample, largest first; of few texts it is left out."""
        counts = self.count_languages()
        shares = {name: n / max(self._n_texts, 1) for name, n in counts.most_common()}
        return {name: share for name, share in shares.items() if share >= MIN_LANGUAGE_SHARE}

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """If no word is left and the texts have no spaces between words, say so."""
        try:
            yield
        except InputError as error:
            notes = describe_segmentation(self.settings, self.describe_shares())
            if not notes or not error.problem.startswith(NO_WORD_LEFT):
                raise
            raise InputError(error.problem, remedy="; ".join(notes)) from None

    def label(self, texts: Iterable[Any]) -> Any:
        """Return the language of every text, in batches of beginnings, as a pa.Array; None if there is only one."""
        shares = self.describe_shares()
        if len(shares) < 2:
            return None
        found = (name for batch in texts for name in detect_languages(batch, self._main).languages)
        return pa.array([name.capitalize() if name in shares else NOT_TOLD for name in found], pa.large_string())

    def describe(self) -> list[str]:
        """Return what a user should know about the languages of the texts."""
        shares = self.describe_shares()
        unspaced = shares | dict.fromkeys(self.find_beside(), 0.0)
        divided = describe_segmentation(self.settings, unspaced) if self.given.segmenter == AUTO else []
        is_open = self.given.language == self.given.stop_words == AUTO and self.settings.language is None
        is_told = sum(shares.values()) >= MOST
        is_unknown = self._is_unknown or (self._is_foreign() and not is_told)
        unknown = [NOT_RECOGNIZED] if is_open and is_unknown else []
        return [*unknown, *describe_language(self.given, self.settings, shares), *divided]

    def _is_foreign(self) -> bool:
        """Tell whether enough texts have letters that English does not have."""
        n_foreign = sum(pc.sum(pc.match_substring_regex(texts, FOREIGN_LETTER)).as_py() or 0 for texts in self._texts)
        return n_foreign >= max(MIN_FOREIGN_SHARE * self._n_texts, MIN_FOREIGN)


def find_main_language(evidence: Evidence) -> str | None:
    """Return the language of most texts; None where it cannot be told. English is not given up for a slight lead."""
    votes = Counter(name for name in evidence.languages if name is not None)
    if not votes:
        return None
    least = MIN_MAIN_SHARE * len(evidence.languages)
    language = max(votes, key=lambda name: (votes[name], evidence.weights.get(name, 0.0), name))
    if language in evidence.weights:  # stop words tell it, not the script
        weights = evidence.weights
        frequent = [name for name in votes if name in weights and votes[name] >= least] or [language]
        language = max(frequent, key=lambda name: (weights[name], name))
        is_clear = weights[language] >= MIN_LEAD * weights["english"] and evidence.n_words[language] >= MIN_WORDS
        if language != "english" and not is_clear:
            return "english" if weights["english"] > 0 else None
    return language if votes[language] >= least else None


def is_unknown_language(evidence: Evidence, main: str | None) -> bool:
    """Tell whether the texts are in a language without stop words in the same letters, mistaken for languages with."""
    is_long = evidence.lengths >= LONG_TEXT
    n_long = int(is_long.sum())
    if n_long < MIN_LONG or (main is not None and main not in evidence.weights):
        return False
    told = Counter(name for name, long in zip(evidence.languages, is_long, strict=True) if long and name is not None)
    if main not in (None, "english") and told[main] < MIN_LONG_SHARE * n_long:
        return True
    shares = evidence.stop_word_shares[is_long & ~np.isnan(evidence.stop_word_shares)]
    if not told or told.most_common(1)[0][0] == "english":
        return False
    n_others = sum(n for name, n in told.items() if name != "english" and name in evidence.weights)
    is_spread = n_others >= MIN_OTHER_SHARE * n_long and max(told.values()) < MOST * n_long
    return is_spread and bool(np.median(shares) < MAX_STOP_WORDS)


def resolve_settings(
    settings: CountSettings, found: str | None, languages: list[str], frequent: list[str]
) -> CountSettings:
    """Return settings in which language, stop words and segmenter are set.

    They follow from the main language, and where it is not given, from those of the texts, all and the frequent ones.
    """
    language = found if settings.language == AUTO else settings.language
    stop_words = settings.stop_words
    if stop_words == AUTO:
        wanted = [*(language or "english").split(","), *(frequent if settings.language == AUTO else [])]
        known = [name for name in dict.fromkeys(wanted) if name in list_languages().values()]
        stop_words = ",".join(known) or None
    segmenter = settings.segmenter
    if segmenter == AUTO:
        wanted = [*(language or "").split(","), *languages]
        able = [find_segmenter(name) for name in dict.fromkeys(wanted)]
        segmenter = ", ".join(pin_segmenter(one) for one in able if one is not None and is_installed(one)) or NGRAMS
    elif segmenter in (one.package for one in SEGMENTERS):
        one = next(one for one in SEGMENTERS if one.package == segmenter)
        segmenter = pin_segmenter(one) if is_installed(one) else segmenter
    lemmatizer = pin_lemmatizer(settings.lemmatizer)
    changes = {"language": language, "stop_words": stop_words, "segmenter": segmenter, "lemmatizer": lemmatizer}
    return replace(settings, **changes)


def note_languages(labels: Any, settings: CountSettings) -> list[DataNote]:
    """Return notes on the documents of each language, for the report."""
    used = [name.capitalize() for name in str(settings.stop_words).split(",")]
    counts = Counter(labels.to_pylist())
    return [
        make_note(
            f"documents in {name}" if name != NOT_TOLD else "documents whose language is not told",
            n,
            len(labels),
            ""
            if name in used or name == NOT_TOLD
            else "name all languages in {stop_words} to leave out their stop words",
        )
        for name, n in counts.most_common()
    ]


def describe_language(given: CountSettings, settings: CountSettings, shares: dict[str, float]) -> list[str]:
    """Return what the language of the texts is, where it was not given, and what that means for stop words."""
    notes = []
    used = str(settings.stop_words).split(",")
    language, is_several = settings.language, len(shares) > 1
    if given.language == AUTO and language not in (None, "english") and not (is_several and len(used) > 1):
        name = str(language).capitalize()
        follows = f", and {name} stop words are left out" if settings.stop_words == language else ""
        notes.append(f"the texts seem to be {name}{follows}; for another language, pass {{language}}")
        if given.stop_words == AUTO and language not in list_languages().values():
            notes.append(f"no stop words of {name} are known; give yours with {{extra_stop_words}}")
    if is_several:
        notes.append(describe_several(settings, shares, used if given.stop_words == AUTO else []))
    if settings.language == "korean" and settings.lemmatizer is None:
        notes.append("Korean particles stay with their words; to count words without them, pass {lemmatizer} korean")
    if settings.language == "vietnamese" and not settings.phrases:
        notes.append("Vietnamese is counted by syllables; to count those that belong together as one, use {phrases}")
    return notes


def describe_several(settings: CountSettings, shares: dict[str, float], chosen: list[str]) -> str:
    """Return the shares of several languages, whose stop words were chosen, and how to leave out those of all."""
    listed = ", ".join(f"{name.capitalize()} {share:.0%}" for name, share in shares.items())
    note = f"the texts are in several languages: {listed} (of a sample)"
    if len(chosen) > 1:
        *names, last = (name.capitalize() for name in chosen)
        note += f"; the stop words of {', '.join(names)} and {last} are left out"
    if isinstance(settings.stop_words, str):
        used = settings.stop_words.split(",")
        others = [name for name in shares if name in {*list_languages().values()} - {*used}]
        if others:
            note += f"; to leave out the stop words of all, pass {{stop_words}} {','.join([*used, *others])}"
    return note


def describe_segmentation(settings: CountSettings, shares: dict[str, float]) -> list[str]:
    """Return what is counted where a language has no spaces between words and no package divides it."""
    notes, used = [], [part.split()[0] for part in settings.segmenter.split(",")]
    for language in (name for name in shares if name in UNSPACED_LANGUAGES):
        name, segmenter = language.capitalize(), find_segmenter(language)
        if segmenter is not None and segmenter.package in used:
            continue
        start = f"{name} has no spaces between words, so "
        if used == ["none"]:
            notes.append(f"{start}whole clauses are counted as words; leave {{segmenter}} out")
            continue
        parts = "pairs of characters" if language in ("chinese", "japanese") else "three syllables in a row"
        way = (
            "put spaces between the words first"
            if segmenter is None
            else f"pip install 'anchorless[{segmenter.extra}]'"
        )
        notes.append(f"{start}{parts} are counted instead of words; for words: {way}")
    return notes
