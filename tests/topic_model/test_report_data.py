import copy

import numpy as np
import pandas as pd
import pytest

from anchorless import Corpus
from anchorless._core.proportions import compute_projection, find_nearest_mixtures
from anchorless._corpus.metadata import validate_metadata
from anchorless._corpus.quality import make_note
from anchorless._effects.topic_draws import project_documents
from anchorless._report.html import ReportData, render_report
from anchorless._topic_model.document_summary import MixtureAccumulator
from anchorless._topic_model.fitted import summarize_documents
from anchorless._topic_model.mixtures import Mixtures
from anchorless._topic_model.model import TopicModel
from anchorless._topic_model.report_data import build_report_data, describe_fit
from tests.helpers.planted_texts import planted_texts


@pytest.fixture(scope="module")
def model():
    texts, labels = planted_texts()
    dates = [f"20{i % 12:02}-01-01" for i in range(len(texts))]
    return TopicModel(4).fit([*texts[:-1], "?"], labels=labels, dates=dates)


@pytest.fixture
def data(model):
    return build_report_data(model._record, "A title")


def headings(data):
    return [heading for heading, _ in data.diagnostics]


def test_the_record_fits_the_model(model, data):
    assert isinstance(data, ReportData)
    assert data.title == "A title"
    assert data.n_documents == len(data.documents) == 160
    assert [topic.number for topic in data.topics] == [0, 1, 2, 3]
    assert [topic.label for topic in data.topics] == model.topic_labels_
    np.testing.assert_array_equal([topic.share for topic in data.topics], model.topic_shares_)
    np.testing.assert_array_equal(data.association, model.topic_association_)
    first = model.topics(5)[0]
    expected = [*zip(first.words, first.probabilities, first.relevance, first.distinctiveness, strict=True)]
    assert data.topics[0].words[:5] == expected


def test_documents_have_their_own_shares_label_and_date(model, data):
    frame = model.documents_frame().set_index("id")
    for document in data.documents:
        row = frame.loc[document.id]
        for f, share in document.topics:
            assert share == row[f"topic_{f}"]
        assert document.label == row["label"]
        assert document.date == row["date"]


def test_the_documents_of_a_topic_lead_with_its_best(model, data):
    for f, topic in enumerate(data.topics):
        score = model.document_topics_[:, f] * model.document_explained_
        shown = [int(data.documents[i].id) for i in topic.documents]
        np.testing.assert_array_equal(score[shown], np.sort(score)[::-1][: len(shown)])


def test_tables_by_label_and_time(model, data):
    # Means of shares without bias, which are not those of mixtures.
    shares = project_documents(model._counts, compute_projection(model.topic_word_), 1)
    known = model.documents_frame()["topic"].notna().to_numpy()
    means = pd.DataFrame(shares)[known].groupby(model.documents_frame()["label"][known]).mean()
    assert means.to_numpy().min() < 0  # so that the nearest mixtures differ from them
    expected = find_nearest_mixtures(means.loc[list(data.labels.names)].to_numpy(), model.topic_word_)
    np.testing.assert_allclose(data.labels.values, expected, rtol=1e-12)
    assert data.prevalence.periods == [f"20{i:02}-01-01" for i in range(12)]
    assert np.shape(data.labels.low) == np.shape(data.labels.high) == means.shape


def test_the_record_can_be_rendered(data):
    page = render_report(data)
    assert "A title" in page


def test_diagnostics_are_sentences(data):
    assert headings(data)[0] == "Documents"
    for heading, sentence in data.diagnostics:
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
        assert heading


def test_notes_on_the_data_are_saved_and_shown_with_those_that_concern_most_documents_first(model, tmp_path):
    notes = [make_note("near-copies", 40, 160, "set {deduplicate}", ["The ship."]), make_note("markup", 80, 160)]
    noted = copy.copy(model)
    noted._record = model._record._replace(data_notes=notes)
    noted.save(tmp_path / "noted.anchorless")
    loaded = TopicModel.load(tmp_path / "noted.anchorless")
    shown = build_report_data(loaded._record, "").quality
    assert [(note.what, note.n_documents) for note in shown] == [
        ("markup", 80),
        ("near-copies", 40),
        ("documents without a known word", 1),
    ]
    assert shown[1] == ("near-copies", 40, 0.25, "Set --deduplicate.", ["The ship."])


