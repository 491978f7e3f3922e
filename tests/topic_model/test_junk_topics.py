"""Topics of markup, headers and binaries are told by their words; topics of subjects are not."""

import pytest

from anchorless import CountSettings, TopicModel
from anchorless._cli.printing import topic_to_dict
from anchorless._topic_model.junk_topics import REMEDIES, list_junk, name_junk

JUNK = {
    "HTML markup": ["nbsp", "href", "div", "class", "span", "td", "px", "house", "www", "style"],
    "mail headers": ["subject", "message", "organization", "lines", "nntp", "host", "edu", "posting", "car", "wrote"],
    "encoded binaries": ["g9v", "b8f", "1d9", "a86", "34u", "bhj", "0t", "2di", "w7", "145"],
}


#: A topic of posts to 20 Newsgroups that have files in uuencode.
POSTED_FILE = ["cx", "m0", "mv", "7u", "mx", "mc", "m6", "lk", "m1", "6g"]


def test_pairs_of_consonants_are_junk_among_encoded_words():
    assert name_junk(POSTED_FILE) == "encoded binaries"


@pytest.mark.parametrize("kind", JUNK)
def test_junk_is_named_with_the_option_that_removes_it(kind):
    assert name_junk(JUNK[kind]) == kind
    (warning,) = list_junk([["river", "bank"] * 5, JUNK[kind]], ["a", "b"])
    assert warning.startswith(f"topic 1 (b) looks like {kind}")
    assert warning.endswith("to leave it out, fit with {" + REMEDIES[kind] + "}")
    (warning,) = list_junk([JUNK[kind]], ["a"], CountSettings(**{REMEDIES[kind]: True}))
    assert warning.endswith("to leave it out, give its words as {extra_stop_words}")


@pytest.mark.parametrize(
    "words",
    [
        ["covid", "covid19", "vaccine", "virus", "mask", "test", "dose", "cases", "health", "variant"],
        ["script", "css", "browser", "server", "python", "code", "class", "function", "error", "file"],
        ["mail", "message", "letter", "post", "office", "stamp", "sender", "delivery", "parcel", "address"],
        ["mp3", "3d", "ps2", "mb", "pc", "tv", "cd", "game", "player", "screen"],
        ["hp", "tv", "mr", "dr", "vs", "pc", "cd", "mph", "3d", "kg"],
        [f"w{i}" for i in range(37, 47)],
        ["item12", "item7", "item99", "item4", "sku31", "sku8", "sku77", "item5", "item1", "sku2"],
    ],
)
def test_subjects_are_no_junk(words):
    assert name_junk(words) is None


def fit_markup():
    subject = ["the river carries water and fish past the old bank", "boats on a lake need water and a bank for fish"]
    markup = ["nbsp nbsp href div class span td style px", "href class div nbsp span td style width nbsp px"]
    return TopicModel(2, max_df=1.0, n_jobs=1).fit(subject * 10 + markup * 10)


def test_a_fit_warns_of_a_topic_of_markup():
    warnings = fit_markup().diagnostics_.warnings
    assert any("looks like HTML markup" in warning and "fit with html" in warning for warning in warnings)


def test_every_table_marks_junk(tmp_path):
    model = fit_markup()
    (junk,) = [topic for topic in model.topics(3) if topic.junk]  # told by ten words, however many are shown
    assert junk.junk == "HTML markup"
    assert model.topics_frame().junk.dropna().to_dict() == {junk.number: "HTML markup"}
    assert topic_to_dict(junk)["junk"] == "HTML markup"
    assert model._repr_html_().count("looks like HTML markup") == 1
    for name in ("topics.md", "topics.tex", "topics.gexf", "topics.graphml", "report.html"):
        (model.report if name == "report.html" else model.export)(tmp_path / name)
        assert (tmp_path / name).read_text().count("HTML markup") >= 1, name
    model.rename_topics({junk.number: "tags"})
    assert model.topics()[junk.number].junk == "HTML markup"
