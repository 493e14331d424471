"""Guarantees of the regression map and of the mixture's ends.

- the map on a plateau has 1/(lam_d c_d) in the learned directions; with all of them it is the optimal map
- covariances drawn as Wishart matrices have the moments of those of drawn inputs
- its distance to principal component regression is that of a plain computation, sequence by sequence,
  and falls as 1/N; the reference values
- of the predictors that use the labels' mean square, fitted by least squares to sequences of noisy labels,
  none does better than the stated one; its losses are the fitted predictor's; all features of attention
  with free side blocks together reach the stated floor
- an in-context learner's loss on in-weight sequences is that of raw sequences
"""

import numpy as np
import pytest

from onset.papers.linattn.theory.fixed_points import compute_optimal_map
from onset.papers.linattn.theory.landscape import describe_query_loss
from onset.papers.linattn.theory.mixture import (
    compute_in_weight_floor,
    predict_in_context_end,
    predict_in_weight_end,
)
from onset.papers.linattn.theory.regression import (
    compute_regression_map,
    draw_covariances,
    estimate_regression_distance,
)

LAM = np.array([0.4, 0.3, 0.2, 0.1])


def test_regression_map():
    landscape = describe_query_loss(LAM, 31)
    c = 1 + (1 + 1 / LAM) / 31
    np.testing.assert_allclose(np.diag(compute_regression_map(2, landscape)), [*(1 / (LAM * c))[:2], 0, 0])
    np.testing.assert_allclose(compute_regression_map(4, landscape), compute_optimal_map(landscape))
    assert not compute_regression_map(0, landscape).any()
    with pytest.raises(ValueError, match="0 to 4"):
        compute_regression_map(5, landscape)


@pytest.mark.parametrize("context", [3, 4, 31])
def test_covariances_have_the_moments_of_those_of_drawn_inputs(context):
    """E[Lhat] = Lambda, E[Lhat^2] as in the theory, and var Lhat_ij = (lam_i lam_j + delta_ij lam_i^2)/N."""
    drawn = draw_covariances(LAM, context, 100_000, np.random.default_rng(9))
    scale = np.sqrt(np.outer(LAM, LAM))
    error = 5 / np.sqrt(100_000 * context)  # five standard deviations of an off-diagonal mean
    np.testing.assert_allclose(drawn.mean(0) / scale, np.eye(4), atol=2 * error)
    second = np.diag(describe_query_loss(LAM, context).a)
    np.testing.assert_allclose(np.mean(drawn @ drawn, 0), second, atol=0.02 * second.max())
    np.testing.assert_allclose(drawn.var(0) * context, scale**2 * (1 + np.eye(4)), rtol=0.05)


def test_distance_is_that_of_a_plain_computation():
    found = estimate_regression_distance(LAM, 31, 4000, np.random.default_rng(0))
    rng, landscape = np.random.default_rng(1), describe_query_loss(LAM, 31)
    apart, size = np.zeros(4), np.zeros(4)
    for _ in range(6000):
        x, w, query = (rng.standard_normal(shape) for shape in ((31, 4), 4, 4))
        x, query = x * np.sqrt(LAM), query * np.sqrt(LAM)
        labels = x @ w
        _, _, rows = np.linalg.svd(x, full_matrices=False)
        for m in range(1, 5):
            scores = x @ rows[:m].T
            fitted = np.linalg.lstsq(scores, labels, rcond=None)[0]
            regression = query @ rows[:m].T @ fitted
            attention = labels @ x @ compute_regression_map(m, landscape) @ query / 31
            apart[m - 1] += (attention - regression) ** 2
            size[m - 1] += regression**2
    # 6000 products of two Gaussian variables have a relative spread of a few percent.
    np.testing.assert_allclose(apart / size, found, rtol=0.15)


