"""Run the examples of the documentation and write their output into the pages: `make docs-examples`.

python -m tests.helpers.update_docs [PAGE or NOTEBOOK ...]
"""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.helpers.doc_examples import (
    PAGES,
    abbreviate,
    list_changed_pictures,
    name_versions,
    normalize,
    prepare_folder,
    run_page,
)
from tests.helpers.notebooks import NOTEBOOKS, execute, list_texts


def update(page):
    """Rewrite the output that a page shows; return whether it changed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        prepare_folder(page, Path(folder))
        examples = run_page(page)
        pictures = list_changed_pictures(page, folder)
        for shown, drawn in pictures:
            shutil.copyfile(drawn, shown)
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
    return updated != text or bool(pictures)


def update_notebook(path):
    """Execute a notebook and write its outputs into it; return whether the texts changed."""
    import nbformat

    with tempfile.TemporaryDirectory() as folder:
        executed = execute(path, folder)
    changed = list_texts(executed) != list_texts(nbformat.read(path, as_version=4))
    if changed:  # figures differ in bytes from machine to machine
        nbformat.write(executed, path)
    return changed


def main(names):
    """Update the named pages and notebooks, or all."""
    os.environ["COLUMNS"] = "100"
    for page in [Path(name).resolve() for name in names] or [*PAGES, *NOTEBOOKS]:
        changed = (update_notebook if page.suffix == ".ipynb" else update)(page)
        sys.stdout.write(f"{page.name}: {'updated' if changed else 'unchanged'}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
