"""All steps of the DAG at one scale, each with its recipe.

A recipe is a digest of what decides a step's content: the name, the resolved parameters it uses, the
source it depends on, and the recipes of what it needs.  All are known without opening a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from onset.params.resolve import Parameters
from onset.pipeline.catalogue import WITH_CHECKPOINT, Catalogue, Experiment, Figure, Paper, Table, locate
from onset.pipeline.recipe import compute_recipe
from onset.pipeline.source import digest_modules, digest_parsed_text, digest_source

PLOTTING = "onset.params.plotting:Plotting"
BEHIND = {
    "claims": "onset.claims.verdict:evaluate",
    "figures": "onset.plotting.save:save_figure",
    "gather": "onset.store.join:join_datasets",
    "tables": "onset.store.tables:write_table",
    **dict.fromkeys(("data", "train", "sample"), "onset.randomness:Streams"),
}
"""What every step of a kind goes through, and its result depends on, besides its own code."""
TABULATED = "onset.claims.theory:tabulate_theory"
"""What claims with a theory table go through as well."""


@dataclass(frozen=True)
class Step:
    """One job of the pipeline and the file it makes.

    `kind` is the catalogue's, or `gather`, `figures`, `claims`, `tables`.  `name` is unique within paper and
    scale: an experiment (`linear_sgld`), a block of it (`linear_sgld.chain0-3`), a figure (`fig4`), a table.
    `parameters` holds what enters the recipe: `own`, shared sections by role, and `seed`; `models` names
    the types of its sections, `references` the callables whose source enters, `source` the digest of the
    `modules` that these import, `text` that of their bytes.  `whole` holds the number of all members and of a
    block, for a block; neither is part of the recipe.
    """

    paper: str
    scale: str
    name: str
    kind: str
    code: str
    recipe: str
    parameters: dict[str, Any]
    needs: dict[str, Step]
    source: str
    references: tuple[str, ...]
    modules: dict[str, str]
    text: str
    models: dict[str, str]
    entry: Experiment | Figure | Table = field(compare=False)
    whole: dict[str, int] = field(default_factory=dict)
    members: tuple[int, ...] | None = None
    dimension: str | None = None

    @property
    def folder(self) -> str:
        """Subfolder of the store and, but for claims with a theory table, of the published results."""
        folders = {"data": "data/", "figures": "figures/", "claims": "theory/" if self.theory else "claims/"}
        return folders.get(self.kind, "blocks/" if self.members is not None else "")

    @property
    def extensions(self) -> tuple[str, ...]:
        """Extensions of the files that the step makes at once, or can make (`figures`)."""
        if self.kind == "figures":
            return ("pdf", "png")
        if self.kind == "claims":
            return ("json", "csv") if self.theory else ("json",)
        if self.kind == "tables":
            return ("csv",)
        return ("nc", "safetensors") if self.has_checkpoint else ("nc",)

    @property
    def theory(self) -> str | None:
        """The comparisons that claims tabulate too, of a figure that has any."""
        return self.entry.theory if self.kind == "claims" and isinstance(self.entry, Figure) else None

    @property
    def has_checkpoint(self) -> bool:
        """Whether weights are kept beside the Dataset."""
        return isinstance(self.entry, Experiment) and self.entry.kind in WITH_CHECKPOINT

    def stored(self, store: Path, extension: str | None = None) -> Path:
        """The step's file in the store."""
        name = f"{self.name}-{self.recipe}.{extension or self.extensions[0]}"
        return store / self.scale / self.paper / f"{self.folder}{name}"

    def published(self) -> dict[str, str]:
        """Published paths by extension, without the shorthand paths of figures at the paper's scale."""
        if self.members is not None:
            return {}
        if self.kind == "figures":
            return {e: f"figures/{self.scale}/{self.paper}/{self.name}.{e}" for e in self.extensions}
        base = f"results/{self.scale}/{self.paper}"
        if self.theory:
            return {"json": f"{base}/claims/{self.name}.json", "csv": f"{base}/theory/{self.name}.csv"}
        paths = {self.extensions[0]: f"{base}/{self.folder}{self.name}.{self.extensions[0]}"}
        if self.has_checkpoint:
            paths["safetensors"] = f"{base}/checkpoints/{self.name}.safetensors"
        return paths


