"""A small report of made-up figures, with every verdict, a stale figure and one that is not built."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from onset.report.claims import count_outcomes, describe_verdict
from onset.report.entries import FigureEntry, PaperEntry, Report, TableEntry
from onset.report.graph import draw_graph
from onset.report.lineage import Changed, Made
from onset.report.pictures import Picture
from onset.report.tables import Table

VERDICTS = ("held", "failed", "undecided", "not run at this scale")


def make_row(name: str, verdict: str, **more: object) -> dict:
    """A row of a claims document."""
    return {
        "id": name,
        "place": "figure 1, caption",
        "sentence": f"The sentence of {name} & <others>.",
        "standing": "paper",
        "verdict": verdict,
        "why": "" if verdict in ("held", "failed") else f"reason of {verdict}",
        "value": 0.123456 if verdict in ("held", "failed") else None,
        "detail": "at step 7",
        "low": None,
        "high": 0.2,
        "unit": "nats",
        "reason": "scatter of seeds",
        **more,
    }


def make_step(name: str, kind: str, seconds: float | None = 1.5) -> Made:
    """A step of a lineage."""
    return Made(name, kind, f"title of {name}", "a" * 16, "b" * 16, "c" * 16, f"{name}.nc", seconds, None)


def make_figure(folder: Path, paper: str, name: str, rows: list[dict], state: str = "built") -> FigureEntry:
    """A figure; one that is built has a picture in `folder`."""
    picture = pdf = None
    if state == "built":
        path, pdf = folder / f"{paper}-{name}.png", folder / f"{paper}-{name}.pdf"
        drawn = Figure(figsize=(3, 2))
        drawn.subplots().plot([0, 1])
        for each in (path, pdf):
            drawn.savefig(each, dpi=50)
        picture = Picture(path, 150, 100)
    verdicts = tuple(describe_verdict(row, "known to fail") for row in rows)
    return FigureEntry(
        paper=paper,
        name=name,
        title=f"What {name} of {paper} shows",
        headline="fig4" if name == "fig1" else "",
        caption=("Loss against `steps`.", "Source: nowhere."),
        state=state,
        picture=picture,
        pdf=pdf,
        verdicts=verdicts,
        claims_state="built" if rows else "",
        counts=count_outcomes(verdicts),
        theory=Table(("quantity", "measured"), (("end", "0.25"),), (False, True)) if name == "fig1" else None,
        changed=(Changed("runs.steps", 1000, 10), Changed("runs.rates", None, [0.1, 0.2])),
        recipe="d" * 16,
        record={"revision": "e" * 40, "seconds": 2.5, "peak_memory_mb": 300.2, "libraries": {"numpy": "2.0"}},
        made_from=(make_step("runs", "train", None), make_step("line", "theory")),
        seconds=75.0,
        unmeasured=1,
    )


def make_paper(name: str, figures: list[FigureEntry]) -> PaperEntry:
    """A paper whose figures are all made from `runs` and `line`."""
    needs: dict[str, tuple[str, ...]] = {"points": (), "runs": ("points",), "line": ()}
    kinds = {"points": "data", "runs": "train", "line": "theory"}
    for figure in figures:
        needs[figure.name], kinds[figure.name] = ("runs", "line"), "figures"
    counts = {key: sum(figure.counts[key] for figure in figures) for key in figures[0].counts}
    return PaperEntry(
        name=name,
        title=f"The paper {name}",
        reference="arXiv:0000.00000",
        figures=tuple(figures),
        tables=(TableEntry("sizes", "Sizes", Table(("item", "value"), (("steps", "10"),), (False, True))),),
        steps=tuple(make_step(step, kind) for step, kind in kinds.items()),
        graph=draw_graph(needs, kinds),
        needs=needs,
        counts=counts,
        seconds=80.0,
        unmeasured=1,
    )


def make_report(folder: Path) -> Report:
    """Two papers, five figures, six claims."""
    folder.mkdir(parents=True, exist_ok=True)
    first = [
        make_figure(
            folder, "alpha", "fig1", [make_row(f"claim-{verdict[:4]}", verdict) for verdict in VERDICTS]
        ),
        make_figure(folder, "alpha", "fig2", []),
    ]
    second = [
        make_figure(folder, "beta", "fig1", [make_row("empty", "held", vacuous=True, seeds=[0, 1])]),
        make_figure(folder, "beta", "fig2", [make_row("late", "held")], "stale"),
        make_figure(folder, "beta", "fig3", [], "not built"),
    ]
    papers = (make_paper("alpha", first), make_paper("beta", second))
    counts = {key: sum(paper.counts[key] for paper in papers) for key in papers[0].counts}
    return Report("small", "paper", "f" * 16, papers, counts, (("python", "3.11, 3.12"),))
