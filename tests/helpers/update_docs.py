"""Run the examples of the documentation and write their output into the pages: `make docs-examples`.

python -m tests.helpers.update_docs [PAGE ...]
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from tests.helpers.doc_examples import PAGES, abbreviate, name_versions, normalize, prepare_folder, run_page


def update(page):
    """Rewrite the output that a page shows; return whether it changed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        prepare_folder(page, Path(folder))
        examples = run_page(page)
    text = page.read_text(encoding="utf-8")
    pieces, position = [], 0
    for example in examples:
        pieces.append(text[position : example.start])
        position = example.end
        new = abbreviate(example.shown, example.printed)
        # A block that differs in its seconds only stays as it is.
        lines = example.shown if normalize(new) == normalize(example.shown) else [line.rstrip() for line in new]
        pieces += [f"{line}\n" for line in lines]
    updated = name_versions("".join(pieces) + text[position:])
    page.write_text(updated, encoding="utf-8")
    return updated != text


def main(names):
    """Update the named pages, or all."""
    os.environ["COLUMNS"] = "100"
    for page in [Path(name).resolve() for name in names] or PAGES:
        sys.stdout.write(f"{page.name}: {'updated' if update(page) else 'unchanged'}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
