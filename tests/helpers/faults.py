"""Faults at the n-th disk call of a command, for every n: kills, errors, short writes, errors of reading.

    python -m tests.helpers.faults --kinds kill

The command runs in a forked process. Afterwards its outputs must all be old or all be new, and a second run without a
fault must give the bytes of a run that nothing disturbed, without leftovers.
"""

import argparse
import hashlib
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anchorless import TopicModel
from anchorless._corpus.corpus import Corpus
from tests.helpers.forked_commands import list_names, run_forked, run_here, write_texts

KINDS = ("kill", "full", "error", "short", "read")


class Scenario(NamedTuple):
    """A command that writes, and how to look at what it wrote."""

    name: str
    arguments: list[str]
    look: Callable[[Path], Any]  # what a user has: equal before, or equal after


def hash_files(folder: Path, *names: str) -> Any:
    """Return the hashes of files of a folder, None where one is missing."""
    return {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() if (folder / n).exists() else None for n in names}


def look_at_counts(folder: Path, name: str = "out.npz") -> Any:
    """Return counts as a user reads them, with their vocabulary."""
    if not (folder / name).exists():
        return None
    with Corpus.read(folder / name) as corpus:
        labels = None if corpus.metadata.labels is None else corpus.metadata.labels.to_pylist()
        return corpus.to_matrix().toarray().tolist(), list(corpus.vocabulary), labels


FIT_FILES = ("model.anchorless", "documents.csv", "topics.csv", "correlation.csv", "report.html")
EFFECTS_FILES = ("effects.csv", "effects.svg", "report.html")
FIT = ["-k", "3", "-q", "--title", "T", "--jobs", "1"]
#: A disk call of a fit on disk at which it has counted some texts.
COUNTED = 130
#: Runs before the faults: what they wrote is old.
EARLIER = (
    ["fit", "old.csv", "-o", "out", *FIT],
    ["fit", "old.csv", "-o", "rich", *FIT, "--levels", "2,3", "--formula", "~ label", "--draws", "20"],
    ["convert", "old.csv", "out.npz", "-q", "--jobs", "1"],
    ["apply", "out", "old.csv", "-o", "applied.csv", "-q", "--jobs", "1"],
    ["codebook", "out", "-o", "codebook.csv", "-q"],
    ["report", "out", "-o", "page.html", "-q"],
    ["effects", "out", "old.csv", "--formula", "~ label", "-o", "effects", "-q", "--draws", "20", "--jobs", "1"],
    ["embed", "old.csv", "-o", "old.npy", "-q"],
    ["export", "out", "-o", "topics.xlsx", "-q"],
    ["export", "out", "-o", "topics.gexf", "-q"],
    ["export", "out", "-o", "topics.tex", "-q"],
    ["export", "out", "-o", "topics.html", "--to", "pyldavis", "--documents", "old.csv", "-q"],
    ["codebook", "out", "-o", "codebook.md", "-q"],
    ["convert", "old.csv", "docword.uci.txt", "-q", "--jobs", "1"],
    ["apply", "out", "old.csv", "-o", "applied.parquet", "-q", "--jobs", "1"],
    ["search-k", "old.csv", "-k", "2,3", "--plot", "k.svg", "-q", "--jobs", "1"],
    ["edit", "out", "--rename", "0=x", "--by", "a", "-o", "edited.anchorless", "-q"],
    ["export", "out", "--to", "mallet", "-o", "mallet", "--documents", "old.csv", "-q"],
)


def look_at_files(*names: str) -> Callable[[Path], Any]:
    """Return a look at the bytes of files."""
    return lambda folder: hash_files(folder, *names)


def look_in(folder: str, names: tuple[str, ...]) -> Callable[[Path], Any]:
    """Return a look at the bytes of files in a folder."""
    return look_at_files(*(f"{folder}/{name}" for name in names))


