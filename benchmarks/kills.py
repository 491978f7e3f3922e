"""Kill the counting of texts at random moments, repeatedly, and compare the result with an uninterrupted run.

    python -m benchmarks.kills [KILLS]        # default: 100

Every run resumes where the previous one was killed (SIGKILL, after a random part of the time that an uninterrupted run
takes). At the end the store must hold every document once, in the same blocks, bit for bit.
"""

from __future__ import annotations

import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from anchorless import CountSettings
from anchorless._corpus.disk import store as counts
from anchorless._corpus.disk.block_folder import MANIFEST, BlockFolder
from anchorless._corpus.disk.vocabulary import UNBOUNDED_WIDTH
from anchorless._corpus.io.readers import open_texts
from benchmarks.planted import plan, write_texts

#: Forking starts a process quickly, and is safe because the parent process does nothing but start processes.
PROCESSES = multiprocessing.get_context("fork")


def count(store: Path, texts: Path, nonzeros: int) -> None:
    """Count texts into a store, or resume counting."""
    counts.NONZEROS_PER_BLOCK = nonzeros
    with open_texts(texts) as source:
        counts.CountStore(store, {"test": "kills"}).count((batch.texts for batch in source), CountSettings(), 2)


def start_counting(store: Path, texts: Path, nonzeros: int) -> Any:
    """Start a process that counts."""
    process = PROCESSES.Process(target=count, args=(store, texts, nonzeros))
    process.start()
    return process


def write(texts: Path, n_documents: int) -> None:
    """Write texts to be counted."""
    write_texts(texts, plan(10, 5000), n_documents, 30.0)


def blocks(store: Path) -> dict[str, bytes]:
    """Return the content of the files of a store."""
    return {path.name: path.read_bytes() for path in sorted((store / "all-terms").iterdir())}


def count_with_kills(store: Path, texts: Path, nonzeros: int, kills: int, seconds: float) -> int:
    """Count until `kills` kills have hit a run that was still counting; return how often the store was complete."""
    rng, hits, complete = random.Random(0), 0, 0
    while hits < kills:
        process = start_counting(store, texts, nonzeros)
        time.sleep(rng.uniform(0.0, 0.7) * seconds)
        hits += process.is_alive()
        process.kill()
        process.join()
        verify_store(store)
        if process.exitcode == 0:  # start again: the kills must fall into counting
            shutil.rmtree(store)
            complete, seconds = complete + 1, 0.8 * seconds  # the machine has become faster
    start_counting(store, texts, nonzeros).join()
    return complete


def verify_store(store: Path) -> None:
    """Open a store, if there is one already, and compare every check sum."""
    if not (store / "all-terms" / MANIFEST).exists():
        return
    folder = BlockFolder(store / "all-terms")
    for number in range(len(folder.facts)):
        folder.read(number, UNBOUNDED_WIDTH)


def main(argv: list[str] | None = None) -> int:
    """Run, and return 0 if no document was lost or counted twice."""
    given = sys.argv[1:] if argv is None else argv
    kills = int(given[0]) if given else 100
    with tempfile.TemporaryDirectory() as folder:
        texts, whole, store = (Path(folder, name) for name in ("texts.jsonl", "whole", "killed"))
        for arguments in ((write, (texts, 20_000)), (count, (whole, texts, 20_000))):
            start = time.perf_counter()
            process = PROCESSES.Process(target=arguments[0], args=arguments[1])
            process.start()
            process.join()
            seconds = time.perf_counter() - start
        complete = count_with_kills(store, texts, 20_000, kills, seconds)
        verify_store(store)
        expected, found = blocks(whole), blocks(store)
        same = expected == found
        print(
            f"{kills} kills while counting, restarted {complete} times; {len(expected) - 3} blocks, same bytes: {same}"
        )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
