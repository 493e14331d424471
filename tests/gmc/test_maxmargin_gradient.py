"""Guarantees of gradient descent in Gram coordinates, against autograd and against descent in W itself:

- pi gives the loss's gradient, and h and |r|² are what they are said to be
- Gram descent equals descent in W to 1e-12; `combine` turns coefficients into that W
- tokens times s with a rate equal tokens with the rate times s^6
- a batch of seeds gives each seed the bits that it has alone
- large margins neither overflow nor lose accuracy
- data depend on their seed alone, not on how many are drawn
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.gmc import small_maxmargin as small

from onset.papers.gmc.maxmargin.diagnostics import measure_gradient2, measure_h, measure_loss
from onset.papers.gmc.maxmargin.geometry import describe_geometry, list_rivals
from onset.papers.gmc.maxmargin.gradient import LOWEST, attend, follow_descent, project_residual, weigh_rivals
from onset.papers.gmc.maxmargin.layout import gather_rivals, read_problems, spread_rivals

SHAPES = [(3, 5, 8), (1, 3, 4), (6, 9, 5)]  # n, T, d


def draw(n, T, d, seeds=3):
    stream = np.random.default_rng(n * T * d)
    return stream.normal(size=(seeds, n, T, d)), stream.integers(T - 1, size=(seeds, n))


def loss_by_autograd(W, tokens, match):
    """Σ|r|²/2 of one seed as torch tensors (W has gradients), straight from the model's definition."""
    total = 0
    for e, y in zip(torch.from_numpy(tokens), match, strict=True):
        attention = torch.softmax(e[:-1] @ W @ e[y], 0)
        total = total + (attention @ e[1:] - e[y + 1]).square().sum() / 2
    return total


