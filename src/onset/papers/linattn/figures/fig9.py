"""Figure 9: the map and the heads of merged key-query attention turn from one direction to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from onset.papers.linattn.figures import panels
from onset.papers.linattn.figures.matrices import draw_matrix
from onset.papers.linattn.maps import compare_maps, early_map, early_snapshot, late_map
from onset.papers.linattn.selection import list_runs, take_run, take_theory
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLUE, HEADS, VERMILLION, look

if TYPE_CHECKING:
    from onset.job.context import Job

TARGETS = {"early": ("$\\Lambda^2$", BLUE), "late": ("optimal map", VERMILLION)}
"""What the map is parallel to before and after the drop: symbol and colour."""


def take_pair(runs: xr.Dataset, theory: xr.Dataset, seed: int) -> dict[str, xr.Dataset]:
    """One seed of the first merged run on a "set" and on the "population", as far as they are there.

    Both of the first task whose eigenvalues differ; on white inputs there is one direction only.
    Raises ValueError where no merged run has such a task.
    """
    found: dict[str, xr.Dataset] = {}
    for label in list_runs(runs, model="merged"):
        run = take_run(runs, label).sel(seed=seed)
        same = all(one.task == run.task for one in found.values())
        if same and np.ptp(take_theory(theory, run).eigenvalue.values) > 0:
            found.setdefault("set" if int(run.samples) else "population", run)
    if not found:
        raise ValueError("figure 9 needs a run of merged key-query attention on inputs that are not white")
    return found


def draw_diagonal(axes: Axes, run: xr.Dataset, flow: xr.Dataset | None, expected: xr.Dataset) -> None:
    """A_dd against steps, the exact flow and the values at the optimum (panel a)."""
    for d, colour in enumerate(panels.direction_colours(run.sizes["direction"])):
        one = run.A_diagonal.isel(direction=d)
        axes.plot(run.epoch.values, one.values, color=colour, label=f"$A_{{{d + 1}{d + 1}}}$", linewidth=1.4)
        axes.axhline(float(expected.late_map[d]), label="_optimum", **panels.PLATEAU)
        if flow is not None:
            at = flow.time.values / float(run.time_per_epoch)
            axes.plot(at, flow.A_diagonal.isel(direction=d).values, label="_flow", **panels.FLOW_LINE)
    axes.set(ylabel="diagonal of A", ylim=(None, 1.4 * float(expected.late_map.max())))
    axes.legend(ncol=2, loc="upper left", handlelength=1.0, columnspacing=0.8, borderaxespad=0.1)


def draw_cosines(axes: Axes, runs: dict[str, xr.Dataset], expected: xr.Dataset) -> None:
    """Cosine of A with Λ² and with the optimal map, over the snapshots of each run (panel b)."""
    styles: dict[str, dict[str, Any]] = {
        "population": {"linestyle": "solid", "zorder": 2},
        "set": {"linestyle": "none", "marker": "o", "markersize": 2.4, "zorder": 3},
    }
    for name, target in (("early", early_map(expected)), ("late", late_map(expected))):
        symbol, colour = TARGETS[name]
        for kind, run in runs.items():
            at, cosine = run.snapshot_epoch.values, compare_maps(run.A, target).values
            axes.plot(at, cosine, color=colour, label=f"{symbol}, {kind}", **styles[kind])
    between = float(compare_maps(early_map(expected), late_map(expected)))
    axes.axhline(between, label="_between", **panels.PLATEAU)
    axes.set(ylim=(0, 1.05), ylabel="cosine with A")
    axes.legend(loc="lower right", handlelength=1.4, borderaxespad=0.1)


def draw_heads(values: Axes, cosines: Axes, run: xr.Dataset) -> None:
    """Every head's value, and the cosine of its U with A, signs of v and U taken out (panels c and d)."""
    at = run.snapshot_epoch.values
    v = run.v.sel(epoch=xr.DataArray(at, dims="snapshot")).drop_vars("epoch")
    aligned = compare_maps(run.U * np.sign(v), run.A)
    for head in run["head"].values:
        line: dict[str, Any] = {
            "color": HEADS[head % len(HEADS)],
            "linewidth": 1.0,
            "label": f"head {head + 1}",
        }
        line["linestyle"] = "solid" if head < len(HEADS) else (0, (3.0, 1.2))
        values.plot(run.epoch.values, run.v.sel(head=head).values, **line)
        cosines.plot(at, aligned.sel(head=head).values, **line)
    values.axhline(0, color="#BBBBBB", linewidth=0.6, zorder=0)
    values.set_ylabel("value weight $v_i$")
    cosines.set(ylim=(min(0.0, float(aligned.min())) - 0.02, 1.05), ylabel="cosine of $U_i$ with A")


