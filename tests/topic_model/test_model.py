import builtins
import doctest
import json
import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from anchorless._core.weighting import MAX_TOKEN_FACTOR
from anchorless._corpus.corpus import Corpus
from anchorless._corpus.counting import batch_texts, count_texts, count_with_vocabulary
from anchorless._corpus.settings import CountSettings
from anchorless._estimators.anchorfree import AnchorFree
from anchorless._estimators.weighting import NormalizedCutWeighting, TfidfWeighting
from anchorless._topic_model import fitted as fitted_module
from anchorless._topic_model import model as topic_model
from anchorless._topic_model.document_summary import MixtureAccumulator
from anchorless._topic_model.file import load_model, save_model
from anchorless._topic_model.model import TopicModel
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError, RankError, SpectrumWarning
from anchorless.metrics import clustering_accuracy, match_topics
from tests.helpers.planted_texts import THEMES, planted_texts
from tests.helpers.tolerances import ROUNDING

FIXTURE = Path(__file__).parents[1] / "fixtures" / "model-v1.anchorless"
TEXTS, LABELS = planted_texts()


@pytest.fixture(scope="module")
def model():
    """Return a model that no test may change."""
    return TopicModel(4).fit(TEXTS)


@pytest.fixture
def path(tmp_path, model):
    model.save(tmp_path / "m.anchorless")
    return tmp_path / "m.anchorless"


def test_the_planted_topics_are_found(model):
    assert themes_of(model) == set(THEMES)
    assert clustering_accuracy(LABELS, model.document_topics_.argmax(axis=1)) > 0.9
    assert {theme(label.split()) for label in model.topic_labels_} == set(THEMES)


def theme(words):
    return next((name for name, known in THEMES.items() if set(words) <= set(known)), None)


def themes_of(model):
    return {theme(topic.words) for topic in model.topics(5)}


def scale_rows(topics):
    return topics / topics.sum(axis=1, keepdims=True)


