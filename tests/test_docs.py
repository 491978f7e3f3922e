"""The documentation against the program: examples are run and their output compared, names and options looked up."""

import argparse
import re
import shlex

import pandas as pd
import pytest

import anchorless
from anchorless._cli import embed
from anchorless._cli.main import build_parser, main
from tests.helpers import doc_examples
from tests.helpers.doc_examples import (
    FENCE,
    HOW_TO,
    README,
    ROOT,
    TUTORIAL,
    ExampleError,
    Shown,
    abbreviate,
    compare,
    docstrings_table,
    documented_versions,
    find_fences,
    installed_versions,
    list_changed_pictures,
    prepare_folder,
    run_page,
)
from tests.helpers.doc_examples import PAGES as EXAMPLE_PAGES
from tests.helpers.letter_encoder import LetterEncoder

COMMANDS, MODEL = ROOT / "docs" / "commands.md", ROOT / "docs" / "model.md"
#: Pages for users.
GUIDES = [README, ROOT / "CHANGELOG.md", ROOT / "docs" / "README.md", TUTORIAL, *HOW_TO, COMMANDS, MODEL]
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

#: A measured figure, and what counts as the command that prints it.
MEASURED = re.compile(r"(?<![\w.])\d[\d.,]*\s?(?:s|ms|seconds?|minutes?|hours?|kB|MB|GB|times (?:as|faster))(?![\w/])")
COMMAND = re.compile(r"`[^`]*(?:anchorless \w|python -m |make \w)[^`]*`")
MACHINE_PATHS = re.compile(r"(?<![\w.])(?:/(?:home|work|tmp|root|Users|usr|opt|mnt)/|[A-Z]:\\)")


def text_of(page):
    return page.read_text(encoding="utf-8")


def fences(page):
    """Return (language, content) of every fenced block, in order."""
    return [(fence.language, fence.content) for fence in find_fences(text_of(page))]


def prose(page):
    return FENCE.sub("", text_of(page))


def own_text(page):
    """Return a page without what it quotes of other programs: experiments, and first cells of a page on moving."""
    text = re.sub(r"`python -m (?:experiments|benchmarks)[^`]*`", "", text_of(page))
    return re.sub(r"^\|[^|]*\|", "||", text, flags=re.MULTILINE) if page.name.startswith("from-") else text


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("page", EXAMPLE_PAGES, ids=name_of)
def test_examples_print_what_the_page_shows(page, folder):
    code = "".join(content for language, content in fences(page) if language == "python")
    for library in ("gensim", "dask"):
        if library in code:
            pytest.importorskip(library, reason=f"{library} is not installed: pip install 'anchorless[test-all]'")
    if page in HOW_TO and "docstrings.csv" in text_of(page):
        assert "tutorial.md" in text_of(page), f"{page.name} does not say where docstrings.csv comes from"
    prepare_folder(page, folder)
    for example in run_page(page):
        compare(example)
    if documented_versions() == installed_versions():
        changed = [shown.name for shown, _ in list_changed_pictures(page, folder)]
        assert changed == [], "run `make docs-examples`"


#: Pages with commands or code that are written without their output; the files that they name are small ones here.
UNSHOWN = [
    *(ROOT / "docs" / name for name in ("scale.md", "trust.md")),
    README,
    *(page for page in HOW_TO if page.stem in ("embeddings", "from-stm", "how-many-topics", "which-files")),
]


def test_pages_with_unshown_examples_are_all_known():
    unmarked = re.compile(r"\A(?:anchorless (?!.*OPTIONS)|from |import )")
    found = [page for page in PAGES for name, text in fences(page) if name == "" and unmarked.match(text)]
    with_spark = ROOT / "docs" / "how-to" / "cluster.md"  # its code runs in tests/distributed
    assert {*found} - {with_spark, *(page for page in found if "results" in page.parts)} == {*UNSHOWN}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", UNSHOWN, ids=name_of)
