"""The settings of counting: plain values, checked when they are made."""

import dataclasses
import json

import pytest

from anchorless._corpus.settings import CountSettings
from anchorless._corpus.text.stop_words import load_stop_words
from anchorless.errors import InputError


@pytest.mark.parametrize(
    "settings",
    [
        CountSettings(),
        CountSettings(stop_words=None, ngram_range=(1, 3), min_df=0.01, max_df=7, max_features=10),
        CountSettings(
            stop_words=("a", "b"), extra_stop_words=("é",), lowercase=False, strip_accents=True, email=True, html=True
        ),
        CountSettings(stop_words="french").pin_stop_words(),
    ],
)
def test_settings_survive_json(settings):
    assert CountSettings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings


def test_lists_become_tuples_and_names_become_one():
    assert CountSettings(stop_words=["a"], ngram_range=[1, 2]) == CountSettings(stop_words=("a",), ngram_range=(1, 2))
    assert CountSettings(stop_words="EN") == CountSettings(stop_words="english")
    assert CountSettings(stop_words="none") == CountSettings(stop_words=None)
    assert hash(CountSettings(stop_words=["a"])) == hash(CountSettings(stop_words=("a",)))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"stop_words": "klingon"}, "stop_words='klingon'"),
        ({"stop_words": 3}, "stop_words=3, but it must be a list of words"),
        ({"stop_words": ["a", 4]}, "stop_words holds 4"),
        ({"extra_stop_words": "the"}, "extra_stop_words='the'"),
        ({"ngram_range": (2, 1)}, r"ngram_range=\(2, 1\), but .* the smaller one first"),
        ({"ngram_range": (0, 1)}, r"ngram_range=\(0, 1\), but .* from 1 to 50"),
        ({"ngram_range": (1, 10**6)}, r"ngram_range=\(1, 1000000\), but .* from 1 to 50"),
        ({"ngram_range": 2}, "ngram_range=2"),
        ({"ngram_range": "12"}, "ngram_range='12'"),
        ({"ngram_range": (1, 2, 3)}, "ngram_range="),
        ({"min_df": 0}, "min_df=0"),
        ({"min_df": -0.1}, "min_df=-0.1"),
        ({"min_df": True}, "min_df=True"),
        ({"min_df": "5"}, "min_df='5'"),
        ({"max_df": 1.5}, r"max_df=1\.5.*share from 0\.0 to 1\.0"),
        ({"max_df": None}, "max_df=None"),
        ({"max_df": float("nan")}, "max_df=nan"),
        ({"max_features": 0}, "max_features=0"),
        ({"min_length": 0}, "min_length=0"),
        ({"lowercase": "yes"}, "lowercase='yes'"),
        ({"strip_accents": 1}, "strip_accents=1"),
        ({"email": None}, "email=None"),
        ({"html": 1}, "html=1"),
    ],
)
def test_wrong_settings_are_refused_by_name(setting, message):
    with pytest.raises(InputError, match=message):
        CountSettings(**setting)


@pytest.mark.parametrize(
    ("n_documents", "least"), [(1, 1), (99, 1), (100, 2), (999, 2), (1000, 5), (29_999, 5), (30_000, 6), (10**6, 200)]
)
def test_min_df_follows_the_number_of_documents(n_documents, least):
    assert CountSettings().compute_df_bounds(n_documents) == (least, n_documents / 2)


def test_given_bounds_hold():
    assert CountSettings(min_df=3, max_df=10).compute_df_bounds(1000) == (3, 10)
    assert CountSettings(min_df=0.25, max_df=1.0).compute_df_bounds(8) == (2.0, 8.0)


def test_pinned_settings_hold_the_words_themselves():
    settings = CountSettings(stop_words="german", extra_stop_words=("Haus",))
    assert settings.pin_stop_words().extra_stop_words == (*load_stop_words("german"), "Haus")
    assert settings.pin_stop_words().to_token_rule().stop_words.equals(settings.to_token_rule().stop_words)
    assert settings.pin_stop_words().pin_stop_words() == settings.pin_stop_words()


def test_extra_words_add_to_those_of_the_language():
    words = CountSettings(extra_stop_words=("Foo", "l'État")).to_token_rule().stop_words.to_pylist()
    assert {"the", "foo", "l", "état"} <= set(words)
    assert len(CountSettings(stop_words=None).to_token_rule().stop_words) == 0
