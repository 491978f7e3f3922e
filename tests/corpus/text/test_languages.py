"""The language of texts, and words of scripts with their own rules."""

import pyarrow as pa
import pytest

from anchorless._corpus.text.languages import detect_languages, validate_language
from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError
from tests.helpers.languages import SENTENCES


def detect(texts):
    return detect_languages(pa.array(texts, pa.large_string())).languages


def words(text, **rule):
    tokens = tokenize(pa.array([text], pa.large_string()), TokenRule(**rule))
    return tokens.words.take(pa.array(tokens.codes)).to_pylist()


def test_every_sentence_has_its_language_alone_and_among_others():
    assert detect([*SENTENCES.values()]) == [*SENTENCES]
    assert [detect([text])[0] for text in SENTENCES.values()] == [*SENTENCES]


@pytest.mark.parametrize("text", ["", "1 2 3", "Smith Jones Miller Johnson", "x = y + z", "aspirin 500 mg", None])
def test_what_tells_nothing_has_no_language(text):
    assert detect([text]) == [None]


def test_japanese_needs_kana():
    assert detect(["経済成長", "経済は成長した"]) == ["chinese", "japanese"]


@pytest.mark.parametrize(
    ("name", "language"),
    [("de", "german"), ("German", "german"), ("en, de", "english,german"), ("auto", "auto"), (None, None)],
)
def test_names_and_codes_mean_languages(name, language):
    assert validate_language(name) == language


@pytest.mark.parametrize("name", ["klingon", "english,klingon", 3, "auto,de"])
def test_unknown_languages_are_refused(name):
    with pytest.raises(InputError, match=r"language=.*german"):
        validate_language(name)


def test_arabic_with_and_without_vowel_marks_and_tatweel_is_one_word():
    assert set(words("مُحَمَّدٌ محمد مـحـمـد")) == {"محمد"}


def test_hebrew_with_and_without_points_is_one_word_and_the_maqaf_separates():
    assert words("שָׁלוֹם שלום בית־ספר") == ["שלום", "שלום", "בית", "ספר"]


def test_hindi_keeps_vowel_signs_and_joins_what_is_joined_invisibly():
    assert words("हिन्दी हिन्\u200dदी हिन्\u200cदी") == ["हिन्दी"] * 3


def test_persian_words_are_not_cut_at_the_zero_width_non_joiner():
    assert words("می\u200cرود") == ["میرود"]


def test_turkish_has_two_letters_i():
    assert words("IŞIK ışık İZMİR izmir", has_dotless_i=True) == ["ışık", "ışık", "izmir", "izmir"]
    # An acronym keeps its letter, unless everything is in capitals.
    assert words("Cihazın IP ve API KAPI DIŞ", has_dotless_i=True) == ["cihazın", "ip", "ve", "api", "kapi", "dış"]
    assert words("KAPI DIŞ", has_dotless_i=True) == ["kapı", "dış"]


def test_vietnamese_is_the_same_composed_and_decomposed():
    assert len(set(words("Việt Vie\u0323\u0302t VIỆT"))) == 1
