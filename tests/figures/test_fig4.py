"""Guarantees of figure 4, by its artists:

- both branches of each theory are the theory's data, unchanged, and P_c is marked
- the shaded window is the pair of dressed spinodals; without a transition nothing is shaded or marked
- both starts are drawn as differently filled diamonds, with every chain behind its mean; Adam as circles
- a1 is drawn at 1
- a map for each start and each P of maps_at, holding the chains' mean
- every meaning has an entry in the legend, and two draws give the same PDF bytes
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.figures import copyhead_results as results
from tests.figures import reading
from tests.figures.reading import PLOTTING

from onset.papers.copyhead.figures import fig4
from onset.plotting.style import COPYING, POOLING

MAPS = [30, 42, 64]
START = {"from prior": "from_prior", "from copying": "from_copy"}


@pytest.fixture
def job(make_job):
    return make_job("fig4", MAPS)


@pytest.fixture
def figure(job):
    return fig4.draw(job)


def test_both_branches_of_each_theory(figure, job):
    aG, axes = job.inputs["theory"].aG, reading.panels(figure)["a"]
    for kind, label in (("bare", "bare theory"), ("map", "MAP theory"), ("dressed", "dressed theory")):
        drawn = np.stack([line.get_ydata() for line in reading.lines(axes, label)])
        np.testing.assert_array_equal(drawn, aG.sel(theory=kind).transpose("branch", "P"))


def test_window_is_the_pair_of_spinodals(figure):
    axes = reading.panels(figure)["a"]
    (window,) = [p for p in axes.patches if p.get_label() == "both phases, dressed"]
    box = window.get_extents().transformed(axes.transData.inverted())
    assert (box.x0, box.x1) == pytest.approx((results.LOWER["dressed"], results.UPPER["dressed"]))
    (line,) = reading.lines(axes, "transition $P_c$, dressed")
    assert set(line.get_xdata()) == {results.TRANSITION["dressed"]}


def test_without_a_transition_nothing_is_marked(job):
    theory = job.inputs["theory"]
    for name in ("P_c", "P_lower", "P_upper"):
        theory[name] = theory[name] * np.nan
    axes = reading.panels(fig4.draw(job))["a"]
    assert not axes.patches and not reading.lines(axes, "transition $P_c$, dressed")


@pytest.mark.parametrize("start", START)
def test_diamonds_of_both_starts(figure, job, start):
    sgld, axes = job.inputs[START[start]], reading.panels(figure)["a"]
    per_chain = sgld.aG.values[:, :, sgld.kept.values].astype(float).mean(-1)
    (diamonds,) = reading.lines(axes, f"$a_G$, SGLD {start}")
    np.testing.assert_allclose(diamonds.get_ydata(), per_chain.mean(0), rtol=1e-12)
    assert diamonds.get_markeredgecolor() == COPYING
    assert (diamonds.get_markerfacecolor() == "none") == (start == "from copying")
    members = [line for line in reading.lines(axes, "_members") if line.get_ydata()[5] == per_chain[0, 5]]
    np.testing.assert_allclose(np.sort(members[0].get_ydata()), np.sort(per_chain.ravel()), rtol=1e-12)


def test_circles_and_pooling(figure, job):
    axes = reading.panels(figure)["a"]
    (circles,) = reading.lines(axes, "$a_G$, Adam")
    final = job.inputs["adam"].aG.isel(epoch=-1).astype(float).mean("seed")
    np.testing.assert_allclose(circles.get_ydata(), final, rtol=1e-12)
    for label in ("$a_1$, Adam", "$a_1$, SGLD from prior"):
        (points,) = reading.lines(axes, label)
        assert set(points.get_ydata()) == {1.0}
        assert points.get_markeredgecolor() == POOLING


def test_a_map_for_each_start_and_P(figure, job):
    axes = reading.maps(figure)
    assert len(axes) == 2 * len(MAPS)
    titles = [a.get_title(loc="left") for a in axes]
    assert titles == ["from prior\nP = 30", "P = 42", "P = 64", "from copying\nP = 30", "P = 42", "P = 64"]
    for panel, (role, P) in zip(axes, [(r, P) for r in START.values() for P in MAPS], strict=True):
        expected = job.inputs[role].attention_mean.sel(P=P).values.astype(float).mean(0)
        np.testing.assert_allclose(panel.images[0].get_array(), expected, rtol=1e-12)


def test_legend(figure):
    entries = [t.get_text() for t in figure.legends[0].get_texts() if t.get_text().strip()]
    assert entries == [
        "bare theory",
        "MAP theory",
        "dressed theory",
        "transition $P_c$, dressed",
        "both phases, dressed",
        "$a_G$, SGLD from prior",
        "$a_G$, SGLD from copying",
        "$a_G$, Adam",
        "$a_1$, SGLD",
        "$a_1$, Adam",
    ]


def test_two_draws_give_the_same_bytes(job):
    assert reading.pdf(fig4.draw(job), PLOTTING) == reading.pdf(fig4.draw(job), PLOTTING)
