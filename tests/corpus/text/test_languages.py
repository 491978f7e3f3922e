"""The language of texts, and words of scripts with their own rules."""

import pyarrow as pa
import pytest

from anchorless._corpus.text.languages import detect_languages, validate_language
from anchorless._corpus.text.spelling import find_rewrite
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
    [
        ("de", "german"),
        ("German", "german"),
        ("en, de", "english,german"),
        ("zh-CN,pt_BR", "chinese,portuguese"),
        ("auto", "auto"),
        (None, None),
    ],
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


def test_thai_and_lao_vowel_in_two_characters_is_the_same_word():
    assert words("น้ํา นํ้า น้ำ") == ["น้ำ"] * 3
    assert words("ທໍາ ທຳ") == ["ທຳ"] * 2


def test_letters_of_pdf_files_and_of_print_are_letters():
    assert words("ﬁle oﬃce ﬂow") == ["file", "office", "flow"]
    assert words("ﻣﺤﻤﺪ محمد سلا\ufefb") == ["محمد", "محمد", "سلالا"]
    assert words("\ufb2aלום שלום") == ["שלום", "שלום"]  # one code for a letter with its point
    assert words("محمد\ufdfa") == ["محمد"]  # a blessing in one character


def test_signs_for_reading_aloud_are_no_letters():
    assert set(words("ٱلۡأَرۡضِۖ الأرض ٱلۡأَرۡضَ")) == {"الأرض"}
    assert words("لَهُۥ يَٰٓأَيُّهَا") == ["له", "يأيها"]
    assert words("آب ا\u0653ب إلى ا\u0655لى") == ["آب", "آب", "إلى", "إلى"]


def test_persian_endings_are_separated_and_arabic_letters_replaced():
    rewrite = find_rewrite("persian", True)
    assert words("می\u200cرود", rewrite=rewrite) == ["می", "رود"]
    assert words("می\u200cرود") == ["میرود"]
    assert len(set(words("كتابي کتابی", rewrite=rewrite))) == 1
    assert len(set(words("كه کہ", rewrite=find_rewrite("urdu", True)))) == 1


def test_hindi_is_the_same_with_and_without_the_dot_of_borrowed_words():
    rewrite = find_rewrite("hindi", True)
    assert set(words("फ़ाइल फाइल \u095eाइल", rewrite=rewrite)) == {"फाइल"}
    assert set(words("कहाँ कहां", rewrite=rewrite)) == {"कहां"}
    assert len(set(words("लड़का लडका", rewrite=rewrite))) == 2  # another letter, not another spelling


def test_turkish_has_two_letters_i():
    rewrite = find_rewrite("turkish", True)
    assert words("IŞIK ışık İZMİR izmir", rewrite=rewrite) == ["ışık", "ışık", "izmir", "izmir"]
    # An acronym keeps its letter, unless everything is in capitals.
    assert words("Cihazın IP ve API KAPI DIŞ", rewrite=rewrite) == ["cihazın", "ip", "ve", "api", "kapi", "dış"]
    assert words("KAPI DIŞ", rewrite=rewrite) == ["kapı", "dış"]


def test_turkish_endings_after_apostrophes_are_no_words():
    text = "Ankara'dan İzmir’e, 'kitap'"
    assert words(text, rewrite=find_rewrite("turkish", True)) == ["ankara", "izmir", "kitap"]
    assert words(text, rewrite=find_rewrite("turkish", False), lowercase=False) == ["Ankara", "İzmir", "kitap"]


def test_vietnamese_is_the_same_composed_and_decomposed():
    assert len(set(words("Việt Vie\u0323\u0302t VIỆT"))) == 1
