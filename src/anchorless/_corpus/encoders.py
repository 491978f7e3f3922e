"""Encoders that are installed on this machine: texts in, embeddings out. Nothing is downloaded."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anchorless._files import hash_file
from anchorless.errors import InputError

INSTALL = "pip install 'anchorless[embed]'"
#: Texts that are encoded at the same time.
BATCH_SIZE = 64


class Encoder:
    """A model of sentence-transformers in a folder.

    Parameters
    ----------
    name : str
        The folder, or a package that contains one and has `get_model_path`.
    """

    def __init__(self, name: str) -> None:
        self.folder = find_folder(name)
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise InputError("encoding texts needs sentence-transformers", remedy=INSTALL) from None
        importlib.import_module("transformers.utils.logging").disable_progress_bar()  # of loading; ours counts texts
        try:
            self._model = SentenceTransformer(str(self.folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            problem = f"{self.folder} is no model of sentence-transformers ({error})"
            raise InputError(problem, remedy="name a folder that `SentenceTransformer.save` wrote") from None

    @property
    def fingerprint(self) -> str:
        """A hash of the model's settings and the sizes of its files."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        sizes = ",".join(f"{path.relative_to(self.folder)}:{path.stat().st_size}" for path in files)
        settings = [hash_file(path) for path in files if path.name == "config.json"]
        return ";".join([sizes, *settings])

    def encode(self, texts: list[str]) -> npt.NDArray[np.float16]:
        """Return embeddings of length one (n, d)."""
        found = self._model.encode(texts, batch_size=BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float16)


def find_folder(name: str) -> Path:
    """Return the folder of an encoder: the one that was named, or that of a package."""
    if Path(name).is_dir():
        return Path(name)
    try:
        package: Any = importlib.import_module(name.replace("-", "_"))
        return Path(package.get_model_path())
    except (ImportError, AttributeError, ValueError):
        problem = f"the encoder {name!r} is neither a folder nor an installed package with a model"
        remedy = f"name the folder of a model of sentence-transformers, or {INSTALL}"
        raise InputError(problem, remedy=remedy) from None