def test_it_is_the_pieces_put_together(model):
    counts = count_texts(batch_texts(TEXTS), CountSettings(), 1)
    weigh = make_pipeline(TfidfWeighting(idf="chi2"), NormalizedCutWeighting(floor=0.25))
    D = weigh.fit_transform(sp.vstack(counts.documents.blocks))
    estimator = AnchorFree(4, normalize=True).fit(D)
    assert model.vocabulary_ == counts.vocabulary
    df = np.asarray((sp.vstack(counts.documents.blocks) > 0).sum(axis=0)).ravel()
    rare = np.log((1 + len(TEXTS)) / df)
    probability = scale_rows(estimator.components_ / weigh[0].idf_)
    shown = scale_rows(probability * rare)
    probability = probability[match_topics(model.components_, shown)[1]]
    limited = scale_rows(np.minimum(probability, MAX_TOKEN_FACTOR * model.topic_word_) * rare)
    np.testing.assert_allclose(model.components_, limited, rtol=1e-7, atol=1e-12)
    plain = TopicModel(4, likelihood=False).fit(TEXTS)
    np.testing.assert_allclose(plain.components_, shown, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(plain.document_topics_, estimator.transform(D), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(plain.topic_correlation_, estimator.topic_correlation_, atol=1e-7)
    np.testing.assert_allclose(model.eigenvalues_, estimator.eigenvalues_, rtol=1e-9)


def test_shares_are_a_mixed_membership(model):
    W = model.transform([*TEXTS[:30], "", "nothing of this was ever seen"])
    np.testing.assert_allclose(W[:30].sum(axis=1), 1.0, rtol=ROUNDING)
    np.testing.assert_array_equal(W[30:], 0.0)
    assert W.min() >= 0.0
    (mixed,) = model.transform(["orbit rocket moon shuttle bread flour butter oven"])
    assert np.sort(mixed)[-2] > 0.3


def test_transform_of_the_training_documents_is_what_fit_found(model):
    assert model.transform(TEXTS).tobytes() == model.document_topics_.tobytes()


def test_one_at_a_time_equals_the_batch(model):
    alone = np.vstack([model.transform([text]) for text in TEXTS[:40]])
    assert alone.tobytes() == model.document_topics_[:40].tobytes()
    assert model.transform(reversed(TEXTS))[::-1].tobytes() == model.document_topics_.tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_no_bit(model, n_jobs):
    other = TopicModel(4, n_jobs=n_jobs).fit(TEXTS)
    assert other.components_.tobytes() == model.components_.tobytes()
    assert other.document_topics_.tobytes() == model.document_topics_.tobytes()


@pytest.mark.parametrize("size", [1, 7, 159])
def test_portions_change_no_bit(model, size):
    batches = (pa.array(TEXTS[i : i + size]) for i in range(0, len(TEXTS), size))
    counts = count_texts(batches, CountSettings(), 2)
    other = TopicModel(4).fit(Corpus(counts.documents, counts.vocabulary, counting=CountSettings()))
    assert other.components_.tobytes() == model.components_.tobytes()
    assert other.document_topics_.tobytes() == model.document_topics_.tobytes()


def test_documents_are_read_once():
    def stream():
        yield from TEXTS

    once = TopicModel(4).fit_transform(stream())
    assert once.tobytes() == TopicModel(4).fit(TEXTS).document_topics_.tobytes()


def test_a_pandas_column_is_an_iterable_of_texts(model):
    column = pd.Series(TEXTS, index=range(500, 500 + len(TEXTS)))
    assert TopicModel(4).fit(column).components_.tobytes() == model.components_.tobytes()


def test_batches_say_what_they_hold(model):
    batches = [pa.array(TEXTS[:3]), pa.array(["orbit zebra xylophone", "the"]), pa.array([], pa.string())]
    applied = list(model.transform_batches(batches))
    assert [a.mixtures.shares.shape for a in applied] == [(3, 4), (2, 4), (0, 4)]
    assert (applied[1].n_tokens, applied[1].n_unknown) == (3, 2)
    tokens = " ".join(TEXTS[:3]).lower().replace(".", "").split()
    assert applied[0].n_tokens == len(tokens)
    assert applied[0].n_unknown == sum(token not in model.vocabulary_ for token in tokens)
    np.testing.assert_array_equal(applied[0].mixtures.shares, model.document_topics_[:3])
    np.testing.assert_array_equal(applied[0].mixtures.explained, model.document_explained_[:3])


def test_counts_of_its_words_transform_as_texts_do(model):
    (counted,) = count_with_vocabulary([pa.array(TEXTS)], model.vocabulary_, CountSettings(), 1)
    assert model.transform_counts(counted.counts).tobytes() == model.document_topics_.tobytes()
    assert model.transform_counts(counted.counts.toarray()).tobytes() == model.document_topics_.tobytes()
    (batch,) = model.transform_batches([pa.array(TEXTS)])
    np.testing.assert_array_equal(batch.mixtures.explained, model.document_explained_)
    with pytest.raises(InputError, match="X has 3 words, but the model knows"):
        model.transform_counts(np.ones((1, 3)))


# --- the user's own counts and vectorisers


def test_own_counts_give_the_same_model(model):
    counts = count_texts(batch_texts(TEXTS), CountSettings(), 1)
    own = TopicModel(4).fit_counts(sp.vstack(counts.documents.blocks), counts.vocabulary)
    assert own.components_.tobytes() == model.components_.tobytes()
    assert own.document_topics_.tobytes() == model.document_topics_.tobytes()
    assert set(own.representative_documents(0, 1)[0].snippet.split()) <= set(own.vocabulary_)
    with pytest.raises(InputError, match="cannot count texts; load it with vectorizer="):
        own.transform(TEXTS)


def vectorizer():
    return CountVectorizer(token_pattern=r"[a-z]{2,}", stop_words=["today"], min_df=2, max_df=0.5)


def test_own_vectorizer_is_used_for_both_ways():
    given = vectorizer()
    model = TopicModel(4, vectorizer=given).fit(TEXTS)
    assert not hasattr(given, "vocabulary_")
    words = vectorizer().fit(TEXTS).get_feature_names_out().tolist()
    assert model.vocabulary_ == words
    assert model.transform(TEXTS).tobytes() == model.document_topics_.tobytes()
    assert model.transform(TEXTS[:1]).tobytes() == model.document_topics_[:1].tobytes()
    by_hand = TopicModel(4).fit_counts(vectorizer().fit_transform(TEXTS), words)
    assert by_hand.components_.tobytes() == model.components_.tobytes()


def test_a_vectorizer_that_weighs_needs_no_weighting():
    model = TopicModel(4, vectorizer=TfidfVectorizer(max_df=0.5), weighting="counts").fit(TEXTS)
    assert themes_of(model) == set(THEMES)
    with pytest.raises(InputError, match=r"TfidfVectorizer counted holds .* weighting='chi2-ncw' starts from whole"):
        TopicModel(4, vectorizer=TfidfVectorizer()).fit(TEXTS)


def test_a_saved_model_asks_for_its_vectorizer(tmp_path):
    model = TopicModel(4, vectorizer=vectorizer()).fit(TEXTS)
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert loaded.vocabulary_ == model.vocabulary_
    assert loaded.topics() == model.topics()
    with pytest.raises(InputError, match="load it with vectorizer="):
        loaded.transform(TEXTS)
    given = vectorizer().fit(TEXTS)
    again = TopicModel.load(tmp_path / "m", vectorizer=given)
    assert again.transform(TEXTS).tobytes() == model.document_topics_.tobytes()
    with pytest.raises(InputError, match="not the same"):
        TopicModel.load(tmp_path / "m", vectorizer=CountVectorizer().fit(["other words"]))


# --- what is shown


def test_frames_show_the_model(model):
    frame = model.documents_frame()
    assert len(frame) == len(TEXTS)
    assert frame["id"].tolist()[:2] == ["0", "1"]
    np.testing.assert_array_equal(frame["explained"], model.document_explained_)
    np.testing.assert_array_equal(frame["topic"], model.document_topics_.argmax(axis=1))
    assert model.topics_frame(3)["words"].tolist() == [", ".join(topic.words) for topic in model.topics(3)]
    assert len(model.words_frame(3)) == 12
    np.testing.assert_array_equal(model.correlation_frame(), model.topic_correlation_)
    assert len(model.correlation_edges()) == 6
    np.testing.assert_array_equal(model.topics_frame()["share"], model.topic_shares_)
    assert model.topic_shares_.tolist() == sorted(model.topic_shares_, reverse=True)


def test_a_document_about_something_else_is_poorly_explained():
    odd = "harp flute violin cello drum piano"
    model = TopicModel(4, max_df=1.0).fit([*TEXTS, odd, odd])
    assert model.document_explained_[-1] < 0.1 * np.median(model.document_explained_)


def test_representative_documents_stand_for_their_topic(model):
    for f in range(4):
        best = model.representative_documents(f, 3)
        theme = {LABELS[int(document.id)] for document in best}
        assert len(theme) == 1
        assert all(document.topics[0][0] == f for document in best)
        assert [document.snippet for document in best] == [TEXTS[int(document.id)] for document in best]
    with pytest.raises(InputError, match="topic=4"):
        model.representative_documents(4)
    with pytest.raises(InputError, match="n=0"):
        model.representative_documents(0, 0)


def test_ids_labels_and_dates_are_carried_through(tmp_path):
    ids = [f"doc-{i}" for i in range(len(TEXTS))]
    dates = [f"{1990 + i % 5}-06-01" for i in range(len(TEXTS))]
    model = TopicModel(4).fit(iter(TEXTS), ids=ids, labels=LABELS, dates=dates)
    frame = model.documents_frame()
    assert frame[["id", "label", "date"]].to_numpy().tolist() == [
        list(row) for row in zip(ids, LABELS, dates, strict=True)
    ]
    best = model.representative_documents(0, 1)[0]
    assert best.label == LABELS[ids.index(best.id)]
    model.save(tmp_path / "m")
    kept = TopicModel.load(tmp_path / "m")._record.kept
    assert kept.by_label == model._record.kept.by_label
    assert kept.by_period == model._record.kept.by_period
    assert sorted(kept.by_label.names) == sorted(THEMES)
    with pytest.raises(InputError, match="2 ids for 160 documents"):
        TopicModel(4).fit(TEXTS, ids=["a", "b"])


def test_texts_are_not_kept_only_their_beginnings(monkeypatch):
    monkeypatch.setattr("anchorless._topic_model.fitting.MixtureAccumulator", partial(MixtureAccumulator, limit=20))
    model = TopicModel(4).fit(TEXTS)
    kept = model._record.kept.documents
    assert len(kept) <= 20
    assert [document.snippet for document in kept] == [TEXTS[int(document.id)] for document in kept]


def test_report_is_written_whole_or_not_at_all(model, tmp_path):
    model.report(tmp_path / "r.html", title="Grüße <b>")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Grüße &lt;b&gt;" in page
    assert TEXTS[0] in page
    with pytest.raises(InputError, match="force"):
        model.report(tmp_path / "r.html")
    model.report(tmp_path / "r.html", force=True)


def test_a_loaded_model_can_still_report(path, tmp_path):
    TopicModel.load(path).report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 1000


def test_pyldavis_gets_proper_distributions():
    pytest.importorskip("pyLDAvis")
    model = TopicModel(4).fit([*TEXTS, "?"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyLDAvis's own
        data = model.to_pyldavis()
    assert sorted(data.topic_coordinates.index) == [0, 1, 2, 3]
    weights = np.delete(model.document_topics_, len(TEXTS), axis=0) * model._lengths[:-1, None]
    expected = 100 * weights.sum(axis=0) / weights.sum()
    np.testing.assert_allclose(data.topic_coordinates["Freq"].sort_index(), expected, rtol=1e-6)


def test_pyldavis_is_an_extra(model, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pyLDAvis":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match="pip install"):
        model.to_pyldavis()


# --- the model file


def test_a_loaded_model_gives_the_same_bits(model, path):
    loaded = TopicModel.load(path)
    assert loaded.transform(TEXTS).tobytes() == model.document_topics_.tobytes()
    for name in ("components_", "topic_moments_", "topic_correlation_", "topic_shares_", "eigenvalues_", "coherence_"):
        assert getattr(loaded, name).tobytes() == getattr(model, name).tobytes()
    assert loaded.topics() == model.topics()
    assert loaded.diagnostics_ == model.diagnostics_
    assert [loaded.representative_documents(f, 20) for f in range(4)] == [
        model.representative_documents(f, 20) for f in range(4)
    ]


def test_save_load_save_gives_equal_bytes(path, tmp_path):
    TopicModel.load(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "settings",
    [
        {"weighting": "tfidf"},
        {"weighting": "counts"},
        {"stop_words": ["today", "people"], "ngram_range": (1, 2), "max_features": 40},
        {"stop_words": None, "extra_stop_words": ("week",), "min_df": 0.01, "max_df": 100},
        {"constraint": "all", "random_state": np.int64(3), "email": True},
    ],
)
def test_settings_survive(tmp_path, settings):
    model = TopicModel(3, **settings).fit(TEXTS)
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert loaded.transform(TEXTS).tobytes() == model.document_topics_.tobytes()
    for name, value in settings.items():
        saved = getattr(loaded, name)
        assert saved == (tuple(value) if isinstance(value, list) else value)


def test_the_stop_words_of_the_day_are_in_the_file(model, path):
    counting = TopicModel.load(path)._record.counting
    assert "the" in counting.extra_stop_words
    assert counting == model.fitted_counting_.pin_stop_words()


def test_training_weights_are_not_in_the_file(path):
    loaded = TopicModel.load(path)
    for ask in (loaded.documents_frame, loaded.to_pyldavis):
        with pytest.raises(InputError, match="keeps no document weights; transform the documents"):
            ask()


def test_only_documents_that_stand_for_topics_are_in_the_file(path, monkeypatch):
    monkeypatch.setattr(fitted_module, "SAVED_DOCUMENTS", 2)
    model = TopicModel(4).fit(TEXTS)
    kept = model._record.kept
    last = len(kept.documents) - 1  # as if they had been kept in another order
    mirrored = kept._replace(
        documents=kept.documents[::-1],
        representatives=[[last - i for i in row] for row in kept.representatives],
        mixtures=None,
        positions=None,
        borders=None,
    )
    model._record = model._record._replace(kept=mirrored)
    model.save(path, force=True)
    content = path.read_bytes()
    kept = TopicModel.load(path)._record.kept
    assert len(kept.documents) == 8
    saved = [[kept.documents[i].id for i in positions] for positions in kept.representatives]
    assert saved == [[document.id for document in model.representative_documents(f, 2)] for f in range(4)]
    shown = {document.id for document in kept.documents}
    assert sum(text.encode() in content for i, text in enumerate(TEXTS) if str(i) not in shown) == 0


def test_an_existing_model_is_replaced_only_by_force(model, path):
    with pytest.raises(InputError, match="force"):
        model.save(path)
    model.save(path, force=True)


def test_a_file_with_parts_missing_is_refused(path):
    arrays, header = load_model(path)
    del header["labels"]
    save_model(path, arrays, header, force=True)
    with pytest.raises(InputError, match="lacks parts that a model of anchorless has"):
        TopicModel.load(path)


def test_the_file_of_the_first_version_is_read_for_ever():
    expected = json.loads(FIXTURE.with_suffix(".json").read_text(encoding="utf-8"))
    model = TopicModel.load(FIXTURE)
    assert model.vocabulary_ == expected["vocabulary"]
    assert model.topic_labels_ == expected["labels"]
    assert [topic.words for topic in model.topics(5)] == expected["words"]
    assert [[d.id for d in model.representative_documents(f, 3)] for f in range(4)] == expected["representatives"]
    # Another processor rounds in another way; 1e-9 is far below anything that is shown.
    np.testing.assert_allclose(model.transform(expected["texts"]), expected["shares"], atol=1e-9)
    np.testing.assert_allclose(model.topic_correlation_, expected["correlation"], rtol=0, atol=0)
    assert model.get_params() == TopicModel(4, stop_words="english", weighting="tfidf-ncw").get_params()


# --- wrong input


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "no documents"),
        (["orbit rocket"], "1 document: topics are what documents share, so give at least 2|no word is left"),
        (["", "  ", "\n"], "no word is left"),
        (["the", "and the"], "no word is left"),
        ("one text", "list or an iterable of strings"),
        (None, "list or an iterable of strings"),
        (["a text", 5], r"document 1 is 5 \(int\)"),
        ([b"bytes"], "document 0"),
        ([["tokens"]], "document 0"),
        (["orbit", None], "document 1 has no text: it is None"),
    ],
)
def test_documents_that_are_none(documents, message):
    with pytest.raises(InputError, match=message):
        TopicModel(2).fit(documents)


def test_a_number_of_topics_in_words_is_refused_with_the_word_that_is_known():
    with pytest.raises(InputError, match="n_topics='many', but it must be a whole number, or 'auto' to find one"):
        TopicModel("many").fit(["orbit rocket", "rocket orbit"])


def test_one_document_is_too_few():
    with pytest.raises(InputError, match=r"1 document: topics are what documents share.*parts with split"):
        TopicModel(1, max_df=1.0).fit(["orbit rocket moon"])


def test_the_same_checks_hold_for_transform(model):
    with pytest.raises(InputError, match="list or an iterable of strings"):
        model.transform("one text")
    with pytest.raises(InputError, match="document 1 is"):
        model.transform(["a", 5])
    assert model.transform([]).shape == (0, 4)


def test_more_topics_than_the_documents_carry():
    with pytest.raises(RankError, match="n_topics=30, but the vocabulary has only 4 words; lower n_topics"):
        TopicModel(30).fit(["orbit rocket", "bread flour"] * 5)
    with pytest.raises(RankError, match=r"n_topics=3, but .* at most 2.*; lower n_topics"):
        TopicModel(3).fit(["orbit rocket", "bread flour"] * 5)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_topics": 0},
        {"n_topics": 2.5},
        {"n_topics": True},
        {"weighting": "bm25"},
        {"constraint": "soft"},
        {"n_jobs": 0},
        {"stop_words": "klingon"},
        {"min_df": -1},
        {"ngram_range": (2, 1)},
        {"vectorizer": "count"},
    ],
)
def test_wrong_parameters_are_named(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        TopicModel(**settings).fit(TEXTS)


def test_a_failed_fit_leaves_no_earlier_one():
    model = TopicModel(4).fit(TEXTS)
    with pytest.raises(InputError):
        model.fit([])
    with pytest.raises(NotFittedError):
        model.transform(TEXTS)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.topics(),
        lambda m: m.transform(TEXTS),
        lambda m: m.components_,
        lambda m: m.documents_frame(),
        lambda m: m.save("never"),
        lambda m: m.report("never"),
        lambda m: m.representative_documents(0),
        lambda m: m.to_pyldavis(),
        lambda m: m.get_feature_names_out(),
    ],
)
def test_nothing_to_show_before_a_fit(ask):
    with pytest.raises(NotFittedError):
        ask(TopicModel(4))


