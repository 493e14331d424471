"""Guarantees of the convergence diagnostics, against chains whose truth is known:

- independent draws: R-hat 1 and as many effective draws as there are;
- autoregressive chains of coefficient rho: effective draws N (1 - rho)/(1 + rho);
- chains in different places, or of different widths: R-hat far above 1;
- every entry of other dimensions is diagnosed by itself.
"""

import numpy as np
import pytest
import xarray as xr

from onset.sampling.diagnostics import diagnose_convergence

RNG = np.random.default_rng(7)
CHAINS, DRAWS = 8, 4000


def diagnose(values):
    return diagnose_convergence(xr.DataArray(values, dims=("chain", "step")))


def test_independent_draws():
    result = diagnose(RNG.standard_normal((CHAINS, DRAWS)))
    assert abs(float(result["r_hat"]) - 1) < 0.002
    # The estimate of an effective size scatters by some per cent at 32 000 draws.
    assert float(result["ess_bulk"]) == pytest.approx(CHAINS * DRAWS, rel=0.08)
    assert float(result["ess_tail"]) == pytest.approx(CHAINS * DRAWS, rel=0.08)


def test_autoregressive_chains_have_their_known_effective_size():
    rho = 0.9
    x = np.empty((CHAINS, DRAWS))
    x[:, 0] = RNG.standard_normal(CHAINS)
    for t in range(1, DRAWS):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * RNG.standard_normal(CHAINS)
    expected = CHAINS * DRAWS * (1 - rho) / (1 + rho)
    # 1684 effective draws; the sum of estimated autocorrelations scatters by about a tenth.
    assert float(diagnose(x)["ess_bulk"]) == pytest.approx(expected, rel=0.2)


def test_disagreeing_chains_show():
    moved = RNG.standard_normal((CHAINS, DRAWS))
    moved[0] += 4
    wide = RNG.standard_normal((CHAINS, DRAWS))
    wide[0] *= 10  # same centre: only the folded ranks see it
    assert float(diagnose(moved)["r_hat"]) > 1.1
    assert float(diagnose(wide)["r_hat"]) > 1.05
    assert float(diagnose(moved)["ess_bulk"]) < 100


def test_entries_are_diagnosed_by_themselves():
    values = RNG.standard_normal((4, 3, 200))
    values[1, 2] += 5
    draws = xr.DataArray(values, dims=("chain", "P", "step"), coords={"P": [10, 20, 30]})
    result = diagnose_convergence(draws)
    assert set(result) == {"r_hat", "ess_bulk", "ess_tail"}
    assert result["r_hat"].dims == ("P",)
    alone = diagnose_convergence(draws.sel(P=20, drop=True))
    assert float(result["r_hat"].sel(P=20)) == float(alone["r_hat"])
    assert float(result["r_hat"].sel(P=30)) > 1.5 > float(result["r_hat"].sel(P=10))
