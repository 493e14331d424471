"""Figure 5: softmax attention keeps one drop (merged) and several drops (separate key and query)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr
from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import list_runs, take_run
from onset.plotting.panels import letter_panel
from onset.plotting.style import look, tint
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    from onset.job.context import Job


def describe_softmax(runs: xr.Dataset) -> tuple[str, float]:
    """Settings of a softmax result in one phrase, and the time t/tau of a step."""
    own = parameters_of(runs).get("own", {})
    rate = float(own.get("learning_rate", 0.5))
    if not own:
        return panels.count_seeds(runs), 2 * rate
    parts = [f"H\xa0=\xa0{own['heads']}"]
    parts += [f"R\xa0=\xa0{own['rank']}"] if own.get("rank") else []
    parts += [f"P\xa0=\xa0{own['samples']}", f"initial\xa0sd\xa0{panels.format_number(own['init_std'])}"]
    parts += [f"learning\xa0rate\xa0{panels.format_number(rate)}", f"{int(runs.epoch[-1])}\xa0steps"]
    return ", ".join([*parts, panels.count_seeds(runs)]), 2 * rate


def draw(job: Job) -> Figure:
    """Loss of softmax attention with merged and with separate key and query, beside the linear runs.

    Inputs by role: `merged` (fig5_merged), `separate` (fig5_separate), `linear_merged` (fig1_runs) and
    `linear_separate` (fig3_runs).   Source: arXiv 2501.16265, figure 5.
    """
    plotting, notes = job.sections["plotting"], []
    with look(plotting):
        figure = panels.open_figure(job.own)
        for axes, model, letter in zip(
            figure.subplots(1, 2, sharey=True), ("merged", "separate"), "ab", strict=True
        ):
            softmax, linear = job.inputs[model], job.inputs[f"linear_{model}"]
            colour = panels.MODELS[model]
            settings, unit = describe_softmax(softmax)
            notes.append(f"{letter}: {settings}")
            labels = [label for label in list_runs(linear, model=model) if int(linear.samples.sel(run=label))]
            framed, units = [softmax.loss], [unit]
            for label in labels[:1]:
                run = take_run(linear, label)
                x = run.epoch * float(run.time_per_epoch)
                grey: dict[str, Any] = {"average": "none", "color": tint("#555555", 0.55), "zorder": 2}
                panels.draw_losses(axes, run.loss, "#555555", "linear", x=x, **grey)
                framed, units = [*framed, run.loss], [*units, float(run.time_per_epoch)]
            panels.draw_losses(axes, softmax.loss, colour, "softmax", "typical", x=softmax.epoch * unit)
            panels.frame_times(axes, framed, units)
            axes.set_ylim(0, 1.1 * float(softmax.loss.isel(epoch=0).median()))
            axes.set(xlabel=panels.TIME_LABEL, title=f"{panels.MODEL_NAMES[model]}")
            axes.legend(loc="lower left")
            letter_panel(axes, letter, left=-3.0 if letter == "a" else -1.2)
        figure.axes[0].set_ylabel(panels.LOSS_LABEL)
        note = (
            f"Softmax: {'; '.join(notes)}. Unscaled scores over all N + 1 tokens, without 1/N; learning "
            "rate, initial sd and number of steps are our choice, as the paper's are not public. Time is "
            "twice the learning rate for each step; linear and softmax runs differ in start and units: "
            "compare shapes, not times. Linear: the runs of figures 1 and 3. "
            f"{panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note)
    return figure
