"""A model file with a right checksum but inconsistent content is refused when it is loaded."""

import copy
import os
from pathlib import Path

import numpy as np
import pytest

from anchorless import TopicModel
from anchorless._topic_model.file import load_model, save_model
from anchorless.errors import InputError
from tests.helpers.planted_texts import planted_texts


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.anchorless"
    TopicModel(4).fit(planted_texts(160, 0)[0]).save(path)
    return load_model(path)


def load_changed(parts, folder, change):
    arrays, header = copy.deepcopy(parts)
    change(arrays, header)
    save_model(folder / "m.anchorless", arrays, header)
    return TopicModel.load(folder / "m.anchorless")


def test_an_unchanged_model_is_loaded(parts, tmp_path):
    assert len(load_changed(parts, tmp_path, lambda arrays, header: None).topics()) == 4


def test_a_model_with_neighbors_is_loaded(parts, tmp_path):
    model = load_changed(parts, tmp_path, lambda arrays, header: add_neighbors(arrays, header, 30))
    assert model.neighbors_.n_neighbors == 30


def put(name, place, value):
    def change(arrays, header):
        arrays[name][place] = value

    return change


def make_edits(kind, values):
    return {"fit": "", "list": [{"kind": kind, "values": values, "by": "x", "at": "now"}], "splits": []}


def add_neighbors(arrays, header, n_neighbors, n_tokens=1.0):
    arrays["neighbor_vectors"] = np.ones((2, 3), np.float16)
    arrays["neighbor_mixtures"] = np.full((2, len(arrays["shares"])), 0.25, np.float32)
    header["neighbors"] = {"n_neighbors": n_neighbors, "n_tokens": n_tokens, "gain": 0.0}


CHANGES = {
    "shape": lambda arrays, header: arrays.update(shares=arrays["shares"][:-1]),
    "dtype": lambda arrays, header: arrays.update(components=arrays["components"].astype(np.float32)),
    "no dimension": lambda arrays, header: arrays.update(components=np.float64(1).reshape(())),
    "infinity": put("components", (0, 0), np.inf),
    "NaN": put("topic_word", (1, 2), np.nan),
    "sum": put("topic_word", (1, 2), 0.9),
    "negative": put("alpha", 0, -1.0),
    "vocabulary ends too late": put("vocabulary_ends", -1, 10**9),
    "vocabulary ends decrease": put("vocabulary_ends", 3, 0),
    "bytes that are no UTF-8": put("vocabulary", 0, 255),
    "too few labels": lambda arrays, header: header["labels"].pop(),
    "labels of another type": lambda arrays, header: header.update(labels=[1, 2, 3, 4]),
    "document that is not there": lambda arrays, header: header["representatives"][0].append(10**6),
    "topic that is not there": lambda arrays, header: header["documents"][0]["topics"].append([9, 0.5]),
    "share above one": lambda arrays, header: header["documents"][0]["topics"].append([1, 5.0]),
    "no documents": lambda arrays, header: header["diagnostics"].update(n_documents=0),
    "text for a number": lambda arrays, header: header["diagnostics"].update(n_tokens="many"),
    "setting": lambda arrays, header: header["settings"].update(unknown=1),
    "note on the data": lambda arrays, header: header.update(data_notes=[{"what": "markup"}]),
    "no settings": lambda arrays, header: header.pop("settings"),
    "counting": lambda arrays, header: header["counting"].update(ngram_range=[3, 1]),
    "shares that do not sum to one": put("shares", 0, 0.9),
    "correlation above one": put("correlation", (0, 1), 1.5),
    "correlation that is not symmetric": put("correlation", (0, 1), 0.123),
    "position of a document": lambda arrays, header: arrays["kept_positions"].put(0, 10**6),
    "border of another document": lambda arrays, header: header["borders"][0].append(10**6),
    "unknown part": lambda arrays, header: header.update(more=1),
    "level without a topic": lambda arrays, header: header.update(levels=[[[0, 1], [2]]]),
    "seed without a topic": lambda arrays, header: header.update(seeds=[{"name": "a"}]),
    "more neighbors than memory": lambda arrays, header: add_neighbors(arrays, header, 2**31),
    "words of no neighbor": lambda arrays, header: add_neighbors(arrays, header, 0),
    "less than no words": lambda arrays, header: add_neighbors(arrays, header, 30, -1.0),
    "weighting without its arrays": lambda arrays, header: arrays.pop("ncw_sum"),
    "half of a surrogate pair": lambda arrays, header: header["labels"].__setitem__(0, "\ud800"),
    "number that overflows": put("idf", 0, 1e-300),
    "edit of no topic": lambda arrays, header: header.update(edits=make_edits("drop", {"topics": [9]})),
    "edit of another kind": lambda arrays, header: header.update(edits=make_edits("melt", {})),
    "name that is no text": lambda arrays, header: header.update(edits=make_edits("rename", {"names": [[0, 1]]})),
    "split without arrays": lambda arrays, header: header.update(edits=make_edits("split", {"topic": 0, "n": 2})),
}


def test_a_model_whose_neighbors_say_nothing_is_loaded(parts, tmp_path):
    assert load_changed(parts, tmp_path, lambda arrays, header: add_neighbors(arrays, header, 0, 0.0)).neighbors_


@pytest.mark.parametrize("name", CHANGES)
def test_inconsistent_parts_are_refused(parts, tmp_path, name):
    with pytest.raises(InputError, match=r"m\.anchorless (is not consistent|lacks parts|has edits)"):
        load_changed(parts, tmp_path, CHANGES[name])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_devices_and_pipes_are_no_models(tmp_path, kind):
    path = Path("/dev/zero") if kind == "device" else tmp_path / "pipe"
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(InputError, match="is not a model of anchorless"):
        TopicModel.load(path)
