import json
import stat
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from hypothesis.extra.numpy import arrays as any_array
from safetensors.numpy import load, save

from anchorless._topic_model import file as modelfile
from anchorless._topic_model.file import decode_words, encode_words, load_model, save_model
from anchorless.errors import InputError
from tests.helpers.properties import run_examples

HEADER = {"name": "Grüße", "sizes": [1, 2], "deep": {"number": 0.1, "nothing": None, "yes": True}}


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return {
        "components": rng.random((3, 5)),
        "moments": np.array([[np.pi, -0.0], [5e-324, np.inf]]),
        "codes": np.array([1, -2], dtype=np.int32),
        "bytes": np.frombuffer(b"any \x00 bytes", dtype=np.uint8),
        "nothing": np.zeros((0, 4)),
    }


@pytest.fixture
def path(tmp_path, arrays):
    path = tmp_path / "model.anchorless"
    save_model(path, arrays, HEADER)
    return path


def test_what_is_saved_comes_back_to_the_bit(path, arrays):
    loaded, header = load_model(path)
    assert header == HEADER
    assert sorted(loaded) == sorted(arrays)
    for name, values in arrays.items():
        assert loaded[name].dtype == values.dtype
        assert loaded[name].shape == values.shape
        assert loaded[name].tobytes() == values.tobytes()


def test_loaded_arrays_can_be_computed_with(path):
    loaded, _ = load_model(path)
    assert loaded["components"].flags.c_contiguous
    assert loaded["components"].flags.aligned


def test_other_programs_can_read_the_arrays(path, arrays):
    np.testing.assert_array_equal(load(path.read_bytes())["components"], arrays["components"])


def test_the_container_has_the_bytes_of_the_library(arrays):
    kinds = {f"of {dtype}": np.arange(3).astype(dtype) for dtype in reversed(modelfile.DTYPES)}
    for some in (arrays, kinds):
        for metadata in ({"anchorless": '{"a":"\\"\\u00e9"}'}, {"anchorless": "x" * 13}):
            assert b"".join(modelfile.encode_container(some, metadata)) == save(some, metadata)


def test_equal_contents_give_equal_bytes(tmp_path, arrays):
    save_model(tmp_path / "a", arrays, HEADER)
    save_model(tmp_path / "b", dict(reversed(arrays.items())), dict(reversed(HEADER.items())))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("n_bytes", [1, 7, 64])
def test_pieces_give_the_bytes_of_the_whole_and_none_is_large_as_ctrl_c_waits_for_it(arrays, monkeypatch, n_bytes):
    whole = b"".join(modelfile.encode_model(arrays, {}))
    monkeypatch.setattr(modelfile, "PIECE_BYTES", n_bytes)
    pieces = [*modelfile.encode_model(arrays, {})]
    assert b"".join(pieces) == whole
    assert max(len(piece) for piece in pieces[2:]) <= n_bytes  # after the length of the header, and the header


@pytest.mark.parametrize("values", [np.arange(12.0).reshape(3, 4).T, np.arange(6)[::2], np.arange(3, dtype=">i4")])
def test_any_layout_is_stored_as_its_values(tmp_path, values):
    save_model(tmp_path / "m", {"x": values}, {})
    np.testing.assert_array_equal(load_model(tmp_path / "m")[0]["x"], values)


def test_an_existing_file_is_replaced_only_by_force(path, arrays):
    before = path.read_bytes()
    with pytest.raises(InputError, match="force"):
        save_model(path, {"x": np.ones(1)}, {})
    assert path.read_bytes() == before
    save_model(path, {"x": np.ones(1)}, {}, force=True)
    assert sorted(load_model(path)[0]) == ["x"]


