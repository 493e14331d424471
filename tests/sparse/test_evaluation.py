"""Guarantees of what is measured of a model:

- loss and divergences are their definitions, and 0 where the model is the reference;
- masses of attention made by hand are known: a head that copies a lag, uniform attention, shared lags;
- value coefficients are those of a sum of feature matrices; heads that are equal differ by nothing;
- an evaluation does not depend on how sequences are cut into parts.
"""

import numpy as np
import pytest
import torch
from tests.sparse.small_sparse import STREAMS

from onset.papers.sparse import evaluation
from onset.papers.sparse.chain import build_chain, draw_matrices, draw_validation
from onset.papers.sparse.evaluation import (
    align_values,
    evaluate,
    measure_head_difference,
    predict_log_probabilities,
    prepare_evaluation,
)
from onset.papers.sparse.models.minimal import Minimal
from onset.papers.sparse.models.shape import Shape
from onset.papers.sparse.models.start import draw_start
from onset.papers.sparse.predictors import (
    cross_entropy,
    divergence,
    normalise_logits,
    prefix_log_probabilities,
)

CHAIN = build_chain(6, 5, 4, ((1, 2), (3, 4)), 1.5, 8.0)
MATRICES = draw_matrices(STREAMS, CHAIN, 0)
TOKENS = draw_validation(STREAMS, CHAIN, MATRICES, 0, 300)
SHAPE = Shape(CHAIN.d, CHAIN.inputs, CHAIN.T, 1, 2)
NONE = np.empty((0, len(TOKENS), CHAIN.T, CHAIN.d))
FLAT = normalise_logits(np.zeros((len(TOKENS), CHAIN.T, CHAIN.d)))


def prepare(chain=CHAIN, learned=NONE, dtype=torch.float64):
    return prepare_evaluation(chain, MATRICES, TOKENS, learned, dtype)


class Fixed:
    """A stand-in for a model: given predictions (n, T, d), and one attention (H, T, L) for all sequences."""

    def __init__(self, log_p, attention):
        self.log_p, self.attention = torch.from_numpy(log_p), torch.from_numpy(attention)
        self.shape, self.done = SHAPE, 0

    def prepare(self, parameters):
        self.done = 0
        return parameters

    def observe(self, prepared, tokens):
        n = len(tokens)
        part = self.log_p[self.done : self.done + n]
        self.done += n
        return part, self.attention.expand(n, 1, *self.attention.shape)


def draw_uniform():
    """Uniform causal attention (1, T, L)."""
    seen = np.tri(CHAIN.inputs)[CHAIN.window - 1 :]
    return (seen / seen.sum(1, keepdims=True))[None]


def test_a_model_that_is_a_prefix_predictor_has_its_loss_and_no_divergence():
    log_p = prefix_log_probabilities(CHAIN, MATRICES, TOKENS)
    data = prepare()
    for i in range(CHAIN.h):
        found = evaluate(Fixed(log_p[i], draw_uniform()), {}, data)
        # The clamp at 1e-10 moves the divergence by less than d 1e-10 |log q|.
        assert found["KL"][i] == pytest.approx(0, abs=1e-7)
        assert found["KL"][1 - i] > 0.1
        assert found["loss"] == pytest.approx(cross_entropy(log_p[i], TOKENS), abs=1e-12)
    assert found["loss"] == pytest.approx(data.teacher_loss, abs=1e-12)
    # The validation tokens are draws of the chain: their mean surprise is its entropy, to 5 standard errors.
    surprise = -np.take_along_axis(log_p[-1], TOKENS[:, -CHAIN.T :, None], -1)
    assert abs(data.teacher_loss - data.entropy) < 5 * surprise.std() / surprise.size**0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_and_divergences_are_their_definitions(dtype):
    generator = np.random.default_rng(0)
    log_q, learned = normalise_logits(2 * generator.normal(size=(2, 300, CHAIN.T, CHAIN.d)))
    data = prepare(learned=learned[None], dtype=dtype)
    model = Fixed(log_q.astype("f4" if dtype == torch.float32 else "f8"), draw_uniform())
    found = evaluate(model, {}, data)
    references = [*prefix_log_probabilities(CHAIN, MATRICES, TOKENS), learned]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-11
    expected = [divergence(p, log_q).mean() for p in references]
    np.testing.assert_allclose(found["KL"], expected, rtol=0, atol=tolerance)
    assert found["loss"] == pytest.approx(cross_entropy(log_q, TOKENS), abs=tolerance)


