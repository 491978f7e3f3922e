"""An edited model that a new fit replaces: it is kept, since names were given by hand, and can be carried over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from anchorless._cli.progress import ConsoleProgress
from anchorless._cli.repeating import quote_path
from anchorless._files import sync_file
from anchorless._topic_model.model import TopicModel
from anchorless.errors import AnchorlessError

#: Under this name an edited model stays in its folder.
EDITED_MODEL = "model.edited.anchorless"


def count_edits(model: Path) -> int:
    """Return the number of edits of a model file; 0 if there is none that can be read."""
    try:
        return len(TopicModel.load(model).edits) if model.is_file() else 0
    except (AnchorlessError, OSError):
        return 0


class EditedModel:
    """The edited model in the folder of results `target`, which a new fit replaces by those in `folder`."""

    def __init__(self, target: Path, list_files: Callable[[Path], list[str]]) -> None:
        self._target, self._list_files = target, list_files
        self._folder: Path | None = None
        self._is_kept = False

    def start(self, folder: Path, progress: ConsoleProgress) -> None:
        """Say, before the fit, what happens to the edits."""
        self._folder = folder
        n = count_edits(self._target / "model.anchorless")
        if n:
            edits = f"{n} {'edit' if n == 1 else 'edits'} (names, merged topics …)"
            progress.log(
                f"note: {self._target / 'model.anchorless'} has {edits}, which a new fit does not have; "
                f"the edited model stays as {EDITED_MODEL}, and the last line says how to carry its names over"
            )

    def list_replaced(self, target: Path) -> list[str]:
        """Return the files to replace in `target`, and copy an edited model into `folder` at that moment."""
        model = target / "model.anchorless"
        if self._folder is not None and count_edits(model):
            copy = self._folder / EDITED_MODEL
            copy.write_bytes(model.read_bytes())
            sync_file(copy)
            self._is_kept = True
        return self._list_files(target)

    @property
    def hint(self) -> str:
        """The line that says how to carry names over, with its line break; empty if there is no edited model."""
        folder, edited = quote_path(self._target), quote_path(self._target / EDITED_MODEL)
        command = f"anchorless edit {folder} --carry-names {edited}"
        return f"\n  names of the edited model      {command}" if self._is_kept else ""
