"""Conditions that join keys or sections of *Incremental Learning of Sparse Attention Patterns*."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from onset.params.sparse import (
    Chain,
    FlowTimes,
    FullModel,
    MapFigure,
    Sequences,
    Training,
)
from onset.params.variants import expand_variants

ROUNDING_SCALE = 1e-6
"""Starts at or below which float32 rounds the differences between heads away in the first steps."""

ALPHA_TOLERANCE = 1e-9
"""By how much a group's alpha may miss one, for its entries are rounded."""

M_CHAINS = ("m1_chain", "m13_chain", "m15_chain")
"""Chains that one dataset holds."""

FIGURE_RUNS = {
    "fig1": "base_runs",
    "fig2": "full_runs",
    "fig3": "full_runs",
    "fig8": "dynamics_runs",
    "fig9": "online_runs",
    "fig10": "online_runs",
    "fig11": "reversed_runs",
    "fig12": "reversed_runs",
    "fig13": "two_block_runs",
    "fig14": "two_block_runs",
    "fig15": "uneven_runs",
    "fig16": "uneven_runs",
    "fig17": "overlap_runs",
    "fig18": "overlap_runs",
    "fig19": "overlap_runs",
    "fig20": "sgd_runs",
    "fig21": "sgd_runs",
}
"""The experiment of each figure of one run."""

At = Callable[[str], str]


