import gzip
import io
import random

import pytest

from anchorless._corpus.io.decoding import (
    BINARY_SIGNATURES,
    describe_undecodable,
    detect_binary_kind,
    iter_lines,
    open_text,
)
from anchorless._files import ByteStream
from anchorless.errors import InputError, UsageError

TEXT = "naïve café\n東京 🗼\nplain\n"


def text_of(content, encoding="utf-8"):
    with open_text(ByteStream(io.BytesIO(content), "a.txt"), encoding) as text:
        return text.read()


@pytest.mark.parametrize(
    ("written", "said"),
    [(name, "utf-8") for name in ("utf-8", "utf-8-sig", "utf-16", "utf-32")]
    + [("utf-8-sig", "latin-1"), ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
)
def test_byte_order_marks_are_followed_and_removed(written, said):
    assert text_of(TEXT.encode(written), said) == TEXT


def test_big_endian_marks_are_followed():
    assert text_of(b"\xfe\xff" + TEXT.encode("utf-16-be")) == TEXT
    assert text_of(b"\x00\x00\xfe\xff" + TEXT.encode("utf-32-be")) == TEXT


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_the_given_encoding_is_used(encoding):
    text = "Größe naïve\n"
    assert text_of(text.encode(encoding), encoding) == text


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "punycode", "a\0b"])
def test_what_is_no_encoding_is_refused(encoding):
    with pytest.raises(UsageError, match="no such text encoding; try utf-8, latin-1"):
        text_of(b"text", encoding)


def test_undecodable_bytes_are_found_with_their_value_and_place():
    text = text_of("fine\ncafé".encode() + b" caf\xe9 \xff\n")
    lines = text.splitlines()
    assert describe_undecodable(lines[0]) is None
    assert describe_undecodable(lines[1]) == "byte 0xe9 at character 9 does not decode"
    assert describe_undecodable(TEXT) is None


@pytest.mark.parametrize(
    ("encoding", "content"), [("utf-16-le", "ab".encode("utf-16-le") + b"c"), ("cp1252", b"ab\x81"), ("gbk", b"ab\xff")]
)
def test_other_encodings_mark_what_does_not_decode(encoding, content):
    text = text_of(content, encoding)
    assert text.startswith("ab")
    assert describe_undecodable(text) is not None


@pytest.mark.parametrize("magic", sorted(BINARY_SIGNATURES))
def test_files_of_known_kinds_are_named(magic):
    with pytest.raises(InputError, match=r"^a\.txt is not text but "):
        text_of(magic + b" and something behind it")


@pytest.mark.parametrize("seed", range(5))
def test_bytes_at_random_are_no_text(seed):
    with pytest.raises(InputError, match=r"is not text but binary .*control characters.*utf-16-le"):
        text_of(random.Random(seed).randbytes(5000))


def test_the_error_for_utf16_without_a_mark_names_the_encoding():
    with pytest.raises(InputError, match="set encoding to utf-16-le"):
        text_of(TEXT.encode("utf-16-le"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a\0b and more\n",
        "Größe\n".encode("latin-1"),
        b"\x1b[1mbold\x1b[0m\r\n\f\t",
        TEXT.encode(),
        b"\xef\xbb\xbf",
    ],
)
def test_odd_text_is_text(content):
    assert detect_binary_kind(content) is None


def test_a_character_cut_at_the_end_of_the_head_is_no_error():
    content = "é".encode() * 100 + b"\x01\x02\x03\x04\x05\x06"
    assert detect_binary_kind(content + "é".encode()[:1]) is None
    assert detect_binary_kind(content + b"\xff") is not None


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_iter_lines_yields_all_but_the_longest(newline):
    lines = ["a", "", "x" * 9, "y" * 10, "z" * 35, "b", "z" * 30, "last"]
    stream = ByteStream(io.BytesIO(newline.join(lines).encode()), "a.txt")
    with open_text(stream, "utf-8") as text:
        found = list(iter_lines(text, longest=10))
    assert [line and line.rstrip("\n") for line in found] == ["a", "", "x" * 9, None, None, "b", None, "last"]


def test_gzip_inside_is_no_text_either():
    with pytest.raises(InputError, match="is not text"):
        text_of(gzip.compress(random.Random(0).randbytes(5000)))
