"""Words of Chinese texts by rjieba, the only module that imports it."""

from __future__ import annotations


def split_chinese(text: str) -> list[str]:
    """Return the words of a run of Chinese characters."""
    import rjieba

    return list(rjieba.cut(text))
