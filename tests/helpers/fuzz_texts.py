"""Mutated files of texts, read in other processes, so that a crash is a finding and not the end.

    python -m tests.helpers.fuzz_texts 20000 --seed 1

A mutant must be refused with an InputError, or give documents, within the limits of `fuzz_counts`.
"""

import argparse
import io
import json
import mmap
import os
import random
import resource
import signal
import sys
import tempfile
import zipfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from anchorless._corpus.io.readers import open_texts
from anchorless.errors import InputError
from tests.helpers.fuzz_counts import EXTRA_MEMORY, PER_PROCESS, SECONDS, mutate_bytes
from tests.helpers.text_files import (
    make_docx,
    make_mail,
    make_mbox,
    make_ods,
    make_pdf,
    make_srt,
    make_tar,
    make_xlsx,
    make_zip,
)

TEXTS = ["the river bank and the boat", "a stock market & its price", "goal <b>match</b> team é"]
ROWS = [["id", "text", "n"], *([f"d{n}", text, n] for n, text in enumerate(TEXTS))]
STARTED, READ, REFUSED, FAILED = 1, 2, 3, 4
OUTCOMES = {READ: "read", REFUSED: "refused", FAILED: "another error"}
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
        "a.docx": make_docx(["# Head", *TEXTS]),
        "a.eml": make_mail(TEXTS[0]),
        "a.mbox": make_mbox([make_mail(text) for text in TEXTS]),
        "a.srt": make_srt(TEXTS).encode(),
        "a.vtt": b"WEBVTT\n\n" + make_srt(TEXTS).replace(",", ".").encode(),
        "a.html": f"<html><head><meta charset='utf-8'></head><body><h1>A</h1><p>{TEXTS[2]}</p></body></html>".encode(),
        "a.md": f"---\na: b\n---\n# Head\n\n[{TEXTS[0]}](http://x.y) ![p](q)\n".encode(),
    }
    if find_spec("python_calamine"):
        seeds |= {"a.xlsx": make_xlsx({"A": ROWS}), "a.ods": make_ods([[str(cell) for cell in row] for row in ROWS])}
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


def make_mutant(seeds, number, seed):
    """Return the name and the bytes of a mutant; the same for the same numbers."""
    rng = random.Random(f"texts {seed} {number}")
    name = sorted(seeds)[number % len(seeds)]
    mutate = mutate_members if name in ZIPPED and rng.random() < 0.7 else mutate_bytes
    return name, mutate(seeds[name], rng)


def read_mutant(path):
    """Read a file as the commands do, also divided into parts."""
    for split in (None, "section"):
        with open_texts(path, split=split) as source:
            texts = [text for batch in source for text in batch.texts.to_pylist()]
        assert len(texts) == source.n_documents > 0
        assert all(text.strip() for text in texts)


def read_mutants(numbers, seed, folder, outcomes):
    """Read mutants under the limits, in this process, and record the outcome of each."""
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    seeds = make_seeds()
    for number in numbers:
        name, content = make_mutant(seeds, number, seed)
        path = folder / name
        path.write_bytes(content)
        outcomes[number] = STARTED
        signal.alarm(SECONDS)
        try:
            read_mutant(path)
            outcomes[number] = READ
        except InputError:
            outcomes[number] = REFUSED
        except BaseException as error:
            outcomes[number] = FAILED
            sys.stderr.write(f"{name}, mutant {number}: {type(error).__name__}: {error}\n")
            sys.stderr.flush()
            path.rename(folder / f"finding-{seed}-{number}-{name}")


def fuzz(n_mutants, seed, folder):
    """Read mutants; return how often each outcome occurred, and keep the files of findings in the folder."""
    found, first, names = Counter(), 0, sorted(make_seeds())
    with mmap.mmap(-1, n_mutants) as outcomes:
        while first < n_mutants:
            child = os.fork()
            stop = min(first + PER_PROCESS, n_mutants)
            if child == 0:
                try:
                    read_mutants(range(first, stop), seed, folder, outcomes)
                finally:
                    os._exit(0)
            status = os.waitpid(child, 0)[1]
            first = next((number for number in range(first, stop) if outcomes[number] < READ), stop)
            if os.WIFSIGNALED(status):
                name = names[first % len(names)]
                found[f"{name}: signal {os.WTERMSIG(status)}"] += 1
                os.rename(folder / name, folder / f"finding-{seed}-{first}-{name}")
                first += 1
        values = Counter(outcomes[:])
    return found + Counter({name: values[value] for value, name in OUTCOMES.items()})


def main():
    """Run the mutants that the command line asks for."""
    parser = argparse.ArgumentParser(description="Read mutated files of texts.")
    parser.add_argument("n_mutants", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    outcomes = fuzz(options.n_mutants, options.seed, folder)
    findings = {name for name, n in outcomes.items() if n} - {"read", "refused"}
    sys.stdout.write(f"{dict(outcomes)}: {'findings are in' if findings else 'nothing found in'} {folder}\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
