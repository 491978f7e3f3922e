import gzip
import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.io.count_readers import (
    FORMAT_BY_EXTENSION,
    guess_counts_format,
    read_counts,
)
from anchorless._corpus.io.count_writers import write_counts
from anchorless._corpus.io.formats import COUNT_FORMATS, WRITABLE_FORMATS
from anchorless.errors import InputError, UsageError

NAMES = {"npz": "a.npz", "mtx": "a.mtx", "uci": "docword.a.txt", "svmlight": "a.svmlight", "ldac": "a.ldac"}
N, V = 40, 25
WORDS = [f"wörd {place}" for place in range(V)]
LABELS = [("sport", "world news", "7")[place % 3] for place in range(N)]


def some_counts(whole=True, seed=0):
    """Some documents are empty, and so are the first and the last word."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (N, V)).astype(float)
    X[::7] = 0
    X[:, [0, -1]] = 0
    return sp.csr_matrix(X if whole else X * rng.random((N, V)))


def assert_same(found, expected):
    assert found.shape == expected.shape
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("labels", [LABELS, None])
@pytest.mark.parametrize("format", WRITABLE_FORMATS)
def test_what_was_written_is_what_is_read(tmp_path, format, labels, packed):
    name = NAMES[format] + (packed if format != "npz" else "")
    files = write_counts(tmp_path / name, some_counts(), WORDS, labels)
    found = read_counts(tmp_path / name)
    assert_same(found.counts, some_counts())
    assert found.vocabulary == WORDS
    assert found.labels == labels
    assert found.name == str(tmp_path / name)
    assert found.vocabulary_name == str(files[1])
    assert sorted(os.listdir(tmp_path)) == sorted(file.name for file in files)


@pytest.mark.parametrize("format", ["npz", "mtx", "svmlight"])
def test_fractions_keep_every_bit(tmp_path, format):
    write_counts(tmp_path / NAMES[format], some_counts(whole=False), WORDS)
    assert_same(read_counts(tmp_path / NAMES[format]).counts, some_counts(whole=False))


@pytest.mark.parametrize("format", WRITABLE_FORMATS)
def test_equal_counts_give_equal_bytes(tmp_path, format):
    for folder in ("p", "q"):
        (tmp_path / folder).mkdir()
        write_counts(tmp_path / folder / (NAMES[format] + ("" if format == "npz" else ".gz")), some_counts(), WORDS)
    packed = next((tmp_path / "p").glob("*.gz"), None)
    assert packed is None or packed.read_bytes()[4:8] == bytes(4)  # no time
    contents = [sorted(file.read_bytes() for file in (tmp_path / folder).iterdir()) for folder in ("p", "q")]
    assert contents[0] == contents[1]


# --- the formats as others write them


def test_uci_as_it_is_described(tmp_path):
    """Three lines of sizes, then document, word and count, both from 1."""
    (tmp_path / "docword.x.txt").write_text("2\n3\n3\n1 2 5\n2 1 1\n2 3 2\n")
    (tmp_path / "vocab.x.txt").write_text("a\nb\nc\n")
    found = read_counts(tmp_path / "docword.x.txt")
    np.testing.assert_array_equal(found.counts.toarray(), [[0, 5, 0], [1, 0, 2]])
    assert found.vocabulary == ["a", "b", "c"]
    write_counts(tmp_path / "docword.y.txt", found.counts, found.vocabulary)
    assert (tmp_path / "docword.y.txt").read_text() == (tmp_path / "docword.x.txt").read_text()


def test_ldac_as_it_is_described(tmp_path):
    (tmp_path / "ap.dat").write_text("1 1:5\n0\n2 2:2 0:1\n")
    (tmp_path / "vocab.txt").write_text("a\nb\nc\nd\n")
    found = read_counts(tmp_path / "ap.dat")
    np.testing.assert_array_equal(found.counts.toarray(), [[0, 5, 0, 0], [0, 0, 0, 0], [1, 0, 2, 0]])
    assert found.vocabulary == ["a", "b", "c", "d"]


@pytest.mark.parametrize("first", [0, 1])
def test_svmlight_counts_words_from_one_unless_there_is_a_zero(tmp_path, first):
    (tmp_path / "a.svm").write_text(f"2 {first}:1 {first + 2}:3\n1 {first + 1}:1\n")
    found = read_counts(tmp_path / "a.svm")
    np.testing.assert_array_equal(found.counts.toarray(), [[1, 0, 3], [0, 1, 0]])
    assert found.labels == ["2", "1"]


def test_what_gensim_writes_is_read(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    X = some_counts()
    documents = [list(zip(row.indices.tolist(), row.data.astype(int).tolist(), strict=True)) for row in X]
    words = dict(enumerate(WORDS))
    for kind, name in [("MmCorpus", "a.mm"), ("UciCorpus", "docword.a.txt"), ("BleiCorpus", "a.lda-c")]:
        getattr(corpora, kind).serialize(str(tmp_path / name), documents, id2word=words)
        # gensim writes the words beside all but the first
        found = read_counts(tmp_path / name, vocabulary=WORDS if kind == "MmCorpus" else None)
        assert_same(found.counts, X)
        assert found.vocabulary == WORDS
    corpora.SvmLightCorpus.serialize(str(tmp_path / "a.svmlight"), documents)
    found = read_counts(tmp_path / "a.svmlight", vocabulary=WORDS)
    assert_same(found.counts, X)
    assert found.labels is None  # the same for all


def test_matlab_files(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"fea": some_counts().tocsc(), "gnd": np.arange(N)[:, None] % 3 + 1.0})
    found = read_counts(tmp_path / "a.mat")
    assert_same(found.counts, some_counts())
    assert found.labels == [str(place % 3 + 1) for place in range(N)]
    scipy.io.savemat(tmp_path / "b.mat", {"fea": some_counts().toarray()})
    assert_same(read_counts(tmp_path / "b.mat").counts, some_counts())
    assert read_counts(tmp_path / "b.mat").labels is None


@pytest.mark.parametrize("name", ["a.npz", "a.mat"])
def test_packed_binary_files_are_unpacked(tmp_path, name):
    if name == "a.npz":
        sp.save_npz(tmp_path / name, some_counts())
    else:
        scipy.io.savemat(tmp_path / name, {"fea": some_counts()})
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert_same(read_counts(tmp_path / f"{name}.gz").counts, some_counts())


@pytest.mark.parametrize("kind", [sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.bsr_matrix])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, bool])
def test_every_kind_of_npz_becomes_csr(tmp_path, kind, dtype):
    sp.save_npz(tmp_path / "a.npz", kind(some_counts().astype(dtype)))
    found = read_counts(tmp_path / "a.npz").counts
    assert_same(found, some_counts().astype(dtype).astype(float))
    assert isinstance(found, sp.csr_matrix)


def test_dense_and_pattern_matrix_market(tmp_path):
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n")
    np.testing.assert_array_equal(read_counts(tmp_path / "a.mtx").counts.toarray(), [[1, 3], [0, 4]])
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n")
    np.testing.assert_array_equal(read_counts(tmp_path / "b.mtx").counts.toarray(), [[1, 0, 0], [0, 0, 1]])


def test_without_a_vocabulary_words_are_numbered(tmp_path):
    sp.save_npz(tmp_path / "a.npz", some_counts())
    found = read_counts(tmp_path / "a.npz")
    assert found.vocabulary == [f"word_{place}" for place in range(V)]
    assert found.vocabulary_name is None


def test_a_vocabulary_can_be_given_as_a_file_or_as_words(tmp_path):
    sp.save_npz(tmp_path / "a.npz", some_counts())
    (tmp_path / "mine.txt").write_text("\n".join(WORDS))
    assert read_counts(tmp_path / "a.npz", vocabulary=tmp_path / "mine.txt").vocabulary == WORDS
    assert read_counts(tmp_path / "a.npz", vocabulary=WORDS).vocabulary == WORDS


@pytest.mark.parametrize("n_words", [V - 1, V + 1])
@pytest.mark.parametrize("format", ["npz", "mtx"])
def test_a_vocabulary_of_another_size_is_refused(tmp_path, format, n_words):
    write_counts(tmp_path / NAMES[format], some_counts(), WORDS)
    words = [f"w{place}" for place in range(n_words)]
    with pytest.raises(
        InputError, match=rf"is {N} × {V}, documents × words, but the vocabulary has {n_words} words; set vocabulary"
    ):
        read_counts(tmp_path / NAMES[format], vocabulary=words)


@pytest.mark.parametrize("name", ["a.svmlight", "a.ldac", "docword.a.txt", "a.mm"])
def test_a_longer_vocabulary_widens_what_ends_at_the_last_word(tmp_path, name):
    write_counts(tmp_path / name, some_counts(), WORDS)
    words = [f"w{place}" for place in range(V + 9)]
    found = read_counts(tmp_path / name, vocabulary=words)
    assert found.counts.shape == (N, V + 9)
    with pytest.raises(InputError, match="but the vocabulary has 5 words"):
        read_counts(tmp_path / name, vocabulary=words[:5])


def test_words_by_documents_are_recognized(tmp_path):
    sp.save_npz(tmp_path / "a.npz", some_counts().T.tocsr())
    with pytest.raises(InputError, match="seems to be words × documents; transpose it"):
        read_counts(tmp_path / "a.npz", vocabulary=WORDS)
    write_counts(tmp_path / "b.mm", some_counts(), WORDS)
    with pytest.raises(InputError, match="seems to be words × documents; transpose it"):
        read_counts(tmp_path / "b.mm", vocabulary=[f"w{place}" for place in range(N)])


def test_a_file_of_other_labels_is_left_alone(tmp_path):
    """Names of classes, one per class, lie beside some corpora under the same name."""
    sp.save_npz(tmp_path / "a.npz", some_counts())
    (tmp_path / "a.labels.txt").write_text("one\ntwo\n")
    assert read_counts(tmp_path / "a.npz").labels is None


# --- what cannot be read or written


@pytest.mark.parametrize("format", COUNT_FORMATS)
@pytest.mark.parametrize("content", [b"", b"nonsense, and no numbers\n", b"\x00\x01\x02\xff" * 100])
def test_damaged_files_are_refused_by_name(tmp_path, format, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError, match=r"/x( |:|,)") as caught:
        read_counts(tmp_path / "x", format=format)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("format", ["npz", "mtx", "uci"])
def test_truncated_files_are_refused(tmp_path, format):
    path = write_counts(tmp_path / NAMES[format], some_counts(), WORDS)[0]
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(InputError, match="cannot be read as"):
        read_counts(path)


def test_truncated_gzip_is_reported(tmp_path):
    for name in ("a.mtx.gz", "a.svmlight.gz"):
        path = write_counts(tmp_path / name, some_counts(), WORDS, force=True)[0]
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InputError, match="is cut off"):
            read_counts(path)


@pytest.mark.parametrize("entry", ["0 1 1", "3 1 1", "1 4 1", "1 x 1"])
def test_uci_entries_outside_are_refused(tmp_path, entry):
    (tmp_path / "docword.x.txt").write_text(f"2\n3\n2\n1 2 5\n{entry}\n")
    with pytest.raises(InputError, match="cannot be read as uci"):
        read_counts(tmp_path / "docword.x.txt")


def test_files_with_other_contents_are_refused(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": np.ones(3)})
    with pytest.raises(InputError, match=r"has no variable fea .*it holds X"):
        read_counts(tmp_path / "a.mat")
    scipy.io.savemat(tmp_path / "a.mat", {"fea": some_counts(), "gnd": np.ones(3)})
    with pytest.raises(InputError, match="gnd has 3 labels, but fea has 40 documents"):
        read_counts(tmp_path / "a.mat")
    np.savez(tmp_path / "a.npz", x=np.ones(3))
    with pytest.raises(InputError, match="cannot be read as npz"):
        read_counts(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", format=np.array({"a": 1}, dtype=object))
    with pytest.raises(InputError, match="cannot be read as npz"):  # a pickle inside
        read_counts(tmp_path / "a.npz")


def test_missing_and_unknown_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_counts(tmp_path / "a.npz")
    with pytest.raises(UsageError, match="set format to one of npz, mtx"):
        read_counts(tmp_path / "a.csv")
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix((0, 5)))
    with pytest.raises(InputError, match="has 0 documents and 5 words"):
        read_counts(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        *(("A" + ending.upper() + ".gz", format) for ending, format in FORMAT_BY_EXTENSION.items()),
        ("docword.nips.txt", "uci"),
        ("a.csv", None),
        ("a.txt", None),
        ("a.dat", None),
    ],
)
def test_formats_are_guessed_from_names(name, format):
    assert guess_counts_format(name) == format


def test_a_dat_file_is_ldac_if_it_begins_so(tmp_path):
    for content, format in [
        ("2 0:1 3:1\n", "ldac"),
        ("0.5 1 2\n", None),
        ("", None),
        ("9 " + "1:1 " * 400_000, "ldac"),
    ]:
        (tmp_path / "a.dat").write_text(content)
        assert guess_counts_format(tmp_path / "a.dat") == format


@pytest.mark.parametrize("format", ["uci", "ldac"])
def test_fractions_are_refused_where_counts_are_whole(tmp_path, format):
    with pytest.raises(InputError, match=r"holds whole counts.*npz or mtx"):
        write_counts(tmp_path / NAMES[format], some_counts(whole=False), WORDS)


@pytest.mark.parametrize(
    ("words", "labels", "message"),
    [
        (WORDS[1:], None, "24 words for 25 columns"),
        ([*WORDS[1:], WORDS[1]], None, "are both .*; rename one"),
        ([*WORDS[1:], "two\nlines"], None, "must not be blank or hold line breaks"),
        (WORDS, LABELS[1:], "39 labels for 40 documents"),
        (WORDS, [*LABELS[1:], "two\nlines"], "a label is blank or holds a line break"),
    ],
)
def test_what_does_not_fit_is_not_written(tmp_path, words, labels, message):
    with pytest.raises(InputError, match=message):
        write_counts(tmp_path / "a.npz", some_counts(), words, labels)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a.mat", "a.csv", "a.npz.gz"])
def test_formats_that_cannot_be_written_are_refused(tmp_path, name):
    with pytest.raises(UsageError, match=name):
        write_counts(tmp_path / name, some_counts(), WORDS)


@pytest.mark.parametrize("existing", ["a.npz", "a.vocab.txt", "a.labels.txt"])
def test_nothing_is_written_if_one_of_the_files_exists(tmp_path, existing):
    (tmp_path / existing).write_text("old")
    with pytest.raises(InputError, match="exists already"):
        write_counts(tmp_path / "a.npz", some_counts(), WORDS, LABELS)
    assert os.listdir(tmp_path) == [existing]
    assert len(write_counts(tmp_path / "a.npz", some_counts(), WORDS, LABELS, force=True)) == 3
