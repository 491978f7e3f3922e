"""Tables of topics for a paper or a wiki: LaTeX and Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from anchorless._export.text import escape_latex, escape_markdown

#: With more topics, a LaTeX table does not fit on a page and is continued on the next.
MAX_ON_A_PAGE = 30


class TopicRow(NamedTuple):
    """A topic in a table."""

    number: int
    label: str
    share: float
    coherence: float  # NaN where it is not known
    words: Sequence[str]


class PairRow(NamedTuple):
    """Two topics in a table, by their labels, and their association."""

    first: str
    second: str
    association: float


def format_latex(topics: Sequence[TopicRow], caption: str, origin: str) -> str:
    """Return a LaTeX table of topics, to be used with \\input."""
    is_long = len(topics) > MAX_ON_A_PAGE
    packages = r"\usepackage{booktabs,longtable,array,textcomp}" if is_long else r"\usepackage{booktabs,array,textcomp}"
    columns = (
        r"{@{}r>{\raggedright\arraybackslash}p{0.22\linewidth}rr>{\raggedright\arraybackslash}p{0.48\linewidth}@{}}"
    )
    head = [r"\toprule", r"& topic & share & coherence & leading words \\", r"\midrule"]
    title = [rf"\caption{{{caption}}}", r"\label{tab:topics}"]
    rows = [format_latex_row(topic) for topic in topics]
    lines = [f"% {origin}", f"% Needs {packages}; letters beyond Latin need XeLaTeX or LuaLaTeX."]
    if is_long:
        lines += [rf"\begin{{longtable}}{columns}", *title[:1], rf"{title[1]}\\", *head, r"\endhead"]
        lines += [*rows, r"\bottomrule", r"\end{longtable}"]
    else:
        lines += [r"\begin{table}", r"\centering", *title, rf"\begin{{tabular}}{columns}", *head, *rows]
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def format_latex_row(topic: TopicRow) -> str:
    """Return a topic as a row of a LaTeX table."""
    words = ", ".join(escape_latex(word) for word in topic.words)
    numbers = rf"{100 * topic.share:.1f}\% & {format_coherence(topic.coherence)}"
    return rf"{topic.number} & {escape_latex(topic.label)} & {numbers} & {words} \\"


def format_markdown(topics: Sequence[TopicRow], pairs: Sequence[PairRow], caption: str, origin: str) -> str:
    """Return topics and pairs of topics as Markdown tables."""
    lines = ["| # | topic | share | coherence | leading words |", "|---:|---|---:|---:|---|"]
    for topic in topics:
        words = ", ".join(escape_markdown(word) for word in topic.words)
        numbers = f"{topic.share:.1%} | {format_coherence(topic.coherence)}"
        lines.append(f"| {topic.number} | {escape_markdown(topic.label)} | {numbers} | {words} |")
    lines += ["", caption]
    if pairs:
        lines += ["", "| topic | topic | association |", "|---|---|---:|"]
        lines += [f"| {escape_markdown(a)} | {escape_markdown(b)} | {value:+.3f} |" for a, b, value in pairs]
        lines += ["", "Association: how often two topics are together beyond what their sizes explain."]
    return "\n".join([*lines, "", origin]) + "\n"


def format_coherence(value: float) -> str:
    """Return a coherence; a dash where it is not known."""
    return f"{value:.2f}" if math.isfinite(value) else "–"
