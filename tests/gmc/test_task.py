"""Guarantees of the task:

- for any C the query has the law of a token, covariance C with its match and none with any other token;
- matches are uniform over all tokens but the last, targets are images of their successors plus noise;
- C of norm above 1 and T below 3 are refused;
- a test sequence depends on its number, a batch on run and step, neither on C; contexts and maps are shared;
- repeated sequences repeat, controls share their first half alone;
- the stored test sets are these sequences, labelled.
"""

import numpy as np
import pytest
from tests.gmc.small_gmc import STREAMS, general_covariance, make_section, make_sets

from onset.papers.gmc.task import (
    PIECE,
    build_task,
    draw_batch,
    draw_repeated,
    draw_sequences,
    draw_test_sequences,
    draw_value_map,
    open_streams,
    read_task,
)
from onset.randomness import Streams

COVARIANCES = {
    "isotropic": np.eye(4) / 1.2**2,
    "exact": np.eye(4),
    "diagonal": np.diag([1.0, 0.7, 0.2, 0.0]),
    "general": general_covariance(4),
    "orthogonal": np.linalg.qr(general_covariance(4))[0],
}
SAMPLES = 40000


@pytest.fixture(params=COVARIANCES, scope="module")
def drawn(request):
    task = build_task(5, COVARIANCES[request.param], sigma_token=1.5)
    value_map = np.random.default_rng(2).standard_normal((4, 4))
    return task, value_map, draw_sequences(np.random.default_rng(3), task, value_map, SAMPLES)


def covariance(x, y):
    return x.T @ y / len(x)


def test_the_query_has_the_law_of_a_token(drawn):
    task, _, (tokens, _, match) = drawn
    unit = (
        1.5**2 / 4
    )  # variance of a token's entry; an entry of a covariance has standard error <= unit * .007
    query, row = tokens[:, -1], np.arange(SAMPLES)
    near = {"atol": 5 * unit * 2**0.5 / SAMPLES**0.5}
    np.testing.assert_allclose(covariance(query, query), unit * np.eye(4), **near)
    np.testing.assert_allclose(covariance(tokens[:, 0], tokens[:, 0]), unit * np.eye(4), **near)
    np.testing.assert_allclose(query.mean(0), 0, atol=5 * (unit / SAMPLES) ** 0.5)
    np.testing.assert_allclose(covariance(query, tokens[row, match]), unit * task.C, **near)
    for distance in range(1, task.T):  # every other token of the context
        other = tokens[row, (match + distance) % task.T]
        np.testing.assert_allclose(covariance(query, other), 0, **near)


def test_matches_and_targets(drawn):
    task, value_map, (tokens, targets, match) = drawn
    counts = np.bincount(match, minlength=task.T)
    assert counts[-1] == 0 and len(counts) == task.T
    share = 1 / (task.T - 1)
    np.testing.assert_allclose(counts[:-1] / SAMPLES, share, atol=5 * (share * (1 - share) / SAMPLES) ** 0.5)
    noise = targets - tokens[np.arange(SAMPLES), match + 1] @ value_map.T
    np.testing.assert_allclose(
        covariance(noise, noise), 0.01 * np.eye(4), atol=5 * 0.01 * 2**0.5 / SAMPLES**0.5
    )


@pytest.mark.parametrize("C", COVARIANCES.values(), ids=COVARIANCES)
def test_the_root_is_symmetric_and_completes_the_covariance(C):
    task = build_task(3, C)
    np.testing.assert_allclose(task.S, task.S.T, atol=1e-14)
    np.testing.assert_allclose(task.S @ task.S, np.eye(4) - C @ C.T, atol=1e-14)
    assert np.linalg.eigvalsh(task.S).min() >= -1e-14


def test_without_noise_the_query_is_its_match():
    task = build_task(4, np.eye(3))
    tokens, _, match = draw_sequences(np.random.default_rng(0), task, np.eye(3), 50)
    np.testing.assert_array_equal(tokens[:, -1], tokens[np.arange(50), match])


@pytest.mark.parametrize("c", [1.1, 1.2, 1.3])
def test_the_isotropic_correlation(c):
    task = read_task(make_section(c=c))
    np.testing.assert_allclose(np.diag(task.C), {1.1: 0.8264, 1.2: 0.6944, 1.3: 0.5917}[c], atol=5e-5)
    np.testing.assert_allclose(task.S, np.eye(16) * (1 - c**-4) ** 0.5, rtol=0, atol=1e-14)


def test_one_covariance_given_in_three_ways():
    given = [
        {"c": 2.0},
        {"singular_values": (0.25,) * 3},
        {"matrix": ((0.25, 0, 0), (0, 0.25, 0), (0, 0, 0.25))},
    ]
    tasks = [read_task(make_section(4, 3, **each)) for each in given]
    for task in tasks[1:]:
        np.testing.assert_array_equal(task.C, tasks[0].C)
        np.testing.assert_array_equal(task.S, tasks[0].S)