@pytest.mark.parametrize("lag", [1, 2, 3, 4])
def test_a_head_that_copies_one_lag_has_all_mass_on_its_group(lag):
    attention = np.zeros((2, CHAIN.T, CHAIN.inputs))
    for query in range(CHAIN.T):
        attention[0, query, CHAIN.window + query - lag] = 1.0  # the query stands at w-1+query, which is lag 1
    attention[1] = draw_uniform()
    mass = evaluate(Fixed(FLAT, attention), {}, prepare())["mass"]
    np.testing.assert_allclose(mass[0, 0], [lag <= 2, lag > 2])
    uniform = np.mean([2 / (CHAIN.window + query) for query in range(CHAIN.T)])
    np.testing.assert_allclose(mass[0, 1], [uniform, uniform])


def test_groups_that_share_a_lag_both_count_it():
    chain = build_chain(6, 5, 4, ((1, 2), (2, 3)), 1.5, 8.0)
    attention = np.zeros((1, CHAIN.T, CHAIN.inputs))
    for query in range(CHAIN.T):
        attention[0, query, CHAIN.window + query - 2] = 0.75
        attention[0, query, CHAIN.window + query - 3] = 0.25
    mass = evaluate(Fixed(FLAT, attention), {}, prepare(chain))["mass"]
    np.testing.assert_allclose(mass[0, 0], [0.75, 1.0])


def test_value_coefficients_are_those_of_a_sum_of_matrices():
    orthogonal = build_chain(6, 5, 4, ((1, 2), (3, 4)), 1.5, 8.0, mutually_orthogonal=True)
    matrices = draw_matrices(STREAMS, orthogonal, 0)
    data = prepare_evaluation(orthogonal, matrices, TOKENS, NONE, torch.float64)
    coefficients = np.array([[0.7, -0.2], [0.0, 1.0], [-0.5, 0.3]])
    V = np.einsum("hk,koi->hoi", coefficients, matrices)
    positions = np.random.default_rng(0).normal(size=(3, 6, CHAIN.inputs))
    found = align_values(np.concatenate([V, positions], -1), data)
    np.testing.assert_allclose(found, coefficients, atol=1e-8)


def test_value_coefficients_of_any_matrices():
    V = np.random.default_rng(0).normal(size=(2, 6, SHAPE.inputs))
    expected = [[(v[:, :6] * A).sum() / np.linalg.norm(A) ** 2 for A in MATRICES] for v in V]
    np.testing.assert_allclose(align_values(V, prepare()), expected)


def test_head_difference():
    A = torch.ones(3, 2, 2)
    assert measure_head_difference({"A": A, "V": torch.zeros(3, 1, 2)}) == 0.0
    A[1, 0, 1] += 0.25
    V = torch.zeros(3, 1, 2)
    V[2, 0, 0], V[0, 0, 0] = -1.0, 2.0
    assert measure_head_difference({"A": A}) == 0.25
    assert measure_head_difference({"A": A, "V": V}) == 3.0


def test_parts_do_not_matter(monkeypatch):
    model = Minimal(SHAPE)
    parameters = {n: torch.from_numpy(w[0]) for n, w in draw_start(STREAMS, model.weights, [0]).items()}
    whole = evaluate(model, parameters, prepare())
    predicted = predict_log_probabilities(model, parameters, torch.from_numpy(TOKENS))
    log_q, maps = model.observe(model.prepare(parameters), torch.from_numpy(TOKENS[:, :-1]))
    np.testing.assert_allclose(predicted, log_q.numpy(), atol=1e-13)
    np.testing.assert_allclose(whole["attention"], maps.mean(0).numpy(), atol=1e-13)
    monkeypatch.setattr(evaluation, "PART", 7)
    for name, values in evaluate(model, parameters, prepare()).items():
        np.testing.assert_allclose(values, whole[name], atol=1e-12, err_msg=name)


def test_predictions_are_clamped():
    model = Minimal(SHAPE)
    parameters = {n: torch.from_numpy(w[0]) for n, w in draw_start(STREAMS, model.weights, [0]).items()}
    parameters["blocks.0.V"] *= 1000
    predicted = predict_log_probabilities(model, parameters, torch.from_numpy(TOKENS))
    assert predicted.min() == np.log(1e-10)
