"""Guarantees of the exact posterior over attention, its data average, and the prior.

- the V x V and the PL x PL form of -log p(D|A) agree to 1e-9 with all constants, for any A
- the marginal likelihood equals the likelihood integrated over W by Bayes' rule at any W
- the averaged moments are what sampled moments average to, and S_data is what they give in V dimensions
- slopes and curvatures of S_data are its derivatives
- the prior's generating function is the Gaussian product's, and phi is its Legendre transform
- phi has its two limits, and is the cost that the closed density of one product entry has at large d_k
- the exact evidence of many sequences is the averaged one, with an error that falls with their number
- params.yaml's sections become the model, finite widths included
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import kve
from scipy.stats import multivariate_normal

from onset.papers.copyhead.theory.data_average import (
    Overlaps,
    average_moments,
    expand_data_action,
    measure_overlaps,
)
from onset.papers.copyhead.theory.marginal import (
    compute_dual_evidence,
    compute_moments,
    compute_primal_evidence,
    solve_readout,
)
from onset.papers.copyhead.theory.model import Model, read_model
from onset.papers.copyhead.theory.prior import (
    compute_generating_function,
    compute_nuclear_cost,
    expand_matrix_cost,
    expand_singular_cost,
)
from onset.params.copyhead import Prior, Task

SMALL = Model(L=5, V=3, g=0.4, v=1.0, sigma2=0.3)


def draw_problem(seed, P=7, model=SMALL):
    rng = np.random.default_rng(seed)
    return rng.integers(model.V, size=(P, model.L)), rng.standard_normal((model.L, model.L))


@pytest.mark.parametrize("seed", range(4))
def test_dual_equals_primal_marginal_likelihood(seed):
    tokens, A = draw_problem(seed)
    M, N = compute_moments(tokens, A, SMALL.V)
    dual = compute_dual_evidence(M, N, len(tokens), SMALL)
    assert dual == pytest.approx(compute_primal_evidence(tokens, A, SMALL), rel=1e-9)


def test_marginal_likelihood_is_likelihood_times_prior_over_posterior_at_any_readout():
    tokens, A = draw_problem(0)
    M, N = compute_moments(tokens, A, SMALL.V)
    mean, covariance = solve_readout(M, N, SMALL)
    W = np.random.default_rng(1).standard_normal((SMALL.V, SMALL.V))
    X = np.eye(SMALL.V)[tokens]
    residual = A @ X @ W - X[:, np.arange(SMALL.L) - 1]
    log_p = -np.sum(residual**2) / (2 * SMALL.sigma2) - residual.size / 2 * np.log(2 * np.pi * SMALL.sigma2)
    prior = SMALL.g / SMALL.V * np.eye(SMALL.V)
    for column in range(SMALL.V):
        log_p += multivariate_normal.logpdf(W[:, column], np.zeros(SMALL.V), prior)
        log_p -= multivariate_normal.logpdf(W[:, column], mean[:, column], covariance)
    assert compute_dual_evidence(M, N, len(tokens), SMALL) == pytest.approx(-log_p, rel=1e-11)


def test_averaged_moments_are_the_mean_of_sampled_ones():
    P = 40_000
    tokens, A = draw_problem(3, P)
    sampled = compute_moments(tokens, A, SMALL.V)
    averaged = average_moments(measure_overlaps(A), P, SMALL.V)
    for have, want in zip(sampled, averaged, strict=True):
        # One sequence's entry is at most |A|_1² ~ 50 and fluctuates by a few: sd of the mean ~ 5/sqrt(P).
        assert np.abs(have - want).max() / P < 5 * 5 / math.sqrt(P)


@pytest.mark.parametrize("P", [1.0, 30.0, 200.0])
def test_data_action_equals_the_matrix_formula_at_averaged_moments(P):
    model = Model(L=6, V=5, g=0.2, v=1.0, sigma2=0.4)
    A = np.random.default_rng(5).standard_normal((6, 6)) / 3 + np.roll(np.eye(6), 1, axis=0)
    overlaps = measure_overlaps(A)
    M, N = average_moments(overlaps, P, model.V)
    zero = np.zeros_like(M)
    matrix = compute_dual_evidence(M, N, P, model) - compute_dual_evidence(zero, zero, P, model)
    assert expand_data_action(overlaps, P, model).value == pytest.approx(matrix, rel=1e-12)


def test_overlaps_of_the_copy_and_the_uniform_matrix():
    L = 6
    copy, uniform = np.roll(np.eye(L), 1, axis=0), np.full((L, L), 1 / L)
    assert copy[2, 1] == 1 and copy[0, L - 1] == 1
    # s2, t, m, u
    assert measure_overlaps(copy) == pytest.approx((L, L, L, L))
    assert measure_overlaps(uniform) == pytest.approx((1, 1, L, L))


@pytest.mark.parametrize("integrated", [True, False])
def test_slopes_and_curvatures_are_derivatives(integrated):
    point, P, model, step = np.array([2.0, 1.5, 3.0, 2.5]), 60.0, SMALL, 1e-5

    def expand(y):
        return expand_data_action(Overlaps(*y), P, model, integrated)

    here = expand(point)
    (ss, st, tt), (mm, mu, uu) = here.curvatures
    hessian = np.array([[ss, st, 0, 0], [st, tt, 0, 0], [0, 0, mm, mu], [0, 0, mu, uu]])
    for i, shift in enumerate(step * np.eye(4)):
        up, down = expand(point + shift), expand(point - shift)
        # Central differences are good to step² times the third derivative.
        assert here.slopes[i] == pytest.approx((up.value - down.value) / (2 * step), rel=1e-7)
        difference = (np.array(up.slopes) - np.array(down.slopes)) / (2 * step)
        np.testing.assert_allclose(hessian[i], difference, rtol=1e-6, atol=1e-8)


def test_generating_function_is_that_of_a_product_of_gaussians():
    n, d_k, variance, draws = 3, 4, 0.5, 1_000_000
    rng = np.random.default_rng(0)
    H = 0.35 * rng.standard_normal((n, n))
    query, key = rng.standard_normal((2, draws, n, d_k))
    source = math.sqrt(variance / d_k) * np.einsum("sik,ij,sjk->s", query, H, key)
    sample = np.exp(source)
    # Five standard errors of the log of a mean; exp(2 source) has a finite mean for this H.
    error = 5 * sample.std() / sample.mean() / math.sqrt(draws)
    assert compute_generating_function(H, variance, d_k) == pytest.approx(np.log(sample.mean()), abs=error)
    assert error < 0.02


def test_generating_function_refuses_a_source_beyond_its_domain():
    with pytest.raises(ValueError, match="finite below"):
        compute_generating_function(10 * np.eye(3), 1.0, 4)


@pytest.mark.parametrize("d_k", [2.0, 32.0, 1e6, math.inf])
@pytest.mark.parametrize("s", [0.01, 0.4, 3.0])
def test_phi_is_the_legendre_transform_of_the_generating_function(s, d_k):
    variance = 0.2
    end = min(math.sqrt(d_k / variance), 50.0) * (1 - 1e-12)
    transform = minimize_scalar(
        lambda h: compute_generating_function(np.array([[h]]), variance, d_k) - h * s,
        bounds=(0, end),
        method="bounded",
        options={"xatol": 1e-10},
    )
    phi, slope, _ = expand_singular_cost(s, variance, d_k)
    assert phi == pytest.approx(-transform.fun, rel=1e-7)
    # The optimum's place is known to the square root of its value's precision.
    assert slope == pytest.approx(transform.x, rel=1e-3)


def test_phi_slope_and_curvature_are_derivatives():
    s, step = np.array([-1.2, 0.0, 0.3, 2.0]), 1e-5
    for d_k in (3.0, math.inf):
        (up, up_slope, _), (down, down_slope, _) = (
            expand_singular_cost(s + d, 0.3, d_k) for d in (step, -step)
        )
        _, slope, curvature = expand_singular_cost(s, 0.3, d_k)
        np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(curvature, (up_slope - down_slope) / (2 * step), rtol=1e-6)


def test_phi_is_gaussian_for_wide_and_nuclear_for_narrow_heads():
    s, variance = np.array([0.2, 1.0, 3.0]), 0.5
    gaussian = expand_singular_cost(s, variance)[0]
    np.testing.assert_allclose(gaussian, s**2 / (2 * variance), rtol=1e-14)
    # Relative corrections: s²/(2 d_k variance) for wide, of order d_k ln(s)/(s sqrt(d_k)) for narrow.
    np.testing.assert_allclose(expand_singular_cost(s, variance, 1e6)[0], gaussian, rtol=2e-5)
    narrow, far = 1e-3, 100 * s
    np.testing.assert_allclose(
        expand_singular_cost(far, variance, narrow)[0], compute_nuclear_cost(far, variance, narrow), rtol=5e-3
    )


def test_nuclear_cost_is_the_least_norm_of_the_factors():
    variance, d_k, s = 0.5, 8.0, 1.3
    product = s / math.sqrt(variance / d_k)
    least = minimize_scalar(lambda q: (q**2 + (product / q) ** 2) / 2, bounds=(0.1, 50), method="bounded")
    assert compute_nuclear_cost(s, variance, d_k) == pytest.approx(least.fun, rel=1e-8)


@pytest.mark.parametrize("d_k", [100, 500])
def test_phi_is_the_cost_of_an_entry_of_a_wide_product(d_k):
    # sqrt(variance/d_k) q.k of two Gaussian vectors has density ~ |y|^n K_n(|y|), n = (d_k-1)/2,
    # y = s/sqrt(k); phi is its logarithm's leading order in d_k, at s of order sqrt(variance d_k).
    variance, order = 0.7, (d_k - 1) / 2
    k, s = variance / d_k, math.sqrt(variance * d_k) * np.array([0.05, 0.3, 1.0, 3.0])

    def log_density(s):
        y = s / math.sqrt(k)
        return order * np.log(y) + np.log(kve(order, y)) - y

    exact = log_density(s[0]) - log_density(s[1:])
    phi = expand_singular_cost(s, variance, d_k)[0]
    # Corrections are of order one nat (the width of the distribution), phi of order d_k.
    np.testing.assert_allclose(exact, phi[1:] - phi[0], rtol=6 / d_k, atol=1.5)
    assert phi[-1] > 1.5 * d_k


def test_cost_is_nuclear_only_where_factors_are_maximised():
    s, variance, d_k = np.array([-0.5, 0.0, 2.0]), 0.5, 8.0
    for integrated, width in ((True, d_k), (True, math.inf), (False, math.inf)):
        have, want = (
            expand_matrix_cost(s, variance, width, integrated),
            expand_singular_cost(s, variance, width),
        )
        np.testing.assert_array_equal(have, want)
    value, slope, curvature = expand_matrix_cost(s, variance, d_k, integrated=False)
    np.testing.assert_allclose(value, compute_nuclear_cost(s, variance, d_k))
    np.testing.assert_allclose(slope, 4 * np.sign(s))
    assert not curvature.any()


def test_exact_evidence_approaches_the_averaged_one():
    model = Model(L=8, V=4, g=0.2, v=1.0, sigma2=0.4)
    rng = np.random.default_rng(0)
    A = 0.5 * np.roll(np.eye(8), 1, axis=0) + rng.standard_normal((8, 8)) / 8
    errors = []
    for P in (100, 6400):
        averaged = expand_data_action(measure_overlaps(A), P, model).value
        deviations = []
        for _ in range(5):
            tokens = rng.integers(model.V, size=(P, model.L))
            M, N = compute_moments(tokens, A, model.V)
            zero = np.zeros_like(M)
            exact = compute_dual_evidence(M, N, P, model) - compute_dual_evidence(zero, zero, P, model)
            deviations.append(exact / averaged - 1)
        errors.append(np.sqrt(np.mean(np.square(deviations))))
    # Moments fluctuate by 1/sqrt(P L) relative to their means: 64 times the data, an eighth of the error
    # (five draws fix a root mean square to a factor of two).
    assert errors[1] < errors[0] / 4
    assert errors[1] < 0.01


def test_sections_become_the_model():
    sections = {"task": Task(L=5, V=3), "prior": Prior(g_OV=0.4, v=1.0, sigma2=0.3)}
    assert read_model(sections) == SMALL
    sections["prior"] = Prior(g_OV=0.4, v=1.0, sigma2=0.3, d_k=12)
    model = read_model(sections)
    assert model.d_k == 12.0 and model.finite_width and not SMALL.finite_width
