"""What the documentation says is compared with the program."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import anchorless

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page):
    for code in blocks(page, "python"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, str(page), "exec"), {})
        assert len(out.getvalue().splitlines()) in (0, 12)


def test_readme_has_an_example_to_run():
    assert len(blocks(ROOT / "README.md", "python")) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_names_the_two_commands_and_make_has_them():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert named == ["demo", "test"]
    assert set(named) <= set(targets)


def test_attributes_in_the_documentation_exist():
    models = [method(2).fit([[1, 0, 2], [0, 3, 1], [2, 1, 0]]) for method in (anchorless.AnchorFree, anchorless.SPA)]
    for page in PAGES:
        for name in re.findall(r"`([a-z_]+_)`", page.read_text(encoding="utf-8")):
            assert any(hasattr(model, name) for model in models), f"{page.name} names {name}"


def test_every_fitted_attribute_is_documented():
    model = anchorless.AnchorFree(2).fit([[1, 0, 2], [0, 3, 1], [2, 1, 0]])
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    documented = set(re.findall(r"^    (\w+_) : ", anchorless.AnchorFree.__doc__, flags=re.MULTILINE))
    assert fitted <= documented
    assert documented - fitted <= {"feature_names_in_"}


def test_every_module_is_in_the_table_of_contents():
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    modules = {path.stem for path in (ROOT / "src" / "anchorless").rglob("*.py")} - {"__init__"}
    assert {module for module in modules if f"`{module}`" not in contributing} == set()
