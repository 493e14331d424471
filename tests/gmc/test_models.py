"""Guarantees of the two transformers:

- with weights copied from them, outputs and attention are those of transformers' LlamaModel and GPT2Model;
- predictions, attention and gradients are those of the plain models, every position computed in every layer,
  at any depth, in float64 to rounding: what is saved changes no number;
- attention is causal and sums to one; a future token changes nothing before it;
- rotary attention depends on relative positions alone;
- the backbones have the paper's numbers of parameters;
- starting weights are functions of name, shape and seed, with the deviations of transformers' own start;
- the package itself never imports transformers;
- heads that do not divide the width, odd rotary heads and sequences that are too long are refused.
"""

import re
from pathlib import Path

import pytest
import torch
from tests.gmc.plain_models import HUGGING_FACE, PLAIN, STREAMS, build, build_pair, draw_input

from onset.errors import OnsetError
from onset.papers.gmc.models.attention import attend
from onset.papers.gmc.models.llama import rotate, rotations
from onset.papers.gmc.models.registry import TRANSFORMERS, count_backbone
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.start import draw_start

NAMES = sorted(TRANSFORMERS)


@pytest.mark.parametrize("theta", [10000.0, 500000.0])
@pytest.mark.parametrize("layers", [1, 2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_equals_transformers(name, layers, theta):
    pytest.importorskip("transformers")
    torch.manual_seed(0)
    model, reference = build_pair(name, layers, rope_theta=theta)
    x = draw_input()
    with torch.no_grad():
        theirs = reference(inputs_embeds=model.inputs(x), output_attentions=True)
        expected = model.outputs(theirs.last_hidden_state[:, -1])
        prediction, maps = model.observe(x)
    # outputs are of order 1, and single precision adds some 1e-7 a layer on either side
    assert (model(x) - expected).abs().max() < 1e-6
    assert (prediction - expected).abs().max() < 1e-6
    assert (maps - torch.stack(theirs.attentions, 1)).abs().max() < 1e-6


@pytest.mark.parametrize("d_in", [5, 30])  # a token shorter and longer than a head, and than the width
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_changes_no_number(name, layers, d_in):
    model = build(name, layers, dtype=torch.float64, d_in=d_in)
    x, target = draw_input(d_in=d_in, dtype=torch.float64), torch.ones(6, 4, dtype=torch.float64)
    expected, maps = PLAIN[name](model, x)
    prediction = model(x)
    exactly = {"rtol": 1e-12, "atol": 1e-12}
    torch.testing.assert_close(prediction, expected[:, -1], **exactly)
    observed, attention = model.observe(x)
    torch.testing.assert_close(observed, expected[:, -1], **exactly)
    torch.testing.assert_close(attention, maps, **exactly)
    torch.testing.assert_close(model.attention(x), maps, **exactly)
    found, wanted = (
        torch.autograd.grad((y - target).square().mean(), list(model.parameters()), materialize_grads=True)
        for y in (prediction, expected[:, -1])
    )
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b, **exactly)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_in_single_precision(name):
    model, x = build(name), draw_input()
    expected, maps = PLAIN[name](model, x)
    torch.testing.assert_close(model(x), expected[:, -1], rtol=1e-5, atol=2e-6)
    torch.testing.assert_close(model.attention(x), maps, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_attention_is_causal_and_sums_to_one(name):
    model, x = build(name, layers=3, dtype=torch.float64), draw_input(dtype=torch.float64)
    maps = model.attention(x)
    assert maps.shape == (6, 3, 3, 9, 9)
    assert not maps.triu(1).any()
    torch.testing.assert_close(maps.sum(-1), torch.ones_like(maps[..., 0]))
    changed = x.clone()
    changed[:, 5:] = 0
    torch.testing.assert_close(model.attention(changed)[..., :5, :5], maps[..., :5, :5])
    torch.testing.assert_close(model(changed[:, :5]), model(x[:, :5]))


def test_rotary_attention_depends_on_relative_positions():
    heads, size, shift = 3, 8, 4
    q, k = (torch.randn(9, 6, heads * size, dtype=torch.float64) for _ in range(2))
    turns = rotations(9 + shift, size, 10000.0, torch.float64, torch.device("cpu"))
    here, there = (
        attend(rotate(q, heads, part), rotate(k, heads, part), heads) for part in (turns[:9], turns[shift:])
    )
    torch.testing.assert_close(here, there, rtol=1e-12, atol=1e-12)
    assert (here - attend(q, k, heads)).abs().max() > 0.01


@pytest.mark.parametrize(
    ("name", "width", "heads", "ffn", "expected"),
    [("llama", 288, 9, 1152, 2_655_648), ("gpt2", 320, 10, 1280, 2_466_560 + 9 * 320)],
)
def test_parameter_counts(name, width, heads, ffn, expected):
    model = TRANSFORMERS[name](Shape(16, 16, 9, 2, width, heads, ffn))
    assert count_backbone(model) == expected
    assert sum(p.numel() for p in model.parameters()) == expected + 16 * width + width + width * 16 + 16


def started(name, layers=2, seed=0, **given):
    model = TRANSFORMERS[name](Shape(16, 16, 9, layers, 96, 3, 384)).requires_grad_(False)
    draw_start(model, STREAMS, seed, **{"std": 0.02, **given})
    return dict(model.named_parameters())


@pytest.mark.parametrize("name", NAMES)
def test_a_start_depends_on_name_and_seed_alone(name):
    first, again, other, deep = (
        started(name, layers, seed) for layers, seed in ((2, 0), (2, 0), (2, 1), (4, 0))
    )
    for key, tensor in first.items():
        assert torch.equal(tensor, again[key])
        drawn = tensor.ndim == 2 or key.startswith(("inputs", "outputs"))
        assert torch.equal(tensor, other[key]) != drawn, key
        if name == "llama" or not key.endswith(("out", "down")):
            assert torch.equal(tensor, deep[key]), key
    assert not torch.equal(first["blocks.0.query"], first["blocks.1.query"])


@pytest.mark.parametrize("name", NAMES)
def test_the_start_has_the_deviations_of_transformers(name):
    pytest.importorskip("transformers")
    torch.manual_seed(0)
    ours = TRANSFORMERS[name](Shape(16, 16, 9, 8, 96, 3, 384)).requires_grad_(False)
    theirs = dict(HUGGING_FACE[name](ours.shape, std=0.02).named_parameters())
    draw_start(ours, STREAMS, 0, 0.02)
    names = {
        "llama": {"query": "layers.0.self_attn.q_proj", "out": "layers.0.self_attn.o_proj",
                  "gate": "layers.0.mlp.gate_proj", "down": "layers.0.mlp.down_proj"},
        "gpt2": {"query": "h.0.attn.c_attn", "out": "h.0.attn.c_proj", "up": "h.0.mlp.c_fc",
                 "down": "h.0.mlp.c_proj"},
    }[name]  # fmt: skip
    for own, other in names.items():
        found = ours.get_parameter(f"blocks.0.{own}").std()
        # each deviation is that of at least 96^2 draws: 1/sqrt(2 * 9216) = 0.7 %, so 4 % is over 4 sigma
        assert found == pytest.approx(float(theirs[f"{other}.weight"].std()), rel=0.04), own
    if name == "gpt2":
        assert ours.positions.std() == pytest.approx(float(theirs["wpe.weight"].std()), rel=0.15)
    for key, tensor in ours.named_parameters():
        if tensor.ndim == 1 and not key.startswith(("inputs", "outputs")):
            assert (tensor == (1 if key.endswith("gain") else 0)).all(), key


def test_the_start_of_the_projections():
    default, normal = started("llama"), started("llama", projections="normal")
    for key, inputs in (("inputs.weight", 16), ("inputs.bias", 16), ("outputs.weight", 96)):
        bound = inputs**-0.5
        assert default[key].abs().max() <= bound
        assert default[key].std() == pytest.approx(bound / 3**0.5, rel=0.2)
    assert normal["inputs.weight"].std() == pytest.approx(0.02, rel=0.1)
    assert not normal["inputs.bias"].any() and not normal["outputs.bias"].any()
    assert torch.equal(default["blocks.0.query"], normal["blocks.0.query"])


def test_the_package_does_not_import_transformers():
    files = list((Path(__file__).parents[2] / "src").rglob("*.py"))
    assert files
    imports = re.compile(r"^\s*(import|from) transformers\b", re.MULTILINE)
    assert not [path for path in files if imports.search(path.read_text(encoding="utf-8"))]


def test_what_is_refused():
    with pytest.raises(OnsetError, match="heads = 5: should divide width = 24"):
        Shape(5, 5, 9, 2, 24, 5, 40)
    with pytest.raises(OnsetError, match="layers = 0: should be at least 1"):
        Shape(5, 5, 9, 0, 24, 3, 40)
    with pytest.raises(OnsetError, match="heads of 5 entries at width = 15"):
        TRANSFORMERS["llama"](Shape(5, 5, 9, 2, 15, 3, 40))
    TRANSFORMERS["gpt2"](Shape(5, 5, 9, 2, 15, 3, 40))
    with pytest.raises(OnsetError, match="a sequence of 13 positions; this model has 12"):
        build("gpt2")(draw_input(L=13))
