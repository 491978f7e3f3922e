"""Parts of documents: nothing is lost, sizes are as asked for, and parts know their document."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorless import Corpus, CountSettings, TopicModel
from anchorless._corpus.io.batches import Batch
from anchorless._corpus.text import splitting
from anchorless._corpus.text.splitting import MAX_CLAUSE, SplitRule, parse_split, split_batches
from anchorless.errors import InputError
from tests.helpers.languages import CHINESE, JAPANESE, THAI
from tests.helpers.properties import run_examples

TEXTS = st.lists(
    st.sampled_from(["word", "another ", "\n", "\n\n", "# head\n", "é", "Chapter 3\n", " ", "1. Intro\n\n"])
)


@run_examples(100)
@given(pieces=TEXTS, how=st.sampled_from(["paragraph", "section", 10, 12]))
def test_the_words_of_all_parts_are_the_words_of_the_document(pieces, how):
    text = "".join(pieces)
    parts = SplitRule(how).divide(text)
    assert " ".join(" ".join(parts).split()) == " ".join(text.split())
    if isinstance(how, int) and len(parts) > 1:
        sizes = [len(part.split()) for part in parts]
        assert max(sizes) - min(sizes) <= 1
        assert how * 2 / 3 <= np.mean(sizes) <= how * 4 / 3


def test_headings_begin_sections():
    text = "before\n\n# One\n\na\n\nChapter II\n\nb\n\nThree\n=====\n\nc\n\n2.1 Four\n\nd\n\nthe chapter 5 of it"
    heads = [part.split("\n")[0] for part in SplitRule("section").divide(text)]
    assert heads == ["before", "# One", "Chapter II", "Three", "2.1 Four"]


@pytest.mark.parametrize(("sentence", "per_word"), [(CHINESE[1] + "。", 2), (JAPANESE[0], 2), (THAI[0] + " ", 4)])
def test_texts_without_spaces_are_divided_at_the_ends_of_clauses(sentence, per_word):
    text = sentence * 200
    parts = SplitRule(50).divide(text)
    assert "".join(parts) == text
    assert all(part[-1] in "。， " for part in parts)
    sizes = [len(part) for part in parts[:-1]]
    assert 50 * per_word - MAX_CLAUSE <= min(sizes) <= max(sizes) <= 60 * per_word + MAX_CLAUSE
    assert len(SplitRule("paragraph").divide("\n\n".join([sentence * 3] * 4))) == 4


def test_headings_of_other_languages_begin_sections():
    text = "\u3000第一回 宴桃園\n\n第一回说\n\n第12章\n\nb\n\n제 3 장 서론\n\nc\n\nบทที่ 4 สรุป\n\nd"
    heads = [part.split("\n")[0].strip() for part in SplitRule("section").divide(text)]
    assert heads == ["第一回 宴桃園", "第12章", "제 3 장 서론", "บทที่ 4 สรุป"]


def test_short_paragraphs_join_the_next():
    long = "word " * 30
    assert [part.split() for part in SplitRule("paragraph").divide(f"Hi.\n\n{long}\n \n{long}\n\nBye.")] == [
        ["Hi.", *long.split()],
        [*long.split(), "Bye."],
    ]


@pytest.mark.parametrize("value", ["sentence", 3, True, 0, "-5", 2.5])
def test_other_rules_are_refused(value):
    with pytest.raises(InputError, match="paragraph, section, or a number of words"):
        parse_split(value)


def test_parts_have_the_columns_of_their_document_in_bounded_batches(monkeypatch):
    monkeypatch.setattr(splitting, "ROWS_PER_CHUNK", 3)
    table = pa.table({"id": ["a", "b"], "document": ["x", "y"], "year": [1, 2]})
    batches = [*split_batches([Batch(pa.array(["w " * 50, "v " * 20]), table)], SplitRule(10))]
    assert [len(batch.texts) for batch in batches] == [3, 3, 1]
    rows = [row for batch in batches for row in batch.other_columns.to_pylist()]
    assert rows[0] == {"id": "a#1", "document": "a", "document_2": "x", "year": 1}
    assert rows[-1] == {"id": "b#2", "document": "b", "document_2": "y", "year": 2}


def test_what_is_given_for_texts_holds_for_their_parts():
    texts = ["one two three four five six seven eight nine ten " * 3, "alpha beta " * 5]
    with Corpus.from_texts(
        texts, counting=CountSettings(split=10, max_df=1.0), ids=["x", "y"], labels=["p", "q"], metadata={"n": [5, 6]}
    ) as corpus:
        assert corpus.metadata.ids.to_pylist() == ["x#1", "x#2", "x#3", "y#1"]
        assert corpus.metadata.labels.to_pylist() == ["p", "p", "p", "q"]
        assert corpus.covariates["n"].to_pylist() == [5, 5, 5, 6]
        assert corpus.whole_ids.to_pylist() == ["x", "x", "x", "y"]


def test_shares_of_whole_documents_are_weighted_by_tokens():
    rng = np.random.default_rng(0)
    themes = [["river", "bank", "water", "fish"], ["stock", "bond", "price", "fund"], ["goal", "team", "ball", "coach"]]
    texts = [
        "\n\n".join(" ".join(rng.choice(themes[rng.integers(3)], rng.integers(20, 60))) for _ in range(5))
        for _ in range(12)
    ]
    model = TopicModel(3, split="paragraph").fit(texts, ids=[f"d{n}" for n in range(12)])
    frame, parts = model.whole_documents_frame(), model.documents_frame()
    assert frame["document"].tolist() == [f"d{n}" for n in range(12)]
    lengths = np.array([len(part.split()) for text in texts for part in text.split("\n\n")])
    names = ["topic_0", "topic_1", "topic_2"]
    for n in range(12):
        rows = slice(5 * n, 5 * n + 5)
        expected = np.average(parts[names].to_numpy()[rows], axis=0, weights=lengths[rows])
        np.testing.assert_allclose(frame[names].to_numpy()[n], expected, rtol=1e-12)
        assert frame["tokens"][n] == lengths[rows].sum()


@pytest.mark.parametrize("value", [300, "300", "300 words"])
def test_a_number_of_words_may_say_so(value):
    assert parse_split(value).value == 300
