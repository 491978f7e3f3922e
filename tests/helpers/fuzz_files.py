"""Targets of the fuzzer: files of texts and counts in every format, and stores of counts."""

import gzip
import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.disk.block_folder import DIGEST_SIZE, read_block, write_block
from anchorless._corpus.io.count_writers import write_counts
from anchorless._corpus.io.formats import WRITABLE_FORMATS
from anchorless._corpus.settings import CountSettings
from tests.helpers.fuzzing import Target
from tests.helpers.mutations import mutate_bytes, mutate_mat, mutate_npz

COUNT_FILES = {
    "npz": "a.npz",
    "mtx": "a.mtx",
    "uci": "docword.a.txt",
    "svmlight": "a.svm",
    "ldac": "a.ldac",
    "mat": "a.mat",
}
TEXT_FILES = {
    "csv": "a.csv",
    "tsv": "a.tsv",
    "jsonl": "a.jsonl",
    "parquet": "a.parquet",
    "lines": "a.txt",
    "folder": "b.txt",
}
N_WORDS = 5
#: Texts of rows with an id, a label and a date; some in other scripts, with quotes and with line breaks.
ROWS = [
    ("a1", "bread and cheese, wine", "food", "2020-01-02"),
    ("a2", 'a "quoted" bread\nand wine', "food", "2020-02-02"),
    ("a3", "goal match çà ñ cheese", "sport", ""),
    ("a4", "match goal wine 日本語", "sport", "03/04/2005"),
]


def read_corpus(path: Path) -> None:
    """Read a file as `convert` does, and check the matrix by SciPy's own rules."""
    settings = CountSettings(min_df=1, max_df=1.0)
    with Corpus.read(path, counting=settings, n_jobs=1) as corpus:
        counts = corpus.to_matrix()
    counts.check_format(full_check=True)
    assert np.all(np.isfinite(counts.data))
    assert np.all(counts.data > 0)
    assert len(corpus.vocabulary) == counts.shape[1]
    write_counts(path.with_name("out.npz"), counts, corpus.vocabulary, force=True)


def read_folder(path: Path) -> None:
    """Read the folder that the file is in; other files are of earlier mutants."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        (Path(folder) / "a.txt").write_text("bread cheese wine")
        path.rename(Path(folder) / "b.txt")
        read_corpus(Path(folder))


def read_stored_block(path: Path) -> None:
    """Read a block of a store whose checksum is right."""
    content = path.read_bytes()
    path.write_bytes(content + hashlib.sha256(content).digest())
    counts, _ = read_block(path, N_WORDS, verify=True)
    counts.copy().check_format(full_check=True)


def make_count_seeds() -> dict[str, list[bytes]]:
    """Return valid files of counts of each format."""
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.poisson(0.5, (7, N_WORDS)).astype(float))
    seeds: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for format in WRITABLE_FORMATS:
            path = Path(folder) / COUNT_FILES[format]
            write_counts(path, X, [f"w{k}" for k in range(N_WORDS)], format=format, force=True)
            seeds[format] = [path.read_bytes()]
        path = Path(folder) / "0.block"
        write_block(path, X, ["new", "words"], {"rows": 7})
        seeds["block"] = [path.read_bytes()[:-DIGEST_SIZE]]
    seeds["mtx"].append(b"%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n")
    seeds["mtx"].append(b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n")
    for fea, packed in ((X, False), (X, True), (X.toarray(), False), (X.toarray().astype(np.uint8), True)):
        stream = io.BytesIO()
        scipy.io.savemat(stream, {"fea": fea, "gnd": np.arange(7.0)[:, None]}, do_compression=packed)
        seeds.setdefault("mat", []).append(stream.getvalue())
    for kind in (sp.csc_matrix, sp.coo_matrix, sp.bsr_matrix, sp.dia_matrix):
        stream = io.BytesIO()
        sp.save_npz(stream, kind(X))
        seeds["npz"].append(stream.getvalue())
    return seeds


def make_text_seeds() -> dict[str, list[bytes]]:
    """Return valid files of texts of each format."""
    names = ("id", "text", "label", "date")
    cells = [[f'"{cell}"'.replace('"quoted"', '""quoted""') for cell in row] for row in (names, *ROWS)]
    csv = "\n".join(map(",".join, cells))
    lines = "\n".join(text.replace("\n", " ") for _, text, *_ in ROWS)
    seeds = {
        "csv": [csv.encode(), csv.replace(",", ";").encode("utf-8-sig"), gzip.compress(csv.encode(), mtime=0)],
        "tsv": ["\n".join(map("\t".join, cells)).encode()],
        "jsonl": ["\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in ROWS).encode()],
        "lines": [lines.encode(), lines.encode("utf-16"), lines.encode("latin-1", "replace")],
        "folder": [lines.encode()],
        "parquet": [],
    }
    for compression in ("none", "snappy", "zstd"):
        stream = io.BytesIO()
        columns = dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))
        pyarrow.parquet.write_table(pa.table(columns), stream, compression=compression)
        seeds["parquet"].append(stream.getvalue())
    return seeds


Mutation = Callable[[bytes, Random], bytes]


def make_mutation(seeds: list[bytes], inside: Mutation | None = None) -> Callable[[Random], bytes]:
    """Return the function that mutates a seed; `inside` is a mutation that keeps checksums right."""

    def mutate(rng: Random) -> bytes:
        content = rng.choice(seeds)
        return inside(content, rng) if inside and rng.random() < 0.7 else mutate_bytes(content, rng)

    return mutate


def list_file_targets() -> list[Target]:
    """Return the targets: 12 formats of texts and counts, and what else is parsed."""
    counts, texts = make_count_seeds(), make_text_seeds()
    inside: dict[str, Mutation] = {"npz": mutate_npz, "mat": mutate_mat}
    targets = [Target(k, name, make_mutation(counts[k], inside.get(k)), read_corpus) for k, name in COUNT_FILES.items()]
    for format, name in TEXT_FILES.items():
        use = read_folder if format == "folder" else read_corpus
        targets.append(Target(format, name, make_mutation(texts[format]), use))
    block = Target("block", "0.block", make_mutation(counts["block"]), read_stored_block)
    return [*targets, block]
