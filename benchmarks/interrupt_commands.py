"""Interrupt every kind of reader and writer at many moments.

    python -m benchmarks.interrupt_commands [--rows N] [--runs N] [--only NAME,…]

Each command runs once under harmless signals, and the longest time without a chance to handle Ctrl-C is listed
(`benchmarks.interrupts` explains how); then it is interrupted by SIGINT at moments spread over the time of the first
run and of the imports before it: it must end with exit code 130 and leave nothing but what was there, or what a run
keeps to be continued.
"""

from __future__ import annotations

import argparse
import gzip
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.interrupts import LIMIT, interrupt, run_with_signals
from tests.helpers.text_files import make_pdf

#: Words of a text, and of the vocabulary.
LENGTH, N_WORDS = 60, 3000
#: What a run that is continued may leave.
KEPT = (".counts", ".part", ".part.json")


def make_inputs(folder: Path, n_rows: int) -> None:
    """Write the same texts in several formats."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(N_WORDS)])
    topics = rng.dirichlet(np.full(N_WORDS, 0.02), 10)
    texts = [" ".join(words[rng.choice(N_WORDS, LENGTH, p=topics[i % 10])]) for i in range(min(n_rows, 2000))]
    texts = [texts[i % len(texts)] for i in range(n_rows)]
    table = pa.table({"id": [f"d{i}" for i in range(n_rows)], "text": texts, "party": ["a", "b"] * (n_rows // 2)})
    pyarrow.csv.write_csv(table, folder / "a.csv")
    (folder / "a.csv.gz").write_bytes(gzip.compress((folder / "a.csv").read_bytes(), 1))
    pyarrow.parquet.write_table(table, folder / "a.parquet", row_group_size=n_rows)
    (folder / "a.jsonl").write_text("\n".join(f'{{"id": {i}, "text": "{text}"}}' for i, text in enumerate(texts)))
    (folder / "a.json").write_text("[" + ",".join(f'{{"id": {i}, "text": "{t}"}}' for i, t in enumerate(texts)) + "]")
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for i, text in enumerate(texts[: n_rows // 10]):
            archive.writestr(f"{i}.txt", text)
    write_xlsx(folder / "a.xlsx", texts)
    (folder / "pdfs").mkdir()
    for i in range(20):
        own = texts[i % 10 : n_rows // 2 : 10]  # of one topic
        pages = ["\n".join(own[j : j + 40]) for j in range(0, len(own), 40)]
        (folder / "pdfs" / f"{i}.pdf").write_bytes(make_pdf(pages))
    pyarrow.csv.write_csv(table.slice(0, 2000), folder / "small.csv")


def write_xlsx(path: Path, texts: Sequence[str]) -> None:
    """Write texts as a workbook, if XlsxWriter is installed."""
    try:
        import xlsxwriter
    except ImportError:
        return
    book = xlsxwriter.Workbook(path, {"constant_memory": True})
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["id", "text"])
    for i, text in enumerate(texts, 1):
        sheet.write_row(i, 0, [str(i), text])
    book.close()


def list_commands(folder: Path) -> dict[str, list[str]]:
    """Return the commands by their names; `model` is one that was fitted on small.csv."""
    inputs = ("a.csv", "a.csv.gz", "a.parquet", "a.jsonl", "a.json", "a.zip", "a.xlsx", "pdfs")
    found = {f"convert {name}": ["convert", name, "out.npz"] for name in inputs if (folder / name).exists()}
    fit, small = ["-k", "10", "-o", "out"], ["small.csv", "-k", "10"]
    return (
        found
        | {
            "fit on disk": ["fit", "a.csv", *fit, "--memory", "20MB"],
            "apply": ["apply", "model", "a.csv", "-o", "out.csv"],
            "apply to Parquet": ["apply", "model", "a.csv", "-o", "out.parquet"],
            "fit with stability": ["fit", *small, "-o", "out", "--stability", "20"],
            "fit of 1 topic": ["fit", "small.csv", "-k", "1", "-o", "out"],
            "fit with levels and effects": ["fit", *small, "-o", "out", "--levels", "2,10", "--formula", "~ party"],
            "search-k": ["search-k", "small.csv", "-k", "5,10"],
            "effects": ["effects", "model", "small.csv", "--formula", "~ party", "-o", "out"],
            "report": ["report", "model", "-o", "out.html", "--trust"],
            "export xlsx": ["export", "model", "-o", "out.xlsx", "--documents", "small.csv"],
            "export pyldavis": ["export", "model", "-o", "out.html", "--documents", "small.csv"],
            "export latex": ["export", "model", "-o", "out.tex"],
            "export gexf": ["export", "model", "-o", "out.gexf"],
            "export mallet": ["export", "model", "--to", "mallet", "-o", "out", "--documents", "small.csv"],
            "evaluate": ["evaluate", "model", "small.csv"],
            "codebook": ["codebook", "model", "-o", "out.csv"],
            "intrusion": ["intrusion", "model", "-o", "out.csv"],
            "compare": ["compare", "model", "model"],
            "show": ["show", "model"],
            "split of a topic": [
                "edit",
                "model",
                "--split",
                "0",
                "--documents",
                "small.csv",
                "--by",
                "a",
                "-o",
                "out.anchorless",
            ],
        }
        | ({"embed": ["embed", "small.csv", "-o", "out.npy"]} if find_spec("sentence_transformers") else {})
    )


def measure_start() -> tuple[float, float]:
    """Return the seconds until this package is told of signals, and until the libraries of a command are imported."""
    times = [time.perf_counter()]
    for arguments in (["--version"], ["show", "model"]):
        command = [sys.executable, "-m", "anchorless", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter())
    return times[1] - times[0], times[2] - times[1]


def try_command(arguments: list[str], n_runs: int, start: tuple[float, float]) -> tuple[str, bool]:
    """Run a command under signals, then interrupt it; return a line of results, and whether all is well."""
    before = sorted(os.listdir())
    jobs = ["--jobs", "1"] if takes_jobs(arguments) else []
    seconds, gaps = run_with_signals([*arguments, "--quiet", *jobs])
    made = list_new(before)
    processor, wall, place = gaps[0] if gaps else (0.0, 0.0, "nowhere")
    line = f"{seconds:.1f} s; longest without Ctrl-C {processor:.2f} s of the processor ({wall:.2f} s) at {place}"
    delays, fine = [], processor <= LIMIT
    for n in range(n_runs):
        after = start[0] + (start[1] - start[0] + seconds) * (n + 0.5) / n_runs
        found = interrupt([*arguments, "--quiet"], after)
        left = list_new(before)
        if found is not None:
            delays.append(f"{found.seconds:.2f} s ({found.processor:.2f} of the processor)")
            # After the last file, all are there; and the system ends Python where it no longer listens.
            clean = found.code in (128 + signal.SIGINT, -signal.SIGINT) and left in ([], made)
            fine &= clean and min(found.seconds, found.processor) <= LIMIT
            line += "" if clean else f"; exit {found.code}, left {left}"
    return f"{line}; ended in {', '.join(delays) or 'no run'}", fine


def list_new(before: Sequence[str]) -> list[str]:
    """Remove what was not there before; return the files in it, without those that a run keeps to be continued."""
    new = [Path(name) for name in sorted({*os.listdir()} - {*before})]
    whole = [path for path in new if not path.name.endswith(KEPT)]
    found = sorted(str(file) for path in whole for file in (path, *path.rglob("*")))
    for path in new:
        remove(path)
    return found


def takes_jobs(arguments: Sequence[str]) -> bool:
    """Say whether a command has the option --jobs."""
    return arguments[0] in ("convert", "fit", "effects", "search-k")


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir():
        for child in path.iterdir():
            remove(child)
        path.rmdir()
    else:
        path.unlink()


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the commands, print a line for each, and return 0 if every delay is below the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interrupt_commands", description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000, metavar="N", help="documents (default: 100,000)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="interrupts of each command (default: 5)")
    parser.add_argument("--only", default="", metavar="NAMES", help="parts of the names of commands")
    options = parser.parse_args(arguments)
    fine = True
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        make_inputs(Path(), options.rows)
        run_with_signals(["fit", "small.csv", "-k", "10", "-o", "model", "--quiet"])
        start = measure_start()
        for name, command in list_commands(Path()).items():
            if not options.only or any(part in name for part in options.only.split(",")):
                line, well = try_command(command, options.runs, start)
                fine &= well
                print(f"{name}: {line}{'' if well else '  <- NOT within the limit'}", flush=True)
        os.chdir("/")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
