"""What the documentation says is compared with the program: examples are run, names and options looked up."""

import argparse
import csv
import io
import re
import shlex
from pathlib import Path

import pytest

import anchorless
from anchorless._cli.main import build_parser, main
from anchorless.datasets import load_docstrings

ROOT = Path(__file__).parents[1]
README, COMMANDS, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "commands.md", ROOT / "docs" / "tutorial.md"
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
#: Pages for users: what they show is run.
GUIDES = [README, ROOT / "CHANGELOG.md", ROOT / "docs" / "README.md", TUTORIAL, *HOW_TO, COMMANDS]
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
#: Programs that a reader may be told to run in a block of commands; only ours is run here.
OTHER_PROGRAMS = ("make", "pip", "source", "eval", "cat", "python")
#: A figure that was measured, and what counts as the command that prints it.
MEASURED = re.compile(r"(?<![\w.])\d[\d.,]*\s?(?:s|ms|seconds?|minutes?|hours?|kB|MB|GB|times (?:as|faster))(?![\w/])")
COMMAND = re.compile(r"`[^`]*(?:anchorless \w|python -m |make \w)[^`]*`")
MACHINE_PATHS = re.compile(r"(?<![\w.])(?:/(?:home|work|tmp|root|Users|usr|opt|mnt)/|[A-Z]:\\)")
#: Of the tutorial's documents, every so-manieth is enough to run an example of a how-to page.
THINNED = 4


def text_of(page):
    return page.read_text(encoding="utf-8")


def fences(page):
    """Return (language, content) of every fenced block, in order."""
    return [(match[1], match[2]) for match in FENCE.finditer(text_of(page))]


def prose(page):
    return FENCE.sub("", text_of(page))


def name_of(page):
    return str(page.relative_to(ROOT))