@pytest.mark.parametrize("n_words", [0, -1, 2.5, "a"])
def test_n_words_is_a_number(model, n_words):
    with pytest.raises(InputError, match="n_words="):
        model.topics(n_words)


def test_warnings_speak_of_topics_and_are_kept():
    texts = ["orbit rocket", "bread flour", "court judge", "goal match"] * 5  # four equal eigenvalues
    with pytest.warns(SpectrumWarning, match="try another n_topics"):
        model = TopicModel(2).fit(texts)
    assert "n_topics" in model.diagnostics_.warnings[0]


# --- an estimator like others


def test_it_is_cloned_and_configured_as_other_estimators(model):
    other = clone(model.__class__(7, min_df=3, vectorizer=CountVectorizer()))
    assert other.get_params()["min_df"] == 3
    assert other.set_params(n_topics=5).n_topics == 5
    assert repr(TopicModel(7)) == "TopicModel(n_topics=7)"
    assert not hasattr(clone(model), "_record")
    assert not hasattr(clone(model), "components_")


def test_it_can_end_a_pipeline(model):
    pipeline = make_pipeline(TopicModel(4))
    assert pipeline.fit(TEXTS).transform(TEXTS).tobytes() == model.document_topics_.tobytes()
    assert pipeline.fit_transform(TEXTS).tobytes() == model.document_topics_.tobytes()
    assert list(model.get_feature_names_out()) == [f"topicmodel{f}" for f in range(4)]


