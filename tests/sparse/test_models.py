"""Guarantees of the models:

- the minimal model is a plain loop over heads on explicit one-hots: logits, attention and gradient, for one
  block and two, with all of the context and with some;
- the full model is that of torch.nn modules with the same weights, with each of its parts taken away; its
  short cut for inputs without dropout changes nothing;
- predictions depend on the past alone, and on the last tokens alone where the context is restricted;
- table look-ups and their derivatives are products with one-hots, as on a GPU;
- the gradient does not depend on how sequences are cut into parts;
- starts have the bounds and the orthogonality that they should, and are functions of name and seed;
- dropout drops its rate and keeps the mean; sizes that do not go together are refused.
"""

import dataclasses

import numpy as np
import pytest
import torch
from tests.sparse.plain_transformers import run_full, run_minimal
from torch.nn.functional import cross_entropy, one_hot

from onset.errors import OnsetError
from onset.papers.sparse.models import model as model_module
from onset.papers.sparse.models.dropout import Dropout
from onset.papers.sparse.models.full import Full, Parts
from onset.papers.sparse.models.minimal import Minimal
from onset.papers.sparse.models.onehot import Attend, build_tables
from onset.papers.sparse.models.rows import (
    add_entries,
    add_rows,
    index_rows,
    multiply_entries,
    multiply_rows,
    take_entries,
    take_rows,
)
from onset.papers.sparse.models.shape import Shape
from onset.papers.sparse.models.softmax import softmax, softmax_backward
from onset.papers.sparse.models.start import draw_start
from onset.randomness import Streams

STREAMS = Streams(0, "sparse", "models")
SMALL = Shape(d=5, length=8, queries=4, layers=1, heads=3)
PARTS = Parts(width=12, ffn=7)
SIZES = [
    {},
    {"layers": 2},
    {"context": 3},
    {"layers": 2, "context": 2},
    {"heads": 1},
    {"queries": 8},
    {"length": 19},  # longer than a vector register, so without padding
]


def draw_parameters(model, seed=0, dtype=torch.float64, spread=True):
    """A start of the model; with `spread`, noise on every parameter, so that none is trivial."""
    drawn = draw_start(STREAMS, model.weights, [seed])
    noise = np.random.default_rng(seed)
    extra = 0.3 if spread else 0.0
    return {
        n: torch.from_numpy(w[0] + extra * noise.normal(size=w[0].shape)).to(dtype) for n, w in drawn.items()
    }


def draw_tokens(shape, samples=11, seed=0):
    generator = np.random.default_rng(seed)
    return torch.from_numpy(generator.integers(0, shape.d, (samples, shape.length + 1)))


def check_against(model, reference, parameters, tokens, atol=1e-12):
    """Logits, attention, loss and gradient of `model` against those of `reference` by autograd."""
    T = model.shape.queries
    logits, maps = model.predict(model.prepare(parameters), tokens[:, :-1])
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in parameters.items()}
    expected, expected_maps = reference(leaves, tokens[:, :-1])
    torch.testing.assert_close(logits, expected, rtol=0, atol=atol)
    for block, (found, whole) in enumerate(zip(maps, expected_maps, strict=True)):
        rows = model.shape.list_queries(block)
        torch.testing.assert_close(found, whole[:, :, rows.start :], rtol=0, atol=atol)
    loss = cross_entropy(expected.flatten(0, 1), tokens[:, -T:].flatten())
    gradient = torch.autograd.grad(loss, list(leaves.values()))
    found_loss, found = model.differentiate(parameters, tokens)
    torch.testing.assert_close(found_loss, loss.detach(), rtol=0, atol=atol)
    for name, expected_part in zip(leaves, gradient, strict=True):
        torch.testing.assert_close(found[name], expected_part, rtol=0, atol=atol, msg=name)


@pytest.mark.parametrize("changes", SIZES, ids=str)
@pytest.mark.parametrize("scale", [None, 0.5])
def test_minimal_model_is_a_plain_loop_over_heads(changes, scale):
    shape = dataclasses.replace(SMALL, **changes)
    model = Minimal(shape, scale)
    reference = lambda p, x: run_minimal(shape, p, x)  # noqa: E731
    check_against(model, reference, draw_parameters(model), draw_tokens(shape))


@pytest.mark.parametrize(
    "switch",
    [{}, *({name: False} for name in ("normalise", "residual", "feed_forward")), {"merged": True}],
    ids=str,
)
@pytest.mark.parametrize("changes", SIZES[:4], ids=str)
def test_full_model_is_that_of_torch_modules(switch, changes):
    shape, parts = dataclasses.replace(SMALL, **changes), dataclasses.replace(PARTS, **switch)
    model = Full(shape, parts)
    reference = lambda p, x: run_full(shape, parts, p, x)  # noqa: E731
    check_against(model, reference, draw_parameters(model), draw_tokens(shape))


