"""What is written about a result: small and the same at every rebuild inside the file, full beside it."""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from onset import __version__
from onset.store.digest import canonical_json
from onset.store.record import read_record

LIBRARIES = ("torch", "numpy", "scipy", "xarray", "netCDF4", "matplotlib", "snakemake")


def inside(spec: Mapping[str, Any], device: str, threads: int) -> dict[str, Any]:
    """Attributes of a netCDF file or checkpoint: the same whenever the same recipe is built again."""
    attributes: dict[str, Any] = {
        "title": spec["title"],
        "onset_step": f"{spec['paper']}/{spec['name']}",
        "onset_recipe": spec["recipe"],
        "onset_params": canonical_json(spec["parameters"]),
        "onset_version": __version__,
        "device_type": device,
        "threads": threads,
    }
    if "seed" in spec["parameters"]:
        attributes["seeds"] = canonical_json({"root": spec["parameters"]["seed"], "members": spec["members"]})
    return attributes


def heading(spec: Mapping[str, Any]) -> dict[str, str]:
    """What stands at the head of a table: the same whenever the same recipe is built again."""
    return {
        "title": spec["title"],
        "onset_step": f"{spec['paper']}/{spec['name']}",
        "scale": spec["scale"],
        "onset_recipe": spec["recipe"],
        "onset_version": __version__,
    }


def beside(spec: Mapping[str, Any], root: Path, device: str, seconds: float) -> dict[str, Any]:
    """The record beside a file: who made it, with what, when it ran how long, and from what."""
    return {
        "recipe": spec["recipe"],
        "step": f"{spec['paper']}/{spec['name']}",
        "scale": spec["scale"],
        "rule": spec["kind"],
        "code": spec["code"],
        "parameters": spec["parameters"],
        "source": spec["source"],
        "modules": spec["modules"],
        "revision": _revision(root),
        "onset": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": {name: found for name in LIBRARIES if (found := _version(name))},
        "device": _device_name(device),
        "seconds": round(seconds, 3),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "ancestry": _ancestry(spec),
    }


def _ancestry(spec: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Recipe and content of everything that a step came from, by recipe."""
    found: dict[str, dict[str, Any]] = {}
    for need in spec["needs"].values():
        record = read_record(Path(need["file"])) or {"recipe": need["recipe"]}
        found |= record.get("ancestry", {})
        found[record["recipe"]] = {key: record.get(key) for key in ("step", "content", "sha256")}
    return found


def _revision(root: Path) -> str | None:
    try:
        found = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _device_name(device: str) -> str:
    if device == "cuda":
        return sys.modules["torch"].cuda.get_device_name()
    return platform.processor() or platform.machine()
