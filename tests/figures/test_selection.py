"""Guarantees of what enters means:

- steps before the burn-in do not; signs of linear attention are removed step by step
- trapped chains and seeds are found, and left out of means, deviations and maps
- theory is linear between its grid points, exact on them, absent outside and where a branch ends
- stages follow the dressed theory, and the copied weights are those of the cyclic predecessor
- parameters are read from a result where it carries them
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from tests.figures import copyhead_results as results

from onset.papers.copyhead import selection
from onset.store.attributes import parameters_of


def test_burn_in_is_left_out():
    sgld = results.linear_sgld()
    spoiled = sgld.copy(deep=True)
    spoiled.c1.values[..., ~sgld.kept.values] = np.nan
    xr.testing.assert_identical(selection.kept_means(sgld.c1), selection.kept_means(spoiled.c1))


def test_signs_are_removed_step_by_step():
    sgld = results.linear_sgld()
    plain = selection.signed_means(sgld)
    flips = xr.where(np.arange(sgld.sizes["step"]) % 3 == 0, -1.0, 1.0)
    flips = xr.DataArray(flips, dims="step", coords={"step": sgld.step})
    flipped = sgld.assign(c1=sgld.c1 * flips, cG=sgld.cG * flips)
    xr.testing.assert_allclose(selection.signed_means(flipped), plain)
    assert float(plain.c1.min()) > 0


def test_trapped_members_are_found_and_left_out():
    chains, seeds = (
        selection.signed_means(results.linear_sgld()),
        selection.signed_final(results.linear_adam()),
    )
    assert [(int(c), int(p)) for c, p in zip(*np.nonzero(~chains.free.values), strict=True)] == [(0, 7)]
    assert [(int(c), int(p)) for c, p in zip(*np.nonzero(~seeds.free.values), strict=True)] == [(2, 7)]
    mean, sd = selection.mean_and_sd(chains.cG, chains.free)
    values = chains.cG.values[1:, 7]
    assert float(mean[7]) == pytest.approx(values.mean(), rel=1e-12)
    assert float(sd[7]) == pytest.approx(values.std(ddof=1), rel=1e-12)


def test_trapped_chains_are_found_without_the_flag():
    sgld = results.linear_sgld()
    xr.testing.assert_equal(
        selection.signed_means(sgld.drop_vars("trapped")).free, selection.signed_means(sgld).free
    )


def test_means_of_nobody_and_of_one():
    values = xr.DataArray([[1.0, 2.0], [3.0, 4.0]], dims=("chain", "P"))
    free = xr.DataArray([[True, False], [False, False]], dims=("chain", "P"))
    mean, sd = selection.mean_and_sd(values, free)
    np.testing.assert_array_equal(mean, [1.0, np.nan])
    np.testing.assert_array_equal(sd, [np.nan, np.nan])


def test_maps_leave_trapped_chains_out():
    sgld = results.linear_sgld()
    free = selection.signed_means(sgld).free
    expected = sgld.attention_mean.sel(P=150).values[1:].astype(float).mean(0)
    np.testing.assert_allclose(selection.free_attention(sgld, 150, free), expected, rtol=1e-12)


def test_theory_between_grid_points():
    curve = xr.DataArray([1.0, 3.0, np.nan], coords={"P": [10.0, 20.0, 30.0]})
    found = selection.theory_at(curve, [10, 15, 20, 25, 30, 40])
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0, np.nan, np.nan, np.nan])


def test_stages():
    theory = results.linear_theory()
    theory["cG"] = theory.c1 * xr.where(theory.P < 90, 0.05, xr.where(theory.P < 120, 0.3, 0.6))
    stages = [selection.stage_of(theory, P) for P in (40, 80, 100, 150)]
    assert stages == ["trivial", "pooling", "crossover", "copying"]


def test_copied_weights_are_those_of_the_cyclic_predecessor():
    attention = xr.DataArray(np.arange(16.0).reshape(4, 4), dims=("query", "key"))
    expected = [attention.values[a, (a - 1) % 4] for a in range(4)]
    np.testing.assert_array_equal(selection.copied_weights(attention), expected)
    np.testing.assert_array_equal(selection.copied_weights(attention.transpose()), expected)


def test_parameters():
    theory = results.linear_theory()
    assert parameters_of(theory)["task"] == {"L": 6, "V": 8}
    assert selection.name_parameters(theory).replace("\xa0", " ") == (
        "L = 6, V = 8, g_OV = 0.03, v = 1, σ² = 0.5052"
    )
    theory.attrs.clear()
    assert parameters_of(theory) == {} and selection.name_parameters(theory) == ""