def test_transform_can_give_a_frame():
    frame = TopicModel(4).set_output(transform="pandas").fit(TEXTS).transform(TEXTS[:3])
    assert frame.columns.tolist() == [f"topicmodel{f}" for f in range(4)]


def test_a_model_in_memory_survives_a_worker_process(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.transform(TEXTS[:5]).tobytes() == model.document_topics_[:5].tobytes()


def test_the_example_runs():
    namespace = {"TopicModel": TopicModel}
    examples = doctest.DocTestFinder().find(TopicModel, "TopicModel", globs=namespace, module=topic_model)
    example = next(e for e in examples if e.name == "TopicModel")
    example.examples = [step for step in example.examples if "import" not in step.source]  # exposed by the package
    assert len(example.examples) >= 4
    assert doctest.DocTestRunner().run(example).failed == 0


MEMORY = """
import resource, sys
from anchorless._topic_model.model import TopicModel
words = [f"{a}{b}{c}" for a in "bcdfgh" for b in "aeiou" for c in ("rit", "lom", "nus", "tak")]
def texts(n):
    state = 1
    for _ in range(n):
        picked = []
        for _ in range(60):
            state = (state * 48271) % 2147483647
            picked.append(words[(state % 8) * (state // 8 % 15)])
        yield " ".join(picked) + " " + "the " * 200
TopicModel(5, max_df=1.0).fit(texts(int(sys.argv[1])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_ten_times_the_documents_take_less_than_twice_the_memory():
    def peak(n):
        run = subprocess.run([sys.executable, "-c", MEMORY, str(n)], capture_output=True, text=True, check=True)
        return int(run.stdout)

    assert peak(15_000) < 2 * peak(1_500)


def test_files_and_corpora_are_transformed_as_texts_are(model, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    expected = model.transform(TEXTS)
    assert model.transform(path).tobytes() == model.transform(str(path)).tobytes() == expected.tobytes()
    with Corpus.from_texts(TEXTS) as corpus:
        np.testing.assert_allclose(model.transform(corpus), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("given", [{"ids": ["a"]}, {"memory": "2GB"}, {"vectorizer": CountVectorizer()}])
def test_what_a_corpus_cannot_take_is_refused(given):
    own = TopicModel(4, vectorizer=given.pop("vectorizer", None))
    with Corpus.from_texts(TEXTS) as corpus, pytest.raises(InputError, match="can be given only with texts"):
        own.fit(corpus, **given)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"nofile\.csv"):
        TopicModel(4).fit("nofile.csv")


def test_a_table_is_refused_with_the_list_of_its_columns():
    table = pd.DataFrame({"id": [1, 2], "text": ["one", "two"]})
    for given in (table, dict(table)):
        with pytest.raises(InputError, match=r"with the columns 'id', 'text'; give the column"):
            TopicModel(2).fit(given)
    assert TopicModel(4).fit(pd.Series(TEXTS)).n_topics_ == 4


def test_rows_that_a_file_lacks_are_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate([*TEXTS, ""])), encoding="utf-8")
    with pytest.warns(UserWarning, match="skipped 1 line without text"):
        TopicModel(4).fit(path)


def test_an_old_word_for_the_constraint_warns_once():
    with pytest.warns(FutureWarning, match="constraint='explained'") as caught:
        TopicModel(4, constraint="explained").fit(TEXTS)
    assert len(caught) == 1


def test_hard_is_another_word_for_all():
    """Warnings are errors here: "hard" gives none."""
    hard, usual = (TopicModel(4, constraint=word).fit(TEXTS) for word in ("hard", "all"))
    np.testing.assert_array_equal(hard.components_, usual.components_)


def test_probabilities_are_those_of_tokens(model):
    """Words that a topic has in most of its tokens are its most probable ones; rare words count more in relevance."""
    assert model.topic_word_.shape == model.components_.shape
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0, rtol=ROUNDING)
    assert np.all(np.diff(model.topic_shares_) <= 0)
    first = model.topics(5)[0]
    columns = [model.vocabulary_.index(word) for word in first.words]
    np.testing.assert_array_equal(first.probabilities, model.topic_word_[0, columns])
    np.testing.assert_array_equal(first.relevance, model.components_[0, columns])


def test_token_topics_are_nearer_to_the_planted_ones_than_those_of_weighted_words():
    corpus = sampled_corpus(3000, n_topics=6, n_words=400, length=60, random_state=5)
    words = [f"w{v:03d}" for v in range(400)]
    model = TopicModel(6).fit_counts(corpus.counts, words)
    plain = TopicModel(6, likelihood=False).fit_counts(corpus.counts, words)

    def error(topics):
        order = match_topics(corpus.components, topics)[1]
        return abs(topics[order] - corpus.components).sum(axis=1).mean()

    assert error(model.topic_word_) < 0.8 * error(plain.topic_word_)
    assert error(plain.topic_word_) < error(plain.components_)
    order = match_topics(corpus.components, model.topic_word_)[1]
    away = [abs(m.document_topics_[:, order] - corpus.weights).sum(axis=1).mean() for m in (model, plain)]
    assert away[0] < away[1]


def test_pairs_are_listed_by_association_positive_ones_first(model):
    edges = model.correlation_edges()
    assert list(edges["association"]) == sorted(edges["association"], reverse=True)
    a, b = edges["topic_a"], edges["topic_b"]
    np.testing.assert_array_equal(edges["association"], model.topic_association_[a, b])
    np.testing.assert_array_equal(edges["correlation"], model.topic_correlation_[a, b])


def test_weights_that_are_no_counts_have_no_token_model():
    X = sampled_corpus(200, n_topics=2, n_words=50, random_state=1).counts * 0.5
    model = TopicModel(2, weighting="counts").fit_counts(X, [f"w{v}" for v in range(50)])
    assert model._record.tokens is None
    np.testing.assert_allclose(model.topic_word_, model.components_, rtol=1e-12)


def test_the_token_model_does_not_depend_on_threads_and_survives_a_file(tmp_path):
    corpus = sampled_corpus(3000, n_topics=4, n_words=200, random_state=2)
    words = [f"w{v}" for v in range(200)]
    one, two = (TopicModel(4, n_jobs=n).fit_counts(corpus.counts, words) for n in (1, 2))
    for name in ("topic_word_", "topic_association_", "topic_correlation_", "document_topics_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    one.save(tmp_path / "m.anchorless")
    again = TopicModel.load(tmp_path / "m.anchorless")
    np.testing.assert_array_equal(again.topic_word_, one.topic_word_)
    np.testing.assert_array_equal(again.topic_association_, one.topic_association_)
    np.testing.assert_array_equal(again.transform_counts(corpus.counts), one.document_topics_)


def test_intervals_are_those_of_the_token_model():
    corpus = sampled_corpus(600, n_topics=3, n_words=100, random_state=3)
    model = TopicModel(3).fit_counts(corpus.counts, [f"w{v}" for v in range(100)])
    calls = []
    found = model.stability(10, progress=lambda done, total: calls.append((done, total)))
    np.testing.assert_array_equal(found.shares.estimate, model.topic_shares_)
    np.testing.assert_array_equal(found.association.estimate, model.topic_association_)
    np.testing.assert_array_equal(found.probabilities.estimate, np.take_along_axis(model.topic_word_, found.words, 1))
    leading = np.argsort(-model.components_, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(found.words, leading)
    for interval in (found.shares, found.association, found.correlation, found.probabilities):
        assert np.all((interval.low <= interval.estimate) & (interval.estimate <= interval.high))
    assert calls[-1] == (40, 40)
    edges = model.correlation_edges()
    np.testing.assert_array_equal(edges["p"], found.association_p[edges["topic_a"], edges["topic_b"]])


def test_intervals_of_mixtures_of_long_documents_know_that_few_documents_tell_the_topics():
    corpus = sampled_corpus(100, n_topics=5, n_words=300, length=2000, random_state=2)
    model = TopicModel(5).fit_counts(corpus.counts, [f"w{v}" for v in range(300)])
    found = model.mixture_intervals(corpus.counts)
    truth = corpus.weights[:, match_topics(model.topic_word_, corpus.components)[1]]
    rows, lead = np.arange(100), found.estimate.argmax(axis=1)
    assert ((found.low <= truth) & (truth <= found.high))[rows, lead].mean() > 0.8  # by the tokens alone 0.48


def test_intervals_of_mixtures_cover_the_planted_shares_of_leading_topics():
    corpus = sampled_corpus(2500, n_topics=5, n_words=300, length=60, random_state=7)
    model = TopicModel(5).fit_counts(corpus.counts, [f"w{v}" for v in range(300)])
    found = model.mixture_intervals(corpus.counts)
    np.testing.assert_array_equal(found.estimate, model.document_topics_)
    truth = corpus.weights[:, match_topics(model.topic_word_, corpus.components)[1]]
    rows, lead = np.arange(2500), found.estimate.argmax(axis=1)
    covered = (found.low <= truth) & (truth <= found.high)
    assert 0.8 < covered[rows, lead].mean() < 0.99
    wide = model.mixture_intervals(corpus.counts, level=0.99)
    assert np.all(wide.high - wide.low >= found.high - found.low)
    empty = model.mixture_intervals(sp.csr_matrix((1, 300)))
    assert not np.any(empty.high)
    with pytest.raises(InputError, match="level"):
        model.mixture_intervals(corpus.counts, level=2)
