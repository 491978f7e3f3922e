"""Two commands at the same time on one output, one model or one store of counts.

    python -m tests.helpers.overlaps --random 60 --step 1

The second command starts at a random moment of the first one; or the first one stops at its n-th disk call, for every
n, until the second one has ended. Either must end well or with a message, and what is on the disk must be what the
commands that ended well give one after the other, in either order, to the last byte.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from anchorless import TopicModel
from tests.helpers.faults import EARLIER, FIT
from tests.helpers.forked_commands import (
    Ended,
    finish_command,
    list_names,
    run_forked,
    run_here,
    start_command,
    write_texts,
)

ON_DISK = ["--memory", "300KB"]
#: Files that hold times: they are compared without these.
CLOCKED = ("run.json", "model.anchorless")
#: Rows that `embed` keeps for the next run if it cannot write the file.
KEPT = (".part", ".part.json")


class Pair(NamedTuple):
    """Two commands, without --quiet."""

    name: str
    first: list[str]
    second: list[str]
    resumes: bool = False  # counts of a run that was killed are there


def list_pairs() -> list[Pair]:
    """Return commands that use the same files."""
    fit, other = ["fit", "new.csv", "-o", "out", *FIT], ["fit", "old.csv", "-o", "out", *FIT]
    rich = ["fit", "old.csv", "-o", "out", *FIT, "--levels", "2,3", "--documents-format", "parquet", "--force"]
    forced, rename = [*fit, "--force"], ["edit", "out", "--rename", "0=x", "--by", "a"]
    convert, back = ["convert", "new.csv", "out.npz", "--force"], ["convert", "old.csv", "out.npz", "--min-df", "3"]
    apply = ["apply", "out", "new.csv", "-o", "applied.csv"]
    fresh = ["-o", "fresh", *FIT]
    effects = ["effects", "out", "new.csv", "--formula", "~ label", "-o", "x", "--draws", "20", "--jobs", "1"]
    return [
        Pair("fit and another fit", forced, [*other, "--force"]),
        Pair("fit and a fit with other files", forced, rich),
        Pair("a fit with other files and fit", rich, forced),
        Pair("two fits into a new folder", ["fit", "new.csv", *fresh], ["fit", "old.csv", *fresh]),
        Pair("two fits on disk of the same texts", [*forced, *ON_DISK], [*forced, *ON_DISK]),
        Pair("two fits on disk of other texts", [*forced, *ON_DISK], [*other, "--force", *ON_DISK]),
        Pair("two fits that resume", [*forced, *ON_DISK], [*forced, *ON_DISK], resumes=True),
        Pair("edit and edit", rename, ["edit", "out", "--note", "1=y", "--by", "a"]),
        Pair("edit and fit", rename, forced),
        Pair("fit and edit", forced, rename),
        Pair("report and fit", ["report", "out", "--title", "U"], forced),
        Pair("fit and report", forced, ["report", "out", "--title", "U"]),
        Pair("edit and report", rename, ["report", "out", "--title", "U"]),
        Pair("apply and fit", [*apply, "--force"], forced),
        Pair("fit and apply", forced, [*apply, "--force"]),
        Pair("apply and apply", [*apply[:-1], "x.csv"], ["apply", "out", "old.csv", "-o", "x.csv"]),
        Pair("convert and convert", convert, [*back, "--force"]),
        Pair("convert and convert into a new file", [*convert[:2], "x.npz"], [*back[:2], "x.npz"]),
        Pair("convert and a reader", convert, ["convert", "out.npz", "x.npz"]),
        Pair("a reader and convert", ["convert", "out.npz", "x.npz"], convert),
        Pair("a fit of counts and convert", ["fit", "out.npz", "-o", "x", *FIT], convert),
        Pair("effects and fit", effects, forced),
        Pair("embed and embed", ["embed", "new.csv", "-o", "x.npy"], ["embed", "old.csv", "-o", "x.npy"]),
        Pair("export and export", export_mallet("new.csv"), export_mallet("old.csv")),
    ]


def export_mallet(documents: str) -> list[str]:
    """Return the command that writes a folder for MALLET."""
    return ["export", "out", "--to", "mallet", "-o", "mallet", "--documents", documents, "--force"]


def make_base(folder: Path) -> None:
    """Write inputs, and results of earlier runs."""
    write_texts(folder / "old.csv", 1)
    write_texts(folder / "new.csv", 2)
    for arguments in (EARLIER[0], EARLIER[2], EARLIER[3]):  # fit, convert and apply
        run_here(folder, arguments)


def look(folder: Path) -> dict[str, Any]:
    """Return the names of all files, and their bytes without times."""
    found: dict[str, Any] = {}
    for name in list_names(folder):
        path = folder / name
        if path.name in ("model.anchorless", "model.edited.anchorless"):  # edits have times
            model = TopicModel.load(path)
            edits = [(edit.kind, str(edit.values)) for edit in model.edits]
            found[name] = model.fingerprint_, model.topic_word_.tobytes(), edits
        elif not path.name.endswith(KEPT):
            is_compared = path.name not in CLOCKED and path.is_file()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if is_compared else None
    return found


def prepare(base: Path, folder: Path, pair: Pair) -> None:
    """Copy the files; with counts of a run that was killed, if the pair needs them."""
    shutil.copytree(base, folder)
    if pair.resumes:
        stopped = run_forked(folder, pair.first, 130, "kill")
        assert stopped.code == 128 + signal.SIGKILL, stopped
        assert (folder / "out.counts").is_dir()


def list_expected(base: Path, pair: Pair) -> dict[tuple[bool, bool], list[Any]]:
    """Return what may be on the disk, by which of the two commands ended well."""
    expected: dict[tuple[bool, bool], list[Any]] = {(a, b): [] for a in (True, False) for b in (True, False)}
    runs = [(), (0,), (1,), *permutations((0, 1))]
    for order in runs:
        with tempfile.TemporaryDirectory(dir=base.parent) as place:
            folder = Path(place) / "work"
            prepare(base, folder, pair)
            codes = {which: run_forked(folder, [pair.first, pair.second][which]).code for which in order}
            expected[codes.get(0) == 0, codes.get(1) == 0].append(look(folder))
    return expected


def judge(ends: tuple[Ended, Ended], found: Any, expected: dict[tuple[bool, bool], list[Any]]) -> str | None:
    """Return what is wrong after an overlap, or None."""
    for ended in ends:
        if ended.code not in (0, 1) or (ended.code == 1 and "anchorless: " not in ended.printed):
            return f"exit {ended.code}: {ended.printed[-400:]}"
    allowed = expected[ends[0].code == 0, ends[1].code == 0]
    if found in allowed:
        return None
    said = " | ".join(ended.printed.strip()[-200:] for ended in ends)
    if not allowed:
        return f"exits {ends[0].code}, {ends[1].code}: {said}"
    names = min(
        (sorted(name for name in {*found, *one} if found.get(name) != one.get(name)) for one in allowed), key=len
    )
    return f"not the files of the runs that ended well ({ends[0].code}, {ends[1].code}): {names}; {said}"


def overlap(base: Path, pair: Pair, expected: Any, *, delay: float = 0.0, stop_at: int = 0) -> tuple[str | None, int]:
    """Let two commands overlap; return what is wrong, or None, and how many of them ended well."""
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        prepare(base, folder, pair)
        first = start_command(folder, pair.first, stop_at, "stop")
        if stop_at:
            os.waitid(os.P_PID, first.process, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            second = finish_command(start_command(folder, pair.second))
            os.kill(first.process, signal.SIGCONT)
            ends = finish_command(first), second
        else:
            second_running = start_command(folder, pair.second, delay=delay)
            ends = finish_command(first), finish_command(second_running)
        return judge(ends, look(folder), expected), sum(ended.code == 0 for ended in ends)


def measure(base: Path, pair: Pair) -> tuple[float, int]:
    """Return the seconds and the disk calls of the first command alone."""
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        prepare(base, folder, pair)
        start = time.perf_counter()
        n_calls = run_forked(folder, pair.first, kind="stop").n_calls
        return time.perf_counter() - start, n_calls


def try_pair(base: Path, pair: Pair, n_random: int, step: int, rng: random.Random) -> tuple[Counter[int], list[str]]:
    """Let a pair overlap at random moments and at every step-th disk call; return how many ended well, and problems."""
    expected, (seconds, n_calls) = list_expected(base, pair), measure(base, pair)
    plans: list[dict[str, Any]] = [{"delay": rng.uniform(0.0, seconds)} for _ in range(n_random)]
    plans += [{"stop_at": number} for number in range(1, n_calls + 1, step)] if step else []
    done, wrong = Counter[int](), []
    for plan in plans:
        problem, n_well = overlap(base, pair, expected, **plan)
        done[n_well] += 1
        wrong += [f"{pair.name}, {plan}: {problem}"] if problem else []
    return done, wrong


def main() -> int:
    """Try the overlaps that the command line asks for."""
    parser = argparse.ArgumentParser(description="Run two commands at the same time.")
    parser.add_argument("--random", type=int, default=5, help="overlaps of each pair at random moments")
    parser.add_argument("--step", type=int, default=5, help="stop the first at every N-th disk call; 0: never")
    parser.add_argument("--pairs", default="", help="parts of names (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    problems, total = [], Counter[int]()
    with tempfile.TemporaryDirectory(prefix="overlaps-") as place:
        base = Path(place) / "base"
        base.mkdir()
        make_base(base)
        shutil.copytree(base, base.with_name("other"))  # in which this process imports what the forks will need
        for arguments in EARLIER[4:]:
            run_here(base.with_name("other"), [*arguments, "--force"])
        for pair in list_pairs():
            if options.pairs and not any(part in pair.name for part in options.pairs.split(",")):
                continue
            done, wrong = try_pair(
                base, pair, options.random, options.step, random.Random(f"{options.seed} {pair.name}")
            )
            total += done
            problems += wrong
            sys.stdout.write(
                f"{pair.name}: {sum(done.values())} overlaps, in {done[2]} both ended well, {len(wrong)} wrong\n"
            )
            sys.stdout.flush()
    sys.stdout.write("\n".join([*problems, f"{sum(total.values())} overlaps: {len(problems)} wrong"]) + "\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