def test_examples_without_output_run(page, folder, monkeypatch):
    monkeypatch.setattr(embed, "Encoder", LetterEncoder)
    write_named_files(folder)
    model = anchorless.TopicModel.load("reviews-topics/model.anchorless")
    texts = anchorless.datasets.load_docstrings().texts[:300]
    names = {"model": model, "months": [texts, texts]}
    for language, content in fences(page):
        if language == "" and content.startswith("anchorless "):
            for command in content.splitlines():
                arguments = shlex.split(command, comments=True)[1:]
                again = ["--force"] * (arguments[0] == "fit")  # the folder of the topics is there
                with doc_examples.capture_output() as printed:
                    code = doc_examples.run_command(arguments + again)
                assert code == 0, (command, printed)
        elif content.startswith(("from ", "import ")) if language == "" else page not in EXAMPLE_PAGES:
            exec(compile(content, str(page), "exec"), names)


def write_named_files(folder):
    """Write small files with the names that the pages use, and the topics of one."""
    table = pd.DataFrame({"text": anchorless.datasets.load_docstrings().texts[:600]})
    table["rating"] = ["Liberal", "Conservative"] * 300
    table["day"], table["blog"] = table.index, table.index % 6
    for name in ("reviews", "new", "speeches", "2021", "2022", "2023"):
        table.assign(text=table["text"] + f" in {name}").to_csv(folder / f"{name}.csv", index=False)
    table.to_json(folder / "reviews.jsonl", orient="records", lines=True)
    table.to_excel(folder / "reviews.xlsx", index=False)
    for place in ("texts/one", "papers"):
        (folder / place).mkdir(parents=True)
        for number, text in enumerate(table["text"][:100]):
            (folder / place / f"{number}.txt").write_text(text, encoding="utf-8")
    with doc_examples.capture_output():
        assert main(["fit", "reviews.csv", "-k", "3", "-o", "reviews-topics"]) == 0
        assert main(["convert", "reviews.csv", "poliblog.mtx"]) == 0
    table.drop(columns="text").to_csv("poliblog.csv", index=False)


def test_tutorial_makes_the_table_that_the_how_to_pages_use(folder):
    code = next(content for language, content in fences(TUTORIAL) if language == "python")
    exec(compile(code, "tutorial", "exec"), {})
    assert (folder / "docstrings.csv").read_bytes().decode() == docstrings_table()


def test_tutorial_shows_the_main_commands():
    commands = re.findall(r"^\$ anchorless (\S+)", text_of(TUTORIAL), flags=re.MULTILINE)
    assert {"fit", "show", "search-k", "apply"} <= set(commands)


def example_of(shown, printed):
    return Shown("a command", shown.splitlines(), printed.splitlines(), 0, 0)


@pytest.fixture
def same_versions(monkeypatch):
    monkeypatch.setattr(doc_examples, "documented_versions", doc_examples.installed_versions)


@pytest.mark.usefixtures("same_versions")
def test_comparison_ignores_seconds_and_nothing_else():
    compare(example_of("read 1.8 s\nend", "read 12.0 s\nend"))
    compare(example_of("a\n...\nz", "a\nb\nc\nz"))
    for shown, printed in (("a 0.51", "a 0.52"), ("a", "a\nb"), ("a\n...\nz", "a\nb\ny"), ("a b", "a  b")):
        with pytest.raises(ExampleError, match="make docs"):
            compare(example_of(shown, printed))


def test_left_out_lines_stay_left_out():
    assert abbreviate(["a", "...", "z"], ["1", "2", "3", "4"]) == ["1", "...", "4"]
    assert abbreviate(["a", "b", "..."], ["1", "2", "3", "4"]) == ["1", "2", "..."]
    assert abbreviate(["a", "...", "z"], ["1", "2"]) == ["1", "2"]


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
    named = [action for action in parser._actions if action.option_strings]
    return {next(name for name in action.option_strings if name.startswith("--")): action for action in named}


