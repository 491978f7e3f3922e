"""The examples of the documentation: found in a page, run in order, and compared with the output that the page shows.

A console block holds commands (`$ anchorless …`), each followed by its output as a terminal shows it. A Python block
may be followed by a block marked `text`: what it prints. A line `...` stands for lines left out. A command or a Python
block without output below it is run, and its output is not compared.
"""

import csv
import io
import re
import shlex
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from anchorless._cli.main import main
from anchorless.datasets import load_docstrings
from tests.helpers.task_files import write_task_files

ROOT = Path(__file__).parents[2]
README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial.md"
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
#: Pages whose examples are run.
PAGES = [README, TUTORIAL, *HOW_TO]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
LEFT_OUT = "..."
#: Pictures of a page, and how far the values of one that was drawn again may be from it, on average, from 0 to 1.
PICTURE = re.compile(r"^!\[.+\]\((\S+\.png)\)$", flags=re.MULTILINE)
MAX_DIFFERENCE = 0.002
#: Seconds differ from run to run, and the fingerprint of a model from processor to processor; nothing else may.
SECONDS = re.compile(r"\b\d[\d,]*(?:\.\d+)? s\b")
FINGERPRINT = re.compile(r"\bmodel [0-9a-f]{16}\b")
#: Programs that a reader is told to run besides ours; they are not run here.
OTHER_PROGRAMS = ("make", "pip", "source", "eval", "cat", "python")
#: The packages whose docstrings are the tutorial's documents, and the sentence that names their versions.
PACKAGES = ("numpy", "scipy", "scikit-learn")
VERSIONS = re.compile(r"NumPy (\S+), SciPy (\S+) and\sscikit-learn (\S+)(?= \()")


class Fence(NamedTuple):
    """A fenced block of a page."""

    language: str
    content: str
    start: int  # of the content, in the page
    end: int


class Shown(NamedTuple):
    """Output that a page shows, and what the program prints."""

    what: str  # the command, or the first line of the Python block
    shown: list[str]
    printed: list[str]
    start: int  # of the shown lines, in the page
    end: int


class ExampleError(AssertionError):
    """An example does not do what its page says."""


def find_fences(text):
    """Return the fenced blocks of a page, in order."""
    return [Fence(match[1], match[2], match.start(2), match.end(2)) for match in FENCE.finditer(text)]


def split_commands(fence):
    """Return (command, shown lines, start, end) of each command of a console block."""
    found, position = [], fence.start
    for line in fence.content.splitlines(keepends=True):
        following = position + len(line)
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), [], following, following])
        elif not found:
            raise ExampleError(f"{line!r} is shown before any command")
        else:
            found[-1][1].append(line.rstrip("\n"))
            found[-1][3] = following
        position = following
    return found


