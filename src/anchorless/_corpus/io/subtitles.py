"""The spoken text of subtitles: SubRip (.srt) and WebVTT (.vtt), without numbers, times and marks."""

from __future__ import annotations

import re

#: A line with the times of a cue: 00:01:02,500 --> 00:01:04,000, with settings after it in WebVTT.
TIMES = re.compile(r"\s*(?:\d{1,3}:)?\d{1,2}:\d{1,2}[.,]\d{1,3}\s*-->\s*(?:\d{1,3}:)?\d{1,2}:\d{1,2}[.,]\d{1,3}")
#: <i>, </b>, <v Name>, <00:00:01.000>, and {\an8}.
MARKS = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,200}\}")
#: Blocks of WebVTT that are not spoken.
BLOCKS = ("WEBVTT", "NOTE", "STYLE", "REGION")


def extract_subtitles(text: str) -> str:
    """Return the spoken lines; a line that only repeats the one before, as in live captions, is left out."""
    spoken: list[str] = []
    in_cue = False
    for line in text.splitlines():
        if TIMES.match(line):
            in_cue = True
        elif not line.strip():
            in_cue = False
        elif in_cue and (words := MARKS.sub("", line).strip()) and (not spoken or spoken[-1] != words):
            spoken.append(words)
    return "\n".join(spoken)