def shown_commands(block):
    """Return (command, lines shown below it) of a console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"{line!r} is shown before any command"
            found[-1][1].append(line)
    return found


def without_figures(line):
    return re.sub(r"[-+]?\d[\d.,]*%?", "0", " ".join(line.split()))


class Reader:
    """Someone who follows a page: runs its examples one after the other, in one folder."""

    def __init__(self, capsys):
        self.capsys, self.names, self.code, self.ran = capsys, {"__name__": "example"}, 0, []

    def follow(self, page):
        for language, content in fences(page):
            if language == "python":
                exec(compile(content, name_of(page), "exec"), self.names)
                self.capsys.readouterr()
            elif language == "console":
                for command, shown in shown_commands(content):
                    self.run(command, shown)

    def run(self, command, shown):
        if command == "echo $?":
            assert shown == [str(self.code)], f"{self.ran[-1]} ends with {self.code}"
            return
        program, *arguments = shlex.split(command)
        if program != "anchorless":
            assert program in OTHER_PROGRAMS, f"{command}: examples run anchorless alone"
            return
        self.code = self.exit_code(arguments)
        self.ran.append(command)
        out, err = self.capsys.readouterr()
        fails = any(line.startswith("anchorless: ") for line in shown)
        assert (self.code != 0) == fails, f"{command}: {err}"
        self.compare(command, [line for line in shown if line.strip()], (out + err).splitlines())

    @staticmethod
    def exit_code(arguments):
        try:
            return main(arguments)
        except SystemExit as stop:  # what argparse does
            return stop.code or 0

    @staticmethod
    def compare(command, shown, printed):
        """The first line that is shown, and every error, is one that the program prints, but for its figures."""
        printed = {without_figures(line) for line in printed}
        for line in [*shown[:1], *(line for line in shown if line.startswith("anchorless: "))]:
            assert without_figures(line) in printed, f"{command} does not print {line!r}"


@pytest.fixture
def reader(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return Reader(capsys)


def test_readme_can_be_followed(reader):
    reader.follow(README)
    assert len([language for language, _ in fences(README) if language == "python"]) == 1


def test_tutorial_can_be_followed(reader):
    reader.follow(TUTORIAL)
    assert {command.split()[1] for command in reader.ran} >= {"fit", "show", "search-k", "apply"}


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to_pages_can_be_followed(page, reader, tmp_path):
    content = text_of(page)
    if "gensim" in "".join(code for language, code in fences(page) if language == "python"):
        pytest.importorskip("gensim", reason="gensim is not installed: pip install anchorless[test]")
    if "docstrings.csv" in content:
        assert "tutorial.md" in content, f"{page.name} does not say where docstrings.csv comes from"
        (tmp_path / "docstrings.csv").write_text(thinned_docstrings(), encoding="utf-8", newline="")
    reader.follow(page)


def thinned_docstrings():
    """Return the CSV that the tutorial makes, with a part of its rows."""
    docstrings = load_docstrings()
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["id", "package", "text"])
    writer.writerows(list(zip(docstrings.names, docstrings.labels, docstrings.texts, strict=True))[::THINNED])
    return table.getvalue()


def test_tutorial_makes_the_table_that_the_how_to_pages_use(reader, tmp_path):
    code = next(content for language, content in fences(TUTORIAL) if language == "python")
    exec(compile(code, "tutorial", "exec"), {})
    with open(tmp_path / "docstrings.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [rows[0], *rows[1::THINNED]] == list(csv.reader(io.StringIO(thinned_docstrings(), newline="")))


def test_every_how_to_page_and_every_reference_is_in_the_index():
    index = text_of(ROOT / "docs" / "README.md")
    for page in (ROOT / "docs").rglob("*.md"):
        inside = page.relative_to(ROOT / "docs")
        if inside.parts[0] != "results" and inside.name != "README.md":
            assert f"({inside.as_posix()})" in index, f"docs/README.md does not name {inside}"


# The command reference against the parser.


def commands():
    """Return the parsers of the commands by their names."""
    action = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return action.choices


def options(parser):
    """Return the options of a parser: the long name → its action."""
    return {action.option_strings[-1]: action for action in parser._actions if action.option_strings}


def sections():
    """Return the sections of the reference: heading → text below it."""
    parts = re.split(r"^#{2,3} (.+)$", text_of(COMMANDS), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows_of(section):
    """Return the table rows of a section that describe an option: the long name → row."""
    rows = re.findall(r"^\| (`-[-\w].*)$", section, flags=re.MULTILINE)
    return {re.search(r"--[\w-]+", row)[0]: row for row in rows}


def documented_options(name):
    """Return the rows of a command's options, with those of the shared sections that it points to."""
    found = sections()
    own = found[f"anchorless {name}"]
    rows = rows_of(own)
    for heading in found:
        if f"](#{heading.lower().replace(' ', '-')})" in own:
            rows = rows_of(found[heading]) | rows
    return rows


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_in_the_reference_and_no_other(name):
    parser = commands()[name]
    documented = documented_options(name)
    known = options(parser)
    del known["--help"]  # said once for all
    assert set(documented) == set(known)
    for option, action in known.items():
        row = documented[option]
        short = [string for string in action.option_strings if not string.startswith("--")]
        assert re.findall(r"`(-\w)\b", row) == short, row
        value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
        assert f"`{option}{'' if action.choices else value}`" in row, row
        assert {f"`{choice}`" for choice in action.choices or ()} <= set(re.findall(r"`[^`]*`", row)), row


@pytest.mark.parametrize("name", commands())
def test_defaults_in_the_reference_are_those_of_the_program(name):
    documented = documented_options(name)
    for option, action in options(commands()[name]).items():
        if action.default in (None, False, (), argparse.SUPPRESS) or action.nargs == 0:
            continue
        default = action.default
        if isinstance(default, tuple):
            default = "1" if option == "--ngrams" else ",".join(map(str, default))
        assert f"default: `{default}`" in documented[option], documented[option]


@pytest.mark.parametrize("name", commands())
def test_usage_in_the_reference_has_the_arguments_of_the_command(name):
    arguments = [action for action in commands()[name]._actions if not action.option_strings]
    named = " ".join(f"[{a.metavar}]" if a.nargs == "?" else a.metavar for a in arguments)
    usage = f"anchorless {name} {named}".rstrip()
    assert f"```\n{usage} [OPTIONS]\n```" in sections()[f"anchorless {name}"]


def test_options_before_the_command_are_in_the_reference():
    assert set(rows_of(sections()["anchorless"])) == set(options(build_parser()))


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_option_that_a_page_names_exists(page):
    known = {string for parser in (build_parser(), *commands().values()) for string in parser._option_string_actions}
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text_of(page)))
    assert named <= known


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_commands_in_the_text_can_be_parsed(page):
    for command in re.findall(r"`anchorless ([^`]+)`", prose(page)):
        name, *arguments = shlex.split(command)
        assert name in commands(), command
        if arguments:
            assert build_parser().parse_args([name, *arguments]).run, command


