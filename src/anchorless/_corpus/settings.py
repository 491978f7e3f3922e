"""How texts are counted, as one record of plain values, checked when it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from anchorless._corpus.text.languages import validate_language
from anchorless._corpus.text.lemmas import make_lemmatize, name_lemmatizer, validate_lemmatizer
from anchorless._corpus.text.segmentation import make_segment, validate_segmenter
from anchorless._corpus.text.spelling import find_rewrite
from anchorless._corpus.text.splitting import parse_split
from anchorless._corpus.text.stop_words import (
    load_stop_words,
    normalize_stop_words,
    resolve_languages,
    resolve_listed_languages,
)
from anchorless._corpus.text.tokens import TokenRule
from anchorless._validation import check_whole
from anchorless.errors import InputError

#: min_df where none is given, by the number of documents below which it holds: a word in a handful of documents of
#: many co-occurs with too few others to say anything.
MIN_DF_BY_SIZE = ((100, 1), (1000, 2))
DEFAULT_MIN_DF = 5
#: In a large collection a word must be in one of this many documents, or every misspelling would join the vocabulary.
DOCUMENTS_PER_WORD = 5000

#: Words of the longest term: there is an array for each length.
MAX_TERM_WORDS = 50

#: The settings that `TopicModel` and the command line offer.
COUNTING_PARAMETERS = (
    *("stop_words", "extra_stop_words", "ngram_range", "min_df", "max_df", "max_features", "email", "html"),
    *("language", "segmenter", "phrases", "lemmatizer"),
    *("split", "drop_boilerplate", "deduplicate"),
)
#: The value of settings that the texts decide, see `_corpus.language`.
AUTO = "auto"


@dataclass(frozen=True)
class CountSettings:
    """How texts are counted: plain values, which JSON can store.

    Parameters
    ----------
    stop_words : str, sequence of str or None, default="auto"
        The name of a language ("english" or "en"), names of several ("english,german" or a list of names), the words
        themselves, or None or "none" for no stop words. "auto" means those of `language`.
    extra_stop_words : sequence of str, default=()
        Further words to leave out.
    ngram_range : tuple of (int, int), default=(1, 1)
        Least and largest number of words in a term, up to 50. Stop words, numbers and short words are left out before.
    min_df : int, float or None, default=None
        The least number of documents that must contain a term, or as a float the share of the documents. None: 1
        below 100 documents, 2 below 1,000, otherwise 5, or one document in 5,000 where that is more.
    max_df : int or float, default=0.5
        The largest number of documents that may contain a term, or as a float the share of the documents.
    max_features : int or None, default=None
        The largest number of terms: those that occur most often, with ties in alphabetical order.
    lowercase : bool, default=True
        Whether to convert texts to lower case.
    strip_accents : bool, default=False
        Whether to remove accents, so that "é" counts as "e".
    min_length : int, default=2
        The least number of characters in a word.
    email : bool, default=False
        Leave out headers (except the subject), quotations and signatures of mail and news posts.
    html : bool, default=False
        Leave out tags, comments, scripts and styles of web pages, and read &eacute; as é.
    language : str or None, default="auto"
        The language of the texts, or several ("english,german"). "auto" finds it from the first texts; where it cannot
        be told, the stop words are English.
    segmenter : str, default="auto"
        How to find words where there are no spaces between them (Chinese, Japanese, Thai and others): "auto" uses
        the package for the language if it is installed ("rjieba", "sudachipy", "pythainlp"), and otherwise "ngrams",
        pairs of Chinese characters or three syllables. "none" takes everything between two spaces or marks as a word.
    phrases : bool, default=False
        Count two words that stand next to each other far more often than by chance as one, such as "climate change".
    lemmatizer : str, callable or None, default=None
        The form in which a word is counted: "simplemma" (its dictionary form), "korean" (without particles), or a
        function from one word to another.
    split : {"paragraph", "section"}, int or None, default=None
        Divide long documents into parts, which are counted as documents: at paragraphs, at headings, or after about
        this many words. None keeps documents whole.
    drop_boilerplate : bool, default=False
        Leave out lines of at least 20 characters and 5 words that stand in 5% of the documents or more, and encoded
        binaries.
    deduplicate : bool, default=False
        Leave out near-copies of earlier documents: those with 80% of their sequences of five words in common. It holds
        for the documents of a fit, not for those that a model is applied to.
    boilerplate : sequence of str, default=()
        The lines that `drop_boilerplate` leaves out, once they are found.

    Examples
    --------
    >>> from anchorless import CountSettings
    >>> CountSettings(ngram_range=(1, 2)).compute_df_bounds(n_documents=500)
    (2, 250.0)
    """

    stop_words: str | tuple[str, ...] | None = AUTO
    extra_stop_words: tuple[str, ...] = ()
    ngram_range: tuple[int, int] = (1, 1)
    min_df: int | float | None = None
    max_df: int | float = 0.5
    max_features: int | None = None
    lowercase: bool = True
    strip_accents: bool = False
    min_length: int = 2
    email: bool = False
    html: bool = False
    language: str | None = AUTO
    segmenter: str = AUTO
    phrases: bool = False
    lemmatizer: str | Callable[[str], str] | None = None
    split: str | int | None = None
    drop_boilerplate: bool = False
    deduplicate: bool = False
    boilerplate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)  # the dataclass is frozen; JSON brings lists for tuples
        if self.stop_words is None or isinstance(self.stop_words, str):
            is_auto = str(self.stop_words).strip().lower() == AUTO
            put("stop_words", AUTO if is_auto else resolve_languages(self.stop_words or "none"))
        else:
            words = validate_words("stop_words", self.stop_words)
            put("stop_words", resolve_listed_languages(words) or words)
        put("language", validate_language(self.language))
        put("segmenter", validate_segmenter(self.segmenter))
        put("lemmatizer", validate_lemmatizer(self.lemmatizer))
        put("extra_stop_words", validate_words("extra_stop_words", self.extra_stop_words))
        pair: Any = self.ngram_range
        whole = isinstance(pair, Sequence) and len(pair) == 2 and all(type(n) is int for n in pair)
        if not whole or not 1 <= pair[0] <= pair[1] <= MAX_TERM_WORDS:
            problem = f"it must be two whole numbers from 1 to {MAX_TERM_WORDS}, the smaller one first, such as 1 and 2"
            raise InputError(problem, parameter="ngram_range", value=pair)
        put("ngram_range", tuple(pair))
        if self.min_df is not None:
            put("min_df", validate_df("min_df", self.min_df))
        put("max_df", validate_df("max_df", self.max_df))
        if self.max_features is not None:
            put("max_features", check_whole("max_features", self.max_features))
        put("min_length", check_whole("min_length", self.min_length))
        rule = parse_split(self.split)
        put("split", None if rule is None else rule.value)
        put("boilerplate", validate_words("boilerplate", self.boilerplate))
        for name in ("lowercase", "strip_accents", "email", "html", "drop_boilerplate", "deduplicate", "phrases"):
            if not isinstance(getattr(self, name), bool):
                raise InputError("it must be True or False", parameter=name, value=getattr(self, name))
        if self.phrases and self.ngram_range != (1, 1):
            problem = "phrases are found among single words"
            raise InputError(problem, parameter="ngram_range", value=self.ngram_range, remedy="drop one of the two")

    def pin_stop_words(self) -> CountSettings:
        """Replace the name of a language by its stop words, which may change from release to release.

        Returns
        -------
        CountSettings
            The same settings, with the stop words themselves.
        """
        # Among the extra words, since a list of stop words that holds "english" would mean a language.
        return replace(self, stop_words=None, extra_stop_words=self._list_stop_words())

    def to_dict(self) -> dict[str, Any]:
        """Convert the settings to values that JSON can hold.

        Returns
        -------
        dict
            The settings, with the stop words themselves; a lemmatizer of the user is recorded by its name.
        """
        return asdict(replace(self.pin_stop_words(), lemmatizer=None)) | {
            "lemmatizer": name_lemmatizer(self.lemmatizer)
        }

    def compute_df_bounds(self, n_documents: int) -> tuple[float, float]:
        """Compute how many documents must, and may, contain a term.

        Parameters
        ----------
        n_documents : int
            The number of all documents.

        Returns
        -------
        tuple of (float, float)
            The least and the largest number of documents.
        """
        least = self.min_df
        if least is None:
            usual = max(DEFAULT_MIN_DF, n_documents // DOCUMENTS_PER_WORD)
            least = next((df for below, df in MIN_DF_BY_SIZE if n_documents < below), usual)
        counts = [value * n_documents if isinstance(value, float) else value for value in (least, self.max_df)]
        return counts[0], counts[1]

    def to_token_rule(self) -> TokenRule:
        """Make the rule that splits texts into words.

        Returns
        -------
        TokenRule
            The rule.
        """
        rewrite = find_rewrite(self.language, self.lowercase)
        return TokenRule(
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            min_length=self.min_length,
            stop_words=normalize_stop_words(self._list_stop_words(), self.strip_accents, rewrite),
            segment=make_segment(self.segmenter),
            lemmatize=make_lemmatize(self.lemmatizer, self.language),
            rewrite=rewrite,
            with_neighbors=self.phrases,
        )

    @property
    def counted_ngrams(self) -> tuple[int, int]:
        """Least and largest number of words of the terms that are counted, before phrases are selected among them."""
        return (1, 2) if self.phrases else self.ngram_range

    def _list_stop_words(self) -> tuple[str, ...]:
        words = self.stop_words or ()
        if isinstance(words, str):
            words = load_stop_words("english" if words == AUTO else words)
        return (*words, *self.extra_stop_words)


def validate_words(name: str, words: object) -> tuple[str, ...]:
    """Return words as a tuple."""
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise InputError("it must be a list of words", parameter=name, value=words)
    listed = tuple(words)
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"{name} holds {word!r}, but words are strings")
    return listed


def validate_df(name: str, value: object) -> int | float:
    """Return a whole number of documents of at least 1, or a share of them."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and 0.0 <= float(value) <= 1.0:
        return float(value)
    problem = "it must be a whole number of documents from 1, or a share from 0.0 to 1.0"
    raise InputError(problem, parameter=name, value=value)
