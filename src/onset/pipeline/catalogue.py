"""The catalogue: which experiments and figures exist, and which code and parameters each has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from onset.errors import OnsetError
from onset.params.resolve import PaperSchema
from onset.params.yamlfile import read_yaml
from onset.pipeline.reference import resolve_code

Kind = Literal["data", "train", "sample", "simulate", "theory"]
CodeReference = Annotated[str, Field(pattern=r"^onset(\.\w+)+:\w+$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Need = Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]*/)?[a-z][a-z0-9_]*$")]
"""An experiment of the same paper by its name, or one of another paper as `paper/experiment`."""
Reads = Annotated[
    dict[Name, Name],
    BeforeValidator(
        lambda found: {name: name for name in found} if isinstance(found, (list, tuple)) else found
    ),
]
"""Shared sections by the role that they have for the callable; a list gives each its own name as role."""
WITH_CHECKPOINT = ("train", "sample")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Members(_Closed):
    """An experiment whose seeds or chains are computed in blocks and joined along `dimension`.

    `count` names the key of the experiment's section that holds their number; `block` the key that
    holds how many one job computes.
    """

    dimension: Name
    count: Name
    block: Name = "block"


class Experiment(_Closed):
    """A step that computes a Dataset."""

    kind: Kind
    title: str
    code: CodeReference
    parameters: CodeReference
    reads: Reads = {}
    needs: dict[Name, Need] = {}
    members: Members | None = None
    finish: CodeReference | None = None
    threads: int = Field(default=1, ge=1)
    memory_mb: int = Field(default=2000, ge=100)
    gpu: int = Field(default=0, ge=0, le=1)
    cost: dict[Name, Annotated[float, Field(gt=0)]] = {}
    """CPU seconds at a scale, as once measured on a core without a GPU; shown until it has run here."""


class Figure(_Closed):
    """A figure, the claims that go with it, and what its theory predicts (`theory`, evaluated with them)."""

    title: str
    code: CodeReference
    parameters: CodeReference
    needs: dict[Name, Need]
    reads: Reads = {}
    claims: CodeReference | None = None
    theory: CodeReference | None = None


class Table(_Closed):
    """A table of parameters or results, published as CSV; it may read the section of any experiment."""

    title: str
    code: CodeReference
    needs: dict[Name, Need] = {}
    reads: Reads = {}


class Paper(_Closed):
    """One paper: shared parameter sections, experiments, figures, tables.

    `check` names a function that refuses sections which do not go together; `warn` one of the same form whose
    lines are shown before a build, and nothing is refused.  Both get the typed sections of one scale by name
    and give pairs of a key's path and what there is to say.
    """

    title: str
    reference: str
    check: CodeReference | None = None
    warn: CodeReference | None = None
    sections: dict[Name, CodeReference] = {}
    experiments: dict[Name, Experiment]
    figures: dict[Name, Figure]
    tables: dict[Name, Table] = {}

    def names(self) -> Iterator[tuple[str, Any]]:
        """All experiments and figures by name: those with a section of their own."""
        yield from self.experiments.items()
        yield from self.figures.items()

    def section_type(self, name: str) -> str:
        """The type of a shared section, or of an experiment's own, as the catalogue names it."""
        return self.sections[name] if name in self.sections else self.experiments[name].parameters


class Catalogue(_Closed):
    """All papers, and the headline figures by their short name."""

    papers: dict[Name, Paper]
    headlines: dict[str, str] = {}

    def schemas(self) -> dict[str, PaperSchema]:
        """The parameter sections of each paper as types."""
        found = {}
        for name, paper in self.papers.items():
            sections = dict(paper.sections)
            sections |= {entry: value.parameters for entry, value in paper.names()}
            types = {section: resolve_code(code) for section, code in sections.items()}
            found[name] = PaperSchema(types, resolve_code(paper.check) if paper.check else None)
        return found


def load_catalogue(path: Path) -> Catalogue:
    """Read and validate the catalogue.

    Raises OnsetError that lists what is wrong: unknown keys, and needs, sections or headlines that do
    not exist.
    """
    raw = read_yaml(path)
    try:
        catalogue = Catalogue.model_validate(raw)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise OnsetError("\n".join([f"{path.name} is refused:", *lines])) from None
    problems = list(_check_references(catalogue))
    if problems:
        raise OnsetError("\n".join([f"{path.name} is refused:", *(f"  {p}" for p in problems)]))
    return catalogue


def _check_references(catalogue: Catalogue) -> Iterator[str]:
    for paper_name, paper in catalogue.papers.items():
        names = [*paper.sections, *paper.experiments, *paper.figures, *paper.tables, "seed"]
        for clash in sorted({name for name in names if names.count(name) > 1}):
            yield f"{paper_name}: two sections, experiments, figures or tables are called '{clash}'"
        for name, entry in [*paper.names(), *paper.tables.items()]:
            for need in entry.needs.values():
                where, experiment = locate(paper_name, need)
                if where not in catalogue.papers or experiment not in catalogue.papers[where].experiments:
                    yield f"{paper_name}.{name} needs '{need}', which is no experiment of {where}"
            for role in {"own", "seed", "plotting"} & set(entry.reads):
                yield f"{paper_name}.{name} reads a section as '{role}', which is taken"
            readable = {*paper.sections, *(paper.experiments if isinstance(entry, Table) else ())}
            for section in entry.reads.values():
                if section not in readable:
                    yield f"{paper_name}.{name} reads '{section}', which is no section of {paper_name}"
        for name, shown in paper.figures.items():
            if shown.theory and not shown.claims:
                yield f"{paper_name}.{name} has `theory` and no `claims`, with which it would be evaluated"
    yield from _check_circles(catalogue)
    for headline, target in catalogue.headlines.items():
        paper_name, _, figure = target.partition("/")
        if paper_name not in catalogue.papers or figure not in catalogue.papers[paper_name].figures:
            yield f"headline {headline} names '{target}', which is no figure"


def locate(paper: str, need: str) -> tuple[str, str]:
    """Paper and name of the experiment that an entry of `paper` needs."""
    other, slash, name = need.partition("/")
    return (other, name) if slash else (paper, need)


def _check_circles(catalogue: Catalogue) -> Iterator[str]:
    done: set[tuple[str, str]] = set()

    def visit(at: tuple[str, str], above: tuple[tuple[str, str], ...]) -> Iterator[str]:
        paper = catalogue.papers.get(at[0])
        if at in above:
            circle = (*above[above.index(at) :], at)
            alone = len({where for where, _ in circle}) == 1
            yield f"{at[0]}: {' needs '.join(n if alone else f'{w}/{n}' for w, n in circle)}, a circle"
        elif at not in done and paper and at[1] in paper.experiments:
            for need in paper.experiments[at[1]].needs.values():
                yield from visit(locate(at[0], need), (*above, at))
            done.add(at)

    for name, paper in catalogue.papers.items():
        for experiment in paper.experiments:
            yield from visit((name, experiment), ())