def shown_choices(action):
    """Return the choices that the help shows: deprecated ones are accepted, not shown."""
    return action.metavar.strip("{}").split(",") if action.choices and action.metavar else action.choices or ()


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
        assert {f"`{choice}`" for choice in shown_choices(action)} <= set(re.findall(r"`[^`]*`", row)), row


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
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", own_text(page)))
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


def test_files_in_the_reference_are_those_that_fit_writes(folder):
    (folder / "six.csv").write_text("text\n" + "cat mouse\nmouse cat chase\nrocket orbit\norbit moon rocket\n" * 2)
    assert main(["fit", "six.csv", "-k", "2", "--quiet"]) == 0
    written = sorted(path.name for path in (folder / "six-topics").iterdir())
    files = sections()["Files that fit writes"]
    assert sorted(re.findall(r"^\| `([\w.]+)`", files, flags=re.MULTILINE)) == written
    header = (folder / "six-topics" / "topics.csv").read_text().splitlines()[0]
    assert "`, `".join(header.split(",")) in files


def test_columns_of_the_pairs_in_the_reference_are_those_that_fit_writes(folder):
    (folder / "six.csv").write_text("text\n" + "cat mouse\nmouse cat chase\nrocket orbit\norbit moon rocket\n" * 9)
    assert main(["fit", "six.csv", "-k", "2", "--quiet", "--stability", "10"]) == 0
    header = (folder / "six-topics" / "correlation_pairs.csv").read_text().splitlines()[0]
    text = sections()["Files that fit writes"].split("| `correlation_pairs.csv`")[1].split("\n")[0]
    assert re.findall(r"`(\w+)`", text) == header.split(",")


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
        figure = MEASURED.search(re.sub("default: `[^`]*`", "", paragraph))  # a default is not measured
        assert figure is None or COMMAND.search(paragraph), f"{name_of(page)}: no command prints {figure[0]!r}"


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
    for name in re.findall(r"`(?:model\.)?([a-z_]+_)`", own_text(page)):
        assert any(hasattr(model, name) for model in fitted_models), f"{page.name} names {name}"


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_methods_in_the_documentation_exist(page, fitted_models):
    for name in re.findall(r"`(?:model|TopicModel)\.([a-z_]+)\(", prose(page)):
        assert hasattr(fitted_models[-1], name), f"{page.name} names {name}"


def test_every_package_is_in_the_table_of_contributing():
    packages = {path.parent.name for path in (ROOT / "src" / "anchorless").glob("*/__init__.py")}
    rows = re.findall(r"^\| `(\w+)`", text_of(ROOT / "CONTRIBUTING.md"), flags=re.MULTILINE)
    assert packages <= set(rows)


def test_every_figure_of_the_gallery_is_drawn_by_its_page():
    page = ROOT / "docs" / "how-to" / "figures.md"
    shown = re.findall(r"^!\[.+\]\((\S+)\)$", text_of(page), flags=re.MULTILINE)
    drawn = re.findall(r'savefig\("(\w+\.png)"', text_of(page))
    assert sorted(name.rpartition("/")[2] for name in shown) == sorted(drawn)
    assert all((page.parent / name).read_bytes().startswith(b"\x89PNG") for name in shown)
    methods = {name for name in dir(anchorless.TopicPlots) if not name.startswith("_")}
    assert methods == set(re.findall(r"model\.plot\.(\w+)\(", text_of(page)))


def test_every_task_takes_one_command_or_five_lines():
    page = text_of(ROOT / "docs" / "how-to" / "ten-tasks.md")
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    tasks = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert len(tasks) == len(parts) // 2 == 10
    for name, task in tasks.items():
        blocks = [(fence.language, fence.content.splitlines()) for fence in find_fences(task)]
        commands = [line for kind, lines in blocks if kind == "console" for line in lines if line.startswith("$ ")]
        code = [line for kind, lines in blocks if kind == "python" for line in lines if line.strip()]
        assert (len(commands), bool(code)) in ((1, False), (0, True)), name
        assert len(code) <= 5, name
