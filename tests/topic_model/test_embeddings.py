import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.metrics import normalized_mutual_info_score

from anchorless import Corpus, CountSettings, TopicModel
from anchorless._core.neighbor_prior import average_mixtures
from anchorless._core.neighbors import round_vectors
from anchorless._topic_model.embeddings import group_equal_rows, validate_embeddings
from anchorless._topic_model.file import load_model, save_model
from anchorless.datasets import draw_counts
from anchorless.errors import InputError
from tests.helpers.planted_embeddings import F, N, Planted


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def plain(planted):
    return planted.fit()


@pytest.fixture(scope="module")
def model(planted):
    return planted.fit(planted.embeddings)


def measure_agreement(model, topic):
    """Return the part of documents whose leading topic is that of most documents of their planted topic."""
    lead = model.document_topics_.argmax(axis=1)
    return sum(np.bincount(topic[lead == k]).max() for k in np.unique(lead)) / len(topic)


def test_neighbors_improve_mixtures_and_leave_topics_as_they_are(planted, plain, model):
    assert model.neighbors_.n_tokens > 0
    assert plain.neighbors_ is None
    assert measure_agreement(model, planted.topic) > measure_agreement(plain, planted.topic) + 0.03
    for name in ("topic_word_", "components_", "topic_shares_", "topic_correlation_", "topic_association_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name))
    np.testing.assert_allclose(model.document_topics_.sum(axis=1), 1.0)


@pytest.mark.parametrize(("part", "noise"), [(0.4, 1.0), (0.6, 0.8)])
def test_weak_embeddings_do_not_move_the_documents_to_one_topic(part, noise):
    rng, n, n_words, K = np.random.default_rng(0), 1200, 300, 6
    frequent = 1 / np.arange(3.0, n_words + 3)
    own = rng.permuted(np.tile(frequent, (K, 1)), axis=1) * (rng.random((K, n_words)) < 0.2)
    topics = part * frequent / frequent.sum() + (1 - part) * own / own.sum(axis=1, keepdims=True)
    mixtures = softmax(1.5 * rng.normal(size=(n, K)), axis=1)
    X = draw_counts(topics, mixtures, np.full(n, 30), rng)
    E = (mixtures @ rng.normal(size=(K, 24)) + noise * rng.normal(size=(n, 24))).astype("float32")
    words = [f"word{i}" for i in range(n_words)]
    plain, model = TopicModel(K).fit_counts(X, words), TopicModel(K).fit_counts(X, words, embeddings=E)
    assert model._record.neighbors.choice.n_tokens > 0
    assert abs(model.document_topics_.mean(axis=0) - plain.document_topics_.mean(axis=0)).sum() < 0.1
    agreements = [
        normalized_mutual_info_score(mixtures.argmax(axis=1), m.document_topics_.argmax(axis=1)) for m in (plain, model)
    ]
    assert agreements[1] > agreements[0]


@pytest.mark.parametrize("seed", [0, 1])  # neighbors are used in topics of words, and not there
def test_embeddings_group_documents_whose_words_tell_little(seed):
    rng = np.random.default_rng(seed)
    topic, probabilities = rng.integers(F, size=2400), rng.dirichlet(np.ones(300), F)
    X = sp.csr_matrix(np.array([rng.multinomial(3, probabilities[k]) for k in topic]).astype(float))
    E = (np.eye(F)[topic] @ rng.normal(size=(F, 24)) + rng.normal(size=(2400, 24))).astype("float32")
    words = [f"word{i}" for i in range(300)]
    plain = TopicModel(F).fit_counts(X, words)
    first, second = (TopicModel(F, n_jobs=n).fit_counts(X, words, embeddings=E) for n in (1, 2))
    assert measure_agreement(plain, topic) < 0.5
    assert measure_agreement(first, topic) > 0.95
    np.testing.assert_array_equal(first.topic_word_, plain.topic_word_)
    np.testing.assert_array_equal(second.document_topics_, first.document_topics_)
    np.testing.assert_array_equal(first.transform_counts(X[:9], embeddings=E[:9]), first.document_topics_[:9])
    random = rng.normal(size=E.shape).astype("float32")
    model = TopicModel(F).fit_counts(X, words, embeddings=random)
    np.testing.assert_array_equal(model.document_topics_, plain.document_topics_)


def test_random_embeddings_change_nothing(planted, plain):
    model = planted.fit(planted.random)
    assert model.neighbors_.n_tokens == 0
    np.testing.assert_array_equal(model.document_topics_, plain.document_topics_)
    np.testing.assert_array_equal(
        model.transform_counts(planted.X[:5], embeddings=planted.random[:5]), plain.document_topics_[:5]
    )


def test_equal_embeddings_change_nothing(planted, plain):
    same = np.ones((N, 3), dtype=np.float32)
    model = planted.fit(same)
    np.testing.assert_array_equal(model.document_topics_, plain.document_topics_)
    found = model.transform_counts(planted.X[:5], embeddings=same[:5])
    np.testing.assert_array_equal(found, plain.document_topics_[:5])


def test_many_dimensions_are_reduced_in_the_same_way_after_loading(planted, model, tmp_path):
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(300, 300)))[0][:24]
    wide = (planted.embeddings @ rotation).astype(np.float32)
    fitted = planted.fit(wide)
    assert measure_agreement(fitted, planted.topic) == pytest.approx(measure_agreement(model, planted.topic), abs=0.01)
    fitted.save(tmp_path / "model.anchorless")
    loaded = TopicModel.load(tmp_path / "model.anchorless")
    assert loaded._record.neighbors.vectors.shape == (N, 24)  # the others have nothing but rounding
    np.testing.assert_array_equal(loaded.transform_counts(planted.X, embeddings=wide), fitted.document_topics_)
    with pytest.raises(InputError, match="24 dimensions, not 300"):
        loaded.transform_counts(planted.X, embeddings=planted.embeddings)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.update(neighbor_axes=arrays["neighbor_axes"][:-1].copy()),
        lambda arrays: arrays.update(neighbor_axes=arrays["neighbor_axes"][:, :-1].copy()),
        lambda arrays: arrays["neighbor_axes"].put(0, np.nan),
        lambda arrays: arrays.pop("neighbor_center"),
        lambda arrays: arrays.pop("neighbor_vectors"),
    ],
)
def test_a_file_whose_axes_do_not_fit_is_refused(model, tmp_path, change):
    model.save(tmp_path / "model.anchorless")
    arrays, header = load_model(tmp_path / "model.anchorless")
    arrays = {name: values.copy() for name, values in arrays.items()}
    change(arrays)
    save_model(tmp_path / "other.anchorless", arrays, header)
    with pytest.raises(InputError, match=r"is not consistent|lacks parts"):
        TopicModel.load(tmp_path / "other.anchorless")


