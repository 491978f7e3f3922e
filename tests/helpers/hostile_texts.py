"""Texts that some program would execute: one table for the tests of all outputs."""

import re

HOSTILE = [
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://example.com","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-1+1",
    "+1+1",
    "\x1b]0;title\x07\x1b[2J",
    "\x9b31m\u202eevil",
    "tab\tnew\nline\x00",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>&amp;",
    "\"><svg onload='alert(1)'>",
    "]]><x>&e; --><!-- x -->",
    "${7*7}\\input{secret} $x^2$ 50% {a}",
    "a|b `c` *d* [e](javascript:alert(1)) ![f](http://example.com)",
    "http://example.com/x",
    " =1+1",
    "\u200b\ufeff=1+1",
]
#: Control characters of terminals, and those that change the direction of text; tabs and line breaks are harmless.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