def test_exit_codes_in_the_reference_are_those_of_the_help():
    said = re.findall(r"^  (\d+) ", build_parser().epilog, flags=re.MULTILINE)
    assert re.findall(r"^\| (\d+)", sections()["Exit codes"], flags=re.MULTILINE) == said


def test_files_in_the_reference_are_those_that_fit_writes(reader, tmp_path):
    (tmp_path / "six.csv").write_text("text\n" + "cat mouse\nmouse cat chase\nrocket orbit\norbit moon rocket\n" * 2)
    assert main(["fit", "six.csv", "-k", "2", "--quiet"]) == 0
    written = sorted(path.name for path in (tmp_path / "six-topics").iterdir())
    files = sections()["Files that fit writes"]
    assert sorted(re.findall(r"^\| `([\w.]+)`", files, flags=re.MULTILINE)) == written
    header = (tmp_path / "six-topics" / "topics.csv").read_text().splitlines()[0]
    assert "`, `".join(header.split(",")) in files


# Names, links, figures.


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^):]+)\)", prose(page)):
        path, _, heading = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if heading:
            headings = re.findall(r"^#+ (.+)$", prose(linked), flags=re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for words in headings]
            assert heading in anchors, f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_paths_of_a_machine(page):
    assert MACHINE_PATHS.search(text_of(page)) is None


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_figures_that_were_measured_carry_a_command(page):
    for paragraph in re.split(r"\n\s*\n|^[*-] ", prose(page), flags=re.MULTILINE):
        figure = MEASURED.search(re.sub("default: `[^`]*`", "", paragraph))  # nobody has measured a default
        assert figure is None or COMMAND.search(paragraph), f"{name_of(page)}: who prints {figure[0]!r}?"


def test_readme_names_the_two_commands_and_make_has_them():
    targets = re.findall(r"^(\w+):", text_of(ROOT / "Makefile"), flags=re.MULTILINE)
    named = re.findall(r"^make (\w+)", text_of(README), flags=re.MULTILINE)
    assert named == ["demo", "test"]
    assert set(named) <= set(targets)


def test_readme_shows_the_report():
    pictures = re.findall(r"!\[.+\]\((.+\.png)\)", text_of(README))
    assert pictures == ["docs/pictures/report.png"]
    assert (ROOT / pictures[0]).read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def fitted_models():
    counts = [[1, 0, 2], [0, 3, 1], [2, 1, 0]]
    texts = ["cat mouse", "mouse cat chase", "rocket orbit", "orbit moon rocket"]
    return [anchorless.AnchorFree(2).fit(counts), anchorless.SPA(2).fit(counts), anchorless.TopicModel(2).fit(texts)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_attributes_in_the_documentation_exist(page, fitted_models):
    for name in re.findall(r"`(?:model\.)?([a-z_]+_)`", text_of(page)):
        assert any(hasattr(model, name) for model in fitted_models), f"{page.name} names {name}"


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_methods_in_the_documentation_exist(page, fitted_models):
    for name in re.findall(r"`(?:model|TopicModel)\.([a-z_]+)\(", prose(page)):
        assert hasattr(fitted_models[-1], name), f"{page.name} names {name}"


def test_every_fitted_attribute_is_documented():
    model = anchorless.AnchorFree(2).fit([[1, 0, 2], [0, 3, 1], [2, 1, 0]])
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    documented = set(re.findall(r"^    (\w+_) : ", anchorless.AnchorFree.__doc__, flags=re.MULTILINE))
    assert fitted <= documented
    assert documented - fitted <= {"feature_names_in_", "statistics_"}  # only of some input, and after partial_fit


def test_every_module_is_in_the_table_of_contents():
    contributing = text_of(ROOT / "CONTRIBUTING.md")
    modules = {path.stem for path in (ROOT / "src" / "anchorless").rglob("*.py")} - {"__init__", "__main__"}
    modules -= {name.replace("-", "_") for name in commands()}  # "one module per command" names them
    assert {module for module in modules if f"`{module}`" not in contributing} == set()
