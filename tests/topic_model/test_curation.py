import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._report.page import read_data
from anchorless._topic_model.file import load_model, save_model
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError, UsageError
from tests.helpers.planted_texts import THEMES, planted_texts
from tests.helpers.tolerances import ROUNDING

TEXTS, LABELS = planted_texts()
NUMBERS = ("topic_word_", "components_", "topic_shares_", "topic_correlation_", "topic_association_", "topic_moments_")
NUMBERS += ("exclusivity_", "coherence_")


def planted_counts(seed=0, n_topics=6):
    return sampled_corpus(400, n_topics, 300, length=60, random_state=seed)


WORDS = [f"w{i}" for i in range(300)]


def fit_counts(corpus, n_topics=6):
    return TopicModel(n_topics, n_jobs=1).fit_counts(corpus.counts, WORDS)


@pytest.fixture
def model():
    return TopicModel(4, n_jobs=1).fit(TEXTS, labels=LABELS, metadata={"n": [len(text) for text in TEXTS]})


@pytest.fixture
def six():
    return fit_counts(planted_counts())


def numbers_of(model):
    return {name: getattr(model, name).copy() for name in NUMBERS}


def assert_same_numbers(first, second):
    for name in NUMBERS:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.mark.parametrize("groups", [[[1, 4]], [[5, 0, 3]], [[0, 1], [4, 2, 3]]])
def test_mixtures_of_a_merge_are_sums_to_the_last_bit(six, groups):
    counts = planted_counts().counts
    before = six.transform_counts(counts)
    kept = six.document_topics_.copy()
    six.merge_topics(groups)
    for group in groups:
        place = min(group) - sum(n < min(group) and n != min(g) for g in groups for n in g)
        first, *others = group
        for mixtures, found in ((before, six.transform_counts(counts)), (kept, six.document_topics_)):
            expected = mixtures[:, first].copy()
            for other in others:
                expected += mixtures[:, other]
            np.testing.assert_array_equal(found[:, place], expected)


def test_a_merge_after_a_merge_adds_the_columns_before_it(six):
    counts = planted_counts().counts
    six.merge_topics([[0, 3]])
    before = six.transform_counts(counts)
    six.merge_topics([[2, 0, 4]])
    expected = before[:, 2] + before[:, 0] + before[:, 4]
    np.testing.assert_array_equal(six.transform_counts(counts)[:, 0], expected)


def test_transform_of_texts_alone_and_in_batches_is_the_same(model):
    model.merge_topics([[0, 3]]).drop_topics([1])
    whole = model.transform(TEXTS)
    np.testing.assert_array_equal(whole[7:8], model.transform(TEXTS[7:8]))
    np.testing.assert_array_equal(whole, model.document_topics_)


def test_rename_changes_no_number(model):
    before = numbers_of(model)
    model.rename_topics({0: "  first\n topic ", 3: "x"})
    assert_same_numbers(numbers_of(model), before)
    assert model.topic_labels_[0] == "first topic"
    assert model.topics()[3].label == "x"
    model.rename_topics({0: None})
    assert model.topic_labels_[0] == model._record.facts.labels[0]


def test_drop_and_undo_give_back_the_same_bits(model):
    before, mixtures = numbers_of(model), model.transform(TEXTS)
    share = model.topic_shares_[2]
    model.drop_topics([2])
    assert model.rest_share_ == share
    assert model.n_topics_ == 3
    np.testing.assert_array_equal(model.transform(TEXTS), np.delete(mixtures, 2, axis=1))
    frame = model.documents_frame()
    np.testing.assert_allclose(frame["rest"], mixtures[:, 2], atol=ROUNDING)
    model.undo()
    assert_same_numbers(numbers_of(model), before)
    np.testing.assert_array_equal(model.transform(TEXTS), mixtures)
    assert model.edits == []
    assert "rest" not in model.documents_frame()


def edit_all(model):
    model.rename_topics({1: "one"}, by="Ann").merge_topics([[0, 1]]).annotate_topics({0: "a note"})
    return model.split_topic(0).drop_topics([3]).reorder_topics()


