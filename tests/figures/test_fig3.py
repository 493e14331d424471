"""Guarantees of figure 3, by its artists:

- each theory's line, the finite-size means and the metastable state are the theory's data, unchanged
- SGLD diamonds are means over free chains of means over kept steps, with raw signs removed; bars are the sd
- Adam circles are means over the cluster of lower loss; members left out are drawn, one by one
- the onset is marked at the dressed one in both panels
- one map for each P of maps_at, holding the chains' mean, on one colour scale, named by its stage
- every meaning has an entry in the legend, and the footnote names sizes, runs and what is a reconstruction
- no text is under 6.5 points, overlaps another or leaves the page (also for figure 4)
- two draws give the same PDF bytes
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.figures import copyhead_results as results
from tests.figures import reading
from tests.figures.reading import PLOTTING

from onset.papers.copyhead.figures import fig3, fig4
from onset.plotting.style import COPYING, POOLING, look

MAPS = [40, 80, 100, 150]


@pytest.fixture
def job(make_job):
    return make_job("fig3", MAPS)


@pytest.fixture
def figure(job):
    return fig3.draw(job)


@pytest.mark.parametrize(("letter", "name"), [("a", "c1"), ("b", "cG")])
def test_theory_lines_are_the_theory(figure, job, letter, name):
    theory, axes = job.inputs["theory"], reading.panels(figure)[letter]
    for kind, label in (("bare", "bare theory"), ("map", "MAP theory"), ("dressed", "dressed theory")):
        (line,) = reading.lines(axes, label)
        np.testing.assert_array_equal(line.get_xdata(), theory.P)
        np.testing.assert_array_equal(line.get_ydata(), theory[name].sel(theory=kind))
    (means,) = reading.lines(axes, "dressed, mean at finite L")
    np.testing.assert_array_equal(means.get_ydata(), theory[f"{name}_mean"])
    (metastable,) = reading.lines(axes, "dressed, metastable")
    np.testing.assert_array_equal(metastable.get_ydata(), theory[f"metastable_{name}"].sel(theory="dressed"))


@pytest.mark.parametrize(("letter", "name", "colour"), [("a", "c1", POOLING), ("b", "cG", COPYING)])
def test_diamonds_are_means_over_free_chains_and_kept_steps(figure, job, letter, name, colour):
    sgld = job.inputs["sgld"]
    sign = np.sign(sgld.c1.values)
    per_chain = (sgld[name].values * sign)[:, :, sgld.kept.values].astype(float).mean(-1)
    free = ~sgld.trapped.values
    expected = [per_chain[free[:, i], i].mean() for i in range(sgld.sizes["P"])]
    deviation = [per_chain[free[:, i], i].std(ddof=1) for i in range(sgld.sizes["P"])]

    axes = reading.panels(figure)[letter]
    (diamonds,) = reading.lines(axes, "SGLD")
    np.testing.assert_allclose(diamonds.get_ydata(), expected, rtol=1e-12)
    assert diamonds.get_marker() == "D"
    assert diamonds.get_markeredgecolor() == colour
    (container,) = [c for c in axes.containers if c.get_label() == "SGLD"]
    segments = np.array(container.lines[2][0].get_segments())
    np.testing.assert_allclose(np.diff(segments[:, :, 1])[:, 0] / 2, deviation, rtol=1e-9)


def test_circles_are_the_cluster_of_lower_loss(figure, job):
    adam, axes = job.inputs["adam"], reading.panels(figure)["b"]
    final = (adam.cG * np.sign(adam.c1)).isel(epoch=-1).values.astype(float)
    expected = [*final[:, :-1].mean(0), final[:2, -1].mean()]
    (circles,) = reading.lines(axes, "Adam")
    np.testing.assert_allclose(circles.get_ydata(), expected, rtol=1e-12)
    assert circles.get_marker() == "o"


def test_members_left_out_are_drawn_faintly(figure):
    faint = reading.lines(reading.panels(figure)["b"], "_members")
    assert [(line.get_marker(), list(line.get_xdata())) for line in faint] == [("o", [150]), ("D", [150])]
    assert all(abs(line.get_ydata()[0] + 0.5) < 0.01 for line in faint)


def test_onset_is_marked(figure):
    for letter in "ab":
        (line,) = reading.lines(reading.panels(figure)[letter], "dressed, onset")
        assert set(line.get_xdata()) == {results.ONSET["dressed"]}


def test_maps_hold_the_chains_mean_and_name_their_stage(figure, job):
    axes, sgld = reading.maps(figure), job.inputs["sgld"]
    assert [a.get_title(loc="left") for a in axes] == [
        "P = 40, trivial",
        "P = 80, pooling",
        "P = 100, pooling",
        "P = 150, crossover",
    ]
    last = sgld.attention_mean.sel(P=150).isel(chain=slice(1, None)).values.astype(float).mean(0)
    np.testing.assert_allclose(axes[-1].images[0].get_array(), last, rtol=1e-12)
    norms = {(a.images[0].norm.vmin, a.images[0].norm.vmax) for a in axes}
    assert norms == {(0.0, max(float(a.images[0].get_array().max()) for a in axes))}


@pytest.mark.parametrize("at", [[80], [40, 80, 100], [40, 72, 80, 100, 150]])
def test_any_number_of_maps(make_job, at):
    figure = fig3.draw(make_job("fig3", at))
    assert len(reading.maps(figure)) == len(at)
    reading.pdf(figure, PLOTTING)


def test_a_map_that_was_not_sampled_is_an_error(make_job):
    with pytest.raises(KeyError):
        fig3.draw(make_job("fig3", [41]))


def test_legend_and_footnote(figure):
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert entries == [
        "bare theory",
        "MAP theory",
        "dressed theory",
        "dressed, onset",
        "dressed, mean at finite L",
        "dressed, metastable",
        "SGLD, mean ± sd of chains",
        "Adam, lower-loss cluster",
    ]
    note = " ".join(figure.texts[0].get_text().replace("\xa0", " ").split())
    for part in (
        "L = 6, V = 8",
        "4 chains of 800 steps",
        "3 seeds",
        "1 of 32 chains",
        "1 of 24 seeds",
        "not public",
    ):
        assert part in note


def test_without_parameters_the_footnote_still_gives_the_length(make_job):
    job = make_job("fig3", MAPS)
    for dataset in job.inputs.values():
        dataset.attrs.clear()
    assert "L\xa0=\xa06" in fig3.draw(job).texts[0].get_text()


@pytest.mark.parametrize(
    ("name", "draw", "at"), [("fig3", fig3.draw, MAPS), ("fig4", fig4.draw, [30, 42, 64])]
)
def test_texts_are_readable_apart_and_on_the_page(make_job, name, draw, at):
    figure = draw(make_job(name, at))
    with look(PLOTTING):
        drawn = reading.texts(figure)
        assert min(text.get_fontsize() for text in drawn) >= 6.5
        for text in drawn:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text.get_text()
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text.get_text()
        assert reading.overlaps(figure) == []


def test_two_draws_give_the_same_bytes(job):
    assert reading.pdf(fig3.draw(job), PLOTTING) == reading.pdf(fig3.draw(job), PLOTTING)
