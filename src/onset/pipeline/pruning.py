"""Removing from the store what nobody asks for any more."""

from __future__ import annotations

import shutil
import time

from onset.pipeline.plan import Plan
from onset.store.record import record_path


def prune(plan: Plan, days: int, dry_run: bool) -> str:
    """Remove store files that the present parameters do not name and that are older than `days` days.

    Saved states and damaged files set aside go by the same age.  Published files are never touched.
    """
    store = plan.project.store
    kept = set()
    for scale in plan.scales:
        for step in plan.steps(scale):
            for extension in step.extensions:
                path = step.stored(store, extension)
                kept |= {path, record_path(path)}
    oldest = time.time() - 86400 * days
    freed, count = 0, 0
    for path in sorted(store.rglob("*")) if store.exists() else []:
        if path.is_file() and path not in kept and path.stat().st_mtime < oldest:
            freed, count = freed + path.stat().st_size, count + 1
            if not dry_run:
                path.unlink()
    for folder in (plan.project.private / "state", plan.project.private / "damaged"):
        for path in folder.iterdir() if folder.exists() else []:
            if path.stat().st_mtime < oldest and not dry_run:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    verb = "would remove" if dry_run else "removed"
    return f"{verb} {count} file(s), {freed / 1e6:.1f} MB; kept what the present parameters name"
