"""One table of laws over every estimator: scikit-learn's own checks, and those laws for texts instead of a matrix."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from anchorless import SNPA, SPA, XRAY, AnchorFree, FastAnchor, NormalizedCutWeighting, TfidfWeighting, TopicModel
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts

ESTIMATORS = [
    AnchorFree(),
    AnchorFree(constraint="all"),
    AnchorFree(normalize=True),
    SPA(),
    SNPA(),
    XRAY(),
    FastAnchor(),
    TfidfWeighting(),
    TfidfWeighting(tf="count", idf="smooth"),
    NormalizedCutWeighting(),
    NormalizedCutWeighting(floor=0.0),
]
#: The checks of scikit-learn that fit nothing; the others fit matrices of numbers.
CHECKS_WITHOUT_DATA = [
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_feature_names_out_error,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
]
SETTINGS = {
    "default": {},
    "all words": {"constraint": "all"},
    "tf-idf": {"weighting": "tfidf", "ngram_range": (1, 2), "extra_stop_words": ["today"]},
}


def checks():
    for estimator in ESTIMATORS:
        for checked, check in estimator_checks.estimator_checks_generator(estimator):
            name = getattr(check, "func", check).__name__
            if name != "check_array_api_input":  # asks for an environment variable to be set before SciPy is imported
                yield pytest.param(checked, check, id=f"{estimator!r}-{name}")


@pytest.mark.filterwarnings("ignore::anchorless.errors.SpectrumWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_scikit_learn_contract_of_topic_models(check):
    check("TopicModel", TopicModel(3))


@pytest.fixture(scope="module")
def texts():
    return planted_texts(60)[0]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
class TestTopicModel:
    """The laws of `check_estimator` that need data, with texts."""

    def test_fit_returns_the_model_and_ignores_y(self, texts, settings):
        model = TopicModel(3, **settings)
        assert model.fit(texts, y=[0] * len(texts)) is model
        np.testing.assert_array_equal(model.components_, TopicModel(3, **settings).fit(texts).components_)

    def test_fit_changes_no_parameter_and_no_text(self, texts, settings):
        given, parameters = list(texts), copy.deepcopy(settings)
        model = TopicModel(3, **parameters)
        before = model.get_params()
        model.fit(given).transform(given)
        assert model.get_params() == before
        assert all(model.get_params()[name] is value for name, value in before.items())
        assert (given, parameters) == (texts, settings)

    def test_fit_twice_is_fit_once(self, texts, settings):
        model = TopicModel(3, **settings).fit(texts[:40])
        model.fit(texts)
        once = TopicModel(3, **settings).fit(texts)
        np.testing.assert_array_equal(model.components_, once.components_)
        np.testing.assert_array_equal(model.transform(texts), once.transform(texts))
        assert vars(model).keys() == vars(once).keys()

    def test_a_clone_is_not_fitted_and_finds_the_same(self, texts, settings):
        model = TopicModel(3, **settings).fit(texts)
        copied = clone(model)
        assert copied.get_params() == model.get_params()
        assert not [name for name in vars(copied) if name.endswith("_")]
        np.testing.assert_array_equal(copied.fit(texts).components_, model.components_)

    def test_parameters_set_later_are_those_of_the_constructor(self, texts, settings):
        model = TopicModel().set_params(n_topics=3, **settings).fit(texts)
        np.testing.assert_array_equal(model.components_, TopicModel(3, **settings).fit(texts).components_)

    def test_transform_changes_nothing(self, texts, settings):
        model = TopicModel(3, **settings).fit(texts)
        before = dict(vars(model))
        model.transform(texts)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())

    def test_fit_transform_is_fit_then_transform(self, texts, settings):
        shares = TopicModel(3, **settings).fit_transform(texts)
        assert shares.shape == (len(texts), 3)
        np.testing.assert_array_equal(shares, TopicModel(3, **settings).fit(texts).transform(texts))

    def test_each_text_is_transformed_by_itself(self, texts, settings):
        model = TopicModel(3, **settings).fit(texts)
        shares = model.transform(texts)
        order = np.random.default_rng(0).permutation(len(texts))
        np.testing.assert_array_equal(model.transform([texts[i] for i in order]), shares[order])
        np.testing.assert_array_equal(np.vstack([model.transform([text]) for text in texts[:5]]), shares[:5])

    def test_feature_names_out_and_frames(self, texts, settings):
        model = TopicModel(3, **settings).set_output(transform="pandas").fit(texts)
        names = ["topicmodel0", "topicmodel1", "topicmodel2"]
        assert list(model.get_feature_names_out()) == names
        assert list(model.transform(texts).columns) == names

    def test_before_a_fit_is_an_error(self, texts, settings):
        with pytest.raises(NotFittedError):
            TopicModel(3, **settings).transform(texts)
        failed = TopicModel(3, **settings).fit(texts)
        with pytest.raises(InputError):
            failed.fit([])
        with pytest.raises(NotFittedError):
            failed.transform(texts)
