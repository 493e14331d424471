"""Figure 7: next-token training has the same drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.selection import list_runs, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import look
from onset.store.attributes import parameters_of

if TYPE_CHECKING:
    from onset.job.context import Job

SCALINGS = {
    "tokens": "divided by the n + 1 tokens of a context",
    "context": "divided by the n pairs of a context",
}


def draw(job: Job) -> Figure:
    """Next-token loss of each run over the plateaus of Eq. 23.

    Inputs by role: `runs` (fig7_runs), `theory`.   Source: arXiv 2501.16265, figure 7, Eq. 23.
    """
    plotting, runs = job.sections["plotting"], job.inputs["runs"]
    size, notes = panels.small(plotting), []
    with look(plotting):
        figure = panels.open_figure(job.own)
        grid = figure.subplots(1, runs.sizes["run"], sharey=True, squeeze=False)[0]
        for axes, label, letter in zip(grid, list_runs(runs), "abcdefgh", strict=False):
            run = take_run(runs, label)
            theory = take_theory(job.inputs["theory"], run)
            model, levels = str(run.model.values), theory.next_token_plateau_loss.values
            panels.draw_losses(axes, run.loss, panels.MODELS[model], panels.MODEL_NAMES[model], "typical")
            axes.set_ylim(0, 1.06 * levels[0])
            if model == "separate":
                panels.mark_plateaus(axes, levels, size, [f"{m}" for m in theory.plateau.values], apart=0.05)
            else:
                panels.mark_plateaus(axes, levels[[0, -1]], size, ["$M_0$", "$M_*$"])
            panels.frame_steps(axes, [run.loss])
            samples = f"P = {int(run.samples)}" if int(run.samples) else "population"
            axes.set(xlabel="training step", title=f"{panels.MODEL_NAMES[model]}, {samples}")
            letter_panel(axes, letter, left=-3.0 if axes is grid[0] else -1.2)
            notes.append(f"{letter}: {panels.describe_run(run, 'model', 'samples')}")
        grid[0].set_ylabel("next-token loss")
        handles = [
            panels.handle("typical seed", "#444444"),
            panels.handle("other seeds", "#444444", linewidth=0.6, alpha=0.5),
            panels.plateau_handle("Eq. 23"),
        ]
        figure.legend(handles=handles, loc="upper center", ncol=3)
        scaling = parameters_of(job.inputs["theory"]).get("next_token", {}).get("scaling", "tokens")
        note = (
            f"{panels.describe_task(theory)}; loss averaged over contexts of n = 1 to N pairs, sums "
            f"{SCALINGS[scaling]}, in runs and in Eq. 23. {'; '.join(notes)}. Typical: in the middle by "
            "mean loss on the log axis. D, H, learning rate and initial sd are our choice, as the paper's "
            f"are not public. {panels.describe_scale(job.scale)}"
        )
        panels.finish(figure, plotting, note, legend_rows=1)
    return figure
