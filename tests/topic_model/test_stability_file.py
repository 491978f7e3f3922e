import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._topic_model.file import load_model, save_model
from anchorless._topic_model.stability_file import PREFIX
from anchorless.datasets import sampled_corpus
from anchorless.errors import InputError

WORDS = [f"w{i}" for i in range(200)]


@pytest.fixture(scope="module")
def stable():
    corpus = sampled_corpus(300, 4, 200, length=50, random_state=1)
    model = TopicModel(4, n_jobs=1).fit_counts(corpus.counts, WORDS)
    model.stability(10)
    return model


@pytest.fixture(scope="module")
def path(stable, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.anchorless"
    stable.save(path)
    return path


def list_arrays(value):
    """Return the arrays of nested records, in their order."""
    if isinstance(value, tuple):
        return [array for item in value for array in list_arrays(item)]
    return [np.asarray(value)]


def assert_same(first, second):
    for new, old in zip(list_arrays(first), list_arrays(second), strict=True):
        np.testing.assert_array_equal(new, old)
        assert new.dtype == old.dtype


def test_intervals_survive_a_file(stable, path):
    loaded = TopicModel.load(path)
    assert_same(loaded.stability_, stable.stability_)
    assert loaded.correlation_edges().equals(stable.correlation_edges())
    assert loaded.stability_frame().equals(stable.stability_frame())
    assert "Significant associations" in loaded.report().html


def test_merged_topics_of_a_loaded_model_have_the_same_intervals(stable, path):
    loaded = TopicModel.load(path).merge_topics([[0, 2]])
    stable.merge_topics([[0, 2]])
    try:
        assert_same(loaded.stability_, stable.stability_)
        assert np.isfinite(loaded.stability_.shares.low).all()
    finally:
        stable.undo()


def test_intervals_of_edited_topics_survive_a_second_file(path, tmp_path):
    edited = TopicModel.load(path).merge_topics([[0, 2]])
    edited.save(tmp_path / "edited.anchorless")
    again = TopicModel.load(tmp_path / "edited.anchorless")
    assert_same(again.stability_, edited.stability_)
    assert_same(again.undo().stability_, TopicModel.load(path).stability_)


def test_a_file_without_intervals_has_none(path, tmp_path):
    arrays, header = load_model(path)
    del header["stability"]
    save_model(tmp_path / "old", {n: a for n, a in arrays.items() if not n.startswith(PREFIX)}, header)
    with pytest.raises(AttributeError, match="call stability"):
        _ = TopicModel.load(tmp_path / "old").stability_


@pytest.mark.parametrize("change", ["shape", "type", "word", "missing", "level", "split", "negative"])
def test_parts_that_do_not_fit_are_refused(path, tmp_path, change):
    arrays, header = load_model(path)
    if change == "shape":
        arrays[PREFIX + "shares_low"] = np.zeros(5)
    elif change == "type":
        arrays[PREFIX + "corpus_mean"] = arrays[PREFIX + "corpus_mean"].astype(np.float64)
    elif change == "word":
        arrays[PREFIX + "words"] = arrays[PREFIX + "words"] + 200
    elif change == "missing":
        del arrays[PREFIX + "association_p"]
    elif change == "level":
        header["stability"]["level"] = 2
    else:
        header["stability"]["n_splits"] = 1 if change == "split" else -1
    save_model(tmp_path / "bad", arrays, header)
    with pytest.raises(InputError, match="is not consistent"):
        TopicModel.load(tmp_path / "bad")