def test_a_file_without_axes_has_neighbors_by_the_embeddings_themselves(planted, model, tmp_path):
    model.save(tmp_path / "model.anchorless")
    arrays, header = load_model(tmp_path / "model.anchorless")
    arrays = {name: values for name, values in arrays.items() if name not in ("neighbor_axes", "neighbor_center")}
    arrays["neighbor_vectors"] = round_vectors(planted.embeddings)
    save_model(tmp_path / "other.anchorless", arrays, header)
    found = TopicModel.load(tmp_path / "other.anchorless").transform_counts(planted.X, embeddings=planted.embeddings)
    assert np.mean(found.argmax(axis=1) == model.document_topics_.argmax(axis=1)) > 0.95


def test_shares_are_the_posterior_mean_with_the_neighbors_as_tokens(planted, model):
    vectors = planted.embeddings / np.linalg.norm(planted.embeddings, axis=1, keepdims=True)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    neighbors, alpha = model._record.neighbors, model._record.tokens.alpha
    k, tau, _ = neighbors.choice
    np.testing.assert_allclose(neighbors.topic_word.sum(axis=1), 1.0)
    for d in (0, 17, 300):
        near = np.argsort(-cosines[d])[:k]
        prior = alpha + tau * neighbors.mixtures[near].mean(axis=0)
        theta, x = prior / prior.sum(), planted.X[d].toarray()[0]
        for _ in range(3000):  # a fixed point of EM
            joint = theta[:, None] * neighbors.topic_word
            theta = (joint / np.maximum(joint.sum(axis=0), 1e-300)) @ x + prior
            theta /= theta.sum()
        np.testing.assert_allclose(model.document_topics_[d], theta, atol=0.01)


