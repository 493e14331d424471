"""Is every published file whole, and is it what the present parameters and source give?"""

from __future__ import annotations

from pathlib import Path

from onset.pipeline.plan import Plan
from onset.store.digest import digest_file
from onset.store.record import read_record, record_path


def verify_published(plan: Plan, scale: str | None) -> tuple[str, bool]:
    """A line for each published file, and whether all are sound.

    `ok`, `stale` (whole, but made from other parameters or source) or `damaged`, with the remedy.  Every
    byte is read again; netCDF content is compared with the digest inside as well.
    """
    if scale is not None:
        plan.steps(scale)
    lines, sound, count = [], True, 0
    for name, (step, _) in plan.published().items():
        path = Path(name)
        if not path.exists() or (scale is not None and step.scale != scale):
            continue
        count += 1
        state = inspect_file(path)
        if state == "ok" and _carried(path) != step.recipe:
            state = f"stale: carries {_carried(path)}, the present parameters and source give {step.recipe}"
        if state != "ok":
            sound = False
            lines.append(f"  {name}: {state}; mend it with: snakemake --cores 2 -- {name}")
    published = plan.published()
    for name, target in plan.links().items():
        path = Path(name)
        if not path.exists() or (scale is not None and published[target][0].scale != scale):
            continue
        count += 1
        if path.resolve() != Path(target).resolve():
            sound = False
            lines.append(
                f"  {name}: no link to {target}; mend it with: snakemake --cores 2 --force -- {name}"
            )
    head = f"{count} published file(s) checked, {count - len(lines)} ok"
    return "\n".join([head, *lines]), sound


def inspect_file(path: Path) -> str:
    """`ok`, or what is wrong with a published file and its record."""
    if not path.is_file():
        return "damaged: it is no file; remove it"
    record = read_record(path)
    if record is None:
        return f"damaged: its record {record_path(path).name} is missing or cannot be read"
    if digest_file(path) != record["sha256"]:
        return "damaged: its bytes are not those of its record"
    if path.suffix == ".nc":
        from onset.errors import OnsetError
        from onset.store.netcdf import read_result

        try:
            read_result(path)
        except OnsetError as error:
            return f"damaged: {error}"
    return "ok"


def _carried(path: Path) -> str | None:
    record = read_record(path)
    return record["recipe"] if record else None
