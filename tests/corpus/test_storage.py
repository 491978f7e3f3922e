import pytest

from anchorless._corpus import storage
from anchorless._corpus.io.readers import open_texts
from anchorless._corpus.storage import measure_texts, parse_memory
from anchorless.errors import InputError


@pytest.mark.parametrize(("ending", "per_byte"), [("", "MEMORY_PER_BYTE"), (".gz", "MEMORY_PER_COMPRESSED_BYTE")])
def test_the_size_of_an_input_decides_where_it_is_counted(tmp_path, ending, per_byte):
    path = tmp_path / f"a.txt{ending}"
    path.write_bytes(b"word " * 1000)  # whether a file is compressed is told by its name
    needed = storage.BASE_MEMORY + 5000 * getattr(storage, per_byte)
    with open_texts(path) as source:
        assert measure_texts([], source, needed) == (False, [])
        assert measure_texts([], source, needed - 1) == (True, [])


@pytest.mark.parametrize(
    ("given", "expected"),
    [("2GB", 2 * 10**9), ("500mb", 5 * 10**8), ("1.5 k", 1500), ("1000", 1000), ("1T", 10**12), (7, 7), (None, None)],
)
def test_sizes_are_parsed(given, expected):
    assert parse_memory(given) == expected


@pytest.mark.parametrize("given", ["much", "0GB", "-1", 0, -5, True, 2.5, "", "GB", "2XB", "1e9", "2 G B", "٣GB"])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(InputError, match=r"memory=.*such as 500MB or 2GB"):
        parse_memory(given)