def test_refused():
    with pytest.raises(ValueError, match=r"spectral norm 1\.01; should be at most 1"):
        build_task(8, 1.01 * np.eye(4))
    with pytest.raises(ValueError, match="spectral norm 2; should be"):
        build_task(8, np.ones((2, 2)))  # each entry at most 1 is not enough
    with pytest.raises(ValueError, match="T = 2: should be at least 3"):
        build_task(2, np.eye(4))


def test_a_test_sequence_depends_on_its_number_alone():
    task, value_map = read_task(make_section()), draw_value_map(STREAMS, 16)
    many = draw_test_sequences(STREAMS, task, value_map, PIECE + 7)
    for samples in (1, 128, PIECE, PIECE + 7):
        for part, whole in zip(draw_test_sequences(STREAMS, task, value_map, samples), many, strict=True):
            np.testing.assert_array_equal(part, whole[:samples])


def test_a_batch_is_a_function_of_run_and_step():
    task, value_map = read_task(make_section()), draw_value_map(STREAMS, 16)
    first = draw_batch(STREAMS, task, value_map, seed=1, step=7, batch=32)
    again = draw_batch(STREAMS, task, value_map, seed=1, step=7, batch=32)
    assert first.tokens.dtype == first.targets.dtype == np.float32
    assert (
        first.tokens.shape == (32, 9, 16) and first.targets.shape == (32, 16) and first.match.shape == (32,)
    )
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    fresh = [draw_batch(STREAMS, task, value_map, *key, batch=32).tokens for key in ((1, 8), (2, 7))]
    fresh.append(draw_test_sequences(STREAMS, task, value_map, 32).tokens)
    for tokens in fresh:  # 4608 independent pairs
        assert abs(np.corrcoef(tokens.ravel(), first.tokens.ravel())[0, 1]) < 5 / 4608**0.5


def test_tasks_of_equal_size_share_all_draws():
    value_map = draw_value_map(STREAMS, 16)
    near, far = (read_task(make_section(c=c)) for c in (1.1, 1.3))
    for draw in (
        lambda task: draw_batch(STREAMS, task, value_map, 0, 3, 16),
        lambda task: draw_test_sequences(STREAMS, task, value_map, 16),
    ):
        one, other = draw(near), draw(far)
        np.testing.assert_array_equal(one.tokens[:, :-1], other.tokens[:, :-1])
        np.testing.assert_array_equal(one.match, other.match)
        np.testing.assert_array_equal(one.targets, other.targets)
        assert not np.array_equal(one.tokens[:, -1], other.tokens[:, -1])


def test_experiments_share_the_streams_of_the_paper():
    streams = [open_streams(Streams(4, "gmc", name)) for name in ("base_runs", "base_test")]
    np.testing.assert_array_equal(*(draw_value_map(each, 5) for each in streams))
    assert not np.array_equal(draw_value_map(streams[0], 5), draw_value_map(open_streams(STREAMS), 5))


def test_repeated_sequences_and_controls():
    task = read_task(make_section())
    repeated, control = draw_repeated(STREAMS, task, 6, 500)
    assert repeated.shape == control.shape == (500, 12, 16)
    np.testing.assert_array_equal(repeated[:, :6], repeated[:, 6:])
    np.testing.assert_array_equal(repeated[:, :6], control[:, :6])
    halves = control[:, :6].ravel(), control[:, 6:].ravel()
    assert abs(np.corrcoef(*halves)[0, 1]) < 5 / 48000**0.5  # as many independent pairs
    assert halves[1].var() == pytest.approx(1 / 16, rel=5 * (2 / 48000) ** 0.5)


@pytest.mark.parametrize("K", [None, 5])
def test_stored_test_sets(K):
    section = make_section()
    test = make_sets(section, samples=520, curve_samples=128, K=K)
    assert test.sizes["sample"] == 520 and int(test["curve"].sum()) == 128 and bool(test["curve"][:128].all())
    assert test.sizes["position"] == 9 and test.sizes["repeat_position"] == 2 * (K or 8)
    streams, task = open_streams(STREAMS), read_task(section)
    drawn = draw_test_sequences(streams, task, draw_value_map(streams, 16), 520)
    np.testing.assert_array_equal(test["tokens"], drawn.tokens.astype(np.float32))
    np.testing.assert_array_equal(test["targets"], drawn.targets.astype(np.float32))
    np.testing.assert_array_equal(test["match"], drawn.match)
    np.testing.assert_array_equal(test["value_map"], draw_value_map(streams, 16))
    np.testing.assert_array_equal(test["C"], task.C)
    assert all({"long_name", "units"} <= set(v.attrs) for v in test.variables.values())
