"""Names of the columns of tables in which columns of the user stand beside those of the topics."""

from __future__ import annotations

#: What the tables of topics by level, by period and by predicted value call their own columns.
OWN_COLUMNS = ("topic", "label", "share", "low", "high", "n_documents", "estimate", "p", "p_adjusted")


def name_column(name: str) -> str:
    """Return the name of a column of the user: one that is taken gets a prefix, as in the table of documents."""
    return f"input_{name}" if name in OWN_COLUMNS else name
