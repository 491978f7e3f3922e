"""One table of laws over every estimator: scikit-learn's own."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from anchorless import SNPA, SPA, XRAY, AnchorFree, FastAnchor, NormalizedCutWeighting, TfidfWeighting

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
]


def checks():
    for estimator in ESTIMATORS:
        for checked, check in estimator_checks_generator(estimator):
            name = getattr(check, "func", check).__name__
            if name != "check_array_api_input":  # asks for an environment variable to be set before SciPy is imported
                yield pytest.param(checked, check, id=f"{estimator!r}-{name}")


@pytest.mark.filterwarnings("ignore::anchorless.errors.SpectrumWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_contract(estimator, check):
    check(estimator)
