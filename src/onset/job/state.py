"""State of an interrupted run, kept outside the declared outputs until the run succeeds."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onset.errors import OnsetError


class SavedState:
    """Saves and restores the tensors of a loop, all of torch or all of NumPy, under the recipe of its job.

    The recipe names the job's parameters, source and inputs, so a state found in the folder of
    another recipe is never used; the recipe is also written inside and compared.
    `every` is the least number of seconds between two saves.
    """

    def __init__(self, folder: Path, recipe: str, every: float = 15.0) -> None:
        self.folder, self.recipe, self.every = folder, recipe, every
        self.path = folder / "state.safetensors"
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether `every` seconds have passed since the last save."""
        return time.monotonic() - self._last >= self.every

    def save(self, step: int, tensors: Mapping[str, Any]) -> None:
        """Write the tensors as they are after `step` steps; the file is replaced as a whole."""
        if _are_arrays(tensors):
            from safetensors.numpy import save_file

            plain = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
        else:
            from safetensors.torch import save_file  # type: ignore[assignment]

            plain = {name: tensor.contiguous() for name, tensor in tensors.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        metadata = {"step": str(step), "recipe": self.recipe, "names": json.dumps(sorted(tensors))}
        save_file(plain, temporary, metadata=metadata)
        os.replace(temporary, self.path)
        self._last = time.monotonic()

    def restore(self, tensors: Mapping[str, Any]) -> int:
        """Copy a saved state into `tensors` and return its step; 0 where nothing is saved.

        Raises OnsetError where the saved state belongs to another configuration.  A state that
        cannot be read is set aside with a line that says so, and the run starts from step 0.
        """
        if not self.path.exists():
            return 0
        from safetensors import SafetensorError, safe_open

        framework = "np" if _are_arrays(tensors) else "pt"
        try:
            with safe_open(self.path, framework=framework) as file:
                metadata = file.metadata()
                found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError):
            aside = self.path.with_suffix(".damaged")
            os.replace(self.path, aside)
            print(f"saved state {self.path} is damaged; set aside as {aside.name}, starting from step 0")
            return 0
        drifted = metadata.get("recipe") != self.recipe or found.keys() != tensors.keys()
        if drifted or any(found[n].shape != t.shape or found[n].dtype != t.dtype for n, t in tensors.items()):
            raise OnsetError(
                f"{self.path} was saved under another configuration; remove {self.folder} to start afresh"
            )
        for name, tensor in tensors.items():
            if framework == "np":
                tensor[...] = found[name]
            else:
                tensor.detach().copy_(found[name])
        return int(metadata["step"])

    def remove(self) -> None:
        """Forget the saved state, after success."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _are_arrays(tensors: Mapping[str, Any]) -> bool:
    return all(isinstance(tensor, np.ndarray) for tensor in tensors.values())
