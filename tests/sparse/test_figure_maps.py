"""Guarantees of the attention maps and of figure 1's schematic, on small results:

- maps are cut to the last T keys; inks multiply, white without attention, a head's own colour alone
- group edges lie between the keys of the last lag of one group and the first of the next
- figure 1's ideal heads read their group alone, each lag alike; other chains can be drawn
- footnotes say how gains, weights and starts are meant; results without recorded parameters can be drawn
"""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from tests.figures import reading
from tests.sparse import synthetic_sparse
from tests.sparse.drawing import (
    LETTERS,
    MAPS,
    RUNS,
    draw,
    drawn,
    letters,
    list_maps,
    make_inputs,
    panel,
)

from onset.papers.sparse.figures import captions, overlay, schematic
from onset.papers.sparse.selection import (
    boundary_lags,
    take_run,
)
from onset.plotting.style import HEADS


@pytest.mark.parametrize("name", ("fig2", "fig19"))
def test_maps_are_cut_and_inked(name):
    run = take_run(make_inputs(name)["runs"], RUNS.get(name, "main"))
    steps = list(MAPS[name])
    stored = run.attention.sel(seed=0, map_step=steps).isel(layer=0).values.astype(np.float64)
    largest = stored.max()
    found = list_maps(drawn(name))
    assert [axes.get_title() for axes in found] == [f"step {step}" for step in steps]
    T = stored.shape[-2]
    for axes, attention in zip(found, stored, strict=True):
        picture = axes.images[0].get_array()
        assert picture.shape == (T, T, 3)
        for q, k in ((0, 0), (T - 1, T - 1), (T - 1, T - 2), (5, 2), (3, 9)):
            expected = np.ones(3)
            for head, weight in enumerate(attention[:, q, k + attention.shape[-1] - T]):
                expected *= 1 - weight / largest * (1 - np.array(to_rgb(HEADS[head])))
            np.testing.assert_allclose(picture[q, k], expected, atol=1e-12)
        upper = np.triu_indices(T, 1)
        np.testing.assert_array_equal(np.asarray(picture)[upper], 1.0)


def test_ink():
    one = overlay.blend_heads(np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0]]), 1.0)
    np.testing.assert_allclose(one[0], to_rgb(HEADS[0]))
    np.testing.assert_allclose(one[1], (1 + np.array(to_rgb(HEADS[0]))) / 2)
    np.testing.assert_array_equal(one[2], 1.0)
    rng = np.random.default_rng(0)
    weight = rng.uniform(size=(3, 4, 4))
    turned = overlay.blend_heads(weight[::-1], 1.0, HEADS[:3][::-1])
    np.testing.assert_allclose(overlay.blend_heads(weight, 1.0, HEADS[:3]), turned)


def test_edges_lie_between_groups():
    axes = list_maps(drawn("fig2"))[0]
    bands = reading.lines(axes, "_band")
    assert len(bands) == 3
    for line, lag in zip(bands, (2, 4, 6), strict=True):
        x, y = line.get_xdata(), line.get_ydata()
        for q in range(lag - 1, 10):
            inside = x[(y > q - 0.5 - 1e-9) & (y < q + 0.5 + 1e-9)]
            assert q - lag + 0.5 in inside  # key of lag l is q - l + 1, of lag l + 1 it is q - l


def test_edges_of_overlapping_groups():
    assert boundary_lags([[1, 2, 3, 4], [3, 4, 5, 6], [5, 6, 7, 8]]) == [2, 4, 6, 8]
    assert boundary_lags([[13, 14], [9, 10, 11, 12], [*range(1, 9)]]) == [8, 12, 14]
    assert boundary_lags([[1]]) == [1]


def test_ideal_heads():
    attention = schematic.ideal_attention([[1, 2], [4]], 6)
    assert attention.shape == (2, 6, 6)
    for head, group in enumerate(([1, 2], [4])):
        for q in range(6):
            for k in range(6):
                assert attention[head, q, k] == (1 / len(group) if q - k + 1 in group else 0)


@pytest.mark.parametrize(
    ("groups", "tokens"),
    (([[1, 2], [3, 4], [5, 6]], 6), ([[13, 14], [9, 10, 11, 12], [*range(1, 9)]], 14), ([[1], [3]], 3)),
)
def test_schematic_of_other_chains(groups, tokens):
    chain = synthetic_sparse.CHAIN | {"groups": groups, "window": tokens}
    runs = synthetic_sparse.make_runs({"main": {"steps": 900}}, chain, map_steps=(0, 100, 300, 900))
    figure = draw("fig1", runs=runs)
    squares = [p for p in panel(figure, "a").patches if isinstance(p, Rectangle)]
    assert len(squares) == tokens + len(groups) + 1  # the tokens, the matrices and the next token
    areas = [p.get_width() ** 2 for p in squares[tokens : tokens + len(groups)]]
    np.testing.assert_allclose(np.divide(areas[:-1], areas[1:]), 1.5)
    assert {f"head {k + 1}" for k in range(len(groups))} <= {t.get_text() for t in panel(figure, "b").texts}
    assert reading.overlaps(figure) == []


def test_a_result_without_recorded_parameters():
    for name in ("fig1", "fig2", "fig10"):
        runs = make_inputs(name)["runs"].drop_attrs(deep=False)
        assert letters(draw(name, runs=runs)) == LETTERS[name]


def test_what_captions_say():
    run = take_run(make_inputs("fig12")["runs"], "main")
    assert "tokens of a group are summed" in captions.describe_chain(run)
    uneven = take_run(make_inputs("fig15")["runs"], "main")
    assert "α = 0.7/0.3, oldest token of a group first" in captions.describe_chain(uneven).replace(
        "\xa0", " "
    )
    assert captions.format_scale(1e-9) == "10⁻⁹" and captions.format_scale(0.0) == "0"
    assert captions.format_scale(0.02) == "0.02"
    start = take_run(make_inputs("fig4")["scale"], "u1e-6")
    assert captions.describe_start(start).replace("\xa0", " ") == "start u = 10⁻⁶, V = 0"
    sgd = captions.describe_run(take_run(make_inputs("fig20")["runs"], "main")).replace("\xa0", " ")
    assert "full model of 1 block" in sgd and "SGD, learning rate 0.2" in sgd and "3 seeds" in sgd
