"""Mutated documents, spreadsheets, archives, mails and JSON lists, for `tests.helpers.fuzzing --targets documents`."""

import io
import json
import zipfile
from importlib.util import find_spec

from anchorless._corpus.io.readers import open_texts
from tests.helpers.fuzzing import Target
from tests.helpers.mutations import mutate_bytes
from tests.helpers.text_files import (
    make_docx,
    make_mail,
    make_mbox,
    make_ods,
    make_pdf,
    make_srt,
    make_tar,
    make_xls,
    make_xlsx,
    make_zip,
)

TEXTS = ["the river bank and the boat", "a stock market & its price", "goal <b>match</b> team é"]
ROWS = [["id", "text", "n"], *([f"d{n}", text, n] for n, text in enumerate(TEXTS))]
#: Records of a header of tar that change what the header says, or how the member is read.
HEADERS = {"size": "28", "GNU.sparse.map": "0,28", "mtime": "1.5"}
#: Formats in a zip archive: some mutants are changed inside, with the right checksums.
ZIPPED = ("a.xlsx", "a.ods", "a.docx", "a.zip")


def make_seeds():
    """Return a valid file of each format that can be read here, by its name."""
    seeds = {
        "a.json": json.dumps({"meta": [1], "data": {"items": [{"text": text, "n": 1.5} for text in TEXTS]}}).encode(),
        "b.json": json.dumps(TEXTS).encode(),
        "a.zip": make_zip({"a.txt": TEXTS[0], "b/c.md": TEXTS[1], "d.docx": make_docx(TEXTS)}),
        "a.tar": make_tar({"a.txt": TEXTS[0].encode(), "b/c.html": TEXTS[2].encode()}),
        "a.tgz": make_tar({"a.txt": TEXTS[0].encode(), "b.eml": make_mail(TEXTS[1])}, "w:gz"),
        "b.zip": make_zip({"a.txt": TEXTS[0], "b.md": TEXTS[1]}, zipfile.ZIP_LZMA),
        "c.zip": make_zip({"a.txt": TEXTS[0], "b.md": TEXTS[1]}, zipfile.ZIP_BZIP2),
        "b.tar": make_tar(
            {"a.txt": TEXTS[0].encode()}, headers={"size": "28", "GNU.sparse.map": "0,28", "mtime": "1.5"}
        ),
        "a.docx": make_docx(["# Head", *TEXTS]),
        "a.eml": make_mail(TEXTS[0]),
        "a.mbox": make_mbox([make_mail(text) for text in TEXTS]),
        "a.srt": make_srt(TEXTS).encode(),
        "a.vtt": b"WEBVTT\n\n" + make_srt(TEXTS).replace(",", ".").encode(),
        "a.html": f"<html><head><meta charset='utf-8'></head><body><h1>A</h1><p>{TEXTS[2]}</p></body></html>".encode(),
        "a.md": f"---\na: b\n---\n# Head\n\n[{TEXTS[0]}](http://x.y) ![p](q)\n".encode(),
    }
    if find_spec("python_calamine"):
        texts = [[str(cell) for cell in row] for row in ROWS]
        cells = [[cell.replace("é", "e") for cell in row] for row in texts]
        seeds |= {"a.xlsx": make_xlsx({"A": ROWS}), "a.ods": make_ods(texts), "a.xls": make_xls(cells)}
    if find_spec("pypdf"):
        seeds["a.pdf"] = make_pdf(TEXTS[:2])
    return seeds


def mutate_members(content, rng):
    """Return an archive with bytes of some members changed: its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in rng.sample(sorted(members), min(len(members), rng.randint(1, 2))):
        members[name] = mutate_bytes(members[name], rng)
    return make_zip(members)


def read_mutant(path):
    """Read a file as the commands do, also divided into parts."""
    for split in (None, "section"):
        with open_texts(path, split=split) as source:
            texts = [text for batch in source for text in batch.texts.to_pylist()]
        assert len(texts) == source.n_documents > 0
        assert all(text.strip() for text in texts)


def make_mutation(name, seed):
    """Return the function that makes mutants of a file."""

    def mutate(rng):
        inside = name in ZIPPED and rng.random() < 0.7
        return mutate_members(seed, rng) if inside else mutate_bytes(seed, rng)

    return mutate


def list_document_targets():
    """Return a target for each format."""
    seeds = make_seeds()
    return [Target(name, name, make_mutation(name, seed), read_mutant) for name, seed in seeds.items()]
