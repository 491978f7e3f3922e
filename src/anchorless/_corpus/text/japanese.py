"""Words of Japanese texts by SudachiPy, the only module that imports it.

Nouns, verbs and adjectives are counted, verbs and adjectives in their dictionary form; words that only have a function
in the sentence are left out by their part of speech. A prefix belongs to its word: 再起動 is one word.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

#: Parts of speech that are no words of their own: particles, auxiliary verbs, symbols, blanks, endings, and
#: words that only have a function: pronouns (それ), adnominals (この), conjunctions (また), adverbs (すでに),
#: interjections (はい).
DROPPED = frozenset(("助詞", "助動詞", "補助記号", "空白", "接尾辞", "代名詞", "連体詞", "接続詞", "副詞", "感動詞"))
#: The same by part of speech and its kind: light verbs and adjectives (する, ある, ない), stems (よう), numbers.
DROPPED_KINDS = frozenset(
    (
        ("動詞", "非自立可能"),
        ("形容詞", "非自立可能"),
        ("形状詞", "助動詞語幹"),
        ("名詞", "助動詞語幹"),
        ("名詞", "数詞"),
    )
)
PREFIX, HONORIFICS = "接頭辞", frozenset(["お", "ご", "御"])
_local = threading.local()


@cache
def load_dictionary() -> Any:
    """Load the dictionary, once."""
    from sudachipy import Dictionary

    return Dictionary(dict="small")


def split_japanese(text: str) -> list[str]:
    """Return the words of a run of Japanese letters; an empty string stands for one that is left out."""
    if not hasattr(_local, "tokenizer"):  # a tokenizer may be used by one thread only
        dictionary = load_dictionary()
        _local.tokenizer = getattr(dictionary, "tokenizer", dictionary.create)()
    found, prefix = [], ""
    for word in _local.tokenizer.tokenize(text):
        kind = word.part_of_speech()
        if kind[0] == PREFIX:
            prefix = "" if word.surface() in HONORIFICS else word.surface()
            continue
        found.append(prefix + word.dictionary_form() if is_counted(kind) else "")
        prefix = ""
    return found


def is_counted(part_of_speech: Sequence[str]) -> bool:
    """Tell whether a part of speech is a word of its own."""
    return part_of_speech[0] not in DROPPED and tuple(part_of_speech[:2]) not in DROPPED_KINDS
