"""Figure 1: merged key-query attention and the MLP on cubic features learn in one drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import has_run, list_runs, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import GREEN, SKY, look

if TYPE_CHECKING:
    from onset.job.context import Job

WHITE = {"random": SKY, "aligned": GREEN}


def draw_flow(axes: Axes, flow: xr.Dataset, label: str, run: xr.Dataset, name: str = "loss") -> None:
    """Theory of one run, every integrated seed, against steps; Eq. 10 is `sigma_loss`, the flow `loss`."""
    if not has_run(flow, label):
        return
    line = panels.THEORY_LINE if name == "sigma_loss" else panels.FLOW_LINE
    steps = flow.time.values / float(run.time_per_epoch)
    inside = (steps > 0) & (steps <= float(run.epoch[-1]))
    for curve in flow[name].sel(run=label).transpose("seed", "time").values:
        axes.plot(steps[inside], curve[inside], label="_theory", **line)


def draw_models(job: Job, axes: list[Axes]) -> list[str]:
    """Loss of ATTN_M and of the MLP on sets (panels a, b) with the population's flow; the runs' settings."""
    runs, theory, notes = job.inputs["runs"], job.inputs["theory"], []
    for panel, model, letter in zip(axes, ("merged", "mlp"), "ab", strict=True):
        labels = [label for label in list_runs(runs, model=model) if int(runs.samples.sel(run=label))]
        for label in labels[:1]:
            run = take_run(runs, label)
            panels.draw_losses(panel, run.loss, panels.MODELS[model], panels.MODEL_NAMES[model])
            panels.frame_steps(panel, [run.loss])
            for population in list_runs(runs, model="merged", samples=0, task=str(run.task.values))[:1]:
                draw_flow(panel, job.inputs["flow"], population, take_run(runs, population))
            ends = take_theory(theory, run).plateau_loss.values[[0, -1]]
            panel.set_ylim(0, 1.08 * ends[0])
            panels.mark_plateaus(panel, ends, panels.small(job.sections["plotting"]), ["$M_0$", "$M_*$"])
            notes.append(panels.describe_run(run))
        title = "ATTN_M" if model == "merged" else "MLP on cubic features"
        panel.set(xlabel="training step", title=title)
        letter_panel(panel, letter, left=-2.6, up=0.3)
    axes[0].set_ylabel(panels.LOSS_LABEL)
    return notes


def draw_white(job: Job, axes: Axes) -> list[str]:
    """Loss on white inputs from two kinds of start, with Eq. 10 (panel c); the runs' settings."""
    runs, flow, notes = job.inputs["runs"], job.inputs["flow"], []
    drawn: dict[str, xr.Dataset] = {}
    for label in list_runs(runs, samples=0):
        run, kind = take_run(runs, label), "aligned" if label.startswith("aligned") else "random"
        if kind in drawn or np.ptp(take_theory(job.inputs["theory"], run).eigenvalue.values) > 0:
            continue
        x = run.epoch * float(run.time_per_epoch)
        panels.draw_losses(axes, run.loss, WHITE[kind], f"{kind} start", x=x)
        steps = xr.Dataset(coords={"time_per_epoch": 1.0, "epoch": x.values})
        draw_flow(axes, flow, label, steps, "sigma_loss")
        drawn[kind] = run
        size = "w_init" if kind == "aligned" else "initial\xa0sd"
        rest = panels.describe_run(run, "model", "samples", "init_std")
        notes.append(f"{kind} start, {size}\xa0{panels.format_number(float(run.init_std))}, {rest}")
    if drawn:
        ends = take_theory(job.inputs["theory"], next(iter(drawn.values()))).plateau_loss.values[[0, -1]]
        axes.set_ylim(0, 1.08 * ends[0])
        panels.mark_plateaus(axes, ends, panels.small(job.sections["plotting"]), ["$M_0$", "$M_*$"])
        units = [float(run.time_per_epoch) for run in drawn.values()]
        panels.frame_times(axes, [run.loss for run in drawn.values()], units)
    axes.set(xlabel=panels.TIME_LABEL, title="ATTN_M, white inputs")
    letter_panel(axes, "c", left=-2.6, up=0.3)
    return notes


def draw(job: Job) -> Figure:
    """Loss of ATTN_M and of the MLP on one training set, and of ATTN_M on white inputs with Eq. 10.

    Inputs by role: `runs` (fig1_runs), `theory`, `flow` (fig1_flow).
    Source: arXiv 2501.16265, figure 1, Eq. 10.
    """
    plotting = job.sections["plotting"]
    with look(plotting):
        figure = panels.open_figure(job.own)
        axes = list(figure.subplots(1, 3))
        trained, white = draw_models(job, axes[:2]), draw_white(job, axes[2])
        handles = [
            panels.handle("ATTN_M", panels.MODELS["merged"]),
            panels.handle("MLP", panels.MODELS["mlp"]),
            panels.handle("white, random start", WHITE["random"]),
            panels.handle("white, aligned start", WHITE["aligned"]),
            panels.handle("population gradient flow", **panels.FLOW_LINE),
            panels.handle("Eq. 10", **panels.THEORY_LINE),
            panels.plateau_handle("loss at fixed points"),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        note = (
            f"{describe_tasks(job)} a, b: {'; '.join(trained)}; a seed is one set and start for both; thin: "
            f"seeds, thick: median; the flow starts where runs on the population do. c: {'; '.join(white)}; "
            "Eq. 10 from a random start uses its overlap with the growing mode as w_init (our addition). "
            f"{panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note, legend_rows=2)
    return figure


def describe_tasks(job: Job) -> str:
    """The tasks of the panels, those of the sets first."""
    runs, theory = job.inputs["runs"], job.inputs["theory"]
    samples = runs.samples.values
    tasks = dict.fromkeys(str(runs.task.values[i]) for i in np.argsort(-samples, kind="stable"))
    found = (take_theory(theory, take_run(runs, list_runs(runs, task=task)[0])) for task in tasks)
    return "; ".join(panels.describe_task(task) for task in found) + "."
