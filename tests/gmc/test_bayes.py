"""Guarantees of the Bayes predictor and the floors:

- the posterior is that of Gaussian densities for any C, the isotropic formula, and certain where C is exact;
- it is calibrated: realised loss, weight of the match and share of matches found agree with what it expects;
- no other use of the weights does better, and without any correlation it is the uniform average;
- losses of the uniform average and of zero have their closed forms;
- population values agree with an independent computation for twelve tasks;
- the stored floors are these numbers, on the paper's test sequences, on all, and in the population.
"""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.gmc.small_gmc import STREAMS, general_covariance, make_section, make_sets

from onset.job.context import Job
from onset.papers.gmc.bayes import (
    estimate_population,
    match_posterior,
    mean_squared_error,
    predict_bayes,
    predict_uniform,
    uniform_loss,
    zero_loss,
)
from onset.papers.gmc.floors import solve_floors
from onset.papers.gmc.task import build_task, draw_sequences, draw_value_map, read_task
from onset.params.gmc import Floors

ISOTROPIC = read_task(make_section(c=1.2))
GENERAL = build_task(6, general_covariance(5), sigma_token=1.3)
RANDOM = np.random.default_rng


def test_the_posterior_is_that_of_gaussian_densities():
    tokens, _, _ = draw_sequences(RANDOM(0), GENERAL, np.eye(5), 20)
    noise = GENERAL.deviation**2 * (np.eye(5) - GENERAL.C @ GENERAL.C.T)
    density = np.array(
        [
            [multivariate_normal.pdf(one[-1], GENERAL.C @ one[t], noise) for t in range(GENERAL.T - 1)]
            for one in tokens
        ]
    )
    np.testing.assert_allclose(
        match_posterior(tokens, GENERAL), density / density.sum(1, keepdims=True), rtol=1e-9
    )


def test_the_isotropic_posterior():
    tokens, _, _ = draw_sequences(RANDOM(1), ISOTROPIC, np.eye(16), 30)
    rho = 1 / 1.2**2
    distance = ((tokens[:, -1:] - rho * tokens[:, :7]) ** 2).sum(-1)
    weights = np.exp(-16 * distance / (2 * (1 - rho**2)))
    np.testing.assert_allclose(
        match_posterior(tokens, ISOTROPIC), weights / weights.sum(1, keepdims=True), rtol=1e-9
    )


@pytest.mark.parametrize(
    "C",
    [np.eye(6), np.diag([1.0, 0.3, 0.3, 0.2, 0.1, 0.0]), np.linalg.qr(general_covariance(6))[0]],
    ids=["isotropic", "one direction", "orthogonal"],
)
def test_an_exact_match_is_certain(C):
    task = build_task(8, C)
    tokens, _, match = draw_sequences(RANDOM(2), task, np.eye(6), 500)
    for kept in (tokens, tokens.astype(np.float32)):  # stored tokens are rounded
        weights = match_posterior(kept, task)
        # the nearest of 6 others in one direction is as near as rounding once in some 10^5 sequences
        assert np.mean(weights[np.arange(500), match] > 0.999) >= 0.99


def test_without_correlation_the_posterior_is_uniform():
    task = build_task(8, np.zeros((16, 16)))
    tokens, _, _ = draw_sequences(RANDOM(3), task, np.eye(16), 10)
    np.testing.assert_allclose(match_posterior(tokens, task), 1 / 7, rtol=1e-12)
    np.testing.assert_allclose(
        predict_bayes(tokens, task, np.eye(16)), predict_uniform(tokens, task, np.eye(16)), rtol=1e-9
    )


def test_the_posterior_turns_with_the_tokens():
    # a rotation of all tokens, of C along with it, changes no distance
    rotation = np.linalg.qr(RANDOM(4).standard_normal((5, 5)))[0]
    tokens, _, _ = draw_sequences(RANDOM(5), GENERAL, np.eye(5), 40)
    turned = build_task(6, rotation @ GENERAL.C @ rotation.T, sigma_token=1.3)
    np.testing.assert_allclose(
        match_posterior(tokens @ rotation.T, turned), match_posterior(tokens, GENERAL), rtol=1e-8
    )


