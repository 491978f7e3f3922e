import numpy as np
import pytest

from anchorless import TopicModel, datasets
from anchorless._topic_model.seeds import Seed
from anchorless.errors import InputError

WORDS = [f"w{i}" for i in range(200)]


def plant(seed, n_documents=2000):
    rng = np.random.default_rng(seed)
    C = datasets.planted_topics(6, 200, random_state=seed).components
    theta = rng.dirichlet(np.full(6, 0.2), n_documents)
    return C, datasets.draw_counts(C, theta, np.full(n_documents, 40), rng)


def choose_words(C, k, n=2):
    """Return words of a planted topic that are frequent in it and rare in others."""
    frequent = np.argsort(-C[k])[:20]
    return [WORDS[v] for v in frequent[np.argsort(-(C[k] / np.maximum(C.mean(axis=0), 1e-12))[frequent])[:n]]]


@pytest.fixture(scope="module")
def planted():
    return plant(0)


@pytest.fixture(scope="module")
def plain(planted):
    return TopicModel(6).fit_counts(planted[1], WORDS)


def test_seeded_topics_come_first_in_their_order_and_nothing_else_changes(planted, plain):
    C, X = planted
    seeds = {f"seed {k}": choose_words(C, k) for k in (4, 1, 3)}
    model = TopicModel(6, seed_words=seeds).fit_counts(X, WORDS)
    assert model.topic_labels_[:3] == [*seeds]
    for place, k in enumerate((4, 1, 3)):
        cosine = model.topic_word_ @ C[k] / np.linalg.norm(model.topic_word_, axis=1)
        assert cosine.argmax() == place
    order = [int(abs(plain.topic_word_ - row).sum(axis=1).argmin()) for row in model.topic_word_]
    np.testing.assert_array_equal(model.topic_word_, plain.topic_word_[order])
    np.testing.assert_allclose(model.topic_correlation_, plain.topic_correlation_[np.ix_(order, order)], atol=1e-12)
    for seed in model.seeds_:
        assert seed.supported
        assert not seed.rejected
        assert not seed.restarted
        assert 0 < seed.moved < 0.9


def test_words_of_different_topics_are_no_seed_and_change_nothing(planted, plain):
    C, X = planted
    words = [choose_words(C, 0, 1)[0], choose_words(C, 5, 1)[0]]
    model = TopicModel(6, seed_words={"wrong": words}).fit_counts(X, WORDS)
    (seed,) = model.seeds_
    assert not seed.supported
    assert "wrong" not in model.topic_labels_
    assert "not supported" in seed.describe()
    assert sorted(model.topic_shares_) == sorted(plain.topic_shares_)


def test_a_word_that_belongs_to_another_topic_is_named_with_it(planted):
    C, X = planted
    other = choose_words(C, 2, 1)[0]
    model = TopicModel(6, seed_words={"first": [*choose_words(C, 0, 3), other]}).fit_counts(X, WORDS)
    (seed,) = model.seeds_
    assert set(seed.rejected) == {other}
    assert model.topic_word_[:, WORDS.index(other)].argmax() == seed.rejected[other]


def test_a_topic_that_the_fit_does_not_have_is_started_from_its_words():
    """Five topics for six planted ones: two are one topic, until their seeds ask for both."""
    C, X = plant(3)
    merged = TopicModel(5).fit_counts(X, WORDS)
    cosine = (C @ merged.topic_word_.T) / np.outer(*(np.linalg.norm(A, axis=1) for A in (C, merged.topic_word_)))
    lost = int(cosine.max(axis=1).argmin())
    seeds = {"lost": choose_words(C, lost, 3)}
    model = TopicModel(5, seed_words=seeds).fit_counts(X, WORDS)
    found = model.topic_word_[0] @ C[lost] / np.linalg.norm(model.topic_word_[0]) / np.linalg.norm(C[lost])
    assert found > cosine[lost].max()


def test_seeds_are_saved_in_their_order(planted, tmp_path):
    C, X = planted
    seeds = {"z": choose_words(C, 2), "a": choose_words(C, 0)}
    model = TopicModel(6, seed_words=seeds).fit_counts(X, WORDS)
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert loaded.seeds_ == model.seeds_
    assert [*loaded.seed_words.items()] == [*seeds.items()]


