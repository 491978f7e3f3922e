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
    targets = re.findall(r"^(test[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    called = re.findall(r"^make ([\w-]+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(called) == set(targets) - {"test-quick"}  # part of `make test`
