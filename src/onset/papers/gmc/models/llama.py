"""A Llama-3-style transformer between linear maps of inputs and outputs, read at the last position.

    h <- h + O attention(Q n, K n, V n),  h <- h + D (silu(G m) * U m),  n = rms(h) g1,  m = rms(h) g2

without biases, as many key-value heads as heads, rotary positions (RoPE).  The numbers are those of
`transformers.LlamaModel` on `inputs_embeds`, but three identities save most of the work:

- the last block is computed at the query alone, for which it needs keys of all positions and no more;
- the first block's rows are E x / rms(h) with E (width, d_in + 1), so that its queries, keys and values are
  maps of d_in + 1 numbers, not of `width`;
- the gain g of a norm scales the columns of the weights after it, not the rows.

Source: Llama 3, arXiv 2407.21783, at the sizes of arXiv 2602.07562, Table 1.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, silu

from onset.errors import OnsetError
from onset.papers.gmc.models.attention import attend, mix_values
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.transformer import Transformer, blank

EPSILON = 1e-6  # of the norms, as in transformers' LlamaConfig


@functools.lru_cache(maxsize=64)
def rotations(length: int, size: int, theta: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """exp(i t theta^(-2j/size)) for position t and pair j: complex (length, 1, size/2), real part of `dtype`.

    Entries 2j and 2j+1 of a head are a pair, as in Meta's program; transformers pairs j and j + size/2, which
    is the same model with the rows of query and key weights in another order.
    Source: RoPE, arXiv 2104.09864, Eq. 15.
    """
    speed = theta ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = torch.arange(length, dtype=torch.float64)[:, None, None] * speed
    complex_dtype = torch.complex128 if dtype == torch.float64 else torch.complex64
    return torch.polar(torch.ones_like(angle), angle).to(device, complex_dtype)


def rotate(rows: Tensor, heads: int, turns: Tensor) -> Tensor:
    """Rows (n, B, width) with each head's pairs turned by `turns` (n, 1, size/2)."""
    n, B, width = rows.shape
    pairs = torch.view_as_complex(rows.view(n, B * heads, width // heads // 2, 2))
    return torch.view_as_real(pairs * turns).view(n, B, width)


def scale_rms(stream: Tensor) -> Tensor:
    """1 / sqrt(mean of squares + epsilon) over the last axis, which is kept."""
    return (stream.square().mean(-1, keepdim=True) + EPSILON).rsqrt()


class LlamaBlock(nn.Module):
    """Attention and SwiGLU, each on a normalised copy of the stream and added to it.

    Weights are (outputs, inputs): query, key, value, out (width, width), gate, up (ffn, width),
    down (width, ffn); attention_gain, ffn_gain (width,).
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.theta = shape.heads, shape.rope_theta
        width, ffn = shape.width, shape.ffn
        self.attention_gain = blank(width)
        self.query, self.key, self.value, self.out = (blank(width, width) for _ in range(4))
        self.ffn_gain = blank(width)
        self.gate, self.up, self.down = blank(ffn, width), blank(ffn, width), blank(width, ffn)

    def forward(
        self, stream: Tensor, rows: Tensor, basis: Tensor | None, last: bool, whole_map: bool
    ) -> tuple[Tensor, Tensor]:
        """The stream after this block (n, B, width), n = 1 in the last, and attention (B * heads, m, L).

        stream (L, B, width); its normalised rows are `rows` (L, B, r), times `basis` (width, r) if given.
        The attention of the last block has m = 1, or m = L with `whole_map`.
        """
        weights = [weight * self.attention_gain for weight in (self.query, self.key, self.value)]
        query, key, value = weights if basis is None else [weight @ basis for weight in weights]
        L = len(rows)
        seen = -1 if last and not whole_map else 0
        turns = rotations(L, query.shape[0] // self.heads, self.theta, rows.dtype, rows.device)
        q = rotate(linear(rows[seen:], query), self.heads, turns[seen:])
        k = rotate(linear(rows, key), self.heads, turns)
        attention = attend(q, k, self.heads)
        if last:
            stream = stream[-1:]
        mixed = mix_values(attention[:, -len(stream) :], rows, value, self.heads)
        stream = stream + linear(mixed, self.out)
        rows = stream * scale_rms(stream)
        hidden = silu(linear(rows, self.gate * self.ffn_gain)) * linear(rows, self.up * self.ffn_gain)
        return stream + linear(hidden, self.down), attention


class Llama(Transformer):
    """The transformer; raises OnsetError where a head has an odd number of entries, which form no pairs."""

    def __init__(self, shape: Shape) -> None:
        if shape.head_size % 2:
            raise OnsetError(
                f"heads = {shape.heads}: makes heads of {shape.head_size} entries at width = {shape.width}; "
                "the rotary embedding needs an even number"
            )
        super().__init__(shape)
        self.blocks = nn.ModuleList(LlamaBlock(shape) for _ in range(shape.layers))
        self.gain = blank(shape.width)

    def run(self, x: Tensor, whole_map: bool) -> tuple[Tensor, list[Tensor]]:
        tokens = torch.cat([x, x.new_ones(*x.shape[:2], 1)], -1).transpose(0, 1)
        basis = torch.cat([self.inputs.weight, self.inputs.bias[:, None]], 1)
        stream = linear(tokens, basis)
        rows = tokens * scale_rms(stream)
        maps = []
        for index, block in enumerate(self.blocks, start=1):
            last = index == self.shape.layers
            stream, attention = block(stream, rows, basis if index == 1 else None, last, whole_map)
            rows = stream * scale_rms(stream)
            maps.append(attention)
        return self.outputs(rows[-1] * self.gain), maps