def test_undo_of_everything_gives_back_the_fit(model):
    before, mixtures = numbers_of(model), model.document_topics_.copy()
    kept = model.representative_documents(0, 3)
    edit_all(model)
    assert len(model.edits) == 6
    model.undo(6)
    assert_same_numbers(numbers_of(model), before)
    np.testing.assert_array_equal(model.document_topics_, mixtures)
    assert model.representative_documents(0, 3) == kept


def test_saved_and_loaded_it_is_the_same(model, tmp_path):
    edit_all(model)
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    assert_same_numbers(numbers_of(loaded), numbers_of(model))
    np.testing.assert_array_equal(loaded.transform(TEXTS), model.transform(TEXTS))
    assert loaded.edits == model.edits
    assert loaded.topic_notes_ == model.topic_notes_
    assert loaded.fingerprint_ == model.fingerprint_
    for f in range(3):
        assert loaded.representative_documents(f, 4) == model.representative_documents(f, 4)
        assert loaded.border_documents(f, 4) == model.border_documents(f, 4)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    assert_same_numbers(numbers_of(loaded.undo(6)), numbers_of(model.undo(6)))


def test_files_without_edits_have_the_older_version(model, tmp_path):
    model.save(tmp_path / "plain")
    model.rename_topics({0: "x"}).save(tmp_path / "edited")
    assert b'\\"version\\":1' in (tmp_path / "plain").read_bytes()
    assert b'\\"version\\":2' in (tmp_path / "edited").read_bytes()


def test_edits_of_another_fit_are_refused(model, tmp_path):
    model.merge_topics([[0, 1]]).save(tmp_path / "m")
    TopicModel(4, n_jobs=1).fit(planted_texts(seed=5)[0]).save(tmp_path / "other")
    arrays, header = load_model(tmp_path / "other")
    header["edits"] = load_model(tmp_path / "m")[1]["edits"]
    save_model(tmp_path / "mixed", arrays, header)
    with pytest.raises(InputError, match="made for another fit"):
        TopicModel.load(tmp_path / "mixed")


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.rename_topics({9: "x"}),
        lambda m: m.rename_topics({0: ""}),
        lambda m: m.rename_topics({0: "fine", 1: 7}),
        lambda m: m.merge_topics([[1]]),
        lambda m: m.merge_topics([1, 2]),
        lambda m: m.merge_topics([[0, 4]]),
        lambda m: m.drop_topics([0, 1, 2, 3]),
        lambda m: m.split_topic(4),
        lambda m: m.split_topic(0, n=1),
        lambda m: m.reorder_topics([0, 1, 2, 2]),
        lambda m: m.undo(2),
        lambda m: m.apply_edits({"rename": {0: "x"}, "drop": [8]}),
        lambda m: m.apply_edits({"merge": [[0, 1]], "drop": [2, 3], "split": {2: 2}}),
    ],
)
def test_what_is_refused_changes_nothing(model, call):
    model.rename_topics({2: "two"})
    before, edits = numbers_of(model), model.edits
    with pytest.raises(InputError):
        call(model)
    assert model.edits == edits
    assert_same_numbers(numbers_of(model), before)


def test_a_new_fit_forgets_the_edits(model):
    model.merge_topics([[0, 1]])
    model.fit(TEXTS)
    assert model.edits == []
    assert model.n_topics_ == 4


def test_partial_fit_keeps_the_edits():
    model = TopicModel(3, n_jobs=1).partial_fit(TEXTS[:100])
    model.merge_topics([[0, 1]]).rename_topics({0: "both"})
    before = model.topic_shares_.copy()
    model.partial_fit(TEXTS[100:])
    assert model.topic_labels_[0] == "both"
    assert model.n_topics_ == 2
    assert not np.array_equal(model.topic_shares_, before)


def theme(words):
    return next((name for name, known in THEMES.items() if set(words) <= set(known)), None)


def test_a_merged_pair_is_split_again(model):
    parent, share = model.merge_topics([[1, 3]]).topic_word_[1].copy(), model.topic_shares_[1]
    others = model.topic_word_[[0, 2]].copy()
    model.split_topic(1)
    assert {theme(topic.words[:5]) for topic in model.topics()} == set(THEMES)
    # The parts add up to the topic, and the others are as before.
    parts, shares = model.topic_word_[1:3], model.topic_shares_[1:3]
    assert shares.sum() == pytest.approx(share, rel=ROUNDING)
    np.testing.assert_allclose(shares @ parts / share, parent, atol=1e-15)
    np.testing.assert_array_equal(model.topic_word_[[0, 3]], others)
    np.testing.assert_array_equal(model.document_topics_, model.transform(TEXTS))
    assert model.document_topics_.sum(axis=1) == pytest.approx(1.0)
    assert np.isnan(model.topic_moments_[1]).all()


