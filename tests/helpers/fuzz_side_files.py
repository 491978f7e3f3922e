"""Targets of the fuzzer: what is given beside texts, such as formulas, edits, codebooks, embeddings, seed words."""

import io
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from anchorless._cli.options import read_seed_words
from anchorless._corpus.io.embeddings import collect_embeddings, read_embeddings
from anchorless._corpus.io.tables import read_table
from anchorless._corpus.io.vocabularies import read_vocabulary
from anchorless._effects.design import build_design, list_formula_columns
from anchorless._topic_model.codebook import read_csv
from anchorless._topic_model.embeddings import validate_embeddings
from anchorless._topic_model.plans import check_plan, read_plan
from tests.helpers.fuzz_files import make_mutation, make_text_seeds
from tests.helpers.fuzzing import Target
from tests.helpers.mutations import mutate_bytes

FORMULAS = [
    b"~ party + s(year)",
    b"~ C(party):year + 1",
    b"~ `a b` * party - 1",
    b"topic ~ s(year) + log(year)",
    b"~ (party + year)**2",
    b"~ C(party, contr.treatment('x'))",
    b"~ {year + 1} + I(year**2)",
]
PLANS = [
    b'rename = {0 = "a", 2 = "b"}\nnote = {1 = "n"}\nmerge = [[0, 1]]\ndrop = [3]\nby = "Ann"\n',
    b'order = [2, 0, 1, 3]\n[rename]\n1 = "x"\n',
    b'split = {3 = 2}\nmodel = "m"\n',
]
CODEBOOK = b'topic,name,note,model\n0,a,"x, y",m\n1,,,m\n2,\'=b,n,m\n3,c,,m\n'
SEED_WORDS = [
    b'economy = ["bank", "inflation"]\n"two words" = ["a"]\n',
    b'# c\n[a]\nb = ["x"]\n',
    b"x = [\"\\u00e9\", 'y']",
]
WORDS = [b"bread\ncheese\n---\nwine\n", b"3\n0\tbread\t2\n1\twine\t1\n2\tcheese\t1\n", "brot\nkäse\n".encode()]
N_ROWS = 6


def parse_formula(path: Path) -> None:
    """Build the design of a formula."""
    formula = path.read_bytes().decode(errors="replace")
    list_formula_columns(formula)
    n = 12
    columns = {"party": ["x", "y", "z"] * 4, "year": list(range(2000, 2000 + n)), "a b": [0.5 * i for i in range(n)]}
    build_design(formula, pa.table(columns), None, np.ones(n, dtype=bool))


def parse_plan(path: Path) -> None:
    """Check a plan of edits."""
    check_plan(read_plan(path), "m")


def parse_codebook(path: Path) -> None:
    """Read the names of a codebook."""
    read_csv(path, 4, "m")


def parse_seed_words(path: Path) -> None:
    """Read words of topics."""
    found = read_seed_words(str(path))
    assert found
    assert all(isinstance(word, str) for words in found.values() for word in words)


def parse_words(path: Path) -> None:
    """Read a vocabulary: each word once."""
    words = read_vocabulary(path)
    assert len(set(words)) == len(words) > 0


def parse_embeddings(path: Path) -> None:
    """Read embeddings and check them: finite vectors of length one, or none."""
    found = validate_embeddings(read_embeddings(path), N_ROWS)
    lengths = np.linalg.norm(found.vectors.astype(np.float64), axis=1)
    assert np.all(np.abs(lengths[found.known] - 1) < 0.01)


def parse_column(path: Path) -> None:
    """Read embeddings that are a column of texts."""
    texts = path.read_bytes().decode(errors="replace").split("\n")
    table = pa.table({"vector": pa.array(texts, pa.large_string())})
    validate_embeddings(collect_embeddings([table], "vector", "a.csv"), len(texts))


def make_embedding_seeds() -> dict[str, list[bytes]]:
    """Return valid files of embeddings."""
    rows = np.random.default_rng(0).normal(size=(N_ROWS, 4)).astype(np.float32)
    seeds: dict[str, list[bytes]] = {"npy": [], "parquet": []}
    for array in (rows, np.asfortranarray(rows.astype(np.float16)), rows.astype(">f8"), np.zeros((0, 3))):
        stream = io.BytesIO()
        np.save(stream, array)
        seeds["npy"].append(stream.getvalue())
    lists = [None, *rows[1:].tolist()]
    for table in (pa.table({"v": lists}), pa.table({f"x{i}": rows[:, i] for i in range(4)})):
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, compression="none")
        seeds["parquet"].append(stream.getvalue())
    return seeds


def mutate_npy(content: bytes, rng: Random) -> bytes:
    """Return an array whose header is changed, with its length right."""
    length = int.from_bytes(content[8:10], "little")
    header = mutate_bytes(content[10 : 10 + length], rng)
    return content[:8] + (len(header) % 2**16).to_bytes(2, "little") + header + content[10 + length :]


def list_side_targets() -> list[Target]:
    """Return the targets: formulas, edits, codebooks, tables, seed words, vocabularies, embeddings."""
    vectors = make_embedding_seeds()
    given = {
        "formula": ("formula.txt", FORMULAS, parse_formula),
        "plan": ("plan.toml", PLANS, parse_plan),
        "codebook": ("codebook.csv", [CODEBOOK], parse_codebook),
        "table": ("table.csv", make_text_seeds()["csv"], read_table),
        "seed words": ("seeds.toml", SEED_WORDS, parse_seed_words),
        "words": ("a.vocab.txt", WORDS, parse_words),
        "embeddings.parquet": ("e.parquet", vectors["parquet"], parse_embeddings),
        "embeddings of texts": ("e.txt", [b"[1.5, 2]\n[3, -4e3]\n\n[0.1, 1]"], parse_column),
    }
    targets = [Target(name, file, make_mutation(seeds), use) for name, (file, seeds, use) in given.items()]
    npy = make_mutation(vectors["npy"], mutate_npy)
    return [*targets, Target("embeddings.npy", "e.npy", npy, parse_embeddings)]
