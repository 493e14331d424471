"""Figure 5: the plane of two order parameters covers the attention; and finite widths of queries and keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onset.papers.copyhead import coverage
from onset.papers.copyhead.coverage import align_with_theory, free_seeds, mean_attention
from onset.papers.copyhead.figures import panels, parts
from onset.papers.copyhead.figures.widths import draw_widths, width_handles
from onset.papers.copyhead.selection import signed_means
from onset.plotting.panels import letter_panel
from onset.plotting.style import BLACK, COPYING, GREEN, ORANGE, POOLING, TRANSITION, WINDOW, axis_label, look

if TYPE_CHECKING:
    from onset.job.context import Job

Inputs = Mapping[str, xr.Dataset]

SAMPLE: dict[str, Any] = {"linestyle": "none", "marker": "s", "markersize": 3.0, "color": ORANGE}
MEAN = panels.sgld_points(GREEN)
ADAM = panels.adam_points(BLACK)


def draw_ratio(axes: Axes, inputs: Inputs, kind: str) -> None:
    """Share of |A| in the plane: Adam's seeds, the chains' mean, single samples, and the theory of these."""
    theory, sgld, adam = (inputs[f"{kind}_{role}"] for role in ("theory", "sgld", "adam"))
    free = signed_means(sgld).free if kind == "linear" else None
    dressed = theory.sel(theory="dressed")
    if kind == "linear":
        panels.draw_line(axes, dressed.coverage, "dressed")
        panels.draw_line(axes, theory.coverage_mean.rename(P_finite="P"), "finite")
        panels.mark_transition(axes, float(dressed.onset), "onset")
    else:
        window = float(dressed.P_lower), float(dressed.P_upper)
        if np.isfinite(window).all():
            axes.axvspan(*window, color=WINDOW, linewidth=0, zorder=0, label="both phases")
        for branch in dressed.branch.values:
            panels.draw_line(axes, dressed.coverage.sel(branch=branch), "dressed")
        panels.mark_transition(axes, float(dressed.P_c), "transition")
    sample = coverage.cover_samples(sgld, kind, free)
    axes.plot(sample.P.values, sample.values, label="sample", zorder=3.2, **SAMPLE)
    mean = coverage.cover_attention(mean_attention(inputs, kind))
    axes.plot(mean.P.values, mean.values, label="mean", zorder=3.4, **MEAN)
    panels.draw_seeds(axes, coverage.cover_attention(adam.attention), ~free_seeds(inputs, kind), ADAM, "Adam")
    axes.set(xlabel=axis_label(sgld.P.attrs, "P"), ylim=(-0.04, 1.09))
    axes.set_title(f"{kind} attention", loc="right", pad=3)


def draw_cosines(axes: Axes, inputs: Inputs) -> None:
    """Cosine with the dressed theory's matrix, of the chains' mean and of Adam, both attention kinds."""
    for kind, colour in (("linear", POOLING), ("softmax", COPYING)):
        mean = align_with_theory(inputs, kind, mean_attention(inputs, kind))
        axes.plot(mean.P.values, mean.values, label=f"{kind}, SGLD", zorder=3, **panels.sgld_points(colour))
        seeds = align_with_theory(inputs, kind, inputs[f"{kind}_adam"].attention)
        panels.draw_seeds(axes, seeds, ~free_seeds(inputs, kind), panels.adam_points(colour), f"{kind}, Adam")
    low = min([0.9, *(float(np.nanmin(line.get_ydata(), initial=0.9)) for line in axes.lines)])
    axes.set(
        xlabel=axis_label(inputs["linear_sgld"].P.attrs, "P"),
        ylim=(low - 0.1 * (1 - low), 1 + 0.1 * (1 - low)),
    )
    axes.set_title("cosine with theory", loc="right", pad=3)


def cover_handles() -> list[Artist]:
    """Entries of the legend of the upper row."""
    return [
        *panels.theory_handles("dressed", "finite"),
        parts.line_handle("onset, $P_c$", **TRANSITION),
        panels.point_handle("SGLD, one sample", SAMPLE),
        panels.point_handle("SGLD, mean", MEAN),
        panels.point_handle("Adam", ADAM),
        panels.point_handle("c: linear", panels.sgld_points(POOLING)),
        panels.point_handle("c: softmax", panels.sgld_points(COPYING)),
    ]


def describe_variants(variants: xr.Dataset) -> str:
    """One sentence on how far other samplers are from the chains of figures 3 and 4."""
    order = ["pooling", "copy"]
    difference = abs(variants["mean"] - variants.reference_mean).sel(quantity=order)
    both = difference.max("quantity")
    worst = float(both.max())
    at = both.where(both == worst, drop=True)
    if not np.isfinite(worst):
        return ""
    return (
        "Collapsed and minibatch samplers, half the step and a start from copying "
        f"({variants.sizes['run']} runs) move no order parameter by more than {worst:.3f} "
        f"({str(at.run.values[0]).replace('_', ' ')}, P = {at.P.values[0]:g})."
    )


def draw(job: Job) -> Figure:
    """Coverage against P (top: linear, softmax, cosine with theory) and finite d_k (bottom: c1, cG, aG).

    Inputs by role: `linear_theory`, `softmax_theory`, `linear_sgld`, `softmax_sgld`, `linear_adam`,
    `softmax_adam`, `variants`, `qk_theory`, `qk_sgld`, `qk_adam`.
    Source: top, arXiv 2606.12058, figure 5 (projected norm ratio and cosine similarity); bottom is ours.
    """
    plotting, inputs = job.sections["plotting"], job.inputs
    with look(plotting):
        figure = parts.open_plain(job.own)
        upper, lower = figure.subplots(2, 3)
        for axes, kind in zip(upper, ("linear", "softmax"), strict=False):
            draw_ratio(axes, inputs, kind)
        upper[0].set_ylabel("$|A_{plane}| / |A|$")
        draw_cosines(upper[2], inputs)
        draw_widths(lower, inputs)
        for axes, letter in zip([*upper, *lower], "abcdef", strict=True):
            letter_panel(axes, letter, left=-3.4 if letter in "ad" else -2.0)
        handles = [*cover_handles(), *width_handles(inputs)]
        figure.legend(handles=handles, loc="upper center", ncol=4)
        sgld, qk, adam = inputs["linear_sgld"], inputs["qk_sgld"], inputs["qk_adam"]
        note = (
            f"{parts.name_sizes(inputs['linear_theory'])}a, b: share of |A| in the plane of J/L and G; "
            f"c: cosine of A with the dressed theory's matrix. {parts.describe_chains(sgld)}; "
            f"{parts.describe_seeds(inputs['linear_adam'])}. d–f: queries and keys of width d_k; "
            f"{qk.sizes['chain']} chains, bars two standard errors, and {adam.sizes['seed']} seeds (small). "
            "Adam with matched decay on Q, K does not reach the posterior: its minimum has the nuclear norm "
            "as prior (dotted). Anchored decay, towards the start, is our attempt; the paper's is not known. "
            f"{describe_variants(inputs['variants'])} {parts.SIZES}"
        )
        panels.finish(figure, plotting, note, legend_rows=parts.legend_rows(handles, 4))
    return figure
