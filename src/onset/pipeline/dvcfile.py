"""dvc.yaml, generated from the catalogue: coarse stages, each of which runs Snakemake for its part."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from ruamel.yaml import YAML

from onset.pipeline.catalogue import WITH_CHECKPOINT, Catalogue, Experiment, Figure, Paper, Table, locate

HEAD = """\
# Generated from workflow/catalogue.yaml by `onset dvc --write`; do not edit.
# Stages are made for the one scale that params.yaml names in `scale`; dvc.lock keeps those of every scale.
# DVC may delete the outputs of a stage before it runs: Snakemake publishes them again from its store.
"""
CODE = ["Snakefile", "src/onset", "workflow"]
SCALE = "${item.scale}"
CHECKED = f"results/{SCALE}/parameters.txt"
CHECK = {
    "matrix": {"scale": ["${scale}"]},
    "cmd": f"onset params --result {CHECKED}",
    "deps": ["params.yaml", "src/onset/params", "src/onset/pipeline", "workflow/catalogue.yaml"],
    "outs": [CHECKED],
}
"""Runs before every other stage, for DVC removes the outputs of a stage even where it is then refused."""
RECORD = ("", ".prov.json")
"""A file, and the record beside it."""


def format_dvc(catalogue: Catalogue) -> str:
    """The text of dvc.yaml: a check of params.yaml, and for each paper data, results and figures."""
    stages: dict[str, Any] = {"parameters": CHECK}
    for name, paper in catalogue.papers.items():
        stages |= _paper_stages(name, paper, catalogue)
    text = io.StringIO()
    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump({"stages": stages}, text)
    return HEAD + text.getvalue()


def _paper_stages(name: str, paper: Paper, catalogue: Catalogue) -> dict[str, Any]:
    folder = f"results/{SCALE}/{name}"
    data = {key: entry for key, entry in paper.experiments.items() if entry.kind == "data"}
    rest = {key: entry for key, entry in paper.experiments.items() if entry.kind != "data"}
    results = [f"{folder}/{key}.nc{record}" for key in rest for record in RECORD]
    if any(entry.kind in WITH_CHECKPOINT for entry in rest.values()):
        results.append(f"{folder}/checkpoints")
    figures = [f"figures/{SCALE}/{name}/{key}.pdf{record}" for key in paper.figures for record in RECORD]
    tables = [f"{folder}/{key}.csv{record}" for key in paper.tables for record in RECORD]
    claims = [f"{folder}/claims"] if any(figure.claims for figure in paper.figures.values()) else []
    claims += [f"{folder}/theory"] if any(figure.theory for figure in paper.figures.values()) else []
    datasets = [f"{folder}/data"] if data else []
    stages = {}
    if data:
        stages[f"data-{name}"] = _stage(
            "data", name, _elsewhere(name, data.values(), catalogue), _params(name, data), datasets
        )
    if rest:
        needs = [*datasets, *_elsewhere(name, rest.values(), catalogue)]
        stages[f"results-{name}"] = _stage("results", name, needs, ["device", *_params(name, rest)], results)
    if figures:
        params = ["plotting", *_params(name, paper.figures, paper.tables)]
        shown: list[Figure | Table] = [*paper.figures.values(), *paper.tables.values()]
        needs = [*datasets, *results, *_elsewhere(name, shown, catalogue)]
        stages[f"figures-{name}"] = _stage("figures", name, needs, params, [*figures, *claims, *tables])
    return stages


def _elsewhere(name: str, entries: Iterable[Experiment | Figure | Table], catalogue: Catalogue) -> list[str]:
    """Published results of other papers that entries of this one need."""
    found = {locate(name, need): None for entry in entries for need in entry.needs.values()}
    kinds = {at: catalogue.papers[at[0]].experiments[at[1]].kind for at in found if at[0] != name}
    return [
        f"results/{SCALE}/{paper}/{'data' if kind == 'data' else f'{experiment}.nc'}"
        for (paper, experiment), kind in kinds.items()
    ]


def _stage(part: str, paper: str, needs: list[str], params: list[str], outs: list[str]) -> dict[str, Any]:
    return {
        "matrix": {"scale": ["${scale}"]},
        "cmd": f"snakemake -- stage_{part}_{paper}_{SCALE}",
        "deps": [CHECKED, *CODE, *needs],
        "params": [*params, f"scales.{SCALE}"],
        "outs": outs,
    }


def _params(paper: str, entries: dict[str, Any], tables: Mapping[str, Table] | None = None) -> list[str]:
    """Keys of params.yaml that a stage reads: the seed, what entries and tables read, each entry's own."""
    readers = [*entries.values(), *(tables or {}).values()]
    shared = sorted({section for entry in readers for section in entry.reads.values()})
    seeded = any(getattr(entry, "kind", None) in ("data", "train", "sample") for entry in entries.values())
    return [f"{paper}.{key}" for key in [*(["seed"] if seeded else []), *shared, *entries]]
