"""A GPT-2-style transformer between linear maps of inputs and outputs, read at the last position.

    h <- h + O attention(Q n, K n, V n),  h <- h + D gelu(U m),  n = norm(h), m = norm(h)

with LayerNorm, biases everywhere, learned positions, GELU in its tanh form and no dropout.  The numbers are
those of `transformers.GPT2Model` on `inputs_embeds`, but four identities save most of the work:

- the last block is computed at the query alone, and for one query no keys need be formed;
- with tokens (x, one-hot position) the first block's rows are E (x, position) / std(h), so that its queries,
  keys and values are maps of d_in + length numbers, not of `width`;
- gain and centring of the first norm act on the weights after it, not on the rows;
- where values are summed before they are mapped, their bias is added once, for attention sums to one.

Source: Radford et al. 2019, at the sizes of arXiv 2602.07562, Table 1.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, layer_norm, linear

from onset.errors import OnsetError
from onset.papers.gmc.models.attention import attend, attend_without_keys, mix_values
from onset.papers.gmc.models.shape import Shape
from onset.papers.gmc.models.transformer import Transformer, blank

EPSILON = 1e-5  # of the norms, as in transformers' GPT2Config


class GPT2Block(nn.Module):
    """Attention and a feed-forward layer, each on a normalised copy of the stream and added to it.

    Weights are (outputs, inputs): query, key, value, out (width, width), up (ffn, width), down (width, ffn),
    each with a bias; gain and shift of both norms (width,).
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        width, ffn = shape.width, shape.ffn
        self.attention_gain, self.attention_shift = blank(width), blank(width)
        self.query, self.key, self.value, self.out = (blank(width, width) for _ in range(4))
        self.query_bias, self.key_bias, self.value_bias, self.out_bias = (blank(width) for _ in range(4))
        self.ffn_gain, self.ffn_shift = blank(width), blank(width)
        self.up, self.up_bias = blank(ffn, width), blank(ffn)
        self.down, self.down_bias = blank(width, ffn), blank(width)

    def forward(
        self, stream: Tensor, tokens: Tensor | None, basis: Tensor | None, last: bool, whole_map: bool
    ) -> tuple[Tensor, Tensor]:
        """The stream after this block (n, B, width), n = 1 in the last, and attention (B * heads, m, L).

        stream (L, B, width); where it is linear in `tokens` (L, B, r), basis (width, r) gives it.
        The attention of the last block has m = 1, or m = L with `whole_map`.
        """
        weights: list[Tensor] = [self.query, self.key, self.value]
        biases: list[Tensor] = [self.query_bias, self.key_bias, self.value_bias]
        if tokens is None or basis is None:
            rows = layer_norm(stream, stream.shape[-1:], self.attention_gain, self.attention_shift, EPSILON)
        else:
            rows = tokens * (stream.var(-1, correction=0, keepdim=True) + EPSILON).rsqrt()
            biases = [b + w @ self.attention_shift for w, b in zip(weights, biases, strict=True)]
            centred = self.attention_gain[:, None] * (basis - basis.mean(0))
            weights = [weight @ centred for weight in weights]
        if last and not whole_map:
            attention = attend_without_keys(
                linear(rows[-1:], weights[0], biases[0]), rows, weights[1], self.heads
            )
        else:
            q, k = (linear(rows, weights[i], biases[i]) for i in (0, 1))
            attention = attend(q, k, self.heads)
        if last:
            stream = stream[-1:]
        mixed = mix_values(attention[:, -len(stream) :], rows, weights[2], self.heads) + biases[2]
        stream = stream + linear(mixed, self.out, self.out_bias)
        rows = layer_norm(stream, stream.shape[-1:], self.ffn_gain, self.ffn_shift, EPSILON)
        hidden = gelu(linear(rows, self.up, self.up_bias), approximate="tanh")
        return stream + linear(hidden, self.down, self.down_bias), attention


class GPT2(Transformer):
    """The transformer; raises OnsetError on sequences longer than `length`."""

    residual_depth_scaling = True

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.positions = blank(shape.length, shape.width)
        self.blocks = nn.ModuleList(GPT2Block(shape) for _ in range(shape.layers))
        self.gain, self.shift = blank(shape.width), blank(shape.width)

    def run(self, x: Tensor, whole_map: bool) -> tuple[Tensor, list[Tensor]]:
        B, L, _ = x.shape
        if self.shape.length < L:
            raise OnsetError(f"a sequence of {L} positions; this model has {self.shape.length}")
        place = torch.eye(L, dtype=x.dtype, device=x.device)[:, None].expand(L, B, L)
        tokens = torch.cat([x.transpose(0, 1), place], -1)
        basis = torch.cat([self.inputs.weight, (self.positions[:L] + self.inputs.bias).T], 1)
        stream = linear(tokens, basis)
        maps = []
        for index, block in enumerate(self.blocks, start=1):
            first = index == 1
            stream, attention = block(
                stream,
                tokens if first else None,
                basis if first else None,
                index == self.shape.layers,
                whole_map,
            )
            maps.append(attention)
        rows = layer_norm(stream[-1], stream.shape[-1:], self.gain, self.shift, EPSILON)
        return self.outputs(rows), maps
