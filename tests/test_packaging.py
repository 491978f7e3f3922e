"""What the package says about itself in several files must agree."""

import re
import tomllib
from pathlib import Path

import anchorless
from tests.helpers.lowest_versions import lowest_versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_citation_has_the_version_of_the_package():
    assert f"\nversion: {anchorless.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_dependency_has_a_lower_bound_that_is_tested():
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    assert {constraint.split("==")[0] for constraint in lowest_versions(PROJECT)} >= names


def test_ci_runs_every_check():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^(test[\w-]*|coverage):", makefile, flags=re.MULTILINE)
    called = re.findall(r"^make ([\w-]+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(called) == set(targets) - {"test-quick"}  # part of `make test`


def test_environments_are_built_anew_if_compiled_files_change():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\nCOMPILED := pyproject.toml hatch_build.py $(wildcard src/anchorless/_core/*.c)\n" in makefile
    rules = re.findall(r"^\S*ready: (.*)$", makefile, flags=re.MULTILINE)
    assert len(rules) == 5
    assert all("$(COMPILED)" in rule for rule in rules)


def test_what_is_compiled_is_in_the_source_distribution_and_its_result_is_not():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert {"src", "hatch_build.py"} <= {*settings["sdist"]["include"]}
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/src/anchorless/_core/kernels.so", "/src/anchorless/_core/kernels.dll"} <= {*ignored}
