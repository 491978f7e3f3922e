"""Mutated files of counts, read in other processes, so that a crash is a finding and not the end.

    python -m tests.helpers.fuzz_counts 100000 --seed 1

A mutant must be refused with an InputError, or give a valid matrix, within SECONDS and EXTRA_MEMORY.
"""

import argparse
import io
import mmap
import os
import random
import resource
import signal
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from anchorless._corpus.corpus import Corpus
from anchorless._corpus.io.count_writers import WRITABLE_FORMATS, write_counts
from anchorless.errors import InputError

NAMES = {"npz": "a.npz", "mtx": "a.mtx", "uci": "docword.a.txt", "svmlight": "a.svm", "ldac": "a.ldac", "mat": "a.mat"}
SECONDS, EXTRA_MEMORY = 10, 2 * 10**9
#: Numbers at which lengths, indices and types overflow.
NUMBERS = [0, 1, -1, 2, 7, 8, 255, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**63 - 1, -(2**63)]
TEXTS = [b"\0", b" ", b"\n", b"-", b".", b"e", b":", b"nan", b"inf", b"1e999", b"1_0", b"\xff", b"%", b"0x1"]
#: Mutants that one process reads.
PER_PROCESS = 500
STARTED, READ, REFUSED, FAILED = 1, 2, 3, 4
OUTCOMES = {READ: "read", REFUSED: "refused", FAILED: "another error"}


def make_seeds() -> dict[str, list[bytes]]:
    """Return valid files of each format."""
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.poisson(0.5, (7, 5)).astype(float))
    seeds: dict[str, list[bytes]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for format in WRITABLE_FORMATS:
            path = Path(folder) / NAMES[format]
            write_counts(path, X, [f"w{k}" for k in range(5)], format=format, force=True)
            seeds[format] = [path.read_bytes()]
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


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return content with a few bytes replaced, inserted, repeated or cut off."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(changed) + 1), rng.choice((0, 1, 1, 2, 4, 8))
        new = rng.choice(
            [
                rng.choice(TEXTS),
                b"%d" % rng.choice(NUMBERS),
                rng.randbytes(rng.randint(1, 8)),
                (rng.choice(NUMBERS) % 2**32).to_bytes(4, rng.choice(("little", "big"))),
                bytes(changed[at : at + 20]) * rng.randint(0, 3),
            ]
        )
        changed[at : at + rng.choice((length, len(new)))] = new
    return bytes(changed[: rng.randrange(len(changed) + 1)] if rng.random() < 0.1 else changed)


def mutate_npz(content: bytes, rng: random.Random) -> bytes:
    """Return an archive with some numbers of its arrays, or bytes of a header, changed: its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in rng.sample(sorted(members), rng.randint(1, 2)):
        if rng.random() < 0.3:
            members[name] = mutate_bytes(members[name], rng)
            continue
        array = np.load(io.BytesIO(members[name]), allow_pickle=False).copy()
        if array.dtype.kind in "if" and array.size:
            info = np.iinfo(array.dtype) if array.dtype.kind == "i" else np.finfo(array.dtype)
            value = rng.choice([*NUMBERS, np.inf, np.nan] if array.dtype.kind == "f" else NUMBERS)
            array.flat[rng.randrange(array.size)] = value if value != value else min(max(value, info.min), info.max)
            if rng.random() < 0.2:
                array = array[: rng.randrange(len(array))]
        stream = io.BytesIO()
        np.save(stream, array)
        members[name] = stream.getvalue()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return stream.getvalue()


def mutate_mat(content: bytes, rng: random.Random) -> bytes:
    """Return a MATLAB file whose first deflated element is changed inside: its checksum is right."""
    if content[128] != 15:
        return mutate_bytes(content, rng)
    length = int.from_bytes(content[132:136], "little")
    packed = zlib.compress(mutate_bytes(zlib.decompress(content[136 : 136 + length]), rng))
    return content[:132] + len(packed).to_bytes(4, "little") + packed + content[136 + length :]


MUTATIONS = {"npz": mutate_npz, "mat": mutate_mat}


def make_mutant(seeds: dict[str, list[bytes]], number: int, seed: int) -> tuple[str, bytes]:
    """Return the format and the bytes of a mutant; the same for the same numbers."""
    rng = random.Random(f"{seed} {number}")
    format = sorted(seeds)[number % len(seeds)]
    content = rng.choice(seeds[format])
    inside = MUTATIONS.get(format) if rng.random() < 0.7 else None
    return format, inside(content, rng) if inside else mutate_bytes(content, rng)


def read_mutant(path: Path) -> None:
    """Read a file as `convert` does, and check the matrix by SciPy's own rules."""
    with Corpus.read(path) as corpus:
        counts = corpus.to_matrix()
    counts.check_format(full_check=True)
    assert np.all(np.isfinite(counts.data))
    assert np.all(counts.data > 0)
    write_counts(path.with_name("out.npz"), counts, corpus.vocabulary, force=True)


def read_mutants(numbers: range, seed: int, folder: Path, outcomes: mmap.mmap) -> None:
    """Read mutants under the limits, in this process, and record the outcome of each."""
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    seeds = make_seeds()
    for number in numbers:
        format, content = make_mutant(seeds, number, seed)
        path = folder / NAMES[format]
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
            sys.stderr.write(f"{format}, mutant {number}: {type(error).__name__}: {error}\n")
            sys.stderr.flush()
        if outcomes[number] == FAILED:
            path.rename(folder / f"finding-{seed}-{number}-{NAMES[format]}")


def fuzz(n_mutants: int, seed: int, folder: Path) -> Counter[str]:
    """Read mutants; return how often each outcome occurred, and keep the files of findings in the folder."""
    found, first = Counter[str](), 0
    with mmap.mmap(-1, n_mutants) as outcomes:
        while first < n_mutants:
            child = os.fork()
            if child == 0:
                try:
                    read_mutants(range(first, min(first + PER_PROCESS, n_mutants)), seed, folder, outcomes)
                finally:
                    os._exit(0)
            status = os.waitpid(child, 0)[1]
            stop = min(first + PER_PROCESS, n_mutants)
            first = next((number for number in range(first, stop) if outcomes[number] < READ), stop)
            if os.WIFSIGNALED(status):
                format = sorted(NAMES)[first % len(NAMES)]
                found[f"{format}: signal {os.WTERMSIG(status)}"] += 1
                os.rename(folder / NAMES[format], folder / f"finding-{seed}-{first}-{NAMES[format]}")
                first += 1
        values = Counter(outcomes[:])
    return found + Counter({name: values[value] for value, name in OUTCOMES.items()})


def main() -> int:
    """Run the mutants that the command line asks for."""
    parser = argparse.ArgumentParser(description="Read mutated files of counts.")
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
