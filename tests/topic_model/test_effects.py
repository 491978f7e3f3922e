import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from anchorless import Corpus, TopicModel
from anchorless._topic_model.covariates import choose_time_column
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts

TEXTS, LABELS = planted_texts(200)
TABLE = pd.DataFrame({"theme": LABELS, "half": np.repeat(["x", "y"], 100), "number": np.arange(200.0)})


@pytest.fixture(scope="module")
def model():
    return TopicModel(4, n_jobs=1).fit(TEXTS, metadata=TABLE)


def test_texts_counts_and_a_corpus_take_the_same_metadata(model):
    expected = model.effects("~ theme").frame()
    with Corpus.from_texts(TEXTS, metadata=TABLE) as corpus:
        of_corpus = TopicModel(4, n_jobs=1).fit(corpus)
        counts = TopicModel(4, n_jobs=1).fit_counts(corpus.to_matrix(), corpus.vocabulary, metadata=TABLE)
    pd.testing.assert_frame_equal(of_corpus.effects("~ theme").frame(), expected)
    pd.testing.assert_frame_equal(counts.effects("~ theme").frame(), expected, atol=1e-6)
    without = TopicModel(4, n_jobs=1).fit(TEXTS)
    pd.testing.assert_frame_equal(without.effects("~ theme", TABLE).frame(), expected)


def test_columns_of_a_file_are_named(tmp_path, model):
    path = tmp_path / "texts.csv"
    TABLE.assign(text=TEXTS).to_csv(path, index=False)
    found = TopicModel(4, n_jobs=1).fit(path, metadata=["theme", "number"])
    pd.testing.assert_frame_equal(found.effects("~ number").frame(), model.effects("~ number").frame())
    with pytest.raises(InputError, match="metadata names the column 'nobody', which does not exist; there are: 'id'"):
        TopicModel(4).fit(path, metadata=["nobody"])


def test_labels_and_dates_can_be_used_too():
    dates = [f"{1 + i % 28}/5/2008" for i in range(200)]
    found = TopicModel(4, n_jobs=1).fit(TEXTS, labels=LABELS, dates=dates)
    assert found.topics_over_time()["date"].iloc[0] == "2008-05-01"
    shares = found.topics_by("label")
    assert (shares.groupby("label")["share"].max() > 0.7).all()


def test_a_loaded_model_needs_its_documents_and_gives_the_same(tmp_path, model):
    expected = model.effects("~ theme").frame()
    model.save(tmp_path / "with", metadata=True)
    model.save(tmp_path / "without")
    loaded = TopicModel.load(tmp_path / "with")
    with pytest.raises(InputError, match="have no documents in memory; give them again with documents"):
        loaded.effects("~ theme")
    pd.testing.assert_frame_equal(loaded.effects("~ theme", documents=TEXTS).frame(), expected)
    with Corpus.from_texts(TEXTS) as corpus:
        found = loaded.effects("~ theme", documents=corpus).frame()
        counts = loaded.effects("~ theme", documents=corpus.to_matrix()).frame()
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(counts, expected)
    other = TopicModel.load(tmp_path / "without")
    with pytest.raises(InputError, match=r"fitted without columns .*; give a table .* as data"):
        other.effects("~ theme", documents=TEXTS)
    pd.testing.assert_frame_equal(other.effects("~ theme", TABLE, documents=TEXTS).frame(), expected)
    words = loaded.topic_words_by("half", 0, "x", documents=TEXTS)
    pd.testing.assert_frame_equal(words, model.topic_words_by("half", 0, "x"))


def test_documents_on_disk_are_given_again(model, monkeypatch):
    expected = model.effects("~ theme").frame()
    monkeypatch.setattr("anchorless._corpus.storage.BASE_MEMORY", 0)
    with Corpus.from_texts(TEXTS, memory="1KB") as corpus:
        assert not corpus.documents.in_memory
        on_disk = TopicModel(4, n_jobs=1).fit(corpus, metadata=TABLE)
        with pytest.raises(InputError, match="have no documents in memory"):
            on_disk.effects("~ theme")
        with monkeypatch.context() as patch:  # nothing may gather the counts
            patch.setattr("anchorless._topic_model.covariates.gather_documents", None)
            found = on_disk.effects("~ theme", documents=corpus).frame()
            by_theme = on_disk.topics_by("theme", documents=corpus)
    pd.testing.assert_frame_equal(by_theme[["theme", "label"]], model.topics_by("theme")[["theme", "label"]])
    assert found["term"].equals(expected["term"])
    np.testing.assert_allclose(found["estimate"], expected["estimate"], atol=0.02)


def test_topics_are_drawn_once_for_the_same_documents(model, monkeypatch):
    model.effects("~ theme")
    monkeypatch.setattr("anchorless._topic_model.effects.draw_topics", lambda *_: pytest.fail("drawn again"))
    model.effects("~ number")
    model.topics_by("theme")


def test_metadata_in_a_file_stay_as_they_were(tmp_path, model):
    model.save(tmp_path / "model", metadata=True)
    assert TopicModel.load(tmp_path / "model")._covariates.equals(pa.Table.from_pandas(TABLE).replace_schema_metadata())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": TABLE[:50]}, "data has 50 rows, but there are 200 documents; give one row per document"),
        ({"documents": TEXTS[:50]}, "the metadata of the fit has 200 rows, but documents has 50"),
        ({"documents": 5}, "documents=5, but it must be texts, a Corpus or counts"),
        ({"documents": "a text"}, "it must be texts, a Corpus or counts"),
        ({"documents": np.ones((200, 3))}, "documents has 3 words, but the model knows"),
        ({"n_draws": 1}, "n_draws=1, but it must be a whole number of at least 4"),
        ({"formula": "~ nobody"}, "'nobody', which does not exist; there are: 'theme', 'half', 'number'"),
    ],
)
def test_what_cannot_be_used_is_refused(model, arguments, message):
    with pytest.raises(InputError, match=message):
        model.effects(**{"formula": "~ theme"} | arguments)


def test_a_wrong_number_of_rows_is_refused_before_the_fit():
    with pytest.raises(InputError, match="metadata has 199 rows, but there are 200 documents"):
        TopicModel(4).fit(TEXTS, metadata=TABLE[1:])


def test_models_without_a_token_model_or_metadata_say_so():
    with pytest.raises(InputError, match="effects need the token model"):
        TopicModel(4, likelihood=False).fit(TEXTS, metadata=TABLE).effects("~ theme")
    with pytest.raises(InputError, match="fitted without columns"):
        TopicModel(4).fit(TEXTS).effects("~ theme")


def test_a_wrong_date_in_a_column_that_was_not_asked_for_does_not_stop_another_one():
    bad, good = ["2020-01-01"] * 9 + ["soon"], pa.array(np.arange(10), pa.int32()).cast(pa.date32())
    assert choose_time_column(pa.table({"bad": bad, "day": good})) == "day"
    with pytest.raises(InputError, match="'soon', which is no date"):
        choose_time_column(pa.table({"bad": bad, "number": np.arange(10.0)}))
