"""Notebooks as pages of the site, with the outputs that are stored in them, and the search of a site on a disk."""

import json
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each notebook; the notebook itself stays, to be downloaded."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        text = render_notebook(json.loads(Path(file.abs_src_path).read_text(encoding="utf-8")), Path(file.src_uri).name)
        files.append(File.generated(config, file.src_uri.replace(".ipynb", ".md"), content=text))
    return files


@event_priority(-100)  # after the search has written its index
def on_post_build(config: Any) -> None:
    """Write the index of the search as a script, too: a page that is opened from a disk may not read a JSON file."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")


def render_notebook(notebook: dict[str, Any], name: str) -> str:
    """Return a notebook as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [render_output(output) for output in cell.get("outputs", [])]
    heading, *rest = parts
    return "\n\n".join([heading, f"[Download the notebook]({name}).", *rest]) + "\n"


def render_output(output: dict[str, Any]) -> str:
    """Return what a cell shows: a figure, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="figure" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    if "text/html" in data:
        lines = "".join(data["text/html"]).splitlines()
        return '<div class="output">' + "".join(line.strip() for line in lines) + "</div>"
    text = "".join(output.get("text") or data.get("text/plain", ""))
    return f"```text\n{text.rstrip()}\n```"
