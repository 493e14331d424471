"""Guarantees of the prefix predictors, entropies and divergences.

- Log-probabilities equal the paper's equation written out with one-hot tokens.
- The last prefix predictor is the chain; divergences are 0 there, and not symmetric elsewhere.
- Entropy and divergence equal sums over all continuations of a tiny chain.
- The clamp is of the reference, not of the model; cross-entropy counts the predicted tokens alone.
- Entropies and divergences of four settings match independently measured values.
- Datasets and levels have the documented variables, and more seeds change none.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from onset.job.context import Job
from onset.papers.sparse.chain import build_chain, draw_matrices, draw_training, draw_validation, open_streams
from onset.papers.sparse.levels import measure_levels, solve_levels
from onset.papers.sparse.predictors import (
    FLOOR,
    cross_entropy,
    divergence,
    entropy,
    group_logits,
    normalise_logits,
    prefix_log_probabilities,
)
from onset.papers.sparse.sequences import draw_datasets
from onset.params.sparse import Chain, Levels, Sequences
from onset.randomness import Streams

STREAMS = open_streams(Streams(0, "sparse", "any"))
TWO_EACH = ((1, 2), (3, 4), (5, 6))
FOUR_EACH = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))


def small(**changes):
    given = {"d": 4, "T": 3, "window": 3, "groups": ((1, 2), (3,)), "m": 1.5, "b0": 1.5} | changes
    chain = build_chain(**given)
    return chain, draw_matrices(STREAMS, chain, 0)


def test_logits_are_the_equation_written_out():
    chain, matrices = small(groups=((2, 3), (1, 2)), alpha=((0.8, 0.2), (0.6, 0.4)))
    tokens = draw_validation(STREAMS, chain, matrices, 0, 20)
    found = group_logits(chain, matrices, tokens)
    alphas = ({3: 0.8, 2: 0.2}, {2: 0.6, 1: 0.4})  # oldest first, by lag
    for n, t in np.ndindex(20, chain.T):
        for k, alpha in enumerate(alphas):
            mixed = sum(a * np.eye(4)[tokens[n, 3 + t - lag]] for lag, a in alpha.items())
            assert np.allclose(found[k, n, t], matrices[k] @ mixed, atol=1e-12)


def test_prefix_predictors_add_groups_in_order_and_end_at_the_chain():
    chain, matrices = small()
    tokens = draw_validation(STREAMS, chain, matrices, 0, 10)
    terms = group_logits(chain, matrices, tokens)
    log_p = prefix_log_probabilities(chain, matrices, tokens)
    assert np.allclose(np.exp(log_p).sum(-1), 1)
    assert np.allclose(log_p[0], normalise_logits(terms[0]))
    assert np.allclose(log_p[1], normalise_logits(terms[0] + terms[1]))


def test_entropy_and_divergence_are_sums_over_continuations():
    """Brute force: probabilities of all d^T continuations of one prefix, by the chain rule."""
    chain, matrices = small()
    prefix = [2, 0, 3]
    continuations = list(itertools.product(range(4), repeat=3))
    tokens = np.array([[*prefix, *rest] for rest in continuations])
    own, first = (prefix_log_probabilities(chain, matrices, tokens)[i] for i in (1, 0))
    rows = np.arange(3)
    log_own = np.array([own[n, rows, rest].sum() for n, rest in enumerate(continuations)])
    log_first = np.array([first[n, rows, rest].sum() for n, rest in enumerate(continuations)])
    p = np.exp(log_own)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    # entropy and divergence of whole continuations are the chain's means of the terms for each token
    assert -(p * log_own).sum() == pytest.approx((p * entropy(own).sum(1)).sum(), abs=1e-12)
    assert (p * (log_own - log_first)).sum() == pytest.approx(
        (p * divergence(own, first).sum(1)).sum(), abs=1e-8
    )


def test_divergence_is_zero_at_itself_and_not_symmetric():
    chain, matrices = small(d=6, b0=4.0)
    log_p = prefix_log_probabilities(chain, matrices, draw_validation(STREAMS, chain, matrices, 0, 50))
    assert np.allclose(divergence(log_p[-1], log_p[-1]), 0, atol=1e-12)
    assert abs(divergence(log_p[0], log_p[1]).mean() - divergence(log_p[1], log_p[0]).mean()) > 0.01


def test_the_reference_is_clamped_and_the_model_is_not():
    certain, other = np.log([1 - 1e-12, 1e-12]), np.log([0.5, 0.5])
    assert divergence(certain, other) == pytest.approx(np.log(2) + FLOOR * np.log(2 * FLOOR), abs=1e-11)
    assert divergence(other, certain) == pytest.approx(-np.log(2) - 0.5 * np.log(1e-12), abs=1e-9)


def test_cross_entropy_leaves_the_prefix_out_and_is_near_the_entropy():
    chain, matrices = small(T=10)
    tokens = draw_validation(STREAMS, chain, matrices, 0, 2000)
    log_p = prefix_log_probabilities(chain, matrices, tokens)[-1]
    changed = tokens.copy()
    changed[:, : chain.window] = (changed[:, : chain.window] + 1) % 4
    assert cross_entropy(log_p, tokens) == cross_entropy(log_p, changed)
    # 20000 terms, each of standard deviation below 1 nat, uncorrelated given the past
    assert cross_entropy(log_p, tokens) == pytest.approx(entropy(log_p).mean(), abs=4 / 20_000**0.5)


SETTINGS = {
    # setting: (d, T, window, groups, m, b0), then entropy and its standard deviation over draws of the
    # matrices, KL(A_1 || chain), KL(A_12 || chain), KL(chain || A_1), KL(chain || A_12), from six draws of a
    # separate implementation
    "base": ((50, 20, 6, TWO_EACH, 1.7, 20.0), 0.612, 0.022, (2.82, 0.69), (2.36, 0.67)),
    "m = 1": ((50, 20, 6, TWO_EACH, 1.0, 20.0), 1.382, 0.021, (2.92, 1.34), (2.04, 1.16)),
    "wide": ((50, 20, 12, FOUR_EACH, 1.7, 40.0), 0.362, 0.023, (4.50, 1.05), (3.81, 1.02)),
    "small": ((20, 10, 6, TWO_EACH, 1.5, 20.0), 0.353, 0.017, (4.07, 1.08), (3.15, 1.07)),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_entropies_and_divergences_of_the_settings(setting):
    given, H, deviation, kl_from, kl_to = SETTINGS[setting]
    chain = build_chain(*given)
    found = []
    for seed in range(6):
        matrices = draw_matrices(STREAMS, chain, seed)
        found.append(
            measure_levels(chain, matrices, draw_validation(STREAMS, chain, matrices, seed, 300), FLOOR)
        )
    assert np.mean([level["entropy"] for level in found]) == pytest.approx(H, abs=3 * deviation)
    # divergences scatter by some percent between draws: 10 % is about three standard deviations of a mean
    assert np.mean([level["KL_from"][:2] for level in found], 0) == pytest.approx(kl_from, rel=0.1)
    assert np.mean([level["KL_to"][:2] for level in found], 0) == pytest.approx(kl_to, rel=0.1)


def test_divergences_fall_with_the_prefix():
    chain = build_chain(*SETTINGS["small"][0])
    matrices = draw_matrices(STREAMS, chain, 0)
    levels = measure_levels(chain, matrices, draw_validation(STREAMS, chain, matrices, 0, 300), FLOOR)
    uniform = levels["uniform_excess"]
    assert uniform == pytest.approx(np.log(20) - levels["entropy"])
    assert levels["KL_to"][0] > levels["KL_to"][1] > abs(levels["KL_to"][2])
    assert levels["KL_from"][0] > levels["KL_from"][1] > abs(levels["KL_from"][2])
    # the clamp alone is left: 20 symbols, log-ratios below 100
    assert max(abs(levels["KL_to"][2]), abs(levels["KL_from"][2])) < 20 * 100 * FLOOR


def section(**changes):
    given = {
        "d": 6,
        "T": 4,
        "window": 4,
        "groups": [[1, 2], [3, 4]],
        "m": 1.5,
        "b0": 5.0,
        "scaling": "mean",
        "overlap": False,
        "mutually_orthogonal": False,
    }
    return Chain(**given | changes)


def draw(seeds=2, samples=30, **sections):
    own = Sequences(samples=samples, validation=20, seeds=seeds)
    sections = sections or {"base_chain": section()}
    return draw_datasets(
        Job("sparse", "x_sequences", "ci", "r", own, sections, streams=Streams(3, "sparse", "x_sequences"))
    )


def test_datasets_hold_the_sequences_and_matrices_of_every_seed():
    data = draw(one_chain=section(m=1.0), two_chain=section())
    assert data["tokens"].dims == ("chain", "seed", "sample", "position")
    assert data["validation"].dims == ("chain", "seed", "validation_sample", "position")
    assert data["matrices"].dims == ("chain", "seed", "group", "output", "feature")
    assert data["tokens"].dtype == data["validation"].dtype == np.int8
    assert list(data["group"].values) == [1, 2]
    streams, chain = (
        open_streams(Streams(3, "sparse", "other")),
        build_chain(6, 4, 4, ((1, 2), (3, 4)), 1.5, 5.0),
    )
    matrices = draw_matrices(streams, chain, 1)
    chosen = data.sel(chain="two_chain", seed=1)
    assert np.array_equal(chosen["matrices"], matrices)
    assert np.array_equal(chosen["tokens"], draw_training(streams, chain, matrices, 1, 30))
    assert np.array_equal(chosen["validation"], draw_validation(streams, chain, matrices, 1, 20))
    for name in (*data.data_vars, *data.coords):
        assert {"long_name", "units"} <= data[name].attrs.keys()


def test_more_seeds_and_samples_change_none():
    few, many = draw(), draw(seeds=3, samples=700)
    assert np.array_equal(few["tokens"], many["tokens"].isel(seed=slice(2), sample=slice(30)))
    assert np.array_equal(few["matrices"], many["matrices"].isel(seed=slice(2)))


def test_levels_cover_every_chain_and_pad_with_nan():
    one, two = {"one_chain": section()}, {"two_chain": section(groups=[[1], [2], [3, 4]])}
    inputs = {"one_sequences": draw(**one), "two_sequences": draw(seeds=1, **two)}
    job = SimpleNamespace(own=Levels(floor=1e-10), sections=one | two, inputs=inputs)
    levels = solve_levels(job)
    assert levels["entropy"].dims == ("chain", "seed")
    assert levels["KL_from"].dims == levels["KL_to"].dims == ("chain", "seed", "prefix")
    assert np.isnan(levels["entropy"].sel(chain="two_chain", seed=1))
    assert np.isnan(levels["KL_to"].sel(chain="one_chain", prefix=3)).all()
    data = inputs["one_sequences"].sel(chain="one_chain", seed=1)
    chain = build_chain(6, 4, 4, ((1, 2), (3, 4)), 1.5, 5.0)
    log_p = prefix_log_probabilities(chain, data["matrices"].values, data["validation"].values.astype(int))
    chosen = levels.sel(chain="one_chain", seed=1)
    assert float(chosen["entropy"]) == pytest.approx(entropy(log_p[-1]).mean())
    assert float(chosen["KL_from"].sel(prefix=1)) == pytest.approx(divergence(log_p[0], log_p[-1]).mean())
    assert float(chosen["KL_to"].sel(prefix=1)) == pytest.approx(divergence(log_p[-1], log_p[0]).mean())
    assert float(chosen["prefix_loss"].sel(prefix=2)) == pytest.approx(entropy(log_p[-1]).mean())
