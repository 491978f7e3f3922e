"""Use an installed anchorless as a new user would: the demo, then a few lines of Python.

Run by `make test-wheel` with the interpreter of an environment that holds the wheel and its requirements only.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

FILES = (
    *("correlation.csv", "correlation_pairs.csv", "documents.csv", "model.anchorless", "report.html", "run.json"),
    "topics.csv",
)


def run_command(folder):
    """Run the demo and apply its model to a new text."""
    command = Path(sys.executable).with_name("anchorless")
    subprocess.run([command, "--version"], check=True)
    subprocess.run([command, "demo"], check=True, cwd=folder)
    written = sorted(path.name for path in Path(folder, "anchorless-demo").iterdir())
    assert set(FILES) <= set(written), written
    Path(folder, "new.txt").write_text("Draw samples from a normal distribution.\n", encoding="utf-8")
    subprocess.run([command, "apply", "anchorless-demo", "new.txt"], check=True, cwd=folder)


def run_python(folder):
    """Fit, save, load and transform; every public name must be importable without an extra."""
    import anchorless

    assert "site-packages" in anchorless.__file__, f"not the wheel: {anchorless.__file__}"
    for name in anchorless.__all__:
        getattr(anchorless, name)
    texts = ["the cat chased the mouse", "the mouse fears the cat", "the rocket reached orbit", "an orbit of the moon"]
    model = anchorless.TopicModel(n_topics=2).fit(texts)
    path = Path(folder, "model.anchorless")
    model.save(path)
    again = anchorless.TopicModel.load(path)
    assert (again.transform(texts) == model.transform(texts)).all()
    assert len(anchorless.AnchorFree(2).fit([[1, 0, 2], [0, 3, 1], [2, 1, 0]]).components_) == 2


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run_command(folder)
        run_python(folder)
    sys.stdout.write("the wheel works\n")