def draw_maps(part: SubFigure, run: xr.Dataset, expected: xr.Dataset, before: int) -> np.ndarray:
    """A before and after the drop over what theory says, each before the drop over its norm (panel e)."""
    grid = np.asarray(part.subplots(2, 2))
    early = run.A.isel(snapshot=before).values.astype(np.float64)
    steps = [int(run.snapshot_epoch[k]) for k in (before, -1)]
    draw_matrix(grid[0, 0], early / np.linalg.norm(early), f"A / |A|, step {steps[0]}")
    draw_matrix(grid[0, 1], run.A.isel(snapshot=-1).values, f"A, step {steps[1]}")
    draw_matrix(grid[1, 0], early_map(expected).values, "$\\Lambda^2/|\\Lambda^2|$")
    draw_matrix(grid[1, 1], late_map(expected).values, "optimal map")
    return grid


def draw(job: Job) -> Figure:
    """Weights of ATTN_M along training, and its map early and late, with the flow and the theory's matrices.

    Inputs by role: `runs` (fig1_runs), `theory`, `flow` (fig1_flow).  Raises KeyError where the seed was not
    trained, ValueError where all inputs are white.  Source: arXiv 2501.16265, figure 9.
    """
    plotting, runs, flow = job.sections["plotting"], job.inputs["runs"], job.inputs["flow"]
    pair = take_pair(runs, job.inputs["theory"], job.own.seed)
    drawn = next(pair[kind] for kind in ("set", "population") if kind in pair)
    exact = pair.get("population")
    expected = take_theory(job.inputs["theory"], drawn)
    overlay = None
    if exact is not None and str(exact.run.values) in flow.run.values and job.own.seed in flow.seed.values:
        overlay = flow.sel(run=str(exact.run.values), seed=job.own.seed)
    with look(plotting):
        figure = panels.open_figure(job.own)
        left, right = np.asarray(figure.subfigures(1, 2, width_ratios=[1.97, 1.0]))
        grid = left.subplots(2, 2, sharex=True)
        draw_diagonal(grid[0, 0], drawn, overlay, expected)
        draw_cosines(grid[0, 1], pair, expected)
        draw_heads(grid[1, 0], grid[1, 1], drawn)
        titles = ("map", "direction of the map", "values of the heads", "directions of the heads")
        for axes, letter, title in zip(grid.flat, "abcd", titles, strict=True):
            axes.set_title(title, loc="left", pad=4)
            letter_panel(axes, letter, left=-2.6)
        for axes in grid[1]:
            axes.set_xlabel("gradient steps")
            axes.set_xlim(0, int(drawn.epoch[-1]))
        maps = draw_maps(right, drawn, expected, early_snapshot(drawn))
        letter_panel(maps[0, 0], "e", left=-1.2)
        note = (
            f"One run, seed\xa0{job.own.seed}: {panels.describe_run(drawn)}; "
            f"{panels.describe_task(expected)}. "
            "a: dotted, exact population flow from the same start; dashed, optimum. b: dashed, cosine "
            "between the "
            "two targets. c, d: every head, in d with the sign of v_i taken out. The map starts as noise, "
            "turns to Λ² while the "
            "loss is flat, and to E[Λ̂²]⁻¹Λ in and after the drop. Settings as in figure 1; which seed is "
            "our choice."
        )
        panels.finish(figure, plotting, f"{note} {panels.describe_scale(job.scale)}".strip())
    return figure
