import itertools

import numpy as np
import pytest

from anchorless._topic_model.model import TopicModel
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts


def topic_words(model, n=5):
    return [set(topic.words) for topic in model.topics(n)]


@pytest.fixture(scope="module")
def texts():
    return planted_texts(480, 1)[0]


@pytest.fixture(scope="module")
def updated(texts):
    model, history = TopicModel(4, min_df=2), []
    for start in range(0, 480, 160):
        model.partial_fit(texts[start : start + 160])
        history.append((list(model.vocabulary_), topic_words(model)))
    return model, history


def test_topics_keep_their_numbers_and_words_their_columns(updated):
    _, history = updated
    for (words, topics), (later_words, later_topics) in itertools.pairwise(history):
        assert later_words[: len(words)] == words
        for number, topic in enumerate(topics):
            overlaps = [len(topic & other) for other in later_topics]
            assert overlaps[number] == max(overlaps) > 0


def test_texts_in_pieces_have_the_topics_of_one_fit(updated, texts):
    model, _ = updated
    at_once = TopicModel(4, min_df=2).fit(texts)
    column = {word: k for k, word in enumerate(model.vocabulary_)}
    known = [k for k, word in enumerate(at_once.vocabulary_) if word in column]
    found = model.components_[:, [column[at_once.vocabulary_[k]] for k in known]]
    expected = at_once.components_[:, known]
    lengths = np.outer(np.linalg.norm(expected, axis=1), np.linalg.norm(found, axis=1))
    cosine = expected @ found.T / lengths
    assert sorted(cosine.argmax(axis=1)) == [0, 1, 2, 3]
    assert cosine.max(axis=1).min() > 0.9


def test_new_words_join(texts):
    model = TopicModel(4, min_df=2).partial_fit(texts[:200])
    fresh = [f"{text} zebra okapi" if i % 3 == 0 else text for i, text in enumerate(texts[200:])]
    model.partial_fit(fresh)
    assert {"zebra", "okapi"} <= set(model.vocabulary_)
    assert model.diagnostics_.n_documents == 480
    column = model.vocabulary_.index("zebra")
    assert model._record.document_frequency[column] == sum("zebra" in text for text in fresh)
    assert model.components_[:, column].sum() > 0


def test_an_updated_model_is_applied_and_saved(updated, texts, tmp_path):
    model, _ = updated
    model.save(tmp_path / "m.anchorless")
    loaded = TopicModel.load(tmp_path / "m.anchorless")
    np.testing.assert_array_equal(loaded.transform(texts[:9]), model.transform(texts[:9]))
    np.testing.assert_array_equal(model.transform(texts[320:]), model.document_topics_)
    with pytest.raises(InputError, match="cannot be updated"):
        loaded.partial_fit(texts)


def test_a_vectoriser_of_the_users_is_refused(texts):
    with pytest.raises(InputError, match="vectorizer=None"):
        TopicModel(4, vectorizer=object()).partial_fit(texts)


def test_max_features_bounds_the_vocabulary(texts):
    model = TopicModel(4, min_df=2, max_features=30).partial_fit(texts[:200])
    model.partial_fit([f"{text} zebra" for text in texts[200:]])
    assert len(model.vocabulary_) == 30


def test_another_number_of_topics_cannot_go_on(texts):
    model = TopicModel(4, min_df=2).partial_fit(texts[:160])
    before = model.components_
    with pytest.raises(InputError, match="n_topics=3, but the first call of partial_fit had n_topics=4"):
        model.set_params(n_topics=3).partial_fit(texts[160:320])
    np.testing.assert_array_equal(model.components_, before)
    model.set_params(n_topics=4).partial_fit(texts[160:320])


def test_what_is_told_of_documents_is_of_the_last_piece(texts):
    model = TopicModel(4, min_df=2).partial_fit(texts[:160]).partial_fit(texts[160:250])
    assert len(model.document_topics_) == len(model._lengths) == len(model.documents_frame()) == 90