def test_problems_of_the_fit_are_reported(model):
    good = model._record
    assert "converged after" in dict(describe_fit(good))["Convergence"]
    facts = good.diagnostics._replace(converged=False, warnings=["the last topic direction is chance"])
    told = dict(describe_fit(good._replace(diagnostics=facts)))
    assert "did not converge" in told["Convergence"]
    assert told["Warning"] == "The last topic direction is chance."


def test_nearly_identical_topics_are_named(model):
    C = model.components_.copy()
    C[3] = 0.999 * C[0] + 0.001 * C[3]
    told = dict(build_report_data(model._record._replace(relevance=C), "").diagnostics)
    assert "0 (" in told["Nearly identical topics"]
    assert "3 (" in told["Nearly identical topics"]
    assert ". They have nearly the same words; fewer topics may be enough. Details: " in told["Nearly identical topics"]
    assert "Nearly identical topics" not in headings(build_report_data(model._record, ""))


def test_topics_that_are_often_together_are_named(model):
    A = np.zeros((4, 4))
    A[0, 2] = A[2, 0] = 0.3
    A[1, 2] = A[2, 1] = -0.9  # rarely together
    A[1, 3] = A[3, 1] = 0.004  # negligible
    record = model._record._replace(tokens=model._record.tokens._replace(association=A))
    told = dict(build_report_data(record, "").diagnostics)
    first, second = (f"{f} ({model.topic_labels_[f]})" for f in (0, 2))
    assert told["Often together"].endswith(f"their sizes explain (association): {first} and {second}, +0.30.")


def test_explained_is_about_the_deviance_with_a_token_model(model, data):
    told = dict(data.diagnostics)
    assert f"{model.document_explained_[:-1].mean():.0%} of its deviance" in told["Explained"]
    assert "Token model" not in told


@pytest.mark.parametrize("weights", [False, True])
def test_a_report_without_a_token_model_says_so(weights):
    """A model has none with `likelihood=False`, or if it was fitted to weights that are no counts."""
    if weights:
        X = np.random.default_rng(0).gamma(0.3, size=(60, 30))
        plain = TopicModel(3, weighting="counts").fit(Corpus.from_counts(X, [f"w{i}" for i in range(30)]))
    else:
        plain = TopicModel(4, likelihood=False).fit(planted_texts()[0])
    told = dict(build_report_data(plain._record, "").diagnostics)
    assert "likelihood=False" in told["Token model"]
    assert "weights instead of counts" in told["Token model"]
    assert "sum of squares" in told["Explained"]
    assert "deviance" not in told["Explained"]
    assert "This model has none" in render_report(build_report_data(plain._record, ""))


def test_incoherent_topics_are_named(model):
    facts = model._record.facts._replace(coherence=np.array([0.3, -0.2, 0.3, 0.3]))
    told = dict(build_report_data(model._record._replace(facts=facts), "").diagnostics)
    assert f"1 ({model.topic_labels_[1]})" in told["Incoherent topics"]


def test_kept_documents_are_in_the_order_of_their_positions():
    mixtures = Mixtures(np.array([[1.0, 0.0], [0.3, 0.7], [0.6, 0.4]]), np.array([0.5, 0.9, 1.0]))
    metadata = validate_metadata(3, ["a", "b", "c"], None, None)
    at = np.array([2, 1])
    some = Mixtures(mixtures.shares[at], mixtures.explained[at])
    accumulator = MixtureAccumulator(3, 2, metadata)
    accumulator.add(mixtures)
    summary = accumulator.result(mixtures)._replace(positions=at, mixtures=some)
    kept = summarize_documents(summary, metadata, ["C", "B"])
    assert [(d.id, d.snippet, d.explained) for d in kept.documents] == [("c", "C", 1.0), ("b", "B", 0.9)]
    assert kept.documents[0].topics == [(0, 0.6), (1, 0.4)]
    assert kept.representatives == [[0, 1], [1, 0]]
    assert kept.by_label is None
    assert kept.by_period is None
