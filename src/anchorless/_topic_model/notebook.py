"""What a notebook displays: the topics as a table, and the report in a frame."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from anchorless._report.page import to_line
from anchorless._topic_model.summary import Topic

#: Width of the bar of the largest topic, in pixels.
BAR_WIDTH = 90
#: Topics that are listed; a notebook is scrolled, not searched.
MAX_ROWS = 100
#: Characters of a label and of the words.
LABEL_LENGTH, WORDS_LENGTH = 80, 300
#: Height of the report in a notebook, in pixels.
FRAME_HEIGHT = 720
CELL = "text-align:left;padding:2px 10px"
NUMBER = "text-align:right;padding:2px 10px"


class InlineReport(NamedTuple):
    """A report that a notebook displays in a frame.

    Attributes
    ----------
    html : str
        The page, as `TopicModel.report` writes it to a file.
    """

    html: str

    def __repr__(self) -> str:
        return f"<report of {len(self.html):,} characters: a notebook displays it; to write it, give report a path>"

    def _repr_html_(self) -> str:
        """Return the frame. Its page may run its own script, but reach neither the notebook nor the network."""
        frame = f"width:100%;height:{FRAME_HEIGHT}px;border:1px solid #ccc"
        return f'<iframe sandbox="allow-scripts" style="{frame}" srcdoc="{escape(self.html)}"></iframe>'


def render_topics(topics: Sequence[Topic], n_documents: int) -> str:
    """Return topics as an HTML table: number, label, share with a bar, words. All texts are escaped."""
    largest = max((topic.share for topic in topics), default=0.0) or 1.0
    head = "".join(f'<th style="{CELL}">{name}</th>' for name in ("", "topic", "share", "leading words"))
    rows = "".join(render_row(topic, topic.share / largest) for topic in topics[:MAX_ROWS])
    more = f"<p>and {len(topics) - MAX_ROWS} more topics</p>" if len(topics) > MAX_ROWS else ""
    title = f"{len(topics)} topics of {n_documents:,} documents"
    return (
        f'<div><p><strong>TopicModel</strong>: {title}</p><table style="border-collapse:collapse">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</div>"
    )


def render_row(topic: Topic, part: float) -> str:
    """Return the row of a topic, with a bar of a part of the longest."""
    bar = f"display:inline-block;height:0.7em;margin-right:6px;background:#0072B2;width:{BAR_WIDTH * part:.0f}px"
    words = escape(to_line(", ".join(topic.words), WORDS_LENGTH))
    mark = "" if topic.junk is None else f"<br><em>looks like {escape(topic.junk)}</em>"
    return (
        f'<tr><td style="{NUMBER}">{topic.number}</td>'
        f'<td style="{CELL}" dir="auto"><strong>{escape(to_line(topic.label, LABEL_LENGTH))}</strong>{mark}</td>'
        f'<td style="{CELL};white-space:nowrap"><span style="{bar}"></span>{topic.share:.1%}</td>'
        f'<td style="{CELL}" dir="auto">{words}</td></tr>'
    )
