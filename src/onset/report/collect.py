"""Reads what is published at a scale into what a report shows.  Opens records, documents, never results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from onset.claims.ledger import read_document
from onset.pipeline.index import Index
from onset.pipeline.listing import known_failures, published_state
from onset.pipeline.plan import Plan
from onset.pipeline.reporting import BASE
from onset.pipeline.steps import Step
from onset.report.captions import read_caption
from onset.report.claims import OUTCOMES, Verdict, count_outcomes, describe_verdict
from onset.report.entries import FigureEntry, PaperEntry, Report, TableEntry
from onset.report.graph import draw_graph
from onset.report.lineage import changed_parameters, describe_step, steps_above, total_seconds
from onset.report.pictures import find_picture
from onset.report.tables import read_table
from onset.store.record import read_record


def collect_report(plan: Plan, scale: str, recipe: str, index: Index) -> Report:
    """Everything that the report of a scale shows.

    Raises OnsetError where there is no such scale, or a claims document or table cannot be read.
    """
    papers = tuple(_collect_paper(plan, scale, name, index) for name in plan.catalogue.papers)
    figures = [figure for paper in papers for figure in paper.figures]
    return Report(
        scale=scale,
        base=BASE,
        recipe=recipe,
        papers=papers,
        counts=_sum_counts(papers),
        made_with=_made_with(figures),
    )


def _collect_paper(plan: Plan, scale: str, name: str, index: Index) -> PaperEntry:
    steps, paper = plan.steps(scale), plan.catalogue.papers[name]
    known = known_failures(plan)
    figures = tuple(
        _collect_figure(plan, steps.figures[name, each], steps.claims.get((name, each)), index, known)
        for each in paper.figures
    )
    shown = [
        *(steps.results[name, each] for each in paper.experiments),
        *(steps.figures[name, each] for each in paper.figures),
        *(steps.tables[name, each] for each in paper.tables),
    ]
    entries = [*paper.names(), *paper.tables.items()]
    needs = {each: tuple(dict.fromkeys(entry.needs.values())) for each, entry in entries}
    # what another paper's experiments give is named, and drawn with that paper
    own = {each: tuple(need for need in found if need in needs) for each, found in needs.items()}
    made = tuple(describe_step(step, plan) for step in shown)
    checked = [step for (owner, _), step in steps.claims.items() if owner == name]
    seconds, unmeasured = total_seconds([*shown, *checked], plan)
    return PaperEntry(
        name=name,
        title=paper.title,
        reference=paper.reference,
        figures=figures,
        tables=tuple(
            TableEntry(each, entry.title, read_table(Path(steps.tables[name, each].published()["csv"])))
            for each, entry in paper.tables.items()
        ),
        steps=made,
        graph=draw_graph(own, {each.name: each.kind for each in made}),
        needs=needs,
        counts=_sum_counts(figures),
        seconds=seconds,
        unmeasured=unmeasured,
    )


def _collect_figure(
    plan: Plan, step: Step, claims: Step | None, index: Index, known: dict[str, str]
) -> FigureEntry:
    verdicts = _read_verdicts(claims, known) if claims is not None else ()
    path = Path(step.published()["pdf"])
    state = published_state(step, plan, index)
    above = steps_above(step)
    seconds, unmeasured = total_seconds([*above, step, *([claims] if claims else [])], plan)
    headlines = {target: short for short, target in plan.catalogue.headlines.items()}
    theory = Path("results") / step.scale / step.paper / "theory" / f"{step.name}.csv"
    return FigureEntry(
        paper=step.paper,
        name=step.name,
        title=step.entry.title,
        headline=headlines.get(f"{step.paper}/{step.name}", ""),
        caption=tuple(read_caption(plan.project.source, step.code)),
        state=state,
        picture=find_picture(step, plan, index),
        pdf=path if state in ("built", "stale") and path.exists() else None,
        verdicts=verdicts,
        claims_state=published_state(claims, plan, index) if claims is not None else "",
        counts=count_outcomes(verdicts),
        theory=read_table(theory),
        changed=tuple(changed_parameters(step, plan)),
        recipe=step.recipe,
        record=read_record(path) or {},
        made_from=tuple(describe_step(each, plan) for each in above),
        seconds=seconds,
        unmeasured=unmeasured,
    )


def _read_verdicts(claims: Step, known: dict[str, str]) -> tuple[Verdict, ...]:
    path = Path(claims.published()["json"])
    if not path.exists():
        return ()
    rows = read_document(path)["claims"]
    place = f"{claims.scale}/{claims.paper}/{claims.name}"
    return tuple(describe_verdict(row, known.get(f"{place}/{row['id']}", "")) for row in rows)


def _sum_counts(parts: Iterable[PaperEntry | FigureEntry]) -> dict[str, int]:
    counts = {outcome.key: 0 for outcome in OUTCOMES.values()}
    for part in parts:
        for key, count in part.counts.items():
            counts[key] += count
    return counts


def _made_with(figures: Iterable[FigureEntry]) -> tuple[tuple[str, str], ...]:
    """What the records of the figures name, every value once, in order of first mention."""
    found: dict[str, dict[str, None]] = {}
    for figure in figures:
        record = figure.record
        values = {key: record.get(key) for key in ("revision", "onset", "python", "platform", "device")}
        values |= record.get("libraries", {})
        for key, value in values.items():
            if value:
                found.setdefault(key, {})[str(value)] = None
    return tuple((key, ", ".join(values)) for key, values in found.items())
