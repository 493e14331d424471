"""Guarantees of figures 1, 2, 5 and 8 of the copy head, by their artists:

- two draws give the same PDF bytes; no text is under 6.5 points, overlaps another or leaves the page
- the footnote says that sizes are a choice, and where figure or theory are ours
- branches, minima and runs that do not exist (NaN) leave gaps and are no error
- maps are means over free chains at the chosen P; one that was not sampled is an error
- contours show the action, and every listed minimum with its mirror image
- points of finite widths are the runs' means; those of Adam on Q, K are drawn seed by seed
- loops are means over free chains, brackets where chains change phase, the table holds the theory's numbers
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from tests.figures import copyhead_inputs as made
from tests.figures import reading
from tests.figures.reading import PLOTTING

from onset.job.context import Job
from onset.papers.copyhead.brackets import find_ways, list_brackets
from onset.papers.copyhead.figures import fig1, fig8
from onset.papers.copyhead.selection import free_attention, signed_means
from onset.params.copyhead import PlainFigure, StagesFigure
from onset.plotting.style import look

SECTIONS = {
    "fig1": StagesFigure(linear_at=[40, 80, 100, 150], softmax_at=[30, 64], width=7.0, height=4.4),
    "fig2": PlainFigure(width=7.0, height=4.2),
    "fig5": PlainFigure(width=7.0, height=5.0),
    "fig8": PlainFigure(width=7.0, height=5.4),
}


@pytest.fixture(scope="module")
def results():
    return {figure: make() for figure, make in made.INPUTS.items()}


@pytest.fixture
def make_job(results):
    def make(name: str, own=None) -> Job:
        inputs = {role: dataset.copy(deep=True) for role, dataset in results[name].items()}
        return Job("copyhead", name, "test", "-", own or SECTIONS[name], {"plotting": PLOTTING}, inputs)

    return make


def draw(job: Job):
    return importlib.import_module(f"onset.papers.copyhead.figures.{job.name}").draw(job)


def panel(figure, letter):
    return reading.panels(figure)[letter]


@pytest.mark.parametrize("name", SECTIONS)
def test_two_draws_give_the_same_bytes(make_job, name):
    job = make_job(name)
    assert reading.pdf(draw(job), PLOTTING) == reading.pdf(draw(job), PLOTTING)


@pytest.mark.parametrize("name", SECTIONS)
def test_texts_are_readable_apart_and_on_the_page(make_job, name):
    figure = draw(make_job(name))
    with look(PLOTTING):
        drawn = reading.texts(figure)
        assert min(text.get_fontsize() for text in drawn) >= 6.5
        for text in drawn:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text.get_text()
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text.get_text()
        assert reading.overlaps(figure) == []


@pytest.mark.parametrize("name", SECTIONS)
def test_the_footnote_says_what_is_ours(make_job, name):
    note = " ".join(draw(make_job(name)).texts[0].get_text().replace("\xa0", " ").split())
    assert ("our choice" in note or "are ours" in note) and "V = 8" in note


@pytest.mark.parametrize("name", SECTIONS)
def test_what_does_not_exist_is_no_error(make_job, name):
    job = make_job(name)
    for dataset in job.inputs.values():
        dataset.attrs.clear()
        for variable, values in dataset.data_vars.items():
            theory = values.dtype.kind == "f" and not {"chain", "seed", "run"} & set(values.dims)
            if theory and variable not in ("linear_action", "softmax_action"):
                dataset[variable] = values * np.nan
    assert reading.pdf(draw(job), PLOTTING)


def test_maps_are_means_over_free_chains(make_job):
    job = make_job("fig1")
    maps, linear = reading.maps(fig1.draw(job)), job.inputs["linear_sgld"]
    free = signed_means(linear).free
    expected = [free_attention(linear, P, free) for P in job.own.linear_at]
    expected += [free_attention(job.inputs["softmax_sgld"], P) for P in job.own.softmax_at]
    for axes, one in zip(maps, expected, strict=True):
        np.testing.assert_allclose(axes.images[0].get_array(), one, rtol=1e-12)
    titles = [axes.get_title(loc="left").split("\n") for axes in maps]
    assert titles[0] == ["i: trivial", "P = 40"]
    assert titles[-2:] == [["uniform", "P = 30"], ["copying", "P = 64"]]


def test_a_map_that_was_not_sampled_is_an_error(make_job):
    with pytest.raises(KeyError):
        draw(make_job("fig1", StagesFigure(linear_at=[41], softmax_at=[30], width=7.0, height=4.4)))


def test_minima_and_their_mirror_images(make_job):
    job = make_job("fig2")
    found = job.inputs["landscapes"]
    axes = [a for a in draw(job).get_axes() if a.get_title(loc="left").startswith("P = ")]
    assert len(axes) == found.sizes["linear_P"]
    for one, P in zip(axes, found.linear_P.values, strict=True):
        for state in ("global", "metastable"):
            at = found.sel(linear_P=P, state=state)
            lines = reading.lines(one, state)
            assert bool(lines) == bool(np.isfinite(at.linear_c1))
            if lines:
                c1, cG = float(at.linear_c1), float(at.linear_cG)
                np.testing.assert_allclose(lines[0].get_xydata(), [[c1, cG], [-c1, -cG]])


def test_curves_of_the_softmax_action(make_job):
    job = make_job("fig2")
    found, axes = job.inputs["landscapes"], panel(draw(job), "b")
    for P in found.softmax_P.values:
        (line,) = reading.lines(axes, f"P = {P:g}")
        np.testing.assert_array_equal(line.get_ydata(), found.softmax_action.sel(softmax_P=P))


def test_points_of_finite_widths(make_job):
    job = make_job("fig5")
    axes, runs = panel(draw(job), "d"), job.inputs["qk_sgld"]
    for d_k in made.WIDTHS:
        mean = runs["mean"].sel(run=f"linear{d_k}", quantity="pooling").dropna("P")
        (points,) = reading.lines(axes, f"SGLD, {d_k}")
        np.testing.assert_array_equal(points.get_xydata(), np.stack([mean.P, mean], 1))


def test_adam_on_queries_and_keys_is_shown_seed_by_seed(make_job):
    job = make_job("fig5")
    figure = draw(job)
    assert len(reading.lines(panel(figure, "d"), "Adam, matched")) == 1
    assert len(reading.lines(panel(figure, "e"), "Adam, anchored")) == 1
    (matched,) = reading.lines(panel(figure, "f"), "Adam, matched")
    assert set(matched.get_ydata()) == {0.0}
    size = job.inputs["qk_adam"].sizes
    members = [line for line in reading.lines(panel(figure, "f"), "_members") if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in members] == [size["seed"] * size["P"]]
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"Adam on Q, K, matched decay", "Adam on Q, K, anchored decay", "MAP, nuclear norm"} <= set(
        entries
    )


def test_loops_are_means_over_free_chains(make_job):
    job = make_job("fig8")
    hysteresis = job.inputs["hysteresis"]
    hysteresis.trapped.loc[{"run": "linear", "chain": 0, "P": 100}] = True
    hysteresis["copy"].loc[{"run": "linear", "chain": 0, "P": 100}] = -0.6
    axes = panel(draw(job), "c")
    for kind in ("softmax", "linear"):
        mean, _ = find_ways(hysteresis, kind)
        for way in ("up", "down"):
            (line,) = reading.lines(axes, f"{kind}, {way}")
            np.testing.assert_allclose(line.get_ydata(), mean.sel(direction=way))
            assert min(line.get_ydata()) > -0.05


def test_brackets_are_drawn_at_their_settings(make_job):
    job = make_job("fig8")
    (bracket,) = [
        b
        for b in list_brackets(job.inputs["sampled"], fig8.base_settings(job.inputs["theory"]))
        if b.axis == "v"
    ]
    (container,) = [c for c in panel(draw(job), "a").containers if c.get_label() == "bracket"]
    (segment,) = container.lines[2][0].get_segments()
    np.testing.assert_allclose(segment, [[0.5, bracket.lost], [0.5, bracket.gained]])


def test_the_table_holds_the_theory(make_job):
    job = make_job("fig8")
    phase = job.inputs["phase"].sel(theory="dressed")
    rows = fig8.list_rows(
        job.inputs["phase"], list_brackets(job.inputs["sampled"], {"L": 16.0, "v": 1.0, "g_OV": 0.03})
    )
    assert [int(row[0]) for row in rows] == phase.L.values.tolist()
    for row in rows:
        at = phase.sel(L=int(row[0]))
        assert (row[1], row[3], row[6]) == tuple(
            f"{float(at[f'{n}_L']):.1f}" for n in ("onset", "P_c", "barrier")
        )
        assert row[4] == f"{float(at.P_lower_L):.1f}–{float(at.P_upper_L):.1f}"
        assert (row[7] == "–") == (int(row[0]) != 12)
    texts = {text.get_text() for text in panel(draw(job), "d").texts}
    assert {cell for row in rows for cell in row} <= texts
