"""Mail and news posts: what is taken off, and what must stay."""

import pyarrow as pa
import pytest

from anchorless._corpus.text.cleaning import strip_mail_parts

POST = """From: jane@uni.edu (Jane Doe)
Subject: Re: Engines of the world
Organization: University of Somewhere,
\tDepartment of Cars
Article-I.D.: uni.1993Apr6
NNTP-Posting-Host: host.uni.edu
Lines: 12

In article <1993Apr5.12345@other.com> joe@other.com (Joe) writes:
>I have an engine.
>> It does not run.
 > Nor does mine.
JB> Initials quote too.
| And so do bars.
: And colons.

Clean the carburettor. As Paul said: clean it.
:-) That is all.

Bob Smith wrote:

Footer follows.
--
Jane Doe, jane@uni.edu
Department of Cars
"""


def cleaned(text):
    (result,) = strip_mail_parts(pa.array([text])).to_pylist()
    return result


def lines(text):
    return [line.strip() for line in cleaned(text).splitlines() if line.strip()]


def test_a_post_keeps_subject_and_what_was_written():
    assert lines(POST) == [
        "Engines of the world",
        "Clean the carburettor. As Paul said: clean it.",
        ":-) That is all.",
        "Footer follows.",
    ]


def test_carriage_returns_change_nothing():
    assert lines(POST.replace("\n", "\r\n")) == lines(POST)


def test_twice_is_once_where_the_text_holds_no_second_header():
    once = cleaned(POST)
    assert cleaned(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "Note: the first line stays.\nWarning: the second too.\n\nAnd the text.",
        "Ingredients: flour\nTime: 20 minutes\n\nMix.",
        "Subject: a single line is no header\n\nText.",
        "From: me\nfollowed by text at once\nSubject: x\n\nText.",
        "From the beginning there was text.\nSubject matter: none\n\nText.",
        "http://a.b/c\nSubject:x\n\nText.",
        "Text first.\n\nFrom: a@b.c\nSubject: not at the start\n\nMore.",
        "\nFrom: a@b.c\nSubject: after an empty line\n\nMore.",
        "The Bible says:\nand Paul said:\nthus.",
        "He writes: like this, in the middle.",
        ":-) smile\n:(",
        "a -- b\n---- text\nmore",
        "one line",
        "",
    ],
)
def test_text_that_is_no_mail_stays_as_it_is(text):
    assert cleaned(text) == text


def test_header_without_subject_goes_entirely():
    assert lines("From: a@b.c\nDate: 1 April\n\nHello.") == ["Hello."]


def test_header_alone_leaves_the_subject():
    assert lines("From: a@b.c\nSubject: Hello") == ["Hello"]
    assert lines("Subject: Hello\nFrom: a@b.c\n") == ["Hello"]


def test_long_subjects_go_on():
    assert lines("From: a@b.c\nSubject: one\n two\nDate: x\n\nText") == ["one", "two", "Text"]


@pytest.mark.parametrize(
    "start", ["From jane@uni.edu Mon Apr 5 1993\n", " relay.edu!uunet!host!jane\n", "\tpart\n cut\n"]
)
def test_what_may_come_before_the_first_field(start):
    assert lines(start + "Subject: Hello\nFrom: a@b.c\n\nText") == ["Hello", "Text"]


def test_only_the_first_block_is_a_header():
    second = "Archive-name: faq\nSubject: another\n\nText"
    assert lines("From: a@b.c\nSubject: FAQ: list\n\n" + second) == [
        "FAQ: list",
        "Archive-name: faq",
        "Subject: another",
        "Text",
    ]


def test_replies_lose_their_mark_and_nothing_else():
    for mark in ("Re: ", "RE: re: ", "Fwd: Re: ", "AW: ", ""):
        assert lines(f"From: a@b.c\nSubject: {mark}Reactors\n\n") == ["Reactors"]


@pytest.mark.parametrize(("n_lines", "is_signature"), [(0, True), (1, True), (10, True), (12, False), (30, False)])
def test_a_rule_ends_the_text_only_near_its_end(n_lines, is_signature):
    tail = "".join(f"line {i}\n" for i in range(n_lines))
    for rule in ("--", "-- ", "-------", "____"):
        kept = lines(f"Text.\n{rule}\n{tail}")
        assert kept == (["Text."] if is_signature else ["Text.", rule.strip(), *tail.splitlines()])


def test_rows_do_not_depend_on_each_other():
    texts = [POST, "plain", "", POST.replace("Jane", "Jürgen"), "> quoted"]
    together = strip_mail_parts(pa.array(texts)).to_pylist()
    assert together == [cleaned(text) for text in texts]
    assert strip_mail_parts(pa.array(texts, type=pa.large_string())).to_pylist() == together
    assert strip_mail_parts(pa.array([], type=pa.string())).to_pylist() == []


def test_time_grows_with_the_text_only():
    # A backtracking engine would not come back from these.
    for text in ("A:" * 200_000, "From: x\n" * 50_000 + "y", "--\n" * 100_000, ">" * 500_000):
        assert isinstance(cleaned(text), str)