@pytest.mark.parametrize(
    ("context", "want"), [(31, [0.42, 0.18, 0.12, 0.13]), (127, [0.17, 0.057, 0.034, 0.038])]
)
def test_distance_reference_values(context, want):
    found = estimate_regression_distance(LAM, context, 3000, np.random.default_rng(2))
    np.testing.assert_allclose(found, want, rtol=0.1)


def test_distance_falls_as_one_over_the_context():
    long, longer = (
        estimate_regression_distance(LAM, n, 1500, np.random.default_rng(3))[1:] for n in (256, 1024)
    )
    np.testing.assert_allclose(long / longer, 4, rtol=0.25)


def test_distance_does_not_depend_on_the_order_of_the_eigenvalues():
    one = estimate_regression_distance(LAM, 31, 3000, np.random.default_rng(4))
    other = estimate_regression_distance(LAM[[3, 1, 0, 2]], 31, 3000, np.random.default_rng(4))
    np.testing.assert_allclose(one, other, rtol=0.08)


def draw_features(count, labels_of, seed, D=4, context=31):
    """All features of the full model, G_ab x_qc without repeats of symmetric G, as (S, 15, D).

    Also x_q (S, D) and the query's own label (S,).  The last D features are those of the labels' mean square.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, context + 1, D)) / np.sqrt(D)
    y = labels_of(rng, x)
    tokens = np.concatenate([x, y[:, :, None]], axis=2)
    tokens[:, -1, -1] = 0
    G = np.swapaxes(tokens, 1, 2) @ tokens / context
    upper = np.triu_indices(D + 1)
    return np.einsum("sg,sc->sgc", G[:, *upper], x[:, -1]), x[:, -1], y[:, -1]


def fit(features, target):
    flat = features.reshape(len(features), -1)
    return np.linalg.lstsq(flat, target, rcond=None)[0], flat


def test_in_weight_end_is_the_best_fit_to_noisy_labels():
    D, landscape = 4, describe_query_loss([0.25] * 4, 31)
    w_fixed = np.random.default_rng(5).normal(size=D)
    w_fixed *= np.sqrt(D) / np.linalg.norm(w_fixed)
    features, query, _ = draw_features(60_000, lambda rng, x: rng.standard_normal(x.shape[:2]), 6)
    target = query @ w_fixed
    fitted, used = fit(features[:, -1:], target)
    want = predict_in_weight_end(w_fixed, landscape, 31)
    assert want == pytest.approx((0.060606, 2.409091), abs=1e-6)
    # Squares of errors that are themselves products: 2 % at 60000 sequences.
    assert np.mean(np.square(used @ fitted - target)) == pytest.approx(want.in_weight, rel=0.03)

    everything, used = fit(features, target)
    floor = compute_in_weight_floor(w_fixed, landscape, 31)
    # The query's own coordinates are worth about one token in 31.
    assert np.mean(np.square(used @ everything - target)) == pytest.approx(floor, rel=0.06)

    def consistent(rng, x):
        return np.einsum("snd,sd->sn", x, rng.standard_normal((len(x), D)))

    features, _, target = draw_features(60_000, consistent, 7)
    assert np.mean(np.square(features[:, -1] @ fitted - target)) == pytest.approx(want.in_context, rel=0.03)


def test_in_context_end_is_that_of_raw_sequences():
    rng, landscape = np.random.default_rng(8), describe_query_loss([0.25] * 4, 31)
    x, noise = rng.standard_normal((100_000, 31, 4)) / 2, rng.standard_normal((100_000, 31))
    query = rng.standard_normal((100_000, 4)) / 2
    beta = np.einsum("sn,snd->sd", noise, x) / 31
    prediction = np.einsum("si,ij,sj->s", beta, compute_optimal_map(landscape), query)
    w_fixed = np.array([2.0, 0, 0, 0])
    want = predict_in_context_end(w_fixed, landscape, 31)
    assert want.in_context == pytest.approx(0.138889, abs=1e-6)
    assert np.mean(np.square(prediction - query @ w_fixed)) == pytest.approx(want.in_weight, rel=0.02)
