"""The forms in which words are counted."""

import pyarrow as pa
import pytest

from anchorless import Corpus, CountSettings, TopicModel
from anchorless._corpus.text.lemmas import make_lemmatize, strip_particles
from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError

TEXTS = ["cats chase mice", "a cat chases a mouse", "rockets reach orbits", "the rocket reached its orbit"] * 3


def shorten(word):
    return word[:3]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("날씨가", "날씨"),  # after a vowel
        ("산책을", "산책"),  # after a consonant
        ("전문가", "전문가"),  # 가 does not follow a consonant
        ("서울로", "서울"),  # ㄹ takes the form of a vowel
        ("학교에서는", "학교"),
        ("국가", "국가"),  # too little would be left
        ("city는", "city는"),
    ],
)
def test_korean_particles_go_where_they_fit(word, stem):
    assert strip_particles(word) == stem


def test_words_are_counted_in_the_form_of_the_function_and_stop_words_go_before_and_after():
    lemmas = {"cats": "cat", "ran": "xx"}
    rule = TokenRule(lemmatize=lambda word: lemmas.get(word, word), stop_words=pa.array(["were", "xx"]))
    tokens = tokenize(pa.array(["cats were cat ran"], pa.large_string()), rule)
    assert tokens.words.take(pa.array(tokens.codes)).to_pylist() == ["cat", "cat"]


def test_dictionary_forms():
    pytest.importorskip("simplemma")
    lemmatize = make_lemmatize("simplemma", "german")
    assert [lemmatize(word) for word in ("häuser", "ging")] == ["haus", "gehen"] or lemmatize(
        "häuser"
    ).lower() == "haus"
    with pytest.raises(InputError, match="no dictionary of Thai"):
        make_lemmatize("simplemma", "thai")


@pytest.mark.parametrize("given", ["porter", 3, ["simplemma"]])
def test_unknown_lemmatizers_are_refused(given):
    with pytest.raises(InputError, match=r"lemmatizer=.*simplemma or korean, or in Python a function"):
        CountSettings(lemmatizer=given)


@pytest.mark.filterwarnings("ignore")
def test_a_model_with_a_function_asks_for_it_again(tmp_path):
    model = TopicModel(2, lemmatizer=shorten, n_jobs=1).fit(TEXTS)
    assert {"cat", "roc"} <= set(model.vocabulary_)
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"a lemmatizer of yours, .*shorten.*TopicModel\.load\(path, lemmatizer=…\)"):
        TopicModel.load(tmp_path / "m").transform(TEXTS)
    again = TopicModel.load(tmp_path / "m", lemmatizer=shorten)
    assert (again.transform(TEXTS) == model.transform(TEXTS)).all()


def test_the_version_is_recorded():
    pytest.importorskip("simplemma")
    with Corpus.from_texts(TEXTS, counting=CountSettings(lemmatizer="simplemma")) as corpus:
        assert corpus.counting.lemmatizer.startswith("simplemma ")
        assert "mouse" in corpus.vocabulary
        assert "mice" not in corpus.vocabulary
