"""The two transformers written out plainly, sequences first and every position in every layer, and their
counterparts in transformers with equal weights."""

import torch
from torch.nn.functional import layer_norm, linear, softmax

from onset.papers.gmc.models.huggingface import convert_gpt2, convert_llama
from onset.papers.gmc.models.registry import TRANSFORMERS
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.start import draw_start
from onset.randomness import Streams

STREAMS = Streams(0, "gmc", "plain")


def build(name, layers=2, seed=0, dtype=torch.float32, std=0.2, **sizes):
    """A small transformer whose attention is far from uniform, so that mistakes show."""
    sizes = {"d_in": 5, "d_out": 4, "length": 12, "width": 24, "heads": 3, "ffn": 40, **sizes}
    model = TRANSFORMERS[name](Shape(layers=layers, **sizes))
    draw_start(model, STREAMS, seed, std)
    jitter = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():  # biases and gains away from 0 and 1
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=jitter))
    return model.to(dtype)


def draw_input(B=6, L=9, d_in=5, dtype=torch.float32, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, L, d_in, generator=generator, dtype=torch.float64).to(dtype)


def attend_plainly(q, k, v):
    """Causal attention of (B, L, H, size): mixed values and maps (B, H, L, L)."""
    B, L, H, size = q.shape
    logits = torch.einsum("bqhd,bkhd->bhqk", q, k) / size**0.5
    maps = softmax(logits.masked_fill(torch.ones(L, L).triu(1).bool(), -torch.inf), -1)
    return torch.einsum("bhqk,bkhd->bqhd", maps, v).reshape(B, L, H * size), maps


def turn_plainly(rows, theta):
    """RoPE on (B, L, H, size), pair (2j, 2j+1) by t theta^(-2j/size)."""
    turned = torch.empty_like(rows)
    for j in range(rows.shape[-1] // 2):
        angle = torch.arange(rows.shape[1], dtype=rows.dtype) * theta ** (-2 * j / rows.shape[-1])
        c, s = angle.cos()[:, None], angle.sin()[:, None]
        a, b = rows[..., 2 * j], rows[..., 2 * j + 1]
        turned[..., 2 * j], turned[..., 2 * j + 1] = a * c - b * s, a * s + b * c
    return turned


def run_llama(model, x):
    """Predictions at all positions (B, L, d_out) and maps (B, layer, head, L, L)."""
    heads, theta, maps, h = model.shape.heads, model.shape.rope_theta, [], model.inputs(x)

    def norm(h, gain):
        return h / (h.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain

    for b in model.blocks:
        n = norm(h, b.attention_gain)
        q, k, v = (linear(n, w).unflatten(-1, (heads, -1)) for w in (b.query, b.key, b.value))
        mixed, attention = attend_plainly(turn_plainly(q, theta), turn_plainly(k, theta), v)
        h = h + linear(mixed, b.out)
        m = norm(h, b.ffn_gain)
        gate = linear(m, b.gate)
        h = h + linear(gate * torch.sigmoid(gate) * linear(m, b.up), b.down)
        maps.append(attention)
    return model.outputs(norm(h, model.gain)), torch.stack(maps, 1)


def run_gpt2(model, x):
    """Predictions at all positions (B, L, d_out) and maps (B, layer, head, L, L)."""
    heads, maps, h = model.shape.heads, [], model.inputs(x) + model.positions[: x.shape[1]]
    for b in model.blocks:
        n = layer_norm(h, h.shape[-1:], b.attention_gain, b.attention_shift, 1e-5)
        parts = ((b.query, b.query_bias), (b.key, b.key_bias), (b.value, b.value_bias))
        mixed, attention = attend_plainly(*(linear(n, *p).unflatten(-1, (heads, -1)) for p in parts))
        h = h + linear(mixed, b.out, b.out_bias)
        m = linear(layer_norm(h, h.shape[-1:], b.ffn_gain, b.ffn_shift, 1e-5), b.up, b.up_bias)
        m = 0.5 * m * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (m + 0.044715 * m**3)))
        h = h + linear(m, b.down, b.down_bias)
        maps.append(attention)
    return model.outputs(layer_norm(h, h.shape[-1:], model.gain, model.shift, 1e-5)), torch.stack(maps, 1)


PLAIN = {"llama": run_llama, "gpt2": run_gpt2}


def make_llama(shape, std):
    """A transformers.LlamaModel of a shape."""
    from transformers import LlamaConfig, LlamaModel

    config = LlamaConfig(
        vocab_size=4,
        hidden_size=shape.width,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=64,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        initializer_range=std,
        attn_implementation="eager",
        use_cache=False,
    )
    return LlamaModel(config).requires_grad_(False).eval()


def make_gpt2(shape, std):
    """A transformers.GPT2Model of a shape, without dropout."""
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        vocab_size=4,
        bos_token_id=1,
        eos_token_id=2,
        n_embd=shape.width,
        n_inner=shape.ffn,
        n_layer=shape.layers,
        n_head=shape.heads,
        n_positions=shape.length,
        initializer_range=std,
        attn_implementation="eager",
        use_cache=False,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    return GPT2Model(config).requires_grad_(False).eval()


HUGGING_FACE = {"llama": make_llama, "gpt2": make_gpt2}


def build_pair(name, layers=2, seed=0, std=0.1, **sizes):
    """One of our transformers and transformers' own, with equal weights away from where they start."""
    ours = build(name, layers, seed, std=std, **sizes).requires_grad_(False)
    theirs = HUGGING_FACE[name](ours.shape, std)
    jitter = torch.Generator().manual_seed(seed)
    for parameter in theirs.parameters():
        parameter.add_(0.1 * torch.randn(parameter.shape, generator=jitter))
    state = theirs.state_dict()
    weights = (
        convert_llama(state, layers, ours.shape.heads) if name == "llama" else convert_gpt2(state, layers)
    )
    left = ours.load_state_dict(weights, strict=False)
    assert not left.unexpected_keys
    assert {key.split(".")[0] for key in left.missing_keys} == {"inputs", "outputs"}
    return ours, theirs