@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_is_that_of_autograd(shape):
    tokens, match = draw(*shape)
    geometry = describe_geometry(tokens, match)
    W = 0.3 * np.random.default_rng(1).normal(size=(len(tokens), shape[2], shape[2]))
    margins = np.einsum("snrd,sde,sne->snr", geometry.keys, W, geometry.queries)
    pi = weigh_rivals(margins, geometry.value_gram)
    loss = measure_loss(margins, geometry.value_gram, 1.0)
    gradient2 = measure_gradient2(margins[None], geometry.margin_gram, geometry.value_gram, 2.0)[0]
    for s in range(len(tokens)):
        leaf = torch.tensor(W[s], requires_grad=True)
        expected = loss_by_autograd(leaf, tokens[s], match[s])
        (gradient,) = torch.autograd.grad(expected, leaf)
        scale = float(gradient.abs().max())
        found = -geometry.combine(pi)[s]
        np.testing.assert_allclose(found, gradient.numpy(), rtol=0, atol=1e-12 * scale)
        assert loss[s] == pytest.approx(float(expected.detach()), rel=1e-12)
        assert gradient2[s] == pytest.approx(4 * float(gradient.square().sum()), rel=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_h_and_the_squared_residual(shape):
    tokens, match = draw(*shape)
    geometry = describe_geometry(tokens, match)
    n, T, _ = shape
    margins = np.random.default_rng(2).normal(size=(3, n, T - 2))
    attention, missing = attend(margins)
    h = measure_h(margins, geometry.value_gram)
    for s, i in np.ndindex(3, n):
        e, y = tokens[s, i], match[s, i]
        rivals = [t for t in range(T - 1) if t != y]
        assert list_rivals(match, T)[s, i].tolist() == rivals
        z = np.zeros(T - 1)
        z[rivals] = -margins[s, i]
        a = np.exp(z) / np.exp(z).sum()
        np.testing.assert_allclose(attention[s, i], a[rivals], rtol=1e-13)
        assert missing[s, i, 0] == pytest.approx(1 - a[y], rel=1e-12)
        r = a @ e[1:] - e[y + 1]
        along, squared = project_residual(attention, geometry.value_gram)
        assert squared[s, i, 0] == pytest.approx(r @ r, rel=1e-12)
        for k, t in enumerate(rivals):
            d_t = e[t + 1] - e[y + 1]
            assert along[s, i, k] == pytest.approx(d_t @ r, rel=1e-10, abs=1e-13)
            assert (1 - a[y]) * h[s, i, k] == pytest.approx(d_t @ r, rel=1e-10, abs=1e-13)


def test_gram_matrix_and_vectors():
    tokens, match = draw(3, 5, 8)
    geometry = describe_geometry(tokens, match)
    vectors = geometry.margin_vectors
    np.testing.assert_allclose(geometry.margin_gram, vectors @ vectors.swapaxes(-1, -2), atol=1e-12)
    W = np.random.default_rng(0).normal(size=(8, 8))
    e, y = tokens[1, 2], match[1, 2]
    rival = list_rivals(match, 5)[1, 2, 0]
    assert vectors[1, 2 * 3] @ W.ravel() == pytest.approx((e[y] - e[rival]) @ W @ e[y], rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_gram_descent_equals_descent_in_W(shape):
    tokens, match = draw(*shape)
    geometry = describe_geometry(tokens, match)
    steps, rate = 300, 0.02
    history, last = follow_descent(
        np.zeros(geometry.keys.shape[:-1]), geometry.margin_gram, geometry.value_gram, rate, steps
    )
    coefficients = rate * weigh_rivals(history, geometry.value_gram).sum(0)
    for s in range(len(tokens)):
        W = np.zeros((shape[2], shape[2]))
        for _ in range(steps):
            W = small.step_plain(W, tokens[s], match[s], rate)
        scale = np.abs(W).max()
        np.testing.assert_allclose(geometry.combine(coefficients)[s], W, rtol=0, atol=1e-12 * scale)
        margins = np.einsum("nrd,de,ne->nr", geometry.keys[s], W, geometry.queries[s])
        np.testing.assert_allclose(last[s], margins, rtol=0, atol=1e-12 * np.abs(margins).max())


def test_token_scale_and_rate_are_one_parameter():
    tokens, match = draw(3, 5, 8)
    start, s = np.zeros((3, 3, 3)), 1.7
    one, other = describe_geometry(tokens, match), describe_geometry(s * tokens, match)
    given = follow_descent(start, other.margin_gram, other.value_gram, 0.001, 400)[1]
    scaled = follow_descent(start, one.margin_gram, one.value_gram, 0.001 * s**6, 400)[1]
    np.testing.assert_allclose(given, scaled, rtol=1e-11)
    assert measure_loss(given, other.value_gram, 1.0) == pytest.approx(
        s**2 * measure_loss(scaled, one.value_gram, 1.0), rel=1e-11
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_batching_changes_no_bit(shape):
    tokens, match = draw(*shape, seeds=5)
    geometry = describe_geometry(tokens, match)
    start = np.zeros(geometry.keys.shape[:-1])
    together, _ = follow_descent(start, geometry.margin_gram, geometry.value_gram, 0.02, 200)
    for s in range(5):
        one = slice(s, s + 1)
        alone, _ = follow_descent(start[one], geometry.margin_gram[one], geometry.value_gram[one], 0.02, 200)
        assert (alone[:, 0] == together[:, s]).all()


def test_extreme_margins():
    margins = np.array([[[1500.0, 1501.0], [-1500.0, -1501.0], [-900.0, 900.0]]])
    attention, missing = attend(margins)
    assert np.isfinite(attention).all() and (missing <= 1).all()
    assert attention[0, 1].tolist() == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    assert attention[0, 2].tolist() == [1.0, 0.0]
    attention, missing = attend(np.array([[[40.0, 41.0]]]))  # 1 - a_y below the spacing of numbers at 1
    assert missing[0, 0, 0] == pytest.approx(np.exp(-40) + np.exp(-41), rel=1e-14)
    assert attention.sum() == missing[0, 0, 0]


def test_steps_that_overshoot_by_far():
    # Seed 1 jumps to margins below -600, where e^(-m) or its sums overflow; the others do not notice.
    tokens, match = draw(3, 5, 8)
    match[1, :2] = 0  # two near tokens, each the match of one sample and a rival in the other
    tokens[1, 0, 1] = tokens[1, 0, 0] + 0.3 * tokens[1, 0, 1]
    tokens[1, 1, :2] = tokens[1, 0, 1::-1]
    tokens[1] *= 20.0
    geometry = describe_geometry(tokens, match)
    start, rate = np.zeros((3, 3, 3)), 0.002
    history, _ = follow_descent(start, geometry.margin_gram, geometry.value_gram, rate, 30)
    assert history[:, 1].min() < LOWEST and np.isfinite(history).all()
    assert history[:, [0, 2]].min() > LOWEST
    W = np.zeros((8, 8))
    for k in range(30):
        margins = np.einsum("nrd,de,ne->nr", geometry.keys[1], W, geometry.queries[1])
        np.testing.assert_allclose(history[k, 1], margins, rtol=1e-9, atol=1e-9 * np.abs(margins).max())
        W = small.step_plain(W, tokens[1], match[1], rate)
    gentle = slice(0, 3, 2)
    alone, _ = follow_descent(
        start[gentle], geometry.margin_gram[gentle], geometry.value_gram[gentle], rate, 30
    )
    assert (history[:, gentle] == alone).all()


def test_bad_shapes_are_refused():
    with pytest.raises(ValueError, match="T = 2 tokens have no rival"):
        describe_geometry(np.zeros((1, 2, 3)), np.zeros((1,), int))
    with pytest.raises(ValueError, match=r"should lie in 0\.\.1, found 2 to 2"):
        describe_geometry(np.zeros((1, 3, 3)), np.full((1,), 2))


def test_data_depend_on_their_seed_alone():
    few, many = small.draw_data(seeds=(2,)), small.draw_data(seeds=(0, 2, 5), n=7)
    tokens, match = read_problems(few)
    more = many.sel(seed=[2]).isel(sample=slice(3))
    assert (tokens == more.tokens.values).all() and (match == more.match.values).all()
    drawn = small.draw_data(seeds=40, n=50)
    # 40 * 50 * 5 squared norms of mean sigma_token² = 4 and standard deviation 4 sqrt(2/8) = 2: 5 errors
    assert float((drawn.tokens**2).sum("feature").mean()) == pytest.approx(4.0, abs=5 * 2 / 100)
    counts = np.bincount(drawn.match.values.ravel(), minlength=4)
    assert len(counts) == 4 and abs(counts / 2000 - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 2000)


def test_rivals_are_spread_over_candidates_and_back():
    match = np.array([[0, 2], [3, 1]])
    values = np.arange(12.0).reshape(2, 2, 3)
    spread = spread_rivals(values, match)
    assert spread.shape == (2, 2, 4)
    assert np.isnan(np.take_along_axis(spread, match[..., None], -1)).all()
    assert spread[0, 1].tolist()[:2] == [3.0, 4.0] and spread[0, 1, 3] == 5.0
    assert (gather_rivals(spread, match) == values).all()
    stacked = spread_rivals(np.stack([values, -values]), match)
    assert (gather_rivals(stacked, match)[1] == -values).all()
    assert spread_rivals(values > 3, match).dtype == bool