def check(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Conditions that join keys or sections, as (path of the key, what is wrong) pairs."""
    chains = {name: section for name, section in sections.items() if isinstance(section, Chain)}
    sets = {name: section for name, section in sections.items() if isinstance(section, Sequences)}
    for name, chain in chains.items():
        yield from _check_chain(name, chain)
    shapes = {(chains[c].d, chains[c].T, chains[c].window, len(chains[c].groups)) for c in M_CHAINS}
    if len(shapes) > 1:
        yield "m1_chain", f"should share d, T, window and number of groups with {' and '.join(M_CHAINS[1:])}"
    for name, section in sections.items():
        if isinstance(section, Training):
            yield from _check_training(name, section, chains, sets, sections["full_model"])
    yield from _check_references(sections)
    yield from _check_flows(sections)
    yield from _check_figures(sections)


def name_sequences(chain: str) -> str:
    """The experiment that holds the sequences of a chain."""
    return "m_sequences" if chain in M_CHAINS else chain.replace("_chain", "_sequences")


def _check_chain(name: str, chain: Chain) -> Iterator[tuple[str, str]]:
    outside = [lag for group in chain.groups for lag in group if not 1 <= lag <= chain.window]
    if outside:
        yield (
            f"{name}.groups",
            f"has lag {', '.join(map(str, sorted(set(outside))))}; lags go from 1, the latest token, to "
            f"{name}.window = {chain.window}",
        )
    lags = [lag for group in chain.groups for lag in group]
    shared = sorted({lag for lag in lags if lags.count(lag) > 1})
    if shared and not chain.overlap:
        yield (
            f"{name}.groups",
            f"overlap at lag {', '.join(map(str, shared))}; should be disjoint, or {name}.overlap true",
        )
    if len(chain.groups) > chain.d**2 and chain.mutually_orthogonal:
        yield f"{name}.groups", f"has more groups than there are orthogonal matrices of size {chain.d}"
    if chain.alpha is not None:
        yield from _check_alpha(f"{name}.alpha", chain.alpha, chain)
        if chain.scaling == "sum":
            yield f"{name}.alpha", f"should be null where {name}.scaling is sum, which adds tokens up"


def _check_alpha(where: str, alpha: Sequence[Sequence[float]], chain: Chain) -> Iterator[tuple[str, str]]:
    sizes, expected = [len(row) for row in alpha], [len(group) for group in chain.groups]
    if sizes != expected:
        yield where, f"has {sizes} weights; should have one for each lag of the groups, {expected}"
    for k, row in enumerate(alpha, start=1):
        if abs(sum(row) - 1) > ALPHA_TOLERANCE:
            yield where, f"of I({k}) sums to {sum(row):.6g}; should sum to 1"


def _check_training(
    name: str,
    section: Training,
    chains: Mapping[str, Chain],
    sets: Mapping[str, Sequences],
    full_model: FullModel,
) -> Iterator[tuple[str, str]]:
    runs = expand_variants(section, "runs")
    if not runs:
        yield f"{name}.runs", "leaves out every run; at least one should stay"
    for label, run in runs.items():
        override = section.runs[label]

        def at(key: str, where: str = f"{name}.runs.{label}", given: Any = override) -> str:
            return f"{where}.{key}" if getattr(given, key, None) is not None else f"{name}.{key}"

        if run.chain not in chains:
            yield at("chain"), f"= {run.chain!r}: should be one of {', '.join(sorted(chains))}"
            continue
        if section.chain in chains and name_sequences(run.chain) != name_sequences(section.chain):
            yield (
                at("chain"),
                f"= {run.chain!r}: {name} trains on {name_sequences(section.chain)}, which has no such chain",
            )
        yield from _check_run(run, at, chains[run.chain], full_model)
        data = sets[name_sequences(run.chain)]
        if run.samples > data.samples:
            yield (
                at("samples"),
                f"= {run.samples}: exceeds {name_sequences(run.chain)}.samples = {data.samples}",
            )
        if section.evaluation_samples > data.validation:
            yield (
                f"{name}.evaluation_samples",
                f"= {section.evaluation_samples}: exceeds {name_sequences(run.chain)}.validation = "
                f"{data.validation}",
            )
        lacking = sorted(set(range(section.seeds)) - set(data.seeds))
        if lacking:
            yield (
                f"{name}.seeds",
                f"= {section.seeds}: {name_sequences(run.chain)}.seeds has no {', '.join(map(str, lacking))}",
            )
        if run.steps % section.evaluate_every:
            yield at("steps"), f"= {run.steps}: should be a multiple of {name}.evaluate_every"
    last = max((run.steps for run in runs.values()), default=0)
    for step in section.map_steps:
        if step > last or step % section.evaluate_every:
            yield (
                f"{name}.map_steps",
                f"has {step}, which is not evaluated; should be a multiple of {name}.evaluate_every = "
                f"{section.evaluate_every} up to {last}",
            )


def _check_run(run: Training, at: At, chain: Chain, full_model: FullModel) -> Iterator[tuple[str, str]]:
    if run.model == "full":
        if full_model.width % run.heads:
            yield at("heads"), f"= {run.heads}: should divide full_model.width = {full_model.width}"
        if full_model.width < chain.d:
            yield (
                "full_model.width",
                f"= {full_model.width}: should be at least {run.chain}.d = {chain.d}, for the embedding has "
                "orthonormal columns",
            )
        if run.init_scale is not None:
            yield at("init_scale"), f"= {run.init_scale:g}: the full model has no such start; should be null"
    else:
        for key, usual in (
            ("normalise", True),
            ("residual", True),
            ("feed_forward", True),
            ("merged", False),
        ):
            if getattr(run, key) is not usual:
                yield at(key), f"= {getattr(run, key)}: a switch of the full model; this run's is minimal"
    small = run.init_scale is not None and 0 < run.init_scale <= ROUNDING_SCALE
    if small and run.dtype == "float32":
        yield (
            at("dtype"),
            f"= 'float32': rounding removes differences between heads of {run.init_scale:g}; should be "
            "float64",
        )
    if run.context is not None and run.context > chain.window + chain.T - 1:
        yield at("context"), f"= {run.context}: exceeds the {chain.window + chain.T - 1} tokens of a sequence"


def _check_references(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, source in (("full_runs", "full_references"), ("size_runs", "base_references")):
        runs, references = sections[name], sections[source]
        if not references.predictions:
            yield f"{source}.predictions", "= false: the divergences of the runs need them; should be true"
        if references.seeds < runs.seeds:
            yield f"{source}.seeds", f"= {references.seeds}: should be at least {name}.seeds = {runs.seeds}"
        if references.evaluation_samples != runs.evaluation_samples:
            yield (
                f"{source}.evaluation_samples",
                f"= {references.evaluation_samples}: should equal {name}.evaluation_samples = "
                f"{runs.evaluation_samples}",
            )
        for label, run in expand_variants(references, "runs").items():
            if run.context is None:
                yield f"{source}.runs.{label}.context", "is missing; a reference has a restricted context"
            if run.chain != runs.chain:
                yield f"{source}.chain", f"= {run.chain!r}: should be {name}.chain = {runs.chain!r}"


def _check_flows(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    features, starts, solver = sections["features"], sections["flow_starts"], sections["flow_solver"]
    flow, boundaries = sections["regression_flow"], sections["stage_flow"].boundaries
    if features.h > features.T:
        yield "features.h", f"= {features.h}: should be at most features.T = {features.T}"
    if not any(run is not None for run in starts.runs.values()):
        yield "flow_starts.runs", "leaves out every run; at least one should stay"
    if flow.seeds > len(starts.seeds):
        yield (
            "regression_flow.seeds",
            f"= {flow.seeds}: flow_starts.seeds has {len(starts.seeds)}, of which it takes the first",
        )
    for name, section in sections.items():
        if isinstance(section, FlowTimes) and not section.first_time < section.time:
            yield f"{name}.first_time", f"= {section.first_time:g}: should be below {name}.time"
    if not solver.switch_time > flow.first_time:
        yield (
            "flow_solver.switch_time",
            f"= {solver.switch_time:g}: should exceed regression_flow.first_time = {flow.first_time:g}",
        )
    if boundaries is not None:
        if len(boundaries) != features.h - 1:
            yield (
                "stage_flow.boundaries",
                f"has {len(boundaries)} times; should have features.h - 1 = {features.h - 1}",
            )
        if list(boundaries) != sorted(set(boundaries)) or boundaries[-1] >= flow.time:
            yield "stage_flow.boundaries", "should increase and end before regression_flow.time"
    ends = [segment.until for segment in sections["start_sweep"].segments]
    if ends != sorted(set(ends)):
        yield "start_sweep.segments", f"end at {', '.join(f'{end:g}' for end in ends)}; should increase"


def _check_figures(sections: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, source in FIGURE_RUNS.items():
        figure, runs = sections[name], sections[source]
        yield from _check_drawn(name, figure, source, runs, (("run", figure.run),))
        if isinstance(figure, MapFigure):
            lacking = [step for step in figure.steps if step not in runs.map_steps]
            if lacking:
                yield (
                    f"{name}.steps",
                    f"has {', '.join(map(str, lacking))}; should be among {source}.map_steps = "
                    f"{list(runs.map_steps)}",
                )
    fig5, sizes = sections["fig5"], sections["size_runs"]
    yield from _check_drawn("fig5", fig5, "size_runs", sizes, (("runs", label) for label in fig5.runs))
    for source in ("scale_runs", "m_runs"):
        yield from _check_drawn("fig4", sections["fig4"], source, sections[source], ())
    for name in ("fig6", "fig7"):
        figure, starts = sections[name], sections["flow_starts"]
        if starts.runs.get(figure.run) is None:
            yield f"{name}.run", f"= {figure.run!r}: should be a run of flow_starts.runs"
        followed = starts.seeds[: sections["regression_flow"].seeds]
        if figure.seed not in followed:
            known = ", ".join(map(str, followed))
            yield f"{name}.seed", f"= {figure.seed}: should be one that regression_flow follows: {known}"


def _check_drawn(
    name: str, figure: Any, source: str, runs: Training, labels: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    if figure.seed >= runs.seeds:
        yield f"{name}.seed", f"= {figure.seed}: should be below {source}.seeds = {runs.seeds}"
    for key, label in labels:
        if runs.runs.get(label) is None:
            known = ", ".join(sorted(run for run, override in runs.runs.items() if override is not None))
            yield f"{name}.{key}", f"names {label!r}; should be one of the runs of {source}: {known}"