class Steps:
    """The DAG of every paper at one scale."""

    def __init__(self, catalogue: Catalogue, parameters: Parameters, scale: str, source: Path) -> None:
        self.catalogue, self.parameters, self.scale, self.source = catalogue, parameters, scale, source
        self.results: dict[tuple[str, str], Step] = {}
        self.figures: dict[tuple[str, str], Step] = {}
        self.claims: dict[tuple[str, str], Step] = {}
        self.tables: dict[tuple[str, str], Step] = {}
        for paper_name, paper in catalogue.papers.items():
            for name in paper.experiments:
                self._experiment(paper_name, paper, name)
            for name, figure in paper.figures.items():
                self.figures[paper_name, name] = self._figure(paper_name, paper, name, figure)
                if figure.claims:
                    self.claims[paper_name, name] = self._claims(paper_name, name, figure, figure.claims)
            for name, table in paper.tables.items():
                self.tables[paper_name, name] = self._table(paper_name, paper, name, table)

    def __iter__(self) -> Iterator[Step]:
        """Every step, those that are needed before those that need them."""
        for step in self.results.values():
            if step.kind == "gather":
                yield from (need for need in step.needs.values())
            yield step
        yield from self.figures.values()
        yield from self.claims.values()
        yield from self.tables.values()

    def find(self, paper: str, name: str) -> Step:
        """The step of an experiment, figure or table.  Raises KeyError where there is none."""
        return {**self.results, **self.figures, **self.tables}[paper, name]

    def _section(self, paper: str, name: str) -> BaseModel:
        return self.parameters.sections[self.scale][paper][name]

    def _sections(self, paper: str, reads: dict[str, str]) -> dict[str, Any]:
        return {role: self._section(paper, name).model_dump(mode="json") for role, name in reads.items()}

    def _needs(self, paper_name: str, entry: Experiment | Figure | Table) -> dict[str, Step]:
        """The steps that an entry needs, by role; those of another paper are made first."""
        found = {role: locate(paper_name, need) for role, need in entry.needs.items()}
        return {
            role: self._experiment(at, self.catalogue.papers[at], name) for role, (at, name) in found.items()
        }

    def _experiment(self, paper_name: str, paper: Paper, name: str) -> Step:
        if (paper_name, name) in self.results:
            return self.results[paper_name, name]
        entry = paper.experiments[name]
        needs = self._needs(paper_name, entry)
        own = self._section(paper_name, name).model_dump(mode="json")
        shared: dict[str, Any] = self._sections(paper_name, entry.reads)
        if entry.kind in ("data", "train", "sample"):
            shared["seed"] = self.parameters.seeds[self.scale][paper_name]
        common = {
            "paper": paper_name,
            "scale": self.scale,
            "code": entry.code,
            "entry": entry,
            "models": {
                "own": entry.parameters,
                **{role: paper.sections[section] for role, section in entry.reads.items()},
            },
        }
        if entry.members is None:
            step = self._step(
                name=name, kind=entry.kind, parameters={"own": own, **shared}, needs=needs, **common
            )
        else:
            count, block = own[entry.members.count], own[entry.members.block]
            blocks = {}
            for first in range(0, count, block):
                members = tuple(range(first, min(first + block, count)))
                label = f"{entry.members.dimension}{members[0]}-{members[-1]}"
                sized = {**own, entry.members.count: len(members), entry.members.block: len(members)}
                blocks[label] = self._step(
                    name=f"{name}.{label}",
                    kind=entry.kind,
                    parameters={"own": sized, **shared},
                    needs=needs,
                    members=members,
                    dimension=entry.members.dimension,
                    whole={entry.members.count: count, entry.members.block: block},
                    **common,
                )
            joined = {**own, entry.members.block: count}
            step = self._step(
                name=name,
                kind="gather",
                parameters={"own": joined, **shared},
                needs=blocks,
                dimension=entry.members.dimension,
                **{**common, "code": entry.finish or ""},
            )
        self.results[paper_name, name] = step
        return step

    def _figure(self, paper_name: str, paper: Paper, name: str, figure: Figure) -> Step:
        own = self._section(paper_name, name).model_dump(mode="json")
        shared = self._sections(paper_name, figure.reads)
        shared["plotting"] = self.parameters.plotting[self.scale].model_dump(mode="json")
        return self._step(
            paper=paper_name,
            scale=self.scale,
            name=name,
            kind="figures",
            code=figure.code,
            parameters={"own": own, **shared},
            needs=self._needs(paper_name, figure),
            models={
                "own": figure.parameters,
                "plotting": PLOTTING,
                **{role: paper.sections[section] for role, section in figure.reads.items()},
            },
            entry=figure,
        )

    def _claims(self, paper_name: str, name: str, figure: Figure, code: str) -> Step:
        return self._step(
            paper=paper_name,
            scale=self.scale,
            name=name,
            kind="claims",
            code=code,
            parameters={},
            models={},
            needs=self._needs(paper_name, figure),
            entry=figure,
        )

    def _table(self, paper_name: str, paper: Paper, name: str, table: Table) -> Step:
        return self._step(
            paper=paper_name,
            scale=self.scale,
            name=name,
            kind="tables",
            code=table.code,
            parameters=self._sections(paper_name, table.reads),
            models={role: paper.section_type(section) for role, section in table.reads.items()},
            needs=self._needs(paper_name, table),
            entry=table,
        )

    def _step(self, **given: Any) -> Step:
        references = (given["code"],) if given["code"] else ()
        if given["kind"] in BEHIND:
            references = (*references, BEHIND[given["kind"]])
        if given["kind"] == "claims" and given["entry"].theory:
            references = (*references, given["entry"].theory, TABULATED)
        source = digest_source(self.source, references)
        modules = digest_modules(self.source, references)
        recipe = compute_recipe(
            paper=given["paper"],
            scale=given["scale"],
            name=given["name"],
            kind=given["kind"],
            parameters=given["parameters"],
            members=given.get("members"),
            source=source,
            needs={role: need.recipe for role, need in given["needs"].items()},
        )
        text = digest_parsed_text(self.source, modules, source)
        return Step(recipe=recipe, source=source, references=references, modules=modules, text=text, **given)
