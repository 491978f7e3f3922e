"""Stop words by language: words that tell nothing about the subject of a text."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import pyarrow as pa

from anchorless._corpus.text.tokens import TokenRule, tokenize
from anchorless.errors import InputError

# This list has the closed classes of words, in every form, and the light verbs. Those of packages do not do: stop-words
# removes computer, research and state; scikit-learn removes bill, fire and system, but keeps did, does, don and ve.
ENGLISH = """
    a an the this that these those such same other others another each every either neither both all any some none no
    not nor only own one two three four five six seven eight nine ten first last much many
    more most few fewer less least several enough half quite rather
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves who whom whose which what whoever whomever whatever
    whichever someone somebody something anyone anybody anything everyone everybody everything nobody nothing noone
    am is are was were be been being have has had having do does did doing done can cannot could may might must shall
    should will would ought become becomes became becoming
    get gets got getting gotten give gives gave given giving go goes going gone went keep keeps kept let lets make makes
    made making put puts say says said saying see seen seem seems seemed seeming take takes took taken taking
    and or but if then else because as until while whereas although though unless whether since so than thus hence
    therefore however moreover furthermore nevertheless nonetheless otherwise besides meanwhile namely
    of at by for with without about against between among amongst into onto through throughout during before after above
    below to from up down in out on off over under beneath beside behind beyond within across along around toward
    towards upon via per despite due except like unlike near inside outside till
    again further once here there where when why how ever never always often sometimes sometime somewhere somehow
    anywhere anyhow anyway everywhere nowhere elsewhere wherever whenever now just also too very even still yet already
    almost perhaps maybe indeed really actually soon later ago away back together alone mostly mainly especially
    afterwards beforehand formerly latter latterly well
    thereby therein thereafter thereupon hereby herein hereafter hereupon whereafter whereby wherein whereupon whence
    thence whither
    please yes oh ok okay etc ie eg vs re
    b c d e f g h j k l m n o p q r s t u v w x y z ll ve
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren wouldn
    arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive shouldnt thats theyre wasnt werent whats wont
    wouldnt youre
"""

#: The package's Turkish list was decoded wrongly: altmýþ for altmış. Turkish has no ý, þ or ð.
TURKISH_LETTERS = str.maketrans("ýþðÝÞÐ", "ışğİŞĞ")
#: The list called greek is of ancient Greek, and has no stop word of modern Greek.
EXCLUDED_LANGUAGES = frozenset({"greek"})
#: Names that mean no stop words.
NO_STOP_WORDS = ("none", "")


def list_languages() -> dict[str, str]:
    """Return the names that can be given, each with its language: fr and french both mean french."""
    from stop_words import LANGUAGE_MAPPING

    known = {**LANGUAGE_MAPPING, "en": "english"}
    known |= {language: language for language in known.values()}
    return {name: language for name, language in known.items() if language not in EXCLUDED_LANGUAGES}


def resolve_language(name: str) -> str | None:
    """Return the language that a name means; None for no stop words."""
    wanted = name.strip().lower()
    if wanted in NO_STOP_WORDS:
        return None
    known = list_languages()
    if wanted not in known:
        problem = f"stop words are known for: {', '.join(sorted(set(known.values())))}"
        remedy = "give one of these, none, or a list of words"
        raise InputError(problem, parameter="stop_words", value=name, remedy=remedy)
    return known[wanted]


@cache
def load_stop_words(language: str) -> tuple[str, ...]:
    """Return the stop words of a language as they are in the list, without phrases of several words."""
    if language == "english":
        return tuple(ENGLISH.split())
    from stop_words import get_stop_words

    listed = [entry.strip() for entry in get_stop_words(language)]
    if language == "turkish":
        listed = [entry.translate(TURKISH_LETTERS) for entry in listed]
    # The single words of a phrase need not be stop words.
    return tuple(unicodedata.normalize("NFC", entry) for entry in listed if len(entry.split()) == 1)


def normalize_stop_words(words: tuple[str, ...], strip_accents: bool) -> Any:
    """Return words in the form in which `tokenize` compares them, as a pa.Array.

    They are tokenized themselves: this removes quotes and marks around them, and turns qu' into qu, as in qu'il.
    """
    listed = pa.array(words, type=pa.large_string())
    return tokenize(listed, TokenRule(lowercase=True, strip_accents=strip_accents, min_length=1)).words