def make_scenarios(folder: Path, earlier: Sequence[list[str]] = EARLIER) -> list[Scenario]:
    """Write the inputs, and results of an earlier run, into a folder; return the commands that replace them."""
    write_texts(folder / "old.csv", 1)
    write_texts(folder / "new.csv", 2)
    for arguments in earlier:
        run_here(folder, arguments)
    resumed = ["fit", "new.csv", "-o", "resumed", *FIT, "--memory", "300KB"]
    if earlier is EARLIER:
        run_forked(folder, resumed, COUNTED, "kill")
        assert (folder / "resumed.counts").is_dir()
    rich = look_in("rich", (*FIT_FILES, "levels.csv", "effects.csv", "effects.svg"))
    effects = ["effects", "out", "new.csv", "--formula", "~ label", "-o", "effects", "--draws", "20", "--jobs", "1"]
    mallet = ("topic-keys.txt", "doc-topics.txt", "topic-word-weights.txt")
    given = {
        "convert": (["convert", "new.csv", "out.npz", "--jobs", "1"], look_at_counts),
        "apply": (["apply", "out", "new.csv", "-o", "applied.csv"], look_at_files("applied.csv")),
        "codebook": (["codebook", "out", "-o", "codebook.csv", "-w", "3"], look_at_files("codebook.csv")),
        "report": (["report", "out", "-o", "page.html", "--title", "U", "--trust"], look_at_files("page.html")),
        "effects": (effects, look_in("effects", EFFECTS_FILES)),
        "embed": (["embed", "new.csv", "-o", "old.npy"], look_at_files("old.npy")),
        "export xlsx": (["export", "out", "-o", "topics.xlsx", "-w", "3"], look_at_workbook),
        "export gexf": (["export", "rich", "-o", "topics.gexf"], look_at_files("topics.gexf")),
        "export latex": (["export", "out", "-o", "topics.tex", "-w", "3"], look_at_files("topics.tex")),
        "export pyldavis": (
            ["export", "out", "-o", "topics.html", "--to", "pyldavis", "--documents", "new.csv"],
            look_at_files("topics.html"),
        ),
        "codebook for reading": (["codebook", "out", "-o", "codebook.md", "-w", "3"], look_at_files("codebook.md")),
        "convert to UCI": (["convert", "new.csv", "docword.uci.txt", "--jobs", "1"], look_at_uci),
        "apply to Parquet": (["apply", "out", "new.csv", "-o", "applied.parquet"], look_at_files("applied.parquet")),
        "search-k": (["search-k", "new.csv", "-k", "2,3", "--plot", "k.svg", "--jobs", "1"], look_at_files("k.svg")),
        "edit of a copy": (["edit", "out", "--drop", "0", "--by", "a", "-o", "edited.anchorless"], look_at_copy),
        "export mallet": (
            ["export", "out", "--to", "mallet", "-o", "mallet", "--documents", "new.csv"],
            look_in("mallet", mallet),
        ),
        "fit": (["fit", "new.csv", "-o", "out", *FIT], look_in("out", FIT_FILES)),
        "fit without the files of before": (["fit", "new.csv", "-o", "rich", *FIT], rich),
        "fit of parts": (["fit", "new.csv", "-o", "rich", *FIT, "--split", "10"], rich),
        "fit with stability": (["fit", "new.csv", "-o", "out", *FIT, "--stability", "10"], look_in("out", FIT_FILES)),
        "fit that resumes": (resumed, look_in("resumed", FIT_FILES)),
        "fit on disk": (["fit", "new.csv", "-o", "out", *FIT, "--memory", "300KB"], look_in("out", FIT_FILES)),
    }
    replacing = [Scenario(name, [*arguments, "-q", "--force"], look) for name, (arguments, look) in given.items()]
    edit = Scenario("edit", ["edit", "out", "--rename", "0=x", "--by", "a", "-q"], look_at_edits)
    fresh = Scenario(
        "fit into a new folder", ["fit", "new.csv", "-o", "fresh/deep", *FIT], look_in("fresh/deep", FIT_FILES)
    )
    return [edit, *replacing, fresh]


def look_at_uci(folder: Path) -> Any:
    """Return counts in the format of UCI as a user reads them."""
    return look_at_counts(folder, "docword.uci.txt")