def test_names_of_seeds_are_given_names(planted, tmp_path):
    """They stay with merged topics, go into the codebook and to a new fit, and no language model replaces them."""
    words = [WORDS[w] for w in np.argsort(-planted[0][0])[:2]]
    model = TopicModel(6, n_jobs=1, seed_words={"mine": words}).fit_counts(planted[1], WORDS)
    assert model.topic_names_ == ["mine", *[None] * 5]
    assert model._choose_asked(None) == [1, 2, 3, 4, 5]
    plain = TopicModel(6, n_jobs=1).fit_counts(planted[1], WORDS)
    assert [(name.name, name.is_carried) for name in plain.carry_names(model)] == [("mine", True)]
    model.merge_topics([[0, 2]]).save(tmp_path / "m")
    for found in (model, TopicModel.load(tmp_path / "m")):
        assert (found.topic_names_[0], found.topic_labels_[0]) == ("mine", "mine")
        assert found.undo().topic_names_ == ["mine", *[None] * 5]


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ({"a": ["w1x"]}, "not among the 200 words .* near it are w1"),
        ({"a": "w1"}, "must be a list of words"),
        ({"a": []}, "must be a list of words"),
        ([["w1"]], "must be a dict"),
        ({"a": None}, "must be a list of words"),
        ({"a\ud800": ["w1"]}, "a name is 'a.ud800', which is not valid Unicode"),
        ({" ": ["w1"]}, "a name is empty"),
    ],
)
def test_seeds_that_cannot_be_used_are_refused(planted, seeds, message):
    with pytest.raises(InputError, match=message):
        TopicModel(6, seed_words=seeds).fit_counts(planted[1], WORDS)


def test_seeds_need_the_token_model(planted):
    with pytest.raises(InputError, match="seed_words needs whole counts of words and the token model"):
        TopicModel(6, seed_words={"a": ["w1"]}, likelihood=False).fit_counts(planted[1], WORDS)


def test_more_seeds_than_topics_are_said(planted):
    C, X = planted
    seeds = {f"s{k}": choose_words(C, k) for k in range(4)}
    model = TopicModel(3, seed_words=seeds).fit_counts(X, WORDS)
    assert [seed.topic for seed in model.seeds_].count(None) == 1
    missing = next(seed for seed in model.seeds_ if seed.topic is None)
    assert "more seeds than topics" in missing.describe()


def test_a_seed_of_one_word_is_judged_by_the_probability_of_its_topic():
    seed = Seed("a", ["x"], 2, True, 0.8, ["x"], {}, 0.1, False)
    assert seed.describe() == "seed a (x): topic 2; 80% of what its words have in common comes from topic 2"


def test_words_of_two_merged_topics_are_separated_and_saved(tmp_path):
    C, X = plant(3)
    words = [choose_words(C, k, 1)[0] for k in range(6)]
    merged = TopicModel(5).fit_counts(X, WORDS)
    home = [int((merged.topic_word_[:, WORDS.index(word)] * merged.topic_shares_).argmax()) for word in words]
    a, b = next((i, j) for i in range(6) for j in range(i) if home[i] == home[j])
    model = TopicModel(5, separate_words=[(words[a], words[b])]).fit_counts(X, WORDS)
    (pair,) = model.separated_words_
    assert pair.separated
    assert pair.topics[0] != pair.topics[1]
    model.save(tmp_path / "m")
    assert TopicModel.load(tmp_path / "m").separated_words_ == [pair]


def test_words_that_are_apart_change_nothing_and_those_of_one_topic_are_said(planted, plain):
    C, X = planted
    apart = choose_words(C, 0, 1)[0], choose_words(C, 1, 1)[0]
    model = TopicModel(6, separate_words=[apart]).fit_counts(X, WORDS)
    assert model.separated_words_[0].separated
    np.testing.assert_array_equal(model.topic_word_, plain.topic_word_)
    together = tuple(choose_words(C, 0, 2))
    (pair,) = TopicModel(6, separate_words=[together]).fit_counts(X, WORDS).separated_words_
    assert pair.separated or "do not tell them apart" in pair.describe()


@pytest.mark.parametrize("pairs", [["w1"], [("w1",)], [("w1", "w1")], [("w1", 2)]])
def test_pairs_that_are_none_are_refused(planted, pairs):
    with pytest.raises(InputError, match="two different words"):
        TopicModel(6, separate_words=pairs).fit_counts(planted[1], WORDS)


def test_a_word_to_separate_that_is_not_counted_is_named_with_its_parameter(planted):
    with pytest.raises(InputError, match="separate_words='nowhere', but this word is not among the 200 words"):
        TopicModel(6, separate_words=[("w1", "nowhere")]).fit_counts(planted[1], WORDS)


@pytest.mark.parametrize("how", ["distinct", "probable"])
def test_two_words_of_a_topic_are_supported_and_words_of_different_topics_are_not(planted, plain, how):
    C, X = planted
    words = choose_words(C, 2) if how == "distinct" else [WORDS[v] for v in np.argsort(-C[2])[:2]]
    there, home = (X > 0).toarray().astype(float), C.argmax(axis=0)
    together = there.T @ there + 1e9 * (home[:, None] == home)  # of words that different topics have most
    apart = np.unravel_index(together.argmin(), together.shape)
    wrong = [WORDS[v] for v in apart]
    model = TopicModel(6, seed_words={"right": words, "wrong": wrong}).fit_counts(X, WORDS)
    right, other = model.seeds_
    assert right.supported is True
    assert model.topic_labels_[0] == "right"
    assert other.supported is False
    assert "not supported by the documents" in other.describe()