@pytest.mark.parametrize("layers", [1, 2])
def test_dropout_of_rate_zero_is_none(layers):
    # Without dropout the first block goes by tables; with any, by matrix products on the rows.
    model = Full(dataclasses.replace(SMALL, layers=layers), PARTS)
    parameters, tokens = draw_parameters(model), draw_tokens(SMALL)
    loss, gradient = model.differentiate(parameters, tokens)
    same, found = model.differentiate(parameters, tokens, Dropout(0.0, np.random.default_rng(0)))
    torch.testing.assert_close(same, loss, rtol=0, atol=1e-13)
    for name, part in gradient.items():
        torch.testing.assert_close(found[name], part, rtol=0, atol=1e-13, msg=name)


@pytest.mark.parametrize("layers", [1, 2])
def test_dropout_is_a_function_of_its_generator(layers):
    model = Full(dataclasses.replace(SMALL, layers=layers), PARTS)
    parameters, tokens = draw_parameters(model), draw_tokens(SMALL)
    losses = [
        float(model.differentiate(parameters, tokens, Dropout(0.3, STREAMS.generator("dropout", seed)))[0])
        for seed in (0, 0, 1)
    ]
    assert losses[0] == losses[1] != losses[2]


def test_dropout_drops_its_rate_and_keeps_the_mean():
    x = torch.ones(300, 1001, dtype=torch.float64)
    dropped = Dropout(0.1, np.random.Generator(np.random.SFC64(0))).apply(x)
    assert set(dropped.unique().tolist()) == {0.0, 1 / 0.9}
    # 5 standard deviations of a share of 3e5 entries; the rate is that of 65536 levels.
    assert float((dropped == 0).double().mean()) == pytest.approx(0.1, abs=5 * (0.09 / 3e5) ** 0.5 + 1e-5)


MODELS = {"minimal": lambda shape: Minimal(shape), "full": lambda shape: Full(shape, PARTS)}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("layers", "context", "reach"), [(1, None, 8), (1, 2, 2), (2, None, 8), (2, 2, 3)])
def test_predictions_see_the_past_within_their_context(name, layers, context, reach):
    shape = dataclasses.replace(SMALL, layers=layers, context=context)
    model = MODELS[name](shape)
    prepared, tokens = model.prepare(draw_parameters(model)), draw_tokens(shape)[:, :-1]
    before = model.observe(prepared, tokens)[0]
    for position in range(shape.length):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % shape.d
        moved = (model.observe(prepared, changed)[0] - before).abs().amax((0, 2)) > 1e-9
        queries = np.arange(shape.first, shape.length)
        sees = (queries >= position) & (queries < position + reach)
        np.testing.assert_array_equal(moved.numpy(), sees, err_msg=f"position {position}")


@pytest.mark.parametrize("name", MODELS)
def test_attention_rows_sum_to_one_within_the_band(name):
    shape = dataclasses.replace(SMALL, layers=2, context=3)
    model = MODELS[name](shape)
    _, maps = model.observe(model.prepare(draw_parameters(model)), draw_tokens(shape)[:, :-1])
    assert maps.shape == (11, 2, 3, 4, 8)
    torch.testing.assert_close(maps.sum(-1), torch.ones(11, 2, 3, 4, dtype=torch.float64))
    for query in range(4):
        position = shape.first + query
        outside = [k for k in range(8) if k > position or k <= position - 3]
        assert not maps[..., query, outside].any()


@pytest.mark.parametrize("name", MODELS)
def test_parts_do_not_change_the_gradient(name, monkeypatch):
    model = MODELS[name](SMALL)
    parameters, tokens = draw_parameters(model), draw_tokens(SMALL, samples=13)
    loss, gradient = model.differentiate(parameters, tokens)
    monkeypatch.setattr(model_module, "PART", 4)
    again, found = model.differentiate(parameters, tokens)
    torch.testing.assert_close(again, loss, rtol=0, atol=1e-13)
    for part in gradient:
        torch.testing.assert_close(found[part], gradient[part], rtol=0, atol=1e-13)


def test_derivatives_of_tables_pass_finite_differences():
    torch.manual_seed(0)
    A, V = (torch.randn(2, n, 7, dtype=torch.float64, requires_grad=True) for n in (7, 3))
    shape = Shape(3, 4, 2, 1, 2)
    tokens, mask = draw_tokens(shape, 3)[:, :-1], shape.mask(0, torch.float64)
    assert torch.autograd.gradcheck(
        lambda a, v: Attend.apply(*build_tables(a, v, mask), tokens, 2)[0], (A, V)
    )


