"""What a report shows, as plain values: the templates read these and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onset.report.claims import Verdict
from onset.report.graph import Drawing
from onset.report.lineage import Changed, Made
from onset.report.pictures import Picture
from onset.report.tables import Table


@dataclass(frozen=True)
class FigureEntry:
    """A figure: how it looks, what it claims, what made it."""

    paper: str
    name: str
    title: str
    headline: str
    caption: tuple[str, ...]
    state: str
    picture: Picture | None
    pdf: Path | None
    verdicts: tuple[Verdict, ...]
    claims_state: str
    """As `state`, of the claims document; empty where the figure has none."""
    counts: dict[str, int]
    theory: Table | None
    changed: tuple[Changed, ...]
    recipe: str
    record: dict[str, Any]
    made_from: tuple[Made, ...]
    seconds: float
    unmeasured: int

    @property
    def anchor(self) -> str:
        """The fragment of the page at which it stands."""
        return f"{self.paper}-{self.name}"

    @property
    def image(self) -> str:
        """Where its picture lies, from the page."""
        return f"images/{self.paper}/{self.name}.png"

    @property
    def document(self) -> str:
        """Where its PDF lies, from the page."""
        return f"pdf/{self.paper}/{self.name}.pdf"


@dataclass(frozen=True)
class TableEntry:
    """A table of the catalogue."""

    name: str
    title: str
    table: Table | None


@dataclass(frozen=True)
class PaperEntry:
    """A paper: its figures, tables, the graph of its steps, and what all of them cost."""

    name: str
    title: str
    reference: str
    figures: tuple[FigureEntry, ...]
    tables: tuple[TableEntry, ...]
    steps: tuple[Made, ...]
    graph: Drawing
    needs: dict[str, tuple[str, ...]]
    counts: dict[str, int]
    seconds: float
    unmeasured: int

    @property
    def built(self) -> int:
        """How many of its figures are built and current."""
        return sum(figure.state == "built" for figure in self.figures)


@dataclass(frozen=True)
class Report:
    """All that a report shows."""

    scale: str
    base: str
    recipe: str
    papers: tuple[PaperEntry, ...]
    counts: dict[str, int]
    made_with: tuple[tuple[str, str], ...]
    """What the figures were made with, by name: revisions, versions, devices."""

    @property
    def figures(self) -> list[FigureEntry]:
        """The figures of all papers."""
        return [figure for paper in self.papers for figure in paper.figures]
