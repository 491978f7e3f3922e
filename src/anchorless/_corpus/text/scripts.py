"""Notice texts in scripts that put no spaces between words: whole clauses would be counted as words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from anchorless.errors import InputError

#: Texts that are looked at, and characters of each.
SAMPLED_TEXTS, SAMPLED_CHARACTERS = 200, 2000
#: Texts are in a script if so much of their letters is.
MIN_SHARE = 0.2


class Script(NamedTuple):
    """A script without spaces between words."""

    language: str
    letters: str  # as in a regular expression
    max_mean_length: float  # of words that are separated; runs are longer on average if nothing separates them
    package: str  # that separates words
    call: str  # with which it returns the words of a text


HAN, KANA = "㐀-䶿一-鿿豈-﫿", "ぁ-ゖァ-ヺー"
SCRIPTS = (
    Script("Japanese", f"{KANA}{HAN}々", 4.0, "janome", "janome.tokenizer.Tokenizer().tokenize(text, wakati=True)"),
    Script("Chinese", HAN, 4.0, "jieba", "jieba.cut(text)"),
    Script("Thai", "ก-ฺเ-๎", 9.0, "pythainlp", "pythainlp.word_tokenize(text)"),
    Script("Khmer", "ក-៓", 9.0, "khmer-nltk", "khmernltk.word_tokenize(text)"),
    Script("Lao", "ກ-ໍ", 9.0, "laonlp", "laonlp.tokenize.word_tokenize(text)"),
    Script("Burmese", "က-႟", 9.0, "pyidaungsu", "pyidaungsu.tokenize(text)"),
)
#: Letters by which Japanese is told from Chinese: part of the letters of a Japanese text.
MIN_KANA = 0.1
#: How the error begins that no word is left to count.
NO_WORD_LEFT = "no word is left"
LETTER = re.compile(r"[^\W\d_]")


class ScriptSample:
    """The beginnings of the first texts of a corpus."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def tee(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches of texts, and keep a sample of the first ones."""
        for batch in batches:
            missing = SAMPLED_TEXTS - len(self._texts)
            if missing > 0:
                texts = batch.slice(0, missing).to_pylist()
                self._texts += [text[:SAMPLED_CHARACTERS] for text in texts if text]
            yield batch

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """If no word is left because the texts have no spaces between words, say so."""
        try:
            yield
        except InputError as error:
            note = self.describe()
            if note is None or not error.problem.startswith(NO_WORD_LEFT):
                raise
            raise InputError(error.problem, remedy=note) from None

    def describe(self) -> str | None:
        """Return what to do if the texts have no spaces between words; None if they have."""
        script = find_unspaced(" ".join(self._texts))
        if script is None:
            return None
        name, package, call = script.language, script.package, script.call
        return (
            f"the texts seem to be {name}, which has no spaces between words, so whole clauses are counted as words "
            f"and the topics will say little; put spaces between the words first: pip install {package}, then "
            f'texts = [" ".join({call}) for text in texts]. Without a further package, count pairs of characters: '
            'TopicModel(vectorizer=CountVectorizer(analyzer="char", ngram_range=(2, 2))), from '
            "sklearn.feature_extraction.text"
        )


def find_unspaced(text: str) -> Script | None:
    """Return the script of a text whose words are not separated; None if they are, or it is in another script."""
    n_letters = len(LETTER.findall(text))
    n_kana = len(re.findall(f"[{KANA}]", text))
    for script in SCRIPTS:
        runs = re.findall(f"[{script.letters}]+", text)
        n = sum(map(len, runs))
        if script.language == "Japanese" and n_kana < MIN_KANA * n:
            continue
        if n_letters and n >= MIN_SHARE * n_letters and n > script.max_mean_length * len(runs):
            return script
    return None