def test_lookups_are_products_with_one_hots():
    torch.manual_seed(0)
    P, d, C, B, n = 4, 5, 3, 7, 2
    tokens = torch.randint(0, d, (B, P))
    table, rows = torch.randn(P, d, C), torch.randn(B, P, C)
    hot = one_hot(tokens, d).float()
    index = index_rows(tokens, d)
    torch.testing.assert_close(take_rows(table, index), torch.einsum("bpd,pdc->bpc", hot, table))
    for add in (add_rows, multiply_rows):
        found = table.clone()
        add(found, index, rows)
        torch.testing.assert_close(found, table + torch.einsum("bpd,bpc->pdc", hot, rows))
    entries, values = torch.randn(B, n, d), torch.randn(B, n, P)
    torch.testing.assert_close(take_entries(entries, tokens), torch.einsum("bnd,bpd->bnp", entries, hot))
    for add in (add_entries, multiply_entries):
        torch.testing.assert_close(add(values, tokens, d), torch.einsum("bnp,bpd->bnd", values, hot))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softmax_is_torch_s(dtype):
    torch.manual_seed(0)
    scores = (30 * torch.randn(9, 4, 17, dtype=dtype)).masked_fill(torch.rand(9, 4, 17) < 0.3, -torch.inf)
    scores[..., 0] = 700.0 if dtype == torch.float64 else 80.0  # exp of it is near the largest number
    expected = scores.clone().requires_grad_()
    upstream = torch.randn(9, 4, 17, dtype=dtype)
    attention = torch.softmax(expected, -1)
    attention.backward(upstream)
    torch.testing.assert_close(softmax(scores), attention.detach())
    torch.testing.assert_close(softmax_backward(upstream, softmax(scores)), expected.grad)


def test_starts():
    minimal = draw_start(STREAMS, Minimal(SMALL).weights, [0, 3])
    D = SMALL.inputs
    for name, size in (("A", (2, 3, D, D)), ("V", (2, 3, 5, D))):
        values = minimal[f"blocks.0.{name}"]
        assert values.shape == size
        bound = (3 / D) ** 0.5
        assert 0.9 * bound < abs(values).max() <= bound
        assert abs(values.mean()) < 5 * bound / (3 * values.size) ** 0.5  # 5 standard errors of a uniform
    small = draw_start(STREAMS, Minimal(SMALL, 1e-9).weights, [3])
    np.testing.assert_allclose(small["blocks.0.A"][0] * 1e9 * (3 / D) ** 0.5, minimal["blocks.0.A"][1])
    assert not small["blocks.0.V"].any()
    assert not draw_start(STREAMS, Minimal(SMALL, 0.0).weights, [3])["blocks.0.A"].any()
    four = draw_start(STREAMS, Minimal(dataclasses.replace(SMALL, heads=4)).weights, [3])
    np.testing.assert_array_equal(four["blocks.0.A"][0, :3], minimal["blocks.0.A"][1])


def test_starts_of_the_full_model():
    model = Full(dataclasses.replace(SMALL, layers=2), PARTS)
    start = draw_start(STREAMS, model.weights, [0])
    for name in ("embedding", "unembedding"):
        np.testing.assert_allclose(start[name][0] @ start[name][0].T, np.eye(5), atol=1e-14)
    assert abs(start["positions"]).max() <= (6 / (50 + 12)) ** 0.5
    for name, bound in (("query", 0.5), ("out", 0.5), ("up", (6 / 19) ** 0.5), ("down", (6 / 19) ** 0.5)):
        assert 0.8 * bound < abs(start[f"blocks.1.{name}"]).max() <= bound
    assert (start["blocks.0.ffn_gain"] == 1).all() and not start["blocks.0.down_bias"].any()
    one = draw_start(STREAMS, Full(SMALL, PARTS).weights, [0])
    for name, values in one.items():
        np.testing.assert_array_equal(values, start[name])


@pytest.mark.parametrize("changes", [{"heads": 0}, {"layers": 0}, {"d": 0}, {"context": 0}, {"queries": 9}])
def test_sizes_below_one_are_refused(changes):
    with pytest.raises(OnsetError, match=f"{next(iter(changes))} = "):
        dataclasses.replace(SMALL, **changes)


def test_sizes_of_the_full_model_that_do_not_go_together_are_refused():
    with pytest.raises(OnsetError, match="heads = 3: should divide width = 13"):
        Full(SMALL, Parts(13, 7))
    with pytest.raises(OnsetError, match="width = 3: should be at least d = 5"):
        Full(SMALL, Parts(3, 7))