def test_the_same_split_gives_the_same_bits(model, tmp_path):
    model.save(tmp_path / "m")
    loaded = TopicModel.load(tmp_path / "m")
    with pytest.raises(InputError, match="no documents in memory"):
        loaded.split_topic(0)
    with pytest.raises(InputError, match="fitted on 160 documents, but 159"):
        loaded.split_topic(0, documents=TEXTS[1:])
    model.merge_topics([[0, 1, 2]]).split_topic(0, 3)
    loaded.merge_topics([[0, 1, 2]]).split_topic(0, 3, documents=TEXTS)
    np.testing.assert_array_equal(model.topic_word_, loaded.topic_word_)
    assert {theme(topic.words[:5]) for topic in model.topics()} == set(THEMES)


def test_planted_pairs_are_found_again():
    """At most one of ten merged pairs of planted topics may be split into other topics."""
    n_found = 0
    for seed in range(10):
        corpus = planted_counts(seed)
        model = fit_counts(corpus)
        pair = [seed % 5, 5]
        before = model.topic_word_[pair].copy()
        model.merge_topics([pair]).split_topic(seed % 5)
        found = model.topic_word_[seed % 5 : seed % 5 + 2]
        cosines = (before / np.linalg.norm(before, axis=1)[:, None]) @ (found.T / np.linalg.norm(found, axis=1))
        n_found += max(min(cosines[0, 0], cosines[1, 1]), min(cosines[0, 1], cosines[1, 0])) >= 0.9
    assert n_found >= 9


def test_a_model_without_tokens_is_not_split():
    model = TopicModel(4, likelihood=False, n_jobs=1).fit(TEXTS)
    with pytest.raises(InputError, match="needs the token model"):
        model.split_topic(0)
    before = model.transform(TEXTS)
    np.testing.assert_array_equal(model.merge_topics([[0, 2]]).transform(TEXTS)[:, 0], before[:, 0] + before[:, 2])


def test_effects_of_a_merge_are_sums(model):
    before = model.effects("~ n").frame().set_index(["topic", "term"])
    together = model.effects("~ n", topics=[[1, 3]]).frame()
    model.merge_topics([[1, 3]])
    after = model.effects("~ n").frame()
    merged = after[after["topic"] == 1]
    columns = ["estimate", "low", "high", "p"]
    np.testing.assert_allclose(merged[columns], together[columns], rtol=1e-9)
    np.testing.assert_allclose(
        merged["estimate"], before.loc[1, "estimate"].to_numpy() + before.loc[3, "estimate"].to_numpy(), rtol=1e-9
    )
    assert model.topics_by("n")["topic"].max() == 2


def test_words_of_a_topic_by_group_add_up(model):
    model.merge_topics([[0, 1]]).drop_topics([2])
    frame = model.topic_words_by("label", 0, "law", data={"label": LABELS})
    assert {"word", "p_adjusted"} <= set(frame)


def test_intervals_of_mixtures_follow(model):
    counts = model._counts
    before = model.mixture_intervals(counts)
    after = model.merge_topics([[0, 1]]).mixture_intervals(counts)
    np.testing.assert_array_equal(after.estimate[:, 0], before.estimate[:, 0] + before.estimate[:, 1])
    for name in ("low", "high"):
        np.testing.assert_array_equal(getattr(after, name)[:, 1:], getattr(before, name)[:, 2:])
    assert (after.high[:, 0] >= after.low[:, 0]).all()


def test_tables_by_label_add_up(model):
    before = np.asarray(model._get_record().kept.by_label.values)
    after = np.asarray(model.merge_topics([[1, 2]])._get_record().kept.by_label.values)
    np.testing.assert_array_equal(after[:, 1], before[:, 1] + before[:, 2])
    np.testing.assert_allclose(after.sum(axis=1), 1.0)


