"""Settings that follow from the language of texts, and what is said about it."""

from dataclasses import replace

import pyarrow as pa
import pytest

from anchorless import Corpus, CountSettings, TopicModel
from anchorless._corpus.language import NOT_RECOGNIZED, LanguageSample, describe_segmentation
from anchorless._corpus.text import segmentation
from anchorless._corpus.text.spelling import rewrite_turkish
from anchorless.errors import InputError
from tests.helpers.languages import CHINESE, JAPANESE, SENTENCES, THAI, UNKNOWN
from tests.helpers.planted_texts import planted_texts

GERMAN, ENGLISH, FRENCH = (SENTENCES[name] for name in ("german", "english", "french"))


def resolve(texts, **settings):
    sample = LanguageSample(CountSettings(**settings))
    found, _ = sample.resolve([pa.array(texts, pa.large_string())])
    return found, sample.describe()


def test_english_texts_are_counted_as_if_nothing_were_found():
    for texts in ([ENGLISH] * 5, planted_texts(5)[0], ["cat mouse", "rocket orbit"], ["", ""]):
        found, notes = resolve(texts)
        assert found.stop_words == "english"
        assert notes == []


def test_the_language_is_said_and_stop_words_follow():
    found, notes = resolve([GERMAN] * 5)
    assert (found.language, found.stop_words) == ("german", "german")
    assert notes == [
        "the texts seem to be German, and German stop words are left out; for another language, pass {language}"
    ]


def test_a_given_language_is_not_questioned():
    found, notes = resolve([GERMAN] * 5, language="de")
    assert (found.stop_words, notes) == ("german", [])
    assert resolve([GERMAN], stop_words="english")[0].stop_words == "english"


def test_stop_words_of_all_frequent_languages_are_left_out_and_the_others_said():
    found, notes = resolve([GERMAN] * 6 + [FRENCH] * 3 + [ENGLISH])
    assert (found.language, found.stop_words) == ("german", "german,french")
    assert "German 60%, French 30%, English 10%" in notes[0]
    assert "the stop words of German and French are left out" in notes[0]
    assert "{stop_words} german,french,english" in notes[0]
    assert "pass" not in resolve([GERMAN, FRENCH], stop_words="german,french")[1][0]
    assert resolve([GERMAN] * 6 + [FRENCH] * 3, language="german")[0].stop_words == "german"


def test_few_texts_in_other_letters_are_enough_for_their_stop_words():
    texts = [ENGLISH] * 17 + [CHINESE[0], SENTENCES["russian"], GERMAN]
    found, notes = resolve(texts)
    assert set(found.stop_words.split(",")) == {"english", "chinese", "russian"}
    assert "german" in notes[0].split("{stop_words}")[1]  # its stop words may be words of English, such as war
    assert set(resolve([JAPANESE[0]] * 9 + [CHINESE[0]])[0].stop_words.split(",")) == {"japanese"}  # both have 人


def test_texts_in_two_scripts_have_the_stop_words_of_both(monkeypatch):
    mixed = [f"{ENGLISH} {ENGLISH} {text}" for text in CHINESE]  # by their letters, they are English
    assert set(resolve(mixed)[0].stop_words.split(",")) == {"english", "chinese"}
    assert resolve([ENGLISH + " by 王 and 李"] * 5)[0].stop_words == "english"
    monkeypatch.setattr(segmentation, "find_version", lambda package: None)
    assert "Chinese has no spaces" in resolve(mixed)[1][-1]


def test_a_language_that_is_not_recognized_is_said_where_letters_show_that_it_is_not_english():
    basque = "Zaldiak eta behiak larrean daude, eta artzaina haiekin dago; ñabardura"
    found, notes = resolve([basque] * 5)
    assert (found.language, found.stop_words) == (None, "english")
    assert notes == [NOT_RECOGNIZED]


@pytest.mark.parametrize("language", UNKNOWN)
def test_a_language_without_stop_words_is_not_mistaken_for_those_with(language):
    """Some sentences have two stop words of Spanish, Croatian or Vietnamese by chance, or letters of Vietnamese."""
    found, notes = resolve(UNKNOWN[language] * 8)
    assert (found.language, found.stop_words) == (None, "english")
    assert notes == [NOT_RECOGNIZED]
    assert resolve(UNKNOWN[language] * 8, language=None)[1] == []


def test_many_languages_with_equal_shares_are_all_said():
    names = ("german", "french", "spanish", "italian", "portuguese", "dutch")
    (note,) = resolve([SENTENCES[name] for name in names] * 6)[1]
    assert all(f"{name.capitalize()} 17%" in note for name in names)


