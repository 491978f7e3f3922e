"""Stop words by language."""

import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from anchorless._corpus.text.languages import validate_language
from anchorless._corpus.text.stop_word_lists import ENGLISH
from anchorless._corpus.text.stop_words import (
    list_languages,
    load_stop_words,
    normalize_stop_words,
    resolve_languages,
)
from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError

# What scikit-learn's list removes and ours keeps: words that topics are about, numbers and misspellings.
CONTENT_WORDS = """
    amoungst amount bill bottom call co con cry de describe detail eleven empty fifteen fifty fill find fire former
    forty found front full hundred inc interest ltd mill move name next part serious show side sincere sixty system
    thick thin third thru top twelve twenty un whole
"""


def compared(language, strip_accents=False):
    return set(normalize_stop_words(load_stop_words(language), strip_accents).to_pylist())


def left_of(text, language):
    rule = TokenRule(stop_words=normalize_stop_words(load_stop_words(language), False))
    return tokenize(pa.array([text]), rule).words.to_pylist()


def test_english_has_no_word_twice():
    assert sorted(ENGLISH.split()) == sorted(set(ENGLISH.split()))


def test_english_covers_the_function_words_of_scikit_learn():
    assert set(ENGLISH_STOP_WORDS) - compared("english") == set(CONTENT_WORDS.split())


def test_english_keeps_what_topics_are_about():
    topical = "bill fire system mill cry computer microsoft research state world year windows god team space won"
    assert compared("english").isdisjoint(topical.split())


def test_contractions_leave_nothing_behind():
    text = "I don't, you'll, we've, she's, they'd, isn't, wasn't, couldn’t, doesn't, didn't, ain't, I'm, you're, hasn't"
    assert left_of(text, "english") == []


@pytest.mark.parametrize(
    ("language", "text", "left"),
    [
        ("chinese", "因为 我们 這個 為了 銀行 沒有", ["銀行"]),  # in simplified and traditional characters
        ("french", "qu'il n'est pas l'eau de la mer", ["eau", "mer"]),
        ("turkish", "altmış kırk şey nasıl kitap", ["kitap"]),  # the package has altmýþ
        ("hebrew", "אבל אולי ספר", ["ספר"]),  # the package has them in quotation marks
        ("slovak", "a aby kniha", ["kniha"]),  # the package has a byte order mark before the first
        ("german", "das ist aber ein Buch", ["buch"]),
        ("hindi", "इन्हें और किताब", ["किताब"]),
        ("arabic", "هل أنت إلى أو كتاب", ["كتاب"]),  # the package spells them without hamza
        ("arabic", "وهذا فإن ومن ولي فهم كتاب", ["فهم", "كتاب", "ولي"]),  # and, written as one with the next word
        ("hebrew", "וזה ואני ועד ספר", ["ועד", "ספר"]),
        ("urdu", "یہ کتاب ہے اور وہ نہیں", ["کتاب"]),
        ("bengali", "এটা আমার বই এবং তোমার", ["বই"]),
        ("marathi", "हे माझे पुस्तक आहे आणि", ["पुस्तक"]),
        ("tamil", "இது எனது புத்தகம் மற்றும்", ["புத்தகம்"]),
        ("serbian", "ово је књига која није моја", ["књига"]),
        ("croatian", "ovo je knjiga koja nije moja", ["knjiga"]),
        ("slovenian", "to je knjiga, ki ni moja", ["knjiga"]),
        ("latvian", "šī ir grāmata, kas nav mana", ["grāmata"]),
        ("lithuanian", "tai yra knyga, kuri ne mano", ["knyga"]),
        ("estonian", "see on raamat, mis ei ole minu", ["raamat"]),
        ("korean", "책이 있습니다 또는 없습니다", ["책이"]),
        ("spanish", "además también el perro", ["perro"]),
        ("russian", "всё будет книга", ["книга"]),
    ],
)
def test_stop_words_meet_the_words_of_texts(language, text, left):
    assert left_of(text, language) == left


@pytest.mark.parametrize("language", sorted(set(list_languages().values())))
def test_every_list_is_made_of_words_in_their_own_form(language):
    listed = compared(language)
    assert len(listed) >= 40
    again = tokenize(pa.array(sorted(listed)), TokenRule(min_length=1)).words.to_pylist()
    assert again == sorted(listed)


def test_phrases_are_left_out_whole():
    assert all(len(word.split()) == 1 for word in load_stop_words("vietnamese"))


def test_accents_come_off_stop_words_too():
    assert "ete" in compared("french", strip_accents=True)
    assert "été" not in compared("french", strip_accents=True)


def test_names_codes_and_none():
    assert resolve_languages("English") == resolve_languages("en") == "english"
    assert resolve_languages("fr") == resolve_languages("fr-CA") == "french"
    assert resolve_languages("none") is resolve_languages("") is None


@pytest.mark.parametrize("name", ["klingon", "english,klingon", "xx"])
def test_unknown_languages_get_the_list(name):
    with pytest.raises(InputError, match=f"stop_words='{name}'.*arabic, bengali, bulgarian.*vietnamese, several"):
        resolve_languages(name)


def test_a_misspelled_language_is_answered_with_the_nearest_name():
    with pytest.raises(InputError, match=r"no stop words are known for 'germn'.*; did you mean german\?$"):
        resolve_languages("english,germn")
    with pytest.raises(InputError, match=r"name of a language.*; did you mean german\?$"):
        validate_language("germn")