def test_transform_gives_the_same_bits_alone_in_a_batch_and_after_loading(planted, model, tmp_path):
    model.save(tmp_path / "model.anchorless")
    loaded = TopicModel.load(tmp_path / "model.anchorless")
    for fitted in (model, loaded):
        found = fitted.transform_counts(planted.X, embeddings=planted.embeddings)
        np.testing.assert_array_equal(found, model.document_topics_)
        alone = fitted.transform_counts(planted.X[9], embeddings=planted.embeddings[9:10])
        np.testing.assert_array_equal(alone[0], model.document_topics_[9])
    half = model.transform_counts(planted.X[:4], embeddings=planted.embeddings[:4].astype(np.float64) * 7)
    np.testing.assert_array_equal(half, model.document_topics_[:4])


def test_a_file_without_embeddings_transforms_by_words_alone(planted, plain, model, tmp_path):
    model.save(tmp_path / "model.anchorless", embeddings=False)
    loaded = TopicModel.load(tmp_path / "model.anchorless")
    np.testing.assert_array_equal(loaded.transform_counts(planted.X[:9]), plain.document_topics_[:9])
    with pytest.raises(InputError, match="fitted, or saved, without"):
        loaded.transform_counts(planted.X, embeddings=planted.embeddings)


def test_the_number_of_threads_and_the_blocks_change_no_bit(planted, model):
    other = planted.fit(planted.embeddings, n_jobs=3)
    np.testing.assert_array_equal(other.document_topics_, model.document_topics_)


def test_documents_on_disk_get_the_same_mixtures(planted, tmp_path):
    texts = [" ".join(f"w{w}" for w in np.repeat(row.indices, row.data.astype(int))) for row in planted.X]
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    settings = {"min_df": 1, "max_df": 1.0}
    in_memory = TopicModel(F, **settings).fit(texts, embeddings=planted.embeddings)
    on_disk = TopicModel(F, **settings).fit(tmp_path / "texts.txt", memory="1KB", embeddings=planted.embeddings)
    np.testing.assert_allclose(on_disk.document_topics_, in_memory.document_topics_, atol=1e-10)
    found = on_disk.transform(texts[:9], embeddings=planted.embeddings[:9])
    np.testing.assert_array_equal(found, on_disk.document_topics_[:9])
    with Corpus.from_texts(texts, counting=CountSettings(**settings)) as corpus:
        np.testing.assert_array_equal(
            on_disk.transform(corpus, embeddings=planted.embeddings), on_disk.document_topics_
        )
    with pytest.raises(InputError, match="9 embeddings for 8 documents"):
        on_disk.transform(texts[:8], embeddings=planted.embeddings[:9])
    with pytest.raises(InputError, match="7 embeddings for 8 documents"):
        on_disk.transform(texts[:8], embeddings=planted.embeddings[:7])


def test_masked_rows_are_documents_without_an_embedding(planted, plain):
    given = np.ma.masked_array(planted.embeddings.copy())
    given[::9] = np.ma.masked
    model = planted.fit(given)
    np.testing.assert_array_equal(model.document_topics_[::9], plain.document_topics_[::9])
    assert not np.array_equal(model.document_topics_[1::9], plain.document_topics_[1::9])
    given[4, 2] = np.ma.masked
    with pytest.raises(InputError, match="row 4 is masked in part"):
        planted.fit(given)


def to_polars(rows):
    return pytest.importorskip("polars").Series(rows)


@pytest.mark.parametrize("make_column", [pd.Series, to_polars, pa.array, lambda rows: pa.chunked_array([rows]), list])
def test_columns_of_lists_are_the_arrays_that_they_hold(planted, make_column):
    rows = [row.tolist() for row in planted.embeddings[:5]]
    whole = validate_embeddings(make_column(rows), 5)
    np.testing.assert_array_equal(whole.vectors, validate_embeddings(planted.embeddings[:5], 5).vectors)
    missing = validate_embeddings(make_column([None, *rows[1:]]), 5)
    np.testing.assert_array_equal(missing.known, [False, True, True, True, True])
    np.testing.assert_array_equal(missing.vectors[1:], whole.vectors[1:])


