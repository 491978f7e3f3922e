import json

import numpy as np
import pandas as pd
import pytest

from anchorless import TopicModel
from anchorless.errors import InputError
from tests.helpers.planted_effects import DIFFERENCE, fit_planted

FORMULA = "~ party + year + s(t)"


@pytest.fixture(scope="module")
def planted():
    return fit_planted(3)


@pytest.fixture(scope="module")
def effects(planted):
    return planted[0].effects(FORMULA)


def take_term(frame, term):
    return frame[frame["term"] == term].set_index("topic")


def test_planted_effects_are_recovered(planted, effects):
    _, at, _, _ = planted
    frame = effects.frame()
    assert list(frame) == ["topic", "label", "term", "estimate", "low", "high", "p", "p_adjusted"]
    party, year = take_term(frame, "party[T.B]"), take_term(frame, "year")
    np.testing.assert_allclose(party["estimate"][at[0]], DIFFERENCE, atol=0.03)
    np.testing.assert_allclose(year["estimate"][at[1]], DIFFERENCE, atol=0.05)
    assert party["p_adjusted"][at[0]] < 0.05
    assert (frame["low"] < frame["estimate"]).all()
    assert (frame["p_adjusted"] >= frame["p"]).all()
    # What one topic gains the others lose.
    np.testing.assert_allclose(party["estimate"].sum(), 0.0, atol=1e-9)
    np.testing.assert_allclose(take_term(frame, "Intercept")["estimate"].sum(), 1.0, atol=1e-9)


def test_the_test_of_a_curve_finds_the_topic_that_follows_it(planted, effects):
    tests = effects.tests()
    assert list(tests) == ["topic", "label", "term", "n_columns", "f", "p", "p_adjusted"]
    curve = take_term(tests, "s(t)")
    assert curve["n_columns"].eq(5).all()
    assert curve["p"].idxmin() in (planted[1][2], planted[1][4])
    # A term of one column has the test of its coefficient, up to the degrees of freedom.
    frame = take_term(effects.frame(), "year")
    np.testing.assert_allclose(take_term(tests, "year")["p"], frame["p"], atol=0.01)


@pytest.mark.parametrize("length", [8, 40])
def test_short_documents_do_not_weaken_effects(length):
    model, at, _, _ = fit_planted(5, n_documents=2000, length=length)
    found = take_term(model.effects("~ party").frame(), "party[T.B]")["estimate"][at[0]]
    np.testing.assert_allclose(found, DIFFERENCE, atol=0.03)


def test_intervals_cover_planted_differences_and_shares():
    """Of 8 corpora 40 differences and 80 shares: 90% should be covered, and less than 27 and 58 would be no chance."""
    differences, shares = 0, 0
    for seed in range(8):
        model, at, table, mean = fit_planted(100 + seed, n_documents=400)
        frame = take_term(model.effects("~ party").frame(), "party[T.B]").loc[at]
        truth = np.array([DIFFERENCE, 0.0, 0.0, 0.0, -DIFFERENCE])
        differences += ((frame["low"] <= truth) & (truth <= frame["high"])).sum()
        for party, rows in model.topics_by("party").groupby("party"):
            # The mean of the Dirichlet parameters is that of the population, given the covariates of the documents.
            truth = mean[(table["party"] == party).to_numpy()].mean(axis=0)
            inside = rows.set_index("topic").loc[at]
            shares += ((inside["low"] <= truth) & (truth <= inside["high"])).sum()
    assert differences >= 27
    assert shares >= 58


def test_without_an_effect_few_are_significant():
    significant = 0
    for seed in range(6):
        model, _, _, _ = fit_planted(200 + seed, n_documents=400, difference=0.0)
        significant += (take_term(model.effects("~ party").frame(), "party[T.B]")["p"] < 0.05).sum()
    assert significant <= 6  # of 30, which are dependent


def test_authors_make_intervals_of_their_party_wider():
    model, _, _, _ = fit_planted(8, n_documents=600, n_authors=20)
    alone, grouped = (model.effects("~ party + year", groups=groups).frame() for groups in (None, "author"))
    np.testing.assert_array_equal(alone["estimate"], grouped["estimate"])
    widths = [take_term(f, "party[T.B]").eval("high - low").mean() for f in (alone, grouped)]
    assert widths[1] > 1.5 * widths[0]


def test_a_topic_has_the_same_effects_whatever_else_is_asked(planted, effects):
    alone = planted[0].effects(FORMULA, topics=2).frame()
    every = effects.frame()
    columns = ["estimate", "low", "high", "p"]
    np.testing.assert_allclose(alone[columns], every[every["topic"] == 2][columns], rtol=1e-9)


def test_topics_taken_together_have_the_sum_of_their_effects(planted, effects):
    frame = planted[0].effects(FORMULA, topics=[0, [1, 4]]).frame()
    assert frame["topic"].unique().tolist() == [0, "1+4"]
    every = effects.frame()
    sums = sum(every[every["topic"] == f]["estimate"].to_numpy() for f in (1, 4))
    np.testing.assert_allclose(frame[frame["topic"] == "1+4"]["estimate"], sums, atol=1e-12)
    together = planted[0].effects("~ party", topics=[[0, 1, 2, 3, 4]]).frame()
    np.testing.assert_allclose(together["estimate"], [1.0, 0.0], atol=1e-9)
    assert together["p"].tolist()[1] == 1.0  # all topics together cannot change