def test_the_report_and_the_tables_follow(model, tmp_path):
    model.rename_topics({2: "weather"}).merge_topics([[0, 1]]).drop_topics([2])
    assert model.topics_frame()["label"].tolist()[1] == "weather"
    assert len(model.correlation_edges()) == 1
    model.report(tmp_path / "r.html", trust=model.identifiability())
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "weather" in page
    assert "before the edits" in page


def test_border_documents_lie_between_topics(model):
    for f in range(4):
        for document in model.border_documents(f, 3):
            shares = dict(document.topics)
            other = max(share for topic, share in shares.items() if topic != f)
            assert abs(shares[f] - other) < 0.6
    first = [abs(dict(d.topics)[0] - max(s for t, s in d.topics if t != 0)) for d in model.border_documents(0, 10)]
    assert first == sorted(first)


def test_coherence_of_a_merge_is_that_of_its_words(model):
    from anchorless.metrics import npmi

    model.merge_topics([[2, 3]])
    expected = npmi(model.components_, model._weighted.documents, 10)
    np.testing.assert_allclose(model.coherence_, expected, rtol=1e-12)


def test_edits_say_who_made_them(model):
    model.rename_topics({0: "x"}, by="Ann")
    assert model.edits[0].by == "Ann"
    assert model.edits[0].kind == "rename"
    assert model.edits[0].values == {"names": [[0, "x"]]}


def test_plans_use_the_numbers_before_the_first_edit(six):
    labels, shares = six.topic_labels_[:], six.topic_shares_.copy()
    six.apply_edits({"rename": {"5": "last"}, "merge": [[0, 3]], "drop": [4], "note": {"5": "n"}, "by": "Bo"})
    assert six.topic_labels_[1:] == [labels[1], labels[2], "last"]
    assert six.topic_shares_[0] == shares[0] + shares[3]
    assert six.topic_notes_ == ["", "", "", "n"]
    assert {edit.by for edit in six.edits} == {"Bo"}
    assert six.rest_share_ == shares[4]


def test_plans_split_and_order(six):
    labels = six.topic_labels_[:]
    six.apply_edits({"split": {1: 2, 4: 2}})
    assert [six.topic_labels_[k] for k in (0, 3, 4, 7)] == [labels[k] for k in (0, 2, 3, 5)]
    six.undo(2).apply_edits({"order": [5, 4, 3, 2, 1, 0]})
    assert six.topic_labels_ == labels[::-1]


def test_plans_come_from_toml(six, tmp_path):
    path = tmp_path / "edits.toml"
    path.write_text(f'model = "{six.fingerprint_}"\nmerge = [1, 4]\n[rename]\n3 = "immigration"\n', encoding="utf-8")
    assert "immigration" in six.apply_edits(path).topic_labels_
    with pytest.raises(InputError, match=r"for model .*, but the topics of this model are"):
        six.apply_edits(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('renam = {1 = "x"}', "unknown key 'renam'; did you mean 'rename'"),
        ("zzz = 1", "known keys are rename"),
        ("drop = 7", r"drop = 7; write it like drop = \[7\]"),
        ('merge = "1,4"', "write it like merge"),
        ('rename = {x = "y"}', "write it like rename"),
        ('split = {1 = "two"}', "write it like split"),
        ("drop = [7", "is not TOML"),
        ("", "nothing to do"),
        ("order = [1, 0]\nsplit = {1 = 2}", "cannot be in the same"),
        ("split = {1 = 1}", "write it like split"),
        ('[rename]\n1 = "x"\n01 = "y"', "topic 1 comes twice in rename"),
        ("merge = [[1, 4]]\ndrop = [4]", "topic 4 is both merged and dropped"),
    ],
)
def test_plans_with_an_error_say_where(six, tmp_path, text, message):
    path = tmp_path / "edits.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        six.apply_edits(path)
    assert six.edits == []


def test_a_model_without_edits_has_nothing_to_undo(six):
    with pytest.raises(InputError, match="nothing to undo"):
        six.undo()


def test_fingerprints_follow_the_shown_topics_only(six):
    first = six.fingerprint_
    assert six.rename_topics({0: "x"}).fingerprint_ == first
    assert six.drop_topics([0]).fingerprint_ != first
    assert six.undo().fingerprint_ == first