def test_copies_of_a_document_are_one_neighbor(planted, model):
    first, group = group_equal_rows(np.array([[1, 2], [3, 4], [1, 2], [0, 1]], dtype=np.float16))
    np.testing.assert_array_equal(first, [0, 1, 3])
    np.testing.assert_array_equal(group, [0, 1, 0, 2])


def test_means_of_neighbors_leave_out_places_without_one():
    mixtures = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    found = average_mixtures(mixtures, np.array([[0, 1, 2], [1, -1, -1], [-1, -1, -1]]), 2)
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.0, 1.0], [0.0, 0.0]])


def test_edits_keep_mixtures_that_add_up(planted, model):
    before = model.document_topics_.copy()
    model.merge_topics([[0, 1]])
    np.testing.assert_allclose(model.transform_counts(planted.X, embeddings=planted.embeddings), model.document_topics_)
    model.undo()
    np.testing.assert_array_equal(model.document_topics_, before)
    model.split_topic(2, n=2)
    found = model.document_topics_
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.transform_counts(planted.X, embeddings=planted.embeddings), found)
    model.undo()


def test_intervals_are_around_the_mixtures(planted, model):
    found = model.mixture_intervals(planted.X[:20], embeddings=planted.embeddings[:20])
    np.testing.assert_array_equal(found.estimate, model.document_topics_[:20])
    assert np.all(found.low <= found.estimate)
    assert np.all(found.estimate <= found.high)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda E: E[:-1],
            r"899 embeddings for 900 documents; give one row per document, in the order of the documents$",
        ),
        (lambda E: np.vstack([E, E[:2]]), "902 embeddings for 900 documents.* left out, such as empty ones and copies"),
        (lambda E: np.where(np.arange(N)[:, None] == 7, np.nan, E), "row 7 has NaN or infinity"),
        (lambda E: np.where(np.arange(N)[:, None] == 8, np.float32(0), E), "row 8 is zero"),
        (lambda E: (E * 100).astype(int), "array of int64"),
        (lambda E: E[:, 0], "1 dimension"),
        (lambda E: [["a"]] * N, "array of <U1"),
        (lambda E: E[:, :0], "0 dimensions"),
        (lambda E: np.where(np.arange(N)[:, None] < 2, np.nan, E), r"row 0 \(and 1 other near it\) has NaN"),
        (lambda E: "E.npy", "of the type str; give an array"),
        (lambda E: sp.csr_matrix(E), "of the type csr_matrix"),
        (lambda E: [row[: 3 + d % 2].tolist() for d, row in enumerate(E)], "have 3 to 4 numbers"),
        (lambda E: [None] * N, "the type null"),
        (lambda E: [*E[1:], {}], "are no lists of numbers"),
    ],
)
def test_embeddings_that_cannot_be_used_are_refused(planted, change, message):
    with pytest.raises(InputError, match=message):
        planted.fit(change(planted.embeddings))


def test_embeddings_that_do_not_belong_to_the_model_are_refused(planted, plain, model):
    with pytest.raises(InputError, match="12 dimensions, not 24"):
        model.transform_counts(planted.X, embeddings=planted.embeddings[:, :12])
    with pytest.raises(InputError, match="was fitted with embeddings"):
        model.transform_counts(planted.X)
    with pytest.raises(InputError, match="was fitted with embeddings"):
        model.transform(["word1 word2"])
    with pytest.raises(InputError, match="fitted, or saved, without"):
        plain.transform_counts(planted.X, embeddings=planted.embeddings)
    with pytest.raises(InputError, match="token model"):
        planted.fit(planted.embeddings, likelihood=False)


def test_half_and_double_precision_are_accepted():
    given = np.random.default_rng(0).normal(size=(5, 3))
    for kind in (np.float16, np.float32, np.float64):
        assert validate_embeddings(given.astype(kind), 5).vectors.shape == (5, 3)
