"""Words of Thai texts by PyThaiNLP's dictionary (newmm), the only module that imports it."""

from __future__ import annotations

import os


def split_thai(text: str) -> list[str]:
    """Return the words of a run of Thai letters."""
    os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # else it creates a folder in the user's home when imported
    from pythainlp.tokenize import word_tokenize

    return list(word_tokenize(text, engine="newmm"))