@pytest.mark.parametrize("task", [ISOTROPIC, GENERAL], ids=["isotropic", "general"])
def test_the_posterior_is_calibrated(task):
    samples, W = 40000, RANDOM(6).standard_normal((3, task.d_in))
    expected = estimate_population(RANDOM(7), task, W, samples)
    tokens, targets, match = draw_sequences(RANDOM(8), task, W, samples)
    weights = match_posterior(tokens, task)
    realised = {
        "loss": ((predict_bayes(tokens, task, W) - targets) ** 2).mean(1),
        "match_weight": weights[np.arange(samples), match],
        "top1": weights.argmax(1) == match,
    }
    for name, values in realised.items():
        error = np.hypot(values.std() / samples**0.5, getattr(expected, f"{name}_se"))
        assert abs(values.mean() - getattr(expected, name)) < 4 * error


@pytest.mark.parametrize("task", [ISOTROPIC, GENERAL], ids=["isotropic", "general"])
def test_nothing_does_better(task):
    samples, W = 20000, RANDOM(9).standard_normal((3, task.d_in))
    tokens, targets, _ = draw_sequences(RANDOM(10), task, W, samples)
    best = mean_squared_error(predict_bayes(tokens, task, W), targets)
    images = tokens[:, 1 : task.T] @ W.T
    for power in (0.25, 0.8, 1.25, 4.0):  # flatter and sharper weights
        other = match_posterior(tokens, task) ** power
        other /= other.sum(1, keepdims=True)
        assert mean_squared_error(np.einsum("nt,nto->no", other, images), targets) > best
    products = np.einsum("nd,ntd->nt", tokens[:, -1], tokens[:, : task.T - 1] @ task.C.T)
    for temperature in (0.5, 1, 2, 4, 8, 16, 32):  # dot products know no token's norm
        scores = np.exp(temperature * products / task.deviation**2 / task.d_in)
        scores /= scores.sum(1, keepdims=True)
        assert mean_squared_error(np.einsum("nt,nto->no", scores, images), targets) > best


@pytest.mark.parametrize("T", [3, 8])
def test_levels_in_closed_form(T):
    task = build_task(T, general_covariance(5), sigma_token=1.3, sigma_noise=0.2)
    W = RANDOM(11).standard_normal((3, 5))
    tokens, targets, _ = draw_sequences(RANDOM(12), task, W, 60000)
    for predicted, level in ((predict_uniform(tokens, task, W), uniform_loss), (0.0, zero_loss)):
        errors = ((predicted - targets) ** 2).mean(1)
        assert abs(errors.mean() - level(task, W)) < 4 * errors.std() / len(errors) ** 0.5
    # averaged over W_V with unit entries: 1 - 1/(T-1) and 1, times the tokens' variance
    unit = np.ones((5, 5))
    assert uniform_loss(task, unit) == pytest.approx(1.69 * (1 - 1 / (T - 1)) + 0.04)
    assert zero_loss(task, unit) == pytest.approx(1.69 + 0.04)


REFERENCE = {  # (d_in, T, c): Bayes loss at |W_V|_F^2 = d_in d_out, P(match found), E[weight of the match]
    (16, 8, 1.1): (0.0134, 0.998, 0.997),
    (16, 8, 1.2): (0.0664, 0.961, 0.943),
    (16, 8, 1.3): (0.1825, 0.879, 0.827),
    (16, 16, 1.1): (0.0172, 0.995, 0.993),
    (16, 16, 1.2): (0.1154, 0.928, 0.894),
    (16, 16, 1.3): (0.2904, 0.801, 0.718),
    (32, 8, 1.1): (0.0100, 1.0, 1.0),
    (32, 8, 1.2): (0.0122, 0.9986, 0.998),
    (32, 8, 1.3): (0.0346, 0.9835, 0.975),
    (32, 16, 1.1): (0.0100, 1.0, 1.0),
    (32, 16, 1.2): (0.0152, 0.9966, 0.995),
    (32, 16, 1.3): (0.0602, 0.966, 0.950),
}
"""Simulated by another program with realised losses of 60000 sequences: standard errors up to 0.002."""