def test_danish_is_not_given_up_for_the_words_that_it_shares_with_norwegian():
    danish = "Angiv venligst adressen på den enhed, der skal bruges til at oprette forbindelse"
    norwegian = "Angi adressen til enheten som skal brukes for å opprette en forbindelse, og ikke noe annet som ble"
    assert resolve([danish] * 12 + [norwegian] * 2)[0].language == "danish"


def test_two_names_are_two_lists_and_a_mixture_is_refused():
    both = CountSettings(stop_words=["english", "german"])
    assert both == CountSettings(stop_words="en, de")
    assert {"the", "und"} <= set(both.to_token_rule().stop_words.to_pylist())
    assert CountSettings(stop_words=["it", "no"]).stop_words == ("it", "no")  # words that are also codes
    with pytest.raises(InputError, match=r"'english' names the stop words.*stop_words='english'.*extra_stop_words"):
        CountSettings(stop_words=["english", "foo"])


def test_turkish_letters_follow_the_language():
    assert resolve([SENTENCES["turkish"]])[0].to_token_rule().rewrite is rewrite_turkish
    assert resolve([ENGLISH])[0].to_token_rule().rewrite is None


def test_what_helps_with_korean_and_vietnamese_is_said_until_it_is_used():
    assert "{lemmatizer} korean" in resolve([SENTENCES["korean"]] * 3)[1][-1]
    assert "{phrases}" in resolve([SENTENCES["vietnamese"]] * 3)[1][-1]
    assert "{phrases}" not in resolve([SENTENCES["vietnamese"]] * 3, phrases=True)[1][-1]


@pytest.mark.parametrize(("texts", "name"), [(CHINESE, "chinese"), (JAPANESE, "japanese"), (THAI, "thai")])
def test_the_fallback_is_said_with_the_command(texts, name, monkeypatch):
    monkeypatch.setattr(segmentation, "find_version", lambda package: None)
    found, notes = resolve(texts)
    assert found.segmenter == "ngrams"
    assert notes[-1].endswith(f"pip install 'anchorless[{name}]'")


def test_the_segmenter_is_recorded_with_its_version():
    pytest.importorskip("rjieba")
    found, _ = resolve(CHINESE)
    assert found.segmenter.startswith("rjieba ")
    assert describe_segmentation(found, {"chinese": 1.0}) == []


def test_languages_without_a_package_and_whole_clauses_are_said():
    settings = CountSettings(segmenter="ngrams")
    assert "put spaces between the words first" in describe_segmentation(settings, {"lao": 1.0})[0]
    assert "whole clauses" in describe_segmentation(replace(settings, segmenter="none"), {"lao": 1.0})[0]


@pytest.mark.parametrize("segmenter", ["auto", "ngrams"])
@pytest.mark.filterwarnings("ignore")
def test_a_saved_model_divides_texts_as_the_fit_did(tmp_path, segmenter):
    texts = [text + str(i) for i in range(8) for text in (*CHINESE, *JAPANESE)]
    model = TopicModel(2, segmenter=segmenter, max_df=0.9, n_jobs=1).fit(texts)
    assert max(map(len, model.vocabulary_)) <= 6
    model.save(tmp_path / "m")
    again = TopicModel.load(tmp_path / "m")
    assert again.fitted_counting_.segmenter == model.fitted_counting_.segmenter
    assert (again.transform(texts) == model.document_topics_).all()


def test_counts_do_not_depend_on_batches_or_storage():
    texts = [text + str(i) for i in range(30) for text in (*CHINESE, *THAI, GERMAN)]
    counting = CountSettings(segmenter="ngrams", max_df=1.0)
    with (
        Corpus.from_texts(texts, counting=counting, n_jobs=1) as one,
        Corpus.from_texts(texts, counting=counting, memory=1, n_jobs=2) as stored,
    ):
        assert one.vocabulary == stored.vocabulary
        assert (one.to_matrix() != stored.to_matrix()).nnz == 0


def test_the_reason_is_in_the_error_if_no_word_is_left():
    texts = [f"{chr(0x4E00 + 7 * i)}{chr(0x5E00 + 7 * i)}" for i in range(2000)]
    with pytest.raises(InputError, match=r"no word is left.*Chinese has no spaces between words"):
        Corpus.from_texts(texts, counting=CountSettings(segmenter="ngrams"))


def test_pieces_of_partial_fit_have_the_language_of_the_first():
    model = TopicModel(2, min_df=1, max_df=1.0, n_jobs=1)
    with pytest.warns(UserWarning, match="seem to be German"):
        model.partial_fit([GERMAN] * 4 + ["Der Hund bellt und die Katze schläft nicht"] * 4)
    model.partial_fit([ENGLISH] * 4)
    assert model.fitted_counting_.language == "german"
    assert "the" in model.vocabulary_
