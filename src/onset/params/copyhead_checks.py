"""Conditions that join sections of the copy-head parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from onset.params.copyhead import (
    LossFigure,
    OrderParameterFigure,
    PhaseDiagram,
    Sampling,
    StagesFigure,
    Sweep,
    TheoryGrid,
    Training,
    VariantSampling,
    VariantTraining,
)
from onset.params.variants import expand_variants

Problem = tuple[str, str]
Sections = Mapping[str, Any]

LEAST_RECORDS = 20


def check(sections: Sections) -> Iterator[Problem]:
    """Conditions that join sections, as (path of the key, what is wrong) pairs."""
    for name, section in sections.items():
        if isinstance(section, (Sampling, Training)):
            yield from _check_samples(f"{name}.P", section.P, sections)
        if isinstance(section, TheoryGrid) and section.P_max <= section.P_min:
            yield f"{name}.P_max", f"{section.P_max} is not above {name}.P_min = {section.P_min}"
        if isinstance(section, Sampling):
            yield from _check_chains(name, section, None, sections)
        if isinstance(section, (VariantSampling, VariantTraining, Sweep)):
            yield from _check_runs(name, section, sections)
        if isinstance(section, (Training, VariantTraining)) and section.record_every > section.epochs:
            yield f"{name}.record_every", f"{section.record_every} exceeds {name}.epochs = {section.epochs}"
    yield from _check_phases(sections)
    yield from _check_figures(sections)


def _check_samples(path: str, P: tuple[int, ...], sections: Sections) -> Iterator[Problem]:
    samples = sections["sequences"].samples
    if max(P) > samples:
        yield path, f"largest value {max(P)} exceeds sequences.samples = {samples}"


def _check_runs(name: str, section: Any, sections: Sections) -> Iterator[Problem]:
    """Each run of a section with variants, under the path of the run."""
    runs = expand_variants(section, "runs")
    if not runs:
        yield f"{name}.runs", "all runs are null; at least one is needed"
    records = {}
    for label, run in runs.items():
        override = section.runs[label]
        at = f"{name}.runs.{label}"
        path = f"{at}.P" if override.P is not None else f"{name}.P"
        if isinstance(run, Sweep) and len(run.P) < 2:
            yield path, "a sweep needs at least two values"
        if isinstance(run, Sweep):
            yield from _check_copy_state(path, run, sections)
        if getattr(run, "L", None) is None:
            yield from _check_samples(path, run.P, sections)
        if isinstance(run, VariantSampling):
            yield from _check_chains(name, run, label, sections)
            records[label] = run.steps // run.record_every
    if len(set(records.values())) > 1:
        found = ", ".join(f"{label} {count}" for label, count in records.items())
        yield f"{name}.runs", f"should all give the same number of records (steps/record_every), give {found}"


def _check_chains(
    name: str, section: Sampling | VariantSampling, label: str | None, sections: Sections
) -> Iterator[Problem]:
    """Records, snapshots and minibatches of Langevin chains; `label` is the run, where there are runs."""

    def path(key: str) -> str:
        override = section.runs[label] if isinstance(section, VariantSampling) and label else None
        return f"{name}.runs.{label}.{key}" if getattr(override, key, None) is not None else f"{name}.{key}"

    records = section.steps // section.record_every
    if records < LEAST_RECORDS:
        yield (
            path("record_every"),
            f"leaves {records} records of {section.steps} steps; at least {LEAST_RECORDS} are needed",
        )
    elif isinstance(section, Sampling) and section.snapshots > records:
        yield f"{name}.snapshots", f"{section.snapshots} exceeds the {records} records of a chain"
    if section.batch is not None and section.weights == "integrated":
        yield path("batch"), "should be null where weights are integrated: that needs all sequences at once"
    if section.start == "copy":
        yield from _check_copy_state(path("start"), section, sections)
    if section.batch is not None and section.batch > min(section.P):
        yield path("batch"), f"{section.batch} exceeds the smallest P = {min(section.P)}"


def _check_copy_state(path: str, section: Any, sections: Sections) -> Iterator[Problem]:
    """Queries and keys too narrow for chains to start from the copy state, which has rank L."""
    d_k = getattr(section, "d_k", None) or sections["prior"].d_k
    L = getattr(section, "L", None) or sections["task"].L
    if d_k is not None and d_k < L:
        yield path, f"chains cannot start from copying at d_k = {d_k}, below L = {L}"


def _check_phases(sections: Sections) -> Iterator[Problem]:
    """Sizes and variances that are sampled beside the phase diagram, but that its theory does not have."""
    theory, sampled = sections.get("phase_theory"), sections.get("phase_sgld")
    if not isinstance(theory, PhaseDiagram) or not isinstance(sampled, VariantSampling):
        return
    for label, run in expand_variants(sampled, "runs").items():
        for key in ("L", "v", "g_OV"):
            value = getattr(run, key)
            if value is not None and value not in getattr(theory, key):
                yield f"phase_sgld.runs.{label}.{key}", f"{value} is not among phase_theory.{key}"


def _check_figures(sections: Sections) -> Iterator[Problem]:
    """Values of P that figures draw, but that are not sampled or trained."""
    fig1, fig7 = sections.get("fig1"), sections.get("fig7")
    for name, kind in {"fig3": "linear", "fig4": "softmax"}.items():
        figure = sections.get(name)
        if isinstance(figure, OrderParameterFigure):
            for other, section in sections.items():
                if isinstance(section, Sampling) and section.attention == kind:
                    yield from _check_drawn(f"{name}.maps_at", figure.maps_at, other, section)
    if isinstance(fig1, StagesFigure):
        for key, other in (("linear_at", "linear_sgld"), ("softmax_at", "softmax_sgld_prior")):
            yield from _check_drawn(f"fig1.{key}", getattr(fig1, key), other, sections[other])
    if isinstance(fig7, LossFigure):
        yield from _check_drawn("fig7.at", fig7.at, "softmax_adam", sections["softmax_adam"])


def _check_drawn(path: str, drawn: tuple[int, ...], other: str, section: Any) -> Iterator[Problem]:
    for P in sorted(set(drawn) - set(section.P)):
        yield path, f"has {P}, which is not among {other}.P"