def test_nothing_is_left_beside_the_file(path):
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_json_cannot_hold_is_refused_before_anything_is_written(tmp_path, arrays):
    with pytest.raises(ValueError, match="JSON"):
        save_model(tmp_path / "m", arrays, {"number": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_every_truncation_is_refused(path):
    content = path.read_bytes()
    for length in [*range(1, 40), *range(40, len(content), 37), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"is damaged|is not a model"):
            load_model(path)


def test_a_file_cut_in_its_arrays_is_called_damaged(path):
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="damaged: it was cut short or changed"):
        load_model(path)


def test_bytes_after_the_end_are_refused(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(InputError, match="damaged"):
        load_model(path)


def test_swapped_arrays_are_refused(path):
    content = path.read_bytes()
    arrays = load(content)
    metadata = json.loads(content[8 : 8 + struct.unpack("<Q", content[:8])[0]])["__metadata__"]
    arrays["other"] = arrays.pop("components")
    path.write_bytes(save(arrays, metadata))
    with pytest.raises(InputError, match="damaged"):
        load_model(path)


def test_a_newer_version_asks_for_an_upgrade(tmp_path, arrays, monkeypatch):
    monkeypatch.setattr(modelfile, "PLAIN_VERSION", 7)
    save_model(tmp_path / "m", arrays, HEADER)
    monkeypatch.undo()
    with pytest.raises(InputError, match="format version 7, but this anchorless reads up to version 2; upgrade"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("version", [0, -1, "1", None])
def test_a_version_that_never_was_is_damage(tmp_path, arrays, monkeypatch, version):
    monkeypatch.setattr(modelfile, "PLAIN_VERSION", version)
    save_model(tmp_path / "m", arrays, HEADER)
    monkeypatch.undo()
    with pytest.raises(InputError, match="damaged"):
        load_model(tmp_path / "m")


OTHERS = {
    "text": b"id,text\n1,hello\n",
    "zip": b"PK\x03\x04" + bytes(40),
    "gzip": b"\x1f\x8b\x08" + bytes(40),
    "short": b"{}",
    "eight bytes": bytes(8),
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00{" + bytes(30),
    "another safetensors": save({"weight": np.ones(2)}),
    "another with metadata": save({"weight": np.ones(2)}, {"format": "pt"}),
    "our name, not our format": save({"weight": np.ones(2)}, {"anchorless": '{"format": "x"}'}),
    "our name, a list": save({"weight": np.ones(2)}, {"anchorless": "[]"}),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_files_of_other_kinds_are_not_models(tmp_path, kind):
    path = tmp_path / "m"
    path.write_bytes(OTHERS[kind])
    with pytest.raises(InputError, match=r"m is not a model of anchorless; give a file that"):
        load_model(path)


def test_a_header_that_is_no_json_is_damage(tmp_path):
    (tmp_path / "m").write_bytes(struct.pack("<Q", 4) + b"{..}")
    with pytest.raises(InputError, match="damaged"):
        load_model(tmp_path / "m")


def test_a_header_deeper_than_python_follows_is_damage(tmp_path):
    deep = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    (tmp_path / "m").write_bytes(struct.pack("<Q", len(deep)) + deep)
    with pytest.raises(InputError, match="damaged"):
        load_model(tmp_path / "m")


def test_missing_file_folder_and_empty_file_have_their_own_errors(tmp_path):
    with pytest.raises(InputError, match="nowhere: there is no such file"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(InputError, match="it is a folder"):
        load_model(tmp_path)
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="is empty, not a model"):
        load_model(tmp_path / "empty")
    with pytest.raises(InputError, match="null"):
        load_model("a\0b")


def test_the_umask_decides_who_can_read_the_file(path):
    assert stat.S_IMODE(path.stat().st_mode) & 0o400


WORDS = [["a"], ["ä", "日本", "", "new york"], ["line\nbreak", "nul\0", "\ud800"], []]


@pytest.mark.parametrize("words", WORDS)
def test_words_come_back(tmp_path, words):
    save_model(tmp_path / "m", encode_words(words), {})
    assert decode_words(load_model(tmp_path / "m")[0]) == words


KINDS = st.sampled_from(["<f8", "<f4", "<i4", "<i8", "|u1"])
ARRAYS = KINDS.flatmap(lambda kind: any_array(kind, array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=4)))
NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=8).filter(lambda name: name != "__metadata__")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@run_examples(40)
@given(arrays=st.dictionaries(NAMES, ARRAYS, min_size=1, max_size=4), header=st.dictionaries(NAMES, JSON, max_size=4))
def test_any_content_comes_back_to_the_bit(tmp_path, arrays, header):
    save_model(tmp_path / "m", arrays, header, force=True)
    found, found_header = load_model(tmp_path / "m")
    assert found_header == header
    assert {name: (a.dtype, a.shape, a.tobytes()) for name, a in found.items()} == {
        name: (a.dtype, a.shape, a.tobytes()) for name, a in arrays.items()
    }


@run_examples(80)
@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255), cut=st.booleans())
def test_any_changed_byte_is_refused_or_changes_nothing(tmp_path, place, change, cut):
    save_model(tmp_path / "m", {"x": np.arange(3.0), "y": np.eye(2)}, HEADER, force=True)
    expected = load_model(tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    position = int(place * len(content))
    content[position] ^= change
    (tmp_path / "m").write_bytes(content[:position] if cut else content)
    try:
        found = load_model(tmp_path / "m")
    except InputError:
        return
    # JSON has several spellings of one value: "\u00e4" and "\u00E4", a space and a tab between values.
    assert not cut
    assert found[1] == expected[1]
    assert {name: a.tobytes() for name, a in found[0].items()} == {n: a.tobytes() for n, a in expected[0].items()}


@run_examples(100)
@given(content=st.binary(min_size=1, max_size=200))
def test_any_bytes_are_refused(tmp_path, content):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(InputError, match=r"is not a model|is damaged"):
        load_model(tmp_path / "m")
