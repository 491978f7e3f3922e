"""Export to pyLDAvis, an optional dependency."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from anchorless._corpus.documents import Array
from anchorless._export.text import clean_line
from anchorless._report.page import escape_json
from anchorless._topic_model.fitted import ModelRecord
from anchorless._topic_model.mixtures import Mixtures
from anchorless.errors import InputError


def prepare_pyldavis(fitted: ModelRecord, mixtures: Mixtures, lengths: Array) -> Any:
    """Return pyLDAvis's PreparedData, without documents and words of no topic, which pyLDAvis does not accept."""
    try:
        import pyLDAvis
    except ImportError:
        remedy = "install it with `pip install 'anchorless[pyldavis]'`"
        raise InputError("this needs pyLDAvis", remedy=remedy) from None
    known = mixtures.shares.any(axis=1)
    total = mixtures.shares[known].sum(axis=1, keepdims=True)  # below one if topics were dropped
    topic_word = fitted.topic_word
    used = topic_word.any(axis=0) & (fitted.word_counts > 0)
    components = topic_word[:, used]
    return pyLDAvis.prepare(
        topic_term_dists=components / components.sum(axis=1, keepdims=True),
        doc_topic_dists=mixtures.shares[known] / total,
        doc_lengths=lengths[known],
        vocab=[clean_line(word) for word, kept in zip(fitted.vocabulary, used, strict=True) if kept],
        term_frequency=fitted.word_counts[used],
        n_jobs=1,  # a library must not start processes unasked
        sort_topics=False,
        start_index=0,  # keep the numbers of the topics
    )


#: The scripts and styles that pyLDAvis carries.
SCRIPTS, STYLES = ("d3.v5.min.js", "ldavis.v3.0.0.js"), "ldavis.v1.0.0.css"
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Topics</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' data:; \
style-src 'unsafe-inline' data:; img-src data:">
<link rel="stylesheet" href="data:text/css;base64,{styles}">
{scripts}
</head><body><div id="topics"></div>
<script>new LDAvis("#topics", {data});</script>
</body></html>
"""


def render_pyldavis(prepared: Any) -> str:
    """Return the page of pyLDAvis with its scripts inside, so that it opens without a network; words are only text."""
    import pyLDAvis

    folder = Path(pyLDAvis.__file__).parent / "js"
    encoded = {name: base64.b64encode((folder / name).read_bytes()).decode() for name in (*SCRIPTS, STYLES)}
    scripts = "\n".join(f'<script src="data:text/javascript;base64,{encoded[name]}"></script>' for name in SCRIPTS)
    data = escape_json(prepared.to_json())
    return PAGE.format(styles=encoded[STYLES], scripts=scripts, data=data)
