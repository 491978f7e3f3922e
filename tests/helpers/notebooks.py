"""The notebooks of the documentation: executed in a kernel, as a user does, and compared with what they show."""

import re
from pathlib import Path

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
#: A page in a frame would make the file large.
MAX_HTML = 20_000
SECONDS = 120


def execute(path, folder):
    """Return a notebook with the outputs of its cells, which run in a folder of their own."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.clear()
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
            data = output.get("data", {})
            if len(data.get("text/html", "")) > MAX_HTML:
                data["text/html"] = "<p>(an interactive page: run the cell)</p>"
    return notebook


def list_texts(notebook):
    """Return what the cells print and show as text, without addresses in memory and numbers of characters."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return [re.sub(r"0x[0-9a-f]+|report of [\d,]+ characters", "…", text) for text in texts]