def test_covariates_do_not_change_the_topics():
    model, _, _, _ = fit_planted(4, n_documents=300)
    counts = model._counts.blocks[0]

    without = TopicModel(5, n_jobs=1).fit_counts(counts, model.vocabulary_)
    np.testing.assert_array_equal(model.topic_word_, without.topic_word_)
    model.effects("~ party")
    np.testing.assert_array_equal(model.topic_word_, without.topic_word_)


def test_documents_that_are_left_out_do_not_change_the_topics_but_are_counted(planted):
    model, _, table, _ = planted
    some = table.copy()
    some.loc[:99, "party"] = None
    found = model.effects("~ party", some)
    assert found.design.left_out == {"no value of party": 100}
    assert "800 documents; 100 left out (no value of party)" in str(found)


def test_threads_and_repetition_change_no_bit(planted):
    model, _, _, _ = planted
    first = model.effects(FORMULA).frame()
    del model._drawn
    pd.testing.assert_frame_equal(model.effects(FORMULA, n_jobs=2).frame(), first)
    pd.testing.assert_frame_equal(model.effects(FORMULA).frame(), first)


def test_a_contrast_of_two_levels_is_their_coefficient_in_points(effects):
    frame = take_term(effects.frame(), "party[T.B]")
    found = effects.contrast("party", "B", "A").set_index("topic")
    for name, points in (("estimate", "points"), ("low", "low"), ("high", "high")):
        np.testing.assert_allclose(found[points], 100 * frame[name], rtol=1e-6)
    np.testing.assert_allclose(found["p"], frame["p"], rtol=1e-6)
    back = effects.contrast("party", "A", "B")
    np.testing.assert_allclose(back["points"], -found["points"], rtol=1e-9)
    slope = effects.contrast("year", 1.0, 0.5)["points"]
    np.testing.assert_allclose(slope, 50 * take_term(effects.frame(), "year")["estimate"], rtol=1e-6)


def test_predictions_average_to_the_mean_shares_and_follow_the_curve(planted, effects):
    _, at, _, _ = planted
    grid = pd.DataFrame({"t": [0.25, 0.75]})
    found = effects.predict(grid)
    assert list(found) == ["topic", "label", "t", "share", "low", "high"]
    curve = found[found["topic"] == at[2]]["share"].to_numpy()
    np.testing.assert_allclose(curve, [0.25, 0.15], atol=0.05)
    np.testing.assert_allclose(found.groupby("t")["share"].sum(), 1.0, atol=0.01)
    assert ((found["low"] <= found["share"]) & (found["share"] <= found["high"])).all()


def test_dates_are_days_and_can_be_predicted(planted):
    found = planted[0].effects("~ s(day)", topics=[0])
    shares = found.predict({"day": ["2008-04-01", "2008-10-01"]})
    assert shares["day"].tolist() == ["2008-04-01", "2008-10-01"]
    assert found.as_dict()["dates"] == ["day"]


def test_all_numbers_can_be_written_as_json(effects):
    found = effects.as_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["n_documents"] == 900
    assert len(found["effects"]) == 5 * 8
    assert len(found["curves"]["t"]) == 5 * 40
    assert {row["first"] for row in found["contrasts"]["party"]} == {"B"}


def test_a_summary_says_what_was_found_and_what_not(planted, effects):
    text = effects.summary()
    assert text == str(effects)
    assert "900 documents. Intervals: 90%." in text
    assert "): party: B − A: +" in text
    assert (
        "effects have p < 0.05, corrected for the number of topics. They are listed with 90% intervals; the other"
        in text
    )
    assert "The first 1 are listed with 90% intervals; the other 14 are in frame() and tests():\n" in effects.summary(1)
    assert repr(effects) == "<Effects '~ party + year + s(t)', 5 topics, 900 documents>"
    noise = planted[0].effects("~ noise", {"noise": np.random.default_rng(0).standard_normal(900)})
    assert "the data cannot tell" in str(noise)
    assert "20 groups of author" in str(
        fit_planted(8, n_documents=600, n_authors=20)[0].effects("~ year", groups="author")
    )


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (5, "there is no topic 5; topics have the numbers 0 to 4"),
        (1.5, "there is no topic 1.5"),
        ([1.0], "there is no topic 1.0"),
        ([True], "there is no topic True"),
        ("ab", "there is no topic 'a'"),
        ([["a"]], "there is no topic 'a'"),
        ([], "no topic"),
        ([[1, 1]], "must be different"),
    ],
)
def test_topics_that_do_not_exist_are_refused(planted, topics, message):
    with pytest.raises(InputError, match=message):
        planted[0].effects("~ party", topics=topics)


@pytest.mark.parametrize("level", [0, 1, 90, "high", None])
def test_a_level_that_is_none_is_refused(planted, level):
    with pytest.raises(InputError, match="a confidence level is above 0 and below 1"):
        planted[0].effects("~ party", level=level)


def test_a_wider_level_gives_wider_intervals(planted, effects):
    wide = planted[0].effects(FORMULA, level=0.99).frame()
    assert (wide["low"] < effects.frame()["low"]).all()


def test_topics_that_the_documents_hardly_determine_are_named(planted, effects):
    assert effects.agreement.min() > 0.95
    assert "Doubtful" not in effects.summary()
    assert not any(topic["doubtful"] for topic in effects.as_dict()["topics"])
    few = fit_planted(0, n_documents=150, length=6)[0].effects("~ party")
    assert few.agreement.min() < 0.85
    worst = int(np.argmin(few.agreement))
    assert f"{worst} ({few.agreement[worst]:.2f})" in few.summary()
    assert few.as_dict()["topics"][worst]["doubtful"]
