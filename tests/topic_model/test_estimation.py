"""Errors and warnings of the estimator name the parameters that a topic model has."""

import inspect

import pytest
from sklearn.exceptions import ConvergenceWarning

from anchorless import AnchorFree, RankError, TopicModel, datasets
from anchorless._topic_model.fitted import fit_estimator
from anchorless.errors import SpectrumWarning
from tests.helpers.planted_texts import planted_texts

TEXTS = planted_texts(60)[0]
EQUAL_TOPICS = ["orbit rocket", "bread flour", "court judge", "goal match"] * 5


def test_a_fit_that_does_not_converge_names_only_parameters_of_the_model(monkeypatch):
    monkeypatch.setattr(TopicModel, "_make_estimator", lambda model, n_topics: AnchorFree(n_topics, max_iter=1))
    with pytest.warns(ConvergenceWarning, match=r"^the topics were still changing after 1 sweeps; lower n_topics$"):
        model = TopicModel(3).fit(TEXTS)
    assert model.diagnostics_.warnings == ["the topics were still changing after 1 sweeps; lower n_topics"]
    assert not {"max_iter", "tol"} & set(inspect.signature(TopicModel).parameters)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_transform"])
def test_a_warning_is_at_the_line_of_the_user(method):
    with pytest.warns(SpectrumWarning, match="try another n_topics") as warned:
        getattr(TopicModel(2), method)(EQUAL_TOPICS)
    assert [warning.filename for warning in warned] == [__file__]


def test_an_error_names_the_number_of_topics():
    with pytest.raises(RankError, match=r"^n_topics=3, but .*; lower n_topics") as raised:
        TopicModel(3).fit(["orbit rocket", "bread flour"] * 5)
    assert (raised.value.parameter, raised.value.value, raised.value.limit) == ("n_topics", 3, 2)


def test_an_earlier_estimator_stays_as_it_is():
    documents = TopicModel(2, weighting="counts").fit(TEXTS)._weighted.documents
    earlier, _ = fit_estimator(AnchorFree(2), documents, partial=True)
    before = dict(vars(earlier))
    fit_estimator(AnchorFree(2), documents, earlier, partial=True)
    assert vars(earlier).keys() == before.keys()
    assert all(vars(earlier)[name] is value for name, value in before.items())


def test_words_of_a_class_unlike_the_others_lead_its_topics_only():
    """Every third docstring: topics of co-occurrences all have the words of the distributions of scipy.stats."""
    model = TopicModel(10, max_df=0.3).fit(datasets.load_docstrings().texts[::3])
    leading = [set(topic.words) for topic in model.topics(n_words=5)]
    assert 1 <= sum(bool({"loc", "ppf", "rv"} & words) for words in leading) <= 4  # these words led 7 topics
