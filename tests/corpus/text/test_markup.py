"""What is left of a web page, against the standard library's parser and by hand."""

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from anchorless._corpus.text.cleaning import strip_markup


def plain(*texts):
    found = strip_markup(pa.array(texts, type=pa.large_string()))
    return [None if text is None else " ".join(text.split()) for text in found.to_pylist()]


CASES = {
    "tags": ("<p>Bread <br/>and</p><div class='x'>butter</div>", "Bread and butter"),
    "tags part words": ("<td>bread</td><td>butter</td>", "bread butter"),
    "tags inside words do not": ("<b>B</b>read, H<sub>2</sub>O, <I CLASS=x>but</I>ter", "Bread, H2O, butter"),
    "but others that begin like them do": ("a<body>b<iframe>c<section>d<ul>e", "a b c d e"),
    "script": ("one<script type='a'>if (a < b) { x = '<p>' }</script>two", "one two"),
    "style": ("one<STYLE>\np > a { color: red }\n</STYLE >two", "one two"),
    "script that is not closed": ("one<script>var x = 1", "one"),
    "no script": ("<scripture>verse</scripture>", "verse"),
    "comment": ("one<!-- <p>hidden</p> \n -->two", "one two"),
    "doctype and xml": ("<!DOCTYPE html><?xml version='1.0'?>bread", "bread"),
    "quoted >": ("<a title=\"a > b\" href='c > d'>link</a>", "link"),
    "quotation mark too many": ('<a title="x>link</a>', "link"),
    "references": ("caf&eacute; &amp; cr&#232;me &#x2014; &lt;b&gt; &nbsp;end", "café & crème — <b> end"),
    "no references": ("AT&T, R&D, a & b, &nosuchname;", "AT&T, R&D, a & b, &nosuchname;"),
    "no markup": ("a < b, 3 <4, x <- y, y -> z, <3, <>", "a < b, 3 <4, x <- y, y -> z, <3, <>"),
    "cut off": ("bread <a href='x", "bread <a href='x"),
    "empty": ("", ""),
    "nothing left": ("<p></p>", ""),
    "bad numbers": ("&#xD800;&#0;&#99999999;x", "���x"),
    "other scripts": ("<p>面包</p><p>хлеб &#1080; масло</p>", "面包 хлеб и масло"),
}


@pytest.mark.parametrize(("given", "wanted"), CASES.values(), ids=CASES)
def test_what_is_left(given, wanted):
    assert plain(given) == [wanted]


def test_each_text_by_itself_and_missing_ones_stay():
    assert plain("<!-- open", None, "bread &amp; butter", "--> <p>x</p>") == ["", None, "bread & butter", "--> x"]
    assert plain() == []


def test_small_strings_too():
    assert strip_markup(pa.array(["<p>a</p>", "&amp;"])).to_pylist() == [" a ", "&"]


class Reader(HTMLParser):
    """What the standard library reads in a page that is well formed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.unseen = "", 0

    def handle_starttag(self, tag, attrs):
        self.unseen += tag in ("script", "style")
        self.text += " "

    def handle_endtag(self, tag):
        self.unseen -= tag in ("script", "style")
        self.text += " "

    def handle_data(self, data):
        self.text += "" if self.unseen else data


def random_page(rng, depth=0):
    pieces = ["bread", " butter ", "&eacute;t&eacute;", "a &lt; b", "<!-- no -->", "<br>", "<hr/>", "\n"]
    pieces += ["<script>no('<i>')</script>", "<style>p > a {}</style>", '<img alt="x > y">']
    page = ""
    for _ in range(rng.integers(1, 6)):
        tag = rng.choice(["p", "div", "td", "h1", "span"])
        inner = random_page(rng, depth + 1) if depth < 3 and rng.random() < 0.5 else rng.choice(pieces)
        page += f'<{tag} id="{rng.integers(9)}">{inner}</{tag}>{rng.choice(pieces)}'
    return page


@pytest.mark.parametrize("seed", range(10))
def test_well_formed_pages_read_as_the_standard_library_reads_them(seed):
    page = random_page(np.random.default_rng(seed))
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert plain(page) == [" ".join(reader.text.split())]


def test_hostile_pages_take_time_in_proportion():
    for page in ("<" * 300_000, "<a " * 100_000, "<!--" * 80_000, '<a "' * 80_000, "<script>" * 40_000):
        plain(page)  # a pattern that goes back would take hours


def test_references_with_thousands_of_digits_are_no_character():
    assert plain(f"a &#{'9' * 5000}; b &#x{'f' * 5000}; &#233;") == ["a \ufffd b \ufffd é"]