def test_numbers_of_numpy_are_numbers(six):
    order = np.argsort(six.topic_shares_)
    six.merge_topics(np.array([[0, 1]])).reorder(order[order < 5])
    six.drop_topics(np.array([0]))
    with pytest.raises(UsageError):
        six.drop_topics(np.array([0.5]))


def test_levels_follow_a_split():
    model = TopicModel(6, levels=[2], n_jobs=1).fit_counts(planted_counts().counts, WORDS)
    home = next(group for group in model.hierarchy().levels[1].groups if 2 in group)
    before = model.hierarchy().levels[1].shares
    model.split_topic(2)
    level = model.hierarchy().levels[1]
    assert any({2, 3} <= set(group) for group in level.groups)
    np.testing.assert_allclose(np.sort(level.shares), np.sort(before), rtol=ROUNDING)
    assert sum(map(len, level.groups)) == 7
    assert len(home) < 6


def test_effects_stay_with_other_names(model):
    before = model.effects("~ n", topics=[1, [0, 2]], n_draws=5).frame()
    model.rename_topics({1: "mine", 2: "yours"}).annotate_topics({0: "a note"})
    after = model.effects_.frame()
    assert after["label"].drop_duplicates().tolist() == ["mine", f"{model.topic_labels_[0]} + yours"]
    assert after.drop(columns="label").equals(before.drop(columns="label"))
    assert model.undo(2).effects_.frame().equals(before)


def test_effects_of_the_topics_before_are_forgotten(model):
    model.effects("~ n")
    model.merge_topics([[0, 1]])
    assert not hasattr(model, "effects_")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.drop_topics(1), r"what to drop is 1, but it must be a list; write \[7\]"),
        (lambda model: model.drop_topics("1"), "what to drop is '1'"),
        (lambda model: model.merge_topics([[]]), "a group of topics to merge is empty"),
        (lambda model: model.apply_edits([1]), "the edits are a list, but they must be a dictionary"),
        (lambda model: model.rename_topics(["a"]), r"what to rename is \['a'\], but it must be a dictionary"),
        (lambda model: model.rename_topics({}), "with at least one topic"),
        (lambda model: model.annotate_topics([1]), r"what to note is \[1\]"),
        (lambda model: model.annotate_topics({0: 7}), "a note is 7, but it must be text"),
        (lambda model: model.merge_topics(5), "what to merge is 5, but it must be a list of lists"),
        (lambda model: model.reorder_topics(5), "the order is 5, but it must be a list"),
        (lambda model: model.rename_topics({0: "a\ud800"}), "not valid Unicode; write it in UTF-8"),
        (lambda model: model.annotate_topics({0: "a\ud800"}), "not valid Unicode"),
        (lambda model: model.rename_topics({0: "a"}, by="a\ud800"), "not valid Unicode"),
        (lambda model: model.rename_topics({0: "a"}, by=5), "the name of who edits is 5, but it must be text"),
        (lambda model: model.apply_edits({"drop": [0], "by": ["a"]}), "the name of who edits"),
        (lambda model: model.label_topics("http://h:1", by=5), "the name of who edits is 5"),
        (lambda model: model.label_topics("http://h:1", model=5), "the name of the language model is 5"),
        (lambda model: model.label_topics("http://h:1", topics=3), "the topics to name are 3"),
    ],
)
def test_values_of_another_kind_are_refused_and_nothing_changes(model, change, message):
    before = len(model.edits)
    with pytest.raises(InputError, match=message):
        change(model)
    assert len(model.edits) == before


def test_tables_and_report_have_the_notes(model):
    assert "note" not in model.topics_frame()
    model.annotate_topics({1: "also </script> asylum\nand more"})
    assert model.topics_frame()["note"].tolist()[:2] == ["", "also </script> asylum\nand more"]
    assert [topic["note"] for topic in read_data(model.report().html)["topics"]][:2] == [
        "",
        "also </script> asylum\nand more",
    ]


def test_none_removes_a_note(model):
    assert model.annotate_topics({1: "a note"}).topic_notes_[1] == "a note"
    assert model.annotate_topics({1: None}).topic_notes_[1] == ""
