"""Print the oldest versions of the dependencies that pyproject.toml allows, as a pip constraints file.

python tests/helpers/lowest_versions.py > constraints.txt
"""

import re
import sys
import tomllib
from pathlib import Path

#: Extras whose lower bounds are tested, too. Not `plot`: an old matplotlib warns of the new pyparsing that it brings.
EXTRAS: tuple[str, ...] = ("effects", "excel")


def lowest_versions(project):
    """Return a constraint per dependency of the package and of `EXTRAS`."""
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(each for name in EXTRAS for each in extras.get(name, []))]
    matches = (re.match(r"([A-Za-z][\w.-]*)(?:\[.*\])?>=([\w.]+)", requirement) for requirement in requirements)
    return [f"{match[1]}=={match[2]}" for match in matches if match]


if __name__ == "__main__":
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(lowest_versions(settings["project"])) + "\n")
