"""Words of Japanese texts by SudachiPy, the only module that imports it.

Verbs and adjectives are counted in their dictionary form; particles, auxiliary verbs and symbols are left out.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

#: Parts of speech that are no words of their own: particles, auxiliary verbs, symbols, blanks, endings.
DROPPED = ("助詞", "助動詞", "補助記号", "空白", "接尾辞")
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
    words = _local.tokenizer.tokenize(text)
    return [word.dictionary_form() if is_counted(word.part_of_speech()) else "" for word in words]


def is_counted(part_of_speech: Any) -> bool:
    """Tell whether a part of speech is a word of its own."""
    return part_of_speech[0] not in DROPPED