@contextmanager
def capture_output():
    """Collect what is written to stdout and stderr in one stream, in order, as a terminal shows it."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    lines = []
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(stream))
        stack.enter_context(redirect_stderr(stream))
        yield lines
        lines += stream.buffer.getvalue().decode("utf-8").splitlines()


def run_page(page):
    """Run the examples of a page in the current folder, in order; return the output of those that show it."""
    text = page.read_text(encoding="utf-8")
    fences = find_fences(text)
    names, code, found = {"__name__": "example"}, 0, []
    for number, fence in enumerate(fences):
        if fence.language == "python":
            with capture_output() as printed:
                exec(compile(fence.content, str(page), "exec"), names)
            following = fences[number + 1] if number + 1 < len(fences) else None
            if following and following.language == "text" and not text[fence.end + 3 : following.start - 8].strip():
                shown = following.content.splitlines()
                found.append(Shown(fence.content.splitlines()[0], shown, printed, following.start, following.end))
        elif fence.language == "console":
            for command, shown, start, end in split_commands(fence):
                if command == "echo $?":
                    found.append(Shown(command, shown, [str(code)], start, end))
                    continue
                program, *arguments = shlex.split(command)
                if program != "anchorless":
                    if program not in OTHER_PROGRAMS:
                        raise ExampleError(f"{command}: examples run anchorless alone")
                    continue
                with capture_output() as printed:
                    code = run_command(arguments)
                if (code != 0) != any(line.startswith("anchorless: ") for line in shown):
                    raise ExampleError(f"{command} ended with {code}: {printed}")
                if shown:
                    found.append(Shown(command, shown, printed, start, end))
    return found


def run_command(arguments):
    """Run the command in this process and return its exit code."""
    try:
        return main(arguments)
    except SystemExit as stop:  # what argparse does
        return stop.code or 0


def abbreviate(shown, printed):
    """Return what a page shows of the printed lines: all, or as many before and after `...` as it showed."""
    if LEFT_OUT not in shown:
        return printed
    before = shown.index(LEFT_OUT)
    after = len(shown) - before - 1
    if before + after >= len(printed):
        return printed
    return [*printed[:before], LEFT_OUT, *printed[len(printed) - after :]]


def normalize(lines):
    """Return lines without the spaces at their ends, with every number of seconds and every fingerprint replaced."""
    return [FINGERPRINT.sub("model 0", SECONDS.sub("0 s", line.rstrip())) for line in lines]


def mask_numbers(line):
    """Return a line with every number replaced."""
    return re.sub(r"[-+]?\d[\d.,]*%?", "0", " ".join(line.split()))


def compare(example):
    """Raise an error if a page shows other lines than the program prints.

    Other versions of the packages have other docstrings: with these only the first line is compared, without its
    numbers, and errors.
    """
    shown, printed = normalize(example.shown), normalize(abbreviate(example.shown, example.printed))
    if documented_versions() == installed_versions():
        while shown and not shown[-1]:  # the blank line before the next command
            shown.pop()
        while printed and not printed[-1]:
            printed.pop()
        if shown != printed:
            lines = "\n".join(example.printed)
            raise ExampleError(
                f"{example.what} prints other lines than its page shows; run `make docs-examples`:\n{lines}"
            )
        return
    known = {mask_numbers(line) for line in example.printed}
    for line in [*example.shown[:1], *(line for line in example.shown if line.startswith("anchorless: "))]:
        if mask_numbers(line) not in known:
            raise ExampleError(f"{example.what} does not print {line!r}")


def list_changed_pictures(page, folder):
    """Return the pictures of a page that its code has drawn otherwise into the folder, each with the new file.

    Pictures that another version of matplotlib drew are not compared.
    """
    changed = []
    for name in PICTURE.findall(page.read_text(encoding="utf-8")):
        shown, drawn = page.parent / name, Path(folder) / Path(name).name
        if drawn.exists() and not look_alike(shown, drawn):
            changed.append((shown, drawn))
    return changed


def look_alike(shown, drawn):
    """Tell whether two pictures are the same to the eye, or of different versions of matplotlib."""
    from matplotlib.image import imread
    from PIL import Image

    with Image.open(shown) as one, Image.open(drawn) as other:
        if one.info.get("Software") != other.info.get("Software"):
            return True
    before, after = imread(shown), imread(drawn)
    return before.shape == after.shape and abs(before - after).mean() < MAX_DIFFERENCE


def documented_versions():
    """Return the versions of the packages that the tutorial names."""
    return VERSIONS.search(TUTORIAL.read_text(encoding="utf-8")).groups()


def installed_versions():
    """Return the versions of the packages that are installed."""
    return tuple(version(name) for name in PACKAGES)


def name_versions(text):
    """Return a page with the installed versions in place of those that it names."""
    numpy, scipy, sklearn = installed_versions()
    return VERSIONS.sub(f"NumPy {numpy}, SciPy {scipy} and\nscikit-learn {sklearn}", text)


@cache
def docstrings_table():
    """Return the CSV that the tutorial makes."""
    docstrings = load_docstrings()
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["id", "package", "text"])
    writer.writerows(zip(docstrings.names, docstrings.labels, docstrings.texts, strict=True))
    return table.getvalue()


def prepare_folder(page, folder):
    """Write the table of the tutorial to the folder if a how-to page uses it, and the files of the ten tasks."""
    if page.name == "ten-tasks.md":
        write_task_files(folder)
    if page in HOW_TO and "docstrings.csv" in page.read_text(encoding="utf-8"):
        (folder / "docstrings.csv").write_text(docstrings_table(), encoding="utf-8", newline="")