@pytest.mark.parametrize("key", REFERENCE, ids=str)
def test_population_values(key):
    d_in, T, c = key
    loss, top1, weight = REFERENCE[key]
    # for an isotropic C only |W_V|_F enters, so that the identity does for all maps
    found = estimate_population(RANDOM(13), build_task(T, np.eye(d_in) / c**2), np.eye(d_in), 20000)
    normalised = (found.loss - 0.01) * d_in + 0.01
    error = np.hypot(0.002 * (loss - 0.01) / 0.28 + 0.0003, found.loss_se * d_in)
    assert abs(normalised - loss) < 4 * error
    for value, expected, own in (
        (found.top1, top1, found.top1_se),
        (found.match_weight, weight, found.match_weight_se),
    ):
        error = np.hypot((expected * (1 - expected) / 60000) ** 0.5 + 0.0005 / 4, own)
        assert abs(value - expected) < 4 * error


def test_only_the_scale_of_the_value_map_enters_an_isotropic_task():
    draws = [
        estimate_population(RANDOM(14), ISOTROPIC, W, 40000)
        for W in (np.eye(16), draw_value_map(STREAMS, 16))
    ]
    squares = (1 / 16, (draw_value_map(STREAMS, 16) ** 2).mean())
    one, other = ((draw.loss - 0.01) / square for draw, square in zip(draws, squares, strict=True))
    error = np.hypot(*(draw.loss_se / square for draw, square in zip(draws, squares, strict=True)))
    assert abs(one - other) < 4 * error


def test_stored_floors():
    sections = {
        "base": make_section(),
        "long": make_section(T=16),
        "given": make_section(singular_values=(0.9,) * 16),
    }
    tests = {role: make_sets(section) for role, section in sections.items()}
    job = Job("gmc", "floors", "test", "-", Floors(draws=20000), sections, tests, streams=STREAMS)
    floors = solve_floors(job)
    assert list(floors["task"].values) == ["base", "long", "given"]
    assert list(floors["sequences"].values) == ["curve", "all", "population"]
    assert np.isnan(floors["c"].sel(task="given")) and float(floors["correlation"].sel(task="given")) == 0.9
    for role in sections:
        at, test = floors.sel(task=role), tests[role]
        task, W = read_task(sections[role]), test["value_map"].values
        assert float(at["value_scale"]) == pytest.approx((W**2).mean())
        for name, count in (("curve", 128), ("all", 600)):
            tokens, targets = test["tokens"].values[:count], test["targets"].values[:count]
            level = at.sel(sequences=name)
            assert float(level["bayes_loss"]) == pytest.approx(
                mean_squared_error(predict_bayes(tokens, task, W), targets)
            )
            assert float(level["bayes_loss"]) < float(level["uniform_loss"]) < float(level["zero_loss"])
        population, every = at.sel(sequences="population"), at.sel(sequences="all")
        assert float(population["uniform_loss"]) == pytest.approx(uniform_loss(task, W))
        # 600 sequences scatter by up to 0.2/sqrt(600) in a share and 0.5/sqrt(600) in a loss
        assert abs(float(population["top1"] - every["top1"])) < 4 * 0.3 / 600**0.5
        assert abs(float(population["bayes_loss"] - every["bayes_loss"])) < 4 * 0.5 / 600**0.5
    assert all({"long_name", "units"} <= set(v.attrs) for v in floors.variables.values())