def look_at_copy(folder: Path) -> Any:
    """Return the edits of a copy of a model."""
    return look_at_edits(folder, "edited.anchorless")


def look_at_edits(folder: Path, name: str = "out/model.anchorless") -> Any:
    """Return the edits of a model without their time."""
    model = TopicModel.load(folder / name)
    return [(edit.kind, str(edit.values)) for edit in model.edits]


def look_at_workbook(folder: Path) -> Any:
    """Return the sheets of a workbook, which has the time of its making."""
    with zipfile.ZipFile(folder / "topics.xlsx") as workbook:
        return {name: workbook.read(name) for name in workbook.namelist() if "sheet" in name}


def try_fault(
    base: Path, scenario: Scenario, expected: tuple[Any, Any, list[str]], number: int, kind: str
) -> str | None:
    """Run a scenario with a fault in a copy of a folder, then again without; return what was wrong, or None."""
    before, after, names = expected  # what is seen before and after, and the names of all files after
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        shutil.copytree(base, folder)
        ended = run_forked(folder, scenario.arguments, number, kind)
        allowed = (128 + signal.SIGKILL, 0) if kind == "kill" else (0, 1)
        if ended.code not in allowed or (ended.code == 1 and "anchorless: " not in ended.printed):
            return f"exit {ended.code}: {ended.printed[-500:]}"
        found = scenario.look(folder)
        if found not in (before, after):
            return "files are neither all old nor all new"
        if scenario.name == "edit" and found == after:
            return None  # a second edit would be another one
        again = run_forked(folder, scenario.arguments + retry_options(scenario))
        if again.code != 0:
            return f"the run after it ends with {again.code}: {again.printed[-500:]}"
        if scenario.look(folder) != after:
            return "the run after it gives other files"
        if list_names(folder) != names:
            return f"leftovers: {sorted(set(list_names(folder)) ^ set(names))}"
    return None


def retry_options(scenario: Scenario) -> list[str]:
    """Return what a second run needs: where the first one was killed after its end, its files are there."""
    return [] if scenario.name in ("edit",) or {"--force", "-f"} & set(scenario.arguments) else ["--force"]


def inject(scenario: Scenario, base: Path, kind: str, step: int = 1) -> tuple[int, list[str]]:
    """Try a fault of a kind at every step-th disk call; return how many were tried, and what was wrong."""
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        shutil.copytree(base, folder)
        before = scenario.look(folder)
        ended = run_forked(folder, scenario.arguments, 0, kind)
        assert ended.code == 0, (scenario, ended.printed)
        expected = before, scenario.look(folder), list_names(folder)
    assert before != expected[1], f"{scenario.name} changes nothing"
    numbers = range(1, ended.n_calls + 1, step)
    wrong = [(number, try_fault(base, scenario, expected, number, kind)) for number in numbers]
    return len(numbers), [f"{scenario.name}, {kind} at call {n}: {what}" for n, what in wrong if what]


def main() -> int:
    """Try all faults that the command line asks for."""
    parser = argparse.ArgumentParser(description="Let disk calls of commands fail.")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--scenarios", default="", help="parts of names (default: all)")
    parser.add_argument("--step", type=int, default=1, help="try every N-th disk call")
    options = parser.parse_args()
    found: Counter[str] = Counter()
    problems = []
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        base = Path(place) / "base"
        base.mkdir()
        for scenario in make_scenarios(base):
            if options.scenarios and not any(part in scenario.name for part in options.scenarios.split(",")):
                continue
            for kind in options.kinds.split(","):
                start = time.perf_counter()
                n, wrong = inject(scenario, base, kind, options.step)
                found[kind] += n
                problems += wrong
                seconds = time.perf_counter() - start
                sys.stdout.write(f"{scenario.name}: {kind} at {n} disk calls in {seconds:.0f} s, {len(wrong)} wrong\n")
                sys.stdout.flush()
    sys.stdout.write("\n".join([*problems, f"{dict(found)}: {len(problems)} wrong"]) + "\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
